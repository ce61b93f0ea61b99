/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The list of mappings in a name map: all mappings of the map and all threads have the same texts
 * by the same numbers; a list that is full; hostile contents. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "page/mapping_list.h"
#include "place/dir.h"
#include "shm_helpers.h"
#include "support/valgrind.h"

static struct pt_names *make(char file[64])
{
    struct pt_names *n;

    ck_assert_int_eq(pt_names_create(&n, file), 0);
    return n;
}

static uint32_t add_text(struct pt_names *n, const char *text)
{
    uint32_t id = 0;

    ck_assert_int_eq(pt_mapping_list_add(n, PT_MAPPING_NEW, text, strlen(text), &id), 0);
    return id;
}

START_TEST(texts)
{
    struct pt_names *a, *b, *copy;
    char file[64], longest[PT_MAPPING_MAX + 2];
    int dir = pt_dir_open(true);
    uint32_t id;

    a = make(file);
    ck_assert_uint_eq(pt_mapping_list_end(a), 1);
    ck_assert_ptr_null(pt_mapping_list_get(a, 1));
    ck_assert_uint_eq(add_text(a, "one"), 1);
    ck_assert_int_eq(pt_names_open(&b, file), 0);
    ck_assert_uint_eq(add_text(b, "two"), 2);
    ck_assert_uint_eq(add_text(b, ""), 3);
    ck_assert_uint_eq(pt_mapping_list_end(a), 4);
    ck_assert_str_eq(pt_mapping_list_get(a, 2), "two");
    ck_assert_str_eq(pt_mapping_list_get(b, 1), "one");
    ck_assert_str_eq(pt_mapping_list_get(a, 3), "");
    ck_assert_ptr_null(pt_mapping_list_get(a, 0));
    ck_assert_ptr_null(pt_mapping_list_get(a, 4));
    ck_assert_ptr_null(pt_mapping_list_get(a, UINT32_MAX));
    ck_assert_uint_eq(pt_mapping_list_find(a, "two", 3), 2);
    ck_assert_uint_eq(pt_mapping_list_find(a, "tw", 2), 0);
    memset(longest, 'x', sizeof longest);
    ck_assert_int_eq(pt_mapping_list_add(a, PT_MAPPING_NEW, longest, PT_MAPPING_MAX + 1, &id),
                     -EINVAL);
    ck_assert_int_eq(pt_mapping_list_add(a, PT_MAPPING_NEW, longest, PT_MAPPING_MAX, &id), 0);
    ck_assert_uint_eq(strlen(pt_mapping_list_get(b, id)), PT_MAPPING_MAX);
    ck_assert_int_eq(pt_names_copy(&copy, dir, file), 0);
    ck_assert_str_eq(pt_mapping_list_get(copy, 2), "two");
    free(copy);
    pt_names_unmap(a);
    pt_names_unmap(b);
    close(dir);
}
END_TEST

/* Adds texts of that kind until there is no room.  How many the list has then. */
static uint32_t fill(struct pt_names *n, enum pt_mapping_room kind, size_t length)
{
    char text[PT_MAPPING_MAX + 1];
    uint32_t id = 0, last = pt_mapping_list_end(n) - 1;
    int r;

    memset(text, 'x', sizeof text);
    while ((r = pt_mapping_list_add(n, kind, text, length, &id)) == 0) {
        ck_assert_uint_eq(id, last + 1);
        last = id;
    }
    ck_assert_int_eq(r, -ENOSPC);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(pt_mapping_list_add(n, kind, text, length, &id), -ENOSPC);
    ck_assert_uint_eq(pt_mapping_list_end(n), last + 1);
    if (last > 0)
        ck_assert_uint_ge(strlen(pt_mapping_list_get(n, 1)), 1);
    return last;
}

/* By its texts, or by its bytes: nothing that is there changes, and there is room for the texts
 * that end what others say, and for the last one. */
