/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See piece.h. */
#include <errno.h>
#include <posixtrace/info.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "log/reader/piece.h"

void pt_piece_base_deinit(struct pt_piece_base *b)
{
    free(b->authors);
    memset(b, 0, sizeof *b);
}

int pt_piece_base_copy(struct pt_piece_base *to, const struct pt_piece_base *from)
{
    struct pt_piece_author *authors = malloc((from->count + 1) * sizeof *authors);

    if (!authors)
        return -ENOMEM;
    if (from->count)
        memcpy(authors, from->authors, from->count * sizeof *authors);
    *to = *from;
    to->authors = authors;
    to->room = from->count + 1;
    return 0;
}

int pt_piece_base_add(struct pt_piece_base *b, const struct pt_piece_author *author)
{
    int e = pt_array_grow(&b->authors, &b->room, b->count, sizeof *b->authors);

    if (e == 0)
        b->authors[b->count++] = *author;
    return e;
}

static int by_wid(const void *a, const void *b)
{
    const struct pt_piece_author *x = a, *y = b;

    return x->wid < y->wid ? -1 : x->wid > y->wid;
}

void pt_piece_base_sort(struct pt_piece_base *b)
{
    if (b->count)
        qsort(b->authors, b->count, sizeof *b->authors, by_wid);
}

struct pt_piece_author *pt_piece_base_find(const struct pt_piece_base *b, uint64_t wid)
{
    const struct pt_piece_author key = { .wid = wid };

    return b->count ? bsearch(&key, b->authors, b->count, sizeof key, by_wid) : NULL;
}

/* ---- in the file ---- */

int pt_piece_base_read(struct pt_piece_base *b, const struct pt_packet_piece *p)
{
    const struct pt_packet_piece_author *from = (const void *)(p + 1);

    *b = (struct pt_piece_base){ .number = p->number,
                                 .events = p->events,
                                 .recorded = p->recorded,
                                 .lost_switches = p->lost_switches,
                                 .late = p->late,
                                 .made_ts = p->made_ts };
    memcpy(b->lost, p->lost, sizeof b->lost);
    for (uint32_t i = 0; i < p->authors; i++, from++) {
        struct pt_piece_author author = {
            .wid = from->low_wid | (uint64_t)(from->level_wid >> 8) << 32,
            .next_no = from->next_no,
            .recorded = from->recorded,
        };

        memcpy(author.lost, from->lost, sizeof author.lost);
        if (pt_piece_base_add(b, &author) < 0) {
            pt_piece_base_deinit(b);
            return -ENOMEM;
        }
    }
    pt_piece_base_sort(b);
    return 0;
}

uint32_t pt_piece_base_bytes(const struct pt_piece_base *b)
{
    uint64_t bytes = sizeof(struct pt_packet_piece) +
                     (uint64_t)b->count * sizeof(struct pt_packet_piece_author);

    return bytes > PT_PACKET_MAX ? 0 : (uint32_t)bytes;
}

void pt_piece_base_store(const struct pt_piece_base *b, struct pt_packet_piece *p)
{
    struct pt_packet_piece_author *to = (void *)(p + 1);

    p->number = b->number;
    p->authors = (uint32_t)b->count;
    p->events = b->events;
    p->recorded = b->recorded;
    memcpy(p->lost, b->lost, sizeof p->lost);
    p->lost_switches = b->lost_switches;
    p->late = b->late;
    p->made_ts = b->made_ts;
    for (size_t i = 0; i < b->count; i++, to++) {
        const struct pt_piece_author *from = &b->authors[i];

        to->low_wid = (uint32_t)from->wid;
        to->level_wid = (uint32_t)(from->wid >> 32) << 8;
        to->next_no = from->next_no;
        to->recorded = from->recorded;
        memcpy(to->lost, from->lost, sizeof to->lost);
    }
}

/* ---- numbers ---- */

static uint64_t rest_of(uint64_t all, uint64_t known)
{
    return all > known ? all - known : 0;
}

/* Makes *now relative; *less: what it lacks. */
static void take_off(uint64_t *now, uint64_t before, uint64_t *less)
{
    *less = rest_of(before, *now);
    *now = rest_of(*now, before);
}

/* False: nothing has changed since the seam. */
static bool subtract_author(struct pt_piece_author *b, struct pt_log_author_totals *a)
{
    uint64_t any;

    take_off(&a->recorded, b->recorded, &b->less);
    any = a->recorded;
    for (unsigned c = 0; c < PT_PIECE_CAUSES; c++) {
        take_off(&a->lost[c], b->lost[c], &b->less_lost[c]);
        any |= a->lost[c];
    }
    b->listed = b->listed || any;
    return b->listed;
}

void pt_piece_subtract(struct pt_piece_base *b, struct pt_log_status *status,
                       struct pt_log_author_totals *authors, size_t *count)
{
    uint64_t less = 0, less_lost[PT_PIECE_CAUSES] = { 0 };
    size_t kept = 0;

    if (b->number == 0)
        return;
    for (size_t i = 0; i < *count; i++) {
        struct pt_piece_author *is = pt_piece_base_find(b, authors[i].author.wid);

        if (!is || subtract_author(is, &authors[i]))
            authors[kept++] = authors[i];
    }
    *count = kept;
    for (size_t i = 0; i < b->count; i++) {
        less += b->authors[i].less;
        for (unsigned c = 0; c < PT_PIECE_CAUSES; c++)
            less_lost[c] += b->authors[i].less_lost[c];
    }
    status->recorded_unknown_author = rest_of(status->recorded_unknown_author, less);
    for (unsigned c = 0; c < PT_PIECE_CAUSES; c++)
        status->lost_unknown_author[c] = rest_of(status->lost_unknown_author[c],
                                                 b->unknown_lost[c] + less_lost[c]);
    status->late = rest_of(status->late, b->late);
    status->lost_switches = rest_of(status->lost_switches, b->lost_switches);
}

/* What a tail counts as overwritten may be below 0 until it is united with its log. */
static void take_loss(uint64_t *lost, unsigned cause, uint64_t before)
{
    *lost = cause == POSIXTRACE_LOST_OVERWRITTEN ? *lost - before : rest_of(*lost, before);
}

void pt_piece_subtract_tail(const struct pt_piece_base *b, struct pt_log_status *status,
                            struct pt_log_author_totals *authors, size_t count)
{
    const unsigned over = POSIXTRACE_LOST_OVERWRITTEN;
    uint64_t named[PT_PIECE_CAUSES] = { 0 };

    if (b->number == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct pt_piece_author *is = pt_piece_base_find(b, authors[i].author.wid);

        if (!is)
            continue;
        /* Of the events before the seam it only counts those that were overwritten. */
        authors[i].recorded = rest_of(authors[i].recorded, is->lost[over]);
        for (unsigned c = 0; c < PT_PIECE_CAUSES; c++) {
            take_loss(&authors[i].lost[c], c, is->lost[c]);
            named[c] += is->lost[c];
        }
    }
    status->recorded_unknown_author = rest_of(status->recorded_unknown_author,
                                              rest_of(b->lost[over], named[over]));
    for (unsigned c = 0; c < PT_PIECE_CAUSES; c++)
        take_loss(&status->lost_unknown_author[c], c, rest_of(b->lost[c], named[c]));
    status->lost_switches = rest_of(status->lost_switches, b->lost_switches);
}
