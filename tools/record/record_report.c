/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The report on a recording, read back from its log, so that it counts only events that
 * the log has.  It explains a recording without an event of the program: a trace that
 * is empty without a reason is the most frequent complaint of users of tracers.
 */
#include "record/record.h"
#include "record/record_proc_path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/units.h"
#include "input/log_file.h"
#include "common/tool.h"

enum { NAMED = 5, BLOCK = 1 << 16 };

struct found {
    uint64_t events; /* but for the standard's own, such as START */
    size_t types;    /* user types known */
    char names[200]; /* the first of them */
    pid_t *pids;     /* processes with events or context switches */
    size_t pid_count;
    bool nameless; /* and some whose events no thread of the log's list has */
};

static void count_types(struct log_file *log, struct found *f)
{
    struct log_type *types;
    size_t count;

    if (log_file_types(log, &types, &count) != EXIT_DONE)
        return;
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(f->names);

        if (types[i].id <= POSIX_TRACE_ERROR)
            continue;
        f->events += types[i].count;
        if (types[i].id <= POSIX_TRACE_UNNAMED_USEREVENT)
            continue;
        if (f->types++ < NAMED)
            snprintf(f->names + used, sizeof f->names - used, "%s%.60s", used ? ", " : "",
                     quote(types[i].name));
        else if (f->types == NAMED + 1)
            snprintf(f->names + used, sizeof f->names - used, ", ...");
    }
    free(types);
}

static int by_number(const void *a, const void *b)
{
    const pid_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Nothing of it was recorded.  A thread that lost nothing either is listed for its context
 * switches; only the log can lose some of these. */
static bool is_absent(const struct posixtrace_thread_info *t)
{
    uint64_t lost = 0;

    for (unsigned c = 0; c < POSIXTRACE_LOST_LOG_FULL; c++)
        lost += t->lost[c];
    return t->recorded == 0 && lost > 0;
}

static void collect_processes(struct log_file *log, struct found *f)
{
    struct posixtrace_thread_info thread;
    size_t count = 0, kept = 0;
    int unavailable = 0;

    posixtrace_threadlist_rewind(log->trid);
    while (posixtrace_threadlist_getnext(log->trid, &thread, sizeof thread, &unavailable) == 0 &&
           !unavailable) {
        if (thread.pid == 0 && thread.recorded > 0)
            f->nameless = true;
        if (thread.pid == 0 || thread.pid == getpid() || is_absent(&thread))
            continue;
        f->pids = tool_grow(f->pids, count + 1, sizeof *f->pids);
        f->pids[count++] = thread.pid;
    }
    if (count > 0)
        qsort(f->pids, count, sizeof *f->pids, by_number);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || f->pids[kept - 1] != f->pids[i])
            f->pids[kept++] = f->pids[i];
    }
    f->pid_count = kept;
}

static void say_recorded(const struct recording *r, struct log_file *log, const struct found *f)
{
    uint64_t lost = log_file_lost_all(log);
    char losses[720] = "none lost";

    if (lost > 0 || log->info.flush_error)
        snprintf(losses, sizeof losses, "%s%s lost (%s)", r->lacks > 0 ? "at least " : "",
                 units_count(lost + r->lacks), log_file_causes(&log->info));
    else if (r->lacks > 0)
        snprintf(losses, sizeof losses, "at least %s lost", units_count(r->lacks));
    tool_note("recorded %s event%s of %s%s process%s in %s, %s; to see them: posixtrace print %s",
              units_count(f->events), f->events == 1 ? "" : "s", f->nameless ? "at least " : "",
              units_count(f->pid_count), f->pid_count == 1 ? "" : "es", log->shown, losses,
              quote_word(r->pieces ? r->pieces : r->log));
}

/* Beyond what a stream has room for at once, or a process can have names for. */
static void say_refused(const struct log_file *log)
{
    uint64_t unnamed = log_file_unnamed(log);
    struct posixtrace_limits limits;

    if (unnamed)
        tool_note("%s events have no name: a process can have %s names of event types",
                  units_count(unnamed), units_count(TRACE_USER_EVENT_MAX - 1));
    if (posixtrace_get_limits(log->trid, &limits, sizeof limits) != 0)
        return;
    if (limits.refused_threads)
        tool_note("%s threads found no room: the stream is made for %s at once, fewer under "
                  "'ulimit -f' or 'ulimit -v'",
                  units_count(limits.refused_threads), units_count(limits.threads));
    if (limits.refused_processes)
        tool_note("%s process%s could not be recorded: the stream is made for %s at once, and for "
                  "those of one pid namespace; record parts of the program by themselves",
                  units_count(limits.refused_processes), limits.refused_processes == 1 ? "" : "es",
                  units_count(limits.processes));
}

/* Does the file contain the text?  Blocks overlap, so that it is found on a border. */
static bool contains(const char *path, const char *text)
{
    size_t length = strlen(text), kept = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *block = tool_grow(NULL, BLOCK, 1);
    bool found = false;
    ssize_t n;

    while (fd >= 0 && !found && (n = read(fd, block + kept, BLOCK - kept)) > 0) {
        size_t have = kept + (size_t)n;

        found = memmem(block, have, text, length) != NULL;
        kept = have < length ? have : length - 1;
        memmove(block, block + have - kept, kept);
    }
    if (fd >= 0)
        close(fd);
    free(block);
    return found;
}

void record_process_name(pid_t pid, char *to, size_t size)
{
    char path[40];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    f = fopen(path, "re");
    if (!f || !fgets(to, (int)size, f))
        snprintf(to, size, "?");
    to[strcspn(to, "\n")] = '\0';
    if (f)
        fclose(f);
}

