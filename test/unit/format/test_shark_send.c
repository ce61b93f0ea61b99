/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/shark.h: the disk writer. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "shark_bench.h"

static void begin(int chunk)
{
    ck_ok(FTrace_actual_chunk_select(chunk));
    FTrace_enable();
}

/* A folder of the test's; name in it. */
static const char *place(const char *name)
{
    static char folder[TH_PATH], path[TH_PATH + 64];

    if (!*folder) {
        char some[TH_PATH];

        close(th_file(some, O_RDWR));
        snprintf(folder, sizeof folder, "%.150s.d", some);
        ck_ok(mkdir(folder, 0700));
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

START_TEST(nothing_initialised)
{
    int a = sb_chunk(3, 0, FREE | STOP);

    begin(a);
    sb_log(0, 2);
    ck_errno(FTrace_send_chunk(a, 0, FREE), EDESTADDRREQ);
    ck_errno(FTrace_send_chunk(a + 1, 0, FREE), ENOENT);
    FTrace_disk_writer(FTrace_get_chunk_table()[a]);
    ck_assert_int_eq(errno, EDESTADDRREQ);
    ck_assert_uint_eq(sb_flags(a), STOP);
    sb_expect(sb_send(a, FREE), 0, 2);
    sb_clear();
}
END_TEST

START_TEST(names_are_numbered)
{
    int a = sb_chunk(10, 0, FREE | STOP);
    struct stat st;

    begin(a);
    ck_ok(FTrace_init_disk_writer(place("trace.dat"), 1, "ignored", NULL));
    for (uint32_t i = 0; i < 12; i++) {
        sb_log(i * 10, i % 3 + 1);
        ck_ok(FTrace_send_chunk(a, -1, STOP));
    }
    for (uint32_t i = 0; i < 12; i++) {
        char name[32];

        snprintf(name, sizeof name, "%utrace.dat", i);
        sb_expect(sb_read(place(name)), i * 10, i % 3 + 1);
    }
    ck_ok(FTrace_send_chunk(a, 0, STOP)); /* an empty one */
    sb_expect(sb_read(place("12trace.dat")), 0, 0);
    ck_assert_int_eq(stat(place("13trace.dat"), &st), -1);
    /* From 0 again, over the old contents. */
    ck_ok(FTrace_init_disk_writer(place("trace.dat"), 1, NULL, NULL));
    sb_log(77, 2);
    FTrace_disk_writer(FTrace_get_chunk_table()[a]);
    ck_assert_int_eq(errno, 0);
    sb_expect(sb_read(place("0trace.dat")), 77, 2);
    ck_assert_uint_eq(sb_flags(a), STOP);
    sb_clear();
}
END_TEST

START_TEST(bad_names)
{
    char *longest = th_alloc(PATH_MAX + 2);
    int a = sb_chunk(10, 0, FREE | STOP);

    begin(a);
    sb_log(3, 4);
    memset(longest, 'x', PATH_MAX + 1);
    ck_errno(FTrace_init_disk_writer(NULL, 0, NULL, NULL), EINVAL);
    ck_errno(FTrace_init_disk_writer("", 0, NULL, NULL), EINVAL);
    ck_errno(FTrace_init_disk_writer("dir/", 0, NULL, NULL), EINVAL);
    ck_errno(FTrace_init_disk_writer(longest, 0, NULL, NULL), ENAMETOOLONG);
    FTrace_disk_writer(NULL);
    ck_assert_int_eq(errno, EINVAL);
    ck_ok(FTrace_init_disk_writer(place("no/such/x.dat"), 0, NULL, NULL));
    ck_errno(FTrace_send_chunk(a, 0, FREE), ENOENT);
    longest[PATH_MAX - 1] = '\0';
    ck_ok(FTrace_init_disk_writer(longest, 0, NULL, NULL));
    ck_errno(FTrace_send_chunk(a, 0, FREE), ENAMETOOLONG);
    /* None of that took anything out of the chunk. */
    sb_expect(sb_send(a, STOP), 3, 4);
    sb_clear();
}
END_TEST

/* A record that the disk takes in part counts as not sent, and the file ends before it. */
START_TEST(full_disk)
{
    enum { PLACES = 2000, IN_FILE = 600 };
    struct rlimit limit, small;
    int a = sb_chunk(PLACES, 0, FREE | STOP);

    begin(a);
    sb_log(0, PLACES);
    ck_ok(FTrace_init_disk_writer(place("full.dat"), 0, NULL, NULL));
    ck_ok(getrlimit(RLIMIT_FSIZE, &limit));
    small = limit;
    small.rlim_cur = IN_FILE * 16 + 7;
    signal(SIGXFSZ, SIG_IGN);
    ck_ok(setrlimit(RLIMIT_FSIZE, &small));
    ck_errno(FTrace_send_chunk(a, 0, FREE | CYC), EFBIG);
    ck_ok(setrlimit(RLIMIT_FSIZE, &limit));
    sb_expect(sb_read(place("0full.dat")), 0, IN_FILE);
    ck_assert_uint_eq(sb_flags(a), STOP);
    ck_assert_uint_eq(sb_look(a).events, PLACES - IN_FILE);
    /* There is room for as many as were sent. */
    sb_log(PLACES, IN_FILE + 1);
    ck_assert_uint_eq(sb_look(a).events, PLACES);
    ck_assert_uint_eq(sb_look(a).lost, 1);
    sb_expect(sb_send(a, STOP), IN_FILE, PLACES);
    sb_log(0, PLACES + 1);
    ck_assert_uint_eq(sb_look(a).events, PLACES);
    sb_expect(sb_send(a, STOP), 0, PLACES);
    sb_clear();
}
END_TEST

/* A disk that takes nothing, several times: each chunk keeps its own events. */
START_TEST(no_space)
{
    enum { PLACES = 5000, OTHERS = 3 };
    int a = sb_chunk(PLACES, 0, FREE | STOP), b = sb_chunk(PLACES, 0, FREE | CYC);

    begin(a);
    sb_log(0, PLACES);
    ck_ok(FTrace_actual_chunk_select(b));
    sb_log(9000, OTHERS);
    ck_ok(FTrace_init_disk_writer(place("none.dat"), 0, NULL, NULL));
    for (int i = 0; i < 3; i++) {
        char name[32];

        snprintf(name, sizeof name, "%dnone.dat", i);
        ck_ok(symlink("/dev/full", place(name)));
        ck_errno(FTrace_send_chunk(i == 1 ? b : a, 0, FREE), ENOSPC);
    }
    ck_assert_uint_eq(sb_look(a).events, PLACES);
    ck_assert_uint_eq(sb_look(b).events, OTHERS);
    sb_expect(sb_send(b, CYC), 9000, OTHERS);
    sb_expect(sb_send(a, FREE | STOP), 0, PLACES);
    ck_assert_uint_eq(sb_look(a).lost, 0);
    /* What a deleted chunk had is not another's. */
    ck_ok(FTrace_actual_chunk_select(a));
    sb_log(0, PLACES);
    ck_ok(FTrace_init_disk_writer(place("none.dat"), 0, NULL, NULL));
    ck_errno(FTrace_send_chunk(a, 0, FREE), ENOSPC);
    sb_clear();
    a = sb_chunk(PLACES, 0, FREE | STOP);
    sb_expect(sb_send(a, STOP), 0, 0);
    sb_clear();
}
END_TEST

static void *log_always(void *context)
{
    const int *chunk = context;

    while (sb_flags(*chunk) & FTRACE_CHUNK_FLAG_NODEL)
        sb_log(0, 10);
    return NULL;
}

/* A chunk that is logged into meanwhile is sent to its end, and not deleted. */
START_TEST(busy_chunk)
{
    int a = sb_chunk(1000, 0, FREE | CYC | NODEL);
    struct th_thread thread;
    uint64_t last = 0;

    begin(a);
    th_thread_start(&thread, log_always, &a);
    for (int i = 0; i < 20; i++) {
        struct records got = sb_send(a, CYC | NODEL);

        for (size_t k = 0; k < got.n; k++) {
            ck_assert(got.at[k].tsc >= last);
            last = got.at[k].tsc;
        }
    }
    ck_ok(FTrace_set_chunk_flags(a, CYC));
    th_thread_join(&thread);
    sb_clear();
}
END_TEST

/* Events that were logged during a send and stay are in the table. */
START_TEST(logged_meanwhile)
{
    enum { PLACES = 100000 };

    for (int i = 0; i < 20; i++) {
        int a = sb_chunk(PLACES, 0, FREE | CYC | NODEL);
        struct th_thread thread;
        uint32_t events;
        size_t left;

        begin(a);
        th_thread_start(&thread, log_always, &a);
        sb_send(a, CYC | NODEL);
        ck_ok(FTrace_set_chunk_flags(a, CYC));
        th_thread_join(&thread);
        events = sb_look(a).events;
        left = sb_send(a, CYC).n;
        ck_assert_uint_eq(events, left < PLACES ? left : PLACES);
        ck_assert_uint_eq(sb_look(a).events, 0);
        sb_clear();
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, nothing_initialised);
    tcase_add_test(tc, names_are_numbered);
    tcase_add_test(tc, bad_names);
    tcase_add_test(tc, full_disk);
    tcase_add_test(tc, no_space);
    tcase_add_test(tc, busy_chunk);
    tcase_add_test(tc, logged_meanwhile);
}

int main(void)
{
    return th_main("shark send", add);
}
