/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The shared segment of a stream: one MAP_SHARED file, without pointers.
 *
 *   header | processes | chunk infos | writer slots | chunks
 *
 * Writers of each part
 *   header geometry, identity, attributes   the creator, before publication
 *   state, windows, filter                  the holder of the control lock
 *                                           (stream/control_lock.h);
 *                                           writers by one CAS RUNNING->AUTOSTOPPED;
 *                                           the consumer by one CAS AUTOSTOPPED->RUNNING,
 *                                           HALTED->SUSPENDED
 *   state_near                              the thread that makes one of these changes, before it
 *   info[i].word                            the thread that takes or frees chunk i, by CAS
 *   chunk i                                 the writer whose slot info[i].word names
 *   slot s                                  the writer that claimed it; but the checkpoint, in
 *                                           slots and header, the consumer of a stream with log
 *   attention                               consumers set bits, writers clear the waiter bits
 *
 * info word: bits 0-3 state, 4-23 slot of the owner (or last owner), 24-63 the low bits of the
 * generation.  The generation is unique in the stream and names one filling of the chunk.
 * chunk->gen and the consumer's cursors have all its bits.  The word and chunk->consumed have the
 * low 40 bits, which are only compared for equality (docs/decisions/0017-counters.md).
 * Transitions:
 *
 *   FREE(g) ----------> OWNED(s, new g)     take: writer
 *   OWNED(s, g) ------> FULL(s, g)          close: that writer
 *   OWNED(s, g) ------> ORPHAN(s, g)        thread exit, or a sweep that finds it dead
 *   ORPHAN(s, g) -----> OWNED(t, g)         adoption: contents stay, same generation
 *   ORPHAN(s, g) -----> FULL(s, g)          no room left for another record
 *   FULL(s, g) -------> FREE(g)             consumed: the one consumer
 *   FULL|ORPHAN(s, g) > OWNED(t, new g)     recycled (LOOP): contents lost
 *
 * Contents are valid if chunk->gen has the bits of the word.  A writer that took a free chunk
 * stores gen last (release); between the CAS and that store the chunk has no contents.  A reader
 * copies, then loads the word again: the same generation means that the copy is good.
 *
 * After a shutdown the memory of the chunks is freed although other processes still map the segment
 * (pt_seg_release).  A load from freed memory reads 0, but allocates memory first, and ends in
 * SIGBUS if the file system is full.  So the memory stays while an onlooker is attached (onlook.h),
 * and no traced process loads from another writer's chunk once the stream is closed.  Header,
 * processes, infos and slots keep their memory.  As a second protection the infos become 0 before
 * the chunks are freed: no generation is 0, so such an info names no contents, and a reader that
 * has read 0 from a chunk then finds another word.
 *
 * Commit: chunk->commit, low 32 bits position, high 32 bits number of events.  One release store by
 * the owner publishes a record.  Bytes before the position are not written again in that
 * generation.
 */
#ifndef PT_SHM_LAYOUT_H
#define PT_SHM_LAYOUT_H

#include <stddef.h>
#include "model/attr.h"
#include "model/set.h"
#include "shm/record.h"

#define PT_SEG_MAGIC     0x31474553545850ull /* "PXTSEG1" */
#define PT_SEG_LAYOUT    6u
#define PT_BYTE_ORDER    0x01020304u
#define PT_LEVELS        4u     /* event frames in one thread, one over the other */
#define PT_LEVEL_CONTROL 255u   /* the control writer: belongs to no thread */
#define PT_STREAMS       64u    /* of one process: bits in a gate word */
#define PT_SLOT_MAX      20480u /* 16,384 threads and other writers */
#define PT_PROC_MAX      4112u  /* 4,096 children, their parents, and controllers */
#define PT_SYNC_PAIRS    106u   /* of points of the clock table after the first one */
#define PT_FILTERS       4u
#define PT_ONLOOKERS     7u    /* attached processes whose end is noticed */
#define PT_FILTER_TEXT   2048u /* bytes of an expression with its NUL */
#define PT_CLOSED        1u
#define PT_CLOSED_LEFT   2u /* also ended: processes that could not be reached may still write */
#define PT_CHUNK_MIN     1024u
#define PT_CHUNK_MAX     131072u
#define PT_CHUNK_USUAL   16384u /* least of a stream with room for four of them */
#define PT_CHUNK_LONG    65536u /* no longer than that for the stream's size */
/* Address space for the chunks of further writers, one each: enough for all slots but where
 * records are long.  It is scarce where pointers are short. */
