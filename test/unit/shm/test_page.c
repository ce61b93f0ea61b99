/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The process page: bits, gates, epochs, and races to create it. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "model/set.h"
#include "page/page.h"
#include "place/dir.h"
#include "shm_helpers.h"
#include "support/refuse_call.h"

static struct pt_page *make(uint64_t start, const char *names)
{
    struct pt_page *page;
    char file[64];

    ck_assert_int_eq(pt_page_create(&page, 1234, start, names, file), 0);
    ck_assert_str_ne(file, "");
    return page;
}

struct page_made {
    int error;
    bool refused, works;
    char file[64];
};

/* Where files can be made but not linked, the process has a page all the same. */
START_TEST(no_links)
{
    static const int errors[] = { ENOSPC, EDQUOT, EPERM, EMLINK, EOPNOTSUPP };
    struct page_made *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    ck_assert_ptr_ne(made, MAP_FAILED);
    child = fork();
    if (child == 0) {
        struct pt_page *page;

        made->refused = refuse_call(SYS_linkat, errors[_i]);
        made->error = pt_page_create(&page, 1234, 7, "n-here", made->file);
        made->works = made->error == 0 && strcmp(page->names_file, "n-here") == 0;
        kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(made->error, 0);
    ck_assert(made->works);
    ck_assert(!made->refused || made->file[0] == '\0');
    munmap(made, sizeof *made);
}
END_TEST

START_TEST(two_creators_one_page)
{
    struct pt_page *a = make(7, "n-first"), *b = make(7, "n-second"), *c;
    char file[64];

    ck_assert_ptr_ne(a, b);
    ck_assert_str_eq(b->names_file, "n-first");
    ck_assert_int_eq(pt_page_take_bit(a), 0);
    ck_assert_int_eq(pt_page_take_bit(b), 1);
    ck_assert_int_eq(pt_page_open(&c, 1234, 7, file), 0);
    ck_assert_uint_eq(c->used, 3);
    pt_page_unmap(c);
    ck_assert_int_eq(pt_page_open(&c, 1234, 9, file), -ENOENT);
    ck_assert_int_eq(pt_page_open(&c, 1234, 5, file), -ENOENT);
    a->start++;
    ck_assert_int_eq(pt_page_open(&c, 1234, 7, file), -EINVAL);
    pt_page_unmap(a);
    pt_page_unmap(b);
}
END_TEST

/* Two processes, one of them in a time namespace, may see the start of a third in two ticks. */
START_TEST(a_tick_apart)
{
    struct pt_page *page = make(7 + 10 * (unsigned)_i, "n-first"), *other;
    char file[64], name[64];

    pt_page_name(name, 1234, page->start);
    for (int d = -1; d <= 1; d++) {
        uint64_t seen = page->start + (uint64_t)d;

        ck_assert_int_eq(pt_page_open(&other, 1234, seen, file), 0);
        ck_assert_str_eq(file, name);
        pt_page_unmap(other);
        ck_assert_int_eq(pt_page_create(&other, 1234, seen, "n-second", file), 0);
        ck_assert_str_eq(other->names_file, "n-first");
        ck_assert_str_eq(file, name);
        pt_page_unmap(other);
    }
    pt_page_unmap(page);
}
END_TEST

#define CREATORS 8

static pthread_barrier_t begin;

static void *create_and_take(void *bit)
{
    struct pt_page *page;
    char file[64];

    pthread_barrier_wait(&begin);
    if (pt_page_create(&page, 1234, 9, "n-x", file) < 0)
        return NULL;
    *(int *)bit = pt_page_take_bit(page);
    pt_page_unmap(page);
    return bit;
}

/* Bits that differ show that all of them had one page. */
START_TEST(no_directory)
{
    char path[600], file[64];
    struct pt_page *page;

    snprintf(path, sizeof path, "%s/none", getenv("POSIXTRACE_DIR"));
    setenv("POSIXTRACE_DIR", path, 1);
    ck_assert_int_eq(pt_page_open(&page, 1234, 7, file), -ENOENT);
}
END_TEST

START_TEST(creators_at_once)
{
    pthread_t threads[CREATORS];
    int bits[CREATORS];
    unsigned seen = 0;

    pthread_barrier_init(&begin, NULL, CREATORS);
    for (int i = 0; i < CREATORS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, create_and_take, &bits[i]), 0);
    for (int i = 0; i < CREATORS; i++) {
        void *result;

        pthread_join(threads[i], &result);
        ck_assert_ptr_nonnull(result);
        seen |= 1u << bits[i];
    }
    ck_assert_uint_eq(seen, (1u << CREATORS) - 1);
    pthread_barrier_destroy(&begin);
}
END_TEST

