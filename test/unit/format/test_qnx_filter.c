/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* QNX's interface: which events are let through, fast and wide. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "qnx_scene.h"

#define END(trid) ck_assert_str_eq(next(trid), "")
#define USER5     "qnx:USER:5 d0=0x1 d1=0x2"

static int my_tid(void)
{
    return (int)syscall(SYS_gettid);
}

static unsigned count(trace_id_t trid)
{
    unsigned n = 0;

    while (*next(trid))
        n++;
    return n;
}

/* ---- masks ---- */

START_TEST(masks)
{
    trace_id_t trid = start();

    WORKS(TraceEvent(_NTO_TRACE_DELALLCLASSES));
    WORKS(trace_logi(5, 1, 2));
    WORKS(trace_here());
    END(trid);
    WORKS(TraceEvent(_NTO_TRACE_ADDEVENT, _NTO_TRACE_USER, 5));
    WORKS(trace_logi(5, 1, 2));
    WORKS(trace_logi(6, 1, 2));
    ck_assert_str_eq(next(trid), USER5);
    END(trid);
    WORKS(TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER));
    WORKS(TraceEvent(_NTO_TRACE_DELEVENT, _NTO_TRACE_USER, 5));
    for (int i = 0; i < 10; i++)
        WORKS(trace_logi(i, 1, 2));
    ck_assert_uint_eq(count(trid), 9);
    WORKS(TraceEvent(_NTO_TRACE_DELCLASS, _NTO_TRACE_USER));
    WORKS(trace_logi(6, 1, 2));
    END(trid);
}
END_TEST

START_TEST(bits_and_groups)
{
    reset();
    WORKS(TraceEvent(_NTO_TRACE_DELALLCLASSES));
    WORKS(TraceEvent(_NTO_TRACE_ADDEVENT, _NTO_TRACE_THREAD,
                     _NTO_TRACE_THREADY | _NTO_TRACE_THDESTROY));
    ck_assert_int_eq(posixtrace_qnx_wanted(_NTO_TRACE_THREAD, _NTO_TRACE_THREADY), 1);
    ck_assert_int_eq(posixtrace_qnx_wanted(_NTO_TRACE_THREAD, _NTO_TRACE_THDESTROY), 1);
    ck_assert_int_eq(posixtrace_qnx_wanted(_NTO_TRACE_THREAD, _NTO_TRACE_THCREATE), 0);
    ck_assert_int_eq(posixtrace_qnx_wanted(_NTO_TRACE_VTHREAD, _NTO_TRACE_THREADY), 0);
    WORKS(TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_KERCALL));
    for (unsigned c = _NTO_TRACE_KERCALLENTER; c <= _NTO_TRACE_KERCALLINT; c++) {
        ck_assert_int_eq(posixtrace_qnx_wanted(c, 127), 1);
        ck_assert_int_eq(posixtrace_qnx_wanted(c, 3 | _NTO_TRACE_KERCALL64), 1);
    }
    WORKS(TraceEvent(_NTO_TRACE_DELEVENT, _NTO_TRACE_KERCALL, 3));
    ck_assert_int_eq(posixtrace_qnx_wanted(_NTO_TRACE_KERCALLEXIT, 3 | _NTO_TRACE_KERCALL64), 0);
    ck_assert_int_eq(posixtrace_qnx_wanted(_NTO_TRACE_KERCALLEXIT, 4), 1);
    ck_assert_int_eq(posixtrace_qnx_wanted(_NTO_TRACE_INTENTER, 9), 0);
    WORKS(TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_INT));
    ck_assert_int_eq(posixtrace_qnx_wanted(_NTO_TRACE_INT_HANDLER_EXIT, 9), 1);
    ck_assert_int_eq(posixtrace_qnx_wanted(_NTO_TRACE_INT, 9), 0);
    ck_assert_int_eq(posixtrace_qnx_wanted(99, 0), 0);
}
END_TEST

