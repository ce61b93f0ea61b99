/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See hazard_pointer.h.  Words are never freed: a later thread takes them. */
#include <pthread.h>
#include <stdlib.h>
#include "base/annotate.h"
#include "base/assert.h"
#include "stream/hazard_pointer.h"

_Thread_local struct pt_hazard *pt_hazard_own __attribute__((tls_model("initial-exec")));

static struct pt_hazard *all;
static pthread_key_t key;
static bool key_works;

static void give_back(void *hazard)
{
    struct pt_hazard *z = hazard;

    pt_assert_call(pt_load_relaxed(&z->taken) == 1);
    pt_hazard_own = NULL;
    pt_hazard_drop(z);
    pt_store_release(&z->taken, 0u);
}

static void make_key(void)
{
    key_works = pthread_key_create(&key, give_back) == 0;
    pt_happens_before(&key_works);
}

static struct pt_hazard *take_one(void)
{
    struct pt_hazard *z;

    for (z = pt_load_acquire(&all); z; z = z->next) {
        uint32_t no = 0;

        if (pt_load_relaxed(&z->taken) == 0 && pt_cas_seqcst(&z->taken, &no, 1u))
            return z;
    }
    z = aligned_alloc(_Alignof(struct pt_hazard), sizeof *z);
    if (!z)
        return NULL;
    *z = (struct pt_hazard){ .taken = 1, .next = pt_load_relaxed(&all) };
    while (!pt_cas_seqcst(&all, &z->next, z))
        ;
    return z;
}

void pt_hazard_join(uint64_t instance)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct pt_hazard *z = pt_hazard_own;

    if (!z) {
        pthread_once(&once, make_key);
        pt_happens_after(&key_works); /* helgrind does not know pthread_once */
        z = key_works ? take_one() : NULL;
        if (!z)
            return;
        if (pthread_setspecific(key, z) != 0) {
            pt_store_release(&z->taken, 0u);
            return;
        }
        pt_hazard_own = z;
    }
    pt_assert_call(!z->named || z->instance == instance);
    pt_store_release(&z->instance, instance);
}

bool pt_hazard_named(const void *object, uint64_t instance, const struct pt_hazard *but)
{
    for (struct pt_hazard *z = pt_load_acquire(&all); z; z = z->next)
        if (z != but && pt_load_acquire(&z->named) == object &&
            pt_load_acquire(&z->instance) == instance)
            return true;
    return false;
}
