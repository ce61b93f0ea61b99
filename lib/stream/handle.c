/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See handle.h. */
#include <errno.h>
#include <stdlib.h>
#include <urcu/urcu-bp.h>
#include <urcu/rculfhash.h>
#include "base/annotate.h"
#include "base/sys.h"
#include "stream/handle.h"

struct pt_handle {
    struct cds_lfht_node node;
    trace_id_t trid;
    uint32_t refs;               /* 1 for being in the table */
    uint32_t closing;
    enum pt_stream_kind kind;    /* of the stream, which may be freed before us */
    uint64_t instance;
    struct pt_stream *stream;
    struct pt_handle *next;      /* among the retired */
};

static struct cds_lfht *table;
static uint32_t next_number = 1;
static struct pt_handle *retired;    /* those that no grace period could free yet */
static uint64_t first_user;   /* the instance; differs in a forked child */

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
    struct pt_handle *h = t ? calloc(1, sizeof *h) : NULL;
    uint64_t none = 0;

    if (!h)
        return -ENOMEM;
    pt_cas_seqcst(&first_user, &none, s->instance);
    do
        h->trid = scatter(pt_add_seqcst(&next_number, 1u));
    while (h->trid == 0);
    h->refs = 1;
    h->kind = s->kind;
    h->instance = s->instance;
    h->stream = s;
    s->handle = h;
    cds_lfht_node_init(&h->node);
    pt_happens_before(&table);
    urcu_bp_read_lock();
    cds_lfht_add(t, h->trid, &h->node);
    urcu_bp_read_unlock();
    *trid = h->trid;
    return 0;
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
    return (h->kind & kinds) && h->instance == pt_self_instance() ? h : NULL;
}

static bool reference(struct pt_handle *h)
{
    uint32_t n = pt_load_relaxed(&h->refs);

    while (n != 0)
        if (pt_cas_seqcst(&h->refs, &n, n + 1))
            return true;
    return false;
}

struct pt_stream *pt_handle_get(trace_id_t trid, unsigned kinds)
{
    struct pt_stream *s = NULL;
    struct pt_handle *h;

    read_lock();
    h = find(trid, kinds);
    if (h && reference(h))
        s = h->stream;
    read_unlock();
    return s;
}

void pt_handle_put(struct pt_stream *s)
{
    struct pt_handle *h = s->handle;

    /* Who removes the stream waits for the count of its own reference.  Then it
     * frees the stream, and after a grace period the handle. */
    read_lock();
    if (pt_add_seqcst(&h->refs, (uint32_t)-1) == 2 && pt_load_seqcst(&h->closing))
        pt_futex_wake_all(&h->refs);
    read_unlock();
}

static void wait_for_others(struct pt_stream *s)
{
    struct pt_handle *h = s->handle;
    uint32_t n;

    pt_store_seqcst(&s->closing, 1u);
    pt_store_seqcst(&h->closing, 1u);
    if (s->seg) {
        pt_add_seqcst(&s->seg->h->reader_futex, 1u);
        pt_futex_wake_all(&s->seg->h->reader_futex);
    }
    /* From 1 to 0 in one step: who found the handle before it left the table
     * and references it only now gets nothing. */
    while (n = 1, !pt_cas_seqcst(&h->refs, &n, 0u))
        pt_futex_wait(&h->refs, n, CLOCK_MONOTONIC, NULL);
}

/* liburcu ends the process if a membarrier that worked once is refused (a
 * seccomp filter since): ask first, and wait for better times. */
static void retire(struct pt_handle *h)
{
    h->next = pt_load_relaxed(&retired);
    while (!pt_cas_seqcst(&retired, &h->next, h))
        ;
    if (pt_load_relaxed(&first_user) != pt_self_instance() || !pt_barrier_private_works())
        return;
    h = pt_exchange_seqcst(&retired, (struct pt_handle *)NULL);
    urcu_bp_synchronize_rcu();
    pt_happens_after(&next_number);
    while (h) {
        struct pt_handle *next = h->next;

        free(h);
        h = next;
    }
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
    struct pt_handle *h;
    trace_id_t found = 0;

    if (!t)
        return 0;
    read_lock();
    cds_lfht_for_each_entry(t, &iter, h, node)
        if (found == 0 && h->instance == instance && h->kind != PT_STREAM_RECORDED)
            found = h->trid;
    read_unlock();
    return found;
}
