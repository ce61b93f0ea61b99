/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * QNX's interface: what TraceEvent(), trace_logf() and add_trace_event() record, and what
 * they refuse.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>
#include "qnx_scene.h"

#define END(trid) ck_assert_str_eq(next(trid), "")

/* ---- commands ---- */

START_TEST(numbers)
{
    ck_assert_int_eq(_NTO_TRACE_ADDEVENTHANDLER, 5 << 28 | 7);
    ck_assert_int_eq(_NTO_TRACE_INSERTCCLASSEVENT, 5 << 28 | 43);
    ck_assert_int_eq(_NTO_TRACE_QUERYSUPPORT, 1 << 28 | 41);
    ck_assert_int_eq(_NTO_TRACE_PMU, 20);
    ck_assert_int_eq(_NTO_TRACE_COMM_ERROR, 0xb);
    ck_assert_int_eq(_NTO_TRACE_SYS_SLOG, 0xc);
    ck_assert_int_eq(_NTO_TRACE_SYS_MAPNAME_64, 0x15);
    ck_assert_int_eq(TraceEvent(_NTO_TRACE_QUERYSUPPORT), _NTO_TRACE_SUPPINSTR);
    WORKS(TraceEvent(_NTO_TRACE_SKIPBUFFER));
}
END_TEST

static const int meaningless[] = { 0,
                                   -1,
                                   INT_MAX,
                                   INT_MIN,
                                   1,
                                   1 << 28,
                                   1 << 28 | 44,
                                   3 << 28 | 45,
                                   1 << 28 | 49,
                                   2 << 28 | 10,
                                   1 << 28 | 3,
                                   7 << 28 | 7,
                                   4 << 28 | 7,
                                   1 << 28 | 0xfffffff,
                                   _NTO_TRACE_OVERWRITEBUFFER,
                                   _NTO_TRACE_QUERYVERSION,
                                   _NTO_TRACE_SETBUFFER,
                                   _NTO_TRACE_LOGGER_ATTACH,
                                   _NTO_TRACE_WAITBUFFER,
                                   _NTO_TRACE_LOGGER_DETACH,
                                   _NTO_TRACE_PMU_CONFIG,
                                   _NTO_TRACE_PMU_QUERYEVENTS };

START_TEST(no_such_command)
{
    FAILS(TraceEvent(meaningless[_i], 0, 0, 0, 0), ENOTSUP);
}
END_TEST

/* ---- events ---- */

START_TEST(user_events)
{
    trace_id_t trid = start();
    const unsigned words[] = { 0x11111111, 0x22222222, 0x33333333 };
    const char bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

    WORKS(TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, 5, 1, 2));
    WORKS(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 5, words, 3));
    WORKS(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 5, words, 1));
    WORKS(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 5, NULL, 0));
    WORKS(TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, 5, "text"));
    WORKS(TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, 0x405, 1, 2));
    WORKS(TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, -1, 1, 2));
    WORKS(trace_logi(6, 0xffffffff, 7));
    WORKS(trace_logb(6, bytes, sizeof bytes));
    ck_assert_str_eq(next(trid), "qnx:USER:5 d0=0x1 d1=0x2");
    ck_assert_str_eq(next(trid), "qnx:USER:5.bytes data=11111111222222223333333300000000");
    ck_assert_str_eq(next(trid), "qnx:USER:5 d0=0x11111111 d1=0x0");
    ck_assert_str_eq(next(trid), "qnx:USER:5 d0=0x0 d1=0x0");
    ck_assert_str_eq(next(trid), "qnx:USER:5.string text=\"text\"");
    ck_assert_str_eq(next(trid), "qnx:USER:5 d0=0x1 d1=0x2");
    ck_assert_str_eq(next(trid), "qnx:USER:1023 d0=0x1 d1=0x2");
    ck_assert_str_eq(next(trid), "qnx:USER:6 d0=0xffffffff d1=0x7");
    ck_assert_str_eq(next(trid), "qnx:USER:6.bytes data=01020304050607080900000000000000");
    END(trid);
}
END_TEST

