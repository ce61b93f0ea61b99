/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export as the text that `traceprinter -n` makes of the kev file that the log would
 * become: kev_write.h.  Data that it prints only in part is added as digits, "data:".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "text/escape.h"
#include "analysis/format/qnx/kev_write.h"
#include "text/number.h"
#include "analysis/format/qnx/traceprinter.h"

int pt_traceprinter_write(struct pt_job *job);

/* LINE_ROOM: beside data, with the name of an event escaped. */
enum { ROOM = 512 << 10, LINE_ROOM = 8192, COMMENT_MAX = 1024 };

/* The label of a type, which follows the processor, and the fields after it. */
struct label {
    char text[64];
    const char *fast, *wide;
    uint8_t words;       /* of wide */
    bool number, string; /* number: the first word comes next; of wide */
};

struct text_writer {
    struct pt_kev_writer w;
    struct label *label[PT_KEV_TYPES];
    uint32_t first_low; /* of the buffer */
    unsigned first_cpu;
    char *at; /* of the line */
};

/* ---- pieces ---- */

static void put_text(struct text_writer *t, const char *text)
{
    size_t n = strlen(text);

    memcpy(t->at, text, n);
    t->at += n;
}

static void put_hex(struct text_writer *t, uint32_t v)
{
    *t->at++ = '0';
    *t->at++ = 'x';
    for (int shift = 28; shift >= 0; shift -= 4)
        *t->at++ = "0123456789abcdef"[v >> shift & 15];
}

static void put_name(struct text_writer *t, const char *name, size_t length)
{
    *t->at++ = ' ';
    memcpy(t->at, name, length);
    t->at += length;
    *t->at++ = ':';
}

static void put_digits(struct text_writer *t, const char *name, const uint8_t *data, size_t length)
{
    put_name(t, name, strlen(name));
    t->at = pt_number_bytes(t->at, data, length);
}

/* Writes the words as fields, and strings up to their zero byte. */
static void put_fields(struct text_writer *t, const char *fields, const uint8_t *data,
                       size_t length)
{
    struct pt_traceprinter_field f;
    size_t used = 0;

    while (pt_traceprinter_field(&fields, &f)) {
        if (f.kind == 'b') {
            if (used < length)
                put_digits(t, "more", data + used, length - used);
            return;
        }
        put_name(t, f.name, f.length);
        if (f.kind == 's') {
            put_text(t, (const char *)data + used);
            return;
        }
        if (f.kind == 'x')
            put_hex(t, pt_kev_load(data + used, false));
        else
            t->at = pt_number_u64(t->at, pt_kev_load(data + used, false));
        used += 4;
    }
}

/* A string that is whole in the line, with zeros up to the end. */
static bool is_text(const uint8_t *data, size_t length)
{
    size_t n = strnlen((const char *)data, length);

    for (size_t i = 0; i < n; i++)
        if (data[i] < ' ' || data[i] == 0x7f)
            return false;
    for (size_t i = n; i < length; i++)
        if (data[i])
            return false;
    return n > 0 && n < length && length - n <= 8;
}

/* ---- labels ---- */

static struct label *make_label(const struct pt_kev_rules *rules, unsigned type)
{
    struct label *l = calloc(1, sizeof *l);
    struct pt_kev_about a;
    char event[48];

    if (!l)
        return NULL;
    pt_kev_about(rules, type, &a);
    l->fast = a.fast ? a.fast : "x32 d0; x32 d1";
    l->wide = a.wide;
    l->words = a.wide ? (uint8_t)pt_kev_words(a.wide, &l->string) : 0;
    snprintf(event, sizeof event, "%s%s", a.prefix, a.event);
    if (type >> 10 == PT_KEV_USER) {
        snprintf(l->text, sizeof l->text, "USREVENT:EVENT:%u", type & 1023);
    } else if (type >> 10 == PT_KEV_INT && !a.event[0]) {
        snprintf(l->text, sizeof l->text, "%s:", a.label);
        l->number = a.fast != NULL;
        l->fast = !a.fast ? l->fast : (type & 1023) == 1 ? "x32 IP" : "x32 d1";
    } else {
        snprintf(l->text, sizeof l->text, "%-8s:%-13s", a.label, event);
    }
    return l;
}