#define PT_GROWTH_BYTES (sizeof(void *) > 4 ? 1280u << 20 : 16u << 20)
/* Such a chunk gets memory as it is used: this much at first, then twice as much. */
#define PT_CHUNK_FIRST 3072u
#define PT_STALL_NS    1000000000ull /* a writer that is inside for longer holds no events back */

enum pt_chunk_state { PT_CHUNK_FREE, PT_CHUNK_OWNED, PT_CHUNK_FULL, PT_CHUNK_ORPHAN };

#define pt_word_make(state, slot, gen) \
    ((uint64_t)(state) | (uint64_t)(slot) << 4 | (uint64_t)(gen) << 24)
#define pt_word_state(w) ((unsigned)((w)&15u))
#define pt_word_slot(w)  ((uint32_t)((w) >> 4 & 0xfffffu))
#define pt_word_gen(w)   ((w) >> 24) /* its low 40 bits */
/* Do the low bits in a word belong to that generation? */
#define pt_gen_bits(gen)   ((gen)&0xffffffffffull)
#define pt_word_is(w, gen) (pt_word_gen(w) == pt_gen_bits(gen))

/* chunk->consumed */
#define pt_consumed_make(gen, at) ((uint64_t)(gen) << 24 | (uint64_t)(at))
#define pt_consumed_is(c, gen)    ((c) >> 24 == pt_gen_bits(gen))
#define pt_consumed_at(c)         ((uint32_t)((c)&0xffffffu))

struct pt_info {
    uint64_t word;
    uint64_t closed; /* order of closing; the recycler takes the lowest */
};

struct pt_chunk {
    uint64_t commit;
    uint64_t gen;
    uint64_t base_ts;  /* base of the first record */
    uint64_t last_ts;  /* set at close: time of the last record */
    uint64_t first_no; /* the author's number of the first event */
    struct pt_author author;
    uint64_t consumed;  /* position up to which the consumer has come, see pt_consumed_make */
    uint32_t window;    /* control writer's: was the stream running before the first record */
    uint32_t backed;    /* beyond the base: so many bytes have memory */
    uint64_t booked[2]; /* as consumed: up to where the accounts of each checkpoint come */
    uint8_t pad[8];
};
_Static_assert(sizeof(struct pt_chunk) == 128, "records begin at 128");

/* CLAIMED and ENDING carry the id of the thread that claims or ends the slot: if that thread dies
 * half-way, a sweep takes the slot over.  The consumer may be another thread at each call, so it
 * claims with the id 0, which no thread has.  LIVE carries a part of the writer's id, so that a
 * process that has found that writer dead does not end the slot of the next one. */
enum pt_slot_state { PT_SLOT_FREE, PT_SLOT_CLAIMED, PT_SLOT_LIVE, PT_SLOT_ENDED, PT_SLOT_ENDING };
#define pt_slot_claimed(tid)      ((uint32_t)PT_SLOT_CLAIMED | (uint32_t)(tid) << 8)
#define pt_slot_is_claimed(state) (((state)&0xffu) == PT_SLOT_CLAIMED)
#define pt_slot_claimer(state)    ((int32_t)((state) >> 8))
#define pt_slot_live(wid)         ((uint32_t)PT_SLOT_LIVE | (uint32_t)(wid) << 8)
#define pt_slot_is_live(state)    (((state)&0xffu) == PT_SLOT_LIVE)
#define pt_slot_ending(tid)       ((uint32_t)PT_SLOT_ENDING | (uint32_t)(tid) << 8)
#define pt_slot_is_ending(state)  (((state)&0xffu) == PT_SLOT_ENDING)
#define pt_slot_ender(state)      ((int32_t)((state) >> 8))

/* Causes that a writer counts itself; as enum posixtrace_loss_cause. */
enum { PT_LOST_FULL, PT_LOST_OVERWRITTEN, PT_LOST_NO_MEMORY, PT_LOST_NESTED, PT_LOST_OWN };

