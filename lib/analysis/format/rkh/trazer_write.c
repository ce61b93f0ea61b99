/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export as the text that Trazer 3.2 prints.  Events that were imported from RKH are
 * printed as Trazer prints the record, all others as user events: the event's name, then
 * a line for the thread, one for the place in the program, and one for each field.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/rkh/rkh_job.h"
#include "analysis/format/rkh/trazer_write.h"

int pt_trazer_write(struct pt_job *job);

/* ---- lines ---- */

static void set_time(struct pt_trazer_writer *w, int64_t ns)
{
    uint64_t u = ns < 0 ? 0 : (uint64_t)ns;

    w->ticks = u / 1000000000u * w->rate + (u % 1000000000u * w->rate + 999999999u) / 1000000000u;
}

void pt_trazer_put_head(struct pt_trazer_writer *w, const char *group, size_t group_len,
                        const char *name, size_t name_len)
{
    static const unsigned widths[] = { 10, 3, 5, 10, 10 };
    uint64_t mask = pt_rkh_none(w->stamp);

    pt_trazer_put(w, ' ');
    pt_trazer_put_unsigned(w, w->ticks & mask, 10, widths[w->stamp], ' ');
    pt_trazer_put_text(w, "| [");
    pt_trazer_put_unsigned(w, w->sequence++, 10, 3, ' ');
    pt_trazer_put_text(w, "] | ");
    pt_trazer_put_padded(w, group, group_len, 4);
    pt_trazer_put_text(w, "| ");
    pt_trazer_put_padded(w, name, name_len, 10);
    pt_trazer_put_text(w, " : ");
}

/* ---- response times ---- */

static struct pt_trazer_queue *queue_of(struct pt_trazer_writer *w, uint64_t object, bool new)
{
    for (unsigned i = 0; i < w->queue_count; i++)
        if (w->queues[i].object == object)
            return &w->queues[i];
    if (!new || w->queue_count == PT_TRAZER_QUEUES)
        return NULL;
    w->queues[w->queue_count] = (struct pt_trazer_queue){ .object = object, .posted = 1 };
    return &w->queues[w->queue_count++];
}

static void put_posted(struct pt_trazer_writer *w, uint64_t object, uint64_t signal)
{
    struct pt_trazer_queue *q = queue_of(w, object, true);
    unsigned i;

    if (!q)
        return;
    pt_trazer_put_text(w, ", nseq=");
    pt_trazer_put_unsigned(w, q->posted, 10, 0, ' ');
    if (q->count < PT_TRAZER_WAITING) {
        i = (q->first + q->count++) % PT_TRAZER_WAITING;
        q->event[i].signal = signal;
        q->event[i].ticks = w->ticks;
        q->event[i].nseq = q->posted;
    }
    q->posted++;
}

static void put_taken(struct pt_trazer_writer *w, uint64_t object, uint64_t signal)
{
    struct pt_trazer_queue *q = w->timed ? queue_of(w, object, false) : NULL;
    int64_t passed = -1;
    uint32_t nseq = 0;

    if (q && q->count) {
        if (q->event[q->first].signal == signal) {
            passed = (int64_t)(w->ticks - q->event[q->first].ticks);
            nseq = q->event[q->first].nseq;
        }
        q->first = (q->first + 1) % PT_TRAZER_WAITING;
        q->count--;
    }
    pt_trazer_put_text(w, ", rt=");
    pt_trazer_put_signed(w, passed);
    pt_trazer_put_text(w, ", nseq=");
    pt_trazer_put_unsigned(w, nseq, 10, 0, ' ');
}

/* ---- records of RKH ---- */

struct taken {
    const uint8_t *at;
    size_t left;
    uint64_t object, signal; /* the first of each */
    bool first;              /* nothing was printed yet */
};

static bool take_text(struct taken *t, const char **text, size_t *len)
{
    *len = strnlen((const char *)t->at, t->left);
    if (*len == t->left)
        return false;
    *text = (const char *)t->at;
    t->at += *len + 1;
    t->left -= *len + 1;
    return true;
}

void pt_trazer_put_symbol(struct pt_trazer_writer *w, uint64_t v, const char *name, size_t len)
{
    if (len) {
        pt_trazer_put_foreign(w, name, len);
    } else if (v == 0) {
        pt_trazer_put(w, '?');
    } else {
        pt_trazer_put_text(w, "0X");
        pt_trazer_put_unsigned(w, v, 16, 0, '0');
    }
}