START_TEST(class_events)
{
    trace_id_t trid = start();
    const unsigned words[] = { 1, 2, 3, 4 };
    const unsigned named[] = { 1, 2, 0x61616161, 0 };
    const unsigned torn[] = { 0x01010101, 0x02020202, 0x61000061 };

    WORKS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_COMM, 0, 3, 4));
    WORKS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_THREAD, _NTO_TRACE_THMUTEX, 3, 4));
    WORKS(TraceEvent(_NTO_TRACE_INSERTCCLASSEVENT, _NTO_TRACE_THREAD, _NTO_TRACE_THSEM, words, 4));
    WORKS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_KERCALLEXIT, 3 | _NTO_TRACE_KERCALL64,
                     3, 4));
    WORKS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_INTENTER, 17, 17, 4));
    WORKS(trace_logbc(_TRACE_PR_TH_C, 3 << 6, named, sizeof named));
    WORKS(trace_logbc(_TRACE_PR_TH_C, 3 << 6, torn, sizeof torn));
    WORKS(trace_logbc(_TRACE_PR_TH_C, 26 + 2, words, 8));
    ck_assert_str_eq(next(trid), "qnx:COMM:SND_MESSAGE rcvid=0x3 pid=4");
    ck_assert_str_eq(next(trid), "qnx:THREAD:MUTEX pid=3 tid=4");
    ck_assert_str_eq(next(trid), "qnx:THREAD:SEM.wide pid=1 tid=2 priority=3 policy=4 more=");
    ck_assert_str_eq(next(trid), "qnx:KER_EXIT64:3 d0=0x3 d1=0x4");
    ck_assert_str_eq(next(trid), "qnx:INT_ENTR interrupt=17 ip=0x4");
    ck_assert_str_eq(next(trid), "qnx:PROCESS:CREATE_NAME ppid=1 pid=2 name=\"aaaa\"");
    ck_assert_str_eq(next(trid),
                     "qnx:PROCESS:CREATE_NAME.bytes data=01010101020202026100006100000000");
    ck_assert_str_eq(next(trid), "qnx:VTHREAD:READY pid=1 tid=2");
    END(trid);
    FAILS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_EMPTY, 0, 1, 2), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_KERCALL, 0, 1, 2), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_THREAD, 6, 1, 2), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, -1, 0, 1, 2), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_INSERTCCLASSEVENT, _NTO_TRACE_USER, 1024, words, 1), EINVAL);
    FAILS(trace_logbc(_NTO_TRACE_USER, 1, words, 8), EINVAL);
    FAILS(trace_logbc(_TRACE_USER_C, 1024, words, 8), EINVAL);
    FAILS(trace_logbc(_TRACE_EMPTY_C, 0, words, 8), EINVAL);
    END(trid);
}
END_TEST

START_TEST(functions)
{
    trace_id_t trid = start();

    WORKS(trace_func_enter((void *)0x12345678, (void *)0x2));
    WORKS(trace_func_exit((void *)0x1, NULL));
    WORKS(trace_here());
    ck_assert_str_eq(next(trid), "qnx:SYSTEM64:FUNC_ENTER.bytes thisfn=0x12345678 call_site=0x2");
    ck_assert_str_eq(next(trid), "qnx:SYSTEM64:FUNC_EXIT.bytes thisfn=0x1 call_site=0x0");
    ck_assert_int_eq(strncmp(next(trid), "qnx:SYSTEM64:ADDRESS address=0x", 31), 0);
    END(trid);
}
END_TEST

START_TEST(too_long)
{
    static char text[POSIXTRACE_QNX_BYTES + 1];
    static unsigned words[POSIXTRACE_QNX_BYTES / 4 + 1];
    trace_id_t trid = start();

    memset(text, 'x', sizeof text - 1);
    FAILS(TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, 1, text), EMSGSIZE);
    FAILS(TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, 1, NULL), EFAULT);
    FAILS(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 1, NULL, 3), EFAULT);
    FAILS(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 1, words, POSIXTRACE_QNX_BYTES / 4 + 1),
          EMSGSIZE);
    FAILS(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 1, words, UINT_MAX), EMSGSIZE);
    FAILS(trace_logb(1, words, SIZE_MAX), EMSGSIZE);
    FAILS(trace_logb(1, NULL, 1), EFAULT);
    END(trid);
    text[sizeof text - 2] = '\0';
    WORKS(TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, 1, text));
    WORKS(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 1, words, POSIXTRACE_QNX_BYTES / 4));
    ck_assert_uint_eq(strlen(next(trid)), strlen("qnx:USER:1.string text=\"\"") + sizeof text - 2);
    ck_assert_uint_eq(strlen(next(trid)),
                      strlen("qnx:USER:1.bytes data=") + 2 * POSIXTRACE_QNX_BYTES);
}
END_TEST

