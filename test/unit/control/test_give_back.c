/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream that another process has mapped is shut down.  Its memory stays while an onlooker is
 * attached, who reads all of it, also where the file system is full by then, and goes when the
 * last one leaves, or at once if the onlooker was killed.  The same for a process that was forked
 * inside an event and parts from the segment later.
 *
 * Where a process has written over the onlooker's entry, the memory is given back under
 * the onlooker.  What it reads is what was recorded, at each step, and its counts stay what they
 * were: events that it has not read are lost.  madvise() goes through the test: after each piece
 * that is given back the onlooker reads some events.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/stream.h>
#include "support/need.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "support/valgrind.h"

enum {
    TYPE = POSIX_TRACE_UNNAMED_USER_EVENT,
    LENGTH = 400,
    BYTE = 0xa5,
    THREADS = 3,
    EACH = 500,
    SOME = 10,
    EVENTS = (THREADS + 1) * EACH + 1
};

int __real_madvise(void *p, size_t n, int advice);
int __wrap_madvise(void *p, size_t n, int advice);

static int onlooker = -1; /* the socket of its process */
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

    steps += advice == MADV_REMOVE;
    if (advice == MADV_REMOVE && onlooker >= 0) {
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
        r = posixtrace_next_event(trid, &e, sizeof e, &none);
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

    NEED(posixtrace_get_info(trid, &info, sizeof info) == 0);
    NEED(info.events == EVENTS);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        NEED(c == POSIXTRACE_LOST_OVERWRITTEN || info.lost[c] == 0);
    return info;
}

static uint64_t lost(trace_id_t trid)
{
    return look(trid).lost[POSIXTRACE_LOST_OVERWRITTEN];
}

/* It traces one event, so that it has mapped the stream, and reads one.
 * stays: its thread that has mapped the stream does not end. */
static trace_id_t begin_to_look(int creator, bool stays)
{
    unsigned one = 1;
    trace_id_t trid;
    char file[256];
    bool over;

    if (stays)
        trace(&one);
    else
        trace_in_thread(1);
    NEED(posixtrace_stream_list(note_file, file) == 1);
    NEED(posixtrace_attach(file, &trid) == 0);
    NEED(read_some(trid, 1, &over) == 1);
    NEED(lost(trid) == 0);
    send_byte(creator);
    return trid;
}

/* Its entry is overwritten. */
static void look_on_unprotected(int creator, bool stays)
{
    trace_id_t trid = begin_to_look(creator, stays);
    uint64_t read = 1;
    bool over = false;

    while (expect_byte(creator)) {
        read += read_some(trid, SOME, &over);
        send_byte(creator);
    }
    while (!over)
        read += read_some(trid, SOME, &over);
    NEED(lost(trid) + read == EVENTS);
    NEED(posixtrace_detach(trid) == 0);
    _exit(0);
}

/* The creator sends it a byte after the shutdown. */
static void look_on_to_the_end(int creator, bool stays)
{
    trace_id_t trid = begin_to_look(creator, stays);
    uint64_t read = 1;
    bool over = false;

    NEED(expect_byte(creator));
    while (!over)
        read += read_some(trid, SOME, &over);
    NEED(read == EVENTS && lost(trid) == 0);
    NEED(steps == 0);
    NEED(posixtrace_detach(trid) == 0);
    NEED(steps >= 1);
    send_byte(creator);
    NEED(!expect_byte(creator)); /* it lives, and has the stream mapped, until then */
    _exit(0);
}

static void look_on_till_killed(int creator, bool stays)
{
    begin_to_look(creator, stays);
    for (;;)
        pause();
}

/* ---- the creator ---- */

struct role {
    pid_t pid;
    int end; /* of the socket */
};

static struct role begin_role(void (*play)(int creator, bool stays), bool stays)
{
    struct role role;
    int ends[2];

