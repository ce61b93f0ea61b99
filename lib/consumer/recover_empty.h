/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log that another program has emptied (truncate(1), copytruncate), and whose writer was killed
 * before it noticed: the file has no header, and nothing in it names its segment.  The segment
 * names the file, by device and inode.  So recovery writes the header again; the events that the
 * log had are counted as lost, and those of the tail are added as to any log.
 */
#ifndef PT_CONSUMER_RECOVER_EMPTY_H
#define PT_CONSUMER_RECOVER_EMPTY_H

#include "log/writer/claim.h"

/* Writes the header of the dead stream with that log.  0; -ENOENT: there is none; another negative
 * errno: the file is empty as before. */
int pt_recover_empty(struct pt_log_claim *c);

#endif
