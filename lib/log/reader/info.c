/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Status, losses, threads and counts of a log: from END, or from the scan and the last
 * ROUND.  For a pipe: as far as it was read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "log/byteorder.h"
#include "log/reader/state.h"

void pt_log_reader_status(struct pt_log_reader *r, struct posix_trace_status_info *status)
{
    const struct pt_log_state *s = &r->state;

    memset(status, 0, sizeof *status);
    status->posix_stream_status = s->running ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
    status->posix_stream_full_status = s->stream_full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
    status->posix_stream_overrun_status = s->stream_overrun ? POSIX_TRACE_OVERRUN
                                                            : POSIX_TRACE_NO_OVERRUN;
    status->posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING;
    status->posix_stream_flush_error = s->flush_error;
    status->posix_log_overrun_status = s->log_overrun ? POSIX_TRACE_OVERRUN
                                                      : POSIX_TRACE_NO_OVERRUN;
    status->posix_log_full_status = s->log_full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
}

/* A recovery without the writer's memory does not know what that had, unless the stream directory
 * or its caller says so. */
static bool lacks_tail(const struct pt_log_reader *r)
{
    return r->has_end && r->alone && r->state.buried == 0 && r->state.reported == 0;
}

static int end_of(const struct pt_log_reader *r)
{
    if (r->complete && !lacks_tail(r))
        return r->state.end == POSIXTRACE_END_RECOVERED ? POSIXTRACE_END_RECOVERED
                                                        : POSIXTRACE_END_SHUTDOWN;
    return r->has_tail ? POSIXTRACE_END_TAIL : POSIXTRACE_END_CUT;
}

void pt_log_reader_add_lost(struct pt_log_reader *r, unsigned cause, uint64_t events)
{
    r->state.unknown_lost[cause] += events;
    r->state.lost[cause] += events;
    r->scanned.good = false;
}

void pt_log_reader_report_lost(struct pt_log_reader *r, enum pt_log_reporter by, uint64_t events)
{
    uint64_t *counted = by == PT_LOG_BURIED ? &r->state.buried : &r->state.reported;

    if (events <= *counted)
        return;
    pt_log_reader_add_lost(r, POSIXTRACE_LOST_LOG_ERROR, events - *counted);
    *counted = events;
}

uint64_t pt_log_reader_lost_switches(const struct pt_log_reader *r)
{
    return r->lost_switches;
}

void pt_log_reader_raise_lost_switches(struct pt_log_reader *r, uint64_t all)
{
    if (all > r->lost_switches)
        r->lost_switches = all;
    r->scanned.good = false;
}

static uint64_t count_set_back(const struct pt_log_reader *r)
{
    uint64_t n = 0;

    for (size_t i = 1; i < r->sync_count && !r->map_count; i++)
        n += pt_sync_apply(&r->syncs[i - 1], r->syncs[i].ts) > r->syncs[i].ns;
    return n;
}

int pt_log_reader_info(struct pt_log_reader *r, struct posixtrace_info *info)
{
    const struct pt_log_state *s = &r->state;
    bool surveyed = r->source.seekable && !r->has_end;
    uint64_t first_ts = surveyed ? r->first_ts : s->first_ts;
    uint64_t last_ts = surveyed ? r->last_ts : s->last_ts;

    memset(info, 0, sizeof *info);
    memcpy(info->id, r->params.id, sizeof info->id);
    memcpy(info->host, r->params.host, sizeof info->host);
    memcpy(info->boot_id, r->params.boot_id, sizeof info->boot_id);
    info->clock = r->params.clock;
    info->piece = r->params.piece;
    info->end = end_of(r);
    info->events = surveyed ? r->events : s->events;
    if (info->events) {
        size_t n;
        const struct pt_sync *table = pt_reader_table(r, &n);

        info->first_ns = pt_sync_convert(table, n, first_ts);
        info->last_ns = pt_sync_convert(table, n, last_ts);
    }
    memcpy(info->lost, s->lost, sizeof s->lost);
    info->late = s->late;
    info->bytes = surveyed ? r->bytes : s->bytes;
    info->peak_bytes = s->peak_bytes;
    info->reserved_bytes = s->reserved_bytes;
    info->advised_size = s->advised_size;
    info->skipped_bytes = r->unlearned + r->bad_inside +
                          (surveyed && r->skipped > r->walk.skipped ? r->skipped : r->walk.skipped);
    info->flush_error = s->flush_error;
    info->set_back = count_set_back(r);
    return 0;
}

