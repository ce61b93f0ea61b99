/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The name map: same names, same ids, for all mappings and threads; hostile contents. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "place/dir.h"
#include <posixtrace/system.h>
#include "page/names.h"
#include "shm_helpers.h"

static uint32_t id_of(struct pt_names *n, const char *name, bool create)
{
    uint32_t id = 99999;

    ck_assert_int_eq(pt_names_id(n, name, create, &id), 0);
    return id;
}

START_TEST(same_name_same_id)
{
    struct pt_names *a, *b, *copy;
    int dir = pt_dir_open(true);
    char file[64];

    ck_assert_int_eq(pt_names_create(&a, file), 0);
    ck_assert_int_eq(pt_names_open(&b, file), 0);
    ck_assert_uint_eq(id_of(a, "one", false), 0);
    ck_assert_uint_eq(id_of(a, "one", true), PT_ID_NAMED_FIRST);
    ck_assert_uint_eq(id_of(b, "two", true), PT_ID_NAMED_FIRST + 1);
    ck_assert_uint_eq(id_of(b, "one", true), PT_ID_NAMED_FIRST);
    ck_assert_uint_eq(id_of(a, "two", false), PT_ID_NAMED_FIRST + 1);
    ck_assert_uint_eq(id_of(a, "", true), PT_ID_NAMED_FIRST + 2);
    ck_assert_uint_eq(id_of(b, "", false), PT_ID_NAMED_FIRST + 2);
    ck_assert_uint_eq(pt_names_end(b), PT_ID_NAMED_FIRST + 3);
    ck_assert_int_eq(pt_names_copy(&copy, dir, file), 0);
    ck_assert_str_eq(pt_names_get(copy, PT_ID_NAMED_FIRST + 1), "two");
    ck_assert_ptr_null(pt_names_get(copy, PT_ID_NAMED_FIRST + 3));
    ck_assert_ptr_null(pt_names_get(copy, PT_ID_MAX));
    ck_assert_ptr_null(pt_names_get(copy, UINT32_MAX));
    free(copy);
    pt_names_unmap(a);
    pt_names_unmap(b);
    close(dir);
}
END_TEST

START_TEST(predefined_names)
{
    struct pt_names *n;
    char file[64];

    ck_assert_int_eq(pt_names_create(&n, file), 0);
    for (uint32_t id = 1; id <= PT_ID_SYSTEM_LAST; id++) {
        ck_assert_uint_eq(id_of(n, pt_event_system_name(id), true), id);
        ck_assert_str_eq(pt_names_get(n, id), pt_event_system_name(id));
    }
    ck_assert_uint_eq(id_of(n, "posix_trace_unnamed_userevent", true), PT_ID_USER_FIRST);
    /* The library's own types are in use after a call that creates one, not after a lookup. */
    for (uint32_t id = PT_ID_OWN_FIRST; id <= PT_ID_OWN_LAST; id++)
        if (pt_event_is_own(id))
            ck_assert_uint_eq(id_of(n, pt_event_system_name(id), false), id);
    ck_assert(!pt_names_own_in_use(n));
    ck_assert_uint_eq(id_of(n, "posixtrace_sleep", true), POSIXTRACE_SLEEP);
    ck_assert(pt_names_own_in_use(n));
    ck_assert_uint_eq(pt_names_end(n), PT_ID_NAMED_FIRST);
    pt_names_unmap(n);
}
END_TEST

START_TEST(full_map)
{
    struct pt_names *n;
    char file[64], name[TRACE_EVENT_NAME_MAX + 1];

    ck_assert_int_eq(pt_names_create(&n, file), 0);
    memset(name, 'n', sizeof name);
    name[TRACE_EVENT_NAME_MAX] = '\0';
    for (uint32_t i = 0; i < PT_NAMES_COUNT; i++) {
        name[0] = (char)('a' + i % 26);
        name[1] = (char)('a' + i / 26 % 26);
        name[2] = (char)('a' + i / 676);
        ck_assert_uint_eq(id_of(n, name, true), PT_ID_NAMED_FIRST + i);
    }
    ck_assert_str_eq(pt_names_get(n, PT_ID_MAX - 1), name);
    ck_assert_uint_eq(id_of(n, "one too many", true), PT_ID_USER_FIRST);
    ck_assert_uint_eq(id_of(n, "one too many", false), 0);
    ck_assert_uint_eq(id_of(n, name, true), PT_ID_MAX - 1);
    pt_names_unmap(n);
}
END_TEST