static void fill_parts(size_t length, uint32_t least, uint32_t most)
{
    char file[64];
    struct pt_names *n = make(file);
    uint32_t first = fill(n, PT_MAPPING_NEW, length), second, third;

    ck_assert_uint_ge(first, least);
    ck_assert_uint_le(first, most);
    ck_assert(length > 1 || pt_mapping_list_is_full(n));
    second = fill(n, PT_MAPPING_NO_MORE, 40);
    ck_assert_uint_ge(second, first + 1024);
    third = fill(n, PT_MAPPING_LAST, 24);
    ck_assert_uint_ge(third, second + 64);
    ck_assert(pt_mapping_list_is_full(n));
    pt_names_unmap(n);
}

START_TEST(full)
{
    fill_parts(1, PT_MAPPING_END - 1 - 1024 - 64, PT_MAPPING_END - 1 - 1024 - 64);
    fill_parts(PT_MAPPING_MAX, 150, 192);
}
END_TEST

START_TEST(about_a_process)
{
    char file[64];
    struct pt_names *n = make(file);

    add_text(n, "o - /17 ");
    add_text(n, "- 17 1000 400000");
    add_text(n, "= 170 1000 400000-500000:1");
    add_text(n, "= 1");
    add_text(n, "= 4294967313 1000 400000-500000:1"); /* 17 in its low 32 bits */
    ck_assert(!pt_mapping_list_has(n, 17));
    ck_assert(!pt_mapping_list_has(n, 1));
    ck_assert(pt_mapping_list_has(n, 170));
    add_text(n, "< 17 1000 16 900");
    ck_assert(pt_mapping_list_has(n, 17));
    pt_names_unmap(n);
}
END_TEST

enum { THREADS = 4, EACH = 500 };

static void *add_many(void *map)
{
    char text[32];
    uint32_t id;

    for (int i = 0; i < EACH; i++) {
        int length = snprintf(text, sizeof text, "%lx %d", (unsigned long)pthread_self(), i);

        if (pt_mapping_list_add(map, PT_MAPPING_NEW, text, (size_t)length, &id) != 0 ||
            strcmp(pt_mapping_list_get(map, id), text) != 0)
            return map;
    }
    return NULL;
}

START_TEST(threads)
{
    pthread_t t[THREADS];
    char file[64];
    struct pt_names *n = make(file);
    void *wrong;

    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, add_many, n), 0);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(t[i], &wrong), 0);
        ck_assert_ptr_null(wrong);
    }
    ck_assert_uint_eq(pt_mapping_list_end(n), THREADS * EACH + 1);
    pt_names_unmap(n);
}
END_TEST

/* Another process can write all of it. */
START_TEST(hostile)
{
    static const uint64_t entries[] = { 1, UINT64_MAX, 0xffffull << 32,
                                        (1ull << 63) | 5ull << 32 | 0xffffffff,
                                        (1ull << 63) | 2047ull << 32 | ((384u << 10) - 100) };
    char file[64];
    struct pt_names *n = make(file);
    uint64_t *entry = (uint64_t *)((char *)n + PT_NAMES_LIST);
    uint32_t id;

    add_text(n, "one");
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        entry[0] = entries[i];
        ck_assert_ptr_null(pt_mapping_list_get(n, 1));
        ck_assert_uint_eq(pt_mapping_list_find(n, "one", 3), 0);
    }
    n->mappings = UINT32_MAX;
    ck_assert_uint_eq(pt_mapping_list_end(n), PT_MAPPING_END);
    ck_assert_ptr_null(pt_mapping_list_get(n, PT_MAPPING_END));
    ck_assert_int_eq(pt_mapping_list_back(n), 0);
    ck_assert_int_eq(pt_mapping_list_add(n, PT_MAPPING_NEW, "two", 3, &id), -ENOSPC);
    n->mappings = 1;
    n->mapping_bytes = UINT32_MAX;
    ck_assert_int_eq(pt_mapping_list_add(n, PT_MAPPING_NEW, "two", 3, &id), -ENOSPC);
    pt_names_unmap(n);
}
END_TEST

