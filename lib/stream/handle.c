/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See handle.h.
 *
 * Look-ups.  A word counts the look-ups that are under way: the process's instance
 * (process/self.h) above, the count below.  Each changes it by one compare-and-exchange
 * before and after; so neither takes a lock nor registers a thread.  liburcu's own
 * read side does both, and a child that fork() or _Fork() made while another thread
 * held the registry's mutex hung in its first control call, or in exit(): fork
 * handlers do not run for _Fork() and clone(), and would wait for ever in a handler
 * that interrupted a look-up.  In a child the instance differs: the count of its
 * parent is worth nothing, and its first look-up starts at 1.
 *
 * Reuse.  A handle that has left the table is retired.  A thread that retires one, or
 * needs one, takes the list of retired ones and then reads the count.  At 0, no look-up is
 * under way that started before they were taken, and they become spare; otherwise they
 * stay retired.  Nothing waits.
 *
 * References.  refs is 1 while the handle is in the table, plus 1 for each call
 * that works with the stream; CLOSING is set from the moment it leaves.  The thread
 * that removes it waits for (CLOSING | 1) and makes that 0.  No thread gets a
 * reference to a handle with CLOSING or with 0.
 *
 * exit().  A signal handler that calls exit() may have interrupted a call of its own thread, which
 * then keeps its reference for ever.  So a thread notes the handles that it has references to,
 * before it takes them, and exit() does not wait for its own.  Another thread may wait for a lock
 * that such a call holds, and has a reference meanwhile: exit() then waits for a limited time.
 *
 * The short path.  A thread remembers the handle that it used last, and protects it by
 * a hazard pointer instead of a reference.  Handles are never freed, so that it may name
 * a remembered one in any state; a handle that another stream uses by now has another
 * trid, and is dropped again.  Reading a log event by event took twice as long with a
 * look-up each time, and a third longer with counting.
 */
#include <errno.h>
#include <stdlib.h>
#include <urcu/urcu-bp.h>
#include <urcu/rculfhash.h>
#include "base/annotate.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/sys.h"
#include "stream/handle.h"
#include "stream/hazard_pointer.h"

#define CLOSING (1u << 31)

struct pt_handle {
    struct cds_lfht_node node;
    trace_id_t trid;
    uint32_t refs;
    uint32_t dropped;         /* changes when one who named it lets go while it is closing */
    enum pt_stream_kind kind; /* of the stream, which may be freed before us */
    pt_u64 instance;
    struct pt_stream *stream;
    struct pt_handle *next; /* among the retired, or the spare ones */
};

static struct cds_lfht *table;
static uint32_t next_number = 1;
static struct pt_handle *retired; /* handles that a look-up may still use */
static struct pt_handle *spare;   /* to be used again */
static pt_u64 lookups;            /* bits 32-63 the instance, 0-31 how many */

static _Thread_local struct {
    trace_id_t trid;
    struct pt_handle *h;
} last __attribute__((tls_model("initial-exec")));

/* A call has references to four streams at most, those of a chain. */
#define MOST_HELD 4u
static _Thread_local struct pt_handle *held[MOST_HELD] __attribute__((tls_model("initial-exec")));

static void push(struct pt_handle **list, struct pt_handle *h)
{
    h->next = pt_load_relaxed(list);
    while (!pt_cas_seqcst(list, &h->next, h))
        ;
}

static void push_all(struct pt_handle **list, struct pt_handle *h)
{
    while (h) {
        struct pt_handle *next = h->next;

        push(list, h);
        h = next;
    }
}

/* Makes retired handles that no look-up can use any more available again. */
static void recycle(void)
{
    struct pt_handle *h = pt_exchange_seqcst(&retired, (struct pt_handle *)NULL);

    if (!h)
        return;
    if (pt_self_inside(&lookups) == 0)
        push_all(&spare, h);
    else
        push_all(&retired, h);
}

static struct pt_handle *new_handle(void)
{
    /* The whole list is taken: taking one element would have the ABA problem, if another
     * thread takes that element and puts it back. */
    struct pt_handle *h;

    recycle();
    h = pt_exchange_seqcst(&spare, (struct pt_handle *)NULL);
    if (!h)
        return calloc(1, sizeof *h);
    push_all(&spare, h->next);
    return h;
}

/* liburcu asserts where it gets no memory for a table, as Debian builds it.  So its two blocks,
 * less than 2 KiB, are allocated from one that was just free. */
static bool has_memory_for_table(void)
{
    void *block = malloc(4096);
    bool has = block != NULL;

    pt_settle(block); /* else the compiler leaves the allocation out */
    free(block);
    return has;
}

static struct cds_lfht *get_table(void)
{
    struct cds_lfht *t = pt_load_acquire(&table), *fresh;

