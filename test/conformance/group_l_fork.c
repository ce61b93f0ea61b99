/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group L, first part: streams and fork().
 */
#include "support/trace_helpers.h"

#include <sys/mman.h>
#include <sys/wait.h>

static void put_4(void *id)
{
    th_put_run(*(trace_event_id_t *)id, 100, 4, 20);
}

/* Events in the list that a process generated. */
static size_t from(struct th_list list, pid_t pid)
{
    size_t n = 0;

    for (size_t i = 0; i < list.n; i++)
        n += list.at[i].info.posix_pid == pid;
    return n;
}

static void use_parents_trid(void *trid)
{
    th_expect_no_stream(*(trace_id_t *)trid);
}

START_TEST(test_237_child_uses_parents_trid)
{
    static const int inherit[] = { POSIX_TRACE_CLOSE_FOR_CHILD, POSIX_TRACE_INHERITED };
    trace_event_id_t id = th_id("unharmed");

    for (size_t i = 0; i < TH_COUNT(inherit); i++) {
        trace_id_t trid = th_running(.inherit = inherit[i]);
        struct th_list list;

        th_put(id, 0, 8);
        th_in_child(use_parents_trid, &trid);
        th_put(id, 1, 8);
        ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_RUNNING);
        list = th_drain(trid);
        th_expect(list, id, id);
        th_expect_run(list, 0);
        ck_ok(posix_trace_shutdown(trid));
    }
}
END_TEST

START_TEST(test_238_close_for_child)
{
    trace_event_id_t id = th_id("who");
    trace_id_t trid = th_running(.inherit = POSIX_TRACE_CLOSE_FOR_CHILD);
    struct th_list list;

    th_put(id, 0, 8);
    th_in_child(put_4, &id);
    th_put(id, 1, 8);
    list = th_drain(trid);
    th_expect(list, id, id);
    ck_assert_uint_eq(from(list, getpid()), 2);
    th_expect_run(list, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_239_inherited)
{
    trace_event_id_t id = th_id("who");
    trace_id_t trid = th_running(.inherit = POSIX_TRACE_INHERITED);
    struct th_list list;
    pid_t pid;

    th_put(id, 0, 8);
    pid = th_fork(put_4, &id);
    th_reap(pid);
    th_put(id, 1, 8);
    list = th_drain(trid);
    th_expect(list, id, id, id, id, id, id);
    th_expect_run((struct th_list){ list.at + 1, 4 }, 100);
    for (size_t i = 0; i < list.n; i++)
        ck_assert_int_eq(list.at[i].info.posix_pid, i == 0 || i == 5 ? getpid() : pid);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_240_id_opened_before_fork)
{
    trace_event_id_t id = th_id("opened before fork");
    trace_id_t trid = th_running(.inherit = POSIX_TRACE_INHERITED);
    char name[TRACE_EVENT_NAME_MAX + 1];
    struct th_list list;

    th_in_child(put_4, &id);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 4);
    ck_ok(posix_trace_eventid_get_name(trid, list.at[0].info.posix_event_id, name));
    ck_assert_str_eq(name, "opened before fork");
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void open_in_child(void *shared_id)
{
    trace_event_id_t *id = shared_id;

    *id = th_id("opened by child");
    th_put(*id, 0, 8);
}

START_TEST(test_241_name_opened_by_child)
{
    trace_event_id_t *id = mmap(NULL, sizeof *id, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    trace_id_t trid = th_running(.inherit = POSIX_TRACE_INHERITED);
    char name[TRACE_EVENT_NAME_MAX + 1];

    ck_assert(id != MAP_FAILED);
    th_in_child(open_in_child, id);
    th_id("opened by parent");
    ck_assert_uint_eq(th_id("opened by child"), *id);
    ck_ok(posix_trace_eventid_get_name(trid, *id, name));
    ck_assert_str_eq(name, "opened by child");
    th_expect(th_drain(trid), *id);
    ck_ok(posix_trace_shutdown(trid));
    munmap(id, sizeof *id);
}
END_TEST

static void fork_again(void *id)
{
    th_in_child(put_4, id);
}

struct early {
    int go[2];
    trace_event_id_t id;
};

static void put_when_told(void *context)
{
    struct early *e = context;
    char go;

    ck_assert_int_eq(read(e->go[0], &go, 1), 1);
    put_4(&e->id);
}

START_TEST(test_242_descendants)
{
    struct early e = { .id = th_id("who") };
    struct th_list list;
    trace_id_t trid;
    pid_t early;

    ck_assert_int_eq(pipe(e.go), 0);
    early = th_fork(put_when_told, &e);
    trid = th_running(.inherit = POSIX_TRACE_INHERITED);
    th_in_child(fork_again, &e.id);
    ck_assert_int_eq(write(e.go[1], "!", 1), 1);
    th_reap(early);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 4);
    ck_assert_uint_eq(from(list, early), 0);
    ck_assert_uint_eq(from(list, getpid()), 0);
    th_expect_run(list, 100);
    ck_ok(posix_trace_shutdown(trid));
    close(e.go[0]);
    close(e.go[1]);
}
END_TEST

START_TEST(test_243_one_inherited_one_not)
{
    trace_event_id_t id = th_id("who");
    trace_id_t a = th_running(.inherit = POSIX_TRACE_INHERITED);
    trace_id_t b = th_running(.inherit = POSIX_TRACE_CLOSE_FOR_CHILD);
    struct th_list in_a, in_b;

    th_put(id, 0, 8);
    th_in_child(put_4, &id);
    in_a = th_drain(a);
    in_b = th_drain(b);
    ck_assert_uint_eq(in_a.n, 5);
    ck_assert_uint_eq(from(in_a, getpid()), 1);
    th_expect(in_b, id);
    ck_assert_uint_eq(from(in_b, getpid()), 1);
    ck_ok(posix_trace_shutdown(a));
    ck_ok(posix_trace_shutdown(b));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_237_child_uses_parents_trid);
    tcase_add_test(tc, test_238_close_for_child);
    tcase_add_test(tc, test_239_inherited);
    tcase_add_test(tc, test_240_id_opened_before_fork);
    tcase_add_test(tc, test_241_name_opened_by_child);
    tcase_add_test(tc, test_242_descendants);
    tcase_add_test(tc, test_243_one_inherited_one_not);
}

int main(void)
{
    return th_main("L fork", add);
}
