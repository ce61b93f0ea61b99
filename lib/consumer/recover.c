/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See pt_stream_recover() in crash_recovery.h.  A claim (log/writer/claim.h) excludes a second
 * recovery, and gives way to a stream that wants the file.  The segment is removed only after the
 * log has its end mark, so a killed recovery is repeated and finds in the log the events that the
 * first one has written.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <trace.h>
#include <unistd.h>
#include "consumer/crash_recovery.h"
#include "consumer/recover_empty.h"
#include "consumer/tombstone.h"
#include "log/reader/reader.h"
#include "log/writer/claim.h"
#include "log/writer/resume.h"
#include "log/writer/writer.h"

/* Names, clock points and packets that only the segment has. */
static int append_tail(struct pt_log_writer *w, struct pt_log_reader *r,
                       const struct pt_log_tail *tail, struct posixtrace_recover_report *report)
{
    size_t count;
    const struct pt_log_packet *p = pt_log_reader_tail(r, &count);
    int e = 0;

    for (unsigned kind = 0; kind < PT_TEXTS; kind++)
        for (uint32_t id = kind == PT_TEXT_MAPPING ? 1 : PT_ID_NAMED_FIRST;
             e == 0 && id < tail->text_end[kind]; id++)
            if (tail->text[kind][id] && !pt_log_reader_has_text(r, (enum pt_text)kind, id))
                e = pt_log_put_text(w, (enum pt_text)kind, id, tail->text[kind][id]);
    for (size_t i = pt_log_reader_sync_count(r); e == 0 && i < tail->sync_count; i++)
        e = pt_log_put_sync(w, &tail->syncs[i]);
    for (size_t i = 0; e >= 0 && i < count; i++) {
        struct pt_log_books before, after;

        pt_log_books(w, &before);
        e = pt_log_put_packet(w, &p[i]);
        pt_log_books(w, &after);
        if (e >= 0)
            report->events_added += p[i].events - (after.full - before.full) -
                                    (after.error - before.error);
    }
    return e < 0 ? e : 0;
}

/* A LOOP log that is too small for all gives up its own events first, then those that were
 * added. */
static void leave_out_overwritten(const struct pt_log_books *before, struct pt_log_writer *w,
                                  struct posixtrace_recover_report *report)
{
    struct pt_log_books after;
    uint64_t gone;

    pt_log_books(w, &after);
    gone = after.overwritten - before->overwritten;
    gone -= gone < before->events ? gone : before->events;
    report->events_added -= gone < report->events_added ? gone : report->events_added;
}

static int write_rest(struct pt_log_writer *w, struct pt_log_reader *r, const struct pt_tail *tail,
                      struct posixtrace_recover_report *report)
{
    int e = tail ? append_tail(w, r, &tail->tail, report) : 0;

    if (e < 0)
        return e;
    return tail ? pt_log_complete(w, POSIXTRACE_END_RECOVERED, &tail->tail.status,
                                  tail->tail.authors, tail->tail.author_count)
                : pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0);
}

/* How long the file will be, if the log is a ring then; else 0. */
static int find_size(int fd, struct pt_log_reader *r, const struct pt_tail *tail, uint64_t *size)
{
    struct posixtrace_recover_report unused = { 0 };
    struct pt_log_writer *w;
    int e = pt_log_writer_rehearse(&w, fd, r);

    if (e < 0)
        return e;
    e = write_rest(w, r, tail, &unused);
    *size = pt_log_full(w) ? pt_log_writer_reach(w) : 0;
    pt_log_writer_free(w);
    return e;
}

/*
 * A log that only grows can be restored by truncating it to its old size.  Events that a recovery
 * overwrites in a ring are lost, so all space after the ring is allocated on the disk before the
 * first write into the ring.  A write into the ring may still fail, for example on a damaged
 * medium: then the log has dropped events, which it counts, and their names stay.
 */
