/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See calls_model.h. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include "fuzz/calls_model.h"
#include "fuzz/target.h"

#define DATA_MAX  70000u       /* more than any stream takes */
#define BURST_MAX (256u << 10) /* bytes that one call of the model makes in a thread */

struct made {
    uint16_t id;
    uint8_t lane;
    uint32_t len;
};

struct model_stream model_streams[MODEL_STREAMS];
static struct made made[MODEL_EVENTS];
static uint32_t made_count;
static unsigned lanes_used;

void model_reset(void)
{
    made_count = 0;
    lanes_used = 1;
}

void model_stream_init(struct model_stream *s, trace_id_t trid, int fd)
{
    *s = (struct model_stream){ .used = true, .trid = trid, .with_log = fd >= 0, .fd = fd };
}

/* ---- making ---- */

static uint8_t data_byte(uint32_t number, size_t i)
{
    return (uint8_t)(i < 4 ? number >> 8 * i : number * 7 + i * 13);
}

static void put_one(uint32_t number)
{
    static _Thread_local uint8_t data[DATA_MAX];
    const struct made *m = &made[number];

    for (size_t i = 0; i < m->len; i++)
        data[i] = data_byte(number, i);
    posix_trace_event(m->id, data, m->len);
}

/* Notes n events and to which streams they belong. */
static uint32_t note(trace_event_id_t id, size_t len, unsigned n, unsigned lane)
{
    uint32_t first = made_count;

    FUZZ_NEED(made_count + n <= MODEL_EVENTS && len <= DATA_MAX);
    for (unsigned i = 0; i < n; i++)
        made[made_count++] = (struct made){ (uint16_t)id, (uint8_t)lane, (uint32_t)len };
    for (struct model_stream *s = model_streams; s < model_streams + MODEL_STREAMS; s++)
        if (s->used && s->running && id >= POSIX_TRACE_UNNAMED_USEREVENT && id < MODEL_IDS &&
            !s->filter[id])
            s->made += n;
    return first;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Many events or long ones, not both: that would only take time. */
static unsigned at_most(unsigned n, size_t len, unsigned threads)
{
    size_t left = (MODEL_EVENTS - made_count) / threads;

    return (unsigned)least(least(n, 1 + BURST_MAX / (len + 1)), left);
}

void model_put(trace_event_id_t id, size_t len, unsigned n)
{
    uint32_t first;

    n = at_most(n, len, 1);
    first = note(id, len, n, 0);
    for (unsigned i = 0; i < n; i++)
        put_one(first + i);
}

struct work {
    pthread_t thread;
    uint32_t first, n;
};

static void *put_some(void *work)
{
    const struct work *w = work;

    for (uint32_t i = 0; i < w->n; i++)
        put_one(w->first + i);
    return NULL;
}

void model_put_in_threads(trace_event_id_t id, size_t len, unsigned n, unsigned threads)
{
    struct work work[MODEL_LANES];
    unsigned count = 0;

    n = at_most(n, len, threads);
    while (count < threads && lanes_used < MODEL_LANES) {
        work[count].n = n;
        work[count++].first = note(id, len, n, lanes_used++);
    }
    for (unsigned i = 0; i < count; i++)
        FUZZ_NEED(pthread_create(&work[i].thread, NULL, put_some, &work[i]) == 0);
    for (unsigned i = 0; i < count; i++)
        FUZZ_NEED(pthread_join(work[i].thread, NULL) == 0);
}

/* ---- reading ---- */

void model_take(struct model_stream *s, const struct posix_trace_event_info *e, const void *data,
                size_t len, size_t room)
{
    const uint8_t *bytes = data;
    const struct made *m;
    uint32_t number;
    size_t kept;

    FUZZ_NEED(len <= room);
    FUZZ_NEED(e->posix_timestamp.tv_nsec >= 0 && e->posix_timestamp.tv_nsec < 1000000000);
    if (e->posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT) {
        FUZZ_NEED(e->posix_event_id >= 1 && e->posix_event_id <= POSIX_TRACE_ERROR);
        return;
    }
    FUZZ_NEED(e->posix_pid == getpid());
    s->read++;
    if (len < 4)
        return;
    memcpy(&number, bytes, 4);
    FUZZ_NEED(number < made_count);
    m = &made[number];
    kept = least(m->len, s->max_data);
    FUZZ_NEED(e->posix_event_id == m->id && len == least(kept, room));
    FUZZ_NEED(e->posix_truncation_status == (len < kept      ? POSIX_TRACE_TRUNCATED_READ
                                             : kept < m->len ? POSIX_TRACE_TRUNCATED_RECORD
                                                             : POSIX_TRACE_NOT_TRUNCATED));
    for (size_t i = 0; i < len; i++)
        FUZZ_NEED(bytes[i] == data_byte(number, i));
    FUZZ_NEED(number >= s->next[m->lane]);
    s->next[m->lane] = number + 1;
}

void model_read_all(struct model_stream *s, trace_id_t trid)
{
    static uint8_t data[DATA_MAX];
    struct posix_trace_event_info e;
    size_t len;
    int unavailable = 0;

    for (;;) {
        if (s->with_log)
            FUZZ_NEED(posix_trace_getnext_event(trid, &e, data, DATA_MAX, &len, &unavailable) == 0);
        else
            FUZZ_NEED(posix_trace_trygetnext_event(trid, &e, data, DATA_MAX, &len, &unavailable) ==
                      0);
        if (unavailable)
            return;
        model_take(s, &e, data, len, DATA_MAX);
    }
}

/* ---- books ---- */

static struct posixtrace_info ask(trace_id_t trid)
{
    struct posixtrace_info info;

    FUZZ_NEED(posixtrace_get_info(trid, &info, sizeof info) == 0);
    return info;
}

/* Of the threads' events: a log also loses START and the like, which only the
 * stream as a whole counts. */
static void add_up_losses(trace_id_t trid, uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    struct posixtrace_info info = ask(trid);
    struct posixtrace_thread_info thread;
    int end = 0;

    memset(lost, 0, POSIXTRACE_LOSS_CAUSES * sizeof *lost);
    posixtrace_threadlist_rewind(trid);
    while (posixtrace_threadlist_getnext(trid, &thread, sizeof thread, &end) == 0 && !end)
        for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
            lost[c] += thread.lost[c];
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        FUZZ_NEED(c < POSIXTRACE_LOST_LOG_FULL ? info.lost[c] == lost[c] : info.lost[c] >= lost[c]);
}

static uint64_t sum(const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    uint64_t n = 0;

    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        n += lost[c];
    return n;
}

static void balance(const struct model_stream *s, trace_id_t trid)
{
    uint64_t lost[POSIXTRACE_LOSS_CAUSES];

    add_up_losses(trid, lost);
    if (s->made == s->read + s->cleared + sum(lost))
        return;
    fprintf(stderr, "made %llu, read %llu, cleared %llu, lost", (unsigned long long)s->made,
            (unsigned long long)s->read, (unsigned long long)s->cleared);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        fprintf(stderr, " %llu", (unsigned long long)lost[c]);
    fprintf(stderr, "\n");
    FUZZ_NEED(!"the books are exact");
}

void model_look(struct model_stream *s)
{
    struct posix_trace_status_info status;

    FUZZ_NEED(posix_trace_get_status(s->trid, &status) == 0);
    s->running = !s->stopped && (status.posix_stream_status == POSIX_TRACE_RUNNING ||
                                 (s->policy != POSIX_TRACE_LOOP &&
                                  status.posix_stream_full_status == POSIX_TRACE_FULL));
}

void model_clear(struct model_stream *s)
{
    uint64_t lost[POSIXTRACE_LOSS_CAUSES], gone;

    add_up_losses(s->trid, lost);
    gone = s->read + sum(lost);
    FUZZ_NEED(s->made >= gone + s->cleared);
    s->cleared = s->made - gone;
    memset(s->filter, 0, sizeof s->filter);
}

/* What was cleared unread is not counted by the stream any more. */
void model_check_recorded(const struct model_stream *s)
{
    struct posixtrace_info info = ask(s->trid);
    uint64_t counted = info.events + info.lost[POSIXTRACE_LOST_FULL] +
                       info.lost[POSIXTRACE_LOST_NO_MEMORY] + info.lost[POSIXTRACE_LOST_NESTED];

    FUZZ_NEED(counted <= s->made && counted + s->cleared >= s->made);
}

static void finish_log(struct model_stream *s)
{
    trace_id_t log;

    if (s->unreadable || posix_trace_open(s->fd, &log) != 0) {
        FUZZ_NEED(s->unreadable);
        return;
    }
    model_read_all(s, log);
    balance(s, log);
    FUZZ_NEED(posix_trace_close(log) == 0);
}

void model_finish(struct model_stream *s)
{
    int r;

    model_check_recorded(s);
    if (!s->with_log) {
        model_read_all(s, s->trid);
        balance(s, s->trid);
    }
    r = posix_trace_shutdown(s->trid);
    FUZZ_NEED(r == 0 || (s->broken && (r == EPERM || r == EPIPE)));
    s->used = false;
    FUZZ_NEED(posix_trace_shutdown(s->trid) == EINVAL);
    if (s->with_log)
        finish_log(s);
}
