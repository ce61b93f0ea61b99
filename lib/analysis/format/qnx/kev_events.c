/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Events of a QNX trace, in order of time, become events of the log. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "analysis/format/qnx/kev_import.h"

enum { LOG_DATA_MAX = 61440, SHAPE_NONE = 0x3f, SHAPE_STRING = 0x40, SHAPE_KNOWN = 0x80 };

static const char lost_fields[] = "le; u32 buffers; u32 expected; u32 found";
static const char other_fields[] = "le; u8 cpu; x8 flags; u8 class; u16 event; u8 form; bytes data";

/* ---- forms ---- */

/* The contents of several records of the type: the number of words, and whether there is a
 * string. */
static unsigned shape_of(struct pt_kev_import *im, unsigned type)
{
    struct pt_kev_about a;
    bool string = false;
    unsigned words;

    if (im->shape[type])
        return im->shape[type];
    pt_kev_about(&im->rules, type, &a);
    words = a.wide ? pt_kev_words(a.wide, &string) : SHAPE_NONE;
    im->shape[type] = (uint8_t)(SHAPE_KNOWN | words | (string ? SHAPE_STRING : 0));
    return im->shape[type];
}

/* Text up to a zero byte in the last two words. */
static bool is_text(const uint8_t *data, size_t length)
{
    size_t text = strnlen((const char *)data, length);

    for (size_t i = 0; i < text; i++)
        if (data[i] < ' ' && data[i] != '\t' && data[i] != '\n')
            return false;
    return text > 0 && text < length && length - text <= 8;
}

static enum pt_kev_form form_of(struct pt_kev_import *im, const struct pt_kev_event *e)
{
    unsigned type = pt_kev_type(e->header), shape, words;

    if (e->text)
        return PT_KEV_TEXT;
    if (e->cut)
        return PT_KEV_BYTES;
    if (pt_kev_part(e->header) == PT_KEV_SIMPLE)
        return PT_KEV_FAST;
    if (pt_kev_class(e->header) == PT_KEV_USER)
        return is_text(e->data, e->length) ? PT_KEV_STRING : PT_KEV_BYTES;
    shape = shape_of(im, type);
    words = shape & SHAPE_NONE;
    if (words == SHAPE_NONE || e->length < 4 * words)
        return PT_KEV_BYTES;
    if (!(shape & SHAPE_STRING))
        return PT_KEV_WIDE;
    return is_text(e->data + 4 * words, e->length - 4 * words) ? PT_KEV_STRING : PT_KEV_BYTES;
}

/* NULL, with *other: there is no room for more types; or job->error is set. */
static struct pt_kev_type *type_of(struct pt_kev_import *im, unsigned type, enum pt_kev_form form,
                                   bool *other)
{
    uint16_t *slot = &im->slot[form][type];
    char description[320];
    struct pt_kev_type *t;

    *other = !*slot && im->types == PT_KEV_MOST_TYPES;
    if (*slot || *other)
        return *slot ? &im->type[*slot - 1] : NULL;
    t = &im->type[im->types++];
    *slot = im->types;
    pt_kev_name(&im->rules, type, form, t->name);
    pt_kev_describe(&im->rules, type, form, im->big_endian, description);
    t->words = (uint8_t)pt_kev_words(description, &t->string);
    if (form == PT_KEV_TEXT)
        t->words = 0;
    return pt_job_describe(im->job, t->name, description) ? t : NULL;
}

/* ---- data ---- */

static uint32_t word_of(const struct pt_kev_import *im, const struct pt_kev_event *e, size_t i)
{
    return pt_kev_load(e->data + 4 * i, im->big_endian);
}

/* Copies words in our byte order, and the rest unchanged. */
static void put_data(struct pt_kev_import *im, struct posixtrace_event *to,
                     const struct pt_kev_event *e, unsigned words, bool string)
{
    uint8_t *at = im->data + to->data_len;
    size_t length = e->length, room = LOG_DATA_MAX - to->data_len;

    if (string && !e->text)
        length = 4 * words + strlen((const char *)e->data + 4 * words) + 1;
    if (length > room) {
        pt_job_note(im->job, PT_KEV_NOTE_MANY,
                    "%s %" PRIu64 ": %zu bytes of data; an event "
                    "of ours has room for %zu of them",
                    im->unit, e->where, length, room);
        length = room;
        to->truncation = POSIX_TRACE_TRUNCATED_RECORD;
    }
    for (unsigned i = 0; i < words && 4 * (i + 1) <= length; i++)
        pt_kev_store(at + 4 * i, word_of(im, e, i));
    if (length > 4 * words)
        memcpy(at + 4 * words, e->data + 4 * words, length - 4 * words);
    to->data = im->data;
    to->data_len += length;
}

/* ---- threads ---- */

/* The thread that an event is about; else the one that runs on its processor, or NULL. */
static struct pt_kev_thread *thread_of(struct pt_kev_import *im, const struct pt_kev_event *e)
{
    unsigned class = pt_kev_class(e->header), number = pt_kev_number(e->header);
    char name[64] = "";

