/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event types that a program described in several ways: each further description of "order"
 * has a type of its own, order#2 and so on (posixtrace/emit.h).
 */
#ifndef FURTHER_TYPES_H
#define FURTHER_TYPES_H

#include "input/log_file.h"

/* A sentence for each type of the log that there are further ones of, after the words in
 * front; further lines of it are indented.
 * EXIT_DONE, or the status of an error that was said. */
int further_types_print(const struct log_file *log, const char *in_front, size_t indent);

#endif
