/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posix_trace_open, _rewind, _close. */
#include "api/guard.h"
#include "control/control.h"

PT_PUBLIC int posix_trace_open(int file_desc, trace_id_t *trid)
{
    int saved = errno, cancel, r;
    struct pt_stream *s = NULL;

    if (!trid)
        return EINVAL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    r = pt_recorded_open(&s, file_desc);
    if (r == 0) {
        r = pt_handle_add(s, trid);
        if (r < 0)
            pt_recorded_close(s);
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return r == -EBADF || r == -EISDIR ? EINVAL : -r;
}

PT_PUBLIC int posix_trace_rewind(trace_id_t trid)
{
    struct pt_guard g;
    int r;

    if (!pt_guard_enter(&g, trid, PT_STREAM_RECORDED))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    r = pt_log_reader_rewind(g.s->log);
    pthread_mutex_unlock(&g.s->reading);
    return pt_guard_leave(&g, r);
}

PT_PUBLIC int posix_trace_close(trace_id_t trid)
{
    struct pt_stream *s;
    int cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    s = pt_handle_remove(trid, PT_STREAM_RECORDED);
    if (s)
        pt_recorded_close(s);
    pthread_setcancelstate(cancel, NULL);
    return s ? 0 : EINVAL;
}
