/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log in pieces: when a file is long or old enough, the flush thread begins the next one.
 *
 * The file that is written is called GROUP-TIME-NUMBER.ptl.part, and loses the ".part" when it is
 * complete.  NUMBER counts from 1, GROUP is any name, TIME has digits, "T", "Z" and ".".
 *
 *   1  a flush cycle, whose numbers are those of the events that it has seen (log/reader/piece.h)
 *   2  the next file: header, base, names, descriptions, mappings, sync points, a ROUND
 *   3  the checkpoint in the segment: from here on the next file is the log of the stream
 *   4  the end of the piece that was written so far
 *   5  its name; finished pieces of the group that are too many are removed
 *
 * Killed before 3, the earlier piece is the log and the next file has no event; after 3, the
 * earlier piece has all its events and lacks an end, which needs no memory of the writer.  A
 * recovery sees by the piece's number in the checkpoint which of the two has the tail
 * (pt_tail_fits()).
 *
 * If the next file cannot be made or written, the piece continues, and another try comes a second
 * later.  If the folder was removed, none will succeed, and the piece was removed with it: its
 * events and all that come are lost, with the error of the folder.
 */
#ifndef PT_FLUSH_PIECES_H
#define PT_FLUSH_PIECES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "log/reader/piece.h"

struct pt_piece_limits {
    uint64_t bytes; /* a piece that is so long ends; 0: no limit */
    uint64_t ns;    /* one whose first event was written so long ago; 0: no limit */
    uint32_t keep;  /* finished pieces of the group that stay in the folder; 0: all */
};

struct pt_pieces {
    struct pt_piece_limits asked, limits;
    uint32_t on;
    bool gone; /* the folder was removed */
    uint32_t number;
    int dir;        /* of the files, in the thread's own table */
    char stem[192]; /* a name up to the number */
    size_t group;   /* so much of it is the group, with the "-" */
    int digits;     /* of the number, at least */
    mode_t mode;
    uint64_t due_ns;            /* CLOCK_MONOTONIC; 0: not by time */
    uint64_t not_before_ns;     /* after a failure */
    struct pt_piece_base *base; /* of the piece that is written; NULL: it is the first */
    uint64_t unknown_lost[PT_PIECE_CAUSES]; /* of the stream, as of the last cycle */
    uint64_t log_lost[PT_LOSS_CAUSES];      /* by the pieces before this one */
};

#endif
