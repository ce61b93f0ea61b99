/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See several.h.  The logs are in a heap by the time of their next event.  What print points at in
 * a batch stays until that log is read again, so a batch is printed to its end before that.
 */
#include "print/several.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { LABEL_COLUMNS = 16, PROGRESS_EVERY = 1 << 14 };

/* ---- which logs ---- */

struct path_list {
    char **paths;
    size_t count;
};

static void add_path(struct path_list *l, const char *folder, const char *name)
{
    size_t length = strlen(folder), size = length + strlen(name) + 2;
    char *path = tool_grow(NULL, size, 1);

    snprintf(path, size, "%s%s%s", folder, length > 0 && folder[length - 1] != '/' ? "/" : "",
             name);
    l->paths = tool_grow(l->paths, l->count + 1, sizeof *l->paths);
    l->paths[l->count++] = path;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_log_name(const char *name)
{
    size_t length = strlen(name);

    return length > 4 && name[0] != '.' && strcmp(name + length - 4, ".ptl") == 0;
}

static int add_folder(struct path_list *l, const char *folder)
{
    size_t before = l->count;
    DIR *dir = opendir(folder);
    struct dirent *entry;

    if (!dir)
        return tool_error("cannot read folder %s: %s", quote(folder), strerror(errno));
    errno = 0;
    while ((entry = readdir(dir))) {
        if (is_log_name(entry->d_name))
            add_path(l, folder, entry->d_name);
        errno = 0;
    }
    if (errno != 0) {
        int error = errno;

        closedir(dir);
        return tool_error("cannot read folder %s: %s", quote(folder), strerror(error));
    }
    closedir(dir);
    if (l->count == before)
        return tool_error("folder %s has no log: no file in it is called *.ptl", quote(folder));
    qsort(l->paths + before, l->count - before, sizeof *l->paths, by_name);
    return EXIT_DONE;
}

int several_paths(const char *const *given, size_t count, char ***paths, size_t *path_count)
{
    struct path_list l = { NULL, 0 };
    int status = EXIT_DONE;
    struct stat st;

    for (size_t i = 0; status == EXIT_DONE && i < count; i++) {
        if (strcmp(given[i], "-") != 0 && stat(given[i], &st) == 0 && S_ISDIR(st.st_mode))
            status = add_folder(&l, given[i]);
        else
            add_path(&l, "", given[i]);
    }
    *paths = l.paths;
    *path_count = l.count;
    return status;
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

static int check_input(const struct several *s, const struct several_log *in)
{
    if (!in->log.seekable)
        return tool_error("%s is a pipe; several logs have to be files", in->log.shown);
    for (size_t i = 0; i < s->count; i++) {
        struct stat other, this;

        if (fstat(s->logs[i]->log.fd, &other) == 0 && fstat(in->log.fd, &this) == 0 &&
            other.st_dev == this.st_dev && other.st_ino == this.st_ino)
            return tool_error("%s and %s are the same file", s->logs[i]->log.shown, in->log.shown);
    }
    return EXIT_DONE;
}

int several_open(struct several *s, char *const *paths, size_t count)
{
    int status = EXIT_DONE;

    memset(s, 0, sizeof *s);
    raise_limit(count);
    s->logs = tool_grow(NULL, count, sizeof *s->logs);
    s->heap = tool_grow(NULL, count, sizeof *s->heap);
    for (size_t i = 0; status == EXIT_DONE && i < count; i++) {
        struct several_log *in = tool_zeroed(sizeof *in);

        status = log_file_open(&in->log, paths[i]);
        if (status != EXIT_DONE) {
            free(in);
            break;
        }
        status = check_input(s, in);
        select_init(&in->select, &in->sites);
        in->may_stop = in->log.info.late == 0 && in->log.info.set_back == 0;
        in->log.one_of_several = count > 1;
        in->index = s->count;
        s->logs[s->count++] = in;
    }
    return status;
}

void several_close(struct several *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct several_log *in = s->logs[i];

        select_free(&in->select);
        log_file_close(&in->log);
        free(in->label);
        free(in);
    }
    free(s->logs);
    free(s->heap);
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
    if (is_log_name(name))
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
        *utf8_cut_here(shown[i], shown[i] + length, LABEL_COLUMNS, &columns) = '\0';
    }
    return strcmp(shown[0], shown[1]) == 0;
}

static bool are_distinct(const struct several *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < i; k++)
            if (look_alike(s->logs[i]->label, s->logs[k]->label))
                return false;
    return true;
}

void several_label(struct several *s, bool for_programs)
{
    for (size_t i = 0; i < s->count; i++) {
        const char *path = s->logs[i]->log.path;
        size_t size = strlen(path) + 1;

        s->logs[i]->label = for_programs ? memcpy(tool_grow(NULL, size, 1), path, size)
                                         : short_label(path);
    }
    if (for_programs || are_distinct(s))
        return;
    for (size_t i = 0; i < s->count; i++) {
        struct several_log *in = s->logs[i];
        size_t size = strlen(in->label) + 24;
        char *numbered = tool_grow(NULL, size, 1);

        snprintf(numbered, size, "%zu:%s", i + 1, in->label);
        free(in->label);
        in->label = numbered;
    }
}

