/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log writer: creation and end, and queries.  state.h lists its files.
 */
#include <fcntl.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "log/writer/state.h"

int pt_log_writer_new(struct pt_log_writer **writer, int fd, const struct pt_log_params *params)
{
    struct pt_log_writer *w;
    int error, flags;

    flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -errno;
    if ((flags & O_ACCMODE) == O_RDONLY)
        return -EBADF;
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
    pt_author_stats_init(&w->totals);
    pt_index_init(&w->index);
    error = pt_output_init(&w->out, fd, params->seekable, 0);
    w->out.waits = params->waits;
    w->out.waits_context = params->waits_context;
    if (!error)
        error = pt_log_writer_begin_file(w);
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
    pt_string_table_deinit(&w->texts);
    pt_piece_base_deinit(&w->own_base);
    pt_log_join_free(w);
    free(w->syncs);
    free(w->part_authors);
    pt_author_stats_deinit(&w->totals);
    pt_index_deinit(&w->index);
    pt_ring_deinit(&w->ring);
    pt_output_deinit(&w->out);
    pt_packer_deinit(&w->packer);
    free(w->order.at);
    free(w);
}

bool pt_log_full(const struct pt_log_writer *w)
{
    return pt_log_writer_is_full(w);
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
        .waiting = pt_log_writer_waiting(w, 0, UINT64_MAX),
        .full = w->totals.lost[POSIXTRACE_LOST_LOG_FULL],
        .overwritten = w->totals.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN],
        .error = w->totals.lost[POSIXTRACE_LOST_LOG_ERROR],
        .piece = w->params.piece,
        .ino = w->params.ino,
    };
}

void pt_log_add_sums(struct pt_log_writer *w, struct pt_piece_base *to)
{
    struct pt_log_state s;

    pt_log_writer_state(w, &s);
    to->events += s.events;
    to->recorded += s.recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        to->lost[c] += s.lost[c];
    to->lost[POSIXTRACE_LOST_FULL] -= w->status.lost_switches;
    to->lost_switches += w->status.lost_switches;
    to->late += s.late;
}

uint64_t pt_log_bytes(const struct pt_log_writer *w)
{
    return pt_output_offset(&w->out);
}

uint64_t pt_log_events(const struct pt_log_writer *w)
{
    return w->events;
}

uint64_t pt_log_lost(const struct pt_log_writer *w, unsigned cause)
{
    return cause < PT_LOSS_CAUSES && pt_cause_is_of_log(cause) ? w->totals.lost[cause] : 0;
}