/*
 * The checkpoint of a stream with log (consumer/checkpoint.h), from which recovery continues after
 * SIGKILL: the counts of each writer in its slot, the sums in the header.  There are two copies;
 * pt_seg_header.books_now selects the valid one.  A round writes the other copy, then switches that
 * word, so all values change at the same time.
 */
struct pt_slot_books {
    uint64_t wid;                      /* the writer; if it is not the slot's, no event of the
                                        * slot's writer was seen */
    uint64_t next;                     /* number after the highest one seen */
    uint64_t given, excluded, refused; /* given to the log; skipped (consumer/consumer.h) */
};

struct pt_checkpoint {
    uint64_t lsn;                      /* number of the log's last packet that these counts
                                        * include */
    uint64_t given, excluded, refused; /* sums over all writers, also those that have ended */
    uint64_t watermark;                /* all older events were given */
    /* Of the events given since the log was last cleared: those in the log, those of them still in
     * the buffer of the log writer, those that the log has lost. */
    uint64_t events, waiting;
    uint64_t log_full, log_overwritten, log_error;
};

/* Up to that round: the marks of losses (consumer/loss_mark.h) and the window; 0 before there were
 * such words. */
struct pt_loss_books {
    uint64_t lost_last;    /* lost_last_ts of the newest loss of LOOP that has its marks */
    uint64_t missed_known; /* missed_last, as the round found it */
    uint32_t overflowing;  /* enum pt_overflow_then */
    uint32_t window;       /* at the watermark: enum pt_window_then */
};

/* OVERFLOW is written, or HIDDEN, left out by the filter; and RESUME has not come yet. */
enum pt_overflow_then { PT_OVERFLOW_NONE, PT_OVERFLOW_WRITTEN, PT_OVERFLOW_HIDDEN };

/* HIDDEN: closed by a STOP that the filter left out. */
enum pt_window_then { PT_WINDOW_UNKNOWN, PT_WINDOW_CLOSED, PT_WINDOW_OPEN, PT_WINDOW_HIDDEN };

/* Sums over the earlier writers of a slot. */
struct pt_past {
    uint64_t recorded, lost[PT_LOST_OWN], lost_bytes;
};

/* What the slot's thread waits for: shm/waiting.h. */
struct pt_slot_waiting {
    uint64_t number; /* of this content, in the slot; 0: none, or it changes now */
    uint64_t began;  /* ticks of the stream's clock; 0: unknown */
    uint64_t object, caller;
    uint32_t type, call;
};

/*
 * 4K aliasing.  A processor first compares the low 12 bits of addresses: a load waits for an
 * earlier store with the same 12 bits, even if the other bits differ.  So words that each event
 * stores are at addresses where bit 6 is 1 (pt_slot.inside, the words of a thread).  Words that it
 * loads are where bit 6 is 0 (lines of a writer and of the header), but not in the first 8 bytes of
 * 128, where commit words are.  Streams of one process have their chunks at different offsets in a
 * page for the same reason.  Otherwise an event in several streams took up to 50 % longer,
 * depending on the addresses.
 */
struct pt_slot {
    uint64_t attach_ts;
    uint32_t state;
    uint32_t chunk;      /* index + 1 of the current chunk, 0: none */
    uint64_t next_no;    /* number of the next event, while there is no chunk */
    uint64_t chunk_base; /* with a chunk: number of the next event less the chunk's count */
    int32_t tid;         /* of the author; stored before the state is LIVE */
    uint8_t pad[28];
    /* Not 0: inside an event; each event has another value.  Stored before the clock is read and
     * cleared after the commit. */
    uint64_t inside;
    struct pt_author author;
    uint64_t lost[PT_LOST_OWN];
    uint64_t lost_bytes;
    uint64_t copy; /* the copy of the library, if the process has two */
    struct pt_slot_books books[2];
    /* Low bit: index of the valid past; above: the wid of the last writer in it. */
    uint64_t past_now;
    struct pt_past past[2];
    /* Control slot: id of the thread that writes in it now, 0: none. */
    uint32_t user;
    uint32_t image; /* the program that runs in the process, see pt_sys_image */
    uint64_t wid;   /* the writer's, stored after its other members; author.wid is the same number,
                     * or 0 in a control slot */
    uint8_t more[80];
    struct pt_slot_waiting waiting; /* stored with each wrapped call, as inside */
    uint8_t rest[24];
};
_Static_assert(sizeof(struct pt_slot) == 512 && offsetof(struct pt_slot, inside) == 64 &&
                   offsetof(struct pt_slot, waiting) == 448,
               "layout");

