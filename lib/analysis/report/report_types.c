/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See report_types.h. */
#include "analysis/report/report_types.h"

#include <string.h>
#include <posixtrace/report.h>
#include <posixtrace/system.h>

static const char *const kinds[] = {
    "lock", "condition", "semaphore", "barrier", "sleep", "I/O",
    "work", "file lock", "futex",     "thread",  "child", "signal"
};

const char *posixtrace_wait_text(unsigned kind)
{
    return kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : NULL;
}

/* clang-format off */
const struct pt_report_call pt_report_calls[] = {
    { POSIXTRACE_MUTEX_LOCK, "mutex_lock", "mutex_locked", "mutex_unlock", NULL,
      POSIXTRACE_WAIT_LOCK, PT_REPORT_OBJECT, 8 },
    { POSIXTRACE_RWLOCK_LOCK, "rwlock_lock", "rwlock_locked", "rwlock_unlock", NULL,
      POSIXTRACE_WAIT_LOCK, PT_REPORT_OBJECT, 8 },
    { POSIXTRACE_COND_WAIT, "cond_wait", "cond_woken", NULL, "cond_signal",
      POSIXTRACE_WAIT_CONDITION, PT_REPORT_OBJECT, 8 },
    { POSIXTRACE_SEM_WAIT, "sem_wait", "sem_taken", NULL, "sem_post",
      POSIXTRACE_WAIT_SEMAPHORE, PT_REPORT_OBJECT, 8 },
    { POSIXTRACE_BARRIER_WAIT, "barrier_wait", "barrier_passed", NULL, NULL,
      POSIXTRACE_WAIT_BARRIER, PT_REPORT_OBJECT, 8 },
    { POSIXTRACE_SLEEP, "sleep", "sleep_done", NULL, NULL,
      POSIXTRACE_WAIT_SLEEP, PT_REPORT_NOTHING, 16 },
    { POSIXTRACE_IO, "io", "io_done", NULL, NULL,
      POSIXTRACE_WAIT_IO, PT_REPORT_DESCRIPTOR, 8 },
    { POSIXTRACE_POLL, "poll", "poll_done", NULL, NULL,
      POSIXTRACE_WAIT_WORK, PT_REPORT_DESCRIPTOR, 24 },
    { POSIXTRACE_FILE_LOCK, "file_lock", "file_locked", NULL, NULL,
      POSIXTRACE_WAIT_FILE_LOCK, PT_REPORT_DESCRIPTOR, 16 },
    { POSIXTRACE_FUTEX_WAIT, "futex_wait", "futex_woken", NULL, NULL,
      POSIXTRACE_WAIT_FUTEX, PT_REPORT_OBJECT, 8 },
    { POSIXTRACE_THREAD_JOIN, "thread_join", "thread_joined", NULL, NULL,
      POSIXTRACE_WAIT_THREAD, PT_REPORT_OBJECT, 8 },
    { POSIXTRACE_CHILD_WAIT, "child_wait", "child_waited", NULL, NULL,
      POSIXTRACE_WAIT_CHILD, PT_REPORT_PROCESS, 8 },
    { POSIXTRACE_SIGNAL_WAIT, "signal_wait", "signal_taken", NULL, NULL,
      POSIXTRACE_WAIT_SIGNAL, PT_REPORT_NOTHING, 8 },
    { 0, NULL, NULL, NULL, NULL, 0, PT_REPORT_NOTHING, 0 }
};
/* clang-format on */

static const struct {
    const char *name; /* after "posixtrace_" */
    enum pt_report_role role;
} others[] = { { "switch_in", PT_REPORT_SWITCH_IN },         { "switch_out", PT_REPORT_SWITCH_OUT },
               { "switch_preempted", PT_REPORT_PREEMPTED },  { "cpu_time", PT_REPORT_CPU_TIME },
               { "thread_begin", PT_REPORT_THREAD_BEGIN },   { "thread_end", PT_REPORT_THREAD_END },
               { "signal_begin", PT_REPORT_SIGNAL_BEGIN },   { "signal_end", PT_REPORT_SIGNAL_END },
               { "descriptor", PT_REPORT_NAMES_DESCRIPTOR }, { "long_call", PT_REPORT_LONG_CALL },
               { "waiting", PT_REPORT_STILL_WAITS },         { "connection", PT_REPORT_CONNECTION },
               { "epoll_set", PT_REPORT_EPOLL_SET },         { "ready", PT_REPORT_FOUND_READY } };

/* Of a name after "posixtrace_". */
static void find_system(const char *name, struct pt_report_type *t)
{
    for (const struct pt_report_call *c = pt_report_calls; c->begin; c++) {
        t->role = strcmp(name, c->begin) == 0                 ? PT_REPORT_BEGIN
                  : strcmp(name, c->end) == 0                 ? PT_REPORT_END
                  : c->unlock && strcmp(name, c->unlock) == 0 ? PT_REPORT_UNLOCK
                  : c->wake && strcmp(name, c->wake) == 0     ? PT_REPORT_WAKE
                                                              : PT_REPORT_NO_ROLE;
        t->call = c;
        if (t->role != PT_REPORT_NO_ROLE)
            return;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name, others[i].name) == 0)
            t->role = others[i].role;
}

/* The length without "#2", which marks a further description of a name. */
static size_t plain_length(const char *name)
{
    size_t length = strlen(name), end = length;

    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    return end > 1 && end < length && name[end - 1] == '#' ? end - 1 : length;
}

static bool ends_with(const char *name, size_t length, const char *end, size_t *stem)
{
    size_t mark = strlen(end);

    *stem = length - mark;
    return length > mark && memcmp(name + length - mark, end, mark) == 0;
}

struct pt_report_type pt_report_type_of(const char *name)
{
    struct pt_report_type t = { .known = true };
    size_t length;

    if (!name)
        return t;
    length = plain_length(name);
    if (strncmp(name, "posixtrace_", 11) == 0)
        find_system(name + 11, &t);
    else if (ends_with(name, length, ":begin", &t.stem))
        t.role = PT_REPORT_PAIR_BEGIN;
    else if (ends_with(name, length, ":end", &t.stem))
        t.role = PT_REPORT_PAIR_END;
    return t;
}

uint64_t pt_report_u64(const struct posixtrace_event *e, size_t at)
{
    uint64_t value = 0;

    if (e->data_len >= at + sizeof value)
        memcpy(&value, (const char *)e->data + at, sizeof value);
    return value;
}

uint32_t pt_report_u32(const struct posixtrace_event *e, size_t at)
{
    uint32_t value = 0;

    if (e->data_len >= at + sizeof value)
        memcpy(&value, (const char *)e->data + at, sizeof value);
    return value;
}