static const struct {
    unsigned event_class, event;
} nothing[] = { { 0, 0 },
                { 21, 0 },
                { 0xffffffff, 0 },
                { _NTO_TRACE_USER, 1024 },
                { _NTO_TRACE_USER, 0xffffffff },
                { _NTO_TRACE_THREAD, 0 },
                { _NTO_TRACE_PROCESS, 1 << 5 },
                { _NTO_TRACE_PROCESS, 0x80000001 },
                { _NTO_TRACE_KERCALL, 1024 },
                { _NTO_TRACE_PMU, 2 },
                { _NTO_TRACE_COMM, 16 },
                { _NTO_TRACE_VTHREAD, 1u << 26 } };

START_TEST(no_such_event)
{
    unsigned c = nothing[_i].event_class, e = nothing[_i].event;
    event_data_t data = { 0 };

    reset();
    FAILS(TraceEvent(_NTO_TRACE_ADDEVENT, c, e), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_DELEVENT, c, e), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_SETEVENTFAST, c, e), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_SETEVENTWIDE, c, e), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_SETEVENTPID, c, e, 1), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_SETEVENTTID, c, e, 1, 1), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_CLREVENTPID, c, e), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_CLREVENTTID, c, e), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_DELEVENTHANDLER, c, e), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, c, e, abs, &data), EINVAL);
    FAILS(posixtrace_qnx_emit(c, e, &c, 1, 1), EINVAL);
    if (_i > 2)
        return;
    FAILS(TraceEvent(_NTO_TRACE_ADDCLASS, c), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_DELCLASS, c), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_SETCLASSPID, c, 1), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_CLRCLASSTID, c), EINVAL);
    FAILS(TraceEvent(_NTO_TRACE_SETCLASSWIDE, c), EINVAL);
}
END_TEST

START_TEST(fast_and_wide)
{
    trace_id_t trid = start();
    const uint32_t words[] = { 1, 2, 3, 4 }, same[] = { 0x11111111, 0x22222222, 0x33333333 };

    WORKS(TraceEvent(_NTO_TRACE_SETALLCLASSESWIDE));
    WORKS(TraceEvent(_NTO_TRACE_SETCLASSFAST, _NTO_TRACE_THREAD));
    WORKS(TraceEvent(_NTO_TRACE_SETEVENTWIDE, _NTO_TRACE_THREAD, _NTO_TRACE_THSEND));
    WORKS(TraceEvent(_NTO_TRACE_SETEVENTFAST, _NTO_TRACE_COMM, 1));
    WORKS(posixtrace_qnx_emit(_NTO_TRACE_THREAD, _NTO_TRACE_THDEAD, words, 2, 4));
    WORKS(posixtrace_qnx_emit(_NTO_TRACE_THREAD, _NTO_TRACE_THSEND, words, 2, 4));
    WORKS(posixtrace_qnx_emit(_NTO_TRACE_COMM, 1, words, 2, 3));
    WORKS(posixtrace_qnx_emit(_NTO_TRACE_COMM, 2, same, 2, 3));
    WORKS(TraceEvent(_NTO_TRACE_DELCLASS, _NTO_TRACE_COMM));
    WORKS(posixtrace_qnx_emit(_NTO_TRACE_COMM, 2, words, 2, 3));
    FAILS(posixtrace_qnx_emit(_NTO_TRACE_THREAD, _NTO_TRACE_THSEND, NULL, 0, 4), EFAULT);
    FAILS(posixtrace_qnx_emit(_NTO_TRACE_THREAD, _NTO_TRACE_THSEND, words, 2, 4000), EMSGSIZE);
    ck_assert_str_eq(next(trid), "qnx:THREAD:DEAD pid=1 tid=2");
    ck_assert_str_eq(next(trid), "qnx:THREAD:SEND.wide pid=1 tid=2 priority=3 policy=4 more=");
    ck_assert_str_eq(next(trid), "qnx:COMM:SND_PULSE scoid=0x1 pid=2");
    ck_assert_str_eq(next(trid),
                     "qnx:COMM:REC_MESSAGE.bytes data=11111111222222223333333300000000");
    END(trid);
}
END_TEST

