/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A walk through the stream directory in steps of bounded work.  Each step is made by the process
 * that comes next, and reads about 40 names from the place where the previous step ended.  The file
 * "walk" has that place; it exists only while the directory is larger than a step.  A step replaces
 * a file of that name that has none, as its maker may be killed before it writes.  Two steps at the
 * same time may read the same names, and the step of a killed process is repeated, so the work on a
 * name has to be idempotent.
 *
 * Everything here is async-signal-safe; the caller saves errno.
 */
#ifndef PT_PAGE_DIR_STEP_H
#define PT_PAGE_DIR_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_DIR_STEP_BYTES 2048u
#define PT_DIR_STEP_FILE  "walk"

/* Walks for different purposes have positions of their own. */
enum pt_dir_walk { PT_WALK_PAGES, PT_WALK_LEFT, PT_WALKS };

struct pt_dir_step {
    int dir;
    enum pt_dir_walk walk;
    int64_t from, next;       /* offsets in the directory */
    long bytes, at;           /* of names: read, and handed out */
    bool is_all, has_file;    /* begun by pt_dir_step_all(); there is a place of a walk */
    uint64_t sum, last_sum;   /* sum of pt_dir_step_add() in this turn, in the last one */
    uint64_t made, last_made; /* the same of pt_dir_step_make() */
    __attribute__((aligned(8))) char names[PT_DIR_STEP_BYTES];
};

/* dir: a descriptor of the directory that is used for no other reading of names; it stays open. */
void pt_dir_step_begin(struct pt_dir_step *s, int dir, enum pt_dir_walk walk);
/* A step with all names of a directory of that size (stat), opened just now, if one reading brings
 * them: then it needs no place of a walk.  False: no step has begun. */
bool pt_dir_step_all(struct pt_dir_step *s, int dir, enum pt_dir_walk walk, int64_t size);
/* The next name; NULL: there are no more in this step. */
const char *pt_dir_step_next(struct pt_dir_step *s);
/* Adds up an amount over a whole turn, such as bytes; returns the sum as far as known: of the
 * previous turn or of this one, whichever is higher. */
void pt_dir_step_add(struct pt_dir_step *s, uint64_t amount);
uint64_t pt_dir_step_sum(const struct pt_dir_step *s);
/* Adds up what the makers of steps put into the directory; made() is the sum of what no step may
 * have come to yet: in this turn and the last one.  All earlier ones were handed out. */
void pt_dir_step_make(struct pt_dir_step *s, uint64_t amount);
uint64_t pt_dir_step_made(const struct pt_dir_step *s);
/* All names were just looked at, without steps: the next step begins a turn, and that is the sum of
 * the last one. */
void pt_dir_step_restart(int dir, enum pt_dir_walk walk, uint64_t sum);
/* The step after this one starts with the first name that was not handed out. */
void pt_dir_step_end(struct pt_dir_step *s);

#endif
