/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See handle.h.
 *
 * References.  refs is 1 while the handle is in the table, plus 1 for each call
 * that works with the stream; CLOSING from the moment it leaves.  Who removes it
 * waits for (CLOSING | 1) and makes that 0; nobody gets a reference to a handle
 * with CLOSING or with 0.
 *
 * The short way.  A thread remembers the handle that it used last, and protects
 * it by naming it (hazard.h) instead of counting.  Handles are never given back
 * to malloc, so that it may name a remembered one, whatever has become of it; a
 * handle that is another stream's by now has another trid, and is let go again.
 * Reading a log event by event took twice as long with a look-up each time, and
 * a third longer with counting.
 */
#include <errno.h>
#include <stdlib.h>
#include <urcu/urcu-bp.h>
#include <urcu/rculfhash.h>
#include "base/annotate.h"
#include "base/sys.h"
#include "stream/handle.h"
#include "stream/hazard.h"

#define CLOSING (1u << 31)

struct pt_handle {
    struct cds_lfht_node node;
    trace_id_t trid;
    uint32_t refs;
    uint32_t dropped;            /* changes when one who named it lets go while it is closing */
    enum pt_stream_kind kind;    /* of the stream, which may be freed before us */
    pt_u64 instance;
    struct pt_stream *stream;
    struct pt_handle *next;      /* among the retired, or the spare ones */
};

static struct cds_lfht *table;
static uint32_t next_number = 1;
static struct pt_handle *retired;    /* those that a look-up may still stand at */
static struct pt_handle *spare;      /* to be used again */
static uint64_t first_user;   /* the instance; differs in a forked child */

static _Thread_local struct {
    trace_id_t trid;
    struct pt_handle *h;
} last __attribute__((tls_model("initial-exec")));

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

static struct pt_handle *new_handle(void)
{
    /* Taken as a whole: who takes one from a shared list could be deceived by
     * another that takes it and puts it back. */
    struct pt_handle *h = pt_exchange_seqcst(&spare, (struct pt_handle *)NULL);

    if (!h)
        return calloc(1, sizeof *h);
    push_all(&spare, h->next);
    return h;
}

static struct cds_lfht *get_table(void)
{
    struct cds_lfht *t = pt_load_acquire(&table), *fresh;

    if (t)
        return t;
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

/* The read side; the annotations stand for what a grace period orders. */
static void read_lock(void)
{
    urcu_bp_read_lock();
    pt_happens_after(&table);
}

static void read_unlock(void)
{
    pt_happens_before(&next_number);
    urcu_bp_read_unlock();
}

static int match(struct cds_lfht_node *node, const void *key)
{
    return caa_container_of(node, struct pt_handle, node)->trid == *(const trace_id_t *)key;
}

int pt_handle_add(struct pt_stream *s, trace_id_t *trid)
{
    struct cds_lfht *t = get_table();
    struct pt_handle *h = t ? new_handle() : NULL;
    uint64_t none = 0;

    if (!h)
        return -ENOMEM;
    pt_cas_seqcst(&first_user, &none, s->instance);
    do
        h->trid = scatter(pt_add_seqcst(&next_number, 1u));
    while (h->trid == 0);
    h->kind = s->kind;
    h->instance = s->instance;
    h->stream = s;
    s->handle = h;
    pt_store_release(&h->refs, 1u);   /* who references it sees all of this */
    cds_lfht_node_init(&h->node);
    pt_happens_before(&table);
    urcu_bp_read_lock();
    cds_lfht_add(t, h->trid, &h->node);
    urcu_bp_read_unlock();
    *trid = h->trid;
    return 0;
}

static bool is_usable(const struct pt_handle *h, unsigned kinds)
{
    return (h->kind & kinds) && h->instance == pt_self_instance();
}

/* Under the read lock; finds without referencing. */
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

/* Who removes the stream waits for the count of its own reference.  Afterwards
 * the address is only named to the kernel: the handle may be another's. */
static void unreference(struct pt_handle *h)
{
    if (pt_add_seqcst(&h->refs, (uint32_t)-1) == (CLOSING | 2))
        pt_futex_wake_all(&h->refs);
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

    if (s)
        return s;
    read_lock();
    h = find(trid, kinds);
    if (h && reference(h)) {
        s = h->stream;
        last.trid = trid;
        last.h = h;
        pt_hazard_join(h->instance);
    }
    read_unlock();
    return s;
}

void pt_handle_put(struct pt_stream *s)
{
    struct pt_hazard *z = pt_hazard_own;

    /* Of one call inside another with the same trid one names and one counts;
     * which of them does which is all the same. */
    if (z && z->named == s->handle)
        let_go(z, s->handle);
    else
        unreference(s->handle);
}

static void wait_for_others(struct pt_stream *s)
{
    struct pt_handle *h = s->handle;
    uint32_t n;

    pt_store_seqcst(&s->closing, 1u);
    pt_or_seqcst(&h->refs, CLOSING);
    if (s->seg) {
        pt_add_seqcst(&s->seg->h->reader_futex, 1u);
        pt_futex_wake_all(&s->seg->h->reader_futex);
    }
    pt_barrier_own();
    while (n = pt_load_acquire(&h->dropped), pt_hazard_named(h, h->instance))
        pt_futex_wait(&h->dropped, n, CLOCK_MONOTONIC, NULL);
    while (n = CLOSING | 1, !pt_cas_seqcst(&h->refs, &n, 0u))
        pt_futex_wait(&h->refs, n, CLOCK_MONOTONIC, NULL);
}

/* liburcu ends the process if a membarrier that worked once is refused (a
 * seccomp filter since): ask first, and wait for better times. */
static void retire(struct pt_handle *h)
{
    push(&retired, h);
    if (pt_load_relaxed(&first_user) != pt_self_instance() || !pt_barrier_private_works())
        return;
    h = pt_exchange_seqcst(&retired, (struct pt_handle *)NULL);
    urcu_bp_synchronize_rcu();
    pt_happens_after(&next_number);
    push_all(&spare, h);
}

struct pt_stream *pt_handle_remove(trace_id_t trid, unsigned kinds)
{
    struct pt_stream *s = NULL;
    struct pt_handle *h;

    read_lock();
    h = find(trid, kinds);
    if (h && cds_lfht_del(table, &h->node) == 0)
        s = h->stream;
    read_unlock();
    if (!s)
        return NULL;
    wait_for_others(s);
    s->handle = NULL;
    retire(h);
    return s;
}

trace_id_t pt_handle_any_active(void)
{
    struct cds_lfht *t = pt_load_acquire(&table);
    uint64_t instance = pt_self_instance();
    struct cds_lfht_iter iter;
    struct cds_lfht_node *node;
    trace_id_t found = 0;

    if (!t)
        return 0;
    read_lock();
    cds_lfht_for_each(t, &iter, node) {
        const struct pt_handle *h = caa_container_of(node, struct pt_handle, node);

        if (found == 0 && h->instance == instance &&
            (h->kind & (PT_STREAM_ACTIVE | PT_STREAM_LOGGED)))
            found = h->trid;
    }
    read_unlock();
    return found;
}
