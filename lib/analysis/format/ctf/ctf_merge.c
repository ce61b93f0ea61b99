/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF, in the reading process: the last component of the graph.  It reads each stream
 * separately and merges them by the times of their events, with a binary heap.  The muxer of
 * libbabeltrace2 is not used, because it fails if a packet, a stream or a clock does not fit to
 * another.
 *
 * A single stream may have events that go back in time.  A log is in order of time, so the import
 * ends there, unless the user asked for sorting.  Then a first pass reads the times of all streams;
 * streams that go back are sorted (spool.h), the others are read as before.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/ctf/ctf_import.h"
#include "base/assert.h"

struct input {
    bt_message_iterator *iterator;
    bt_message_array_const messages;
    uint64_t at, count;
    int64_t time;          /* of the message at hand, or CTF_NO_TIME */
    int64_t ns;            /* the same, or the stream's newest time */
    uint64_t events, late; /* late: older than one before them */
    uint64_t worst;        /* ns that one of these is late */
    bool sorted;           /* its events are in the spool */
    char name[128];
    struct ctf_clock clock;
};

struct ctf_merge {
    struct ctf_sink *sink;
    bool sort;
    volatile sig_atomic_t *in_library;
    const bt_component_sink *component;
    struct pt_spool spool; /* its file is NULL: none is needed */
    uint8_t *record;       /* CTF_RECORD_MAX, with the spool */
    uint64_t input_count, open_count;
    struct input *inputs, **heap; /* heap: of open_count of them, the oldest first */
};

/* ---- one stream ---- */

/* False: there are no more, or the library cannot read on; then *error. */
static bool next_batch(struct ctf_merge *m, struct input *in, bool *error)
{
    bt_message_iterator_next_status status;

    in->at = in->count = 0;
    *m->in_library = true;
    do
        status = bt_message_iterator_next(in->iterator, &in->messages, &in->count);
    while (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN);
    *m->in_library = false;
    *error = status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK &&
             status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END;
    if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
        in->count = 0;
    return status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
}

static bool is_of_use(const bt_message *m)
{
    bt_message_type type = bt_message_get_type(m);

    return type == BT_MESSAGE_TYPE_EVENT || type == BT_MESSAGE_TYPE_DISCARDED_EVENTS ||
           type == BT_MESSAGE_TYPE_DISCARDED_PACKETS;
}

/* The next event or loss is at hand, with its time; false as next_batch(), or a fault. */
static bool advance(struct ctf_merge *m, struct input *in, bool *error)
{
    *error = false;
    if (in->count)
        bt_message_put_ref(in->messages[in->at++]);
    for (;;) {
        while (in->at < in->count && !is_of_use(in->messages[in->at]))
            bt_message_put_ref(in->messages[in->at++]);
        if (in->at < in->count)
            break;
        if (!next_batch(m, in, error))
            return false;
    }
    in->time = pt_ctf_time(m->sink, &in->clock, in->messages[in->at]);
    if (in->time != CTF_NO_TIME)
        in->ns = in->time;
    return !m->sink->failed;
}

static bool is_event(const struct input *in)
{
    return bt_message_get_type(in->messages[in->at]) == BT_MESSAGE_TYPE_EVENT;
}

static void set_name(struct input *in)
{
    const bt_event *event = bt_message_event_borrow_event_const(in->messages[in->at]);

    if (!in->name[0])
        pt_ctf_stream_name(bt_event_borrow_stream_const(event), in->name, sizeof in->name);
}

static void take(struct ctf_merge *m, struct input *in)
{
    pt_ctf_take(m->sink, &in->clock, in->messages[in->at], in->time);
}

/* The difference of two times of a trace may not fit an int64_t. */
static uint64_t ns_between(int64_t from, int64_t to)
{
    return (uint64_t)to - (uint64_t)from;
}

/* ---- the first pass ---- */

/* How much of the stream is out of order.  An error is left to the second pass. */
static void scan(struct ctf_merge *m, struct input *in)
{
    int64_t newest = INT64_MIN;
    bool error;

    while (in->events <= 8 * m->sink->bytes && advance(m, in, &error)) {
        if (!is_event(in) || in->time == CTF_NO_TIME)
            continue;
        in->events++;
        if (in->time >= newest) {
            newest = in->time;
            continue;
        }
        set_name(in);
        in->late++;
        if (ns_between(in->time, newest) > in->worst)
            in->worst = ns_between(in->time, newest);
    }
    while (in->at < in->count)
        bt_message_put_ref(in->messages[in->at++]);
    in->count = 0;
    in->ns = INT64_MIN;
    bt_current_thread_clear_error();
}

