/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Processes, runnables and semaphores, one event at a time: the state machine of each, and the
 * rules between them.  A core has one process, a process runs when it acts, its runnables nest and
 * leave the core before it.
 *
 * A line may show that an instance other than its own is wrong: it still runs, or does not.
 * That is reported once until this instance has an event, so that one wrong line does not
 * cause hundreds of findings.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/btf/btf_check.h"

static const char *name_of(const struct pt_btf_check *c, uint32_t entity)
{
    return c->names.texts[entity];
}

/* Should the fault of an instance other than the line's own be reported? */
static bool tell_once(struct pt_btf_instance *i)
{
    bool reported = i->reported;

    i->reported = true;
    return !reported;
}

/* ---- cores ---- */

static bool comes(unsigned act)
{
    return act == PT_BTF_START || act == PT_BTF_RESUME || act == PT_BTF_POLL_PARKING;
}

static bool goes(unsigned act)
{
    return act == PT_BTF_PREEMPT || act == PT_BTF_WAIT || act == PT_BTF_PARK ||
           act == PT_BTF_TERMINATE;
}

static void check_core(struct pt_btf_check *c, const struct pt_btf_case *k,
                       struct pt_btf_instance *p, unsigned state)
{
    struct pt_btf_known *core = &c->known[k->source];
    bool stays = k->a->act == PT_BTF_POLL || k->a->act == PT_BTF_RUN;

    if ((goes(k->a->act) || stays) && p->core != PT_BTF_NO_NAME && p->core != k->source)
        pt_btf_find(c, k->e->target, state, k->a->name, "by %s, but it is on %s", k->e->source,
                    name_of(c, p->core));
    if ((goes(k->a->act) || comes(k->a->act)) && p->core != PT_BTF_NO_NAME) {
        if (c->known[p->core].runs == p)
            c->known[p->core].runs = NULL;
        p->core = PT_BTF_NO_NAME;
    }
    if (!comes(k->a->act))
        return;
    if (core->runs && core->runs != p) {
        pt_btf_find(c, k->e->target, state, k->a->name, "%s still has %s, instance %" PRIi64,
                    k->e->source, name_of(c, core->runs->entity), core->runs->number);
        core->runs->core = PT_BTF_NO_NAME;
    }
    core->runs = p;
    p->core = k->source;
}

/* ---- processes ---- */

static void check_its_runnables(struct pt_btf_check *c, const struct pt_btf_case *k,
                                const struct pt_btf_instance *p, unsigned state)
{
    for (uint32_t i = p->depth; i-- > 0;) {
        struct pt_btf_instance *r = p->runnables[i];

        if ((k->a->act != PT_BTF_TERMINATE && r->state != PT_BTF_S_RUNNING) || !tell_once(r))
            continue;
        pt_btf_find(c, k->e->target, state, k->a->name, "its runnable %s is %s still",
                    name_of(c, r->entity), pt_btf_state_name(r->state));
        return;
    }
}

static void check_activation(struct pt_btf_check *c, const struct pt_btf_case *k)
{
    const struct pt_btf_known *s = &c->known[k->source];

    pt_btf_check_counter(c, k);
    if (s->types == PT_BTF_BIT(PT_BTF_STI) && s->counted &&
        k->e->source_instance != PT_BTF_NO_INSTANCE && k->e->source_instance > s->counter)
        pt_btf_find(c, k->e->target, PT_BTF_S_ANY, k->a->name,
                    "instance %" PRIi64 " of %s has not been triggered", k->e->source_instance,
                    k->e->source);
}

void pt_btf_check_process(struct pt_btf_check *c, const struct pt_btf_case *k)
{
    struct pt_btf_instance *p;
    unsigned state;

    if (k->a->act == PT_BTF_ACTIVATE || k->a->act == PT_BTF_MTALIMIT)
        check_activation(c, k);
    p = pt_btf_check_instance(c, k->target, k->e->target_instance);
    if (!p || !pt_btf_state_has(PT_BTF_OF_PROCESS, k->a->act))
        return;
    state = p->state;
    p->reported = false;
    p->state = (uint8_t)pt_btf_check_step(c, k, PT_BTF_OF_PROCESS, state);
    if (goes(k->a->act))
        check_its_runnables(c, k, p, state);
    if (k->source_fits)
        check_core(c, k, p, state);
    if (p->state == PT_BTF_S_TERMINATED)
        pt_btf_check_end(c, p);
}

struct pt_btf_instance *pt_btf_check_source(struct pt_btf_check *c, const struct pt_btf_case *k,
                                            bool must_run)
{
    struct pt_btf_instance *p;

    if (c->known[k->source].types & ~PT_BTF_PROCESS)
        return NULL;
    p = pt_btf_check_instance(c, k->source, k->e->source_instance);
    if (!p || !must_run)
        return p;
    if (p->state == PT_BTF_S_ANY) {
        p->state = PT_BTF_S_RUNNING;
    } else if (p->state != PT_BTF_S_RUNNING &&
               !(p->state == PT_BTF_S_POLLING && k->e->type == PT_BTF_R) && tell_once(p)) {
        pt_btf_find(c, k->e->target, p->state, k->a->name, "%s is %s; it must be RUNNING to do so",
                    k->e->source, pt_btf_state_name(p->state));
    }
    return p;
}

/* ---- runnables ---- */

/* Puts a runnable onto the stack of its process. */
static void push(struct pt_btf_instance *p, struct pt_btf_instance *r)
{
    if (r->owner || p->depth == PT_BTF_STACK_MAX)
        return;
    if (!p->runnables)
        p->runnables = malloc(PT_BTF_STACK_MAX * sizeof(struct pt_btf_instance *));
    if (!p->runnables)
        return;
    p->runnables[p->depth++] = r;
    r->owner = p;
}