/* Beside the bit of a process: it exits, and has removed its page (process/exit.c). */
#define PT_PROC_LEAVES       0x80000000u
#define pt_proc_bit_of(word) ((word) & ~PT_PROC_LEAVES)

struct pt_proc {
    uint32_t pid;   /* 0: free */
    uint32_t bit;   /* which gate bit of that process, and PT_PROC_LEAVES */
    uint64_t start; /* start time: ticks since boot */
};

/*
 * AUTOSTOPPED and HALTED: the stream was full at the time in the word and records nothing until its
 * consumer has emptied it.  An AUTOSTOPPED stream then runs again, and the events it has refused
 * are lost.  A HALTED stream was stopped by a call meanwhile: it becomes SUSPENDED, and has lost
 * nothing since that call.  Start and stop change one into the other and keep the time.
 */
enum pt_stream_state { PT_SUSPENDED, PT_RUNNING, PT_AUTOSTOPPED, PT_HALTED };
/*
 * The state word: bits 0-1 the state, 2-63 the low 62 bits of the time of its last change; 0 there:
 * no time.  62 bits are 48 years of a time stamp counter at 3 GHz.  A change stores its time in
 * full into state_near first (pt_state_change); pt_state_ts() returns the one time with these low
 * bits that is within 2^61 ticks, 24 years, of state_near.
 *
 * How far the two can differ: the change releases the store, so a thread that has loaded the word
 * finds the time that belongs to it or a later one.  A later one belongs to a change in progress,
 * or to one that failed because another change came between its load of the word and its exchange;
 * then the word has the time of that other change.  So they differ by the time for which a thread
 * was stopped within a change.  Only between the two steps of the next change, or if its thread was
 * killed there, they differ by the duration of the previous state.  If that is more than 24 years,
 * the time is wrong until the next change.
 *
 * Times are not rounded: events and changes are compared in ticks of the clock.
 */
#define pt_state_make(state, ts) ((uint64_t)(ts) << 2 | (unsigned)(state))
/* Another state with the same time. */
#define pt_state_turn(w, state) (((w) & ~(uint64_t)3) | (unsigned)(state))
#define pt_state_of(w)          ((unsigned)((w)&3u))
#define pt_state_is_full(w)     (((w)&2u) != 0)
/* Started, and not stopped by a call since.  A function: its argument is often a load, and a second
 * one could find the stream restarted. */
static inline bool pt_state_runs(uint64_t word)
{
    return pt_state_of(word) == PT_RUNNING || pt_state_of(word) == PT_AUTOSTOPPED;
}

/* Control lock: bits 0-21 thread id of the holder, 0: free; 22-36 index + 1 of the
 * control writer's slot; 37-63 counts the changes of hands. */
#define PT_CONTROL_TID_BITS  22
#define PT_CONTROL_SLOT_BITS 15
#define pt_control_make(tid, slot_1, turn) \
    ((uint64_t)(tid) | (uint64_t)(slot_1) << 22 | (uint64_t)(turn) << 37)
#define pt_control_tid(w)    ((uint32_t)((w)&0x3fffffu))
#define pt_control_slot_1(w) ((uint32_t)((w) >> 22 & 0x7fffu))
#define pt_control_turn(w)   ((w) >> 37)
_Static_assert(PT_SLOT_MAX < 1u << PT_CONTROL_SLOT_BITS, "a slot's index + 1 fits");

/* flush_state bits.  The owner's posix_trace_get_status() resets PT_LOG_OVERRUN. */
#define PT_FLUSHING    1u
#define PT_LOG_OVERRUN 2u
#define PT_LOG_FULL    4u

/* flush_errors: the number of the last error; in the bits above, a count.  An error number that is
 * loaded from the segment is masked by it: another process may have stored any value. */
#define PT_FLUSH_ERRNO 0xfffu

/* memory bits, see onlook.h */
#define PT_MEMORY_GIVEN 1u /* the memory of the chunks is freed when no onlooker is left */
#define PT_MEMORY_KEPT  2u /* it is not freed: there is an onlooker without an entry */

