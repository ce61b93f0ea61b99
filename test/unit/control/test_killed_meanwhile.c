/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Programs that proceed, and are killed, after another process has read what they have in the
 * stream directory, and before it asks whether they live: it does not remove or count by what it
 * read.
 * pt_owner_liveness() and pt_page_process_is_gone() go through the test, which kills them there.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "directory/list.h"
#include "directory/reap.h"
#include "page/names.h"
#include "page/page_left.h"
#include "place/dir.h"
#include "shm/liveness.h"
#include "shm/segment.h"
#include "support/killed_child.h"
#include "support/run_suite.h"

enum { EVENTS = 1000, PIECE_BYTES = 20000, HANG_S = 60 };

static pid_t program; /* to be killed at the next question whether it lives */
static int says[2], hears[2];
static void (*meanwhile)(void); /* what the test does before */
static char folder[64], first[128], segment[64];
static bool removes; /* the program removes its first piece, as too many */
static unsigned kills;

static void kill_program(void)
{
    pid_t is = program;

    if (is == 0)
        return;
    program = 0;
    if (meanwhile)
        meanwhile();
    ck_assert_int_eq(write(hears[1], "g", 1), 1);
    await_kill(is);
    kills++;
}

enum pt_liveness __real_pt_owner_liveness(const struct pt_seg_header *h, dev_t dev, ino_t ino);
enum pt_liveness __wrap_pt_owner_liveness(const struct pt_seg_header *h, dev_t dev, ino_t ino);
bool __real_pt_page_process_is_gone(uint32_t pid, uint64_t start, unsigned *asks);
bool __wrap_pt_page_process_is_gone(uint32_t pid, uint64_t start, unsigned *asks);

enum pt_liveness __wrap_pt_owner_liveness(const struct pt_seg_header *h, dev_t dev, ino_t ino)
{
    kill_program();
    return __real_pt_owner_liveness(h, dev, ino);
}

bool __wrap_pt_page_process_is_gone(uint32_t pid, uint64_t start, unsigned *asks)
{
    kill_program();
    return __real_pt_page_process_is_gone(pid, start, asks);
}

/* ---- the program ---- */

/* Says that it is as far as the test wants it, and waits until it may proceed. */
static void pause_program(void)
{
    char byte;

    if (write(says[1], "r", 1) != 1 || read(hears[0], &byte, 1) != 1)
        _exit(3);
}

static void put(trace_event_id_t id, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        posix_trace_event(id, &i, sizeof i);
}

static trace_id_t create(bool pieces, trace_event_id_t *id)
{
    struct posixtrace_rotation rotation = { .bytes = PIECE_BYTES };
    int fd = open(first, O_RDWR | O_CREAT | O_EXCL, 0600);
    trace_attr_t attr;
    trace_id_t trid;

    if (fd < 0 || posix_trace_attr_init(&attr) != 0 ||
        posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH) != 0 ||
        posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND) != 0 ||
        posix_trace_create_withlog(0, &attr, fd, &trid) != 0 ||
        posix_trace_eventid_open("x", id) != 0 ||
        (pieces && posixtrace_log_rotate(trid, &rotation, sizeof rotation) != 0))
        _exit(4);
    return trid;
}

static void be_blank(void)
{
    trace_event_id_t id;
    trace_id_t trid = create(false, &id);

    pause_program();
    posix_trace_start(trid);
    put(id, EVENTS);
}

