/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Pairs of user events: from x:begin to the next x:end of the same thread, as posixtrace metrics
 * measures them.  A further x:begin before that changes nothing.
 */
#include "analysis/report/report_state.h"
#include "text/sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct begun {
    struct pt_report_pair *pair;
    struct pt_report_thread *thread;
    int64_t ns;
    uint64_t gap;
    unsigned life;
    bool open, wanted;
};

struct pt_report_pair *pt_report_pair_of(posixtrace_report_t *r, const char *name, size_t stem)
{
    struct pt_report_pair *p;
    char *copy;

    for (size_t i = 0; i < r->pairs.count; i++) {
        p = r->pairs.items[i];
        if (strlen(p->name) == stem && memcmp(p->name, name, stem) == 0)
            return p;
    }
    copy = strndup(name, stem);
    p = copy ? pt_report_map_make(&r->pairs, (struct pt_report_key){ .a = r->pairs.count },
                                  sizeof *p)
             : NULL;
    if (!p) {
        free(copy);
        return NULL;
    }
    p->name = copy;
    p->row.name = copy;
    return p;
}

static struct pt_report_key key_of(const struct pt_report_thread *th,
                                   const struct pt_report_pair *p)
{
    return (struct pt_report_key){ .a = (uintptr_t)th, .b = (uintptr_t)p };
}

/* What was begun before a gap may have ended in it; with its thread it ended without an end. */
static void forget_old(const posixtrace_report_t *r, struct begun *b)
{
    if (!b->open || (b->gap == r->gap && b->life == b->thread->life))
        return;
    b->open = false;
    if (b->wanted && b->thread->wanted && b->gap != r->gap)
        b->pair->row.unknown++;
    else
        b->pair->row.open += b->wanted && b->thread->wanted;
}

int pt_report_pair_begins(posixtrace_report_t *r, struct pt_report_thread *th,
                          struct pt_report_pair *p, const struct posixtrace_event *e)
{
    struct begun *b;

    if (r->watch)
        return 0;
    b = pt_report_map_make(&r->begun, key_of(th, p), sizeof *b);
    if (!b)
        return ENOMEM;
    b->pair = p;
    b->thread = th;
    forget_old(r, b);
    if (b->open)
        return 0;
    b->open = true;
    b->ns = e->ns;
    b->gap = r->gap;
    b->life = th->life;
    b->wanted = pt_report_wants_begin(r, e);
    return 0;
}

int pt_report_pair_ends(posixtrace_report_t *r, struct pt_report_thread *th,
                        struct pt_report_pair *p, const struct posixtrace_event *e)
{
    struct begun *b = r->watch ? NULL : pt_report_map_find(&r->begun, key_of(th, p));
    int64_t length;

    if (b)
        forget_old(r, b);
    if (!b || !b->open)
        return 0;
    b->open = false;
    if (!pt_report_counts(r, th, b->wanted, b->ns, e->ns))
        return 0;
    if (!p->statistics && posixtrace_statistics_create(&p->statistics) != 0)
        return ENOMEM;
    length = e->ns - b->ns;
    pt_sum_add(&p->row.total_ns, length);
    if (p->row.count++ == 0 || length > p->row.longest_ns) {
        p->row.longest_ns = length;
        p->row.longest_at_ns = b->ns;
        p->row.longest_pid = th->row.pid;
        p->row.longest_tid = th->row.tid;
    }
    return posixtrace_statistics_add(p->statistics, length);
}

void pt_report_pairs_close(posixtrace_report_t *r)
{
    for (size_t i = 0; i < r->begun.count; i++) {
        struct begun *b = r->begun.items[i];

        forget_old(r, b);
        b->pair->row.open += b->open && b->wanted && b->thread->wanted;
    }
    for (size_t i = 0; i < r->pairs.count; i++) {
        struct pt_report_pair *p = r->pairs.items[i];

        p->row.statistics = p->statistics;
    }
}

void pt_report_pairs_free(posixtrace_report_t *r)
{
    for (size_t i = 0; i < r->pairs.count; i++) {
        struct pt_report_pair *p = r->pairs.items[i];

        posixtrace_statistics_free(p->statistics);
        free(p->name);
    }
}
