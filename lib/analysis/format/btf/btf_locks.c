/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Mutexes, read-write locks and semaphores as semaphores of BTF, conditions as its OS
 * events.  A mutex has at most one user: the number of its requests gives the state, as in the
 * example of the specification (0 FREE, 1 FULL, more OVERFULL).  For the others the limit of users
 * is unknown: they are USED or FREE.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <posixtrace/system.h>
#include "analysis/format/btf/btf_tasks.h"

enum { MUTEX, RWLOCK, SEMAPHORE, CONDITION };

struct pair {
    uint64_t object;
    int64_t error;
};

/* Data is in the order of this machine, as for every reader. */
static bool take_data(const struct posixtrace_event *e, struct pair *pair)
{
    *pair = (struct pair){ 0, 0 };
    if (e->data_len != 8 && e->data_len != 16)
        return false;
    memcpy(pair, e->data, e->data_len);
    return true;
}

static struct pt_btf_object *object_of(struct pt_btf_writer *w, uint32_t pid, unsigned kind,
                                       uint64_t address, bool *is_new)
{
    static const char *const names[] = { "mutex", "rwlock", "sem", "cond" };
    uint32_t cells = 2 * PT_BTF_TABLE_MAX, i, k;
    struct pt_btf_object *o;
    char name[48];

    i = (uint32_t)((address ^ (uint64_t)pid << 48 ^ (uint64_t)kind << 46) * 0x9e3779b97f4a7c15ull >>
                   40) %
        cells;
    for (; (k = w->object_table.cells[i]); i = (i + 1) % cells) {
        o = &w->objects[k - 1];
        if (o->address == address && o->pid == pid && o->kind == kind)
            break;
    }
    *is_new = !k;
    if (k)
        return o;
    if (w->object_table.count == PT_BTF_TABLE_MAX) {
        pt_job_note(w->job, PT_BTF_NOTE_MANY, "more than %d locks", PT_BTF_TABLE_MAX);
        return NULL;
    }
    snprintf(name, sizeof name, "%s_0x%" PRIx64, names[kind], address);
    o = &w->objects[w->object_table.count];
    *o = (struct pt_btf_object){ .address = address,
                                 .pid = pid,
                                 .kind = kind,
                                 .name = pt_btf_claim(w, name),
                                 .waiter = PT_BTF_NO_NAME };
    if (o->name == PT_BTF_NO_NAME)
        return NULL;
    w->object_table.cells[i] = ++w->object_table.count;
    return o;
}

static void line(struct pt_btf_writer *w, uint32_t source, int64_t instance,
                 const struct pt_btf_object *o, const char *action)
{
    char note[16];

    snprintf(note, sizeof note, "%" PRIu32, o->count);
    pt_btf_line(w, source, instance, PT_BTF_SEM, o->name, 0, action, note);
}

static void by_task(struct pt_btf_writer *w, const struct pt_btf_task *t,
                    const struct pt_btf_object *o, const char *action)
{
    line(w, t->name, t->instance, o, action);
}

static void by_itself(struct pt_btf_writer *w, const struct pt_btf_object *o, const char *action)
{
    line(w, o->name, 0, o, action);
}

/* Counts one more request of a mutex, or user of another lock, and writes the new state. */
static void more(struct pt_btf_writer *w, const struct pt_btf_task *t, struct pt_btf_object *o)
{
    o->count++;
    if (t)
        by_task(w, t, o, "increment");
    by_itself(w, o, o->kind != MUTEX ? "used" : o->count == 1 ? "lock" : "overfull");
}

static void less(struct pt_btf_writer *w, const struct pt_btf_task *t, struct pt_btf_object *o)
{
    by_task(w, t, o, "released");
    if (o->count == 0)
        return;
    o->count--;
    by_task(w, t, o, "decrement");
    if (o->kind != MUTEX)
        by_itself(w, o, o->count ? "used" : "free");
    else
        by_itself(w, o, o->count == 0 ? "unlock" : o->count == 1 ? "full" : "overfull");
}

static void ask(struct pt_btf_writer *w, struct pt_btf_task *t, struct pt_btf_object *o)
{
    by_task(w, t, o, "requestsemaphore");
    t->asked = o->name;
    if (o->kind != MUTEX)
        return;
    more(w, t, o);
    if (o->count > 1)
        by_task(w, t, o, "waiting");
}

