/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/attach.h. */
#include <posixtrace/attach.h>
#include <string.h>
#include "api/guard.h"
#include "control/attach.h"
#include "control/info.h"
#include "directory/list.h"
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

/* The living streams that a process belongs to. */
struct search {
    pid_t pid;
    char traced[64], created[64]; /* the file of one that traces it, and that it has created */
    unsigned traces, creates;     /* how many there are */
};

static int is_process(void *wanted, pid_t pid)
{
    return *(const pid_t *)wanted == pid;
}

static int look(void *context, const struct posixtrace_stream *stream)
{
    struct search *search = context;
    int found = 0;

    if (stream->liveness == POSIXTRACE_LIVENESS_DEAD ||
        strlen(stream->file) >= sizeof search->traced)
        return 0;
    if (pt_list_traced(stream->file, is_process, &search->pid, &found) == 0 && found) {
        search->traces++;
        strcpy(search->traced, stream->file);
    } else if (stream->owner == search->pid) {
        search->creates++;
        strcpy(search->created, stream->file);
    }
    return 0;
}

PT_PUBLIC int posixtrace_attach_pid(pid_t pid, trace_id_t *trid)
{
    struct search search = { .pid = pid };
    int saved = errno, value, r, cancel;
    unsigned fit;

    if (pid <= 0 || !trid)
        return EINVAL;
    cancel = pt_cancel_off();
    r = pt_list_streams(look, &search, &value);
    pt_cancel_restore(cancel);
    errno = saved;
    if (r < 0 && r != -ENOENT)
        return -r;
    fit = search.traces ? search.traces : search.creates;
    if (fit != 1)
        return fit ? ENOTUNIQ : ESRCH;
    r = posixtrace_attach(search.traces ? search.traced : search.created, trid);
    return r == ENOENT || r == ENXIO ? ESRCH : r;
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
    int saved = errno, cancel = pt_cancel_off();
    int r = pid > 0 ? pt_target_take_ids(pid) : -EINVAL;

    pt_cancel_restore(cancel);
    errno = saved;
    return -r;
}
