/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export for Kiwi, the viewer of the MaRTE OS and Ercos-RT tools: one line of the
 * picture a thread.  docs/formats/kiwi.md has the table of events.
 *
 * The names of the lines precede the events in the file, but are known only after the last event.
 * So events are written to a temporary file first, which keeps memory bounded.
 *
 * In older logs, and from other sources, no switch shows that a thread exits.  So a state of a
 * thread that may have ended is held back: its line is a comment until another event of the thread
 * proves that the state lasted to there.  Without such an event it stays a comment.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/common/format.h"
#include "analysis/format/common/spool.h"

#define LINES     100u          /* that Kiwi has room for */
#define TIME_END  9999999999999 /* ns that it can show: 9999.999999999 s */
#define OUT_BYTES 65536u
#define LINE_MOST (2 * TRACE_EVENT_NAME_MAX + 200)
#define EXEC_MOST 32u

enum { LEFT_LINES, LEFT_TIME, LEFT_TEXT, NOTE_ORDER };

/* The meaning of an event type in the picture. */
enum sign {
    NEW,
    EXEC_BEGIN,
    EXEC_END,
    SWITCH_IN,
    PREEMPTED,
    START,
    STOP,
    THREAD_BEGIN,
    THREAD_END,
    LOCK,
    UNLOCK,
    BLOCK,
    TEXT,
    MARK
};

struct line {
    uint64_t thread_id;
    pid_t pid, tid;
    bool executes, ready, ended;
    bool holds, holds_exec; /* a state, which is EXEC; at held_at in the file */
    uint64_t held_at;
    char digit; /* the value for it */
    char name[40];
};

struct writer {
    struct pt_job *job;
    FILE *body;
    uint8_t sign[4096]; /* by event id */
    struct line line[LINES];
    unsigned lines;
    bool begun, text;
    int64_t first, last;       /* ns */
    uint64_t flushed, line_at; /* in body: bytes written, and where the last line is */
    size_t used;
    char out[OUT_BYTES];
};

static bool flush(struct writer *w)
{
    size_t n = w->used;

    w->used = 0;
    w->flushed += n;
    if (fwrite_unlocked(w->out, 1, n, w->body) == n)
        return true;
    pt_job_fail(w->job, errno ? errno : EIO, "cannot write a temporary file: %s", strerror(errno));
    return false;
}

static bool put_at(struct writer *w, uint64_t at, char c)
{
    if (at >= w->flushed) {
        w->out[at - w->flushed] = c;
        return true;
    }
    if (fseeko(w->body, (off_t)at, SEEK_SET) == 0 && fputc(c, w->body) != EOF &&
        fseeko(w->body, 0, SEEK_END) == 0)
        return true;
    pt_job_fail(w->job, errno, "cannot write a temporary file: %s", strerror(errno));
    return false;
}

static void put(struct writer *w, const char *text)
{
    while (*text)
        w->out[w->used++] = *text++;
}

