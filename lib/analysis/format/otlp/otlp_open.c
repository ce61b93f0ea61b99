/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The spans that are open on a thread, the innermost last.
 *
 * Where the spans of a program cross, the timeline ends the inner ones and begins them again.  Here
 * they are suspended meanwhile, and stay whole.  Those that it does not begin again have ended with
 * their thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/otlp/otlp.h"

enum { KEPT = 4096 }; /* bytes of text that a place for a span may keep */

struct pt_otlp_thread *pt_otlp_thread(struct pt_otlp *o, const struct pt_tl_track *t)
{
    return o->threads[pt_timeline_index(o->timeline, t)];
}

struct pt_otlp_thread *pt_otlp_thread_make(struct pt_otlp *o, const struct pt_tl_track *t)
{
    struct pt_otlp_thread **th = &o->threads[pt_timeline_index(o->timeline, t)];

    if (!*th)
        *th = calloc(1, sizeof **th);
    if (!*th)
        pt_job_fail(o->job, ENOMEM, "no memory for the spans of a thread");
    else
        (*th)->track = *t;
    return *th;
}

void pt_otlp_thread_free(struct pt_otlp *o, struct pt_otlp_thread *th)
{
    if (!th)
        return;
    for (size_t i = 0; i < th->room; i++) {
        o->held -= th->open[i].room;
        free(th->open[i].text);
    }
    free(th->open);
    free(th);
}

static struct pt_otlp_open *new_place(struct pt_otlp *o, struct pt_otlp_thread *th)
{
    size_t room = th->room ? 2 * th->room : 4;
    struct pt_otlp_open *open = th->open;

    if (th->count == th->room) {
        open = realloc(open, room * sizeof *open);
        if (!open) {
            pt_job_fail(o->job, ENOMEM, "no memory for the spans of a thread");
            return NULL;
        }
        memset(open + th->room, 0, (room - th->room) * sizeof *open);
        th->open = open;
        th->room = room;
    }
    return &open[th->count++];
}

/* False: there is no room, and nothing has changed. */
static bool append(struct pt_otlp *o, struct pt_otlp_open *span, const char *text, size_t length)
{
    size_t need = span->used + length, room = span->room ? span->room : 512;
    char *more;

    while (room < need)
        room *= 2;
    if (need > PT_OTLP_TEXT)
        return false;
    if (room > span->room) {
        if (o->held + (room - span->room) > PT_OTLP_HELD)
            return false;
        more = realloc(span->text, room);
        if (!more)
            return false;
        o->held += room - span->room;
        span->text = more;
        span->room = (uint32_t)room;
    }
    memcpy(span->text + span->used, text, length);
    span->used += (uint32_t)length;
    return true;
}

void pt_otlp_open(struct pt_otlp *o, const struct pt_tl_track *t, const char *name,
                  const struct pt_tl_event *ev)
{
    struct pt_otlp_thread *th = pt_otlp_thread_make(o, t);
    struct pt_otlp_ids ids = { .remote = false };
    struct pt_otlp_open *span;
    const char *function;
    uint32_t kept;

    pt_otlp_end_suspended(o);
    if (th)
        pt_otlp_parent(th, &ids);
    span = th ? new_place(o, th) : NULL;
    if (!span)
        return;
    pt_otlp_complete(o, t, ev->e->ns, name, ev, &ids);
    kept = span->room;
    *span = (struct pt_otlp_open){ .name = name,
                                   .since = ev->e->ns,
                                   .ids = ids,
                                   .is_thread = ev->type->role == PT_TL_BEGINS_THREAD,
                                   .begun = true,
                                   .layout = ev->layout,
                                   .text = span->text,
                                   .room = kept };
    o->scratch.used = 0;
    function = pt_otlp_put_code(o, ev);
    span->name = function ? function : name;
    pt_otlp_put_data(o, ev, NULL, &span->dropped_attributes);
    if (append(o, span, o->scratch.text, o->scratch.used))
        span->attributes = span->used;
    else
        span->dropped_attributes += ev->layout ? (uint32_t)ev->fields : 1;
}

static void put_event(struct pt_otlp *o, const struct pt_tl_event *ev)
{
    struct pt_json *j = &o->scratch;
    uint32_t dropped = 0;
    size_t at, inner;

    j->used = 0;
    PT_JSON_TEXT(j, ",{\"timeUnixNano\":\"");
    pt_json_signed(j, ev->e->ns);
    PT_JSON_TEXT(j, "\",\"name\":");
    pt_json_string(j, ev->type->name, strlen(ev->type->name));
    at = j->used;
    PT_JSON_TEXT(j, ",\"attributes\":[");
    inner = j->used;
    pt_otlp_put_code(o, ev);
    pt_otlp_put_data(o, ev, NULL, &dropped);
    if (j->used > inner) {
        j->text[inner] = ' '; /* in the place of the comma */
        pt_json_char(j, ']');
    } else {
        j->used = at;
    }
    if (dropped) {
        PT_JSON_TEXT(j, ",\"droppedAttributesCount\":");
        pt_json_unsigned(j, dropped);
    }
    pt_json_char(j, '}');
}

void pt_otlp_add_event(struct pt_otlp *o, struct pt_otlp_open *span, const struct pt_tl_event *ev)
{
    bool good = span->events < PT_OTLP_EVENTS && ev->e->ns >= 0;

    if (good)
        put_event(o, ev);
    if (good && append(o, span, o->scratch.text, o->scratch.used))
        span->events++;
    else
        span->dropped_events++;
}

/* Its place goes to the end, with the memory of its text. */
static void remove_at(struct pt_otlp *o, struct pt_otlp_thread *th, size_t at)
{
    struct pt_otlp_open gone = th->open[at];

    if (gone.room > KEPT) {
        free(gone.text);
        o->held -= gone.room;
        gone.text = NULL;
        gone.room = 0;
    }
    th->count--;
    memmove(&th->open[at], &th->open[at + 1], (th->count - at) * sizeof gone);
    th->open[th->count] = gone;
}

void pt_otlp_close(struct pt_otlp *o, struct pt_otlp_thread *th, const struct pt_otlp_end *end)
{
    size_t at = th->count - th->suspended;

    if (at == 0)
        return;
    pt_otlp_write(o, &th->track, &th->open[at - 1], end);
    remove_at(o, th, at - 1);
}

void pt_otlp_end_suspended(struct pt_otlp *o)
{
    struct pt_otlp_thread *th = o->suspender;
    const struct pt_otlp_end end = { .ns = o->suspended_ns, .cut = "the thread ended" };
    size_t left;

    o->suspender = NULL;
    if (!th)
        return;
    for (left = th->suspended, th->suspended = 0; left > 0; left--)
        pt_otlp_close(o, th, &end);
}
