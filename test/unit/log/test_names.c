/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Names of system types in logs: there before the first event that needs them, in
 * every kind of log, and what the log says counts, not what the reader would say.
 */
#include <errno.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"
#include "support/system_types.h"

enum { TO_COME = 100 };

static uint64_t chunk;

/* A packet with one event. */
static void put(struct pt_log_writer *w, unsigned id, uint64_t ts)
{
    _Alignas(8) uint8_t record[PT_RECORD_HEAD + 8] = { 0 };
    uint64_t no = chunk++;
    struct pt_log_packet p = { .author = { .wid = 2, .pid = 1, .tid = 1 },
                               .chunk_seq = no + 1,
                               .bytes = sizeof record,
                               .events = 1,
                               .first_no = no,
                               .base_ts = ts,
                               .first_ts = ts,
                               .last_ts = ts,
                               .records = record };

    pt_record_put_head(record, PT_RECORD_EVENT, id, 8, 0, 0);
    ck_assert_int_ge(pt_log_put_packet(w, &p), 0);
}

static void end_round(struct pt_log_writer *w, uint64_t watermark, bool last)
{
    struct pt_log_status status = { .watermark = watermark };
    struct pt_log_author_totals totals = { .author = { .wid = 2, .pid = 1, .tid = 1 },
                                           .recorded = chunk };

    ck_assert_int_eq(last ? pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, &totals, 1)
                          : pt_log_end_round(w, &status, &totals, 1),
                     0);
}

/* What the next event of the log is called. */
static const char *next_name(trace_id_t trid)
{
    static struct posixtrace_event e;
    int none = 0;

    ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
    return none ? "none" : e.name;
}

static unsigned listed(trace_id_t trid, unsigned from, unsigned to)
{
    unsigned n = 0;

    ck_assert_int_eq(posix_trace_eventtypelist_rewind(trid), 0);
    for (;;) {
        trace_event_id_t id;
        int end;

        ck_assert_int_eq(posix_trace_eventtypelist_getnext_id(trid, &id, &end), 0);
        if (end)
            return n;
        n += id >= from && id <= to;
    }
}

static trace_id_t open_log(int fd)
{
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    return trid;
}

/* A later version, or another one of the same time, has written the log. */
START_TEST(of_another_library)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1 << 20);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_id_t trid;

    ck_assert_int_eq(pt_log_put_text(w, PT_TEXT_NAME, TO_COME, "posixtrace_to_come"), 0);
    ck_assert_int_eq(pt_log_put_text(w, PT_TEXT_NAME, POSIXTRACE_SLEEP, "posixtrace_other"), 0);
    put(w, TO_COME, 10);
    put(w, POSIXTRACE_SLEEP, 20);
    put(w, POSIXTRACE_SLEEP_DONE, 30);
    end_round(w, 40, true);
    pt_log_writer_free(w);
    trid = open_log(fd);
    ck_assert_str_eq(next_name(trid), "posixtrace_to_come");
    ck_assert_str_eq(next_name(trid), "posixtrace_other");
    ck_assert_str_eq(next_name(trid), "posixtrace_sleep_done");
    ck_assert_str_eq(next_name(trid), "none");
    ck_assert_uint_eq(listed(trid, 9, 191), OWN_TYPES + 1);
    ck_assert_int_eq(posix_trace_eventid_get_name(trid, TO_COME, name), 0);
    ck_assert_str_eq(name, "posixtrace_to_come");
    ck_assert_int_eq(posix_trace_eventid_get_name(trid, TO_COME + 1, name), EINVAL);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

START_TEST(of_nobody)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1 << 20);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    trace_id_t trid;

    put(w, ID_A, 10);
    end_round(w, 20, true);
    pt_log_writer_free(w);
    trid = open_log(fd);
    ck_assert_uint_eq(listed(trid, 9, 191), 0);
    ck_assert_uint_eq(listed(trid, 1, 8), 8);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

/* The log has gone round several times, and the packet that brought the names is gone;
 * complete, and as it is found while it is written. */
START_TEST(in_a_ring)
{
    for (int complete = 0; complete < 2; complete++) {
        struct pt_log_params params = log_params(POSIX_TRACE_LOOP, 8192);
        int fd = log_file();
        struct pt_log_writer *w = log_writer(fd, &params);
        trace_id_t trid;

        chunk = 0;
        put(w, POSIXTRACE_SEM_POST, 1);
        for (unsigned i = 2; i < 400; i++) {
            put(w, i == 399 ? POSIXTRACE_SEM_WAIT : ID_A, i);
            if (i % 10 == 0)
                end_round(w, i + 1, false);
        }
        end_round(w, 400, complete);
        if (complete)
            pt_log_writer_free(w);
        trid = open_log(fd);
        ck_assert_uint_eq(listed(trid, 9, 191), OWN_TYPES);
        for (const char *name = "", *last = name; strcmp(name, "none") != 0; last = name) {
            name = next_name(trid);
            ck_assert(strcmp(name, "none") != 0 || strcmp(last, "posixtrace_sem_wait") == 0);
            ck_assert_str_ne(name, "posixtrace_sem_post");
        }
        ck_assert_int_eq(posix_trace_close(trid), 0);
        if (!complete)
            pt_log_writer_free(w);
        close(fd);
    }
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, of_another_library);
    tcase_add_test(t, of_nobody);
    tcase_add_test(t, in_a_ring);
}

int main(void)
{
    return run_suite("log names", "names", NULL, add);
}
