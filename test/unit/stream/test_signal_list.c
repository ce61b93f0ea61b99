/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The functions of libposixtrace that posixtrace(7) lists as async-signal-safe: each runs in a
 * signal handler, allocates nothing, frees nothing and takes no lock, and errno stays.  With
 * --list the program prints their names, which a test compares with the page.
 */
#include <errno.h>
#include <posixtrace/context.h>
#include <posixtrace/emit.h>
#include <posixtrace/filter.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/mapping.h>
#include <posixtrace/system.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "support/need.h"
#include "support/own_order.h"

static const char *inside; /* the function that the handler calls, or NULL */
static unsigned failures;

static void forbid(const char *what)
{
    if (inside) {
        failures++;
        inside = NULL;
        fprintf(stderr, "an async-signal-safe function calls %s()\n", what);
    }
}

/* Calls of the library go through the test. */
#define WRAPPED(result, name, parameters, arguments) \
    result __real_##name parameters;                 \
    result __wrap_##name parameters;                 \
    result __wrap_##name parameters                  \
    {                                                \
        forbid(#name);                               \
        return __real_##name arguments;              \
    }

WRAPPED(void *, malloc, (size_t n), (n))
WRAPPED(void *, calloc, (size_t n, size_t size), (n, size))
WRAPPED(void *, realloc, (void *at, size_t n), (at, n))
WRAPPED(void, free, (void *at), (at))
WRAPPED(int, pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
WRAPPED(int, pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))

static struct {
    trace_event_id_t id;
    posixtrace_expression_t *expression;
    posixtrace_layout_t *layout;
    struct posixtrace_event event;
    struct posixtrace_value values[2];
    uint32_t data[2];
} with = { .data = { 5, 7 } };

static bool is_good; /* what the function returned */

static void call_event(void)
{
    posix_trace_event(with.id, with.data, sizeof with.data);
    is_good = true;
}

static void call_system_event(void)
{
    posixtrace_system_event(POSIXTRACE_SEM_POST, with.data, sizeof with.data);
    is_good = true;
}

static void call_thread_renamed(void)
{
    posixtrace_thread_renamed(pthread_self());
    is_good = true;
}

static void call_context(void)
{
    is_good = posixtrace_context("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01") == 0;
}

static void call_system_wanted(void)
{
    is_good = posixtrace_system_wanted();
}

static void call_eventset_system(void)
{
    trace_event_set_t set;

    is_good = posixtrace_eventset_system("io,locks", &set) == 0;
}

static void call_system_streams(void)
{
    is_good = posixtrace_system_streams(POSIXTRACE_SEM_POST) != 0;
}

static void call_mapping_note(void)
{
    posixtrace_mapping_note((const void *)(uintptr_t)call_thread_renamed);
    is_good = true;
}

static void call_mapping_changed(void)
{
    posixtrace_mapping_changed();
    is_good = true;
}

static void call_system_wants(void)
{
    is_good = posixtrace_system_wants(POSIXTRACE_SEM_POST, POSIXTRACE_SEM_POST);
}

static void call_call_text(void)
{
    is_good = posixtrace_call_text(POSIXTRACE_CALL_PAUSE) && !posixtrace_call_text(UINT32_MAX);
}

static void call_system_text(void)
{
    is_good = posixtrace_system_text(POSIXTRACE_SEM_POST) && !posixtrace_system_text(9);
}

static struct posixtrace_waiting waiting = { .type = POSIXTRACE_SEM_WAIT, .call = UINT32_MAX };

static void call_waiting_begin(void)
{
    posixtrace_waiting_begin(&waiting);
    is_good = waiting.began != 0;
}

static void call_waiting_ns(void)
{
    is_good = posixtrace_waiting_ns(&waiting) >= 0;
}

static void call_waiting_end(void)
{
    posixtrace_waiting_end(&waiting, NULL);
    is_good = true;
}

static void call_event_wanted(void)
{
    is_good = posixtrace_event_wanted(with.id);
}

static void call_event_word(void)
{
    posixtrace_event_word(with.id, 8, 1);
    is_good = true;
}

static void call_event_words(void)
{
    posixtrace_event_words(with.id, 16, 1, 2);
    is_good = true;
}

static void call_site_gates(void)
{
    const uint64_t *const *gates = posixtrace_site_gates();

    is_good = posixtrace_event_wanted(with.id) == ((*gates)[with.id] != 0);
}

static void call_error_text(void)
{
    is_good = posixtrace_error_text(EILSEQ) && posixtrace_error_text(ENOENT);
}

static void call_loss_cause_text(void)
{
    is_good = posixtrace_loss_cause_text(POSIXTRACE_LOST_FULL) != NULL;
}

static void call_match(void)
{
    is_good = posixtrace_expression_match(with.expression, &with.event, with.layout);
}

static void call_decide(void)
{
    is_good = posixtrace_expression_decide(with.expression, "safe", with.layout) == -1;
}

static void call_needs_fields(void)
{
    is_good = posixtrace_expression_needs_fields(with.expression);
}

static void call_test(void)
{
    struct posixtrace_expression_test test;

    is_good = posixtrace_expression_get_test(with.expression, 0, &test, sizeof test) == 0;
}

static void call_test_suits(void)
{
    is_good = posixtrace_expression_test_suits(with.expression, 0, "safe", with.layout);
}

static void call_layout_count(void)
{
    is_good = posixtrace_layout_count(with.layout) == 2;
}

static void call_layout_field(void)
{
    is_good = posixtrace_layout_field(with.layout, 1) != NULL;
}

static void call_layout_find(void)
{
    is_good = posixtrace_layout_find(with.layout, "b") == 1;
}

static void call_layout_is_big_endian(void)
{
    is_good = posixtrace_layout_is_big_endian(with.layout) == (sizeof OWN_ORDER > 1);
}

static void call_layout_size(void)
{
    is_good = posixtrace_layout_size(with.layout) == sizeof with.data;
}

static void call_layout_split(void)
{
    size_t fields;

    is_good = posixtrace_layout_split(with.layout, with.data, sizeof with.data, with.values,
                                      &fields) == 0;
}

static void call_value_integer(void)
{
    is_good = posixtrace_value_integer(with.layout, 0, &with.values[0], 0) == 5;
}

static void call_value_float(void)
{
    is_good = posixtrace_value_float(with.layout, 1, &with.values[1], 0) > 0;
}

static void call_field_enumerator(void)
{
    is_good = posixtrace_field_enumerator(posixtrace_layout_field(with.layout, 0), 5) != NULL;
}

static const struct {
    const char *name;
    void (*call)(void);
} list[] = {
    { "posix_trace_event", call_event },
    { "posixtrace_error_text", call_error_text },
    { "posixtrace_event_wanted", call_event_wanted },
    { "posixtrace_event_word", call_event_word },
    { "posixtrace_event_words", call_event_words },
    { "posixtrace_expression_decide", call_decide },
    { "posixtrace_expression_match", call_match },
    { "posixtrace_expression_needs_fields", call_needs_fields },
    { "posixtrace_expression_get_test", call_test },
    { "posixtrace_expression_test_suits", call_test_suits },
    { "posixtrace_field_enumerator", call_field_enumerator },
    { "posixtrace_layout_count", call_layout_count },
    { "posixtrace_layout_field", call_layout_field },
    { "posixtrace_layout_find", call_layout_find },
    { "posixtrace_layout_is_big_endian", call_layout_is_big_endian },
    { "posixtrace_layout_size", call_layout_size },
    { "posixtrace_layout_split", call_layout_split },
    { "posixtrace_context", call_context },
    { "posixtrace_loss_cause_text", call_loss_cause_text },
    { "posixtrace_site_gates", call_site_gates },
    { "posixtrace_system_event", call_system_event },
    { "posixtrace_call_text", call_call_text },
    { "posixtrace_system_text", call_system_text },
    { "posixtrace_system_wanted", call_system_wanted },
    { "posixtrace_eventset_system", call_eventset_system },
    { "posixtrace_system_streams", call_system_streams },
    { "posixtrace_mapping_note", call_mapping_note },
    { "posixtrace_mapping_changed", call_mapping_changed },
    { "posixtrace_system_wants", call_system_wants },
    { "posixtrace_thread_renamed", call_thread_renamed },
    { "posixtrace_waiting_begin", call_waiting_begin },
    { "posixtrace_waiting_ns", call_waiting_ns },
    { "posixtrace_waiting_end", call_waiting_end },
    { "posixtrace_value_float", call_value_float },
    { "posixtrace_value_integer", call_value_integer },
};

enum { COUNT = sizeof list / sizeof *list, ROUNDS = 3 };

static volatile sig_atomic_t chosen;

static void handler(int number)
{
    (void)number;
    is_good = false;
    errno = EXDEV;
    inside = list[chosen].name;
    list[chosen].call();
    inside = NULL;
}

static void call_in_handler(int i)
{
    chosen = i;
    NEED(raise(SIGUSR1) == 0);
    if (!is_good || errno != EXDEV) {
        fprintf(stderr, "%s() in a handler: %s\n", list[i].name,
                is_good ? "errno is another" : "it did not do what it is for");
        failures++;
    }
}

static void prepare(void)
{
    trace_id_t trid;

    NEED(posixtrace_event_describe("safe", "u32 a {five=5}; u32 b", &with.id) == 0);
    NEED(posixtrace_layout_parse(OWN_ORDER "u32 a {five=5}; f32 b", &with.layout, NULL) == 0);
    NEED(posixtrace_expression_parse("event \"safe\" and a == five", &with.expression, NULL) == 0);
    with.event = (struct posixtrace_event){
        .name = "safe", .thread_name = "", .data = with.data, .data_len = sizeof with.data
    };
    NEED(posix_trace_create(0, NULL, &trid) == 0 && posix_trace_start(trid) == 0);
    NEED(signal(SIGUSR1, handler) != SIG_ERR);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < COUNT; i++)
            puts(list[i].name);
        return 0;
    }
    prepare();
    for (int i = 0; i < ROUNDS * COUNT; i++)
        call_in_handler(i % COUNT);
    return failures != 0;
}
