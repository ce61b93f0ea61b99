/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See recover.h.  A claim (log_claim.h) keeps two recoveries apart, and gives way to a stream
 * that wants the file; the segment goes only after the log has its end mark, so a recovery
 * that is killed is done again and finds in the log what the first had written.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "log/reader.h"
#include "stream/log_claim.h"
#include "stream/postmortem.h"
#include "stream/recover.h"
#include "stream/tombstone.h"

/* Names, clock points and packets that only the segment has. */
static int append_tail(struct pt_log_writer *w, struct pt_log_reader *r,
                       const struct pt_log_tail *tail, struct posixtrace_recover_report *report)
{
    size_t count;
    const struct pt_log_packet *p = pt_log_reader_tail(r, &count);
    int e = 0;

    for (unsigned kind = 0; kind < PT_TEXTS; kind++)
        for (uint32_t id = PT_ID_NAMED_FIRST; e == 0 && id < PT_ID_MAX; id++)
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

static int complete(struct pt_log_claim *c, struct pt_log_reader *r, struct pt_tail *tail,
                    struct posixtrace_recover_report *report)
{
    struct pt_log_books before;
    struct pt_log_writer *w;
    off_t size = c->size;
    int e = pt_log_writer_resume(&w, c->fd, r, &c->gate);

    if (e < 0)
        return e;
    pt_log_books(w, &before);
    if (tail)
        e = append_tail(w, r, &tail->tail, report);
    if (e == 0)
        e = tail ? pt_log_complete(w, POSIXTRACE_END_RECOVERED, &tail->tail.status,
                                   tail->tail.authors, tail->tail.author_count)
                 : pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0);
    leave_out_overwritten(&before, w, report);
    pt_log_writer_free(w);
    if (e < 0) {
        report->events_added = 0;
        pt_log_claim_truncate(c, size);
    }
    return e;
}

static int recover_claimed(struct pt_log_claim *c, uint64_t lost,
                           struct posixtrace_recover_report *report)
{
    struct posixtrace_info info;
    struct pt_log_reader *r;
    struct pt_tail *tail = NULL;
    int e = pt_log_reader_new(&r, c->fd), found;

    if (e < 0)
        return e;
    e = pt_log_reader_info(r, &info);
    if (e == 0) {
        report->events_before = info.events;
        report->was_complete = pt_log_reader_complete(r);
    }
    if (e == 0 && !report->was_complete) {
        found = pt_tail_open(&tail, pt_log_reader_params(r)->id);
        report->segment_found = found == PT_TAIL_FOUND;
        e = found < 0 ? found : found == PT_TAIL_WRITER_ALIVE ? -EBUSY : 0;
        if (found == PT_TAIL_NONE)
            pt_tombstone_tell(pt_log_reader_params(r)->id, r);
        if (lost > 0)
            pt_log_reader_add_lost(r, POSIXTRACE_LOST_LOG_ERROR, lost);
        if (e == 0 && tail)
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
    int e;

    memset(report, 0, sizeof *report);
    e = pt_log_claim(&claim, fd);
    if (e < 0)
        return e;
    e = recover_claimed(&claim, lost, report);
    pt_log_claim_end(&claim);
    /* The file has another log now, or none. */
    return e == -ESTALE ? -EBUSY : e;
}