    if (e->text || (class != PT_KEV_PR_TH && class != PT_KEV_INT && class > PT_KEV_CONTROL))
        return im->running[pt_kev_cpu(e->header)];
    if (class != PT_KEV_PR_TH || e->length < 8)
        return NULL;
    if (number < PT_KEV_PROCESS)
        return pt_kev_thread(im, word_of(im, e, 0), word_of(im, e, 1));
    if (e->length > 8)
        memcpy(name, e->data + 8,
               e->length - 8 < sizeof name - 1 ? e->length - 8 : sizeof name - 1);
    if (number == PT_KEV_THREAD_NAME) {
        pt_kev_threads_name(im, word_of(im, e, 0), word_of(im, e, 1), name);
        return pt_kev_thread(im, word_of(im, e, 0), word_of(im, e, 1));
    }
    if (number == PT_KEV_CREATE_NAME)
        pt_kev_threads_name(im, word_of(im, e, 1), 0, name);
    return pt_kev_thread(im, word_of(im, e, 1), 0);
}

static void set_thread(struct pt_kev_import *im, struct posixtrace_event *to,
                       const struct pt_kev_thread *t)
{
    to->thread_name = t ? pt_kev_threads_name_of(im, t) : "";
    to->pid = t ? (pid_t)t->pid : 0;
    to->tid = t ? (pid_t)t->tid : 0;
    to->thread_id = t ? t->tid : 0;
}

/* ---- events ---- */

static bool add_gap(struct pt_kev_import *im, int64_t ns)
{
    struct posixtrace_event e = { .ns = ns, .thread_name = "", .name = "posix_trace_overflow" };

    pt_kev_threads_forget(im);
    if (!pt_job_add(im->job, &e))
        return false;
    e.name = "posix_trace_resume";
    return pt_job_add(im->job, &e);
}

static bool add_lost(struct pt_kev_import *im, const struct pt_kev_event *e)
{
    struct posixtrace_event to = { .ns = e->ns,
                                   .thread_name = "",
                                   .name = PT_KEV_LOST_EVENT,
                                   .data = e->data,
                                   .data_len = e->length };

    if (!im->described_lost && !pt_job_describe(im->job, to.name, lost_fields))
        return false;
    im->described_lost = true;
    return pt_job_add(im->job, &to) && add_gap(im, e->ns);
}

static bool add_header(struct pt_kev_import *im, int64_t ns)
{
    const char *at = im->attributes, *end = at + im->attribute_bytes;
    struct posixtrace_event to = { .ns = ns, .thread_name = "", .name = PT_KEV_HEADER_EVENT };

    im->begun = true;
    if (im->ours && !im->ours_of_qnx)
        return true;
    /* By this attribute export recognises the origin of the trace. */
    if (!im->attribute_bytes && !pt_kev_import_attribute(im, "ENCODING", "16 byte events"))
        return false;
    end = at + im->attribute_bytes;
    if (at < end && !pt_job_describe(im->job, to.name, "str name; str value"))
        return false;
    while (at < end) {
        const char *value = at + strlen(at) + 1, *next = value + strlen(value) + 1;

        to.data = at;
        to.data_len = (size_t)(next - at);
        if (to.data_len > LOG_DATA_MAX)
            pt_job_left_out(im->job, PT_KEV_NOTE_HEADER,
                            "header: %.40s has %zu bytes, more than "
                            "an event has room for: left out",
                            at, to.data_len);
        else if (strcmp(at, PT_KEV_ATTRIBUTE) != 0 && !pt_job_add(im->job, &to))
            return false;
        at = next;
    }
    return true;
}

static bool add_event(struct pt_kev_import *im, const struct pt_kev_event *e,
                      const struct pt_kev_thread *thread)
{
    enum pt_kev_form form = form_of(im, e);
    struct posixtrace_event to = { .ns = e->ns,
                                   .data_len = 2,
                                   .truncation = e->cut ? POSIX_TRACE_TRUNCATED_RECORD
                                                        : POSIX_TRACE_NOT_TRUNCATED };
    bool other;
    const struct pt_kev_type *t = type_of(im, pt_kev_type(e->header), form, &other);

    if (!t && !other)
        return false;
    im->data[0] = (uint8_t)pt_kev_cpu(e->header);
    im->data[1] = (uint8_t)pt_kev_flags(e->header);
    set_thread(im, &to, thread);
    if (other) {
        if (!im->described_other && !pt_job_describe(im->job, PT_KEV_OTHER_EVENT, other_fields))
            return false;
        im->described_other = true;
        to.name = PT_KEV_OTHER_EVENT;
        im->data[2] = (uint8_t)pt_kev_class(e->header);
        im->data[3] = (uint8_t)pt_kev_number(e->header);
        im->data[4] = (uint8_t)(pt_kev_number(e->header) >> 8);
        im->data[5] = (uint8_t)form;
        to.data_len = 6;
        put_data(im, &to, e, form == PT_KEV_FAST ? 2 : 0, false);
    } else {
        to.name = t->name;
        put_data(im, &to, e, t->words, t->string);
    }
    return pt_job_add(im->job, &to);
}

bool pt_kev_take(struct pt_kev_import *im, const struct pt_kev_event *e)
{
    struct pt_kev_thread *t;
    bool taken = false;

    if (!im->begun && !add_header(im, e->ns))
        return false;
    if (e->loss)
        return add_lost(im, e);
    if (im->ours && (!pt_kev_roundtrip_take(im, e, &taken) || taken))
        return taken;
    t = thread_of(im, e);
    if (t && !pt_kev_threads_before(im, e, t))
        return false;
    if (!add_event(im, e, t) || (t && !pt_kev_threads_after(im, e, t)))
        return false;
    return e->text || pt_kev_type(e->header) != (PT_KEV_CONTROL << 10 | PT_KEV_DROPPED) ||
           add_gap(im, e->ns);
}

bool pt_kev_import_end(struct pt_kev_import *im)
{
    return pt_kev_order_flush(im) && (im->begun || add_header(im, im->clock.base));
}
