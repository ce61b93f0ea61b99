/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Names of the predefined event types: complete, distinct, and none beyond.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/system.h>
#include "model/event.h"
#include "support/run_suite.h"
#include "support/system_types.h"

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

START_TEST(every_type_of_ours_has_a_name)
{
    unsigned own = 0;

    ck_assert_str_eq(pt_event_system_name(POSIXTRACE_SWITCH_PREEMPTED),
                     "posixtrace_switch_preempted");
    ck_assert_str_eq(pt_event_system_name(POSIXTRACE_COND_WOKEN), "posixtrace_cond_woken");
    for (uint32_t id = 0; id < 2 * PT_ID_MAX; id++) {
        const char *name = pt_event_system_name(id);

        ck_assert(pt_event_is_own(id) == (name && strncmp(name, "posixtrace_", 11) == 0));
        own += pt_event_is_own(id);
        for (uint32_t other = 1; name && other < id; other++)
            ck_assert(!pt_event_system_name(other) ||
                      strcmp(pt_event_system_name(other), name) != 0);
    }
    ck_assert_uint_eq(own, OWN_TYPES);
}
END_TEST

START_TEST(nothing_else_has_a_name)
{
    unsigned named = 0;

    for (uint32_t id = 0; id < 2 * PT_ID_MAX; id++)
        named += pt_event_system_name(id) != NULL;
    ck_assert_uint_eq(named, 9 + OWN_TYPES);
    ck_assert_ptr_null(pt_event_system_name(0));
    ck_assert_ptr_null(pt_event_system_name(UINT32_MAX));
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, every_predefined_type_has_a_name);
    tcase_add_test(t, every_type_of_ours_has_a_name);
    tcase_add_test(t, nothing_else_has_a_name);
}

int main(void)
{
    return run_suite("model event", "names", NULL, add);
}
