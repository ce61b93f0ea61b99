/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Several logs as the input of one verb.  Each keeps its names, descriptions, mappings and its
 * selection: a process or thread is one of its log, whatever numbers others have.
 *
 * A verb adds each of its options for selections and symbols to a struct select_given, too: each
 * further log takes them again.
 */
#ifndef LOGS_H
#define LOGS_H

#include "clocks/host_clocks.h"
#include "common/sites.h"
#include "input/log_file.h"
#include "input/select.h"

enum { LOGS_LABEL = 16 }; /* columns of a label in tables */

struct input_log {
    struct log_file log;
    struct sites sites;
    struct selection select;
    char *path;
    char *label;  /* after logs_label() */
    size_t index; /* in the order of the logs */
};

struct logs {
    struct input_log **at;
    size_t count;
};

/* The words of a verb that name its logs. */
struct logs_given {
    const char **paths;
    size_t count;
};

void logs_given_add(struct logs_given *g, const char *path);
void logs_given_free(struct logs_given *g);
/* More than one log, or a folder that has not just the pieces of one stream? */
bool logs_are_several(const struct logs_given *g);

/* Opens them: files, and the logs of a folder (folder.h), in the order of their names.  EXIT_DONE,
 * or another status after a message. */
int logs_open(struct logs *l, const struct logs_given *given);
void logs_close(struct logs *l);

/* Names the logs: by their file's name; for_programs: by their path. */
void logs_label(struct logs *l, bool for_programs);
/* Their clocks, by the places of the logs; after logs_label(). */
struct host_clocks *logs_clocks(const struct logs *l);
/* "the 3 logs"; a static buffer. */
const char *logs_shown(const struct logs *l);

/* ---- selections ---- */

struct select_given {
    struct select_word {
        int code;
        const char *value;
    } * at;
    size_t count;
};

void select_given_add(struct select_given *g, int code, const char *value);
void select_given_free(struct select_given *g);

/* Takes the options for each log.  EXIT_DONE, or another status after a message. */
int logs_select(struct logs *l, const struct select_given *given);
/* The time of the first event of all; false: no log has any. */
bool logs_first(const struct logs *l, int64_t *ns);
/* Fixes the windows; times relative to the first event are relative to that of all.  EXIT_DONE, or
 * EXIT_USAGE after a message. */
int logs_resolve(struct logs *l);
/* The three in turn; to be closed in any case. */
int logs_open_selected(struct logs *l, const struct logs_given *given,
                       const struct select_given *select);
/* As select_warn(): names that no log has. */
void logs_warn(const struct logs *l);
/* What follows the results: as select_warn_callers() and log_file_report_loss() of each log. */
int logs_report(struct logs *l, bool strict, int status);

#endif
