/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See sequence.h: sums, names and threads of all pieces, and the gaps between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "control/control.h"
#include "control/info.h"
#include "control/sequence_state.h"
#include "log/reader/piece.h"

#define THREADS_STEP 65536u /* entries after which those of one thread are joined */

static uint64_t rest_of(uint64_t all, uint64_t known)
{
    return all > known ? all - known : 0;
}

/* ---- threads ---- */

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* 0: one thread.  Those without a number are called by their names. */
static int compare_threads(const struct posixtrace_thread_info *x,
                           const struct posixtrace_thread_info *y)
{
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->thread_id != y->thread_id)
        return compare(x->thread_id, y->thread_id);
    return x->tid == 0 ? strcmp(x->name, y->name) : 0;
}

static int by_thread(const void *a, const void *b)
{
    const struct pt_sequence_thread *x = a, *y = b;
    int order = compare_threads(&x->info, &y->info);

    return order ? order : compare(x->order, y->order);
}

/* The events of threads that no entry names come last. */
static int by_order(const void *a, const void *b)
{
    const struct pt_sequence_thread *x = a, *y = b;
    bool last = x->info.pid == 0 && x->info.tid == 0 && strcmp(x->info.name, "(ended)") == 0;
    bool other = y->info.pid == 0 && y->info.tid == 0 && strcmp(y->info.name, "(ended)") == 0;

    return last != other ? last - other : compare(x->order, y->order);
}

/* The entries of a thread become its first one, with the latest name. */
static void join_threads(struct pt_sequence *q)
{
    size_t kept = 0;

    if (q->thread_count)
        qsort(q->threads, q->thread_count, sizeof *q->threads, by_thread);
    for (size_t i = 0; i < q->thread_count; i++) {
        struct posixtrace_thread_info *from = &q->threads[i].info, *to;

        if (kept == 0 || compare_threads(&q->threads[kept - 1].info, from) != 0) {
            q->threads[kept++] = q->threads[i];
            continue;
        }
        to = &q->threads[kept - 1].info;
        to->recorded += from->recorded;
        for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
            to->lost[c] += from->lost[c];
        memcpy(to->name, from->name, sizeof to->name);
    }
    q->thread_count = kept;
}

static int add_thread(struct pt_sequence *q, const struct posixtrace_thread_info *t)
{
    int r;

    if (q->thread_count == q->thread_room && q->thread_count % THREADS_STEP == 0)
        join_threads(q);
    r = pt_array_grow(&q->threads, &q->thread_room, q->thread_count, sizeof *q->threads);
    if (r == 0)
        q->threads[q->thread_count++] = (struct pt_sequence_thread){ *t, q->thread_order++ };
    return r;
}

static int add_threads(struct pt_sequence *q, struct pt_stream *part)
{
    struct posixtrace_thread_info t;
    int r;

    while ((r = pt_stream_next_thread(part, &t)) == 1)
        if ((r = add_thread(q, &t)) < 0)
            return r;
    return r;
}

/* ---- gaps ---- */

/* What the pieces up to here have, by the counts of their writer. */
struct sums {
    uint64_t events, recorded, lost[PT_LOSS_CAUSES], lost_switches;
    uint32_t number;
};

/* The thread of missing events is unknown. */
static int miss(struct pt_sequence *q, const struct pt_piece_base *base, const struct sums *have,
                bool *any)
{
    struct posixtrace_thread_info t = { .name = "(ended)" };
    uint64_t events = rest_of(base->events, have->events);

    t.recorded = rest_of(base->recorded, have->recorded);
    t.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] = t.recorded < events ? t.recorded : events;
    *any = events != 0;
    q->info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] += events;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++) {
        uint64_t lost = rest_of(base->lost[c], have->lost[c]);

        t.lost[c] += lost;
        q->info.lost[c] += lost;
        *any |= lost != 0;
    }
    q->info.lost[POSIXTRACE_LOST_SWITCHES] += rest_of(base->lost_switches, have->lost_switches);
    return *any ? add_thread(q, &t) : 0;
}

/* Compares the piece's base with the sums.  Without a base only numbers that are left out show that
 * something is missing. */
