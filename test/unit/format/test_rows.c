/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Lines of jsonl and csv, and conversions over the table of formats: their options, refusals and
 * messages.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#include <posixtrace/log.h>
#include "support/run_suite.h"

enum { EVENTS = 20000 };

#define ORDER_TEXT "u32 order; f64 price; str symbol"

static const char order_data[] = "\5\0\0\0\0\0\0\0\0\0\xf8\x3f"
                                 "A\"C";

static void add_event(posixtrace_log_builder_t *b, int64_t ns, const char *name, const void *data,
                      size_t len)
{
    struct posixtrace_event e = { .ns = ns,
                                  .name = name,
                                  .thread_name = "main",
                                  .data = data,
                                  .data_len = len,
                                  .pid = 7,
                                  .tid = 8,
                                  .thread_id = 0x9,
                                  .prog_address = 0xa };

    ck_assert_int_eq(posixtrace_log_builder_add(b, &e, sizeof e), 0);
}

/* A log of a described type, one whose data is not as described, and one without. */
static trace_id_t make_log(unsigned more)
{
    FILE *f = tmpfile();
    posixtrace_log_builder_t *b;
    trace_id_t trid;

    ck_assert(f && posixtrace_log_builder_create(fileno(f), NULL, &b) == 0);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "order", ORDER_TEXT), 0);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "short", "u32 a"), 0);
    add_event(b, 1, "order", order_data, sizeof order_data);
    add_event(b, 2, "order", order_data, sizeof order_data);
    add_event(b, 3, "short", "\1", 1);
    add_event(b, 4, "plain \"\xff\xc3\xa4", "\1", 1);
    for (unsigned i = 0; i < more; i++)
        add_event(b, 5 + i, "plain", "", 0);
    ck_assert_int_eq(posixtrace_log_builder_finish(b), 0);
    ck_assert_int_eq(lseek(fileno(f), 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fileno(f), &trid), 0);
    fclose(f);
    return trid;
}

#define JSON(ns, event, data)                                                                   \
    "{\"ts\":" ns ",\"pid\":7,\"tid\":8,\"thread_id\":\"0x9\","                                 \
    "\"thread\":\"main\",\"event\":\"" event "\",\"addr\":\"0xa\",\"trunc\":0,\"data\":\"" data \
    "\""
#define ORDER                "05000000000000000000f83f41224300"
#define FIELDS               ",\"fields\":{\"order\":5,\"price\":1.5,\"symbol\":\"A\\\"C\"}"
#define CSV(ns, event, data) ns ",7,8,0x9,\"main\",\"" event "\",0xa,0," data ","
#define CELL                 "\"order=5 price=1.5 symbol=\"\"A\\\"\"C\"\"\"\r\n"

static const struct {
    const char *format;
    bool ascii;
    const char *head, *lines[4];
} wanted[] = {
    { "jsonl",
      false,
      "",
      { JSON("1", "order", ORDER) FIELDS ",\"description\":\"u32 order; f64 price; str symbol\"}\n",
        JSON("2", "order", ORDER) FIELDS "}\n",
        JSON("3", "short", "01") ",\"fields\":null,\"description\":\"u32 a\"}\n",
        JSON("4", "plain \\\"\\udcff\xc3\xa4", "01") "}\n" } },
    { "csv",
      true,
      "ts,pid,tid,thread_id,thread,event,addr,trunc,data,fields\r\n",
      { CSV("1", "order", ORDER) CELL, CSV("2", "order", ORDER) CELL,
        CSV("3", "short", "01") "?\r\n", CSV("4", "plain \"\"\\udcff\\u00e4", "01") "\r\n" } },
};

