/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The read side of RKH's stream (posixtrace/rkh.h): the writer of frames, one event at a
 * time, whose output is handed out from memory.  An event is only taken when nothing
 * waits to be handed out: the longest one, all its bytes stuffed, fits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/rkh.h>
#include "analysis/format/rkh/rkh_write.h"

struct posixtrace_rkh_bytes {
    struct posixtrace_conversion conversion;
    struct pt_job job;
    struct posixtrace_event next;
    struct pt_rkh_writer writer;
    bool begun;
    size_t taken; /* of what the writer has put */
    uint8_t frame[PT_RKH_FRAME_MAX];
};

int posixtrace_rkh_open(trace_id_t trid, posixtrace_rkh_bytes_t **bytes)
{
    struct posixtrace_rkh_bytes *b = bytes ? calloc(1, sizeof *b) : NULL;
    int error;

    if (!bytes)
        return EINVAL;
    error = b ? posixtrace_fields_create(trid, &b->job.fields) : ENOMEM;
    if (error) {
        free(b);
        return error;
    }
    b->job.c = &b->conversion;
    b->job.trid = trid;
    b->job.ahead = &b->next;
    b->job.ahead_room = 1; /* others may read the stream as well */
    b->writer.job = &b->job;
    b->writer.frame = (struct pt_rkh_bytes){ .at = b->frame, .room = sizeof b->frame - 1 };
    b->writer.rate = 1000000000u;
    pt_rkh_types_init(&b->writer.types, false);
    pt_rkh_config_init(&b->writer.config);
    b->writer.config.pointer = 8;
    *bytes = b;
    return 0;
}

void posixtrace_rkh_close(posixtrace_rkh_bytes_t *bytes)
{
    if (!bytes)
        return;
    posixtrace_fields_free(bytes->job.fields);
    free(bytes);
}

/* Frames of the next event; false: there is none now, or job.error. */
static bool fill(struct posixtrace_rkh_bytes *b)
{
    struct posixtrace_event e;

    b->taken = b->writer.out_used = 0;
    if (!pt_job_next(&b->job, &e))
        return false;
    if (!b->begun && !pt_rkh_write_begin(&b->writer, &e))
        return false;
    b->begun = true;
    return pt_rkh_write_event(&b->writer, &e);
}

int posixtrace_rkh_get(posixtrace_rkh_bytes_t *bytes, void *to, size_t size, size_t *got)
{
    size_t done = 0;

    if (!bytes || !got || (size && !to))
        return EINVAL;
    *got = 0;
    while (done < size) {
        size_t n = bytes->writer.out_used - bytes->taken;

        if (n == 0 && !fill(bytes))
            break;
        n = bytes->writer.out_used - bytes->taken;
        if (n > size - done)
            n = size - done;
        memcpy((uint8_t *)to + done, bytes->writer.out + bytes->taken, n);
        bytes->taken += n;
        done += n;
    }
    *got = done;
    return done ? 0 : bytes->job.error;
}
