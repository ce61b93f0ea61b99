/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event types that a program described in several ways: each further description of "order"
 * has a type of its own, order#2 and so on (posixtrace/emit.h).
 */
#ifndef FURTHER_TYPES_H
#define FURTHER_TYPES_H

#include "input/log_file.h"

/* Prints a sentence for each type of the log that has further ones, after the text in_front; its
 * further lines are indented.  EXIT_DONE, or another status after an error message. */
int further_types_print(const struct log_file *log, const char *in_front, size_t indent);

#endif
