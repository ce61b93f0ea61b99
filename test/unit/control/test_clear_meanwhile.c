/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * While a thread clears a stream, another one has its log written in pieces, or events overwrite
 * others.
 * pt_control_lock_begin() and pt_consumer_clear() go through the test, which lets that come there.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <posixtrace/attr.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <pthread.h>
#include <trace.h>
#include <unistd.h>
#include "base/atomics.h"
#include "consumer/consumer.h"
#include "stream/control_lock.h"
#include "support/call_once.h"
#include "support/run_suite.h"

enum { OLD = 100, NEW = 7, MANY = 20000, LOOKS = 300 };

static trace_id_t trid;
static trace_event_id_t type;
static char folder[] = "/tmp/posixtrace-clear.XXXXXX";
static pthread_t rotator;
static uint32_t rotated;
static int rotation_error;
static _Thread_local void (*when_locked)(void), (*when_cleared)(void);

int __real_pt_control_lock_begin(struct pt_stream *s);
int __wrap_pt_control_lock_begin(struct pt_stream *s);
int __real_pt_consumer_clear(struct pt_consumer *l, uint64_t ts);
int __wrap_pt_consumer_clear(struct pt_consumer *l, uint64_t ts);

int __wrap_pt_control_lock_begin(struct pt_stream *s)
{
    call_once(&when_locked);
    return __real_pt_control_lock_begin(s);
}

int __wrap_pt_consumer_clear(struct pt_consumer *l, uint64_t ts)
{
    int r = __real_pt_consumer_clear(l, ts);

    call_once(&when_cleared);
    return r;
}

static void trace(uint32_t from, uint32_t to)
{
    for (; from < to; from++)
        posix_trace_event(type, &from, sizeof from);
}

/* ---- pieces ---- */

/* With one byte, what the log has so far is a piece at once. */
static void *rotate(void *none)
{
    struct posixtrace_rotation rotation = { .bytes = 1 };

    rotation_error = posixtrace_log_rotate(trid, &rotation, sizeof rotation);
    pt_store_seqcst(&rotated, 1u);
    return none;
}

/* It waits for the clear, or comes before it. */
static void rotate_meanwhile(void)
{
    ck_assert_int_eq(pthread_create(&rotator, NULL, rotate, NULL), 0);
    for (unsigned i = 0; i < LOOKS && !pt_load_seqcst(&rotated); i++)
        usleep(1000);
}

static void create_with_log(void)
{
    trace_attr_t attr;
    char path[64];
    int fd;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a-1-1.ptl.part", folder);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    close(fd);
}

static void count_in_pieces(unsigned *old, unsigned *fresh)
{
    struct posixtrace_event event;
    trace_id_t pieces;
    glob_t found;
    char pattern[64];
    int none;

    *old = *fresh = 0;
    snprintf(pattern, sizeof pattern, "%s/*", folder);
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    ck_assert_int_eq(
        posixtrace_open_pieces((const char *const *)found.gl_pathv, found.gl_pathc, &pieces), 0);
    for (;;) {
        uint32_t number;

        ck_assert_int_eq(posixtrace_next_event(pieces, &event, sizeof event, &none), 0);
        if (none)
            break;
        if (event.id <= POSIX_TRACE_ERROR)
            continue;
        memcpy(&number, event.data, sizeof number);
        *(number < OLD ? old : fresh) += 1;
    }
    ck_assert_int_eq(posix_trace_close(pieces), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
    rmdir(folder);
}

/* A log in pieces is not cleared; what the clear reports as done, it has done. */
START_TEST(pieces)
{
    struct posix_trace_status_info status;
    unsigned old, fresh;

    create_with_log();
    ck_assert_int_eq(posix_trace_eventid_open("a number", &type), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace(0, OLD);
    ck_assert_int_eq(posix_trace_flush(trid), 0);
    do
        ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
    when_locked = rotate_meanwhile;
    ck_assert_int_eq(posix_trace_clear(trid), 0);
    ck_assert_int_eq(pthread_join(rotator, NULL), 0);
    ck_assert_int_eq(rotation_error, 0);
    ck_assert_int_eq(posix_trace_clear(trid), ENOTSUP);
    trace(OLD, OLD + NEW);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    count_in_pieces(&old, &fresh);
    ck_assert_uint_eq(fresh, NEW);
    ck_assert_uint_eq(old, 0);
}
END_TEST

/* ---- a stream that is full again ---- */

static void fill(void)
{
    trace(0, MANY);
}

static int full_status(void)
{
    struct posix_trace_status_info status;

    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    return status.posix_stream_full_status;
}

START_TEST(full)
{
    trace_attr_t attr;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 65536), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_eventid_open("a number", &type), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    fill();
    ck_assert_int_eq(full_status(), POSIX_TRACE_FULL);
    ck_assert_int_eq(posix_trace_clear(trid), 0);
    ck_assert_int_eq(full_status(), POSIX_TRACE_NOT_FULL);
    when_cleared = fill;
    ck_assert_int_eq(posix_trace_clear(trid), 0);
    ck_assert_int_eq(full_status(), POSIX_TRACE_FULL);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, pieces);
    tcase_add_test(t, full);
}

int main(void)
{
    return run_suite("stream", "clear meanwhile", NULL, add);
}
