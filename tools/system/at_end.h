/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Files that are removed when the program ends before they are whole: at exit(), and when
 * a signal ends the program.
 */
#ifndef AT_END_H
#define AT_END_H

/* Calls function, which must be async-signal-safe; NULL: none.  One at a time. */
void at_end(void (*function)(void));

#endif