/* attention bits */
#define PT_WAIT_READER  1u
#define PT_WAIT_FLUSHER 2u
#define PT_WAIT_STOPPED 4u /* auto-stopped: writers close their chunks */

/*
 * An event in several streams loads and stores the same members of each.  A cache has few places
 * for lines with the same offset in a page, 8 or 12, and with equal offsets a load of one stream
 * may have to wait for a store to another (4K aliasing, see struct pt_slot).  So the streams of a
 * process have colours: what events touch begins at another offset in each.  With one colour each
 * stream from the 12th on took 20 to 30 ns, with colours 3.
 */
#define PT_COLOURS      32u
#define PT_COLOUR_BYTES 128u

struct pt_seg_line {
    uint32_t unused[8]; /* commit words are at the beginning of such a line */
    uint32_t attention;
    uint32_t more[23];
};
_Static_assert(sizeof(struct pt_seg_line) == PT_COLOUR_BYTES, "one of each colour");

struct pt_seg_header {
    uint64_t magic;
    uint32_t layout, byte_order;
    uint32_t word_size; /* of the creator: 4 or 8 */
    uint32_t header_size;
    uint8_t id[16];
    uint64_t size;
    uint32_t infos_off, slots_off, chunks_off;
    uint32_t chunk_size, chunk_max, base_chunks;
    uint32_t procs_off, zero;
    /* owner */
    uint32_t owner_pid, has_log;
    uint64_t owner_start;
    uint8_t boot_id[16];
    uint64_t pid_ns;
    char names_file[64];
    char log_path[256];
    uint64_t log_dev, log_ino;
    int32_t clock;
    uint32_t fences; /* 1: no membarrier, writers use full fences */
    struct pt_attr attr;
    uint64_t mnt_ns; /* in which log_path is a path; 0: unknown */
    /* log_folder.h: the inode of the log's folder, 0: unknown; its time of birth in ns of
     * CLOCK_REALTIME, 0: the file system does not have it */
    uint64_t log_folder, log_folder_born;

    /* control plane */
    __attribute__((aligned(64))) uint64_t state;
    uint64_t clear_ts;     /* events before it are not part of the stream */
    uint32_t closed;       /* shutdown has begun: PT_CLOSED, PT_CLOSED_LEFT */
    uint32_t log_complete; /* the log has its end mark: nothing here is needed */
    uint32_t window;       /* 1 from the START record to the STOP record */
    uint32_t control_futex;
    uint32_t control_waits;    /* a thread sleeps on control_futex */
    uint32_t flush_asked_from; /* another process has asked for a flush */
    uint64_t control;          /* lock word, see pt_control_make */
    /* One of filters, with the expression of the same index, is in force.  The others are for
     * threads that prepare the next one. */
    uint64_t filter_now;              /* its index in the low bits, a count above */
    uint32_t filter_user[PT_FILTERS]; /* id of the thread that writes it, 0: none */
    __attribute__((aligned(8))) struct pt_set filters[PT_FILTERS];

    /* Beside books, and switched with them; and the least lost_first_ts that the consumer has taken
     * since, 0: none. */
    __attribute__((aligned(64))) struct pt_loss_books loss_books[2];
    uint64_t lost_taken;
    uint32_t flush_errors; /* changes with each error of the log: PT_FLUSH_ERRNO */

    __attribute__((aligned(128))) uint32_t colour; /* see PT_COLOURS */
    uint32_t times; /* 1: switches are refused, threads record their CPU time */

    __attribute__((aligned(64))) uint32_t reader_futex;
    uint32_t flush_futex;
    uint32_t flush_asked; /* the high-water mark was passed and the flush thread woken */
    uint32_t flush_state; /* PT_FLUSHING, ... */
    uint32_t flush_error; /* the first since the owner's last posix_trace_get_status() */
    uint32_t fill_level;  /* number of full chunks to report to the creator; 0: none */
    uint32_t fill_mark;   /* the same, 0 after it was passed */
    uint32_t fill_futex;
    /* Beside books, and switched with them: the piece of a log in pieces that is written
     * (flush/pieces.h), and its file in place of log_ino; 0: the log has no pieces. */
    uint64_t books_piece[2], books_ino[2];

