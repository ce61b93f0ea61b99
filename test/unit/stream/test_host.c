/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which machine recorded: a stream and its log have its name and boot id, an imported log has none,
 * and a name without an end in a header is cut.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <trace.h>
#include "log/format.h"
#include "support/run_suite.h"

static int new_file(void)
{
    int fd = memfd_create("log", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    return fd;
}

static struct posixtrace_info info_of(trace_id_t trid)
{
    struct posixtrace_info info;

    memset(&info, 0xff, sizeof info);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    return info;
}

/* As the kernel writes it: digits with dashes between. */
static void read_boot_id(char to[33])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    size_t length = 0;
    int c;

    ck_assert_ptr_nonnull(f);
    while ((c = fgetc(f)) != EOF && length < 32)
        if (c != '-')
            to[length++] = (char)c;
    fclose(f);
    to[length] = '\0';
}

static void expect_this_machine(const struct posixtrace_info *info)
{
    char wanted[33], is[33];
    struct utsname names;

    ck_assert_int_eq(uname(&names), 0);
    names.nodename[63] = '\0';
    ck_assert_str_eq(info->host, names.nodename);
    read_boot_id(wanted);
    for (int i = 0; i < 16; i++)
        snprintf(is + 2 * i, 3, "%02x", info->boot_id[i]);
    ck_assert_str_eq(is, wanted);
}

static int make_log(void)
{
    struct posixtrace_info info;
    int fd = new_file();
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_create_withlog(0, NULL, fd, &trid), 0);
    info = info_of(trid);
    expect_this_machine(&info);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    return fd;
}

START_TEST(recorded_here)
{
    struct posixtrace_info info;
    int fd = make_log();
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    info = info_of(trid);
    expect_this_machine(&info);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

START_TEST(imported)
{
    static const uint8_t none[16];
    posixtrace_log_builder_t *builder;
    struct posixtrace_info info;
    int fd = new_file();
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_log_builder_create(fd, NULL, &builder), 0);
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    info = info_of(trid);
    ck_assert_str_eq(info.host, "");
    ck_assert_mem_eq(info.boot_id, none, sizeof none);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

START_TEST(without_an_end)
{
    struct posixtrace_info info;
    struct pt_log_header h;
    int fd = make_log();
    trace_id_t trid;

    ck_assert_int_eq(pread(fd, &h, sizeof h, 0), sizeof h);
    ck_assert(pt_log_header_open(&h));
    memset(h.host, 'x', sizeof h.host);
    pt_log_header_seal(&h);
    ck_assert_int_eq(pwrite(fd, &h, sizeof h, 0), sizeof h);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    info = info_of(trid);
    ck_assert_uint_eq(strlen(info.host), sizeof info.host - 1);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, recorded_here);
    tcase_add_test(t, imported);
    tcase_add_test(t, without_an_end);
}

int main(void)
{
    return run_suite("stream", "host", NULL, add);
}
