/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See accounting.h. */
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/clock.h"
#include "base/hash.h"
#include "consumer/accounting.h"
#include "consumer/checkpoint.h"
#include "shm/slot.h"
#include "process/thread_name.h"

void pt_accounts_init(struct pt_accounts *a, struct pt_seg *seg)
{
    memset(a, 0, sizeof *a);
    a->seg = seg;
    a->max = PT_TALLY_MAX;
}

void pt_accounts_deinit(struct pt_accounts *a)
{
    free(a->tally);
    free(a->ended);
}

static struct pt_account *find(struct pt_accounts *a, uint64_t wid)
{
    uint32_t mask = a->room - 1, i = pt_hash(wid, a->factor) & mask;

    pt_assert(a->room > a->count && (a->room & mask) == 0);
    while (a->tally[i].used && a->tally[i].author.wid != wid)
        i = (i + 1) & mask;
    return &a->tally[i];
}

/* True: the writer has ended, its slot was released, and all its events were seen: its last
 * one, or an event of the stream that is later than its end.  Its events may wait for many
 * rounds, while a stalled writer is inside an older event.  Changed numbers go into the log
 * first. */
bool pt_account_is_complete(const struct pt_accounts *a, const struct pt_account *t)
{
    bool final = t->source == PT_TALLY_FINAL;

    return !a->passive && (final || t->source == PT_TALLY_FOLDED) &&
           !(a->seg->g.has_log && t->changed) && a->released - t->ended_at >= 2 &&
           ((final && t->next_no >= t->recorded) || a->delivered_ts > t->ended_ts);
}

/* An onlooker forgets no tally, since no sum has the numbers from before its start, and
 * posixtrace_threadlist_getnext() reports each: one costs it 330 to 660 bytes until it detaches. */
static bool may_forget(const struct pt_accounts *a, const struct pt_account *t)
{
    return pt_account_is_complete(a, t) && (t->told_last || !a->seg->g.has_log);
}

void pt_accounts_tell_again(struct pt_accounts *a)
{
    a->unlisted = a->folded;
    for (uint32_t i = 0; i < a->room; i++)
        a->tally[i].told_last = false;
}

/* Adds a complete tally to the sums.  The log keeps its own entry for the writer, so the
 * sums that are written to it do not contain these numbers again. */
static void forget(struct pt_accounts *a, const struct pt_account *t)
{
    struct pt_folded *f = &a->folded;

    pt_assert_call(may_forget(a, t));
    pt_assert(!a->passive);
    f->given += pt_account_given(t);
    f->cleared += t->cleared;
    f->excluded += t->excluded;
    f->refused += t->refused;
    f->overwritten += pt_account_overwritten(t);
    f->next += t->next_no + t->never_seen;
    if (t->source == PT_TALLY_FOLDED) {
        f->named += pt_account_recorded(t);
        return;
    }
    f->recorded += t->recorded;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        f->lost[c] += t->lost[c];
}

/* full: forgets complete ones. */
static bool rehash(struct pt_accounts *a, bool full)
{
    struct pt_account *old = a->tally, *fresh;
    uint32_t room = a->room, keep = 0, new_room = 64;

    for (uint32_t i = 0; i < room; i++)
        keep += old[i].used && !(full && may_forget(a, &old[i]));
    while (new_room < keep * 2)
        new_room *= 2;
    fresh = calloc(new_room, sizeof *fresh);
    if (!fresh)
        return false;
    pt_assert(keep * 2 <= new_room && (new_room & (new_room - 1)) == 0);
    a->tally = fresh;
    a->factor = pt_hash_factor();
    a->room = new_room;
    a->count = 0;
    for (uint32_t i = 0; i < room; i++) {
        if (!old[i].used)
            continue;
        if (full && may_forget(a, &old[i])) {
            forget(a, &old[i]);
            continue;
        }
        *find(a, old[i].author.wid) = old[i];
        a->count++;
    }
    free(old);
    pt_assert(a->count == keep);
    return true;
}

