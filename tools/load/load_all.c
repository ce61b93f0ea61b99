/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Logs that are named on the command line.  A folder stands for its files: pieces of one stream are
 * loaded one by one, as --follow does, so that a piece is in the tables once, whoever loads it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/progress.h"
#include "common/tool.h"
#include "input/folder.h"
#include "load/load.h"
#include "load/load_jobs.h"

enum { LOOK_MS = 200 };

struct load {
    struct load_jobs jobs;
    char **files;
    size_t count, room, next;
    int status;
};

/* ---- the files ---- */

static void add_file(struct load *l, const char *path)
{
    if (l->count == l->room) {
        l->room = 2 * l->room + 64;
        l->files = tool_grow(l->files, l->room, sizeof *l->files);
    }
    l->files[l->count++] = strcpy(tool_grow(NULL, strlen(path) + 1, 1), path);
}

/* The piece that is being written is left for later. */
static void add_log(struct load *l, const struct folder_log *log)
{
    if (!log->files)
        add_file(l, log->path);
    for (size_t i = 0; log->files && i < log->count; i++)
        if (!pieces_is_part(log->files[i]))
            add_file(l, log->files[i]);
}

static int add_folder(struct load *l, const char *path)
{
    struct folder f;
    int status = folder_list(&f, path);

    for (size_t i = 0; status == EXIT_DONE && i < f.count; i++)
        add_log(l, &f.logs[i]);
    if (status == EXIT_DONE)
        folder_free(&f);
    return status;
}

static int add_stream(struct load *l, const char *path, const char *folder, const uint8_t id[16])
{
    const struct folder_log *log = NULL;
    struct folder f;
    int status = folder_list(&f, folder);

    if (status != EXIT_DONE)
        return status;
    log = folder_find(&f, path, id);
    if (log)
        add_log(l, log);
    folder_free(&f);
    return log ? EXIT_DONE : EXIT_FAILED;
}

static int add_operand(struct load *l, const char *path)
{
    char *folder = NULL;
    uint8_t id[16];
    int status = EXIT_DONE;

    if (folder_is(path))
        status = add_folder(l, path);
    else if (folder_is_stream(path, &folder, id))
        status = add_stream(l, path, folder, id);
    else
        add_file(l, path);
    free(folder);
    return status;
}

/* ---- loading ---- */

static void ended(void *context, void *of, int status, int signal, const char *messages)
{
    struct load *l = context;

    (void)messages;
    if (signal)
        l->status = tool_error("%s: the process that loaded it died: %s", quote(of),
                               strsignal(signal));
    else if (status != EXIT_DONE)
        l->status = status;
}

static void begin_jobs(struct load *l)
{
    while (l->next < l->count && load_jobs_running(&l->jobs) < l->jobs.room) {
        char *path = l->files[l->next++];

        if (load_jobs_begin(&l->jobs, path, path) != EXIT_DONE)
            l->status = EXIT_FAILED;
    }
}

static void run(struct load *l)
{
    struct pollfd ends[LOAD_JOBS_MAX];

    progress_begin("rows", 0);
    for (begin_jobs(l); load_jobs_running(&l->jobs) > 0; begin_jobs(l)) {
        load_jobs_wait(&l->jobs, ends);
        while (poll(ends, l->jobs.room, LOOK_MS) <= 0)
            progress_at(load_jobs_rows(&l->jobs));
        load_jobs_collect(&l->jobs, ends, ended, l);
    }
    progress_end();
}

static unsigned job_count(const struct load_options *o, size_t logs)
{
    return o->jobs < logs ? o->jobs : (unsigned)logs;
}

int load_all(const struct load_target *t, const char **logs, size_t count)
{
    struct load l = { .files = NULL };
    int status = load_prepare(t);

    for (size_t i = 0; status == EXIT_DONE && i < count; i++)
        if (add_operand(&l, logs[i]) != EXIT_DONE)
            l.status = EXIT_FAILED;
    if (status == EXIT_DONE)
        status = load_jobs_init(&l.jobs, t, job_count(t->options, l.count));
    if (status == EXIT_DONE) {
        l.jobs.prepared = true;
        run(&l);
        status = l.status;
    }
    load_jobs_free(&l.jobs);
    for (size_t i = 0; i < l.count; i++)
        free(l.files[i]);
    free(l.files);
    return status;
}
