/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Inputs of import that are not files: connections, and others that do not end by themselves; and
 * the destination of packets for export.
 */
#ifndef LIVE_INPUT_H
#define LIVE_INPUT_H

#include <stdbool.h>

/*
 * Opens an input by its name: "tcp:HOST:PORT" connects, "tcp-listen:[HOST:]PORT" waits for one
 * connection (on the loopback address where no HOST is named; "*": on all), "udp:[HOST:]PORT"
 * is a bound socket for packets, all else is a file, "-" standard input.  A descriptor, or -1 after
 * an error message.
 */
int live_input_open(const char *path);
/* Is it "udp:..."? */
bool live_input_is_udp(const char *path);
/* A socket that is connected to "udp:HOST:PORT", or -1 after an error message. */
int live_output_open(const char *path);

/* If fd is no regular file, the first SIGINT or SIGTERM from now on ends the input, as its
 * sender would by closing it; the next one ends the program. */
void live_input_watch(int fd);

#endif
