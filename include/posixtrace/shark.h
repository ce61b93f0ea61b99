/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The interface of S.Ha.R.K.'s new tracer (FTrace) over ours: chunks of memory that events
 * are logged into, chained or not, filters by family, and chunks sent to files and over UDP
 * in the kernel's own form.  docs/formats/shark.md has the differences and their reasons.
 *
 *     int a = FTrace_chunk_create(1000000, 16000, FTRACE_CHUNK_FLAG_FREE);
 *
 *     FTrace_actual_chunk_select(a);
 *     FTrace_enable();
 *     TRACER_LOGEVENT(FTrace_EVT_trace_start, 0, FTRACE_CLK_PER_MSEC);
 *     TRACER_LOGEVENT(FTrace_EVT_ipoint, 6000, 0);
 *     FTrace_disable();
 *     FTrace_init_disk_writer("trace.dat", 0, NULL, NULL);
 *     FTrace_send_chunk(a, 0, FTRACE_CHUNK_FLAG_FREE);
 *
 * leaves 0trace.dat, which `posixtrace import --from=shark` reads.  A chunk is a stream
 * without log, "shark-chunk-0", whose events are of the type "shark:chunk_0": the tools list
 * and print it while the program runs, and any other stream records the same events too; so under
 * `posixtrace record` they survive any end of the program.
 *
 * Link with -lposixtrace-compat -lposixtrace.  The names of the manual are macros for functions of
 * ours.  Those with a result return 0 or their value, or -1 with errno set; all are thread-safe.
 * TRACER_LOGEVENT is async-signal-safe and takes no lock, the others do.  After fork() the child
 * has no chunks, and none is selected: it creates its own, or executes another program.  Filters,
 * FTrace_enable() and the writer remain.  A child hangs in no call, whatever the parent's threads
 * did.
 */
#ifndef POSIXTRACE_SHARK_H
#define POSIXTRACE_SHARK_H

#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FTRACE_MAX_CHUNKS 256

/* The state and mode of a chunk.  CYC is not a bit: it is neither of the other two modes. */
#define FTRACE_CHUNK_FLAG_FREE  0x01 /* may be selected, or become a successor */
#define FTRACE_CHUNK_FLAG_FULL  0x02
#define FTRACE_CHUNK_FLAG_CYC   0x00 /* the newest events overwrite the oldest */
#define FTRACE_CHUNK_FLAG_JTN   0x04 /* full: logging continues in the successor */
#define FTRACE_CHUNK_FLAG_STOP  0x08 /* full: no more events */
#define FTRACE_CHUNK_FLAG_BUSY  0x10 /* being sent; not to be given */
#define FTRACE_CHUNK_FLAG_NODEL 0x20 /* may not be deleted */
#define FTRACE_CHUNK_FLAG_COMPR 0x40 /* not to be given: nothing is compressed */

typedef unsigned char FTrace_flags;

/* FTRACE_CLK_PER_MSEC: the unit of time, and the required rate. */
#define FTRACE_CLK_PER_MSEC 1000000u /* nanoseconds */

