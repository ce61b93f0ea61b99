/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The reader of a kev file in its parts: header, blocks of records, parts of events. */
#ifndef PT_FORMAT_KEV_FILE_H
#define PT_FORMAT_KEV_FILE_H

#include "analysis/format/qnx/kev_import.h"

#define PT_KEV_HELD    64u  /* buffers that wait for an earlier one */
#define PT_KEV_PENDING 256u /* events that are not whole yet */

/* The records between one CONTROL BUFFER and the next. */
struct pt_kev_block {
    uint32_t sequence;
    uint32_t count, room;
    uint64_t where; /* offset of its BUFFER record */
    uint64_t time;  /* cycles, of its first CONTROL TIME; 0: it has none */
    uint8_t *records;
};

struct pt_kev_pending {
    uint32_t header, low; /* low: half of the time */
    int64_t ns;
    uint64_t where, touched; /* touched: number of the last record of it */
    uint8_t *data;
    uint32_t length, room;
    bool too_long;
};

struct pt_kev_file {
    struct pt_kev_import *im;
    FILE *in;
    uint64_t offset;

    /* blocks */
    bool known;    /* which number was the first; until then all wait */
    uint32_t next; /* the one that is due */
    unsigned held_count;
    struct pt_kev_block held[PT_KEV_HELD];
    struct pt_kev_block *filling; /* one of held; NULL: records are passed on at once */
    size_t held_records;
    bool late; /* the block is older than others that were passed on */
    uint64_t late_before;
    uint32_t sequence, said, seen; /* of the block that is read */
    uint64_t block_where;

    /* parts */
    uint64_t records;
    unsigned pending_count;
    struct pt_kev_pending pending[PT_KEV_PENDING];
};

/* All return false with job->error set. */
bool pt_kev_head_read(struct pt_kev_file *f);
bool pt_kev_block_record(struct pt_kev_file *f, const uint8_t *record, uint64_t where);
bool pt_kev_block_end(struct pt_kev_file *f);
/* A record whose place in the sequence is settled. */
bool pt_kev_deliver(struct pt_kev_file *f, const uint8_t *record, uint64_t where);
bool pt_kev_part_take(struct pt_kev_file *f, const uint8_t *record, uint64_t where);
/* Ends the incomplete events, whose other parts do not come any more. */
bool pt_kev_parts_end(struct pt_kev_file *f, const char *why);
/* Ends events that have been incomplete for too long. */
bool pt_kev_parts_age(struct pt_kev_file *f);
void pt_kev_file_free(struct pt_kev_file *f);

#endif
