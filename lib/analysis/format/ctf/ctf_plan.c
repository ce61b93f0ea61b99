/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF, in the reading process: work that is the same for every event of a class, done
 * once.
 *
 * Most classes have only numbers and strings, without nesting.  For those the walk (ctf_walk.h)
 * becomes a list of steps at the first event of the class.  Process and thread of an event are
 * mostly in the context of its packet, which is read once a packet.
 */
#include <string.h>
#include "analysis/format/ctf/ctf_walk.h"

/* ---- the fields of an event ---- */

static enum ctf_step_kind kind_of(const bt_field_class *fc)
{
    if (ctf_is(fc, BT_FIELD_CLASS_TYPE_STRING))
        return CTF_STEP_STRING;
    if (ctf_is(fc, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
        return CTF_STEP_UNSIGNED;
    if (ctf_is(fc, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
        return CTF_STEP_SIGNED;
    if (ctf_is(fc, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
        return CTF_STEP_SINGLE;
    return ctf_is(fc, BT_FIELD_CLASS_TYPE_REAL) ? CTF_STEP_DOUBLE : CTF_STEP_NONE;
}

void pt_ctf_plan_add(struct ctf_map *map, enum ctf_scope scope, uint64_t index,
                     const bt_field_class *fc, bool counted)
{
    enum ctf_step_kind kind = counted ? CTF_STEP_NONE : kind_of(fc);

    if (kind == CTF_STEP_NONE || map->step_count == POSIXTRACE_FIELDS_MAX || index > UINT16_MAX) {
        map->planned = false;
        return;
    }
    map->steps[map->step_count++] = (struct ctf_step){
        .scope = (uint8_t)scope,
        .kind = (uint8_t)kind,
        .index = (uint16_t)index,
        .bytes = kind == CTF_STEP_STRING || kind == CTF_STEP_DOUBLE ? 8 : ctf_bits(fc) / 8u
    };
}

static size_t put_integer(uint8_t *to, uint64_t value, unsigned bytes)
{
    uint32_t four = (uint32_t)value;
    uint16_t two = (uint16_t)value;

    switch (bytes) {
    case 1: *to = (uint8_t)value; break;
    case 2: memcpy(to, &two, sizeof two); break;
    case 4: memcpy(to, &four, sizeof four); break;
    default: memcpy(to, &value, sizeof value); break;
    }
    return bytes;
}

/* Bytes written; more than room: nothing was, and the walk has to cut it. */
static size_t put_step(const struct ctf_step *step, const bt_field *field, uint8_t *to, size_t room)
{
    const char *text;
    size_t length = step->bytes;
    double wide;
    float single;

    if (step->kind == CTF_STEP_STRING) {
        text = ctf_string(field);
        length = strlen(text) + 1;
        if (length <= room)
            memcpy(to, text, length);
        return length;
    }
    if (length > room)
        return length;
    switch (step->kind) {
    case CTF_STEP_UNSIGNED:
        return put_integer(to, bt_field_integer_unsigned_get_value(field), step->bytes);
    case CTF_STEP_SIGNED:
        return put_integer(to, (uint64_t)bt_field_integer_signed_get_value(field), step->bytes);
    case CTF_STEP_SINGLE:
        single = bt_field_real_single_precision_get_value(field);
        memcpy(to, &single, sizeof single);
        return sizeof single;
    default:
        wide = bt_field_real_double_precision_get_value(field);
        memcpy(to, &wide, sizeof wide);
        return sizeof wide;
    }
}

static const bt_field *scope_of(const bt_event *event, enum ctf_scope scope)
{
    switch (scope) {
    case CTF_SCOPE_PAYLOAD: return bt_event_borrow_payload_field_const(event);
    case CTF_SCOPE_SPECIFIC: return bt_event_borrow_specific_context_field_const(event);
    case CTF_SCOPE_COMMON: return bt_event_borrow_common_context_field_const(event);
    case CTF_SCOPE_PACKET: break;
    }
    return bt_packet_borrow_context_field_const(bt_event_borrow_packet_const(event));
}

bool pt_ctf_plan_pack(const struct ctf_map *map, const bt_event *event, uint8_t *data, size_t *used)
{
    const bt_field *structure = NULL;
    size_t done = 0;

    for (unsigned i = 0; i < map->step_count; i++) {
        const struct ctf_step *step = &map->steps[i];

        if (i == 0 || step->scope != step[-1].scope)
            structure = scope_of(event, (enum ctf_scope)step->scope);
        done += put_step(
            step, bt_field_structure_borrow_member_field_by_index_const(structure, step->index),
            data + done, CTF_DATA_MAX - done);
        if (done > CTF_DATA_MAX)
            return false;
    }
    *used = done;
    return true;
}

/* ---- whose it is ---- */

bool pt_ctf_packet_known(struct ctf_packets *p, const bt_event *event, struct ctf_event *head)
{
    const bt_packet *packet = bt_event_borrow_packet_const(event);
    uint64_t hash = (uint64_t)(uintptr_t)packet * 0x9e3779b97f4a7c15u;
    struct ctf_packet *cell = &p->cell[hash >> 56 & (CTF_PACKETS - 1)];

    if (cell->packet == packet) {
        head->pid = cell->pid;
        head->tid = cell->tid;
        head->thread_id = cell->thread_id;
        memcpy(head->thread_name, cell->thread_name, sizeof head->thread_name);
        return true;
    }
    /* While it is held, no other packet can be at its address. */
    if (cell->packet)
        bt_packet_put_ref(cell->packet);
    bt_packet_get_ref(packet);
    cell->packet = packet;
    p->latest = cell;
    return false;
}

void pt_ctf_packet_keep(struct ctf_packets *p, const struct ctf_event *head)
{
    p->latest->pid = head->pid;
    p->latest->tid = head->tid;
    p->latest->thread_id = head->thread_id;
    memcpy(p->latest->thread_name, head->thread_name, sizeof head->thread_name);
}
