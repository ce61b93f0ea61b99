/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The tables of posixtrace info: event types and threads, with counts.  Names are cut to the
 * width of the output.
 */
#ifndef INFO_TABLES_H
#define INFO_TABLES_H

#include "common/colour.h"
#include "input/log_file.h"

/* For qsort(): the most frequent type first. */
int info_by_count(const void *a, const void *b);
enum colour info_type_colour(trace_event_id_t id);
/* Of the predefined types only those that occurred are listed. */
bool info_shows_type(const struct log_type *type);
/* All types that the log has names for, but of the predefined ones only those that occurred. */
int info_print_types(const struct log_file *log);
/* The threads of a log, and last "(no thread)", with what belongs to none: the losses of all sum
 * up to those of the log.  "(ended, none)" has losses of ended threads and those of context
 * switches, which the log has in one sum. */
struct info_threads {
    const struct log_file *log;
    uint64_t lost[POSIXTRACE_LOSS_CAUSES]; /* of entries that were read */
    struct posixtrace_thread_info none;
    bool has_switches, over;
};

void info_threads_begin(struct info_threads *i, const struct log_file *log);
bool info_threads_next(struct info_threads *i, struct posixtrace_thread_info *t);

void info_print_threads(const struct log_file *log);
/* How many context switches there are, where no thread's count has them: they come from the
 * kernel, and a stream counts them for no thread; an import does. */
void info_print_switches(const struct log_file *log);

#endif
