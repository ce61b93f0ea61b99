/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The pieces of a log, read as one stream: whole, with pieces that are missing, doubled, cut, with
 * wrong numbers, of two streams, or that vanish while they are read.  Each event is counted, so
 * that a gap is known to the event; one file is open at a time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <posixtrace/attr.h>
#include <posixtrace/block.h>
#include <posixtrace/clock.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "log/format.h"
#include "support/killed_child.h"
#include "support/rounds.h"
#include "support/run_suite.h"

enum { PIECES = 12, EVENTS = 300, FILES = 16, MANY = 600 };

static char folder[300], *paths[MANY + FILES];
static size_t count;
static trace_event_id_t type;

/* ---- making them ---- */

static void flush(trace_id_t trid)
{
    struct posix_trace_status_info status;

    ck_assert_int_eq(posix_trace_flush(trid), 0);
    do
        ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

static void rotate(trace_id_t trid, uint64_t bytes)
{
    struct posixtrace_rotation rotation = { .bytes = bytes };

    ck_assert_int_eq(posixtrace_log_rotate(trid, &rotation, sizeof rotation), 0);
}

static trace_id_t create(const char *name, uint64_t bytes)
{
    trace_event_set_t system;
    trace_attr_t attr;
    trace_id_t trid;
    char path[400];
    int fd;

    snprintf(path, sizeof path, "%s/%s-1-1.ptl.part", folder, name);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 256 << 10), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    close(fd);
    rotate(trid, bytes);
    ck_assert_int_eq(posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &system, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static void add_path(const char *name)
{
    char path[600];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    paths[count] = strdup(path);
    ck_assert_ptr_nonnull(paths[count++]);
}

/* Until the piece has its name, which is the last step of a seam. */
static void wait_for_piece(unsigned number)
{
    char path[400];

    snprintf(path, sizeof path, "%s/a-1-%u.ptl", folder, number);
    while (access(path, F_OK) != 0)
        usleep(100);
}

static void trace_numbers(trace_id_t trid, uint64_t from, uint64_t to)
{
    struct pt_stream *s = hold_rounds(trid);

    for (; from < to; from++)
        posix_trace_event(type, &from, sizeof from);
    let_rounds(s);
}

/* Every round with events ends a piece, as each is longer than one byte; but the last, where a
 * round of the flush thread's own may come before the shutdown. */
static void make_pieces(unsigned pieces, unsigned events)
{
    trace_id_t trid;
    char name[40];

    snprintf(folder, sizeof folder, "%s.XXXXXX", getenv("POSIXTRACE_DIR"));
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(posix_trace_eventid_open("a number", &type), 0);
    trid = create("a", 1);
    for (unsigned i = 0; i + 1 < pieces; i++) {
        trace_numbers(trid, i * events, (i + 1) * events);
        flush(trid);
        wait_for_piece(i + 1);
    }
    rotate(trid, 0);
    trace_numbers(trid, (pieces - 1) * events, pieces * events);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    for (unsigned i = pieces; i > 0; i--) {
        snprintf(name, sizeof name, "a-1-%u.ptl", i);
        add_path(name);
    }
}

static void make(void)
{
    count = 0;
    make_pieces(PIECES, EVENTS);
}

static void forget_paths(void)
{
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    count = 0;
}

static void remove_all(void)
{
    DIR *dir = opendir(folder);
    struct dirent *e;

    while (dir && (e = readdir(dir)))
        unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
    forget_paths();
}

/* The path of piece number n: they are listed from the last one on. */
static const char *piece(unsigned n)
{
    return paths[PIECES - n];
}

/* ---- reading them ---- */

struct found {
    uint64_t events, marks, lost, skipped, by_info, by_count, recorded;
    int end, gaps;
};

static trace_id_t open_all(void)
{
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_open_pieces((const char *const *)paths, count, &trid), 0);
    return trid;
}

static trace_event_id_t type_of(trace_id_t trid)
{
    trace_event_id_t id;
    int none;

    ck_assert_int_eq(posix_trace_eventtypelist_rewind(trid), 0);
    for (;;) {
        char name[TRACE_EVENT_NAME_MAX + 1];

        ck_assert_int_eq(posix_trace_eventtypelist_getnext_id(trid, &id, &none), 0);
        ck_assert_int_eq(none, 0);
        ck_assert_int_eq(posix_trace_eventid_get_name(trid, id, name), 0);
        if (strcmp(name, "a number") == 0)
            return id;
    }
}

static void take_sums(trace_id_t trid, struct found *f)
{
    struct posixtrace_thread_info thread;
    struct posixtrace_info info;
    int none;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        f->lost += info.lost[c];
    f->by_info = info.events;
    f->end = info.end;
    ck_assert_int_eq(posixtrace_event_count(trid, type_of(trid), &f->by_count), 0);
    for (;;) {
        ck_assert_int_eq(posixtrace_threadlist_getnext(trid, &thread, sizeof thread, &none), 0);
        if (none)
            return;
        f->recorded += thread.recorded;
    }
}

/* Numbers rise; where some are left out, the marks are in between. */
static struct found read_events(trace_id_t trid)
{
    trace_event_id_t id = type_of(trid);
    struct posixtrace_event e;
    struct found f = { 0 };
    uint64_t next = 0, marks = 0;
    int64_t ns = 0;
    int none;

    for (;;) {
        uint64_t n;

        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            break;
        ck_assert_int_ge(e.ns, ns);
        ns = e.ns;
        if (e.id != id) {
            ck_assert_int_eq(e.id, f.marks++ % 2 ? POSIX_TRACE_RESUME : POSIX_TRACE_OVERFLOW);
            continue;
        }
        memcpy(&n, e.data, sizeof n);
        ck_assert_uint_ge(n, next);
        f.gaps += n != next;
        ck_assert_msg((n != next) == (f.marks != marks), "%llu after %llu, %llu marks",
                      (unsigned long long)n, (unsigned long long)next,
                      (unsigned long long)(f.marks - marks));
        marks = f.marks;
        f.skipped += n - next;
        next = n + 1;
        f.events++;
    }
    take_sums(trid, &f);
    ck_assert_uint_eq(f.by_info, f.events + f.marks);
    ck_assert_uint_eq(f.by_count, f.events);
    return f;
}

static struct found read_all(void)
{
    trace_id_t trid = open_all();
    struct found f = read_events(trid);

    ck_assert_int_eq(posix_trace_close(trid), 0);
    return f;
}

static void demand(const struct found *f, uint64_t events, int gaps)
{
    ck_assert_uint_eq(f->events, events);
    ck_assert_uint_eq(f->events + f->lost, PIECES * EVENTS);
    ck_assert_uint_eq(f->recorded, PIECES * EVENTS);
    ck_assert_int_eq(f->gaps, gaps);
}

static void copy_file(const char *from, const char *to, size_t most)
{
    static uint8_t bytes[1 << 20];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ssize_t n = read(in, bytes, sizeof bytes);

    ck_assert_int_gt(n, 0);
    n = (size_t)n > most ? (ssize_t)most : n;
    ck_assert_int_eq(write(out, bytes, (size_t)n), n);
    close(in);
    close(out);
}

/* ---- tests ---- */

START_TEST(whole)
{
    struct found f = read_all();

    demand(&f, PIECES * EVENTS, 0);
    ck_assert_uint_eq(f.lost, 0);
    ck_assert_int_eq(f.end, POSIXTRACE_END_SHUTDOWN);
}
END_TEST

START_TEST(missing)
{
    struct found f;

    unlink(piece(5));
    unlink(piece(6));
    unlink(piece(9));
    f = read_all();
    demand(&f, (PIECES - 3) * EVENTS, 2);
    ck_assert_uint_eq(f.skipped, 3 * EVENTS);
    ck_assert_uint_eq(f.marks, 4);
}
END_TEST

START_TEST(first_missing)
{
    struct found f;

    unlink(piece(1));
    unlink(piece(2));
    f = read_all();
    demand(&f, (PIECES - 2) * EVENTS, 1);
}
END_TEST

START_TEST(last_missing)
{
    struct found f;

    unlink(piece(PIECES));
    f = read_all();
    ck_assert_uint_eq(f.events, (PIECES - 1) * EVENTS);
    ck_assert_int_eq(f.end, POSIXTRACE_END_CUT);
}
END_TEST

START_TEST(doubled)
{
    struct found f;
    char copy[400];

    snprintf(copy, sizeof copy, "%s/other name", folder);
    copy_file(piece(4), copy, SIZE_MAX);
    add_path("other name");
    paths[count++] = strdup(piece(4));
    f = read_all();
    demand(&f, PIECES * EVENTS, 0);
}
END_TEST

/* The whole one of two copies is read; of one alone the rest counts as lost. */
START_TEST(cut)
{
    struct found f;
    char copy[400];
    struct stat st;

    ck_assert_int_eq(stat(piece(4), &st), 0);
    snprintf(copy, sizeof copy, "%s/half", folder);
    copy_file(piece(4), copy, (size_t)st.st_size / 2);
    add_path("half");
    f = read_all();
    demand(&f, PIECES * EVENTS, 0);
    unlink(piece(4));
    f = read_all();
    ck_assert_uint_lt(f.events, PIECES * EVENTS);
    ck_assert_uint_eq(f.events + f.lost, PIECES * EVENTS);
}
END_TEST

START_TEST(empty_or_other_files)
{
    struct found f;

    ck_assert_int_eq(truncate(piece(3), 0), 0);
    ck_assert_int_eq(truncate(piece(7), 100), 0);
    f = read_all();
    demand(&f, (PIECES - 2) * EVENTS, 2);
}
END_TEST

/* As the header says: the packet that has the sums does not agree, and does not count. */
START_TEST(wrong_numbers)
{
    const uint32_t lies[] = { 0, 1, 7, 4000000000u };

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        int fd = open(piece(4), O_RDWR);
        struct pt_log_header h;
        struct posixtrace_event e;
        uint64_t events = 0;
        trace_id_t trid;
        int none = 0;

        ck_assert_int_eq(pread(fd, &h, sizeof h, 0), sizeof h);
        ck_assert(pt_log_header_open(&h));
        h.piece = lies[i];
        pt_log_header_seal(&h);
        ck_assert_int_eq(pwrite(fd, &h, sizeof h, 0), sizeof h);
        close(fd);
        trid = open_all();
        while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none)
            events += e.id == type;
        ck_assert_uint_ge(events, (PIECES - 2) * EVENTS);
        ck_assert_uint_le(events, PIECES * EVENTS);
        ck_assert_int_eq(posix_trace_close(trid), 0);
    }
}
END_TEST

