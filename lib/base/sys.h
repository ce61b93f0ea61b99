/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * System calls that the C library does not wrap, or wraps as cancellation
 * points.  All are async-signal-safe, leave errno alone and return 0 or a
 * negative errno.
 */
#ifndef PT_BASE_SYS_H
#define PT_BASE_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Waits while *word == value; shared between processes.  until: deadline of
 * clock (CLOCK_REALTIME or CLOCK_MONOTONIC), or NULL.  -EAGAIN, -EINTR, -ETIMEDOUT. */
int pt_futex_wait(uint32_t *word, uint32_t value, clockid_t clock, const struct timespec *until);
void pt_futex_wake_all(uint32_t *word);

/*
 * Makes every thread of every registered process pass a full memory fence
 * before it returns; a thread that runs no code right now counts as passed.
 * The writers' side has compiler fences only and pairs with this.  Where the kernel
 * refuses it (again), it takes a millisecond.
 */
void pt_barrier_all(void);
/* Registers this process as a target of pt_barrier_all; false where refused:
 * its writers must then use full fences.  Not for event paths: it can take
 * milliseconds the first time. */
bool pt_barrier_register(void);

/* The same for the threads of this process alone, registered or not. */
void pt_barrier_own(void);

/* Errors by a shortage of descriptors or memory, which tell nothing about the object. */
static inline bool pt_is_shortage(int error)
{
    return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/* No room in a file system, or no more for this user. */
static inline bool pt_is_no_room(int error)
{
    return error == -ENOSPC || error == -EDQUOT;
}

/* Flags of a descriptor that is closed before the call returns, where that may be an event: a child
 * that is forked meanwhile knows it by them (process/fork_files.h).  O_ASYNC is the mark: for these
 * files the kernel keeps it from open(), takes it from no fcntl(), and does nothing with it. */
#define PT_OPEN_BRIEFLY (O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_ASYNC)

int32_t pt_sys_tid(void);
int32_t pt_sys_pid(void);
/* The name of this machine, cut to its room. */
void pt_sys_host(char to[64]);
/* Does this thread exist?  True if that cannot be found out. */
bool pt_sys_thread_exists(int32_t pid, int32_t tid);
/* The same for a thread of any process. */
bool pt_sys_tid_exists(int32_t tid);

/* The processor time that a thread of this process has had, up to now also while it runs. */
bool pt_sys_run_time(int32_t tid, uint64_t *ns);

/* A number, not 0, for the program that runs in this process: another one after each exec, the same
 * in all copies of the library.  Other processes see it, so it does not reveal the values it is
 * computed from. */
uint32_t pt_sys_image(void);

void pt_sys_random(void *to, size_t bytes);
/* Reads a file of /proc or /sys with one read, as a string of at most size bytes; false: error or
 * empty. */
bool pt_sys_read_text(const char *path, char *text, size_t size);

/* Does RLIMIT_FSIZE allow a file of so many bytes?  Where it does not, a write would bring
 * SIGXFSZ, which kills a program that has no handler for it. */
uint64_t pt_sys_most_size(void);
bool pt_sys_allows_size(uint64_t size);
/* Writes all of it into a regular file at that place, or reports why not: -EFBIG, without a
 * write and SIGXFSZ, where RLIMIT_FSIZE does not allow it. */
int pt_sys_write_at(int fd, const void *from, size_t bytes, uint64_t at);

/* Zeroed memory of the process, in pages; NULL: there is none. */
void *pt_sys_pages(size_t bytes);
/* The same, zeros in a forked child, also in one of _Fork() or clone(): MADV_WIPEONFORK, in Linux
 * since 4.14.  NULL also where the kernel refuses it for a shortage, as where the process has as
 * many mappings as it may have. */
void *pt_sys_wiped_pages(size_t bytes);

/* Shared memory gets its rights in pieces that begin at multiples of this: no
 * smaller than a page of any kernel for this processor. */
#if defined __x86_64__ || defined __i386__ || defined __s390x__
#define PT_PAGE 4096u
#else
#define PT_PAGE 65536u
#endif

/* MADV_POPULATE_WRITE: backs the pages now, -ENOMEM instead of SIGBUS later.
 * Where the kernel has no such call: one page after the other. */
int pt_sys_populate(void *at, size_t bytes);
/* MADV_POPULATE_READ: the same for pages of a shared file that have memory, at a third of the
 * cost, since the kernel maps 16 at a time.  A page without gets some, or -ENOMEM. */
int pt_sys_populate_read(void *at, size_t bytes);

/*
 * Do the threads of this process pass the fences of pt_barrier_all()?  Where not,
 * its writers have fences of their own.  The kernel is asked once a program,
 * which can take milliseconds in one with threads: when the library is loaded, if
 * the environment asks for tracing; else by the first create, or by the first event
 * for a stream of another process.
 */
bool pt_barrier_works(void);

#endif
