/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of user events.  Each argument says its format, so that two events of one name
 * may have different ones: each form that is met becomes a type, "rkh:USR:NAME" and
 * then "rkh:USR:NAME#2" and so on.  What our own export wrote becomes what it was.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/rkh/rkh_read.h"
#include "analysis/format/rkh/rkh_user_read.h"

void pt_rkh_users_ours(struct pt_rkh_reader *r)
{
    r->users->ours = true;
}

bool pt_rkh_next_argument(const struct pt_rkh_config *c, const uint8_t **at, size_t *left,
                          struct pt_rkh_argument *a)
{
    static const uint8_t width[] = { 1, 1, 2, 2, 4, 4, 4 };

    if (*left == 0)
        return false;
    a->format = (*at)[0] & 15;
    a->shown = (*at)[0] >> 4;
    a->at = *at + 1;
    (*left)--;
    if (a->format < PT_RKH_STR) {
        a->len = width[a->format];
    } else if (a->format == PT_RKH_STR) {
        a->len = strnlen((const char *)a->at, *left) + 1;
    } else if (a->format == PT_RKH_MEM && *left) {
        a->len = *a->at++;
        (*left)--;
    } else if (a->format == PT_RKH_OBJ || a->format == PT_RKH_FUN) {
        a->len = c->pointer;
    } else if (a->format == PT_RKH_SIG) {
        a->len = c->signal;
    } else {
        return false;
    }
    if (a->len > *left)
        return false;
    *left -= a->len;
    *at = a->at + a->len;
    return true;
}

/* ---- events of any target ---- */

static void put_argument(struct pt_rkh_reader *r, const struct pt_rkh_argument *a)
{
    enum pt_rkh_space space = a->format == PT_RKH_SIG ? PT_RKH_SIGNALS : PT_RKH_OBJECTS;
    const char *name;
    uint64_t v;

    if (a->format == PT_RKH_MEM)
        pt_rkh_put_number(&r->data, 1, a->len);
    if (a->format < PT_RKH_OBJ) {
        pt_rkh_put(&r->data, a->at, a->len);
        return;
    }
    v = pt_rkh_load(a->at, (unsigned)a->len);
    name = pt_rkh_symbols_get(r->symbols, space, v);
    pt_rkh_put_number(&r->data, a->format == PT_RKH_SIG ? 4 : 8, v);
    pt_rkh_put_string(&r->data, name, strlen(name));
}

/* Of too many forms, or of arguments that are none: "rkh:USR" with the bytes as they are. */
static bool add_raw(struct pt_rkh_reader *r, unsigned id, const uint8_t *args, size_t len)
{
    struct posixtrace_event e = pt_rkh_event(r);

    if (!r->users->raw_described && !pt_job_describe(r->job, "rkh:USR", "u8 id; bytes data"))
        return false;
    r->users->raw_described = true;
    r->data.used = 0;
    pt_rkh_put_number(&r->data, 1, id);
    pt_rkh_put(&r->data, args, len);
    e.name = "rkh:USR";
    e.data = r->data.at;
    e.data_len = r->data.used;
    return pt_job_add(r->job, &e);
}

static bool add_shape(struct pt_rkh_reader *r, struct pt_rkh_shape *s)
{
    char description[POSIXTRACE_DESCRIPTION_MAX + 1];
    struct posixtrace_event e = pt_rkh_event(r);

    if (!s->described && s->count) {
        pt_rkh_describe_shape(s, description);
        if (!pt_job_describe(r->job, s->name, description))
            return false;
    }
    s->described = true;
    e.name = s->name;
    e.data = r->data.at;
    e.data_len = r->data.used;
    return pt_job_add(r->job, &e);
}

static bool read_any(struct pt_rkh_reader *r, unsigned id, const uint8_t *args, size_t len)
{
    uint8_t formats[PT_RKH_ARGUMENTS];
    const uint8_t *at = args;
    size_t left = len;
    unsigned count = 0;
    struct pt_rkh_argument a;
    struct pt_rkh_shape *s;

    r->data.used = 0;
    r->data.full = false;
    while (count < PT_RKH_ARGUMENTS && pt_rkh_next_argument(&r->config, &at, &left, &a)) {
        formats[count++] = (uint8_t)(a.shown << 4 | a.format);
        put_argument(r, &a);
    }
    if (left || r->data.full) {
        pt_job_note(r->job, PT_RKH_NOTE_MISFIT,
                    "offset %" PRIu64 ": the arguments of user event "
                    "%u are not understood after number %u",
                    r->begin, id, count);
        return add_raw(r, id, args, len);
    }
    s = pt_rkh_find_shape(r->users, r->symbols, id, formats, count);
    if (s)
        return add_shape(r, s);
    pt_job_note(r->job, PT_RKH_NOTE_SHAPES,
                "offset %" PRIu64 ": user events in more than %u "
                "forms: this one has no fields",
                r->begin, PT_RKH_SHAPES);
    return add_raw(r, id, args, len);
}

bool pt_rkh_read_user(struct pt_rkh_reader *r, unsigned id, const uint8_t *args, size_t len)
{
    struct pt_rkh_users *u = r->users;
    bool misfit = true, good;

    if (!u->ours)
        return read_any(r, id, args, len);
    if (id == PT_RKH_USER_META && pt_rkh_learn_ours(r, args, len))
        return true;
    if (r->job->error)
        return false;
    if (id == PT_RKH_USER_MORE || u->number[id]) {
        good = pt_rkh_add_ours(r, id, args, len, &misfit);
        if (!misfit)
            return good;
    }
    return read_any(r, id, args, len);
}
