/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A round of the flush thread: names and sync points, the events below the watermark, the record
 * that ends the round.  Also clears the stream and its log.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/clock.h"
#include "consumer/checkpoint.h"
#include "flush/state.h"
#include "flush/switches.h"
#include "model/clock_text.h"
#include "log/writer/writer.h"
#include "page/mapping_list.h"
#include "shm/liveness.h"
#include "shm/slot.h"
#include "shm/syncpoint.h"

#define LAST_TRIES 10 /* to find memory for the last round */
/* Readings of the host's clock: so far apart, and twice as far after each so many. */
#define CLOCK_PAUSE_NS UINT64_C(64000000000)
#define CLOCKS_A_PAUSE 64u

static void count_error(struct pt_seg_header *h, uint32_t number)
{
    uint32_t errors = pt_load_relaxed(&h->flush_errors) | PT_FLUSH_ERRNO;

    pt_store_seqcst(&h->flush_errors, errors + 1 + (number & PT_FLUSH_ERRNO));
}

/* Another thread may reset flush_error meanwhile, which takes nothing from the log's own number and
 * from the count. */
static void note_error(struct pt_flusher *f, int e)
{
    struct pt_seg_header *h = f->stream->seg->h;
    uint32_t none = 0;

    if (e >= 0)
        return;
    if (!f->first_error)
        f->first_error = -e;
    count_error(h, (uint32_t)-e);
    pt_cas_seqcst(&h->flush_error, &none, (uint32_t)-e);
}

/* As in a new log: no overrun and no error is pending, of no request either. */
static void forget_errors(struct pt_flusher *f)
{
    struct pt_seg_header *h = f->stream->seg->h;

    f->first_error = 0;
    count_error(h, 0);
    pt_store_seqcst(&h->flush_error, 0u);
    pt_and_seqcst(&h->flush_state, ~PT_LOG_OVERRUN);
}

/* The status, which other processes see, too: see layout.h. */
static void show(struct pt_flusher *f, uint32_t bit, uint32_t on)
{
    if (on)
        pt_or_seqcst(&f->stream->seg->h->flush_state, bit);
    else
        pt_and_seqcst(&f->stream->seg->h->flush_state, ~bit);
}

int pt_flush_put_packet(void *context, const struct pt_log_packet *packet)
{
    struct pt_flusher *f = context;
    note_error(f, pt_log_join_packet(f->writer, packet));
    return 0;
}

/* The mappings of the processes, as far as they are in the name map. */
static int put_mappings(struct pt_flusher *f)
{
    const struct pt_names *names = f->stream->names;
    uint32_t end = pt_mapping_list_end(names);
    int e = 0;

    for (; e == 0 && f->mappings_end < end; f->mappings_end += e == 0) {
        const char *text = pt_mapping_list_get(names, f->mappings_end);

        e = text ? pt_log_put_text(f->writer, PT_TEXT_MAPPING, f->mappings_end, text) : 0;
        e = e == -EINVAL ? 0 : e;
    }
    return e;
}

/* How long after reading n: so that the numbers of a log of years do not run out. */
static uint64_t clock_pause(uint32_t n)
{
    return CLOCK_PAUSE_NS << (n / CLOCKS_A_PAUSE < 20 ? n / CLOCKS_A_PAUSE : 20);
}

/* A reading of the host's clock with the first flush, with each that has new sync points, with the
 * first one after a correction found no room, with the last one, and now and then.  An error is
 * that of the log: the next cycle repeats. */
static int put_clock(struct pt_flusher *f, bool last)
{
    int clock = f->stream->seg->g.clock, e;
    uint64_t now = pt_clock_ns(CLOCK_MONOTONIC);
    struct pt_clock_reading reading;
    struct pt_clock_error error;
    char text[PT_CLOCK_TEXT_MAX + 1];

    reading.left = pt_syncpoint_is_left(f->stream->seg->h);
    if (!last && f->clocks && f->clock_syncs == f->syncs && f->clock_left == reading.left &&
        now < f->clock_due)
        return 0;
    if (f->clocks + 1 >= PT_CLOCK_TEXT_END)
        return 0;
    pt_clock_error(&error);
    pt_clock_pair(clock, &reading.ts, &reading.ns);
    reading.most = error.most;
    reading.estimated = error.estimated;
    reading.status = error.status;
    pt_clock_text_put(text, &reading);
    e = pt_log_put_text(f->writer, PT_TEXT_CLOCK, f->clocks + 1, text);
    if (e == 0) {
        f->clocks++;
        f->clock_syncs = f->syncs;
        f->clock_left = reading.left;
        f->clock_due = now + clock_pause(f->clocks);
    }
    return e;
}

