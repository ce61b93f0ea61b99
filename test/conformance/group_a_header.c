/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group A of the conformance assertions: header, limits, options.  Assertion 1
 * (the header alone, strict C99) is checked by headers.py, because it is about
 * compiler options that this program is not compiled with.
 */
#include <trace.h>
#include "support/trace_helpers.h"

/* A constant that is not an object-like macro fails the #ifdef; one that is no
 * integer constant expression fails to be an enumerator. */
/* clang-format off */
#define LISTED(X) \
    X(ALL_EVENTS) X(APPEND) X(CLOSE_FOR_CHILD) X(FILTER) X(FLUSH) X(FLUSH_START) X(FLUSH_STOP) \
    X(FLUSHING) X(FULL) X(LOOP) X(NO_OVERRUN) X(NOT_FLUSHING) X(NOT_FULL) X(INHERITED) \
    X(NOT_TRUNCATED) X(OVERFLOW) X(OVERRUN) X(RESUME) X(RUNNING) X(START) X(STOP) X(SUSPENDED) \
    X(SYSTEM_EVENTS) X(TRUNCATED_READ) X(TRUNCATED_RECORD) X(UNNAMED_USER_EVENT) X(UNTIL_FULL) \
    X(WOPID_EVENTS)
/* clang-format on */
#define AS_ENUMERATOR(name) CONSTANT_##name = (int)POSIX_TRACE_##name,
enum { LISTED(AS_ENUMERATOR) CONSTANTS_END };

#define TEXT(x)  #x
#define TEXT2(x) TEXT(x)
/* A macro is replaced before it becomes text, so the text differs from its name. */
#define AS_MACRO(name) { "POSIX_TRACE_" #name, TEXT2(POSIX_TRACE_##name) },

START_TEST(test_002_listed_constants)
{
    static const struct {
        const char *name, *text;
    } constants[] = { LISTED(AS_MACRO) };

    ck_assert_uint_eq(TH_COUNT(constants), 28);
    for (size_t i = 0; i < TH_COUNT(constants); i++)
        ck_assert_str_ne(constants[i].name, constants[i].text);
}
END_TEST

START_TEST(test_003_constants_missing_on_header_page)
{
#if !defined POSIX_TRACE_ERROR || !defined POSIX_TRACE_SET_EVENTSET ||        \
    !defined POSIX_TRACE_ADD_EVENTSET || !defined POSIX_TRACE_SUB_EVENTSET || \
    !defined POSIX_TRACE_UNNAMED_USEREVENT
    ck_abort_msg("a constant that the function pages use is not defined");
#endif
}
END_TEST

START_TEST(test_004_both_spellings)
{
    ck_assert_uint_eq(POSIX_TRACE_UNNAMED_USEREVENT, POSIX_TRACE_UNNAMED_USER_EVENT);
}
END_TEST

/* 50 functions: each must be declared with the type of the standard, and be defined.  Qualifiers of
 * parameters, such as restrict, are not part of a function's type. */
