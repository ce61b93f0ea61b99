/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Functions of a program that was compiled with -finstrument-functions: each call is two events,
 * where POSIXTRACE_RECORD_FUNCTIONS is set, and none elsewhere.
 */
#include <fcntl.h>
#include <posixtrace/event.h>
#include "scene.h"

enum { N = 7, MOST = 1000 };
/* Called by the code of each function, and by hand. */
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);
#define QUIET __attribute__((no_instrument_function, noinline))

/* Calls of f(n): itself and all that it makes. */
static unsigned QUIET calls_of(unsigned n)
{
    return n < 2 ? 1 : 1 + calls_of(n - 1) + calls_of(n - 2);
}

static unsigned __attribute__((noinline)) f(unsigned n)
{
    return n < 2 ? n : f(n - 1) + f(n - 2);
}

START_TEST(nested)
{
    const bool on = getenv("POSIXTRACE_RECORD_FUNCTIONS") != NULL;
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR), end = 0;
    trace_id_t trid = th_stream_log(fd, .name = "f");
    unsigned depth = 0, deepest = 0, enters = 0;
    uint64_t function = (uintptr_t)f, data[2], open[MOST];
    struct posixtrace_event e;

    ck_ok(posix_trace_start(trid));
    ck_assert_uint_eq(f(N), 13);
    __cyg_profile_func_enter(&enters, &depth);
    __cyg_profile_func_exit(&enters, &depth);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    trid = th_open(path);
    while (posixtrace_next_event(trid, &e, sizeof e, &end) == 0 && !end) {
        if (e.id == POSIXTRACE_FUNCTION_ENTER) {
            ck_assert_uint_eq(e.data_len, sizeof data);
            memcpy(data, e.data, sizeof data);
            ck_assert_uint_lt(depth, MOST);
            open[depth++] = data[0];
            /* All but the first are called by the function itself. */
            ck_assert(data[0] != function || depth == 1 ||
                      (data[1] > function && data[1] - function < 4096));
            enters += data[0] == function;
            deepest = depth > deepest ? depth : deepest;
        } else if (e.id == POSIXTRACE_FUNCTION_EXIT) {
            ck_assert_uint_eq(e.data_len, sizeof data[0]);
            memcpy(data, e.data, sizeof data[0]);
            ck_assert_uint_gt(depth, 0);
            ck_assert_uint_eq(data[0], open[--depth]);
        }
    }
    th_close(trid);
    ck_assert_uint_eq(depth, 0);
    ck_assert_uint_eq(enters, on ? calls_of(N) : 0);
    ck_assert_uint_eq(deepest, on ? N : 0);
}
END_TEST

static void QUIET add(TCase *tc)
{
    tcase_add_test(tc, nested);
}

int QUIET main(void)
{
    return th_main("preload functions", add);
}
