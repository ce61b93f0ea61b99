/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See caller_option.h. */
#include "input/caller_option.h"

#include <posixtrace/system.h>
#include <posixtrace/typed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

enum { TEXT = 4096, FIRST_ROOM = 64 };

/* The expression `event "PATTERN"`, so that a pattern means what it means for names of events. */
static int make_pattern(const char *text, posixtrace_expression_t **made)
{
    char expression[POSIXTRACE_EXPRESSION_MAX + 1], *to = stpcpy(expression, "event \"");
    const char *const end = expression + sizeof expression - 3;
    int error;

    for (; *text && to < end; *to++ = *text++)
        if (*text == '"' || *text == '\\')
            *to++ = '\\';
    if (*text || to > end)
        return tool_usage("option '--caller' has more than %d bytes",
                          (int)(end - expression) - (int)strlen("event \""));
    strcpy(to, "\"");
    error = posixtrace_expression_parse(expression, made, NULL);
    return error ? tool_usage("option '--caller': %s", strerror(error)) : EXIT_DONE;
}

int caller_option_add(struct caller_option *o, const char *text)
{
    int status;

    if (text[0] == '\0')
        return tool_usage("option '--caller' needs the name of a function, or a pattern");
    o->texts = tool_grow(o->texts, o->count + 1, sizeof *o->texts);
    o->patterns = tool_grow(o->patterns, o->count + 1, sizeof(posixtrace_expression_t *));
    status = make_pattern(text, &o->patterns[o->count]);
    if (status == EXIT_DONE)
        o->texts[o->count++] = text;
    return status;
}

void caller_option_free(struct caller_option *o)
{
    while (o->count > 0)
        posixtrace_expression_free(o->patterns[--o->count]);
    free(o->patterns);
    free(o->texts);
    free(o->threads);
    memset(o, 0, sizeof *o);
}

/* ---- addresses ---- */

static bool is_like(const struct caller_option *o, const char *text)
{
    for (size_t i = 0; i < o->count; i++)
        if (posixtrace_expression_decide(o->patterns[i], text, NULL) == 1)
            return true;
    return false;
}

static bool is_caller(struct caller_option *o, const struct posixtrace_event *e, uint64_t address)
{
    struct posixtrace_symbol symbol = { .name = NULL };
    char text[TEXT];
    bool found;

    o->callers++;
    o->mapped += sites_symbol(o->sites, e->pid, e->ns, address, &symbol);
    snprintf(text, sizeof text, "%.*s", (int)strcspn(symbol.name ? symbol.name : "", "@"),
             symbol.name ? symbol.name : "");
    found = symbol.name && is_like(o, text);
    if (!found) {
        sites_text(o->sites, e->pid, e->ns, address, text, sizeof text);
        found = is_like(o, text);
    }
    if (!found && !o->example[0])
        snprintf(o->example, sizeof o->example, "%.*s", SITES_TEXT - 1, text);
    o->found += found;
    return found;
}

static bool has_caller(struct caller_option *o, trace_id_t trid, const struct posixtrace_event *e)
{
    struct posixtrace_field_value value;

    if (posixtrace_event_field(trid, e, "caller", &value, sizeof value) != 0)
        return false;
    return value.field->kind <= POSIXTRACE_FIELD_HEX && value.count > 0 && value.integer != 0 &&
           is_caller(o, e, value.integer);
}

static bool has_frame(struct caller_option *o, const struct posixtrace_event *e)
{
    size_t count;
    bool found = false;

    if (!sites_stack(e, &count))
        return false;
    for (size_t i = 0; i < count && !found; i++)
        found = is_caller(o, e, sites_stack_address(e, i));
    return found;
}

/* ---- threads ---- */

