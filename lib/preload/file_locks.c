/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Locks of files: flock(), lockf(), and those of fcntl(), of processes and of open descriptions.
 */
#include <errno.h>
#include <stdarg.h>
#include "preload/preload.h"
#include "preload/real.h"
#include "preload/real_io.h"

_Static_assert(POSIXTRACE_FILE_LOCK + 1 == POSIXTRACE_FILE_LOCKED, "PRELOAD_CALL_MORE");

static void began(const struct preload_io *c, uint32_t mode, bool waits, const void *caller)
{
    struct {
        uint32_t call;
        int32_t descriptor;
        uint32_t mode, waits;
        uint64_t caller;
    } data = { c->call, c->descriptor, mode, waits, (uintptr_t)caller };

    preload_descriptor(c->descriptor);
    preload_event(POSIXTRACE_FILE_LOCK, &data, sizeof data);
    preload_io_waits(c, caller);
}

static uint32_t flock_mode(int operation)
{
    return operation & LOCK_UN   ? POSIXTRACE_LOCK_UNLOCK
           : operation & LOCK_SH ? POSIXTRACE_LOCK_SHARED
                                 : POSIXTRACE_LOCK_EXCLUSIVE;
}

static uint32_t lockf_mode(int command)
{
    return command == F_ULOCK  ? POSIXTRACE_LOCK_UNLOCK
           : command == F_TEST ? POSIXTRACE_LOCK_TEST
                               : POSIXTRACE_LOCK_EXCLUSIVE;
}

#define FILE_LOCK(number, name, parameters, arguments, mode, waits)                      \
    PRELOAD_CALL_MORE(int, POSIXTRACE_FILE_LOCK, number, name, parameters, arguments, a, \
                      began(&call, mode, waits, caller))

REAL_FILE_LOCK(FILE_LOCK)

/* Both structures of a program for large files and for others begin with l_type. */
static uint32_t fcntl_mode(const void *lock)
{
    short type = *(const short *)lock;

    return type == F_UNLCK   ? POSIXTRACE_LOCK_UNLOCK
           : type == F_RDLCK ? POSIXTRACE_LOCK_SHARED
                             : POSIXTRACE_LOCK_EXCLUSIVE;
}

static bool waits_for_lock(int command)
{
    return command == F_SETLKW || command == F_SETLKW64 || command == F_OFD_SETLKW;
}

static bool sets_lock(int command)
{
    return waits_for_lock(command) || command == F_SETLK || command == F_SETLK64 ||
           command == F_OFD_SETLK;
}

static __attribute__((noinline)) int traced_fcntl(int (*real)(int, int, ...), int fd, int command,
                                                  void *lock, const void *caller)
{
    struct preload_io call = { POSIXTRACE_FILE_LOCKED, POSIXTRACE_CALL_FCNTL, fd };
    int r;

    began(&call, fcntl_mode(lock), waits_for_lock(command), caller);
    pthread_cleanup_push(preload_io_cancelled, &call);
    r = real(fd, command, lock);
    pthread_cleanup_pop(0);
    preload_io_ended(&call, r < 0 ? -errno : r);
    return r;
}

int __fcntl(int fd, int command, ...);

/* As the C library's, these take one argument more, whether there is one or not. */
#define FCNTL(name)                                                          \
    PRELOAD_PUBLIC int name(int fd, int command, ...)                        \
    {                                                                        \
        va_list more;                                                        \
        void *lock;                                                          \
                                                                             \
        va_start(more, command);                                             \
        lock = va_arg(more, void *);                                         \
        va_end(more);                                                        \
        if (!sets_lock(command) || !lock ||                                  \
            PRELOAD_OFF(NULL, POSIXTRACE_FILE_LOCK, POSIXTRACE_FILE_LOCKED)) \
            return real_##name(fd, command, lock);                           \
        return traced_fcntl(real_##name, fd, command, lock, PRELOAD_CALLER); \
    }

REAL_VARIADIC(FCNTL)
