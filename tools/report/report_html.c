/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * report --html: the log as a page, with the report and the worst cases of its pairs in it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <posixtrace/page.h>

#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "report/report.h"
#include "system/atomic_file.h"
#include "why/why.h"

enum { ROWS_MOST = 1000, ROW_PART = 5000, PAIRS_MOST = 8, WORST = 3, BATCH = 16384 };

struct html {
    struct report_view *v;
    struct atomic_file file;
    int write_error;
    char *report, *flame, *distributions;
    char *why[PAIRS_MOST];
    size_t why_count;
    bool why_left_out;
};

/* ---- the worst cases ---- */

static int explain(struct why_view *w, const struct posixtrace_why_options *o)
{
    int unavailable = 0, error = posixtrace_why_create(w->log->trid, o, sizeof *o, &w->why);

    progress_begin("events", 2 * w->log->info.events);
    while (!unavailable && error == 0) {
        error = posixtrace_why_take(w->why, BATCH, &unavailable);
        progress_at(posixtrace_why_events(w->why));
    }
    if (error == 0)
        error = posixtrace_why_end(w->why);
    progress_end();
    return error;
}

static void keep_why(struct html *html, struct why_view *w, const char *pair)
{
    struct why_set set = { .views = w, .count = 1, .shown = w->log->shown };

    w->subject = pair;
    w->summary = posixtrace_why_summary(w->why);
    if (w->summary->count == 0)
        return;
    if (why_set_make(&set, WORST) == EXIT_DONE) {
        out_capture();
        why_print_json(&set);
        html->why[html->why_count++] = out_captured();
    }
    why_set_free(&set);
}

/* The pairs with the most time, all in the same passes. */
static int add_why(struct html *html)
{
    const struct report_view *v = html->v;
    struct why_view w = { .log = v->parts[0].log,
                          .select = v->parts[0].select,
                          .sites = v->parts[0].sites,
                          .origin = v->origin };
    const char *pairs[PAIRS_MOST];
    struct posixtrace_why_options o = {
        .from_ns = INT64_MIN, .to_ns = INT64_MAX, .worst = WORST, .pairs = pairs
    };
    int error;

    while (o.pair_count < v->rows[REPORT_PAIRS].count && o.pair_count < PAIRS_MOST) {
        pairs[o.pair_count] = report_pair(v, o.pair_count)->name;
        o.pair_count++;
    }
    html->why_left_out = v->rows[REPORT_PAIRS].count > o.pair_count;
    if (o.pair_count == 0)
        return EXIT_DONE;
    error = explain(&w, &o);
    for (size_t i = 0; error == 0 && i < o.pair_count; i++) {
        posixtrace_why_select(w.why, i);
        keep_why(html, &w, pairs[i]);
    }
    posixtrace_why_free(w.why);
    return error ? tool_error("cannot read on in %s: %s", v->parts[0].log->shown,
                              failure_reason(error))
                 : EXIT_DONE;
}

static int add_flame(struct html *html)
{
    int error = report_flame(html->v, &html->flame);

    return error ? tool_error("cannot read on in %s: %s", html->v->parts[0].log->shown,
                              failure_reason(error))
                 : EXIT_DONE;
}

/* ---- the file ---- */

