/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a CTF trace of one stream, as posixtrace import reads it: the metadata, a
 * NUL, and the bytes of the stream.
 *
 * Whatever they are, the import ends: it succeeds, or is refused with a reason.  What was
 * imported before is a log that opens, with as many events as were said, none older than
 * the one before it, and each description in it is one.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#include "fuzz/target.h"

static unsigned long accepted, refused, events;

static void put_file(const char *folder, const char *name, const uint8_t *bytes, size_t size)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    FUZZ_NEED(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0);
}

static void remove_folder(const char *folder)
{
    char path[128];

    snprintf(path, sizeof path, "%s/metadata", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/stream", folder);
    unlink(path);
    rmdir(folder);
}

static void check_description(trace_id_t trid, trace_event_id_t type)
{
    static char text[POSIXTRACE_DESCRIPTION_MAX + 1];
    posixtrace_layout_t *layout;

    if (posixtrace_event_description(trid, type, text, sizeof text) != 0)
        return;
    FUZZ_NEED(posixtrace_layout_parse(text, &layout, NULL) == 0);
    posixtrace_layout_free(layout);
}

static void check_log(int fd, uint64_t count)
{
    struct posixtrace_event e;
    int64_t last = INT64_MIN;
    trace_id_t trid;
    int none = 0;

    FUZZ_NEED(lseek(fd, 0, SEEK_SET) == 0 && posix_trace_open(fd, &trid) == 0);
    for (; posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none; count--) {
        FUZZ_NEED(count > 0 && e.ns >= last && *e.name);
        last = e.ns;
        check_description(trid, e.id);
        events++;
    }
    FUZZ_NEED(none && count == 0);
    FUZZ_NEED(posix_trace_close(trid) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = size ? memchr(bytes, 0, size) : NULL;
    size_t text = end ? (size_t)(end - bytes) : size;
    struct posixtrace_conversion c = { .name = "fuzz" };
    const char *base = getenv("POSIXTRACE_DIR");
    char folder[100];
    posixtrace_log_builder_t *builder;
    FILE *log = tmpfile();
    int error;

    snprintf(folder, sizeof folder, "%s/fuzz.XXXXXX", base ? base : "/tmp");
    FUZZ_NEED(log && mkdtemp(folder));
    put_file(folder, "metadata", bytes, text);
    put_file(folder, "stream", end ? end + 1 : bytes, end ? size - text - 1 : 0);
    FUZZ_NEED(posixtrace_log_builder_create(fileno(log), NULL, &builder) == 0);
    error = posixtrace_import_directory("ctf", folder, builder, &c, sizeof c);
    FUZZ_NEED(posixtrace_log_builder_finish(builder) == 0);
    FUZZ_NEED(error == 0 || (error == EILSEQ && c.error[0]));
    check_log(fileno(log), c.events);
    accepted += error == 0;
    refused += error != 0;
    remove_folder(folder);
    fclose(log);
    return 0;
}

/* Some traces must be good and some bad, else nothing was tried. */
static void finish(void)
{
    printf("%lu traces accepted with %lu events, %lu refused\n", accepted, events, refused);
    FUZZ_NEED(accepted > 0 && events > 0 && refused > 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 8, .finish = finish };
