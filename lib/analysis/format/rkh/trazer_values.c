/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The text of a record after its name, "a=1, b=two, ...", as an event's data: each
 * argument of its type is looked for by name, numbers and names are put as rkh.h has
 * them, and a definition teaches the symbols its name.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/format/rkh/rkh_job.h"
#include "analysis/format/rkh/trazer.h"

struct values {
    struct pt_rkh_symbols *symbols;
    struct pt_rkh_bytes *data;
    struct posixtrace_event *event;
    uint64_t defined; /* the last number that may get a name here */
};

/* Is it a number that gets a name in the same record? */
static bool is_defined(const struct pt_rkh_arg *a)
{
    return a->kind == 'x' || a->kind == 'g' || a->kind == 'e';
}

/* The text after "name=", to the next ", " or the end; NULL: there is none. */
static const char *value_of(const char *rest, const struct pt_rkh_arg *a, size_t *len)
{
    const char *p = rest, *end;

    if (a->kind == 'k') {
        *len = strcspn(p, ",");
        return p;
    }
    while (strncmp(p, a->name, a->name_len) != 0 || p[a->name_len] != '=') {
        p = strstr(p, ", ");
        if (!p)
            return NULL;
        p += 2;
    }
    p += a->name_len + 1u;
    end = a->kind == 's' ? NULL : strstr(p, ", ");
    *len = end ? (size_t)(end - p) : strlen(p);
    return p;
}

static bool put_symbol(struct values *x, const struct pt_rkh_arg *a, const char *p, size_t len)
{
    unsigned bytes = pt_rkh_width_of_ours(a->kind);
    uint64_t v = 0;
    char *end;

    if (len > 2 && p[0] == '0' && (p[1] == 'X' || p[1] == 'x')) {
        v = strtoull(p, &end, 16);
        if (end != p + len)
            return false;
        len = 0;
    } else if (len == 1 && *p == '?') {
        len = 0;
    } else {
        pt_rkh_symbols_find(x->symbols, pt_rkh_space_of(a->kind), p, len, &v);
    }
    pt_rkh_put_number(x->data, bytes, v);
    pt_rkh_put_string(x->data, p, len);
    return true;
}

static bool put_number(struct values *x, const struct pt_rkh_arg *a, const char *p, size_t len,
                       uint64_t *v)
{
    static const char *const acts[] = { "Effect", "Entry", "Exit", "Init", "Prepro", "Guard" };
    unsigned bytes = pt_rkh_width_of_ours(a->kind);
    char *end = NULL;

    *v = 0;
    if (a->kind == 'p' && len == 6 && strncmp(p, "static", 6) == 0) {
        end = (char *)p + 6;
    } else if (a->kind == 'k') {
        while (*v < 6 && (strlen(acts[*v]) != len || strncmp(p, acts[*v], len) != 0))
            ++*v;
        end = *v < 6 ? (char *)p + len : NULL;
    } else if (*p >= '0' && *p <= '9') {
        *v = strtoull(p, &end, a->kind == 'x' ? 16 : 10);
    } else if (a->kind == 'p' && pt_rkh_symbols_find(x->symbols, PT_RKH_POOLS, p, len, v)) {
        end = (char *)p + len;
    }
    pt_rkh_put_number(x->data, bytes, *v);
    return end == p + len && *v <= pt_rkh_none(bytes);
}

/* "(123), module.c" */
static bool put_assert(struct values *x, const char *rest)
{
    const char *p = *rest == '(' ? rest + 1 : rest;
    uint64_t line;
    size_t len;

    p = pt_trazer_take_digits(p, &line);
    if (p == rest || strncmp(p, "), ", 3) != 0 || line > UINT16_MAX)
        return false;
    p += 3;
    len = strlen(p);
    if (len >= 2 && strcmp(p + len - 2, ".c") == 0)
        len -= 2;
    pt_rkh_put_string(x->data, p, len);
    pt_rkh_put_number(x->data, 2, line);
    return true;
}

static bool put_arg(struct values *x, const struct pt_rkh_arg *a, const char *rest)
{
    struct posixtrace_event *e = x->event;
    size_t len = 0;
    const char *p = value_of(rest, a, &len);
    uint64_t v;

    if (!p && a->when) {
        pt_rkh_put_number(x->data, pt_rkh_width_of_ours(a->kind), UINT64_MAX);
        if (pt_rkh_has_name(a->kind))
            pt_rkh_put_string(x->data, "", 0);
        return true;
    }
    if (!p)
        return false;
    if (a->kind == 's') {
        pt_rkh_put_string(x->data, p, len);
        return true;
    }
    if (!pt_rkh_has_name(a->kind))
        return put_number(x, a, p, len, is_defined(a) ? &x->defined : &v);
    if (a->kind == 'S' && !e->thread_id) {
        size_t at = x->data->used;

        if (!put_symbol(x, a, p, len))
            return false;
        e->thread_id = pt_rkh_load(x->data->at + at, 8);
        e->thread_name = (const char *)x->data->at + at + 8;
        return true;
    }
    return put_symbol(x, a, p, len);
}

static void learn(struct values *x, const struct pt_rkh_type *type, const char *rest)
{
    const struct pt_rkh_arg *what, *name;
    size_t len;
    const char *p;

    if (type->count < 2)
        return;
    what = &type->args[type->count - 2];
    name = &type->args[type->count - 1];
    if (name->kind != 's' || !is_defined(what))
        return;
    p = value_of(rest, name, &len);
    if (p)
        pt_rkh_symbols_set(x->symbols, pt_rkh_space_of(what->kind), x->defined, p, len);
}

bool pt_trazer_take_values(const struct pt_rkh_type *type, const char *rest,
                           struct pt_rkh_symbols *symbols, struct pt_rkh_bytes *data,
                           struct posixtrace_event *event)
{
    struct values x = { .symbols = symbols, .data = data, .event = event };

    data->used = 0;
    data->full = false;
    if (strcmp(type->name, "rkh:FWK_ASSERT") == 0) {
        if (!put_assert(&x, rest))
            return false;
    } else {
        for (unsigned i = 0; i < type->count; i++)
            if (!put_arg(&x, &type->args[i], rest))
                return false;
    }
    if (data->full)
        return false;
    learn(&x, type, rest);
    return true;
}
