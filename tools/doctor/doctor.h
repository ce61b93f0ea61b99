/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What posixtrace doctor finds.  Each examiner looks at one side of the
 * surroundings and adds findings; nothing is printed before all have looked,
 * so that a child process or a signal cannot leave half an answer.
 *
 * A finding is fine, a note (tracing works, something is lost or slower), or
 * bad (tracing does not work).  Notes and bad ones say what that means and,
 * where there is one, the remedy.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "common/format_option.h"

enum level { FINE, NOTE, BAD };

/* Adds a finding: what was looked at, and what was found. */
__attribute__((format(printf, 3, 4))) void doctor_add(enum level level, const char *what,
                                                      const char *format, ...);

/* Of the finding added last. */
__attribute__((format(printf, 1, 2))) void doctor_means(const char *format, ...);
__attribute__((format(printf, 1, 2))) void doctor_remedy(const char *format, ...);

/* Prints all; the exit status. */
int doctor_report(enum output_format format);

/* The first line of a small file, without its newline; false: not readable. */
bool doctor_read_line(const char *path, char *to, size_t size);

/* The examiners, in the order of the report. */
void doctor_versions(void);
void doctor_trial(void); /* before the directory: the first stream makes that */
void doctor_directory(void);
void doctor_left_streams(void);
void doctor_record(void);
void doctor_limits(void);
void doctor_container(void);
void doctor_kernel(void);
void doctor_clock(void);

#endif
