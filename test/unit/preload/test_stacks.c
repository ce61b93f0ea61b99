/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Stacks of calls that may wait: their functions, by name, after the event that ends the call; as
 * many as POSIXTRACE_RECORD_STACKS says, which is 16 here, or the argument.
 */
#include <posixtrace/event.h>
#include <posixtrace/symbols.h>
#include <posixtrace/system.h>
#include <semaphore.h>
#include <signal.h>
#include <fcntl.h>
#include <unwind.h>
#include "support/trace_helpers.h"

/* The program has an unwinder of its own, as those that are linked with libunwind. */
_Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn visit, void *context)
{
    (void)visit;
    (void)context;
    abort();
}

#define APART __attribute__((noinline, noclone))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t sem;
static unsigned most;
static bool longer;

static APART void inner(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static APART void middle(void)
{
    inner();
    __asm__ volatile("" ::: "memory");
}

static APART void outer(void)
{
    middle();
    __asm__ volatile("" ::: "memory");
}

static void on_signal(int number)
{
    (void)number;
    sem_wait(&sem);
}

static APART void raises(void)
{
    sem_init(&sem, 0, 1);
    raise(SIGUSR1);
    __asm__ volatile("" ::: "memory");
}

static trace_id_t begin(char path[TH_PATH])
{
    trace_id_t trid = th_stream_log(th_file(path, O_RDWR), .inherit = POSIX_TRACE_INHERITED);

    ck_ok(posix_trace_start(trid));
    return trid;
}

/* The names of the functions of the stack, the innermost first, up to that one. */
static char *names_of(trace_id_t log, posixtrace_symbols_t *s, const struct posixtrace_event *e,
                      const char *last)
{
    char *text = th_alloc(4096);
    uint16_t count;

    ck_ok(posixtrace_symbols_update(s, log));
    memcpy(&count, e->data, sizeof count);
    ck_assert_uint_eq(e->data_len, 2 + 8u * count);
    ck_assert_uint_ge(count, 1);
    ck_assert_uint_le(count, most);
    for (uint16_t i = 0; i < count; i++) {
        struct posixtrace_symbol symbol;
        uint64_t address;

        memcpy(&address, (const char *)e->data + 2 + 8 * i, sizeof address);
        if (!posixtrace_symbols_find(s, e->pid, e->ns, address, POSIXTRACE_ADDRESS_RETURN, &symbol,
                                     sizeof symbol) ||
            !symbol.name)
            continue;
        strcat(strcat(text, i ? " " : ""), symbol.name);
        if (strcmp(symbol.name, last) == 0)
            break;
    }
    return text;
}

/* The last event of the log that ends a call of that type, and the one after it. */
static void find(trace_id_t log, trace_event_id_t ends, struct posixtrace_event *stack)
{
    struct posixtrace_event e;
    int unavailable = 0;
    bool ended = false, found = false;

    for (;;) {
        ck_ok(posixtrace_next_event(log, &e, sizeof e, &unavailable));
        if (unavailable)
            break;
        if (ended) {
            ck_assert_uint_eq(e.id, POSIXTRACE_STACK);
            stack->data_len = e.data_len;
            stack->data = memcpy(th_alloc(e.data_len), e.data, e.data_len);
            stack->ns = e.ns;
            stack->pid = e.pid;
            found = true;
        }
        ended = e.id == (longer ? POSIXTRACE_LONG_CALL : ends);
    }
    ck_assert(found);
}

static void expect(const char *path, trace_event_id_t ends, const char *names, const char *last)
{
    struct posixtrace_event stack = { 0 };
    trace_id_t log = th_open(path);
    posixtrace_symbols_t *s;

    ck_ok(posixtrace_symbols_create(NULL, &s));
    find(log, ends, &stack);
    ck_assert_str_eq(names_of(log, s, &stack, last), names);
    posixtrace_symbols_free(s);
    th_close(log);
}

START_TEST(functions)
{
    char path[TH_PATH];
    trace_id_t trid = begin(path);

    outer();
    ck_ok(posix_trace_shutdown(trid));
    if (most >= 3)
        expect(path, POSIXTRACE_MUTEX_LOCKED, "inner middle outer", "outer");
    else
        expect(path, POSIXTRACE_MUTEX_LOCKED, "inner", "outer");
}
END_TEST

/* In a handler: what it has interrupted belongs to it. */
START_TEST(handler)
{
    const struct sigaction action = { .sa_handler = on_signal };
    char path[TH_PATH], *names;
    struct posixtrace_event stack = { 0 };
    posixtrace_symbols_t *s;
    trace_id_t trid, log;

    ck_ok(sigaction(SIGUSR1, &action, NULL));
    trid = begin(path);
    raises();
    ck_ok(posix_trace_shutdown(trid));
    log = th_open(path);
    ck_ok(posixtrace_symbols_create(NULL, &s));
    find(log, POSIXTRACE_SEM_TAKEN, &stack);
    names = names_of(log, s, &stack, "raises");
    ck_assert_ptr_eq(strstr(names, "on_signal"), names);
    if (most > 8)
        ck_assert_ptr_nonnull(strstr(names, "raises"));
    posixtrace_symbols_free(s);
    th_close(log);
}
END_TEST

/* A filter that leaves stacks out, and calls that do not wait. */
START_TEST(filtered)
{
    trace_event_set_t set;
    trace_id_t trid;
    struct posixtrace_event e;
    char path[TH_PATH];
    int unavailable = 0;

    ck_ok(posix_trace_eventset_empty(&set));
    ck_ok(posix_trace_eventset_add(POSIXTRACE_STACK, &set));
    trid = th_stream_log(th_file(path, O_RDWR), .inherit = POSIX_TRACE_INHERITED);
    ck_ok(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    ck_ok(posix_trace_start(trid));
    outer();
    ck_ok(posix_trace_shutdown(trid));
    trid = th_open(path);
    while (posixtrace_next_event(trid, &e, sizeof e, &unavailable) == 0 && !unavailable)
        ck_assert_uint_ne(e.id, POSIXTRACE_STACK);
    th_close(trid);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, functions);
    tcase_add_test(tc, handler);
    tcase_add_test(tc, filtered);
}

int main(void)
{
    most = (unsigned)atoi(getenv("POSIXTRACE_RECORD_STACKS"));
    longer = getenv("POSIXTRACE_RECORD_LONGER_THAN") != NULL;
    return posixtrace_symbols_have_names() ? th_main("stacks", add) : 77;
}
