/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Bad input for our own functions, <posixtrace/...>: the same promise as for
 * <trace.h>, see bad_input.c.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>
#include <limits.h>
#include <posixtrace/environment.h>
#include <posixtrace/block.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>

#define UNTOUCHED     0xa5
#define refused(call) ck_assert_msg((call) == EINVAL, #call)

struct outputs {
    struct posixtrace_event event;
    struct posixtrace_block block;
    struct posixtrace_info info;
    struct posixtrace_limits limits;
    struct posixtrace_thread_info thread;
    size_t size;
    uint64_t count;
    int unavailable;
    bool gap;
};

static void pattern(struct outputs *o)
{
    memset(o, UNTOUCHED, sizeof *o);
}

static void expect_pattern(const struct outputs *o)
{
    struct outputs untouched;

    pattern(&untouched);
    ck_assert_mem_eq(o, &untouched, sizeof untouched);
}

static void use_bad_trid(trace_id_t trid)
{
    struct outputs o;

    pattern(&o);
    refused(posixtrace_next_event(trid, &o.event, sizeof o.event, &o.unavailable));
    refused(posixtrace_next_events(trid, &o.event, sizeof o.event, 1, &o.size));
    refused(posixtrace_next_whole_events(trid, &o.event, sizeof o.event, 1, &o.size, &o.gap));
    refused(posixtrace_next_block(trid, 0, &o.block, sizeof o.block, &o.unavailable));
    refused(posixtrace_seek(trid, 0));
    refused(posixtrace_follow(trid, &o.gap));
    refused(posixtrace_get_info(trid, &o.info, sizeof o.info));
    refused(posixtrace_get_limits(trid, &o.limits, sizeof o.limits));
    refused(posixtrace_threadlist_rewind(trid));
    refused(posixtrace_threadlist_getnext(trid, &o.thread, sizeof o.thread, &o.unavailable));
    refused(posixtrace_event_count(trid, POSIX_TRACE_START, &o.count));
    expect_pattern(&o);
}

START_TEST(test_bad_trids)
{
    static const trace_id_t chosen[] = { 0, INT_MAX, 0x80000000u, UINT_MAX, 0xdeadbeef };
    trace_id_t gone = th_stream();

    ck_ok(posix_trace_shutdown(gone));
    use_bad_trid(gone);
    for (size_t i = 0; i < TH_COUNT(chosen); i++)
        use_bad_trid(chosen[i]);
}
END_TEST

/* NULL, for a handle that is good; nothing may be consumed. */
static void stream_nulls(trace_id_t trid)
{
    struct outputs o;

    pattern(&o);
    refused(posixtrace_next_event(trid, NULL, sizeof(struct posixtrace_event), &o.unavailable));
    refused(posixtrace_next_event(trid, &o.event, sizeof o.event, NULL));
    refused(posixtrace_next_events(trid, NULL, sizeof(struct posixtrace_event), 1, &o.size));
    refused(posixtrace_next_events(trid, &o.event, sizeof o.event, 1, NULL));
    refused(posixtrace_next_events(trid, &o.event, sizeof o.event, 0, &o.size));
    refused(posixtrace_next_whole_events(trid, NULL, sizeof(struct posixtrace_event), 1, &o.size,
                                         &o.gap));
    refused(posixtrace_next_whole_events(trid, &o.event, sizeof o.event, 0, &o.size, &o.gap));
    refused(posixtrace_next_whole_events(trid, &o.event, sizeof o.event, 1, NULL, &o.gap));
    refused(posixtrace_next_whole_events(trid, &o.event, sizeof o.event, 1, &o.size, NULL));
    refused(posixtrace_next_block(trid, 0, NULL, sizeof o.block, &o.unavailable));
    refused(posixtrace_next_block(trid, 0, &o.block, sizeof o.block, NULL));
    refused(posixtrace_next_block(trid, 0, &o.block, 0, &o.unavailable));
    refused(posixtrace_next_block(trid, 8, &o.block, sizeof o.block, &o.unavailable));
    refused(posixtrace_get_info(trid, NULL, sizeof(struct posixtrace_info)));
    refused(posixtrace_get_limits(trid, NULL, sizeof(struct posixtrace_limits)));
    refused(posixtrace_threadlist_getnext(trid, NULL, sizeof(struct posixtrace_thread_info),
                                          &o.unavailable));
    refused(posixtrace_threadlist_getnext(trid, &o.thread, sizeof o.thread, NULL));
    refused(posixtrace_event_count(trid, POSIX_TRACE_START, NULL));
    refused(posixtrace_next_event(trid, &o.event, 0, &o.unavailable));
    refused(posixtrace_timednext_event(trid, &o.event, 0, &o.unavailable, NULL));
    refused(posixtrace_next_events(trid, &o.event, 0, 1, &o.size));
    refused(posixtrace_next_whole_events(trid, &o.event, 0, 1, &o.size, &o.gap));
    refused(posixtrace_get_info(trid, &o.info, 0));
    refused(posixtrace_get_limits(trid, &o.limits, 0));
    refused(posixtrace_threadlist_getnext(trid, &o.thread, 0, &o.unavailable));
    expect_pattern(&o);
}

