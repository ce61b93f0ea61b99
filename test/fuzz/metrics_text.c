/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a text of metrics.  It is refused with a place that is in it, or gives
 * metrics that can be checked, drawn and run: over a trace of a few threads whose events
 * have the names of the first events of each metric, with a gap in it.  Running a metric
 * twice gives the same.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/log.h>
#include <posixtrace/metrics.h>
#include "fuzz/target.h"
#include <posixtrace/event.h>

enum { TRACE_EVENTS = 40, THREADS = 3, NAMES = 4 };

static unsigned long accepted, refused, measurements;

struct seen {
    uint64_t count, sum;
};

static int note(void *context, const struct posixtrace_measurement *m)
{
    struct seen *seen = context;

    seen->count++;
    seen->sum = seen->sum * 31 + (uint64_t)m->length_ns + m->intermediate_events + m->key +
                m->unknown;
    return 0;
}

static const char *name_of(const posixtrace_metric_t *metric, unsigned n)
{
    const char *name = posixtrace_metric_event(metric, n % NAMES, NULL);

    return name && *name && strlen(name) <= TRACE_EVENT_NAME_MAX ? name : "another";
}

/* Which event, whose and with what data follows from its number alone. */
static trace_id_t make_trace(const posixtrace_metric_t *metric)
{
    FILE *f = tmpfile();
    posixtrace_log_builder_t *builder;
    unsigned state = 1;
    trace_id_t trid;

    FUZZ_NEED(f && posixtrace_log_builder_create(fileno(f), NULL, &builder) == 0);
    for (unsigned i = 0; i < TRACE_EVENTS; i++) {
        const uint64_t data[2] = { state % 2, i % 3 == 0 };
        struct posixtrace_event e = {
            .ns = 1000 + i * 10, .thread_name = "", .data = data, .data_len = i % 5 * 4, .pid = 1
        };

        state = state * 1103515245u + 12345u;
        e.tid = 1 + (int)(state >> 16) % THREADS;
        e.name = i == 25   ? "posix_trace_overflow"
                 : i == 26 ? "posix_trace_resume"
                           : name_of(metric, state >> 20);
        /* A name of the standard's own may not be had by an event of a thread. */
        posixtrace_log_builder_add(builder, &e, sizeof e);
    }
    FUZZ_NEED(posixtrace_log_builder_finish(builder) == 0);
    FUZZ_NEED(lseek(fileno(f), 0, SEEK_SET) == 0 && posix_trace_open(fileno(f), &trid) == 0);
    fclose(f);
    return trid;
}

static struct seen run(const posixtrace_metric_t *metric, trace_id_t trid)
{
    struct seen seen = { 0 };
    posixtrace_metric_run_t *r;
    int none;

    FUZZ_NEED(posixtrace_metric_run_create(&metric, 1, trid, note, &seen, &r) == 0);
    FUZZ_NEED(posixtrace_metric_run_take(r, 0, &none) == 0 && none);
    posixtrace_metric_run_end(r);
    posixtrace_metric_run_free(r);
    return seen;
}

static void use(const posixtrace_metric_t *metric)
{
    trace_id_t trid = make_trace(metric);
    struct seen first = run(metric, trid), second = run(metric, trid);
    size_t len = posixtrace_metric_dot(metric, NULL, 0);
    char *text = malloc(len + 1);

    FUZZ_NEED(first.count == second.count && first.sum == second.sum);
    measurements += first.count;
    FUZZ_NEED(posix_trace_close(trid) == 0);
    FUZZ_NEED(text && posixtrace_metric_dot(metric, text, len + 1) == len && strlen(text) == len);
    FUZZ_NEED(strncmp(text, "digraph", 7) == 0);
    free(text);
    len = posixtrace_metric_mermaid(metric, NULL, 0);
    text = malloc(len + 1);
    FUZZ_NEED(text && posixtrace_metric_mermaid(metric, text, len + 1) == len &&
              strlen(text) == len);
    free(text);
}

static void check_fault(const struct posixtrace_metric_fault *fault, const char *text, size_t size)
{
    unsigned lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    FUZZ_NEED(fault->line >= 1 && fault->line <= lines && fault->column >= 1 &&
              fault->column <= size + 1);
    FUZZ_NEED(fault->text[0] && memchr(fault->text, '\0', sizeof fault->text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct posixtrace_metric_fault fault;
    posixtrace_metric_set_t *set;
    char *text = calloc(size ? size : 1, 1);

    FUZZ_NEED(text);
    if (size)
        memcpy(text, bytes, size);
    if (posixtrace_metric_set_parse(text, size, &set, &fault) == 0) {
        posixtrace_metric_set_check(set, NULL, NULL);
        for (size_t i = 0; i < 2 && i < posixtrace_metric_set_count(set); i++)
            use(posixtrace_metric_set_get(set, i));
        posixtrace_metric_set_free(set);
        accepted++;
    } else {
        check_fault(&fault, text, size);
        refused++;
    }
    free(text);
    return 0;
}

static void finish(void)
{
    printf("%lu texts accepted, %lu refused, %lu measurements\n", accepted, refused, measurements);
    FUZZ_NEED(accepted > 0 && refused > 0 && measurements > 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 100, .finish = finish };
