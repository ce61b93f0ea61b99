/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Programs with little address space (RLIMIT_AS), or that lock what they map (mlockall()):
 * a process that cannot map the whole segment of a stream records with a part of it or
 * counts what it loses, and the file does not get more memory than its writers use.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "place/dir.h"
#include "shm/segment.h"
#include "support/limit_space.h"
#include "support/need.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "support/valgrind.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1 /* they map memory of their own */
#else
#define SANITIZED 0
#endif

enum { EVENTS = 1000, HANG_S = 60, NOBODY = 65534, HOLDERS = 400, REFUSED = 3 };

static char *image;

/* ---- the traced program: argv[1] is what limits it ---- */

static void trace(unsigned n)
{
    for (uint64_t i = 0; i < n; i++)
        posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof i);
}

/* 0: as much as this user may. */
static void lock_all(rlim_t most)
{
    const struct rlimit limit = { most, most };

    if ((most && setrlimit(RLIMIT_MEMLOCK, &limit) < 0) || mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
        _exit(TEST_SKIPPED);
}

static int be_image(const char *what, const char *number)
{
    rlim_t amount = strtoul(number, NULL, 10) * MIB;

    alarm(HANG_S);
    if (strcmp(what, "space") == 0)
        limit_space(amount);
    else if (strcmp(what, "locked") == 0)
        lock_all(amount);
    else if (strcmp(what, "locked_later") == 0) {
        trace(1);
        lock_all(0);
        trace(EVENTS - 1);
        return 0;
    } else if (strcmp(what, "prepare") == 0) {
        limit_space(amount);
        NEED(posixtrace_prepare() == ENOMEM);
    }
    trace(EVENTS);
    return 0;
}

/* ---- the test ---- */

static trace_id_t create(size_t size)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, size), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static uint64_t file_bytes(trace_id_t trid)
{
    int dir = pt_dir_open(false);
    struct stat st;

    ck_assert_int_ge(dir, 0);
    ck_assert_int_eq(fstatat(dir, segment_of(trid)->file, &st, 0), 0);
    close(dir);
    return (uint64_t)st.st_blocks * 512;
}

/* The image in a child, its exit status. */
static int run(const char *what, const char *number)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        execl(image, image, what, number, (char *)NULL);
        _exit(2);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_ne(WEXITSTATUS(status), 2);
    return WEXITSTATUS(status);
}

static void ck_balance(trace_id_t trid, uint64_t recorded, uint64_t lost)
{
    struct posixtrace_info info = info_of(trid);

    ck_assert_uint_eq(info.events, recorded);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_NO_MEMORY], lost);
}

static const struct {
    const char *what, *mib;
    uint64_t recorded;
} limits[] = {
    { "space", "64", EVENTS }, /* not for all of it */
    { "space", "256", EVENTS },
    { "space", "6", 0 }, /* for the header */
    { "prepare", "6", 0 },
};
/* Not enough for a segment; for some of it, and for all. */
static const char *const locks[] = { "8", "64", "1024" };

START_TEST(traced_program)
{
    trace_id_t trid = create(1 << 20);

    ck_assert_int_eq(run(limits[_i].what, limits[_i].mib), 0);
    ck_balance(trid, limits[_i].recorded, EVENTS - limits[_i].recorded);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* Its own stream: it is made with as much growth as there is room for, or not at all. */
START_TEST(own_stream)
{
    trace_id_t trid;
    trace_attr_t attr;

    limit_space(64 * MIB);
    trid = create(1 << 20);
    ck_assert_uint_gt(segment_of(trid)->g.chunk_max, segment_of(trid)->g.base_chunks);
    trace(EVENTS);
    ck_balance(trid, EVENTS, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 60 << 20), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), ENOMEM);
}
END_TEST

static pthread_barrier_t held, let_go;

static void *hold(void *unused)
{
    (void)unused;
    trace(1);
    pthread_barrier_wait(&held);
    pthread_barrier_wait(&let_go);
    return NULL;
}

/* All chunks that it has mapped are in use by others, but not all of the stream: it loses
 * its events and does not stop the stream. */
