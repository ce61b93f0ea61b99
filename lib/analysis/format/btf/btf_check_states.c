/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Entities and their instances; see btf_check.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/btf/btf_check.h"

void pt_btf_check_free(struct pt_btf_check *c)
{
    for (uint32_t i = 0; i < c->names.count && i < c->room; i++) {
        struct pt_btf_instance *at = c->known[i].instances, *next;

        for (; at; at = next) {
            next = at->next;
            free(at->runnables);
            free(at);
        }
    }
    free(c->known);
    pt_btf_names_free(&c->names);
    pt_btf_file_deinit(&c->file);
}

uint32_t pt_btf_check_entity(struct pt_btf_check *c, const char *name)
{
    uint32_t number = pt_btf_names_put(&c->names, name);
    struct pt_btf_known *more;

    if (number == PT_BTF_NO_NAME || number < c->room)
        return number;
    more = realloc(c->known, c->names.room * sizeof *more);
    if (!more)
        return PT_BTF_NO_NAME;
    c->known = more;
    for (; c->room < c->names.room; c->room++)
        more[c->room] = (struct pt_btf_known){ .types = PT_BTF_ANY };
    return number;
}

/*
 * The state of an instance that occurs for the first time, or again after its end.  An instance may
 * be older than the trace, and then be in any state.  That is assumed for the first instance of an
 * entity, for those with lower numbers, and as long as no instance was seen to begin.
 */
static unsigned first_state(const struct pt_btf_check *c, const struct pt_btf_known *k,
                            int64_t number)
{
    bool before = !k->any || number < k->first || (!k->counted && number > k->last);

    if (before && !c->from_start)
        return PT_BTF_S_ANY;
    return (c->rules & PT_BTF_FIRST) && (!k->any || number < k->first || number > k->last)
               ? PT_BTF_S_NOT_INITIALIZED
               : PT_BTF_S_TERMINATED;
}

struct pt_btf_instance *pt_btf_check_instance(struct pt_btf_check *c, uint32_t entity,
                                              int64_t number)
{
    struct pt_btf_known *k = &c->known[entity];
    struct pt_btf_instance *i;

    for (i = k->instances; i; i = i->next)
        if (i->number == number)
            return i;
    if (c->instances == PT_BTF_INSTANCES_MAX && !c->limit_reported) {
        c->limit_reported = true;
        pt_btf_find(c, c->names.texts[entity], PT_BTF_S_ANY, "",
                    "%d instances have not ended: no more of them are followed",
                    PT_BTF_INSTANCES_MAX);
    }
    i = c->instances < PT_BTF_INSTANCES_MAX ? calloc(1, sizeof *i) : NULL;
    if (!i)
        return NULL;
    c->instances++;
    *i = (struct pt_btf_instance){ .number = number,
                                   .entity = entity,
                                   .core = PT_BTF_NO_NAME,
                                   .state = (uint8_t)first_state(c, k, number),
                                   .asked = PT_BTF_NO_NAME,
                                   .released = PT_BTF_NO_NAME,
                                   .next = k->instances };
    k->instances = i;
    k->first = !k->any || number < k->first ? number : k->first;
    k->last = !k->any || number > k->last ? number : k->last;
    k->any = true;
    return i;
}

static void leave_owner(struct pt_btf_instance *i)
{
    struct pt_btf_instance *o = i->owner;
    uint32_t at = 0;

    if (!o)
        return;
    while (at < o->depth && o->runnables[at] != i)
        at++;
    if (at < o->depth) {
        memmove(&o->runnables[at], &o->runnables[at + 1],
                (o->depth - at - 1) * sizeof *o->runnables);
        o->depth--;
    }
    i->owner = NULL;
}

void pt_btf_check_end(struct pt_btf_check *c, struct pt_btf_instance *i)
{
    struct pt_btf_instance **at = &c->known[i->entity].instances;

    while (*at != i)
        at = &(*at)->next;
    *at = i->next;
    leave_owner(i);
    for (uint32_t n = 0; n < i->depth; n++)
        i->runnables[n]->owner = NULL;
    if (i->core != PT_BTF_NO_NAME && c->known[i->core].runs == i)
        c->known[i->core].runs = NULL;
    c->instances--;
    free(i->runnables);
    free(i);
}

/* Once for each entity: where one number is wrong, all that follow are. */
void pt_btf_check_counter(struct pt_btf_check *c, const struct pt_btf_case *k)
{
    struct pt_btf_known *t = &c->known[k->target];
    int64_t number = k->e->target_instance;

    if (t->counted && !t->counter_reported && number != t->counter + 1 &&
        number != PT_BTF_NO_INSTANCE) {
        t->counter_reported = true;
        pt_btf_find(c, k->e->target, PT_BTF_S_ANY, k->a->name,
                    "instance %" PRIi64 " begins after instance %" PRIi64
                    "; each has the next number (reported once for an entity)",
                    number, t->counter);
    }
    t->counted = true;
    t->counter = number;
}

unsigned pt_btf_check_step(struct pt_btf_check *c, const struct pt_btf_case *k, unsigned machine,
                           unsigned state)
{
    char origins[80];
    bool allowed;
    unsigned after = pt_btf_state_after(machine, c->rules, state, k->a->act, &allowed);

    if (!allowed) {
        pt_btf_state_origins(machine, c->rules, k->a->act, origins, sizeof origins);
        pt_btf_find(c, k->e->target, state, k->a->name, "%s while %s; it is allowed from %s",
                    k->a->name, pt_btf_state_name(state), origins);
    }
    return after;
}
