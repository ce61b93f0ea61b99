/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export as RKH's stream.  Events that were imported from RKH become the records that
 * they were, all others user events (rkh_roundtrip.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/rkh/rkh_write.h"

int pt_rkh_write(struct pt_job *job);

/* ---- frames ---- */

static bool flush(struct pt_rkh_writer *w)
{
    size_t n = w->out_used;

    w->out_used = 0;
    if (fwrite_unlocked(w->out, 1, n, w->job->file) == n)
        return true;
    pt_job_fail_file(w->job);
    return false;
}

void pt_rkh_frame_begin(struct pt_rkh_writer *w, unsigned id)
{
    const struct pt_rkh_config *c = &w->config;

    w->frame.used = 0;
    w->frame.full = false;
    pt_rkh_put_number(&w->frame, 1, id);
    if (c->bits & PT_RKH_SEQUENCE)
        pt_rkh_put_number(&w->frame, 1, w->sequence);
    if (c->bits & PT_RKH_TIMESTAMP)
        pt_rkh_put_number(&w->frame, c->timestamp, w->ticks);
}

/* With checksum, stuffed, and followed by the flag. */
static bool put_frame(struct pt_rkh_writer *w)
{
    const uint8_t *from = w->frame.at, *end = from + w->frame.used;
    uint8_t sum = 0, *to;
    bool checksum = w->config.bits & PT_RKH_CHECKSUM;

    if (w->out_used + 2 * w->frame.used + 4 > sizeof w->out && !flush(w))
        return false;
    to = w->out + w->out_used;
    for (;; from++) {
        uint8_t byte;

        if (from < end)
            sum = (uint8_t)(sum + (byte = *from));
        else if (from == end && checksum)
            byte = (uint8_t)-sum;
        else
            break;
        if (byte == PT_RKH_FLAG || byte == PT_RKH_ESCAPE) {
            *to++ = PT_RKH_ESCAPE;
            byte ^= 0x20;
        }
        *to++ = byte;
    }
    *to++ = PT_RKH_FLAG;
    w->out_used = (size_t)(to - w->out);
    return true;
}

bool pt_rkh_frame_end(struct pt_rkh_writer *w)
{
    w->sequence++;
    return put_frame(w);
}

bool pt_rkh_write_config(struct pt_rkh_writer *w, uint32_t more_bits)
{
    uint8_t payload[PT_RKH_CONFIG_BYTES];
    struct pt_rkh_config c = w->config;

    c.bits |= more_bits;
    pt_rkh_config_put(&c, payload);
    w->frame.used = 0;
    pt_rkh_put_number(&w->frame, 1, PT_RKH_FWK_TCFG);
    pt_rkh_put(&w->frame, payload, sizeof payload);
    return put_frame(w);
}

/* ---- time ---- */

/* Rounded down; up for RKH's own, so that import, which rounds down, gives the same. */
static uint64_t ticks_of(const struct pt_rkh_writer *w, uint64_t ns)
{
    if (w->rate == 1000000000u)
        return ns;
    return ns / 1000000000u * w->rate +
           (ns % 1000000000u * w->rate + (w->ours ? 0 : 999999999u)) / 1000000000u;
}

bool pt_rkh_advance(struct pt_rkh_writer *w, int64_t ns)
{
    unsigned bits = 8u * w->config.timestamp;
    uint64_t ticks;

    if (!(w->config.bits & PT_RKH_TIMESTAMP))
        return true;
    if (ns < w->base_ns)
        return false;
    ticks = w->base_ticks + ticks_of(w, (uint64_t)ns - (uint64_t)w->base_ns);
    if (w->ours && ticks - w->ticks >= (uint64_t)1 << (bits - 1))
        return false;
    w->ticks = ticks;
    return true;
}

/* ---- events ---- */

bool pt_rkh_write_event(struct pt_rkh_writer *w, const struct posixtrace_event *e)
{
    struct pt_rkh_slot *slot = &w->slot[e->id % PT_RKH_EVENT_IDS];
    bool done = false;

    if (!slot->looked) {
        slot->looked = true;
        slot->is_native = strncmp(e->name, "rkh:", 4) == 0;
        slot->record = (int16_t)(slot->is_native ? pt_rkh_type_find(&w->types, e->name) : -1);
    }
    if (slot->is_native) {
        w->swallow = 0;
    } else if (w->swallow) {
        w->swallow--;
        if (strcmp(e->name, "posix_trace_overflow") == 0 ||
            strcmp(e->name, "posix_trace_resume") == 0)
            return true;
    }
    if (slot->is_native && !pt_rkh_write_native(w, slot, e, &done))
        return false;
    return done || pt_rkh_write_ours(w, slot, e);
}

/* The log's own configuration comes first, if it has one; else ours. */
bool pt_rkh_write_begin(struct pt_rkh_writer *w, const struct posixtrace_event *first)
{
    bool configured = first && strcmp(first->name, "rkh:FWK_TCFG") == 0 &&
                      pt_rkh_take_config(w, first);

    w->out[w->out_used++] = PT_RKH_FLAG;
    if (configured)
        return true;
    w->config = (struct pt_rkh_config){ .id = 1,
                                        .signal = 4,
                                        .timestamp = 4,
                                        .pointer = w->config.pointer,
                                        .tick = 4,
                                        .nblock = 4,
                                        .nelem = 4,
                                        .esize = 4,
                                        .bsize = 4,
                                        .pools = 4,
                                        .version = 0x3400,
                                        .hz = (uint16_t)w->rate,
                                        .bits = PT_RKH_BITS };
    return pt_rkh_write_config(w, PT_RKH_OURS);
}

static int write_all(struct pt_rkh_writer *w)
{
    struct posixtrace_event e;
    bool good = true, any = pt_job_next(w->job, &e);

    if (w->job->error)
        return w->job->error;
    good = pt_rkh_write_begin(w, any ? &e : NULL);
    while (good && any) {
        good = pt_rkh_write_event(w, &e);
        any = good && pt_job_next(w->job, &e);
    }
    if (good && !w->job->error)
        flush(w);
    return w->job->error;
}

static bool take_options(struct pt_rkh_writer *w)
{
    uint64_t pointer = 4;

    w->rate = 1000000000u;
    w->rate_given = pt_job_option(w->job, "rate", 0) != NULL;
    if (!pt_rkh_number_option(w->job, "rate", 1, 1000000000u, &w->rate) ||
        !pt_rkh_number_option(w->job, "pointer", 4, 8, &pointer))
        return false;
    if (pointer != 4 && pointer != 8) {
        pt_job_fail(w->job, EINVAL, "--pointer=%u: it is 4 or 8 bytes", (unsigned)pointer);
        return false;
    }
    w->config.pointer = (uint8_t)pointer;
    return true;
}

int pt_rkh_write(struct pt_job *job)
{
    struct pt_rkh_writer *w = calloc(1, sizeof *w);
    uint8_t *frame = malloc(PT_RKH_FRAME_MAX);

    if (w && frame) {
        w->job = job;
        w->frame = (struct pt_rkh_bytes){ .at = frame, .room = PT_RKH_FRAME_MAX - 1 };
        pt_rkh_types_init(&w->types, false);
        pt_rkh_config_init(&w->config);
        if (take_options(w))
            write_all(w);
    } else {
        pt_job_fail(job, ENOMEM, "no memory");
    }
    free(w);
    free(frame);
    return job->error;
}
