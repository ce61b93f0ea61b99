/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What an event type is in a timeline, found out once, when its first event comes: from
 * the option pair; the calls of posixtrace/system.h; or its name, which ends in one of
 *
 *     begin, enter, entry        end, exit
 *
 * after one of the characters  : . _ - / and space, and a label before that.
 */
#include <errno.h>
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/timeline/timeline_state.h"

static const struct call {
    const char *begin, *end, *label;
} calls[] = {
    { "posixtrace_mutex_lock", "posixtrace_mutex_locked", "mutex_lock" },
    { "posixtrace_rwlock_lock", "posixtrace_rwlock_locked", "rwlock_lock" },
    { "posixtrace_cond_wait", "posixtrace_cond_woken", "cond_wait" },
    { "posixtrace_sem_wait", "posixtrace_sem_taken", "sem_wait" },
    { "posixtrace_barrier_wait", "posixtrace_barrier_passed", "barrier_wait" },
    { "posixtrace_sleep", "posixtrace_sleep_done", "sleep" },
    { "posixtrace_io", "posixtrace_io_done", "io" },
    { "posixtrace_poll", "posixtrace_poll_done", "poll" },
    { "posixtrace_file_lock", "posixtrace_file_locked", "file_lock" },
    { "posixtrace_futex_wait", "posixtrace_futex_woken", "futex_wait" },
    { "posixtrace_thread_join", "posixtrace_thread_joined", "thread_join" },
    { "posixtrace_child_wait", "posixtrace_child_waited", "child_wait" },
    { "posixtrace_signal_wait", "posixtrace_signal_taken", "signal_wait" },
    { "posixtrace_function_enter", "posixtrace_function_exit", "function" },
    { "posixtrace_thread_begin", "posixtrace_thread_end", "thread" },
    { "posixtrace_signal_begin", "posixtrace_signal_end", "signal" },
};

static const struct {
    const char *name;
    uint8_t role;
} roles[] = {
    { "posixtrace_long_call", PT_TL_LONG_CALL },
    { "posixtrace_waiting", PT_TL_STILL_WAITS },
    { "posixtrace_thread_begin", PT_TL_BEGINS_THREAD },
    { "posixtrace_thread_end", PT_TL_ENDS_THREAD },
    { "posixtrace_switch_in", PT_TL_IN },
    { "posixtrace_switch_out", PT_TL_OUT },
    { "posixtrace_switch_preempted", PT_TL_PREEMPTED },
};

static bool no_memory(struct pt_timeline *tl)
{
    pt_job_fail(tl->job, ENOMEM, "no memory for one more event type");
    return false;
}

/* The label of that text, made if it is new. */
static bool label_of(struct pt_timeline *tl, const char *text, size_t length, int32_t *label)
{
    char **labels = tl->labels;
    uint32_t i = 0;

    while (i < tl->label_count &&
           (strncmp(labels[i], text, length) != 0 || labels[i][length] != '\0'))
        i++;
    *label = (int32_t)i;
    if (i < tl->label_count)
        return true;
    if (i == tl->label_room) {
        tl->label_room = 2 * i + 64;
        labels = realloc(labels, tl->label_room * sizeof *labels);
        if (!labels)
            return no_memory(tl);
        tl->labels = labels;
    }
    labels[i] = strndup(text, length);
    if (!labels[i])
        return no_memory(tl);
    tl->label_count++;
    return true;
}

/* Sets label, if name is one of the given event, and it has none yet. */
static bool take(struct pt_timeline *tl, const struct pt_tl_type *t, const char *event,
                 const char *label, int32_t *to)
{
    return *to >= 0 || strcmp(t->name, event) != 0 || label_of(tl, label, strlen(label), to);
}

static bool by_option(struct pt_timeline *tl, struct pt_tl_type *t)
{
    for (unsigned i = 0; i < tl->option_count; i++) {
        struct pt_tl_option *o = &tl->options[i];

        if (o->what != PT_TL_PAIR) {
            if (strcmp(t->name, o->event) == 0)
                t->options |= (uint64_t)1 << i;
            continue;
        }
        if (strcmp(t->name, o->event) == 0 || strcmp(t->name, o->field) == 0)
            o->used = true;
        if (!take(tl, t, o->event, o->label, &t->begin) ||
            !take(tl, t, o->field, o->label, &t->end))
            return false;
    }
    return true;
}

static bool by_call(struct pt_timeline *tl, struct pt_tl_type *t)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!take(tl, t, calls[i].begin, calls[i].label, &t->begin) ||
            !take(tl, t, calls[i].end, calls[i].label, &t->end))
            return false;
    return true;
}

int32_t pt_tl_call_label(struct pt_timeline *tl, uint32_t id)
{
    const char *name = posixtrace_system_text(id);
    int32_t label = -1;

    for (size_t i = 0; name && i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].begin, name) == 0 &&
            !label_of(tl, calls[i].label, strlen(calls[i].label), &label))
            return -1;
    return label;
}

