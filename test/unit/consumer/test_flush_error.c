/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Write errors and overruns of a log: until when which process sees them, and what the log says of
 * them.  pwrite() is this program's own: it refuses writes as a full disk does, but in the log's
 * header.  The first round of a piece fails in pt_log_put_text(), which goes through the test.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include "base/atomics.h"
#include "flush/thread.h"
#include "log/writer/state.h"
#include "log/writer/writer.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/killed_child.h"
#include "support/log_file.h"
#include "support/run_suite.h"

enum { LOG = 8192 };

static trace_event_id_t type;

int __real_pt_log_put_text(struct pt_log_writer *w, enum pt_text kind, uint32_t id,
                           const char *text);
int __wrap_pt_log_put_text(struct pt_log_writer *w, enum pt_text kind, uint32_t id,
                           const char *text);

static uint32_t disk_is_full;

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    if (pt_load_seqcst(&disk_is_full) && offset >= (off_t)PT_LOG_DATA_START) {
        errno = EFBIG;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

static uint32_t names_fail, failed;

int __wrap_pt_log_put_text(struct pt_log_writer *w, enum pt_text kind, uint32_t id,
                           const char *text)
{
    if (kind != PT_TEXT_NAME || !pt_load_seqcst(&names_fail))
        return __real_pt_log_put_text(w, kind, id, text);
    pt_add_seqcst(&failed, 1u);
    return -EIO;
}

static trace_id_t create(int fd, int stream_policy, int log_policy)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_eventid_open("written", &type), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, stream_policy), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, log_policy), 0);
    ck_assert_int_eq(posix_trace_attr_setlogsize(&attr, LOG), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static trace_id_t onlooker(void)
{
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_attach_pid(getpid(), &trid), 0);
    return trid;
}

static void trace(unsigned events)
{
    char data[100] = "";

    while (events--)
        posix_trace_event(type, data, sizeof data);
}

static struct posix_trace_status_info status_of(trace_id_t trid)
{
    struct posix_trace_status_info status;

    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    return status;
}

static int error_of(trace_id_t trid)
{
    return status_of(trid).posix_stream_flush_error;
}

static bool overran(trace_id_t trid)
{
    return status_of(trid).posix_log_overrun_status == POSIX_TRACE_OVERRUN;
}

/* Resets nothing. */
static bool is_flushing(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);
    struct pt_flush_status status;

    ck_assert_ptr_nonnull(s);
    if (s->flusher)
        pt_flusher_status(s->flusher, &status, false);
    else
        status.flushing = status_of(trid).posix_stream_flush_status == POSIX_TRACE_FLUSHING;
    pt_handle_put(s);
    return status.flushing;
}

/* Returns what the other one sees then. */
static int flush(trace_id_t trid, trace_id_t other)
{
    posix_trace_flush(trid); /* may return an earlier error */
    while (is_flushing(trid))
        usleep(100);
    return error_of(other);
}

/* A flush that cannot be written. */
static int failing_flush(trace_id_t trid, trace_id_t other)
{
    int error;

    pt_store_seqcst(&disk_is_full, 1u);
    trace(100);
    error = flush(trid, other);
    pt_store_seqcst(&disk_is_full, 0u);
    return error;
}

static struct posixtrace_info info_of(int fd)
{
    struct posixtrace_info info;
    trace_id_t trid;

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_int_eq(error_of(trid), info.flush_error);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return info;
}