static const struct label *label_of(struct text_writer *t, unsigned type)
{
    if (!t->label[type] && !(t->label[type] = make_label(&t->w.rules, type)))
        pt_job_fail(t->w.job, ENOMEM, "no memory");
    return t->label[type];
}

/* ---- lines ---- */

static bool write_out(struct text_writer *t, const char *bytes, size_t n)
{
    if (fwrite_unlocked(bytes, 1, n, t->w.job->file) == n)
        return true;
    pt_job_fail_file(t->w.job);
    return false;
}

static bool close_buffer(struct pt_kev_writer *w)
{
    struct text_writer *t = (struct text_writer *)w;
    size_t used = w->used;
    char line[128];
    int n;

    if (w->count == 0)
        return true;
    n = snprintf(line, sizeof line,
                 "t:0x%08x CPU:%02u CONTROL: BUFFER sequence = %u, num_events = "
                 "%u\n",
                 t->first_low, t->first_cpu, w->sequence, w->count + 1);
    w->count = 0;
    w->used = 0;
    w->sequence++;
    return write_out(t, line, (size_t)n) && write_out(t, (const char *)w->out, used);
}

static void begin_line(struct text_writer *t, unsigned cpu, uint32_t low)
{
    t->at = (char *)t->w.out + t->w.used;
    put_text(t, "t:");
    put_hex(t, low);
    put_text(t, " CPU:");
    *t->at++ = (char)('0' + cpu / 10);
    *t->at++ = (char)('0' + cpu % 10);
    *t->at++ = ' ';
}

static void end_line(struct text_writer *t)
{
    *t->at++ = '\n';
    t->w.used = (size_t)(t->at - (char *)t->w.out);
    t->w.count++;
}

static void put_time(struct text_writer *t, unsigned cpu, int64_t ns)
{
    begin_line(t, cpu, (uint32_t)ns);
    put_text(t, "CONTROL :TIME msb:");
    put_hex(t, (uint32_t)((uint64_t)ns >> 32));
    put_text(t, " lsb(offset):");
    put_hex(t, (uint32_t)ns);
    end_line(t);
}

static bool open_buffer(struct pt_kev_writer *w, int64_t ns)
{
    struct text_writer *t = (struct text_writer *)w;

    t->first_low = (uint32_t)ns;
    t->first_cpu = 0;
    pt_kev_tells_time(w, 0, ns);
    put_time(t, 0, ns);
    return true;
}

/* Starts the line of an event, after the lines that must come before it. */
static bool begin_event(struct text_writer *t, size_t room, unsigned cpu, int64_t ns)
{
    if (t->w.used + room + LINE_ROOM > ROOM && !close_buffer(&t->w))
        return false;
    if (t->w.count == 0) {
        t->first_low = (uint32_t)ns;
        t->first_cpu = cpu;
    }
    if (pt_kev_tells_time(&t->w, cpu, ns))
        put_time(t, cpu, ns);
    begin_line(t, cpu, (uint32_t)ns);
    return true;
}

/* A comment with the name of the event and its fields. */
static void put_comment(struct text_writer *t, const struct posixtrace_event *e)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(t->w.job->fields, e->id);
    size_t n;

    put_text(t, " # ");
    if (strlen(e->name) <= TRACE_EVENT_NAME_MAX)
        t->at = pt_escape_string(t->at, e->name, PT_ESCAPE_TEXT, false);
    n = layout && e->data_len < COMMENT_MAX
            ? posixtrace_layout_text(layout, e->data, e->data_len, t->at + 1, COMMENT_MAX)
            : 0;
    if (n == 0 || n >= COMMENT_MAX)
        return;
    *t->at = ' ';
    t->at += 1 + n;
}

static void put_flags(struct text_writer *t, uint32_t header)
{
    if (!pt_kev_flags(header))
        return;
    put_text(t, " flags:");
    put_hex(t, pt_kev_flags(header));
}

/* As in INT_ENTR:0x00000003 (3) */
static void put_number(struct text_writer *t, uint32_t number)
{
    put_hex(t, number);
    put_text(t, " (");
    t->at = pt_number_i64(t->at, (int32_t)number);
    *t->at++ = ')';
}

