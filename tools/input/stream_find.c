/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Finding streams; see stream_find.h.
 */
#include "input/stream_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/attach.h>

#include "apart/apart.h"
#include "common/tool.h"

enum { SHOWN = 8 }; /* of several that fit */

/* The better the way in which a stream fits the word, the higher; 0: not at all. */
enum fit { NOT = 0, PREFIX, OWNER, NAMED, TRACED };

struct search {
    const char *word;
    pid_t pid; /* 0: not a number */
    enum fit best;
    unsigned count; /* that fit so well */
    struct posixtrace_stream found[SHOWN];
    bool left; /* one of a process that is gone fits, too */
};

static int is_process(void *wanted, pid_t pid)
{
    return *(const pid_t *)wanted == pid;
}

static bool traces(const struct posixtrace_stream *s, pid_t pid)
{
    return posixtrace_stream_traced(s->file, is_process, &pid) == 1;
}

static enum fit fit_of(const struct search *search, const struct posixtrace_stream *s)
{
    const char *word = search->word;
    size_t n = strlen(word);

    if (search->pid != 0 && traces(s, search->pid))
        return TRACED;
    if (strcmp(word, s->name) == 0 || strcmp(word, s->file) == 0)
        return NAMED;
    if (search->pid != 0 && s->owner == search->pid)
        return OWNER;
    if (n >= 2 && (strncmp(s->file, word, n) == 0 || strncmp(s->file + 2, word, n) == 0))
        return PREFIX;
    return NOT;
}

static int look(void *context, const struct posixtrace_stream *s)
{
    struct search *search = context;
    enum fit fit = fit_of(search, s);

    if (fit == NOT)
        return 0;
    if (s->liveness == POSIXTRACE_LIVENESS_DEAD) {
        search->left = true;
        return 0;
    }
    if (fit < search->best)
        return 0;
    if (fit > search->best)
        search->count = 0;
    search->best = fit;
    if (search->count < SHOWN)
        search->found[search->count] = *s;
    search->count++;
    return 0;
}

pid_t stream_process(const char *word)
{
    char *end;
    long value = strtol(word, &end, 10);

    return word[0] >= '1' && word[0] <= '9' && *end == '\0' && value > 0 && value < INT32_MAX
               ? (pid_t)value
               : 0;
}

static int refuse(const struct search *s)
{
    if (s->count == 0 && s->left)
        return tool_error("the process of stream %s is gone; 'posixtrace recover LOG' puts what it "
                          "left into its log",
                          quote(s->word));
    if (s->count == 0)
        return tool_error("no stream %s; 'posixtrace list' shows those that there are",
                          quote(s->word));
    tool_error("%s names %u streams; give the first letters of one's file:", quote(s->word),
               s->count);
    for (unsigned i = 0; i < s->count && i < SHOWN; i++)
        tool_note("  %s, created by process %d, name %s", s->found[i].file, (int)s->found[i].owner,
                  quote(s->found[i].name));
    return EXIT_FAILED;
}

int stream_find(const char *word, struct posixtrace_stream *stream)
{
    struct search *s = tool_grow(NULL, 1, sizeof *s);
    int error, status;

    memset(s, 0, sizeof *s);
    s->word = word;
    s->pid = stream_process(word);
    error = *word ? posixtrace_stream_list(look, s) : 0;
    if (error != 0 && error != ENOENT)
        status = tool_error("cannot list %s: %s", quote(posixtrace_stream_directory()),
                            strerror(error));
    else if (s->count != 1)
        status = refuse(s);
    else
        status = EXIT_DONE;
    if (status == EXIT_DONE)
        *stream = s->found[0];
    free(s);
    return status;
}

const char *stream_call(const struct posixtrace_stream *stream)
{
    return quote(stream->name[0] ? stream->name : stream->file);
}

int stream_error(const struct posixtrace_stream *stream, const char *what, int error)
{
    const char *called = stream_call(stream);

    switch (error) {
    case ENXIO:
        return tool_error("cannot %s %s: process %d has ended it, or is gone", what, called,
                          (int)stream->owner);
    case ENOTSUP:
        return tool_error("cannot %s %s from another pid namespace than that of process %d", what,
                          called, (int)stream->owner);
    case EBUSY:
        return tool_error("cannot %s %s: others stand still while they do; try again", what,
                          called);
    default: return tool_error("cannot %s %s: %s", what, called, failure_reason(error));
    }
}

/* The streams of another user's process are searched, and used, with that user's rights: root's
 * process does not return from here. */
int stream_attach(const char *word, struct posixtrace_stream *stream, trace_id_t *trid)
{
    int status = apart_enter(stream_process(word)), error;

    if (status == EXIT_DONE)
        status = stream_find(word, stream);

    if (status != EXIT_DONE)
        return status;
    error = posixtrace_attach(stream->file, trid);
    if (error == EINVAL)
        return tool_error("%s/%s is not a stream of this version of posixtrace",
                          posixtrace_stream_directory(), stream->file);
    return error ? stream_error(stream, "use stream", error) : EXIT_DONE;
}
