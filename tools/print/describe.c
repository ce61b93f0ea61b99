/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The data of system events in words.  Data comes from a file and may have any form: if it does not
 * have the size and contents of its type, it is shown as bytes.
 */
#include "print/print.h"

#include <inttypes.h>
#include <limits.h>
#include <posixtrace/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"
#include "common/time_parse.h"
#include "common/units.h"

enum { NAMES_SHOWN = 4 };

struct text {
    char *to;
    size_t left;
    bool any; /* for add_more() */
    struct sites *sites;
};

static void add(struct text *t, const char *words)
{
    size_t length = strlen(words);

    if (length >= t->left)
        length = t->left - 1;
    memcpy(t->to, words, length);
    t->to += length;
    t->left -= length;
    *t->to = '\0';
}

/* Names of the types in a set, the first few of them; false: not a set. */
static bool add_set(struct text *t, const struct log_type *types, size_t count,
                    const trace_event_set_t *set)
{
    size_t members = 0;
    char more[48];

    for (size_t i = 0; i < count; i++) {
        int in = 0;

        if (posix_trace_eventset_ismember(types[i].id, set, &in) != 0)
            return false;
        if (!in)
            continue;
        if (members++ < NAMES_SHOWN) {
            add(t, members > 1 ? ", " : "");
            add(t, quote(types[i].name));
        }
    }
    if (members == 0)
        add(t, "nothing");
    if (members > NAMES_SHOWN) {
        snprintf(more, sizeof more, " and %zu more", members - NAMES_SHOWN);
        add(t, more);
    }
    return true;
}

static bool describe_sets(const struct log_file *log, const struct posixtrace_event *e,
                          struct text *t)
{
    trace_event_set_t sets[2];
    size_t wanted = e->id == POSIX_TRACE_FILTER ? 2 : 1, count;
    struct log_type *types;
    bool good = true;

    if (e->data_len != wanted * sizeof sets[0] || log_file_types(log, &types, &count) != EXIT_DONE)
        return false;
    memcpy(sets, e->data, e->data_len);
    add(t, "ignores ");
    good = add_set(t, types, count, &sets[wanted - 1]);
    if (good && wanted == 2) {
        add(t, "; before: ");
        good = add_set(t, types, count, &sets[0]);
    }
    free(types);
    return good;
}

bool describe_is_own(const struct posixtrace_event *e)
{
    return e->id >= POSIXTRACE_SWITCH_IN && e->id < POSIX_TRACE_UNNAMED_USEREVENT &&
           strncmp(e->name, "posixtrace_", 11) == 0;
}

/* When something is due, seen from the event. */
static void due_words(const struct posixtrace_event *e, int64_t due, char *to, size_t size)
{
    uint64_t away = due < e->ns ? (uint64_t)e->ns - (uint64_t)due : (uint64_t)due - (uint64_t)e->ns;

    if (due == 0)
        snprintf(to, size, "due never");
    else if (away > INT64_MAX)
        snprintf(to, size, "due %" PRIi64, due);
    else if (due < e->ns)
        snprintf(to, size, "due %s ago", when_span((int64_t)away));
    else
        snprintf(to, size, "due in %s", when_span((int64_t)away));
}

static void number_words(const struct posixtrace_event *e, uint32_t number, char *to, size_t size)
{
    if (e->id <= POSIXTRACE_SWITCH_PREEMPTED)
        snprintf(to, size, "cpu %" PRIu32, number);
    else if (number <= INT_MAX && sigabbrev_np((int)number))
        snprintf(to, size, "SIG%s", sigabbrev_np((int)number));
    else
        snprintf(to, size, "signal %" PRIu32, number);
}

/* How long a thread had run until then; *to of 120 bytes. */
static bool run_words(const struct posixtrace_event *e, char *to)
{
    uint64_t data[2];
    int n;

    if (e->data_len != sizeof data)
        return false;
    memcpy(data, e->data, sizeof data);
    if (data[0] > INT64_MAX / 2)
        return false;
    n = snprintf(to, 60, "ran %s", when_span((int64_t)data[0]));
    if (data[1] > INT64_MAX / 2)
        snprintf(to + n, 60, " or more");
    else if (data[1])
        snprintf(to + n, 60, ", or up to %s more", when_span((int64_t)data[1]));
    return true;
}

static bool has_due(trace_event_id_t id)
{
    return id == POSIXTRACE_SLEEP || id == POSIXTRACE_SLEEP_DONE || id == POSIXTRACE_TIMER_SET;
}

/* Its second number is an error. */
static bool has_error(trace_event_id_t id)
{
    return id == POSIXTRACE_MUTEX_LOCKED || id == POSIXTRACE_RWLOCK_LOCKED ||
           id == POSIXTRACE_COND_WOKEN || id == POSIXTRACE_SEM_TAKEN ||
           id == POSIXTRACE_BARRIER_PASSED;
}

static void add_more(struct text *t, const char *words)
{
    add(t, t->any && words[0] ? ", " : "");
    add(t, words);
    t->any |= words[0] != '\0';
}