/* Begins the second piece. */
static void be_in_pieces(void)
{
    char second[128];
    trace_event_id_t id;
    trace_id_t trid = create(true, &id);

    snprintf(second, sizeof second, "%s/g-20260101T000000Z-2.ptl.part", folder);
    posix_trace_start(trid);
    put(id, 1);
    pause_program();
    while (access(second, F_OK) != 0) {
        put(id, EVENTS);
        posix_trace_flush(trid);
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    /* The cycle that has made the piece ends before the events that are to be left. */
    while (access(first, F_OK) == 0)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    snprintf(second, sizeof second, "%s/g-20260101T000000Z-1.ptl", folder);
    if (removes)
        unlink(second);
    put(id, EVENTS);
}

static void be_maker(void)
{
    struct pt_names *names;
    char file[64];

    if (pt_names_create(&names, file) < 0)
        _exit(4);
    pause_program();
}

static void begin(const char *name, void (*be)(void))
{
    char byte;

    strcpy(folder, "/tmp/posixtrace-meanwhile-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(first, sizeof first, "%s/%s", folder, name);
    ck_assert_int_eq(pipe(says), 0);
    ck_assert_int_eq(pipe(hears), 0);
    kills = 0;
    meanwhile = NULL;
    program = fork();
    ck_assert_int_ge(program, 0);
    if (program == 0) {
        alarm(HANG_S);
        be();
        raise(SIGKILL);
    }
    ck_assert_int_eq(read(says[0], &byte, 1), 1);
}

/* ---- the directory, and logs ---- */

static int keep_stream(void *to, const struct posixtrace_stream *s)
{
    strcpy(segment, s->file);
    *(struct posixtrace_stream *)to = *s;
    return 0;
}

/* The stream of the directory.  False: there is none. */
static bool list(struct posixtrace_stream *s)
{
    segment[0] = '\0';
    ck_assert_int_eq(posixtrace_stream_list(keep_stream, s), 0);
    return segment[0] != '\0';
}

/* The log's events. */
static uint64_t recover(const char *log)
{
    struct posixtrace_recover_report report;
    int fd = open(log, O_RDWR);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert_int_eq(report.segment_found, 1);
    close(fd);
    return report.events_before + report.events_added;
}

static void reap(enum pt_reap_how how)
{
    unsigned removed, kept;

    ck_assert_int_eq(pt_reap_dead(how, &removed, &kept), 0);
    ck_assert_uint_eq(kills, 1);
}

/* ---- tests ---- */

START_TEST(started)
{
    begin("log", be_blank);
    reap(PT_REAP_QUICK);
    ck_assert_uint_ge(recover(first), EVENTS);
}
END_TEST

/* The log's folder has no file with the number of the first piece any more. */
START_TEST(in_next_piece)
{
    char second[128];

    removes = true;
    begin("g-20260101T000000Z-1.ptl.part", be_in_pieces);
    snprintf(second, sizeof second, "%s/g-20260101T000000Z-2.ptl.part", folder);
    reap(PT_REAP_QUICK);
    removes = false;
    ck_assert_uint_ge(recover(second), EVENTS);
}
END_TEST

/* The first one is there, and complete; the second one is to be. */
START_TEST(settled_in_next_piece)
{
    char second[128];
    struct posixtrace_stream s;
    struct posixtrace_info info;
    trace_id_t trid;

    begin("g-20260101T000000Z-1.ptl.part", be_in_pieces);
    snprintf(second, sizeof second, "%s/g-20260101T000000Z-2.ptl.part", folder);
    reap(PT_REAP_SETTLE);
    ck_assert_int_eq(posixtrace_open_path(second, &trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_int_eq(info.end, POSIXTRACE_END_RECOVERED);
    ck_assert_uint_ge(info.events, EVENTS);
    posix_trace_close(trid);
    ck_assert(!list(&s));
}
END_TEST

START_TEST(listed)
{
    struct posixtrace_stream s;

    begin("log", be_blank);
    ck_assert(list(&s));
    ck_assert_uint_eq(kills, 1);
    ck_assert_int_eq(s.liveness, POSIXTRACE_LIVENESS_DEAD);
    ck_assert(s.running);
    ck_assert_uint_ge(s.unsaved, EVENTS);
}
END_TEST

static void remove_segment(void)
{
    int dir = pt_dir_open(false);

    ck_assert_int_eq(unlinkat(dir, segment, 0), 0);
    close(dir);
}

static int refuse_stream(void *none, const struct posixtrace_stream *s)
{
    (void)none;
    return s->liveness + 1;
}

/* Another process has removed the dead stream: it is not there, rather than unknown. */
START_TEST(removed)
{
    struct posixtrace_stream s;
    pid_t is;

    begin("log", be_blank);
    is = program;
    program = 0;
    ck_assert(list(&s));
    meanwhile = remove_segment;
    program = is;
    ck_assert_int_eq(posixtrace_stream_list(refuse_stream, NULL), 0);
    ck_assert_uint_eq(kills, 1);
}
END_TEST

/* The magic number comes last. */
static void store_magic(uint64_t magic)
{
    int dir = pt_dir_open(false), fd = openat(dir, segment, O_RDWR);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, &magic, sizeof magic, offsetof(struct pt_seg_header, magic)),
                     sizeof magic);
    close(fd);
    close(dir);
}

static uint64_t magic;

static void finish_segment(void)
{
    store_magic(magic);
}

START_TEST(finished)
{
    struct posixtrace_stream s;
    pid_t is;
    int dir, fd;

    begin("log", be_blank);
    is = program;
    program = 0;
    ck_assert(list(&s));
    dir = pt_dir_open(false);
    fd = openat(dir, segment, O_RDONLY);
    ck_assert_int_eq(pread(fd, &magic, sizeof magic, offsetof(struct pt_seg_header, magic)),
                     sizeof magic);
    close(fd);
    close(dir);
    store_magic(0);
    meanwhile = finish_segment;
    program = is;
    reap(PT_REAP_QUICK);
    ck_assert_uint_ge(recover(first), EVENTS);
}
END_TEST

static struct pt_names *names;

/* As by the page of a child of the maker. */
static void use_names(void)
{
    ck_assert_int_eq(pt_names_open(&names, segment), 0);
    ck_assert(pt_names_hold(names));
}

/* The map that the program has made. */
static void find_names(int dir)
{
    DIR *d = fdopendir(dup(dir));
    struct dirent *e;

    while ((e = readdir(d))) {
        if (strncmp(e->d_name, "n-", 2) != 0 || pt_names_open(&names, e->d_name) < 0)
            continue;
        if (names->maker == (uint32_t)program)
            strcpy(segment, e->d_name);
        pt_names_unmap(names);
    }
    closedir(d);
}

START_TEST(names_used)
{
    const struct pt_log_look look = { .looks = PT_LOG_LOOKS_ALL };
    int dir;

    begin("unused", be_maker);
    dir = pt_dir_open(false);
    find_names(dir);
    meanwhile = use_names;
    for (int i = 0; i < 10 && kills == 0; i++)
        pt_reap_step(geteuid(), &look, 0);
    ck_assert_uint_eq(kills, 1);
    ck_assert_int_eq(faccessat(dir, segment, F_OK, 0), 0);
    ck_assert_int_eq(unlinkat(dir, segment, 0), 0);
    pt_names_unmap(names);
    close(dir);
}
END_TEST

static void remove_all(void)
{
    char command[128];

    for (int i = 0; i < 2; i++) {
        close(says[i]);
        close(hears[i]);
    }
    pt_reap_dead(PT_REAP_FORCE, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void add(TCase *tc)
{
    tcase_add_checked_fixture(tc, NULL, remove_all);
    tcase_add_test(tc, started);
    tcase_add_test(tc, in_next_piece);
    tcase_add_test(tc, settled_in_next_piece);
    tcase_add_test(tc, listed);
    tcase_add_test(tc, removed);
    tcase_add_test(tc, finished);
    tcase_add_test(tc, names_used);
}

int main(void)
{
    return run_suite("killed_meanwhile", "killed_meanwhile", NULL, add);
}