/* ---- the heap ---- */

static bool is_earlier(const struct several *s, size_t a, size_t b)
{
    return s->heap[a]->key < s->heap[b]->key ||
           (s->heap[a]->key == s->heap[b]->key && s->heap[a]->index < s->heap[b]->index);
}

static void swap(struct several *s, size_t a, size_t b)
{
    struct several_log *kept = s->heap[a];

    s->heap[a] = s->heap[b];
    s->heap[b] = kept;
}

static void sink(struct several *s, size_t at)
{
    for (;;) {
        size_t least = at, left = 2 * at + 1;

        for (size_t child = left; child < left + 2 && child < s->heap_count; child++)
            if (is_earlier(s, child, least))
                least = child;
        if (least == at)
            return;
        swap(s, at, least);
        at = least;
    }
}

/* ---- printing ---- */

/* Goes to the next event that is wanted; *none: there is none.  0, or an error number. */
static int find_next(struct several *s, struct several_log *in, bool *none)
{
    *none = false;
    for (;; in->at++) {
        const struct posixtrace_event *e;

        if (in->at == in->count) {
            int error = posixtrace_next_events(in->log.trid, in->batch, sizeof in->batch[0],
                                               SEVERAL_BATCH, &in->count);

            in->at = 0;
            in->source->batch++;
            s->read += error ? 0 : in->count;
            *none = error == 0 && in->count == 0;
            if (error || *none)
                return error;
        }
        e = &in->batch[in->at];
        if (select_wants(&in->select, in->log.trid, e)) {
            in->key = e->ns > in->key ? e->ns : in->key;
            return 0;
        }
        if (in->may_stop && e->ns > in->select.to_ns) {
            *none = true;
            return 0;
        }
    }
}

static int read_error(const struct several_log *in, int error)
{
    out_flush();
    return tool_error("cannot read on in %s: %s", in->log.shown, strerror(error));
}

static int fill_heap(struct several *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct several_log *in = s->logs[i];
        bool none;
        int error = 0;

        if (in->select.from.kind != WHEN_NEVER)
            error = posixtrace_seek(in->log.trid, in->select.from_ns);
        in->key = INT64_MIN;
        if (error == 0)
            error = find_next(s, in, &none);
        if (error)
            return read_error(in, error);
        if (!none)
            s->heap[s->heap_count++] = in;
    }
    for (size_t i = s->heap_count; i-- > 0;)
        sink(s, i);
    return EXIT_DONE;
}

static int print_all(struct several *s, struct print *p)
{
    int status = fill_heap(s);
    uint64_t shown = 0;

    while (status == EXIT_DONE && s->heap_count > 0 && !out_failed()) {
        struct several_log *in = s->heap[0];
        bool none;
        int error;

        if (s->read >= shown) {
            progress_at(s->read);
            shown = s->read + PROGRESS_EVERY;
        }
        p->from = in->source;
        p->printer->event(p, &in->batch[in->at++]);
        p->printed++;
        error = find_next(s, in, &none);
        if (error)
            status = read_error(in, error);
        else if (none)
            s->heap[0] = s->heap[--s->heap_count];
        sink(s, 0);
    }
    return status;
}

/* The window, relative to the first event of all. */
static int resolve(struct several *s, struct print *p)
{
    int status = EXIT_DONE;

    for (size_t i = 0; i < s->count; i++) {
        const struct posixtrace_info *info = &s->logs[i]->log.info;

        if (info->events > 0 && (!p->any || info->first_ns < p->origin))
            p->origin = info->first_ns;
        p->any |= info->events > 0;
    }
    p->kept_from = p->origin;
    for (size_t i = 0; status == EXIT_DONE && i < s->count; i++)
        status = select_resolve(&s->logs[i]->select, p->origin);
    return status;
}

static void warn(const struct several *s)
{
    const struct log_file **logs = tool_grow(NULL, s->count, sizeof(const struct log_file *));
    char shown[40];

    for (size_t i = 0; i < s->count; i++)
        logs[i] = &s->logs[i]->log;
    snprintf(shown, sizeof shown, "the %zu logs", s->count);
    filter_option_warn_all(&s->logs[0]->select.event, logs, s->count, shown);
    filter_option_warn_all(&s->logs[0]->select.where, logs, s->count, shown);
    free(logs);
}

int several_print(struct several *s, struct print *p, bool strict)
{
    int status;

    for (size_t i = 0; i < s->count; i++) {
        struct several_log *in = s->logs[i];

        sites_open(&in->sites, in->log.trid);
        in->source = print_add(p, &in->log, &in->sites, in->label);
    }
    status = resolve(s, p);
    if (status != EXIT_DONE)
        return status;
    warn(s);
    p->printer->begin(p);
    status = print_all(s, p);
    p->printer->end(p);
    out_flush();
    for (size_t i = 0; i < s->count; i++) {
        select_warn_callers(&s->logs[i]->select, &s->logs[i]->log);
        status = log_file_report_loss(&s->logs[i]->log, strict, status);
    }
    return status;
}
