/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What black-box tests of <trace.h> need again and again: a private stream
 * directory, streams with given attributes, whole streams read into an array,
 * payloads that can be verified, log files, children, threads that block.
 *
 * Every helper asserts with check, so a test states only what it is about.
 * Nothing here knows the library's inside: only <trace.h> and the environment
 * variable POSIXTRACE_DIR are used.
 *
 * A test program calls th_main().  Each of its tests starts with a stream
 * directory and a folder for files of its own; both go when the program ends.
 * Lists of events, and what else th_alloc() gives, live until the test ends.
 */
#ifndef TEST_SUPPORT_TRACE_HELPERS_H
#define TEST_SUPPORT_TRACE_HELPERS_H

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <trace.h>

#define ck_ok(call)         ck_assert_int_eq((call), 0)
#define ck_fails(call, err) ck_assert_int_eq((call), (err))

#define TH_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Longest wait for something that must happen; reaching it fails the test. */
#define TH_WATCHDOG_S 60

/* ---- test programs ---- */

/* Runs the tests that add() puts into the case; the value for main(). */
int th_main(const char *name, void (*add)(TCase *tc));
/* The tests of the case use the stream directory that the program started with: each is a child of
 * a process that has used the library, and whose name map is there. */
void th_use_folder_of_all(TCase *tc);
/* Adds a test that needs a process which has not used the library yet.  Where
 * check does not fork (CK_FORK=no, for valgrind) there is none: left out. */
void th_add_fresh(TCase *tc, const TTest *test);
/* The stream directory of the running test. */
const char *th_stream_dir(void);

/* Zeroed memory that goes when the test ends.  For the test's main thread. */
void *th_alloc(size_t size);

/* ---- streams ---- */

/* Attributes that differ from the defaults; a member that is 0 stays default. */
struct th_conf {
    const char *name;
    int policy;
    int log_policy;
    int inherit;
    size_t stream_size;
    size_t max_data;
    size_t log_size;
};

void th_attr(trace_attr_t *attr, const struct th_conf *conf);
trace_id_t th_create(const struct th_conf *conf);
trace_id_t th_create_withlog(const struct th_conf *conf, int fd);
#define th_stream(...)         th_create(&(struct th_conf){ __VA_ARGS__ })
#define th_stream_log(fd, ...) th_create_withlog(&(struct th_conf){ __VA_ARGS__ }, (fd))

/* A running stream whose START has been read. */
trace_id_t th_create_running(const struct th_conf *conf);
#define th_running(...) th_create_running(&(struct th_conf){ __VA_ARGS__ })
/* What every call for streams answers when it is given that. */
void th_expect_no_stream(trace_id_t trid);

struct posix_trace_status_info th_status(trace_id_t trid);
/* stream-min-size as the stream reports it */
size_t th_stream_size(trace_id_t trid);
/* Returns when no flush is in progress. */
void th_wait_flushed(trace_id_t trid);
/* posix_trace_flush(), and returns when it has ended. */
void th_flush(trace_id_t trid);

/* ---- events ---- */

trace_event_id_t th_id(const char *name);
/* An event of len >= 4 bytes: seq, then bytes that follow from seq. */
void th_put(trace_event_id_t id, uint32_t seq, size_t len);
/* th_put() for seq = first .. first + n - 1 */
void th_put_run(trace_event_id_t id, uint32_t first, uint32_t n, size_t len);

struct th_event {
    struct posix_trace_event_info info;
    size_t len;
    unsigned char *data;
};

struct th_list {
    struct th_event *at;
    size_t n;
};

/* posix_trace_trygetnext_event() until nothing is available */
struct th_list th_drain(trace_id_t trid);
/* posix_trace_getnext_event() until the end of a pre-recorded stream */
struct th_list th_read_log(trace_id_t trid);
/* The events of one type out of a list. */
struct th_list th_only(struct th_list list, trace_event_id_t id);
/* One event by trygetnext, which must be there. */
struct th_event th_next(trace_id_t trid);
/* Index of the first event of the type at or after from; list.n if none. */
size_t th_find(struct th_list list, trace_event_id_t id, size_t from);

