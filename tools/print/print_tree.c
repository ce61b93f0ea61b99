/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * print --tree: events between the start and the end of a pair are indented.  The text is that of
 * export --to=tree.
 */
#include "print/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/colour.h"
#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { OPTIONS = 4 };

struct tree {
    struct log_file *log;
    struct selection *select;
};

static void note(void *context, const char *text)
{
    (void)context;
    tool_note("%s", unquoted(text));
}

static int progress(void *context, uint64_t events)
{
    (void)context;
    progress_at(events);
    return 0;
}

static bool wants(void *context, const struct posixtrace_event *e)
{
    struct tree *t = context;

    return select_keeps(t->select, t->log->trid, e);
}

static char *option(const char *name, const char *value)
{
    char *text = tool_grow(NULL, strlen(name) + strlen(value) + 2, 1);

    stpcpy(stpcpy(stpcpy(text, name), "="), value);
    return text;
}

static int write_tree(struct tree *t, const char *const *options)
{
    struct posixtrace_conversion c = { .options = options,
                                       .name = "standard output",
                                       .note = note,
                                       .progress = progress,
                                       .wants = select_is_any(t->select) ? wants : NULL,
                                       .context = t };
    int error = 0;

    if (t->select->from.kind != WHEN_NEVER) {
        c.from_ns = &t->select->from_ns;
        error = t->log->seekable ? select_position(t->select, t->log) : 0;
    }
    if (error == 0)
        error = posixtrace_export(t->log->trid, "tree", STDOUT_FILENO, &c, sizeof c);
    if (error == EPIPE)
        return EXIT_PIPE;
    return error ? tool_error("%s: %s", t->log->shown,
                              unquoted(c.error[0] ? c.error : strerror(error)))
                 : EXIT_DONE;
}

int print_tree(struct log_file *log, struct selection *select, const struct sites *sites)
{
    struct tree t = { log, select };
    char *options[OPTIONS + 1] = { NULL }, first[24];
    size_t count = 0;
    int status = log->seekable ? select_resolve(select, log->info.first_ns)
                               : select_resolve_absolute(select);

    if (status != EXIT_DONE)
        return status;
    if (sites->off)
        options[count++] = option("no-symbols", "yes");
    if (sites->debug_dir)
        options[count++] = option("debug-dir", sites->debug_dir);
    if (colour_is_on())
        options[count++] = option("color", "yes");
    if (log->seekable) {
        snprintf(first, sizeof first, "%" PRIi64, log->info.first_ns);
        options[count++] = option("origin", first);
        select_warn(select, log);
    }
    status = write_tree(&t, (const char *const *)options);
    while (count > 0)
        free(options[--count]);
    if (status == EXIT_DONE && !log->seekable)
        select_warn(select, log);
    if (status == EXIT_DONE)
        select_warn_callers(select, log);
    return status;
}
