/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The subject of the proof and its verifier.
 *
 * The subject's main thread traces numbered events on LANE_MAIN, and notes in
 * shared memory how many calls have returned; the event of the window is one
 * of them.  Its handler and its second thread have lanes of their own.  In the
 * end everything that was noted must be in the streams, and nothing else but,
 * at most once, an event whose call was left.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <trace.h>
#include "proof/stepper.h"
#include "proof/subject.h"
#include "torture/demand.h"
#include "torture/payload.h"

#define AFTER      6u  /* events after the window */
#define HELP       3u  /* events of the second thread */
#define WATCHDOG_S 380 /* for one event, which may be stepped on a loaded machine */

enum { LANE_MAIN, LANE_HANDLER, LANE_HELPER, LANES };

struct shared *shared;
int logs[STREAMS];

static trace_event_id_t event_id, handler_id;
static trace_id_t trids[STREAMS];
static bool short_ones;
static sigjmp_buf way_out;
static volatile sig_atomic_t jump_now, stop_now;

static unsigned stream_count(const struct plan *plan)
{
    return plan->scene == STEADY_ONE || plan->scene == CHUNK_CHANGE || plan->scene == FIRST_EVENT ||
                   plan->scene == SHORT_ONE
               ? 1
               : 2;
}

static bool is_short(const struct plan *plan)
{
    return plan->scene == SHORT_ONE || plan->scene == SHORT_TWO || plan->scene == SHORT_LAST;
}

static bool has_handler(const struct plan *plan, unsigned stream)
{
    return stream == 0 || !is_short(plan);
}

/* ---- tracing ---- */

/* The symbols must exist once: neither inlined nor copied. */
__attribute__((noinline, used)) static void window(const struct payload *p, size_t len)
{
    __asm__ volatile(".globl step_begin\n.hidden step_begin\nstep_begin:" ::: "memory");
    posix_trace_event(event_id, p, len);
    __asm__ volatile(".globl step_end\n.hidden step_end\nstep_end:" ::: "memory");
}

static size_t make(struct payload *p, uint32_t lane, uint64_t seq)
{
    return short_ones ? payload_make_short(p, lane, seq) : payload_make(p, lane, seq);
}

static void trace_main_event(uint64_t seq, bool in_window)
{
    struct payload p;
    size_t len = make(&p, LANE_MAIN, seq);

    alarm(WATCHDOG_S);
    if (in_window) {
        stepper_stop();
        window(&p, len);
    } else {
        posix_trace_event(event_id, &p, len);
    }
    shared->returned = seq + 1;
}

static void on_signal(int sig)
{
    struct payload p;
    size_t len = make(&p, LANE_HANDLER, shared->handled);

    (void)sig;
    posix_trace_event(handler_id, &p, len);
    shared->handled++;
    if (jump_now) {
        jump_now = 0;
        siglongjmp(way_out, 1);
    }
    if (stop_now) {
        stop_now = 0;
        stepper_stop();
    }
}

static void leave_out_handler(trace_id_t trid)
{
    trace_event_set_t set;

    DEMAND_OK(posix_trace_eventset_empty(&set));
    DEMAND_OK(posix_trace_eventset_add(handler_id, &set));
    DEMAND_OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
}

static trace_id_t open_stream(const struct plan *plan, unsigned i)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, is_short(plan) ? 32 << 10 : 256 << 10));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    if (plan->blow == KILL) {
        DEMAND_OK(posix_trace_create_withlog(0, &attr, logs[i], &trid));
    } else {
        DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
        DEMAND_OK(posix_trace_create(0, &attr, &trid));
    }
    if (!has_handler(plan, i))
        leave_out_handler(trid);
    DEMAND_OK(posix_trace_start(trid));
    return trid;
}

/* ---- checks of the events read ---- */

int64_t proof_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

/* HOLD has taken, or takes, so long that time may go backward.  Asked when it matters:
 * on a loaded machine the driver may not run for as long as that. */
static bool was_slow(void)
{
    int64_t until = shared->released_ms ? shared->released_ms : proof_now_ms();

    return shared->held_ms != 0 && until - shared->held_ms > PROOF_SLOW_MS;
}

/* What has been read of one stream, and whether it may be so. */
struct check {
    const struct plan *plan;
    uint64_t next[LANES];
    uint64_t missed; /* the event of the window, if its call was left */
    int64_t last_ns;
};

static struct check checks[STREAMS];

