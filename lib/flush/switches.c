/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See switches.h.  A round handles the switches of the source in two steps.  place() finds the
 * thread of each switch and checks whether it is part of the stream; this can fail.  Then all are
 * written, thread by thread.
 */
#include <errno.h>
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "consumer/collect.h"
#include "flush/switch_thread.h"
#include "flush/switches.h"
#include "log/writer/writer.h"
#include "model/layout.h"
#include "process/gates.h"
#include "shm/liveness.h"
#include "stream/stream.h"

/* The offset of a packet of switches in its "chunk": above all other events that the consumer
 * makes. */
#define PLACE        (1u << 20)
#define PACKET_BYTES 32768u
#define MOST_ROOM    (1u << 20)

/* A switch that is part of the stream, and whose it is. */
struct placed {
    uint32_t thread;
    uint32_t at;
};

/* Of the data of switches, by type: for a filter that tests it. */
struct switch_layouts {
    struct posixtrace_layout *of[PT_SWITCH_ENDED + 1];
};

struct pt_switches {
    const struct pt_switch_ops *ops;
    struct pt_switch_source *source;
    struct pt_seg *seg;
    struct pt_switch_threads threads;
    struct placed *placed;
    size_t placed_count, placed_room;
    const struct pt_names *names;
    struct switch_layouts layouts;
    bool written;     /* the last round: it is done with the threads that ended */
    uint64_t told_ts; /* of the latest window whose begin has its POSIXTRACE_CPU_TIME */
    pt_u64 records[PACKET_BYTES / 8];
};

/* ---- a switch, or how long a thread has run, as an event ---- */

static uint32_t event_of(const struct pt_switch *s)
{
    static const uint32_t ids[] = { [PT_SWITCH_IN] = POSIXTRACE_SWITCH_IN,
                                    [PT_SWITCH_OUT] = POSIXTRACE_SWITCH_OUT,
                                    [PT_SWITCH_PREEMPTED] = POSIXTRACE_SWITCH_PREEMPTED,
                                    [PT_SWITCH_TIME] = POSIXTRACE_CPU_TIME,
                                    [PT_SWITCH_ENDED] = POSIXTRACE_SWITCH_OUT };

    return ids[s->what];
}

static uint32_t length_of(const struct pt_switch *s)
{
    return s->what == PT_SWITCH_TIME ? sizeof(struct pt_cpu_time) : sizeof s->value;
}

/* In s, or in *t. */
static const void *data_of(const struct pt_switch *s, struct pt_cpu_time *t)
{
    *t = (struct pt_cpu_time){ s->run_ns, s->value };
    return s->what == PT_SWITCH_TIME ? (const void *)t : &s->value;
}

static void free_layouts(struct switch_layouts *layouts)
{
    for (size_t i = 0; i < sizeof layouts->of / sizeof *layouts->of; i++)
        free(layouts->of[i]);
}

/* NULL: no memory for it yet. */
static const struct posixtrace_layout *layout_of(struct switch_layouts *layouts,
                                                 const struct pt_switch *s)
{
    const char *text = pt_event_system_description(event_of(s));

    if (!layouts->of[s->what] && text)
        pt_layout_parse(text, &layouts->of[s->what], NULL);
    return layouts->of[s->what];
}

/* Does the stream's filter let it pass? */
static bool passes_filter(struct switch_layouts *layouts, const struct pt_gates *gates,
                          const struct pt_author *author, const struct pt_switch *s)
{
    uint32_t id = event_of(s);
    struct pt_cpu_time time;
    struct posixtrace_event event = {
        .thread_id = author->thread_id,
        .data = data_of(s, &time),
        .data_len = length_of(s),
        .thread_name = author->name,
        .name = pt_event_system_name(id),
        .id = id,
        .pid = author->pid,
        .tid = author->tid,
    };
    struct pt_subject_event subject = { .name = event.name, .event = &event };

    if (pt_set_has(&gates->filter, id))
        return false;
    if (!gates->expression)
        return true;
    subject.layout = layout_of(layouts, s);
    return pt_expression_value(gates->expression, &subject) == 1;
}

/* ---- which are part of the stream ---- */

