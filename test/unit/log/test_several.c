/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace_next_events(): what one call at a time gives, several at a time, and all
 * their pointers good at once.
 */
#include <errno.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include "log_helpers.h"
#include "support/run_suite.h"

enum { EVENTS = 20000, THREADS = 5, MOST = 100 };

#define FIRST_NS INT64_C(1000000000000000000)

/* Packets end at different places: threads take turns of different lengths. */
static int made_log(void)
{
    posixtrace_log_builder_t *builder;
    int fd = log_file();

    ck_assert_int_eq(posixtrace_log_builder_create(fd, NULL, &builder), 0);
    for (int i = 0; i < EVENTS; i++) {
        int thread = i / (1 + i % 7) % THREADS;
        const uint64_t data[4] = { (uint64_t)i, 1, 2, 3 };
        const struct posixtrace_event e = { .ns = FIRST_NS + i * 10,
                                            .prog_address = 4096u + (unsigned)i,
                                            .pid = 7,
                                            .tid = 100 + thread,
                                            .thread_id = 9000u + (unsigned)thread,
                                            .thread_name = (const char *[]){ "a", "bc", "", "def",
                                                                             "g" }[thread],
                                            .name = i % 3 ? "often" : "now and then",
                                            .data = data,
                                            .data_len = 8 + (unsigned)i % 25 };

        ck_assert_int_eq(posixtrace_log_builder_add(builder, &e, sizeof e), 0);
    }
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static trace_id_t open_log(int fd)
{
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    return trid;
}

static bool are_same(const struct posixtrace_event *a, const struct posixtrace_event *b)
{
    return a->ns == b->ns && a->prog_address == b->prog_address && a->thread_id == b->thread_id &&
           a->id == b->id && a->truncation == b->truncation && a->pid == b->pid &&
           a->tid == b->tid && strcmp(a->thread_name, b->thread_name) == 0 &&
           strcmp(a->name, b->name) == 0 && a->data_len == b->data_len &&
           memcmp(a->data, b->data, a->data_len) == 0;
}

START_TEST(same_as_one_by_one)
{
    struct posixtrace_event several[MOST], one;
    int fd = made_log(), end = 0;
    trace_id_t a = open_log(fd), b = open_log(fd);
    size_t count, sum = 0, calls = 0;

    for (size_t most = 1;; most = most % MOST + 1, calls++) {
        ck_assert_int_eq(posixtrace_next_events(a, several, sizeof *several, most, &count), 0);
        ck_assert_uint_le(count, most);
        if (count == 0)
            break;
        for (size_t i = 0; i < count; i++, sum++)
            if (posixtrace_next_event(b, &one, sizeof one, &end) != 0 || end ||
                !are_same(&several[i], &one))
                ck_abort_msg("event %zu, %zu of %zu, is another", sum, i, count);
    }
    ck_assert_uint_eq(sum, EVENTS);
    ck_assert_uint_lt(calls, EVENTS / 10);
    ck_assert_int_eq(posixtrace_next_event(b, &one, sizeof one, &end), 0);
    ck_assert(end);
    ck_assert_int_eq(posixtrace_next_events(a, several, sizeof *several, MOST, &count), 0);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(posix_trace_close(a), 0);
    ck_assert_int_eq(posix_trace_close(b), 0);
    close(fd);
}
END_TEST

/* All calls read on from one place. */
START_TEST(among_others)
{
    struct posix_trace_event_info info;
    struct posixtrace_event e[3];
    int fd = made_log(), end;
    trace_id_t trid = open_log(fd);
    uint64_t data;
    size_t count, len;

    ck_assert_int_eq(posixtrace_seek(trid, FIRST_NS + 4995), 0);
    ck_assert_int_eq(posixtrace_next_events(trid, e, sizeof *e, 3, &count), 0);
    ck_assert_uint_ge(count, 1);
    ck_assert_int_eq(e[0].ns, FIRST_NS + 5000);
    ck_assert_int_eq(posix_trace_getnext_event(trid, &info, &data, sizeof data, &len, &end), 0);
    ck_assert_uint_eq(data, 500 + count);
    ck_assert_int_eq(posix_trace_rewind(trid), 0);
    ck_assert_int_eq(posixtrace_next_events(trid, e, sizeof *e, 1, &count), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(e[0].ns, FIRST_NS);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

/* A running stream gives one at a time; one with a log none, for it is not read. */
START_TEST(of_a_running_stream)
{
    struct posixtrace_event e[8];
    trace_id_t trid, logged;
    trace_event_id_t id;
    size_t count = 4711;
    int fd = log_file();

    ck_assert_int_eq(posix_trace_create_withlog(0, NULL, fd, &logged), 0);
    ck_assert_int_eq(posixtrace_next_events(logged, e, sizeof *e, 8, &count), EINVAL);
    ck_assert_uint_eq(count, 4711);
    ck_assert_int_eq(posix_trace_shutdown(logged), 0);
    close(fd);
    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    ck_assert_int_eq(posix_trace_eventid_open("counted", &id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (char i = 'a'; i < 'd'; i++)
        posix_trace_event(id, &i, 1);
    ck_assert_int_eq(posixtrace_next_events(trid, e, sizeof *e, 8, &count), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(e[0].id, POSIX_TRACE_START);
    for (char i = 'a'; i < 'd'; i++) {
        ck_assert_int_eq(posixtrace_next_events(trid, e, sizeof *e, 8, &count), 0);
        ck_assert_uint_eq(count, 1);
        ck_assert_str_eq(e[0].name, "counted");
        ck_assert_int_eq(*(const char *)e[0].data, i);
    }
    ck_assert_int_eq(posixtrace_next_events(trid, e, sizeof *e, 8, &count), 0);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, same_as_one_by_one);
    tcase_add_test(t, among_others);
    tcase_add_test(t, of_a_running_stream);
}

int main(void)
{
    return run_suite("log several", "several", NULL, add);
}