static void put_unsigned(struct writer *w, uint64_t v, unsigned digits)
{
    char text[24];
    unsigned n = 0;

    do {
        text[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v || n < digits);
    while (n > 0)
        w->out[w->used++] = text[--n];
}

/* A word of Kiwi's, which blanks would end, and whose special characters are Tcl's. */
static void put_word(struct writer *w, const char *text)
{
    for (; *text; text++)
        w->out[w->used++] = *text > ' ' && !strchr("\"#$;[\\]{}\x7f", *text) ? *text : '_';
}

static bool put_sign(struct writer *w, const char *sign, unsigned line, bool has_line,
                     const char *text)
{
    uint64_t t = (uint64_t)(w->last - w->first);

    if (w->used + LINE_MOST > OUT_BYTES && !flush(w))
        return false;
    w->line_at = w->flushed + w->used;
    put_unsigned(w, t / 1000000000u, 1);
    w->out[w->used++] = '.';
    put_unsigned(w, t % 1000000000u, 9);
    put(w, " ");
    put(w, sign);
    if (has_line) {
        put(w, " ");
        put_unsigned(w, line, 1);
    }
    if (text) {
        put(w, " ");
        put_word(w, *text ? text : "_");
    }
    put(w, "\n");
    return true;
}

/* ---- event types ---- */

/* "BEGIN,END" of an option, or the same of pairs of names. */
static enum sign sign_by_option(const struct writer *w, const char *name)
{
    const char *pair;

    for (size_t i = 0; i < EXEC_MOST && (pair = pt_job_option(w->job, "exec", i)); i++) {
        const char *comma = strchr(pair, ',');

        if (strlen(name) == (size_t)(comma - pair) && strncmp(pair, name, strlen(name)) == 0)
            return EXEC_BEGIN;
        if (strcmp(comma + 1, name) == 0)
            return EXEC_END;
    }
    return TEXT;
}

static enum sign sign_of(const struct writer *w, const char *name)
{
    static const struct {
        char name[28];
        enum sign sign;
    } signs[] = {
        { "posixtrace_switch_in", SWITCH_IN },
        { "posixtrace_switch_out", EXEC_END },
        { "posixtrace_switch_preempted", PREEMPTED },
        { "posixtrace_sleep_done", START },
        { "posixtrace_sleep", STOP },
        { "posixtrace_thread_begin", THREAD_BEGIN },
        { "posixtrace_thread_end", THREAD_END },
        { "posixtrace_mutex_locked", LOCK },
        { "posixtrace_mutex_unlock", UNLOCK },
        { "posixtrace_rwlock_locked", LOCK },
        { "posixtrace_rwlock_unlock", UNLOCK },
        { "posixtrace_sem_wait", BLOCK },
        { "posixtrace_cond_wait", BLOCK },
        { "posixtrace_barrier_wait", BLOCK },
        { "posix_trace_start", MARK },
        { "posix_trace_stop", MARK },
        { "posix_trace_overflow", MARK },
        { "posix_trace_resume", MARK },
    };

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strcmp(signs[i].name, name) == 0)
            return signs[i].sign;
    return sign_by_option(w, name);
}

static bool end_state(struct writer *w, unsigned i)
{
    struct line *l = &w->line[i];
    bool good = (!l->executes || put_sign(w, "EXEC-E", i, true, NULL)) &&
                (!l->ready || put_sign(w, "READY-E", i, true, NULL));

    l->executes = l->ready = false;
    return good;
}

static bool begin_state(struct writer *w, unsigned i, bool executes)
{
    struct line *l = &w->line[i];

    if (!end_state(w, i) || !put_sign(w, executes ? "EXEC-B" : "READY-B", i, true, NULL))
        return false;
    l->executes = executes && !l->ended;
    l->ready = !executes && !l->ended;
    if (!l->ended)
        return true;
    l->holds = true;
    l->holds_exec = executes;
    l->held_at = w->line_at;
    l->digit = w->out[w->line_at - w->flushed];
    w->out[w->line_at - w->flushed] = '#';
    return true;
}

/* An event by another thread about a thread may have the pthread_t of an earlier one with its
 * number. */
static bool is_of_another(const struct posixtrace_event *e)
{
    return strncmp(e->name, "posixtrace_switch_", 18) == 0 ||
           strcmp(e->name, "posixtrace_cpu_time") == 0;
}

/* The number of the line's thread is known, the pthread_t is another: this is the next thread with
 * that number. */
static bool is_next_thread(const struct line *l, const struct posixtrace_event *e)
{
    return l->thread_id && e->thread_id && l->thread_id != e->thread_id && !is_of_another(e);
}