static int find_gap(struct pt_sequence *q, struct pt_sequence_piece *p,
                    const struct pt_piece_base *base, struct sums *have)
{
    int r = 0;

    if (base->number) {
        r = miss(q, base, have, &p->gap);
        have->events = base->events;
        have->recorded = base->recorded;
        have->lost_switches = base->lost_switches;
        memcpy(have->lost, base->lost, sizeof have->lost);
    } else {
        p->gap = p->number != have->number + 1;
    }
    return r;
}

/* ---- sums ---- */

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void add_times(struct pt_sequence *q, struct pt_sequence_piece *p,
                      const struct posixtrace_info *info)
{
    bool first = q->info.events == 0;

    p->before_ns = first ? info->first_ns : q->info.last_ns;
    p->first_ns = info->events ? info->first_ns : p->before_ns;
    if (info->events) {
        q->info.first_ns = first || info->first_ns < q->info.first_ns ? info->first_ns
                                                                      : q->info.first_ns;
        q->info.last_ns = first ? info->last_ns : later_of(q->info.last_ns, info->last_ns);
    }
    p->last_ns = q->info.last_ns;
}

static void add_info(struct pt_sequence *q, const struct posixtrace_info *info)
{
    struct posixtrace_info *sum = &q->info;

    sum->clock = info->clock;
    sum->end = info->end;
    sum->events += info->events;
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        sum->lost[c] += info->lost[c];
    sum->late += info->late;
    sum->bytes += info->bytes;
    sum->peak_bytes = info->peak_bytes > sum->peak_bytes ? info->peak_bytes : sum->peak_bytes;
    sum->reserved_bytes = info->reserved_bytes;
    sum->advised_size = info->advised_size;
    sum->skipped_bytes += info->skipped_bytes;
    sum->flush_error = sum->flush_error ? sum->flush_error : info->flush_error;
    sum->barrier = info->barrier;
    /* Each piece has all sync points. */
    sum->set_back = info->set_back > sum->set_back ? info->set_back : sum->set_back;
    memcpy(sum->host, info->host, sizeof sum->host);
    memcpy(sum->boot_id, info->boot_id, sizeof sum->boot_id);
}

static void add_sums(struct sums *have, const struct posixtrace_info *info, uint64_t recorded)
{
    have->events += info->events;
    have->recorded += recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        have->lost[c] += info->lost[c];
    have->lost_switches += info->lost[POSIXTRACE_LOST_SWITCHES];
}

/* Readings of the clock are numbered in each piece by themselves. */
static int add_texts(struct pt_sequence *q, const struct pt_log_reader *log)
{
    for (unsigned kind = 0; kind < PT_TEXTS; kind++)
        for (uint32_t id = 1; id < pt_log_reader_text_end(log, (enum pt_text)kind); id++) {
            const char *text = pt_log_reader_text(log, (enum pt_text)kind, id);
            uint32_t to = id;
            int r;

            if (!text)
                continue;
            if (kind == PT_TEXT_CLOCK && q->summed)
                continue;
            if (kind == PT_TEXT_CLOCK)
                to = q->texts.end[kind] > 1 ? q->texts.end[kind] : 1;
            r = pt_string_table_keep(&q->texts, (enum pt_text)kind, to, text,
                                     strnlen(text, pt_text_max((enum pt_text)kind) + 1u));
            if (r < 0)
                return r;
        }
    return 0;
}

/* Each piece has all points of the pieces before it. */
static int add_syncs(struct pt_sequence *q, const struct pt_log_reader *log)
{
    struct pt_sync point;
    int r = 0;

    for (size_t i = 0; r == 0 && pt_log_reader_point(log, i, &point) == 1; i++) {
        if (q->sync_count && point.ts <= q->syncs[q->sync_count - 1].ts)
            continue;
        r = pt_array_grow(&q->syncs, &q->sync_room, q->sync_count, sizeof *q->syncs);
        if (r == 0)
            q->syncs[q->sync_count++] = point;
    }
    return r;
}

static int add_piece(struct pt_sequence *q, struct pt_sequence_piece *p, struct pt_stream *part,
                     struct sums *have)
{
    const struct pt_piece_base *base = pt_log_reader_base(part->log);
    struct posixtrace_info info;
    int r = pt_stream_info(part, &info);