START_TEST(formats)
{
    trace_id_t trid = start();

    ck_assert_int_eq(trace_logf(2, "%d%%", 42), 4);
    ck_assert_int_eq(trace_logf(2, "%s", ""), 1);
    ck_assert_int_eq(trace_nlogf(2, 4, "%s", "abcdef"), 4);
    ck_assert_int_eq(trace_nlogf(2, 1, "%s", "abcdef"), 1);
    ck_assert_int_eq(trace_nlogf(2, INT_MAX, "%s", "abcdef"), 7);
    ck_assert_int_eq(trace_logf(2, "%*d", 100000, 1), POSIXTRACE_QNX_BYTES);
    ck_assert_str_eq(next(trid), "qnx:USER:2.string text=\"42%\"");
    ck_assert_str_eq(next(trid), "qnx:USER:2.string text=\"\"");
    ck_assert_str_eq(next(trid), "qnx:USER:2.string text=\"abc\"");
    ck_assert_str_eq(next(trid), "qnx:USER:2.string text=\"\"");
    ck_assert_str_eq(next(trid), "qnx:USER:2.string text=\"abcdef\"");
    ck_assert_uint_eq(strlen(next(trid)),
                      strlen("qnx:USER:2.string text=\"\"") + POSIXTRACE_QNX_BYTES - 1);
    FAILS(trace_nlogf(2, -1, "%d", 1), EINVAL);
    FAILS(posixtrace_qnx_logf(2, NULL), EFAULT);
    /* A character that the locale of a test, "C", does not have. */
    FAILS(trace_logf(2, "%ls", (const wchar_t[]){ 0x1000, 0 }), EINVAL);
    WORKS(TraceEvent(_NTO_TRACE_DELEVENT, _NTO_TRACE_USER, 2));
    WORKS(trace_logf(2, "%d", 1));
    END(trid);
}
END_TEST

static uint32_t user_header(unsigned event)
{
    return 3u << 24 | _TRACE_USER_C | event;
}

START_TEST(kernel_side)
{
    trace_id_t trid = start();
    struct posixtrace_qnx_builder b;
    char large[POSIXTRACE_QNX_BYTES] = { 0 };

    /* Masks are the caller's. */
    WORKS(TraceEvent(_NTO_TRACE_DELALLCLASSES));
    WORKS(add_trace_event(user_header(3), 77, 1, 2));
    WORKS(TraceEvent(_NTO_TRACE_INSERTEVENT, user_header(4), 77, 1, 2));
    add_trace_buffer(user_header(3), (const uint32_t[]){ 0x11111111, 0, 0x33333333 }, 3);
    add_trace_b_init(&b);
    add_trace_b_end(&b, user_header(3));
    add_trace_b_add(&b, user_header(3), "abcdefgh", 8);
    add_trace_b_add(&b, user_header(3), "i", 1);
    add_trace_b_end(&b, user_header(3));
    add_trace_string(user_header(3), "%d", 5);
    add_trace_d1_string(user_header(3), 9, "%s", "");
    add_trace_d2_string(user_header(3), 0x11111111, 0, "%s", "x");
    add_trace_d2_string(_TRACE_PR_TH_C | 5 << 6, 9, 8, "%s", "name");
    add_trace_string(_TRACE_SYSTEM_C | _NTO_TRACE_SYS_FUNC_ENTER, "%s", "main");
    add_trace_event(_TRACE_SYSTEM_C | _NTO_TRACE_SYS_FUNC_ENTER, 0, 1, 2);
    ck_assert_str_eq(next(trid), "qnx:USER:3 d0=0x1 d1=0x2");
    ck_assert_str_eq(next(trid), "qnx:USER:4 d0=0x1 d1=0x2");
    ck_assert_str_eq(next(trid), "qnx:USER:3.bytes data=11111111000000003333333300000000");
    ck_assert_str_eq(next(trid), "qnx:USER:3.bytes data=61626364656667686900000000000000");
    ck_assert_str_eq(next(trid), "qnx:USER:3.string text=\"5\"");
    ck_assert_str_eq(next(trid), "qnx:USER:3 d0=0x9 d1=0x0");
    ck_assert_str_eq(next(trid), "qnx:USER:3.bytes data=11111111000000007800000000000000");
    ck_assert_str_eq(next(trid), "qnx:PROCESS:THREAD_NAME pid=9 tid=8 name=\"name\"");
    ck_assert_str_eq(next(trid), "qnx:SYSTEM:FUNC_ENTER.string text=\"main\"");
    ck_assert_str_eq(next(trid), "qnx:SYSTEM:FUNC_ENTER thisfn=0x1 call_site=0x2");
    /* What cannot be is not recorded, and nothing is written where nothing is. */
    FAILS(add_trace_event(_TRACE_STRUCT_CB | user_header(3), 0, 1, 2), ENOTSUP);
    FAILS(add_trace_event(31u << 10, 0, 1, 2), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_INSERTEVENT, 0, 0, 1, 2), EINVAL);
    add_trace_buffer(31u << 10, NULL, 0);
    add_trace_buffer(user_header(3), NULL, 4);
    add_trace_buffer(user_header(3), (const uint32_t[]){ 1 }, UINT_MAX);
    add_trace_b_init(NULL);
    add_trace_b_add(NULL, 0, "a", 1);
    add_trace_b_end(NULL, 0);
    posixtrace_qnx_add_string(user_header(3), NULL);
    END(trid);
    add_trace_b_init(&b);
    add_trace_b_add(&b, 0, NULL, 1);
    add_trace_b_add(&b, 0, large, sizeof large - 1);
    add_trace_b_add(&b, 0, "ab", 2);
    add_trace_b_add(&b, 0, "c", UINT_MAX);
    add_trace_b_end(&b, user_header(3));
    ck_assert_str_eq(next(trid) + strlen("qnx:USER:3.bytes data=") + 2 * sizeof large - 4, "0061");
    add_trace_string(user_header(3), "%200d", 5);
    ck_assert_uint_eq(strlen(next(trid)),
                      strlen("qnx:USER:3.string text=\"\"") + POSIXTRACE_QNX_STRING - 1);
    END(trid);
}
END_TEST