/* A program that is linked to the library names it; one with the library inside
 * has the names of the variables that the library reads. */
static bool names_the_library(const char *path)
{
    return contains(path, "libposixtrace.so") || contains(path, "POSIXTRACE_DIR");
}

/* Has the process the library, or the program the library inside?  Where it cannot be seen it
 * is not denied. */
static bool has_the_library(pid_t pid)
{
    char path[PROC_PATH];

    record_proc_path(pid, "maps", path);
    if (access(path, R_OK) < 0 || contains(path, "libposixtrace.so"))
        return true;
    record_proc_path(pid, "exe", path);
    return access(path, R_OK) < 0 || names_the_library(path);
}

void record_report_waiting(struct recording *r, const struct record_request *q)
{
    char name[32];

    if (q->quiet)
        return;
    if (has_the_library(r->pid)) {
        r->unseen = record_unseen_note(r);
        return;
    }
    if (q->switches)
        return;
    record_process_name(r->pid, name, sizeof name);
    tool_note("process %d (%s) has not loaded libposixtrace: nothing of it is recorded unless it "
              "does; 'posixtrace record --system PROGRAM' records what any program waits for",
              (int)r->pid, quote(name));
}

static void explain_nothing(const struct recording *r, const struct record_request *q,
                            const char *path, const struct log_file *log, const struct found *f)
{
    if (log_file_lost_all(log) > 0)
        tool_note("nothing is in %s: what was recorded is lost (%s)", log->shown,
                  log_file_causes(&log->info));
    else if (r->lacks > 0)
        tool_note("nothing is in %s: at least %s events are lost", log->shown,
                  units_count(r->lacks));
    else if (f->types > 0 && q->filter.count > 0)
        tool_note("nothing was recorded in %s: no event matched %s; event types: %s", log->shown,
                  q->filter.option, f->names);
    else if (f->types > 0)
        tool_note("nothing was recorded in %s: event types were opened (%s), but no event came: "
                  "none was generated, or only by processes that cannot be followed, as in a pid "
                  "namespace of their own (unshare -p)",
                  log->shown, f->names);
    else if (q->filter.count > 0 && (q->calls || q->switches))
        tool_note("nothing was recorded in %s: no event matched %s, or no call that --system "
                  "traces was made",
                  log->shown, q->filter.option);
    else if (path && !names_the_library(path) && (q->calls || q->switches))
        tool_note("nothing was recorded in %s: no call that --system traces was made before the "
                  "process of %s ended, as it does at once in daemon(3); start a daemon in the "
                  "foreground",
                  log->shown, quote(path));
    else if (path && !names_the_library(path))
        tool_note("nothing was recorded in %s: %s is not linked with libposixtrace, and nothing "
                  "that it started has called it; 'posixtrace record --system' records what any "
                  "program waits for",
                  log->shown, quote(path));
    else if (r->unseen)
        tool_note(
            "nothing was recorded in %s: process %d has not called libposixtrace, or cannot be "
            "traced with its limit of file sizes",
            log->shown, (int)r->pid);
    else if (path)
        tool_note("nothing was recorded in %s: the program is linked with libposixtrace, but "
                  "has not called it",
                  log->shown);
    else
        tool_note("nothing was recorded in %s: process %d did not call libposixtrace; is "
                  "it linked with it, and does it use the same POSIXTRACE_DIR?",
                  log->shown, (int)r->pid);
}

void record_report_alive(const struct recording *r, const struct recording_alive *alive)
{
    char list[300] = "";
    size_t count = 0;
    pid_t first = 0;

    for (size_t i = 0; i < alive->count; i++) {
        size_t used = strlen(list);
        pid_t pid = alive->pids[i];
        char name[32];

        if (pid == r->pid || (kill(pid, 0) < 0 && errno == ESRCH))
            continue;
        record_process_name(pid, name, sizeof name);
        first = first ? first : pid;
        if (count++ < NAMED)
            snprintf(list + used, sizeof list - used, "%s%d (%.30s)", used ? ", " : "", (int)pid,
                     quote(name));
    }
    if (count > 0)
        tool_note("still running, and not recorded any more: %s%s; to record a daemon: "
                  "posixtrace record --pid %d",
                  list, count > NAMED ? ", ..." : "", (int)first);
}

static void report_log(const struct recording *r, const struct record_request *q, const char *path,
                       struct log_file *log)
{
    struct found f = { .events = 0 };

    count_types(log, &f);
    collect_processes(log, &f);
    if (f.events > 0)
        say_recorded(r, log, &f);
    else
        explain_nothing(r, q, path, log, &f);
    say_refused(log);
    record_switches_report(r, log->info.lost[POSIXTRACE_LOST_SWITCHES]);
    if (f.types > 0 || q->calls || q->switches)
        filter_option_warn(&q->filter, log);
    free(f.pids);
}

int record_report(const struct recording *r, const struct record_request *q, const char *path)
{
    struct log_file log;
    int status = EXIT_DONE;

    if (r->removed)
        return record_removed_report(r, q);
    if (r->error)
        status = tool_error("cannot write all of %s: %s", quote(q->rotates ? q->outdir : r->log),
                            strerror(r->error));
    if (!r->regular) {
        if (!q->quiet)
            tool_note("recorded into %s", quote(r->log));
        return status;
    }
    if (q->quiet)
        return status;
    if (log_file_open(&log, r->pieces ? r->pieces : r->log) != EXIT_DONE)
        return EXIT_FAILED;
    report_log(r, q, path, &log);
    log_file_close(&log);
    return status;
}