static void put_number(struct pt_trazer_writer *w, const struct pt_rkh_arg *a, uint64_t v)
{
    static const char *const acts[] = { "Effect", "Entry", "Exit", "Init", "Prepro", "Guard" };

    if (a->kind == 'x') {
        pt_trazer_put_text(w, "0x");
        pt_trazer_put_unsigned(w, v, 16, 8, '0');
    } else if (a->kind == 'p' && v == 0) {
        pt_trazer_put_text(w, "static");
    } else if (a->kind == 'k' && v < sizeof acts / sizeof *acts) {
        pt_trazer_put_text(w, acts[v]);
    } else {
        pt_trazer_put_unsigned(w, v, 10, 0, ' ');
    }
}

static void put_name(struct pt_trazer_writer *w, struct taken *t, const struct pt_rkh_arg *a)
{
    if (!t->first)
        pt_trazer_put_text(w, ", ");
    t->first = false;
    if (a->kind == 'k')
        return;
    pt_trazer_put_piece(w, a->name, a->name_len);
    pt_trazer_put(w, '=');
}

static bool put_arg(struct pt_trazer_writer *w, struct taken *t, const struct pt_rkh_arg *a)
{
    unsigned bytes = pt_rkh_width_of_ours(a->kind);
    const char *text = "";
    size_t len = 0;
    uint64_t v;

    if (a->kind == 's') {
        if (!take_text(t, &text, &len))
            return false;
        put_name(w, t, a);
        pt_trazer_put_foreign(w, text + (*text == '&'), len - (*text == '&'));
        return true;
    }
    if (bytes == 0 || t->left < bytes)
        return false;
    v = pt_rkh_load(t->at, bytes);
    t->at += bytes;
    t->left -= bytes;
    if (pt_rkh_has_name(a->kind) && !take_text(t, &text, &len))
        return false;
    if (a->when && v == pt_rkh_none(bytes))
        return true;
    if (a->kind == 'S' && !t->object)
        t->object = v;
    if (a->kind == 'G')
        t->signal = v;
    put_name(w, t, a);
    if (pt_rkh_has_name(a->kind))
        pt_trazer_put_symbol(w, v, text, len);
    else
        put_number(w, a, v);
    return true;
}

/* "(123), module.c" */
static void put_assert(struct pt_trazer_writer *w, struct taken *t)
{
    const char *text;
    size_t len;

    if (!take_text(t, &text, &len) || t->left < 2)
        return;
    pt_trazer_put(w, '(');
    pt_trazer_put_unsigned(w, pt_rkh_load(t->at, 2), 10, 0, ' ');
    pt_trazer_put_text(w, "), ");
    pt_trazer_put_foreign(w, text, len);
    pt_trazer_put_text(w, ".c");
}

static void put_config(struct pt_trazer_writer *w, const struct posixtrace_event *e)
{
    const uint8_t *p = e->data;
    uint64_t rate;

    if (e->data_len != 21)
        return;
    if (p[7] == 1 || p[7] == 2 || p[7] == 4)
        w->stamp = p[7];
    rate = pt_rkh_load(p + 17, 4);
    if (!w->rate_given && rate)
        w->rate = rate;
    set_time(w, e->ns);
    w->timed = true;
    w->queue_count = 0;
    pt_trazer_put_text(w, pt_trazer_config_line);
    for (unsigned i = 0; pt_trazer_config[i].name; i++) {
        const struct pt_trazer_setting *s = &pt_trazer_config[i];
        uint64_t v = pt_rkh_load(p + s->at, s->bytes);

        pt_trazer_put_repeated(w, ' ', 38);
        pt_trazer_put_text(w, "| ");
        pt_trazer_put_padded(w, s->name, strlen(s->name), 30);
        pt_trazer_put_text(w, "= ");
        if (i == 0) {
            pt_trazer_put_unsigned(w, v >> 12, 16, 0, '0');
            pt_trazer_put(w, '.');
            pt_trazer_put_unsigned(w, v >> 8 & 15, 16, 0, '0');
            pt_trazer_put(w, '.');
            pt_trazer_put_unsigned(w, v & 255, 16, 2, '0');
        } else {
            pt_trazer_put_unsigned(w, s->bit >= 0 ? v >> s->bit & 1 : v * s->times, 10, 0, ' ');
        }
        pt_trazer_put(w, '\n');
    }
    pt_trazer_put_text(w, "\n\n");
}