int pt_flush_names_and_syncs(struct pt_flusher *f, bool last)
{
    struct pt_names *names = f->stream->names;
    struct pt_seg_header *h = f->stream->seg->h;
    /* The round writes events that are older than now; a later sync point is after all of them. */
    uint32_t syncs = pt_syncpoint_reach(h, pt_clock_now(f->stream->seg->g.clock));
    uint32_t end = pt_names_end(names), id;
    const char *text;
    int e = 0;

    /* A name that is none any more was overwritten by another process. */
    for (; e == 0 && f->names_end < end; f->names_end += e == 0) {
        text = pt_names_get(names, f->names_end);
        e = text ? pt_log_put_text(f->writer, PT_TEXT_NAME, f->names_end, text) : 0;
        e = e == -EINVAL ? 0 : e;
    }
    while (e == 0 && ((text = pt_names_description_at(names, f->described, &id)) || id)) {
        if (text)
            e = pt_log_put_text(f->writer, PT_TEXT_DESCRIPTION, id, text);
        e = e == -EINVAL ? 0 : e;
        f->described += e == 0;
    }
    if (e == 0)
        e = put_mappings(f);
    for (; e == 0 && f->syncs < syncs; f->syncs += e == 0) {
        struct pt_sync point;

        pt_syncpoint_get(h, f->syncs, &point);
        e = pt_log_put_sync(f->writer, &point);
    }
    return e == 0 ? put_clock(f, last) : e;
}

static void fill_status(struct pt_flusher *f, struct pt_log_status *st)
{
    struct pt_consumer *l = &f->stream->live;
    struct pt_seg_header *h = l->seg->h;
    uint64_t state = pt_load_seqcst(&h->state);

    st->watermark = l->watermark;
    st->status_running = pt_state_of(state) == PT_RUNNING;
    st->stream_full = pt_state_is_full(state);
    st->stream_overrun = (int32_t)pt_load_relaxed(&h->overrun);
    st->flush_error = f->first_error;
    st->late = l->late;
    st->peak_bytes = (uint64_t)pt_load_relaxed(&h->peak_chunks) * l->seg->g.chunk_size;
    st->reserved_bytes = (uint64_t)pt_seg_chunk_count(l->seg) * l->seg->g.chunk_size;
    st->advised_size = pt_slot_advised_size(l->seg);
    st->refused = pt_seg_refused(l->seg);
    st->hides = f->round.hides;
}

/* Does a traced process run on that is not this one, which shuts the stream down? */
static bool is_outlived(const struct pt_seg *seg)
{
    struct pt_process look;

    for (uint32_t i = 0; i < pt_seg_proc_count(seg); i++) {
        const struct pt_proc *p = pt_seg_proc(seg, i);
        uint32_t pid = pt_load_seqcst(&p->pid);

        if (pid != 0 && pid != (uint32_t)getpid() && pt_process_look(pid, &look) == 0 &&
            pt_is_start(look.start, pt_load_seqcst(&p->start)) && !pt_process_has_ended(&look))
            return true;
    }
    return false;
}

static void publish(struct pt_flusher *f)
{
    show(f, PT_LOG_FULL, (uint32_t)pt_log_full(f->writer));
    if (pt_log_overrun(f->writer, true))
        show(f, PT_LOG_OVERRUN, 1);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        pt_store_relaxed(&f->log_lost[c], f->pieces.log_lost[c] + pt_log_lost(f->writer, c));
}

static void take_reading(struct pt_flusher *f)
{
    pt_assert_call(!f->holds);
    pt_stream_lock_reading(f->stream);
    f->holds = true;
}

static void leave_reading(struct pt_flusher *f)
{
    pt_assert_call(f->holds && !f->writing);
    f->holds = false;
    pthread_mutex_unlock(&f->stream->reading);
}

/* Everything that is certain by now, from the segment to the log's writer. */
static int take_all(struct pt_flusher *f, bool last)
{
    struct pt_consumer *l = &f->stream->live;
    int e;

    if (l->seg->g.attr.stream_policy == POSIX_TRACE_LOOP)
        pt_accounts_settle(&l->accounts);
    e = pt_consumer_refresh(l);
    note_error(f, pt_flush_names_and_syncs(f, last));
    if (e == 0)
        return pt_collect_write(&f->round);
    l->watermark = l->accounts.delivered_ts;
    return e;
}

/* All names are read when the stream is shut down, and in the first round after it stopped. */
static struct pt_name_turn name_turn(struct pt_flusher *f, bool last)
{
    bool runs = pt_state_of(pt_load_seqcst(&f->stream->seg->h->state)) == PT_RUNNING;
    struct pt_name_turn turn = { pt_clock_ns(CLOCK_MONOTONIC), PT_NAMES_A_ROUND,
                                 last || (f->ran && !runs) };

    f->ran = runs;
    return turn;
}

