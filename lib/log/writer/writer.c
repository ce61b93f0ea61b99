/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log writer: creation and end, the header of the file, and queries.  state.h lists its files.
 */
#include <fcntl.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "log/writer/state.h"

static void fill_header(const struct pt_log_writer *w, struct pt_log_header *h)
{
    const struct pt_attr *attr = &w->params.attr;

    memset(h, 0, sizeof *h);
    memcpy(h->magic, PT_LOG_MAGIC, sizeof h->magic);
    h->version = PT_LOG_VERSION;
    if (attr->compression == POSIXTRACE_COMPRESSION_ZSTD) {
        h->version = PT_LOG_VERSION_FEATURES;
        h->features = PT_LOG_ZSTD;
    }
    h->header_size = PT_LOG_HEADER_SIZE;
    h->clock = w->params.clock;
    memcpy(h->id, w->params.id, sizeof h->id);
    memcpy(h->boot_id, w->params.boot_id, sizeof h->boot_id);
    h->pid = w->params.pid;
    h->data_start = PT_LOG_DATA_START;
    h->ring_bytes = w->ring.bytes;
    h->meta_start = w->ring.bytes ? PT_LOG_DATA_START + w->ring.bytes : 0;
    h->create_ns = attr->create_ns;
    h->clock_res_ns = attr->clock_res_ns;
    h->stream_size = attr->stream_size;
    h->max_data = attr->max_data;
    h->log_size = attr->log_size;
    h->stream_policy = attr->stream_policy;
    h->log_policy = attr->log_policy;
    h->inheritance = attr->inheritance;
    h->policy_is_default = attr->policy_is_default;
    h->event_cost_ps = (uint32_t)attr->event_cost_ps;
    memcpy(h->name, attr->name, sizeof h->name);
    memcpy(h->genversion, attr->genversion, sizeof h->genversion);
    if (w->sync_count)
        h->sync = w->syncs[0];
}

/* One write inside one page: a reader sees the old header or the new one. */
int pt_writer_header(struct pt_log_writer *w, uint32_t flags, uint64_t end_offset,
                     uint64_t file_end)
{
    struct pt_log_header h;

    fill_header(w, &h);
    h.flags = flags;
    h.end_offset = end_offset;
    h.file_end = file_end;
    pt_log_header_seal(&h);
    return pt_out_write_at(&w->out, &h, sizeof h, 0);
}

/* The whole header block of a new log. */
static int begin_file(struct pt_log_writer *w)
{
    struct pt_log_header h;
    uint8_t *block;
    int error;

    if (w->params.seekable && (error = pt_out_truncate(&w->out, 0)) != 0)
        return error;
    block = pt_out_reserve(&w->out, PT_LOG_DATA_START, &error);
    if (!block)
        return error;
    fill_header(w, &h);
    pt_log_header_seal(&h);
    memset(block, 0, PT_LOG_DATA_START);
    memcpy(block, &h, sizeof h);
    pt_out_commit(&w->out, PT_LOG_DATA_START, 0, 0);
    return pt_out_flush(&w->out);
}

int pt_log_writer_new(struct pt_log_writer **writer, int fd, const struct pt_log_params *params)
{
    struct pt_log_writer *w;
    int error, flags;

    flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -errno;
    if (params->seekable ? (flags & O_APPEND) != 0 : params->attr.log_policy != POSIX_TRACE_APPEND)
        return -EINVAL;
    if (!pt_pack_available(params->attr.compression))
        return -ENOTSUP;
    w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->params = *params;
    w->seed = pt_packet_seed(params->id);
    w->round = w->flushed_round = 1;
    pt_totals_init(&w->totals);
    pt_index_init(&w->index);
    error = pt_out_init(&w->out, fd, params->seekable, 0);
    w->out.waits = params->waits;
    w->out.waits_context = params->waits_context;
    if (!error)
        error = begin_file(w);
    if (error) {
        pt_log_writer_free(w);
        return error;
    }
    *writer = w;
    return 0;
}

void pt_log_read_by(struct pt_log_writer *w, int fd)
{
    w->out.reads = fd;
}

void pt_log_writer_free(struct pt_log_writer *w)
{
    if (!w)
        return;
    pt_texts_deinit(&w->texts);
    free(w->syncs);
    free(w->part_authors);
    pt_totals_deinit(&w->totals);
    pt_index_deinit(&w->index);
    pt_ring_deinit(&w->ring);
    pt_out_deinit(&w->out);
    pt_packer_deinit(&w->packer);
    free(w->order.at);
    free(w);
}

bool pt_log_full(const struct pt_log_writer *w)
{
    return w->full || w->ring.bytes != 0;
}

bool pt_log_overrun(struct pt_log_writer *w, bool reset)
{
    bool overrun = w->overrun;

    if (reset)
        w->overrun = false;
    return overrun;
}

void pt_log_books(const struct pt_log_writer *w, struct pt_log_books *books)
{
    *books = (struct pt_log_books){
        .lsn = w->lsn,
        .events = w->events,
        .waiting = pt_writer_waiting(w, 0, UINT64_MAX),
        .full = w->totals.lost[POSIXTRACE_LOST_LOG_FULL],
        .overwritten = w->totals.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN],
        .error = w->totals.lost[POSIXTRACE_LOST_LOG_ERROR],
    };
}

uint64_t pt_log_lost(const struct pt_log_writer *w, unsigned cause)
{
    return cause < PT_LOSS_CAUSES && pt_cause_is_of_log(cause) ? w->totals.lost[cause] : 0;
}
