/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF, in the reading process: maps the events of a class to event types, and finds their
 * process, thread and processor.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/format/ctf/ctf_walk.h"

static const bt_field_class *packet_context_class(const bt_event_class *class)
{
    return bt_stream_class_borrow_packet_context_field_class_const(
        bt_event_class_borrow_stream_class_const(class));
}

static const bt_field *packet_context(const bt_event *event)
{
    const bt_stream_class *class = bt_event_class_borrow_stream_class_const(
        bt_event_borrow_class_const(event));

    if (!bt_stream_class_supports_packets(class))
        return NULL;
    return bt_packet_borrow_context_field_const(bt_event_borrow_packet_const(event));
}

/* Everything, in the order of the description; event is NULL where it describes. */
static void walk_event(struct ctf_walk *w, const bt_event_class *class, const bt_event *event)
{
    const bt_stream_class *stream = bt_event_class_borrow_stream_class_const(class);
    const bt_field_class *packet = packet_context_class(class);

    pt_ctf_walk_scope(w, bt_event_class_borrow_payload_field_class_const(class),
                      event ? bt_event_borrow_payload_field_const(event) : NULL, "fields", false);
    pt_ctf_walk_scope(w, bt_event_class_borrow_specific_context_field_class_const(class),
                      event ? bt_event_borrow_specific_context_field_const(event) : NULL,
                      "specific_context", false);
    pt_ctf_walk_scope(w, bt_stream_class_borrow_event_common_context_field_class_const(stream),
                      event ? bt_event_borrow_common_context_field_const(event) : NULL, "context",
                      true);
    if (w->map->has_cpu && !w->full && !w->over)
        pt_ctf_walk(w,
                    bt_field_class_structure_member_borrow_field_class_const(
                        bt_field_class_structure_borrow_member_by_index_const(packet, w->map->cpu)),
                    event ? bt_field_structure_borrow_member_field_by_index_const(
                                packet_context(event), w->map->cpu)
                          : NULL,
                    "cpu_id");
}

/* ---- who, and where ---- */

static bool find_member(const bt_field_class *fc, const char *name, bt_field_class_type type,
                        uint64_t *index)
{
    uint64_t count = fc ? bt_field_class_structure_get_member_count(fc) : 0;

    for (uint64_t i = 0; i < count; i++) {
        const bt_field_class_structure_member
            *m = bt_field_class_structure_borrow_member_by_index_const(fc, i);

        if (strcmp(bt_field_class_structure_member_get_name(m), name) == 0) {
            *index = i;
            return ctf_is(bt_field_class_structure_member_borrow_field_class_const(m), type);
        }
    }
    return false;
}

static void find_places(struct ctf_map *map)
{
    static const struct {
        enum ctf_identity what;
        const char *name;
        bool in_packet, ours;
        bt_field_class_type type;
    } names[] = {
        { CTF_PID, "vpid", false, false, BT_FIELD_CLASS_TYPE_INTEGER },
        { CTF_PID, "pid", false, false, BT_FIELD_CLASS_TYPE_INTEGER },
        { CTF_PID, "vpid", true, false, BT_FIELD_CLASS_TYPE_INTEGER },
        { CTF_PID, "pid", true, false, BT_FIELD_CLASS_TYPE_INTEGER },
        { CTF_TID, "vtid", false, false, BT_FIELD_CLASS_TYPE_INTEGER },
        { CTF_TID, "tid", false, false, BT_FIELD_CLASS_TYPE_INTEGER },
        { CTF_TID, "vtid", true, false, BT_FIELD_CLASS_TYPE_INTEGER },
        { CTF_TID, "tid", true, false, BT_FIELD_CLASS_TYPE_INTEGER },
        { CTF_NAME, "procname", false, false, BT_FIELD_CLASS_TYPE_STRING },
        { CTF_NAME, "thread_name", true, true, BT_FIELD_CLASS_TYPE_STRING },
        { CTF_ADDRESS, "ip", false, false, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER },
        { CTF_TRUNCATED, "truncated", false, true, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER },
        { CTF_THREAD_ID, "thread_id", true, true, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER },
    };
    const bt_field_class *packet = packet_context_class(map->class);
    const bt_field_class *common = bt_stream_class_borrow_event_common_context_field_class_const(
        bt_event_class_borrow_stream_class_const(map->class));

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct ctf_place *p = &map->place[names[i].what];

        if (p->known || (names[i].ours && !map->ours))
            continue;
        p->known = find_member(names[i].in_packet ? packet : common, names[i].name, names[i].type,
                               &p->index);
        p->in_packet = names[i].in_packet;
    }
    map->has_cpu = find_member(packet, "cpu_id", BT_FIELD_CLASS_TYPE_INTEGER, &map->cpu);
}

