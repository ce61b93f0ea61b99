/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a BTF file, imported, checked, exported and imported again.
 *
 * Whatever the bytes: an import gives a log that opens, with as many events as it says;
 * a check tells clean places; what was exported from the log is BTF without a line that
 * cannot be read, and a second round gives the same file again.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/format.h>
#include "fuzz/target.h"

static unsigned long imported, refused, violations;

struct text {
    char *at;
    size_t size;
};

static int finding(void *context, const struct posixtrace_btf_finding *f)
{
    uint64_t *last = context;

    FUZZ_NEED(f->line >= *last && f->entity && f->state && f->action && f->text && *f->text);
    *last = f->line;
    violations++;
    return 0;
}

static void check(const uint8_t *data, size_t size)
{
    static const char *const versions[] = { NULL, "2.1.5", "2.2.1", "2.3.0" };

    for (unsigned i = 0; i < 4; i++) {
        struct posixtrace_btf_report report;
        int from = fuzz_file(data, size);
        uint64_t last = 0;

        FUZZ_NEED(posixtrace_btf_check(from, versions[i], i & 1, finding, &last, &report,
                                       sizeof report) == 0);
        FUZZ_NEED(last <= report.lines && report.events <= report.lines);
        close(from);
    }
}

/* A log of the text; the number of events that the import says it has added. */
static uint64_t import(const struct text *text, int log, int *error)
{
    struct posixtrace_conversion c = { 0 };
    posixtrace_log_builder_t *builder;
    int from = fuzz_file(text->at, text->size);

    FUZZ_NEED(posixtrace_log_builder_create(log, NULL, &builder) == 0);
    *error = posixtrace_import("btf", from, builder, &c, sizeof c);
    FUZZ_NEED(*error == 0 || c.error[0]);
    FUZZ_NEED(posixtrace_log_builder_finish(builder) == 0);
    close(from);
    return c.events;
}

/* The log as BTF, and how many events were read for that. */
static struct text export(int log, const char *version, uint64_t events)
{
    const char *options[] = { version, NULL };
    struct posixtrace_conversion c = { .options = options };
    struct text text = { NULL, 0 };
    int to = fuzz_file(NULL, 0);
    trace_id_t trid;

    FUZZ_NEED(lseek(log, 0, SEEK_SET) == 0 && posix_trace_open(log, &trid) == 0);
    FUZZ_NEED(posixtrace_export(trid, "btf", to, &c, sizeof c) == 0);
    FUZZ_NEED(c.events == events);
    FUZZ_NEED(posix_trace_close(trid) == 0);
    text.at = fuzz_bytes(to, &text.size);
    return text;
}

static struct text round_trip(const struct text *text, const char *version, int *error)
{
    int log = memfd_create("btf", MFD_CLOEXEC);
    struct text back;

    FUZZ_NEED(log >= 0);
    back = export(log, version, import(text, log, error));
    close(log);
    return back;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text text = { (char *)(uintptr_t)data, size }, first, second;
    int error;

    if (size == 0)
        return 0;
    check(data, size);
    first = round_trip(&text, "version=2.1.5", &error);
    imported += error == 0;
    refused += error != 0;
    second = round_trip(&first, "version=2.1.5", &error);
    FUZZ_NEED(first.size == second.size && memcmp(first.at, second.at, first.size) == 0);
    free(first.at);
    free(second.at);
    return 0;
}

/* Some files must be good, some bad, and something must have been found. */
static void finish(void)
{
    printf("%lu files imported, %lu refused, %lu violations\n", imported, refused, violations);
    FUZZ_NEED(imported > 0 && refused > 0 && violations > 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 100, .finish = finish };
