/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The names of a log's threads and processes; posixtrace/tables.h. */
#include <errno.h>
#include <string.h>

#include "analysis/tables/tables_state.h"

struct name {
    char text[16];
};

static struct pt_report_key thread_key(pid_t pid, pid_t tid, uint64_t thread_id)
{
    return (struct pt_report_key){ .a = (uint32_t)pid, .b = (uint32_t)tid, .c = thread_id };
}

static bool put_name(struct pt_report_map *map, struct pt_report_key key, const char text[16])
{
    struct name *name = pt_report_map_make(map, key, sizeof *name);

    if (name && !name->text[0])
        memcpy(name->text, text, sizeof name->text - 1);
    return name != NULL;
}

static bool put_thread(posixtrace_tables_t *t, const struct posixtrace_thread_info *th)
{
    if (th->tid == 0 || !th->name[0])
        return true;
    if (th->tid == th->pid && !put_name(&t->processes, thread_key(th->pid, 0, 0), th->name))
        return false;
    return put_name(&t->threads, thread_key(th->pid, th->tid, 0), th->name) &&
           put_name(&t->threads, thread_key(th->pid, th->tid, th->thread_id), th->name);
}

int pt_tables_read_names(posixtrace_tables_t *t)
{
    struct posixtrace_thread_info th;
    int unavailable = 0, error = posixtrace_threadlist_rewind(t->trid);

    while (!error) {
        error = posixtrace_threadlist_getnext(t->trid, &th, sizeof th, &unavailable);
        if (error || unavailable)
            break;
        if (!put_thread(t, &th))
            error = ENOMEM;
    }
    return error;
}

const char *pt_tables_thread(const posixtrace_tables_t *t, pid_t pid, pid_t tid, uint64_t thread_id)
{
    const struct name *name = pt_report_map_find(&t->threads, thread_key(pid, tid, thread_id));

    if (!name && thread_id != 0)
        name = pt_report_map_find(&t->threads, thread_key(pid, tid, 0));
    return name ? name->text : NULL;
}

const char *posixtrace_tables_process(const posixtrace_tables_t *t, pid_t pid)
{
    const struct name *name = t ? pt_report_map_find(&t->processes, thread_key(pid, 0, 0)) : NULL;

    return name ? name->text : NULL;
}
