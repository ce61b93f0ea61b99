/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Texts of mappings, good and bad, and what lies at an address at some time. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <posixtrace/symbols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include "support/run_suite.h"

static posixtrace_symbols_t *s;
static uint32_t number;

static void setup(void)
{
    number = 1;
    ck_assert_int_eq(posixtrace_symbols_create(NULL, &s), 0);
}

static void teardown(void)
{
    posixtrace_symbols_free(s);
}

static int add(const char *text)
{
    return posixtrace_symbols_add(s, number++, text);
}

static const char *at(pid_t pid, int64_t ns, uint64_t address)
{
    static char text[128];

    posixtrace_symbols_text(s, pid, ns, address, POSIXTRACE_ADDRESS_CODE, text, sizeof text);
    return text;
}

#define ck_at(pid, ns, address, text) ck_assert_str_eq(at(pid, ns, address), text)
#define ck_takes(text)                ck_assert_int_eq(add(text), 0)

START_TEST(one_process)
{
    ck_takes("o - /bin/app");
    ck_takes("o - /lib/a.so.1");
    ck_takes("= 7 1000 400000-500000:1 7f0000000000-7f0000010000:2 ");
    ck_at(7, 1000, 0x400000, "app+0x0");
    ck_at(7, 2000, 0x4fffff, "app+0xfffff");
    ck_at(7, 2000, 0x500000, "");
    ck_at(7, 2000, 0x3fffff, "");
    ck_at(7, 2000, 0x7f0000001234, "a.so.1+0x1234");
    ck_at(8, 2000, 0x400000, "");
}
END_TEST

/* The clocks of a text and of an event differ a little. */
START_TEST(before_the_first)
{
    ck_takes("o - /bin/app");
    ck_takes("= 7 1000 400000-500000:1 ");
    ck_at(7, 1, 0x400010, "app+0x10");
}
END_TEST

START_TEST(comes_and_goes)
{
    ck_takes("o - /bin/app");
    ck_takes("o - /lib/a.so");
    ck_takes("o - /lib/b.so");
    ck_takes("= 7 1000 400000-500000:1 ");
    ck_takes("+ 7 2000 600000-700000:2 ");
    ck_takes("- 7 3000 600000 ");
    ck_takes("+ 7 4000 600000-700000:3 ");
    ck_at(7, 2500, 0x600001, "a.so+0x1");
    ck_at(7, 4500, 0x600001, "b.so+0x1");
    ck_at(7, 4500, 0x400001, "app+0x1");
    ck_at(7, 1500, 0x600001, "a.so+0x1");
}
END_TEST

/* Of one image at most so many; a text with more is refused. */
START_TEST(many)
{
    char text[64];
    unsigned taken = 0;

    ck_takes("o - /bin/app");
    for (unsigned i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "%c 7 1000 %x000-%x000:1 ", i ? '+' : '=', 16 * i + 16,
                 16 * i + 17);
        taken += add(text) == 0;
    }
    ck_assert_uint_eq(taken, 16384);
    ck_at(7, 1500, 0x10001, "app+0x1");
}
END_TEST

START_TEST(exec)
{
    ck_takes("o - /bin/a");
    ck_takes("o - /bin/b");
    ck_takes("= 7 1000 400000-500000:1 ");
    ck_takes("= 7 2000 400000-500000:2 ");
    ck_takes("+ 7 3000 600000-700000:1 ");
    ck_at(7, 1500, 0x400001, "a+0x1");
    ck_at(7, 2000, 0x400001, "b+0x1");
    ck_at(7, 3500, 0x400001, "b+0x1");
    ck_at(7, 3500, 0x600001, "a+0x1");
}
END_TEST

START_TEST(forked)
{
    ck_takes("o - /bin/app");
    ck_takes("o - /lib/a.so");
    ck_takes("= 7 1000 400000-500000:1 600000-700000:2 ");
    ck_takes("< 8 2000 7 1000 ");
    ck_takes("- 7 2500 600000 ");
    ck_takes("< 9 3000 8 2000 ");
    ck_at(8, 2100, 0x400001, "app+0x1");
    ck_at(8, 3000, 0x600001, "a.so+0x1");
    ck_at(9, 3100, 0x600001, "a.so+0x1");
    ck_at(7, 3000, 0x600001, "");
    ck_takes("- 8 4000 600000 ");
    ck_at(8, 3500, 0x600001, "a.so+0x1");
    ck_at(8, 4500, 0x600001, "");
    ck_at(8, 4500, 0x400001, "app+0x1");
    ck_takes("+ 8 5000 600000-700000:1 ");
    ck_at(8, 5500, 0x600001, "app+0x1");
}
END_TEST

/* A process that is its own parent. */
START_TEST(endless)
{
    ck_takes("o - /bin/app");
    ck_takes("< 8 2000 8 2000 ");
    ck_takes("< 9 2000 10 2000 ");
    ck_takes("< 10 2000 9 2000 ");
    ck_at(8, 3000, 0x400001, "");
    ck_at(9, 3000, 0x400001, "");
}
END_TEST