/* Without memory they stay. */
void pt_accounts_trim(struct pt_accounts *a)
{
    if (a->room)
        rehash(a, true);
}

#if PT_ASSERTIONS > 0
bool pt_accounting_balances(struct pt_accounts *a)
{
    const struct pt_folded *f = &a->folded;
    bool own = !a->passive && !a->seg->copy; /* else numbers come from the segment */
    uint32_t count = 0;

    for (uint32_t i = 0; i < a->room; i++) {
        const struct pt_account *t = &a->tally[i];

        if (!t->used)
            continue;
        count++;
        if (find(a, t->author.wid) != t)
            return false;
        if (own &&
            (t->excluded + t->refused + t->dropped > t->seen || t->cleared > pt_account_given(t)))
            return false;
    }
    return count == a->count && count <= a->room && a->ended_count <= a->ended_room &&
           (!own || f->cleared <= f->given);
}
#endif
struct pt_account *pt_accounts_get(struct pt_accounts *a, const struct pt_author *author)
{
    struct pt_account *t;

    if (a->room) {
        t = find(a, author->wid);
        if (t->used)
            return t;
    }
    if ((a->count + 1) * 4 > a->room * 3 && !rehash(a, a->count >= a->max))
        return NULL;
    t = find(a, author->wid);
    memset(t, 0, sizeof *t);
    pt_assert(!t->used);
    t->used = true;
    t->based = a->passive && author->wid >= a->from_wid;
    t->author = *author;
    a->count++;
    return t;
}

void pt_account_add(struct pt_account *t, uint64_t no, enum pt_fate fate)
{
    if (no < t->resume_no)
        return;
    if (no >= t->next_no)
        t->next_no = no + 1;
    t->seen++;
    t->excluded += fate == PT_FATE_EXCLUDE;
    t->refused += fate == PT_FATE_REFUSED;
    t->dropped += fate == PT_FATE_OVERWRITTEN;
    t->changed = true;
}

/* A dead consumer may have accounted for the first of them. */
void pt_account_add_many(struct pt_account *t, uint64_t no, uint64_t n)
{
    uint64_t from = no < t->resume_no ? t->resume_no : no;

    t->changed = true;
    if (no + n <= from)
        return;
    t->seen += no + n - from;
    if (no + n > t->next_no)
        t->next_no = no + n;
}

static void add_past(struct pt_past *sum, const struct pt_past *p, uint64_t factor)
{
    sum->recorded += factor * p->recorded;
    sum->lost_bytes += factor * p->lost_bytes;
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        sum->lost[c] += factor * p->lost[c];
}

static void note_end(const struct pt_accounts *a, struct pt_account *t)
{
    t->ended_at = a->released;
    t->ended_ts = pt_clock_now(a->seg->g.clock);
}

static void set_counts(struct pt_accounts *a, struct pt_account *t, const struct pt_slot_view *v,
                       uint32_t index)
{
    if (v->author.names != t->author.names) {
        memcpy(t->author.name, v->author.name, sizeof t->author.name);
        t->author.names = v->author.names;
        t->changed = true;
    }
    t->look = a->look;
    t->slot = index;
    t->recorded = v->mine.recorded;
    memcpy(t->lost, v->mine.lost, sizeof t->lost);
}

static void take_slot(struct pt_accounts *a, const struct pt_slot_view *v, uint32_t index,
                      enum pt_account_source source)
{
    struct pt_account *t;

    pt_assert_call(source == PT_TALLY_SLOT || source == PT_TALLY_FINAL);
    if (!v->own || v->author.level == PT_LEVEL_CONTROL)
        return;
    t = pt_accounts_get(a, &v->author);
    if (!t || t->source == PT_TALLY_FINAL)
        return;
    if (a->seg->copy && t->source == PT_TALLY_UNSEEN)
        pt_checkpoint_take(a->seg, index, t);
    t->changed |= t->source != source || t->recorded != v->mine.recorded ||
                  memcmp(t->lost, v->mine.lost, sizeof t->lost) != 0;
    t->source = source;
    set_counts(a, t, v, index);
    if (source == PT_TALLY_FINAL)
        note_end(a, t);
}