/* An object, then an error or a due time, then the caller.  Logs of 0.1 have no callers. */
static bool describe_call(const struct posixtrace_event *e, struct text *t)
{
    const size_t size = sizeof(uint64_t);
    size_t numbers = e->data_len / size;
    bool second = has_due(e->id) || has_error(e->id);
    uint64_t data[3] = { 0, 0, 0 };
    char words[120] = "";
    int64_t value;

    if (e->data_len % size != 0 || numbers < 1 || numbers > (has_due(e->id) ? 3 : 2))
        return false;
    memcpy(data, e->data, e->data_len);
    value = (int64_t)data[1];
    if (e->id != POSIXTRACE_SLEEP && e->id != POSIXTRACE_SLEEP_DONE)
        add_more(t, sites_data(t->sites, e->pid, e->ns, data[0]));
    words[0] = '\0';
    if (has_due(e->id) && numbers > 1)
        due_words(e, value, words, sizeof words);
    else if (has_error(e->id) && value == (int)value && value != 0)
        snprintf(words, sizeof words, "%s", strerror((int)value));
    else if (has_error(e->id) && value != 0)
        snprintf(words, sizeof words, "error %" PRIi64, value);
    add_more(t, words);
    if (numbers == (second ? 3 : 2)) {
        add_more(t, "called from ");
        add(t, sites_code(t->sites, e->pid, e->ns, data[numbers - 1]));
    }
    return true;
}

/* The functions, the innermost first. */
static bool describe_stack(const struct posixtrace_event *e, struct text *t)
{
    size_t count;

    if (!sites_stack(e, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        add(t, i ? " < " : "");
        add(t, sites_code(t->sites, e->pid, e->ns, sites_stack_address(e, i)));
    }
    return true;
}

struct long_call { /* the data of one */
    uint32_t type, call;
    uint64_t object;
    int64_t result, duration;
    uint64_t caller;
};

/* "90.7ms in sem_wait of 0x1000, called from main (app.c:12)": the length first, since a line of a
 * terminal may be cut. */
static bool describe_long(const struct posixtrace_event *e, struct text *t)
{
    const char *type, *call;
    struct long_call c;
    char number[40];

    if (e->data_len != sizeof c)
        return false;
    memcpy(&c, e->data, sizeof c);
    type = posixtrace_system_text(c.type);
    call = posixtrace_call_text(c.call);
    if (!type || strncmp(type, "posixtrace_", 11) != 0)
        return false;
    add_more(t, units_time(c.duration));
    add(t, " in ");
    add(t, call ? call : type + 11);
    if (c.type != POSIXTRACE_SLEEP && c.type != POSIXTRACE_SIGNAL_WAIT) {
        add(t, " of ");
        add(t, sites_object(t->sites, e->pid, e->ns, c.object));
    }
    if (call) {
        snprintf(number, sizeof number, "result %" PRIi64, c.result);
        add_more(t, number);
    } else if (has_error(c.type + 1) && c.result == (int)c.result && c.result != 0) {
        add_more(t, strerror((int)c.result));
    }
    add_more(t, "called from ");
    add(t, sites_code(t->sites, e->pid, e->ns, c.caller));
    return true;
}

static bool describe_own(const struct posixtrace_event *e, struct text *t)
{
    char words[120] = "";
    uint32_t number;

    if (e->id == POSIXTRACE_STACK)
        return describe_stack(e, t);
    if (e->id == POSIXTRACE_LONG_CALL)
        return describe_long(e, t);
    if (e->id == POSIXTRACE_CPU_TIME) {
        if (!run_words(e, words))
            return false;
        add(t, words);
        return true;
    }
    if (e->id > POSIXTRACE_SIGNAL_END)
        return false; /* by its description */
    if (e->id > POSIXTRACE_SWITCH_PREEMPTED && e->id < POSIXTRACE_SIGNAL_BEGIN)
        return describe_call(e, t);
    if (e->data_len != sizeof number)
        return false;
    memcpy(&number, e->data, sizeof number);
    number_words(e, number, words, sizeof words);
    add(t, words);
    return true;
}

bool describe_event(const struct print *p, const struct posixtrace_event *e, char *to, size_t size)
{
    struct text t = { to, size, false, p->from->sites };
    int number;

    *to = '\0';
    if (e->truncation)
        return false;
    switch (e->id) {
    case POSIX_TRACE_START:
    case POSIX_TRACE_FILTER: return describe_sets(p->from->log, e, &t);
    case POSIX_TRACE_STOP:
    case POSIX_TRACE_ERROR:
        if (e->data_len != sizeof number)
            return false;
        memcpy(&number, e->data, sizeof number);
        if (e->id == POSIX_TRACE_ERROR)
            add(&t, strerror(number));
        else
            add(&t, number ? "automatic: the stream was full" : "by request");
        return true;
    default: return describe_is_own(e) && describe_own(e, &t);
    }
}