START_TEST(test_null_objects)
{
    trace_event_id_t id = th_id("u");
    trace_id_t stream = th_stream(), log;
    char path[TH_PATH];

    th_make_log(path, 10, 20);
    log = th_open(path);
    ck_ok(posix_trace_start(stream));
    th_put(id, 0, 20);
    stream_nulls(stream);
    stream_nulls(log);
    th_expect(th_drain(stream), POSIX_TRACE_START, id);
    ck_ok(posix_trace_shutdown(stream));
    th_close(log);
    th_expect_made_log(path, 10);
}
END_TEST

START_TEST(test_only_for_logs)
{
    trace_id_t stream = th_stream();
    struct outputs o;

    pattern(&o);
    refused(posixtrace_next_block(stream, 0, &o.block, sizeof o.block, &o.unavailable));
    refused(posixtrace_seek(stream, 0));
    refused(posixtrace_follow(stream, &o.gap));
    refused(posixtrace_event_count(stream, POSIX_TRACE_START, &o.count));
    expect_pattern(&o);
    ck_ok(posix_trace_shutdown(stream));
}
END_TEST

/* Times before and after all events, the end of the threads, unknown ids. */
START_TEST(test_odd_values)
{
    static const int64_t times[] = { INT64_MIN, -1, 0, INT64_MAX };
    static const trace_event_id_t ids[] = { 0, 1216, 70000, UINT_MAX };
    char path[TH_PATH];
    trace_id_t log;
    struct outputs o;

    th_make_log(path, 10, 20);
    log = th_open(path);
    for (size_t i = 0; i < TH_COUNT(times); i++) {
        ck_ok(posixtrace_seek(log, times[i]));
        ck_assert_int_eq(th_read_log(log).n > 0, times[i] != INT64_MAX);
    }
    for (size_t i = 0; i < TH_COUNT(ids); i++) {
        int error;

        pattern(&o);
        error = posixtrace_event_count(log, ids[i], &o.count);
        ck_assert(error == EINVAL || (error == 0 && o.count == 0));
    }
    pattern(&o);
    ck_ok(posixtrace_threadlist_rewind(log));
    do
        ck_ok(posixtrace_threadlist_getnext(log, &o.thread, sizeof o.thread, &o.unavailable));
    while (!o.unavailable);
    pattern(&o);
    ck_ok(posixtrace_threadlist_getnext(log, &o.thread, sizeof o.thread, &o.unavailable));
    ck_assert_int_ne(o.unavailable, 0);
    ck_ok(posixtrace_threadlist_rewind(log));
    ck_ok(posixtrace_threadlist_getnext(log, &o.thread, sizeof o.thread, &o.unavailable));
    ck_assert_int_eq(o.unavailable, 0);
    th_close(log);
}
END_TEST

START_TEST(test_texts)
{
    for (unsigned cause = 0; cause < POSIXTRACE_LOSS_CAUSES; cause++)
        ck_assert_uint_gt(strlen(posixtrace_loss_cause_text(cause)), 0);
    ck_assert_ptr_nonnull(posixtrace_loss_cause_text(POSIXTRACE_LOSS_CAUSES));
    ck_assert_ptr_nonnull(posixtrace_loss_cause_text(UINT_MAX));
    ck_assert_ptr_nonnull(posixtrace_stream_directory());
}
END_TEST

