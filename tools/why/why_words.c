/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Words for segments; see why.h.
 */
#include "why/why.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <posixtrace/system.h>

#include "common/tool.h"
#include "common/units.h"

enum { BUFFERS = 16, SIZE = 320, SECOND = 1000000000 };

static char *next_buffer(void)
{
    static char buffers[BUFFERS][SIZE];
    static unsigned next;

    return buffers[next++ % BUFFERS];
}

void why_add(char *text, size_t size, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

const char *why_thread(const struct why_view *v, pid_t pid, pid_t tid)
{
    const char *name = posixtrace_why_thread_name(v->why, pid, tid);
    char *text = next_buffer();

    snprintf(text, SIZE, "%s%s%s%s%d", v->label ? unquoted(v->label) : "",
             v->label && v->label[0] ? ":" : "", unquoted(name), name[0] ? "/" : "", (int)tid);
    return text;
}

const char *why_code(const struct why_view *v, pid_t pid, int64_t ns, uint64_t address)
{
    return sites_code(v->sites, pid, ns ? ns : v->summary->last_ns, address);
}

const char *why_data(const struct why_view *v, pid_t pid, int64_t ns, uint64_t address)
{
    return sites_data(v->sites, pid, ns ? ns : v->summary->last_ns, address);
}

const char *why_when(const struct why_view *v, int64_t ns)
{
    char *text = next_buffer();
    uint64_t after = ns > v->origin ? (uint64_t)ns - (uint64_t)v->origin : 0;

    snprintf(text, SIZE, "+%" PRIu64 ".%09" PRIu64 "s", after / SECOND, after % SECOND);
    return text;
}

const char *why_exact(int64_t ns)
{
    char *text = next_buffer();

    snprintf(text, SIZE, "%s ns", units_count((uint64_t)ns));
    return text;
}

const char *why_percent(int64_t part, int64_t whole)
{
    double percent = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
    char *text = next_buffer();

    snprintf(text, SIZE, percent > 0 && percent < 1 ? "<1 %%" : "%.0f %%", percent);
    return text;
}

const char *why_state_word(enum posixtrace_why_state state)
{
    static const char *const words[] = { "run", "runnable", "wait", "off", "ended", "unknown" };

    return words[state];
}

const char *why_reason_word(enum posixtrace_why_reason reason)
{
    static const char *const words[] = { "", "lost", "no switches", "left out", "no handover" };

    return words[reason];
}

const char *why_relation_word(enum posixtrace_why_relation relation)
{
    static const char *const words[] = { "",           "holds",     "unlocked",
                                         "ran",        "signals",   "signalled",
                                         "is awaited", "elsewhere", "not recorded" };

    return words[relation];
}

/* ---- segments ---- */

static void put_descriptor(char text[WHY_TEXT], const struct posixtrace_why_segment *s)
{
    const char *call = posixtrace_call_text(s->call);

    snprintf(text, WHY_TEXT, "%s", call ? call : posixtrace_wait_text(s->kind));
    if (s->name[0])
        why_add(text, WHY_TEXT, " of %.200s", unquoted(s->name));
    else if ((int64_t)s->object >= 0)
        why_add(text, WHY_TEXT, " of descriptor %" PRIi64, (int64_t)s->object);
}

void why_put_object(char text[WHY_TEXT], const struct why_view *v,
                    const struct posixtrace_why_segment *s)
{
    const char *kind = posixtrace_wait_text(s->kind);

    if (s->is_descriptor)
        put_descriptor(text, s);
    else if (s->kind == POSIXTRACE_WAIT_CHILD && (int64_t)s->object > 0)
        snprintf(text, WHY_TEXT, "the end of process %" PRIi64, (int64_t)s->object);
    else if (s->kind == POSIXTRACE_WAIT_CHILD)
        snprintf(text, WHY_TEXT, "the end of a child process");
    else if (s->kind == POSIXTRACE_WAIT_THREAD && s->relation == POSIXTRACE_WHY_IS_AWAITED)
        snprintf(text, WHY_TEXT, "the end of %s", why_thread(v, s->other_pid, s->other_tid));
    else if (s->kind == POSIXTRACE_WAIT_THREAD)
        snprintf(text, WHY_TEXT, "the end of a thread");
    else if (s->has_object)
        snprintf(text, WHY_TEXT, "%s %s", kind, why_data(v, s->pid, s->begin_ns, s->object));
    else
        snprintf(text, WHY_TEXT, "%s", kind);
}

static void put(char text[WHY_TEXT], const char *words, const char *name)
{
    why_add(text, WHY_TEXT, "%s%s", words, name);
}

static const char *other(const struct why_view *v, const struct posixtrace_why_segment *s)
{
    return s->other_tid ? why_thread(v, s->other_pid, s->other_tid) : "different threads";
}

static void put_relation(char text[WHY_TEXT], const struct why_view *v,
                         const struct posixtrace_why_segment *s)
{
    static const char *const words[] = {
        [POSIXTRACE_WHY_HOLDS] = "held by ",
        [POSIXTRACE_WHY_UNLOCKED] = "after it was unlocked by ",
        [POSIXTRACE_WHY_SIGNALS] = "signalled by ",
        [POSIXTRACE_WHY_SIGNALLED] = "after it was signalled by ",
        [POSIXTRACE_WHY_ELSEWHERE] = "signalled at this address in another process, by "
    };

    static const char *const calls[] = { [POSIXTRACE_WHY_SIGNALS] = "ended by a call of ",
                                         [POSIXTRACE_WHY_SIGNALLED] = "after a call of " };

    if (s->relation == POSIXTRACE_WHY_IS_AWAITED)
        return;
    if (s->relation == POSIXTRACE_WHY_NOT_RECORDED) {
        put(text, ", no signal recorded at its address meanwhile", "");
        return;
    }
    if (s->relation == POSIXTRACE_WHY_NO_OTHER) {
        if (s->signals > 0 && s->kind == POSIXTRACE_WAIT_IO)
            put(text, ", to which several threads wrote, or from which they read", "");
        else if (s->signals > 0)
            put(text, ", signalled by several threads", "");
        else if (!s->details_left_out &&
                 (s->kind == POSIXTRACE_WAIT_CONDITION || s->kind == POSIXTRACE_WAIT_SEMAPHORE))
            put(text, ", not signalled", "");
        return;
    }
    put(text, ", ", s->kind == POSIXTRACE_WAIT_IO ? calls[s->relation] : words[s->relation]);
    put(text, "", other(v, s));
    if (s->other_caller)
        put(text, s->relation == POSIXTRACE_WHY_HOLDS ? ", locked at " : " at ",
            why_code(v, s->other_pid, s->other_ns, s->other_caller));
}

static void put_wait(char text[WHY_TEXT], const struct why_view *v,
                     const struct posixtrace_why_segment *s)
{
    char object[WHY_TEXT];

    why_put_object(object, v, s);
    snprintf(text, WHY_TEXT, "waits: ");
    put(text, object, "");
    if (s->caller)
        put(text, " at ", why_code(v, s->pid, s->begin_ns, s->caller));
    put_relation(text, v, s);
    if (s->deadlock)
        put(text, ": a deadlock", "");
    if (s->details_left_out)
        put(text, " (details left out)", "");
}

static const char *unknown_words(const struct posixtrace_why_segment *s)
{
    switch (s->reason) {
    case POSIXTRACE_WHY_NO_SWITCH: return "unknown: in no recorded call, without context switches";
    case POSIXTRACE_WHY_LEFT_OUT: return "unknown: details left out";
    case POSIXTRACE_WHY_NO_HANDOVER:
        return "unknown: nothing says when it was handed to this thread, which meanwhile:";
    default: return "unknown: events were lost, or not recorded";
    }
}

void why_put_segment(char text[WHY_TEXT], const struct why_view *v,
                     const struct posixtrace_why_segment *s)
{
    switch (s->state) {
    case POSIXTRACE_WHY_RUN: snprintf(text, WHY_TEXT, "on a processor"); break;
    case POSIXTRACE_WHY_RUNNABLE:
        snprintf(text, WHY_TEXT, "preempted; %s ran instead",
                 s->relation == POSIXTRACE_WHY_RAN ? other(v, s) : "no thread of the log");
        break;
    case POSIXTRACE_WHY_WAIT: put_wait(text, v, s); break;
    case POSIXTRACE_WHY_OFF:
        snprintf(text, WHY_TEXT, "off the processor, in no recorded call");
        break;
    case POSIXTRACE_WHY_ENDED: snprintf(text, WHY_TEXT, "the thread had ended"); break;
    case POSIXTRACE_WHY_UNKNOWN: snprintf(text, WHY_TEXT, "%s", unknown_words(s)); break;
    }
}