static const struct pt_switch_ops *ops_in_use, *ops_instead;

void pt_switches_use(const struct pt_switch_ops *ops, const struct pt_switch_ops *instead)
{
    pt_store_release(&ops_instead, instead);
    pt_store_release(&ops_in_use, ops);
}

int pt_switches_open(struct pt_switches **switches, struct pt_stream *s, void (*filling)(void *),
                     void *context)
{
    const struct pt_attr *attr = &s->seg->g.attr;
    struct pt_switch_request q = {
        .pid = (int32_t)s->pid,
        .children = attr->inheritance == POSIX_TRACE_INHERITED,
        .newest = attr->stream_policy == POSIX_TRACE_LOOP,
        .clock = s->seg->g.clock,
        .room = attr->stream_size / sizeof(struct pt_switch) + 4096,
        .ring_bytes = attr->switch_buffer,
        .filling = filling,
        .context = context,
        .seg = s->seg,
    };
    struct pt_switches *w;
    int e, refusal;

    if (!pt_load_acquire(&ops_in_use))
        return -ENOSYS;
    w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    if (q.room > MOST_ROOM)
        q.room = MOST_ROOM;
    w->ops = pt_load_acquire(&ops_in_use);
    w->seg = s->seg;
    w->names = s->names;
    e = refusal = w->ops->open(&w->source, &q);
    if (e < 0 && pt_load_acquire(&ops_instead)) {
        w->ops = pt_load_acquire(&ops_instead);
        e = w->ops->open(&w->source, &q);
    }
    if (e < 0) {
        free(w);
        return refusal;
    }
    *switches = w;
    return refusal;
}

bool pt_switches_can_look(const struct pt_switches *w)
{
    return w && w->ops->look;
}

uint64_t pt_switches_ring_bytes(const struct pt_switches *w)
{
    return w && w->ops->ring_bytes ? w->ops->ring_bytes(w->source) : 0;
}

unsigned pt_switches_look(struct pt_switches *w)
{
    return w->ops->look(w->source);
}

void pt_switches_close(struct pt_switches *w)
{
    if (!w)
        return;
    w->ops->close(w->source);
    free_layouts(&w->layouts);
    pt_switch_threads_deinit(&w->threads);
    free(w->placed);
    free(w);
}

/* Its fate is that of an event of a thread with the same time. */
static enum pt_fate fate_of(const struct pt_collect *r, uint64_t ts)
{
    struct pt_cursor c = { .author.wid = 2, .record.ts = ts };

    return pt_consumer_fate(r->live, &c, pt_collect_in_window(r, ts));
}

static bool is_wanted(struct pt_switches *w, const struct pt_gates *g,
                      const struct pt_switch_thread *t, const struct pt_switch *s)
{
    return t->origin == s->origin && passes_filter(&w->layouts, g, &t->author, s);
}

static int place_one(struct pt_switches *w, const struct pt_switch_thread *t, size_t at)
{
    if (pt_array_grow(&w->placed, &w->placed_room, w->placed_count, sizeof *w->placed) < 0)
        return -ENOMEM;
    w->placed[w->placed_count++] = (struct placed){ (uint32_t)(t - w->threads.of), (uint32_t)at };
    return 0;
}

/* The kernel reports no switch of a thread that has ended: its end is its last one.  Without
 * it a reader takes the thread for running until another gets the processor. */
static int place_note(struct pt_switches *w, const struct pt_gates *g, const struct pt_switch *s,
                      size_t at)
{
    const struct pt_switch_thread *t = s->what == PT_SWITCH_ENDED
                                           ? pt_switch_threads_find(&w->threads, s->tid)
                                           : NULL;

    if (t && t->runs && is_wanted(w, g, t, s) && place_one(w, t, at) < 0)
        return -ENOMEM;
    return pt_switch_threads_note(&w->threads, w->seg->h, s) ? 0 : -ENOMEM;
}

