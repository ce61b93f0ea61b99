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
#include <unistd.h>
#include "fuzz/foreign.h"
#include "fuzz/target.h"

static const char *const option_sets[][4] = { { NULL },
                                              { "release=8", "state=1=RUNNING", "state=5=RECEIVE",
                                                NULL },
                                              { "rate=300000000", NULL } };

static const char *const heads[] = {
    "TRACE_HEADER_BEGIN::TRACE_LITTLE_ENDIAN::TRUETRACE_HEADER_END::",
    "TRACE_HEADER_BEGIN::TRACE_BIG_ENDIAN::TRUETRACE_HEADER_END::",
    ("TRACE_HEADER_BEGIN::TRACE_POSIXTRACE::nativeTRACE_CYCLES_PER_SEC::1000000000"
     "TRACE_HEADER_END::"),
    "TRACE_HEADER_BEGIN::TRACE_POSIXTRACE::qnxTRACE_HEADER_END::"
};

/* Counts the events that are not of the header; export writes the header itself. */
static uint64_t look(int log, uint64_t events)
{
    uint64_t of_header;

    FUZZ_NEED(fuzz_walk(log, "qnx:HEADER", &of_header) == events);
    return events - of_header;
}

static uint64_t send_back(int log, const char *format, const char *const *options)
{
    uint64_t events;
    char *bytes = NULL;
    size_t size = 0;
    int error, again;

    FUZZ_NEED(fuzz_export(log, format, options, &bytes, &size) == 0);
    again = fuzz_import(format, options, bytes, size, &events, &error);
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
    log = fuzz_import(format, options, all, head_size + body, &events, &error);
    others = look(log, events);
    if (options == option_sets[2])
        options = NULL; /* what goes out has a rate of its own */
    if (error != ENOSPC) {
        kev = send_back(log, "kev", options);
        text = send_back(log, "traceprinter", options);
        /* A trace that claims to be of our export may say anything. */
        FUZZ_NEED(memmem(all, head_size + body, "POSIXTRACE", 10) ||
                  (kev == others && text == others));
    }
    close(log);
    free(all);
    fuzz_count(error, events);
    return 0;
}

const struct fuzz_replay fuzz_replay = { .rounds = 60, .finish = fuzz_counted };