/* ---- process and thread ---- */

START_TEST(pid_and_tid)
{
    trace_id_t trid = start();
    int me = getpid(), other = me + 1;

    WORKS(TraceEvent(_NTO_TRACE_SETCLASSPID, _NTO_TRACE_USER, other));
    WORKS(trace_logi(5, 1, 2));
    END(trid);
    WORKS(TraceEvent(_NTO_TRACE_SETCLASSPID, _NTO_TRACE_USER, me));
    WORKS(trace_logi(5, 1, 2));
    ck_assert_str_eq(next(trid), USER5);
    WORKS(TraceEvent(_NTO_TRACE_SETEVENTTID, _NTO_TRACE_USER, 5, me, my_tid() + 1));
    WORKS(trace_logi(5, 1, 2));
    WORKS(trace_logi(6, 1, 2));
    ck_assert_str_eq(next(trid), "qnx:USER:6 d0=0x1 d1=0x2");
    WORKS(TraceEvent(_NTO_TRACE_SETEVENTTID, _NTO_TRACE_USER, 5, me, my_tid()));
    WORKS(trace_logi(5, 1, 2));
    ck_assert_str_eq(next(trid), USER5);
    WORKS(TraceEvent(_NTO_TRACE_SETEVENTPID, _NTO_TRACE_USER, 5, other));
    WORKS(trace_logi(5, 1, 2));
    END(trid);
    WORKS(TraceEvent(_NTO_TRACE_CLREVENTPID, _NTO_TRACE_USER, 5));
    WORKS(TraceEvent(_NTO_TRACE_CLREVENTTID, _NTO_TRACE_USER, 5));
    WORKS(TraceEvent(_NTO_TRACE_SETCLASSTID, _NTO_TRACE_USER, other, my_tid()));
    WORKS(trace_logi(5, 1, 2));
    END(trid);
    WORKS(TraceEvent(_NTO_TRACE_CLRCLASSTID, _NTO_TRACE_USER));
    WORKS(trace_logi(5, 1, 2));
    ck_assert_str_eq(next(trid), USER5);
}
END_TEST

/* Of an event about a thread it is that one that counts. */
START_TEST(pid_and_tid_in_the_data)
{
    trace_id_t trid = start();
    const unsigned name[] = { 7, 8, 0x00616161 };

    WORKS(TraceEvent(_NTO_TRACE_SETCLASSTID, _NTO_TRACE_THREAD, 7, 8));
    WORKS(TraceEvent(_NTO_TRACE_SETCLASSPID, _NTO_TRACE_PROCESS, 8));
    WORKS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_THREAD, 1, 7, 9));
    WORKS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_THREAD, 1, 7, 8));
    WORKS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_PROCESS, 1, 7, 8));
    WORKS(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_PROCESS, 1, 8, 7));
    WORKS(TraceEvent(_NTO_TRACE_INSERTCCLASSEVENT, _NTO_TRACE_PROCESS, 16, name, 3));
    ck_assert_str_eq(next(trid), "qnx:THREAD:DEAD pid=7 tid=8");
    ck_assert_str_eq(next(trid), "qnx:PROCESS:CREATE ppid=7 pid=8");
    END(trid);
    for (int bad = 0; bad >= -1; bad--) {
        FAILS(TraceEvent(_NTO_TRACE_SETCLASSPID, _NTO_TRACE_USER, bad), EINVAL);
        FAILS(TraceEvent(_NTO_TRACE_SETCLASSTID, _NTO_TRACE_USER, 1, bad), EINVAL);
        FAILS(TraceEvent(_NTO_TRACE_SETEVENTPID, _NTO_TRACE_USER, 1, bad), EINVAL);
        FAILS(TraceEvent(_NTO_TRACE_SETEVENTTID, _NTO_TRACE_USER, 1, bad, 1), EINVAL);
    }
}
END_TEST

