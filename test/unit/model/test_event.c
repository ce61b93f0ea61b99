/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Names of the predefined event types: complete, distinct, and none beyond.
 */
#include <check.h>
#include <stdlib.h>
#include "model/event.h"
#include "support/run_suite.h"

START_TEST(every_predefined_type_has_a_name)
{
    ck_assert_str_eq(pt_event_system_name(POSIX_TRACE_START), "posix_trace_start");
    ck_assert_str_eq(pt_event_system_name(POSIX_TRACE_STOP), "posix_trace_stop");
    ck_assert_str_eq(pt_event_system_name(POSIX_TRACE_FILTER), "posix_trace_filter");
    ck_assert_str_eq(pt_event_system_name(POSIX_TRACE_OVERFLOW), "posix_trace_overflow");
    ck_assert_str_eq(pt_event_system_name(POSIX_TRACE_RESUME), "posix_trace_resume");
    ck_assert_str_eq(pt_event_system_name(POSIX_TRACE_FLUSH_START), "posix_trace_flush_start");
    ck_assert_str_eq(pt_event_system_name(POSIX_TRACE_FLUSH_STOP), "posix_trace_flush_stop");
    ck_assert_str_eq(pt_event_system_name(POSIX_TRACE_ERROR), "posix_trace_error");
    ck_assert_str_eq(pt_event_system_name(POSIX_TRACE_UNNAMED_USEREVENT),
                     "posix_trace_unnamed_userevent");
}
END_TEST

START_TEST(nothing_else_has_a_name)
{
    unsigned named = 0;

    for (uint32_t id = 0; id < 2 * PT_ID_MAX; id++)
        named += pt_event_system_name(id) != NULL;
    ck_assert_uint_eq(named, 9);
    ck_assert_ptr_null(pt_event_system_name(0));
    ck_assert_ptr_null(pt_event_system_name(UINT32_MAX));
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, every_predefined_type_has_a_name);
    tcase_add_test(t, nothing_else_has_a_name);
}

int main(void)
{
    return run_suite("model event", "names", NULL, add);
}