/* Whether or not the creator asks for its status meanwhile. */
START_TEST(a_flush_of_another_has_its_own_result)
{
    int fd = log_file();
    trace_id_t trid = create(fd, POSIX_TRACE_LOOP, POSIX_TRACE_APPEND), other = onlooker();

    ck_assert_int_eq(flush(other, other), 0);
    ck_assert_int_eq(failing_flush(other, other), EFBIG);
    trace(10);
    ck_assert_int_eq(flush(other, other), 0);
    ck_assert_int_eq(failing_flush(trid, trid), EFBIG);
    ck_assert_int_eq(error_of(trid), 0);
    ck_assert_int_eq(error_of(other), EFBIG);
    ck_assert_int_eq(flush(other, other), 0);
    ck_assert_int_eq(failing_flush(other, trid), EFBIG);
    ck_assert_int_eq(error_of(other), EFBIG);
    ck_assert_int_eq(posixtrace_detach(other), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

START_TEST(the_creator_resets_what_others_see)
{
    int fd = log_file();
    trace_id_t trid = create(fd, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP), other = onlooker();

    trace(500);
    ck_assert_int_eq(flush(trid, other), 0);
    ck_assert_int_eq(failing_flush(trid, other), EFBIG);
    for (unsigned i = 0; i < 2; i++) {
        struct posix_trace_status_info status = status_of(i ? trid : other);

        ck_assert_int_eq(status.posix_stream_flush_error, EFBIG);
        ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
    }
    ck_assert_int_eq(error_of(other), 0);
    ck_assert(!overran(other));
    ck_assert_int_eq(flush(trid, other), 0);
    ck_assert_int_eq(error_of(trid), 0);
    ck_assert_int_eq(posixtrace_detach(other), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

START_TEST(the_log_keeps_what_was_reported)
{
    int fd = log_file();
    trace_id_t trid = create(fd, POSIX_TRACE_LOOP, POSIX_TRACE_APPEND);

    ck_assert_int_eq(failing_flush(trid, trid), EFBIG);
    trace(10);
    ck_assert_int_eq(flush(trid, trid), 0);
    ck_assert_int_eq(info_of(fd).flush_error, EFBIG);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(info_of(fd).flush_error, EFBIG);
    close(fd);
}
END_TEST

START_TEST(nothing_is_pending_after_a_clear)
{
    int fd = log_file();
    trace_id_t trid = create(fd, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP), other = onlooker();

    trace(500);
    ck_assert_int_eq(flush(trid, other), 0);
    ck_assert_int_eq(failing_flush(other, other), EFBIG);
    ck_assert_int_eq(flush(trid, other), EFBIG);
    ck_assert(overran(other));
    ck_assert_int_eq(posix_trace_clear(trid), 0);
    ck_assert_int_eq(info_of(fd).flush_error, 0);
    ck_assert_int_eq(error_of(other), 0);
    ck_assert(!overran(other));
    ck_assert_int_eq(posix_trace_flush(trid), 0);
    ck_assert(!overran(trid));
    ck_assert_int_eq(error_of(trid), 0);
    ck_assert_int_eq(posixtrace_detach(other), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(info_of(fd).flush_error, 0);
    close(fd);
}
END_TEST

/* Killed after the error, or after a flush that had room again. */
START_TEST(a_recovery_keeps_the_error)
{
    struct posixtrace_recover_report report;
    int fd = log_file();
    pid_t child = fork();

    if (child == 0) {
        trace_id_t trid = create(fd, POSIX_TRACE_LOOP, POSIX_TRACE_APPEND);

        failing_flush(trid, trid);
        if (_i)
            flush(trid, trid);
        kill(getpid(), SIGKILL);
    }
    await_kill(child);
    ck_assert_int_eq(info_of(fd).flush_error, EFBIG);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert(report.segment_found);
    ck_assert_int_eq(info_of(fd).flush_error, EFBIG);
    close(fd);
}
END_TEST

/* ---- pieces ---- */

static char folder[300];

static int open_piece(unsigned number, const char *end, int flags)
{
    char path[400];

    snprintf(path, sizeof path, "%s/a-1-%u.ptl%s", folder, number, end);
    return open(path, flags, 0600);
}

static trace_id_t create_pieces(void)
{
    trace_id_t trid;
    int fd;

    snprintf(folder, sizeof folder, "%s.XXXXXX", getenv("POSIXTRACE_DIR"));
    ck_assert_ptr_nonnull(mkdtemp(folder));
    fd = open_piece(1, ".part", O_RDWR | O_CREAT | O_EXCL);
    ck_assert_int_ge(fd, 0);
    trid = create(fd, POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND);
    close(fd);
    return trid;
}

static void rotate(trace_id_t trid, uint64_t bytes)
{
    struct posixtrace_rotation rotation = { .bytes = bytes };

    ck_assert_int_eq(posixtrace_log_rotate(trid, &rotation, sizeof rotation), 0);
}

/* A piece has its name at the end of the seam. */
static void wait_for_piece(unsigned number)
{
    int fd;

    while ((fd = open_piece(number, "", O_RDONLY)) < 0)
        usleep(1000);
    close(fd);
}

static int error_of_piece(unsigned number)
{
    int fd = open_piece(number, "", O_RDONLY), error;

    ck_assert_int_ge(fd, 0);
    error = info_of(fd).flush_error;
    close(fd);
    return error;
}

static void remove_pieces(unsigned count)
{
    char path[400];

    for (unsigned i = 1; i <= count; i++) {
        snprintf(path, sizeof path, "%s/a-1-%u.ptl", folder, i);
        ck_assert_int_eq(unlink(path), 0);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

/* The log stays in its piece, whose writes succeed. */
START_TEST(a_piece_that_cannot_begin_is_no_error_of_the_log)
{
    trace_id_t trid = create_pieces(), other = onlooker();

    trace(10);
    ck_assert_int_eq(flush(trid, other), 0);
    pt_store_seqcst(&names_fail, 1u);
    rotate(trid, 1);
    while (!pt_load_seqcst(&failed) || is_flushing(trid))
        usleep(1000);
    ck_assert_int_eq(error_of(other), 0);
    ck_assert_int_eq(error_of(trid), 0);
    pt_store_seqcst(&names_fail, 0u);
    wait_for_piece(1);
    ck_assert_int_eq(posixtrace_detach(other), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(error_of_piece(1), 0);
    ck_assert_int_eq(error_of_piece(2), 0);
    remove_pieces(2);
}
END_TEST

/* As its losses do. */
START_TEST(an_error_belongs_to_its_piece)
{
    trace_id_t trid = create_pieces(), other = onlooker();

    ck_assert_int_eq(failing_flush(trid, other), EFBIG);
    flush(trid, other);
    rotate(trid, 1);
    wait_for_piece(1);
    ck_assert_int_eq(error_of(trid), EFBIG);
    ck_assert_int_eq(posixtrace_detach(other), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(error_of_piece(1), EFBIG);
    ck_assert_int_eq(error_of_piece(2), 0);
    remove_pieces(2);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, a_flush_of_another_has_its_own_result);
    tcase_add_test(t, the_creator_resets_what_others_see);
    tcase_add_test(t, the_log_keeps_what_was_reported);
    tcase_add_test(t, nothing_is_pending_after_a_clear);
    tcase_add_loop_test(t, a_recovery_keeps_the_error, 0, 2);
    tcase_add_test(t, a_piece_that_cannot_begin_is_no_error_of_the_log);
    tcase_add_test(t, an_error_belongs_to_its_piece);
}

int main(void)
{
    return run_suite("flush_error", "stream", NULL, add);
}