static int write_piece(void *context, const void *bytes, size_t length)
{
    struct html *html = context;
    const char *from = bytes;

    while (length > 0) {
        ssize_t n = write(html->file.fd, from, length);

        if (n < 0 && errno != EINTR)
            return html->write_error = errno;
        from += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int show_progress(void *context, uint64_t events)
{
    (void)context;
    progress_at(events);
    return 0;
}

/* A command with the path as one word of a shell. */
static char *command(const char *words, const char *path)
{
    char *text = tool_grow(NULL, strlen(words) + 4 * strlen(path) + 3, 1),
         *at = stpcpy(text, words);

    *at++ = '\'';
    for (; *path; path++)
        at = *path == '\'' ? stpcpy(at, "'\\''") : stpncpy(at, path, 1);
    stpcpy(at, "'");
    return text;
}

static const char why_note[] =
    "The log has more pairs than the page explains: 'posixtrace why' explains the others.";

static const char *name_code(void *context, pid_t pid, int64_t ns, uint64_t address)
{
    static char text[SITES_TEXT];
    const struct html *html = context;

    return sites_find(html->v->parts[0].sites, pid, ns, address, POSIXTRACE_ADDRESS_RETURN, text) >
                   0
               ? text
               : NULL;
}

static const char *name_data(void *context, pid_t pid, int64_t ns, uint64_t address)
{
    static char text[SITES_TEXT];
    const struct html *html = context;

    return sites_find(html->v->parts[0].sites, pid, ns, address, POSIXTRACE_ADDRESS_DATA, text) > 0
               ? text
               : NULL;
}

static int fail(const struct html *html, const char *path, int error)
{
    const struct log_file *log = html->v->parts[0].log;

    if (html->write_error == EPIPE && html->file.fd == STDOUT_FILENO)
        return EXIT_PIPE;
    if (html->write_error)
        return tool_error("cannot write %s: %s", quote(path), strerror(error));
    if (error == EOVERFLOW)
        return tool_error(
            "%s has more than 104 days between its first and last event: a page cannot "
            "show that",
            log->shown);
    return tool_error("cannot make a page of %s: %s", log->shown, failure_reason(error));
}

static int write_page(struct html *html, const char *path, uint64_t size)
{
    const struct log_file *log = html->v->parts[0].log;
    const char *name = strrchr(log->path, '/');
    char *print = command("posixtrace print ", log->path),
         *why = command("posixtrace why ", log->path);
    const struct posixtrace_page_options o = { .name = name ? name + 1 : log->path,
                                               .print = print,
                                               .why = why,
                                               .report = html->report,
                                               .why_reports = (const char *const *)html->why,
                                               .why_count = html->why_count,
                                               .size = size,
                                               .note = html->why_left_out ? why_note : NULL,
                                               .write = write_piece,
                                               .progress = show_progress,
                                               .code = name_code,
                                               .data = name_data,
                                               .context = html,
                                               .flame = html->flame,
                                               .distributions = html->distributions };
    int error;

    progress_begin("events",
                   log->info.events * (html->v->summary.switches + html->v->summary.calls ? 2 : 1));
    error = posixtrace_page_write(log->trid, &o, sizeof o);
    progress_end();
    free(print);
    free(why);
    return error ? fail(html, path, error) : EXIT_DONE;
}

static int make(struct html *html, const char *path, uint64_t size)
{
    struct report_view *v = html->v;
    int status;

    v->top = size > 0 && size / ROW_PART < ROWS_MOST ? (size_t)(size / ROW_PART) : ROWS_MOST;
    report_rows_make(v);
    out_capture();
    report_print_json(v);
    html->report = out_captured();
    html->distributions = report_distributions(v);
    status = add_why(html);
    if (status == EXIT_DONE)
        status = add_flame(html);
    report_rows_free(v);
    if (status == EXIT_DONE)
        status = write_page(html, path, size);
    return status;
}

int report_html_check(const struct log_file *log)
{
    if (!posixtrace_page_available())
        return tool_error("this build cannot write pages: it has no zlib (meson option html)");
    if (!log->seekable)
        return tool_error("%s cannot be read twice: write it to a file, and name that", log->shown);
    return EXIT_DONE;
}

static int make_file(struct html *html, const char *path, uint64_t size, bool replace)
{
    int status = atomic_file_open(&html->file, path, replace);

    if (status != EXIT_DONE)
        return status;
    status = make(html, path, size);
    if (status == EXIT_DONE)
        status = atomic_file_keep(&html->file);
    atomic_file_drop(&html->file);
    return status;
}

int report_print_html(struct report_view *v, const char *path, uint64_t size, bool replace)
{
    struct html html = { .v = v, .file.fd = STDOUT_FILENO };
    int status = strcmp(path, "-") == 0 ? make(&html, "standard output", size)
                                        : make_file(&html, path, size, replace);

    for (size_t i = 0; i < html.why_count; i++)
        free(html.why[i]);
    free(html.report);
    free(html.flame);
    free(html.distributions);
    return status;
}
