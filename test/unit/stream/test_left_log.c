/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Logs whose writer is gone: what opening, recovering and listing say of them adds up,
 * also where the writer ends while the log is being opened, at each of the reads.
 *
 * pread(), pwrite() and nanosleep() are this program's own: before one of its reads of the log it
 * lets the writer end, and the writer's flush thread writes nothing while its second half is to
 * stay in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "support/flush_log.h"
#include "support/run_suite.h"

enum how { SHUTDOWN, KILL, RECOVER, HOWS };

struct kind {
    int policy;
    size_t log_size, stream_size;
    int events; /* before the first flush, and after it */
};

static const struct kind plain = { POSIX_TRACE_APPEND, 1 << 20, 1 << 20, 3000 };
static const struct kind small_loop = { POSIX_TRACE_LOOP, 30000, 1 << 20, 3000 };

static char place[400] = "/tmp", path[448];
static struct stat log_file;
static int to_writer;
static pid_t writer;
static int countdown; /* reads of the log until the writer ends; 0: it does not */
static enum how how;
static atomic_bool held;  /* nothing is written */
static size_t bytes_read; /* of the log */

static void end_writer(void)
{
    struct posixtrace_recover_report report;
    int status, fd;

    if (how == SHUTDOWN)
        ck_assert_int_eq(write(to_writer, "x", 1), 1);
    else
        kill(writer, SIGKILL);
    ck_assert_int_eq(waitpid(writer, &status, 0), writer);
    close(to_writer);
    if (how == RECOVER) {
        fd = open(path, O_RDWR | O_CLOEXEC);
        ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
        close(fd);
    }
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && st.st_dev == log_file.st_dev && st.st_ino == log_file.st_ino) {
        bytes_read += bytes;
        if (countdown && --countdown == 0)
            end_writer();
    }
    return syscall(SYS_pread64, fd, to, bytes, offset);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    while (held)
        sched_yield();
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

static unsigned sleeps; /* instead, so that nothing waits for a time */

int nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time;
    (void)left;
    sleeps++;
    return 0;
}

static void trace_until(int from, int ready, const struct kind *k, int fd)
{
    trace_event_set_t system;
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;
    char c;

    posix_trace_attr_init(&attr);
    posix_trace_attr_setlogfullpolicy(&attr, k->policy);
    posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
    posix_trace_attr_setlogsize(&attr, k->log_size);
    posix_trace_attr_setstreamsize(&attr, k->stream_size);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS);
    posix_trace_set_filter(trid, &system, POSIX_TRACE_SET_EVENTSET);
    ck_assert_int_eq(posix_trace_eventid_open("left log", &id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (int i = 0; i < 2 * k->events; i++) {
        if (i == k->events) {
            flush_log(trid);
            held = true;
        }
        posix_trace_event(id, &i, sizeof i);
    }
    if (write(ready, "r", 1) == 1 && read(from, &c, 1) == 1) {
        held = false;
        posix_trace_shutdown(trid);
    }
    _exit(0);
}

/* The writer has traced all when this returns. */
static void start_writer(const struct kind *k)
{
    int go[2], ready[2], fd;
    char c;

    snprintf(path, sizeof path, "%s/posixtrace-left.XXXXXX", place);
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &log_file), 0);
    ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
    writer = fork();
    ck_assert_int_ge(writer, 0);
    if (writer == 0) {
        close(go[1]);
        trace_until(go[0], ready[1], k, fd);
    }
    close(go[0]);
    close(ready[1]);
    to_writer = go[1];
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(fd);
}

static void open_log(const char *name, struct posixtrace_info *info)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    trace_id_t trid;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, info, sizeof *info), 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}

