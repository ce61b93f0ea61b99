/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * _Fork(), which runs no fork handlers, for programs that link or preload the shared library: the C
 * library's, between the calls that the fork handlers make (fork.h).  The static library has
 * another way (fork_static.c).  The name has no version, so that it also stands for the C
 * library's in programs that were linked with that one.  Async-signal-safe, as the original.
 */
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>
#include "base/atomics.h"
#include "process/fork.h"
#if defined __GLIBC__
#include <gnu/lib-names.h>
#define C_LIBRARY LIBC_SO
#else
#define C_LIBRARY "libc.so"
#endif

static pid_t (*original)(void);

/* The next one, which may be another wrapper.  Where our preloaded library needs this one, it is
 * loaded after the C library. */
static void *look_up(void)
{
    void *next = dlsym(RTLD_NEXT, "_Fork"), *library;

    if (next)
        return next;
    library = dlopen(C_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    next = library ? dlsym(library, "_Fork") : NULL;
    dlerror();
    return next;
}

/* At load: dlsym() is not async-signal-safe. */
__attribute__((constructor)) static void find(void)
{
    void *found = look_up();

    if (found)
        __builtin_memcpy(&original, &found, sizeof original);
}

static pid_t none(void)
{
    errno = ENOSYS;
    return -1;
}

__attribute__((visibility("default"))) pid_t _Fork(void)
{
    if (!original) /* called by a constructor that ran before ours */
        find();
    return pt_fork_call(original ? original : none);
}