/* offset | length << 32 | hash << 48, with values that the library never writes */
START_TEST(hostile_contents)
{
    struct pt_names *n;
    char file[64];
    uint32_t arena;
    uint64_t good;

    ck_assert_int_eq(pt_names_create(&n, file), 0);
    arena = n->size - (uint32_t)sizeof *n;
    ck_assert_uint_eq(id_of(n, "victim", true), PT_ID_NAMED_FIRST);
    good = n->entry[0];
    for (uint32_t far = 0; far < 3; far++) {
        const uint64_t bad[] = { UINT64_MAX,
                                 UINT32_MAX | 6ull << 32,
                                 0x80000000u | 6ull << 32,
                                 (good & ~0xffffffffull) | (arena + far),
                                 (good & ~0xffff00000000ull) | (TRACE_EVENT_NAME_MAX + 1ull + far)
                                                                   << 32,
                                 good | 0xffffull << 32,
                                 (good & ~0xffff00000000ull) | (3ull + far) << 32 };

        for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
            n->entry[0] = bad[i];
            ck_assert_ptr_null(pt_names_get(n, PT_ID_NAMED_FIRST));
            ck_assert_uint_eq(id_of(n, "victim", false), 0);
        }
    }
    n->entry[0] = good;
    ck_assert_str_eq(pt_names_get(n, PT_ID_NAMED_FIRST), "victim");
    n->used = UINT32_MAX - 3;
    uint32_t id;
    ck_assert_int_eq(pt_names_id(n, "no room", true, &id), -ENOMEM);
    pt_names_unmap(n);
}
END_TEST

/* Another process says that there are texts where the file has no memory, and there is none. */
START_TEST(hostile_holes)
{
    const uint32_t far = 40000;
    struct pt_names *n;
    char file[64];

    if (!ring_mount_small())
        return;
    ck_assert_int_eq(pt_names_create(&n, file), 0);
    ck_assert_uint_eq(id_of(n, "victim", true), PT_ID_NAMED_FIRST);
    ring_fill_small();
    n->used = n->described = UINT32_MAX;
    n->entry[0] = far | 6ull << 32 | 1ull << 48;
    n->description[0] = (PT_NAMES_NAME_BYTES + far) | 6ull << 32;
    ck_assert_ptr_null(pt_names_get(n, PT_ID_NAMED_FIRST));
    ck_assert_ptr_null(pt_names_description(n, PT_ID_NAMED_FIRST));
    pt_names_unmap(n);
}
END_TEST

/* The same for descriptions: offset | length << 32 | type << 48 */
START_TEST(hostile_descriptions)
{
    struct pt_names *n;
    char file[64];
    uint32_t id = 0;
    uint64_t good;

    ck_assert_int_eq(pt_names_create(&n, file), 0);
    ck_assert_uint_eq(id_of(n, "victim", true), PT_ID_NAMED_FIRST);
    ck_assert_int_eq(pt_names_describe(n, PT_ID_NAMED_FIRST, "u8 a"), 0);
    ck_assert_int_eq(pt_names_describe(n, PT_ID_NAMED_FIRST - 1, "u8 a"), -EINVAL);
    ck_assert_int_eq(pt_names_describe(n, PT_ID_MAX, "u8 a"), -EINVAL);
    good = n->description[0];

    const uint64_t bad[] = { UINT64_MAX,
                             good & ~0xffffffffull,
                             good | 0xffffffffull,
                             good + 1,
                             good | 0xffffull << 32,
                             good - (1ull << 32),
                             good | 0xffffull << 48 };

    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        n->description[0] = bad[i];
        ck_assert_ptr_null(pt_names_description(n, PT_ID_NAMED_FIRST));
        ck_assert_ptr_null(pt_names_description_at(n, 0, &id));
        ck_assert_uint_ne(id, 0);
    }
    n->description[0] = good;
    ck_assert_str_eq(pt_names_description(n, PT_ID_NAMED_FIRST), "u8 a");
    n->described = UINT32_MAX - 3;
    ck_assert_uint_eq(id_of(n, "other", true), PT_ID_NAMED_FIRST + 1);
    ck_assert_int_eq(pt_names_describe(n, PT_ID_NAMED_FIRST + 1, "u8 b"), -ENOSPC);
    pt_names_unmap(n);
}
END_TEST

