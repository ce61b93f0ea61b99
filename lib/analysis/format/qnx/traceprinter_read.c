/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of the text that traceprinter makes of a kev file, with or without -n.  A line that is not
 * understood is reported with its number and skipped; arguments that only traceprinter knows stay
 * text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/qnx/traceprinter_read.h"

int pt_traceprinter_read(struct pt_job *job);

#define GARBAGE_LINES 100u

static bool bad_line(struct pt_traceprinter_reader *r, uint64_t line, const char *why)
{
    if (r->bad++ == 0)
        r->first_bad = line;
    if (!r->any && r->bad == GARBAGE_LINES) {
        pt_job_fail(r->im->job, EILSEQ, "not text of traceprinter: line %" PRIu64 ": %s",
                    r->first_bad, why);
        return false;
    }
    pt_job_left_out(r->im->job, PT_KEV_NOTE_RECORDS, "line %" PRIu64 ": %s: left out", line, why);
    return true;
}

/* ---- the header ---- */

static bool take_attribute(struct pt_traceprinter_reader *r, char *text)
{
    char *key = text + strspn(text, " \t"), *colons = strstr(key, "::"), *value;
    size_t n;

    if (strncmp(key, "TRACE_", 6) != 0 || !colons)
        return *key == '\0' || strncmp(key, "TRACEPRINTER", 12) == 0 ||
               strncmp(key, "TRACEPARSER", 11) == 0 || strncmp(key, "--", 2) == 0 ||
               bad_line(r, r->line, "no attribute of the header");
    *colons = '\0';
    if (strcmp(key + 6, "HEADER_BEGIN") == 0) {
        pt_job_fail(r->im->job, EILSEQ,
                    "line %" PRIu64 ": a kev file, not the text that is made "
                    "of it; --from=kev reads it",
                    r->line);
        return false;
    }
    value = colons + 2 + strspn(colons + 2, " \t");
    n = strlen(value);
    while (n > 0 && strchr(" \t\r", value[n - 1]))
        value[--n] = '\0';
    return pt_kev_import_attribute(r->im, key + 6, value);
}

static bool begin_events(struct pt_traceprinter_reader *r)
{
    r->in_events = true;
    return pt_kev_import_attributes_end(r->im);
}

/* ---- events ---- */

/* "BUFFER sequence = ", with any white space. */
static bool take_sequence(struct pt_traceprinter_args *a)
{
    static const char *const words[] = { "BUFFER", "sequence", "=" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);

        if (strncmp(a->at, words[i], length) != 0 || !strchr(" \t", a->at[length]))
            return false;
        a->at += length;
        a->at += strspn(a->at, " \t");
    }
    return true;
}

/* CONTROL :TIME and CONTROL: BUFFER are used here and are not events. */
static bool take_control(struct pt_traceprinter_reader *r, struct pt_traceprinter_args a,
                         unsigned cpu, bool *good)
{
    uint32_t first, second;

    *good = true;
    a.at += strspn(a.at, " :");
    if (strncmp(a.at, "TIME ", 5) == 0) {
        a.at += 5;
        if (!pt_traceprinter_take_name(&a, "msb", 3) || !pt_traceprinter_take_word(&a, &first) ||
            !pt_traceprinter_take_name(&a, "lsb(offset)", 11) ||
            !pt_traceprinter_take_word(&a, &second))
            return false;
        pt_kev_clock_set(&r->im->clock, cpu, first, second);
        return true;
    }
    if (!take_sequence(&a) || !pt_traceprinter_take_word(&a, &first))
        return false;
    if (r->known && (int32_t)(first - r->next) > 0) {
        pt_job_note(r->im->job, PT_KEV_NOTE_LOSS,
                    "line %" PRIu64 ": %" PRIu32 " buffers are "
                    "missing before number %" PRIu32 ": their events are lost",
                    r->event_line, first - r->next, first);
        *good = pt_kev_push_loss(r->im, r->event_line, first - r->next, r->next, first);
    } else if (r->known && first != r->next) {
        pt_job_note(r->im->job, PT_KEV_NOTE_ORDER,
                    "line %" PRIu64 ": buffer %" PRIu32 " comes "
                    "after number %" PRIu32,
                    r->event_line, first, r->next - 1);
    }
    r->known = true;
    r->next = first + 1;
    return true;
}