static size_t place_of(const struct caller_option *o, pid_t pid, pid_t tid, uint64_t thread_id)
{
    uint64_t hash = ((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid) ^ thread_id;
    size_t at = (size_t)(hash * 0x9e3779b97f4a7c15u >> 20) & (o->room - 1);
    const struct caller_thread *t;

    for (;; at = (at + 1) & (o->room - 1)) {
        t = &o->threads[at];
        if (!t->used || (t->pid == pid && t->tid == tid && t->thread_id == thread_id))
            return at;
    }
}

static void make_room(struct caller_option *o)
{
    struct caller_thread *old = o->threads;
    size_t room = o->room;

    o->room = room ? 2 * room : FIRST_ROOM;
    o->threads = tool_grow(NULL, o->room, sizeof *o->threads);
    memset(o->threads, 0, o->room * sizeof *o->threads);
    for (size_t i = 0; i < room; i++)
        if (old[i].used)
            o->threads[place_of(o, old[i].pid, old[i].tid, old[i].thread_id)] = old[i];
    free(old);
}

static struct caller_thread *thread_of(struct caller_option *o, const struct posixtrace_event *e)
{
    uint64_t thread_id = e->tid ? 0 : e->thread_id;
    struct caller_thread *t;

    if (2 * o->thread_count >= o->room)
        make_room(o);
    t = &o->threads[place_of(o, e->pid, e->tid, thread_id)];
    if (!t->used) {
        *t = (struct caller_thread){ e->pid, e->tid, thread_id, .used = true };
        o->thread_count++;
    }
    return t;
}

/* ---- events ---- */

/* Does the type end a call, which the type before it begins? */
static bool ends_call(trace_event_id_t id)
{
    switch (id) {
    case POSIXTRACE_MUTEX_LOCKED:
    case POSIXTRACE_RWLOCK_LOCKED:
    case POSIXTRACE_COND_WOKEN:
    case POSIXTRACE_SEM_TAKEN:
    case POSIXTRACE_BARRIER_PASSED:
    case POSIXTRACE_SLEEP_DONE:
    case POSIXTRACE_IO_DONE:
    case POSIXTRACE_POLL_DONE:
    case POSIXTRACE_FILE_LOCKED:
    case POSIXTRACE_FUTEX_WOKEN:
    case POSIXTRACE_THREAD_JOINED:
    case POSIXTRACE_CHILD_WAITED:
    case POSIXTRACE_SIGNAL_TAKEN: return true;
    default: return false;
    }
}

static bool is_call(trace_event_id_t id)
{
    return id >= POSIXTRACE_MUTEX_LOCK && id <= POSIXTRACE_FUNCTION_EXIT &&
           id != POSIXTRACE_STACK && id != POSIXTRACE_DESCRIPTOR;
}

/* Of a thread's event. */
static bool keeps(struct caller_option *o, struct caller_thread *t, trace_id_t trid,
                  const struct posixtrace_event *e)
{
    uint64_t bit = UINT64_C(1) << (e->id & 63);
    bool kept;

    if (e->id == POSIXTRACE_STACK)
        return has_frame(o, e) || t->last;
    if (e->id == POSIXTRACE_FUNCTION_EXIT) {
        kept = t->functions & 1;
        t->functions >>= 1;
    } else if (ends_call(e->id)) {
        kept = t->kept & bit >> 1;
        t->kept &= ~(bit >> 1);
    } else {
        kept = has_caller(o, trid, e);
        if (is_call(e->id))
            t->kept = kept ? t->kept | bit : t->kept & ~bit;
        if (e->id == POSIXTRACE_FUNCTION_ENTER)
            t->functions = t->functions << 1 | kept;
    }
    if (is_call(e->id))
        t->last = kept;
    return kept;
}

bool caller_option_wants(struct caller_option *o, trace_id_t trid, const struct posixtrace_event *e)
{
    if (e->id == POSIX_TRACE_RESUME) { /* ends may be of other calls than those before */
        free(o->threads);
        o->threads = NULL;
        o->room = o->thread_count = 0;
        return false;
    }
    sites_open(o->sites, trid);
    return keeps(o, thread_of(o, e), trid, e);
}

void caller_option_warn(const struct caller_option *o, const struct log_file *log)
{
    char *pattern;

    if (o->count == 0 || o->found > 0)
        return;
    if (o->callers == 0) {
        tool_note("--caller: no event of %s that could be selected has a caller; the calls that "
                  "'posixtrace record --system CMD' records have one",
                  log->shown);
        return;
    }
    if (o->mapped == 0 && !o->sites->off) {
        tool_note("--caller: %s does not say which files were at its addresses; 'posixtrace record "
                  "--system CMD' notes it",
                  log->shown);
        return;
    }
    pattern = quote_copy(o->texts[0]);
    tool_note("--caller: no caller in %s is like %s%s; one of them is %s", log->shown, pattern,
              o->count > 1 ? " or the others" : "", quote(o->example));
    free(pattern);
}