/* Also of a request that was not seen: before the trace began, or inside of a wait for
 * a condition.  One that is withdrawn is released. */
static void answer(struct pt_btf_writer *w, struct pt_btf_task *t, struct pt_btf_object *o,
                   int64_t error)
{
    bool has = error == 0 || error == EOWNERDEAD;

    if (t->asked != o->name)
        ask(w, t, o);
    t->asked = PT_BTF_NO_NAME;
    if (o->kind == MUTEX && !has)
        less(w, t, o);
    if (o->kind != MUTEX && has)
        more(w, t, o);
    if (has)
        by_task(w, t, o, "assigned");
}

/* An object that occurs for the first time: in 2.1.5 it becomes ready; an object that is released
 * now was held before. */
static void introduce(struct pt_btf_writer *w, struct pt_btf_object *o, bool is_held)
{
    if (o->kind != CONDITION && w->rules == PT_BTF_21)
        by_itself(w, o, "ready");
    if (is_held)
        more(w, NULL, o);
}

static bool condition(struct pt_btf_writer *w, const struct pt_btf_task *t, struct pt_btf_object *o,
                      trace_event_id_t id)
{
    const char *waiter = o->waiter == PT_BTF_NO_NAME ? NULL : w->names.texts[o->waiter];

    /* set_event names a task: it is not written if no task waits or has waited. */
    if (id == POSIXTRACE_COND_SIGNAL && !waiter)
        return false;
    if (id == POSIXTRACE_COND_WAIT)
        o->waiter = t->name;
    pt_btf_line(w, t->name, t->instance, PT_BTF_EVENT, o->name, 0,
                id == POSIXTRACE_COND_WAIT     ? "wait_event"
                : id == POSIXTRACE_COND_SIGNAL ? "set_event"
                                               : "clear_event",
                id == POSIXTRACE_COND_SIGNAL ? waiter : NULL);
    return true;
}

bool pt_btf_lock_event(struct pt_btf_writer *w, struct pt_btf_task *t,
                       const struct posixtrace_event *e)
{
    static const uint8_t kinds[] = {
        [POSIXTRACE_MUTEX_LOCK] = MUTEX + 1,      [POSIXTRACE_MUTEX_LOCKED] = MUTEX + 1,
        [POSIXTRACE_MUTEX_UNLOCK] = MUTEX + 1,    [POSIXTRACE_RWLOCK_LOCK] = RWLOCK + 1,
        [POSIXTRACE_RWLOCK_LOCKED] = RWLOCK + 1,  [POSIXTRACE_RWLOCK_UNLOCK] = RWLOCK + 1,
        [POSIXTRACE_COND_WAIT] = CONDITION + 1,   [POSIXTRACE_COND_WOKEN] = CONDITION + 1,
        [POSIXTRACE_COND_SIGNAL] = CONDITION + 1, [POSIXTRACE_SEM_WAIT] = SEMAPHORE + 1,
        [POSIXTRACE_SEM_TAKEN] = SEMAPHORE + 1,   [POSIXTRACE_SEM_POST] = SEMAPHORE + 1,
    };
    struct pt_btf_object *o;
    struct pair pair;
    bool is_new;

    if (e->id >= sizeof kinds || !kinds[e->id] || !take_data(e, &pair))
        return false;
    o = object_of(w, (uint32_t)e->pid, kinds[e->id] - 1u, pair.object, &is_new);
    if (!o)
        return false;
    if (is_new)
        introduce(w, o, e->id == POSIXTRACE_MUTEX_UNLOCK || e->id == POSIXTRACE_RWLOCK_UNLOCK);
    switch (e->id) {
    case POSIXTRACE_MUTEX_LOCK:
    case POSIXTRACE_RWLOCK_LOCK:
    case POSIXTRACE_SEM_WAIT: ask(w, t, o); return true;
    case POSIXTRACE_MUTEX_LOCKED:
    case POSIXTRACE_RWLOCK_LOCKED:
    case POSIXTRACE_SEM_TAKEN: answer(w, t, o, pair.error); return true;
    case POSIXTRACE_MUTEX_UNLOCK:
    case POSIXTRACE_RWLOCK_UNLOCK:
    case POSIXTRACE_SEM_POST: less(w, t, o); return true;
    default: return condition(w, t, o, e->id);
    }
}