    if (t)
        return t;
    if (!has_memory_for_table())
        return NULL;
    fresh = cds_lfht_new_flavor(64, 64, 0, 0, &urcu_bp_flavor, NULL);
    if (!fresh)
        return NULL;
    if (pt_cas_seqcst(&table, &t, fresh))
        return fresh;
    cds_lfht_destroy(fresh, NULL);
    return t;
}

/* An odd multiplier maps numbers to ids one to one and scatters them, so that
 * a small integer or a stale id is hardly ever a valid one. */
static trace_id_t scatter(uint32_t number)
{
    return number * 2654435769u;
}

/* Starts a look-up; returns the argument for its end.  The annotation tells tools about the order
 * within liburcu's table, which they do not see. */
static uint32_t lookup_begin(void)
{
    uint32_t instance = pt_self_enter(&lookups);

    pt_happens_after(&table);
    return instance;
}

static void lookup_end(uint32_t instance)
{
    pt_self_leave(&lookups, instance);
}

static int match(struct cds_lfht_node *node, const void *key)
{
    return caa_container_of(node, struct pt_handle, node)->trid == *(const trace_id_t *)key;
}

int pt_handle_add(struct pt_stream *s, trace_id_t *trid)
{
    struct cds_lfht *t = get_table();
    struct pt_handle *h = t ? new_handle() : NULL;
    uint32_t lookup;

    if (!h)
        return -ENOMEM;
    do
        h->trid = scatter(pt_add_seqcst(&next_number, 1u));
    while (h->trid == 0);
    h->kind = s->kind;
    h->instance = s->instance;
    h->stream = s;
    pt_assert(pt_load_relaxed(&h->refs) == 0 && h->trid != 0);
    s->handle = h;
    pt_store_release(&h->refs, 1u); /* publishes it: get_last(), reference() */
    cds_lfht_node_init(&h->node);
    pt_happens_before(&table);
    lookup = lookup_begin();
    cds_lfht_add(t, h->trid, &h->node);
    lookup_end(lookup);
    *trid = h->trid;
    return 0;
}

static bool is_usable(const struct pt_handle *h, unsigned kinds)
{
    return (h->kind & kinds) && h->instance == pt_self_instance();
}

/* During a look-up; finds without referencing. */
static struct pt_handle *find(trace_id_t trid, unsigned kinds)
{
    struct cds_lfht *t = pt_load_acquire(&table);
    struct cds_lfht_node *node;
    struct cds_lfht_iter iter;
    struct pt_handle *h;

    if (!t || trid == 0)
        return NULL;
    cds_lfht_lookup(t, trid, match, &trid, &iter);
    node = cds_lfht_iter_get_node(&iter);
    if (!node)
        return NULL;
    h = caa_container_of(node, struct pt_handle, node);
    return is_usable(h, kinds) ? h : NULL;
}

static bool reference(struct pt_handle *h)
{
    uint32_t n = pt_load_relaxed(&h->refs);

    while (n != 0 && !(n & CLOSING))
        if (pt_cas_seqcst(&h->refs, &n, n + 1))
            return true;
    return false;
}

/* The thread that removes the stream waits until only the table's reference is left.  After
 * the subtraction another stream may use the handle: only the futex call uses its address. */
static void unreference(struct pt_handle *h)
{
    if (pt_add_seqcst(&h->refs, (uint32_t)-1) & CLOSING)
        pt_futex_wake_all(&h->refs);
}

/* Puts h in the place of was, if that is there. */
static void note_held(const struct pt_handle *was, struct pt_handle *h)
{
    for (unsigned i = 0; i < MOST_HELD; i++)
        if (pt_load_relaxed(&held[i]) == was) {
            pt_store_relaxed(&held[i], h);
            break;
        }
    pt_fence_compiler();
}

static unsigned count_held(const struct pt_handle *h)
{
    unsigned count = 0;

    for (unsigned i = 0; i < MOST_HELD; i++)
        count += held[i] == h;
    return count;
}

static void let_go(struct pt_hazard *z, struct pt_handle *h)
{
    pt_hazard_drop(z);
    if (pt_unlikely(pt_load_relaxed(&h->refs) & CLOSING)) {
        pt_add_seqcst(&h->dropped, 1u);
        pt_futex_wake_all(&h->dropped);
    }
}

static struct pt_stream *get_last(trace_id_t trid, unsigned kinds)
{
    struct pt_hazard *z = pt_hazard_own;
    struct pt_handle *h = last.h;
    uint32_t refs;

    if (!h || last.trid != trid || !z || z->named)
        return NULL;
    pt_hazard_name(z, h);
    refs = pt_load_acquire(&h->refs);
    if (refs != 0 && !(refs & CLOSING) && h->trid == trid && is_usable(h, kinds))
        return h->stream;
    let_go(z, h);
    return NULL;
}

struct pt_stream *pt_handle_get(trace_id_t trid, unsigned kinds)
{
    struct pt_stream *s = get_last(trid, kinds);
    struct pt_handle *h;
    uint32_t lookup;

