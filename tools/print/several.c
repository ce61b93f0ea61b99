/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See several.h.  What print points at in
 * a batch stays until that log is read again, so a batch is printed to its end before that.
 */
#include "print/several.h"

#include <stdlib.h>
#include <string.h>

#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { PROGRESS_EVERY = 1 << 14 };

/* Goes to the next event that is wanted; *none: there is none.  0, or an error number. */
static int find_next(struct several *s, struct several_log *in, bool *none)
{
    *none = false;
    for (;; in->at++) {
        const struct posixtrace_event *e;

        if (in->at == in->count) {
            int error = posixtrace_next_events(in->in->log.trid, in->batch, sizeof in->batch[0],
                                               SEVERAL_BATCH, &in->count);

            in->at = 0;
            in->source->batch++;
            s->read += error ? 0 : in->count;
            *none = error == 0 && in->count == 0;
            if (error || *none)
                return error;
        }
        e = &in->batch[in->at];
        if (select_wants(&in->in->select, in->in->log.trid, e)) {
            in->key = e->ns > in->key ? e->ns : in->key;
            return 0;
        }
        if (in->may_stop && e->ns > in->in->select.to_ns) {
            *none = true;
            return 0;
        }
    }
}

static int read_error(const struct several_log *in, int error)
{
    out_flush();
    return tool_error("cannot read on in %s: %s", in->in->log.shown, strerror(error));
}

static int begin_all(struct several *s)
{
    for (size_t i = 0; i < s->logs->count; i++) {
        struct several_log *in = &s->each[i];
        bool none;
        int error = 0;

        if (in->in->select.from.kind != WHEN_NEVER)
            error = posixtrace_seek(in->in->log.trid, in->in->select.from_ns);
        in->key = INT64_MIN;
        if (error == 0)
            error = find_next(s, in, &none);
        if (error)
            return read_error(in, error);
        if (!none)
            earliest_add(&s->next, i, in->key);
    }
    return EXIT_DONE;
}

static int print_all(struct several *s, struct print *p)
{
    int status = begin_all(s);
    uint64_t shown = 0;

    while (status == EXIT_DONE && s->next.count > 0 && !out_failed()) {
        size_t log = earliest_first(&s->next);
        struct several_log *in = &s->each[log];
        bool none;
        int error;

        if (s->read >= shown) {
            progress_at(s->read);
            shown = s->read + PROGRESS_EVERY;
        }
        p->from = in->source;
        p->other_clock = !host_clocks_same(s->clocks, log, s->last);
        s->last = log;
        p->printer->event(p, &in->batch[in->at++]);
        p->printed++;
        error = find_next(s, in, &none);
        if (error)
            status = read_error(in, error);
        else if (none)
            earliest_drop(&s->next);
        else
            earliest_advance(&s->next, in->key);
    }
    return status;
}

int several_print(struct logs *logs, struct print *p, bool strict)
{
    struct several s = { .logs = logs };
    int status;

    s.each = tool_zeroed(logs->count * sizeof *s.each);
    s.clocks = logs_clocks(logs);
    earliest_init(&s.next, logs->count);
    for (size_t i = 0; i < logs->count; i++) {
        struct input_log *in = logs->at[i];

        s.each[i].in = in;
        s.each[i].may_stop = in->log.info.late == 0 && in->log.info.set_back == 0;
        sites_open(&in->sites, in->log.trid);
        s.each[i].source = print_add(p, &in->log, &in->sites, in->label);
    }
    p->several_clocks = host_clocks_several(s.clocks);
    p->any = logs_first(logs, &p->origin);
    p->kept_from = p->origin;
    status = logs_resolve(logs);
    if (status == EXIT_DONE) {
        logs_warn(logs);
        p->printer->begin(p);
        status = print_all(&s, p);
        p->printer->end(p);
        out_flush();
        status = logs_report(logs, strict, status);
    }
    free(s.each);
    earliest_free(&s.next);
    host_clocks_free(s.clocks);
    return status;
}
