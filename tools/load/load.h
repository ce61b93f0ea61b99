/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace load: logs into the tables of a ClickHouse server.
 *
 * Each row carries the number of the attempt that sent it.  When all rows of a log are there, the
 * loader adds one row to the table loads: that commits the attempt, in one insertion of one row,
 * which the server does as a whole or not at all.  The views show rows of committed attempts, and
 * of a log with several committed ones, as of two loaders at the same time, those of the greatest.
 * So rows of a loader, server or network that fails are in no view, and the next attempt starts
 * from nothing.  Insertions of the server need not be idempotent for that.
 *
 * verb_load.c: options.  load_all.c: logs that are named.  load_follow.c: those that appear in
 * folders, which load_scan.c looks for.  load_jobs.c: a process for each log.  load_log.c: one log.
 * load_make.c: makes tables, views and columns, by the statements of load_schema.c.  load_sql.c:
 * names and texts in SQL.  load_http.c, load_answer.c: the client.  load_curl.c: its library.
 * load_url.c: its address and secrets.
 */
#ifndef LOAD_H
#define LOAD_H

#include <posixtrace/native.h>
#include <posixtrace/tables.h>
#include <stdbool.h>
#include <stdint.h>

enum { LOAD_TRIES = 8, LOAD_TIMEOUT = 300, LOAD_JOBS_MAX = 64 };

struct load_options {
    const char *to;
    const char *cluster; /* NULL: one server */
    const char *auth_file;
    const char *ca_file;
    const char *host;
    unsigned timeout; /* seconds without progress */
    unsigned tries;   /* of a log */
    unsigned jobs;    /* 0: as many as processors */
    bool replicated;
    bool replace;
    bool follow;
};

/* Where to load to. */
struct load_target {
    const struct load_options *options;
    char *url;             /* without database */
    char *database;        /* its name */
    char *user, *password; /* or NULL */
};

/* EXIT_DONE, or another status after an error message. */
int load_target_init(struct load_target *t, const struct load_options *options);
void load_target_free(struct load_target *t);

/* Makes the tables and views that the target lacks: EXIT_DONE, or a status after a message. */
int load_prepare(const struct load_target *t);
/* Other statuses of load_log(), with --follow; NO_SERVER after a message. */
enum { LOAD_UNFINISHED = 20, LOAD_NO_SERVER = 21 };

/* Loads a log, in a process of its own; the same.  *rows: how many were sent so far, for another
 * process that reads it now and then. */
int load_log(const struct load_target *t, const char *path, volatile uint64_t *rows);

/* Loads these logs, and the complete pieces of folders. */
int load_all(const struct load_target *t, const char **logs, size_t count);
/* Loads the logs in these folders, and those that appear there, until a signal comes. */
int load_follow(const struct load_target *t, const char **folders, size_t count);

#endif
