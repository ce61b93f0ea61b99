/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * UDP packets of S.Ha.R.K.'s tracer as an input of import: the packets of one sender, in
 * the order of their numbers, one after the other, as they would be in a file.
 *
 * Those that overtake others are put right, as long as no more than PACKET_WINDOW are held
 * back for it; duplicates, packets from other hosts, and packets that are not the tracer's are
 * skipped and counted.  Numbers that begin again are another run of the same sender.
 */
#ifndef PACKET_INPUT_H
#define PACKET_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PACKET_WINDOW = 64 };

/* When it is enough; a signal (live_input_watch()) ends it in any case. */
struct packet_until {
    bool stop;       /* an event trace_stop has come, and all before it */
    uint64_t events; /* so many have come; 0: no limit */
    int64_t idle_ns; /* nothing has come for so long, after the first one; 0: no limit */
};

struct packet_input;

/* "stop", "events:N" or "idle:TIME"; false: none of them. */
bool packet_until_parse(const char *text, struct packet_until *until);

/*
 * fd: a bound socket, not consumed.  The input ends as said, or when something else than a
 * socket takes the place of fd: then also what waits in spare, another descriptor of the
 * socket, is read.
 */
struct packet_input *packet_input_begin(int fd, int spare, const struct packet_until *until);
/* As read(2). */
ssize_t packet_input_read(void *input, void *to, size_t size);
/* Says what was passed over, and frees. */
void packet_input_end(struct packet_input *input);

#endif
