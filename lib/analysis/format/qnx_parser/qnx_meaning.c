/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Maps an event of a log for a program that was written for QNX's parser.  QNX's own events are
 * unchanged.  Context switches become states of threads; recorded calls give the reason of a wait.
 * All others are user events: each type gets a number, from 1023 downwards in order of occurrence,
 * except the numbers of QNX's own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/system.h>
#include "analysis/format/qnx_parser/qnx_parser.h"

enum {
    RUNNING = 1,
    READY = 2,
    STOPPED = 3,
    NANOSLEEP = 12,
    MUTEX = 13,
    CONDVAR = 14,
    SEM = 17,
    CREATE = 24,
    DESTROY = 25,
    DROPPED = 8
};

/* The meaning of a system event type.  waits: the state in which its thread is after it. */
static const struct {
    uint8_t meaning, index, waits;
} system_types[] = {
    [POSIXTRACE_SWITCH_IN] = { PT_QNX_SWITCH, RUNNING, 0 },
    [POSIXTRACE_SWITCH_OUT] = { PT_QNX_SWITCH, STOPPED, 0 },
    [POSIXTRACE_SWITCH_PREEMPTED] = { PT_QNX_SWITCH, READY, 0 },
    [POSIXTRACE_MUTEX_LOCK] = { PT_QNX_PLAIN, 0, MUTEX },
    [POSIXTRACE_MUTEX_LOCKED] = { PT_QNX_PLAIN, 0, STOPPED },
    [POSIXTRACE_RWLOCK_LOCK] = { PT_QNX_PLAIN, 0, MUTEX },
    [POSIXTRACE_RWLOCK_LOCKED] = { PT_QNX_PLAIN, 0, STOPPED },
    [POSIXTRACE_COND_WAIT] = { PT_QNX_PLAIN, 0, CONDVAR },
    [POSIXTRACE_COND_WOKEN] = { PT_QNX_PLAIN, 0, STOPPED },
    [POSIXTRACE_SEM_WAIT] = { PT_QNX_PLAIN, 0, SEM },
    [POSIXTRACE_SEM_TAKEN] = { PT_QNX_PLAIN, 0, STOPPED },
    [POSIXTRACE_BARRIER_WAIT] = { PT_QNX_PLAIN, 0, CONDVAR },
    [POSIXTRACE_BARRIER_PASSED] = { PT_QNX_PLAIN, 0, STOPPED },
    [POSIXTRACE_SLEEP] = { PT_QNX_PLAIN, 0, NANOSLEEP },
    [POSIXTRACE_SLEEP_DONE] = { PT_QNX_PLAIN, 0, STOPPED },
    [POSIXTRACE_THREAD_BEGIN] = { PT_QNX_LIFE, CREATE, 0 },
    [POSIXTRACE_THREAD_END] = { PT_QNX_LIFE, DESTROY, 0 },
};

static bool is_system(trace_event_id_t id)
{
    return id < POSIX_TRACE_UNNAMED_USEREVENT;
}

/* ---- types ---- */

/* A number for a type that is not QNX's; when there is none left they share 0. */
static struct pt_qnx_kind user_kind(posixtrace_qnx_parser_t *p)
{
    unsigned n = PT_QNX_EVENTS - 1;

    while (n && p->taken[n])
        n--;
    p->taken[n] = true;
    return (struct pt_qnx_kind){ .event_class = _NTO_TRACE_USER, .index = (uint16_t)n };
}

static bool has_head(const posixtrace_layout_t *layout)
{
    return layout && posixtrace_layout_find(layout, "cpu") == 0 &&
           posixtrace_layout_find(layout, "flags") == 1 &&
           posixtrace_layout_field(layout, 0)->bits == 8 &&
           posixtrace_layout_field(layout, 1)->bits == 8;
}

static void learn_system(posixtrace_qnx_parser_t *p, trace_event_id_t id, struct pt_qnx_type *t)
{
    if (id < sizeof system_types / sizeof *system_types && system_types[id].meaning) {
        t->meaning = system_types[id].meaning;
        t->waits = system_types[id].waits;
        t->kind = (struct pt_qnx_kind){ .event_class = _NTO_TRACE_THREAD,
                                        .index = system_types[id].index };
    }
    if (id == POSIX_TRACE_OVERFLOW) {
        t->meaning = PT_QNX_LOST;
        t->kind = (struct pt_qnx_kind){ .event_class = _NTO_TRACE_CONTROL, .index = DROPPED };
    }
    if (p->silent && id != POSIX_TRACE_ERROR)
        t->meaning = PT_QNX_SILENT;
    if (t->meaning == PT_QNX_PLAIN)
        t->kind = user_kind(p);
}

static void learn_qnx(const char *name, const posixtrace_layout_t *layout, struct pt_qnx_type *t)
{
    if (strcmp(name, "qnx:HEADER") == 0) {
        t->meaning = PT_QNX_HEAD;
    } else if (strcmp(name, "qnx:LOST") == 0) {
        t->meaning = PT_QNX_LOST;
        t->kind = (struct pt_qnx_kind){ .event_class = _NTO_TRACE_CONTROL, .index = DROPPED };
    } else if (has_head(layout)) {
        if (strcmp(name, "qnx:OTHER") == 0)
            t->meaning = PT_QNX_OTHER;
        else if (pt_qnx_from_name(name, &t->kind))
            t->meaning = PT_QNX_OWN;
    }
}

