/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What comes next in a round: of the authors the one with the earliest event, or, while blocks are
 * read, the one whose next packet begins first.  A caller may change from one to the other at any
 * event: the rest of each author's packet then is the first that it has.
 */
#include <pthread.h>
#include "base/assert.h"
#include "log/reader/state.h"

/* The cursor's first event, of the rest of a packet or of the next one.  As
 * pt_reader_next_packet(). */
static int first_event(struct pt_log_reader *r, struct pt_packet_cursor *c)
{
    bool begun = c->begun;

    c->begun = false;
    if (begun && (c->waits || pt_cursor_step(c) == 1))
        return 1;
    return pt_reader_next_packet(r, c);
}

/* The cursors compete by their first events.  1 or negative errno. */
static int begin_contest(struct pt_log_reader *r)
{
    struct pt_reader_round *round = &r->round;
    int rc = pt_loser_tree_reset(&round->contest, round->cursor_count);

    pt_loser_tree_reset(&round->packets, 0);
    if (rc >= 0)
        rc = pt_reader_sort_notes(round);
    for (uint32_t i = 0; rc >= 0 && i < round->cursor_count; i++) {
        struct pt_packet_cursor *c = &round->cursors[i];
        uint64_t wid = c->author.wid;

        rc = first_event(r, c);
        if (rc == 1)
            pt_loser_tree_enter(&round->contest, i, c->record.ts, (uint32_t)wid);
    }
    if (rc < 0) {
        pt_loser_tree_reset(&round->contest, 0);
        return rc;
    }
    pt_loser_tree_begin(&round->contest);
    pt_assert(round->contest.count <= round->cursor_count);
    return 1;
}

static int collect(struct pt_log_reader *r)
{
    r->gap |= r->round.hides;
    pt_reader_round_clear(&r->round);
    r->source.keep = PT_SOURCE_KEEP_NOTHING;
    r->round.number++;
    return pt_reader_collect(r);
}

PT_COLD int pt_reader_next_round(struct pt_log_reader *r)
{
    int cancel, rc;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    rc = r->round.packets.count ? begin_contest(r) : 1;
    while (rc == 1 && !r->round.contest.count) {
        rc = collect(r);
        if (rc == 1)
            rc = begin_contest(r);
    }
    pthread_setcancelstate(cancel, NULL);
    return rc;
}

/* ---- packets ---- */

/* Enters the cursor, at what it has left, if anything. */
static void enter_packet(struct pt_reader_round *round, uint32_t i, bool begun)
{
    struct pt_packet_cursor *c = &round->cursors[i];
    uint64_t ts;

    if (c->over || (!begun && c->next_note == PT_NO_NOTE))
        return;
    c->begun = begun;
    c->waits = begun && c != round->current;
    ts = begun ? c->record.ts : round->notes[c->next_note].first_ts;
    pt_loser_tree_enter(&round->packets, i, ts, (uint32_t)c->author.wid);
}

static int begin_packets(struct pt_log_reader *r)
{
    struct pt_reader_round *round = &r->round;
    bool begun = round->contest.count > 0;
    int rc = pt_loser_tree_reset(&round->packets, round->cursor_count);

    if (rc >= 0)
        rc = pt_reader_sort_notes(round);
    if (rc < 0) {
        pt_loser_tree_reset(&round->packets, 0);
        return rc;
    }
    for (uint32_t i = 0; i < round->cursor_count; i++)
        enter_packet(round, i, begun);
    pt_loser_tree_reset(&round->contest, 0);
    round->current = NULL;
    pt_loser_tree_begin(&round->packets);
    return 1;
}

int pt_reader_first_packet(struct pt_log_reader *r, struct pt_packet_cursor **c)
{
    struct pt_reader_round *round = &r->round;
    int rc = round->contest.count ? begin_packets(r) : 1;

    while (rc == 1 && !round->packets.count) {
        rc = collect(r);
        r->seeking = r->seeking && !r->found;
        r->found = false;
        if (rc == 1)
            rc = begin_packets(r);
    }
    if (rc == 1)
        *c = &round->cursors[round->packets.winner];
    return rc;
}

void pt_reader_packet_done(struct pt_log_reader *r, struct pt_packet_cursor *c)
{
    struct pt_reader_round *round = &r->round;

    pt_assert(c == &round->cursors[round->packets.winner]);
    pt_reader_leave_packet(r, c);
    if (c->next_note == PT_NO_NOTE)
        pt_loser_tree_leave(&round->packets);
    else
        pt_loser_tree_again(&round->packets, round->notes[c->next_note].first_ts);
}
