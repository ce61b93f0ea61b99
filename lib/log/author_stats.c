/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The table of authors; see author_stats.h. */
#include <errno.h>
#include <posixtrace/info.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/hash.h"
#include "log/author_stats.h"

_Static_assert((int)POSIXTRACE_LOST_SWITCHES == (int)PT_LOSS_CAUSES, "one number for each cause");
_Static_assert(POSIXTRACE_LOST_LOG_FULL == 4, "pt_cause_is_of_log");

#define FIRST_ROOM 64u

void pt_author_stats_init(struct pt_author_stats *t)
{
    memset(t, 0, sizeof *t);
    t->max = PT_TOTALS_MAX;
}

void pt_author_stats_deinit(struct pt_author_stats *t)
{
    free(t->entries);
    free(t->hash);
    pt_author_stats_init(t);
}

void pt_author_stats_clear(struct pt_author_stats *t)
{
    const struct pt_author_stats before = *t;

    pt_author_stats_deinit(t);
    t->max = before.max;
    t->forgets = before.forgets;
}

/* The hash cell of wid, or the empty one where it belongs. */
static uint32_t *cell_of(const struct pt_author_stats *t, uint64_t wid)
{
    size_t i = pt_hash(wid, t->factor) & (t->hash_room - 1);

    while (t->hash[i] && t->entries[t->hash[i] - 1].author.wid != wid)
        i = (i + 1) & (t->hash_room - 1);
    return &t->hash[i];
}

static void fill_hash(struct pt_author_stats *t)
{
    memset(t->hash, 0, t->hash_room * sizeof *t->hash);
    for (size_t i = 0; i < t->count; i++)
        *cell_of(t, t->entries[i].author.wid) = (uint32_t)i + 1;
}

/* 0: its numbers may be reported again, or it has events in the part being written.  Of two others
 * that with the higher rank goes first. */
static int rank_of(const struct pt_total *e)
{
    uint64_t any = e->recorded;

    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        any |= e->lost[c];
    return e->part_events ? 0 : e->ended ? 2 : !any;
}

static int by_use(const void *a, const void *b)
{
    const struct pt_total *x = a, *y = b;

    return x->touched < y->touched ? 1 : x->touched > y->touched ? -1 : 0;
}

static int by_rank(const void *a, const void *b)
{
    int order = rank_of(a) - rank_of(b);

    return order ? order : by_use(a, b);
}

static int by_wid(const void *a, const void *b)
{
    const struct pt_total *x = a, *y = b;

    return x->author.wid < y->author.wid ? -1 : x->author.wid > y->author.wid;
}

static void fold(struct pt_author_stats *t, const struct pt_total *e)
{
    t->folded_recorded += e->recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        t->folded_lost[c] += e->lost[c] + e->log_lost[c];
    t->folded_now = true;
}

static void forget(struct pt_author_stats *t, const struct pt_total *e)
{
    t->recorded -= e->recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        t->lost[c] -= e->lost[c] + e->log_lost[c];
    t->forgot = true;
}

/* Half of the entries, as far as that is allowed. */
static void fold_some(struct pt_author_stats *t)
{
    size_t kept = t->count / 2;

    qsort(t->entries, t->count, sizeof *t->entries, t->forgets ? by_use : by_rank);
    for (size_t i = kept; i < t->count; i++) {
        struct pt_total *e = &t->entries[i];

        if (t->forgets)
            forget(t, e);
        else if (rank_of(e) > 0)
            fold(t, e);
        else
            t->entries[kept++] = *e;
    }
    t->count = kept;
    t->fold_at = kept + t->max / 2; /* entries that stay do not make each call fold */
    qsort(t->entries, t->count, sizeof *t->entries, by_wid);
    fill_hash(t);
}

static int make_room(struct pt_author_stats *t)
{
    size_t room = t->room ? t->room * 2 : FIRST_ROOM;
    struct pt_total *entries = realloc(t->entries, room * sizeof *entries);
    uint32_t *hash;

    if (!entries)
        return -ENOMEM;
    t->entries = entries;
    hash = realloc(t->hash, 2 * room * sizeof *hash);
    if (!hash)
        return -ENOMEM;
    t->hash = hash;
    t->hash_room = 2 * room;
    t->factor = pt_hash_factor();
    t->room = room;
    fill_hash(t);
    return 0;
}

