/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Calls that transfer or synchronise the data of a descriptor, accept() and connect().
 */
#include <errno.h>
#include "preload/preload.h"
#include "preload/real_io.h"

static void began(const struct preload_io *c, const void *caller)
{
    struct {
        uint32_t call;
        int32_t descriptor;
        uint64_t caller;
    } data = { c->call, c->descriptor, (uintptr_t)caller };

    preload_event(POSIXTRACE_IO, &data, sizeof data);
}

/* Out of line, as in locks.c. */
#define IO(type, number, name, parameters, arguments)                                 \
    static __attribute__((noinline))                                                  \
    type traced_##name(const void *caller, PRELOAD_LIST parameters)                   \
    {                                                                                 \
        struct preload_io call = { POSIXTRACE_IO_DONE, POSIXTRACE_CALL_##number, a }; \
        type r;                                                                       \
                                                                                      \
        began(&call, caller);                                                         \
        pthread_cleanup_push(preload_io_cancelled, &call);                            \
        r = real_##name arguments;                                                    \
        pthread_cleanup_pop(0);                                                       \
        preload_io_ended(&call, r < 0 ? -errno : r);                                  \
        return r;                                                                     \
    }                                                                                 \
    PRELOAD_PUBLIC type name parameters                                               \
    {                                                                                 \
        return PRELOAD_OFF(NULL, POSIXTRACE_IO, POSIXTRACE_IO_DONE)                   \
                   ? real_##name arguments                                            \
                   : traced_##name(PRELOAD_CALLER, PRELOAD_LIST arguments);           \
    }

REAL_IO(IO)
REAL_IO_NEWER(IO)
