/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF, in the reading process: messages of libbabeltrace2 become records for the
 * other process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analysis/format/ctf/ctf_import.h"

/* ---- saying ---- */

int pt_ctf_out_write(struct ctf_out *out)
{
    const uint8_t *from = out->buffer;

    while (out->used) {
        ssize_t put = write(out->fd, from, out->used);

        if (put < 0 && errno != EINTR)
            return errno;
        if (put > 0) {
            from += put;
            out->used -= (uint32_t)put;
        }
    }
    return 0;
}

void pt_ctf_out_flush(struct ctf_out *out)
{
    if (pt_ctf_out_write(out) != 0)
        _exit(1);
}

void pt_ctf_out_put(struct ctf_out *out, enum ctf_record_kind kind, const void *first,
                    size_t first_size, const void *second, size_t second_size)
{
    struct ctf_record head = { kind, (uint32_t)(first_size + second_size) };
    uint8_t *to;

    if (out->used + sizeof head + first_size + second_size > sizeof out->buffer)
        pt_ctf_out_flush(out);
    to = out->buffer + out->used;
    to = (uint8_t *)mempcpy(to, &head, sizeof head);
    to = first_size ? (uint8_t *)mempcpy(to, first, first_size) : to;
    if (second_size)
        memcpy(to, second, second_size);
    out->used += (uint32_t)(sizeof head + first_size + second_size);
}

void pt_ctf_fault(struct ctf_sink *s, const char *text)
{
    size_t length = strlen(text);

    if (!s->failed)
        pt_ctf_out_put(&s->out, CTF_FAULT, text, length < 1000 ? length : 1000, NULL, 0);
    s->failed = true;
}

void pt_ctf_fault_of_file(struct ctf_sink *s, int error)
{
    char text[160];

    if (!error)
        return;
    snprintf(text, sizeof text, "cannot sort streams with a temporary file (TMPDIR): %s",
             strerror(error));
    pt_ctf_fault(s, text);
}

/* Addresses in memory are of no use in a message. */
static void drop_addresses(char *text)
{
    char *at, *from, *end;

    while ((at = strstr(text, "-addr=0x"))) {
        from = at;
        while (from > text && from[-1] != ' ')
            from--;
        end = at + strcspn(at, ",");
        end += *end ? strspn(end, ", ") : 0;
        memmove(from, end, strlen(end) + 1);
    }
}

/* The innermost cause: the others are its consequences. */
void pt_ctf_fault_of_library(struct ctf_sink *s, const char *otherwise)
{
    const bt_error *error = bt_current_thread_take_error();
    char text[1000];

    if (error && bt_error_get_cause_count(error))
        otherwise = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
    snprintf(text, sizeof text, "%s", otherwise);
    drop_addresses(text);
    pt_ctf_fault(s, text);
    if (error)
        bt_error_release(error);
}

/* ---- events ---- */

/* To the other process, or into the spool of streams that are not in order. */
static void put_record(struct ctf_sink *s, enum ctf_record_kind kind, const void *first,
                       size_t first_size, const void *second, size_t second_size)
{
    uint32_t number = kind;
    struct iovec parts[] = { { &number, sizeof number },
                             { (void *)(uintptr_t)first, first_size },
                             { (void *)(uintptr_t)second, second_size } };

    if (!s->spool)
        pt_ctf_out_put(&s->out, kind, first, first_size, second, second_size);
    else
        pt_ctf_fault_of_file(s, pt_spool_put(s->spool, s->spool_ns, parts, 3));
}

static struct ctf_map *new_map(struct ctf_sink *s, const bt_event *event)
{
    const bt_event_class *class = bt_event_borrow_class_const(event);
    const char *known = bt_event_class_get_name(class);
    char name[TRACE_EVENT_NAME_MAX + 1];
    struct ctf_map *map;

    if (s->map_count == CTF_CLASSES_MAX) {
        pt_ctf_fault(s, "more than 4096 classes of events");
        return NULL;
    }
    map = calloc(1, sizeof *map);
    if (!map)
        abort();
    map->class = class;
    map->index = s->map_count;
    pt_ctf_map_make(map, event);
    if (known && *known)
        snprintf(name, sizeof name, "%s", known);
    else
        snprintf(name, sizeof name, "ctf:%llu", (unsigned long long)bt_event_class_get_id(class));
    pt_ctf_out_put(&s->out, CTF_CLASS, name, strlen(name) + 1, map->description,
                   strlen(map->description) + 1);
    return s->maps[s->map_count++] = map;
}

