/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: S.Ha.R.K. chunks and packets.  Whatever the bytes are, import ends, with a
 * reason where it failed; the log holds as many events as it says, in order; what is
 * exported of it comes in again as the same number of events.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#include "fuzz/target.h"

static unsigned long accepted, refused, imported;

/* The log, and how many events it got. */
static int import(const void *bytes, size_t size, uint64_t *events, int *error)
{
    struct posixtrace_conversion c = { .name = "input" };
    posixtrace_log_builder_t *builder;
    int log = memfd_create("log", MFD_CLOEXEC);
    FILE *from = size ? fmemopen((void *)(uintptr_t)bytes, size, "r") : tmpfile();

    FUZZ_NEED(log >= 0 && from && posixtrace_log_builder_open(log, NULL, &builder) == 0);
    *error = posixtrace_import("shark", from, builder, &c);
    fclose(from);
    FUZZ_NEED(posixtrace_log_builder_finish(builder) == 0);
    FUZZ_NEED(!*error == !c.error[0]);
    FUZZ_NEED(*error == 0 || *error == EILSEQ);
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

static void send_back(int log, const char *packets, uint64_t events)
{
    const char *const options[] = { packets, NULL };
    struct posixtrace_conversion c = { .options = options };
    trace_id_t trid = open_log(log);
    char *bytes = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&bytes, &size);
    uint64_t again;
    int error;

    FUZZ_NEED(to && posixtrace_export(trid, "shark", to, &c) == 0);
    FUZZ_NEED(fclose(to) == 0 && posix_trace_close(trid) == 0);
    close(import(bytes, size, &again, &error));
    FUZZ_NEED(error == 0 && again == events && c.left_out == 0);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint64_t events;
    int error, log = import(bytes, size, &events, &error);

    look(log, events);
    send_back(log, "packets=no", events);
    send_back(log, "packets=yes", events);
    close(log);
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

const struct fuzz_replay fuzz_replay = { .rounds = 100, .finish = finish };