    NEED(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    role = (struct role){ fork(), ends[0] };
    NEED(role.pid >= 0);
    if (role.pid == 0) {
        close(ends[0]);
        play(ends[1], stays);
        _exit(0);
    }
    close(ends[1]);
    NEED(expect_byte(role.end));
    return role;
}

static void end_role(const struct role *role)
{
    int status;

    close(role->end);
    NEED(waitpid(role->pid, &status, 0) == role->pid);
    if (status != 0) {
        dprintf(2, "the other process: wait status %#x\n", (unsigned)status);
        _exit(1);
    }
}

/* THREADS + 1 of EACH events; one is to come. */
static trace_id_t make_stream(void)
{
    unsigned count = EACH;
    trace_attr_t attr;
    trace_id_t trid;

    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setstreamsize(&attr, 4 << 20) == 0);
    NEED(posix_trace_attr_setmaxdatasize(&attr, LENGTH) == 0);
    NEED(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    NEED(posix_trace_attr_destroy(&attr) == 0);
    NEED(posix_trace_start(trid) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        trace_in_thread(EACH);
    trace(&count); /* this thread stays, in a chunk of its own */
    steps = 0;
    return trid;
}

START_TEST(overwritten_entry)
{
    trace_id_t trid = make_stream();
    struct role role = begin_role(look_on_unprotected, _i == 1);

    ck_assert_uint_eq(info_of(trid).events, EVENTS);
    ck_assert_uint_ne(segment_of(trid)->h->onlookers[0], 0);
    memset(segment_of(trid)->h->onlookers, 0, sizeof segment_of(trid)->h->onlookers);
    onlooker = role.end;
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    onlooker = -1;
    ck_assert_uint_ge(steps, 1);
    end_role(&role);
}
END_TEST

START_TEST(memory_stays)
{
    trace_id_t trid = make_stream();
    struct role role = begin_role(look_on_to_the_end, _i == 1);

    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_uint_eq(steps, 0);
    send_byte(role.end);
    ck_assert(expect_byte(role.end));
    end_role(&role);
}
END_TEST

static void map_stream(int creator, bool stays)
{
    unsigned one = 1;

    (void)stays;
    trace(&one);
    send_byte(creator);
    NEED(!expect_byte(creator));
}

/* Another process has the stream mapped. */
START_TEST(killed)
{
    trace_id_t trid = make_stream();
    struct role role = begin_role(look_on_till_killed, true);
    struct role writer = begin_role(map_stream, false);
    int status;

    kill(role.pid, SIGKILL);
    ck_assert_int_eq(waitpid(role.pid, &status, 0), role.pid);
    close(role.end);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_uint_ge(steps, 1);
    end_role(&writer);
}
END_TEST

/* ---- a full file system ---- */

enum { NOT_TRIED = 77 };

/* Nothing is left of it. */
static void fill_up(int fd)
{
    static const char zeros[65536];

    for (size_t n = sizeof zeros; n > 0; n /= 2)
        while (write(fd, zeros, n) > 0)
            ;
    NEED(errno == ENOSPC);
}

static struct pt_seg *parted;
static struct pt_author parent;

/* As a child does that was forked inside an event of its parent's thread. */
static void part(int creator, bool stays)
{
    struct pt_seg seg = *parted, shared;

    (void)stays;
    send_byte(creator);
    NEED(expect_byte(creator));
    NEED(pt_seg_part(&seg, &shared, &parent) == 0 || is_under_valgrind()); /* its mremap() */
    send_byte(creator);
}

/* A small file system of its own stands in the place of the stream directory. */
static void shut_down_and_fill_up(void)
{
    struct role role, child;
    trace_id_t trid;
    char path[4096];
    int fd;

    if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, "") ||
        mount("tmpfs", getenv("POSIXTRACE_DIR"), "tmpfs", 0, "size=16m,mode=0700"))
        _exit(NOT_TRIED);
    trid = make_stream();
    parted = segment_of(trid);
    parent = (struct pt_author){ .pid = (int32_t)getpid(), .tid = (int32_t)syscall(SYS_gettid) };
    child = begin_role(part, false);
    role = begin_role(look_on_to_the_end, false);
    NEED(posix_trace_shutdown(trid) == 0);
    snprintf(path, sizeof path, "%s/full", getenv("POSIXTRACE_DIR"));
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    NEED(fd >= 0);
    fill_up(fd);
    send_byte(role.end);
    NEED(expect_byte(role.end));
    fill_up(fd); /* what the onlooker has given back */
    send_byte(child.end);
    NEED(expect_byte(child.end));
    end_role(&child);
    end_role(&role);
    close(fd);
    NEED(unlink(path) == 0);
    _exit(0);
}

START_TEST(full_file_system)
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        shut_down_and_fill_up();
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == NOT_TRIED);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, full_file_system); /* the first: the process has no files there yet */
    tcase_add_loop_test(tc, overwritten_entry, 0, 2);
    tcase_add_loop_test(tc, memory_stays, 0, 2);
    tcase_add_test(tc, killed);
}

int main(void)
{
    return run_suite("control give_back", "stream give_back", NULL, add);
}