/* Types of events by family, which is code & 0x0f; and the names of the filters. */
enum {
    FTrace_EVT_empty = 0x00,
    FTrace_EVT_cycles_per_msec = 0x10,
    FTrace_EVT_trace_start = 0x20,
    FTrace_EVT_trace_stop = 0x30,
    FTrace_EVT_blackout_start = 0x40,
    FTrace_EVT_blackout_end = 0x50,
    FTrace_EVT_id = 0x60,
    FTrace_EVT_numevents = 0x70,
    FTrace_EVT_ipoint = 0x01,
    FTrace_EVT_task_create = 0x02,
    FTrace_EVT_task_activate = 0x12,
    FTrace_EVT_task_dispatch = 0x22,
    FTrace_EVT_task_epilogue = 0x32,
    FTrace_EVT_task_end = 0x42,
    FTrace_EVT_task_begin_cycle = 0x52,
    FTrace_EVT_task_end_cycle = 0x62,
    FTrace_EVT_task_sleep = 0x72,
    FTrace_EVT_task_schedule = 0x82,
    FTrace_EVT_task_timer = 0x92,
    FTrace_EVT_task_disable = 0xa2,
    FTrace_EVT_task_deadline_miss = 0xb2,
    FTrace_EVT_task_wcet_violation = 0xc2,
    FTrace_EVT_interrupt_start = 0x03,
    FTrace_EVT_interrupt_end = 0x13,
    FTrace_EVT_interrupt_hit = 0x23,
    FTrace_EVT_interrupt_count = 0x33,
    FTrace_EVT_to_real_mode = 0x04,
    FTrace_EVT_to_protected_mode = 0x14,
    FTrace_EVT_CLI = 0x24,
    FTrace_EVT_STI = 0x34,
    FTrace_EVT_set_priority = 0x05,
    FTrace_EVT_context_switch = 0x15,
    FTrace_EVT_inheritance = 0x25,
    FTrace_EVT_mutex_create = 0x06,
    FTrace_EVT_mutex_lock = 0x16,
    FTrace_EVT_mutex_inherit = 0x26,
    FTrace_EVT_mutex_unlock = 0x36,
    FTrace_EVT_mutex_wait = 0x46,
    FTrace_EVT_mutex_post = 0x56,
    FTrace_EVT_signal = 0x07,
    FTrace_EVT_server_create = 0x08,
    FTrace_EVT_server_replenish = 0x18,
    FTrace_EVT_server_exhaust = 0x28,
    FTrace_EVT_server_reclaiming = 0x38,
    FTrace_EVT_server_remove = 0x48,
    FTrace_EVT_server_active = 0x58,
    FTrace_EVT_server_using_rec = 0x68,
    FTrace_EVT_user_event_0 = 0x09,
    FTrace_EVT_user_event_1 = 0x19,
    FTrace_EVT_user_event_2 = 0x29,
    FTrace_EVT_user_event_3 = 0x39,
    FTrace_EVT_user_event_4 = 0x49,
    FTrace_EVT_user_event_5 = 0x59,
    FTrace_EVT_user_event_6 = 0x69,
    FTrace_EVT_user_event_7 = 0x79,
    FTrace_EVT_user_event_8 = 0x89,
    FTrace_EVT_user_event_9 = 0x99,
    FTrace_EVT_user_event_10 = 0xa9,
    FTrace_EVT_user_event_11 = 0xb9,
    FTrace_EVT_user_event_12 = 0xc9,
    FTrace_EVT_user_event_13 = 0xd9,
    FTrace_EVT_user_event_14 = 0xe9,
    FTrace_EVT_timer_post = 0x0b,
    FTrace_EVT_timer_delete = 0x1b,
    FTrace_EVT_timer_wakeup_start = 0x2b,
    FTrace_EVT_timer_wakeup_end = 0x3b,
    FTrace_EVT_data_pointer = 0x1a,
    FTrace_EVT_next_chunk = 0xff,
    FTrace_filter_trace_Events = 0xf0,
    FTrace_filter_ipoint = 0xf1,
    FTrace_filter_task = 0xf2,
    FTrace_filter_interrupt = 0xf3,
    FTrace_filter_CPU = 0xf4,
    FTrace_filter_priority = 0xf5,
    FTrace_filter_mutex = 0xf6,
    FTrace_filter_signal = 0xf7,
    FTrace_filter_server = 0xf8,
    FTrace_filter_user = 0xf9,
    FTrace_filter_data = 0xfa,
    FTrace_filter_timer = 0xfb
};
#define FTrace_family_mask 0x0f

/* As the manual spells them. */
enum {
    FTrace_EVT_set_mutex_create = FTrace_EVT_mutex_create,
    FTrace_EVT_set_mutex_lock = FTrace_EVT_mutex_lock,
    FTrace_EVT_set_mutex_inherit = FTrace_EVT_mutex_inherit,
    FTrace_EVT_set_mutex_unlock = FTrace_EVT_mutex_unlock,
    FTrace_EVT_set_mutex_wait = FTrace_EVT_mutex_wait,
    FTrace_EVT_set_mutex_post = FTrace_EVT_mutex_post
};

