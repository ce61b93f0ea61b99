/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/stream.h: the streams of a user, and preparations by a traced program. */
#include <errno.h>
#include <posixtrace/stream.h>
#include "api/guard.h"
#include "consumer/tombstone.h"
#include "control/fill_watermark.h"
#include "directory/list.h"
#include "directory/reap.h"
#include "place/dir.h"
#include "writer/prepare.h"

PT_PUBLIC int posixtrace_stream_list(int (*each)(void *, const struct posixtrace_stream *),
                                     void *context)
{
    int saved = errno, value, r, cancel;

    if (!each)
        return EINVAL;
    cancel = pt_cancel_off();
    r = pt_list_streams(each, context, &value);
    pt_cancel_restore(cancel);
    errno = saved;
    return r < 0 ? -r : value;
}

PT_PUBLIC int posixtrace_stream_traced(const char *file, int (*each)(void *, pid_t), void *context)
{
    int saved = errno, value, r, cancel;

    if (!file || !each)
        return EINVAL;
    cancel = pt_cancel_off();
    r = pt_list_traced(file, each, context, &value);
    pt_cancel_restore(cancel);
    errno = saved;
    return r < 0 ? -r : value;
}

PT_PUBLIC const char *posixtrace_stream_directory(void)
{
    static _Thread_local char path[512];
    int cancel = pt_cancel_off();

    pt_dir_path(path, sizeof path);
    pt_cancel_restore(cancel);
    return path;
}

PT_PUBLIC int posixtrace_stream_reap(int force, unsigned *removed, unsigned *kept)
{
    enum pt_reap_how how = force < 0 ? PT_REAP_QUICK : force ? PT_REAP_FORCE : PT_REAP_SETTLE;
    int saved = errno, cancel = pt_cancel_off();
    int r = pt_reap_dead(how, removed, kept);

    pt_cancel_restore(cancel);
    errno = saved;
    return -r;
}

PT_PUBLIC void posixtrace_stream_lost(uint64_t *streams, uint64_t *events)
{
    uint64_t count, sum;
    int saved = errno, cancel = pt_cancel_off();

    pt_tombstone_count(&count, &sum);
    pt_cancel_restore(cancel);
    if (streams)
        *streams = count;
    if (events)
        *events = sum;
    errno = saved;
}

PT_PUBLIC int posixtrace_prepare(void)
{
    return -pt_prepare();
}

PT_PUBLIC int posixtrace_watch_fill(trace_id_t trid, unsigned percent, int fd)
{
    struct pt_guard g;
    int r;

    if (percent > 100 || !pt_guard_enter(&g, trid, PT_OWN_STREAMS))
        return EINVAL;
    pthread_mutex_lock(&g.s->control);
    r = pt_fill_watermark_watch(g.s, percent, fd);
    pthread_mutex_unlock(&g.s->control);
    return pt_guard_leave(&g, r);
}