static uint64_t lost_of(const struct posixtrace_info *info)
{
    uint64_t lost = 0;

    for (int c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += info->lost[c];
    return lost;
}

/* The writer ends during the k-th read of the log: all is there, however it ends. */
START_TEST(ends_while_it_is_opened)
{
    const uint64_t all = 2 * (uint64_t)plain.events;
    unsigned ended = 0;

    for (int k = 1;; k++) {
        struct posixtrace_info info;
        bool late;

        start_writer(&plain);
        how = (enum how)_i;
        countdown = k;
        open_log(path, &info);
        late = countdown > 0;
        countdown = 0;
        if (late)
            end_writer();
        unlink(path);
        if (late)
            break;
        ended++;
        if (info.events != all || lost_of(&info) != 0 || info.end == POSIXTRACE_END_CUT)
            ck_abort_msg("ended (%d) at read %d: %lu events of %lu, %lu lost, end %d", _i, k,
                         (unsigned long)info.events, (unsigned long)all,
                         (unsigned long)lost_of(&info), info.end);
    }
    ck_assert_uint_gt(ended, 1);
}
END_TEST

static void kill_writer(const struct kind *k)
{
    start_writer(k);
    how = KILL;
    end_writer();
}

static void copy_log(char *copy)
{
    char bytes[65536];
    int from = open(path, O_RDONLY | O_CLOEXEC), to;
    ssize_t n;

    strcpy(copy, "/tmp/posixtrace-copy.XXXXXX");
    to = mkstemp(copy);
    ck_assert_int_ge(from, 0);
    ck_assert_int_ge(to, 0);
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        ck_assert_int_eq(write(to, bytes, (size_t)n), n);
    close(from);
    close(to);
}

static struct posixtrace_recover_report recover_log(const char *name)
{
    struct posixtrace_recover_report report;
    int fd = open(name, O_RDWR | O_CLOEXEC);

    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    close(fd);
    return report;
}

/* The memory of the writer is the only source of the original, which is recovered after. */
START_TEST(a_copy_is_recovered)
{
    const uint64_t all = 2 * (uint64_t)plain.events;
    struct posixtrace_recover_report report;
    struct posixtrace_info info;
    char copy[64];

    kill_writer(&plain);
    copy_log(copy);
    report = recover_log(copy);
    ck_assert(report.segment_found);
    open_log(copy, &info);
    ck_assert_uint_eq(info.events, all);
    open_log(path, &info);
    ck_assert_uint_eq(info.events, all);
    ck_assert_int_eq(info.end, POSIXTRACE_END_TAIL);
    report = recover_log(path);
    ck_assert(report.segment_found);
    open_log(path, &info);
    ck_assert_uint_eq(info.events, all);
    ck_assert_uint_eq(lost_of(&info), 0);
    unlink(path);
    unlink(copy);
}
END_TEST

/* Exactly the events that are left in the segment are added. */
START_TEST(a_small_loop_log_is_recovered)
{
    struct posixtrace_recover_report report;
    struct posixtrace_info info;

    kill_writer(&small_loop);
    report = recover_log(path);
    open_log(path, &info);
    ck_assert(report.segment_found);
    ck_assert_uint_gt(report.events_added, 0);
    ck_assert_uint_le(report.events_added, info.events);
    ck_assert_uint_lt(report.events_added, (uint64_t)small_loop.events);
    ck_assert_uint_eq(info.events + lost_of(&info), 2 * (uint64_t)small_loop.events);
    unlink(path);
}
END_TEST

struct wanted {
    pid_t pid;
    uint64_t unsaved;
    bool found;
};

static int take_stream(void *context, const struct posixtrace_stream *s)
{
    struct wanted *w = context;

    if (s->owner == w->pid) {
        w->found = true;
        w->unsaved = s->unsaved;
    }
    return 0;
}

/* The list counts what the log does not have.  A log that has all of it was recovered by a
 * process that was killed before it removed the memory: the copy takes its place. */
START_TEST(the_list_unites)
{
    struct wanted w = { .unsaved = 0 };
    struct posixtrace_info info;
    char copy[64], bytes[65536];
    unsigned removed, kept;
    int from, to;
    ssize_t n;

    kill_writer(&plain);
    w.pid = writer;
    ck_assert_int_eq(posixtrace_stream_list(take_stream, &w), 0);
    ck_assert(w.found);
    ck_assert_uint_eq(w.unsaved, (uint64_t)plain.events);
    copy_log(copy);
    recover_log(copy);
    from = open(copy, O_RDONLY | O_CLOEXEC);
    to = open(path, O_WRONLY | O_CLOEXEC);
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        ck_assert_int_eq(write(to, bytes, (size_t)n), n);
    close(from);
    close(to);
    w.found = false;
    ck_assert_int_eq(posixtrace_stream_list(take_stream, &w), 0);
    ck_assert(w.found);
    ck_assert_uint_eq(w.unsaved, 0);
    open_log(path, &info);
    ck_assert_uint_eq(info.events, 2 * (uint64_t)plain.events);
    unlink(path);
    unlink(copy);
    posixtrace_stream_reap(0, &removed, &kept);
}
END_TEST

/* The list does not read a log of more than 1 GiB, and counts what the segment has. */
START_TEST(the_log_is_long)
{
    struct wanted w = { .unsaved = 0 };
    unsigned removed, kept;

    kill_writer(&plain);
    w.pid = writer;
    ck_assert_int_eq(truncate(path, ((off_t)1 << 30) + 1), 0);
    bytes_read = 0;
    ck_assert_int_eq(posixtrace_stream_list(take_stream, &w), 0);
    ck_assert(w.found);
    ck_assert_uint_eq(w.unsaved, (uint64_t)plain.events);
    ck_assert_uint_lt(bytes_read, 1 << 16);
    ck_assert_int_eq(truncate(path, (off_t)1 << 20), 0);
    ck_assert_int_eq(posixtrace_stream_list(take_stream, &w), 0);
    ck_assert_uint_eq(w.unsaved, (uint64_t)plain.events);
    ck_assert_uint_gt(bytes_read, 1 << 16);
    unlink(path);
    posixtrace_stream_reap(0, &removed, &kept);
}
END_TEST

/* Another program empties the log, and the writer is killed before it writes again. */
START_TEST(the_log_was_emptied)
{
    const struct kind *k = _i ? &small_loop : &plain;
    struct posixtrace_recover_report report;
    struct posixtrace_info info;
    int fd;

    kill_writer(k);
    ck_assert_int_eq(truncate(path, 0), 0);
    report = recover_log(path);
    ck_assert(report.segment_found);
    ck_assert_uint_eq(report.events_before, 0);
    open_log(path, &info);
    ck_assert_uint_eq(info.events, report.events_added);
    if (k == &plain)
        ck_assert_uint_eq(info.events, (uint64_t)k->events);
    ck_assert_uint_gt(info.events, 0);
    ck_assert_uint_eq(info.events + lost_of(&info), 2 * (uint64_t)k->events);
    ck_assert_int_eq(truncate(path, 0), 0);
    fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), EILSEQ);
    close(fd);
    unlink(path);
}
END_TEST

