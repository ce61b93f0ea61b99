/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A mapping of a segment in this process.
 *
 * The growth areas (slots, chunks of further writers) are mapped PROT_NONE
 * until they are needed, so that mlockall(MCL_FUTURE) does not allocate them;
 * pt_seg_reach_* opens and populates a part before its first use and fails
 * with -ENOMEM where a SIGBUS would follow.  They are idempotent,
 * async-signal-safe and may run in several threads at once.
 */
#ifndef PT_SHM_SEGMENT_H
#define PT_SHM_SEGMENT_H

#include <sys/stat.h>
#include "base/assert.h"
#include "shm/layout.h"
#include "shm/liveness.h"

/*
 * A private copy of the constant part of the header.  Other processes can write the header, so it
 * is read once, when the segment is mapped or made, and checked.  After that no code of this
 * process takes a size, an offset or an attribute from the header.  Values that do change (nchunks,
 * nslots, chunk numbers in slots, commit positions, ...) are loaded once where they are used, and
 * checked there.
 */
struct pt_geometry {
    uint32_t procs_off, infos_off, slots_off, chunks_off;
    uint32_t chunk_size, chunk_max, base_chunks;
    uint32_t owner_pid, has_log;
    uint64_t owner_start;
    int32_t clock;
    uint32_t fences;
    struct pt_attr attr;
};

struct pt_seg {
    struct pt_seg_header *h;
    uint64_t size; /* of the mapping */
    struct pt_geometry g;
    uint32_t slots_open; /* this mapping can touch [0, slots_open) */
    uint32_t chunks_open;
    uint32_t chunk_reach; /* the mapping has addresses for [0, chunk_reach), see segment_room.c;
                             * 0: only for the header and the processes */
    bool copy;            /* private memory: a dead writer's segment */
    uid_t uid;            /* whose directory it is in */
    /* Mapped by events, for the gate bit at that epoch; 0: not by them. */
    uint64_t epoch;
    struct pt_seg *older; /* mapped for the bit before, still to be unmapped */
    char file[64];        /* name in the directory, "" for a memfd */
    dev_t dev;            /* of its file; ino 0: memory without a file */
    ino_t ino;
};

struct pt_seg_request {
    struct pt_attr attr;
    bool with_log;
    bool for_other; /* to be found by a process of uid: has a name, or is not made */
    uid_t uid;
    int clock;
    bool fences;
    int64_t create_ns;
};

/* Number and size of the chunks for an attributes object. */
void pt_seg_geometry(const struct pt_attr *attr, uint32_t *chunk_size, uint32_t *base_chunks);
/* Number of writers that can have a chunk at the same time in such a stream, if no limit applies to
 * files. */
uint32_t pt_seg_writers_of(const struct pt_attr *attr);

/* Creates and maps; *seg must be zeroed.  -ENOMEM, -EINVAL, ... */
int pt_seg_create(struct pt_seg *seg, const struct pt_seg_request *request);
/* Maps an existing one by its name in the directory, with every chunk in use.  -ENOENT, -EINVAL
 * (not ours, another layout), -ENOMEM (no address space), ...  Async-signal-safe. */
int pt_seg_open(struct pt_seg *seg, const char *file);
/* The same for a process that records into it, which may map only a part. */
int pt_seg_open_to_write(struct pt_seg *seg, const char *file);
/* Reads the segment of a dead writer into private memory: all chunks in use. */
int pt_seg_copy(struct pt_seg *seg, int dirfd, const char *file);
void pt_seg_unmap(struct pt_seg *seg);
/*
 * Frees the memory of the chunks, though other processes still map it; while an onlooker is
 * attached, the last one to leave frees it (onlook.h).  No thread is inside.  A thread of another
 * process can be stopped between its check of the epoch and its store of inside, and then writes
 * its event.  Its chunk keeps its memory, because a store to freed memory ends in SIGBUS if the
 * file system is full.  pid: of this process, whose threads have left.
 */
void pt_seg_release(struct pt_seg *seg, uint32_t pid);
/* An onlooker leaves, still with its mapping. */
struct pt_onlook;
void pt_seg_end_onlook(struct pt_seg *seg, struct pt_onlook *o);
/*
 * Called in a child that was forked inside an event of the writer with that pid and tid.  Replaces
 * the mapping at seg->h by a private copy of the parts that the writer uses; *shared becomes a copy
 * of *seg that maps the shared memory again; shared->h NULL: that failed.  -ENOMEM: no private
 * copy.
 */
int pt_seg_part(struct pt_seg *seg, struct pt_seg *shared, const struct pt_author *author);
/* Removes its name (and that of its names file) from the directory.  False: the name
 * stays, since the process has given up the rights to remove it. */
bool pt_seg_unlink(const struct pt_seg *seg);
/* The link to its names of a segment with that file, in the same directory. */
void pt_seg_names_file(const char *segment, char file[64]);
/* Removes both from the directory. */
void pt_seg_remove(int dir, const char *segment);

/* Is it the name of a segment's file, and not of one in another folder? */
bool pt_seg_is_name(const char *file);

/* Copies the geometry out of h, each value once, and checks the copy: -EINVAL unless every
 * length and offset fits into size bytes and the attributes are good ones. */
