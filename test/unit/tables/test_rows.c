/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The interface of posixtrace/tables.h: errors, results of the caller's functions, selections, and
 * cells of a log that knows little of itself.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/tables.h>
#include "support/run_suite.h"

enum { PAIRS = 1000, LOST = 77 };

/* Pairs of two threads in turn; loses: and a loss that no thread has and no mark says. */
static int write_log(int pairs, bool loses)
{
    FILE *file = tmpfile();
    uint64_t lost[POSIXTRACE_LOSS_CAUSES] = { [POSIXTRACE_LOST_FULL] = LOST };
    posixtrace_log_builder_t *builder;
    int fd;

    ck_assert(file && posixtrace_log_builder_create(fileno(file), NULL, &builder) == 0);
    for (int i = 0; i < 4 * pairs; i++) {
        struct posixtrace_event e = { .name = i & 2 ? "x:end" : "x:begin",
                                      .thread_name = i & 1 ? "second" : "first",
                                      .pid = 5,
                                      .tid = 5 + (i & 1),
                                      .ns = 1000 + i };

        ck_assert_int_eq(posixtrace_log_builder_add(builder, &e, sizeof e), 0);
    }
    if (loses)
        ck_assert_int_eq(posixtrace_log_builder_lost(builder, lost), 0);
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    ck_assert_int_eq(lseek(fileno(file), 0, SEEK_SET), 0);
    fd = dup(fileno(file));
    fclose(file);
    return fd;
}

static trace_id_t open_log(int pairs, bool loses)
{
    int fd = write_log(pairs, loses);
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    close(fd);
    return trid;
}

static posixtrace_tables_t *tables_of(trace_id_t trid,
                                      const struct posixtrace_tables_options *options)
{
    posixtrace_tables_t *tables = NULL;

    ck_assert_int_eq(posixtrace_tables_create(trid, options, sizeof *options, &tables), 0);
    return tables;
}

struct seen {
    bool gaps;
    size_t rows, most; /* most: the row at which it stops */
    int64_t lost, sum;
};

static int take(void *context, const struct posixtrace_cell *cells)
{
    struct seen *s = context;

    ck_assert_int_eq(cells[POSIXTRACE_COLUMN_POSITION].number, (int64_t)s->rows);
    if (s->gaps)
        s->lost += cells[POSIXTRACE_GAPS_LOST].number;
    else
        s->sum += cells[POSIXTRACE_MEASUREMENTS_LENGTH].number;
    return ++s->rows == s->most ? -9 : 0;
}

static int stop(void *context, uint64_t events)
{
    (void)context;
    return events > PAIRS ? -8 : 0;
}

