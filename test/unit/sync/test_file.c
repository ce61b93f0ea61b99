/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The file of clocks: what was read is written the same; damaged ones are refused with their line;
 * changed at random, none is taken that has an order or range that uses would rely on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "analysis/sync/sync_state.h"
#include "support/run_suite.h"

static const char good[] =
    "posixtrace-sync 1\n"
    "host 000102030405060708090a0b0c0d0e0f tsc reference 1000 9000 0 0 a\n"
    "knot 5 1000\nknot 105 9000\nbound 1000 0 0\ndrift 0 0\n"
    "host 100102030405060708090a0b0c0d0e0f monotonic messages 1000 9000 -7 12 "
    "b\\x20\\x5c\\xff\n"
    "knot 0 1000\nknot 18446744073709551615 4000000000000000000\n"
    "bound 1000 -10 -\nbound 9000 -30 40\ndrift -3 4\n"
    "log 200102030405060708090a0b0c0d0e0f imported unknown 0 1 0 0 \n"
    "knot 1 1\nknot 2 2\nbound 0 - -\ndrift 0 0\n"
    "between 0 1\nbound 2000 -5 5\nbound 3000 -5 6\nend\n";

static int read_text(const char *text, size_t size, posixtrace_sync_t **sync,
                     struct posixtrace_sync_fault *fault)
{
    int fd = memfd_create("sync", MFD_CLOEXEC), error;

    ck_assert(fd >= 0 && write(fd, text, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    error = posixtrace_sync_read(fd, sync, fault);
    close(fd);
    return error;
}

START_TEST(same_again)
{
    char text[2 * sizeof good] = "";
    int fd = memfd_create("sync", MFD_CLOEXEC);
    posixtrace_sync_t *sync;
    struct posixtrace_sync_host h;
    struct posixtrace_interval i;

    ck_assert_int_eq(read_text(good, strlen(good), &sync, NULL), 0);
    ck_assert_int_eq(posixtrace_sync_write(sync, fd), 0);
    ck_assert_int_eq(pread(fd, text, sizeof text - 1, 0), strlen(good));
    ck_assert_str_eq(text, good);
    close(fd);
    ck_assert_int_eq(posixtrace_sync_host(sync, 1, &h, sizeof h), 0);
    ck_assert_str_eq(h.host, "b \\\xff");
    ck_assert_int_eq(posixtrace_sync_host(sync, 3, &h, sizeof h), ENOENT);
    ck_assert_int_eq(posixtrace_sync_error(sync, 1, 5000, &i), 0);
    ck_assert(i.least_ns == -20 && i.most_ns == INT64_MAX);
    ck_assert_int_eq(posixtrace_sync_error(sync, 1, 1000009000, &i), 0);
    ck_assert(i.least_ns == -33 && i.most_ns == 44);
    /* of all times between two */
    ck_assert_int_eq(posixtrace_sync_error_within(sync, 1, 9001, 1000009000, &i), 0);
    ck_assert(i.least_ns == -33 && i.most_ns == 44);
    ck_assert_int_eq(posixtrace_sync_error_within(sync, 1, 5000, 9001, &i), 0);
    ck_assert(i.least_ns == -31 && i.most_ns == INT64_MAX);
    ck_assert_int_eq(posixtrace_sync_error_within(sync, 0, 0, 90000, &i), 0);
    ck_assert(i.least_ns == 0 && i.most_ns == 0);
    ck_assert_int_eq(posixtrace_sync_error_within(sync, 3, 0, 1, &i), ENOENT);
    ck_assert_int_eq(posixtrace_sync_error_within(sync, 0, 1, 0, &i), EINVAL);
    /* by the pair, and in the other direction */
    ck_assert_int_eq(posixtrace_sync_difference(sync, 0, 2000, 1, 2000, &i), 0);
    ck_assert(i.least_ns == -5 && i.most_ns == 5);
    ck_assert_int_eq(posixtrace_sync_difference(sync, 1, 3000, 0, 3000, &i), 0);
    ck_assert(i.least_ns == -6 && i.most_ns == 5);
    ck_assert_int_eq(posixtrace_sync_difference(sync, 0, INT64_MIN, 2, INT64_MAX, &i), 0);
    ck_assert(i.least_ns == INT64_MIN && i.most_ns == INT64_MAX);
    posixtrace_sync_free(sync);
}
END_TEST

START_TEST(damaged)
{
    static const struct {
        const char *old, *new;
        size_t line;
    } damage[] = {
        { "sync 1", "sync 2", 1 },
        { "0e0f tsc", "0e0g tsc", 2 },
        { "tsc ref", "sct ref", 2 },
        { "knot 105 9000", "knot 5 9000", 4 },
        { "knot 105 9000", "knot 105 1000", 4 },
        { "knot 105 9000\n", "", 6 },
        { "bound 1000 0 0", "bound 1000 1 1", 5 },
        { "drift -3 4", "drift 3 4", 12 },
        { "between 0 1", "between 1 0", 18 },
        { "between 0 1", "between 1 3", 18 },
        { "\\x20", "\\x00", 7 },
        { "end\n", "", 21 },
        { "end\n", "end\nend\n", 22 },
        { "end\n", "end", 21 },
        { "drift 0 0\n", "drift 0 0 0\n", 6 },
        { "bound 3000", "bound 2000", 20 },
    };

    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        const char *at = strstr(good, damage[i].old);
        struct posixtrace_sync_fault fault;
        char text[2 * sizeof good];
        posixtrace_sync_t *sync;

        ck_assert_ptr_nonnull(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, damage[i].new,
                 at + strlen(damage[i].old));
        ck_assert_msg(read_text(text, strlen(text), &sync, &fault) == EILSEQ, "%zu is taken", i);
        ck_assert_msg(fault.line == damage[i].line && fault.text[0], "%zu: line %zu: %s", i,
                      fault.line, fault.text);
    }
}
END_TEST

/* Bytes changed, lines doubled or left out: it is refused, or is as any other. */
START_TEST(changed)
{
    unsigned seed = 1;

    for (int round = 0; round < 20000; round++) {
        char text[sizeof good];
        struct posixtrace_interval d;
        posixtrace_sync_t *sync;

        memcpy(text, good, sizeof good);
        for (int n = 0; n < 1 + round % 4; n++) {
            seed = seed * 1103515245 + 12345;
            text[seed / 65536 % (sizeof good - 1)] = "0123456789- \nabxlu"[seed / 1024 % 18];
        }
        if (read_text(text, sizeof good - 1, &sync, NULL) != 0)
            continue;
        for (size_t i = 0; i < sync->host_count; i++) {
            ck_assert(sync->hosts[i].knot_count >= 2 && sync->hosts[i].bound_count >= 1);
            for (size_t k = 0; k < sync->host_count; k++)
                ck_assert(posixtrace_sync_difference(sync, i, 2500, k, 2600, &d) == 0 &&
                          d.least_ns <= d.most_ns);
        }
        posixtrace_sync_free(sync);
    }
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, same_again);
    tcase_add_test(t, damaged);
    tcase_add_test(t, changed);
}

int main(void)
{
    return run_suite("sync file", "file", NULL, add);
}