#define FUNCTIONS(X)                                                                           \
    X(int, attr_init, (trace_attr_t *))                                                        \
    X(int, attr_destroy, (trace_attr_t *))                                                     \
    X(int, attr_getclockres, (const trace_attr_t *, struct timespec *))                        \
    X(int, attr_getcreatetime, (const trace_attr_t *, struct timespec *))                      \
    X(int, attr_getgenversion, (const trace_attr_t *, char *))                                 \
    X(int, attr_getname, (const trace_attr_t *, char *))                                       \
    X(int, attr_setname, (trace_attr_t *, const char *))                                       \
    X(int, attr_getinherited, (const trace_attr_t *restrict, int *restrict))                   \
    X(int, attr_setinherited, (trace_attr_t *, int))                                           \
    X(int, attr_getlogfullpolicy, (const trace_attr_t *restrict, int *restrict))               \
    X(int, attr_setlogfullpolicy, (trace_attr_t *, int))                                       \
    X(int, attr_getstreamfullpolicy, (const trace_attr_t *restrict, int *restrict))            \
    X(int, attr_setstreamfullpolicy, (trace_attr_t *, int))                                    \
    X(int, attr_getlogsize, (const trace_attr_t *restrict, size_t *restrict))                  \
    X(int, attr_setlogsize, (trace_attr_t *, size_t))                                          \
    X(int, attr_getmaxdatasize, (const trace_attr_t *restrict, size_t *restrict))              \
    X(int, attr_setmaxdatasize, (trace_attr_t *, size_t))                                      \
    X(int, attr_getmaxsystemeventsize, (const trace_attr_t *restrict, size_t *restrict))       \
    X(int, attr_getmaxusereventsize, (const trace_attr_t *restrict, size_t, size_t *restrict)) \
    X(int, attr_getstreamsize, (const trace_attr_t *restrict, size_t *restrict))               \
    X(int, attr_setstreamsize, (trace_attr_t *, size_t))                                       \
    X(int, create, (pid_t, const trace_attr_t *restrict, trace_id_t *restrict))                \
    X(int, create_withlog, (pid_t, const trace_attr_t *restrict, int, trace_id_t *restrict))   \
    X(int, flush, (trace_id_t))                                                                \
    X(int, shutdown, (trace_id_t))                                                             \
    X(int, clear, (trace_id_t))                                                                \
    X(int, start, (trace_id_t))                                                                \
    X(int, stop, (trace_id_t))                                                                 \
    X(int, get_filter, (trace_id_t, trace_event_set_t *))                                      \
    X(int, set_filter, (trace_id_t, const trace_event_set_t *, int))                           \
    X(void, event, (trace_event_id_t, const void *restrict, size_t))                           \
    X(int, eventid_open, (const char *restrict, trace_event_id_t *restrict))                   \
    X(int, trid_eventid_open, (trace_id_t, const char *restrict, trace_event_id_t *restrict))  \
    X(int, eventid_equal, (trace_id_t, trace_event_id_t, trace_event_id_t))                    \
    X(int, eventid_get_name, (trace_id_t, trace_event_id_t, char *))                           \
    X(int, eventset_add, (trace_event_id_t, trace_event_set_t *))                              \
    X(int, eventset_del, (trace_event_id_t, trace_event_set_t *))                              \
    X(int, eventset_empty, (trace_event_set_t *))                                              \
    X(int, eventset_fill, (trace_event_set_t *, int))                                          \
    X(int, eventset_ismember,                                                                  \
      (trace_event_id_t, const trace_event_set_t *restrict, int *restrict))                    \
    X(int, eventtypelist_getnext_id, (trace_id_t, trace_event_id_t *restrict, int *restrict))  \
    X(int, eventtypelist_rewind, (trace_id_t))                                                 \
    X(int, get_attr, (trace_id_t, trace_attr_t *))                                             \
    X(int, get_status, (trace_id_t, struct posix_trace_status_info *))                         \
    X(int, open, (int, trace_id_t *))                                                          \
    X(int, rewind, (trace_id_t))                                                               \
    X(int, close, (trace_id_t))                                                                \
    X(int, getnext_event,                                                                      \
      (trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t,            \
       size_t *restrict, int *restrict))                                                       \
    X(int, timedgetnext_event,                                                                 \
      (trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t,            \
       size_t *restrict, int *restrict, const struct timespec *restrict))                      \
    X(int, trygetnext_event,                                                                   \
      (trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t,            \
       size_t *restrict, int *restrict))