/* The line of an event's thread, the last one with its number; LINES: there are too many. */
static unsigned line_of(struct writer *w, const struct posixtrace_event *e)
{
    unsigned i = w->lines;
    struct line *l;

    while (i > 0 && (w->line[i - 1].tid != e->tid || w->line[i - 1].pid != e->pid ||
                     (!e->tid && w->line[i - 1].thread_id != e->thread_id)))
        i--;
    if (i > 0 && e->tid && is_next_thread(&w->line[i - 1], e)) {
        if (!end_state(w, i - 1))
            return LINES;
        i = 0;
    }
    if (i == 0 && w->lines == LINES)
        return LINES;
    if (i == 0) {
        w->line[w->lines++] = (struct line){ .pid = e->pid, .tid = e->tid };
        i = w->lines;
    }
    l = &w->line[i - 1];
    if (!l->thread_id && (!e->tid || !is_of_another(e)))
        l->thread_id = e->thread_id;
    if (!l->name[0] && *e->thread_name)
        snprintf(l->name, sizeof l->name, "%s", e->thread_name);
    return i - 1;
}

/* The state that is held back did last to here. */
static bool show_held(struct writer *w, unsigned i)
{
    struct line *l = &w->line[i];

    if (!l->holds)
        return true;
    l->holds = false;
    l->executes = l->holds_exec;
    l->ready = !l->holds_exec;
    return put_at(w, l->held_at, l->digit) && end_state(w, i);
}

static bool put_mark(struct writer *w, enum sign sign, unsigned i, const char *name)
{
    switch (sign) {
    case THREAD_BEGIN:
    case START: return put_sign(w, "START", i, true, NULL);
    case THREAD_END:
    case STOP: return put_sign(w, "STOP", i, true, NULL);
    case LOCK: return put_sign(w, "LOCK", i, true, "");
    case UNLOCK: return put_sign(w, "UNLOCK", i, true, "");
    case BLOCK: return put_sign(w, "BLOCK", i, true, "");
    default: return put_sign(w, "TEXTOVER", i, true, name);
    }
}

static bool put_event(struct writer *w, enum sign sign, unsigned i, const char *name)
{
    struct line *l = &w->line[i];
    bool executes = l->ended ? l->holds && l->holds_exec : l->executes;

    if (sign == THREAD_BEGIN)
        l->ended = l->holds = false;
    if (!show_held(w, i))
        return false;
    switch (sign) {
    case SWITCH_IN:
    case EXEC_BEGIN: return begin_state(w, i, true);
    case EXEC_END: return end_state(w, i);
    case PREEMPTED: return begin_state(w, i, false);
    case THREAD_END:
        l->ended = true;
        if (!end_state(w, i))
            return false;
        /* fall through */
    default:
        return put_mark(w, sign, i, name) && (!l->ended || !executes || begin_state(w, i, true));
    }
}

/* A lock that was not had is none. */
static bool has_failed(enum sign sign, const struct posixtrace_event *e)
{
    uint64_t error = 0;

    if (sign != LOCK || e->data_len < 16)
        return false;
    memcpy(&error, (const char *)e->data + 8, 8);
    return error != 0;
}

static bool write_event(struct writer *w, const struct posixtrace_event *e)
{
    uint8_t *sign = &w->sign[e->id % 4096u];
    unsigned i;

    if (*sign == NEW)
        *sign = (uint8_t)sign_of(w, e->name);
    if (!w->begun) {
        w->begun = true;
        w->first = w->last = e->ns;
    }
    if (e->ns < w->last)
        pt_job_note(w->job, NOTE_ORDER,
                    "event %" PRIu64 " is older than the one before it, and is "
                    "shown beside it",
                    w->job->c->events);
    else if ((uint64_t)e->ns - (uint64_t)w->first > TIME_END)
        return pt_job_left_out(w->job, LEFT_TIME,
                               "event %" PRIu64 ": Kiwi's time ends "
                               "9999.999999999 s after the first event",
                               w->job->c->events),
               true;
    else
        w->last = e->ns;
    if (*sign == MARK)
        return put_sign(w, "VLINE", 0, false, NULL);
    if (!w->text && (*sign == TEXT || has_failed((enum sign) * sign, e)))
        return pt_job_left_out(w->job, LEFT_TEXT, NULL), true;
    i = line_of(w, e);
    if (i == LINES)
        return pt_job_left_out(w->job, LEFT_LINES,
                               "event %" PRIu64 " of thread %d: Kiwi has %u "
                               "lines, and as many threads came before",
                               w->job->c->events, (int)e->tid, LINES),
               true;
    return put_event(w, has_failed((enum sign) * sign, e) ? TEXT : (enum sign) * sign, i, e->name);
}

