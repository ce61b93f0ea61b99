/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The table events as a file: columns of all events, then one for each field of each described type
 * that has events. */
#ifndef PT_PARQUET_EVENTS_H
#define PT_PARQUET_EVENTS_H

#include "analysis/format/parquet/table.h"
#include "analysis/format/parquet/types.h"

struct pt_parquet_events {
    struct pt_parquet_table table;
    const struct pt_parquet_options *options;
    struct pt_parquet_types types;
    uint32_t names[PT_PARQUET_TYPES]; /* number of a type's name in this group + 1 */
    uint32_t thread;                  /* number of the name before, in this group */
    char thread_name[64];             /* it, if it is not longer */
    bool has_thread, has_process;
    pid_t pid;           /* of the process before: */
    const char *process; /* NULL: it has no name */
    uint32_t process_number;
};

/* As of a table. */
int pt_parquet_events_open(struct pt_parquet_events *w, struct pt_job *job,
                           const struct pt_parquet_options *o, FILE *to);
int pt_parquet_events_put(struct pt_parquet_events *w, const struct posixtrace_event *e);
int pt_parquet_events_end(struct pt_parquet_events *w);
void pt_parquet_events_free(struct pt_parquet_events *w);

#endif
