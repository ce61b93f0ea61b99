/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The threads of a trace, by their numbers. */
#include <stdlib.h>
#include "analysis/format/folded/folded.h"

static size_t cell_of(const struct pt_folded_writer *f, pid_t pid, pid_t tid)
{
    size_t i = ((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid) * 0x9e3779b97f4a7c15ull >> 32;

    i &= f->hash_room - 1;
    while (f->hash[i] && (f->hash[i]->tid != tid || f->hash[i]->pid != pid))
        i = (i + 1) & (f->hash_room - 1);
    return i;
}

static bool grow(struct pt_folded_writer *f)
{
    size_t room = f->hash_room ? f->hash_room * 2 : 64;
    struct pt_folded_thread **hash = calloc(room, sizeof *hash), **old = f->hash;
    size_t had = f->hash_room;

    if (!hash)
        return false;
    f->hash = hash;
    f->hash_room = room;
    for (size_t i = 0; i < had; i++)
        if (old[i])
            f->hash[cell_of(f, old[i]->pid, old[i]->tid)] = old[i];
    free(old);
    return true;
}

struct pt_folded_thread *pt_folded_thread_of(struct pt_folded_writer *f,
                                             const struct posixtrace_event *e)
{
    struct pt_folded_thread *t;
    size_t i;

    if (f->count * 2 >= f->hash_room && !grow(f))
        return NULL;
    i = cell_of(f, e->pid, e->tid);
    if (!f->hash[i]) {
        f->hash[i] = calloc(1, sizeof *t);
        f->count += f->hash[i] != NULL;
        if (f->hash[i])
            *f->hash[i] = (struct pt_folded_thread){ .pid = e->pid,
                                                     .tid = e->tid,
                                                     .out = INT64_MIN };
    }
    t = f->hash[i];
    if (t && e->thread_name[0])
        snprintf(t->name, sizeof t->name, "%s", e->thread_name);
    return t;
}

const struct pt_folded_thread *pt_folded_find(const struct pt_folded_writer *f, pid_t pid,
                                              pid_t tid)
{
    return f->hash[cell_of(f, pid, tid)];
}
