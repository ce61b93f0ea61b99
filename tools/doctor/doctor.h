/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The findings of posixtrace doctor.  Each examiner checks one part of the environment and adds
 * findings; nothing is printed before all are done, so that a child process or a signal cannot
 * leave a partial result.
 *
 * A finding is fine, a note (tracing works, something is lost or slower), or bad (tracing does not
 * work).  Notes and bad ones have the consequence and, if there is one, the remedy.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "common/format_option.h"

enum level { FINE, NOTE, BAD };

/* Adds a finding: the thing that was checked, and its state. */
__attribute__((format(printf, 3, 4))) void doctor_add(enum level level, const char *what,
                                                      const char *format, ...);

/* Consequence and remedy of the finding added last. */
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
