/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See scene.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/log.h>
#include "scene.h"

struct scene_trace {
    posixtrace_log_builder_t *builder;
    FILE *file;
};

struct scene_trace *scene_trace_begin(void)
{
    struct scene_trace *t = malloc(sizeof *t);

    SCENE_NEED(t);
    t->file = tmpfile();
    SCENE_NEED(t->file);
    SCENE_NEED((posixtrace_log_builder_create(fileno(t->file), NULL, &t->builder)) == 0);
    return t;
}

void scene_trace_add(struct scene_trace *t, int64_t ns, int tid, const char *event, uint64_t object,
                     int64_t value, bool with_data)
{
    struct {
        uint64_t object;
        int64_t value;
    } data = { object, value };
    const struct posixtrace_event e = { .ns = SCENE_BASE + ns,
                                        .pid = 1,
                                        .tid = tid,
                                        .thread_id = (uint64_t)tid * 4096,
                                        .name = event,
                                        .thread_name = "",
                                        .data = &data,
                                        .data_len = with_data ? sizeof data : 0 };

    SCENE_NEED((posixtrace_log_builder_add(t->builder, &e, sizeof e)) == 0);
}

void scene_trace_add_as(struct scene_trace *t, int64_t ns, int tid, uint64_t thread_id,
                        const char *event)
{
    const struct posixtrace_event e = { .ns = SCENE_BASE + ns,
                                        .pid = 1,
                                        .tid = tid,
                                        .thread_id = thread_id,
                                        .name = event,
                                        .thread_name = "" };

    SCENE_NEED((posixtrace_log_builder_add(t->builder, &e, sizeof e)) == 0);
}

trace_id_t scene_trace_open(struct scene_trace *t)
{
    trace_id_t trid;
    int fd;

    SCENE_NEED((posixtrace_log_builder_finish(t->builder)) == 0);
    fd = dup(fileno(t->file));
    SCENE_NEED((lseek(fd, 0, SEEK_SET)) >= 0);
    SCENE_NEED((posix_trace_open(fd, &trid)) == 0);
    close(fd);
    fclose(t->file);
    free(t);
    return trid;
}

void scene_trace_close(trace_id_t trid)
{
    SCENE_NEED((posix_trace_close(trid)) == 0);
}

static int note(void *context, const struct posixtrace_measurement *m)
{
    /* Not the kernel's number, which <trace.h> does not know. */
    fprintf(context, "%s: %d %lld %lld %lld %llu%s", posixtrace_metric_name(m->metric),
            (int)(m->thread_id / 4096), (long long)(m->begin_ns - SCENE_BASE),
            (long long)(m->end_ns - SCENE_BASE), (long long)m->length_ns,
            (unsigned long long)m->intermediate_events, m->unknown ? " unknown" : "");
    if (m->bound)
        fprintf(context, " bound %lld", (long long)m->least_ns);
    else
        SCENE_NEED(m->least_ns == (m->unknown ? 0 : m->length_ns));
    fputc('\n', context);
    return 0;
}

static void note_doubt(FILE *to, const posixtrace_metric_t *metric,
                       const struct posixtrace_doubt *d)
{
    if (d->unknown || d->unfinished || d->restarted || d->discarded || d->at_most_ns)
        fprintf(to, "%s: unknown %llu unfinished %llu restarted %llu discarded %llu at_most %lld\n",
                posixtrace_metric_name(metric), (unsigned long long)d->unknown,
                (unsigned long long)d->unfinished, (unsigned long long)d->restarted,
                (unsigned long long)d->discarded, (long long)d->at_most_ns);
}

char *scene_results(const posixtrace_metric_t *const *metrics, size_t count, trace_id_t trid)
{
    posixtrace_metric_run_t *run;
    struct posixtrace_doubt doubt;
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    int none = 0;

    SCENE_NEED(to);
    SCENE_NEED((posixtrace_metric_run_create(metrics, count, trid, note, to, &run)) == 0);
    while (!none)
        SCENE_NEED(posixtrace_metric_run_take(run, 3, &none) == 0);
    posixtrace_metric_run_end(run);
    for (size_t i = 0; i < count; i++) {
        posixtrace_metric_run_doubt(run, i, &doubt, sizeof doubt);
        note_doubt(to, metrics[i], &doubt);
    }
    posixtrace_metric_run_free(run);
    fclose(to);
    return text;
}