/* ---- the file ---- */

static void put_header(struct writer *w)
{
    uint64_t t = (uint64_t)(w->last - w->first);

    put(w, "# Kiwi trace, written by posixtrace\nFROM 0\nDURATION ");
    put_unsigned(w, t / 1000000000u, 1);
    put(w, ".");
    put_unsigned(w, t % 1000000000u, 9);
    put(w, "\nDECIMAL_DIGITS 9\n");
    for (unsigned i = 0; i < w->lines; i++) {
        put(w, "LINE_NAME ");
        put_unsigned(w, i, 1);
        put(w, " ");
        put_word(w, w->line[i].name[0] ? w->line[i].name : "thread");
        if (w->line[i].tid) {
            put(w, "-");
            put_unsigned(w, (uint64_t)w->line[i].tid, 1);
        }
        put(w, "\n");
    }
}

static int put_together(struct writer *w)
{
    size_t n = 1;

    put_header(w);
    if (fwrite_unlocked(w->out, 1, w->used, w->job->file) != w->used)
        return pt_job_fail_file(w->job);
    rewind(w->body);
    while (n) {
        n = fread_unlocked(w->out, 1, OUT_BYTES, w->body);
        if (fwrite_unlocked(w->out, 1, n, w->job->file) != n)
            return pt_job_fail_file(w->job);
    }
    return ferror(w->body)
               ? pt_job_fail(w->job, errno, "cannot read a temporary file: %s", strerror(errno))
               : 0;
}

static bool take_options(struct writer *w)
{
    const char *text = pt_job_option(w->job, "text", 0), *pair;

    for (size_t i = 0; (pair = pt_job_option(w->job, "exec", i)); i++)
        if (i == EXEC_MOST || !strchr(pair, ',')) {
            pt_job_fail(w->job, EINVAL, "--exec=%s: %s", pair,
                        i == EXEC_MOST ? "more than 32 of them"
                                       : "two names of events are needed: BEGIN,END");
            return false;
        }
    w->text = !text || strcmp(text, "1") == 0;
    if (!w->text && strcmp(text, "0") != 0) {
        pt_job_fail(w->job, EINVAL, "--text=%s: it is 0 or 1", text);
        return false;
    }
    return true;
}

static int write_all(struct writer *w)
{
    struct posixtrace_event e;

    while (!w->job->error && pt_job_next(w->job, &e) && write_event(w, &e))
        continue;
    for (unsigned i = 0; i < w->lines && !w->job->error; i++)
        end_state(w, i);
    return w->job->error || !flush(w) ? w->job->error : put_together(w);
}

static int write_kiwi(struct pt_job *job)
{
    struct writer *w = calloc(1, sizeof *w);
    int error;

    if (!w)
        return pt_job_fail(job, ENOMEM, "no memory");
    w->job = job;
    if (take_options(w)) {
        error = pt_temporary_file(&w->body);
        if (error)
            pt_job_fail(job, error, "cannot make a temporary file (TMPDIR): %s", strerror(error));
        else
            write_all(w);
    }
    if (w->body)
        fclose(w->body);
    free(w);
    return job->error;
}

static const struct posixtrace_format_option options[] = {
    { "exec", "BEGIN,END: between these two events their thread executes; may be repeated" },
    { "text", "0: leave out events that can only be shown as text (1)" },
    { NULL, NULL }
};

const struct pt_format pt_format_kiwi = { .about = { .name = "kiwi",
                                                     .about = "Kiwi .ktr, a line a thread",
                                                     .exports = true,
                                                     .options = options },
                                          .write = write_kiwi };
