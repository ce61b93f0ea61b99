/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target of the jsonl parser, and its replay as a test.
 *
 * Whatever the line, the parser reads nothing outside of it (each input lies in
 * a block of exactly its size, for sanitizers and valgrind) and either refuses
 * it with a place in the line and clean text, or gives an event that, written
 * as print writes it, parses to the same event and is written the same again.
 *
 * With an engine: clang -fsanitize=fuzzer,address -DPOSIXTRACE_FUZZ_ENGINE
 * -Iinclude -Itools this file, tools/jsonl.c, tools/chars.c, and the corpus.
 * Without: every file of the folders given, each of its prefixes, and each of
 * its bytes replaced by those that matter to the grammar.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chars.h"
#include "jsonl.h"

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "fuzz_jsonl: line %d: %s\n", __LINE__, #condition);     \
            abort();                                                                \
        }                                                                           \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct jsonl_event first, second;
static unsigned long accepted, refused;

/* What print --format=jsonl writes; the room is enough for every event. */
static size_t write_line(char *line, size_t room, const struct posixtrace_event *e)
{
    static char name[(TRACE_EVENT_NAME_MAX + 1) * CHARS_MAX_ESCAPE];
    static char thread[(JSONL_THREAD_MAX + 1) * CHARS_MAX_ESCAPE];
    const uint8_t *data = e->data;
    size_t used;

    *chars_show(name, e->name, CHARS_JSON) = '\0';
    *chars_show(thread, e->thread_name, CHARS_JSON) = '\0';
    used = (size_t)snprintf(line, room,
                            "{\"ts\":%lld,\"pid\":%d,\"tid\":%d,\"thread_id\":\"0x%llx\","
                            "\"thread\":\"%s\",\"event\":\"%s\",\"addr\":\"0x%llx\",\"trunc\":%d,"
                            "\"data\":\"", (long long)e->ns, (int)e->pid, (int)e->tid,
                            (unsigned long long)e->thread_id, thread, name,
                            (unsigned long long)e->prog_address, e->truncation);
    for (size_t i = 0; i < e->data_len; i++)
        used += (size_t)snprintf(line + used, room - used, "%02x", data[i]);
    used += (size_t)snprintf(line + used, room - used, "\"}");
    CHECK(used < room);
    return used;
}

static void check_error(const struct jsonl_error *error, size_t size)
{
    CHECK(error->column >= 1 && error->column <= size + 1);
    CHECK(error->expected && error->expected[0]);
    CHECK(memchr(error->found, '\0', sizeof error->found));
    for (const char *at = error->found; *at; at++)
        CHECK((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f);
}

static void check_event(const struct posixtrace_event *e)
{
    static char line[JSONL_LINE_MAX], again[JSONL_LINE_MAX];
    const struct posixtrace_event *f = &second.event;
    struct jsonl_error error;
    size_t length = write_line(line, sizeof line, e);

    CHECK(jsonl_parse(line, length, &second, &error));
    CHECK(e->ns == f->ns && e->pid == f->pid && e->tid == f->tid);
    CHECK(e->thread_id == f->thread_id && e->prog_address == f->prog_address);
    CHECK(e->truncation == f->truncation && e->data_len == f->data_len);
    CHECK(memcmp(e->data, f->data, e->data_len) == 0);
    CHECK(strcmp(e->name, f->name) == 0 && strcmp(e->thread_name, f->thread_name) == 0);
    CHECK(write_line(again, sizeof again, f) == length && memcmp(line, again, length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct jsonl_error error;
    char *line = malloc(size ? size : 1);

    CHECK(line);
    if (size)
        memcpy(line, bytes, size);
    if (jsonl_parse(line, size, &first, &error)) {
        check_event(&first.event);
        accepted++;
    } else {
        check_error(&error, size);
        refused++;
    }
    free(line);
    return 0;
}

#ifndef POSIXTRACE_FUZZ_ENGINE

static void replay(uint8_t *bytes, size_t size)
{
    static const uint8_t others[] = "\"\\{}[]:,-+.019afuxdn \t\r\x80\xc3\xed\xff\x7f\x01";

    LLVMFuzzerTestOneInput(bytes, size);
    for (size_t i = 0; i < size; i++) {
        uint8_t was = bytes[i];

        LLVMFuzzerTestOneInput(bytes, i);
        for (size_t k = 0; k < sizeof others; k++) {
            bytes[i] = others[k];
            LLVMFuzzerTestOneInput(bytes, size);
        }
        bytes[i] = was;
    }
}

static int replay_file(const char *folder, const char *name)
{
    static uint8_t bytes[4096];
    char path[4096];
    size_t size;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 0;
    }
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    /* an editor's newline is not part of the line */
    if (size > 0 && bytes[size - 1] == '\n')
        size--;
    replay(bytes, size);
    return 1;
}

int main(int argc, char **argv)
{
    int files = 0;

    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        struct dirent *entry;

        if (!folder) {
            perror(argv[i]);
            return 1;
        }
        while ((entry = readdir(folder))) {
            if (entry->d_name[0] != '.')
                files += replay_file(argv[i], entry->d_name);
        }
        closedir(folder);
    }
    printf("%d files, %lu lines accepted, %lu refused\n", files, accepted, refused);
    return files > 0 && accepted > 0 && refused > 0 ? 0 : 1;
}

#endif