static struct ctf_map *map_of(struct ctf_sink *s, const bt_event *event)
{
    const bt_event_class *class = bt_event_borrow_class_const(event);
    uint64_t hash = (uint64_t)(uintptr_t) class * 0x9e3779b97f4a7c15u;
    uint32_t i = (uint32_t)(hash >> 32) % CTF_MAP_CELLS;
    struct ctf_map *map;

    for (; s->cells[i]; i = (i + 1) % CTF_MAP_CELLS)
        if (s->maps[s->cells[i] - 1]->class == class)
            return s->maps[s->cells[i] - 1];
    map = new_map(s, event);
    if (map)
        s->cells[i] = (uint16_t)s->map_count;
    return map;
}

static void take_event(struct ctf_sink *s, const bt_message *message, int64_t ns)
{
    const bt_event *event = bt_message_event_borrow_event_const(message);
    struct ctf_event head = { .ns = ns };
    const struct ctf_map *map = map_of(s, event);
    size_t length;

    if (!map || s->failed)
        return;
    /* classes without any bit in them make endless events */
    if (++s->events > 8 * s->bytes) {
        pt_ctf_fault(s, "more events than the files have bits");
        return;
    }
    if (ns == CTF_NO_TIME) {
        static const char text[] = "events without a clock get the time of the one before";

        if (!s->told_clock)
            pt_ctf_out_put(&s->out, CTF_NOTE, text, sizeof text - 1, NULL, 0);
        s->told_clock = true;
        head.ns = s->last_ns == INT64_MIN ? 0 : s->last_ns;
    }
    s->last_ns = head.ns;
    head.class_index = map->index;
    length = pt_ctf_map_pack(map, &s->packets, event, &head, s->data);
    put_record(s, CTF_EVENT, &head, sizeof head, s->data, length);
}

/* ---- losses ---- */

void pt_ctf_stream_name(const bt_stream *stream, char *to, size_t size)
{
    const char *name = bt_stream_get_name(stream), *slash = name ? strrchr(name, '/') : NULL;

    if (name)
        snprintf(to, size, "'%s'", slash ? slash + 1 : name);
    else
        snprintf(to, size, "%llu", (unsigned long long)bt_stream_get_id(stream));
}

static void set_times(struct ctf_clock *clock, struct ctf_lost *lost,
                      const bt_clock_snapshot *begin, const bt_clock_snapshot *end)
{
    lost->timed = pt_ctf_clock_ns(clock, begin, &lost->begin_ns) &&
                  pt_ctf_clock_ns(clock, end, &lost->end_ns) && lost->begin_ns <= lost->end_ns;
}

static void take_lost_events(struct ctf_sink *s, struct ctf_clock *clock, const bt_message *m)
{
    const bt_stream *stream = bt_message_discarded_events_borrow_stream_const(m);
    const bt_stream_class *class = bt_stream_borrow_class_const(stream);
    struct ctf_lost lost = { .packets = false };
    char name[128];

    lost.counted = bt_message_discarded_events_get_count(m, &lost.count) ==
                   BT_PROPERTY_AVAILABILITY_AVAILABLE;
    if (bt_stream_class_discarded_events_have_default_clock_snapshots(class))
        set_times(clock, &lost,
                  bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(m),
                  bt_message_discarded_events_borrow_end_default_clock_snapshot_const(m));
    pt_ctf_stream_name(stream, name, sizeof name);
    put_record(s, CTF_LOST, &lost, sizeof lost, name, strlen(name));
}

static void take_lost_packets(struct ctf_sink *s, struct ctf_clock *clock, const bt_message *m)
{
    const bt_stream *stream = bt_message_discarded_packets_borrow_stream_const(m);
    const bt_stream_class *class = bt_stream_borrow_class_const(stream);
    struct ctf_lost lost = { .packets = true };
    char name[128];

    lost.counted = bt_message_discarded_packets_get_count(m, &lost.count) ==
                   BT_PROPERTY_AVAILABILITY_AVAILABLE;
    if (bt_stream_class_discarded_packets_have_default_clock_snapshots(class))
        set_times(clock, &lost,
                  bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(m),
                  bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(m));
    pt_ctf_stream_name(stream, name, sizeof name);
    put_record(s, CTF_LOST, &lost, sizeof lost, name, strlen(name));
}

void pt_ctf_take(struct ctf_sink *s, struct ctf_clock *clock, const bt_message *message, int64_t ns)
{
    bt_message_type type = bt_message_get_type(message);

    if (type == BT_MESSAGE_TYPE_EVENT)
        take_event(s, message, ns);
    else if (type == BT_MESSAGE_TYPE_DISCARDED_EVENTS)
        take_lost_events(s, clock, message);
    else if (type == BT_MESSAGE_TYPE_DISCARDED_PACKETS)
        take_lost_packets(s, clock, message);
}
