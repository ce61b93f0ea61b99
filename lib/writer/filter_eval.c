/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See filter_eval.h. */
#include <errno.h>
#include <sys/mman.h>
#include "base/sys.h"
#include "model/layout.h"
#include "process/filter_callback.h"
#include "process/filter_pages.h"
#include "writer/filter_eval.h"

static struct posixtrace_expression *expression_of(const struct pt_filter_eval *s)
{
    return (struct posixtrace_expression *)(uintptr_t)(s + 1);
}

struct pt_layouts {
    /* A layout; 0: not looked for yet; an odd number 2 n + 1: none of the first n descriptions of
     * the map is one. */
    uintptr_t of[PT_ID_MAX];
    pt_u64 named[PT_ID_MAX]; /* see pt_names_read_name() */
};
#define NEVER UINTPTR_MAX /* its description does not compile; odd, n is none of the map */

/* ---- layouts, shared by the process ---- */

static struct pt_layouts *layouts_of(struct pt_self *self)
{
    struct pt_layouts *all = pt_load_acquire(&self->layouts), *fresh;

    if (all)
        return all;
    fresh = pt_sys_pages(sizeof *fresh);
    if (!fresh || pt_cas_seqcst(&self->layouts, &all, fresh))
        return fresh;
    munmap(fresh, sizeof *fresh);
    return all;
}

/* Compiles the text into pages of its own, *bytes of them. */
static uintptr_t build_layout(const char *text, size_t *bytes)
{
    void *room;

    *bytes = pt_layout_room(text);
    room = pt_sys_pages(*bytes);
    if (!room)
        return 0;
    if (pt_layout_build(text, room) == 0)
        return (uintptr_t)room;
    munmap(room, *bytes);
    return NEVER;
}

/* Compiles a copy of the description, which other processes can change.  The copy is too large
 * for the stack of a signal handler, so it has pages of its own. */
static uintptr_t make_from_map(const struct pt_names *names, uint32_t id, size_t *bytes)
{
    const char *text;
    uintptr_t made;
    uint32_t looked;
    char *copy;

    /* Before any pages: an event of a type without a description makes no system call. */
    if (!pt_names_find_description(names, id, &looked))
        return (uintptr_t)looked << 1 | 1;
    copy = pt_sys_pages(PT_DESCRIPTION_MAX + 1);
    if (!copy)
        return 0;
    text = pt_names_read_description(names, id, copy);
    made = text ? build_layout(text, bytes) : (uintptr_t)looked << 1 | 1;
    munmap(copy, PT_DESCRIPTION_MAX + 1);
    return made;
}

static uintptr_t make_layout(const struct pt_names *names, uint32_t id, size_t *bytes)
{
    const char *text = pt_event_system_description(id);

    return text ? build_layout(text, bytes) : make_from_map(names, id, bytes);
}

/* Has it not been looked for yet, or is there a description that is newer than that? */
static bool is_to_make(const struct pt_names *names, uintptr_t is)
{
    return is == 0 || ((is & 1) && pt_names_has_description(names, is >> 1));
}

static const struct posixtrace_layout *layout_of(struct pt_self *self, uint32_t id)
{
    struct pt_layouts *all = layouts_of(self);
    uintptr_t is, made;
    size_t bytes = 0;

    if (!all)
        return NULL;
    is = pt_load_acquire(&all->of[id]);
    if (is_to_make(self->names, is)) {
        made = make_layout(self->names, id, &bytes);
        if (pt_cas_seqcst(&all->of[id], &is, made))
            is = made;
        else if (made && !(made & 1))
            munmap((void *)made, bytes);
    }
    return is & 1 ? NULL : (const struct posixtrace_layout *)is;
}

static const char *name_of(struct pt_self *self, uint32_t id, char room[TRACE_EVENT_NAME_MAX + 1])
{
    struct pt_layouts *all = layouts_of(self);

    return pt_names_read_name(self->names, id, room, all ? &all->named[id] : NULL);
}

/* ---- expressions, one copy for each writer ---- */

static struct pt_filter_eval *make_sieve(void)
{
    size_t bytes = pt_filter_eval_bytes();
    struct pt_filter_eval *s = pt_sys_pages(bytes);

    /* A forked child compiles its own copies. */
    if (s)
        madvise(s, bytes, MADV_DONTFORK);
    return s;
}

/* The compiled expression in force; NULL: no memory for it. */
static const struct pt_filter_eval *sieve_of(struct pt_self *self, struct pt_writer *writer,
                                             unsigned bit, uint64_t epoch)
{
    struct pt_seg *seg = pt_self_segment(self, bit, epoch);
    struct pt_filter_eval *s = writer->sieve;

    if (!seg || (!s && !(s = writer->sieve = make_sieve())))
        return NULL;
    if (s->epoch == epoch && s->version == pt_load_acquire(&seg->h->filter_now))
        return s;
    s->epoch = 0;
    s->version = pt_seg_expression(seg->h, s->text);
    s->open = s->text[0] == '\0' || pt_expression_build(s->text, expression_of(s), NULL, NULL) < 0;
    pt_fence_compiler();
    s->epoch = epoch;
    return s;
}

void pt_filter_eval_prepare(struct pt_self *self, struct pt_writer *writer, unsigned bit)
{
    const struct pt_filter_eval *s = sieve_of(self, writer, bit,
                                              pt_load_seqcst(&self->page->epoch[bit]));
    char name[TRACE_EVENT_NAME_MAX + 1];

    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        name_of(self, id, name);
    if (!s || s->open || !expression_of(s)->fields)
        return;
    for (uint32_t id = 0, end = pt_names_end(self->names); id < end; id++)
        layout_of(self, id);
}

static bool wants(struct pt_self *self, struct pt_writer *writer, unsigned bit,
                  const struct posixtrace_event *event)
{
    uint64_t epoch = pt_load_seqcst(&self->page->epoch[bit]);
    const struct pt_filter_eval *s = sieve_of(self, writer, bit, epoch);
    struct pt_subject_event subject = { .name = event->name, .event = event };

    if (s && !s->open) {
        if (expression_of(s)->fields)
            subject.layout = layout_of(self, event->id);
        if (pt_expression_value(expression_of(s), &subject) != 1)
            return false;
    }
    return pt_filter_callback_wants(self, bit, epoch, event);
}

bool pt_filter_eval_wants(struct pt_self *self, struct pt_writer *writer, unsigned bit,
                          const struct posixtrace_event *event)
{
    int saved = errno;
    bool is = wants(self, writer, bit, event);

    errno = saved;
    return is;
}

void pt_filter_eval_event(struct pt_self *self, const struct pt_thread *t,
                          struct posixtrace_event *event, char name_room[TRACE_EVENT_NAME_MAX + 1],
                          uint32_t id, const void *data, size_t len, uint64_t addr)
{
    const char *name = name_of(self, id, name_room);

    *event = (struct posixtrace_event){
        .prog_address = addr,
        .thread_id = t->thread_id,
        .data = data,
        .thread_name = t->name,
        .name = name ? name : "",
        .data_len = len,
        .id = id,
        .truncation = POSIX_TRACE_NOT_TRUNCATED,
        .pid = t->pid,
        .tid = t->tid,
    };
}