static bool rewind_input(struct input *in)
{
    bt_bool can = BT_FALSE;

    return bt_message_iterator_can_seek_beginning(in->iterator, &can) ==
               BT_MESSAGE_ITERATOR_CAN_SEEK_BEGINNING_STATUS_OK &&
           can &&
           bt_message_iterator_seek_beginning(in->iterator) ==
               BT_MESSAGE_ITERATOR_SEEK_BEGINNING_STATUS_OK;
}

static void say_late(struct ctf_merge *m, const struct input *in)
{
    char text[300];

    snprintf(text, sizeof text,
             "stream %s: %" PRIu64 " of %" PRIu64 " events are older than one "
             "before them, by at most %" PRIu64 " ns; they are sorted",
             in->name, in->late, in->events, in->worst);
    pt_ctf_out_put(&m->sink->out, CTF_NOTE, text, strlen(text), NULL, 0);
}

/* All records of the stream to the spool. */
static void spool_input(struct ctf_merge *m, struct input *in)
{
    bool error = false;

    m->sink->spool = &m->spool;
    while (!m->sink->failed && advance(m, in, &error)) {
        m->sink->spool_ns = in->ns;
        take(m, in);
    }
    m->sink->spool = NULL;
    m->sink->last_ns = INT64_MIN;
    in->sorted = true;
    if (error)
        pt_ctf_fault_of_library(m->sink, "the stream cannot be read");
}

/* The file stays open until the process ends. */
static bool make_spool(struct ctf_merge *m)
{
    if (!m->spool.file) {
        m->record = malloc(CTF_RECORD_MAX);
        pt_ctf_fault_of_file(m->sink, m->record ? pt_spool_open(&m->spool) : ENOMEM);
    }
    return !m->sink->failed;
}

static void sort_streams(struct ctf_merge *m)
{
    for (uint64_t i = 0; i < m->input_count && !m->sink->failed; i++) {
        struct input *in = &m->inputs[i];

        scan(m, in);
        if (!m->sink->failed && !rewind_input(in))
            pt_ctf_fault_of_library(m->sink, "a stream cannot be read twice");
        if (m->sink->failed || !in->late)
            continue;
        say_late(m, in);
        if (make_spool(m))
            spool_input(m, in);
    }
    if (m->spool.file && !m->sink->failed)
        pt_ctf_fault_of_file(m->sink, pt_spool_sort(&m->spool));
}

/* ---- the merge ---- */

static bool is_before(const struct input *a, const struct input *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a < b;
}

/* Is no stream before the one that the heap has above it? */
PT_VALIDATOR bool heap_is_valid(const struct ctf_merge *m)
{
    for (uint64_t i = 1; i < m->open_count; i++)
        if (is_before(m->heap[i], m->heap[(i - 1) / 2]))
            return false;
    return m->open_count <= m->input_count;
}

