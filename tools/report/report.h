/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace report: shows the rows of posixtrace/report.h.
 *
 * report_rows.c sorts the rows into sections; report_summary.c shows the first lines of each on one
 * screen, report_text.c and report_calls.c each section, report_json.c the same as one JSON object,
 * report_graph.c contention as a graph, report_html.c all of it with the timeline as a page, with
 * report_flame.c and report_distributions.c.
 */
#ifndef REPORT_H
#define REPORT_H

#include <posixtrace/report.h>

#include "common/sites.h"
#include "input/log_file.h"
#include "input/select.h"

/* A log: it has a report of its own, since its threads, objects and gaps are of no other. */
struct report_part {
    struct log_file *log;
    struct selection *select;
    struct sites *sites;
    const char *label; /* "" where it is the only one */
    posixtrace_report_t *report;
    const struct posixtrace_report_summary *summary;
    double event_ns; /* that recording an event costs; 0: the log does not say */
};

/* Rows of one section, the most important first. */
struct report_row {
    const void *row; /* the first member: what the orders of rows compare */
    const struct report_part *part;
};

struct report_rows {
    struct report_row *rows;
    size_t count, room;
};

/* A pair of events of several logs. */
struct report_sum {
    struct posixtrace_report_pair row;
    posixtrace_statistics_t *statistics;
    const struct report_part *part; /* of the longest */
};

enum report_section {
    REPORT_THREADS,
    REPORT_LOCKS,
    REPORT_WAITS, /* for anything else */
    REPORT_PAIRS,
    REPORT_DESCRIPTORS,
    REPORT_SITES, /* not in the summary */
    REPORT_WORK,  /* waits for work, which say nothing of a slow server; not in the summary */
    REPORT_PREEMPTORS,
    REPORT_CONTENTION, /* of locks, by two threads; in JSON and graphs only */
    REPORT_SECTIONS
};

struct report_view {
    struct report_part *parts;
    size_t part_count;
    const char *shown;                        /* the log or the logs, for messages */
    bool several_clocks;                      /* a time between two of the logs is not exact */
    bool several;                             /* rows name their logs */
    struct posixtrace_report_summary summary; /* of all logs, as is info */
    struct posixtrace_info info;
    bool has_unread;         /* parts of a log */
    struct report_sum *sums; /* of pairs, of several logs */
    size_t sum_count;
    struct report_rows rows[REPORT_SECTIONS];
    uint64_t processes, calls; /* with selected threads; calls of locks */
    int64_t origin;            /* times are shown from here */
    uint64_t events;           /* that threads recorded */
    double cost_ns;            /* of these; valid with has_cost */
    bool has_cost;
    size_t top; /* rows of a section at most */
    bool utf8;
};

/* ---- report_rows.c ---- */

/* 0 or ENOMEM. */
int report_rows_make(struct report_view *v);
void report_rows_free(struct report_view *v);
/* How many of the section are shown. */
size_t report_shown(const struct report_view *v, enum report_section section);

/* The log of a row. */
static inline const struct report_part *report_part(const struct report_view *v,
                                                    enum report_section section, size_t i)
{
    return v->rows[section].rows[i].part;
}
const struct posixtrace_report_thread *report_thread(const struct report_view *v,
                                                     enum report_section section, size_t i);
const struct posixtrace_report_object *report_object(const struct report_view *v,
                                                     enum report_section section, size_t i);
const struct posixtrace_report_site *report_site(const struct report_view *v, size_t i);
const struct posixtrace_report_contention *report_contention(const struct report_view *v, size_t i);
const struct posixtrace_report_pair *report_pair(const struct report_view *v, size_t i);

int64_t report_wait_sum(const struct posixtrace_report_thread *t);
/* Why a section has no rows, as a sentence that says what to do; NULL: it has some. */
const char *report_why_empty(const struct report_view *v, enum report_section section);

/* ---- report_words.c: in static buffers, reused in turn ---- */

/* "name/tid", "log:name/tid" of several logs. */
const char *report_thread_label(const struct report_part *p,
                                const struct posixtrace_report_thread *t);
/* The thread of the log's process with that id, without the name of the log. */
const char *report_tid_label(const struct report_part *p, pid_t pid, pid_t tid);
/* What was waited for, with its kind among other waits, and its process if that is asked for
 * and there are several. */
const char *report_object_name(const struct report_view *v, const struct report_part *p,
                               enum report_section section,
                               const struct posixtrace_report_object *o, bool process);
/* "+1.234567890s", as --from takes it; of several logs from the first event of that one: others may
 * have another clock. */
const char *report_when(const struct report_view *v, const struct report_part *p, int64_t ns);
/* "work 55.1%, I/O 3.0%": the largest shares of a thread; all: not only waits. */
const char *report_shares(const struct posixtrace_report_thread *t, bool all, size_t most);

/* ---- report_summary.c, report_text.c, report_calls.c, report_json.c ---- */

void report_print_summary(const struct report_view *v);
void report_print_sections(const struct report_view *v);
/* A sentence that begins in that column, or in that of its indentation for 0; what does not fit is
 * on further lines. */
__attribute__((format(printf, 3, 4))) void report_line(size_t column, size_t indent,
                                                       const char *format, ...);
void report_heading(const struct report_view *v, enum report_section section, const char *text);
void report_print_objects(const struct report_view *v, enum report_section section);
void report_print_sites(const struct report_view *v);
void report_print_pairs(const struct report_view *v);
void report_print_json(const struct report_view *v);

/* ---- report_graph.c ---- */

/* Contention in the language of Graphviz, or of Mermaid. */
void report_print_graph(const struct report_view *v, bool mermaid);

/* ---- report_distributions.c ---- */

/* JSON, to be freed. */
char *report_distributions(const struct report_view *v);

/* ---- report_flame.c ---- */

/* JSON of the waits by stack, to be freed; NULL: the log has no stacks.  0 or an error number. */
int report_flame(const struct report_view *v, char **json);

/* ---- report_parts.c ---- */

/* The summary and the losses of all logs. */
void report_parts_sum(struct report_view *v);
/* Pairs of the same name are one row.  0 or ENOMEM. */
int report_parts_pairs(struct report_view *v);
void report_parts_free(struct report_view *v);

/* ---- report_html.c ---- */

/* Can a page be made of the log?  EXIT_DONE, or another status after a message. */
int report_html_check(const struct log_file *log);
/* size: bytes at most, 0: the default. */
int report_print_html(struct report_view *v, const char *path, uint64_t size, bool replace);

#endif
