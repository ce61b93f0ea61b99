/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Restores events that our own export put into a QNX trace: kev_roundtrip.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/qnx/kev_import.h"

struct our_thread {
    uint32_t pid, tid;
    uint64_t thread_id;
    char name[16];
};

struct pt_kev_roundtrip {
    char *type[PT_KEV_OUR_TYPES];
    uint16_t number[1024]; /* of the type that a user event is; 0: none */
    struct our_thread thread[PT_KEV_OUR_THREADS];
    uint64_t place[PT_KEV_OUR_PLACES];
};

struct pt_kev_roundtrip *pt_kev_roundtrip_new(void)
{
    return calloc(1, sizeof(struct pt_kev_roundtrip));
}

void pt_kev_roundtrip_free(struct pt_kev_roundtrip *o)
{
    for (unsigned i = 0; o && i < PT_KEV_OUR_TYPES; i++)
        free(o->type[i]);
    free(o);
}

/* ---- the definitions in user event 1023 ---- */

static uint64_t load64(const uint8_t *at)
{
    return pt_kev_load(at, false) | (uint64_t)pt_kev_load(at + 4, false) << 32;
}

/* The string at the front of data; NULL: it does not end there. */
static const char *take_string(const uint8_t **at, size_t *left)
{
    const char *text = (const char *)*at;
    size_t n = strnlen(text, *left);

    if (n == *left)
        return NULL;
    *at += n + 1;
    *left -= n + 1;
    return text;
}

static bool learn_type(struct pt_kev_import *im, const uint8_t *at, size_t left)
{
    uint32_t number = pt_kev_load(at, false), user = pt_kev_load(at + 4, false);
    const char *name, *description;
    char *copy;

    at += 8;
    left -= 8;
    name = take_string(&at, &left);
    description = name ? take_string(&at, &left) : NULL;
    if (!description || !*name || strlen(name) > TRACE_EVENT_NAME_MAX || !number ||
        number >= PT_KEV_OUR_TYPES || user > PT_KEV_USER_MORE)
        return false;
    copy = strdup(name);
    if (!copy) {
        pt_job_fail(im->job, ENOMEM, "no memory");
        return false;
    }
    free(im->ours->type[number]);
    im->ours->type[number] = copy;
    im->ours->number[user] = (uint16_t)number;
    if (!*description || posixtrace_log_builder_describe(im->job->builder, name, description) == 0)
        return true;
    pt_job_note(im->job, PT_KEV_NOTE_OURS, "the description of '%.60s' is not accepted: '%.80s'",
                name, description);
    return true;
}

static bool learn_thread(struct pt_kev_import *im, const uint8_t *at, size_t left)
{
    uint32_t index = pt_kev_load(at, false);
    struct our_thread *t = &im->ours->thread[index % PT_KEV_OUR_THREADS];
    const uint8_t *rest = at + 20;
    const char *name;

    if (left < 20 || !index || index >= PT_KEV_OUR_THREADS)
        return false;
    left -= 20;
    name = take_string(&rest, &left);
    if (!name)
        return false;
    memset(t, 0, sizeof *t);
    t->pid = pt_kev_load(at + 4, false);
    t->tid = pt_kev_load(at + 8, false);
    t->thread_id = load64(at + 12);
    memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
    return true;
}

static bool learn(struct pt_kev_import *im, const struct pt_kev_event *e)
{
    uint32_t kind = e->length >= 8 ? pt_kev_load(e->data, false) : 0, index;
    const uint8_t *at = e->data + 4;
    size_t left = e->length - 4;

    if (kind == PT_KEV_META_BUFFERS && !e->cut)
        return true;
    if (e->cut || kind < PT_KEV_META_TYPE || kind > PT_KEV_META_PLACE || left < 12)
        return false;
    if (kind == PT_KEV_META_TYPE)
        return learn_type(im, at, left);
    if (kind == PT_KEV_META_THREAD)
        return learn_thread(im, at, left);
    index = pt_kev_load(at, false);
    if (!index || index >= PT_KEV_OUR_PLACES)
        return false;
    im->ours->place[index] = load64(at + 4);
    return true;
}