static int complete(struct pt_log_claim *c, struct pt_log_reader *r, struct pt_tail *tail,
                    struct posixtrace_recover_report *report)
{
    bool loops = pt_log_reader_params(r)->attr.log_policy == POSIX_TRACE_LOOP;
    bool overwrites = false;
    struct pt_log_books before;
    struct pt_log_writer *w;
    off_t old = c->size;
    uint64_t size = 0;
    int e = loops ? find_size(c->fd, r, tail, &size) : 0;

    if (e == 0)
        e = pt_log_writer_resume(&w, c->fd, r, &c->gate);
    if (e < 0)
        return e;
    pt_log_books(w, &before);
    if (size)
        e = pt_log_writer_extend(w, size);
    if (e == 0) {
        e = write_rest(w, r, tail, report);
        overwrites = size != 0 && pt_log_full(w);
    }
    leave_out_overwritten(&before, w, report);
    pt_log_writer_free(w);
    if (e < 0) {
        report->events_added = 0;
        if (!overwrites)
            pt_log_claim_truncate(c, old);
    }
    return e;
}

/* Removes the end of a log that an earlier recovery has completed without the segment, which exists
 * now. */
static int reopen(struct pt_log_claim *c, struct pt_log_reader *r)
{
    uint64_t size;
    int e = pt_log_reader_leave_out_end(r, &size);

    if (e == 0)
        e = pt_log_claim_truncate(c, (off_t)size);
    if (e == 0)
        c->size = (off_t)size;
    return e;
}

static int find_tail(struct pt_log_claim *c, struct pt_log_reader *r, struct pt_tail **tail,
                     struct posixtrace_recover_report *report)
{
    bool again = pt_log_reader_lacks_tail(r);
    int found = pt_tail_open(tail, pt_log_reader_params(r)->id);

    if (found == PT_TAIL_FOUND && !pt_tail_fits(*tail, r)) {
        pt_tail_close(*tail);
        *tail = NULL;
        found = PT_TAIL_NONE;
    }
    report->segment_found = found == PT_TAIL_FOUND;
    if (again && report->segment_found) {
        report->was_complete = false;
        return reopen(c, r);
    }
    return found < 0 ? found : found == PT_TAIL_WRITER_ALIVE ? -EBUSY : 0;
}

static int recover_claimed(struct pt_log_claim *c, uint64_t lost,
                           struct posixtrace_recover_report *report)
{
    struct posixtrace_info info;
    struct pt_log_reader *r;
    struct pt_tail *tail = NULL;
    int e = pt_log_reader_new(&r, c->fd);

    if (e < 0)
        return e;
    e = pt_log_reader_info(r, &info);
    if (e == 0) {
        report->events_before = info.events;
        report->was_complete = pt_log_reader_complete(r);
    }
    if (e == 0 && (!report->was_complete || pt_log_reader_lacks_tail(r)))
        e = find_tail(c, r, &tail, report);
    if (e == 0 && !report->was_complete) {
        if (!tail)
            pt_tombstone_tell(r);
        pt_log_reader_report_lost(r, PT_LOG_REPORTED, lost);
        if (tail)
            e = pt_log_reader_set_tail(r, &tail->tail);
        if (e == 0)
            e = complete(c, r, tail, report);
        if (e == 0 && tail)
            pt_tail_unlink(tail, c->fd);
    }
    pt_log_reader_free(r);
    pt_tail_close(tail);
    return e;
}

int pt_stream_recover(int fd, uint64_t lost, struct posixtrace_recover_report *report)
{
    struct pt_log_claim claim;
    int e, end, flags = fcntl(fd, F_GETFL);

    memset(report, 0, sizeof *report);
    if (flags < 0 || (flags & O_ACCMODE) != O_RDWR)
        return -EBADF;
    e = pt_log_claim(&claim, fd);
    if (e < 0)
        return e;
    e = pt_recover_empty(&claim);
    if (e == 0 || e == -ENOENT) /* which is no log, and is refused as any such file */
        e = recover_claimed(&claim, lost, report);
    end = pt_log_claim_end(&claim);
    if (end < 0)
        return end;
    /* The file has another log now, or none. */
    return e == -ESTALE ? -EBUSY : e;
}
