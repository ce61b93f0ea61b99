/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The records of an input, one by one: of chunks as they are in files, or of packets, one
 * after the other.  An input that cannot be read twice is copied to a file without a
 * name first.
 */
#ifndef PT_FORMAT_SHARK_INPUT_H
#define PT_FORMAT_SHARK_INPUT_H

#include "analysis/format/common/format.h"
#include "compat/shark/shark.h"

/* Where the next record is looked for. */
struct pt_shark_place {
    uint64_t offset;      /* in the input */
    uint64_t number;      /* of the record before, from 1, zero records included */
    uint32_t left;        /* records of the packet */
    uint32_t next_packet; /* number that is due; 0: none was seen, or it was the last */
};

struct pt_shark_input {
    struct pt_job *job;
    FILE *in;
    bool packets;
    struct pt_shark_place at;
    uint32_t lost; /* packets that are missing before the record taken last */
};

/* 0, or the error given to pt_job_fail(). */
int pt_shark_input_open(struct pt_shark_input *in, struct pt_job *job);
void pt_shark_input_close(struct pt_shark_input *in);
/* The next record that was written: 1; 0: the end; -1: the job has failed, with EILSEQ
 * where the input is not what it should be. */
int pt_shark_input_take(struct pt_shark_input *in, struct shark_record *record);
/* Back, or forth, to a place that was in->at. */
int pt_shark_input_seek(struct pt_shark_input *in, const struct pt_shark_place *place);

#endif
