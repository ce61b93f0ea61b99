/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See recover.h.  flock keeps two recoveries apart; the segment goes only
 * after the log has its end mark, so a recovery that is killed is done again
 * and finds in the log what the first had written.
 */
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "log/reader.h"
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

static int complete(int fd, struct pt_log_reader *r, struct pt_tail *tail,
                    struct posixtrace_recover_report *report)
{
    struct pt_log_writer *w;
    struct stat st;
    int e;

    if (fstat(fd, &st) < 0)
        return -errno;
    e = pt_log_writer_resume(&w, fd, r);
    if (e < 0)
        return e;
    if (tail)
        e = append_tail(w, r, &tail->tail, report);
    if (e == 0)
        e = tail ? pt_log_complete(w, POSIXTRACE_END_RECOVERED, &tail->tail.status,
                                   tail->tail.authors, tail->tail.author_count)
                 : pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0);
    pt_log_writer_free(w);
    if (e < 0) {
        report->events_added = 0;
        if (ftruncate(fd, st.st_size) < 0)
            return e;   /* the error that matters */
    }
    return e;
}

static int recover_locked(int fd, struct posixtrace_recover_report *report)
{
    struct posixtrace_info info;
    struct pt_log_reader *r;
    struct pt_tail *tail = NULL;
    int e = pt_log_reader_new(&r, fd), found;

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
        if (e == 0 && tail)
            e = pt_log_reader_set_tail(r, &tail->tail);
        if (e == 0)
            e = complete(fd, r, tail, report);
        if (e == 0 && tail)
            pt_tail_unlink(tail);
    }
    pt_log_reader_free(r);
    pt_tail_close(tail);
    return e;
}

int pt_stream_recover(int fd, struct posixtrace_recover_report *report)
{
    int e;

    memset(report, 0, sizeof *report);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    e = recover_locked(fd, report);
    flock(fd, LOCK_UN);
    return e;
}
