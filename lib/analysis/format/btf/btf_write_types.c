/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The mapping of a type's events to BTF: decided at the type's first event, and checked again if a
 * pair may be complete only later.
 */
#include <string.h>
#include <strings.h>
#include <posixtrace/system.h>
#include "analysis/format/btf/btf_vocabulary.h"
#include "analysis/format/btf/btf_write.h"

/* Whether the stream has a type of that name. */
static bool has_type(trace_id_t trid, const char *name)
{
    char other[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int unavailable = 0;
    bool found = false;

    if (posix_trace_eventtypelist_rewind(trid) != 0)
        return false;
    while (!found && posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) == 0 &&
           !unavailable)
        found = posix_trace_eventid_get_name(trid, id, other) == 0 && strcasecmp(other, name) == 0;
    return found;
}

static void see_pair(struct pt_btf_export *x, struct pt_btf_type_use *t, const char *name)
{
    char stem[TRACE_EVENT_NAME_MAX + 1], partner[TRACE_EVENT_NAME_MAX + 1];
    uint32_t number;
    int way = 0;

    for (unsigned i = 0; (way = pt_btf_pair(name, i, stem, partner)) != 0; i++)
        if (has_type(x->w.job->trid, partner))
            break;
    if (way == 0)
        return;
    number = pt_btf_names_put(&x->stems, stem);
    if (number == PT_BTF_NO_NAME)
        return;
    if (!x->runnables[number])
        x->runnables[number] = pt_btf_claim(&x->w, *stem ? stem : "section") + 1;
    if (!x->runnables[number])
        return;
    t->runnable = x->runnables[number] - 1;
    t->use = way > 0 ? PT_BTF_BEGINS : PT_BTF_ENDS;
}

/* Was a type's data written by an import of BTF? */
static bool is_layout(struct pt_btf_export *x, trace_event_id_t id, size_t fields, const char *last)
{
    const posixtrace_layout_t *l = posixtrace_fields_layout(x->w.job->fields, id);

    return l && posixtrace_layout_count(l) == fields &&
           posixtrace_layout_find(l, last) == fields - 1 &&
           posixtrace_layout_field(l, fields - 1)->kind == POSIXTRACE_FIELD_STRING;
}

static void see_btf(struct pt_btf_export *x, struct pt_btf_type_use *t,
                    const struct posixtrace_event *e)
{
    if (strcmp(e->name, PT_BTF_PARAMETER_EVENT) == 0 && is_layout(x, e->id, 2, "value"))
        t->use = PT_BTF_A_PARAMETER;
    else if (strcmp(e->name, PT_BTF_OTHER_EVENT) == 0 && is_layout(x, e->id, 7, "note"))
        t->use = PT_BTF_LINE_OTHER;
    else if (strchr(e->name + strlen(PT_BTF_PREFIX), ':') && is_layout(x, e->id, 5, "note"))
        t->use = PT_BTF_A_LINE;
    x->from_btf |= t->use != PT_BTF_PLAIN;
}

struct pt_btf_type_use *pt_btf_type_of(struct pt_btf_export *x, const struct posixtrace_event *e)
{
    struct pt_btf_type_use *t = &x->types[e->id % PT_BTF_EXPORT_TYPES];

    /* The other name of a pair may come later, where a log is read from a pipe. */
    if (t->use == PT_BTF_PLAIN && e->id >= POSIX_TRACE_UNNAMED_USEREVENT && ++t->seen == t->look) {
        t->look *= 2;
        see_pair(x, t, e->name);
    }
    if (t->use != PT_BTF_UNSEEN)
        return t;
    t->use = PT_BTF_PLAIN;
    t->look = 1;
    if (strncmp(e->name, PT_BTF_PREFIX, strlen(PT_BTF_PREFIX)) == 0)
        see_btf(x, t, e);
    else if (e->id >= POSIX_TRACE_UNNAMED_USEREVENT)
        see_pair(x, t, e->name);
    return t;
}
