/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/stream.h and posixtrace_log_recover. */
#include <errno.h>
#include <posixtrace/log.h>
#include "api/guard.h"
#include "process/list.h"
#include "process/reap.h"
#include "shm/dir.h"
#include "stream/prepare.h"
#include "stream/recover.h"
#include "stream/tombstone.h"

PT_PUBLIC int posixtrace_stream_list(int (*each)(void *, const struct posixtrace_stream *),
                                     void *context)
{
    int saved = errno, value, r;

    if (!each)
        return EINVAL;
    r = pt_list_streams(each, context, &value);
    errno = saved;
    return r < 0 ? -r : value;
}

PT_PUBLIC int posixtrace_stream_traced(const char *file, int (*each)(void *, pid_t),
                                       void *context)
{
    int saved = errno, value, r;

    if (!file || !each)
        return EINVAL;
    r = pt_list_traced(file, each, context, &value);
    errno = saved;
    return r < 0 ? -r : value;
}

PT_PUBLIC const char *posixtrace_stream_directory(void)
{
    static _Thread_local char path[512];

    pt_dir_path(path, sizeof path);
    return path;
}

PT_PUBLIC int posixtrace_stream_reap(int force, unsigned *removed, unsigned *kept)
{
    enum pt_reap_how how = force < 0 ? PT_REAP_QUICK : force ? PT_REAP_FORCE : PT_REAP_SETTLE;
    int saved = errno, r = pt_reap_dead(how, removed, kept);

    errno = saved;
    return -r;
}

PT_PUBLIC void posixtrace_stream_lost(uint64_t *streams, uint64_t *events)
{
    uint64_t count, sum;
    int saved = errno;

    pt_tombstone_count(&count, &sum);
    if (streams)
        *streams = count;
    if (events)
        *events = sum;
    errno = saved;
}

PT_PUBLIC int posixtrace_log_recover(int fd, struct posixtrace_recover_report *report)
{
    return posixtrace_log_recover_lost(fd, 0, report);
}

PT_PUBLIC int posixtrace_log_recover_lost(int fd, uint64_t events,
                                          struct posixtrace_recover_report *report)
{
    int saved = errno, cancel, r;

    if (!report)
        return EINVAL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    r = pt_stream_recover(fd, events, report);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return -r;
}

PT_PUBLIC int posixtrace_prepare(void)
{
    return -pt_prepare();
}
