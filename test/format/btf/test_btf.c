/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* BTF through the functions: described data in an export, arguments of the check. */
#include <errno.h>
#include <posixtrace/format.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "support/run_suite.h"

static posixtrace_log_builder_t *builder;
static int log_fd;
static int64_t now;

static void open_builder(void)
{
    log_fd = memfd_create("btf", MFD_CLOEXEC);
    ck_assert_int_ge(log_fd, 0);
    ck_assert_int_eq(posixtrace_log_builder_create(log_fd, NULL, &builder), 0);
    now = 1795255200000000000;
}

static void add(const char *name, const char *description, const void *data, size_t length)
{
    struct posixtrace_event event = { .ns = now++,
                                      .name = name,
                                      .thread_name = "t",
                                      .pid = 1,
                                      .tid = 9,
                                      .data = data,
                                      .data_len = length };

    if (description)
        ck_assert_int_eq(posixtrace_log_builder_describe(builder, name, description), 0);
    ck_assert_int_eq(posixtrace_log_builder_add(builder, &event, sizeof event), 0);
}

/* The log as BTF; to be freed. */
static char *exported(void)
{
    struct posixtrace_conversion c = { 0 };
    int to = memfd_create("btf", MFD_CLOEXEC);
    trace_id_t trid;
    char *text;
    off_t size;

    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    ck_assert_int_eq(lseek(log_fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(log_fd, &trid), 0);
    ck_assert_msg(posixtrace_export(trid, "btf", to, &c, sizeof c) == 0, "%s", c.error);
    ck_assert_uint_eq(c.left_out, 0);
    posix_trace_close(trid);
    size = lseek(to, 0, SEEK_END);
    text = calloc(1, (size_t)size + 1);
    ck_assert_int_eq(pread(to, text, (size_t)size, 0), size);
    close(to);
    close(log_fd);
    return text;
}

static void need_line(const char *text, const char *line)
{
    ck_assert_msg(strstr(text, line), "no '%s' in\n%s", line, text);
}

START_TEST(data_becomes_notes)
{
    char *text;

    open_builder();
    add("little", "le; u16 v", "\x01\x02", 2);
    add("big", "be; u16 v", "\x01\x02", 2);
    add("negative", "i8 v", "\xff", 1);
    add("several", "u8 a; str b", "\x07now, then", 11);
    add("cut", "u32 v", "\x01\x02", 2);
    add("plain", NULL, "\x01\x02", 2);
    add("none", NULL, NULL, 0);
    add("a,b\nc", NULL, NULL, 0);
    text = exported();
    need_line(text, "\n0,t.9,0,SIG,little,0,write,513\n");
    need_line(text, "\n1,t.9,0,SIG,big,0,write,258\n");
    need_line(text, "\n2,t.9,0,SIG,negative,0,write,-1\n");
    need_line(text, "\n3,t.9,0,SIG,several,0,write,a=7 b=\"now, then\"\n");
    need_line(text, "\n4,t.9,0,SIG,cut,0,write,0x0102\n");
    need_line(text, "\n5,t.9,0,SIG,plain,0,write,0x0102\n");
    need_line(text, "\n6,t.9,0,STI,none,0,trigger\n");
    need_line(text, "\n7,t.9,0,STI,a_b_c,0,trigger\n");
    free(text);
}
END_TEST

/* Names that other entities have, or that become the same. */
START_TEST(names_are_unique)
{
    char *text;

    open_builder();
    add("t.9", NULL, NULL, 0);
    add("x,", NULL, NULL, 0);
    add("x;", NULL, NULL, 0);
    add("x_", NULL, NULL, 0);
    add("x_", NULL, "a", 1);
    text = exported();
    need_line(text, ",STI,t.9_2,0,trigger\n");
    need_line(text, ",STI,x_,0,trigger\n");
    need_line(text, ",STI,x;,0,trigger\n");
    need_line(text, ",STI,x__2,0,trigger\n");
    need_line(text, ",SIG,x__3,0,write,0x61\n");
    free(text);
}
END_TEST

/* A type called as those of an import, but with other data, is one of the program. */
START_TEST(not_from_an_import)
{
    char *text;

    open_builder();
    add("btf:T:start", "u8 v", "\x01", 1);
    add("btf:other", NULL, "abc", 3);
    add("btf:parameter", NULL, NULL, 0);
    text = exported();
    need_line(text, ",t.9,0,SIG,btf:T:start,0,write,1\n");
    need_line(text, ",t.9,0,SIG,btf:other,0,write,0x616263\n");
    need_line(text, ",t.9,0,STI,btf:parameter,0,trigger\n");
    free(text);
}
END_TEST

static int checked(const char *text, const char *version, unsigned flags,
                   struct posixtrace_btf_report *report)
{
    int from = memfd_create("btf", MFD_CLOEXEC), error;

    ck_assert_int_eq(write(from, text, strlen(text)), strlen(text));
    ck_assert_int_eq(lseek(from, 0, SEEK_SET), 0);
    error = posixtrace_btf_check(from, version, flags, NULL, NULL, report, sizeof *report);
    close(from);
    return error;
}

START_TEST(check_by_version)
{
    static const char text[] = "#version 2.2.1\n#timescale ns\n0,SIM,0,SYS,SYSTEM,0,start\n"
                               "1,C1,0,I,Int,0,interrupt_suspended\n";
    struct posixtrace_btf_report report;

    ck_assert_int_eq(checked(text, NULL, 0, &report), 0);
    ck_assert_uint_eq(report.findings, 1);
    ck_assert_str_eq(report.version, "2.2.1");
    ck_assert_str_eq(report.rules, "2.2.1");
    ck_assert_uint_eq(report.lines, 4);
    ck_assert_uint_eq(report.events, 2);
    /* SYS is of 2.1.5, interrupt_suspended is not. */
    ck_assert_int_eq(checked(text, "2.1.5", 0, &report), 0);
    ck_assert_str_eq(report.rules, "2.1.5");
    ck_assert_uint_eq(report.findings, 1);
    /* Tolerated at the start of a trace only. */
    ck_assert_int_eq(checked(text, "2.3.0", POSIXTRACE_BTF_FROM_START, &report), 0);
    ck_assert_uint_eq(report.findings, 2);
}
END_TEST

START_TEST(arguments)
{
    struct posixtrace_btf_report report;

    ck_assert_int_eq(posixtrace_btf_check(-1, NULL, 0, NULL, NULL, &report, sizeof report), EBADF);
    ck_assert_int_eq(posixtrace_btf_check(STDIN_FILENO, NULL, 0, NULL, NULL, NULL,
                                          sizeof(struct posixtrace_btf_report)),
                     EINVAL);
    ck_assert_int_eq(checked("#version 2.2.1\n", "3.0", 0, &report), EINVAL);
    ck_assert_int_eq(checked("#version 2.2.1\n", "2.x", 0, &report), EINVAL);
    ck_assert_int_eq(checked("#version 2.2.1\n", NULL, 2, &report), EINVAL);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, data_becomes_notes);
    tcase_add_test(t, names_are_unique);
    tcase_add_test(t, not_from_an_import);
    tcase_add_test(t, check_by_version);
    tcase_add_test(t, arguments);
}

int main(void)
{
    return run_suite("btf", "functions", NULL, add_tests);
}
