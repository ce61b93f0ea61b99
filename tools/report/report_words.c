/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Words for rows; see report.h.
 */
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/tool.h"
#include "common/units.h"
#include "common/utf8.h"
#include "input/logs.h"

enum { BUFFERS = 8, SIZE = 400, SECOND = 1000000000 };

static char *next_buffer(void)
{
    static char buffers[BUFFERS][SIZE];
    static unsigned next;

    return buffers[next++ % BUFFERS];
}

/* "log:", or nothing where there is one log; what it took. */
static size_t put_log(const struct report_part *p, char *text)
{
    char shown[SIZE / 2];
    size_t columns;

    if (!p->label[0])
        return 0;
    snprintf(shown, sizeof shown, "%s", unquoted(p->label));
    *utf8_cut_here(shown, shown + strlen(shown), LOGS_LABEL, &columns) = '\0';
    return (size_t)snprintf(text, SIZE, "%s:", shown);
}

static void put_thread(char *text, size_t size, const struct posixtrace_report_thread *t)
{
    snprintf(text, size, "%s%s%d", unquoted(t->name), t->name[0] ? "/" : "", (int)t->tid);
}

const char *report_thread_label(const struct report_part *p,
                                const struct posixtrace_report_thread *t)
{
    char *text = next_buffer();
    size_t used = put_log(p, text);

    put_thread(text + used, SIZE - used, t);
    return text;
}

const char *report_tid_label(const struct report_part *p, pid_t pid, pid_t tid)
{
    const struct posixtrace_report_thread *t;
    char *text = next_buffer();

    snprintf(text, SIZE, "%d", (int)tid);
    for (size_t i = 0; (t = posixtrace_report_thread(p->report, i)) != NULL; i++) {
        if (t->tid == tid && (pid == 0 || t->pid == pid)) {
            put_thread(text, SIZE, t);
            break;
        }
    }
    return text;
}

static void put_label(const struct report_part *p, char *text, size_t size,
                      const struct posixtrace_report_object *o)
{
    char thread[SITES_TEXT] = "";

    if (o->is_descriptor && o->name[0])
        snprintf(text, size, "%s%s", o->kind == POSIXTRACE_WAIT_FILE_LOCK ? "lock of " : "",
                 unquoted(o->name));
    else if (o->is_descriptor && (int64_t)o->object < 0 && o->kind == POSIXTRACE_WAIT_IO)
        snprintf(text, size, "paths");
    else if (o->is_descriptor && (int64_t)o->object < 0)
        snprintf(text, size, "poll and select");
    else if (o->is_descriptor)
        snprintf(text, size, "descriptor %" PRIi64, (int64_t)o->object);
    else if (o->kind == POSIXTRACE_WAIT_CHILD && (int64_t)o->object > 0)
        snprintf(text, size, "process %" PRIi64, (int64_t)o->object);
    else if (o->kind == POSIXTRACE_WAIT_CHILD)
        snprintf(text, size, "any");
    else if (o->kind == POSIXTRACE_WAIT_SLEEP || o->kind == POSIXTRACE_WAIT_SIGNAL)
        text[0] = '\0';
    else if (o->kind != POSIXTRACE_WAIT_THREAD ||
             sites_thread(p->sites, o->pid, o->object, thread) == 0)
        snprintf(text, size, "%s", sites_data(p->sites, o->pid, o->longest_at_ns, o->object));
    if (thread[0])
        snprintf(text, size, "%s", thread);
}

const char *report_object_name(const struct report_view *v, const struct report_part *p,
                               enum report_section section,
                               const struct posixtrace_report_object *o, bool process)
{
    const char *kind = "";
    char *text = next_buffer(), label[SIZE - 64], number[16] = "";
    size_t used = put_log(p, text);

    put_label(p, label, sizeof label, o);
    if (section == REPORT_WAITS)
        kind = posixtrace_wait_text(o->kind);
    if (process && v->processes > 1)
        snprintf(number, sizeof number, " (%d)", (int)o->pid);
    snprintf(text + used, SIZE - used, "%s%s%s%s", kind, *kind && *label ? " " : "", label, number);
    return text;
}

const char *report_when(const struct report_view *v, const struct report_part *p, int64_t ns)
{
    char *text = next_buffer();
    int64_t origin = v->several ? p->log->info.first_ns : v->origin;
    uint64_t after = ns > origin ? (uint64_t)ns - (uint64_t)origin : 0;

    snprintf(text, SIZE, "+%" PRIu64 ".%09" PRIu64 "s", after / SECOND, after % SECOND);
    return text;
}

struct share {
    const char *name;
    int64_t ns;
};

static void put_share(struct share *list, size_t *count, const char *name, int64_t ns)
{
    size_t at = *count;

    if (ns <= 0)
        return;
    for (; at > 0 && list[at - 1].ns < ns; at--)
        list[at] = list[at - 1];
    list[at] = (struct share){ name, ns };
    ++*count;
}

const char *report_shares(const struct posixtrace_report_thread *t, bool all, size_t most)
{
    struct share list[POSIXTRACE_WAIT_KINDS + 4];
    char *text = next_buffer();
    size_t count = 0, used = 0;

    for (unsigned k = 0; posixtrace_wait_text(k); k++)
        put_share(list, &count, posixtrace_wait_text(k), t->wait_ns[k]);
    put_share(list, &count, t->by_switches ? "other waits" : "no processor", t->unnamed_ns);
    if (all) {
        put_share(list, &count, "on processor", t->run_ns);
        put_share(list, &count, "runnable", t->runnable_ns);
        put_share(list, &count, "unknown", t->unknown_ns);
    }
    text[0] = '\0';
    for (size_t i = 0; i < count && i < most && used < SIZE; i++) {
        used += (size_t)snprintf(text + used, SIZE - used, "%s%s %s", i ? ", " : "", list[i].name,
                                 units_percent((double)list[i].ns, (double)t->total_ns));
    }
    return text;
}
