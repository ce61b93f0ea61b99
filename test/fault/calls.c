/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See calls.h. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "fault/calls.h"

const char *const fault_names[FAULT_KINDS] = { "write",  "write-io", "write-short", "read",
                                               "open",   "mmap",     "mprotect",    "malloc",
                                               "thread", "allocate", "truncate",    "membarrier" };

static _Atomic int armed = -1;
static _Atomic unsigned calls, fail_from, fail_to;
static uintptr_t library_from, library_to;

static int note_library(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (!strstr(info->dlpi_name, "libposixtrace.so"))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            library_from = info->dlpi_addr + p->p_vaddr;
            library_to = library_from + p->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void find_library(void)
{
    dl_iterate_phdr(note_library, NULL);
}

void fault_arm(enum fault_kind kind, unsigned first, bool forever)
{
    atomic_store(&calls, 0);
    atomic_store(&fail_from, first);
    atomic_store(&fail_to, forever ? UINT32_MAX : first + 1);
    atomic_store(&armed, (int)kind);
}

unsigned fault_disarm(void)
{
    atomic_store(&armed, -1);
    return atomic_load(&calls);
}

static bool fails(enum fault_kind kind, const void *caller)
{
    uintptr_t from = (uintptr_t)caller;
    unsigned call;

    if (atomic_load(&armed) != (int)kind || from < library_from || from >= library_to)
        return false;
    call = atomic_fetch_add(&calls, 1);
    return call >= atomic_load(&fail_from) && call < atomic_load(&fail_to);
}

#define CALLER __builtin_return_address(0)
#define FAIL_IF(kind, error, value) \
    do {                            \
        if (fails(kind, CALLER)) {  \
            errno = (error);        \
            return value;           \
        }                           \
    } while (0)

/* ---- files ---- */

#define FAIL_WRITES()                                      \
    do {                                                   \
        FAIL_IF(FAULT_WRITE, ENOSPC, -1);                  \
        FAIL_IF(FAULT_WRITE_IO, EIO, -1);                  \
        if (bytes > 1 && fails(FAULT_WRITE_SHORT, CALLER)) \
            bytes /= 2;                                    \
    } while (0)

ssize_t write(int fd, const void *from, size_t bytes)
{
    FAIL_WRITES();
    return syscall(SYS_write, fd, from, bytes);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    FAIL_WRITES();
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    FAIL_IF(FAULT_WRITE, ENOSPC, -1);
    FAIL_IF(FAULT_WRITE_IO, EIO, -1);
    if (count > 1 && fails(FAULT_WRITE_SHORT, CALLER))
        count = 1;
    return syscall(SYS_writev, fd, parts, count);
}

ssize_t read(int fd, void *to, size_t bytes)
{
    FAIL_IF(FAULT_READ, EIO, -1);
    return syscall(SYS_read, fd, to, bytes);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
    FAIL_IF(FAULT_READ, EIO, -1);
    return syscall(SYS_pread64, fd, to, bytes, offset);
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    mode_t mode;

    va_start(arguments, flags);
    mode = mode_of(flags, arguments);
    va_end(arguments);
    FAIL_IF(FAULT_OPEN, EMFILE, -1);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
    va_list arguments;
    mode_t mode;

    va_start(arguments, flags);
    mode = mode_of(flags, arguments);
    va_end(arguments);
    FAIL_IF(FAULT_OPEN, EMFILE, -1);
    return (int)syscall(SYS_openat, dir, path, flags, mode);
}

int memfd_create(const char *name, unsigned flags)
{
    FAIL_IF(FAULT_OPEN, EMFILE, -1);
    return (int)syscall(SYS_memfd_create, name, flags);
}

int ftruncate(int fd, off_t length)
{
    FAIL_IF(FAULT_TRUNCATE, EIO, -1);
    return (int)syscall(SYS_ftruncate, fd, length);
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    FAIL_IF(FAULT_ALLOCATE, ENOSPC, -1);
    return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
    if (fails(FAULT_ALLOCATE, CALLER))
        return ENOSPC;
    return syscall(SYS_fallocate, fd, 0, offset, length) < 0 ? errno : 0;
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL);
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL);
    return __libc_realloc(old, size);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    FAIL_IF(FAULT_MMAP, ENOMEM, MAP_FAILED);
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

int mprotect(void *at, size_t bytes, int protection)
{
    FAIL_IF(FAULT_MPROTECT, ENOMEM, -1);
    return (int)syscall(SYS_mprotect, at, bytes, protection);
}

/* ---- threads ---- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                   void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    if (fails(FAULT_THREAD, CALLER))
        return EAGAIN;
    return real(thread, attr, start, argument);
}

/* The C library's syscall() in the form that all its callers can share. */
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    va_list arguments;
    long a[6];

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_membarrier)
        FAIL_IF(FAULT_MEMBARRIER, EPERM, -1);
    if (number == SYS_openat)
        FAIL_IF(FAULT_OPEN, EMFILE, -1);
    va_start(arguments, number);
    for (unsigned i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
