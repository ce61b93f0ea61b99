/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream that another process has mapped is shut down, and its memory is given back under an
 * onlooker (pt_seg_release).  What the onlooker reads is what was recorded, at each step, and
 * its counts stay what they were: events that it has not read are lost.  madvise() goes through
 * the test: after each piece that is given back the onlooker reads some events.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/stream.h>
#include "support/need.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"

enum { TYPE = POSIX_TRACE_UNNAMED_USER_EVENT, LENGTH = 400, BYTE = 0xa5, THREADS = 3, EACH = 500,
       SOME = 10, EVENTS = (THREADS + 1) * EACH + 1 };

int __real_madvise(void *p, size_t n, int advice);
int __wrap_madvise(void *p, size_t n, int advice);

static int onlooker = -1;   /* the socket of its process */
static unsigned steps;

static void send_byte(int fd)
{
    NEED(write(fd, "", 1) == 1);
}

static bool expect_byte(int fd)
{
    char byte;

    return read(fd, &byte, 1) == 1;
}

int __wrap_madvise(void *p, size_t n, int advice)
{
    int r = __real_madvise(p, n, advice);

    if (advice == MADV_REMOVE && onlooker >= 0) {
        steps++;
        send_byte(onlooker);
        NEED(expect_byte(onlooker));
    }
    return r;
}

static void *trace(void *count)
{
    char data[LENGTH];

    memset(data, BYTE, sizeof data);
    for (unsigned i = 0; i < *(unsigned *)count; i++)
        posix_trace_event(TYPE, data, sizeof data);
    return NULL;
}

static void trace_in_thread(unsigned count)
{
    pthread_t thread;

    NEED(pthread_create(&thread, NULL, trace, &count) == 0);
    NEED(pthread_join(thread, NULL) == 0);
}

/* ---- the onlooker ---- */

static int note_file(void *file, const struct posixtrace_stream *s)
{
    strcpy(file, s->file);
    return 1;
}

static void check(const struct posixtrace_event *e)
{
    const uint8_t *data = e->data;

    NEED(e->data_len == LENGTH);
    for (unsigned i = 0; i < LENGTH; i++)
        NEED(data[i] == BYTE);
}

/* How many events of the type it has read, of at most so many; *over: that was the end. */
static unsigned read_some(trace_id_t trid, unsigned most, bool *over)
{
    struct posixtrace_event e;
    unsigned n = 0;
    int none, r;

    while (n < most) {
        r = posixtrace_next_event(trid, &e, &none);
        *over = r == ENXIO;
        if (r == ENXIO || none)
            break;
        NEED(r == 0);
        if (e.id != TYPE)
            continue;
        check(&e);
        n++;
    }
    return n;
}

static struct posixtrace_info look(trace_id_t trid)
{
    struct posixtrace_info info;

    NEED(posixtrace_get_info(trid, &info) == 0);
    NEED(info.events == EVENTS);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        NEED(c == POSIXTRACE_LOST_OVERWRITTEN || info.lost[c] == 0);
    return info;
}

/* stays: its thread that has mapped the stream does not end. */
static void be_onlooker(int creator, bool stays)
{
    uint64_t read = 0;
    bool over = false;
    trace_id_t trid;
    char file[256];
    unsigned one = 1;

    if (stays)
        trace(&one);
    else
        trace_in_thread(1);
    NEED(posixtrace_stream_list(note_file, file) == 1);
    NEED(posixtrace_attach(file, &trid) == 0);
    read = read_some(trid, 1, &over);
    NEED(look(trid).lost[POSIXTRACE_LOST_OVERWRITTEN] == 0);
    send_byte(creator);
    while (expect_byte(creator)) {
        read += read_some(trid, SOME, &over);
        send_byte(creator);
    }
    while (!over)
        read += read_some(trid, SOME, &over);
    NEED(look(trid).lost[POSIXTRACE_LOST_OVERWRITTEN] + read == EVENTS);
    NEED(posixtrace_detach(trid) == 0);
    _exit(0);
}

/* ---- the creator ---- */

START_TEST(shutdown_under_onlooker)
{
    unsigned count = EACH;
    int ends[2], status;
    trace_attr_t attr;
    trace_id_t trid;
    pid_t pid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 4 << 20), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, LENGTH), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (unsigned i = 0; i < THREADS; i++)
        trace_in_thread(EACH);
    trace(&count);   /* this thread stays, in a chunk of its own */
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(ends[0]);
        be_onlooker(ends[1], _i == 1);
    }
    close(ends[1]);
    ck_assert(expect_byte(ends[0]));
    ck_assert_uint_eq(info_of(trid).events, EVENTS);
    onlooker = ends[0];
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    onlooker = -1;
    ck_assert_uint_ge(steps, 2);
    close(ends[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, shutdown_under_onlooker, 0, 2);
}

int main(void)
{
    return run_suite("stream give_back", "stream give_back", NULL, add);
}
