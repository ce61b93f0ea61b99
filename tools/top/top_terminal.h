/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The terminal of top: the screen in the place of the shell's, keys without echo, and all as it was
 * before at the end, also after SIGINT, SIGTERM, SIGHUP and SIGQUIT, in exit(), and while the
 * program is stopped by Ctrl-Z.
 */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct top_screen;

/* Signals are caught from now on.  screen: also changes the terminal, which standard output is;
 * keys are read if standard input is one, too. */
void top_terminal_begin(bool screen);
void top_terminal_end(void);
void top_terminal_size(size_t *columns, size_t *rows);
void top_terminal_draw(const struct top_screen *s);

enum top_event { TOP_TIMEOUT, TOP_KEY, TOP_RESIZED, TOP_OVER };
/* Waits for so many ns at most.  KEY: the byte in *key.  OVER: a signal has asked for the end, or
 * the terminal has gone. */
enum top_event top_terminal_wait(int64_t ns, unsigned char *key);
/* The signal that has ended it, or 0. */
int top_terminal_signal(void);

#endif