static void put_lost(struct pt_trazer_writer *w, const struct posixtrace_event *e)
{
    pt_trazer_put_text(w, "\n***** May be have lost trace info, sequence are not correlatives\n");
    if (e->data_len == 6)
        w->sequence = ((const uint8_t *)e->data)[5];
    w->timed = false;
    w->swallow = 2;
}

static void put_record(struct pt_trazer_writer *w, unsigned id, const struct posixtrace_event *e)
{
    const struct pt_rkh_type *type = &w->types.of[id];
    struct taken t = { .at = e->data, .left = e->data_len, .first = true };
    const char *group = type->name + 4, *name = strchr(group, '_') + 1;
    const char *shown = id < 0x40 && id >= 0x20 ? "RQ" : id >= 0x80 && id < 0xa0 ? "TIM" : NULL;

    if (id == PT_RKH_FWK_TCFG) {
        put_config(w, e);
        return;
    }
    if (shown)
        pt_trazer_put_head(w, shown, strlen(shown), name, strlen(name));
    else
        pt_trazer_put_head(w, group, (size_t)(name - 1 - group), name, strlen(name));
    if (id == 0xad)
        put_assert(w, &t);
    else if (type->count == 0)
        pt_trazer_put(w, ' ');
    else
        for (unsigned i = 0; i < type->count && put_arg(w, &t, &type->args[i]); i++)
            continue;
    if (id == 0x43 || id == 0x44)
        put_posted(w, t.object, t.signal);
    else if (id == 0x42)
        put_taken(w, t.object, t.signal);
    pt_trazer_put(w, '\n');
}

/* ---- all of it ---- */

static void put_event(struct pt_trazer_writer *w, const struct posixtrace_event *e)
{
    unsigned id = e->id % 4096u;

    if (w->record[id] == -2) {
        w->record[id] = (int16_t)pt_rkh_type_find(&w->types, e->name);
        w->user[id] = strncmp(e->name, "rkh:USR:", 8) == 0;
    }
    if (w->swallow) {
        w->swallow--;
        if (strcmp(e->name, "posix_trace_overflow") == 0 ||
            strcmp(e->name, "posix_trace_resume") == 0)
            return;
        w->swallow = 0;
    }
    set_time(w, e->ns);
    if (w->record[id] >= 0 && w->record[id] < PT_RKH_UNIT_TEST)
        put_record(w, (unsigned)w->record[id], e);
    else if (strcmp(e->name, "rkh:LOST") == 0)
        put_lost(w, e);
    else if (strcmp(e->name, "rkh:DAMAGED") == 0)
        pt_trazer_put_text(w, "\n***** Stream Checksum Error\n");
    else
        pt_trazer_put_user(w, e, w->user[id]);
}

static int write_all(struct pt_trazer_writer *w)
{
    struct posixtrace_event e;

    w->rate = 1000000;
    w->rate_given = pt_job_option(w->job, "rate", 0) != NULL;
    w->stamp = 4;
    for (unsigned i = 0; i < 4096; i++)
        w->record[i] = -2;
    pt_rkh_types_init(&w->types, false);
    if (!pt_rkh_number_option(w->job, "rate", 1, 1000000000u, &w->rate))
        return w->job->error;
    while (!w->job->error && pt_job_next(w->job, &e))
        put_event(w, &e);
    if (!w->job->error && fwrite_unlocked(w->out, 1, w->used, w->job->file) != w->used)
        pt_job_fail_file(w->job);
    return w->job->error;
}

int pt_trazer_write(struct pt_job *job)
{
    struct pt_trazer_writer *w = calloc(1, sizeof *w);
    struct pt_trazer_queue *queues = calloc(PT_TRAZER_QUEUES, sizeof *queues);

    if (w && queues) {
        w->job = job;
        w->queues = queues;
        write_all(w);
    } else {
        pt_job_fail(job, ENOMEM, "no memory");
    }
    free(queues);
    free(w);
    return job->error;
}
