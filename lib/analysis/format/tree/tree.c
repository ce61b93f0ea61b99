/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events as text for people, in which events between the start and the end of a pair are indented:
 *
 *   #        TIME      TOOK  THREAD              EVENT
 *    0.000106384            worker 0/4711       file:begin path="README.md"
 *    0.000338059            worker 0/4711         read:begin bytes=262144
 *    0.000354484   16.43us  worker 0/4711         read:end bytes=5207
 *    0.000526418   420.0us  worker 0/4711       file:end path="README.md"
 *
 * Each thread has an indentation of its own.  TOOK is the time since the start.  It is "?" where
 * events were lost or not recorded in between: the end may be that of another pair.
 */
#include <errno.h>
#include <inttypes.h>
#include <posixtrace/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/common/format.h"
#include "analysis/format/common/sites.h"
#include "analysis/format/timeline/timeline.h"
#include "text/escape.h"
#include "text/number.h"

enum { THREAD = 20, INDENT = 2, INDENT_MAX = 40, NAME = 256 };

static const int64_t SECOND = 1000000000;

struct tree {
    struct pt_job *job;
    struct pt_timeline *timeline;
    int64_t base;
    struct pt_sites sites;
    bool colour, has_base;
    char *text; /* of fields */
    size_t room;
};

/* ---- parts of a line ---- */

/* As print has them: times, threads, names of events, marks. */
static const char FAINT[] = "\033[2m", THREAD_COLOUR[] = "\033[36m", BOLD[] = "\033[1m",
                  MARK[] = "\033[1;34m", PLAIN[] = "\033[0m";

static const char *colour(const struct tree *c, const char *code)
{
    return c->colour ? code : "";
}

static void put_time(const struct tree *c, int64_t ns)
{
    const int64_t base = c->base;
    uint64_t since = ns < base ? (uint64_t)base - (uint64_t)ns : (uint64_t)ns - (uint64_t)base;

    fprintf(c->job->file, "%s%*s%" PRIu64 ".%09" PRIu64 "%s", colour(c, FAINT),
            since / (uint64_t)SECOND < 10 ? 2 : 1, ns < base ? "-" : "", since / (uint64_t)SECOND,
            since % (uint64_t)SECOND, colour(c, PLAIN));
}

/* Between two times, which may be further apart than a time has room for. */
static void put_took(FILE *f, int64_t since, int64_t ns)
{
    char text[PT_NUMBER_MAX];

    *pt_number_time(text, (uint64_t)ns - (uint64_t)since) = '\0';
    fprintf(f, " %9s", text);
}

static void put_thread(FILE *f, const struct pt_tl_track *t)
{
    char text[sizeof t->name * PT_ESCAPE_MAX + 16], *end = text;

    end = pt_escape_string(end, t->name, PT_ESCAPE_TEXT, false);
    sprintf(end, "%s%ld", t->name[0] ? "/" : "", (long)t->tid);
    fprintf(f, "  %-*s  ", THREAD, text);
}

static bool make_room(struct tree *c, size_t need)
{
    char *text = need > c->room ? realloc(c->text, need) : c->text;

    if (!text) {
        pt_job_fail(c->job, ENOMEM, "no memory for the fields of an event");
        return false;
    }
    c->text = text;
    c->room = need > c->room ? need : c->room;
    return true;
}

/* The field of that name, which has an address? */
static bool is_field(const char *at, const char *key, size_t *length)
{
    *length = strlen(key);
    return strncmp(at, key, *length) == 0 && strncmp(at + *length, "0x", 2) == 0;
}

/* Is an address at that place of a system event's fields, after so many bytes? */
static bool is_address(const struct posixtrace_event *e, const char *at, size_t *before,
                       enum posixtrace_address *kind)
{
    *kind = POSIXTRACE_ADDRESS_RETURN;
    if (is_field(at, " caller=", before))
        return true;
    if (e->id == POSIXTRACE_STACK)
        return is_field(at, "[", before) || is_field(at, ",", before);
    *kind = POSIXTRACE_ADDRESS_DATA;
    if (is_field(at, " object=", before))
        return true;
    *kind = POSIXTRACE_ADDRESS_CODE;
    return is_field(at, " function=", before);
}