static void begin_checks(const struct plan *plan)
{
    for (unsigned i = 0; i < STREAMS; i++)
        checks[i] = (struct check){ .plan = plan };
    checks[1].next[LANE_MAIN] = shared->second_from;
}

/* The handler was sent for when the window was entered, and ran at once. */
static void check_place_of_handler(const struct check *c)
{
    uint64_t next = c->next[LANE_MAIN], window = c->plan->window;

    if (c->plan->blow == SIGNAL || c->plan->blow == JUMP || c->plan->blow == TWICE)
        DEMAND(next == window || next == window + 1, "the handler's event comes before number %llu",
               (unsigned long long)next);
}

static void check_event(struct check *c, const struct posix_trace_event_info *info,
                        const void *data, size_t len)
{
    int64_t ns = info->posix_timestamp.tv_sec * 1000000000ll + info->posix_timestamp.tv_nsec;
    struct payload p;

    DEMAND(ns >= c->last_ns || was_slow(), "time goes back by %lld ns",
           (long long)(c->last_ns - ns));
    c->last_ns = ns;
    if (info->posix_event_id != event_id && info->posix_event_id != handler_id)
        return;
    DEMAND(payload_is_whole(&p, data, len) && p.lane < LANES, "torn event of %zu bytes", len);
    DEMAND(info->posix_truncation_status == POSIX_TRACE_NOT_TRUNCATED, "truncated");
    if (p.lane == LANE_MAIN && c->plan->blow == JUMP && c->next[LANE_MAIN] == c->plan->window &&
        p.seq == c->plan->window + 1) {
        c->next[LANE_MAIN]++;
        c->missed++;
    }
    DEMAND(p.seq == c->next[p.lane], "lane %u: %llu instead of %llu", p.lane,
           (unsigned long long)p.seq, (unsigned long long)c->next[p.lane]);
    if (p.lane == LANE_HANDLER && p.seq == 0)
        check_place_of_handler(c);
    c->next[p.lane]++;
}

static void read_live(unsigned stream)
{
    struct posix_trace_event_info info;
    uint8_t data[PAYLOAD_MAX];
    size_t len;
    int unavailable = 0;

    for (;;) {
        DEMAND_OK(posix_trace_trygetnext_event(trids[stream], &info, data, sizeof data, &len,
                                               &unavailable));
        if (unavailable)
            return;
        check_event(&checks[stream], &info, data, len);
    }
}

static void check_losses(trace_id_t trid, uint64_t allowed)
{
    struct posixtrace_info info;
    uint64_t lost = 0;

    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        lost += info.lost[i];
    DEMAND(lost <= allowed, "%llu events lost", (unsigned long long)lost);
    DEMAND(info.late == 0 || was_slow(), "%llu events late", (unsigned long long)info.late);
}

static void check_all_of_live(unsigned stream)
{
    const struct check *c = &checks[stream];
    uint64_t handled = has_handler(c->plan, stream) ? shared->handled : 0;

    read_live(stream);
    DEMAND(c->next[LANE_MAIN] == shared->returned, "%llu of %llu events",
           (unsigned long long)c->next[LANE_MAIN], (unsigned long long)shared->returned);
    DEMAND(c->next[LANE_HANDLER] == handled, "%llu of %llu events of the handler",
           (unsigned long long)c->next[LANE_HANDLER], (unsigned long long)handled);
    DEMAND(c->next[LANE_HELPER] == shared->helped, "%llu of %llu events of the second thread",
           (unsigned long long)c->next[LANE_HELPER], (unsigned long long)shared->helped);
    check_losses(trids[stream], c->missed);
}

/* ---- the subject ---- */

/* While the main thread stands in its window: traces, then reads all that may
 * be read.  What the main thread has begun must not be overtaken. */
static void *help(void *plan)
{
    struct payload p;

    while (!shared->help_now)
        usleep(50);
    for (; shared->helped < HELP; shared->helped++) {
        size_t len = make(&p, LANE_HELPER, shared->helped);

        posix_trace_event(event_id, &p, len);
    }
    for (unsigned i = 0; i < stream_count(plan); i++)
        read_live(i);
    shared->help_done = 1;
    return NULL;
}

