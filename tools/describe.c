/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The data of predefined events in words.  Data comes from a file and may be
 * of any form: what does not have the size or content of its type is left to
 * be shown as bytes.
 */
#include "print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

enum { NAMES_SHOWN = 4 };

struct text {
    char  *to;
    size_t left;
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

    if (e->data_len != wanted * sizeof sets[0] ||
        log_file_types(log, &types, &count) != EXIT_DONE)
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

bool describe_event(const struct log_file *log, const struct posixtrace_event *e, char *to,
                    size_t size)
{
    struct text t = { to, size };
    int number;

    *to = '\0';
    if (e->truncation)
        return false;
    switch (e->id) {
    case POSIX_TRACE_START:
    case POSIX_TRACE_FILTER:
        return describe_sets(log, e, &t);
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
    default:
        return false;
    }
}
