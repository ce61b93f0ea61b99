/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writes any event as an event of class USER: kev_roundtrip.h.  Threads and places in the program
 * have numbers.  If two share a number, it is defined again when the other one is used.
 */
#include <string.h>
#include <posixtrace/system.h>
#include "analysis/format/qnx/kev_write.h"

/* The flag of user events that are not the program's. */
static unsigned mark_of(const struct pt_kev_writer *w)
{
    return w->of_qnx && w->marks ? PT_KEV_OURS : 0;
}

static bool put_meta(struct pt_kev_writer *w, size_t length, int64_t ns)
{
    size_t padded = (length + 7) / 8 * 8;

    memset(w->data + length, 0, padded - length);
    return w->put(w, pt_kev_header(PT_KEV_USER, PT_KEV_USER_META, 0, mark_of(w)), w->data, padded,
                  ns, false, NULL);
}

static size_t put_string(struct pt_kev_writer *w, size_t at, const char *text, size_t length)
{
    memcpy(w->data + at, text, length);
    w->data[at + length] = '\0';
    return at + length + 1;
}

/* ---- types, threads, places ---- */

static bool tell_type(struct pt_kev_writer *w, const struct pt_kev_target *t,
                      const struct posixtrace_event *e, const char *description)
{
    size_t length = 12;

    pt_kev_store(w->data, PT_KEV_META_TYPE);
    pt_kev_store(w->data + 4, t->number);
    pt_kev_store(w->data + 8, t->user);
    length = put_string(w, length, e->name, strlen(e->name));
    length = put_string(w, length, description, strlen(description));
    return put_meta(w, length, e->ns);
}

/* The type of an event; a description may come later than its first event. */
static bool want_type(struct pt_kev_writer *w, struct pt_kev_target *t,
                      const struct posixtrace_event *e)
{
    char description[POSIXTRACE_DESCRIPTION_MAX + 1] = "";
    bool layout = !t->described && e->id > POSIX_TRACE_UNNAMED_USEREVENT &&
                  posixtrace_fields_layout(w->job->fields, e->id);
    int user = PT_KEV_USER_FIRST;

    if (t->number && !layout)
        return true;
    if (layout)
        t->described = posixtrace_event_description(w->job->trid, e->id, description,
                                                    sizeof description) == 0;
    if (!t->number) {
        while (user >= 0 && w->taken[user])
            user--;
        t->user = (uint16_t)(user >= 0 ? user : PT_KEV_USER_MORE);
        w->taken[t->user] = w->taken_by_us[t->user] = true;
        t->number = ++w->numbers;
    }
    return tell_type(w, t, e, description);
}

/* Writes the name that QNX's own tools show beside the thread. */
static bool tell_name(struct pt_kev_writer *w, const struct pt_kev_author *a, int64_t ns)
{
    size_t length, padded;

    if (!a->name[0] || w->of_qnx)
        return true;
    pt_kev_store(w->data, a->pid);
    pt_kev_store(w->data + 4, a->tid);
    length = put_string(w, 8, a->name, strlen(a->name));
    padded = (length + 7) / 8 * 8;
    memset(w->data + length, 0, padded - length);
    return w->put(w, pt_kev_header(PT_KEV_PR_TH, PT_KEV_THREAD_NAME, 0, PT_KEV_OURS), w->data,
                  padded, ns, false, NULL);
}

static bool tell_author(struct pt_kev_writer *w, const struct pt_kev_author *a, uint32_t index,
                        int64_t ns)
{
    pt_kev_store(w->data, PT_KEV_META_THREAD);
    pt_kev_store(w->data + 4, index);
    pt_kev_store(w->data + 8, a->pid);
    pt_kev_store(w->data + 12, a->tid);
    pt_kev_store(w->data + 16, (uint32_t)a->thread_id);
    pt_kev_store(w->data + 20, (uint32_t)(a->thread_id >> 32));
    return put_meta(w, put_string(w, 24, a->name, strlen(a->name)), ns) && tell_name(w, a, ns);
}

/* NULL: of no thread, or *good is false. */
static struct pt_kev_author *want_author(struct pt_kev_writer *w, const struct posixtrace_event *e,
                                         uint32_t *index, bool *good)
{
    struct pt_kev_author *a;

    *index = 0;
    *good = true;
    if (!e->tid && !e->pid && !e->thread_id && !*e->thread_name)
        return NULL;
    *index = pt_kev_our_thread((uint32_t)e->pid, (uint32_t)e->tid);
    a = &w->author[*index];
    if (a->used && a->thread_id == e->thread_id && a->tid == (uint32_t)e->tid &&
        a->pid == (uint32_t)e->pid && strncmp(a->name, e->thread_name, sizeof a->name - 1) == 0)
        return a;
    if (!a->used || a->tid != (uint32_t)e->tid || a->pid != (uint32_t)e->pid)
        a->cpu = a->wait = 0;
    a->used = true;
    a->pid = (uint32_t)e->pid;
    a->tid = (uint32_t)e->tid;
    a->thread_id = e->thread_id;
    memset(a->name, 0, sizeof a->name);
    memcpy(a->name, e->thread_name, strnlen(e->thread_name, sizeof a->name - 1));
    *good = tell_author(w, a, *index, e->ns);
    return a;
}

