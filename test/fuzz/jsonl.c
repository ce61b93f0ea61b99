/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: one line of jsonl, as posixtrace import reads it.
 *
 * Whatever the line, the parser reads nothing outside of it (each input lies in
 * a block of exactly its size, for sanitizers and valgrind) and either refuses
 * it with a place in the line and clean text, or gives an event that, written
 * as print writes it, parses to the same event and is written the same again.
 */
#include <string.h>

#include "text/escape.h"
#include "analysis/format/csv_json/lines.h"
#include "analysis/format/csv_json/rows_read.h"
#include "fuzz/target.h"

static struct pt_row first, second;
static unsigned long accepted, refused;

/* What print --format=jsonl writes; the room is enough for every event. */
static size_t write_line(char *line, size_t room, const struct posixtrace_event *e)
{
    static char name[(TRACE_EVENT_NAME_MAX + 1) * PT_ESCAPE_MAX];
    static char thread[(PT_ROW_THREAD_MAX + 1) * PT_ESCAPE_MAX];
    const uint8_t *data = e->data;
    size_t used;

    *pt_escape_string(name, e->name, PT_ESCAPE_JSON, false) = '\0';
    *pt_escape_string(thread, e->thread_name, PT_ESCAPE_JSON, false) = '\0';
    used = (size_t)snprintf(line, room,
                            "{\"ts\":%lld,\"pid\":%d,\"tid\":%d,\"thread_id\":\"0x%llx\","
                            "\"thread\":\"%s\",\"event\":\"%s\",\"addr\":\"0x%llx\",\"trunc\":%d,"
                            "\"data\":\"",
                            (long long)e->ns, (int)e->pid, (int)e->tid,
                            (unsigned long long)e->thread_id, thread, name,
                            (unsigned long long)e->prog_address, e->truncation);
    for (size_t i = 0; i < e->data_len; i++)
        used += (size_t)snprintf(line + used, room - used, "%02x", data[i]);
    used += (size_t)snprintf(line + used, room - used, "\"}");
    FUZZ_NEED(used < room);
    return used;
}

static void check_error(const struct pt_scan_error *error, size_t size)
{
    FUZZ_NEED(error->column >= 1 && error->column <= size + 1);
    FUZZ_NEED(error->expected && error->expected[0]);
    FUZZ_NEED(memchr(error->found, '\0', sizeof error->found));
    for (const char *at = error->found; *at; at++)
        FUZZ_NEED((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f);
}

static void check_event(const struct posixtrace_event *e)
{
    static char line[PT_LINE_MAX], again[PT_LINE_MAX];
    const struct posixtrace_event *f = &second.event;
    struct pt_scan_error error;
    size_t length = write_line(line, sizeof line, e);

    FUZZ_NEED(pt_row_jsonl.parse(line, length, &second, &error));
    FUZZ_NEED(e->ns == f->ns && e->pid == f->pid && e->tid == f->tid);
    FUZZ_NEED(e->thread_id == f->thread_id && e->prog_address == f->prog_address);
    FUZZ_NEED(e->truncation == f->truncation && e->data_len == f->data_len);
    FUZZ_NEED(memcmp(e->data, f->data, e->data_len) == 0);
    FUZZ_NEED(strcmp(e->name, f->name) == 0 && strcmp(e->thread_name, f->thread_name) == 0);
    FUZZ_NEED(write_line(again, sizeof again, f) == length && memcmp(line, again, length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pt_scan_error error;
    char *line;

    /* an editor's newline is not part of the line */
    if (size > 0 && bytes[size - 1] == '\n')
        size--;
    line = malloc(size ? size : 1);
    FUZZ_NEED(line);
    if (size)
        memcpy(line, bytes, size);
    if (pt_row_jsonl.parse(line, size, &first, &error)) {
        check_event(&first.event);
        accepted++;
    } else {
        check_error(&error, size);
        refused++;
    }
    free(line);
    return 0;
}

/* Some lines must be good and some bad, else nothing was tried. */
static void finish(void)
{
    printf("%lu lines accepted, %lu refused\n", accepted, refused);
    FUZZ_NEED(accepted > 0 && refused > 0);
}

const struct fuzz_replay fuzz_replay = {
    .rounds = 20,
    .replacements = "\"\\{}[]:,-+.019afuxdn \t\r\x80\xc3\xed\xff\x7f\x01",
    .finish = finish
};