/* Checks the nesting rules for the runnables inside and outside of this one. */
static void check_nesting(struct pt_btf_check *c, const struct pt_btf_case *k,
                          const struct pt_btf_instance *p, const struct pt_btf_instance *r,
                          unsigned state)
{
    struct pt_btf_instance *inner, *outer;
    uint32_t at = 0;

    while (at < p->depth && p->runnables[at] != r)
        at++;
    outer = at > 0 ? p->runnables[at - 1] : NULL;
    inner = at + 1 < p->depth ? p->runnables[at + 1] : NULL;
    if ((k->a->act == PT_BTF_START || k->a->act == PT_BTF_RESUME) && outer &&
        outer->state == PT_BTF_S_SUSPENDED && tell_once(outer))
        pt_btf_find(c, k->e->target, state, k->a->name, "%s, which has called it, is SUSPENDED",
                    name_of(c, outer->entity));
    if (k->a->act == PT_BTF_SUSPEND && inner && inner->state == PT_BTF_S_RUNNING &&
        tell_once(inner))
        pt_btf_find(c, k->e->target, state, k->a->name, "%s, which it has called, is RUNNING still",
                    name_of(c, inner->entity));
    if (k->a->act == PT_BTF_TERMINATE && inner && tell_once(inner))
        pt_btf_find(c, k->e->target, state, k->a->name, "%s, which it has called, is %s still",
                    name_of(c, inner->entity), pt_btf_state_name(inner->state));
}

void pt_btf_check_runnable(struct pt_btf_check *c, const struct pt_btf_case *k)
{
    struct pt_btf_instance *p = pt_btf_check_source(c, k, true), *r;
    unsigned state;

    if (k->a->act == PT_BTF_START)
        pt_btf_check_counter(c, k);
    r = pt_btf_check_instance(c, k->target, k->e->target_instance);
    if (!r)
        return;
    state = r->state;
    r->reported = false;
    r->state = (uint8_t)pt_btf_check_step(c, k, PT_BTF_OF_RUNNABLE, state);
    if (p && r->owner && r->owner != p)
        pt_btf_find(c, k->e->target, state, k->a->name,
                    "by %s, but %s, instance %" PRIi64 ", has called it", k->e->source,
                    name_of(c, r->owner->entity), r->owner->number);
    if (p && !r->owner && k->a->act == PT_BTF_START)
        push(p, r);
    if (p && r->owner == p)
        check_nesting(c, k, p, r, state);
    if (r->state == PT_BTF_S_TERMINATED)
        pt_btf_check_end(c, r);
}

/* ---- semaphores ---- */

/* Request before increment before queued, assigned, waiting; released before decrement.
 * The actions of a process before the start of the trace are not known. */
static void check_request(struct pt_btf_check *c, const struct pt_btf_case *k,
                          struct pt_btf_instance *p)
{
    bool later = (c->rules & PT_BTF_NEW) != 0, known = p->used_semaphores || c->from_start;
    bool asked = p->asked == k->target && p->phase > 0;
    unsigned state = c->known[k->target].state;

    switch (k->a->act) {
    case PT_BTF_INCREMENT:
        if (later && known && !asked)
            pt_btf_find(c, k->e->target, state, k->a->name, "%s has not requested it before",
                        k->e->source);
        break;
    case PT_BTF_QUEUED:
    case PT_BTF_ASSIGNED:
    case PT_BTF_WAITING:
        if (known && !asked)
            pt_btf_find(c, k->e->target, state, k->a->name, "%s has not requested it before",
                        k->e->source);
        break;
    case PT_BTF_DECREMENT:
        if (later && known && p->released != k->target)
            pt_btf_find(c, k->e->target, state, k->a->name, "%s has not released it before",
                        k->e->source);
        break;
    default: break;
    }
}

static void note_request(const struct pt_btf_case *k, struct pt_btf_instance *p)
{
    p->used_semaphores = true;
    switch (k->a->act) {
    case PT_BTF_REQUEST:
    case PT_BTF_INCREMENT:
        p->asked = k->target;
        p->phase = k->a->act == PT_BTF_REQUEST ? 1 : 2;
        break;
    case PT_BTF_ASSIGNED:
        p->asked = PT_BTF_NO_NAME;
        p->phase = 0;
        break;
    case PT_BTF_RELEASED: p->released = k->target; break;
    default: break;
    }
}

void pt_btf_check_semaphore(struct pt_btf_check *c, const struct pt_btf_case *k)
{
    struct pt_btf_known *s = &c->known[k->target];
    bool must_run = (c->rules & PT_BTF_NEW) &&
                    (k->a->act == PT_BTF_REQUEST || k->a->act == PT_BTF_INCREMENT ||
                     k->a->act == PT_BTF_DECREMENT || k->a->act == PT_BTF_RELEASED);
    struct pt_btf_instance *p;

    if (s->state == PT_BTF_S_ANY && c->from_start)
        s->state = c->rules & PT_BTF_FIRST ? PT_BTF_S_NOT_INITIALIZED : PT_BTF_S_FREE;
    if (pt_btf_state_has(PT_BTF_OF_SEMAPHORE, k->a->act)) {
        s->state = (uint8_t)pt_btf_check_step(c, k, PT_BTF_OF_SEMAPHORE, s->state);
        return;
    }
    p = pt_btf_check_source(c, k, must_run);
    if (!p)
        return;
    check_request(c, k, p);
    note_request(k, p);
}