/* Bytes of the label before a separator and the word; 0: the name does not end so. */
static size_t stem(const char *name, const char *word)
{
    size_t length = strlen(name), tail = strlen(word);

    if (length < tail + 2 || strcmp(name + length - tail, word) != 0 ||
        !strchr(":._-/ ", name[length - tail - 1]))
        return 0;
    return length - tail - 1;
}

static bool by_name(struct pt_timeline *tl, struct pt_tl_type *t)
{
    static const struct {
        const char *word;
        bool begins;
    } words[] = {
        { "begin", true }, { "enter", true }, { "entry", true },
        { "end", false },  { "exit", false },
    };
    size_t length;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        length = stem(t->name, words[i].word);
        if (length > 0)
            return label_of(tl, t->name, length, words[i].begins ? &t->begin : &t->end);
    }
    return true;
}

static bool classify(struct pt_timeline *tl, struct pt_tl_type *t)
{
    const char *colon = strchr(t->name, ':');

    t->class_length = colon ? (size_t)(colon - t->name) : 0;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(t->name, roles[i].name) == 0)
            t->role = roles[i].role;
    if (!by_option(tl, t))
        return false;
    if (t->begin < 0 && t->end < 0 && !by_call(tl, t))
        return false;
    return t->begin >= 0 || t->end >= 0 || !tl->by_name || by_name(tl, t);
}

struct pt_tl_type *pt_tl_type_of(struct pt_timeline *tl, const struct posixtrace_event *e)
{
    struct pt_tl_type *t = e->id < PT_TL_TYPES ? tl->types[e->id] : NULL;

    if (t)
        return t;
    if (e->id >= PT_TL_TYPES) {
        pt_job_fail(tl->job, EILSEQ, "an event type has the number %u", (unsigned)e->id);
        return NULL;
    }
    t = calloc(1, sizeof *t);
    if (t) {
        tl->types[e->id] = t;
        t->name = strdup(e->name);
    }
    if (!t || !t->name) {
        no_memory(tl);
        return NULL;
    }
    t->begin = t->end = -1;
    return classify(tl, t) ? t : NULL;
}

/* Whether a field can be what the option makes of it. */
static bool fits(const struct posixtrace_field *f, const struct pt_tl_option *o)
{
    if (o->what == PT_TL_COUNTER)
        return !f->array && f->kind <= POSIXTRACE_FIELD_BOOL;
    return f->kind != POSIXTRACE_FIELD_FLOAT && (!f->array || f->kind == POSIXTRACE_FIELD_CHAR);
}

void pt_tl_type_resolve(struct pt_timeline *tl, struct pt_tl_type *t,
                        const posixtrace_layout_t *layout)
{
    t->resolved = layout;
    t->good = 0;
    for (unsigned i = 0; i < tl->option_count; i++) {
        struct pt_tl_option *o = &tl->options[i];
        const struct posixtrace_field *f;

        if (!(t->options >> i & 1))
            continue;
        t->fields[i] = (uint8_t)posixtrace_layout_find(layout, o->field);
        f = posixtrace_layout_field(layout, t->fields[i]);
        if (f && fits(f, o)) {
            t->good |= (uint64_t)1 << i;
            o->used = true;
        }
    }
}

void pt_tl_types_free(struct pt_timeline *tl)
{
    for (size_t i = 0; i < PT_TL_TYPES; i++) {
        if (tl->types[i])
            free(tl->types[i]->name);
        free(tl->types[i]);
    }
    for (uint32_t i = 0; i < tl->label_count; i++)
        free(tl->labels[i]);
    free(tl->labels);
}

/* ---- the sets of types that posix_trace_start and posix_trace_filter carry, in words ---- */

static void add(struct pt_timeline *tl, size_t *used, const char *text)
{
    size_t length = strnlen(text, sizeof tl->ignores - 1 - *used);

    memcpy(tl->ignores + *used, text, length);
    *used += length;
    tl->ignores[*used] = '\0';
}

const char *pt_tl_ignores(struct pt_timeline *tl, const struct posixtrace_event *e)
{
    size_t sets = e->id == POSIX_TRACE_START ? 1 : e->id == POSIX_TRACE_FILTER ? 2 : 0, used = 0;
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_set_t set;
    trace_event_id_t id;
    int unavailable = 0, in;

    if (sets == 0 || e->data_len != sets * sizeof set)
        return NULL;
    /* Of a filter: before it, and from then on. */
    memcpy(&set, (const char *)e->data + (sets - 1) * sizeof set, sizeof set);
    tl->ignores[0] = '\0';
    if (posix_trace_eventset_ismember(POSIX_TRACE_START, &set, &in) != 0)
        return NULL;
    posix_trace_eventtypelist_rewind(tl->job->trid);
    while (posix_trace_eventtypelist_getnext_id(tl->job->trid, &id, &unavailable) == 0 &&
           !unavailable) {
        if (posix_trace_eventset_ismember(id, &set, &in) != 0 || !in ||
            posix_trace_eventid_get_name(tl->job->trid, id, name) != 0)
            continue;
        add(tl, &used, used ? ", " : "");
        add(tl, &used, name);
    }
    if (!used)
        add(tl, &used, "nothing");
    return tl->ignores;
}
