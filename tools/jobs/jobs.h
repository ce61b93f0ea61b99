/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace metrics --job: jobs of threads and where their time went (posixtrace/jobs.h); and
 * --load: how much of a processor each thread had, by time.
 *
 * jobs_rules.c: the option.  jobs_run.c: the pass.  jobs_rows.c: sums by rule and thread.
 * jobs_words.c, jobs_text.c, jobs_lines.c, jobs_json.c: the output.  jobs_load.c: --load.
 */
#ifndef JOBS_H
#define JOBS_H

#include <posixtrace/jobs.h>

#include "common/time_parse.h"
#include "input/log_file.h"
#include "input/select.h"
#include "measure/metrics_form.h"

enum { JOBS_RULES = 8, JOBS_SHARES = 7 + POSIXTRACE_WAIT_KINDS };

struct jobs_rules {
    struct posixtrace_job_rule list[JOBS_RULES];
    char *texts[JOBS_RULES]; /* that begin and end are in, for EVENTS */
    size_t count;
};

struct jobs_request {
    const char *path;
    struct jobs_rules rules;
    int64_t load_ns; /* the interval; 0: --load was not given */
    struct metrics_form form;
    struct selection *select;
    bool strict;
};

/* Of a rule and a thread. */
struct jobs_row {
    size_t rule;
    pid_t pid, tid;
    uint64_t thread_id;
    char name[16];
    posixtrace_statistics_t *response, *period;
    posixtrace_statistics_t *wakeup; /* from when the wait was due to the return from it */
    double shares[JOBS_SHARES];
    uint64_t switches, preemptions;
    uint64_t most_switches, most_preemptions;
    bool without_switches; /* a job without context switches */
    struct posixtrace_job longest;
    struct posixtrace_job *worst; /* the longest first */
    size_t worst_count;
};

struct jobs_view {
    struct jobs_request *request;
    struct log_file *log;
    posixtrace_jobs_t *jobs;
    const struct posixtrace_jobs_summary *summary;
    struct jobs_row *rows;
    size_t count, room;
    int64_t origin;
    struct jobs_load *load;
};

/* ---- jobs_rules.c ---- */

/* A value of --job.  EXIT_DONE, or EXIT_USAGE after a message. */
int jobs_rules_add(struct jobs_rules *r, const char *value);
void jobs_rules_free(struct jobs_rules *r);
/* "sleep", or "x:begin..x:end"; in a static buffer. */
const char *jobs_rule_name(const struct posixtrace_job_rule *rule);
/* What its jobs are, in words. */
const char *jobs_rule_about(const struct posixtrace_job_rule *rule);
/* Are the types of its events in the log?  EXIT_DONE, or another status after a message. */
int jobs_rules_check(const struct jobs_rules *r, const struct log_file *log);
/* Why the rule has no jobs, and what to do; in a static buffer. */
const char *jobs_rule_why_none(const struct jobs_view *v, size_t rule);

/* ---- jobs_run.c ---- */

/* Shows the result.  EXIT_DONE, or another status after a message. */
int jobs_show(struct jobs_request *request);

/* ---- jobs_rows.c ---- */

/* i from 0; NULL after the last.  A word, and the key of csv and json. */
const char *jobs_share_name(unsigned i);
const char *jobs_share_key(unsigned i);
int64_t jobs_share(const struct posixtrace_job *job, unsigned i);
/* 0 or an error number. */
int jobs_rows_add(struct jobs_view *v, const struct posixtrace_job *job);
/* Fills in names; sorts by rule, process and thread. */
void jobs_rows_end(struct jobs_view *v);
void jobs_rows_free(struct jobs_view *v);
/* The jobs of the rule in all threads, or NULL where there is one row at most; for
 * jobs_row_free(). */
struct jobs_row *jobs_rows_all(const struct jobs_view *v, size_t rule);
void jobs_row_free(struct jobs_row *row);
/* The longest of a rule, as many as were asked for at most; for free(). */
size_t jobs_rows_worst(const struct jobs_view *v, size_t rule, struct posixtrace_job **list);
/* The name of its thread, or "". */
const char *jobs_thread_name(const struct jobs_view *v, const struct posixtrace_job *job);
/* Most less least. */
int64_t jobs_jitter(const struct jobs_row *row);

/* ---- jobs_words.c, jobs_text.c, jobs_lines.c, jobs_json.c ---- */

void jobs_print_text(const struct jobs_view *v);
/* "run 61.2%, lock 20.0%": those that are not 0, the largest first; whole 0: as times.  In a static
 * buffer. */
const char *jobs_words(const double shares[JOBS_SHARES], double whole);
const char *jobs_words_of(const struct posixtrace_job *job);
/* "; 3 switches, 1 preempted", or "" where they are not known; in a static buffer. */
const char *jobs_switches(const struct posixtrace_job *job);
/* As --from takes it, in a static buffer. */
const char *jobs_when(const struct jobs_view *v, int64_t ns);
void jobs_print_worst(const struct jobs_view *v);
/* A remark: text as it is, with other formats on standard error. */
__attribute__((format(printf, 2, 3))) void jobs_remark(const struct jobs_view *v,
                                                       const char *format, ...);
void jobs_remarks(const struct jobs_view *v);
void jobs_print_heading(const struct jobs_view *v);
void jobs_print_line(const struct jobs_view *v, const struct posixtrace_job *job);
/* As JSON objects. */
void jobs_put_job(const struct jobs_view *v, const struct posixtrace_job *job);
void jobs_put_row(const struct jobs_view *v, const struct jobs_row *row);
void jobs_print_rows(const struct jobs_view *v);
void jobs_print_json(const struct jobs_view *v);

/* ---- jobs_load.c ---- */

/* The value of --load: EXIT_DONE, or EXIT_USAGE after a message. */
int jobs_load_parse(const char *value, int64_t *interval_ns);
struct jobs_load *jobs_load_new(const struct jobs_view *v);
int jobs_load_add(struct jobs_view *v, pid_t pid, pid_t tid, int64_t from_ns, int64_t to_ns,
                  bool known);
void jobs_load_print(const struct jobs_view *v);
void jobs_load_json(const struct jobs_view *v);
void jobs_load_free(struct jobs_load *load);

#endif