START_TEST(wrong_arguments_are_einval)
{
    const struct posixtrace_tables_options options = { .host = NULL };
    trace_id_t trid = open_log(1, false), active;
    posixtrace_tables_t *tables;

    ck_assert_int_eq(posixtrace_tables_create(trid, NULL, 0, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_tables_create(trid, &options, 0, &tables), EINVAL);
    ck_assert_int_eq(posix_trace_create(0, NULL, &active), 0);
    ck_assert_int_eq(posixtrace_tables_create(active, NULL, 0, &tables), EINVAL);
    ck_assert_int_eq(posix_trace_shutdown(active), 0);
    ck_assert_int_eq(posixtrace_tables_create(trid, NULL, 0, &tables), 0);
    ck_assert_int_eq(posixtrace_tables_rows(NULL, POSIXTRACE_TABLE_GAPS, take, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_GAPS, NULL, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_EVENTS, take, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_tables_rows(tables, POSIXTRACE_TABLES, take, NULL), EINVAL);
    ck_assert_ptr_null(posixtrace_tables_origin(NULL));
    ck_assert_ptr_null(posixtrace_tables_process(NULL, 5));
    ck_assert_ptr_null(posixtrace_table_name(POSIXTRACE_TABLES));
    ck_assert_ptr_null(posixtrace_table_column(POSIXTRACE_TABLE_GAPS, POSIXTRACE_GAPS_COLUMNS));
    posixtrace_tables_free(tables);
    posixtrace_tables_free(NULL);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(results_of_functions_are_returned)
{
    const struct posixtrace_tables_options o = { .progress = stop };
    trace_id_t trid = open_log(PAIRS, false);
    posixtrace_tables_t *tables = tables_of(trid, &o);
    struct seen s = { .most = 3 }, more = { .most = 0 }, all = { .most = 0 };

    ck_assert_int_eq(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_MEASUREMENTS, take, &s), -9);
    ck_assert_uint_eq(s.rows, 3);
    ck_assert_int_eq(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_MEASUREMENTS, take, &more),
                     -8);
    more.gaps = true;
    ck_assert_int_eq(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_GAPS, take, &more), -8);
    posixtrace_tables_free(tables);
    ck_assert_int_eq(posixtrace_tables_create(trid, NULL, 0, &tables), 0);
    ck_assert_int_eq(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_MEASUREMENTS, take, &all), 0);
    ck_assert_uint_eq(all.rows, 2 * PAIRS);
    ck_assert_int_eq(all.sum, 2 * 2 * PAIRS);
    posixtrace_tables_free(tables);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(a_loss_of_no_thread_is_a_row)
{
    trace_id_t trid = open_log(1, true);
    posixtrace_tables_t *tables;
    struct seen s = { .gaps = true };

    ck_assert_int_eq(posixtrace_tables_create(trid, NULL, 0, &tables), 0);
    ck_assert_int_eq(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_GAPS, take, &s), 0);
    ck_assert_uint_eq(s.rows, 2); /* when, and how many */
    ck_assert_int_eq(s.lost, LOST);
    posixtrace_tables_free(tables);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

static bool is_second(void *context, const struct posixtrace_event *begin)
{
    (void)context;
    return begin->tid == 6 && strcmp(begin->name, "x:begin") == 0;
}

START_TEST(what_begins_with_a_selected_event)
{
    const struct posixtrace_tables_options o = { .wants = is_second, .host = "elsewhere" };
    trace_id_t trid = open_log(PAIRS, false);
    posixtrace_tables_t *tables = tables_of(trid, &o);
    const struct posixtrace_cell *origin = posixtrace_tables_origin(tables);
    struct seen s = { .most = 0 };

    ck_assert_int_eq(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_MEASUREMENTS, take, &s), 0);
    ck_assert_uint_eq(s.rows, PAIRS);
    ck_assert_uint_eq(origin[POSIXTRACE_COLUMN_HOST].length, strlen("elsewhere"));
    ck_assert_str_eq(origin[POSIXTRACE_COLUMN_HOST].text, "elsewhere");
    ck_assert_uint_eq(origin[POSIXTRACE_COLUMN_LOG].length, 32);
    ck_assert_str_eq(posixtrace_tables_process(tables, 5), "first");
    ck_assert_ptr_null(posixtrace_tables_process(tables, 6));
    posixtrace_tables_free(tables);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(a_pipe_cannot_be_read_again)
{
    char bytes[65536];
    posixtrace_tables_t *tables;
    struct posixtrace_event e;
    struct seen s = { .most = 0 };
    int fd = write_log(1, false), ends[2], unavailable;
    ssize_t size = read(fd, bytes, sizeof bytes);
    trace_id_t trid;

    ck_assert(size > 0 && pipe(ends) == 0 && write(ends[1], bytes, (size_t)size) == size);
    close(ends[1]);
    ck_assert_int_eq(posix_trace_open(ends[0], &trid), 0);
    ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &unavailable), 0);
    ck_assert_int_eq(posixtrace_tables_create(trid, NULL, 0, &tables), 0);
    ck_assert_int_eq(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_GAPS, take, &s), ESPIPE);
    posixtrace_tables_free(tables);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(ends[0]);
    close(fd);
}
END_TEST

static void add(TCase *c)
{
    tcase_add_test(c, wrong_arguments_are_einval);
    tcase_add_test(c, results_of_functions_are_returned);
    tcase_add_test(c, a_loss_of_no_thread_is_a_row);
    tcase_add_test(c, what_begins_with_a_selected_event);
    tcase_add_test(c, a_pipe_cannot_be_read_again);
}

int main(void)
{
    return run_suite("tables", "rows", NULL, add);
}
