/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which writers are those of a thread that the kernel reports: a thread id may have been another
 * thread's, or another process's, before.
 */
#include <stdlib.h>
#include <string.h>
#include "flush/switch_thread.h"
#include "support/run_suite.h"

enum { PID = 0x7ffffff0, TID = 0x7ffffff1, OTHER = 0x7ffffff2 }; /* no thread has these */

static struct pt_switch_threads threads;
static struct pt_accounts accounts;
static struct pt_account tallies[8];
static struct pt_seg_header *header;

static void begin(void)
{
    memset(&threads, 0, sizeof threads);
    memset(&accounts, 0, sizeof accounts);
    memset(tallies, 0, sizeof tallies);
    accounts.tally = tallies;
    accounts.room = sizeof tallies / sizeof *tallies;
    header = aligned_alloc(4096, (sizeof *header + 4095) / 4096 * 4096);
    ck_assert_ptr_nonnull(header);
    memset(header, 0, sizeof *header);
    header->next_wid = 100;
}

static void end(void)
{
    pt_switch_threads_deinit(&threads);
    free(header);
}

static struct pt_account *add_writer(unsigned at, uint64_t wid, int32_t tid, const char *name)
{
    struct pt_account *t = &tallies[at];

    t->used = true;
    t->source = PT_TALLY_SLOT;
    t->author = (struct pt_author){ .wid = wid, .pid = PID, .tid = tid, .thread_id = wid << 12 };
    strcpy(t->author.name, name);
    return t;
}

static void end_writer(struct pt_account *t, uint64_t ts)
{
    t->source = PT_TALLY_FINAL;
    t->ended_ts = ts;
}

static void note(enum pt_switch_what what, uint64_t ts, int32_t tid, const char *name)
{
    struct pt_switch s = { .ts = ts, .pid = PID, .tid = tid, .what = what };

    if (name)
        strcpy(s.name, name);
    ck_assert(pt_switch_threads_note(&threads, header, &s));
}

static const struct pt_author *thread(int32_t tid)
{
    struct pt_switch_thread *t = pt_switch_threads_find(&threads, tid);

    ck_assert_ptr_nonnull(t);
    return &t->author;
}

/* Records nothing itself, and has the number of one that did. */
START_TEST(reused)
{
    int32_t tid = _i ? PID : TID; /* that of a process, too */
    struct pt_account *old = add_writer(3, 5, tid, "old");

    if (_i < 2)
        note(PT_SWITCH_FORKED, 10, OTHER, NULL);
    pt_switch_threads_identify(&threads, &accounts);
    end_writer(old, 1000);
    note(PT_SWITCH_FORKED, 2000, tid, NULL);
    pt_switch_threads_identify(&threads, &accounts);
    ck_assert_str_eq(thread(tid)->name, "");
    ck_assert_uint_eq(thread(tid)->thread_id, 0);
    note(PT_SWITCH_NAMED, 2001, tid, "new");
    pt_switch_threads_identify(&threads, &accounts);
    ck_assert_str_eq(thread(tid)->name, "new");
    ck_assert_str_eq(old->author.name, "old");
}
END_TEST

/* The next one records, too: its writer is its own. */
START_TEST(reused_and_records)
{
    struct pt_account *old = add_writer(3, 5, TID, "old"), *new;

    note(PT_SWITCH_FORKED, 10, TID, NULL);
    pt_switch_threads_identify(&threads, &accounts);
    ck_assert_str_eq(thread(TID)->name, "old");
    end_writer(old, 1000);
    note(PT_SWITCH_ENDED, 900, TID, NULL);
    note(PT_SWITCH_FORKED, 2000, TID, NULL);
    new = add_writer(4, 9, TID, "new");
    pt_switch_threads_identify(&threads, &accounts);
    ck_assert_str_eq(thread(TID)->name, "new");
    ck_assert_uint_eq(thread(TID)->thread_id, new->author.thread_id);
    ck_assert_str_eq(old->author.name, "old");
}
END_TEST

/* exec() ends the writers of a process, but not its first thread. */
START_TEST(exec)
{
    struct pt_account *before = add_writer(3, 5, PID, "before"), *after;

    note(PT_SWITCH_FORKED, 10, PID, NULL);
    end_writer(before, 1000);
    pt_switch_threads_identify(&threads, &accounts);
    after = add_writer(4, 6, PID, "before");
    note(PT_SWITCH_NAMED, 1001, PID, "after");
    pt_switch_threads_identify(&threads, &accounts);
    ck_assert_str_eq(thread(PID)->name, "after");
    ck_assert_str_eq(before->author.name, "after");
    ck_assert_str_eq(after->author.name, "after");
}
END_TEST

/* The kernel's report of the thread is read after its writer has ended. */
START_TEST(reported_late)
{
    struct pt_account *own = add_writer(3, 5, TID, "own");

    end_writer(own, 1000);
    pt_switch_threads_identify(&threads, &accounts);
    note(PT_SWITCH_FORKED, 990, TID, NULL);
    pt_switch_threads_identify(&threads, &accounts);
    ck_assert_str_eq(thread(TID)->name, "own");
    ck_assert_uint_eq(thread(TID)->thread_id, own->author.thread_id);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_loop_test(t, reused, 0, 3);
    tcase_add_test(t, reused_and_records);
    tcase_add_test(t, exec);
    tcase_add_test(t, reported_late);
}

int main(void)
{
    return run_suite("switch_thread", "whose writers are a thread's", NULL, add);
}
