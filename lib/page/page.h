/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The process page decides for one process which events are recorded in which streams.  It is a
 * shared file in the stream directory, "p-<pid>-<start>-<namespace>".  The process itself or a
 * controller makes it, whichever comes first.  A process that makes a name map, too, makes one file
 * with two names, the page in front of the map: its first event makes few system calls.
 *
 * Gate word of an event type: one bit for each stream that wants the type.  Streams that are
 * auto-stopped keep their bits, so that each event is counted.  Bits are set and cleared by atomic
 * or/and, so controllers of different streams do not conflict.
 *
 * A stream whose filter needs more than the type (an expression, a function of the program) has a
 * second bit, its shadow.  If both are set, the event evaluates the filter before it is recorded
 * (ask).  An event whose gate word has two bits never takes the fast path, and one whose word has a
 * shadow takes the slow path.  Types that the name decides have only the stream's bit, or none.
 * Each change between closed, open and ask is one atomic instruction.
 *
 * epoch[bit] changes whenever the bit is given to another stream; a thread whose cached writer has
 * another epoch looks the stream up again.
 *
 * No private memory decides about recording, so two copies of the library in one process use the
 * same page.
 */
#ifndef PT_PAGE_PAGE_H
#define PT_PAGE_PAGE_H

#include "base/assert.h"
#include "page/names.h"
#include "place/dir.h"
#include "shm/layout.h"

#define PT_PAGE_MAGIC 0x31454741505850ull

#define PT_PAGE_FILE 48

struct pt_page_stream {
    char file[PT_PAGE_FILE]; /* of the segment, "" if it has no name */
    uint32_t inherited;
    uint32_t shadow;  /* the bit beside it, plus 1; 0: none */
    uint32_t handled; /* a function of the process's decides over some events */
    uint32_t refused; /* the stream has no room for the process: events are only counted */
};

struct pt_page {
    uint64_t magic;
    uint32_t layout, size;
    uint32_t pid;
    uint32_t image; /* of the program that runs in the process; 0: has not come here yet */
    uint64_t start;
    char names_file[64];
    uint64_t pid_ns;                            /* namespace that pid is a number of; 0: unknown */
    __attribute__((aligned(64))) uint64_t used; /* bits that belong to a stream */
    uint64_t changes;                           /* incremented when any bit is given back */
    uint64_t shadows;                           /* bits of used that are shadows */
    __attribute__((aligned(64))) uint64_t epoch[PT_STREAMS];
    struct pt_page_stream stream[PT_STREAMS];
    __attribute__((aligned(64))) uint64_t gates[PT_ID_MAX];
    /* Inherited streams, see process/inherit.c: the stream's key with the bit in
     * the low 6 bits; 0: none from here on. */
    uint64_t heir[PT_STREAMS];
    uint64_t settled; /* the inherited streams have been joined */
    uint64_t counted; /* counted as a user of its name map, see page_left.h */
    /* The process that took the bit, see pt_page_take_bit_for(); 0: none since it was free. */
    uint64_t taker[PT_STREAMS];
    uint64_t copies; /* of the library in the process that use the page */
    /* The image and the copy of the library that give the page other names, see process/exec.h. */
    uint64_t namer;
};
_Static_assert(offsetof(struct pt_page, gates) == 4800, "the same on 32-bit and 64-bit machines");

/* Until a process has its page, events use this one.  Its gates and shadows are all ones, so that
 * every event takes the slow path. */
extern const struct pt_page pt_page_unknown;

/* The name of the page of a process in the caller's pid namespace. */
void pt_page_name(char file[64], uint32_t pid, uint64_t start);

/* A directory that is open, or not: then in.fd is a negative errno, which calls return. */
#define PT_PAGES_SEEN 64u
struct pt_page_dir {
    struct pt_dir in;
    uint64_t pid_ns; /* the caller's, which is that of all processes that it asks for */
    /* What a look at all its names has found (page_left.h): pages in that namespace. */
    struct {
        bool all; /* false: there may be others */
        unsigned count;
        uint64_t oldest; /* the lowest start time */
        uint32_t pid[PT_PAGES_SEEN];
    } seen;
};
/* False: the process had no page in it.  Pages may have come since. */
bool pt_page_dir_has(const struct pt_page_dir *dir, uint32_t pid);

/*
 * Finds or makes the page of this process; names_file as in pt_names, used if
 * it is made.  file gets its name, "" where it has none.  Async-signal-safe.
 */