/* Writers whose slots are gone keep their last counts. */
static void look_on(struct pt_accounts *a)
{
    uint32_t n = pt_slot_count(a->seg);

    pt_assert_call(a->passive);
    a->look++;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t state = pt_load_acquire(&pt_seg_slot(a->seg, i)->state);
        struct pt_slot_view v;
        struct pt_account *t;

        pt_slot_look(a->seg, i, &v);
        if (!v.own || !v.stable || v.author.level == PT_LEVEL_CONTROL ||
            !(t = pt_accounts_get(a, &v.author)))
            continue;
        t->source = state == PT_SLOT_ENDED ? PT_TALLY_FINAL : PT_TALLY_SLOT;
        set_counts(a, t, &v, i);
    }
}

void pt_account_base(struct pt_account *t, uint64_t no)
{
    pt_assert_call(t->used);
    t->base_no = t->resume_no = t->next_no = t->seen = no;
    t->excluded = 0;
    t->based = true;
}

void pt_account_begin(struct pt_account *t, enum pt_account_source source, uint64_t no,
                      uint64_t recorded, const uint64_t *lost)
{
    pt_account_base(t, no);
    t->source = source;
    t->recorded = recorded;
    if (!lost)
        return;
    memcpy(t->lost, lost, sizeof t->lost);
    memcpy(t->base_lost, lost, sizeof t->base_lost);
}

/* The counts of the slot's writer become past; those that a tally has, too, are added to
 * a->taken. */
static void release(struct pt_accounts *a, uint32_t index)
{
    struct pt_slot_view v;
    const struct pt_account *t;

    pt_assert_call(!a->passive && !a->seg->copy);
    pt_slot_look(a->seg, index, &v);
    t = a->room ? find(a, v.wid) : NULL;
    /* Not own: a new writer claimed the slot and was killed before it stored its number.
     * The counts in the slot were taken before. */
    if (v.own && t && t->used && t->source == PT_TALLY_FINAL)
        add_past(&a->taken, &v.mine, 1);
    pt_slot_release(a->seg, index);
}

/* Remembers a claimed slot for release.  Without memory it is released at once. */
static void note_ended(struct pt_accounts *a, uint32_t index)
{
    uint32_t *p = a->ended;

    if (a->ended_count == a->ended_room) {
        p = realloc(p, (a->ended_room * 2 + 64) * sizeof *p);
        if (!p) {
            release(a, index);
            return;
        }
        a->ended = p;
        a->ended_room = a->ended_room * 2 + 64;
    }
    pt_assert(a->ended_count < a->ended_room);
    a->ended[a->ended_count++] = index;
}

void pt_accounts_release(struct pt_accounts *a)
{
    pt_assert_call(!a->passive);
    for (uint32_t i = 0; i < a->ended_count; i++)
        release(a, a->ended[i]);
    a->ended_count = 0;
    a->released++;
}

/* The state of a slot only decides whether it is claimed: its counts belong to the writer
 * from its first event until they become past.  claims: claims ended slots, which the caller
 * releases later. */
static void look_at_slots(struct pt_accounts *a, bool claims)
{
    uint32_t n = pt_slot_count(a->seg);
    struct pt_past past = { .recorded = 0 };
    struct pt_slot_view v;

    a->look++;
    for (uint32_t i = 0; i < n; i++) {
        struct pt_slot *s = pt_seg_slot(a->seg, i);
        uint32_t ended = PT_SLOT_ENDED;
        bool ours = claims && !a->seg->copy && pt_load_relaxed(&s->state) == ended &&
                    pt_cas_seqcst(&s->state, &ended, (uint32_t)PT_SLOT_CLAIMED);

        pt_slot_look(a->seg, i, &v);
        add_past(&past, &v.past, 1);
        take_slot(a, &v, i, ours ? PT_TALLY_FINAL : PT_TALLY_SLOT);
        if (ours)
            note_ended(a, i);
    }
    add_past(&past, &a->taken, (uint64_t)-1);
    a->gone = past;
}

