/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace export of several logs: lines in one order of time (several_export.h), one trace in
 * which each log has its processes (chrome, perfetto), or what each log makes, one after the other
 * (otlp, and parquet in a folder).
 */
#ifndef SEVERAL_TRACES_H
#define SEVERAL_TRACES_H

#include "convert/convert.h"
#include "input/logs.h"

struct several_target {
    struct convert *convert;
    const struct posixtrace_format *format;
    const char *path, *shown; /* "-": standard output */
    bool force, is_folder;
};

/* Can several logs be written so?  from: with --from.  EXIT_DONE, or EXIT_USAGE after a message:
 * what can. */
int several_traces_check(const struct several_target *t, bool from);

/* Writes the events that the selections of the logs want.  EXIT_DONE, or another status after a
 * message. */
int several_traces_write(const struct several_target *t, struct logs *logs);

/* The files of one log, from its present position, into the folder at path.  EXIT_DONE, or another
 * status after a message. */
int several_traces_folder(const struct several_target *t, const struct log_file *log);

#endif