const struct pt_piece_base *pt_log_reader_base(const struct pt_log_reader *r)
{
    return &r->base;
}

bool pt_log_reader_is_continued(const struct pt_log_reader *r)
{
    return r->continued && r->complete;
}

uint64_t pt_log_reader_recorded(const struct pt_log_reader *r)
{
    return r->state.recorded;
}

uint32_t pt_log_reader_refused(const struct pt_log_reader *r)
{
    return r->state.refused;
}

bool pt_log_reader_outlived(const struct pt_log_reader *r)
{
    return r->outlived;
}

/* A sorted copy of the table's entries. */
struct entry {
    const struct pt_total *total;
    uint64_t first_wid; /* the lowest of its thread */
};

static int by_thread(const void *a, const void *b)
{
    const struct pt_author *x = &((const struct entry *)a)->total->author;
    const struct pt_author *y = &((const struct entry *)b)->total->author;
    int names = x->tid == 0 && y->tid == 0 ? strcmp(x->name, y->name) : 0;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    return names;
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Threads in the order in which they began, writers of one thread together. */
static int by_begin(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = compare(x->first_wid, y->first_wid);

    return order ? order : compare(x->total->author.wid, y->total->author.wid);
}

/* The lowest writer number of a thread represents all of them. */
static void mark_threads(struct entry *entries, size_t n)
{
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t lowest = UINT64_MAX;

        for (end = i; end < n && by_thread(&entries[i], &entries[end]) == 0; end++)
            if (entries[end].total->author.wid < lowest)
                lowest = entries[end].total->author.wid;
        for (size_t k = i; k < end; k++)
            entries[k].first_wid = lowest;
    }
}

static void begin_thread(struct posixtrace_thread_info *info, const struct pt_author *author)
{
    memset(info, 0, sizeof *info);
    info->pid = author->pid;
    info->tid = author->tid;
    info->thread_id = author->thread_id;
    memcpy(info->name, author->name, sizeof info->name);
}

/* The last writer of a thread has the latest name. */
static void add_total(struct posixtrace_thread_info *info, const struct pt_total *total)
{
    if (total->author.name[0])
        memcpy(info->name, total->author.name, sizeof info->name);
    info->recorded += total->recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        info->lost[c] += total->lost[c] + total->log_lost[c];
}

/* The losses and events of threads that no entry names. */
static bool add_unknown(const struct pt_log_reader *r, struct posixtrace_thread_info *info)
{
    static const struct pt_author ended = { .name = "(ended)" };
    bool any = r->state.unknown_recorded != 0;

    begin_thread(info, &ended);
    info->recorded = r->state.unknown_recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++) {
        info->lost[c] = r->state.unknown_lost[c];
        any = any || info->lost[c];
    }
    return any;
}

/* True: the entry is for the context switches of a thread, made by the consumer. */
static bool is_made(const struct pt_total *total)
{
    return total->author.level == PT_LEVEL_MADE && total->author.tid != 0;
}

/* Leaves out control writers, which are no threads, and authors without numbers, which are
 * no writers of the stream.  No thread has wid 1 in our logs; an entry with it and a tid is
 * from a log that another program wrote, and is listed. */
static bool is_listed(const struct pt_total *total)
{
    uint64_t any = total->recorded;

    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        any |= total->lost[c] | total->log_lost[c];
    return is_made(total) ||
           (any && total->author.wid != 0 && total->author.level != PT_LEVEL_MADE &&
            (total->author.wid != 1 || total->author.tid != 0));
}

static bool same_tid(const struct entry *a, const struct entry *b)
{
    return a->total->author.pid == b->total->author.pid &&
           a->total->author.tid == b->total->author.tid;
}

/* The entry for a thread's context switches stays only if the thread itself has recorded
 * nothing.  The entries are in the order of by_thread().  Returns how many are left. */
static size_t leave_out_made(struct entry *entries, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0, end; i < n; i = end) {
        bool own = false;

        for (end = i; end < n && same_tid(&entries[i], &entries[end]); end++)
            own |= !is_made(entries[end].total);
        for (size_t k = i; k < end; k++)
            if (!own || !is_made(entries[k].total))
                entries[kept++] = entries[k];
    }
    return kept;
}

