/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The formats of print: one constant struct printer each, one file each.
 *
 * What does not change from event to event is rendered once and kept: a cell
 * for each event type and one for each thread, in the escapes of the format.
 * Printing an event is then copying two cells and a few numbers.
 */
#ifndef PRINT_H
#define PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <posixtrace/event.h>

#include "chars.h"
#include "log_file.h"

enum { PRINT_TYPES = TRACE_USER_EVENT_MAX + 1024, PRINT_THREADS = 256, PRINT_NAME = 64 };

struct cell {
    char    *text;
    uint32_t length;   /* bytes */
    uint32_t columns;  /* on a terminal */
    uint32_t room;
};

struct print {
    const struct printer *printer;
    struct log_file *log;
    uint64_t printed;        /* events */
    int64_t  origin;         /* time of the log's first event */
    int64_t  last;           /* time of the event printed before */
    bool     any;            /* the log has events */
    bool     colour;
    bool     utf8;           /* bytes above 127 may go to stdout */
    unsigned width;          /* columns to fit lines to; 0: no limit */
    /* text only: widths of columns, and whether there is one for the process */
    unsigned time_width, thread_width, event_width;
    bool     show_pid;

    struct cell types[PRINT_TYPES];
    struct thread_slot {
        struct cell cell;
        uint64_t    thread_id;
        pid_t       pid, tid;
        bool        used;
        char        name[PRINT_NAME];
    } threads[PRINT_THREADS];
};

struct printer {
    /* Before the first event, also of a log without any; origin is set. */
    void (*begin)(struct print *p);
    void (*event)(struct print *p, const struct posixtrace_event *e);
    /* Render the part of a line that depends on the type or the thread only;
     * return the end.  to has room for all escapes, and 128 bytes more. */
    char *(*type_cell)(struct print *p, char *to, const struct posixtrace_event *e,
                       uint32_t *columns);
    char *(*thread_cell)(struct print *p, char *to, const struct posixtrace_event *e,
                         uint32_t *columns);
    /* After the last event. */
    void (*end)(struct print *p);
};

extern const struct printer printer_text, printer_jsonl, printer_csv;

void print_init(struct print *p, const struct printer *printer, struct log_file *log);
void print_free(struct print *p);

/* The cells of an event; good until the next call. */
const struct cell *print_type_cell(struct print *p, const struct posixtrace_event *e);
const struct cell *print_thread_cell(struct print *p, const struct posixtrace_event *e);

/* Is it of a type of posixtrace/system.h, whose data is described? */
bool describe_is_own(const struct posixtrace_event *e);
/* What a system event's data means, in a few words at to (room for size
 * bytes, terminated); false if the type has none or the data is not of its form. */
bool describe_event(const struct log_file *log, const struct posixtrace_event *e, char *to,
                    size_t size);

#endif