START_TEST(lines)
{
    trace_id_t trid = make_log(0);
    posixtrace_rows_t *rows;
    struct posixtrace_event e;
    const char *line;
    size_t length;
    int none = 0;

    ck_assert_int_eq(posixtrace_rows_create(trid, wanted[_i].format, wanted[_i].ascii, &rows), 0);
    ck_assert_str_eq(posixtrace_rows_head(rows), wanted[_i].head);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert(posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none);
        line = posixtrace_rows_line(rows, &e, &length);
        ck_assert_str_eq(line, wanted[_i].lines[i]);
        ck_assert_uint_eq(length, strlen(line));
    }
    posixtrace_rows_free(rows);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(arguments)
{
    trace_id_t trid = make_log(0);
    struct posixtrace_conversion c = { 0 };
    static const char *const options[] = { "deep=1", NULL };
    posixtrace_fields_t *fields;
    posixtrace_rows_t *rows;

    ck_assert_int_eq(posixtrace_rows_create(trid, NULL, false, &rows), EINVAL);
    ck_assert_int_eq(posixtrace_rows_create(trid, "ctf", false, &rows), EINVAL);
    ck_assert_int_eq(posixtrace_rows_create(trid, "csv", false, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_fields_create(trid, NULL), EINVAL);
    posixtrace_rows_free(NULL);
    posixtrace_fields_free(NULL);
    ck_assert_int_eq(posixtrace_fields_create(trid, &fields), 0);
    ck_assert_ptr_null(posixtrace_fields_layout(fields, 1 << 20));
    ck_assert_ptr_null(posixtrace_fields_layout(fields, POSIX_TRACE_START));
    posixtrace_fields_free(fields);
    ck_assert_int_eq(posixtrace_export(trid, NULL, STDOUT_FILENO, &c, sizeof c), EINVAL);
    ck_assert_int_eq(posixtrace_export(trid, "csv", -1, &c, sizeof c), EBADF);
    ck_assert_int_eq(
        posixtrace_export(trid, "csv", STDOUT_FILENO, NULL, sizeof(struct posixtrace_conversion)),
        EINVAL);
    ck_assert_int_eq(posixtrace_export(trid, "none", STDOUT_FILENO, &c, sizeof c), EINVAL);
    ck_assert_str_eq(c.error, "there is no format 'none'");
    ck_assert_int_eq(posixtrace_export_directory(trid, "csv", "/tmp", &c, sizeof c), EINVAL);
    ck_assert_str_eq(c.error, "a trace in format csv is a file, not a directory");
    ck_assert_int_eq(
        posixtrace_import("kiwi", STDIN_FILENO, (posixtrace_log_builder_t *)&c, &c, sizeof c),
        ENOTSUP);
    ck_assert_str_eq(c.error, "format kiwi cannot be imported");
    c.options = options;
    ck_assert_int_eq(posixtrace_export(trid, "csv", STDOUT_FILENO, &c, sizeof c), EINVAL);
    ck_assert_str_eq(c.error, "format csv has no option 'deep=1'");
    ck_assert_ptr_null(posixtrace_format_find(NULL));
    ck_assert_str_eq(posixtrace_format_find("jsonl")->name, "jsonl");
    ck_assert_ptr_null(posixtrace_format_get(1000));
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

static int stop_after(void *seen, uint64_t events)
{
    *(uint64_t *)seen = events;
    return -7;
}

START_TEST(stopped_by_progress)
{
    trace_id_t trid = make_log(EVENTS);
    uint64_t seen = 0;
    struct posixtrace_conversion c = { .progress = stop_after, .context = &seen };
    FILE *to = tmpfile();

    ck_assert_int_eq(posixtrace_export(trid, "csv", fileno(to), &c, sizeof c), -7);
    ck_assert_uint_gt(seen, 0);
    ck_assert_uint_eq(c.events, seen);
    fclose(to);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

static bool refuse(void *context, const struct posixtrace_event *event)
{
    (void)context;
    return event == NULL;
}

/* Progress counts what was read, so that a caller that wants no event can still stop. */
START_TEST(progress_without_wanted)
{
    trace_id_t trid = make_log(EVENTS);
    uint64_t seen = 0;
    struct posixtrace_conversion c = { .progress = stop_after, .context = &seen, .wants = refuse };
    FILE *to = tmpfile();

    ck_assert_int_eq(posixtrace_export(trid, "csv", fileno(to), &c, sizeof c), -7);
    ck_assert_uint_gt(seen, 0);
    ck_assert_uint_le(seen, EVENTS + 4);
    ck_assert_uint_eq(c.events, 0);
    ck_assert_uint_eq(c.left_out, 0);
    fclose(to);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

/* Members of a later version, and of this one that an older program does not have, stay. */
START_TEST(other_versions)
{
    struct {
        struct posixtrace_conversion c;
        unsigned char later[64];
    } x;
    trace_id_t trid = make_log(0);
    FILE *to = tmpfile();

    memset(&x, 0xa5, sizeof x);
    x.c = (struct posixtrace_conversion){ .name = "x" };
    ck_assert_int_eq(posixtrace_export(trid, "csv", fileno(to), &x.c, sizeof x), 0);
    ck_assert_uint_eq(x.c.events, 4);
    for (size_t i = 0; i < sizeof x.later; i++)
        ck_assert_uint_eq(x.later[i], 0xa5);
    ck_assert_int_eq(posix_trace_rewind(trid), 0);
    x.c.wants = refuse;
    ck_assert_int_eq(posixtrace_export(trid, "csv", fileno(to), &x.c,
                                       offsetof(struct posixtrace_conversion, wants)),
                     0);
    ck_assert_uint_eq(x.c.events, 4);
    ck_assert_ptr_eq(x.c.wants, refuse);
    fclose(to);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(wrong_descriptors)
{
    trace_id_t trid = make_log(0);
    int reads = open("/dev/null", O_RDONLY), writes = open("/dev/null", O_WRONLY);
    struct posixtrace_conversion c = { 0 };
    posixtrace_log_builder_t *builder;
    FILE *log = tmpfile();

    ck_assert_int_eq(posixtrace_export(trid, "csv", reads, &c, sizeof c), EBADF);
    ck_assert_str_eq(c.error, "cannot use the descriptor: Bad file descriptor");
    ck_assert_int_eq(posixtrace_log_builder_create(fileno(log), NULL, &builder), 0);
    ck_assert_int_eq(posixtrace_import("csv", writes, builder, &c, sizeof c), EBADF);
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    fclose(log);
    close(reads);
    close(writes);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(all_of_a_log)
{
    trace_id_t trid = make_log(EVENTS);
    struct posixtrace_conversion c = { 0 };
    FILE *to = tmpfile();
    unsigned count = 0;
    int byte;

    ck_assert_int_eq(posixtrace_export(trid, "jsonl", fileno(to), &c, sizeof c), 0);
    ck_assert_uint_eq(c.events, EVENTS + 4);
    ck_assert_uint_eq(c.left_out, 0);
    rewind(to);
    while ((byte = fgetc(to)) != EOF)
        count += byte == '\n';
    ck_assert_uint_eq(count, EVENTS + 4);
    fclose(to);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

struct through {
    char bytes[1 << 16];
    size_t size, at, most; /* most: room for so many */
    bool breaks;           /* reading fails at the end */
};

static ssize_t put(void *context, const void *from, size_t size)
{
    struct through *t = context;

    if (t->size + size > t->most) {
        errno = ENOSPC;
        return -1;
    }
    memcpy(t->bytes + t->size, from, size);
    t->size += size;
    return (ssize_t)size;
}

/* A few bytes at a time, as out of a pipe. */
static ssize_t get(void *context, void *to, size_t size)
{
    struct through *t = context;
    size_t n = t->size - t->at < 100 ? t->size - t->at : 100;

    if (n == 0 && t->breaks) {
        errno = EIO;
        return -1;
    }
    n = n < size ? n : size;
    memcpy(to, t->bytes + t->at, n);
    t->at += n;
    return (ssize_t)n;
}

/* Functions of the caller's in the place of a descriptor. */
START_TEST(through_functions)
{
    static struct through t = { .most = sizeof t.bytes };
    struct posixtrace_conversion c = { .write = put, .read = get, .context = &t };
    posixtrace_log_builder_t *builder;
    trace_id_t trid = make_log(100);
    FILE *log = tmpfile();

    ck_assert_int_eq(posixtrace_export(trid, "jsonl", -1, &c, sizeof c), 0);
    ck_assert_uint_eq(c.events, 104);
    ck_assert_int_eq(posixtrace_log_builder_create(fileno(log), NULL, &builder), 0);
    ck_assert_int_eq(posixtrace_import("jsonl", -1, builder, &c, sizeof c), 0);
    ck_assert_uint_eq(c.events, 104);
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    /* What came before an error of reading is in the log, and the error is returned. */
    t.at = 0;
    t.breaks = true;
    ck_assert_int_eq(ftruncate(fileno(log), 0), 0);
    ck_assert_int_eq(lseek(fileno(log), 0, SEEK_SET), 0);
    ck_assert_int_eq(posixtrace_log_builder_create(fileno(log), NULL, &builder), 0);
    ck_assert_int_eq(posixtrace_import("jsonl", -1, builder, &c, sizeof c), EIO);
    ck_assert_uint_eq(c.events, 104);
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    ck_assert_int_eq(posix_trace_rewind(trid), 0);
    t.most = 1000;
    t.size = 0;
    ck_assert_int_eq(posixtrace_export(trid, "jsonl", -1, &c, sizeof c), ENOSPC);
    fclose(log);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

static ssize_t fail_to_write(void *calls, const void *from, size_t size)
{
    (void)from;
    (void)size;
    ++*(unsigned *)calls;
    errno = ENOSPC;
    return -1;
}

static ssize_t write_nothing(void *calls, const void *from, size_t size)
{
    fail_to_write(calls, from, size);
    return 0;
}

/* The caller's function is not called again after it has failed. */
START_TEST(first_write_error)
{
    trace_id_t trid = make_log(EVENTS);
    const struct posixtrace_format *format;

    for (size_t i = 0; (format = posixtrace_format_get(i)) != NULL; i++) {
        unsigned calls = 0;
        struct posixtrace_conversion c = { .write = fail_to_write, .context = &calls };

        /* A log without waits has no folded stacks, one without pairs no spans. */
        if (!format->exports || format->is_directory || strcmp(format->name, "folded") == 0 ||
            strcmp(format->name, "otlp") == 0)
            continue;
        ck_assert_int_eq(posix_trace_rewind(trid), 0);
        ck_assert_msg(posixtrace_export(trid, format->name, -1, &c, sizeof c) == ENOSPC &&
                          calls == 1,
                      "%s: %s, %u calls", format->name, c.error, calls);
        calls = 0;
        c.write = write_nothing;
        ck_assert_int_eq(posix_trace_rewind(trid), 0);
        ck_assert_msg(posixtrace_export(trid, format->name, -1, &c, sizeof c) == EIO && calls == 1,
                      "%s: %s, %u calls", format->name, c.error, calls);
    }
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(no_room_to_write)
{
    trace_id_t trid = make_log(EVENTS);
    struct posixtrace_conversion c = { .name = "the full device" };
    FILE *to = fopen("/dev/full", "w");

    ck_assert_ptr_nonnull(to);
    ck_assert_int_eq(posixtrace_export(trid, "jsonl", fileno(to), &c, sizeof c), ENOSPC);
    ck_assert_str_eq(c.error, "cannot write the full device: No space left on device");
    fclose(to);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, lines, 0, 2);
    tcase_add_test(t, arguments);
    tcase_add_test(t, stopped_by_progress);
    tcase_add_test(t, progress_without_wanted);
    tcase_add_test(t, other_versions);
    tcase_add_test(t, wrong_descriptors);
    tcase_add_test(t, all_of_a_log);
    tcase_add_test(t, first_write_error);
    tcase_add_test(t, no_room_to_write);
    tcase_add_test(t, through_functions);
}

int main(void)
{
    return run_suite("format", "rows", NULL, add);
}
