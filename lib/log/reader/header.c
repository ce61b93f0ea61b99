/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Reads the header block of a log and checks every value of it. */
#include <errno.h>
#include <posixtrace/attr.h>
#include <string.h>
#include "log/reader/state.h"

#define HEADER_TRIES 3

static bool is_newer(const struct pt_log_header *h)
{
    return h->version > PT_LOG_VERSION_FEATURES;
}

static bool header_is_good(const struct pt_log_header *h)
{
    return is_newer(h) || (h->version >= PT_LOG_VERSION && h->header_size == PT_LOG_HEADER_SIZE);
}

/* -ENOTSUP: a good log, but not for this build. */
static int take_features(struct pt_log_reader *r, const struct pt_log_header *h)
{
    uint32_t features = h->version == PT_LOG_VERSION_FEATURES ? h->features : 0;

    r->params.attr.compression = features & PT_LOG_ZSTD      ? POSIXTRACE_COMPRESSION_ZSTD
                                 : features & PT_LOG_COLUMNS ? POSIXTRACE_COMPRESSION_COLUMNS
                                                             : POSIXTRACE_COMPRESSION_NONE;
    r->features = features;
    if ((features & ~PT_LOG_FEATURES) || !pt_pack_available(r->params.attr.compression))
        return -ENOTSUP;
    return 0;
}

/* -EINVAL: values that no writer stores; -ENOTSUP: not for this build. */
static int take_header(struct pt_log_reader *r, const struct pt_log_header *h)
{
    struct pt_log_params *params = &r->params;
    struct pt_attr *attr = &params->attr;

    if (is_newer(h))
        return -ENOTSUP;
    memcpy(params->id, h->id, sizeof params->id);
    memcpy(params->boot_id, h->boot_id, sizeof params->boot_id);
    memcpy(params->host, h->host, sizeof params->host);
    params->host[sizeof params->host - 1] = '\0';
    params->clock = h->clock;
    params->piece = h->piece;
    params->pid = h->pid;
    params->seekable = r->source.seekable;
    attr->magic = PT_ATTR_MAGIC;
    memcpy(attr->name, h->name, sizeof attr->name);
    memcpy(attr->genversion, h->genversion, sizeof attr->genversion);
    attr->create_ns = h->create_ns;
    attr->clock_res_ns = h->clock_res_ns;
    attr->stream_size = h->stream_size;
    attr->max_data = h->max_data;
    attr->log_size = h->log_size;
    attr->stream_policy = h->stream_policy;
    attr->log_policy = h->log_policy;
    attr->inheritance = h->inheritance;
    attr->policy_is_default = h->policy_is_default;
    attr->event_cost_ps = h->event_cost_ps;
    r->seed = pt_packet_seed(h->id);
    r->complete = (h->flags & PT_LOG_COMPLETE) != 0;
    r->end_offset = h->end_offset;
    r->ring_bytes = h->ring_bytes;
    r->meta_start = h->meta_start;
    r->first_offset = PT_LOG_DATA_START;
    r->header_sync = h->sync;
    if (h->data_start != PT_LOG_DATA_START || pt_attr_check(attr, true) != 0 || h->clock < 0 ||
        h->clock > POSIXTRACE_CLOCK_REALTIME)
        return -EINVAL;
    if (h->ring_bytes && (h->ring_bytes % PT_PACKET_ALIGN || h->ring_bytes > INT64_MAX / 2 ||
                          h->meta_start != PT_LOG_DATA_START + h->ring_bytes ||
                          attr->log_policy != POSIX_TRACE_LOOP))
        return -EINVAL;
    return take_features(r, h);
}

/* A regular file is read without the window, whose bytes are those of the packets to come. */
static int read_header(struct pt_log_reader *r, struct pt_log_header *h)
{
    const void *at;
    int error;

    if (r->source.seekable) {
        pt_input_forget(&r->source);
        return pt_input_read(&r->source, h, sizeof *h, 0);
    }
    at = pt_input_fetch(&r->source, 0, sizeof *h, &error);
    if (!at)
        return error ? error : -ENODATA;
    memcpy(h, at, sizeof *h);
    return 0;
}

/* A writer may be writing the header at this moment: a bad one is read again. */
int pt_reader_header(struct pt_log_reader *r)
{
    struct pt_log_header h;
    int error;

    for (int i = 0; i < HEADER_TRIES; i++) {
        error = read_header(r, &h);
        if (error)
            return error == -ENODATA ? -EINVAL : error;
        if (pt_log_header_open(&h) && header_is_good(&h))
            return r->follow.on && memcmp(h.id, r->params.id, sizeof h.id) != 0
                       ? -ESTALE
                       : take_header(r, &h);
        if (!r->source.seekable)
            break;
    }
    return -EINVAL;
}