/* Where the last packets of the log begin, at least so many bytes before its end. */
static size_t find_packet(const uint8_t *bytes, size_t size, size_t before)
{
    size_t at = (size - before) & ~(size_t)7;

    while (memcmp(bytes + at, "PXTP", 4) != 0)
        at -= 8;
    return at;
}

static size_t read_log(uint8_t *bytes, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, bytes, room);

    close(fd);
    ck_assert_int_gt(n, 0);
    ck_assert_uint_lt((size_t)n, room);
    return (size_t)n;
}

static void put(size_t at, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    ck_assert_int_eq(pwrite(fd, bytes, n, (off_t)at), (ssize_t)n);
    close(fd);
}

/* What a cut has left of the log: its first bytes, then zeros, then what the writer has written at
 * its old offset. */
struct rest {
    off_t cut;       /* the file is cut there, */
    bool grows;      /* and as long as before again, */
    size_t packets;  /* with at least so many of its last bytes */
    const char *end; /* instead: these */
};

static void cut_log(const struct rest *rest)
{
    static uint8_t bytes[1 << 20];
    size_t n = read_log(bytes, sizeof bytes);

    ck_assert_int_eq(truncate(path, rest->cut), 0);
    if (rest->grows)
        ck_assert_int_eq(truncate(path, (off_t)n), 0);
    if (rest->packets) {
        size_t at = find_packet(bytes, n, rest->packets);

        put(at, bytes + at, n - at);
    }
    if (rest->end)
        put(n - strlen(rest->end), rest->end, strlen(rest->end));
}