/* After a description that finds no room, no shorter one is stored: a type without a description
 * has none for good.  Those that are there can be read, also by others. */
START_TEST(no_more_descriptions)
{
    char file[64], text[PT_DESCRIPTION_MAX + 1];
    uint32_t id = PT_ID_NAMED_FIRST;
    struct pt_names *n, *other;
    int r;

    memset(text, 'd', sizeof text);
    text[PT_DESCRIPTION_MAX] = '\0';
    ck_assert_int_eq(pt_names_create(&n, file), 0);
    while ((r = pt_names_describe(n, id, text)) == 0)
        id++;
    ck_assert_int_eq(r, -ENOSPC);
    ck_assert_int_eq(pt_names_describe(n, id, "short"), -ENOSPC);
    ck_assert_int_eq(pt_names_open(&other, file), 0);
    ck_assert_str_eq(pt_names_description(other, id - 1), text);
    ck_assert_ptr_null(pt_names_description(other, id));
    ck_assert_int_eq(pt_names_describe(other, id + 1, "short"), -ENOSPC);
    pt_names_unmap(other);
    pt_names_unmap(n);
}
END_TEST

START_TEST(wrong_files)
{
    struct pt_names *n, *m;
    int dir = pt_dir_open(true);
    char file[64];

    ck_assert_int_eq(pt_names_create(&n, file), 0);
    n->magic++;
    ck_assert_int_eq(pt_names_open(&m, file), -EINVAL);
    ck_assert_int_eq(pt_names_copy(&m, dir, file), -EINVAL);
    n->magic--;
    n->layout++;
    ck_assert_int_eq(pt_names_open(&m, file), -EINVAL);
    n->layout--;
    n->size++;
    ck_assert_int_eq(pt_names_open(&m, file), -EINVAL);
    ck_assert_int_eq(pt_names_open(&m, "n-nobody"), -ENOENT);
    pt_names_unmap(n);
    close(dir);
}
END_TEST

#define OPENERS 8
#define SHARED  200

struct opener {
    struct pt_names *n;
    pthread_barrier_t *begin;
    unsigned start;
    int failed;
    uint32_t ids[SHARED];
};

static void *open_names(void *context)
{
    struct opener *o = context;
    char name[16];

    pthread_barrier_wait(o->begin);
    for (unsigned k = 0; k < SHARED; k++) {
        unsigned i = (k + o->start) % SHARED;

        snprintf(name, sizeof name, "name %u", i);
        o->failed |= pt_names_id(o->n, name, true, &o->ids[i]);
    }
    return NULL;
}

/* The map numbers without gaps whoever opens what first. */
START_TEST(many_openers)
{
    static struct opener o[OPENERS];
    pthread_t threads[OPENERS];
    pthread_barrier_t begin;
    char file[64], name[16];
    struct pt_names *n;

    ck_assert_int_eq(pt_names_create(&n, file), 0);
    pthread_barrier_init(&begin, NULL, OPENERS);
    for (unsigned t = 0; t < OPENERS; t++) {
        o[t] = (struct opener){ .n = n, .begin = &begin, .start = t / 2 * 31 };
        ck_assert_int_eq(pthread_create(&threads[t], NULL, open_names, &o[t]), 0);
    }
    for (unsigned t = 0; t < OPENERS; t++)
        pthread_join(threads[t], NULL);
    ck_assert_uint_eq(pt_names_end(n), PT_ID_NAMED_FIRST + SHARED);
    for (unsigned i = 0; i < SHARED; i++) {
        snprintf(name, sizeof name, "name %u", i);
        ck_assert_str_eq(pt_names_get(n, o[0].ids[i]), name);
        for (unsigned t = 0; t < OPENERS; t++)
            ck_assert_uint_eq(o[t].ids[i], o[0].ids[i]);
    }
    for (unsigned t = 0; t < OPENERS; t++)
        ck_assert_int_eq(o[t].failed, 0);
    pthread_barrier_destroy(&begin);
    pt_names_unmap(n);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, same_name_same_id);
    tcase_add_test(tc, predefined_names);
    tcase_add_test(tc, full_map);
    tcase_add_test(tc, hostile_contents);
    tcase_add_test(tc, hostile_holes);
    tcase_add_test(tc, hostile_descriptions);
    tcase_add_test(tc, no_more_descriptions);
    tcase_add_test(tc, wrong_files);
    tcase_add_test(tc, many_openers);
}

int main(void)
{
    return ring_main("names", add);
}
