/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state of this process: its page, its name map, the segments it has mapped.
 *
 * The first posix_trace_* call makes it, also an event in a signal handler.  So everything here is
 * lock-free and async-signal-safe; a thread that loses a race discards its own work.
 *
 * Fork rules.  A child has a copy of all private memory and the parent's mappings, but its own pid.
 * It is recognised by a word in a MADV_WIPEONFORK page, which also works for _Fork and raw clone,
 * where no handler runs.  The next call makes a page for the child, with gates only for the streams
 * that are INHERITED and existed at the fork.  The child also chooses the place of its files again
 * (place/place.h).  A vfork child runs in the parent's memory and traces as the parent's thread,
 * also if its call is the first one: the process is the one that owns the memory (pt_home_pid() in
 * shm/liveness.h).
 */
#ifndef PT_PROCESS_SELF_H
#define PT_PROCESS_SELF_H

#include "page/page.h"
#include "shm/segment.h"

struct pt_self {
    struct pt_page *page;
    struct pt_names *names;
    uint32_t pid;
    uint64_t start;
    char page_file[64], names_file[64];
    bool alone;   /* in a new image: no ancestor had a page */
    bool renames; /* the page gets our names when this is published: exec.h */
    /* Segments by gate bit.  Private, so a forked child has those from the time of the fork:
     * streams made later are not inherited. */
    struct {
        pt_u64 epoch;
        struct pt_seg *seg, *old;
        pt_u64 missed, missed_many;
    } known[PT_STREAMS];
    /* The parts of a filter beside its event set. */
    struct pt_filter_callbacks *handlers[PT_STREAMS]; /* filter_callback.h; NULL: none yet */
    struct pt_layouts *layouts;                       /* filter_eval.c; also a forked child's */
    pt_u64 settled[PT_STREAMS];                       /* gates.c: the filter that was looked at */
    struct pt_thread *threads;                        /* thread.c: all records, the newest first */
    uint32_t free_records, unwatched;                 /* how many of them at least: take_record() */
    uint64_t from_parent; /* bits whose segments a forked child has from its parent: unmade.h */
    uint64_t instance;    /* pt_self_instance() of its process */
};

/* The gates that events look at; never NULL. */
extern const uint64_t *pt_gates PT_HIDDEN;
/* Tells this copy of the library from others in the process. */
#define pt_copy_mark() ((uint64_t)(uintptr_t)&pt_gates)

/* This process, found or made; NULL: no memory or descriptor for it, nothing is recorded.
 * Its events try again now and then (unmade.h), control calls at once. */
struct pt_self *pt_self_get(void); /* self_make.c, as the next one */
/* The same for control calls: 0, -EMFILE, -ENFILE, or -ENOMEM for all else that is missing. */
int pt_self_make(struct pt_self **self);
/* The process if it is there already and this is not a child that has not
 * noticed yet; never makes anything. */
struct pt_self *pt_self_peek(void);

/* A segment that this process has mapped for a gate bit, at that epoch. */
struct pt_seg *pt_self_segment(struct pt_self *self, unsigned bit, uint64_t epoch);
/* The mapping of a parent's stream that its children inherit, or NULL. */
struct pt_seg *pt_self_inherited(const struct pt_self *parent, unsigned bit);
/* So many events found no segment for that bit and epoch and are lost.  The process remembers it,
 * and counts them in the stream when it has mapped the segment after all. */
void pt_self_miss(struct pt_self *self, unsigned bit, uint64_t epoch, uint64_t events);
/* The creator's: makes seg known for the bit. NULL: forgets it. */
void pt_self_set_segment(struct pt_self *self, unsigned bit, uint64_t epoch, struct pt_seg *seg);

/* The creator's, with signals held, before it unmaps the segment: forgets it, and waits until no
 * thread can use it any more.  False: one is inside an event for over a second; the mapping is
 * to stay. */
bool pt_self_drop_segment(struct pt_self *self, unsigned bit);

/* A number that differs between a process and its forked children; makes no
 * files.  0: no memory. */
uint64_t pt_self_instance(void);

/* A word that counts threads of this process: its instance above, their number below.  In a forked
 * child the count of the parent is worth nothing.  leave() takes what enter() has returned. */
uint32_t pt_self_enter(pt_u64 *count);
void pt_self_leave(pt_u64 *count, uint32_t instance);
uint32_t pt_self_inside(const pt_u64 *count);

/* Called in a forked child: makes its events look for its own page, which a controller may have
 * made.  Otherwise they would check the parent's gates, which may all be closed. */
void pt_self_look_again(void);
/* Called in a forked child: wipes the words of this file, unless the kernel has done it; then
 * false. */
bool pt_self_forget_parent(void);

/* In a forked child before its first call: the parent's struct pt_self, or NULL; and a setter for
 * it. */
struct pt_self *pt_self_parent(void);
void pt_self_set_parent(struct pt_self *parent);

/* For self_make.c.  The words of self.c that fork wipes; NULL: no memory.  The first ones are its
 * own, the others are those of unmade.c. */
uint64_t *pt_self_words(void);
enum {
    PT_SELF_NAMESPACE_WORD = 4,
    PT_SELF_OWN_WORDS = 5,
    PT_SELF_WORDS = PT_SELF_OWN_WORDS + 2 * PT_ID_MAX
};
/* What was made last: this process, or its parent in a child that was not made yet. */
struct pt_self *pt_self_latest(void);
/* Is it this process?  A struct pt_self that another thread has just made, and not published yet,
 * does not belong to a parent. */
bool pt_self_is_own(const struct pt_self *s);
/* Has a thread made it, published or not? */
bool pt_self_is_made(void);
/* Puts fresh into the place of *old; false: another thread was first; *old is what it made. */
bool pt_self_replace(struct pt_self **old, struct pt_self *fresh);

/* Removes the page (and a name map without other links) from the directory. */
void pt_self_unlink(struct pt_self *self);

#endif
