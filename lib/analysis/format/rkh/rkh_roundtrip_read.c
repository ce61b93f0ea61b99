/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Import of what our own export wrote: rkh_roundtrip.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/rkh/rkh_user_read.h"

/* An argument of that format, or NULL. */
static const struct pt_rkh_argument *want(struct pt_rkh_reader *r, const uint8_t **at, size_t *left,
                                          unsigned format, struct pt_rkh_argument *a)
{
    return pt_rkh_next_argument(&r->config, at, left, a) && a->format == format ? a : NULL;
}

static bool want_number(struct pt_rkh_reader *r, const uint8_t **at, size_t *left, unsigned format,
                        uint64_t *v)
{
    struct pt_rkh_argument a;

    if (!want(r, at, left, format, &a) || a.len > 8)
        return false;
    *v = pt_rkh_load(a.at, (unsigned)a.len);
    return true;
}

static bool is_big_endian(const char *description)
{
    posixtrace_layout_t *layout;
    bool is;

    if (posixtrace_layout_parse(description, &layout, NULL) != 0)
        return false;
    is = posixtrace_layout_is_big_endian(layout);
    posixtrace_layout_free(layout);
    return is;
}

static bool learn_type(struct pt_rkh_reader *r, const uint8_t *at, size_t left)
{
    uint64_t number, id;
    struct pt_rkh_argument name, text;
    struct pt_rkh_our_type *t;
    int error = 0;

    if (!want_number(r, &at, &left, PT_RKH_UI16, &number) ||
        !want_number(r, &at, &left, PT_RKH_UI8, &id) || !want(r, &at, &left, PT_RKH_STR, &name) ||
        !want(r, &at, &left, PT_RKH_STR, &text) || number == 0 || number >= PT_RKH_TYPES ||
        id >= PT_RKH_USER_META || name.len < 2 || name.len > TRACE_EVENT_NAME_MAX + 1)
        return false;
    t = &r->users->type[number];
    free(t->name);
    t->name = strdup((const char *)name.at);
    if (!t->name)
        return pt_job_fail(r->job, ENOMEM, "no memory") == 0;
    if (id < PT_RKH_USER_MORE)
        r->users->number[id] = (uint16_t)number;
    t->big_endian = is_big_endian((const char *)text.at);
    if (text.len > 1)
        error = posixtrace_log_builder_describe(r->job->builder, t->name, (const char *)text.at);
    return !error || error == EINVAL || error == EEXIST ||
           pt_job_fail(r->job, error, "cannot describe type %" PRIu64 ": %s", number,
                       strerror(error)) == 0;
}

static bool learn_thread(struct pt_rkh_reader *r, const uint8_t *at, size_t left)
{
    uint64_t number, pid, tid, thread_id;
    struct pt_rkh_our_thread *t;
    struct pt_rkh_argument name;

    if (!want_number(r, &at, &left, PT_RKH_OBJ, &number) ||
        !want_number(r, &at, &left, PT_RKH_UI32, &pid) ||
        !want_number(r, &at, &left, PT_RKH_UI32, &tid) ||
        !want_number(r, &at, &left, PT_RKH_MEM, &thread_id) ||
        !want(r, &at, &left, PT_RKH_STR, &name))
        return false;
    number -= PT_RKH_THREAD_BASE;
    if (number >= PT_RKH_THREADS)
        return false;
    t = &r->users->thread[number];
    *t = (struct pt_rkh_our_thread){ .pid = (pid_t)(uint32_t)pid,
                                     .tid = (pid_t)(uint32_t)tid,
                                     .thread_id = thread_id };
    memcpy(t->name, name.at, name.len < sizeof t->name ? name.len : sizeof t->name - 1);
    return true;
}

