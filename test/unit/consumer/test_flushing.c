/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program that flushes a stream and waits until it is not flushing any more finds in the log all
 * events traced before the call, also if the flush thread was in the middle of an earlier round.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/stream.h>
#include "flush/state.h"
#include "shm/segment.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/run_suite.h"

static const char marker[] = "traced before the second flush";

static int ends[2];
static bool found;
static pthread_mutex_t between = PTHREAD_MUTEX_INITIALIZER;

void __real_pt_flush_wait_if_stuck(struct pt_flusher *f, uint32_t futex);
void __wrap_pt_flush_wait_if_stuck(struct pt_flusher *f, uint32_t futex);

/* After each round. */
void __wrap_pt_flush_wait_if_stuck(struct pt_flusher *f, uint32_t futex)
{
    pthread_mutex_lock(&between);
    pthread_mutex_unlock(&between);
    __real_pt_flush_wait_if_stuck(f, futex);
}
static char tail[sizeof marker]; /* the end of what came so far */

/* Takes what the pipe holds, and looks for the marker. */
static void drain(void)
{
    char bytes[sizeof tail + 4096];
    ssize_t n;

    while ((n = read(ends[0], bytes + sizeof tail, 4096)) > 0) {
        memcpy(bytes, tail, sizeof tail);
        found |= memmem(bytes, sizeof tail + (size_t)n, marker, sizeof marker - 1) != NULL;
        memcpy(tail, bytes + n, sizeof tail);
    }
    ck_assert(n < 0 && errno == EAGAIN);
}

static bool is_writing(struct pt_stream *s)
{
    bool is;

    pthread_mutex_lock(&s->reading);
    is = pt_flusher_is_writing(s->flusher);
    pthread_mutex_unlock(&s->reading);
    return is;
}

static bool is_flushing(trace_id_t trid)
{
    struct posix_trace_status_info status;

    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    return status.posix_stream_flush_status == POSIX_TRACE_FLUSHING;
}

/* A stream whose flush thread waits for a full pipe, in the middle of a round. */
static trace_id_t create(struct pt_stream **s)
{
    trace_event_id_t id;
    trace_attr_t attr;
    char data[64] = "";
    trace_id_t trid;

    found = false;
    memset(tail, 0, sizeof tail);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 1 << 20), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, ends[1], &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_eventid_open("flushed", &id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (unsigned i = 0; i < 4000; i++)
        posix_trace_event(id, data, sizeof data);
    *s = pt_handle_get(trid, ~0u);
    ck_assert_ptr_nonnull(*s);
    ck_assert_int_eq(posix_trace_flush(trid), 0);
    while (!is_writing(*s))
        usleep(1000);
    posix_trace_event(id, marker, sizeof marker);
    return trid;
}

static void end(trace_id_t trid, struct pt_stream *s)
{
    pt_handle_put(s);
    ck_assert_int_eq(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20), 1 << 20);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(ends[0]);
    close(ends[1]);
}

/* The flush thread is kept between its rounds: the first has ended, and no request is taken yet. */
START_TEST(from_one_round_to_the_next)
{
    struct pt_flush_status status;
    struct pt_stream *s;
    trace_id_t trid = create(&s);

    ck_assert_int_eq(posix_trace_flush(trid), 0);
    pthread_mutex_lock(&between);
    while (pt_load_seqcst(&s->seg->h->flush_state) & PT_FLUSHING) {
        drain();
        usleep(1000);
    }
    ck_assert(!found);
    pt_flusher_status(s->flusher, &status, false);
    ck_assert(status.flushing);
    pthread_mutex_unlock(&between);
    while (is_flushing(trid)) {
        drain();
        usleep(1000);
    }
    drain();
    ck_assert(found);
    end(trid, s);
}
END_TEST

static int own_stream(void *file, const struct posixtrace_stream *s)
{
    strcpy(file, s->file);
    return s->owner == getpid();
}

START_TEST(asked_for_by_another)
{
    char file[sizeof((struct posixtrace_stream *)0)->file];
    struct pt_stream *s;
    trace_id_t trid = create(&s), other;

    ck_assert_int_eq(posixtrace_stream_list(own_stream, file), 1);
    ck_assert_int_eq(posixtrace_attach(file, &other), 0);
    ck_assert_int_eq(posix_trace_flush(other), 0);
    pthread_mutex_lock(&between);
    while (pt_load_seqcst(&s->seg->h->flush_state) & PT_FLUSHING) {
        drain();
        usleep(1000);
    }
    ck_assert(!found);
    ck_assert(is_flushing(other));
    pthread_mutex_unlock(&between);
    while (is_flushing(other)) {
        drain();
        usleep(1000);
    }
    drain();
    ck_assert(found);
    ck_assert_int_eq(posixtrace_detach(other), 0);
    end(trid, s);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, from_one_round_to_the_next);
    tcase_add_test(t, asked_for_by_another);
}

int main(void)
{
    return run_suite("flushing", "stream", NULL, add);
}
