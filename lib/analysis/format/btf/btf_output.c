/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Lines of a BTF file into a buffer, without printf; names that are unique. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/btf/btf_tasks.h"

enum { FIELD_MAX = 1200, NOTE_MAX = PT_BTF_LINE_MAX - 4 * FIELD_MAX, NAME_SHOWN = 200 };

void pt_btf_flush(struct pt_btf_writer *w)
{
    if (w->used && fwrite_unlocked(w->out, 1, w->used, w->job->file) != w->used)
        pt_job_fail_file(w->job);
    w->used = 0;
}

static char *put_text(char *to, const char *text, size_t most)
{
    size_t n = strlen(text);

    n = n < most ? n : most;
    memcpy(to, text, n);
    return to + n;
}

static char *put_integer(char *to, int64_t value)
{
    char digits[20];
    size_t n = sizeof digits;
    uint64_t v = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    if (value < 0)
        *to++ = '-';
    do
        digits[--n] = (char)('0' + v % 10);
    while (v /= 10);
    memcpy(to, digits + n, sizeof digits - n);
    return to + sizeof digits - n;
}

static char *put_instance(char *to, int64_t value)
{
    return value == PT_BTF_NO_INSTANCE ? to : put_integer(to, value);
}

void pt_btf_text_line(struct pt_btf_writer *w, int64_t time, const char *source,
                      int64_t source_instance, const char *type, const char *target,
                      int64_t target_instance, const char *action, const char *note)
{
    char *to;

    if (w->used + PT_BTF_LINE_MAX > PT_BTF_OUT_BUFFER)
        pt_btf_flush(w);
    to = put_integer(w->out + w->used, time);
    *to++ = ',';
    to = put_text(to, source, FIELD_MAX);
    *to++ = ',';
    to = put_instance(to, source_instance);
    *to++ = ',';
    to = put_text(to, type, FIELD_MAX);
    *to++ = ',';
    to = put_text(to, target, FIELD_MAX);
    *to++ = ',';
    to = put_instance(to, target_instance);
    *to++ = ',';
    to = put_text(to, action, FIELD_MAX);
    if (note && *note) {
        if (strlen(note) > NOTE_MAX)
            pt_job_note(w->job, PT_BTF_NOTE_LONG,
                        "the data of an event is cut off at %d bytes of "
                        "text",
                        NOTE_MAX);
        *to++ = ',';
        to = put_text(to, note, NOTE_MAX);
    }
    *to++ = '\n';
    w->used = (size_t)(to - w->out);
}

void pt_btf_line(struct pt_btf_writer *w, uint32_t source, int64_t source_instance, unsigned type,
                 uint32_t target, int64_t target_instance, const char *action, const char *note)
{
    if (!(w->excluded & PT_BTF_BIT(type)))
        pt_btf_text_line(w, w->time, w->names.texts[source], source_instance,
                         pt_btf_type_name(type), w->names.texts[target], target_instance, action,
                         note);
}

void pt_btf_clean(char *text)
{
    char *end = text + strlen(text);

    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == ',')
            *c = '_';
    if (*text == ' ')
        *text = '_';
    if (end > text && end[-1] == ' ')
        end[-1] = '_';
}

uint32_t pt_btf_claim(struct pt_btf_writer *w, const char *wanted)
{
    char name[NAME_SHOWN + 1], text[NAME_SHOWN + 16];
    uint32_t number;

    snprintf(name, sizeof name, "%s", *wanted ? wanted : "_");
    pt_btf_clean(name);
    strcpy(text, name);
    for (unsigned n = 2; pt_btf_names_find(&w->names, text) != PT_BTF_NO_NAME; n++)
        snprintf(text, sizeof text, "%s_%u", name, n);
    number = pt_btf_names_put(&w->names, text);
    if (number == PT_BTF_NO_NAME)
        pt_job_note(w->job, PT_BTF_NOTE_MANY, "more than %d entities; '%s' is one more",
                    PT_BTF_NAMES_MAX, text);
    return number;
}
