/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The formats of print: text, which is implemented here, and the line formats of the analysis
 * library.
 *
 * Parts that do not change from event to event are rendered once: a cell for each event type and
 * one for each thread.  Printing an event then copies two cells and a few numbers.
 */
#ifndef PRINT_H
#define PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>

#include "common/sites.h"
#include "common/stdout_buffer.h"
#include "common/utf8.h"
#include "input/layouts.h"
#include "input/log_file.h"
#include "input/select.h"

enum { PRINT_TYPES = TRACE_USER_EVENT_MAX + 1024, PRINT_NAME = 64 };
/* Threads with a cell, and the places in a row where one may be. */
enum { PRINT_THREADS = 2048, PRINT_PROBES = 8 };

struct cell {
    char *text;
    uint32_t length;  /* bytes, without the spaces up to the next column */
    uint32_t padded;  /* with them */
    uint32_t columns; /* on a terminal, without them */
    uint32_t room;
};

/* A log as print reads it, and what was rendered of it. */
struct print_source {
    struct log_file *log;
    struct sites *sites;
    const char *label;       /* how the log is called in a line; "": it is the only one */
    struct cell label_cell;  /* text only */
    struct layouts layouts;  /* text only */
    posixtrace_rows_t *rows; /* not text */
    trace_id_t rows_trid;
    uint64_t batch; /* counts the calls that read events: what they point at stays until the next */
    struct cell types[PRINT_TYPES];
    struct cell alone[PRINT_TYPES]; /* of rows without data, where there is a limit */
    struct type_layout {
        uint64_t batch; /* that it was looked up for */
        const posixtrace_layout_t *layout;
    } type_layouts[PRINT_TYPES];
    struct thread_slot {
        struct cell cell;
        uint64_t thread_id, batch;
        const char *shared; /* the name, while the batch is that one */
        pid_t pid, tid;
        bool used;
        char name[PRINT_NAME];
    } threads[PRINT_THREADS];
};

struct print {
    const struct printer *printer;
    struct print_source *from; /* of the event that is printed */
    struct print_source **sources;
    size_t source_count;
    uint64_t printed;    /* events */
    int64_t origin;      /* time of the first event */
    int64_t kept_from;   /* the same without the marks of a loss; text only */
    bool has_kept_from;  /* known before the first event is read */
    int64_t last;        /* time of the event printed before */
    bool several_clocks; /* of the logs: a time between two is not exact */
    bool other_clock;    /* which is of another clock: no delta */
    bool any;            /* there are events */
    bool utf8;           /* bytes above 127 may go to stdout */
    bool coloured;       /* text only */
    unsigned width;      /* columns that no line exceeds; 0: no limit */
    /* text only: widths of columns; 0: there is none for the log, the process, or the delta.  Where
     * there is a limit names are cut to theirs, and the event of a row without data to
     * alone_width; data has data_width, else SIZE_MAX. */
    unsigned time_width, delta_width, log_width, pid_width, thread_width, event_width;
    size_t alone_width, data_width;
    struct second { /* text only: the digits before the decimals, of the second printed last */
        int64_t at; /* since the origin, in nanoseconds */
        uint32_t length;
        char text[OUT_SHORT];
    } second;
    char *text; /* an event's fields */
    size_t text_room;
    const char *rows_format; /* not text */
};

struct printer {
    /* Before the first event, also of a log without any; origin is set. */
    void (*begin)(struct print *p);
    void (*event)(struct print *p, const struct posixtrace_event *e);
    /* text only: render the part of a line that depends on the type or the thread only;
     * return the end.  to has room for all escapes, and 128 bytes more.  A name is cut to
     * width columns. */
    char *(*type_cell)(struct print *p, char *to, const struct posixtrace_event *e, size_t width,
                       uint32_t *columns);
    char *(*thread_cell)(struct print *p, char *to, const struct posixtrace_event *e,
                         uint32_t *columns);
    /* After the last event. */
    void (*end)(struct print *p);
};

extern const struct printer printer_text, printer_rows;

/* All of a log that was opened, as a tree.  The exit status. */
int print_tree(struct log_file *log, struct selection *select, const struct sites *sites);

/* format: "text", "jsonl" or "csv" */
void print_init(struct print *p, const char *format);
/* One more log to print, by its label; log, sites and label must live as long as p. */
struct print_source *print_add(struct print *p, struct log_file *log, struct sites *sites,
                               const char *label);
void print_free(struct print *p);

/* The cells of an event, of a row with data or without; good until the next call. */
const struct cell *print_type_cell(struct print *p, const struct posixtrace_event *e,
                                   bool has_data);
const struct cell *print_thread_cell(struct print *p, const struct posixtrace_event *e);
const struct cell *print_label_cell(struct print *p);

enum { PRINT_WIDTH_MIN = 40, /* but 0 */ PRINT_GAP = 2 /* between columns */ };

/* Chooses the columns by the contents of the log, and writes the heading if the log has events. */
void print_columns_begin(struct print *p);
/* The name of a thread, cut so that its kernel id follows within width columns; the end. */
char *print_thread_text(char *to, const char *name, pid_t tid, enum utf8_style how, size_t width);
enum utf8_style print_style(const struct print *p);

/* Writes the fields, in so many columns at most; false: the data is not of the layout. */
bool print_fields(struct print *p, const struct posixtrace_event *e,
                  const posixtrace_layout_t *layout, size_t columns);
/* Puts up to PRINT_SHORT bytes of data, which all are shown; to has room for PRINT_SHORT_ROOM. */
enum { PRINT_SHORT = 64, PRINT_SHORT_ROOM = 3 * PRINT_SHORT + 64 };
char *print_put_data(const struct print *p, char *to, const struct posixtrace_event *e);
/* Writes the data in hexadecimal with its reading, and mark after it, in so many columns at
 * most; SIZE_MAX: all of it. */
void print_data(struct print *p, const struct posixtrace_event *e, size_t columns,
                const char *mark);
/* Writes text, with "..." at its end where it takes more than so many columns. */
void print_clipped(const char *text, size_t length, size_t columns);

/* Is it of a type of posixtrace/system.h, whose data is described? */
bool describe_is_own(const struct posixtrace_event *e);
/* Describes a system event's data in a few words at to (room for size bytes, terminated); false if
 * the type has no data, or the data does not have its form. */
bool describe_event(const struct print *p, const struct posixtrace_event *e, char *to, size_t size);

#endif
