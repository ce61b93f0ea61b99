/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See real.h.  dlsym() may call malloc(), and a malloc() of the program may lock a mutex: such a
 * call comes here during the lookup, and returns success without locking.  That happens only in the
 * first call, before there are other threads.  Threads that look up at the same time find the same
 * functions, so no lock is needed.
 *
 * dlsym() allocates only for a name that it does not find.  So the functions by which an allocator
 * may read its settings (real_io.h) are looked up first, and names that may be missing after them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include "preload/preload.h"
#include "preload/real.h"
#include "preload/real_io.h"

static PRELOAD_THREAD bool finding;

/* The C library keeps an older kind of conditions under the same names. */
static void *look_up(const char *name)
{
    void *found = NULL;

    if (strncmp(name, "pthread_cond_", 13) == 0)
        found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found ? found : dlsym(RTLD_NEXT, name);
}

/* A function that an older C library does not have. */
static int missing_number(void)
{
    return finding ? 0 : ENOSYS;
}

static int missing_errno(void)
{
    if (finding)
        return 0;
    errno = ENOSYS;
    return -1;
}

static int missing_call(void)
{
    errno = ENOSYS;
    return -1;
}

static bool find(void)
{
    if (finding)
        return false;
    real_find();
    return true;
}

#define DEFINE(type, name, parameters, arguments, otherwise)                              \
    static type first_##name parameters                                                   \
    {                                                                                     \
        return find() && real_##name != first_##name ? real_##name arguments : otherwise; \
    }                                                                                     \
    type(*real_##name) parameters = first_##name;
#define DEFINE_P(name, parameters, arguments) \
    DEFINE(int, name, parameters, arguments, missing_number())
#define DEFINE_E(name, parameters, arguments) \
    DEFINE(int, name, parameters, arguments, missing_errno())
#define DEFINE_I(type, call, name, parameters, arguments) \
    DEFINE(type, name, parameters, arguments, missing_call())
#define DEFINE_W(call, name, parameters, arguments, descriptor, count, timeout) \
    DEFINE(int, name, parameters, arguments, missing_call())
#define DEFINE_N(type, call, name, parameters, arguments, number) \
    DEFINE(type, name, parameters, arguments, missing_call())
#define DEFINE_L(call, name, parameters, arguments, mode, waits) \
    DEFINE(int, name, parameters, arguments, missing_call())

REAL_ERROR_NUMBER(DEFINE_P)
REAL_ERRNO(DEFINE_E)
REAL_IO(DEFINE_I)
REAL_IO_NEWER(DEFINE_I)
REAL_IO_QUEUES(DEFINE_I)
REAL_CHILD(DEFINE_N)
REAL_SIGNAL(DEFINE_N)
REAL_PATH(DEFINE_N)
REAL_PATH_NEWER(DEFINE_N)
REAL_FILE_LOCK(DEFINE_L)
REAL_POLL(DEFINE_W)

#define DEFINE_FCNTL(name)                                                                    \
    static int first_##name(int a, int b, ...)                                                \
    {                                                                                         \
        va_list more;                                                                         \
        void *c;                                                                              \
                                                                                              \
        va_start(more, b);                                                                    \
        c = va_arg(more, void *);                                                             \
        va_end(more);                                                                         \
        return find() && real_##name != first_##name ? real_##name(a, b, c) : missing_call(); \
    }                                                                                         \
    int (*real_##name)(int, int, ...) = first_##name;
REAL_VARIADIC(DEFINE_FCNTL)

#define DEFINE_OPEN(call, name, first, argument)                                 \
    static int first_##name(PRELOAD_LIST first const char *path, int flags, ...) \
    {                                                                            \
        va_list more;                                                            \
        mode_t mode;                                                             \
                                                                                 \
        va_start(more, flags);                                                   \
        mode = va_arg(more, mode_t);                                             \
        va_end(more);                                                            \
        return find() && real_##name != first_##name                             \
                   ? real_##name(PRELOAD_LIST argument path, flags, mode)        \
                   : missing_call();                                             \
    }                                                                            \
    int (*real_##name)(PRELOAD_LIST first const char *path, int flags, ...) = first_##name;
REAL_OPEN(DEFINE_OPEN)

static long first_syscall(long number, ...)
{
    long a[6];
    va_list more;

    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    return find() && real_syscall != first_syscall
               ? real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5])
               : missing_call();
}
long (*real_syscall)(long, ...) = first_syscall;

static void first_closefrom(int least)
{
    if (find() && real_closefrom != first_closefrom)
        real_closefrom(least);
}
void (*real_closefrom)(int) = first_closefrom;

#define DEFINE_REOPEN(name)                                                                  \
    static FILE *first_##name(const char *path, const char *mode, FILE *file)                \
    {                                                                                        \
        return find() && real_##name != first_##name ? real_##name(path, mode, file) : NULL; \
    }                                                                                        \
    FILE *(*real_##name)(const char *, const char *, FILE *) = first_##name;

REAL_REOPEN(DEFINE_REOPEN)

static unsigned first_sleep(unsigned seconds)
{
    return find() && real_sleep != first_sleep ? real_sleep(seconds) : seconds;
}
unsigned (*real_sleep)(unsigned) = first_sleep;

#define DEFINE_SET_HANDLER(name)                                                               \
    static sighandler_t first_##name(int number, sighandler_t handler)                         \
    {                                                                                          \
        return find() && real_##name != first_##name ? real_##name(number, handler) : SIG_ERR; \
    }                                                                                          \
    sighandler_t (*real_##name)(int, sighandler_t) = first_##name;

REAL_SET_HANDLER(DEFINE_SET_HANDLER)

static void set(void *pointer, const char *name)
{
    void *found = look_up(name);

    if (found)
        memcpy(pointer, &found, sizeof found);
}

void real_find(void)
{
    int saved = errno;

    finding = true;
    set(&real_syscall, "syscall");
#define SET(name) set(&real_##name, #name);
    REAL_VARIADIC(SET)
#undef SET
#define SET(call, name, first, argument) set(&real_##name, #name);
    REAL_OPEN(SET)
#undef SET
#define SET(type, call, name, parameters, arguments) set(&real_##name, #name);
    REAL_IO(SET)
#undef SET
#define SET(call, name, parameters, arguments, descriptor, count, timeout) set(&real_##name, #name);
    REAL_POLL(SET)
#undef SET
#define SET(type, call, name, parameters, arguments) set(&real_##name, #name);
    REAL_IO_NEWER(SET)
    REAL_IO_QUEUES(SET)
#undef SET
#define SET(type, call, name, parameters, arguments, number) set(&real_##name, #name);
    REAL_CHILD(SET)
    REAL_SIGNAL(SET)
    REAL_PATH(SET)
    REAL_PATH_NEWER(SET)
#undef SET
#define SET(call, name, parameters, arguments, mode, waits) set(&real_##name, #name);
    REAL_FILE_LOCK(SET)
#undef SET
#define SET(name, parameters, arguments) set(&real_##name, #name);
    REAL_ERROR_NUMBER(SET)
    REAL_ERRNO(SET)
#undef SET
#define SET(name) set(&real_##name, #name);
    REAL_SET_HANDLER(SET)
    REAL_REOPEN(SET)
#undef SET
    set(&real_sleep, "sleep");
    set(&real_closefrom, "closefrom");
    finding = false;
    errno = saved;
}