/* An older program's struct gets what it has room for; a newer one's rest is zero. */
START_TEST(test_environment)
{
    struct {
        struct posixtrace_environment known;
        unsigned char later[64];
    } e;
    const size_t older = offsetof(struct posixtrace_environment, clock);
    const unsigned char *behind;
    char *before;

    refused(posixtrace_get_environment(NULL, sizeof e.known));
    refused(posixtrace_get_environment(&e.known, 0));
    memset(&e, UNTOUCHED, sizeof e);
    ck_ok(posixtrace_get_environment(&e.known, older));
    ck_assert_str_eq(e.known.directory, posixtrace_stream_directory());
    behind = (const unsigned char *)&e + older;
    for (size_t i = 0; i < sizeof e - older; i++)
        ck_assert_uint_eq(behind[i], UNTOUCHED);
    ck_ok(posixtrace_get_environment(&e.known, sizeof e));
    for (size_t i = 0; i < sizeof e.later; i++)
        ck_assert_uint_eq(e.later[i], 0);
    ck_assert(e.known.clock == POSIXTRACE_CLOCK_TSC
                  ? e.known.clock_choice == POSIXTRACE_CLOCK_CHOICE_TRUSTED
                  : e.known.clock == POSIXTRACE_CLOCK_MONOTONIC &&
                        e.known.clock_choice != POSIXTRACE_CLOCK_CHOICE_TRUSTED);
    before = strdup(getenv("POSIXTRACE_DIR"));
    ck_assert_int_eq(setenv("POSIXTRACE_DIR", "/dev/null", 1), 0);
    ck_ok(posixtrace_get_environment(&e.known, sizeof e.known));
    ck_assert_str_eq(e.known.directory, "/dev/null");
    ck_assert_int_eq(e.known.directory_choice, POSIXTRACE_DIRECTORY_VARIABLE);
    ck_assert_int_eq(e.known.directory_error, EACCES);
    setenv("POSIXTRACE_DIR", before, 1);
    free(before);
}
END_TEST

/* The tests run without POSIXTRACE_RECORD: there is no log, and nothing is wrong. */
START_TEST(test_self_record)
{
    char log[4] = { 'a', 'b', 'c', 'd' };
    int why = 77;

    refused(posixtrace_get_self_record(NULL, sizeof log, &why));
    refused(posixtrace_get_self_record(log, 0, &why));
    refused(posixtrace_get_self_record(log, sizeof log, NULL));
    refused(posixtrace_get_self_record_fault(NULL, sizeof log));
    refused(posixtrace_get_self_record_fault(log, 0));
    ck_assert_int_eq(why, 77);
    ck_assert_int_eq(log[0], 'a');
    ck_ok(posixtrace_get_self_record(log, sizeof log, &why));
    ck_assert_int_eq(why, 0);
    ck_assert_str_eq(log, "");
}
END_TEST

START_TEST(test_check_and_recover)
{
    struct posixtrace_log_report report;
    struct posixtrace_recover_report recovered;
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);

    ck_fails(posixtrace_log_check(-1, NULL, NULL, &report, sizeof report), EBADF);
    ck_fails(posixtrace_log_recover(-1, &recovered, sizeof recovered), EBADF);
    ck_fails(posixtrace_log_check(fd, NULL, NULL, &report, sizeof report), EILSEQ);
    ck_fails(posixtrace_log_recover(fd, &recovered, sizeof recovered), EILSEQ);
    refused(posixtrace_log_check(fd, NULL, NULL, NULL, sizeof(struct posixtrace_log_report)));
    refused(posixtrace_log_recover(fd, NULL, sizeof(struct posixtrace_recover_report)));
    refused(posixtrace_log_check(fd, NULL, NULL, &report, 0));
    refused(posixtrace_log_recover(fd, &recovered, 0));
    ck_fails(posixtrace_log_recover_lost(-1, 1, &recovered, sizeof recovered), EBADF);
    ck_fails(posixtrace_log_recover_lost(fd, 1, &recovered, sizeof recovered), EILSEQ);
    refused(posixtrace_log_recover_lost(fd, UINT64_MAX, NULL,
                                        sizeof(struct posixtrace_recover_report)));
    ck_assert_int_eq(write(fd, "this is no log\n", 15), 15);
    ck_fails(posixtrace_log_check(fd, NULL, NULL, &report, sizeof report), EILSEQ);
    ck_fails(posixtrace_log_recover(fd, &recovered, sizeof recovered), EILSEQ);
    ck_assert_int_eq(lseek(fd, 0, SEEK_END), 15);
    close(fd);
}
END_TEST

