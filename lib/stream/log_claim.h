/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A recovery's right to a log, as long as no stream wants the file (log_lock.h).
 *
 * The claim is for one log: the one whose id the header has.  Each change of the file is made
 * with the flock(), between two looks: is it the same log, of the size that the claim has left?
 * What cuts the file asks for no lock: where that happens between the look before and the
 * change, the look after takes the change back.  Once something is different the claim is
 * over, and nothing is written any more.
 */
#ifndef PT_STREAM_LOG_CLAIM_H
#define PT_STREAM_LOG_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "log/out.h"

struct pt_log_claim {
    int fd, over;              /* over: why, a negative errno */
    bool has_byte;             /* else the flock(), all the time */
    uint8_t head[40];          /* of the log's header, with magic number and id */
    off_t size;
    struct pt_out_gate gate;   /* for the writer */
};

/* -EBUSY: a stream or another recovery has the file. */
int pt_log_claim(struct pt_log_claim *c, int fd);
void pt_log_claim_end(struct pt_log_claim *c);
/* As ftruncate(), within the claim. */
int pt_log_claim_truncate(struct pt_log_claim *c, off_t size);

#endif