static int place_switch(struct pt_switches *w, const struct pt_gates *g, const struct pt_switch *s,
                        size_t at)
{
    struct pt_switch_thread *t = pt_switch_threads_get(&w->threads, w->seg->h, s);

    if (!t)
        return -ENOMEM;
    t->origin = t->unseen ? s->origin : t->origin;
    t->unseen = false;
    if (t->origin == s->origin && s->what != PT_SWITCH_TIME)
        t->runs = s->what == PT_SWITCH_IN;
    return is_wanted(w, g, t, s) ? place_one(w, t, at) : 0;
}

static int place_all(struct pt_switches *w, const struct pt_gates *g, const struct pt_switch *list,
                     size_t n)
{
    int e = 0;

    w->placed_count = 0;
    for (size_t i = 0; e == 0 && i < n; i++) {
        if (pt_switch_is_note(list[i].what))
            e = place_note(w, g, &list[i], i);
        else if (!pt_switch_is_loss(list[i].what))
            e = place_switch(w, g, &list[i], i);
    }
    return e;
}

static int place(struct pt_switches *w, const struct pt_switch *list, size_t n)
{
    struct pt_gates gates;
    int e;

    pt_gates_init(&gates, w->seg->h, w->names);
    e = place_all(w, &gates, list, n);
    pt_gates_deinit(&gates);
    return e;
}

static void count_loss(struct pt_switches *w, unsigned cause, uint64_t n)
{
    if (!n)
        return;
    pt_add_relaxed(&w->seg->h->lost_no_slot[cause], n);
    pt_note_overrun(w->seg->h);
}

static void count_source_loss(struct pt_switches *w, const struct pt_switch *s)
{
    if (s->what == PT_SWITCH_LOST_BY_KERNEL) {
        pt_add_relaxed(&w->seg->h->lost_switches, (uint64_t)s->value);
        pt_note_overrun(w->seg->h);
    } else {
        count_loss(w,
                   w->seg->g.attr.stream_policy == POSIX_TRACE_LOOP ? PT_LOST_OVERWRITTEN
                                                                    : PT_LOST_FULL,
                   s->value);
    }
}

/* Counts switches inside the windows that were lost before they came here, and marks the gap.  Each
 * loss counts once: the source does not return the list again, also after an error.  The marks obey
 * the filter of the round, because a controller cannot know of a loss in the kernel before it
 * changes the filter. */
static int put_losses(struct pt_switches *w, struct pt_collect *r, const struct pt_switch *list,
                      size_t n)
{
    int e = 0;

    for (size_t i = 0; i < n; i++) {
        if (!pt_switch_is_loss(list[i].what) || fate_of(r, list[i].ts) == PT_FATE_EXCLUDE)
            continue;
        count_source_loss(w, &list[i]);
        if (e < 0 || r->live->losses.overflowing)
            continue;
        e = pt_collect_put_made(r, POSIX_TRACE_OVERFLOW, list[i].ts, NULL, 0);
        if (e == 0)
            e = pt_collect_put_made(r, POSIX_TRACE_RESUME, list[i].ts, NULL, 0);
    }
    return e;
}

/* Removes the switches that are not part of the stream. */
static void sieve(struct pt_switches *w, const struct pt_collect *r, const struct pt_switch *list)
{
    uint64_t refused = 0, overwritten = 0;
    size_t kept = 0;

    for (size_t i = 0; i < w->placed_count; i++) {
        const struct pt_switch *s = &list[w->placed[i].at];
        enum pt_fate fate = fate_of(r, s->ts);
        bool counts = s->what != PT_SWITCH_TIME;

        r->live->late += fate == PT_FATE_DELIVER && s->ts < r->live->accounts.delivered_ts;
        refused += fate == PT_FATE_REFUSED && counts;
        overwritten += fate == PT_FATE_OVERWRITTEN && counts;
        if (fate == PT_FATE_DELIVER)
            w->placed[kept++] = w->placed[i];
    }
    w->placed_count = kept;
    count_loss(w, PT_LOST_FULL, refused);
    count_loss(w, PT_LOST_OVERWRITTEN, overwritten);
}

