/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: QNX traces, kev files and traceprinter's text.  The first byte says which,
 * and with what options; records get a header when they have none.  Whatever the rest is,
 * a log comes out that holds as many events as import says, in order of time; it goes out
 * in both formats, and each comes in again as just as many events.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#include "fuzz/target.h"

static unsigned long accepted, refused, imported;

static const char *const option_sets[][4] = {
    { NULL }, { "release=8", "state=1=RUNNING", "state=5=RECEIVE", NULL },
    { "rate=3", "start=1700000000000000000", NULL }
};

static const char *const heads[] = {
    "TRACE_HEADER_BEGIN::TRACE_LITTLE_ENDIAN::TRUETRACE_HEADER_END::",
    "TRACE_HEADER_BEGIN::TRACE_BIG_ENDIAN::TRUETRACE_HEADER_END::",
    "TRACE_HEADER_BEGIN::TRACE_POSIXTRACE::nativeTRACE_CYCLES_PER_SEC::1000000000"
    "TRACE_HEADER_END::",
    "TRACE_HEADER_BEGIN::TRACE_POSIXTRACE::qnxTRACE_HEADER_END::"
};

/* The log; *error is what import says of it. */
static int import(const char *format, const char *const *options, const void *bytes, size_t size,
                  uint64_t *events, int *error)
{
    struct posixtrace_conversion c = { .options = options, .name = "input" };
    posixtrace_log_builder_t *builder;
    int log = memfd_create("log", MFD_CLOEXEC);
    FILE *from = size ? fmemopen((void *)(uintptr_t)bytes, size, "r") : tmpfile();

    FUZZ_NEED(log >= 0 && from && posixtrace_log_builder_open(log, NULL, &builder) == 0);
    *error = posixtrace_import(format, from, builder, &c);
    fclose(from);
    FUZZ_NEED(posixtrace_log_builder_finish(builder) == 0);
    FUZZ_NEED(!*error == !c.error[0] && memchr(c.error, '\0', sizeof c.error));
    /* Types of our own form have any names, as many as they like. */
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

static void look(int log, uint64_t events)
{
    trace_id_t trid = open_log(log);
    struct posixtrace_event e;
    int64_t last = INT64_MIN;
    int unavailable = 0;

    for (; posixtrace_next_event(trid, &e, &unavailable) == 0 && !unavailable; events--) {
        FUZZ_NEED(e.ns >= last && events > 0);
        last = e.ns;
    }
    FUZZ_NEED(events == 0 && posix_trace_close(trid) == 0);
}

/* The second time what comes out is what went in: the first may name what had no name. */
static int send_back(int log, const char *format, const char *const *options, uint64_t *events)
{
    struct posixtrace_conversion c = { .options = options };
    trace_id_t trid = open_log(log);
    char *bytes = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&bytes, &size);
    int error, again;

    FUZZ_NEED(to && posixtrace_export(trid, format, to, &c) == 0 && c.left_out == 0);
    FUZZ_NEED(fclose(to) == 0 && posix_trace_close(trid) == 0);
    again = import(format, NULL, bytes, size, events, &error);
    FUZZ_NEED(error == 0);
    look(again, *events);
    free(bytes);
    return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned choice = size ? bytes[0] : 0;
    const char *format = choice % 8 == 7 ? "traceprinter" : "kev";
    const char *const *options = option_sets[choice / 8 % 3];
    const char *head = choice % 8 < 4 ? heads[choice % 4] : "";
    size_t head_size = strlen(head), body = size - !!size;
    char *all = malloc(head_size + body + 1);
    uint64_t events, once;
    int error, log;

    FUZZ_NEED(all);
    memcpy(all, head, head_size);
    memcpy(all + head_size, bytes + !!size, body);
    log = import(format, options, all, head_size + body, &events, &error);
    look(log, events);
    if (error != ENOSPC) {
        close(send_back(log, "kev", options, &once));
        close(send_back(log, "traceprinter", options, &once));
    }
    close(log);
    free(all);
    accepted += error == 0;
    refused += error != 0;
    imported += events;
    return 0;
}

static void finish(void)
{
    printf("%lu traces accepted, %lu refused, %lu events\n", accepted, refused, imported);
    FUZZ_NEED(accepted > 0 && refused > 0 && imported > 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 60, .finish = finish };
