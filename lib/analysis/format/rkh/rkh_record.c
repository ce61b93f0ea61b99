/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of RKH's own records: arguments as the target's configuration has them become
 * data as rkh.h has it, with the names that the target gave its objects and signals.
 */
#include <inttypes.h>
#include <string.h>
#include "analysis/format/rkh/rkh_read.h"

/* Arguments that are being taken off the front. */
struct taken {
    const uint8_t *at;
    size_t left;
    char defines;     /* kind of the argument that gets a name; 0 */
    uint64_t value;   /* its value */
    const char *name; /* the name */
    uint64_t object;  /* of the first pointer */
    bool has_object;
};

static bool take_string(struct pt_rkh_reader *r, struct taken *t)
{
    size_t len = strnlen((const char *)t->at, t->left);

    if (len == t->left)
        return false;
    t->name = (const char *)t->at;
    pt_rkh_put_string(&r->data, t->name, len);
    t->at += len + 1;
    t->left -= len + 1;
    return true;
}

static bool take_number(struct pt_rkh_reader *r, struct taken *t, char kind)
{
    unsigned width = pt_rkh_width(&r->config, kind);
    const char *name;
    uint64_t v;

    if (width > t->left)
        return false;
    v = pt_rkh_load(t->at, width);
    t->at += width;
    t->left -= width;
    pt_rkh_put_number(&r->data, pt_rkh_width_of_ours(kind), v);
    if (kind == 'x' || kind == 'g' || kind == 'u' || kind == 'e') {
        t->defines = kind;
        t->value = v;
    }
    if (kind == 'S' && !t->has_object) {
        t->has_object = true;
        t->object = v;
    }
    if (pt_rkh_has_name(kind)) {
        name = pt_rkh_symbols_get(r->symbols, pt_rkh_space_of(kind), v);
        pt_rkh_put_string(&r->data, name, strlen(name));
    }
    return true;
}

static bool take_argument(struct pt_rkh_reader *r, struct taken *t, const struct pt_rkh_arg *a)
{
    if (!pt_rkh_config_has(&r->config, a->when)) {
        pt_rkh_put_number(&r->data, pt_rkh_width_of_ours(a->kind), UINT64_MAX);
        if (pt_rkh_has_name(a->kind))
            pt_rkh_put_string(&r->data, "", 0);
        return true;
    }
    if (a->kind == 's')
        return take_string(r, t);
    if (a->kind == 'r') {
        pt_rkh_put(&r->data, t->at, t->left);
        t->left = 0;
        return true;
    }
    return take_number(r, t, a->kind);
}

/* True: the name is one of those that only our own export is about. */
static bool learn(struct pt_rkh_reader *r, unsigned id, const struct taken *t)
{
    if (!r->flat && pt_rkh_user_symbol(r, id, t->value, t->name))
        return true;
    if (!pt_rkh_symbols_set(r->symbols, pt_rkh_space_of(t->defines), t->value, t->name,
                            strlen(t->name)))
        pt_job_note(r->job, PT_RKH_NOTE_SYMBOLS,
                    "offset %" PRIu64 ": more than 6000 symbols: "
                    "this one shows without a name",
                    r->begin);
    return false;
}

bool pt_rkh_read_record(struct pt_rkh_reader *r, unsigned id, const uint8_t *args, size_t len)
{
    struct pt_rkh_type *type = id < 256 ? &r->types.of[id] : NULL;
    struct taken t = { .at = args, .left = len };
    struct posixtrace_event e;
    unsigned i = 0;

    if (!r->flat && id >= PT_RKH_USER && id < PT_RKH_USER + PT_RKH_USER_IDS)
        return pt_rkh_read_user(r, id - PT_RKH_USER, args, len);
    if (!type || !type->name[0])
        return pt_rkh_read_unknown(r, id, args, len);
    r->data.used = 0;
    r->data.full = false;
    while (i < type->count && take_argument(r, &t, &type->args[i]))
        i++;
    if (i < type->count || t.left || r->data.full) {
        pt_job_note(r->job, PT_RKH_NOTE_MISFIT,
                    "offset %" PRIu64 ": %s with %zu bytes of "
                    "arguments, which the configuration does not make: do its widths fit the "
                    "target?",
                    r->begin, type->name, len);
        return pt_rkh_read_unknown(r, id, args, len);
    }
    if (t.defines && t.name && learn(r, id, &t))
        return true;
    e = pt_rkh_event(r);
    if (type->by_object && t.has_object) {
        e.thread_id = t.object;
        e.tid = pt_rkh_objects_tid(&r->objects, t.object);
        e.thread_name = pt_rkh_symbols_get(r->symbols, PT_RKH_OBJECTS, t.object);
    }
    return pt_rkh_add(r->job, type, &e, &r->data);
}
