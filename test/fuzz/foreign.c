/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See foreign.h. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#include "fuzz/foreign.h"
#include "fuzz/target.h"

int fuzz_import(const char *format, const char *const *options, const void *bytes, size_t size,
                uint64_t *events, int *error)
{
    struct posixtrace_conversion c = { .options = options, .name = "input" };
    posixtrace_log_builder_t *builder;
    int log = memfd_create("log", MFD_CLOEXEC);
    int from = fuzz_file(bytes, size);

    FUZZ_NEED(log >= 0 && posixtrace_log_builder_create(log, NULL, &builder) == 0);
    *error = posixtrace_import(format, from, builder, &c, sizeof c);
    close(from);
    FUZZ_NEED(posixtrace_log_builder_finish(builder) == 0);
    FUZZ_NEED(!*error == !c.error[0] && memchr(c.error, '\0', sizeof c.error));
    FUZZ_NEED(*error == 0 || *error == EILSEQ || *error == ENOSPC);
    *events = c.events;
    return log;
}

static trace_id_t open_log(int log)
{
    trace_id_t trid;

    FUZZ_NEED(lseek(log, 0, SEEK_SET) == 0 && posix_trace_open(log, &trid) == 0);
    return trid;
}

uint64_t fuzz_walk(int log, const char *name, uint64_t *named)
{
    trace_id_t trid = open_log(log);
    struct posixtrace_event e;
    int64_t last = INT64_MIN;
    int unavailable = 0;
    uint64_t n = 0;

    *named = 0;
    for (; posixtrace_next_event(trid, &e, sizeof e, &unavailable) == 0 && !unavailable; n++) {
        FUZZ_NEED(e.ns >= last);
        last = e.ns;
        *named += strcmp(e.name, name) == 0;
    }
    FUZZ_NEED(unavailable && posix_trace_close(trid) == 0);
    return n;
}

uint64_t fuzz_export(int log, const char *format, const char *const *options, char **text,
                     size_t *size)
{
    struct posixtrace_conversion c = { .options = options, .name = "output" };
    trace_id_t trid = open_log(log);
    int to = fuzz_file(NULL, 0);

    FUZZ_NEED(posixtrace_export(trid, format, to, &c, sizeof c) == 0);
    FUZZ_NEED(posix_trace_close(trid) == 0);
    *text = fuzz_bytes(to, size);
    return c.left_out;
}

static unsigned long accepted, refused, imported;

void fuzz_count(int error, uint64_t events)
{
    accepted += error == 0;
    refused += error != 0;
    imported += events;
}

void fuzz_counted(void)
{
    printf("%lu traces accepted, %lu refused, %lu events\n", accepted, refused, imported);
    FUZZ_NEED(accepted > 0 && refused > 0 && imported > 0);
}
