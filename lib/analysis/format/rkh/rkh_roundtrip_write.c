/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export of any event as an RKH user event: rkh_roundtrip.h.  Threads and places in the
 * program are objects and functions with names; a number of them is known at a time,
 * and one that comes back after another took its number is defined again.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "analysis/format/rkh/rkh_write.h"

static void put_argument(struct pt_rkh_writer *w, unsigned format, unsigned bytes, uint64_t v)
{
    pt_rkh_put_number(&w->frame, 1, format);
    pt_rkh_put_number(&w->frame, bytes, v);
}

static void put_text(struct pt_rkh_writer *w, const char *text)
{
    pt_rkh_put_number(&w->frame, 1, PT_RKH_STR);
    pt_rkh_put_string(&w->frame, text, strlen(text));
}

/* In pieces that RKH's blocks of memory can have. */
static void put_memory(struct pt_rkh_writer *w, const void *from, size_t len)
{
    const uint8_t *at = from;

    while (len) {
        size_t piece = len > 255 ? 255 : len;

        pt_rkh_put_number(&w->frame, 1, PT_RKH_MEM);
        pt_rkh_put_number(&w->frame, 1, piece);
        pt_rkh_put(&w->frame, at, piece);
        at += piece;
        len -= piece;
    }
}

static void put_memory_number(struct pt_rkh_writer *w, uint64_t v)
{
    uint8_t bytes[8];

    pt_rkh_store(bytes, 8, v);
    put_memory(w, bytes, 8);
}

static void begin_meta(struct pt_rkh_writer *w, const char *word)
{
    pt_rkh_frame_begin(w, PT_RKH_USER + PT_RKH_USER_META);
    put_text(w, word);
}

static bool name_user_event(struct pt_rkh_writer *w, unsigned id, const char *name)
{
    pt_rkh_frame_begin(w, PT_RKH_FWK_TUSR);
    pt_rkh_put_number(&w->frame, 1, id);
    pt_rkh_put_string(&w->frame, name, strlen(name));
    w->taken[id] = w->taken_by_us[id] = true;
    return pt_rkh_frame_end(w);
}

static bool begin_ours(struct pt_rkh_writer *w)
{
    if (!name_user_event(w, PT_RKH_USER_META, PT_RKH_META_NAME))
        return false;
    w->ours = true;
    begin_meta(w, "begin");
    put_argument(w, PT_RKH_UI8, 1, PT_RKH_VERSION);
    put_argument(w, PT_RKH_UI32, 4, w->rate);
    return pt_rkh_frame_end(w);
}

/* The clock shows what it showed, and means ns from now on. */
static bool tell_time(struct pt_rkh_writer *w, int64_t ns)
{
    w->base_ns = ns;
    w->base_ticks = w->ticks;
    begin_meta(w, "time");
    put_memory_number(w, (uint64_t)ns);
    return pt_rkh_frame_end(w);
}

/* ---- types, threads, places ---- */

static bool tell_type(struct pt_rkh_writer *w, const struct pt_rkh_slot *slot, const char *name,
                      const char *description)
{
    begin_meta(w, "type");
    put_argument(w, PT_RKH_UI16, 2, slot->number);
    put_argument(w, PT_RKH_UI8, 1, slot->id);
    put_text(w, name);
    put_text(w, description);
    if (!pt_rkh_frame_end(w))
        return false;
    return w->taken_by_us[slot->id] ||
           name_user_event(w, slot->id, slot->id == PT_RKH_USER_MORE ? PT_RKH_MORE_NAME : name);
}

/* The type of an event; a description may come later than its first event. */
static bool want_type(struct pt_rkh_writer *w, struct pt_rkh_slot *slot,
                      const struct posixtrace_event *e, const posixtrace_layout_t *layout)
{
    char description[POSIXTRACE_DESCRIPTION_MAX + 1] = "";
    int id = PT_RKH_USER_FIRST;

    if (slot->number && (slot->described || !layout))
        return true;
    if (layout)
        slot->described = posixtrace_event_description(w->job->trid, e->id, description,
                                                       sizeof description) == 0;
    if (!slot->number) {
        while (id >= 0 && w->taken[id])
            id--;
        slot->id = id >= 0 ? (uint8_t)id : PT_RKH_USER_MORE;
        slot->number = ++w->numbers;
    }
    return tell_type(w, slot, e->name, description);
}

/* The number of a thread; 0: of none.  False: an error. */
static bool want_thread(struct pt_rkh_writer *w, const struct posixtrace_event *e, uint64_t *number)
{
    uint64_t hash = (e->thread_id ^ (uint64_t)(uint32_t)e->tid << 20 ^ (uint32_t)e->pid) *
                    0x9e3779b97f4a7c15u;
    unsigned i = (unsigned)(hash >> 40) % PT_RKH_THREADS;
    struct pt_rkh_thread_key *k = &w->thread[i];

    *number = 0;
    if (!e->tid && !e->pid && !e->thread_id && !*e->thread_name)
        return true;
    *number = PT_RKH_THREAD_BASE + i;
    if (k->sent && k->thread_id == e->thread_id && k->tid == e->tid && k->pid == e->pid &&
        strncmp(k->name, e->thread_name, sizeof k->name - 1) == 0)
        return true;
    k->sent = true;
    k->thread_id = e->thread_id;
    k->tid = e->tid;
    k->pid = e->pid;
    memset(k->name, 0, sizeof k->name);
    memcpy(k->name, e->thread_name, strnlen(e->thread_name, sizeof k->name - 1));
    pt_rkh_frame_begin(w, PT_RKH_FWK_OBJ);
    pt_rkh_put_number(&w->frame, w->config.pointer, *number);
    pt_rkh_put_string(&w->frame, k->name, strlen(k->name));
    if (!pt_rkh_frame_end(w))
        return false;
    begin_meta(w, "thread");
    put_argument(w, PT_RKH_OBJ, w->config.pointer, *number);
    put_argument(w, PT_RKH_UI32, 4, (uint32_t)e->pid);
    put_argument(w, PT_RKH_UI32, 4, (uint32_t)e->tid);
    put_memory_number(w, e->thread_id);
    put_text(w, k->name);
    return pt_rkh_frame_end(w);
}