static void learn(posixtrace_qnx_parser_t *p, const struct posixtrace_event *e,
                  struct pt_qnx_type *t)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(p->fields, e->id);
    bool big_endian = layout && posixtrace_layout_is_big_endian(layout);

    t->meaning = PT_QNX_PLAIN;
    t->swapped = layout && big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    if (is_system(e->id)) {
        learn_system(p, e->id, t);
        return;
    }
    if (strncmp(e->name, "qnx:", 4) == 0)
        learn_qnx(e->name, layout, t);
    if (t->meaning == PT_QNX_PLAIN)
        t->kind = user_kind(p);
}

/* ---- events ---- */

static struct pt_qnx_thread *thread_of(posixtrace_qnx_parser_t *p, const struct posixtrace_event *e)
{
    struct pt_qnx_thread
        *t = &p->threads[((uint32_t)e->pid * 31 + (uint32_t)e->tid) % PT_QNX_THREADS];

    if (t->pid != e->pid || t->tid != e->tid)
        *t = (struct pt_qnx_thread){ e->pid, e->tid, 0, STOPPED };
    return t;
}

/* Data from that byte on, as words. */
static unsigned put_words(posixtrace_qnx_parser_t *p, const struct posixtrace_event *e, size_t from)
{
    size_t len = e->data_len < from ? 0 : e->data_len - from;

    if (len > PT_QNX_LOG_BYTES)
        len = PT_QNX_LOG_BYTES;
    p->words[len / 4] = p->words[len / 4 + 1] = 0;
    if (len)
        memcpy(p->words, (const char *)e->data + from, len);
    return (unsigned)((len + 3) / 4);
}

/* The same as pairs of words, as QNX's records hold. */
static unsigned put_pairs(posixtrace_qnx_parser_t *p, const struct posixtrace_event *e, size_t from)
{
    return (put_words(p, e, from) + 1) & ~1u;
}

static void put_switch(posixtrace_qnx_parser_t *p, const struct posixtrace_event *e,
                       const struct pt_qnx_type *type)
{
    struct pt_qnx_thread *t = thread_of(p, e);
    struct pt_qnx_kind kind = type->kind;
    uint32_t cpu;

    if (type->meaning == PT_QNX_SWITCH && e->data_len >= sizeof cpu) {
        memcpy(&cpu, e->data, sizeof cpu);
        t->cpu = (uint8_t)(cpu & 63);
    }
    if (kind.index == STOPPED)
        kind.index = t->waits;
    p->words[0] = (unsigned)e->pid;
    p->words[1] = (unsigned)e->tid;
    pt_qnx_parser_call(p, &kind, t->cpu, 0, (uint64_t)e->ns, 2);
}

static bool put_head(posixtrace_qnx_parser_t *p, const struct posixtrace_event *e)
{
    const char *name = e->data, *end = memchr(name, 0, e->data_len);
    size_t left = end ? e->data_len - (size_t)(end + 1 - name) : 0;

    if (!end || !left || end[left] != '\0')
        return true;
    for (int i = 0; i < PT_QNX_KEYS; i++)
        if (strcmp(name, pt_qnx_parser_key_name(i)) == 0)
            return pt_qnx_parser_key(p, i, end + 1);
    return true;
}

/* The data has class (u8), number (u16) and form after cpu and flags. */
static void put_other(posixtrace_qnx_parser_t *p, const struct posixtrace_event *e)
{
    const uint8_t *d = e->data;
    struct pt_qnx_kind kind;

    if (e->data_len >= 6 &&
        pt_qnx_from_header((uint32_t)(d[2] & 31) << 10 | ((uint32_t)d[4] << 8 | d[3]), &kind))
        pt_qnx_parser_call(p, &kind, d[0], d[1], (uint64_t)e->ns, put_pairs(p, e, 6));
}

static void put(posixtrace_qnx_parser_t *p, const struct posixtrace_event *e,
                const struct pt_qnx_type *type)
{
    const uint8_t *d = e->data;
    struct pt_qnx_thread *t;

    switch (type->meaning) {
    case PT_QNX_OWN:
        pt_qnx_parser_call(p, &type->kind, e->data_len > 1 ? d[0] : 0, e->data_len > 1 ? d[1] : 0,
                           (uint64_t)e->ns, put_pairs(p, e, 2));
        break;
    case PT_QNX_OTHER: put_other(p, e); break;
    case PT_QNX_SWITCH:
    case PT_QNX_LIFE: put_switch(p, e, type); break;
    case PT_QNX_LOST:
    case PT_QNX_PLAIN:
        t = thread_of(p, e);
        pt_qnx_parser_call(p, &type->kind, t->cpu, 0, (uint64_t)e->ns, put_words(p, e, 0));
        if (type->waits)
            t->waits = type->waits;
        break;
    default: break;
    }
}

bool pt_qnx_take(posixtrace_qnx_parser_t *p, const struct posixtrace_event *e)
{
    struct pt_qnx_type once = { 0 }, *t = e->id < PT_QNX_IDS ? &p->types[e->id] : &once;

    if (t->meaning == PT_QNX_UNSEEN)
        learn(p, e, t);
    if (t->meaning == PT_QNX_HEAD && !p->begun)
        return put_head(p, e);
    if (!p->begun && !pt_qnx_begin(p))
        return false;
    p->swapped = t->swapped;
    p->event = e;
    put(p, e, t);
    p->event = NULL;
    return true;
}