/* The state of a chunk. */
struct posixtrace_shark_chunk {
    uint32_t id; /* 0xFFAAFFBB */
    int number;
    FTrace_flags flags;
    int size, emergency_size; /* bytes */
    int next;                 /* successor, or -1 */
    uint32_t events;          /* that are in it; of CYC no more than fit into size */
    uint32_t lost;            /* that found no room since it was made */
    trace_id_t trid;          /* its stream */
};
typedef struct posixtrace_shark_chunk *FTrace_Chunk_Ptr;

/* ---- logging ---- */

/*
 * Starts and stops logging.  Always 0.
 */
int posixtrace_shark_enable(void);
int posixtrace_shark_disable(void);

/*
 * Logs an event, if logging is enabled, its family is not filtered and a chunk is selected.
 * type: one of the codes, and bits 0x8000 if par2 means nothing; FTrace_EVT_empty is none.
 * FTrace_EVT_next_chunk is not stored: the chunk is FULL from now on, and logging continues
 * in its successor, if it has one.
 *
 * Where the chunk is full, the event goes to the successor of a JTN chunk, or of a CYC one
 * that is FULL, or to its successor in turn.  Where none has room it is counted as lost;
 * but a closing event, FTrace_EVT_trace_stop, FTrace_EVT_numevents or one of a filter, has
 * the emergency_size of the chunk that is logged into for itself.
 *
 * Async-signal-safe, thread-safe, lock-free, no cancellation point, leaves errno alone.
 */
void posixtrace_shark_log(unsigned type, unsigned par1, uint32_t par2);

/*
 * Closes (status not 0) or opens a family, FTrace_filter_ipoint and the like: of a closed
 * one no events are logged.  The change is an event itself, of the type family, with the
 * status, 1 or 0, as par1.  All else as family does nothing.  Async-signal-safe, lock-free.
 */
void posixtrace_shark_set_filter(unsigned family, int status);

/* ---- chunks ---- */

/*
 * A chunk for normal_size / 16 events, and emergency_size / 16 closing events; its number.
 * Memory for the longest form that each can have as an event of ours is reserved: about
 * seven times those bytes.
 *
 * EINVAL  no room for one event, a negative size, or flags that cannot be given
 * EAGAIN  there are FTRACE_MAX_CHUNKS chunks, or as many streams as a process may have
 * others  as posix_trace_create() and posixtrace_event_describe(): ENOMEM, ENOSPC, ...
 */
int posixtrace_shark_chunk_create(int normal_size, int emergency_size, FTrace_flags flags);
/*
 * ENOENT  no such chunk
 * EPERM   it is NODEL
 * EBUSY   it is the one that is logged into, or being sent, or the successor of another
 */
int posixtrace_shark_chunk_delete(int number);
/* BUSY does not change.  ENOENT; EINVAL: flags that cannot be given, or both JTN and STOP. */
int posixtrace_shark_set_chunk_flags(int number, FTrace_flags flags);
/* ENOENT; EINVAL: flags is NULL. */
int posixtrace_shark_get_chunk_flags(int number, FTrace_flags *flags);
/* Logs into that chunk from now on; it is FREE no more.  -1: into none.  ENOENT; EBUSY: it is
 * not FREE. */
int posixtrace_shark_select(int number);
/*
 * Makes chunk_b the successor of chunk_a, in place of the one that it had; chunk_b is FREE
 * no more.  chunk_b -1: chunk_a has none.  ENOENT; EBUSY: chunk_b is not FREE; EINVAL: they
 * are the same.
 */
int posixtrace_shark_link(int chunk_a, int chunk_b);
/* The first chunk with any of the flags; 0 (CYC): the first of that mode.  ENOENT: none. */
int posixtrace_shark_first_chunk(FTrace_flags flags);
/*
 * FTRACE_MAX_CHUNKS pointers, NULL where there is no chunk.  They point to copies made by this
 * call, valid until the next one from any thread.  Never NULL.
 */
