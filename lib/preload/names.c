/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The names of threads: no event, but a log shows the latest name of each (posixtrace/system.h).
 * A name set in another way, as by syscall(SYS_prctl) or a write to the comm file, is found within
 * a second.
 *
 * And what changes the mappings of the process.
 */
#include <dlfcn.h>
#include <posixtrace/mapping.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "preload/preload.h"
#include "preload/real.h"

PRELOAD_PUBLIC int pthread_setname_np(pthread_t thread, const char *name)
{
    int r = real_pthread_setname_np(thread, name);

    if (r == 0 && !preload_is_quiet(__builtin_return_address(0), NULL))
        posixtrace_thread_renamed(thread);
    return r;
}

/* Another library may come to the same addresses, also before the next stream traces the process.
 * dlopen() is not wrapped, as it looks for files on behalf of its caller: the first call from
 * there is noticed. */
PRELOAD_PUBLIC int dlclose(void *library)
{
    int r = real_dlclose(library);

    posixtrace_mapping_changed();
    return r;
}

/* The C library's is no more than this, and is called before real_find(), too.  As that one, it
 * takes four arguments, however many there are. */
PRELOAD_PUBLIC int prctl(int option, ...)
{
    unsigned long a[4];
    va_list args;
    int r;

    va_start(args, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(args, unsigned long);
    va_end(args);
    r = (int)syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
    if (option == PR_SET_NAME && r == 0 && !preload_is_quiet(__builtin_return_address(0), NULL))
        posixtrace_thread_renamed(pthread_self());
    return r;
}
