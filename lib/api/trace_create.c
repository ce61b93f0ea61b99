/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posix_trace_create, _create_withlog, _flush, _shutdown, _clear. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "api/guard.h"
#include "control/control.h"
#include "directory/settle.h"
#include "page/target.h"
#include "startup/new_stream.h"

/* Fills target if pid is another process; for this one target->pid is 0.  0 or a negative errno. */
static int check_pid(pid_t pid, struct pt_target *target)
{
    target->pid = 0;
    return pid == 0 || pid == getpid() ? 0 : -pt_target_look(target, pid);
}

static int get_attr(const trace_attr_t *attr, bool with_log, struct pt_attr *copy)
{
    const struct pt_attr *a = pt_attr_get(attr);

    pt_attr_init(copy);
    if (attr && !a)
        return EINVAL;
    if (a)
        *copy = *a;
    return pt_attr_check(copy, with_log) < 0 ? EINVAL : 0;
}

/* LOOP and UNTIL_FULL write at offsets: a regular file without O_APPEND.
 * APPEND accepts any writable descriptor. */
static int check_log(int fd, const struct pt_attr *attr)
{
    int flags = fcntl(fd, F_GETFL);
    struct stat st;

    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH))
        return EBADF;
    if (fstat(fd, &st) < 0)
        return EBADF;
    if (attr->log_policy != POSIX_TRACE_APPEND && (!S_ISREG(st.st_mode) || (flags & O_APPEND)))
        return EINVAL;
    return S_ISDIR(st.st_mode) ? EINVAL : 0;
}

static int create(pid_t pid, const trace_attr_t *attr, bool with_log, int fd, trace_id_t *trid)
{
    int saved = errno, cancel, r;
    struct pt_target target;
    struct pt_attr copy;

    if (!trid)
        return EINVAL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    r = get_attr(attr, with_log, &copy);
    if (r == 0)
        r = check_pid(pid, &target);
    if (r == 0 && with_log)
        r = check_log(fd, &copy);
    if (r == 0)
        r = -pt_create(&copy, with_log ? fd : -1, target.pid ? &target : NULL, trid);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return r;
}

PT_PUBLIC int posix_trace_create(pid_t pid, const trace_attr_t *restrict attr,
                                 trace_id_t *restrict trid)
{
    return create(pid, attr, false, -1, trid);
}

PT_PUBLIC int posix_trace_create_withlog(pid_t pid, const trace_attr_t *restrict attr,
                                         int file_desc, trace_id_t *restrict trid)
{
    return create(pid, attr, true, file_desc, trid);
}

PT_PUBLIC int posix_trace_flush(trace_id_t trid)
{
    struct pt_guard g;

    if (!pt_guard_enter(&g, trid, PT_STREAM_LOGGED | PT_STREAM_ATTACHED))
        return EINVAL;
    return pt_guard_leave(&g, pt_stream_flush(g.s, pt_caller()));
}

PT_PUBLIC int posix_trace_shutdown(trace_id_t trid)
{
    int saved = errno, cancel, r;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pt_settle_stop();
    r = pt_stream_shut_down(trid, pt_caller());
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return -r;
}

PT_PUBLIC int posix_trace_clear(trace_id_t trid)
{
    struct pt_guard g;

    if (!pt_guard_enter(&g, trid, PT_OWN_STREAMS))
        return EINVAL;
    return pt_guard_leave(&g, pt_stream_clear(g.s));
}