static void take_flags(struct pt_kev_event *e, struct pt_traceprinter_args *a)
{
    uint32_t value;

    if (pt_traceprinter_take_name(a, "flags", 5) && pt_traceprinter_take_word(a, &value))
        e->header |= (value & 255) << 16;
}

/* Parses the text after the label as data; false: it can only stay text. */
static bool take_arguments(struct pt_traceprinter_reader *r, struct pt_kev_event *e,
                           struct pt_traceprinter_args *a, unsigned type)
{
    struct pt_kev_about about;
    uint32_t value;

    pt_kev_about(&r->im->rules, type, &about);
    take_flags(e, a);
    if (pt_traceprinter_take_name(a, "cut", 3) && pt_traceprinter_take_word(a, &value))
        e->cut = true;
    if (type >> 10 == PT_KEV_INT && !about.event[0] && about.fast) {
        a->at += strspn(a->at, " ");
        if (!pt_traceprinter_take_word(a, &value))
            return false;
        pt_kev_store(a->data, value);
        a->length = 4;
        a->at += strcspn(a->at, ")");
        a->at += *a->at == ')';
        take_flags(e, a);
        return pt_traceprinter_take_fields(a, (type & 1023) == 1 ? "x32 IP" : "x32 d1");
    }
    if (!e->cut && ((about.fast && pt_traceprinter_take_fields(a, about.fast)) ||
                    pt_traceprinter_take_fields(a, "x32 d0; x32 d1")))
        return true;
    e->header |= (uint32_t)PT_KEV_BEGIN << 30;
    return (about.wide && !e->cut && pt_traceprinter_take_fields(a, about.wide)) ||
           pt_traceprinter_take_data(a) ||
           (type >> 10 == PT_KEV_USER && pt_traceprinter_take_string(a));
}

/* Takes the rest of the line, after the words that name it, as text. */
static void take_text(struct pt_kev_event *e, struct pt_traceprinter_args *a, const char *call,
                      size_t call_length, const char *rest)
{
    size_t n = strlen(rest);

    e->text = true;
    e->header &= 0x3f007fffu;
    if (call_length > 255)
        call_length = 255;
    if (n > PT_KEV_DATA_MAX - 300)
        n = PT_KEV_DATA_MAX - 300;
    memcpy(a->data, call, call_length);
    a->data[call_length] = '\0';
    memcpy(a->data + call_length + 1, rest, n);
    a->data[call_length + 1 + n] = '\0';
    a->length = call_length + n + 2;
}

static bool push(struct pt_traceprinter_reader *r, struct pt_kev_event *e,
                 struct pt_traceprinter_args *a, unsigned cpu, uint32_t low)
{
    e->ns = pt_kev_clock_ns(&r->im->clock, cpu, low);
    e->data = a->data;
    e->length = (uint32_t)a->length;
    if (r->im->ours && !e->text && a->length == 8 &&
        pt_kev_type(e->header) == (PT_KEV_USER << 10 | PT_KEV_USER_META) &&
        pt_kev_load(a->data, false) == PT_KEV_META_BUFFERS)
        r->next += pt_kev_load(a->data + 4, false);
    r->any = true;
    return pt_kev_push(r->im, e);
}