    if (s)
        return s;
    lookup = lookup_begin();
    h = find(trid, kinds);
    if (h)
        note_held(NULL, h);
    if (h && reference(h)) {
        s = h->stream;
        last.trid = trid;
        last.h = h;
        pt_hazard_join(h->instance);
    } else if (h) {
        note_held(h, NULL);
    }
    lookup_end(lookup);
    return s;
}

void pt_handle_put(struct pt_stream *s)
{
    struct pt_hazard *z = pt_hazard_own;
    struct pt_handle *h = s->handle;

    pt_assert_call(h && h->stream == s);
    /* If one call is nested in another with the same trid, one uses the hazard pointer and one the
     * count; it does not matter which. */
    if (z && z->named == h) {
        let_go(z, h);
        return;
    }
    unreference(h);
    note_held(h, NULL);
}

/* until: on CLOCK_MONOTONIC, 0: no limit.  False: it has passed. */
static bool wait_for_change(uint32_t *word, uint32_t value, uint64_t until)
{
    struct timespec at = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

    if (until && pt_clock_ns(CLOCK_MONOTONIC) >= until)
        return false;
    pt_futex_wait(word, value, CLOCK_MONOTONIC, until ? &at : NULL);
    return true;
}

/* own: so many references are not waited for. */
static bool wait_for_references(struct pt_handle *h, uint32_t own, uint64_t until)
{
    uint32_t n = pt_load_seqcst(&h->refs);

    while ((n & ~CLOSING) > 1 + own || !pt_cas_seqcst(&h->refs, &n, 0u)) {
        if ((n & ~CLOSING) > 1 + own && !wait_for_change(&h->refs, n, until))
            return false;
        n = pt_load_seqcst(&h->refs);
    }
    return true;
}

/* own: the calling thread's calls, which do not continue, are not waited for. */
static bool wait_for_others(struct pt_stream *s, bool own, uint64_t until)
{
    struct pt_handle *h = s->handle;
    uint32_t n;

    pt_assert_call(h && h->stream == s);
    pt_store_seqcst(&s->closing, 1u);
    pt_or_seqcst(&h->refs, CLOSING);
    if (s->seg) {
        pt_add_seqcst(&s->seg->h->reader_futex, 1u);
        pt_futex_wake_all(&s->seg->h->reader_futex);
    }
    pt_barrier_own();
    while (n = pt_load_acquire(&h->dropped),
           pt_hazard_named(h, h->instance, own ? pt_hazard_own : NULL))
        if (!wait_for_change(&h->dropped, n, until))
            return false;
    return wait_for_references(h, own ? count_held(h) : 0, until);
}

static struct pt_stream *take_out(trace_id_t trid, unsigned kinds, bool own, uint64_t until)
{
    struct pt_stream *s = NULL;
    uint32_t lookup = lookup_begin();
    struct pt_handle *h = find(trid, kinds);

    if (h && cds_lfht_del(table, &h->node) == 0)
        s = h->stream;
    lookup_end(lookup);
    if (!s || !wait_for_others(s, own, until)) /* which stays as it is then */
        return NULL;
    s->handle = NULL;
    push(&retired, h);
    recycle();
    return s;
}

struct pt_stream *pt_handle_remove(trace_id_t trid, unsigned kinds)
{
    return take_out(trid, kinds, false, 0);
}

bool pt_handle_has_call(void)
{
    const struct pt_hazard *z = pt_hazard_own;
    uint64_t instance = pt_self_instance();

    for (unsigned i = 0; i < MOST_HELD; i++)
        if (held[i] && held[i]->instance == instance)
            return true;
    return z && z->named && z->instance == instance;
}

struct pt_stream *pt_handle_remove_at_exit(trace_id_t trid, unsigned kinds, uint64_t until,
                                           bool *interrupted)
{
    const struct pt_hazard *z = pt_hazard_own;
    uint32_t lookup = lookup_begin();
    const struct pt_handle *h = find(trid, kinds);

    lookup_end(lookup);
    *interrupted = h && (count_held(h) > 0 || (z && z->named == h));
    return take_out(trid, kinds, true, until);
}

trace_id_t pt_handle_any_active(void)
{
    struct cds_lfht *t = pt_load_acquire(&table);
    uint64_t instance = pt_self_instance();
    struct cds_lfht_iter iter;
    struct cds_lfht_node *node;
    trace_id_t found = 0;
    uint32_t lookup;

    if (!t)
        return 0;
    lookup = lookup_begin();
    cds_lfht_for_each(t, &iter, node)
    {
        const struct pt_handle *h = caa_container_of(node, struct pt_handle, node);

        if (found == 0 && h->instance == instance &&
            (h->kind & (PT_STREAM_ACTIVE | PT_STREAM_LOGGED)))
            found = h->trid;
    }
    lookup_end(lookup);
    return found;
}