START_TEST(bits_and_epochs)
{
    struct pt_page *page = make(1, "n-x");
    uint64_t epoch;

    for (int i = 0; i < (int)PT_STREAMS; i++)
        ck_assert_int_eq(pt_page_take_bit(page), i);
    ck_assert_int_eq(pt_page_take_bit(page), -EAGAIN);
    epoch = page->epoch[17];
    pt_page_retire_bit(page, 17);
    ck_assert_uint_ne(page->epoch[17], epoch);
    ck_assert_int_eq(pt_page_take_bit(page), -EAGAIN);
    strcpy(page->stream[17].file, "s-gone.seg");
    pt_page_give_bit(page, 17);
    ck_assert_str_eq(page->stream[17].file, "");
    epoch = page->epoch[17];
    ck_assert_int_eq(pt_page_take_bit(page), 17);
    ck_assert_uint_ne(page->epoch[17], epoch);
    pt_page_unmap(page);
}
END_TEST

static void expect_gates(const struct pt_page *page, unsigned bit, const struct pt_set *filter)
{
    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        ck_assert_int_eq((page->gates[id] >> bit & 1) != 0, !pt_set_has(filter, id));
}

static void open_gates(struct pt_page *page, unsigned bit, const struct pt_set *filter)
{
    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        pt_page_set_gate(page, bit, id, pt_set_has(filter, id) ? PT_GATE_CLOSED : PT_GATE_OPEN);
}

START_TEST(gates_follow_the_filter)
{
    struct pt_page *page = make(1, "n-x");
    struct pt_set none, some;

    pt_set_empty(&none);
    pt_set_empty(&some);
    pt_set_add(&some, POSIX_TRACE_START);
    pt_set_add(&some, PT_ID_USER_FIRST);
    pt_set_add(&some, PT_ID_MAX - 1);
    open_gates(page, 3, &none);
    open_gates(page, 63, &some);
    expect_gates(page, 3, &none);
    expect_gates(page, 63, &some);
    open_gates(page, 3, &some);
    open_gates(page, 63, &none);
    expect_gates(page, 3, &some);
    expect_gates(page, 63, &none);
    pt_page_close_gates(page, 63);
    expect_gates(page, 3, &some);
    pt_page_give_bit(page, 3);
    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        ck_assert_uint_eq(page->gates[id], 0);
    pt_page_unmap(page);
}
END_TEST

/* Between closed, open and ask in all orders; another stream's bits stay. */
START_TEST(shadow_of_a_bit)
{
    static const enum pt_gate gates[] = { PT_GATE_ASK, PT_GATE_OPEN,   PT_GATE_CLOSED, PT_GATE_OPEN,
                                          PT_GATE_ASK, PT_GATE_CLOSED, PT_GATE_ASK };
    struct pt_page *page = make(1, "n-x");
    unsigned bit = (unsigned)pt_page_take_bit(page);
    uint64_t shadow, others = 1ull << 40, used = page->used;

    ck_assert_uint_eq(pt_page_shadow(page, bit), 0);
    ck_assert_int_eq(pt_page_take_shadow(page, bit), 0);
    shadow = pt_page_shadow(page, bit);
    ck_assert_int_eq(__builtin_popcountll(shadow), 1);
    ck_assert_int_eq(pt_page_take_shadow(page, bit), 0);
    ck_assert_uint_eq(pt_page_shadow(page, bit), shadow);
    ck_assert_uint_eq(page->shadows, shadow);
    ck_assert_uint_eq(page->used, used | shadow);
    page->gates[300] = others;
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) {
        uint64_t is = gates[i] == PT_GATE_ASK    ? 1ull << bit | shadow
                      : gates[i] == PT_GATE_OPEN ? 1ull << bit
                                                 : 0;

        pt_page_set_gate(page, bit, 300, gates[i]);
        ck_assert_uint_eq(page->gates[300], others | is);
    }
    pt_page_give_bit(page, bit);
    ck_assert_uint_eq(page->gates[300], others);
    ck_assert_uint_eq(page->shadows, 0);
    ck_assert_uint_eq(page->used, used & ~(1ull << bit));
    pt_page_unmap(page);
}
END_TEST

