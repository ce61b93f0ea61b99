/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export of what was imported from RKH, as the records that it was.  What does not fit
 * the configuration that is in force goes out as any other event.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/format/rkh/rkh_write.h"

/* Data that is taken off the front. */
struct taken {
    const uint8_t *at;
    size_t left;
};

static bool skip_string(struct taken *t, const char **text)
{
    size_t len = strnlen((const char *)t->at, t->left);

    if (len == t->left)
        return false;
    *text = (const char *)t->at;
    t->at += len + 1;
    t->left -= len + 1;
    return true;
}

static bool take_value(struct taken *t, unsigned bytes, uint64_t *v)
{
    if (t->left < bytes)
        return false;
    *v = pt_rkh_load(t->at, bytes);
    t->at += bytes;
    t->left -= bytes;
    return true;
}

static bool put_arg(struct pt_rkh_writer *w, struct taken *t, const struct pt_rkh_arg *a)
{
    unsigned width = pt_rkh_width(&w->config, a->kind), ours = pt_rkh_width_of_ours(a->kind);
    bool there = pt_rkh_config_has(&w->config, a->when);
    const char *text;
    uint64_t v;

    if (a->kind == 's') {
        if (!skip_string(t, &text))
            return false;
        pt_rkh_put_string(&w->frame, text, strlen(text));
        return true;
    }
    if (a->kind == 'r') {
        pt_rkh_put(&w->frame, t->at, t->left);
        t->left = 0;
        return true;
    }
    if (!take_value(t, ours, &v) || (pt_rkh_has_name(a->kind) && !skip_string(t, &text)))
        return false;
    if (a->when && v == pt_rkh_none(ours))
        v = pt_rkh_none(width);
    else if (!there || v > pt_rkh_none(width))
        return false;
    if (there)
        pt_rkh_put_number(&w->frame, width, v);
    return true;
}

static bool put_record(struct pt_rkh_writer *w, const struct pt_rkh_type *type,
                       const struct posixtrace_event *e)
{
    struct taken t = { e->data, e->data_len };
    unsigned i = 0;

    while (i < type->count && put_arg(w, &t, &type->args[i]))
        i++;
    return i == type->count && t.left == 0 && !w->frame.full;
}

/* ---- user events ---- */

/* The number of the user event of that name; -1: it has none here. */
static int user_id(const struct pt_rkh_writer *w, const char *name)
{
    const char *form = strrchr(name, '#');
    size_t len = form && form[1] && !form[1 + strspn(form + 1, "0123456789")]
                     ? (size_t)(form - name)
                     : strlen(name);
    char *end;
    unsigned long id = strtoul(name, &end, 10);

    if (*name >= '0' && *name <= '9' && end == name + len)
        return id < PT_RKH_USER_IDS ? (int)id : -1;
    for (unsigned i = 0; i < PT_RKH_USER_IDS; i++)
        if (len && strncmp(w->user_name[i], name, len) == 0 && !w->user_name[i][len])
            return (int)i;
    return -1;
}

static unsigned digits_shown(const char *field)
{
    const char *w = strstr(field, "_w");

    return w ? (unsigned)strtoul(w + 2, NULL, 10) & 15 : 0;
}

static unsigned user_format(const struct posixtrace_field *f)
{
    bool is_signed = f->kind == POSIXTRACE_FIELD_SIGNED;

    if (strncmp(f->name, "obj", 3) == 0)
        return PT_RKH_OBJ;
    if (strncmp(f->name, "fun", 3) == 0)
        return PT_RKH_FUN;
    if (strncmp(f->name, "sig", 3) == 0)
        return PT_RKH_SIG;
    if (f->kind == POSIXTRACE_FIELD_STRING)
        return PT_RKH_STR;
    if (f->kind == POSIXTRACE_FIELD_BYTES)
        return PT_RKH_MEM;
    if (f->kind == POSIXTRACE_FIELD_HEX)
        return PT_RKH_X32;
    return (f->bits == 8 ? 0 : f->bits == 16 ? 2 : 4) + !is_signed;
}

/* Anybody may call an event "rkh:USR:...", with whatever fields. */
static bool is_of_rkh(const struct posixtrace_field *f, unsigned format)
{
    if (format == PT_RKH_STR || format == PT_RKH_MEM)
        return format == PT_RKH_STR
                   ? f->kind == POSIXTRACE_FIELD_STRING && !f->count && !f->count_bits
                   : f->count_bits == 8;
    return !f->array && f->kind <= POSIXTRACE_FIELD_HEX &&
           (format >= PT_RKH_OBJ || (format == PT_RKH_X32 ? f->bits == 32 : f->bits <= 32));
}

static bool put_user_field(struct pt_rkh_writer *w, const posixtrace_layout_t *layout, size_t i,
                           const struct posixtrace_value *v)
{
    const struct posixtrace_field *f = posixtrace_layout_field(layout, i);
    unsigned format = user_format(f);
    uint64_t value;
    unsigned width;

    if (strstr(f->name, "_name"))
        return true;
    if (!is_of_rkh(f, format))
        return false;
    pt_rkh_put_number(&w->frame, 1, digits_shown(f->name) << 4 | format);
    if (format == PT_RKH_STR || format == PT_RKH_MEM) {
        if (format == PT_RKH_MEM)
            pt_rkh_put_number(&w->frame, 1, v->count);
        pt_rkh_put(&w->frame, v->at, v->count + (format == PT_RKH_STR));
        return true;
    }
    value = posixtrace_value_integer(layout, i, v, 0);
    width = format == PT_RKH_SIG   ? w->config.signal
            : format >= PT_RKH_OBJ ? w->config.pointer
                                   : f->bits / 8;
    if (format >= PT_RKH_OBJ && value > pt_rkh_none(width))
        return false;
    pt_rkh_put_number(&w->frame, width, value);
    return true;
}