static int build_threads(struct pt_log_reader *r)
{
    const struct pt_author_stats *t = &r->totals;
    struct entry *entries = malloc((t->count + 1) * sizeof *entries);
    struct posixtrace_thread_info *threads = malloc((t->count + 1) * sizeof *threads);
    size_t n = 0, count = 0;

    if (!entries || !threads) {
        free(entries);
        free(threads);
        return -ENOMEM;
    }
    for (size_t i = 0; i < t->count; i++)
        if (is_listed(&t->entries[i]))
            entries[n++].total = &t->entries[i];
    qsort(entries, n, sizeof *entries, by_thread);
    n = leave_out_made(entries, n);
    mark_threads(entries, n);
    qsort(entries, n, sizeof *entries, by_begin);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || entries[i].first_wid != entries[i - 1].first_wid)
            begin_thread(&threads[count++], &entries[i].total->author);
        add_total(&threads[count - 1], entries[i].total);
    }
    count += add_unknown(r, &threads[count]);
    free(entries);
    free(r->threads);
    r->threads = threads;
    r->thread_count = count;
    return 0;
}

int pt_log_reader_thread(struct pt_log_reader *r, size_t index, struct posixtrace_thread_info *info)
{
    int error = index == 0 || !r->threads ? build_threads(r) : 0;

    if (error)
        return error;
    if (index >= r->thread_count)
        return 0;
    *info = r->threads[index];
    return 1;
}

/* Of a joined packet: one for each chunk, the first with all of the events. */
static int each_part(struct pt_log_packet *packet, const struct pt_packet_data *from,
                     int (*each)(void *context, const struct pt_log_packet *packet), void *context)
{
    const struct pt_packet_part *parts;
    uint32_t n = pt_packet_parts(from, &parts);
    int rc;

    for (uint32_t i = 0; i < n; i++)
        packet->bytes -= pt_le32(parts[i].bytes);
    rc = each(context, packet);
    packet->events = 0;
    for (uint32_t i = 0; i < n && rc == 0; i++) {
        packet->chunk_seq = pt_le64(parts[i].chunk_seq);
        packet->chunk_off = pt_le32(parts[i].chunk_off);
        packet->bytes = pt_le32(parts[i].bytes);
        rc = each(context, packet);
    }
    return rc;
}

/* unpacker NULL: each() needs no records. */
static int each_packet(struct pt_log_reader *r, struct pt_unpacker *unpacker,
                       int (*each)(void *context, const struct pt_log_packet *packet),
                       void *context)
{
    const struct pt_packet_head *head;
    struct pt_log_packet packet;
    struct pt_input source;
    struct pt_walk walk;
    uint64_t offset;
    int rc;

    if (!r->source.seekable)
        return -ESPIPE;
    pt_input_init(&source, &r->file, true);
    pt_reader_walk(r, &walk, &source, r->first_offset);
    while ((rc = pt_walk_next(&walk, &head, &offset)) == 1) {
        if (head->type != PT_PACKET_DATA)
            continue;
        if (!unpacker)
            pt_packet_get_data(&packet, (const void *)head);
        else if (pt_packet_unpack_data(&packet, (const void *)head, unpacker) == -ENOMEM)
            rc = -ENOMEM;
        if (rc == 1)
            rc = unpacker ? each(context, &packet)
                          : each_part(&packet, (const void *)head, each, context);
        if (rc)
            break;
    }
    pt_input_deinit(&source);
    return rc;
}

int pt_log_reader_each_packet(struct pt_log_reader *r,
                              int (*each)(void *context, const struct pt_log_packet *packet),
                              void *context)
{
    return each_packet(r, NULL, each, context);
}

static int count_packet(void *context, const struct pt_log_packet *packet)
{
    struct pt_log_reader *r = context;
    struct pt_cutter cutter;
    struct pt_record record;

    pt_cut_begin(&cutter, packet);
    while (pt_decode_event(&cutter.decoder, &record) == 1)
        r->counts[record.id]++;
    return 0;
}

int pt_log_reader_count(struct pt_log_reader *r, uint32_t id, uint64_t *count)
{
    int rc = 0;

    if (id >= PT_ID_MAX)
        return -EINVAL;
    if (!r->counted) {
        memset(r->counts, 0, sizeof r->counts);
        rc = each_packet(r, &r->unpacker, count_packet, r);
        for (size_t i = 0; i < r->tail_count && rc == 0; i++)
            rc = count_packet(r, &r->tail[i]);
        r->counted = rc == 0;
    }
    if (rc == 0)
        *count = r->counts[id];
    return rc;
}