/* ---- events ---- */

static void set_thread(const struct pt_kev_roundtrip *o, struct posixtrace_event *to,
                       uint32_t index)
{
    const struct our_thread *t = &o->thread[index];

    to->thread_name = t->name;
    to->pid = (pid_t)t->pid;
    to->tid = (pid_t)t->tid;
    to->thread_id = t->thread_id;
}

static bool add_user(struct pt_kev_import *im, const struct pt_kev_event *e, bool *taken)
{
    const struct pt_kev_roundtrip *o = im->ours;
    uint32_t head = e->length >= 8 ? pt_kev_load(e->data, false) : 0, padding = head >> 25 & 7;
    uint32_t number = o->number[pt_kev_number(e->header)], skip = 4;
    struct posixtrace_event to = { .ns = e->ns, .truncation = (int)(head >> 28 & 3) };

    if (head & PT_KEV_OUR_MORE) {
        number = pt_kev_load(e->data + 4, false);
        skip = 8;
    }
    if (e->cut) {
        padding = 0;
        to.truncation = POSIX_TRACE_TRUNCATED_RECORD;
    }
    *taken = e->length >= 8 && number < PT_KEV_OUR_TYPES && o->type[number] && !(head >> 31) &&
             skip + padding <= e->length && to.truncation <= POSIX_TRACE_TRUNCATED_READ &&
             e->length - skip - padding <= 61440;
    if (!*taken)
        return true;
    to.name = o->type[number];
    to.data = e->data + skip;
    to.data_len = e->length - skip - padding;
    to.prog_address = o->place[head >> 12 & (PT_KEV_OUR_PLACES - 1)];
    set_thread(o, &to, head & (PT_KEV_OUR_THREADS - 1));
    *taken = pt_job_add(im->job, &to);
    return *taken;
}

static bool add_switch(struct pt_kev_import *im, const struct pt_kev_event *e, bool *taken)
{
    unsigned state = pt_kev_number(e->header);
    struct posixtrace_event to = { .ns = e->ns };
    uint8_t cpu[4];

    *taken = true;
    if (state >= PT_KEV_PROCESS)
        return true;
    pt_kev_store(cpu, pt_kev_cpu(e->header));
    set_thread(im->ours, &to,
               pt_kev_our_thread(pt_kev_load(e->data, false), pt_kev_load(e->data + 4, false)));
    to.name = state == PT_KEV_RUNNING ? "posixtrace_switch_in"
              : state == PT_KEV_READY ? "posixtrace_switch_preempted"
                                      : "posixtrace_switch_out";
    to.data = cpu;
    to.data_len = sizeof cpu;
    *taken = pt_job_add(im->job, &to);
    return *taken;
}

bool pt_kev_is_ours(const struct pt_kev_import *im, uint32_t header)
{
    return im->ours && (!im->ours_marked || pt_kev_number(header) < PT_KEV_USER_MORE ||
                        (pt_kev_flags(header) & PT_KEV_OURS));
}

bool pt_kev_roundtrip_take(struct pt_kev_import *im, const struct pt_kev_event *e, bool *taken)
{
    unsigned class = pt_kev_class(e->header), number = pt_kev_number(e->header);

    *taken = false;
    if (e->text || e->length < 8)
        return true;
    if (class == PT_KEV_PR_TH && !im->ours_of_qnx && (pt_kev_flags(e->header) & PT_KEV_OURS))
        return add_switch(im, e, taken);
    if (class != PT_KEV_USER || !pt_kev_is_ours(im, e->header))
        return true;
    if (number == PT_KEV_USER_META) {
        *taken = learn(im, e);
        if (!*taken && !im->job->error)
            pt_job_note(im->job, PT_KEV_NOTE_OURS,
                        "%s %" PRIu64 ": not what posixtrace writes "
                        "into user event %u: taken as it is",
                        im->unit, e->where, number);
        return !im->job->error;
    }
    if (number == PT_KEV_USER_MORE || im->ours->number[number])
        return add_user(im, e, taken);
    return true;
}