/* Events up to the window and after it; in a survey all are windows. */
static void trace_all(const struct plan *plan)
{
    volatile uint64_t seq = 0;
    uint64_t end = plan->window + 1 + AFTER;

    for (; seq < plan->window; seq++)
        trace_main_event(seq, plan->blow == SURVEY_ONLY);
    if (plan->scene == STREAM_JOINS) {
        shared->second_from = seq;
        trids[1] = open_stream(plan, 1);
    }
    begin_checks(plan);
    jump_now = plan->blow == JUMP;
    stop_now = plan->blow == TWICE;
    if (sigsetjmp(way_out, 1) == 0)
        trace_main_event(seq, true);
    for (seq++; seq < end; seq++) {
        trace_main_event(seq, false);
        if (plan->blow != SURVEY_ONLY && seq % 2 == 0)
            raise(SIGUSR1);
    }
}

static void install_handler(bool alternate)
{
    static char memory[64 << 10];
    stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = alternate ? SA_ONSTACK : 0 };

    sigemptyset(&action.sa_mask);
    DEMAND(!alternate || sigaltstack(&stack, NULL) == 0, "no alternate stack");
    DEMAND(sigaction(SIGUSR1, &action, NULL) == 0, "no handler");
}

void be_subject(const struct plan *plan)
{
    pthread_t helper;

    alarm(WATCHDOG_S);
    install_handler(plan->alternate);
    short_ones = is_short(plan);
    DEMAND_OK(posix_trace_eventid_open("proof", &event_id));
    DEMAND_OK(posix_trace_eventid_open("proof handler", &handler_id));
    trids[0] = open_stream(plan, 0);
    if (stream_count(plan) == 2 && plan->scene != STREAM_JOINS)
        trids[1] = open_stream(plan, 1);
    if (plan->blow == HOLD)
        DEMAND_OK(pthread_create(&helper, NULL, help, (void *)(uintptr_t)plan));
    stepper_attach();
    trace_all(plan);
    if (plan->blow == HOLD)
        DEMAND_OK(pthread_join(helper, NULL));
    for (unsigned i = 0; i < stream_count(plan); i++) {
        if (plan->blow != KILL) {
            DEMAND_OK(posix_trace_stop(trids[i]));
            check_all_of_live(i);
        }
        DEMAND_OK(posix_trace_shutdown(trids[i]));
    }
    _exit(0);
}

/* ---- the verifier ---- */

/* Ids belong to the stream: the log has its own for the name. */
static trace_event_id_t type_in_log(trace_id_t trid, const char *wanted)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int unavailable;

    for (;;) {
        DEMAND_OK(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
        DEMAND(!unavailable, "the log does not know the event type");
        DEMAND_OK(posix_trace_eventid_get_name(trid, id, name));
        if (strcmp(name, wanted) == 0)
            return id;
    }
}

static uint64_t read_log(const struct plan *plan, unsigned stream, int *end)
{
    struct check *c = &checks[stream];
    struct posix_trace_event_info info;
    struct posixtrace_info about;
    trace_id_t trid;
    uint8_t data[PAYLOAD_MAX];
    size_t len;
    int unavailable = 0;

    begin_checks(plan);
    DEMAND_OK(posix_trace_open(logs[stream], &trid));
    event_id = type_in_log(trid, "proof");
    handler_id = type_in_log(trid, "proof handler");
    for (;;) {
        DEMAND_OK(posix_trace_getnext_event(trid, &info, data, sizeof data, &len, &unavailable));
        if (unavailable)
            break;
        check_event(c, &info, data, len);
    }
    DEMAND_OK(posixtrace_get_info(trid, &about, sizeof about));
    *end = about.end;
    DEMAND_OK(posix_trace_close(trid));
    DEMAND(c->next[LANE_MAIN] == shared->returned || c->next[LANE_MAIN] == shared->returned + 1,
           "%llu of %llu events", (unsigned long long)c->next[LANE_MAIN],
           (unsigned long long)shared->returned);
    return c->next[LANE_MAIN];
}

void be_verifier(const struct plan *plan)
{
    alarm(WATCHDOG_S);
    for (unsigned i = 0; i < stream_count(plan); i++) {
        struct posixtrace_recover_report report;
        uint64_t before, after;
        int end;

        before = read_log(plan, i, &end);
        DEMAND(end == POSIXTRACE_END_TAIL, "end %d before recovery", end);
        DEMAND_OK(posixtrace_log_recover(logs[i], &report, sizeof report));
        after = read_log(plan, i, &end);
        DEMAND(end == POSIXTRACE_END_RECOVERED, "end %d after recovery", end);
        DEMAND(before == after, "%llu events before recovery, %llu after",
               (unsigned long long)before, (unsigned long long)after);
    }
    _exit(0);
}