/* Another program cuts the log in its header; the writer writes on, and is killed before it
 * notices. */
START_TEST(the_header_was_cut)
{
    static const struct rest rests[] = {
        { .cut = 1 },
        { .cut = 20 },
        { .cut = 33 },
        { .cut = 500 },
        { .cut = 511 },
        { .cut = 0, .grows = true },
        { .cut = 20, .grows = true },
        { .cut = 500, .grows = true },
        { .cut = 0, .packets = 1 },
        { .cut = 0, .packets = 6000 },
        { .cut = 100, .packets = 6000 },
    };
    const struct kind *k = _i % 2 ? &small_loop : &plain;
    struct posixtrace_recover_report report;
    struct posixtrace_info info;

    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        kill_writer(k);
        cut_log(&rests[i]);
        report = recover_log(path);
        ck_assert(report.segment_found);
        ck_assert_uint_eq(report.events_before, 0);
        open_log(path, &info);
        if (k == &plain)
            ck_assert_uint_eq(info.events, (uint64_t)k->events);
        ck_assert_uint_gt(info.events, 0);
        ck_assert_uint_eq(info.events + lost_of(&info), 2 * (uint64_t)k->events);
        unlink(path);
    }
}
END_TEST

/* The same inode has something else now: a recovery changes nothing, and the memory stays. */
START_TEST(something_else_is_there)
{
    static const struct rest rests[] = {
        { .cut = 0, .grows = true, .end = "text of another program" },
        { .cut = 0, .grows = true, .end = "PXTP, but no packet of the log!!" },
        { .cut = 100, .packets = 6000 },
    };
    static uint8_t before[1 << 20], after[1 << 20];
    struct posixtrace_recover_report report;
    unsigned removed, kept;
    size_t n;
    int fd;

    kill_writer(&plain);
    cut_log(&rests[_i]);
    if (!rests[_i].end)
        put(24, "another id", 10);
    n = read_log(before, sizeof before);
    fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), EILSEQ);
    close(fd);
    ck_assert_uint_eq(read_log(after, sizeof after), n);
    ck_assert_mem_eq(before, after, n);
    unlink(path);
    posixtrace_stream_reap(0, &removed, &kept);
}
END_TEST

static void is_whole_after_recovery(const char *name)
{
    struct posixtrace_recover_report report = recover_log(name);
    struct posixtrace_info info;

    ck_assert(report.segment_found);
    open_log(name, &info);
    ck_assert_uint_eq(info.events, 2 * (uint64_t)plain.events);
    ck_assert_uint_eq(lost_of(&info), 0);
}

