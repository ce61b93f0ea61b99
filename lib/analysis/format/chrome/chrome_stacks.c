/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The frames of stacks: see chrome.h.  A frame is a function and the frame that called it. */
#include <errno.h>
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/chrome/chrome.h"
#include "text/hash.h"

struct frame {
    uint64_t parent; /* number; 0: it is the outermost */
    char *name;
};

struct pt_chrome_stacks {
    struct pt_job *job;
    struct pt_sites sites;
    struct frame *frames; /* number 1 is the first */
    size_t count, room;
    size_t *hash; /* numbers */
    size_t hash_room;
};

struct pt_chrome_stacks *pt_chrome_stacks_new(struct pt_job *job)
{
    struct pt_chrome_stacks *s = calloc(1, sizeof *s);

    if (!s)
        pt_job_fail(job, ENOMEM, "no memory for the stacks");
    if (!s || !pt_sites_open(&s->sites, job)) {
        free(s);
        return NULL;
    }
    s->job = job;
    return s;
}

void pt_chrome_stacks_free(struct pt_chrome_stacks *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        free(s->frames[i].name);
    free(s->frames);
    free(s->hash);
    pt_sites_close(&s->sites);
    free(s);
}

static size_t *cell_of(const struct pt_chrome_stacks *s, uint64_t parent, const char *name)
{
    uint64_t start = PT_HASH_START ^ parent * 0x9e3779b97f4a7c15ull;
    size_t i = pt_hash_bytes(start, name, strlen(name)) & (s->hash_room - 1);

    while (s->hash[i] && (s->frames[s->hash[i] - 1].parent != parent ||
                          strcmp(s->frames[s->hash[i] - 1].name, name) != 0))
        i = (i + 1) & (s->hash_room - 1);
    return &s->hash[i];
}

static bool make_room(struct pt_chrome_stacks *s)
{
    size_t room = s->room ? s->room * 2 : 256;
    struct frame *frames;
    size_t *hash;

    if (s->count < s->room)
        return true;
    frames = realloc(s->frames, room * sizeof *frames);
    if (!frames)
        return false;
    s->frames = frames;
    s->room = room;
    hash = calloc(2 * room, sizeof *hash);
    if (!hash)
        return false;
    free(s->hash);
    s->hash = hash;
    s->hash_room = 2 * room;
    for (size_t i = 0; i < s->count; i++)
        *cell_of(s, frames[i].parent, frames[i].name) = i + 1;
    return true;
}

static uint64_t frame_of(struct pt_chrome_stacks *s, uint64_t parent, const char *name)
{
    size_t *cell = make_room(s) ? cell_of(s, parent, name) : NULL;

    if (cell && *cell == 0) {
        s->frames[s->count] = (struct frame){ parent, strdup(name) };
        if (s->frames[s->count].name)
            *cell = ++s->count;
    }
    if (!cell || *cell == 0) {
        pt_job_fail(s->job, ENOMEM, "no memory for the stacks");
        return 0;
    }
    return *cell;
}

static uint16_t count_of(const struct posixtrace_event *e)
{
    uint16_t count = 0;

    if (e->data_len >= sizeof count)
        memcpy(&count, e->data, sizeof count);
    return e->data_len == sizeof count + count * sizeof(uint64_t) ? count : 0;
}

bool pt_chrome_is_stack(const struct pt_tl_event *ev)
{
    return ev->e->id == POSIXTRACE_STACK && strcmp(ev->type->name, "posixtrace_stack") == 0 &&
           count_of(ev->e) > 0;
}

size_t pt_chrome_caller(struct pt_chrome_stacks *s, const struct pt_tl_event *ev,
                        char to[PT_SITES_TEXT])
{
    size_t field;

    if (!s->sites.symbols || ev->e->id < POSIXTRACE_MUTEX_LOCK ||
        ev->e->id >= POSIX_TRACE_UNNAMED_USEREVENT)
        return 0;
    field = posixtrace_layout_find(ev->layout, "caller");
    if (field >= ev->fields)
        return 0;
    return pt_sites_text(&s->sites, ev->e,
                         posixtrace_value_integer(ev->layout, field, &ev->values[field], 0),
                         POSIXTRACE_ADDRESS_RETURN, to);
}

uint64_t pt_chrome_stack(struct pt_chrome_stacks *s, const struct posixtrace_event *e)
{
    uint64_t parent = 0, address;
    char text[PT_SITES_TEXT];

    for (unsigned i = count_of(e); i > 0; i--) {
        memcpy(&address, (const char *)e->data + 2 + (i - 1) * sizeof address, sizeof address);
        if (pt_sites_text(&s->sites, e, address, POSIXTRACE_ADDRESS_RETURN, text) == 0)
            snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
        parent = frame_of(s, parent, text);
        if (parent == 0)
            return 0;
    }
    return parent;
}

size_t pt_chrome_frames(const struct pt_chrome_stacks *s, uint64_t frame,
                        const char *names[POSIXTRACE_STACK_MAX])
{
    size_t count = 0;

    for (; frame > 0 && count < POSIXTRACE_STACK_MAX; frame = s->frames[frame - 1].parent)
        names[count++] = s->frames[frame - 1].name;
    return count;
}

uint64_t pt_chrome_frame_number(const struct pt_chrome_stacks *s, uint64_t frame)
{
    uint64_t logs = s->job->label ? s->job->logs : 1;

    return (frame - 1) * logs + s->job->number + 1;
}

bool pt_chrome_stacks_write(const struct pt_chrome_stacks *s, struct pt_json *j, bool first)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct frame *f = &s->frames[i];

        if (i == 0 && first)
            PT_JSON_TEXT(j, ",\"stackFrames\":{\n\"");
        else
            PT_JSON_TEXT(j, ",\n\"");
        pt_json_unsigned(j, pt_chrome_frame_number(s, i + 1));
        PT_JSON_TEXT(j, "\":{\"name\":");
        pt_json_string(j, f->name, strlen(f->name));
        if (f->parent) {
            PT_JSON_TEXT(j, ",\"parent\":\"");
            pt_json_unsigned(j, pt_chrome_frame_number(s, f->parent));
            pt_json_char(j, '"');
        }
        pt_json_char(j, '}');
    }
    return s->count > 0;
}
