/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Structures in the size that the program was compiled with.  A program that is older than
 * the library gets the members that it knows, and no byte after them; a newer one gets all of
 * them and zeros.  An array has the program's distance from one to the next.
 */
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <string.h>
#include "support/run_suite.h"
#include "support/trace_helpers.h"

enum { EVENTS = 5 };

/* A version of a structure with another member at its end. */
struct later_event {
    struct posixtrace_event now;
    uint64_t more[2];
};

struct later_info {
    struct posixtrace_info now;
    uint64_t more[2];
};

static const unsigned char pattern = 0x5a;

static trace_id_t recorded(void)
{
    trace_event_id_t id = th_id("sized");
    trace_id_t trid = th_stream();

    ck_ok(posix_trace_start(trid));
    for (uint32_t i = 0; i < EVENTS; i++)
        posix_trace_event(id, &i, sizeof i);
    ck_ok(posix_trace_stop(trid));
    return trid;
}

static void expect_untouched(const void *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        ck_assert_uint_eq(((const unsigned char *)bytes)[i], pattern);
}

START_TEST(older_program)
{
    trace_id_t trid = recorded();
    size_t size = offsetof(struct posixtrace_info, first_ns);
    struct posixtrace_info info;
    struct posixtrace_thread_info thread;
    struct posixtrace_event event;
    int none;

    memset(&info, pattern, sizeof info);
    memset(&thread, pattern, sizeof thread);
    memset(&event, pattern, sizeof event);
    ck_ok(posixtrace_get_info(trid, &info, size));
    ck_assert_int_eq(info.end, POSIXTRACE_END_ACTIVE);
    expect_untouched(&info, size, sizeof info);
    size = offsetof(struct posixtrace_thread_info, name);
    ck_ok(posixtrace_threadlist_getnext(trid, &thread, size, &none));
    ck_assert_int_eq(thread.pid, getpid());
    expect_untouched(&thread, size, sizeof thread);
    size = offsetof(struct posixtrace_event, data_len);
    ck_ok(posixtrace_next_event(trid, &event, size, &none));
    ck_assert_int_eq(none, 0);
    ck_assert_str_eq(event.name, "posix_trace_start");
    expect_untouched(&event, size, sizeof event);
}
END_TEST

START_TEST(newer_program)
{
    trace_id_t trid = recorded();
    struct later_info info;
    struct later_event events[EVENTS + 2];
    uint64_t seen = 0;
    size_t count;

    memset(&info, pattern, sizeof info);
    ck_ok(posixtrace_get_info(trid, &info.now, sizeof info));
    ck_assert_uint_ge(info.now.events, EVENTS);
    ck_assert_uint_eq(info.more[0] | info.more[1], 0);
    memset(events, pattern, sizeof events);
    while (posixtrace_next_events(trid, &events[0].now, sizeof *events, TH_COUNT(events), &count) ==
               0 &&
           count > 0)
        for (size_t i = 0; i < count; i++) {
            seen += strcmp(events[i].now.name, "sized") == 0;
            ck_assert_uint_eq(events[i].more[0] | events[i].more[1], 0);
        }
    ck_assert_uint_eq(seen, EVENTS);
}
END_TEST

/* An event of an older program has no members after those that it knows. */
START_TEST(older_event_into_log)
{
    struct posixtrace_event event = { .ns = 1000, .name = "x", .thread_name = "", .tid = 7 }, e;
    posixtrace_log_builder_t *builder;
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR), none;
    trace_id_t trid;

    ck_ok(posixtrace_log_builder_create(fd, NULL, &builder));
    ck_ok(posixtrace_log_builder_add(builder, &event, offsetof(struct posixtrace_event, tid)));
    ck_ok(posixtrace_log_builder_finish(builder));
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_ok(posix_trace_open(fd, &trid));
    ck_ok(posixtrace_next_event(trid, &e, sizeof e, &none));
    ck_assert_int_eq(none, 0);
    ck_assert_int_eq(e.ns, 1000);
    ck_assert_int_eq(e.tid, 0);
    ck_ok(posix_trace_close(trid));
    close(fd);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, older_program);
    tcase_add_test(tc, newer_program);
    tcase_add_test(tc, older_event_into_log);
}

int main(void)
{
    return th_main("sized", add);
}
