/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The writer of Trazer's text in its parts: records of RKH, all others. */
#ifndef PT_FORMAT_TRAZER_WRITE_H
#define PT_FORMAT_TRAZER_WRITE_H

#include <string.h>
#include "analysis/format/rkh/rkh_job.h"
#include "analysis/format/rkh/trazer.h"

#define PT_TRAZER_OUT     65536u
#define PT_TRAZER_QUEUES  256u
#define PT_TRAZER_WAITING 64u /* events in a queue that are remembered */

/* What was posted to an active object and not taken yet, for rt= and nseq=. */
struct pt_trazer_queue {
    uint64_t object;
    uint32_t posted, first, count;
    struct {
        uint64_t signal, ticks;
        uint32_t nseq;
    } event[PT_TRAZER_WAITING];
};

struct pt_trazer_writer {
    struct pt_job *job;
    struct pt_rkh_types types;
    int16_t record[4096]; /* by event id: number of the record, -1, or -2: not looked */
    bool user[4096];      /* an imported user event */
    uint64_t rate, ticks;
    bool rate_given;
    unsigned stamp; /* bytes of a timestamp */
    uint8_t sequence;
    unsigned swallow; /* OVERFLOW and RESUME that belong to a rkh:LOST */
    bool timed;       /* nothing was lost since the configuration */
    struct pt_trazer_queue *queues;
    unsigned queue_count;
    size_t used;
    char out[PT_TRAZER_OUT + 16];
};

void pt_trazer_put(struct pt_trazer_writer *w, char c);
/* Appends at most 1024 bytes that contain no control characters. */
void pt_trazer_put_piece(struct pt_trazer_writer *w, const char *text, size_t n);
static inline void pt_trazer_put_text(struct pt_trazer_writer *w, const char *text)
{
    pt_trazer_put_piece(w, text, strlen(text));
}
void pt_trazer_put_repeated(struct pt_trazer_writer *w, char c, size_t n);
/* Text that came from a program, in a format of lines. */
void pt_trazer_put_foreign(struct pt_trazer_writer *w, const char *text, size_t len);
/* The same, followed by blanks up to width. */
void pt_trazer_put_padded(struct pt_trazer_writer *w, const char *text, size_t len, size_t width);
/* In base 10 or 16, with leading fill up to width. */
void pt_trazer_put_unsigned(struct pt_trazer_writer *w, uint64_t v, unsigned base, unsigned width,
                            char fill);
void pt_trazer_put_signed(struct pt_trazer_writer *w, int64_t v);
/* Time, sequence number, group and name. */
void pt_trazer_put_head(struct pt_trazer_writer *w, const char *group, size_t group_len,
                        const char *name, size_t name_len);
void pt_trazer_put_symbol(struct pt_trazer_writer *w, uint64_t v, const char *name, size_t len);
/* imported: from "rkh:USR:..." */
void pt_trazer_put_user(struct pt_trazer_writer *w, const struct posixtrace_event *e,
                        bool imported);

#endif
