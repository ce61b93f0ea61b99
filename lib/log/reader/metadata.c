/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Reads the packets that have no events: names, sync points, totals. */
#include <posixtrace/info.h>
#include "base/array.h"
#include "log/reader/state.h"

int pt_reader_add_sync(struct pt_log_reader *r, const struct pt_sync *point)
{
    int error;

    if (r->sync_count && point->ts <= r->syncs[r->sync_count - 1].ts)
        return 0;
    error = pt_array_grow(&r->syncs, &r->sync_room, r->sync_count, sizeof *r->syncs);
    if (error)
        return error;
    r->syncs[r->sync_count++] = *point;
    r->sync_from = r->sync_to = 0;
    return 0;
}

static int learn_text(struct pt_log_reader *r, enum pt_text kind, const struct pt_packet_text *p)
{
    int kept = pt_string_table_keep(&r->texts, kind, p->id, (const char *)(p + 1), p->length);

    return kept < 0 ? kept : 0;
}

static int learn_authors(struct pt_log_reader *r, const struct pt_packet_author *from,
                         uint32_t count)
{
    int error = 0;

    for (uint32_t i = 0; i < count && !error; i++)
        error = pt_author_stats_read(&r->totals, &from[i]);
    return error;
}

/* The state of a ROUND or END, with the switches that the kernel lost apart from the rest. */
static void learn_state(struct pt_log_reader *r, const struct pt_packet_head *packet,
                        const struct pt_log_state *state)
{
    const struct pt_packet_more *more = pt_packet_more(packet);
    const unsigned c = POSIXTRACE_LOST_FULL;
    uint64_t n = more ? more->lost_switches : 0;

    n = n < state->unknown_lost[c] ? n : state->unknown_lost[c];
    n = n < state->lost[c] ? n : state->lost[c];
    r->state = *state;
    r->state.unknown_lost[c] -= n;
    r->state.lost[c] -= n;
    r->lost_switches = n;
    r->state_lsn = packet->lsn;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A ring may still have the list of an author that its writer has folded since. */
static void leave_out_named(struct pt_log_reader *r)
{
    const struct pt_author_stats *t = &r->totals;
    struct pt_log_state *s = &r->state;
    uint64_t rest = s->recorded - least_of(s->recorded, t->recorded);

    s->unknown_recorded = least_of(s->unknown_recorded, rest);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++) {
        rest = s->lost[c] - least_of(s->lost[c], t->lost[c]);
        s->unknown_lost[c] = least_of(s->unknown_lost[c], rest);
    }
}

static int learn_round(struct pt_log_reader *r, const struct pt_packet_round *round)
{
    int error;

    learn_state(r, &round->head, &round->state);
    if (round->head.flags & PT_ROUND_ALL)
        pt_author_stats_clear(&r->totals);
    error = learn_authors(r, (const void *)(round + 1), round->state.authors);
    leave_out_named(r);
    return error;
}

/* The first one counts. */
static int learn_base(struct pt_log_reader *r, const struct pt_packet_piece *p)
{
    if (r->base.number || p->number < 2 || p->number != r->params.piece)
        return 0;
    return pt_piece_base_read(&r->base, p);
}

int pt_reader_learn(struct pt_log_reader *r, const struct pt_packet_head *packet)
{
    const void *p = packet;

    if (packet->type == PT_PACKET_NAME)
        return learn_text(r, PT_TEXT_NAME, p);
    if (packet->type == PT_PACKET_DESCRIPTION)
        return learn_text(r, PT_TEXT_DESCRIPTION, p);
    if (packet->type == PT_PACKET_MAPPING)
        return learn_text(r, PT_TEXT_MAPPING, p);
    if (packet->type == PT_PACKET_CLOCK)
        return learn_text(r, PT_TEXT_CLOCK, p);
    if (packet->type == PT_PACKET_PIECE)
        return learn_base(r, p);
    if (packet->type == PT_PACKET_SYNC) {
        const struct pt_packet_sync *sync = p;
        int error = 0;

        for (uint32_t i = 0; i < sync->count && !error; i++)
            error = pt_reader_add_sync(r, (const struct pt_sync *)(sync + 1) + i);
        return error;
    }
    if (packet->type == PT_PACKET_ROUND)
        return learn_round(r, p);
    return 0;
}

int pt_reader_learn_all(struct pt_log_reader *r, uint64_t from, uint64_t to)
{
    const struct pt_packet_head *packet;
    struct pt_walk walk;
    uint64_t offset;
    int rc;

    pt_walk_init(&walk, &r->source, r->seed, from, to);
    while ((rc = pt_walk_next(&walk, &packet, &offset)) == 1) {
        rc = packet->type == PT_PACKET_ROUND ? 0 : pt_reader_learn(r, packet);
        if (rc)
            return rc;
    }
    /* A recovery that was killed may leave zeros there. */
    r->unlearned += r->has_end ? walk.skipped : 0;
    return rc;
}

/* The writer of a log that was cut while it wrote does not know the counts. */
static void learn_counts(struct pt_log_reader *r, const struct pt_packet_count *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (from[i].id < PT_ID_MAX)
            r->counts[from[i].id] = from[i].count;
    r->counted = n > 0 || r->state.events == 0;
}

int pt_reader_learn_end(struct pt_log_reader *r, const struct pt_packet_end *end)
{
    const struct pt_packet_author *authors = (const void *)(end + 1);

    learn_state(r, &end->head, &end->state);
    r->has_end = r->complete = true;
    r->alone = end->state.end == POSIXTRACE_END_RECOVERED && (end->head.flags & PT_END_ALONE);
    r->outlived = end->state.end == POSIXTRACE_END_SHUTDOWN && (end->head.flags & PT_END_OUTLIVED);
    r->continued = (end->head.flags & PT_END_CONTINUED) != 0;
    r->parts = end->rounds;
    pt_author_stats_clear(&r->totals);
    learn_counts(r, (const void *)(authors + end->state.authors), end->state.counts);
    return learn_authors(r, authors, end->state.authors);
}
