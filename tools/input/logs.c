/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See logs.h. */
#include "input/logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common/tool.h"
#include "input/folder.h"
#include "common/utf8.h"

/* ---- which logs ---- */

struct path_list {
    char **paths;
    size_t count;
};

static void add_path(struct path_list *l, const char *path)
{
    l->paths = tool_grow(l->paths, l->count + 1, sizeof *l->paths);
    l->paths[l->count++] = strcpy(tool_grow(NULL, strlen(path) + 1, 1), path);
}

static int add_folder(struct path_list *l, const char *path)
{
    struct folder f;
    int status = folder_list(&f, path);

    for (size_t i = 0; status == EXIT_DONE && i < f.count; i++)
        add_path(l, f.logs[i].path);
    folder_free(&f);
    return status;
}

static int find_paths(const struct logs_given *given, struct path_list *l)
{
    int status = EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < given->count; i++) {
        if (folder_is(given->paths[i]))
            status = add_folder(l, given->paths[i]);
        else
            add_path(l, given->paths[i]);
    }
    return status;
}

void logs_given_add(struct logs_given *g, const char *path)
{
    g->paths = tool_grow(g->paths, g->count + 1, sizeof *g->paths);
    g->paths[g->count++] = path;
}

void logs_given_free(struct logs_given *g)
{
    free(g->paths);
    *g = (struct logs_given){ NULL, 0 };
}

bool logs_are_several(const struct logs_given *g)
{
    return g->count > 1 ||
           (g->count == 1 && folder_is(g->paths[0]) && !folder_is_one_stream(g->paths[0]));
}

/* ---- opening ---- */

/* Each log takes two descriptors. */
static void raise_limit(size_t logs)
{
    struct rlimit limit;
    rlim_t need = 2 * (rlim_t)logs + 64;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need)
        return;
    limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int check_input(const struct logs *l, const struct input_log *in)
{
    if (!in->log.seekable)
        return tool_error("%s is a pipe; several logs have to be files", in->log.shown);
    for (size_t i = 0; i < l->count; i++) {
        struct stat other, this;

        if (fstat(l->at[i]->log.fd, &other) == 0 && fstat(in->log.fd, &this) == 0 &&
            other.st_dev == this.st_dev && other.st_ino == this.st_ino)
            return tool_error("%s and %s are the same file", l->at[i]->log.shown, in->log.shown);
    }
    return EXIT_DONE;
}

static int open_one(struct logs *l, const char *path, bool one_of_several)
{
    struct input_log *in = tool_zeroed(sizeof *in);
    size_t size = strlen(path) + 1;
    int status;

    in->path = memcpy(tool_grow(NULL, size, 1), path, size);
    status = log_file_open(&in->log, in->path);
    if (status != EXIT_DONE) {
        free(in->path);
        free(in);
        return status;
    }
    status = check_input(l, in);
    select_init(&in->select, &in->sites);
    in->log.one_of_several = one_of_several;
    in->index = l->count;
    l->at[l->count++] = in;
    return status;
}

int logs_open(struct logs *l, const struct logs_given *given)
{
    struct path_list paths = { NULL, 0 };
    int status;

    memset(l, 0, sizeof *l);
    status = find_paths(given, &paths);
    raise_limit(paths.count);
    l->at = tool_grow(NULL, paths.count + 1, sizeof *l->at);
    for (size_t i = 0; status == EXIT_DONE && i < paths.count; i++)
        status = open_one(l, paths.paths[i], paths.count > 1);
    for (size_t i = 0; i < paths.count; i++)
        free(paths.paths[i]);
    free(paths.paths);
    return status;
}

void logs_close(struct logs *l)
{
    for (size_t i = 0; i < l->count; i++) {
        struct input_log *in = l->at[i];

        select_free(&in->select);
        log_file_close(&in->log);
        free(in->path);
        free(in->label);
        free(in);
    }
    free(l->at);
    memset(l, 0, sizeof *l);
}

/* ---- names ---- */

/* The name of the file, without folder and end. */
static char *short_label(const char *path)
{
    const char *name = strrchr(path, '/');
    char *label;
    size_t length;

    name = name ? name + 1 : path;
    length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".ptl") == 0)
        length -= 4;
    label = tool_grow(NULL, length + 1, 1);
    memcpy(label, name, length);
    label[length] = '\0';
    return label;
}