/* The log's folder gets another name while the log's writer is dead. */
static void rename_folder(char old[sizeof place + 4], char moved[sizeof path + 4])
{
    strcpy(place, "/tmp/posixtrace-left.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(place));
    kill_writer(&plain);
    snprintf(old, sizeof place + 4, "%s.old", place);
    snprintf(moved, sizeof path + 4, "%s%s", old, strrchr(path, '/'));
    ck_assert_int_eq(rename(place, old), 0);
}

/* What a look for the log of a dead stream finds is another folder, or nothing where the path
 * was cut: the stream stays. */
START_TEST(the_folder_is_renamed)
{
    char old[sizeof place + 4], moved[sizeof path + 4];
    unsigned removed, kept;

    rename_folder(old, moved);
    ck_assert_int_eq(mkdir(place, 0700), 0);
    ck_assert_int_eq(posixtrace_stream_reap(0, &removed, &kept), 0);
    is_whole_after_recovery(moved);
    unlink(moved);
    rmdir(old);
    rmdir(place);
}
END_TEST

/* The log counts the events that were removed by force. */
START_TEST(removed_by_force)
{
    char old[sizeof place + 4], moved[sizeof path + 4];
    struct posixtrace_info info;
    unsigned removed, kept;

    rename_folder(old, moved);
    ck_assert_int_eq(posixtrace_stream_reap(1, &removed, &kept), 0);
    ck_assert_uint_eq(kept, 0);
    open_log(moved, &info);
    ck_assert_uint_eq(info.events, (uint64_t)plain.events);
    ck_assert_uint_eq(lost_of(&info), (uint64_t)plain.events);
    ck_assert(!recover_log(moved).segment_found);
    open_log(moved, &info);
    ck_assert_uint_eq(lost_of(&info), (uint64_t)plain.events);
    unlink(moved);
    rmdir(old);
}
END_TEST

/* The number of events cannot be stored: the stream stays, and the caller gets the reason.  It
 * goes when the number can be stored. */
START_TEST(force_that_cannot_count)
{
    int fd = open(posixtrace_stream_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char old[sizeof place + 4], moved[sizeof path + 4];
    struct posixtrace_info info;
    unsigned removed, kept;

    rename_folder(old, moved);
    ck_assert_int_ge(fd, 0);
    unlinkat(fd, "lost", 0);
    ck_assert_int_eq(_i ? mkdirat(fd, "lost", 0700) : flock(fd, LOCK_EX | LOCK_NB), 0);
    sleeps = 0;
    ck_assert_int_eq(posixtrace_stream_reap(1, &removed, &kept), _i ? EISDIR : EBUSY);
    ck_assert_uint_eq(kept, 1);
    ck_assert(_i ? sleeps == 0 : sleeps > 0);
    open_log(moved, &info);
    ck_assert_uint_eq(info.events, 2 * (uint64_t)plain.events);
    ck_assert_uint_eq(lost_of(&info), 0);
    ck_assert_int_eq(_i ? unlinkat(fd, "lost", AT_REMOVEDIR) : flock(fd, LOCK_UN), 0);
    ck_assert_int_eq(posixtrace_stream_reap(1, &removed, &kept), 0);
    ck_assert_uint_eq(kept, 0);
    open_log(moved, &info);
    ck_assert_uint_eq(info.events, (uint64_t)plain.events);
    ck_assert_uint_eq(lost_of(&info), (uint64_t)plain.events);
    close(fd);
    unlink(moved);
    rmdir(old);
}
END_TEST

START_TEST(the_path_is_long)
{
    unsigned removed, kept;
    char folder[32], copy[64];

    strcpy(folder, "/tmp/posixtrace-left.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(place, sizeof place, "%s/%0230d", folder, 0);
    ck_assert_int_eq(mkdir(place, 0700), 0);
    kill_writer(&plain);
    ck_assert_uint_gt(strlen(path), 255);
    ck_assert_int_eq(posixtrace_stream_reap(0, &removed, &kept), 0);
    copy_log(copy);
    is_whole_after_recovery(copy);
    is_whole_after_recovery(path);
    unlink(copy);
    unlink(path);
    rmdir(place);
    rmdir(folder);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, ends_while_it_is_opened, 0, HOWS);
    tcase_add_test(t, a_copy_is_recovered);
    tcase_add_test(t, a_small_loop_log_is_recovered);
    tcase_add_test(t, the_list_unites);
    tcase_add_test(t, the_log_is_long);
    tcase_add_loop_test(t, the_log_was_emptied, 0, 2);
    tcase_add_loop_test(t, the_header_was_cut, 0, 2);
    tcase_add_loop_test(t, something_else_is_there, 0, 3);
    tcase_add_test(t, the_folder_is_renamed);
    tcase_add_test(t, the_path_is_long);
    tcase_add_test(t, removed_by_force);
    tcase_add_loop_test(t, force_that_cannot_count, 0, 2);
}

int main(void)
{
    return run_suite("left_log", "left logs", NULL, add_tests);
}