static bool want_place(struct pt_rkh_writer *w, uint64_t address, uint64_t *number)
{
    unsigned i = (unsigned)(address * 0x9e3779b97f4a7c15u >> 40) % PT_RKH_PLACES;
    char name[24];

    *number = 0;
    if (address == 0)
        return true;
    *number = PT_RKH_PLACE_BASE + i;
    if (w->place[i] == address)
        return true;
    w->place[i] = address;
    pt_rkh_frame_begin(w, PT_RKH_FWK_FUN);
    pt_rkh_put_number(&w->frame, w->config.pointer, *number);
    pt_rkh_put_string(&w->frame, name, (size_t)snprintf(name, sizeof name, "0x%" PRIx64, address));
    return pt_rkh_frame_end(w);
}

/* ---- data ---- */

/* The format of a number, or PT_RKH_MEM: it has none. */
static unsigned format_of(const struct posixtrace_field *f)
{
    bool is_signed = f->kind == POSIXTRACE_FIELD_SIGNED;

    if (f->kind == POSIXTRACE_FIELD_FLOAT || f->bits == 64)
        return PT_RKH_MEM;
    if (f->bits == 8)
        return is_signed ? PT_RKH_I8 : PT_RKH_UI8;
    if (f->bits == 16)
        return is_signed ? PT_RKH_I16 : PT_RKH_UI16;
    return is_signed ? PT_RKH_I32 : f->kind == POSIXTRACE_FIELD_HEX ? PT_RKH_X32 : PT_RKH_UI32;
}

static void put_count(struct pt_rkh_writer *w, unsigned bits, uint64_t count)
{
    put_argument(w,
                 bits == 8    ? PT_RKH_UI8
                 : bits == 16 ? PT_RKH_UI16
                              : PT_RKH_UI32,
                 bits / 8, count);
}

static void put_field(struct pt_rkh_writer *w, const posixtrace_layout_t *layout, size_t i,
                      const struct posixtrace_value *v)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout, i);
    size_t count = f->count ? f->count : v->count;
    unsigned format;

    if (f->count_bits)
        put_count(w, f->count_bits, v->count);
    if (f->kind == POSIXTRACE_FIELD_STRING && !f->count && !f->count_bits) {
        pt_rkh_put_number(&w->frame, 1, PT_RKH_STR);
        pt_rkh_put(&w->frame, v->at, v->count + 1);
        return;
    }
    if (f->kind >= POSIXTRACE_FIELD_STRING ||
        (f->array && (f->kind == POSIXTRACE_FIELD_CHAR || count > 16)))
        format = PT_RKH_MEM;
    else
        format = format_of(f);
    if (format == PT_RKH_MEM) {
        put_memory(w, v->at, count * (f->bits / 8));
        return;
    }
    for (size_t n = 0; n < count; n++)
        put_argument(w, format, f->bits / 8, posixtrace_value_integer(layout, i, v, n));
}

static void put_data(struct pt_rkh_writer *w, const posixtrace_layout_t *layout,
                     const struct posixtrace_event *e)
{
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    size_t fields;

    if (!layout || posixtrace_layout_split(layout, e->data, e->data_len, values, &fields) != 0) {
        put_memory(w, e->data, e->data_len);
        return;
    }
    for (size_t i = 0; i < fields; i++)
        put_field(w, layout, i, &values[i]);
}

static bool write_cut(struct pt_rkh_writer *w, int truncation)
{
    begin_meta(w, "cut");
    put_argument(w, PT_RKH_UI8, 1, (uint8_t)truncation);
    return pt_rkh_frame_end(w);
}

bool pt_rkh_write_ours(struct pt_rkh_writer *w, struct pt_rkh_slot *slot,
                       const struct posixtrace_event *e)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(w->job->fields, e->id);
    uint64_t thread, place;

    if (w->config.pointer < 4 || !(w->config.bits & PT_RKH_TIMESTAMP)) {
        pt_job_left_out(w->job, PT_RKH_LEFT_CONFIG,
                        "event %" PRIu64 ": the target's "
                        "configuration in this log, with pointers of %u bytes%s, has no room",
                        w->job->c->events, w->config.pointer,
                        w->config.bits & PT_RKH_TIMESTAMP ? "" : " and without times");
        return true;
    }
    if (!w->ours && (!begin_ours(w) || !tell_time(w, e->ns)))
        return false;
    if ((!pt_rkh_advance(w, e->ns) && !tell_time(w, e->ns)) || !want_type(w, slot, e, layout) ||
        !want_thread(w, e, &thread) || !want_place(w, e->prog_address, &place) ||
        (e->truncation && !write_cut(w, e->truncation)))
        return false;
    pt_rkh_frame_begin(w, PT_RKH_USER + slot->id);
    if (slot->id == PT_RKH_USER_MORE)
        put_argument(w, PT_RKH_UI16, 2, slot->number);
    put_argument(w, PT_RKH_OBJ, w->config.pointer, thread);
    put_argument(w, PT_RKH_FUN, w->config.pointer, place);
    put_data(w, layout, e);
    return pt_rkh_frame_end(w);
}
