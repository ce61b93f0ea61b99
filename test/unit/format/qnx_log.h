/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Logs that are built for QNX's parser, and the calls of its callbacks. */
#ifndef FORMAT_QNX_LOG_H
#define FORMAT_QNX_LOG_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <posixtrace/log.h>
#include "qnx_scene.h"

#define HEAD "le; u8 cpu; x8 flags; "

static char path[64];
static posixtrace_log_builder_t *builder;
static int builder_fd;
static int64_t now;

static inline void begin_log(void)
{
    strcpy(path, "/tmp/posixtrace-qnx-XXXXXX");
    builder_fd = mkstemp(path);
    ck_assert_int_ge(builder_fd, 0);
    WORKS(posixtrace_log_builder_create(builder_fd, NULL, &builder));
    now = 1000;
}

static inline void describe(const char *name, const char *description)
{
    WORKS(posixtrace_log_builder_describe(builder, name, description));
}

static inline void put(const char *name, int tid, const void *data, size_t len)
{
    struct posixtrace_event e = { .ns = now++,
                                  .name = name,
                                  .thread_name = "t",
                                  .data = data,
                                  .data_len = len,
                                  .pid = 7,
                                  .tid = tid,
                                  .thread_id = 1 };

    WORKS(posixtrace_log_builder_add(builder, &e, sizeof e));
}

static inline void end_log(void)
{
    WORKS(posixtrace_log_builder_finish(builder));
    close(builder_fd);
}

/* The same with words in the order of this machine. */
static inline void put_words(const char *name, int tid, unsigned first, unsigned second, size_t len)
{
    const uint32_t words[4] = { first, second, 0, 0 };

    put(name, tid, words, len);
}

/* The arguments of the callbacks, a line for each call. */
static char told[20000];

static inline int tell(struct traceparser_state *parser, void *user_data, unsigned header,
                       uint64_t time, unsigned *words, unsigned count)
{
    size_t at = strlen(told), room = sizeof told - at;
    unsigned c = *(unsigned *)traceparser_get_info(parser, _TRACEPARSER_INFO_NOW_CALLBACK_CLASS,
                                                   NULL);
    unsigned e = *(unsigned *)traceparser_get_info(parser, _TRACEPARSER_INFO_NOW_CALLBACK_EVENT,
                                                   NULL);

    bool swapped = *(unsigned *)traceparser_get_info(parser, _TRACEPARSER_INFO_ENDIAN_CONV, NULL);

    if (room < 100)
        return 0;
    at += (size_t)snprintf(told + at, room, "%s%u/%u %08x @%llu:", (const char *)user_data, c, e,
                           header, (unsigned long long)time);
    for (unsigned i = 0; i < count && at < sizeof told; i++)
        at += (size_t)snprintf(told + at, sizeof told - at, " %x",
                               swapped ? __builtin_bswap32(words[i]) : words[i]);
    if (at < sizeof told)
        snprintf(told + at, sizeof told - at, "\n");
    return (int)count;
}

static inline struct traceparser_state *new_parser(void)
{
    struct traceparser_state *p = traceparser_init(NULL);

    ck_assert_ptr_nonnull(p);
    *told = '\0';
    return p;
}

static inline unsigned error_of(struct traceparser_state *p)
{
    return *(unsigned *)traceparser_get_info(p, _TRACEPARSER_INFO_ERROR, NULL);
}

/* All classes. */
static inline void set_all(struct traceparser_state *p, tracep_callb_func_t callback)
{
    for (unsigned c = _NTO_TRACE_CONTROL; c <= _NTO_TRACE_PMU; c++)
        if (c == _NTO_TRACE_INT)
            WORKS(traceparser_cs_range(p, NULL, callback, c, _NTO_TRACE_INTFIRST,
                                       _NTO_TRACE_INTLAST));
        else if (c < _NTO_TRACE_INT || (c > _NTO_TRACE_INTEXIT && c < 15) || c > 16)
            WORKS(traceparser_cs_range(
                p, NULL, callback, c, 0,
                c >= _NTO_TRACE_PROCESS && c <= _NTO_TRACE_VTHREAD ? 0xffffffff : 1023));
}

#endif
