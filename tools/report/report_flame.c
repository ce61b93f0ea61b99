/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Waits by stack, for the flame graph of a page: the lines of 'posixtrace export --to=folded' as
 * JSON, [{"frames":[...],"ns":5}], those with the most time first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <posixtrace/format.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>

#include "common/json_out.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "report/report.h"

enum { STACKS_MOST = 1000 };

struct folded {
    char *text;
    size_t used, room;
};

struct stack {
    char *frames; /* with ';' between them */
    uint64_t ns;
};

static ssize_t keep_text(void *context, const void *from, size_t size)
{
    struct folded *f = context;

    if (f->room - f->used <= size) {
        f->room = 2 * (f->used + size) + 1;
        f->text = tool_grow(f->text, f->room, 1);
    }
    memcpy(f->text + f->used, from, size);
    f->used += size;
    f->text[f->used] = '\0';
    return (ssize_t)size;
}

static int export(const struct report_view *v, struct folded *f)
{
    char directory[SITES_TEXT + 4096];
    const char *options[3] = { NULL };
    struct posixtrace_conversion c = { .options = options, .write = keep_text, .context = f };
    size_t count = 0;
    int error = posix_trace_rewind(v->parts[0].log->trid);

    if (v->parts[0].sites->off)
        options[count++] = "no-symbols";
    if (v->parts[0].sites->debug_dir) {
        snprintf(directory, sizeof directory, "debug-dir=%s", v->parts[0].sites->debug_dir);
        options[count] = directory;
    }
    return error ? error : posixtrace_export(v->parts[0].log->trid, "folded", -1, &c, sizeof c);
}

static int by_time(const void *a, const void *b)
{
    const struct stack *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return strcmp(x->frames, y->frames);
}

/* A line is the frames, a space and the number; the text is cut into them. */
static struct stack *split(char *text, size_t *count)
{
    struct stack *stacks = NULL;
    char *rest = NULL;

    *count = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *space = strrchr(line, ' ');

        if (!space)
            continue;
        *space = '\0';
        stacks = tool_grow(stacks, *count + 1, sizeof *stacks);
        stacks[(*count)++] = (struct stack){ line, strtoull(space + 1, NULL, 10) };
    }
    return stacks;
}

static void put_stack(char *frames, uint64_t ns)
{
    char *rest = NULL;

    json_open(NULL, '{');
    json_open("frames", '[');
    for (char *frame = strtok_r(frames, ";", &rest); frame; frame = strtok_r(NULL, ";", &rest))
        json_text(NULL, frame);
    json_close();
    json_count("ns", ns);
    json_close();
}

static char *as_json(struct stack *stacks, size_t count)
{
    char others[] = "other stacks, that the page leaves out";
    uint64_t left_out = 0;

    qsort(stacks, count, sizeof *stacks, by_time);
    out_capture();
    json_open(NULL, '[');
    for (size_t i = 0; i < count; i++) {
        if (i < STACKS_MOST)
            put_stack(stacks[i].frames, stacks[i].ns);
        else
            left_out += stacks[i].ns;
    }
    if (left_out > 0)
        put_stack(others, left_out);
    json_close();
    return out_captured();
}

int report_flame(const struct report_view *v, char **json)
{
    struct folded f = { .text = NULL };
    struct stack *stacks = NULL;
    uint64_t events = 0;
    size_t count = 0;
    int error = 0;

    *json = NULL;
    if (posixtrace_event_count(v->parts[0].log->trid, POSIXTRACE_STACK, &events) == 0 && events > 0)
        error = export(v, &f);
    if (error == 0 && f.text)
        stacks = split(f.text, &count);
    if (count > 0)
        *json = as_json(stacks, count);
    free(stacks);
    free(f.text);
    return error;
}