    if (r == 0)
        r = find_gap(q, p, base, have);
    if (r == 0)
        r = add_threads(q, part);
    if (r == 0)
        r = add_texts(q, part->log);
    if (r == 0)
        r = add_syncs(q, part->log);
    if (r < 0)
        return r;
    add_times(q, p, &info);
    p->events = info.events;
    add_info(q, &info);
    q->marks_made += p->gap;
    add_sums(have, &info, pt_log_reader_recorded(part->log));
    have->number = p->number;
    pt_log_reader_status(part->log, &q->status);
    q->refused = pt_log_reader_refused(part->log);
    q->outlived = pt_log_reader_outlived(part->log);
    /* Another piece followed that is not here. */
    if (pt_log_reader_is_continued(part->log))
        q->info.end = POSIXTRACE_END_CUT;
    return 0;
}

int pt_sequence_sum(struct pt_sequence *q)
{
    struct sums have = { 0 };
    size_t kept = 0;
    int r = 0;

    for (size_t i = 0; i < q->count; i++) {
        struct pt_stream *part;
        int e = r < 0 ? r : pt_sequence_open_piece(q, i, &part);

        if (e == 0) {
            r = add_piece(q, &q->list[i], part, &have);
            pt_recorded_close(part);
        } else if (pt_is_shortage(e) || e == -ENOTSUP) {
            r = e;
        }
        if (e == 0 || r < 0)
            q->list[kept++] = q->list[i];
        else
            free(q->list[i].path);
    }
    q->count = kept;
    if (r < 0)
        return r;
    join_threads(q);
    if (q->thread_count)
        qsort(q->threads, q->thread_count, sizeof *q->threads, by_order);
    q->info.events += 2 * q->marks_made;
    q->summed = true;
    return kept ? 0 : -EINVAL;
}

/* ---- what callers are given ---- */

static int count_all(struct pt_sequence *q)
{
    memset(q->counts, 0, sizeof q->counts);
    for (size_t i = 0; i < q->count; i++) {
        struct pt_stream *part;
        int r = pt_sequence_open_piece(q, i, &part);

        if (pt_is_shortage(r))
            return r;
        if (r < 0)
            continue;
        for (uint32_t id = 1; r == 0 && id < PT_ID_MAX; id++) {
            uint64_t n = 0;

            r = pt_log_reader_count(part->log, id, &n);
            q->counts[id] += n;
        }
        pt_recorded_close(part);
        if (r < 0)
            return r;
    }
    q->counts[POSIX_TRACE_OVERFLOW] += q->marks_made;
    q->counts[POSIX_TRACE_RESUME] += q->marks_made;
    q->counted = true;
    return 0;
}

int pt_sequence_count(struct pt_stream *s, uint32_t id, uint64_t *count)
{
    struct pt_sequence *q = s->pieces;
    int r = id >= PT_ID_MAX ? -EINVAL : q->counted ? 0 : count_all(q);

    if (r == 0)
        *count = q->counts[id];
    return r;
}

const char *pt_sequence_text(const struct pt_stream *s, enum pt_text kind, uint32_t id)
{
    return pt_string_table_get(&s->pieces->texts, kind, id);
}

uint32_t pt_sequence_text_end(const struct pt_stream *s, enum pt_text kind)
{
    return s->pieces->texts.end[kind];
}

int pt_sequence_clock(const struct pt_stream *s, size_t i, struct pt_clock_reading *reading)
{
    for (uint32_t id = 1; id < pt_sequence_text_end(s, PT_TEXT_CLOCK); id++) {
        const char *text = pt_sequence_text(s, PT_TEXT_CLOCK, id);

        if (text && pt_clock_text_get(text, reading) && i-- == 0)
            return 1;
    }
    return 0;
}

int pt_sequence_point(const struct pt_stream *s, size_t i, struct pt_sync *point)
{
    if (i >= s->pieces->sync_count)
        return 0;
    *point = s->pieces->syncs[i];
    return 1;
}

void pt_sequence_info(const struct pt_stream *s, struct posixtrace_info *info)
{
    *info = s->pieces->info;
}

int pt_sequence_thread(const struct pt_stream *s, size_t index, struct posixtrace_thread_info *info)
{
    const struct pt_sequence *q = s->pieces;

    if (index >= q->thread_count)
        return 0;
    *info = q->threads[index].info;
    return 1;
}

void pt_sequence_status(const struct pt_stream *s, struct posix_trace_status_info *status)
{
    *status = s->pieces->status;
}

uint32_t pt_sequence_refused(const struct pt_stream *s)
{
    return s->pieces->refused;
}

bool pt_sequence_outlived(const struct pt_stream *s)
{
    return s->pieces->outlived;
}
