/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a file of lines, imported as jsonl and as csv.
 *
 * For all bytes: an import gives a log that opens and has the reported number of events; its export
 * imports as the same events, and their export is the same.  As Parquet all of them can be
 * exported, the same bytes twice.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/format.h>
#include "fuzz/target.h"

static unsigned long imported[2], refused[2];

struct text {
    char *at;
    size_t size;
};

/* The log as a table. */
static struct text table(int log, uint64_t events)
{
    struct posixtrace_conversion c = { 0 };
    int to = fuzz_file(NULL, 0);
    struct text file;
    trace_id_t trid;

    FUZZ_NEED(lseek(log, 0, SEEK_SET) == 0 && posix_trace_open(log, &trid) == 0);
    FUZZ_NEED(posixtrace_export(trid, "parquet", to, &c, sizeof c) == 0 && c.events == events);
    FUZZ_NEED(posix_trace_close(trid) == 0);
    file.at = fuzz_bytes(to, &file.size);
    FUZZ_NEED(file.size > 12 && memcmp(file.at, "PAR1", 4) == 0);
    FUZZ_NEED(memcmp(file.at + file.size - 4, "PAR1", 4) == 0);
    return file;
}

static void check_table(int log, uint64_t events)
{
    struct text once = table(log, events), again = table(log, events);

    FUZZ_NEED(once.size == again.size && memcmp(once.at, again.at, once.size) == 0);
    free(once.at);
    free(again.at);
}

/* The log of a text, and the log again as text. */
static struct text round_trip(const char *format, const void *text, size_t size, int *error)
{
    struct posixtrace_conversion c = { 0 }, d = { 0 };
    int from = fuzz_file(text, size), to = fuzz_file(NULL, 0);
    int log = memfd_create("lines", MFD_CLOEXEC);
    posixtrace_log_builder_t *builder;
    struct text back = { NULL, 0 };
    trace_id_t trid;

    FUZZ_NEED(log >= 0 && posixtrace_log_builder_create(log, NULL, &builder) == 0);
    *error = posixtrace_import(format, from, builder, &c, sizeof c);
    FUZZ_NEED(*error == 0 || c.error[0]);
    FUZZ_NEED(posixtrace_log_builder_finish(builder) == 0);
    close(from);
    FUZZ_NEED(lseek(log, 0, SEEK_SET) == 0 && posix_trace_open(log, &trid) == 0);
    FUZZ_NEED(posixtrace_export(trid, format, to, &d, sizeof d) == 0 && d.events == c.events);
    FUZZ_NEED(posix_trace_close(trid) == 0);
    back.at = fuzz_bytes(to, &back.size);
    check_table(log, c.events);
    close(log);
    return back;
}

static void check_file(const char *format, const uint8_t *bytes, size_t size, int number)
{
    struct text once, again;
    int error;

    if (size == 0)
        return;
    once = round_trip(format, bytes, size, &error);
    imported[number] += error == 0;
    refused[number] += error != 0;
    if (once.size > 0) {
        again = round_trip(format, once.at, once.size, &error);
        FUZZ_NEED(error == 0 && again.size == once.size);
        FUZZ_NEED(memcmp(again.at, once.at, once.size) == 0);
        free(again.at);
    }
    free(once.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check_file("jsonl", bytes, size, 0);
    check_file("csv", bytes, size, 1);
    return 0;
}

/* Some files must be good and some bad, else nothing was tried. */
static void finish(void)
{
    printf("imported as jsonl %lu, as csv %lu; refused %lu and %lu\n", imported[0], imported[1],
           refused[0], refused[1]);
    FUZZ_NEED(imported[0] > 0 && imported[1] > 0 && refused[0] > 0 && refused[1] > 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 20, .finish = finish };