/* The fields with names in the place of addresses, where they are known. */
static void put_named(struct tree *c, const struct posixtrace_event *e)
{
    char name[PT_SITES_TEXT], *end;
    enum posixtrace_address kind;
    FILE *f = c->job->file;
    size_t before;

    for (const char *at = c->text; *at;) {
        if (is_address(e, at, &before, &kind) &&
            pt_sites_text(&c->sites, e, strtoull(at + before, &end, 16), kind, name) > 0) {
            fwrite(at, 1, before, f);
            fputs(name, f);
            at = end;
        } else {
            putc(*at++, f);
        }
    }
}

/* Of a type that has addresses, and no text that may look like one. */
static bool has_addresses(const struct posixtrace_event *e)
{
    return e->id >= POSIXTRACE_MUTEX_LOCK && e->id <= POSIXTRACE_FUNCTION_EXIT &&
           e->id != POSIXTRACE_DESCRIPTOR;
}

static void put_fields(struct tree *c, const struct pt_tl_event *ev)
{
    const struct posixtrace_event *e = ev->e;
    size_t length;

    c->text[0] = ' ';
    length = posixtrace_layout_text(ev->layout, e->data, e->data_len, c->text + 1, c->room - 1);
    if (length + 1 >= c->room) {
        if (!make_room(c, length + 2))
            return;
        posixtrace_layout_text(ev->layout, e->data, e->data_len, c->text + 1, c->room - 1);
    }
    if (length > 0 && c->sites.symbols && has_addresses(e))
        put_named(c, e);
    else if (length > 0)
        fputs(c->text, c->job->file);
}

static void put_bytes(FILE *f, const struct posixtrace_event *e)
{
    putc(' ', f);
    for (size_t i = 0; i < e->data_len; i++)
        fprintf(f, "%02x", ((const uint8_t *)e->data)[i]);
}

static void put_event(struct tree *c, const struct pt_tl_track *t, unsigned depth, const char *name,
                      const struct pt_tl_event *ev)
{
    unsigned indent = depth * INDENT < INDENT_MAX ? depth * INDENT : INDENT_MAX;
    size_t length = strlen(name);
    FILE *f = c->job->file;

    fputs(colour(c, THREAD_COLOUR), f);
    put_thread(f, t);
    fputs(colour(c, PLAIN), f);
    if (!make_room(c, length * PT_ESCAPE_MAX + 1))
        return;
    *pt_escape_string(c->text, name, PT_ESCAPE_TEXT, false) = '\0';
    fprintf(f, "%*s%s%s%s", (int)indent, "",
            colour(c, strncmp(name, "posix_trace_", 12) ? BOLD : MARK), c->text, colour(c, PLAIN));
    if (!ev)
        fputs(" [continued]", f);
    if (ev && ev->layout)
        put_fields(c, ev);
    else if (ev && ev->ignores)
        fprintf(f, " ignores %s", ev->ignores);
    else if (ev && ev->e->data_len > 0)
        put_bytes(f, ev->e);
    if (ev && ev->misfit)
        fputs(" [not as described]", f);
    if (ev && ev->e->truncation != POSIX_TRACE_NOT_TRUNCATED)
        fputs(" [truncated]", f);
    putc('\n', f);
}

/* ---- what the timeline says ---- */

static void put_first(void *self, int64_t ns)
{
    struct tree *c = self;

    c->base = c->has_base ? c->base : ns;
    fprintf(c->job->file, "#%12s %9s  %-*s  EVENT\n", "TIME", "TOOK", THREAD, "THREAD");
}

static void put_track(void *self, const struct pt_tl_track *t)
{
    (void)self;
    (void)t;
}

static void put_begin(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                      const struct pt_tl_event *ev)
{
    struct tree *c = self;

    put_time(c, ns);
    fprintf(c->job->file, " %9s", "");
    put_event(c, t, t->depth - 1u, ev ? ev->type->name : pt_timeline_label(c->timeline, label), ev);
}

