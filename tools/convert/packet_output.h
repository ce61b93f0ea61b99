/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The other way round than packet_input.h: a stream of packets of S.Ha.R.K.'s tracer, one
 * after the other, as an export writes it, goes out as datagrams.
 */
#ifndef PACKET_OUTPUT_H
#define PACKET_OUTPUT_H

#include <stdio.h>

/* fd: a connected socket; closing the file closes it.  Writing fails with the errno of
 * send(2).  NULL: errno, and fd is as it was. */
FILE *packet_output_open(int fd);

#endif
