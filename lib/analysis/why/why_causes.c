/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Sums of time by cause: a segment of depth 0 and its root, the deepest below it at each time, with
 * the wait between them that leads to the root.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/why/why_state.h"
#include "base/assert.h"
#include "text/sum.h"

enum { CAUSES_MOST = 1 << 16 };

static uint64_t fold(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * UINT64_C(0x100000001b3) ^ sum >> 29;
}

static uint64_t hash_of(const struct posixtrace_why_segment *s)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    sum = fold(sum, (uint64_t)s->state << 32 | (uint64_t)s->reason << 16 | s->kind);
    sum = fold(sum, s->object);
    sum = fold(sum, (uint64_t)s->call << 32 | s->relation);
    if (s->state == POSIXTRACE_WHY_WAIT)
        sum = fold(sum, (uint64_t)(uint32_t)s->pid << 1 | s->is_descriptor);
    sum = fold(sum, s->caller);
    if (s->relation != POSIXTRACE_WHY_UNLOCKED)
        sum = fold(sum, s->other_caller);
    if (s->relation == POSIXTRACE_WHY_NO_OTHER)
        sum = fold(sum, s->signals > 0);
    for (const char *at = s->name; *at; at++)
        sum = fold(sum, (unsigned char)*at);
    return sum;
}

/* Descriptors with a name are one, whatever their numbers. */
static struct posixtrace_why_segment cleaned(const struct posixtrace_why_segment *s)
{
    struct posixtrace_why_segment made = *s;

    made.depth = 0;
    made.end_ns = 0;
    if (made.is_descriptor && made.name[0])
        made.object = 0;
    return made;
}

static void meet(struct posixtrace_why_segment *to, const struct posixtrace_why_segment *s)
{
    if (to->tid != s->tid || to->pid != s->pid)
        to->tid = 0;
    if (to->other_tid != s->other_tid || to->other_pid != s->other_pid)
        to->other_tid = 0;
    to->deadlock |= s->deadlock;
}

/* From a segment to its root. */
struct path {
    const struct posixtrace_why_segment *top, *above, *root;
    bool handed_over; /* the thread of top is not the one that began the instance */
};

static struct pt_why_cause *cause_of(posixtrace_why_t *w, const struct path *path)
{
    struct posixtrace_why_segment top = cleaned(path->top), deep = cleaned(path->root);
    struct posixtrace_why_segment above = cleaned(path->above);
    struct pt_report_key key = { .a = hash_of(&top),
                                 .b = hash_of(&deep),
                                 .c = hash_of(&above) + path->handed_over };
    struct pt_report_map *causes = &w->subject->causes;
    struct pt_why_cause *c;

    if (causes->count >= CAUSES_MOST && !pt_report_map_find(causes, key))
        key = (struct pt_report_key){ .c = 1 };
    c = pt_report_map_make(causes, key, sizeof *c);
    if (!c) {
        w->error = ENOMEM;
        return NULL;
    }
    if (c->row.segment.name) {
        meet(&c->row.segment, &top);
        meet(&c->row.root, &deep);
        return c;
    }
    c->row.segment = top;
    c->row.root = deep;
    return c;
}

static void add_time(posixtrace_why_t *w, const struct path *path, bool slow)
{
    int64_t ns = path->root->end_ns - path->root->begin_ns;
    struct pt_why_cause *c = ns > 0 ? cause_of(w, path) : NULL;

    if (!c)
        return;
    if (!slow) {
        pt_sum_add(&c->typical_ns, ns);
        return;
    }
    pt_sum_add(&c->row.ns, ns);
    c->row.instances += c->last != w->resolved;
    c->last = w->resolved;
}

/* The segments below one add up to it, so those without one below are the roots. */
void pt_why_causes_add(posixtrace_why_t *w, bool slow)
{
    const struct posixtrace_why_segment *rows = w->rows.rows, *at[PT_WHY_DEPTH + 2];

    for (size_t i = 0; i < w->rows.count && !w->error; i++) {
        unsigned depth = rows[i].depth;
        struct path path = { .root = &rows[i] };

        pt_assert(depth < sizeof at / sizeof at[0]);
        at[depth] = &rows[i];
        path.top = at[0];
        path.handed_over = at[0]->tid != rows[0].tid || at[0]->pid != rows[0].pid;
        path.above = at[depth > 0 ? depth - 1 : 0];
        if (i + 1 == w->rows.count || rows[i + 1].depth <= depth)
            add_time(w, &path, slow);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct posixtrace_why_cause *one = &(*(struct pt_why_cause *const *)a)->row,
                                      *two = &(*(struct pt_why_cause *const *)b)->row;

    if (one->beyond_ns != two->beyond_ns)
        return one->beyond_ns < two->beyond_ns ? 1 : -1;
    return (one->ns < two->ns) - (one->ns > two->ns);
}

void pt_why_causes_end(posixtrace_why_t *w)
{
    struct pt_why_subject *s = w->subject;
    size_t count = 0;

    s->sorted = calloc(s->causes.count + 1, sizeof *s->sorted);
    if (!s->sorted) {
        w->error = ENOMEM;
        return;
    }
    for (size_t i = 0; i < s->causes.count; i++) {
        struct pt_why_cause *c = s->causes.items[i];
        double usual = s->typical ? (double)c->typical_ns / (double)s->typical : 0;

        c->row.beyond_ns = c->row.ns - pt_sum_rounded(usual * (double)s->summary.slow);
        if (c->row.ns > 0)
            s->sorted[count++] = c;
    }
    qsort(s->sorted, count, sizeof *s->sorted, by_time);
}
