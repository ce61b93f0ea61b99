/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See gates.h.
 *
 * pt_gates_named() runs without the control lock, in a process that may not be a controller.  It
 * changes a gate from ask to open or closed, by compare-and-exchange, and then checks that all that
 * it has decided by is still the same: the stream, its filter, the functions of the process.  If
 * not, it restores ask, which is right for any filter, and starts again.  A gate is restored only
 * as long as a controller would open it: a controller changes the state, the filter or the place in
 * a chain first, then the gates, so whoever comes last with a gate has seen the change.  Between
 * the two a new filter may not be applied to the type that is just being opened; set_filter in the
 * same process waits, because this runs inside, like an event.
 */
#include <stdlib.h>
#include "base/assert.h"
#include "model/layout.h"
#include "process/filter_callback.h"
#include "process/gates.h"
#include "process/thread.h"

/* Apart, because its text is too much for the stack of a handler. */
static PT_COLD void understand(struct pt_gates *g)
{
    char text[PT_FILTER_TEXT];

    g->version = pt_seg_expression(g->h, text);
    g->asks = text[0] != '\0';
    if (g->asks && pt_expression_parse(text, &g->expression, NULL) < 0)
        g->expression = NULL;
}

void pt_gates_init(struct pt_gates *g, const struct pt_seg_header *h, const struct pt_names *names)
{
    *g = (struct pt_gates){ .h = h, .names = names, .asks = pt_seg_has_expression(h) };
    if (names)
        understand(g);
    pt_seg_filter_copy(h, &g->filter);
}

void pt_gates_deinit(struct pt_gates *g)
{
    free(g->expression);
}

/* Parses a copy: the map is shared, and the layout's room is computed before the text is parsed. */
static PT_COLD int parse_description(const struct pt_gates *g, uint32_t id, bool *described,
                                     struct posixtrace_layout **layout)
{
    char copy[PT_DESCRIPTION_MAX + 1];
    const char *text = pt_event_system_description(id);

    if (!text)
        text = pt_names_read_description(g->names, id, copy);
    *described = text != NULL;
    return text && g->expression->fields ? pt_layout_read(text, layout) : 0;
}

/* As far as the type tells. */
static int value_of(const struct pt_gates *g, const struct pt_page *page, uint32_t id,
                    const char *name)
{
    struct posixtrace_layout *layout = NULL;
    struct pt_subject_event s = { .name = name, .pid = (int32_t)page->pid };
    bool described;
    int v;

    if (parse_description(g, id, &described, &layout) < 0)
        return -1;
    s.layout = layout;
    s.may_describe = !described && id >= PT_ID_NAMED_FIRST;
    v = pt_expression_value(g->expression, &s);
    free(layout);
    return v;
}

enum pt_gate pt_gates_decide(const struct pt_gates *g, const struct pt_page *page, unsigned bit,
                             uint32_t id)
{
    enum pt_gate open = pt_filter_callback_decides(page, bit, id) ? PT_GATE_ASK : PT_GATE_OPEN;
    char copy[TRACE_EVENT_NAME_MAX + 1];
    const char *name;
    int v;

    pt_assert_call(bit < PT_STREAMS && id < PT_ID_MAX);
    if (!pt_seg_wants(g->h, &g->filter, id) || (id && pt_load_seqcst(&g->h->is_successor)))
        return PT_GATE_CLOSED;
    if (!g->asks || id == 0)
        return open;
    if (!g->expression)
        return PT_GATE_ASK;
    name = pt_names_read_name(g->names, id, copy, NULL);
    v = name ? value_of(g, page, id, name) : -1;
    return v == 0 ? PT_GATE_CLOSED : v == 1 ? open : PT_GATE_ASK;
}

int pt_gates_make_room(const struct pt_gates *g, struct pt_page *page, unsigned bit)
{
    return g->asks || pt_load_acquire(&page->stream[bit].handled) ? pt_page_take_shadow(page, bit)
                                                                  : 0;
}

/* May a gate of that type be open, for all that its stream's segment says? */
static bool may_be_open(const struct pt_seg_header *h, uint32_t id)
{
    return pt_state_runs(pt_load_seqcst(&h->state)) && !pt_load_seqcst(&h->is_successor) &&
           pt_seg_wants(h, pt_seg_filter(h), id);
}

/* Restores ask: the filter that has decided the gate may not be in force any more. */
static void ask_again(struct pt_page *page, unsigned bit, const struct pt_seg_header *h,
                      uint32_t id)
{
    bool asks = false;

    while (may_be_open(h, id) != asks) {
        asks = !asks;
        pt_page_set_gate(page, bit, id, asks ? PT_GATE_ASK : PT_GATE_CLOSED);
    }
}

/* Decides a gate that is ask. */
static void settle(const struct pt_gates *g, struct pt_page *page, unsigned bit, uint32_t id)
{
    uint64_t own = 1ull << bit, both = own | pt_page_shadow(page, bit);
    uint64_t word = pt_load_seqcst(&page->gates[id]);
    enum pt_gate gate;

    pt_assert_call(bit < PT_STREAMS && id < PT_ID_MAX);
    if (both == own || (word & both) != both)
        return;
    gate = pt_gates_decide(g, page, bit, id);
    while (
        gate != PT_GATE_ASK && (word & both) == both &&
        !pt_cas_seqcst(&page->gates[id], &word, (word & ~both) | (gate == PT_GATE_OPEN ? own : 0)))
        ;
    if (gate == PT_GATE_OPEN && pt_filter_callback_decides(page, bit, id))
        ask_again(page, bit, g->h, id);
}

/* Decides the type in one stream; the first time also types from before the process joined. */
static void settle_stream(struct pt_self *self, unsigned bit, uint32_t id)
{
    uint32_t first = id, end = id;
    bool same = false;

    for (int tries = 0; !same; tries++) {
        uint64_t epoch = pt_load_seqcst(&self->page->epoch[bit]), mark;
        const struct pt_seg *seg = pt_self_segment(self, bit, epoch);
        struct pt_gates g;

        for (uint32_t i = first; seg && i < end; i++)
            ask_again(self->page, bit, seg->h, i);
        if (!seg || tries == 4)
            return;
        pt_gates_init(&g, seg->h, self->names);
        mark = epoch << 32 ^ g.version;
        first = pt_load_relaxed(&self->settled[bit]) == mark ? id : 1;
        end = first == id ? id + 1 : pt_names_end(self->names);
        /* Without an expression only what was restored is to be decided. */
        for (uint32_t i = first; (g.expression || tries > 0) && i < end; i++)
            settle(&g, self->page, bit, i);
        same = pt_load_seqcst(&seg->h->filter_now) == g.version &&
               pt_load_seqcst(&self->page->epoch[bit]) == epoch;
        if (same)
            pt_store_relaxed(&self->settled[bit], mark);
        pt_gates_deinit(&g);
    }
}

void pt_gates_named(struct pt_self *self, uint32_t id)
{
    struct pt_thread *t;

    if (pt_load_acquire(&self->page->shadows) == 0 || !(t = pt_thread_get(self)) ||
        !pt_thread_enter(t))
        return;
    for (unsigned bit = 0; bit < PT_STREAMS; bit++)
        if (pt_page_shadow(self->page, bit))
            settle_stream(self, bit, id);
    pt_thread_leave(t);
}