#define AS_POINTER(result, name, parameters)                                                 \
    {                                                                                        \
        _Static_assert(                                                                      \
            __builtin_types_compatible_p(__typeof__(posix_trace_##name), result parameters), \
            "posix_trace_" #name " has another type");                                       \
        result(*volatile pointer) parameters = posix_trace_##name;                           \
        ck_assert(pointer != NULL);                                                          \
        functions++;                                                                         \
    }

START_TEST(test_005_prototypes)
{
    unsigned functions = 0;

    FUNCTIONS(AS_POINTER)
    ck_assert_uint_eq(functions, 50);
}
END_TEST

START_TEST(test_006_status_constants_differ)
{
    ck_assert_int_ne(POSIX_TRACE_RUNNING, POSIX_TRACE_SUSPENDED);
    ck_assert_int_ne(POSIX_TRACE_FULL, POSIX_TRACE_NOT_FULL);
    ck_assert_int_ne(POSIX_TRACE_OVERRUN, POSIX_TRACE_NO_OVERRUN);
    ck_assert_int_ne(POSIX_TRACE_FLUSHING, POSIX_TRACE_NOT_FLUSHING);
}
END_TEST

static void all_differ(const int *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            ck_assert_int_ne(values[i], values[j]);
    }
}

#define ALL_DIFFER(...) all_differ((const int[]){ __VA_ARGS__ }, TH_COUNT(((int[]){ __VA_ARGS__ })))

START_TEST(test_007_groups_pairwise_distinct)
{
    ALL_DIFFER(POSIX_TRACE_NOT_TRUNCATED, POSIX_TRACE_TRUNCATED_RECORD, POSIX_TRACE_TRUNCATED_READ);
    ALL_DIFFER(POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH);
    ALL_DIFFER(POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND);
    ALL_DIFFER(POSIX_TRACE_WOPID_EVENTS, POSIX_TRACE_SYSTEM_EVENTS, POSIX_TRACE_ALL_EVENTS);
    ALL_DIFFER(POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET, POSIX_TRACE_SUB_EVENTSET);
    ALL_DIFFER(POSIX_TRACE_CLOSE_FOR_CHILD, POSIX_TRACE_INHERITED);
}
END_TEST

START_TEST(test_008_predefined_ids_differ)
{
    trace_id_t trid = th_stream();

    for (size_t i = 0; i < TH_PREDEFINED; i++) {
        for (size_t j = 0; j < TH_PREDEFINED; j++) {
            int equal = posix_trace_eventid_equal(trid, th_predefined[i].id, th_predefined[j].id);
            ck_assert_int_eq(equal != 0, i == j);
        }
    }
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_009_no_overrun_is_zero)
{
    ck_assert_int_eq(POSIX_TRACE_NO_OVERRUN, 0);
}
END_TEST

START_TEST(test_010_limits_at_least_minimum)
{
    ck_assert_int_ge(TRACE_EVENT_NAME_MAX, 30);
    ck_assert_int_ge(TRACE_NAME_MAX, 8);
    ck_assert_int_ge(TRACE_SYS_MAX, 8);
    ck_assert_int_ge(TRACE_USER_EVENT_MAX, 32);
}
END_TEST

START_TEST(test_011_minima_exact)
{
    ck_assert_int_eq(_POSIX_TRACE_EVENT_NAME_MAX, 30);
    ck_assert_int_eq(_POSIX_TRACE_NAME_MAX, 8);
    ck_assert_int_eq(_POSIX_TRACE_SYS_MAX, 8);
    ck_assert_int_eq(_POSIX_TRACE_USER_EVENT_MAX, 32);
}
END_TEST

/* Documented deviation: the C library owns sysconf() and answers for itself.
 * The day it says something else, this test makes us look at the document. */
START_TEST(test_012_sysconf)
{
    static const int names[] = { _SC_TRACE, _SC_TRACE_EVENT_FILTER, _SC_TRACE_INHERIT,
                                 _SC_TRACE_LOG };

    for (size_t i = 0; i < TH_COUNT(names); i++) {
        long value = sysconf(names[i]);
        ck_assert(value == -1 || value >= 200809L);
    }
}
END_TEST

static bool has(trace_event_set_t set, trace_event_id_t id)
{
    return th_member(&set, id);
}

START_TEST(test_013_event_set_is_a_value)
{
    trace_event_set_t set = th_set(POSIX_TRACE_STOP, POSIX_TRACE_UNNAMED_USEREVENT);
    trace_event_set_t copy = set;

    ck_assert(th_same_members(&copy, &set, NULL, 0));
    for (size_t i = 0; i < TH_PREDEFINED; i++)
        ck_assert_int_eq(has(set, th_predefined[i].id), th_member(&set, th_predefined[i].id));
    ck_ok(posix_trace_eventset_del(POSIX_TRACE_STOP, &copy));
    ck_assert(has(set, POSIX_TRACE_STOP));
    ck_assert(!has(copy, POSIX_TRACE_STOP));
}
END_TEST

START_TEST(test_014_attr_anywhere)
{
    static trace_attr_t fixed;
    trace_attr_t local, *allocated = malloc(sizeof *allocated);
    trace_attr_t *all[] = { &fixed, &local, allocated };

    ck_assert_ptr_nonnull(allocated);
    for (size_t i = 0; i < TH_COUNT(all); i++) {
        ck_ok(posix_trace_attr_init(all[i]));
        ck_ok(posix_trace_attr_destroy(all[i]));
    }
    free(allocated);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_002_listed_constants);
    tcase_add_test(tc, test_003_constants_missing_on_header_page);
    tcase_add_test(tc, test_004_both_spellings);
    tcase_add_test(tc, test_005_prototypes);
    tcase_add_test(tc, test_006_status_constants_differ);
    tcase_add_test(tc, test_007_groups_pairwise_distinct);
    tcase_add_test(tc, test_008_predefined_ids_differ);
    tcase_add_test(tc, test_009_no_overrun_is_zero);
    tcase_add_test(tc, test_010_limits_at_least_minimum);
    tcase_add_test(tc, test_011_minima_exact);
    tcase_add_test(tc, test_012_sysconf);
    tcase_add_test(tc, test_013_event_set_is_a_value);
    tcase_add_test(tc, test_014_attr_anywhere);
}

int main(void)
{
    return th_main("A header", add);
}
