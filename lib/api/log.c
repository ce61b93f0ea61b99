/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/log.h: check and recover a log; make one of events from elsewhere. */
#include <errno.h>
#include <posixtrace/log.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "api/guard.h"
#include "api/sized.h"
#include "base/atomics.h"
#include "consumer/crash_recovery.h"
#include "control/at_exit.h"
#include "control/attach.h"
#include "control/snapshot.h"
#include "flush/thread.h"
#include "log/format.h"
#include "log/reader/reader.h"
#include "log/writer/builder.h"
#include "model/layout.h"

PT_PUBLIC const char *posixtrace_error_text(int error)
{
    const char *text = NULL;

    switch (error) {
    case EILSEQ: return "not in the expected format";
    case ENXIO: return "the stream has ended, or its process is gone";
    case ESTALE: return "another log is in the file now";
    case ENOTSUP: return "not supported by this version or build of the library";
    case EBUSY: return "in use by another process or thread";
    case EAGAIN: return "no place is left for another stream";
    case ENOTUNIQ: return "several streams fit";
    case ESRCH: return "there is no such process, or no stream records it";
    case ERANGE: return "the text does not fit into the memory given for it";
    default: break;
    }
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 32)
    text = strerrordesc_np(error);
#else
    text = error >= 0 ? strerror(error) : NULL;
#endif
    return text ? text : "unknown error";
}

/* Keeps what the caller's function returned last. */
struct findings {
    int (*finding)(void *, const struct posixtrace_log_finding *);
    void *context;
    int value;
};

static int pass_on(void *context, const struct posixtrace_log_finding *f)
{
    struct findings *to = context;

    return to->value = to->finding ? to->finding(to->context, f) : 0;
}

PT_PUBLIC int posixtrace_log_check(int fd,
                                   int (*finding)(void *, const struct posixtrace_log_finding *),
                                   void *context, struct posixtrace_log_report *report, size_t size)
{
    struct findings findings = { finding, context, 0 };
    struct posixtrace_log_report r = { 0 };
    int error, cancel;

    if (!report || size == 0)
        return EINVAL;
    cancel = pt_cancel_off();
    error = pt_log_check(fd, pass_on, &findings, &r);
    pt_cancel_restore(cancel);
    if (error == 0)
        pt_sized_copy(report, size, &r, sizeof r);
    if (error == 0)
        return findings.value;
    return error == -EINVAL ? EILSEQ : -error;
}

PT_PUBLIC int posixtrace_log_recover(int fd, struct posixtrace_recover_report *report, size_t size)
{
    return posixtrace_log_recover_lost(fd, 0, report, size);
}

PT_PUBLIC int posixtrace_log_recover_lost(int fd, uint64_t events,
                                          struct posixtrace_recover_report *report, size_t size)
{
    struct posixtrace_recover_report done = { 0 };
    int saved = errno, cancel, r;

    if (!report || size == 0)
        return EINVAL;
    cancel = pt_cancel_off();
    r = pt_stream_recover(fd, events, &done);
    pt_sized_copy(report, size, &done, sizeof done);
    pt_cancel_restore(cancel);
    errno = saved;
    return r == -EINVAL ? EILSEQ : -r;
}

/* The snapshot uses an onlooker of its own: trid keeps its position, and the creator its unread
 * events.  The onlooker needs no reference: a shutdown meanwhile does not wait, as fd may be a pipe
 * without a reader, and leaves it its memory. */
PT_PUBLIC int posixtrace_snapshot(trace_id_t trid, int fd,
                                  struct posixtrace_snapshot_report *report, size_t size)
{
    struct posixtrace_snapshot_report done;
    struct pt_stream *onlooker;
    int saved = errno, r;
    uint32_t instance;
    struct pt_guard g;

