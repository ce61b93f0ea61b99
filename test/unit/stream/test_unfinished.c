/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Recoveries that do not finish, because they are killed at one of their writes or the disk
 * is full.  The sum of events and losses stays the same, whatever was reported to the
 * recovery, and a recovery that a full disk stops has given up no event.
 *
 * pwrite() is this program's own: it keeps the writer's flush thread from writing, kills the
 * process at a write, and refuses what goes over the size of a file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "consumer/tombstone.h"
#include "log/format.h"
#include "place/dir.h"
#include "support/flush_log.h"
#include "support/killed_child.h"
#include "support/run_suite.h"

#define EVENTS 3000u /* before the flush, and after it, in memory only */
#define LOSS   700u  /* that a tombstone or the caller reports */

enum reporter { NOBODY, TOMBSTONE, CALLER };

struct kind {
    int policy;
    size_t log_size;
    enum reporter reporter;
};

/* The first LOOP log has not wrapped, the last one wraps when it is recovered. */
static const struct kind kinds[] = {
    { POSIX_TRACE_APPEND, 1 << 20, NOBODY }, { POSIX_TRACE_APPEND, 1 << 20, TOMBSTONE },
    { POSIX_TRACE_APPEND, 1 << 20, CALLER }, { POSIX_TRACE_LOOP, 1 << 20, TOMBSTONE },
    { POSIX_TRACE_LOOP, 40000, NOBODY },     { POSIX_TRACE_LOOP, 40000, TOMBSTONE },
    { POSIX_TRACE_LOOP, 40000, CALLER },     { POSIX_TRACE_LOOP, 100000, NOBODY },
};
#define KINDS (int)(sizeof kinds / sizeof kinds[0])

static atomic_bool held;       /* nothing is written */
static unsigned kill_at;       /* 0: never */
static off_t most = INT64_MAX; /* bytes of a file */

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    while (held)
        sched_yield();
    if (kill_at && --kill_at == 0)
        kill(getpid(), SIGKILL);
    if (offset >= most) {
        errno = ENOSPC;
        return -1;
    }
    if ((off_t)bytes > most - offset)
        bytes = (size_t)(most - offset);
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