static bool take_event(struct pt_traceprinter_reader *r)
{
    struct pt_traceprinter_args a = { .at = r->event + 2, .data = r->data }, whole;
    struct pt_kev_event e = { .where = r->event_line };
    uint32_t low, cpu;
    struct pt_traceprinter_names n;
    const char *rest;
    bool good;
    int type;

    r->event[r->event_length] = '\0';
    r->event_length = 0;
    if (!pt_traceprinter_take_word(&a, &low) || !pt_traceprinter_take_name(&a, "CPU", 3) ||
        !pt_traceprinter_take_word(&a, &cpu) || cpu >= PT_KEV_CPUS)
        return bad_line(r, r->event_line, "no time and processor, as in t:0x12345678 CPU:00");
    a.at += strspn(a.at, " ");
    whole = a;
    if (!pt_traceprinter_names(&a, &n))
        return bad_line(r, r->event_line, "no class and event, as in THREAD  :THRUNNING");
    if (n.label_length == 7 && strncmp(n.whole, "CONTROL", 7) == 0) {
        whole.at += 7;
        if (take_control(r, whole, cpu, &good)) {
            r->any = true;
            return good;
        }
    }
    rest = a.at + strspn(a.at, " ");
    type = pt_traceprinter_type(r, &n, &a);
    e.header = pt_kev_header(0, 0, cpu, 0) | (type < 0 ? 0 : (uint32_t)type);
    if (type < 0)
        take_text(&e, &a, n.whole, n.whole_length, rest);
    else if (!take_arguments(r, &e, &a, (unsigned)type))
        take_text(&e, &a, n.call, n.call_length, rest);
    return push(r, &e, &a, cpu, low);
}

/* ---- all of it ---- */

static bool keep_event(struct pt_traceprinter_reader *r, const char *text, size_t length)
{
    if (r->event_length + length + 1 >= PT_TRACEPRINTER_LINE_MAX)
        return bad_line(r, r->line, "arguments of more than 160 KiB");
    if (r->event_length == 0)
        r->event_line = r->line;
    else
        r->event[r->event_length++] = ' ';
    memcpy(r->event + r->event_length, text, length);
    r->event_length += length;
    return true;
}

static bool take_line(struct pt_traceprinter_reader *r, char *text, size_t length)
{
    size_t blank;

    if (length > 0 && text[length - 1] == '\r')
        length--;
    if (memchr(text, '\0', length))
        return bad_line(r, r->line, "a line with a NUL byte");
    /* The byte after the line is its newline, or free room of the block. */
    text[length] = '\0';
    if (length >= 4 && strncmp(text, "t:0x", 4) == 0)
        return (r->in_events || begin_events(r)) && (!r->event_length || take_event(r)) &&
               keep_event(r, text, length);
    if (!r->in_events && strstr(text, "-- KERNEL EVENTS --"))
        return begin_events(r);
    if (!r->in_events)
        return take_attribute(r, text);
    blank = strspn(text, " \t");
    if (blank == length)
        return true;
    if (blank == 0 || !r->event_length)
        return bad_line(r, r->line, "neither an event nor arguments of one");
    return keep_event(r, text + blank, length - blank);
}

static void read_lines(struct pt_traceprinter_reader *r)
{
    char *text = NULL;
    size_t length = 0;
    bool good = true;
    int got;

    while (good && (got = pt_traceprinter_line(r, &text, &length)) != 0 && got != -2)
        good = got < 0 ? bad_line(r, r->line, "longer than 160 KiB") : take_line(r, text, length);
    if (good && !r->im->job->error && !r->in_events && !r->im->attribute_bytes)
        pt_job_fail(r->im->job, EILSEQ,
                    "not text of traceprinter: line %" PRIu64 ": neither a "
                    "header nor events",
                    r->first_bad ? r->first_bad : 1);
    if (good && (r->in_events || (!r->im->job->error && begin_events(r))) &&
        (!r->event_length || take_event(r)))
        pt_kev_import_end(r->im);
}

int pt_traceprinter_read(struct pt_job *job)
{
    struct pt_kev_import *im = calloc(1, sizeof *im);
    struct pt_traceprinter_reader *r = calloc(1, sizeof *r);
    bool memory = im && r;

    if (memory) {
        r->im = im;
        r->block = malloc(PT_TRACEPRINTER_BLOCK + 1);
        r->event = malloc(PT_TRACEPRINTER_LINE_MAX + 1);
        r->data = malloc(PT_KEV_DATA_MAX);
        memory = r->block && r->event && r->data;
        if (memory && pt_kev_import_begin(im, job, "line"))
            read_lines(r);
        pt_kev_import_free(im);
        free(r->block);
        free(r->event);
        free(r->data);
    }
    if (!memory)
        pt_job_fail(job, ENOMEM, "no memory");
    free(r);
    free(im);
    return job->error;
}