static int by_thread(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* One record, with a new base before it where the old one is too long ago. */
static void put_record(struct pt_switches *w, struct pt_log_packet *p, uint64_t *base,
                       const struct pt_switch *s)
{
    struct pt_cpu_time time;
    const void *data = data_of(s, &time);
    uint8_t *at = (uint8_t *)w->records + p->bytes;

    if (s->ts - *base > PT_DELTA_MAX) {
        pt_record_put_head(at, PT_RECORD_TIME, 0, 0, 0, s->ts);
        *base = s->ts;
        at += PT_RECORD_HEAD;
        p->bytes += PT_RECORD_HEAD;
    }
    pt_record_put_head(at, PT_RECORD_EVENT, event_of(s), length_of(s), (uint32_t)(s->ts - *base),
                       0);
    memset(at + PT_RECORD_HEAD, 0, 8);
    memcpy(at + PT_RECORD_HEAD, data, length_of(s));
    p->bytes += pt_record_size(length_of(s));
    p->last_ts = s->ts;
    p->events++;
}

/* A packet with the switches of one thread from number i on; how many. */
static size_t put_packet(struct pt_switches *w, struct pt_collect *r, const struct pt_switch *list,
                         size_t i)
{
    struct pt_switch_thread *t = &w->threads.of[w->placed[i].thread];
    uint64_t base = list[w->placed[i].at].ts;
    struct pt_log_packet p = {
        .author = t->author,
        .first_no = t->next_no,
        .base_ts = base,
        .first_ts = base,
        .records = w->records,
        .chunk_seq = PT_LOG_MADE | base,
        .chunk_off = PLACE,
    };
    size_t from = i;

    for (; i < w->placed_count && w->placed[i].thread == w->placed[from].thread &&
           p.bytes + PT_RECORD_HEAD + pt_record_size(sizeof(struct pt_cpu_time)) <= PACKET_BYTES;
         i++)
        put_record(w, &p, &base, &list[w->placed[i].at]);
    t->next_no += p.events;
    r->sink.packet(r->sink.context, &p);
    return i - from;
}

/* An event without thread and data at the start of each window announces that the window has CPU
 * times of threads instead of context switches. */
static int put_beginnings(struct pt_switches *w, struct pt_collect *r)
{
    int e = 0;

    for (size_t i = 0; w->ops->look && e == 0 && i < r->window_count; i++) {
        const struct pt_window *v = &r->windows[i];

        if (!v->open || v->ts <= w->told_ts)
            continue;
        e = pt_collect_put_made(r, POSIXTRACE_CPU_TIME, v->ts, NULL, 0);
        w->told_ts = e == 0 ? v->ts : w->told_ts;
    }
    return e;
}

int pt_switches_write(struct pt_switches *w, struct pt_collect *r)
{
    const struct pt_switch *list;
    size_t n = w->ops->take(w->source, r->live->watermark, &list);
    int e = place(w, list, n);

    w->written = e == 0;
    if (e < 0)
        return e;
    pt_switch_threads_identify(&w->threads, &r->live->accounts);
    sieve(w, r, list);
    if (w->placed_count)
        qsort(w->placed, w->placed_count, sizeof *w->placed, by_thread);
    for (size_t i = 0; i < w->placed_count;)
        i += put_packet(w, r, list, i);
    e = put_losses(w, r, list, n);
    if (e == 0)
        e = put_beginnings(w, r);
    w->ops->done(w->source);
    return e;
}

void pt_switches_name(struct pt_switches *w, struct pt_accounts *accounts,
                      struct pt_name_turn *turn, struct pt_log_writer *log)
{
    if (!w)
        return;
    pt_switch_threads_identify(&w->threads, accounts);
    pt_switch_threads_read_names(&w->threads, turn);
    for (size_t i = 0; i < w->threads.count; i++)
        pt_log_name_author(log, w->threads.of[i].author.wid, w->threads.of[i].author.name);
    if (w->written)
        pt_switch_threads_forget(&w->threads);
}

bool pt_switches_outlived(const struct pt_switches *w)
{
    struct pt_process look;

    for (size_t i = 0; w && i < w->threads.count; i++) {
        const struct pt_switch_thread *t = &w->threads.of[i];

        if (!t->ended && t->author.pid != getpid() &&
            pt_process_look((uint32_t)t->author.pid, &look) == 0 && !pt_process_has_ended(&look))
            return true;
    }
    return false;
}
