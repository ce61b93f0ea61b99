/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Instances: from one event to another, of a thread, or with the same value of a field.
 * A further begin changes nothing, and what was begun before a gap may have ended in it, as in
 * posixtrace report.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/why/why_state.h"
#include "text/hash.h"

enum { FIELDS = POSIXTRACE_FIELDS_MAX, KEYED_MOST = 1 << 20 };

static bool wants_thread(const posixtrace_why_t *w, const struct pt_why_begun *b)
{
    return !w->options.wants_thread || w->options.wants_thread(w->options.context, b->pid, b->tid);
}

static bool wants_begin(posixtrace_why_t *w, const struct posixtrace_event *e)
{
    char buffer[TRACE_EVENT_NAME_MAX + 1];
    struct posixtrace_event named = *e;
    const char *name;

    if (!w->options.wants_begin)
        return true;
    name = pt_reader_name(w->trid, e->id, buffer);
    named.name = name ? name : "";
    return w->options.wants_begin(w->options.context, &named);
}

static bool is_within(const posixtrace_why_t *w, int64_t from, int64_t to)
{
    return from >= w->options.from_ns && to <= w->options.to_ns;
}

/* What was begun before a gap may have ended in it; with its thread it ended without an end. */
static void forget_old(posixtrace_why_t *w, struct pt_why_begun *b, unsigned life)
{
    if (!b->open || (b->gap == w->report->gap && b->life == life))
        return;
    b->open = false;
    if (b->wanted && wants_thread(w, b) && w->pass == 1) {
        w->subject->summary.unknown += b->gap != w->report->gap;
        w->subject->summary.open += b->gap == w->report->gap;
    }
}

static void begin(posixtrace_why_t *w, struct pt_why_begun *b, unsigned life,
                  const struct posixtrace_event *e)
{
    forget_old(w, b, life);
    if (b->open)
        return;
    *b = (struct pt_why_begun){ .ns = e->ns,
                                .gap = w->report->gap,
                                .life = life,
                                .open = true,
                                .wanted = wants_begin(w, e),
                                .pid = e->pid,
                                .tid = e->tid };
}

static void end(posixtrace_why_t *w, struct pt_why_begun *b, unsigned life,
                const struct posixtrace_event *e, const uint64_t *key)
{
    struct posixtrace_why_instance i = { .begin_ns = b->ns,
                                         .end_ns = e->ns,
                                         .pid = b->pid,
                                         .tid = b->tid,
                                         .end_pid = e->pid,
                                         .end_tid = e->tid,
                                         .key = key ? *key : 0,
                                         .has_key = key != NULL };

    forget_old(w, b, life);
    if (!b->open)
        return;
    b->open = false;
    if (b->wanted && e->ns >= b->ns && wants_thread(w, b) && is_within(w, b->ns, e->ns))
        pt_why_instance(w, &i);
}

/* ---- by a field ---- */

static bool is_number(const struct posixtrace_field *f)
{
    return f->kind == POSIXTRACE_FIELD_UNSIGNED || f->kind == POSIXTRACE_FIELD_SIGNED ||
           f->kind == POSIXTRACE_FIELD_HEX || f->kind == POSIXTRACE_FIELD_BOOL ||
           f->kind == POSIXTRACE_FIELD_CHAR;
}

/* The value of the field: a number, or the hash of its bytes with their number. */
static bool key_of(posixtrace_why_t *w, const struct posixtrace_event *e, struct pt_why_keyed *k)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(w->fields, e->id);
    struct posixtrace_value values[FIELDS];
    size_t index, fields = 0;

    if (!layout)
        return false;
    index = posixtrace_layout_find(layout, w->by);
    if (index == posixtrace_layout_count(layout))
        return false;
    posixtrace_layout_split(layout, e->data, e->data_len, values, &fields);
    if (index >= fields)
        return false;
    if (is_number(posixtrace_layout_field(layout, index)) && values[index].count == 1) {
        k->key.low = posixtrace_value_integer(layout, index, &values[index], 0);
        return true;
    }
    k->key.low = pt_hash_bytes(PT_HASH_START, values[index].at, values[index].count);
    k->key.high = 1 + values[index].count;
    return true;
}

static void free_keyed(posixtrace_why_t *w, struct pt_why_keyed *k)
{
    HASH_DEL(w->keyed, k);
    w->keyed_count--;
    free(k);
}