    /* slow path counters */
    __attribute__((aligned(64))) uint64_t next_gen;
    uint64_t next_close;
    uint64_t next_wid;
    uint32_t nchunks;     /* usable */
    uint32_t nslots;      /* ever used */
    uint32_t writers;     /* slots claimed and not ended */
    uint32_t full_chunks; /* FULL now */
    uint32_t hint;
    uint32_t overrun;     /* set with each loss, reset by get_status */
    uint32_t recycled;    /* LOOP: events were overwritten since the stream was last empty */
    uint32_t overwritten; /* LOOP: low bits of pt_info.closed of the chunk overwritten last */
    uint64_t last_sweep_ns;
    uint64_t owner_look_ns; /* CLOCK_MONOTONIC: the last check by a writer whether the owner
                             * lives */
    uint64_t lost_first_ts; /* of overwritten events; UINT64_MAX: none */
    uint64_t lost_last_ts;
    uint32_t peak_chunks;
    uint32_t used_chunks;               /* not FREE */
    uint64_t lost_no_slot[PT_LOST_OWN]; /* losses of threads that never got a slot */
    uint32_t sweep_at;                  /* slot with which the next step of the sweep starts */
    uint32_t memory;                    /* PT_MEMORY_GIVEN, PT_MEMORY_KEPT */
    uint64_t onlookers[PT_ONLOOKERS];   /* onlook.h; 0: free */

    /* The clock table, see syncpoint.h. */
    __attribute__((aligned(64))) uint32_t syncs;
    uint32_t sync_looked; /* when a writer last compared the clocks: pt_syncpoint_look */
    struct pt_sync sync_first;
    uint64_t sync_used[2];
    uint64_t sync_next[PT_SYNC_PAIRS];
    struct pt_sync sync_pair[PT_SYNC_PAIRS][2];
    uint64_t state_near;      /* a time close to that in state, in full: pt_state_ts */
    uint64_t missed_told;     /* missed_last, as last taken by the consumer */
    uint64_t lost_switches;   /* context switches that the kernel lost, beside lost_no_slot */
    uint32_t nprocs;          /* entries of the table of processes ever used */
    uint32_t refused_procs;   /* processes for which the table had no room */
    uint32_t refused_writers; /* writers that came when all slots or chunks were in use */
    uint32_t sync_left;       /* the clock table was too full for a correction: syncpoint.h */
    uint64_t created;   /* CLOCK_BOOTTIME of the first time namespace, as process start times */
    uint64_t books_now; /* low bit: index of the valid copy, here and in the slots */
    struct pt_checkpoint books[2];
    /* Stored by the consumer: the last automatic stop that has ended, and the time of the latest
     * START for it in the log. */
    uint64_t gap_from, gap_to, start_told;
    /* The condition for events of the types that the filter lets pass (posixtrace/filter.h); "":
     * none. */
    char expressions[PT_FILTERS][PT_FILTER_TEXT];
    /* writer/chain.h: the segment of the stream that gets the events for which this one has no
     * room, or ""; and whether this stream is the successor of another. */
    char next_file[64];
    uint32_t is_successor;
    uint32_t keeps_late;                /* this stream had a successor once: see
                                         * consumer/auto_stop.h */
    uint64_t missed_first, missed_last; /* loss_interval.h; 0: none */
    uint64_t start_filter;              /* filter of the last automatic restart: start_filter.h */
    uint64_t stop_marks, loss_marks;    /* mark_filter.h */
    /* The one of this stream's colour is in use: pt_attention(). */
    __attribute__((aligned(4096))) struct pt_seg_line lines[PT_COLOURS];
};
/* The same on 32-bit and 64-bit machines, so that their programs share streams
 * and post-mortems; another number here is another PT_SEG_LAYOUT. */
_Static_assert(sizeof(struct pt_seg_header) == 20480, "layout");
_Static_assert(offsetof(struct pt_seg_header, attr) == 464, "layout");
_Static_assert(offsetof(struct pt_seg_header, log_folder) == 680, "layout");
_Static_assert(offsetof(struct pt_seg_header, control) == 744, "layout");
_Static_assert(offsetof(struct pt_seg_header, filters) == 776, "layout");
_Static_assert(offsetof(struct pt_seg_header, loss_books) == 1472, "layout");
_Static_assert(offsetof(struct pt_seg_header, lost_no_slot) == 1760, "layout");
_Static_assert(offsetof(struct pt_seg_header, onlookers) == 1800, "layout");
_Static_assert(offsetof(struct pt_seg_header, nprocs) == 7864, "layout");
_Static_assert(sizeof(struct pt_info) == 16 && sizeof(struct pt_proc) == 16, "layout");

