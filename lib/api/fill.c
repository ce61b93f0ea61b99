/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_watch_fill(). */
#include <posixtrace/stream.h>
#include "api/guard.h"
#include "stream/fill.h"

PT_PUBLIC int posixtrace_watch_fill(trace_id_t trid, unsigned percent, int fd)
{
    struct pt_guard g;
    int r;

    if (percent > 100 || !pt_guard_enter(&g, trid, PT_OWN_STREAMS))
        return EINVAL;
    pthread_mutex_lock(&g.s->control);
    r = pt_fill_watch(g.s, percent, fd);
    pthread_mutex_unlock(&g.s->control);
    return pt_guard_leave(&g, r);
}