static void sift_down(struct ctf_merge *m, uint64_t i)
{
    struct input *moved = m->heap[i];
    uint64_t child;

    while ((child = 2 * i + 1) < m->open_count) {
        child += child + 1 < m->open_count && is_before(m->heap[child + 1], m->heap[child]);
        if (!is_before(m->heap[child], moved))
            break;
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = moved;
}

/* The first input of the heap advances, or leaves it at its end. */
static void go_on(struct ctf_merge *m)
{
    bool error;

    if (!advance(m, m->heap[0], &error)) {
        m->heap[0] = m->heap[--m->open_count];
        if (error)
            pt_ctf_fault_of_library(m->sink, "the stream cannot be read");
    }
    if (m->open_count)
        sift_down(m, 0);
    pt_assert_valid(heap_is_valid(m));
}

static void fill_heap(struct ctf_merge *m)
{
    bool error;

    for (uint64_t i = 0; i < m->input_count && !m->sink->failed; i++) {
        if (m->inputs[i].sorted)
            continue;
        if (advance(m, &m->inputs[i], &error))
            m->heap[m->open_count++] = &m->inputs[i];
        else if (error)
            pt_ctf_fault_of_library(m->sink, "the stream cannot be read");
    }
    for (uint64_t i = m->open_count / 2; i-- > 0;)
        sift_down(m, i);
    pt_assert_valid(heap_is_valid(m));
}

/* It is the oldest of all that are left: older than the last one only in its own stream. */
static bool is_in_order(struct ctf_merge *m, struct input *in)
{
    char text[300];

    if (!is_event(in) || in->time == CTF_NO_TIME || in->time >= m->sink->last_ns)
        return true;
    set_name(in);
    snprintf(text, sizeof text,
             "stream %s goes back in time by %" PRIu64 " ns; --order=sort "
             "reads such streams",
             in->name, ns_between(in->time, m->sink->last_ns));
    pt_ctf_fault(m->sink, text);
    return false;
}

/* The next record of the spool to the other process. */
static void take_spooled(struct ctf_merge *m)
{
    int64_t ns = pt_spool_time(&m->spool);
    uint32_t kind = 0;
    size_t size;
    int error = pt_spool_take(&m->spool, m->record, CTF_RECORD_MAX, &size);

    pt_ctf_fault_of_file(m->sink, error);
    if (error)
        return;
    pt_assert(size >= sizeof kind && (!m->open_count || ns <= m->heap[0]->ns));
    if (ns > m->sink->last_ns)
        m->sink->last_ns = ns;
    memcpy(&kind, m->record, sizeof kind);
    pt_ctf_out_put(&m->sink->out, (enum ctf_record_kind)kind, m->record + sizeof kind,
                   size - sizeof kind, NULL, 0);
}

static void merge(struct ctf_merge *m)
{
    fill_heap(m);
    while (!m->sink->failed) {
        bool spooled = pt_spool_has_more(&m->spool);

        if (spooled && (!m->open_count || pt_spool_time(&m->spool) <= m->heap[0]->ns)) {
            take_spooled(m);
        } else if (m->open_count) {
            if (is_in_order(m, m->heap[0])) {
                take(m, m->heap[0]);
                go_on(m);
            }
        } else {
            break;
        }
    }
}

/* ---- the component ---- */

static bt_component_class_initialize_method_status
initialize(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
           const bt_value *parameters, void *data)
{
    struct ctf_merge *m = data;
    char name[24];

    (void)configuration;
    (void)parameters;
    bt_self_component_set_data(bt_self_component_sink_as_self_component(self), m);
    for (uint64_t i = 0; i < m->input_count; i++) {
        snprintf(name, sizeof name, "%" PRIu64, i);
        if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
            BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
            return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
    }
    return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
connect(bt_self_component_sink *self)
{
    struct ctf_merge *m = bt_self_component_get_data(
        bt_self_component_sink_as_self_component(self));

    for (uint64_t i = 0; i < m->input_count; i++)
        if (bt_message_iterator_create_from_sink_component(
                self, bt_self_component_sink_borrow_input_port_by_index(self, i),
                &m->inputs[i].iterator) != BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
            return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
    return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *self)
{
    struct ctf_merge *m = bt_self_component_get_data(
        bt_self_component_sink_as_self_component(self));

    *m->in_library = false;
    if (m->sort)
        sort_streams(m);
    if (!m->sink->failed)
        merge(m);
    return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
}

struct ctf_merge *pt_ctf_merge_new(bt_graph *graph, struct ctf_sink *sink, uint64_t inputs,
                                   bool sort, volatile sig_atomic_t *in_library)
{
    bt_component_class_sink *class = bt_component_class_sink_create("posixtrace", consume);
    struct ctf_merge *m = calloc(1, sizeof *m);

    if (!class || !m)
        return NULL;
    *m = (struct ctf_merge){
        .sink = sink, .sort = sort, .in_library = in_library, .input_count = inputs
    };
    m->inputs = calloc(inputs + 1, sizeof *m->inputs);
    m->heap = calloc(inputs + 1, sizeof *m->heap);
    for (uint64_t i = 0; m->inputs && i < inputs; i++)
        m->inputs[i].ns = INT64_MIN;
    bt_component_class_sink_set_initialize_method(class, initialize);
    bt_component_class_sink_set_graph_is_configured_method(class, connect);
    return m->inputs && m->heap &&
                   bt_graph_add_sink_component_with_initialize_method_data(
                       graph, class, "posixtrace", NULL, m, BT_LOGGING_LEVEL_NONE, &m->component) ==
                       BT_GRAPH_ADD_COMPONENT_STATUS_OK
               ? m
               : NULL;
}

const bt_component_sink *pt_ctf_merge_component(const struct ctf_merge *m)
{
    return m->component;
}