/* As a column shows them. */
static bool look_alike(const char *a, const char *b)
{
    char shown[2][1024];
    size_t columns;

    for (int i = 0; i < 2; i++) {
        size_t length = strnlen(i ? b : a, sizeof shown[i] - 3);

        memcpy(shown[i], i ? b : a, length);
        *utf8_cut_here(shown[i], shown[i] + length, LOGS_LABEL, &columns) = '\0';
    }
    return strcmp(shown[0], shown[1]) == 0;
}

static bool are_distinct(const struct logs *l)
{
    for (size_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < i; k++)
            if (look_alike(l->at[i]->label, l->at[k]->label))
                return false;
    return true;
}

void logs_label(struct logs *l, bool for_programs)
{
    for (size_t i = 0; i < l->count; i++) {
        const char *path = l->at[i]->log.path;
        size_t size = strlen(path) + 1;

        free(l->at[i]->label);
        l->at[i]->label = for_programs ? memcpy(tool_grow(NULL, size, 1), path, size)
                                       : short_label(l->at[i]->log.name);
    }
    if (for_programs || are_distinct(l))
        return;
    for (size_t i = 0; i < l->count; i++) {
        struct input_log *in = l->at[i];
        size_t size = strlen(in->label) + 24;
        char *numbered = tool_grow(NULL, size, 1);

        snprintf(numbered, size, "%zu:%s", i + 1, in->label);
        free(in->label);
        in->label = numbered;
    }
}

struct host_clocks *logs_clocks(const struct logs *l)
{
    trace_id_t *trids = tool_grow(NULL, l->count, sizeof *trids);
    const char **names = tool_grow(NULL, l->count, sizeof *names);
    struct host_clocks *clocks;

    for (size_t i = 0; i < l->count; i++) {
        trids[i] = l->at[i]->log.trid;
        names[i] = l->at[i]->label;
    }
    clocks = host_clocks_make(trids, names, l->count);
    free(trids);
    free(names);
    return clocks;
}

const char *logs_shown(const struct logs *l)
{
    static char text[40];

    snprintf(text, sizeof text, "the %zu logs", l->count);
    return text;
}

/* ---- selections ---- */

void select_given_add(struct select_given *g, int code, const char *value)
{
    g->at = tool_grow(g->at, g->count + 1, sizeof *g->at);
    g->at[g->count++] = (struct select_word){ code, value };
}

void select_given_free(struct select_given *g)
{
    free(g->at);
    *g = (struct select_given){ NULL, 0 };
}

static int take_again(struct input_log *in, const struct select_given *given)
{
    int status = EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < given->count; i++) {
        const struct select_word *w = &given->at[i];

        status = select_is_option(w->code) ? select_take_option(&in->select, w->code, w->value)
                                           : sites_take_option(&in->sites, w->code, w->value);
    }
    return status == EXIT_DONE ? select_make(&in->select) : status;
}

int logs_select(struct logs *l, const struct select_given *given)
{
    int status = EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < l->count; i++)
        status = take_again(l->at[i], given);
    return status;
}

bool logs_first(const struct logs *l, int64_t *ns)
{
    bool any = false;

    *ns = 0;
    for (size_t i = 0; i < l->count; i++) {
        const struct posixtrace_info *info = &l->at[i]->log.info;

        if (info->events > 0 && (!any || info->first_ns < *ns))
            *ns = info->first_ns;
        any |= info->events > 0;
    }
    return any;
}

int logs_resolve(struct logs *l)
{
    int status = EXIT_DONE;
    int64_t first;

    logs_first(l, &first);
    for (size_t i = 0; status == EXIT_DONE && i < l->count; i++)
        status = select_resolve(&l->at[i]->select, first);
    return status;
}

int logs_open_selected(struct logs *l, const struct logs_given *given,
                       const struct select_given *select)
{
    int status = logs_open(l, given);

    if (status == EXIT_DONE)
        status = logs_select(l, select);
    return status == EXIT_DONE ? logs_resolve(l) : status;
}

void logs_warn(const struct logs *l)
{
    const struct log_file **logs = tool_grow(NULL, l->count, sizeof(const struct log_file *));

    for (size_t i = 0; i < l->count; i++)
        logs[i] = &l->at[i]->log;
    filter_option_warn_all(&l->at[0]->select.event, logs, l->count, logs_shown(l));
    filter_option_warn_all(&l->at[0]->select.where, logs, l->count, logs_shown(l));
    free(logs);
}

int logs_report(struct logs *l, bool strict, int status)
{
    for (size_t i = 0; i < l->count; i++) {
        select_warn_callers(&l->at[i]->select, &l->at[i]->log);
        status = log_file_report_loss(&l->at[i]->log, strict, status);
    }
    return status;
}