bool pt_rkh_learn_ours(struct pt_rkh_reader *r, const uint8_t *at, size_t left)
{
    struct pt_rkh_argument word;
    uint64_t v, rate;

    if (!want(r, &at, &left, PT_RKH_STR, &word))
        return false;
    if (strcmp((const char *)word.at, "type") == 0)
        return learn_type(r, at, left);
    if (strcmp((const char *)word.at, "thread") == 0)
        return learn_thread(r, at, left);
    if (strcmp((const char *)word.at, "time") == 0 && want_number(r, &at, &left, PT_RKH_MEM, &v)) {
        if ((int64_t)v < r->ns && r->job->c->events)
            pt_job_note(r->job, PT_RKH_NOTE_TIME,
                        "offset %" PRIu64 ": time goes back by %" PRIu64
                        " ns: it stands still until then",
                        r->begin, (uint64_t)r->ns - v);
        pt_rkh_set_time(r, (int64_t)v);
        return true;
    }
    if (strcmp((const char *)word.at, "cut") == 0 && want_number(r, &at, &left, PT_RKH_UI8, &v)) {
        r->users->truncation = (int)v;
        return true;
    }
    if (strcmp((const char *)word.at, "begin") == 0 && want_number(r, &at, &left, PT_RKH_UI8, &v) &&
        v == PT_RKH_VERSION && want_number(r, &at, &left, PT_RKH_UI32, &rate) && rate > 0) {
        pt_rkh_users_ours(r);
        if (!r->rate_given)
            pt_rkh_set_rate(r, rate);
        return true;
    }
    return false;
}

static void put_ours(struct pt_rkh_reader *r, const struct pt_rkh_argument *a, bool big_endian)
{
    if (!big_endian || a->format == PT_RKH_MEM || a->format == PT_RKH_STR) {
        pt_rkh_put(&r->data, a->at, a->len);
        return;
    }
    for (size_t i = a->len; i-- > 0;)
        pt_rkh_put(&r->data, a->at + i, 1);
}

bool pt_rkh_add_ours(struct pt_rkh_reader *r, unsigned id, const uint8_t *at, size_t left,
                     bool *misfit)
{
    struct pt_rkh_users *u = r->users;
    uint64_t number = u->number[id], thread, place;
    struct posixtrace_event e = { .ns = r->ns, .thread_name = "", .truncation = u->truncation };
    struct pt_rkh_argument a;

    *misfit = true;
    if ((id == PT_RKH_USER_MORE && !want_number(r, &at, &left, PT_RKH_UI16, &number)) ||
        number >= PT_RKH_TYPES || !u->type[number].name ||
        !want_number(r, &at, &left, PT_RKH_OBJ, &thread) ||
        !want_number(r, &at, &left, PT_RKH_FUN, &place))
        return true;
    r->data.used = 0;
    r->data.full = false;
    while (pt_rkh_next_argument(&r->config, &at, &left, &a))
        put_ours(r, &a, u->type[number].big_endian);
    if (left || r->data.full)
        return true;
    *misfit = false;
    u->truncation = 0;
    if (thread - PT_RKH_THREAD_BASE < PT_RKH_THREADS) {
        const struct pt_rkh_our_thread *t = &u->thread[thread - PT_RKH_THREAD_BASE];

        e.pid = t->pid;
        e.tid = t->tid;
        e.thread_id = t->thread_id;
        e.thread_name = t->name;
    }
    if (place - PT_RKH_PLACE_BASE < PT_RKH_PLACES)
        e.prog_address = u->place[place - PT_RKH_PLACE_BASE];
    e.name = u->type[number].name;
    e.data = r->data.at;
    e.data_len = r->data.used;
    return pt_job_add(r->job, &e);
}

bool pt_rkh_user_symbol(struct pt_rkh_reader *r, unsigned record, uint64_t value, const char *name)
{
    struct pt_rkh_users *u = r->users;

    if (record == PT_RKH_FWK_TUSR && value == PT_RKH_USER_META &&
        strcmp(name, PT_RKH_META_NAME) == 0)
        return u->ours = true;
    if (!u->ours)
        return false;
    if (record == PT_RKH_FWK_FUN && value - PT_RKH_PLACE_BASE < PT_RKH_PLACES) {
        u->place[value - PT_RKH_PLACE_BASE] = strtoull(name, NULL, 16);
        return true;
    }
    if (record == PT_RKH_FWK_OBJ)
        return value - PT_RKH_THREAD_BASE < PT_RKH_THREADS;
    return record == PT_RKH_FWK_TUSR && value < PT_RKH_USER_IDS &&
           (value == PT_RKH_USER_MORE ? strcmp(name, PT_RKH_MORE_NAME) == 0
                                      : u->number[value] != 0);
}
