/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The tables of a round: a cursor for each author, and the notes of its packets. */
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/array.h"
#include "base/hash.h"
#include "log/reader/state.h"

#define KEPT_BUFFERS 256u

void pt_reader_round_clear(struct pt_reader_round *round)
{
    size_t kept = 0;

    pt_loser_tree_reset(&round->contest, 0);
    pt_loser_tree_reset(&round->packets, 0);
    round->current = NULL;
    round->damaged = round->hides = round->unsorted = false;
    round->note_count = 0;
    /* Buffers stay for the next round, but not those of a crowd, and no more than a round
     * may hold. */
    for (size_t i = 0; i < round->cursor_room; i++) {
        struct pt_packet_cursor *c = &round->cursors[i];

        if (i >= KEPT_BUFFERS && i >= round->cursor_count)
            break;
        kept += c->room;
        if (i < KEPT_BUFFERS && kept <= PT_ROUND_UNPACKED)
            continue;
        free(c->buffer);
        c->buffer = NULL;
        c->room = 0;
    }
    round->held = 0;
    round->largest = 0;
    round->cursor_count = 0;
    if (round->hash)
        memset(round->hash, 0, round->hash_room * sizeof *round->hash);
}

void pt_reader_round_deinit(struct pt_reader_round *round)
{
    for (size_t i = 0; i < round->cursor_room; i++)
        free(round->cursors[i].buffer);
    free(round->cursors);
    free(round->notes);
    free(round->hash);
    pt_loser_tree_deinit(&round->contest);
    pt_loser_tree_deinit(&round->packets);
}

/* Doubles the cursors. */
static int grow_cursors(struct pt_reader_round *round)
{
    size_t had = round->cursor_room, room = had ? 2 * had : 64;
    struct pt_packet_cursor *cursors = aligned_alloc(PT_CURSOR_ALIGN, room * sizeof *cursors);

    if (!cursors)
        return -ENOMEM;
    if (had)
        memcpy(cursors, round->cursors, had * sizeof *cursors);
    memset(cursors + had, 0, (room - had) * sizeof *cursors);
    free(round->cursors);
    round->cursors = cursors;
    round->cursor_room = room;
    return 0;
}

static size_t first_cell(const struct pt_reader_round *round, uint64_t wid)
{
    return pt_hash(wid, round->factor) & (round->hash_room - 1);
}

/* Doubles the cursors and the hash over them. */
static int grow_round(struct pt_reader_round *round)
{
    uint32_t *hash;
    size_t cell;

    if (grow_cursors(round) != 0)
        return -ENOMEM;
    hash = calloc(2 * round->cursor_room, sizeof *hash);
    if (!hash)
        return -ENOMEM;
    free(round->hash);
    round->hash = hash;
    round->hash_room = 2 * round->cursor_room;
    round->factor = pt_hash_factor();
    for (size_t i = 0; i < round->cursor_count; i++) {
        cell = first_cell(round, round->cursors[i].author.wid);
        while (hash[cell])
            cell = (cell + 1) & (round->hash_room - 1);
        hash[cell] = (uint32_t)i + 1;
    }
    return 0;
}

/* The author's cell, or the free one where it belongs. */
static size_t cell_of(const struct pt_reader_round *round, uint64_t wid)
{
    size_t cell = first_cell(round, wid);

    while (round->hash[cell] && round->cursors[round->hash[cell] - 1].author.wid != wid)
        cell = (cell + 1) & (round->hash_room - 1);
    return cell;
}

/* The cursor of an author in this round, made if need be; NULL without memory. */
static struct pt_packet_cursor *cursor_of(struct pt_reader_round *round, uint64_t wid)
{
    struct pt_packet_cursor *c;
    size_t cell;

    if (2 * round->cursor_count >= round->hash_room && grow_round(round) != 0)
        return NULL;
    cell = cell_of(round, wid);
    if (round->hash[cell])
        return &round->cursors[round->hash[cell] - 1];
    if (round->cursor_count == round->cursor_room)
        return NULL;
    pt_assert(round->cursor_count * 2 < round->hash_room);
    c = &round->cursors[round->cursor_count++];
    round->hash[cell] = (uint32_t)round->cursor_count;
    c->author.wid = wid;
    c->next_note = c->last_note = PT_NO_NOTE;
    c->decoder.p = c->decoder.end = NULL;
    c->cells.left = 0;
    c->held = 0;
    c->done = 0;
    c->largest = 0;
    c->over = c->begun = false;
    return c;
}

int pt_reader_note(struct pt_reader_round *round, uint64_t wid, struct pt_note entry,
                   uint32_t unpacked)
{
    struct pt_packet_cursor *c = cursor_of(round, wid);
    uint32_t i = (uint32_t)round->note_count;

    if (!c)
        return -ENOMEM;
    if (pt_array_grow(&round->notes, &round->note_room, round->note_count, sizeof *round->notes) <
        0)
        return -ENOMEM;
    entry.next = PT_NO_NOTE;
    round->notes[round->note_count++] = entry;
    if (c->next_note == PT_NO_NOTE) {
        c->next_note = i;
    } else {
        round->unsorted |= entry.first_ts < round->notes[c->last_note].first_ts;
        round->notes[c->last_note].next = i;
    }
    pt_assert(round->note_count <= round->note_room && c->next_note <= i);
    c->last_note = i;
    if (unpacked > c->largest) {
        round->largest += unpacked - c->largest;
        c->largest = unpacked;
    }
    return 0;
}

uint64_t pt_reader_last_of(const struct pt_reader_round *round, uint64_t wid, uint64_t before)
{
    size_t cell = round->hash_room ? cell_of(round, wid) : 0;

    if (!round->hash_room || !round->hash[cell] || round->unsorted)
        return before;
    return round->notes[round->cursors[round->hash[cell] - 1].last_note].last_ts;
}

struct place {
    uint64_t ts;
    uint32_t note;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return x->note < y->note ? -1 : x->note > y->note;
}

static void sort_author(struct pt_reader_round *round, struct pt_packet_cursor *c,
                        struct place *places)
{
    uint32_t *link = &c->next_note;
    size_t n = 0;

    for (uint32_t i = c->next_note; i != PT_NO_NOTE; i = round->notes[i].next)
        places[n++] = (struct place){ round->notes[i].first_ts, i };
    pt_assert(n > 0 && n <= round->note_count);
    qsort(places, n, sizeof *places, by_place);
    for (size_t k = 0; k < n; k++) {
        *link = c->last_note = places[k].note;
        link = &round->notes[*link].next;
    }
    *link = PT_NO_NOTE;
}

int pt_reader_sort_notes(struct pt_reader_round *round)
{
    struct place *places;

    if (!round->unsorted)
        return 0;
    places = malloc(round->note_count * sizeof *places);
    if (!places)
        return -ENOMEM;
    for (size_t i = 0; i < round->cursor_count; i++)
        if (round->cursors[i].next_note != PT_NO_NOTE)
            sort_author(round, &round->cursors[i], places);
    free(places);
    round->unsorted = false;
    return 0;
}