static bool want_place(struct pt_kev_writer *w, const struct posixtrace_event *e, uint32_t *index)
{
    *index = 0;
    if (e->prog_address == 0)
        return true;
    *index = 1 + (uint32_t)(e->prog_address * 0x9e3779b97f4a7c15u >> 40) % (PT_KEV_OUR_PLACES - 1);
    if (w->place[*index] == e->prog_address)
        return true;
    w->place[*index] = e->prog_address;
    pt_kev_store(w->data, PT_KEV_META_PLACE);
    pt_kev_store(w->data + 4, *index);
    pt_kev_store(w->data + 8, (uint32_t)e->prog_address);
    pt_kev_store(w->data + 12, (uint32_t)(e->prog_address >> 32));
    return put_meta(w, 16, e->ns);
}

/* ---- events ---- */

/* Stores the object for which a thread waits when it leaves the processor. */
static void note_wait(struct pt_kev_author *a, trace_event_id_t id)
{
    switch (id) {
    case POSIXTRACE_MUTEX_LOCK: a->wait = PT_KEV_MUTEX; break;
    case POSIXTRACE_COND_WAIT: a->wait = PT_KEV_CONDVAR; break;
    case POSIXTRACE_SEM_WAIT: a->wait = PT_KEV_SEM; break;
    case POSIXTRACE_SLEEP: a->wait = PT_KEV_NANOSLEEP; break;
    case POSIXTRACE_MUTEX_LOCKED:
    case POSIXTRACE_COND_WOKEN:
    case POSIXTRACE_SEM_TAKEN:
    case POSIXTRACE_SLEEP_DONE: a->wait = 0; break;
    default: break;
    }
}

bool pt_kev_write_ours(struct pt_kev_writer *w, struct pt_kev_target *t,
                       const struct posixtrace_event *e)
{
    uint32_t author, place, head;
    bool good = want_type(w, t, e);
    struct pt_kev_author *a = good ? want_author(w, e, &author, &good) : NULL;
    size_t skip = t->user == PT_KEV_USER_MORE ? 8 : 4, length = skip + e->data_len;
    size_t padded = (length + 7) / 8 * 8;

    if (!good || !want_place(w, e, &place))
        return false;
    if (padded > PT_KEV_DATA_MAX) {
        pt_job_left_out(w->job, PT_KEV_LEFT_SIZE,
                        "'%s' with %zu bytes of data, more than the %u "
                        "that import takes: left out",
                        e->name, e->data_len, PT_KEV_DATA_MAX - 8);
        return true;
    }
    if (a && e->id < POSIX_TRACE_UNNAMED_USEREVENT)
        note_wait(a, e->id);
    head = author | place << 12 | (uint32_t)(padded - length) << 25 |
           (uint32_t)e->truncation << 28 | (skip == 8 ? PT_KEV_OUR_MORE : 0);
    pt_kev_store(w->data, head);
    if (skip == 8)
        pt_kev_store(w->data + 4, t->number);
    if (e->data_len)
        memcpy(w->data + skip, e->data, e->data_len);
    memset(w->data + length, 0, padded - length);
    return w->put(w,
                  pt_kev_header(PT_KEV_USER, t->user, a ? a->cpu : 0, skip == 8 ? mark_of(w) : 0),
                  w->data, padded, e->ns, false, e);
}

bool pt_kev_write_switch(struct pt_kev_writer *w, const struct posixtrace_event *e, bool *done)
{
    uint32_t index, cpu = e->data_len == 4 ? pt_kev_load(e->data, false) : PT_KEV_CPUS;
    unsigned state = PT_KEV_RUNNING;
    struct pt_kev_author *a;
    uint8_t data[8];
    bool good;

    if (cpu >= PT_KEV_CPUS || e->prog_address || e->truncation)
        return true;
    a = want_author(w, e, &index, &good);
    if (!good || !a)
        return good;
    a->cpu = (uint8_t)cpu;
    if (e->id == POSIXTRACE_SWITCH_PREEMPTED)
        state = PT_KEV_READY;
    else if (e->id == POSIXTRACE_SWITCH_OUT)
        state = a->wait ? a->wait : PT_KEV_STOPPED;
    *done = true;
    pt_kev_store(data, a->pid);
    pt_kev_store(data + 4, a->tid);
    return w->put(w, pt_kev_header(PT_KEV_PR_TH, state, cpu, PT_KEV_OURS), data, sizeof data, e->ns,
                  false, NULL);
}

bool pt_kev_write_overflow(struct pt_kev_writer *w, const struct posixtrace_event *e)
{
    pt_kev_store(w->data, PT_KEV_META_BUFFERS);
    pt_kev_store(w->data + 4, 1);
    return put_meta(w, 8, e->ns) && pt_kev_write_gap(w, 1, e->ns);
}
