/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: RKH's frames and Trazer's text.  The first byte says which, and with what
 * options.  Whatever the rest is, a log comes out that holds as many events as import
 * says, in order of time; it goes out as frames, text and a picture, and the frames come
 * in again as just as many events, but for damage, which is not sent again.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#include "fuzz/target.h"

static unsigned long accepted, refused, imported;

static const char *const option_sets[][3] = {
    { NULL }, { "ids=flat", NULL }, { "target=checksum=0,sender=1", "rate=1000", NULL },
    { "target=id=2,timestamp=0,pointer=8", NULL }
};

static struct posixtrace_conversion conversion_of(unsigned choice)
{
    return (struct posixtrace_conversion){
        .options = choice < 4 ? option_sets[choice] : NULL, .name = "input"
    };
}

/* A log of what the bytes are; *events gets how many import says. */
static int import(const char *format, unsigned choice, const uint8_t *bytes, size_t size,
                  uint64_t *events, int *error)
{
    struct posixtrace_conversion c = conversion_of(choice);
    posixtrace_log_builder_t *builder;
    int log = memfd_create("log", MFD_CLOEXEC);
    FILE *from = size ? fmemopen((void *)bytes, size, "r") : tmpfile();

    FUZZ_NEED(log >= 0 && from && posixtrace_log_builder_open(log, NULL, &builder) == 0);
    *error = posixtrace_import(format, from, builder, &c);
    fclose(from);
    FUZZ_NEED(posixtrace_log_builder_finish(builder) == 0);
    FUZZ_NEED(!*error == !c.error[0] && memchr(c.error, '\0', sizeof c.error));
    FUZZ_NEED(*error == 0 || *error == EILSEQ || *error == ENOSPC);
    *events = c.events;
    return log;
}

/* Reads all of it; what it returns is to be exported. */
static uint64_t count(int log, uint64_t *damaged)
{
    struct posixtrace_event e;
    int unavailable = 0;
    int64_t last = INT64_MIN;
    uint64_t n = 0;
    trace_id_t trid;

    FUZZ_NEED(lseek(log, 0, SEEK_SET) == 0 && posix_trace_open(log, &trid) == 0);
    for (; posixtrace_next_event(trid, &e, &unavailable) == 0 && !unavailable; n++) {
        FUZZ_NEED(e.ns >= last);
        last = e.ns;
        *damaged += strcmp(e.name, "rkh:DAMAGED") == 0;
    }
    FUZZ_NEED(posix_trace_close(trid) == 0);
    return n;
}

static uint64_t export(int log, const char *format, char **text, size_t *size)
{
    struct posixtrace_conversion c = { .name = "output" };
    FILE *to = open_memstream(text, size);
    trace_id_t trid;

    FUZZ_NEED(to && lseek(log, 0, SEEK_SET) == 0 && posix_trace_open(log, &trid) == 0);
    FUZZ_NEED(posixtrace_export(trid, format, to, &c) == 0);
    FUZZ_NEED(fclose(to) == 0 && posix_trace_close(trid) == 0);
    return c.left_out;
}

static void use(int log, uint64_t events)
{
    uint64_t damaged = 0, again, left;
    char *text = NULL;
    size_t size = 0;
    int error, second;

    FUZZ_NEED(count(log, &damaged) == events);
    left = export(log, "rkh", &text, &size);
    FUZZ_NEED(left <= events);
    second = import("rkh", 0, (uint8_t *)text, size, &again, &error);
    FUZZ_NEED(error == 0);
    close(second);
    free(text);
    export(log, "trazer", &text, &size);
    free(text);
    export(log, "kiwi", &text, &size);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned choice = size ? bytes[0] % 5 : 0;
    uint64_t events;
    int error, log;

    log = import(choice == 4 ? "trazer" : "rkh", choice, bytes + !!size, size - !!size, &events,
                 &error);
    use(log, events);
    close(log);
    accepted += error == 0;
    refused += error != 0;
    imported += events;
    return 0;
}

static void finish(void)
{
    printf("%lu streams accepted, %lu refused, %lu events\n", accepted, refused, imported);
    FUZZ_NEED(accepted > 0 && refused > 0 && imported > 0);
}

const struct fuzz_replay fuzz_replay = {
    .rounds = 100,
    .finish = finish
};