/* The list holds exactly these types in this order. */
#define th_expect(list, ...)                                         \
    th_expect_ids((list), (const trace_event_id_t[]){ __VA_ARGS__ }, \
                  TH_COUNT(((const trace_event_id_t[]){ __VA_ARGS__ })), __FILE__, __LINE__)
void th_expect_ids(struct th_list list, const trace_event_id_t *ids, size_t n, const char *file,
                   int line);
/* All events of the list were made by th_put(), intact, with consecutive
 * numbers that begin with first. */
void th_expect_run(struct th_list list, uint32_t first);
uint32_t th_seq(const struct th_event *event);
/* The event was made by th_put() and all its bytes are right. */
bool th_intact(const struct th_event *event);
/* The same for bare bytes, in threads that may not assert. */
bool th_intact_bytes(const void *data, size_t len);
/* The event's data, which must be one int. */
int th_int(const struct th_event *event);
int64_t th_ns(struct timespec t);
int64_t th_now_ns(void);

/* ---- event sets ---- */

bool th_member(const trace_event_set_t *set, trace_event_id_t id);
#define th_set(...)                                      \
    th_set_of((const trace_event_id_t[]){ __VA_ARGS__ }, \
              TH_COUNT(((const trace_event_id_t[]){ __VA_ARGS__ })))
trace_event_set_t th_set_of(const trace_event_id_t *ids, size_t n);
/* The same members among the predefined types and the given ones. */
bool th_same_members(const trace_event_set_t *a, const trace_event_set_t *b,
                     const trace_event_id_t *more, size_t n);

/* The 9 predefined types and their names. */
struct th_predefined {
    trace_event_id_t id;
    const char *name;
};
#define TH_PREDEFINED 9
extern const struct th_predefined th_predefined[TH_PREDEFINED];

/* ---- files ---- */

#define TH_PATH 160
/* Creates an empty file for a log; path gets its name.  flags: O_RDWR, ... */
int th_file(char path[TH_PATH], int flags);
/* Opens a log for reading; th_close() closes descriptor and stream. */
trace_id_t th_open(const char *path);
void th_close(trace_id_t trid);
/* Reads a whole log and closes it. */
struct th_list th_log_events(const char *path);
/* The list without FLUSH_START and FLUSH_STOP, which may or may not be there. */
struct th_list th_without_flush_marks(struct th_list list);
/* The id that a stream has for a name; 0 if none.  Rewinds the type list. */
trace_event_id_t th_id_named(trace_id_t trid, const char *name);
/* A log of START, n events "u" of len bytes with numbers from 0, and STOP. */
void th_make_log(char path[TH_PATH], uint32_t n, size_t len);
void th_make_log_on(int fd, uint32_t n, size_t len);
/* The file is such a log. */
void th_expect_made_log(const char *path, uint32_t n);

/* ---- children and threads ---- */

/* Runs body in a child that ends by _exit(0); the parent continues. */
pid_t th_fork(void (*body)(void *), void *context);
/* Waits for a child and asserts that it left with status 0. */
void th_reap(pid_t pid);
/* Both in one: what body asserts counts as asserted here. */
void th_in_child(void (*body)(void *), void *context);

struct th_thread {
    pthread_t thread;
    pid_t tid; /* set by the thread */
    void *(*body)(void *);
    void *context;
    bool started; /* tid is valid; guarded by mutex */
    pthread_mutex_t mutex;
    pthread_cond_t cond;
};

void th_thread_start(struct th_thread *t, void *(*body)(void *), void *context);
/* Returns when the thread sleeps in the kernel, and has for a while. */
void th_thread_wait_asleep(struct th_thread *t);
void *th_thread_join(struct th_thread *t);
/* The same wait for any thread of this process. */
void th_wait_asleep(pid_t tid);

void th_sleep_ms(unsigned ms);

#endif
