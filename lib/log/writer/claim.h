/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A recovery's right to a log, as long as no stream wants the file (lock.h).  Its locks are its own
 * (own.h), even if others have the caller's descriptor.
 *
 * The claim is for one log: the one with the id in the header.  Each change of the file is made
 * with the flock(), between two checks: is it the same log, with the size that the claim has left?
 * A program that truncates the file takes no lock.  If that happens between the first check and the
 * change, the second check undoes the change.  After any difference the claim is over, and nothing
 * is written any more.
 *
 * A change may hide a cut: a write after the new end makes the file as long as before, with zeros
 * in between.  So the first check notes the last byte before the change that is not zero.  If it is
 * still there, at most zeros were cut, and the change has restored them.
 *
 * Undoing removes only bytes that the change has written and that are still there.  The file
 * becomes empty only if there are nothing but zeros before them: then the program that cut it has
 * left nothing in it.
 */
#ifndef PT_LOG_WRITER_CLAIM_H
#define PT_LOG_WRITER_CLAIM_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "log/writer/output.h"
#include "log/writer/own.h"

struct pt_log_claim {
    int fd, over; /* over: why, a negative errno */
    struct pt_log_own own;
    sigset_t signals; /* the thread's, before a change */
    bool has_byte;    /* else the flock(), all the time */
    bool has_lock;    /* the flock() */
    uint8_t head[40]; /* of the log's header, with magic number and id */
    off_t size;
    off_t zeros_end;  /* end of the last zeros that we have written, after witness; or 0 */
    off_t witness;    /* offset of that byte; -1: none */
    uint8_t old[512]; /* the bytes that a change replaces, if they fit: the header */
    size_t old_length;
    struct pt_output_gate gate; /* for the writer */
};

/* -EBUSY: a stream or another recovery has the file.  -EMFILE, -ENFILE, -ENOMEM. */
int pt_log_claim(struct pt_log_claim *c, int fd);
/* 0; -EBUSY: this is a child that was forked inside the recovery, and has done nothing. */
int pt_log_claim_end(struct pt_log_claim *c);
/* Makes the file the log with these bytes, with magic number and id.  What the file has is removed
 * first; if anything fails then, the file is empty. */
int pt_log_claim_start(struct pt_log_claim *c, const void *bytes, size_t length);
/* As ftruncate(), within the claim. */
int pt_log_claim_truncate(struct pt_log_claim *c, off_t size);

#endif