/* Ends the round, or the log. */
static int end_round(struct pt_flusher *f, enum pt_totals which, const struct pt_log_status *says,
                     const struct pt_log_author_totals *totals, size_t count)
{
    int e;

    if (which == PT_TOTALS_ALL)
        e = pt_log_complete(f->writer, POSIXTRACE_END_SHUTDOWN, says, totals, count);
    else
        e = pt_log_end_round(f->writer, says, totals, count);
    f->round.hides = f->round.hides && (e < 0 || !says);
    note_error(f, e);
    return e;
}

/* Gives chunks back.  At a seam the log is the next piece then. */
static void commit(struct pt_flusher *f, bool seam)
{
    struct pt_log_books books;

    pt_log_books(f->writer, &books);
    pt_assert(f->holds && !f->writing);
    pt_collect_commit(&f->round, &books);
    if (seam)
        note_error(f, pt_pieces_switch(f));
}

int pt_flush_cycle(struct pt_flusher *f, enum pt_totals which)
{
    const bool last = which == PT_TOTALS_ALL;
    struct pt_consumer *l = &f->stream->live;
    struct pt_log_author_totals *totals = NULL;
    struct pt_log_status status = { 0 }, *says = &status;
    struct pt_name_turn names;
    size_t count = 0;
    bool whole, seam;
    int e;

    take_reading(f);
    pt_store_seqcst(&l->seg->h->flush_asked, 0u);
    e = take_all(f, last);
    /* Events that are left for want of memory are written by the next round.  The last round
     * repeats. */
    for (int i = 0; last && e == -ENOMEM && i < LAST_TRIES; i++) {
        note_error(f, e);
        e = take_all(f, false);
    }
    whole = e == 0;
    note_error(f, e);
    e = pt_log_join_end(f->writer);
    note_error(f, e);
    seam = whole && e == 0 && which == PT_TOTALS_SEAM;
    fill_status(f, &status);
    status.outlived = last && (is_outlived(l->seg) || pt_switches_outlived(f->round.switches));
    names = name_turn(f, last);
    e = pt_collect_totals(l, which, &names, &totals, &count, &status);
    note_error(f, e);
    memcpy(f->pieces.unknown_lost, status.lost_unknown_author, sizeof f->pieces.unknown_lost);
    if (f->pieces.base)
        pt_piece_subtract(f->pieces.base, &status, totals, &count);
    seam = seam && e == 0;
    pt_switches_name(f->round.switches, &l->accounts, &names, f->writer);
    pt_assert(f->holds && (totals || count == 0));
    /* Without memory for the totals the round repeats those of the previous one. */
    if (e < 0)
        says = NULL;
    e = end_round(f, which, says, totals, count);
    free(totals);
    commit(f, seam && e == 0);
    if (whole && !f->round.more && pt_merge_top(&l->cursors.merge) == NULL)
        pt_auto_stop_restart(&l->stops, &l->windows);
    publish(f);
    leave_reading(f);
    return e;
}

void pt_flush_shows(struct pt_flusher *f, bool flushing)
{
    show(f, PT_FLUSHING, flushing);
}

void pt_flush_marked_round(struct pt_flusher *f, bool explicit_one)
{
    if (!explicit_one)
        pt_stream_put_mark(f->stream, POSIX_TRACE_FLUSH_START, 0);
    pt_flush_shows(f, true);
    f->deadline = 0;
    pt_flush_cycle(f, PT_TOTALS_CHANGED);
    pt_flush_expect(f);
    pt_pieces_look(f);
    /* A caller that sees the end may begin the next flush: its mark comes after this one. */
    pt_stream_put_mark(f->stream, POSIX_TRACE_FLUSH_STOP, 0);
    pt_flush_shows(f, false);
}

int pt_flush_clear(struct pt_flusher *f)
{
    struct pt_consumer *l = &f->stream->live;
    struct pt_log_books books;
    int e;

    /* A later clear may have come first: then the log has events of after it. */
    if (f->clear_ts < l->clear_ts)
        return 0;
    take_reading(f);
    e = pt_consumer_clear(l, f->clear_ts);
    pt_collect_clear(&f->round, f->clear_ts);
    /* The slots also have the accounts of writers that no round has read yet. */
    pt_accounts_look(&l->accounts, l->finished);
    if (e == 0)
        e = pt_log_clear(f->writer);
    if (e == 0)
        forget_errors(f);
    if (!pt_log_has_authors(f->writer))
        pt_accounts_tell_again(&l->accounts);
    pt_log_books(f->writer, &books);
    if (books.events + books.full + books.overwritten + books.error == 0)
        pt_checkpoint_clear(&l->accounts);
    pt_checkpoint_leave(&l->accounts, &l->losses, pt_collect_window(&f->round), &books);
    publish(f);
    leave_reading(f);
    return e;
}