    if ((report && size == 0) || !pt_guard_enter(&g, trid, PT_LIVING_STREAMS))
        return EINVAL;
    r = g.s->seg->file[0] ? pt_attach(&onlooker, g.s->seg->file) : -ENOTSUP;
    instance = pt_unfinished_begin(PT_SNAPSHOTS);
    pt_handle_put(g.s);
    if (r == 0) {
        r = pt_snapshot(onlooker, fd, &done);
        pt_detach(onlooker);
    } else if (r == -ENOENT) {
        r = -ENXIO;
    }
    pt_unfinished_end(PT_SNAPSHOTS, instance);
    if (r == 0 && report)
        pt_sized_copy(report, size, &done, sizeof done);
    errno = saved;
    pt_cancel_restore(g.cancel);
    return r < 0 ? -r : 0;
}

PT_PUBLIC int posixtrace_log_piece(int fd, struct posixtrace_piece *piece, size_t size)
{
    struct posixtrace_piece is = { 0 };
    struct pt_log_header h;
    int saved = errno, r = 0;
    ssize_t n;

    if (!piece || size == 0)
        return EINVAL;
    n = pread(fd, &h, sizeof h, 0);
    if (n < 0)
        r = errno;
    else if (n != (ssize_t)sizeof h || !pt_log_header_open(&h))
        r = EILSEQ;
    errno = saved;
    if (r != 0)
        return r;
    memcpy(is.id, h.id, sizeof is.id);
    is.number = h.piece;
    is.complete = (h.flags & PT_LOG_COMPLETE) != 0;
    pt_sized_copy(piece, size, &is, sizeof is);
    return 0;
}

PT_PUBLIC int posixtrace_log_rotate(trace_id_t trid, const struct posixtrace_rotation *rotation,
                                    size_t size)
{
    struct posixtrace_rotation how = { 0 };
    struct pt_piece_limits limits;
    struct pt_guard g;

    if (!rotation || size == 0 || !pt_guard_enter(&g, trid, PT_STREAM_LOGGED))
        return EINVAL;
    memcpy(&how, rotation, size < sizeof how ? size : sizeof how);
    limits = (struct pt_piece_limits){ .bytes = how.bytes, .ns = how.ns, .keep = how.keep };
    return pt_guard_leave(&g, pt_flusher_set_pieces(g.s->flusher, &limits));
}

/* A pointer to the public type is a pointer to the inner one. */
static struct pt_log_builder *inner(posixtrace_log_builder_t *builder)
{
    return (struct pt_log_builder *)(void *)builder;
}

PT_PUBLIC int posixtrace_log_builder_create(int fd, const trace_attr_t *attr,
                                            posixtrace_log_builder_t **builder)
{
    const struct pt_attr *a = pt_attr_get(attr);
    struct pt_log_builder *b;
    int error;

    if (!builder || (attr && (!a || pt_attr_check(a, true) != 0)))
        return EINVAL;
    error = pt_log_builder_new(&b, fd, a);
    if (!error)
        *builder = (posixtrace_log_builder_t *)(void *)b;
    return -error;
}

PT_PUBLIC int posixtrace_log_builder_add(posixtrace_log_builder_t *builder,
                                         const struct posixtrace_event *event, size_t size)
{
    struct posixtrace_event e;

    if (!builder || !event || size == 0)
        return EINVAL;
    pt_sized_copy(&e, sizeof e, event, size);
    return -pt_log_builder_add(inner(builder), &e);
}

PT_PUBLIC int posixtrace_log_builder_describe(posixtrace_log_builder_t *builder,
                                              const char *event_name, const char *description)
{
    struct posixtrace_layout *layout;
    int r;

    if (!builder || !event_name || !description)
        return EINVAL;
    r = pt_layout_read(description, &layout);
    if (r == 0) {
        free(layout);
        r = pt_log_builder_describe(inner(builder), event_name, description);
    }
    return -r;
}

PT_PUBLIC int posixtrace_log_builder_lost(posixtrace_log_builder_t *builder,
                                          const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    if (!builder || !lost)
        return EINVAL;
    pt_log_builder_lost(inner(builder), lost);
    return 0;
}

PT_PUBLIC int posixtrace_log_builder_finish(posixtrace_log_builder_t *builder)
{
    return builder ? -pt_log_builder_finish(inner(builder)) : EINVAL;
}