START_TEST(no_place_for_a_shadow)
{
    struct pt_page *page = make(1, "n-x");

    for (unsigned i = 0; i < PT_STREAMS; i++)
        ck_assert_int_eq(pt_page_take_bit(page), (int)i);
    ck_assert_int_eq(pt_page_take_shadow(page, 7), -EAGAIN);
    ck_assert_uint_eq(pt_page_shadow(page, 7), 0);
    pt_page_give_bit(page, 9);
    ck_assert_int_eq(pt_page_take_shadow(page, 7), 0);
    ck_assert_uint_eq(pt_page_shadow(page, 7), 1ull << 9);
    pt_page_unmap(page);
}
END_TEST

/* If several threads revoke a dead stream, one succeeds; and none revokes the next stream with that
 * bit. */
START_TEST(revoked_once)
{
    struct pt_page *page = make(1, "n-x");
    struct pt_set none;
    unsigned bit = (unsigned)pt_page_take_bit(page);
    uint64_t epoch = page->epoch[bit];

    pt_set_empty(&none);
    strcpy(page->stream[bit].file, "s-dead.seg");
    ck_assert(pt_page_bit_is_of(page, bit, "s-dead.seg"));
    ck_assert(!pt_page_bit_is_of(page, bit, "s-dead.se"));
    ck_assert(!pt_page_bit_is_of(page, PT_STREAMS, "s-dead.seg"));
    open_gates(page, bit, &none);
    ck_assert(pt_page_revoke_bit(page, bit, epoch));
    ck_assert(!pt_page_bit_is_of(page, bit, "s-dead.seg"));
    ck_assert_uint_eq(page->gates[PT_ID_USER_FIRST], 0);
    ck_assert_int_eq(pt_page_take_bit(page), (int)bit);
    open_gates(page, bit, &none);
    ck_assert(!pt_page_revoke_bit(page, bit, epoch));
    expect_gates(page, bit, &none);
    pt_page_unmap(page);
}
END_TEST

START_TEST(names_in_use)
{
    struct pt_page *page = make(1, "n-here");
    int dir = pt_dir_open(true);

    ck_assert(pt_page_names_in_use(dir, "n-here"));
    ck_assert(!pt_page_names_in_use(dir, "n-her"));
    ck_assert(!pt_page_names_in_use(dir, "n-here2"));
    pt_page_unmap(page);
}
END_TEST

/* In doubt they are in use: their file would be removed. */
START_TEST(names_in_use_without_descriptors)
{
    struct pt_page *page = make(1, "n-here");
    int dir = pt_dir_open(true);
    struct rlimit old, few;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = old;
    for (rlim_t n = (rlim_t)dir + 1; n < (rlim_t)dir + 4; n++) {
        few.rlim_cur = n;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        ck_assert(pt_page_names_in_use(dir, "n-here"));
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
    }
    ck_assert(!pt_page_names_in_use(dir, "n-other"));
    close(dir);
    pt_page_unmap(page);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, two_creators_one_page);
    tcase_add_loop_test(tc, no_links, 0, 5);
    tcase_add_loop_test(tc, a_tick_apart, 0, 2);
    tcase_add_test(tc, no_directory);
    tcase_add_test(tc, creators_at_once);
    tcase_add_test(tc, bits_and_epochs);
    tcase_add_test(tc, gates_follow_the_filter);
    tcase_add_test(tc, shadow_of_a_bit);
    tcase_add_test(tc, no_place_for_a_shadow);
    tcase_add_test(tc, revoked_once);
    tcase_add_test(tc, names_in_use);
    tcase_add_test(tc, names_in_use_without_descriptors);
}

int main(void)
{
    return ring_main("page", add);
}
