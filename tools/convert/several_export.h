/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace export of several logs, as lines in one order of time: each line names its log first.
 */
#ifndef SEVERAL_EXPORT_H
#define SEVERAL_EXPORT_H

#include "input/logs.h"

/* Writes the events that the selections of the logs want to fd; *written: how many.  EXIT_DONE, or
 * another status after a message. */
int several_export(struct logs *logs, const char *format, int fd, const char *output,
                   uint64_t *written);

#endif