/* What writes refuses a descriptor that only reads, also where nothing would have to be done. */
START_TEST(test_read_only)
{
    struct posixtrace_recover_report recovered;
    posixtrace_log_builder_t *builder = NULL;
    trace_id_t stream = th_stream();
    char path[TH_PATH];
    int fd;

    th_make_log(path, 10, 20);
    fd = open(path, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_fails(posixtrace_log_builder_create(fd, NULL, &builder), EBADF);
    ck_assert_ptr_null(builder);
    ck_fails(posixtrace_snapshot(stream, fd, NULL, 0), EBADF);
    ck_fails(posixtrace_log_recover(fd, &recovered, sizeof recovered), EBADF);
    ck_fails(posixtrace_log_recover_lost(fd, 1, &recovered, sizeof recovered), EBADF);
    close(fd);
    ck_ok(posix_trace_shutdown(stream));
    th_expect_made_log(path, 10);
}
END_TEST

static struct posixtrace_event event_at(int64_t ns, const char *name)
{
    return (
        struct posixtrace_event){ .ns = ns, .name = name, .thread_name = "t", .pid = 1, .tid = 1 };
}

/* What the builder refuses leaves no trace in the log that it makes. */
START_TEST(test_builder)
{
    static char endless[1000], data[61441];
    struct posixtrace_event e;
    posixtrace_log_builder_t *builder = NULL;
    trace_attr_t bad;
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);

    memset(endless, 'x', sizeof endless - 1);
    memset(&bad, UNTOUCHED, sizeof bad);
    refused(posixtrace_log_builder_create(fd, NULL, NULL));
    refused(posixtrace_log_builder_create(fd, &bad, &builder));
    ck_fails(posixtrace_log_builder_create(-1, NULL, &builder), EBADF);
    ck_assert_ptr_null(builder);
    refused(posixtrace_log_builder_finish(NULL));
    ck_ok(posixtrace_log_builder_create(fd, NULL, &builder));
    e = event_at(1000, "good");
    refused(posixtrace_log_builder_add(NULL, &e, sizeof e));
    refused(posixtrace_log_builder_add(builder, NULL, sizeof(struct posixtrace_event)));
    refused(posixtrace_log_builder_add(builder, &e, 0));
    ck_ok(posixtrace_log_builder_add(builder, &e, sizeof e));
    e = event_at(999, "too early");
    refused(posixtrace_log_builder_add(builder, &e, sizeof e));
    e = event_at(1001, NULL);
    refused(posixtrace_log_builder_add(builder, &e, sizeof e));
    e = event_at(1001, "");
    refused(posixtrace_log_builder_add(builder, &e, sizeof e));
    e = event_at(1001, endless);
    ck_fails(posixtrace_log_builder_add(builder, &e, sizeof e), ENAMETOOLONG);
    e = event_at(1001, "too long");
    e.data = data;
    e.data_len = sizeof data;
    refused(posixtrace_log_builder_add(builder, &e, sizeof e));
    e = event_at(1001, "no data");
    e.data_len = 5;
    refused(posixtrace_log_builder_add(builder, &e, sizeof e));
    ck_ok(posixtrace_log_builder_finish(builder));
    close(fd);
    ck_assert_uint_eq(th_log_events(path).n, 1);
}
END_TEST

START_TEST(test_streams)
{
    unsigned removed = 77, kept = 77;

    refused(posixtrace_stream_list(NULL, NULL));
    ck_ok(posixtrace_stream_reap(0, NULL, NULL));
    ck_ok(posixtrace_stream_reap(0, &removed, &kept));
    ck_assert_uint_eq(removed, 0);
    ck_assert_uint_eq(kept, 0);
    ck_ok(posixtrace_prepare());
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_bad_trids);
    tcase_add_test(tc, test_null_objects);
    tcase_add_test(tc, test_only_for_logs);
    tcase_add_test(tc, test_odd_values);
    tcase_add_test(tc, test_texts);
    tcase_add_test(tc, test_environment);
    tcase_add_test(tc, test_self_record);
    tcase_add_test(tc, test_check_and_recover);
    tcase_add_test(tc, test_read_only);
    tcase_add_test(tc, test_builder);
    tcase_add_test(tc, test_streams);
}

int main(void)
{
    return th_main("bad input, our own functions", add);
}
