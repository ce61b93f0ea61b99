/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posix_trace_open, _rewind, _close; posixtrace_open_path. */
#include <fcntl.h>
#include <posixtrace/log.h>
#include <unistd.h>
#include "api/guard.h"
#include "control/control.h"
#include "control/sequence.h"

static int open_log(int fd, trace_id_t *trid)
{
    struct pt_stream *s = NULL;
    int r = pt_recorded_open(&s, fd);

    if (r == 0) {
        r = pt_handle_add(s, trid);
        if (r < 0)
            pt_recorded_close(s);
    }
    return r;
}

PT_PUBLIC int posixtrace_open_path(const char *path, trace_id_t *trid)
{
    int saved = errno, cancel, fd, r;

    if (!path || !trid)
        return EINVAL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    r = fd < 0 ? -errno : open_log(fd, trid);
    if (fd >= 0)
        close(fd);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return r == -EINVAL ? EILSEQ : -r;
}

PT_PUBLIC int posixtrace_open_pieces(const char *const *paths, size_t count, trace_id_t *trid)
{
    struct pt_stream *s = NULL;
    int saved = errno, cancel, r;

    if (!paths || count == 0 || !trid)
        return EINVAL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    r = pt_sequence_open(&s, paths, count);
    if (r == 0) {
        r = pt_handle_add(s, trid);
        if (r < 0)
            pt_recorded_close(s);
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return r == -EINVAL ? EILSEQ : -r;
}

PT_PUBLIC int posix_trace_open(int file_desc, trace_id_t *trid)
{
    int saved = errno, cancel, r;

    if (!trid)
        return EINVAL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    r = open_log(file_desc, trid);
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
    r = g.s->pieces ? pt_sequence_rewind(g.s) : pt_log_reader_rewind(g.s->log);
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