/* ---- signals and threads ---- */

static void record_in_handler(int number)
{
    trace_logi(300, (unsigned)number, 0);
}

START_TEST(in_a_signal_handler)
{
    trace_id_t trid = start();
    struct sigaction action = { .sa_handler = record_in_handler };

    FAILS(posixtrace_qnx_open(_NTO_TRACE_USER, 1024), EINVAL);
    FAILS(posixtrace_qnx_open(_NTO_TRACE_KERCALL, 1), EINVAL);
    WORKS(posixtrace_qnx_open(_NTO_TRACE_USER, 300));
    WORKS(posixtrace_qnx_open(_NTO_TRACE_THREAD, _NTO_TRACE_THREADY));
    WORKS(sigaction(SIGUSR1, &action, NULL));
    for (int i = 0; i < 100; i++)
        raise(SIGUSR1);
    for (int i = 0; i < 100; i++)
        ck_assert_str_eq(next(trid), "qnx:USER:300 d0=0xa d1=0x0");
    END(trid);
}
END_TEST

/* The program has described the names in other words, of data of the same size. */
START_TEST(described_otherwise)
{
    trace_id_t trid = start();

    WORKS(posixtrace_event_describe("qnx:USER:77", "u8 a; u8 b; u64 c", NULL));
    WORKS(trace_logi(77, 1, 2));
    ck_assert_str_eq(next(trid), "qnx:USER:77#2 d0=0x1 d1=0x2");
    WORKS(posixtrace_event_describe("qnx:USER:78", "u8 a; u8 b; u64 c", NULL));
    WORKS(posixtrace_event_describe("qnx:USER:78#2", "u64 a; u8 b; u8 c", NULL));
    WORKS(trace_logi(78, 1, 2));
    ck_assert_str_eq(next(trid), "qnx:USER:78#3 d0=0x1 d1=0x2");
    END(trid);
}
END_TEST

enum { THREADS = 4, EACH = 100 };

static void *record_many(void *arg)
{
    for (unsigned i = 0; i < EACH; i++) {
        trace_logi((int)(400 + i), 0, 0);
        trace_logf(400 + (int)i, "%p", arg);
    }
    return NULL;
}

/* All open the same types at once. */
START_TEST(in_threads)
{
    trace_id_t trid = start();
    unsigned seen[EACH] = { 0 }, count = 0;
    pthread_t thread[THREADS];
    const char *text;

    for (unsigned i = 0; i < THREADS; i++)
        WORKS(pthread_create(&thread[i], NULL, record_many, NULL));
    for (unsigned i = 0; i < THREADS; i++)
        WORKS(pthread_join(thread[i], NULL));
    while (*(text = next(trid))) {
        seen[atoi(text + strlen("qnx:USER:")) - 400]++;
        count++;
    }
    ck_assert_uint_eq(count, 2 * THREADS * EACH);
    for (unsigned i = 0; i < EACH; i++)
        ck_assert_uint_eq(seen[i], 2 * THREADS);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, numbers);
    tcase_add_loop_test(t, no_such_command, 0, sizeof meaningless / sizeof *meaningless);
    tcase_add_test(t, user_events);
    tcase_add_test(t, class_events);
    tcase_add_test(t, functions);
    tcase_add_test(t, too_long);
    tcase_add_test(t, formats);
    tcase_add_test(t, kernel_side);
    tcase_add_test(t, in_a_signal_handler);
    tcase_add_test(t, described_otherwise);
    tcase_add_test(t, in_threads);
}

int main(void)
{
    return run_suite("format", "qnx", NULL, add);
}