int pt_seg_validate(struct pt_geometry *g, const struct pt_seg_header *h, uint64_t size);
/* Only the copy, of a header that is being made. */
void pt_seg_load_geometry(struct pt_geometry *g, const struct pt_seg_header *h);

/* Memory for so many headers, aligned as these are and zeroed; for free().  NULL: there is none. */
struct pt_seg_header *pt_seg_new_headers(size_t count);
/* Reads only the header of the file, validated, and the file's status.
 * -EINVAL: no segment of that user and this layout; h and st are filled as far as
 * they could be read.  -ENOENT, ... */
int pt_seg_read_header(int dir, uid_t uid, const char *file, struct pt_seg_header *h,
                       struct stat *st);
/*
 * Of a header that was read: is the owner dead?  Then h and st are read again, and the answer is
 * of that copy.  The first one may be of a time before the owner started the stream, began the next
 * piece of its log, or completed it; a caller decides about a dead owner's stream by the second one
 * only.  Errors as of pt_seg_read_header(), of the second reading: *is is PT_UNKNOWN then.
 */
int pt_seg_look_at_owner(int dir, uid_t uid, const char *file, struct pt_seg_header *h,
                         struct stat *st, enum pt_liveness *is);

/* The table of processes, to be freed by the caller; errors as pt_seg_read_header(). */
int pt_seg_read_procs(int dir, uid_t uid, const char *file, struct pt_proc **procs,
                      uint32_t *count);

/* By the creator: memory for the chunks of the base. */
int pt_seg_make_base(struct pt_seg *seg);
int pt_seg_reach_slots(struct pt_seg *seg, uint32_t count);
/* Beyond the base a chunk that is new has no memory yet: pt_seg_back_chunk(). */
int pt_seg_reach_chunks(struct pt_seg *seg, uint32_t count);
/* Memory for the first bytes of chunk i, which this mapping can touch. */
int pt_seg_back_chunk(struct pt_seg *seg, uint32_t i, uint32_t bytes);
/* How much of chunk i may be written. */
uint32_t pt_seg_backed(const struct pt_seg *seg, uint32_t i);
/* Makes entry n of the table of processes usable, which has that many; -EAGAIN: there is no
 * more room, -ENOMEM. */
int pt_seg_add_proc(struct pt_seg *seg, uint32_t n);

/* How many of the first n chunks this mapping can touch, opened if need be; fewer than n where
 * address space is limited. */
uint32_t pt_seg_reachable(struct pt_seg *seg, uint32_t n);

/* The header's number of chunks in use, limited by the geometry. */
static inline uint32_t pt_seg_chunk_count(const struct pt_seg *seg)
{
    uint32_t n = pt_load_acquire(&seg->h->nchunks);

    if (n < seg->g.base_chunks)
        return seg->g.base_chunks;
    return n < seg->g.chunk_max ? n : seg->g.chunk_max;
}

/* Are there chunks in use beyond this mapping? */
static inline bool pt_seg_is_short(const struct pt_seg *seg)
{
    return pt_seg_chunk_count(seg) > seg->chunk_reach;
}

static inline struct pt_proc *pt_seg_proc(const struct pt_seg *seg, uint32_t i)
{
    pt_assert_call(i < PT_PROC_MAX);
    return (struct pt_proc *)((char *)seg->h + seg->g.procs_off) + i;
}

static inline uint32_t pt_seg_proc_count(const struct pt_seg *seg)
{
    uint32_t n = pt_load_acquire(&seg->h->nprocs);

    return n < PT_PROC_MAX ? n : PT_PROC_MAX;
}

/* How many chunks and slots there are for writers at once. */
static inline uint32_t pt_seg_writers(const struct pt_geometry *g)
{
    uint32_t n = g->chunk_max - g->base_chunks;

    return n < PT_SLOT_MAX ? n : PT_SLOT_MAX;
}

/* Refused processes and writers, as the log has them: bits 0-15 processes, 16-31 writers. */
static inline uint32_t pt_seg_refused(const struct pt_seg *seg)
{
    uint32_t procs = pt_load_relaxed(&seg->h->refused_procs);
    uint32_t writers = pt_load_relaxed(&seg->h->refused_writers);

    procs = procs < PT_MOST_REFUSED ? procs : PT_MOST_REFUSED;
    return procs | (writers < PT_MOST_REFUSED ? writers : PT_MOST_REFUSED) << 16;
}

static inline struct pt_info *pt_seg_info(const struct pt_seg *seg, uint32_t i)
{
    pt_assert_call(i < seg->g.chunk_max);
    return (struct pt_info *)((char *)seg->h + seg->g.infos_off) + i;
}

static inline struct pt_slot *pt_seg_slot(const struct pt_seg *seg, uint32_t i)
{
    pt_assert_call(i < PT_SLOT_MAX);
    return (struct pt_slot *)((char *)seg->h + seg->g.slots_off) + i;
}

static inline struct pt_chunk *pt_seg_chunk(const struct pt_seg *seg, uint32_t i)
{
    pt_assert_call(i <= seg->chunk_reach); /* also the end of the last one */
    return (struct pt_chunk *)((char *)seg->h + seg->g.chunks_off +
                               (uint64_t)i * seg->g.chunk_size);
}

#endif