static void put_arguments(struct text_writer *t, const struct label *l, uint32_t header,
                          const uint8_t *data, size_t length, bool cut, bool noted)
{
    unsigned type = pt_kev_type(header);

    if (l->number && length == 8 && !cut)
        put_number(t, pt_kev_load(data, false));
    put_flags(t, header);
    if (cut) {
        put_text(t, " cut:1");
        put_digits(t, "data", data, length);
    } else if (length == 8) {
        if (type >> 10 == PT_KEV_USER)
            *t->at++ = ',';
        put_fields(t, l->fast, data + (l->number ? 4 : 0), length);
    } else if (l->wide && length >= 4u * l->words &&
               (!l->string || is_text(data + 4u * l->words, length - 4u * l->words))) {
        put_fields(t, l->wide, data, length);
    } else if (type >> 10 == PT_KEV_USER && !noted && is_text(data, length)) {
        put_text(t, " STR:\"");
        put_text(t, (const char *)data);
        *t->at++ = '"';
    } else {
        put_digits(t, "data", data, length);
    }
}

static bool put_line(struct pt_kev_writer *w, uint32_t header, const uint8_t *data, size_t length,
                     int64_t ns, bool cut, const struct posixtrace_event *note)
{
    struct text_writer *t = (struct text_writer *)w;
    const struct label *l = label_of(t, pt_kev_type(header));

    if (!l || !begin_event(t, 2 * length, pt_kev_cpu(header), ns))
        return false;
    put_text(t, l->text);
    put_arguments(t, l, header, data, length, cut, note != NULL);
    if (note)
        put_comment(t, note);
    end_line(t);
    return w->count < PT_KEV_BUFFER_HIGH || close_buffer(w);
}

/* Arguments whose names only traceprinter knows. */
static bool put_text_line(struct pt_kev_writer *w, uint32_t header, const char *call,
                          const char *arguments, int64_t ns)
{
    struct text_writer *t = (struct text_writer *)w;
    struct pt_kev_about a;

    if (!begin_event(t, strlen(call) + strlen(arguments), pt_kev_cpu(header), ns))
        return false;
    if (pt_kev_type(header) != 0) {
        pt_kev_about(&w->rules, pt_kev_type(header), &a);
        t->at += sprintf(t->at,
                         "%-8s:", pt_kev_class(header) == PT_KEV_USER ? "USREVENT" : a.label);
    }
    put_text(t, call);
    *t->at++ = ' ';
    put_text(t, arguments);
    end_line(t);
    return w->count < PT_KEV_BUFFER_HIGH || close_buffer(w);
}

static bool head_line(struct pt_kev_writer *w, const char *name, const char *value)
{
    int n;

    if (strcmp(name, "HEADER_BEGIN") == 0)
        n = fputs("TRACEPRINTER version 1.02\nTRACEPARSER LIBRARY version 1.02\n"
                  " -- HEADER FILE INFORMATION -- \n",
                  w->job->file);
    else if (strcmp(name, "HEADER_END") == 0)
        n = fputs(" -- KERNEL EVENTS -- \n", w->job->file);
    else
        n = fprintf(w->job->file, "%*sTRACE_%s:: %s\n",
                    strlen(name) < 16 ? 16 - (int)strlen(name) : 0, "", name, value);
    if (n < 0)
        pt_job_fail_file(w->job);
    return n >= 0;
}

int pt_traceprinter_write(struct pt_job *job)
{
    struct text_writer *t = calloc(1, sizeof *t);

    if (t) {
        t->w.job = job;
        t->w.put = put_line;
        t->w.head_line = head_line;
        t->w.open = open_buffer;
        t->w.close = close_buffer;
        t->w.put_text = put_text_line;
        t->w.out = malloc(ROOM);
    }
    if (t && t->w.out)
        pt_kev_write_all(&t->w);
    else
        pt_job_fail(job, ENOMEM, "no memory");
    for (unsigned i = 0; t && i < PT_KEV_TYPES; i++)
        free(t->label[i]);
    if (t) {
        free(t->w.out);
        free(t->w.data);
        free(t->w.attributes);
    }
    free(t);
    return job->error;
}