/* At the end of the stream all chunks were read, and after the end of a writer events that are
 * later than it: every recorded event that was not seen was overwritten, possibly all events of
 * the writer.  Each call recomputes the number, because an earlier call may have come before the
 * last chunks were read. */
static void count_never_seen(const struct pt_accounts *a, struct pt_account *t, bool finished)
{
    bool over = finished || (t->source == PT_TALLY_FINAL && a->delivered_ts > t->ended_ts);
    uint64_t n = over && t->recorded > t->next_no ? t->recorded - t->next_no : 0;

    t->changed |= t->never_seen != n;
    t->never_seen = n;
}

/* The same for writers whose slots were reused: only the sum of their recorded events is known, and
 * the events seen of each.  Before the end of the stream, a writer that has ended since
 * pt_accounts_settle() makes the number too small until the next round.  In a dead consumer's
 * segment the events seen are not known. */
static void count_unseen(struct pt_accounts *a, bool finished)
{
    uint64_t stored = (finished ? a->gone.recorded : a->settled) + a->folded.recorded;
    uint64_t seen = a->folded.next, unseen;

    if (a->seg->copy || (!finished && a->delivered_ts <= a->settled_ts))
        return;
    for (uint32_t i = 0; i < a->room; i++)
        if (a->tally[i].used && a->tally[i].source == PT_TALLY_FOLDED)
            seen += a->tally[i].next_no;
    unseen = stored > seen ? stored - seen : 0;
    if (finished || unseen > a->unseen)
        a->unseen = unseen;
}

static void take_counts(struct pt_accounts *a, bool claims, bool finished)
{
    if (a->passive) {
        look_on(a);
        return;
    }
    look_at_slots(a, claims);
    for (uint32_t i = 0; i < a->room; i++) {
        struct pt_account *t = &a->tally[i];

        if (t->used && (t->source == PT_TALLY_SLOT || t->source == PT_TALLY_UNSEEN) &&
            t->look != a->look) {
            t->source = PT_TALLY_FOLDED;
            note_end(a, t);
            t->recorded = 0;
            memset(t->lost, 0, sizeof t->lost);
            t->changed = true;
        }
        count_never_seen(a, t, finished);
    }
    count_unseen(a, finished);
    pt_assert_valid(pt_accounting_balances(a));
}

void pt_accounts_take(struct pt_accounts *a, bool finished)
{
    take_counts(a, true, finished);
}

void pt_accounts_look(struct pt_accounts *a, bool finished)
{
    take_counts(a, false, finished);
}

void pt_accounts_settle(struct pt_accounts *a)
{
    pt_assert_call(!a->passive && !a->seg->copy);
    take_counts(a, true, false);
    a->settled = a->gone.recorded;
    a->settled_ts = pt_clock_now(a->seg->g.clock);
}

/* ---- names of threads ---- */

#define AGAIN_NS 1000000000u

bool pt_thread_name_is_due(struct pt_name_turn *turn, uint64_t *read_at)
{
    if (!turn->all && (turn->left == 0 || (*read_at != 0 && turn->now - *read_at < AGAIN_NS)))
        return false;
    turn->left -= turn->left > 0;
    *read_at = turn->now;
    return true;
}

static void read_one(struct pt_account *t, struct pt_name_turn *turn)
{
    char name[16];

    if (!t->used || t->source != PT_TALLY_SLOT || t->author.tid <= 0 ||
        !pt_thread_name_is_due(turn, &t->named_at) ||
        !pt_thread_name_read(t->author.pid, t->author.tid, name) ||
        memcmp(name, t->author.name, sizeof name) == 0)
        return;
    memcpy(t->author.name, name, sizeof name);
    t->changed = true;
}

void pt_accounts_read_names(struct pt_accounts *a, struct pt_name_turn *turn)
{
    /* From where the last round stopped, so that each of very many threads has its turn. */
    for (uint32_t i = 0; i < a->room && (turn->all || turn->left); i++)
        read_one(&a->tally[a->name_at++ % a->room], turn);
}
