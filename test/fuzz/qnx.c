/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: QNX traces, kev files and traceprinter's text.  The first byte says which,
 * and with what options; records get a header when they have none.  Whatever the rest is,
 * a log comes out that holds as many events as import says, in order of time; it goes out
 * in both formats, and comes in again: as just as many events, where the trace does not
 * claim to be of our export.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#include "fuzz/target.h"

static unsigned long accepted, refused, imported;
static char said[240];             /* by the last import */

static const char *const option_sets[][4] = {
    { NULL }, { "release=8", "state=1=RUNNING", "state=5=RECEIVE", NULL },
    { "rate=300000000", NULL }
};

static const char *const heads[] = {
    "TRACE_HEADER_BEGIN::TRACE_LITTLE_ENDIAN::TRUETRACE_HEADER_END::",
    "TRACE_HEADER_BEGIN::TRACE_BIG_ENDIAN::TRUETRACE_HEADER_END::",
    ("TRACE_HEADER_BEGIN::TRACE_POSIXTRACE::nativeTRACE_CYCLES_PER_SEC::1000000000"
     "TRACE_HEADER_END::"),
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
    memcpy(said, c.error, sizeof said);
    *events = c.events;
    return log;
}

static trace_id_t open_log(int log)
{
    trace_id_t trid;

    FUZZ_NEED(lseek(log, 0, SEEK_SET) == 0 && posix_trace_open(log, &trid) == 0);
    return trid;
}

/* How many are not of the header, of which export has a part of its own. */
static uint64_t look(int log, uint64_t events)
{
    trace_id_t trid = open_log(log);
    struct posixtrace_event e;
    int64_t last = INT64_MIN;
    uint64_t others = 0;
    int unavailable = 0;

    for (; posixtrace_next_event(trid, &e, &unavailable) == 0 && !unavailable; events--) {
        FUZZ_NEED(e.ns >= last && events > 0);
        last = e.ns;
        others += strcmp(e.name, "qnx:HEADER") != 0;
    }
    FUZZ_NEED(events == 0 && posix_trace_close(trid) == 0);
    return others;
}

static uint64_t send_back(int log, const char *format, const char *const *options)
{
    struct posixtrace_conversion c = { .options = options };
    trace_id_t trid = open_log(log);
    char *bytes = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&bytes, &size);
    uint64_t events;
    int error, again;

    FUZZ_NEED(to && posixtrace_export(trid, format, to, &c) == 0 && c.left_out == 0);
    FUZZ_NEED(fclose(to) == 0 && posix_trace_close(trid) == 0);
    again = import(format, options, bytes, size, &events, &error);
    if (error)
        fprintf(stderr, "%s: %s\n", format, said);
    FUZZ_NEED(error == 0);
    events = look(again, events);
    close(again);
    free(bytes);
    return events;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned choice = size ? bytes[0] : 0;
    const char *format = choice % 8 == 7 ? "traceprinter" : "kev";
    const char *const *options = option_sets[choice / 8 % 3];
    const char *head = choice % 8 < 4 ? heads[choice % 4] : "";
    size_t head_size = strlen(head), body = size - !!size;
    char *all = malloc(head_size + body + 1);
    uint64_t events, kev, text, others;
    int error, log;

    FUZZ_NEED(all);
    memcpy(all, head, head_size);
    memcpy(all + head_size, bytes + !!size, body);
    log = import(format, options, all, head_size + body, &events, &error);
    others = look(log, events);
    if (options == option_sets[2])
        options = NULL;            /* what goes out has a rate of its own */
    if (error != ENOSPC) {
        kev = send_back(log, "kev", options);
        text = send_back(log, "traceprinter", options);
        /* A trace that claims to be of our export may say anything. */
        FUZZ_NEED(memmem(all, head_size + body, "POSIXTRACE", 10) ||
                  (kev == others && text == others));
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