int pt_page_create(struct pt_page **page, uint32_t pid, uint64_t start, const char *names_file,
                   char file[64]);
int pt_page_create_of(struct pt_page **page, uid_t uid, uint32_t pid, uint64_t start,
                      const char *names_file, char file[64]);
int pt_page_create_in(struct pt_page **page, struct pt_page_dir *dir, uint32_t pid, uint64_t start,
                      const char *names_file, char file[64]);
/* The same in the front of that new name map; if another page is found, the front is unmapped. */
int pt_page_create_front(struct pt_page **page, struct pt_page_dir *dir, uint32_t pid,
                         uint64_t start, const char *names_file, char file[64], void *front);
/* Maps the page of any process of this user, or of that one.  -ENOENT; -EINVAL: of
 * another version of the library, or forged; ... */
int pt_page_open(struct pt_page **page, uint32_t pid, uint64_t start, char file[64]);
int pt_page_open_of(struct pt_page **page, uid_t uid, uint32_t pid, uint64_t start, char file[64]);
/* The same of several processes. */
void pt_page_dir_open(struct pt_page_dir *dir, uid_t uid);
/* Makes the directory if it is missing; maker: the caller's effective user id. */
void pt_page_dir_make(struct pt_page_dir *dir, uid_t uid, uid_t maker);
int pt_page_open_in(struct pt_page **page, const struct pt_page_dir *dir, uint32_t pid,
                    uint64_t start, char file[64]);
void pt_page_dir_close(struct pt_page_dir *dir);
void pt_page_unmap(struct pt_page *page);

/* Does the page of any process in the directory name this map? */
bool pt_page_names_in_use(int dirfd, const char *names_file);

/*
 * Takes a free bit, or -EAGAIN.  The process that creates a stream can be killed before the page
 * names the stream, or the stream's segment names the page: nothing but the taker leads to such a
 * bit then.  So the taker is stored before the bit is in used, and stays until it is not; where
 * all bits are used, those whose taker is dead are given back.
 */
int pt_page_take_bit_for(struct pt_page *page, uint32_t pid, uint64_t start);
/* The same by the page's own process, with which the page ends, or for a shadow, which is given
 * back with its stream's bit. */
int pt_page_take_bit(struct pt_page *page);
/* No writer is good for the bit any more; it still belongs to its stream. */
void pt_page_retire_bit(struct pt_page *page, unsigned bit);
void pt_page_give_bit(struct pt_page *page, unsigned bit);
/* Closes the open gates of a bit that belongs to no stream; no stream gets it meanwhile. */
void pt_page_clean_bit(struct pt_page *page, unsigned bit);
/* Any process may call it if the stream has no owner any more: frees the bit if it still has that
 * epoch.  Of several callers one succeeds.  The caller loads the epoch before it reads the stream's
 * name. */
bool pt_page_revoke_bit(struct pt_page *page, unsigned bit, uint64_t epoch);
/* The file name of a bit's segment.  The bit may be given to another stream while it is read: the
 * name counts only if the epoch is the same before and after. */
void pt_page_set_file(struct pt_page *page, unsigned bit, const char *file);
void pt_page_get_file(const struct pt_page *page, unsigned bit, char file[PT_PAGE_FILE]);
/* Does the bit belong to the stream with that segment file? */
bool pt_page_bit_is_of(const struct pt_page *page, unsigned bit, const char *file);

enum pt_gate { PT_GATE_CLOSED, PT_GATE_OPEN, PT_GATE_ASK };

/* The bit's shadow, taken if there is none; -EAGAIN: no bit is free.  It stays until
 * the bit is given back. */
int pt_page_take_shadow(struct pt_page *page, unsigned bit);
/* The shadow as a mask, 0 without one. */
static inline uint64_t pt_page_shadow(const struct pt_page *page, unsigned bit)
{
    uint32_t shadow = pt_load_acquire(&page->stream[bit].shadow);

    pt_assert_call(bit < PT_STREAMS);
    return shadow - 1 < PT_STREAMS ? 1ull << (shadow - 1) : 0;
}

/* PT_GATE_ASK: has a shadow. */
void pt_page_set_gate(struct pt_page *page, unsigned bit, uint32_t id, enum pt_gate gate);
void pt_page_close_gates(struct pt_page *page, unsigned bit);

#endif
