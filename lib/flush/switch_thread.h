/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The threads whose context switches are in a log, each with its author for readers.  They are
 * found by tid; if several had the same tid, the latest is found.
 */
#ifndef PT_FLUSH_SWITCH_THREAD_H
#define PT_FLUSH_SWITCH_THREAD_H

#include "consumer/accounting.h"
#include "flush/switches.h"

struct pt_switch_thread {
    struct pt_author author;
    uint32_t origin;
    uint64_t known_by;     /* writer of its own, from which pthread_t and name are */
    uint64_t first_writer; /* its own writers have this number or higher ones; 0: none */
    uint64_t since;        /* when it was seen first, by the stream's clock */
    uint64_t named_at;     /* when its name was last read, see process/thread_name.h */
    uint64_t next_no;
    bool renamed; /* since the writers' names were last compared with it */
    bool runs;    /* its last switch was to it */
    bool unseen;  /* no switch yet: the first one sets the origin */
    bool ended;
};

/* Zeroed: there are none. */
struct pt_switch_threads {
    struct pt_switch_thread *of; /* in the order in which they were seen */
    size_t count, room;
    uint32_t *hash; /* index + 1 of the last one with a tid; open addressing */
    size_t hash_room;
    uint64_t compared; /* the writers with numbers up to here have been seen */
    size_t name_at;    /* whose name may be read next */
};

void pt_switch_threads_deinit(struct pt_switch_threads *x);
/* NULL: there is none, or it has ended. */
struct pt_switch_thread *pt_switch_threads_find(const struct pt_switch_threads *x, int32_t tid);
/* Whose switch it is; made if need be, a writer of the stream.  NULL: no memory. */
struct pt_switch_thread *pt_switch_threads_get(struct pt_switch_threads *x, struct pt_seg_header *h,
                                               const struct pt_switch *s);
/* Takes an entry about a thread that is not a switch.  False: no memory. */
bool pt_switch_threads_note(struct pt_switch_threads *x, struct pt_seg_header *h,
                            const struct pt_switch *s);
/* Sets pthread_t and name of threads that have recorded events of their own, from the last writer
 * with that tid.  A name from the source is newer, and is stored in the tallies of the thread's
 * writers, also of ended ones. */
void pt_switch_threads_identify(struct pt_switch_threads *x, struct pt_accounts *a);
/* The names of the others, from the kernel. */
void pt_switch_threads_read_names(struct pt_switch_threads *x, struct pt_name_turn *turn);
/* Those that have ended. */
void pt_switch_threads_forget(struct pt_switch_threads *x);

#endif
