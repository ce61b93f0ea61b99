/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Assertions about the libraries' own guarantees.  The installed libraries have none; the tests
 * link some that have them (PT_ASSERTIONS, see lib/meson.build and lib/analysis/meson.build).
 *
 *   pt_assert_call   1   an internal function is called as its header requires
 *   pt_assert        2   an invariant that a comparison or two check
 *   pt_assert_valid  3   one that is expensive to check
 *
 * A condition has no side effects, and reads private memory: another process may write anything
 * into a segment or page, and a log or another tool's file may have any contents, so what stands
 * there is checked at run time, in every build.  A failure
 * writes the place and the condition to standard error and ends the process; async-signal-safe.
 */
#ifndef PT_BASE_ASSERT_H
#define PT_BASE_ASSERT_H

#if !defined PT_ASSERTIONS
#define PT_ASSERTIONS 0
#endif

#if PT_ASSERTIONS > 0
/* text: a whole line. */
_Noreturn void pt_assert_failed(const char *text);

#define PT_ASSERT_TEXT_(x) #x
#define PT_ASSERT_TEXT(x)  PT_ASSERT_TEXT_(x)
#define pt_assert_at(level, condition)      \
    ((condition) || (level) > PT_ASSERTIONS \
         ? (void)0                          \
         : pt_assert_failed(__FILE__ ":" PT_ASSERT_TEXT(__LINE__) ": " #condition "\n"))
#else
#define pt_assert_at(level, condition) ((void)0)
#endif

/* A function that only assertions call. */
#define PT_VALIDATOR static __attribute__((unused))

#define pt_assert_call(condition)  pt_assert_at(1, condition)
#define pt_assert(condition)       pt_assert_at(2, condition)
#define pt_assert_valid(condition) pt_assert_at(3, condition)

#endif