/* Takes values from the environment of the trace. */
static void look_at_environment(struct ctf_map *map, const bt_event *event)
{
    const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
    const bt_value *v = bt_trace_borrow_environment_entry_value_by_name_const(trace, "tracer_name");

    map->ours = v && bt_value_is_string(v) && strcmp(bt_value_string_get(v), "posixtrace") == 0;
    v = bt_trace_borrow_environment_entry_value_by_name_const(trace, "vpid");
    if (v && bt_value_is_signed_integer(v))
        map->trace_pid = (int32_t)bt_value_integer_signed_get(v);
}

static bool is_raw(const bt_field_class *payload)
{
    uint64_t length, data;

    return payload && bt_field_class_structure_get_member_count(payload) == 2 &&
           find_member(payload, "_data_length", BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER, &length) &&
           find_member(payload, "data", BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY, &data);
}

static void plan_scope(struct ctf_map *map, const bt_field_class *fc, enum ctf_scope scope)
{
    uint64_t count = fc ? bt_field_class_structure_get_member_count(fc) : 0;
    bool counted = false;

    for (uint64_t i = 0; i < count && map->planned; i++) {
        bool is_length = pt_ctf_is_length_of_next(fc, i);

        if (scope == CTF_SCOPE_COMMON && pt_ctf_is_identity(map, i))
            continue;
        if (!is_length)
            pt_ctf_plan_add(map, scope, i,
                            bt_field_class_structure_member_borrow_field_class_const(
                                bt_field_class_structure_borrow_member_by_index_const(fc, i)),
                            counted);
        counted = is_length;
    }
}

/* In the order of walk_event(). */
static void make_plan(struct ctf_map *map)
{
    const bt_field_class *packet = packet_context_class(map->class);

    map->planned = true;
    plan_scope(map, bt_event_class_borrow_payload_field_class_const(map->class), CTF_SCOPE_PAYLOAD);
    plan_scope(map, bt_event_class_borrow_specific_context_field_class_const(map->class),
               CTF_SCOPE_SPECIFIC);
    plan_scope(map,
               bt_stream_class_borrow_event_common_context_field_class_const(
                   bt_event_class_borrow_stream_class_const(map->class)),
               CTF_SCOPE_COMMON);
    if (map->has_cpu && map->planned)
        pt_ctf_plan_add(
            map, CTF_SCOPE_PACKET, map->cpu,
            bt_field_class_structure_member_borrow_field_class_const(
                bt_field_class_structure_borrow_member_by_index_const(packet, map->cpu)),
            false);
}

void pt_ctf_map_make(struct ctf_map *map, const bt_event *event)
{
    struct ctf_walk *w = malloc(sizeof *w);

    if (!w)
        abort();
    look_at_environment(map, event);
    find_places(map);
    map->raw = map->ours && is_raw(bt_event_class_borrow_payload_field_class_const(map->class));
    for (unsigned detail = CTF_ALL; detail <= CTF_TEXT && !map->raw; detail++) {
        memset(w, 0, sizeof *w);
        w->map = map;
        w->detail = map->detail = (enum ctf_detail)detail;
        w->text = map->description;
        map->description[0] = '\0';
        walk_event(w, map->class, NULL);
        if (!w->full)
            break;
    }
    free(w);
    if (!map->raw && map->detail != CTF_TEXT)
        make_plan(map);
    for (unsigned k = 0; k < CTF_IDENTITIES; k++)
        map->by_packet = map->by_packet || (map->place[k].known && map->place[k].in_packet);
}