/* ---- handlers ---- */

static struct seen {
    unsigned calls;
    int answer;
    event_data_t data;
    uint32_t words[4];
} seen, seen_class;

static int look(event_data_t *data)
{
    struct seen *s = data->area;

    s->calls++;
    s->data = *data;
    memcpy(s->words, data->data_array, 4 * (data->el_num < 4 ? data->el_num : 4));
    memset(data->data_array, 0xff, 4 * data->el_num);
    errno = EDOM;
    return s->answer;
}

START_TEST(handlers)
{
    trace_id_t trid = start();
    event_data_t data = { .area = &seen }, of_class = { .area = &seen_class };

    seen = seen_class = (struct seen){ .answer = 0 };
    WORKS(TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, _NTO_TRACE_USER, 5, look, &data));
    errno = 0;
    WORKS(trace_logi(5, 1, 2));
    ck_assert_int_eq(errno, 0);
    WORKS(trace_logi(6, 1, 2));
    ck_assert_str_eq(next(trid), "qnx:USER:6 d0=0x1 d1=0x2");
    END(trid);
    ck_assert_uint_eq(seen.calls, 1);
    ck_assert_uint_eq(seen.data.header, _TRACE_USER_C | 5);
    ck_assert_uint_eq(seen.data.el_num, 2);
    ck_assert_uint_eq(seen.words[1], 2);
    ck_assert_uint_eq(seen.data.feature_mask, _NTO_TRACE_FMPID | _NTO_TRACE_FMTID);
    ck_assert_uint_eq(seen.data.feature[_NTO_TRACE_FIPID], (unsigned)getpid());
    ck_assert_uint_eq(seen.data.feature[_NTO_TRACE_FITID], (unsigned)my_tid());
    seen.answer = 1;
    WORKS(trace_logi(5, 1, 2));
    ck_assert_str_eq(next(trid), USER5);
    /* Both have to let it through; the class's is asked last. */
    WORKS(TraceEvent(_NTO_TRACE_ADDCLASSEVHANDLER, _NTO_TRACE_USER, look, &of_class));
    WORKS(trace_logf(5, "abcd"));
    END(trid);
    ck_assert_uint_eq(seen_class.calls, 1);
    ck_assert_uint_eq(seen_class.data.el_num, 2);
    ck_assert_int_eq(memcmp(seen_class.words, "abcd\0\0\0", 8), 0);
    seen.answer = 0;
    WORKS(trace_logi(5, 1, 2));
    ck_assert_uint_eq(seen_class.calls, 1);
    seen.answer = seen_class.answer = 1;
    WORKS(trace_logi(5, 1, 2));
    ck_assert_str_eq(next(trid), USER5);
    WORKS(TraceEvent(_NTO_TRACE_DELEVENTHANDLER, _NTO_TRACE_USER, 5));
    WORKS(TraceEvent(_NTO_TRACE_DELCLASSEVHANDLER, _NTO_TRACE_USER));
    seen.answer = 0;
    WORKS(trace_logi(5, 1, 2));
    ck_assert_str_eq(next(trid), USER5);
}
END_TEST

