/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* An import of BTF under way, shared by the files that make it up. */
#ifndef PT_FORMAT_BTF_READ_H
#define PT_FORMAT_BTF_READ_H

#include "analysis/format/btf/btf_jobs.h"
#include "analysis/format/common/format.h"
#include "analysis/format/common/spool.h"

enum {
    PT_BTF_DATA_MAX = 40 << 10, /* of an event of ours */
    PT_BTF_RECORD_MAX = PT_BTF_DATA_MAX + 2 * PT_BTF_NAME_MAX + 64
}; /* in the spool */

/* Kinds of reports. */
enum {
    PT_BTF_READ_LINE,
    PT_BTF_READ_WORD,
    PT_BTF_READ_PARAMETER,
    PT_BTF_READ_MANY,
    PT_BTF_READ_TIME,
    PT_BTF_READ_ORDER
};

struct pt_btf_reader {
    struct pt_job *job;
    struct pt_btf_file file;
    struct pt_btf_jobs jobs;
    FILE *input;           /* job->file, or a copy of it */
    struct pt_spool spool; /* its file is NULL: lines are in order */
    uint64_t line;         /* of the event being made */
    bool strict;
    bool has_base, has_events;
    int64_t base, last_ns;
    int64_t last_time;
    uint64_t last_line; /* of the event before */
    uint64_t bad_lines, first_bad_line;
    char first_bad[160];
    uint8_t described[PT_BTF_TYPES][PT_BTF_ACTIONS_MAX];
    bool described_other, described_parameter;
    char *parameters; /* before the first event: name and value, with NULs */
    size_t parameter_bytes;
    uint8_t *data; /* PT_BTF_DATA_MAX; of the event being made */
    size_t length;
};

/* btf_read_events.c */
/* Adds the events of a line at that time.  False: job->error is set, here and below. */
bool pt_btf_reader_event(struct pt_btf_reader *r, const struct pt_btf_event *e, int64_t ns);
bool pt_btf_reader_parameter(struct pt_btf_reader *r, const char *name, const char *value,
                             int64_t ns);
/* Text of the file for a message: nothing in it steers a terminal. */
const char *pt_btf_shown(const char *text, char to[48]);

/* btf_order.c */
/* Reads times up to the end, or up to one that goes back: then false. */
bool pt_btf_reader_is_in_order(struct pt_btf_reader *r);
/* Into the spool. */
bool pt_btf_reader_put_event(struct pt_btf_reader *r, const struct pt_btf_event *e, int64_t ns);
bool pt_btf_reader_put_parameter(struct pt_btf_reader *r, const char *name, const char *value);
/* Adds the events in the spool. */
void pt_btf_reader_add_sorted(struct pt_btf_reader *r);
/* False, and job->error is set. */
bool pt_btf_reader_cannot_sort(struct pt_btf_reader *r, int error);

#endif
