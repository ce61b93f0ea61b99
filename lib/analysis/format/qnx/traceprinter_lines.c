/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Lines of traceprinter's text, and the words at their front that name an event. */
#include <string.h>
#include "analysis/format/qnx/traceprinter_read.h"

int pt_traceprinter_line(struct pt_traceprinter_reader *r, char **text, size_t *length)
{
    for (;;) {
        char *at = r->block + r->from;
        char *end = memchr(at, '\n', r->to - r->from);
        size_t n;

        if (end || (r->ended && (r->from < r->to || r->too_long))) {
            bool too_long = r->too_long;

            *text = at;
            *length = (size_t)((end ? end : r->block + r->to) - at);
            r->from += *length + (end != NULL);
            r->line++;
            r->too_long = false;
            return !too_long && *length < PT_TRACEPRINTER_LINE_MAX ? 1 : -1;
        }
        if (r->ended)
            return 0;
        if (r->to - r->from >= PT_TRACEPRINTER_LINE_MAX) {
            r->from = r->to;
            r->too_long = true;
        }
        memmove(r->block, r->block + r->from, r->to - r->from);
        r->to -= r->from;
        r->from = 0;
        n = fread(r->block + r->to, 1, PT_TRACEPRINTER_BLOCK - r->to, r->im->job->file);
        if (n == 0 && ferror(r->im->job->file))
            return pt_job_fail_file(r->im->job), -2;
        r->ended = n == 0;
        r->to += n;
    }
}

/* The type of "THREAD  :THRUNNING"; -1: not known. */
static int find_type(struct pt_traceprinter_reader *r, const char *label, size_t label_length,
                     const char *event, size_t event_length, const char *whole, size_t length)
{
    uint32_t hash = 2166136261u;
    struct pt_traceprinter_cell *c;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)whole[i]) * 16777619u;
    c = &r->cell[hash % PT_TRACEPRINTER_CELLS];
    if (length == 0 || length > PT_TRACEPRINTER_LABEL_MAX)
        return -1;
    if (strncmp(c->label, whole, length) == 0 && !c->label[length])
        return c->type;
    memcpy(c->label, whole, length);
    c->label[length] = '\0';
    c->type = pt_kev_find(&r->im->rules, label, label_length, event, event_length);
    return c->type;
}

bool pt_traceprinter_names(struct pt_traceprinter_args *a, struct pt_traceprinter_names *n)
{
    const char *colon = strchr(a->at, ':'), *slash;
    size_t length;

    if (!colon || colon == a->at)
        return false;
    n->whole = a->at;
    length = (size_t)(colon - a->at);
    while (length > 0 && a->at[length - 1] == ' ')
        length--;
    n->label_length = length;
    n->call = n->event = colon + 1 + strspn(colon + 1, " ");
    if (length == 8 && strncmp(a->at, "USREVENT", 8) == 0 && strncmp(n->event, "EVENT:", 6) == 0)
        n->event += 6;
    n->event_length = strcspn(n->event, " ,");
    a->at = n->event + n->event_length;
    n->whole_length = (size_t)(a->at - n->whole);
    n->call_length = (size_t)(a->at - n->call);
    slash = memchr(n->event, '/', n->event_length);
    if (slash) {
        n->event_length -= (size_t)(slash + 1 - n->event);
        n->event = slash + 1;
    }
    return true;
}

/* The text before the event in some classes. */
static const char *prefix_of(const char *label, size_t length)
{
    static const struct {
        char label[8], prefix[8];
    } known[] = { { "THREAD", "TH" }, { "VTHREAD", "VTH" }, { "PROCESS", "PROC" } };

    for (size_t i = 0; i < 3; i++)
        if (strlen(known[i].label) == length && strncmp(label, known[i].label, length) == 0)
            return known[i].prefix;
    return "";
}

int pt_traceprinter_type(struct pt_traceprinter_reader *r, struct pt_traceprinter_names *n,
                         struct pt_traceprinter_args *a)
{
    const char *label = n->whole;
    size_t length = n->label_length, prefix = strlen(prefix_of(label, length));

    if (length == 8 && strncmp(label, "USREVENT", 8) == 0) {
        label = "USER";
        length = 4;
    }
    if (strncmp(label, "INT_", 4) == 0 && strncmp(label, "INT_CALL", 8) != 0) {
        a->at = n->event; /* a number, or arguments */
        return find_type(r, label, length, "", 0, label, length);
    }
    if (prefix > n->event_length || memcmp(n->event, prefix_of(label, length), prefix) != 0)
        return -1;
    return find_type(r, label, length, n->event + prefix, n->event_length - prefix, n->whole,
                     n->whole_length);
}