/* It says that there are texts where the file has no memory, and there is none. */
START_TEST(hostile_holes)
{
    char file[64];
    struct pt_names *n;
    uint64_t *entry;
    uint32_t id;

    if (!ring_mount_small())
        return;
    n = make(file);
    entry = (uint64_t *)((char *)n + PT_NAMES_LIST);
    add_text(n, "one");
    ring_fill_small();
    n->mappings = n->mapping_bytes = UINT32_MAX;
    entry[0] = (1ull << 63) | 3ull << 32 | 100000;
    ck_assert_ptr_null(pt_mapping_list_get(n, 1));
    ck_assert_ptr_null(pt_mapping_list_get(n, PT_MAPPING_END - 1));
    ck_assert_uint_eq(pt_mapping_list_find(n, "one", 3), 0);
    ck_assert(pt_mapping_list_has(n, 17)); /* not known */
    ck_assert_int_eq(pt_mapping_list_back(n), -ENOMEM);
    n->mappings = n->mapping_bytes = 40000;
    ck_assert_int_lt(pt_mapping_list_add(n, PT_MAPPING_NEW, "two", 3, &id), 0);
    n->mappings = 1000;
    ck_assert_int_eq(pt_mapping_list_add(n, PT_MAPPING_NEW, "two", 3, &id), -ENOMEM);
    pt_names_unmap(n);
}
END_TEST

static char *volatile changed; /* after the instruction of that number */
static volatile unsigned steps, change_at;
static void (*volatile after_populate)(void);

int __real_pt_sys_populate(void *at, size_t bytes);
int __wrap_pt_sys_populate(void *at, size_t bytes);

int __wrap_pt_sys_populate(void *at, size_t bytes)
{
    int r = __real_pt_sys_populate(at, bytes);

    if (after_populate && (uintptr_t)changed - (uintptr_t)at < bytes)
        after_populate();
    return r;
}

#if defined(__x86_64__)
#define FLAGS     0x202
#define TRAP_FLAG 0x100 /* a signal after each instruction */

static void on_step(int sig, siginfo_t *info, void *context)
{
    ucontext_t *c = context;

    (void)sig;
    (void)info;
    if (++steps == change_at) {
        *changed = '7';
        c->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    }
}

static void set_flags(unsigned long flags)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\t" /* the red zone */
                     "push %0\n\t"
                     "popf\n\t"
                     "lea 128(%%rsp), %%rsp" ::"r"(flags)
                     : "memory", "cc");
}

static void start_steps(void)
{
    set_flags(FLAGS | TRAP_FLAG);
}

/* Its NUL is the last byte that has memory, and another process removes it after any
 * instruction. */
START_TEST(hostile_end)
{
    struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char file[64], *end;
    struct pt_names *n;
    struct pt_mapping_list *list;
    bool found;

    if (is_under_valgrind())
        return;
    n = make(file);
    list = (struct pt_mapping_list *)((char *)n + PT_NAMES_LIST);
    end = (char *)(((uintptr_t)list->text + page) & ~(uintptr_t)(page - 1));
    changed = end - 1;
    memcpy(end - 5, "= 17", 5);
    list->entry[0] = (1ull << 63) | 4ull << 32 | (uint64_t)(end - 5 - list->text);
    n->mappings = 1;
    n->mapping_bytes = (uint32_t)(end - list->text);
    ck_assert_int_eq(pt_mapping_list_back(n), 0);
    ck_assert_int_eq(mprotect(end, page, PROT_NONE), 0);
    ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
    do {
        *changed = '\0';
        steps = 0;
        change_at++;
        after_populate = start_steps;
        found = pt_mapping_list_has(n, 17);
        set_flags(FLAGS);
        after_populate = NULL;
        ck_assert(!found);
    } while (steps == change_at);
    ck_assert_uint_gt(change_at, 20);
    pt_names_unmap(n);
}
END_TEST
#endif

static void add(TCase *tc)
{
    tcase_add_test(tc, texts);
    tcase_add_test(tc, full);
    tcase_add_test(tc, about_a_process);
    tcase_add_test(tc, threads);
    tcase_add_test(tc, hostile);
    tcase_add_test(tc, hostile_holes);
#if defined(__x86_64__)
    tcase_add_test(tc, hostile_end);
#endif
}

int main(void)
{
    return ring_main("mapping_list", add);
}