static void trace_and_die(const struct kind *k, int fd)
{
    trace_event_set_t system;
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;

    posix_trace_attr_init(&attr);
    posix_trace_attr_setlogfullpolicy(&attr, k->policy);
    posix_trace_attr_setlogsize(&attr, k->log_size);
    posix_trace_attr_setstreamsize(&attr, 1 << 20);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS);
    posix_trace_set_filter(trid, &system, POSIX_TRACE_SET_EVENTSET);
    ck_assert_int_eq(posix_trace_eventid_open("unfinished", &id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (unsigned i = 0; i < 2 * EVENTS; i++) {
        if (i == EVENTS) {
            flush_log(trid);
            held = true;
        }
        posix_trace_event(id, &i, sizeof i);
    }
    kill(getpid(), SIGKILL);
}

static void remove_segments(void)
{
    int dir = pt_dir_open(true);
    DIR *d = fdopendir(dir);
    struct dirent *e;

    ck_assert_ptr_nonnull(d);
    while ((e = readdir(d)))
        if (strstr(e->d_name, ".seg"))
            ck_assert_int_eq(unlinkat(dir, e->d_name, 0), 0);
    closedir(d);
}

static void open_log(int fd, struct posixtrace_info *info, bool follow)
{
    trace_id_t trid;
    bool gap;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    if (follow)
        ck_assert_int_eq(posixtrace_follow(trid, &gap), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, info, sizeof *info), 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

static uint64_t sum_of(const struct posixtrace_info *info)
{
    uint64_t sum = info->events;

    for (int c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        sum += info->lost[c];
    return sum;
}

/* Buries the segment, as settling does if the events of a dead program are never saved. */
static void bury(int fd)
{
    struct pt_tombstone t = { .events = LOSS };
    int dir = pt_dir_open(true);
    struct posixtrace_info info;

    open_log(fd, &info, false);
    memcpy(t.id, info.id, sizeof t.id);
    ck_assert_int_eq(pt_tombstone_put(dir, &t), 0);
    close(dir);
}

static int new_file(void)
{
    char path[] = "/tmp/posixtrace-unfinished.XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    unlink(path);
    return fd;
}

static int make_log_in(const struct kind *k, int fd)
{
    pid_t pid;

    remove_segments();
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        trace_and_die(k, fd);
    await_kill(pid);
    if (k->reporter != NOBODY)
        remove_segments();
    if (k->reporter == TOMBSTONE)
        bury(fd);
    return fd;
}

static int make_log(const struct kind *k)
{
    return make_log_in(k, new_file());
}

static off_t size_of(int fd)
{
    struct stat st;

    ck_assert_int_eq(fstat(fd, &st), 0);
    return st.st_size;
}

static uint8_t *bytes_of(int fd, off_t *size)
{
    uint8_t *bytes;

    *size = size_of(fd);
    bytes = malloc((size_t)*size);
    ck_assert_int_eq(pread(fd, bytes, (size_t)*size, 0), *size);
    return bytes;
}

static int recover(const struct kind *k, int fd)
{
    struct posixtrace_recover_report report;

    return posixtrace_log_recover_lost(fd, k->reporter == CALLER ? LOSS : 0, &report,
                                       sizeof report);
}

/* In a process of its own, at its write number at.  False: it came to its end. */
static bool recover_and_die(const struct kind *k, int fd, unsigned at)
{
    int status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        kill_at = at;
        _exit(recover(k, fd));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

static uint64_t wanted(const struct kind *k, bool reported)
{
    if (k->reporter == NOBODY)
        return 2 * EVENTS;
    return EVENTS + (k->reporter == TOMBSTONE || reported ? LOSS : 0);
}

/* What the caller of a recovery reports may be in the log, all of it, or not. */
static void check_sum(const struct kind *k, int fd, bool reported)
{
    struct posixtrace_info info;

    open_log(fd, &info, false);
    if (k->reporter == CALLER && !reported && sum_of(&info) == wanted(k, true))
        reported = true;
    ck_assert_uint_eq(sum_of(&info), wanted(k, reported));
}

START_TEST(killed)
{
    const struct kind *k = &kinds[_i];
    struct posixtrace_info info;
    unsigned at = 1;
    int fd = make_log(k);

    check_sum(k, fd, false);
    for (; recover_and_die(k, fd, at); at++)
        check_sum(k, fd, false);
    ck_assert_uint_gt(at, 2);
    check_sum(k, fd, true);
    open_log(fd, &info, false);
    ck_assert_int_eq(info.end, POSIXTRACE_END_RECOVERED);
    ck_assert_int_eq(recover(k, fd), 0);
    check_sum(k, fd, true);
    close(fd);
}
END_TEST

/* Without room after the end of the file, with room for some of it, and then for all. */
START_TEST(on_a_full_disk)
{
    const struct kind *k = &kinds[_i];
    struct posixtrace_info before, after;
    int fd = make_log(k);
    off_t size, now;
    uint8_t *old = bytes_of(fd, &size), *bytes;

    open_log(fd, &before, false);
    for (unsigned room = 0; room < 3; room++) {
        most = size + 64 * (off_t)room;
        ck_assert_int_eq(recover(k, fd), ENOSPC);
        bytes = bytes_of(fd, &now);
        ck_assert_int_eq(now, size);
        ck_assert(memcmp(bytes, old, (size_t)size) == 0);
        free(bytes);
        open_log(fd, &after, false);
        ck_assert_uint_eq(after.events, before.events);
        ck_assert_uint_eq(sum_of(&after), sum_of(&before));
    }
    free(old);
    most = INT64_MAX;
    ck_assert_int_eq(recover(k, fd), 0);
    check_sum(k, fd, true);
    close(fd);
}
END_TEST

/* The second report has a higher number. */
START_TEST(reported_again)
{
    const struct kind k = { POSIX_TRACE_APPEND, 1 << 20, CALLER };
    struct posixtrace_recover_report report;
    struct posixtrace_info info;
    int fd = make_log(&k);

    for (unsigned at = 1;; at++) {
        ck_assert(recover_and_die(&k, fd, at));
        open_log(fd, &info, false);
        if (sum_of(&info) == EVENTS + LOSS)
            break;
    }
    ck_assert_int_eq(posixtrace_log_recover_lost(fd, LOSS + 50, &report, sizeof report), 0);
    ck_assert(!report.was_complete);
    open_log(fd, &info, false);
    ck_assert_uint_eq(sum_of(&info), EVENTS + LOSS + 50);
    close(fd);
}
END_TEST

/* The ring that the header names is not in the file, which has been cut: no recovery makes the
 * file as long as the header says, wherever an earlier one was killed. */
START_TEST(ring_is_cut)
{
    const struct kind k = { POSIX_TRACE_LOOP, 40000, CALLER };
    struct posixtrace_info info;
    struct pt_log_header h;
    int fd = make_log(&k);
    off_t left = 4096 + (size_of(fd) - 4096) * _i / 4;
    uint64_t sum;

    ck_assert_int_eq(pread(fd, &h, sizeof h, 0), sizeof h);
    ck_assert(pt_log_header_open(&h));
    ck_assert_uint_ne(h.ring_bytes, 0);
    h.ring_bytes = 1 << 24;
    h.meta_start = PT_LOG_DATA_START + h.ring_bytes;
    pt_log_header_seal(&h);
    ck_assert_int_eq(pwrite(fd, &h, sizeof h, 0), sizeof h);
    ck_assert_int_eq(ftruncate(fd, left), 0);
    open_log(fd, &info, false);
    sum = sum_of(&info);
    for (unsigned at = 1; recover_and_die(&k, fd, at); at++) {
        ck_assert_int_le(size_of(fd), left + 100000);
        open_log(fd, &info, false);
        ck_assert(sum_of(&info) == sum || sum_of(&info) == sum + LOSS);
    }
    ck_assert_int_le(size_of(fd), left + 100000);
    open_log(fd, &info, false);
    ck_assert_uint_eq(sum_of(&info), sum + LOSS);
    ck_assert_int_eq(info.end, POSIXTRACE_END_RECOVERED);
    close(fd);
}
END_TEST

/* A follower of a log gets the losses of its tombstone, too. */
START_TEST(followed)
{
    const struct kind k = { POSIX_TRACE_APPEND, 1 << 20, TOMBSTONE };
    struct posixtrace_info info;
    int fd = make_log(&k);

    open_log(fd, &info, true);
    ck_assert_uint_eq(sum_of(&info), EVENTS + LOSS);
    close(fd);
}
END_TEST

/* As where the stream directory is another user's; or as it was. */
static void hide_segments(bool hide)
{
    const char *suffix = hide ? ".seg" : ".was";
    int dir = pt_dir_open(true), files = 0;
    DIR *d = fdopendir(dir);
    struct dirent *e;

    ck_assert_ptr_nonnull(d);
    while ((e = readdir(d))) {
        char name[64] = "";

        if (!strstr(e->d_name, suffix))
            continue;
        snprintf(name, sizeof name, "%.63s", e->d_name);
        memcpy(strstr(name, suffix), hide ? ".was" : ".seg", 4);
        ck_assert_int_eq(renameat(dir, e->d_name, dir, name), 0);
        files++;
    }
    closedir(d);
    ck_assert_int_eq(files, 1);
}

static const struct kind elsewhere[] = {
    { POSIX_TRACE_APPEND, 1 << 20, NOBODY },
    { POSIX_TRACE_LOOP, 1 << 20, NOBODY },
    { POSIX_TRACE_LOOP, 40000, NOBODY },
    { POSIX_TRACE_LOOP, 100000, NOBODY },
};
#define ELSEWHERE (int)(sizeof elsewhere / sizeof elsewhere[0])

/* A recovery that does not find the segment completes the log without it, which the log says.
 * Nothing is lost by that: a process that finds it later reads and recovers all, even if it is
 * killed at any place. */
START_TEST(completed_elsewhere)
{
    const struct kind *k = &elsewhere[_i];
    struct posixtrace_recover_report report;
    struct posixtrace_info info;
    int fd = make_log(k);

    hide_segments(true);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert(!report.segment_found);
    open_log(fd, &info, false);
    ck_assert_int_eq(info.end, POSIXTRACE_END_CUT);
    ck_assert_uint_eq(sum_of(&info), EVENTS);
    hide_segments(false);
    check_sum(k, fd, false);
    for (unsigned at = 1; recover_and_die(k, fd, at); at++)
        check_sum(k, fd, false);
    open_log(fd, &info, false);
    ck_assert_int_eq(info.end, POSIXTRACE_END_RECOVERED);
    check_sum(k, fd, true);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert(report.was_complete);
    close(fd);
}
END_TEST

/* The same, where the next program that traces or lists settles the rest. */
START_TEST(completed_elsewhere_and_settled)
{
    const struct kind *k = &elsewhere[_i];
    struct posixtrace_recover_report report;
    struct posixtrace_info info;
    char path[] = "/tmp/posixtrace-unfinished.XXXXXX";
    unsigned removed, kept;
    int fd = make_log_in(k, mkostemp(path, O_CLOEXEC));

    hide_segments(true);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    hide_segments(false);
    ck_assert_int_eq(posixtrace_stream_reap(0, &removed, &kept), 0);
    ck_assert_uint_gt(removed, 0);
    unlink(path);
    check_sum(k, fd, true);
    open_log(fd, &info, false);
    ck_assert_int_eq(info.end, POSIXTRACE_END_RECOVERED);
    close(fd);
}
END_TEST

/* Puts the segment to the other end of what readdir() lists. */
static void move_in_list(const uint8_t id[16])
{
    int dir = pt_dir_open(true);
    char name[64];

    pt_dir_hex_name(name, sizeof name, 's', id, ".seg");
    ck_assert_int_eq(renameat(dir, name, dir, "s-elsewhere"), 0);
    ck_assert_int_eq(renameat(dir, "s-elsewhere", dir, name), 0);
    close(dir);
}

/* Two writers were killed, one after the other, that wrote into one file, and then it was emptied:
 * it is the log of the younger one, whichever is found first. */
START_TEST(emptied_after_two)
{
    const struct kind *k = &elsewhere[0];
    struct posixtrace_recover_report report;
    struct posixtrace_info info;
    struct pt_log_header h;
    int fd = make_log(k);

    hide_segments(true);
    make_log_in(k, fd);
    ck_assert_int_eq(pread(fd, &h, sizeof h, 0), sizeof h);
    hide_segments(false);
    if (_i)
        move_in_list(h.id);
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    open_log(fd, &info, false);
    ck_assert_mem_eq(info.id, h.id, sizeof info.id);
    check_sum(k, fd, true);
    remove_segments();
    close(fd);
}
END_TEST

static uint64_t read_more(trace_id_t trid)
{
    struct posix_trace_event_info info;
    bool gap;
    int unavailable;
    uint64_t n = 0;
    size_t len;

    ck_assert_int_eq(posixtrace_follow(trid, &gap), 0);
    ck_assert(!gap);
    for (;; n++) {
        ck_assert_int_eq(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable), 0);
        if (unavailable)
            return n;
    }
}

/* A reader that follows such a log gets the rest when the segment is found, in memory or
 * recovered. */
START_TEST(completed_elsewhere_and_followed)
{
    struct posixtrace_recover_report report;
    struct posixtrace_info info;
    int fd = make_log(&elsewhere[_i / 2]);
    uint64_t alone, rest;
    trace_id_t trid;

    hide_segments(true);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    alone = read_more(trid);
    ck_assert_uint_gt(alone, 0);
    ck_assert_uint_eq(read_more(trid), 0);
    hide_segments(false);
    if (_i % 2) {
        ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
        ck_assert(report.segment_found);
    }
    rest = read_more(trid);
    ck_assert_uint_gt(rest, 0);
    ck_assert_uint_eq(read_more(trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(alone + rest, info.events);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    check_sum(&elsewhere[_i / 2], fd, true);
    close(fd);
}
END_TEST

/* Settled, or removed by force, by a process that has no descriptor left at some moment: it says
 * so or leaves the rest to the next one, and nothing is lost. */
START_TEST(settled_without_descriptors)
{
    const struct kind *k = &elsewhere[_i % ELSEWHERE];
    int force = _i / ELSEWHERE;
    char path[] = "/tmp/posixtrace-unfinished.XXXXXX";
    int fd = make_log_in(k, mkostemp(path, O_CLOEXEC));
    struct rlimit old, few;
    unsigned removed, kept;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = old;
    for (rlim_t n = (rlim_t)fd + 1; n < (rlim_t)fd + 14; n++) {
        few.rlim_cur = n;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        posixtrace_stream_reap(force, &removed, &kept);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
        check_sum(k, fd, false);
    }
    ck_assert_int_eq(posixtrace_stream_reap(0, &removed, &kept), 0);
    check_sum(k, fd, true);
    unlink(path);
    close(fd);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, killed, 0, KINDS);
    tcase_add_loop_test(t, on_a_full_disk, 0, KINDS);
    tcase_add_test(t, reported_again);
    tcase_add_loop_test(t, ring_is_cut, 0, 4);
    tcase_add_test(t, followed);
    tcase_add_loop_test(t, completed_elsewhere, 0, ELSEWHERE);
    tcase_add_loop_test(t, emptied_after_two, 0, 2);
    tcase_add_loop_test(t, completed_elsewhere_and_settled, 0, ELSEWHERE);
    tcase_add_loop_test(t, completed_elsewhere_and_followed, 0, 4);
    tcase_add_loop_test(t, settled_without_descriptors, 0, 2 * ELSEWHERE);
}

int main(void)
{
    return run_suite("unfinished", "recoveries that do not finish", NULL, add_tests);
}