/* Those that a gap has ended; and the oldest, where there are too many. */
static void sweep_keyed(posixtrace_why_t *w)
{
    struct pt_why_keyed *k, *next;

    HASH_ITER(hh, w->keyed, k, next)
    {
        if (k->begun.gap == w->report->gap && w->keyed_count < KEYED_MOST)
            break;
        k->begun.open &= k->begun.gap == w->report->gap || w->pass == 1;
        forget_old(w, &k->begun, 0);
        w->subject->summary.open += k->begun.open && k->begun.wanted && w->pass == 1;
        free_keyed(w, k);
    }
}

static struct pt_why_keyed *make_keyed(posixtrace_why_t *w, const struct pt_why_keyed *key)
{
    struct pt_why_keyed *k;

    sweep_keyed(w);
    k = malloc(sizeof *k);
    if (!k) {
        w->error = ENOMEM;
        return NULL;
    }
    *k = *key;
    HASH_ADD(hh, w->keyed, key, sizeof k->key, k);
    w->keyed_count++;
    return k;
}

static void keyed_event(posixtrace_why_t *w, unsigned mark, const struct posixtrace_event *e)
{
    struct pt_why_keyed key = { .begun.open = false }, *k;

    if (!key_of(w, e, &key)) {
        w->subject->summary.unkeyed += w->pass == 1;
        return;
    }
    HASH_FIND(hh, w->keyed, &key.key, sizeof key.key, k);
    if (k && (mark & PT_WHY_ENDS)) {
        end(w, &k->begun, 0, e, &key.key.low);
        free_keyed(w, k);
        k = NULL;
    }
    if (mark & PT_WHY_BEGINS) {
        k = k ? k : make_keyed(w, &key);
        if (k)
            begin(w, &k->begun, 0, e);
    }
}

/* ---- both ---- */

void pt_why_pair_event(posixtrace_why_t *w, unsigned mark, const struct posixtrace_event *e)
{
    unsigned number = mark >> PT_WHY_SUBJECT;
    struct pt_why_runner *th;

    w->subject = &w->subjects[number];
    if (w->pass == 1) {
        w->subject->summary.begins += (mark & PT_WHY_BEGINS) != 0;
        w->subject->summary.ends += (mark & PT_WHY_ENDS) != 0;
    }
    if (w->by) {
        keyed_event(w, mark, e);
        return;
    }
    th = pt_why_runner(w, e->pid, e->tid);
    if (!th)
        return;
    if (mark & PT_WHY_ENDS)
        end(w, &th->begun[number], th->life, e, NULL);
    if (mark & PT_WHY_BEGINS)
        begin(w, &th->begun[number], th->life, e);
}

static void leave_open(posixtrace_why_t *w, struct pt_why_begun *b, unsigned life,
                       const uint64_t *key)
{
    struct posixtrace_why_instance i = { .begin_ns = b->ns,
                                         .end_ns = w->report->now,
                                         .pid = b->pid,
                                         .tid = b->tid,
                                         .end_pid = b->pid,
                                         .end_tid = b->tid,
                                         .key = key ? *key : 0,
                                         .has_key = key != NULL,
                                         .open = true };

    forget_old(w, b, life);
    if (b->open && b->wanted && wants_thread(w, b) && is_within(w, b->ns, b->ns))
        pt_why_open(w, &i);
    b->open = false;
}

void pt_why_pairs_end(posixtrace_why_t *w)
{
    struct pt_why_keyed *k, *next;

    for (size_t i = 0; i < w->runners.count; i++) {
        struct pt_why_runner *th = w->runners.items[i];

        for (size_t n = 0; n < w->subject_count; n++) {
            w->subject = &w->subjects[n];
            leave_open(w, &th->begun[n], th->life, NULL);
        }
        th->life = 0;
        th->ended = false;
    }
    w->subject = w->subjects;
    HASH_ITER(hh, w->keyed, k, next)
    {
        leave_open(w, &k->begun, 0, &k->key.low);
        free_keyed(w, k);
    }
}

void pt_why_pairs_free(posixtrace_why_t *w)
{
    struct pt_why_keyed *k, *next;

    HASH_ITER(hh, w->keyed, k, next)
    {
        free_keyed(w, k);
    }
    for (size_t i = 0; i < w->runners.count; i++) {
        struct pt_why_runner *th = w->runners.items[i];

        pt_why_list_free(&th->parts);
    }
}