START_TEST(two_streams)
{
    trace_id_t trid = create("b", 0);

    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    add_path("b-1-1.ptl");
    ck_assert_int_eq(posixtrace_open_pieces((const char *const *)paths, count, &trid), ENOTUNIQ);
}
END_TEST

START_TEST(vanishing)
{
    trace_id_t trid = open_all();
    struct found f;

    unlink(piece(6));
    unlink(piece(PIECES));
    f = read_events(trid);
    ck_assert_uint_eq(f.events, (PIECES - 2) * EVENTS);
    ck_assert_uint_eq(f.events + f.lost, PIECES * EVENTS);
    ck_assert_int_eq(f.gaps, 1);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(named_meanwhile)
{
    char part[420], name[400];
    struct found f;
    trace_id_t trid;

    snprintf(name, sizeof name, "%s", piece(PIECES));
    snprintf(part, sizeof part, "%s.part", name);
    ck_assert_int_eq(rename(name, part), 0);
    free(paths[0]);
    paths[0] = strdup(part);
    trid = open_all();
    ck_assert_int_eq(rename(part, name), 0);
    f = read_events(trid);
    demand(&f, PIECES * EVENTS, 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

/* Blocks have the same events, and their rounds rise over the seams. */
START_TEST(blocks)
{
    struct posixtrace_block b;
    uint64_t events = 0, marks = 0, round = 0;
    trace_event_id_t id;
    trace_id_t trid;
    int none;

    unlink(piece(5));
    trid = open_all();
    id = type_of(trid);
    for (;;) {
        ck_assert_int_eq(posixtrace_next_block(trid, POSIXTRACE_BLOCK_DATA, &b, sizeof b, &none),
                         0);
        if (none)
            break;
        ck_assert_uint_ge(b.round, round);
        round = b.round;
        for (size_t i = 0; i < b.count; i++) {
            events += b.ids[i] == id;
            marks += b.ids[i] != id;
        }
        ck_assert(b.count == 0 || b.ids[0] == id || b.gap);
    }
    ck_assert_uint_eq(events, (PIECES - 1) * EVENTS);
    ck_assert_uint_eq(marks, 2);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(seek_and_rewind)
{
    trace_id_t trid = open_all();
    struct posixtrace_event e;
    int64_t at[PIECES * EVENTS];
    uint64_t n;
    int none;

    for (unsigned i = 0; i < PIECES * EVENTS; i++) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        at[i] = e.ns;
    }
    for (int i = PIECES * EVENTS - 1; i > 0; i -= 97) {
        if (at[i - 1] == at[i])
            continue;
        ck_assert_int_eq(posixtrace_seek(trid, at[i]), 0);
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        memcpy(&n, e.data, sizeof n);
        ck_assert_uint_eq(n, i);
    }
    ck_assert_int_eq(posix_trace_rewind(trid), 0);
    ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
    memcpy(&n, e.data, sizeof n);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

/* Of all pieces, and of the sums. */
START_TEST(another_clock)
{
    enum { LATER = 1000000000, LONG = 1000000000 };
    trace_id_t trid = open_all();
    struct posixtrace_clock_quality quality;
    struct posixtrace_clock_point point;
    struct posixtrace_clock_knot knots[2];
    struct posixtrace_info before, after;
    struct posixtrace_event e;
    int64_t at[PIECES * EVENTS];
    int none;

    for (unsigned i = 0; i < PIECES * EVENTS; i++) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        at[i] = e.ns;
    }
    ck_assert_int_eq(posixtrace_get_info(trid, &before, sizeof before), 0);
    ck_assert_int_eq(posixtrace_clock_quality(trid, &quality, sizeof quality), 0);
    ck_assert_uint_ge(quality.readings, PIECES);
    ck_assert_int_eq(posixtrace_clock_point(trid, 0, &point, sizeof point), 0);
    knots[0].ticks = point.ticks;
    knots[0].ns = point.ns + LATER;
    knots[1].ticks = point.ticks + LONG;
    knots[1].ns = point.ns + LATER + (int64_t)(LONG * (double)point.slope / 4294967296.0);
    ck_assert_int_eq(posixtrace_set_clock_map(trid, knots, 2), 0);
    for (unsigned i = 0; i < PIECES * EVENTS; i++) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        ck_assert_int_le(llabs(e.ns - at[i] - LATER), 100000);
    }
    ck_assert_int_eq(posixtrace_get_info(trid, &after, sizeof after), 0);
    ck_assert_uint_eq(after.events, before.events);
    ck_assert_int_le(llabs(after.last_ns - before.last_ns - LATER), 100000);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(headers_alone)
{
    struct posixtrace_piece is;
    int fd = open(piece(7), O_RDONLY);

    ck_assert_int_eq(posixtrace_log_piece(fd, &is, sizeof is), 0);
    ck_assert_uint_eq(is.number, 7);
    ck_assert(is.complete);
    close(fd);
    ck_assert_int_eq(truncate(piece(7), 5), 0);
    fd = open(piece(7), O_RDONLY);
    ck_assert_int_eq(posixtrace_log_piece(fd, &is, sizeof is), EILSEQ);
    close(fd);
}
END_TEST

/* With fewer descriptors than there are pieces. */
START_TEST(many)
{
    struct rlimit limit, before;
    struct found f;

    remove_all();
    make_pieces(MANY, 3);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = 40;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    f = read_all();
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_uint_eq(f.events, MANY * 3);
    ck_assert_uint_eq(f.lost, 0);
}
END_TEST

/* A piece whose name another file has stays as it is, and so does the file. */
START_TEST(name_is_taken)
{
    char taken[400], part[400], text[8] = "";
    trace_id_t trid;
    uint64_t n = 0;
    int fd;

    snprintf(taken, sizeof taken, "%s/b-1-2.ptl", folder);
    snprintf(part, sizeof part, "%s/b-1-2.ptl.part", folder);
    fd = open(taken, O_RDWR | O_CREAT | O_EXCL, 0600);
    ck_assert_int_eq(write(fd, "theirs", 6), 6);
    trid = create("b", 1);
    for (unsigned i = 0; i < 3; i++) {
        posix_trace_event(type, &n, sizeof n);
        flush(trid);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(pread(fd, text, sizeof text - 1, 0), 6);
    ck_assert_str_eq(text, "theirs");
    close(fd);
    fd = open(part, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

/* Has one piece, and of the next one a round in the file and one in memory. */
static void trace_and_die(void)
{
    trace_id_t trid = create("d", 1);
    uint64_t n = 0;
    char path[400];

    trace_numbers(trid, 0, EVENTS);
    flush(trid);
    snprintf(path, sizeof path, "%s/d-1-1.ptl", folder);
    while (access(path, F_OK) != 0)
        usleep(100);
    rotate(trid, 0);
    trace_numbers(trid, EVENTS, 2 * EVENTS);
    flush(trid);
    hold_rounds(trid);
    for (; n < EVENTS; n++)
        posix_trace_event(type, &n, sizeof n);
    raise(SIGKILL);
}

/* A later piece is emptied, or cut in its header, and its writer is killed before it notices. */
START_TEST(a_piece_was_emptied)
{
    struct posixtrace_recover_report report;
    struct posixtrace_info info;
    uint64_t lost = 0;
    trace_id_t trid;
    char path[400];
    pid_t child = fork();
    int fd, status;

    if (child == 0)
        trace_and_die();
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    snprintf(path, sizeof path, "%s/d-1-2.ptl.part", folder);
    ck_assert_int_eq(truncate(path, _i * 100), 0);
    fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert(report.segment_found);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += info.lost[c];
    ck_assert_uint_eq(info.events, EVENTS);
    ck_assert_uint_eq(lost, EVENTS);
    ck_assert_uint_eq(info.piece, 2);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

static void sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
}

/* In a fifth of a second without events, later than the flush thread would try again. */
static void expect_rest(void)
{
    struct timespec from, to;

    sleep_ms(1100);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    sleep_ms(200);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    ck_assert_int_lt((to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec, 50000000);
}

/* All events since are lost, which the status shows at once and the shutdown returns; the flush
 * thread sleeps. */
START_TEST(folder_is_removed)
{
    struct posix_trace_status_info status;
    struct posixtrace_info info;
    uint64_t lost, n = 0;
    struct pt_stream *s;
    trace_id_t trid;
    int r;

    trid = create("b", 1);
    s = hold_rounds(trid);
    posix_trace_event(type, &n, sizeof n);
    remove_all();
    let_rounds(s);
    for (unsigned i = 0; i < 3; i++) {
        posix_trace_event(type, &n, sizeof n);
        r = posix_trace_flush(trid);
        /* The first one begins before an error, if no round of the flush thread's own came. */
        ck_assert(r == ENOENT || (r == 0 && i == 0));
        do
            ck_assert_int_eq(posixtrace_lost(trid, POSIXTRACE_LOST_LOG_ERROR, &lost), 0);
        while (lost < i + 2);
        ck_assert_uint_eq(lost, i + 2);
    }
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(info.events, 4);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_LOG_ERROR], 4);
    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    expect_rest();
    ck_assert_int_eq(posix_trace_shutdown(trid), ENOENT);
}
END_TEST

/* Writes the first piece.  No room for the second one, which loses the events of threads and those
 * of start and stop. */
static void be_without_room(void)
{
    const struct rlimit none = { 0, 0 };
    trace_event_set_t empty;
    trace_id_t trid = create("k", 1);
    uint64_t lost;
    char path[400];

    snprintf(path, sizeof path, "%s/k-1-1.ptl", folder);
    trace_numbers(trid, 0, EVENTS);
    flush(trid);
    while (access(path, F_OK) != 0)
        usleep(100);
    rotate(trid, 0);
    signal(SIGXFSZ, SIG_IGN);
    posix_trace_eventset_empty(&empty);
    if (setrlimit(RLIMIT_FSIZE, &none) < 0 ||
        posix_trace_set_filter(trid, &empty, POSIX_TRACE_SET_EVENTSET) != 0)
        _exit(1);
    for (uint64_t i = 0; i < EVENTS; i++) {
        posix_trace_event(type, &i, sizeof i);
        if (posix_trace_stop(trid) != 0 || posix_trace_start(trid) != 0)
            _exit(2);
    }
    do
        posix_trace_flush(trid);
    while (posixtrace_lost(trid, POSIXTRACE_LOST_LOG_ERROR, &lost) == 0 && lost < EVENTS);
    raise(SIGKILL);
}

/* No thread has lost events of start and stop; all have been counted. */
START_TEST(killed_without_room)
{
    struct posixtrace_thread_info thread;
    struct posixtrace_info info;
    uint64_t lost = 0, count_of_type;
    trace_id_t trid;
    pid_t child;
    int none;

    forget_paths();
    child = fork();
    if (child == 0)
        be_without_room();
    await_kill(child);
    add_path("k-1-1.ptl");
    add_path("k-1-2.ptl.part");
    trid = open_all();
    ck_assert_int_eq(posixtrace_event_count(trid, type_of(trid), &count_of_type), 0);
    while (posixtrace_threadlist_getnext(trid, &thread, sizeof thread, &none) == 0 && !none)
        for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
            lost += thread.lost[c];
    ck_assert_uint_eq(count_of_type + lost, 2 * EVENTS);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_gt(info.lost[POSIXTRACE_LOST_LOG_ERROR], lost);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(refused)
{
    struct posixtrace_rotation rotation = { .bytes = 1 };
    FILE *file = tmpfile();
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_open_pieces(NULL, 1, &trid), EINVAL);
    ck_assert_int_eq(posixtrace_open_pieces((const char *const *)paths, 0, &trid), EINVAL);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fileno(file), &trid), 0);
    /* It has no name. */
    ck_assert_int_eq(posixtrace_log_rotate(trid, &rotation, sizeof rotation), EINVAL);
    ck_assert_int_eq(posixtrace_log_rotate(trid, NULL, sizeof rotation), EINVAL);
    ck_assert_int_eq(posixtrace_log_rotate(trid, &rotation, 0), EINVAL);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    fclose(file);
    trid = create("c", 0);
    ck_assert_int_eq(posix_trace_clear(trid), ENOTSUP);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void prepare(TCase *t)
{
    tcase_add_checked_fixture(t, make, remove_all);
}

static void add(TCase *t)
{
    tcase_add_test(t, whole);
    tcase_add_test(t, missing);
    tcase_add_test(t, first_missing);
    tcase_add_test(t, last_missing);
    tcase_add_test(t, doubled);
    tcase_add_test(t, cut);
    tcase_add_test(t, empty_or_other_files);
    tcase_add_test(t, wrong_numbers);
    tcase_add_test(t, two_streams);
    tcase_add_test(t, vanishing);
    tcase_add_test(t, named_meanwhile);
    tcase_add_test(t, blocks);
    tcase_add_test(t, seek_and_rewind);
    tcase_add_test(t, another_clock);
    tcase_add_test(t, headers_alone);
    tcase_add_test(t, many);
    tcase_add_test(t, name_is_taken);
    tcase_add_loop_test(t, a_piece_was_emptied, 0, 2);
    tcase_add_test(t, folder_is_removed);
    tcase_add_test(t, killed_without_room);
    tcase_add_test(t, refused);
}

int main(void)
{
    return run_suite("stream pieces", "pieces", prepare, add);
}
