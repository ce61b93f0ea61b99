/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The other way round than packet_input.h: a stream of packets of S.Ha.R.K.'s tracer, one
 * after the other, as an export writes it, goes out as datagrams.
 */
#ifndef PACKET_OUTPUT_H
#define PACKET_OUTPUT_H

#include <sys/types.h>

struct packet_output;

/* fd: a connected socket. */
struct packet_output *packet_output_begin(int fd);
/* As write(2), with the errno of send(2); all of it or -1. */
ssize_t packet_output_write(void *output, const void *bytes, size_t size);
/* Closes the socket. */
void packet_output_end(struct packet_output *output);

#endif