START_TEST(chunks_beyond)
{
    trace_id_t trid = create(64 << 10);
    pthread_t thread[HOLDERS];
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    pthread_barrier_init(&held, NULL, HOLDERS + 1);
    pthread_barrier_init(&let_go, NULL, HOLDERS + 1);
    for (unsigned i = 0; i < HOLDERS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], &small, hold, NULL), 0);
    pthread_barrier_wait(&held);
    ck_assert_int_eq(run("space", "26"), 0);
    ck_balance(trid, HOLDERS, EVENTS);
    trace(1);
    ck_balance(trid, HOLDERS + 1, EVENTS);
    ck_assert_int_eq(run("space", "256"), 0);
    ck_balance(trid, HOLDERS + 1 + EVENTS, EVENTS);
    pthread_barrier_wait(&let_go);
    for (unsigned i = 0; i < HOLDERS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* What the file of a stream gets when a program locks its memory. */
static void trace_locked(const char *what, const char *mib, uint64_t room)
{
    trace_id_t trid = create(1 << 20);
    uint64_t before = file_bytes(trid);
    int status = run(what, mib);
    struct posixtrace_info info;

    if (status != TEST_SKIPPED) {
        ck_assert_int_eq(status, 0);
        info = info_of(trid);
        ck_assert_uint_eq(info.events + info.lost[POSIXTRACE_LOST_NO_MEMORY], EVENTS);
        ck_assert_uint_le(file_bytes(trid), before + room);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

/* As an ordinary user, who may lock no more than so much. */
START_TEST(locked_little)
{
    const char *dir = getenv("POSIXTRACE_DIR");
    bool is_root = geteuid() == 0;
    int status = 0;

    ck_assert_ptr_nonnull(dir);
    if (is_root)
        ck_assert_int_eq(chown(dir, NOBODY, NOBODY), 0);
    if (fork() == 0) {
        if (is_root)
            NEED(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
        trace_locked("locked", locks[_i], 128 << 10);
        _exit(0);
    }
    ck_assert_int_gt(wait(&status), 0);
    if (is_root)
        ck_assert_int_eq(chown(dir, 0, 0), 0);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* As root, which may lock all memory.  That call fills earlier mappings, as far as they are in
 * use. */
START_TEST(locked_all)
{
    trace_locked("locked", "0", 128 << 10);
    trace_locked("locked_later", "0", 1 << 20);
}
END_TEST

/* A dead writer's segment is copied as far as it is in use. */
START_TEST(copy)
{
    trace_id_t trid = create(1 << 20);
    int dir = pt_dir_open(false);
    struct pt_seg seg;

    trace(EVENTS);
    ck_assert_int_ge(dir, 0);
    limit_space(32 * MIB);
    ck_assert_int_eq(pt_seg_copy(&seg, dir, segment_of(trid)->file), 0);
    ck_assert_uint_eq(pt_seg_reachable(&seg, pt_seg_chunk_count(&seg)), pt_seg_chunk_count(&seg));
    pt_seg_unmap(&seg);
    ck_assert_int_eq(pt_seg_open(&seg, segment_of(trid)->file), 0);
    ck_assert(!pt_seg_is_short(&seg));
    ck_assert_int_eq(pt_seg_reach_chunks(&seg, pt_seg_chunk_count(&seg)), 0);
    pt_seg_unmap(&seg);
    close(dir);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void allow_time(TCase *t)
{
    tcase_set_timeout(t, HANG_S);
}

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, traced_program, 0, sizeof limits / sizeof *limits);
    tcase_add_test(t, chunks_beyond);
    if (!SANITIZED) {
        tcase_add_test(t, own_stream);
        tcase_add_test(t, copy);
        tcase_add_loop_test(t, locked_little, 0, sizeof locks / sizeof *locks);
        tcase_add_test(t, locked_all);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return be_image(argv[1], argv[2]);
    if (is_under_valgrind())
        return TEST_SKIPPED;
    image = argv[0];
    return run_suite("space", "space", allow_time, add_tests);
}
