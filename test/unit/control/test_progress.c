/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A controller that sets the gates of many processes shows in the control word that it makes
 * progress, so that no waiter takes the lock over from it: two that did so in turn would both
 * begin again and again.
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <trace.h>
#include "page/page.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"

enum { HANG_S = 60, CHILDREN = 3, SLOW_NS = 2 * PT_STALL_NS / 10 };

int __real_pt_page_open_of(struct pt_page **page, uid_t uid, uint32_t pid, uint64_t start,
                           char file[64]);
int __wrap_pt_page_open_of(struct pt_page **page, uid_t uid, uint32_t pid, uint64_t start,
                           char file[64]);

static struct pt_seg_header *watched;
static uint64_t word[16];
static unsigned words;

/* Each page takes so long that all of them take much of PT_STALL_NS. */
int __wrap_pt_page_open_of(struct pt_page **page, uid_t uid, uint32_t pid, uint64_t start,
                           char file[64])
{
    if (watched && words < 16) {
        word[words++] = pt_load_seqcst(&watched->control);
        nanosleep(&(struct timespec){ .tv_nsec = SLOW_NS }, NULL);
    }
    return __real_pt_page_open_of(page, uid, pid, start, file);
}

static int to_child[2], to_parent[2];

static void run_child(trace_event_id_t id)
{
    char c;

    posix_trace_event(id, NULL, 0);
    close(to_child[1]);
    if (write(to_parent[1], "", 1) == 1 && read(to_child[0], &c, 1) == 0)
        _exit(0);
    _exit(1);
}

static trace_id_t create_with_children(void)
{
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;
    char c;

    alarm(HANG_S);
    ck_assert_int_eq(pipe(to_child) | pipe(to_parent), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_eventid_open("tick", &id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0)
            run_child(id);
        ck_assert_int_eq(read(to_parent[0], &c, 1), 1);
    }
    return trid;
}

START_TEST(word_changes_with_pages)
{
    trace_id_t trid = create_with_children();
    struct pt_seg_header *h = segment_of(trid)->h;
    trace_event_set_t set;
    uint64_t left;

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    watched = h;
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    watched = NULL;
    ck_assert_uint_ge(words, CHILDREN);
    for (unsigned i = 1; i < words; i++) {
        ck_assert_uint_ne(word[i], word[i - 1]);
        ck_assert_uint_eq(pt_control_tid(word[i]), pt_control_tid(word[0]));
        ck_assert_uint_eq(pt_control_slot_1(word[i]), pt_control_slot_1(word[0]));
    }
    left = pt_load_seqcst(&h->control);
    ck_assert_uint_eq(pt_control_tid(left), 0);
    ck_assert_uint_eq(pt_control_slot_1(left), pt_control_slot_1(word[0]));
    close(to_child[1]);
    for (int i = 0; i < CHILDREN; i++) {
        int status;

        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_set_timeout(t, HANG_S);
    tcase_add_test(t, word_changes_with_pages);
}

int main(void)
{
    return run_suite("control progress", "a controller of many processes", NULL, add);
}