FTrace_Chunk_Ptr *posixtrace_shark_chunk_table(void);
/* ENOENT; else always ENOTSUP: the kernel's does nothing, and neither does this. */
int posixtrace_shark_compress_chunk(int number, FTrace_flags new_flags);

/* ---- sending ---- */

/*
 * Sends the events of the chunk by the writer that was initialised last, and removes them, so there
 * is room again.  Then the chunk gets new_flags.  Events that are logged meanwhile stay, or are
 * sent, too.  osd_flags has no effect.  One chunk is sent at a time.
 *
 * ENOENT        no such chunk
 * EINVAL        flags that cannot be given
 * EDESTADDRREQ  nothing was initialised
 * others        of open(2), write(2), send(2): the flags stay, and so do events that were not sent,
 *               also one that was written in part, which the file does not keep.  The next call for
 *               the chunk sends them, by any writer.  Of close(2): all were sent
 */
int posixtrace_shark_send_chunk(int number, int osd_flags, FTrace_flags new_flags);

/*
 * From now on chunks are written to files, "0trace.dat", "1trace.dat" and so on for "trace.dat":
 * the number precedes the last part of the path.  An existing file is replaced.  Other arguments
 * have no effect.  EINVAL: fname is NULL or ends with '/'; ENAMETOOLONG.
 */
int posixtrace_shark_init_disk_writer(const char *fname, int flag, const char *l_ip,
                                      const char *t_ip);
/* Writes a chunk to the next of those files, for any writer that was initialised last.  errno is 0,
 * or EINVAL: chunk is NULL, or as posixtrace_shark_send_chunk(). */
void posixtrace_shark_disk_writer(FTrace_Chunk_Ptr chunk);

/*
 * Chunks go out as UDP packets from now on, from l_ip to t_ip, numbered from 1.  Both are
 * IP addresses, with a port or not: "192.168.1.1", "127.0.0.1:20001", "[::1]:20001".  The
 * ports: 20000 of t_ip, any of l_ip.  l_ip may be NULL or "": any.  flag means nothing.
 *
 * EINVAL  t_ip is NULL, or one of them is no address
 * others  of socket(2), bind(2), connect(2)
 */
int posixtrace_shark_init_udp(int flag, const char *l_ip, const char *t_ip);

/* ---- the manual's names ---- */

#define TRACER_LOGEVENT(type, par1, par2) \
    posixtrace_shark_log((unsigned)(type), (unsigned)(par1), (uint32_t)(par2))
#define FTrace_enable              posixtrace_shark_enable
#define FTrace_disable             posixtrace_shark_disable
#define FTrace_set_filter          posixtrace_shark_set_filter
#define FTrace_chunk_create        posixtrace_shark_chunk_create
#define FTrace_chunk_delete        posixtrace_shark_chunk_delete
#define FTrace_set_chunk_flags     posixtrace_shark_set_chunk_flags
#define FTrace_get_chunk_flags     posixtrace_shark_get_chunk_flags
#define FTrace_actual_chunk_select posixtrace_shark_select
#define FTrace_chunk_link          posixtrace_shark_link
#define FTrace_get_first_chunk     posixtrace_shark_first_chunk
#define FTrace_get_chunk_table     posixtrace_shark_chunk_table
#define FTrace_compress_chunk      posixtrace_shark_compress_chunk
#define FTrace_send_chunk          posixtrace_shark_send_chunk
#define FTrace_init_disk_writer    posixtrace_shark_init_disk_writer
#define FTrace_disk_writer         posixtrace_shark_disk_writer
#define FTrace_OSD_init_udp        posixtrace_shark_init_udp

/* Names of the kernel, for programs that were written for it. */
#ifdef POSIXTRACE_SHARK_KERNEL
typedef uint8_t BYTE;
typedef uint16_t WORD;
typedef uint32_t DWORD;
typedef unsigned SYS_FLAGS;
#define clk_per_msec FTRACE_CLK_PER_MSEC
#endif

#ifdef __cplusplus
}
#endif
#endif