static const bt_field *identity(const struct ctf_map *map, const bt_event *event,
                                enum ctf_identity what)
{
    const struct ctf_place *p = &map->place[what];
    const bt_field *from;

    if (!p->known)
        return NULL;
    from = p->in_packet ? packet_context(event) : bt_event_borrow_common_context_field_const(event);
    return from ? bt_field_structure_borrow_member_field_by_index_const(from, p->index) : NULL;
}

static uint64_t number(const bt_field *field, uint64_t otherwise)
{
    if (!field)
        return otherwise;
    if (bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
        return (uint64_t)bt_field_integer_signed_get_value(field);
    return bt_field_integer_unsigned_get_value(field);
}

static void fill_in_names(const struct ctf_map *map, const bt_event *from, struct ctf_event *event)
{
    const bt_field *name = identity(map, from, CTF_NAME);
    const char *text = name ? ctf_string(name) : "";

    event->pid = (int32_t)number(identity(map, from, CTF_PID), (uint64_t)map->trace_pid);
    event->tid = (int32_t)number(identity(map, from, CTF_TID), 0);
    event->thread_id = number(identity(map, from, CTF_THREAD_ID), 0);
    memcpy(event->thread_name, text, strnlen(text, sizeof event->thread_name - 1));
}

/* Fills in values that the packet does not have, for an event of a known packet. */
static void fill_in_rest(const struct ctf_map *map, const bt_event *from, struct ctf_event *event)
{
    if (!map->place[CTF_PID].in_packet)
        event->pid = (int32_t)number(identity(map, from, CTF_PID), (uint64_t)map->trace_pid);
    if (!map->place[CTF_TID].in_packet)
        event->tid = (int32_t)number(identity(map, from, CTF_TID), 0);
    if (!map->place[CTF_NAME].in_packet && map->place[CTF_NAME].known) {
        const char *text = ctf_string(identity(map, from, CTF_NAME));
        size_t length = strnlen(text, sizeof event->thread_name - 1);

        memcpy(event->thread_name, text, length);
        memset(event->thread_name + length, 0, sizeof event->thread_name - length);
    }
}

static void who(const struct ctf_map *map, struct ctf_packets *packets, const bt_event *from,
                struct ctf_event *event)
{
    if (map->by_packet && pt_ctf_packet_known(packets, from, event)) {
        fill_in_rest(map, from, event);
        return;
    }
    fill_in_names(map, from, event);
    if (map->by_packet)
        pt_ctf_packet_keep(packets, event);
}

static size_t walk_all(const struct ctf_map *map, const bt_event *from, uint8_t *data, bool *over)
{
    struct ctf_walk w;

    w.map = map;
    w.detail = map->detail;
    w.full = w.over = false;
    w.count_bits = 0;
    w.data = data;
    w.used = 0;
    if (map->raw) {
        const bt_field *bytes = bt_field_structure_borrow_member_field_by_index_const(
            bt_event_borrow_payload_field_const(from), 1);

        pt_ctf_pack_elements(&w,
                             bt_field_class_array_borrow_element_field_class_const(
                                 bt_field_borrow_class_const(bytes)),
                             bytes);
    } else {
        walk_event(&w, map->class, from);
    }
    *over = w.over;
    return w.used;
}

size_t pt_ctf_map_pack(const struct ctf_map *map, struct ctf_packets *packets, const bt_event *from,
                       struct ctf_event *event, uint8_t *data)
{
    size_t used;
    bool over = false;

    who(map, packets, from, event);
    event->prog_address = number(identity(map, from, CTF_ADDRESS), 0);
    if (!map->planned || !pt_ctf_plan_pack(map, from, data, &used))
        used = walk_all(map, from, data, &over);
    event->truncated = over || number(identity(map, from, CTF_TRUNCATED), 0);
    return used;
}