START_TEST(handlers_are_last)
{
    trace_id_t trid = start();
    event_data_t data = { .area = &seen };

    seen = (struct seen){ .answer = 1 };
    WORKS(TraceEvent(_NTO_TRACE_ADDCLASSEVHANDLER, _NTO_TRACE_USER, look, &data));
    WORKS(TraceEvent(_NTO_TRACE_DELEVENT, _NTO_TRACE_USER, 5));
    WORKS(trace_logi(5, 1, 2));
    WORKS(trace_logf(5, "abc"));
    WORKS(TraceEvent(_NTO_TRACE_SETCLASSPID, _NTO_TRACE_USER, getpid() + 1));
    WORKS(trace_logi(6, 1, 2));
    WORKS(TraceEvent(_NTO_TRACE_CLRCLASSPID, _NTO_TRACE_USER));
    WORKS(TraceEvent(_NTO_TRACE_STOP));
    WORKS(trace_logi(6, 1, 2));
    ck_assert_uint_eq(seen.calls, 0);
    END(trid);
    FAILS(TraceEvent(_NTO_TRACE_ADDCLASSEVHANDLER, _NTO_TRACE_USER, NULL, &data), EFAULT);
    FAILS(TraceEvent(_NTO_TRACE_ADDCLASSEVHANDLER, _NTO_TRACE_USER, look, NULL), EFAULT);
    FAILS(TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, _NTO_TRACE_USER, 1, NULL, NULL), EFAULT);
}
END_TEST

static int end_of_threads;

/* What it is asked about is whole, whoever changes what meanwhile. */
static int check(event_data_t *data)
{
    ck_assert_uint_eq(data->el_num, 2);
    ck_assert_uint_eq(data->data_array[0], data->data_array[1]);
    ck_assert_ptr_eq(data->area, &end_of_threads);
    return 1;
}

static void *record_until_the_end(void *unused)
{
    for (unsigned i = 0; !__atomic_load_n(&end_of_threads, __ATOMIC_ACQUIRE); i++)
        WORKS(trace_logi(5, i, i));
    return unused;
}

START_TEST(changed_while_recording)
{
    event_data_t data = { .area = &end_of_threads };
    pthread_t thread[2];

    start();
    end_of_threads = 0;
    for (unsigned i = 0; i < 2; i++)
        WORKS(pthread_create(&thread[i], NULL, record_until_the_end, NULL));
    for (unsigned i = 0; i < 500; i++) {
        WORKS(TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, _NTO_TRACE_USER, 5, check, &data));
        WORKS(TraceEvent(_NTO_TRACE_SETCLASSPID, _NTO_TRACE_USER, i % 2 ? 1 : getpid()));
        WORKS(TraceEvent(_NTO_TRACE_DELEVENTHANDLER, _NTO_TRACE_USER, 5));
        WORKS(TraceEvent(_NTO_TRACE_CLRCLASSPID, _NTO_TRACE_USER));
        WORKS(TraceEvent(i % 2 ? _NTO_TRACE_ADDALLCLASSES : _NTO_TRACE_DELALLCLASSES));
    }
    __atomic_store_n(&end_of_threads, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < 2; i++)
        WORKS(pthread_join(thread[i], NULL));
    reset();
}
END_TEST

/* Takes what rows there are, so it comes last. */
START_TEST(too_many_handlers)
{
    static char area[300];
    event_data_t data = { 0 };
    unsigned n = 0;

    reset();
    do {
        data.area = &area[n++];
        errno = 0;
    } while (n < sizeof area &&
             TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, _NTO_TRACE_USER, n, look, &data) == 0);
    ck_assert_int_eq(errno, ENOMEM);
    ck_assert_uint_gt(n, 200);
    data.area = &area[0];
    for (int i = 0; i < 1000; i++)
        WORKS(TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, _NTO_TRACE_USER, 7, look, &data));
    for (unsigned i = 0; i < n; i++)
        WORKS(TraceEvent(_NTO_TRACE_DELEVENTHANDLER, _NTO_TRACE_USER, i));
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, masks);
    tcase_add_test(t, bits_and_groups);
    tcase_add_loop_test(t, no_such_event, 0, sizeof nothing / sizeof *nothing);
    tcase_add_test(t, fast_and_wide);
    tcase_add_test(t, pid_and_tid);
    tcase_add_test(t, pid_and_tid_in_the_data);
    tcase_add_test(t, handlers);
    tcase_add_test(t, handlers_are_last);
    tcase_add_test(t, changed_while_recording);
    tcase_add_test(t, too_many_handlers);
}

int main(void)
{
    return run_suite("format", "qnx filter", NULL, add);
}
