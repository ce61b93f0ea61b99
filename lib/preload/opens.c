/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Calls that open a file, or that change a name in a file system: they may wait for it.  The
 * result of an open is the descriptor; the next call on that records its path.
 */
#include <errno.h>
#include <stdarg.h>
#include "preload/preload.h"
#include "preload/real.h"
#include "preload/real_io.h"

#define PATH(type, number, name, parameters, arguments, which) \
    PRELOAD_CALL(type, POSIXTRACE_IO, number, name, parameters, arguments, which)

REAL_PATH(PATH)
REAL_PATH_NEWER(PATH)

static __attribute__((noinline)) int ends(struct preload_io *call, int r)
{
    preload_io_ended(call, r < 0 ? -errno : r);
    return r;
}

/* As the C library's, with a mode, whether there is one or not. */
#define OPEN(number, name, first, first_argument)                                      \
    int name(PRELOAD_LIST first const char *path, int flags, ...);                     \
    PRELOAD_PUBLIC int name(PRELOAD_LIST first const char *path, int flags, ...)       \
    {                                                                                  \
        struct preload_io call = { POSIXTRACE_IO_DONE, POSIXTRACE_CALL_##number, -1 }; \
        va_list more;                                                                  \
        mode_t mode;                                                                   \
        int r;                                                                         \
                                                                                       \
        va_start(more, flags);                                                         \
        mode = va_arg(more, mode_t);                                                   \
        va_end(more);                                                                  \
        if (PRELOAD_OFF(NULL, POSIXTRACE_IO, POSIXTRACE_IO_DONE))                      \
            return real_##name(PRELOAD_LIST first_argument path, flags, mode);         \
        preload_io_began(&call, PRELOAD_CALLER);                                       \
        pthread_cleanup_push(preload_io_cancelled, &call);                             \
        r = real_##name(PRELOAD_LIST first_argument path, flags, mode);                \
        pthread_cleanup_pop(0);                                                        \
        return ends(&call, r);                                                         \
    }

REAL_OPEN(OPEN)