struct pt_total *pt_author_stats_find(const struct pt_author_stats *t, uint64_t wid)
{
    uint32_t *cell = t->hash_room ? cell_of(t, wid) : NULL;

    return cell && *cell ? &t->entries[*cell - 1] : NULL;
}

static void set_author(struct pt_total *e, const struct pt_author *author)
{
    e->author = *author;
    e->author.name[sizeof e->author.name - 1] = 0;
}

struct pt_total *pt_author_stats_get(struct pt_author_stats *t, const struct pt_author *author)
{
    struct pt_total *e = pt_author_stats_find(t, author->wid);

    if (!e) {
        if (t->count >= (t->fold_at ? t->fold_at : t->max))
            fold_some(t);
        if (t->count == t->room && make_room(t) != 0)
            return NULL;
        e = &t->entries[t->count++];
        memset(e, 0, sizeof *e);
        set_author(e, author);
        *cell_of(t, author->wid) = (uint32_t)t->count;
    }
    e->touched = ++t->changes;
    return e;
}

/* Of an author that ended and has no entry. */
static int take_last(struct pt_author_stats *t, const struct pt_log_author_totals *totals)
{
    struct pt_total last = { .recorded = totals->recorded };

    memcpy(last.lost, totals->lost, sizeof last.lost);
    t->recorded += last.recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        t->lost[c] += last.lost[c];
    fold(t, &last);
    return 0;
}

int pt_author_stats_set(struct pt_author_stats *t, const struct pt_log_author_totals *totals)
{
    struct pt_total *e = pt_author_stats_get(t, &totals->author);

    if (!e)
        return totals->ended ? take_last(t, totals) : -ENOMEM;
    pt_assert(!e->ended);
    e->dirty = true; /* also if they are as before: readers have taken numbers from packets */
    set_author(e, &totals->author);
    t->recorded += totals->recorded - e->recorded;
    e->recorded = totals->recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++) {
        t->lost[c] += totals->lost[c] - e->lost[c];
        e->lost[c] = totals->lost[c];
    }
    e->ended = totals->ended;
    return 0;
}

void pt_author_stats_name(struct pt_author_stats *t, uint64_t wid, const char name[16])
{
    struct pt_total *e = pt_author_stats_find(t, wid);

    if (!e || strncmp(e->author.name, name, sizeof e->author.name) == 0)
        return;
    memcpy(e->author.name, name, sizeof e->author.name);
    e->author.name[sizeof e->author.name - 1] = 0;
    e->dirty = true;
}

void pt_author_stats_lose(struct pt_author_stats *t, uint64_t wid, unsigned cause, uint64_t n)
{
    struct pt_total *e = pt_author_stats_find(t, wid);

    t->lost[cause] += n;
    if (e) {
        e->log_lost[cause] += n;
        e->dirty = true;
        e->touched = ++t->changes;
    } else {
        t->folded_lost[cause] += n;
    }
}

void pt_author_stats_put(struct pt_packet_author *to, const struct pt_total *from)
{
    pt_packet_put_author(&to->author, &from->author);
    to->recorded = from->recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        to->lost[c] = from->lost[c] + from->log_lost[c];
}

int pt_author_stats_read(struct pt_author_stats *t, const struct pt_packet_author *from)
{
    struct pt_log_author_totals totals = { .recorded = from->recorded };
    struct pt_total *e;

    pt_packet_get_author(&totals.author, &from->author);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        totals.lost[c] = pt_cause_is_of_log(c) ? 0 : from->lost[c];
    if (pt_author_stats_set(t, &totals) != 0)
        return -ENOMEM;
    e = pt_author_stats_find(t, totals.author.wid);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++) {
        uint64_t now = pt_cause_is_of_log(c) ? from->lost[c] : 0;

        t->lost[c] += now - e->log_lost[c];
        e->log_lost[c] = now;
    }
    return 0;
}
