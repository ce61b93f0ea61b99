/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The ways of descriptions of event types: live, through logs of each policy and pipes, after a
 * kill, to children and other programs, from a controller to its target, and to an onlooker; and
 * descriptions that are refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include <posixtrace/typed.h>
#include "support/image.h"
#include "support/run_suite.h"

/* What the library puts before a description that does not say in which order data is. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define OWN "be; "
#else
#define OWN ""
#endif
#define ORDER  "u32 order; f64 price; str symbol"
#define HANG_S 60u

static int log_file(void)
{
    char path[] = "/tmp/posixtrace-describe.XXXXXX";
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    unlink(path);
    return fd;
}

/* What describes the type of that name; "none", "no type". */
static const char *description(trace_id_t trid, const char *name)
{
    static char text[POSIXTRACE_DESCRIPTION_MAX + 1];
    char found[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int end, error;

    ck_assert_int_eq(posix_trace_eventtypelist_rewind(trid), 0);
    for (;;) {
        ck_assert_int_eq(posix_trace_eventtypelist_getnext_id(trid, &id, &end), 0);
        if (end)
            return "no type";
        ck_assert_int_eq(posix_trace_eventid_get_name(trid, id, found), 0);
        if (strcmp(found, name) == 0)
            break;
    }
    error = posixtrace_event_description(trid, id, text, sizeof text);
    ck_assert(error == 0 || error == ENOENT);
    return error ? "none" : text;
}

static trace_id_t open_log(int fd)
{
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    return trid;
}

static trace_id_t create(int log_policy, size_t log_size, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    if (log_size) {
        ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, log_policy), 0);
        ck_assert_int_eq(posix_trace_attr_setlogsize(&attr, log_size), 0);
    }
    ck_assert_int_eq(fd < 0 ? posix_trace_create(0, &attr, &trid)
                            : posix_trace_create_withlog(0, &attr, fd, &trid),
                     0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static void trace_some(trace_event_id_t id, unsigned count)
{
    char data[400] = { 0 };

    while (count--)
        posix_trace_event(id, data, sizeof data);
}

START_TEST(errors)
{
    char text[POSIXTRACE_DESCRIPTION_MAX + 2], name[TRACE_EVENT_NAME_MAX + 2];
    trace_event_id_t id = 77, plain;
    trace_id_t trid;

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memset(text, ' ', sizeof text - 1);
    memcpy(text, "u8 a", 4);
    text[sizeof text - 1] = '\0';
    ck_assert_int_eq(posixtrace_event_describe(NULL, "u8 a", &id), EINVAL);
    ck_assert_int_eq(posixtrace_event_describe("e", NULL, &id), EINVAL);
    ck_assert_int_eq(posixtrace_event_describe("e", "u9 a", &id), EINVAL);
    ck_assert_int_eq(posixtrace_event_describe("e", text, &id), ENAMETOOLONG);
    ck_assert_int_eq(posixtrace_event_describe(name, "u8 a", &id), ENAMETOOLONG);
    ck_assert_int_eq(posixtrace_event_describe("posix_trace_start", "u8 a", &id), EPERM);
    ck_assert_int_eq(posixtrace_event_describe("posix_trace_unnamed_userevent", "u8 a", &id),
                     EPERM);
    ck_assert_int_eq(posixtrace_event_describe("posixtrace_mutex_lock", "u8 a", &id), EPERM);
    ck_assert_uint_eq(id, 77);
    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    ck_assert_int_eq(posix_trace_eventid_open("plain", &plain), 0);
    ck_assert_int_eq(posixtrace_trid_event_describe(trid + 1000, plain, "u8 a"), EINVAL);
    ck_assert_int_eq(posixtrace_trid_event_describe(trid, plain, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_trid_event_describe(trid, plain, "u8"), EINVAL);
    ck_assert_int_eq(posixtrace_trid_event_describe(trid, 1000, "u8 a"), EINVAL);
    ck_assert_int_eq(posixtrace_trid_event_describe(trid, 1u << 20, "u8 a"), EINVAL);
    ck_assert_int_eq(posixtrace_trid_event_describe(trid, POSIX_TRACE_STOP, "u8 a"), EPERM);
    ck_assert_int_eq(posixtrace_event_description(trid, plain, NULL, 1), EINVAL);
    ck_assert_int_eq(posixtrace_event_description(trid, plain, text, 0), EINVAL);
    ck_assert_int_eq(posixtrace_event_description(trid, 1000, text, sizeof text), EINVAL);
    ck_assert_int_eq(posixtrace_event_description(trid, 1u << 20, text, sizeof text), EINVAL);
    ck_assert_int_eq(posixtrace_event_description(trid + 1000, plain, text, sizeof text), EINVAL);
    ck_assert_int_eq(posixtrace_event_description(trid, plain, text, sizeof text), ENOENT);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

START_TEST(the_first_counts)
{
    trace_event_id_t id, again;
    trace_id_t trid = create(0, 0, -1);

    ck_assert_int_eq(posixtrace_event_describe("order", ORDER, &id), 0);
    ck_assert_int_eq(posixtrace_event_describe("order", ORDER, &again), 0);
    ck_assert_uint_eq(id, again);
    ck_assert_int_eq(posixtrace_event_describe("order", ORDER ";", &again), EEXIST);
    ck_assert_int_eq(posixtrace_trid_event_describe(trid, id, ORDER), 0);
    ck_assert_int_eq(posixtrace_trid_event_describe(trid, id, "u8 a"), EEXIST);
    ck_assert_int_eq(posixtrace_event_describe("order", ORDER, NULL), 0);
    ck_assert_str_eq(description(trid, "order"), OWN ORDER);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

START_TEST(room_for_512_kib)
{
    char text[POSIXTRACE_DESCRIPTION_MAX + 1], name[24];
    trace_id_t trid = create(0, 0, -1);
    unsigned described = 0;
    int error = 0;

    memset(text, ' ', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text, OWN "u8 a", strlen(OWN "u8 a"));
    while (error == 0 && described < 1000) {
        snprintf(name, sizeof name, "type %u", described);
        error = posixtrace_event_describe(name, text, NULL);
        described += error == 0;
    }
    ck_assert_int_eq(error, ENOSPC);
    /* Of other tests there may be some hundred bytes. */
    ck_assert_uint_le(described, (512u << 10) / sizeof text);
    ck_assert_uint_ge(described, (512u << 10) / sizeof text - 1);
    ck_assert_int_eq(posixtrace_event_describe("type 7", text, NULL), 0);
    ck_assert_int_eq(posixtrace_event_describe("type 7", "u8 b", NULL), EEXIST);
    ck_assert_str_eq(description(trid, "type 0"), text);
    snprintf(name, sizeof name, "type %u", described - 1);
    ck_assert_str_eq(description(trid, name), text);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* Before the start, after events, and after those were written. */
START_TEST(in_a_log)
{
    static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };
    trace_event_id_t early, late, written, silent;
    int fd = log_file();
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_event_describe("early", ORDER, &early), 0);
    trid = create(policies[_i], 64 << 10, fd);
    ck_assert_int_eq(posix_trace_eventid_open("late", &late), 0);
    ck_assert_int_eq(posix_trace_eventid_open("written", &written), 0);
    trace_some(early, 3);
    trace_some(late, 3);
    ck_assert_int_eq(posixtrace_event_describe("late", "bytes late", NULL), 0);
    trace_some(written, 3);
    ck_assert_int_eq(posix_trace_flush(trid), 0);
    for (unsigned i = 0; policies[_i] == POSIX_TRACE_LOOP && i < 20; i++) {
        trace_some(early, 100); /* round and round */
        ck_assert_int_eq(posix_trace_flush(trid), 0);
    }
    ck_assert_int_eq(posixtrace_event_describe("written", "x8[400] written", NULL), 0);
    ck_assert_int_eq(posixtrace_event_describe("silent", "u8 never", &silent), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    trid = open_log(fd);
    ck_assert_str_eq(description(trid, "early"), OWN ORDER);
    ck_assert_str_eq(description(trid, "late"), OWN "bytes late");
    ck_assert_str_eq(description(trid, "written"), OWN "x8[400] written");
    ck_assert_str_eq(description(trid, "silent"), OWN "u8 never");
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

START_TEST(in_a_pipe)
{
    struct posixtrace_event e;
    trace_event_id_t id;
    trace_id_t trid;
    int fds[2], none = 0;
    bool seen = false;

    ck_assert_int_eq(pipe(fds), 0);
    trid = create(POSIX_TRACE_APPEND, 1 << 20, fds[1]);
    ck_assert_int_eq(posixtrace_event_describe("order", ORDER, &id), 0);
    trace_some(id, 3);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fds[1]);
    trid = open_log(fds[0]);
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
        char text[POSIXTRACE_DESCRIPTION_MAX + 1];

        if (e.id != id)
            continue;
        ck_assert_int_eq(posixtrace_event_description(trid, e.id, text, sizeof text), 0);
        ck_assert_int_eq(posixtrace_event_description(trid, e.id, text, strlen(text)), ERANGE);
        ck_assert_int_eq(posixtrace_event_description(trid, e.id, text, strlen(text) + 1), 0);
        ck_assert_str_eq(text, OWN ORDER);
        seen = true;
    }
    ck_assert(seen);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fds[0]);
}
END_TEST

/* Nothing of the log was written; all is in the segment that was left. */
START_TEST(killed)
{
    int fd = log_file(), ready[2];
    struct posixtrace_recover_report done;
    trace_id_t trid;
    pid_t pid;
    char c;

    ck_assert_int_eq(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        trace_event_id_t id;

        if (posixtrace_event_describe("order", ORDER, &id) != 0)
            _exit(3);
        create(POSIX_TRACE_APPEND, 0, fd);
        trace_some(id, 3);
        if (posixtrace_event_describe("later", "u8 later", &id) != 0 ||
            write(ready[1], "r", 1) != 1)
            _exit(4);
        for (;;)
            pause();
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    trid = open_log(fd);
    ck_assert_str_eq(description(trid, "order"), OWN ORDER);
    ck_assert_str_eq(description(trid, "later"), OWN "u8 later");
    ck_assert_int_eq(posix_trace_close(trid), 0);
    ck_assert_int_eq(posixtrace_log_recover(fd, &done, sizeof done), 0);
    trid = open_log(fd);
    ck_assert_str_eq(description(trid, "order"), OWN ORDER);
    ck_assert_str_eq(description(trid, "later"), OWN "u8 later");
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(ready[0]);
    close(fd);
}
END_TEST

/* The image that a child executes, as the last argument says. */
static int be_image(void)
{
    trace_event_id_t id;

    alarm(HANG_S);
    if (posixtrace_event_describe("shared", "u8 other", &id) != EEXIST ||
        posixtrace_event_describe("shared", "u8 shared", &id) != 0 ||
        posixtrace_event_describe("of the image", "u16 image", &id) != 0)
        return 3;
    posix_trace_event(id, "ab", 2);
    return 0;
}

START_TEST(family)
{
    trace_id_t trid = create(0, 0, -1);
    trace_event_id_t id;
    int status;
    pid_t pid;

    ck_assert_int_eq(posixtrace_event_describe("shared", "u8 shared", &id), 0);
    pid = fork();
    if (pid == 0) {
        if (posixtrace_event_describe("of the child", "u8 child", &id) != 0)
            _exit(3);
        posix_trace_event(id, "a", 1);
        if (_i)
            execvp(image_command[0], image_command);
        _exit(_i ? 4 : 0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_str_eq(description(trid, "shared"), OWN "u8 shared");
    ck_assert_str_eq(description(trid, "of the child"), OWN "u8 child");
    ck_assert_str_eq(description(trid, "of the image"), _i ? OWN "u16 image" : "no type");
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* A controller knows what its target's data means; the target can say so itself, too. */
START_TEST(of_a_target)
{
    int to[2], from[2], status;
    trace_event_id_t id;
    trace_id_t trid;
    pid_t pid;
    char c;

    ck_assert(pipe(to) == 0 && pipe(from) == 0);
    pid = fork();
    if (pid == 0) {
        if (posix_trace_eventid_open("told", &id) != 0 || write(from[1], "r", 1) != 1 ||
            read(to[0], &c, 1) != 1 || posixtrace_event_describe("told", "u8 no", NULL) != EEXIST ||
            posixtrace_event_describe("own", "u8 own", &id) != 0 || write(from[1], "d", 1) != 1 ||
            read(to[0], &c, 1) != 1)
            _exit(3);
        _exit(0);
    }
    ck_assert_int_eq(read(from[0], &c, 1), 1);
    ck_assert_int_eq(posix_trace_create(pid, NULL, &trid), 0);
    ck_assert_int_eq(posix_trace_trid_eventid_open(trid, "told", &id), 0);
    ck_assert_int_eq(posixtrace_trid_event_describe(trid, id, "u8 told"), 0);
    ck_assert_int_eq(write(to[1], "g", 1), 1);
    ck_assert_int_eq(read(from[0], &c, 1), 1);
    ck_assert_str_eq(description(trid, "told"), OWN "u8 told");
    ck_assert_str_eq(description(trid, "own"), OWN "u8 own");
    ck_assert_int_eq(write(to[1], "g", 1), 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(to[0]);
    close(to[1]);
    close(from[0]);
    close(from[1]);
}
END_TEST

static int note_file(void *file, const struct posixtrace_stream *s)
{
    if (s->owner != getpid())
        return 0;
    memcpy(file, s->file, sizeof s->file);
    return 1;
}

START_TEST(attached)
{
    trace_id_t own = create(0, 0, -1), trid;
    char file[sizeof((struct posixtrace_stream *)0)->file];
    trace_event_id_t id;

    ck_assert_int_eq(posixtrace_event_describe("before", "u8 before", NULL), 0);
    ck_assert_int_eq(posixtrace_stream_list(note_file, file), 1);
    ck_assert_int_eq(posixtrace_attach(file, &trid), 0);
    ck_assert_str_eq(description(trid, "before"), OWN "u8 before");
    ck_assert_int_eq(posixtrace_event_describe("after", "u8 after", NULL), 0);
    ck_assert_str_eq(description(trid, "after"), OWN "u8 after");
    ck_assert_int_eq(posix_trace_trid_eventid_open(trid, "by the onlooker", &id), 0);
    ck_assert_int_eq(posixtrace_trid_event_describe(trid, id, "u8 seen"), 0);
    ck_assert_str_eq(description(own, "by the onlooker"), OWN "u8 seen");
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

START_TEST(in_a_made_log)
{
    struct posixtrace_event e = { .ns = 1, .name = "order", .thread_name = "" };
    posixtrace_log_builder_t *b;
    int fd = log_file();
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_log_builder_create(fd, NULL, &b), 0);
    ck_assert_int_eq(posixtrace_log_builder_describe(NULL, "order", "u8 a"), EINVAL);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, NULL, "u8 a"), EINVAL);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "", "u8 a"), EINVAL);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "order", NULL), EINVAL);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "order", "u8"), EINVAL);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "posix_trace_stop", "u8 a"), EINVAL);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "order", ORDER), 0);
    ck_assert_int_eq(posixtrace_log_builder_add(b, &e, sizeof e), 0);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "order", ORDER), 0);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "order", "u8 a"), EEXIST);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "none yet", "u8 a"), 0);
    ck_assert_int_eq(posixtrace_log_builder_finish(b), 0);
    trid = open_log(fd);
    ck_assert_str_eq(description(trid, "order"), ORDER);
    ck_assert_str_eq(description(trid, "none yet"), "u8 a");
    ck_assert_int_eq(posixtrace_trid_event_describe(trid, 193, ORDER), EINVAL);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_set_timeout(t, HANG_S);
    tcase_add_test(t, errors);
    tcase_add_test(t, the_first_counts);
    tcase_add_loop_test(t, in_a_log, 0, 3);
    tcase_add_test(t, in_a_pipe);
    tcase_add_test(t, killed);
    tcase_add_loop_test(t, family, 0, 2);
    tcase_add_test(t, of_a_target);
    tcase_add_test(t, attached);
    tcase_add_test(t, in_a_made_log);
    /* Last: where check does not fork, the names are all the tests'. */
    tcase_add_test(t, room_for_512_kib);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "image") == 0)
        return be_image();
    image_prepare("image");
    return run_suite("stream", "describe", NULL, add);
}
