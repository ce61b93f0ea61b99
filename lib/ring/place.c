/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See place.h.  A place is immutable; another one is a new object, which one store
 * publishes.  Of two threads that fix it at once both publish the same, and the old
 * one stays, since a thread may be reading it: some pages, if the program changes its
 * environment between calls.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/sys.h"
#include "ring/place.h"

static struct pt_place first;
static const struct pt_place *now;
static uint64_t *fixed_word;

static void copy(char *to, size_t size, const char *variable)
{
    const char *text = secure_getenv(variable);

    memset(to, 0, size);
    if (text)
        strncpy(to, text, size - 1);
}

static void read_all(struct pt_place *p)
{
    const char *follow = secure_getenv("POSIXTRACE_FOLLOW");

    memset(p, 0, sizeof *p);
    p->uid = geteuid();
    copy(p->variable, sizeof p->variable, "POSIXTRACE_DIR");
    copy(p->runtime, sizeof p->runtime, "XDG_RUNTIME_DIR");
    if (follow && strlen(follow) < sizeof p->follow)
        copy(p->follow, sizeof p->follow, "POSIXTRACE_FOLLOW");
}

/* Before anything of the program's runs; or with the first call of another library's
 * constructor that was earlier. */
__attribute__((constructor))
static void read_first(void)
{
    if (pt_load_acquire(&now))
        return;
    read_all(&first);
    pt_store_release(&now, (const struct pt_place *)&first);
}

/* As things are now; reread: the environment, too.  Without memory: as it was. */
static const struct pt_place *look(bool reread)
{
    const struct pt_place *old = pt_load_acquire(&now);
    struct pt_place *fresh;

    if (!reread && old->uid == geteuid())
        return old;
    fresh = pt_sys_pages(sizeof *fresh);
    if (!fresh)
        return old;
    if (reread)
        read_all(fresh);
    else
        memcpy(fresh, old, sizeof *fresh);
    fresh->uid = geteuid();
    if (memcmp(fresh, old, sizeof *fresh) == 0) {
        munmap(fresh, sizeof *fresh);
        return old;
    }
    pt_store_release(&now, (const struct pt_place *)fresh);
    return fresh;
}

const struct pt_place *pt_place(void)
{
    const uint64_t *fixed = pt_load_acquire(&fixed_word);

    read_first();
    if (fixed && pt_load_acquire(fixed) != 0)
        return pt_load_acquire(&now);
    return look(true);
}

void pt_place_fix(bool reread, uint64_t *fixed)
{
    if (pt_load_acquire(fixed) != 0)
        return;
    read_first();
    look(reread);
    pt_store_release(fixed, 1u);
    pt_store_release(&fixed_word, fixed);
}
