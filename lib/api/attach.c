/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/attach.h. */
#include <posixtrace/attach.h>
#include "api/guard.h"
#include "control/attach.h"
#include "control/info.h"
#include "page/target.h"

PT_PUBLIC int posixtrace_attach(const char *file, trace_id_t *trid)
{
    int saved = errno, cancel, r;
    struct pt_stream *s;

    if (!file || !trid)
        return EINVAL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    r = pt_attach(&s, file);
    if (r == 0) {
        r = pt_handle_add(s, trid);
        if (r < 0)
            pt_detach(s);
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return -r;
}

PT_PUBLIC int posixtrace_detach(trace_id_t trid)
{
    int saved = errno, cancel;
    struct pt_stream *s;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    s = pt_handle_remove(trid, PT_STREAM_ATTACHED);
    if (s)
        pt_detach(s);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return s ? 0 : EINVAL;
}

PT_PUBLIC int posixtrace_attach_lost(trace_id_t trid, uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    struct pt_guard g;

    if (!lost || !pt_guard_enter(&g, trid, PT_STREAM_ATTACHED))
        return EINVAL;
    pt_stream_lost_before(g.s, lost);
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posixtrace_take_ids_of(pid_t pid)
{
    int saved = errno, r = pid > 0 ? pt_target_take_ids(pid) : -EINVAL;

    errno = saved;
    return -r;
}