static void put_end(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                    const struct pt_tl_event *ev)
{
    struct tree *c = self;
    int64_t since = t->since[t->depth];

    if (!ev)
        return; /* it continues, or its thread has ended without its end */
    put_time(c, ns);
    if (pt_timeline_is_whole(c->timeline, since, ns))
        put_took(c->job->file, since, ns);
    else
        fprintf(c->job->file, " %9s", "?");
    put_event(c, t, t->depth, ev->type->name, ev);
    (void)label;
}

static void put_instant(void *self, const struct pt_tl_track *t, const struct pt_tl_event *ev)
{
    struct tree *c = self;
    /* Of an end after a loss the beginning may be there, or another one. */
    bool cut = ev->type->end >= 0 && !pt_timeline_is_whole(c->timeline, INT64_MIN + 1, ev->e->ns);

    put_time(c, ev->e->ns);
    fprintf(c->job->file, " %9s", cut ? "?" : "");
    put_event(c, t, t->depth, ev->type->name, ev);
}

static void put_whole(void *self, const struct pt_tl_track *t, int64_t since, uint32_t label,
                      const struct pt_tl_event *ev)
{
    struct tree *c = self;

    put_time(c, ev->e->ns);
    put_took(c->job->file, since, ev->e->ns);
    put_event(c, t, t->depth, ev->type->name, ev);
    (void)label;
}

static void put_lost(void *self, const struct pt_tl_track *t, int64_t ns,
                     const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    struct tree *c = self;

    (void)ns;
    if (t->pid || t->tid)
        return; /* the sum follows */
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        if (lost[i])
            fprintf(c->job->file, "# %" PRIu64 " events lost: %s\n", lost[i],
                    posixtrace_loss_cause_text(i));
}

static const struct pt_tl_ops ops = { put_first, put_track, put_begin, put_end,  put_instant,
                                      put_whole, NULL,      NULL,      put_lost, NULL,
                                      NULL,      NULL,      NULL };

static int take_options(struct tree *c)
{
    const char *word = pt_job_option(c->job, "color", 0),
               *origin = pt_job_option(c->job, "origin", 0);
    char *end = NULL;

    c->colour = word && strcmp(word, "yes") == 0;
    if (word && !c->colour && strcmp(word, "no") != 0)
        return pt_job_fail(c->job, EINVAL, "option color=%s: say yes or no", word);
    errno = 0;
    c->has_base = origin != NULL;
    c->base = origin ? strtoll(origin, &end, 10) : 0;
    if (origin && (end == origin || *end || errno))
        return pt_job_fail(c->job, EINVAL, "option origin=%s: say a number of ns", origin);
    return 0;
}

static int work(struct tree *c)
{
    if (take_options(c) != 0)
        return c->job->error;
    c->timeline = make_room(c, NAME) ? pt_timeline_new(c->job, &ops, c) : NULL;
    while (c->timeline && pt_timeline_next(c->timeline) && !ferror(c->job->file))
        ;
    if (!c->job->error && c->timeline && !ferror(c->job->file))
        pt_timeline_end(c->timeline);
    if (!c->job->error && ferror(c->job->file))
        return pt_job_fail_file(c->job);
    return c->job->error;
}

static int write_tree(struct pt_job *job)
{
    struct tree c = { .job = job };
    int error = pt_sites_open(&c.sites, job) ? work(&c) : job->error;

    pt_sites_close(&c.sites);
    pt_timeline_free(c.timeline);
    free(c.text);
    return error;
}

static const struct posixtrace_format_option options[] = {
    { "pair", "BEGIN,END or BEGIN,END,LABEL: these two events are a pair; may be repeated" },
    { "pairs", "no: names as x:begin and x:end are no pairs, only the pairs given are" },
    PT_SITES_OPTIONS,
    { "origin", "ns since 1970 that times count from (the first event that is exported)" },
    { "color", "yes: with the colours of a terminal; no (default)" },
    { NULL, NULL }
};

const struct pt_format pt_format_tree = {
    .about = { .name = "tree",
               .about = "text, with events between begin and end indented",
               .exports = true,
               .options = options },
    .write = write_tree,
};
