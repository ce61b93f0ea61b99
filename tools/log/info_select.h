/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What posixtrace info says of selected events: they are read and counted.  What the log knows
 * without reading, its losses among it, is of the whole log.
 */
#ifndef INFO_SELECT_H
#define INFO_SELECT_H

#include "input/select.h"
#include "log/info_rate.h"

struct info_thread {
    pid_t pid, tid;
    uint64_t thread_id;
    uint64_t events;
    char name[64];
};

struct info_selected {
    uint64_t events, all; /* selected, and read */
    int64_t first, last;  /* of the selected ones */
    /* Marked places in the selected time where events are missing, of whatever process. */
    uint64_t lost_places;
    struct log_type *types;
    struct info_thread *threads;
    size_t type_count, thread_count;
    size_t *index; /* hash table of places in threads, from 1 */
    size_t index_size;
    uint64_t *counts; /* by id, while reading */
    size_t count_room;
};

/* Reads the log from its first event, and counts for rate, which may be NULL.  EXIT_DONE, or
 * another status after a message; in both cases info_selected_free() follows. */
int info_select(struct info_selected *to, struct selection *s, struct log_file *log,
                struct info_rate *rate);
void info_selected_free(struct info_selected *to);

/* The tables of the text. */
void info_print_selected(const struct info_selected *of);
/* The member "selected" of the JSON object. */
void info_json_selected(const struct log_file *log, const struct info_selected *of,
                        const char *selection);

#endif