/* The inode of the file that the log is written to; 0: it is no file. */
static inline uint64_t pt_seg_log_ino(const struct pt_seg_header *h)
{
    uint64_t ino = h->books_ino[h->books_now & 1u];

    return ino ? ino : h->log_ino;
}

/* The word that is loaded after each event and changes rarely: PT_WAIT_READER and others. */
static inline uint32_t *pt_attention(struct pt_seg_header *h)
{
    return &h->lines[pt_load_relaxed(&h->colour) % PT_COLOURS].attention;
}

/* The time in a state word of that stream; 0: none. */
static inline uint64_t pt_state_ts(const struct pt_seg_header *h, uint64_t word)
{
    uint64_t near = pt_load_relaxed(&h->state_near), low = pt_state_turn(word, 0);

    return low ? near + (uint64_t)((int64_t)(low - (near << 2)) / 4) : 0;
}

/* Changes the state and its time; the other arguments as for a compare-and-exchange. */
static inline bool pt_state_change(struct pt_seg_header *h, uint64_t *word, unsigned state,
                                   uint64_t ts)
{
    pt_store_relaxed(&h->state_near, ts);
    return pt_cas_seqcst(&h->state, word, pt_state_make(state, ts));
}

/* The filter in force.  For holders of the control lock, and for loads of one bit: PT_FILTERS - 1
 * changes later the place is reused. */
static inline const struct pt_set *pt_seg_filter(const struct pt_seg_header *h)
{
    return &h->filters[pt_load_acquire(&h->filter_now) % PT_FILTERS];
}

/* A copy of the filter in force; a mixture if it is changed without end. */
static inline void pt_seg_filter_copy(const struct pt_seg_header *h, struct pt_set *set)
{
    uint64_t now = pt_load_acquire(&h->filter_now), was;
    int tries = 0;

    do {
        was = now;
        pt_set_copy(set, &h->filters[was % PT_FILTERS]);
        pt_fence_acquire();
        now = pt_load_relaxed(&h->filter_now);
    } while (now != was && ++tries < 1000);
}

static inline bool pt_seg_has_expression(const struct pt_seg_header *h)
{
    const char *text = h->expressions[pt_load_acquire(&h->filter_now) % PT_FILTERS];

    return pt_load_relaxed(text) != 0;
}

/* A copy of the expression in force; returns its number.  If it is changed without end, a mixture
 * of two, and the number of neither. */
static inline uint64_t pt_seg_expression(const struct pt_seg_header *h, char text[PT_FILTER_TEXT])
{
    uint64_t now = pt_load_acquire(&h->filter_now);

    for (int tries = 0; tries < 16; tries++) {
        uint64_t was = now;

        pt_copy_unchecked(text, h->expressions[was % PT_FILTERS], PT_FILTER_TEXT);
        text[PT_FILTER_TEXT - 1] = '\0';
        pt_fence_acquire();
        now = pt_load_relaxed(&h->filter_now);
        if (now == was)
            return was;
    }
    return UINT64_MAX;
}

/* Does the filter let that type pass?  CPU times of threads pass only if context switches are not
 * recorded. */
static inline bool pt_seg_wants(const struct pt_seg_header *h, const struct pt_set *filter,
                                uint32_t id)
{
    return !pt_set_has(filter, id) && (id != PT_ID_CPU_TIME || pt_load_acquire(&h->times));
}

/* Called for each refused event.  It stores only if overrun was reset, so that the cache line stays
 * shared. */
static inline void pt_note_overrun(struct pt_seg_header *h)
{
    if (!pt_load_relaxed(&h->overrun))
        pt_store_relaxed(&h->overrun, 1u);
}

/* Counts a thread or process that was refused.  Readers show no more than PT_MOST_REFUSED, so the
 * word does not come to its end. */
#define PT_MOST_REFUSED 0xffffu
static inline void pt_note_refused(uint32_t *count)
{
    if (pt_load_relaxed(count) < PT_MOST_REFUSED)
        pt_add_relaxed(count, 1u);
}

#endif
