/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See place.h.  A place is immutable; another one is a new object, which one store
 * publishes.  Of two threads that fix it at once both publish the same, and the old
 * one stays, since a thread may be reading it: some pages, if the program changes its
 * environment between calls.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/sys.h"
#include "place/place.h"

static struct pt_place first;
static const struct pt_place *now;
static uint64_t *fixed_word;

/* False: it does not fit, and is cut. */
static bool copy(char *to, size_t size, const char *variable)
{
    const char *text = secure_getenv(variable);

    memset(to, 0, size);
    if (text)
        strncpy(to, text, size - 1);
    return !text || strlen(text) < size;
}

/* Makes the given path absolute; 0 or a negative errno. */
static int resolve(struct pt_place *p)
{
    char folder[sizeof p->variable] = "";
    int saved = errno, e = 0;

    if (p->given[0] && p->given[0] != '/') {
        if (!getcwd(folder, sizeof folder - 1))
            e = errno == ERANGE ? -ENAMETOOLONG : -errno;
        else if (folder[0] != '/')
            e = -ENOENT;
        else if (strlen(folder) + 1 + strlen(p->given) >= sizeof p->variable)
            e = -ENAMETOOLONG;
        else
            strcat(folder, "/");
    }
    stpcpy(stpcpy(p->variable, e == 0 ? folder : ""), p->given);
    errno = saved;
    return e;
}

/* old: of this process, or NULL; the same variable names the same directory. */
static void read_all(struct pt_place *p, uid_t uid, const struct pt_place *old)
{
    static const char below[] = "/posixtrace";
    bool fits;

    memset(p, 0, sizeof *p);
    p->uid = uid;
    fits = copy(p->given, sizeof p->given, "POSIXTRACE_DIR");
    if (old && old->error != -ENAMETOOLONG && fits && strcmp(p->given, old->given) == 0) {
        memcpy(p->variable, old->variable, sizeof p->variable);
        p->error = old->error;
    } else {
        p->error = resolve(p);
    }
    if (!fits)
        p->error = -ENAMETOOLONG;
    if (!copy(p->runtime, sizeof p->runtime - sizeof below, "XDG_RUNTIME_DIR"))
        memset(p->runtime, 0, sizeof p->runtime);
    if (!copy(p->follow, sizeof p->follow, "POSIXTRACE_FOLLOW"))
        memset(p->follow, 0, sizeof p->follow);
}

/* Before anything of the program's runs; or with the first call of another library's
 * constructor that was earlier. */
__attribute__((constructor)) static void read_first(void)
{
    if (pt_load_acquire(&now))
        return;
    read_all(&first, geteuid(), NULL);
    pt_store_release(&now, (const struct pt_place *)&first);
}

/* The present place for that user; reread: reads the environment again, too.  Without memory: the
 * old one. */
static const struct pt_place *look(bool reread, uid_t uid)
{
    const struct pt_place *old = pt_load_acquire(&now);
    struct pt_place fresh, *made;

    if (!reread && old->uid == uid)
        return old;
    if (reread)
        read_all(&fresh, uid, old);
    else
        memcpy(&fresh, old, sizeof fresh);
    fresh.uid = uid;
    made = memcmp(&fresh, old, sizeof fresh) == 0 ? NULL : pt_sys_pages(sizeof fresh);
    if (!made)
        return old;
    memcpy(made, &fresh, sizeof fresh);
    pt_store_release(&now, (const struct pt_place *)made);
    return made;
}

const struct pt_place *pt_place(void)
{
    const uint64_t *fixed = pt_load_acquire(&fixed_word);

    read_first();
    if (fixed && pt_load_acquire(fixed) != 0)
        return pt_load_acquire(&now);
    return look(true, geteuid());
}

uid_t pt_place_fix(bool reread, uint64_t *fixed)
{
    uid_t uid = geteuid();

    if (pt_load_acquire(fixed) != 0)
        return uid;
    read_first();
    look(reread, uid);
    pt_store_release(fixed, 1u);
    pt_store_release(&fixed_word, fixed);
    return uid;
}
