/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log that another program has emptied (truncate(1), copytruncate), or cut in its header, and
 * whose writer was killed before it noticed: the file has no header, and nothing in it names its
 * segment.  The segment names the file, by device and inode.  So recovery writes the header again;
 * the events that the log had are counted as lost, and those of the tail are added as to any log.
 *
 * The writer may have written at its old offset after the cut: then there are zeros, and packets
 * that no reader finds without the header.  They are given up, too, as by a writer that notices
 * (log/writer/cut.c).  A file with anything else stays as it is: the beginning of another header,
 * or bytes that are no packet of this log.
 */
#ifndef PT_CONSUMER_RECOVER_EMPTY_H
#define PT_CONSUMER_RECOVER_EMPTY_H

#include "log/writer/claim.h"

/* Writes the header of the dead stream with that log.  0, also where the file has a header, or
 * cannot be a log; -ENOENT: there is no such stream, or the file has something else; or another
 * negative errno: then the file is as it was, or empty. */
int pt_recover_empty(struct pt_log_claim *c);

#endif