START_TEST(bad_texts)
{
    static const char *const bad[] = {
        "",
        "x",
        "o",
        "o ",
        "o -",
        "o - ",
        "o - relative",
        "? 7 1000 1-2:1 ",
        "= ",
        "= x",
        "= 7",
        "= -7 1000 400000-500000:1 ",
        "= 7 99999999999999999999999 400000-500000:1 ",
        "= 7 1000 500000-400000:1 ",
        "= 7 1000 400000-400000:1 ",
        "= 7 1000 400000:1 ",
        "= 7 1000 400000-500000 ",
        "= 7 1000 400000-500000:99999 ",
        "= 7 1000  400000-500000:1 ",
        "- 7 1000 x ",
        "< 7 1000 x ",
        "< 7 1000 ",
        "! ",
        "! x",
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(add(bad[i]) == EINVAL, "'%s' is taken", bad[i]);
    ck_assert_int_eq(posixtrace_symbols_add(s, 8192, "o - /bin/app"), EINVAL);
    ck_assert_int_eq(posixtrace_symbols_add(NULL, 1, "o - /bin/app"), EINVAL);
    ck_assert_int_eq(posixtrace_symbols_add(s, 1, NULL), EINVAL);
}
END_TEST

/* A mapping whose file has no text, and a second text for a number. */
START_TEST(files)
{
    ck_takes("= 7 1000 400000-500000:100 ");
    ck_at(7, 2000, 0x400001, "");
    ck_assert_int_eq(posixtrace_symbols_add(s, 100, "o 00ff /bin/app"), 0);
    ck_at(7, 2000, 0x400001, "app+0x1");
    ck_assert_int_eq(posixtrace_symbols_add(s, 100, "o 00ff /bin/other"), EINVAL);
    ck_at(7, 2000, 0x400001, "app+0x1");
}
END_TEST

START_TEST(texts)
{
    char text[16];

    ck_takes("o xyz /bin/\033[31m\xc3\xa9\n");
    ck_takes("= 7 1000 400000-500000:1 ");
    ck_at(7, 2000, 0x400001, "?[31m???+0x1");
    ck_assert_uint_eq(
        posixtrace_symbols_text(s, 7, 2000, 0x400001, POSIXTRACE_ADDRESS_DATA, text, 4), 3);
    ck_assert_str_eq(text, "?[3");
    ck_assert_uint_eq(posixtrace_symbols_text(s, 7, 2000, 1, POSIXTRACE_ADDRESS_DATA, text, 4), 0);
    ck_assert_str_eq(text, "");
    ck_assert_uint_eq(posixtrace_symbols_text(s, 7, 2000, 1, POSIXTRACE_ADDRESS_DATA, text, 0), 0);
}
END_TEST

/* The path may be of anything; to open a FIFO or a device has effects. */
START_TEST(no_regular_file)
{
    char dir[] = "/tmp/symbols-XXXXXX", path[64], text[128],
         event[sizeof(struct inotify_event) + 1];
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/fifo", dir);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_ge(inotify_add_watch(watch, path, IN_OPEN), 0);
    snprintf(text, sizeof text, "o 00ff %s", path);
    ck_takes(text);
    ck_takes("= 7 1000 400000-500000:1 ");
    ck_at(7, 2000, 0x400001, "fifo+0x1");
    ck_assert_int_eq(read(watch, event, sizeof event), -1);
    close(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ck_assert_int_gt(read(watch, event, sizeof event), 0);
    close(watch);
    unlink(path);
    rmdir(dir);
}
END_TEST

/* A list that was full says that mappings are no longer known. */
START_TEST(full_list)
{
    ck_takes("o - /bin/a");
    ck_takes("= 7 1000 400000-500000:1 ");
    ck_takes("= 8 1000 400000-500000:1 ");
    ck_takes("= 7 2000 ");
    ck_at(7, 1500, 0x400001, "a+0x1");
    ck_at(7, 2000, 0x400001, "");
    ck_at(8, 2500, 0x400001, "a+0x1");
    ck_takes("! 3000 ");
    ck_at(8, 2999, 0x400001, "a+0x1");
    ck_at(8, 3000, 0x400001, "");
    ck_takes("= 8 4000 400000-500000:1 ");
    ck_takes("! 5000");
    ck_at(8, 4500, 0x400001, "");
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, one_process);
    tcase_add_test(tc, before_the_first);
    tcase_add_test(tc, comes_and_goes);
    tcase_add_test(tc, many);
    tcase_add_test(tc, exec);
    tcase_add_test(tc, forked);
    tcase_add_test(tc, endless);
    tcase_add_test(tc, full_list);
    tcase_add_test(tc, bad_texts);
    tcase_add_test(tc, files);
    tcase_add_test(tc, texts);
    tcase_add_test(tc, no_regular_file);
}

int main(void)
{
    return run_suite("symbols", "mapped", NULL, add_tests);
}