static bool put_user(struct pt_rkh_writer *w, const struct posixtrace_event *e)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(w->job->fields, e->id);
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    size_t count;

    if (!layout)
        return e->data_len == 0;
    if (posixtrace_layout_split(layout, e->data, e->data_len, values, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!put_user_field(w, layout, i, &values[i]))
            return false;
    return !w->frame.full;
}

/* ---- events that are not records ---- */

static bool write_lost(struct pt_rkh_writer *w, const struct posixtrace_event *e)
{
    if (e->data_len == 6)
        w->sequence = ((const uint8_t *)e->data)[5];
    w->swallow = 2;
    return true;
}

bool pt_rkh_take_config(struct pt_rkh_writer *w, const struct posixtrace_event *e)
{
    const uint8_t *p = e->data;
    uint64_t rate;

    if (e->data_len != 21)
        return false;
    for (int i = 6; i < 14; i++)
        if (p[i] != 1 && p[i] != 2 && p[i] != 4 && (p[i] != 8 || i != 8))
            return false;
    w->config.version = (uint16_t)pt_rkh_load(p, 2);
    w->config.bits = (uint32_t)pt_rkh_load(p + 2, 4) & PT_RKH_BITS;
    w->config.signal = p[6];
    w->config.timestamp = p[7];
    w->config.pointer = p[8];
    w->config.tick = p[9];
    w->config.nblock = p[10];
    w->config.nelem = p[11];
    w->config.esize = p[12];
    w->config.bsize = p[13];
    w->config.pools = p[14] & 15;
    w->config.hz = (uint16_t)pt_rkh_load(p + 15, 2);
    rate = pt_rkh_load(p + 17, 4);
    if (!w->rate_given && !w->ours && rate > 0 && rate <= 1000000000u)
        w->rate = rate;
    return true;
}

/* Names that the target gave its user events; false: we have taken that number. */
static bool learn_user(struct pt_rkh_writer *w, const struct posixtrace_event *e)
{
    const uint8_t *p = e->data;
    unsigned id = e->data_len > 4 ? (unsigned)pt_rkh_load(p, 4) & (PT_RKH_USER_IDS - 1) : 0;
    size_t len = e->data_len > 4 ? strnlen((const char *)p + 4, e->data_len - 4) : 0;

    if (len == 0 || w->taken_by_us[id])
        return len == 0;
    w->taken[id] = true;
    memset(w->user_name[id], 0, sizeof w->user_name[id]);
    memcpy(w->user_name[id], p + 4, len < PT_RKH_NAME_MAX ? len : PT_RKH_NAME_MAX);
    return true;
}

/* The number of the frame that the event was; -1: there is none.  *skip bytes of its
 * data are not arguments. */
static int frame_id(struct pt_rkh_writer *w, const struct pt_rkh_slot *slot,
                    const struct posixtrace_event *e, size_t *skip)
{
    uint64_t id;

    *skip = 0;
    if (slot->record >= 0)
        return slot->record;
    if (strcmp(e->name, "rkh:UNKNOWN") == 0 && e->data_len >= 4) {
        id = pt_rkh_load(e->data, 4);
        *skip = 4;
        return id < 256 ? (int)id : -1;
    }
    if (strcmp(e->name, "rkh:USR") == 0 && e->data_len >= 1) {
        id = pt_rkh_load(e->data, 1);
        *skip = 1;
    } else {
        id = strncmp(e->name, "rkh:USR:", 8) == 0 ? (uint64_t)user_id(w, e->name + 8)
                                                  : PT_RKH_USER_IDS;
    }
    if (id >= PT_RKH_USER_IDS || w->taken_by_us[id])
        return -1;
    w->taken[id] = true;
    return (int)id + PT_RKH_USER;
}

bool pt_rkh_write_native(struct pt_rkh_writer *w, struct pt_rkh_slot *slot,
                         const struct posixtrace_event *e, bool *done)
{
    size_t skip;
    int id;

    *done = true;
    if (!w->ours && strcmp(e->name, "rkh:LOST") == 0)
        return write_lost(w, e);
    if (!w->ours && strcmp(e->name, "rkh:DAMAGED") == 0) {
        pt_job_left_out(w->job, PT_RKH_LEFT_DAMAGE, "'rkh:DAMAGED' is no frame");
        return true;
    }
    if (slot->record == PT_RKH_FWK_TCFG && pt_rkh_take_config(w, e))
        return pt_rkh_write_config(w, w->ours ? PT_RKH_OURS : 0);
    *done = slot->record != PT_RKH_FWK_TCFG &&
            (slot->record != PT_RKH_FWK_TUSR || learn_user(w, e));
    id = *done ? frame_id(w, slot, e, &skip) : -1;
    *done = id >= 0 && pt_rkh_advance(w, e->ns);
    if (!*done)
        return true;
    pt_rkh_frame_begin(w, (unsigned)id);
    if (skip)
        pt_rkh_put(&w->frame, (const uint8_t *)e->data + skip, e->data_len - skip);
    *done = skip                ? !w->frame.full
            : slot->record >= 0 ? put_record(w, &w->types.of[id], e)
                                : put_user(w, e);
    return !*done || pt_rkh_frame_end(w);
}
