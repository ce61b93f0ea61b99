/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Filters that look at more than the type, in the traced program: expressions over names,
 * processes, threads and fields; types that come later; children, other programs, targets
 * and signal handlers; several streams beside each other; and a filter that is changed
 * while others trace.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/emit.h>
#include <posixtrace/event.h>
#include <posixtrace/filter.h>
#include <posixtrace/stream.h>
#include <posixtrace/typed.h>
#include "page/names.h"
#include "process/self.h"
#include "support/image.h"
#include "support/own_order.h"
#include "support/run_suite.h"

static trace_id_t create(pid_t pid)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(pid, &attr, &trid), 0);
    return trid;
}

static void express(trace_id_t trid, const char *expression)
{
    struct posixtrace_expression_fault fault;
    int error = posixtrace_set_expression(trid, expression, &fault);

    ck_assert_msg(error == 0, "%s: %d, %s", expression, error, fault.text);
}

static trace_id_t filtered(const char *expression)
{
    trace_id_t trid = create(0);

    express(trid, expression);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static trace_event_id_t open_type(const char *name)
{
    trace_event_id_t id;

    /* Also where check is not at work: in threads and other programs. */
    if (posix_trace_eventid_open(name, &id) != 0)
        abort();
    return id;
}

static trace_event_id_t describe(const char *name, const char *description)
{
    trace_event_id_t id;

    if (posixtrace_event_describe(name, description, &id) != 0)
        abort();
    return id;
}

static void trace_u32(trace_event_id_t id, uint32_t value)
{
    posix_trace_event(id, &value, sizeof value);
}

/* What there is to read, "name=value" with commas, without the stream's own events. */
static const char *content(trace_id_t trid)
{
    static char text[4096];
    struct posixtrace_event e;
    size_t at = 0;
    int none = 0;

    text[0] = '\0';
    for (;;) {
        uint32_t value = 0;

        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            return text;
        if (e.id <= POSIX_TRACE_ERROR)
            continue;
        memcpy(&value, e.data, e.data_len < sizeof value ? e.data_len : sizeof value);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s=%u", at ? "," : "", e.name,
                               (unsigned)value);
        ck_assert_uint_lt(at, sizeof text);
    }
}

static void end(trace_id_t trid)
{
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

START_TEST(errors)
{
    char text[POSIXTRACE_EXPRESSION_MAX + 2], is[POSIXTRACE_EXPRESSION_MAX + 1];
    struct posixtrace_expression_fault fault;
    trace_id_t trid = create(0);

    memset(text, ' ', sizeof text - 1);
    memcpy(text, "a == 1", 6);
    text[sizeof text - 1] = '\0';
    ck_assert_int_eq(posixtrace_set_expression(trid, text, &fault), ENAMETOOLONG);
    text[sizeof text - 2] = '\0';
    ck_assert_int_eq(posixtrace_set_expression(trid, text, &fault), 0);
    ck_assert_int_eq(posixtrace_get_expression(trid, is, sizeof is), 0);
    ck_assert_int_eq(posixtrace_get_expression(trid, is, 0), EINVAL);
    ck_assert_int_eq(posixtrace_get_expression(trid, is, strlen(is)), ERANGE);
    ck_assert_int_eq(posixtrace_get_expression(trid, is, strlen(is) + 1), 0);
    ck_assert_str_eq(is, text);
    ck_assert_int_eq(posixtrace_set_expression(trid, "tid tid", &fault), EINVAL);
    ck_assert_uint_eq(fault.column, 5);
    ck_assert_int_eq(posixtrace_set_expression(trid, "tid tid", NULL), EINVAL);
    ck_assert_int_eq(posixtrace_set_expression(trid + 1000, "tid 1", NULL), EINVAL);
    ck_assert_int_eq(posixtrace_get_expression(trid + 1000, is, sizeof is), EINVAL);
    ck_assert_int_eq(posixtrace_get_expression(trid, NULL, 1), EINVAL);
    ck_assert_int_eq(posixtrace_get_expression(trid, is, sizeof is), 0);
    ck_assert_str_eq(is, text);
    ck_assert_int_eq(posixtrace_set_expression(trid, NULL, NULL), 0);
    ck_assert_int_eq(posixtrace_get_expression(trid, is, sizeof is), 0);
    ck_assert_str_eq(is, "");
    end(trid);
}
END_TEST

static const struct {
    const char *expression, *content;
} by_fields[] = {
    { "price >= 100", "order=100,order=250" },
    { "price == 7 or event \"tick\"", "order=7,tick=1,tick=2" },
    { "not price < 100", "order=100,order=250,tick=1,tick=2,plain=9,empty=0" },
    { "event \"order\" and not price == 7", "order=100,order=250" },
    { "length == 0", "empty=0" },
    { "group order", NULL },
    { "class \"order\"", "" },
    { "event \"*\"", "order=7,order=100,order=250,tick=1,tick=2,plain=9,empty=0" },
    { "", "order=7,order=100,order=250,tick=1,tick=2,plain=9,empty=0" },
    { "pid 0", "" },
};

static void trace_orders(void)
{
    trace_event_id_t order = describe("order", "u32 price"), tick = describe("tick", "u32 n");

    trace_u32(order, 7);
    trace_u32(order, 100);
    trace_u32(order, 250);
    trace_u32(tick, 1);
    trace_u32(tick, 2);
    trace_u32(open_type("plain"), 9);
    posix_trace_event(open_type("empty"), NULL, 0);
}

/* The types are there before the filter, or come when it is in force. */
START_TEST(fields)
{
    trace_id_t trid;

    if (!by_fields[_i / 2].content) {
        trid = create(0);
        ck_assert_int_eq(posixtrace_set_expression(trid, by_fields[_i / 2].expression, NULL),
                         EINVAL);
        end(trid);
        return;
    }
    if (_i % 2) {
        describe("order", "u32 price");
        describe("tick", "u32 n");
        open_type("plain");
        open_type("empty");
    }
    trid = filtered(by_fields[_i / 2].expression);
    trace_orders();
    ck_assert_str_eq(content(trid), by_fields[_i / 2].content);
    end(trid);
}
END_TEST

static bool spoil_errno(void *context, const struct posixtrace_event *event)
{
    (void)event;
    (void)context;
    errno = EDOM;
    return true;
}

/* The first event after the filter has changed compiles it. */
START_TEST(errno_is_kept)
{
    static const char *const expressions[] = { "not tid 5", "n == 1", "n < 1.5", "n == 0x1.8p1" };
    trace_event_id_t id;
    trace_id_t trid = create(0);

    errno = ERANGE;
    id = describe("numbers", "u32 n; u8[2] rest");
    ck_assert_int_eq(errno, ERANGE);
    ck_assert_int_eq(posixtrace_set_handler(trid, id, spoil_errno, NULL), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        errno = ERANGE;
        express(trid, expressions[i]);
        ck_assert_int_eq(errno, ERANGE);
        trace_u32(id, 1);
        ck_assert_int_eq(errno, ERANGE);
    }
    end(trid);
}
END_TEST

/* Where the type decides, the gate does. */
/* Publishes by hand the map's next description, whose bytes are there. */
static void publish(struct pt_names *names, trace_event_id_t id, uint32_t at, size_t length)
{
    unsigned i = 0;

    while (pt_names_has_description(names, i))
        i++;
    names->description[i] = (PT_NAMES_NAME_BYTES + at) | (uint64_t)length << 32 |
                            (uint64_t)(id - PT_ID_NAMED_FIRST) << 48;
}

/* Another thread or process takes room for a description, and publishes it after an event. */
START_TEST(described_around_an_event)
{
    static const char text[] = OWN_ORDER "u32 n";
    trace_event_id_t id = open_type("around");
    trace_id_t trid = filtered("n > 1");
    struct pt_names *names;
    uint32_t at;

    trace_u32(id, 2);
    names = pt_self_peek()->names;
    at = names->described;
    memcpy(names->arena + PT_NAMES_NAME_BYTES + at, text, sizeof text);
    names->described = at + sizeof text;
    trace_u32(id, 3);
    ck_assert_str_eq(content(trid), "");
    publish(names, id, at, sizeof text - 1);
    trace_u32(id, 1);
    trace_u32(id, 4);
    ck_assert_str_eq(content(trid), "around=4");
    end(trid);
}
END_TEST

START_TEST(gates)
{
    trace_id_t trid = filtered("event \"order*\" or event \"late\" and price > 5");
    trace_event_id_t early = open_type("order.early"), other = open_type("tick");
    trace_event_id_t late = open_type("late");

    ck_assert_int_eq(posixtrace_event_wanted(early), 1);
    ck_assert_int_eq(posixtrace_event_wanted(other), 0);
    ck_assert_int_eq(posixtrace_event_wanted(late), 1);
    trace_u32(late, 6);
    describe("late", "u32 other");
    ck_assert_int_eq(posixtrace_event_wanted(late), 0);
    express(trid, "not event \"order*\"");
    ck_assert_int_eq(posixtrace_event_wanted(early), 0);
    ck_assert_int_eq(posixtrace_event_wanted(other), 1);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    ck_assert_int_eq(posixtrace_event_wanted(other), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(posixtrace_event_wanted(early), 0);
    ck_assert_int_eq(posixtrace_event_wanted(other), 1);
    express(trid, "pid 1");
    ck_assert_int_eq(posixtrace_event_wanted(other), 0);
    ck_assert_int_eq(posix_trace_clear(trid), 0);
    ck_assert_int_eq(posixtrace_event_wanted(early), 1);
    ck_assert_str_eq(content(trid), "");
    end(trid);
    ck_assert_int_eq(posixtrace_event_wanted(other), 0);
}
END_TEST

/* The event set decides first; the expression of what it lets pass. */
START_TEST(beside_an_event_set)
{
    trace_event_id_t a = describe("a", "u32 n"), b = describe("b", "u32 n");
    trace_id_t trid = filtered("n > 1");
    trace_event_set_t set;

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(a, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    for (uint32_t i = 1; i <= 2; i++) {
        trace_u32(a, i);
        trace_u32(b, i);
    }
    ck_assert_str_eq(content(trid), "b=2");
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
    for (uint32_t i = 1; i <= 2; i++) {
        trace_u32(a, i);
        trace_u32(b, i);
    }
    ck_assert_str_eq(content(trid), "a=2,b=2");
    end(trid);
}
END_TEST

START_TEST(streams_beside_it)
{
    trace_event_id_t a = describe("a", "u32 n");
    trace_id_t all = filtered(""), more = filtered("n >= 2"), less = filtered("n < 2");

    for (uint32_t i = 1; i <= 3; i++)
        trace_u32(a, i);
    ck_assert_str_eq(content(all), "a=1,a=2,a=3");
    ck_assert_str_eq(content(more), "a=2,a=3");
    ck_assert_str_eq(content(less), "a=1");
    end(less);
    trace_u32(a, 1);
    trace_u32(a, 4);
    end(more);
    trace_u32(a, 5);
    ck_assert_str_eq(content(all), "a=1,a=4,a=5");
    end(all);
}
END_TEST

static void *trace_as_thread(void *name)
{
    trace_event_id_t id;

    pthread_setname_np(pthread_self(), name);
    id = open_type("a");
    trace_u32(id, (uint32_t)syscall(SYS_gettid));
    return (void *)(uintptr_t)syscall(SYS_gettid);
}

START_TEST(threads)
{
    char text[64], one[32], other[32];
    trace_id_t mine, named;
    pthread_t thread;
    void *tid;

    snprintf(text, sizeof text, "tid %ld", (long)syscall(SYS_gettid));
    mine = filtered(text);
    named = filtered("thread \"wor*\"");
    trace_u32(open_type("a"), 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, trace_as_thread, "worker"), 0);
    ck_assert_int_eq(pthread_join(thread, &tid), 0);
    snprintf(one, sizeof one, "a=%u", (unsigned)(uintptr_t)tid);
    snprintf(other, sizeof other, "a=%u", 1u);
    ck_assert_str_eq(content(mine), other);
    ck_assert_str_eq(content(named), one);
    end(mine);
    end(named);
}
END_TEST

static trace_event_id_t in_handler;

static void on_signal(int sig)
{
    (void)sig;
    trace_u32(in_handler, 1);
    trace_u32(in_handler, 2);
}

/* The first question of all may be asked in a handler. */
START_TEST(in_a_signal_handler)
{
    trace_id_t trid;

    in_handler = describe("signalled", "u32 n {one=1, two}");
    trid = filtered("n == two");
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    raise(SIGUSR1);
    ck_assert_str_eq(content(trid), "signalled=2,signalled=2");
    end(trid);
}
END_TEST

static int be_image(void)
{
    trace_orders();
    return 0;
}

/* _i 0: a forked child; 1: another program. */
START_TEST(children)
{
    trace_id_t trid = filtered("price >= 100 or event \"plain\"");
    trace_event_id_t order = describe("order", "u32 price");
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (_i) {
            execvp(image_command[0], image_command);
            _exit(4);
        }
        trace_u32(order, 99);
        trace_orders();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    trace_u32(order, 1);
    trace_u32(order, 101);
    ck_assert_str_eq(content(trid), "order=100,order=250,plain=9,order=101");
    end(trid);
}
END_TEST

struct target {
    pid_t pid;
    int to, from;
};

static struct target start_target(void)
{
    struct target t;
    int to[2], from[2];
    char c;

    ck_assert_int_eq(pipe(to), 0);
    ck_assert_int_eq(pipe(from), 0);
    t = (struct target){ fork(), to[1], from[0] };
    if (t.pid == 0) {
        close(to[1]);
        while (read(to[0], &c, 1) == 1) {
            trace_orders();
            if (write(from[1], &c, 1) != 1)
                break;
        }
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    return t;
}

static void let_trace(const struct target *t)
{
    char c = 0;

    ck_assert_int_eq(write(t->to, &c, 1), 1);
    ck_assert_int_eq(read(t->from, &c, 1), 1);
}

static int next_from(trace_id_t trid, const char *what)
{
    struct posixtrace_event e;
    uint32_t value = 0;
    int none = 0;

    do
        ck_assert_int_eq(posixtrace_timednext_event(trid, &e, sizeof e, &none, NULL), 0);
    while (e.id <= POSIX_TRACE_ERROR);
    memcpy(&value, e.data, e.data_len < sizeof value ? e.data_len : sizeof value);
    ck_assert_str_eq(e.name, what);
    return (int)value;
}

START_TEST(of_a_target)
{
    struct target target = start_target();
    trace_id_t trid = create(target.pid);

    express(trid, "price > 100");
    ck_assert_int_eq(posix_trace_start(trid), 0);
    let_trace(&target);
    ck_assert_int_eq(next_from(trid, "order"), 250);
    /* Its types are there by now. */
    express(trid, "event \"plain\" or n == 2 or price == 250");
    let_trace(&target);
    ck_assert_int_eq(next_from(trid, "order"), 250);
    ck_assert_int_eq(next_from(trid, "tick"), 2);
    ck_assert_int_eq(next_from(trid, "plain"), 9);
    close(target.to);
    ck_assert_int_eq(waitpid(target.pid, NULL, 0), target.pid);
    close(target.from);
    ck_assert_str_eq(content(trid), "");
    end(trid);
}
END_TEST

/* A place more on the process for each. */
START_TEST(places)
{
    trace_id_t trid[TRACE_SYS_MAX];
    unsigned n = 0;
    int error = 0;

    for (; n < TRACE_SYS_MAX / 2 + 4; n++)
        trid[n] = create(0);
    for (unsigned i = 0; i < n; i++) {
        error = posixtrace_set_expression(trid[i], "tid 1", NULL);
        ck_assert_int_eq(error, i < TRACE_SYS_MAX - n ? 0 : EAGAIN);
    }
    end(trid[0]);
    ck_assert_int_eq(posixtrace_set_expression(trid[n - 1], "tid 1", NULL), 0);
    ck_assert_int_eq(posixtrace_set_expression(trid[n - 2], "tid 1", NULL), 0);
    ck_assert_int_eq(posixtrace_set_expression(trid[n - 3], "tid 1", NULL), EAGAIN);
    for (unsigned i = 1; i < n; i++)
        end(trid[i]);
    trid[0] = filtered("tid 1");
    end(trid[0]);
}
END_TEST

static atomic_int over;

static void *trace_without_end(void *id)
{
    for (uint32_t i = 0; !atomic_load(&over); i++) {
        trace_u32((trace_event_id_t)(uintptr_t)id, i % 4);
        if (i % 64 == 0)
            open_type("b");
    }
    return NULL;
}

/* Each event that is there was meant by one of the filters, whoever changes them. */
START_TEST(changed_while_tracing)
{
    trace_event_id_t a = describe("a", "u32 n");
    trace_id_t trid = filtered("n == 1");
    struct posixtrace_event e;
    unsigned seen[4] = { 0 };
    pthread_t thread[2];
    int none;

    atomic_store(&over, 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, trace_without_end, (void *)(uintptr_t)a),
                         0);
    for (unsigned round = 0; round < 400 || !seen[1] || !seen[3]; round++) {
        express(trid, round % 2 ? "n == 1 and event \"a\"" : "event \"a\" and n == 3");
        ck_assert_int_lt((int)round, 1000000);
        for (int i = 0; i < 1000 && posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none;
             i++) {
            uint32_t n;

            if (e.id != a)
                continue;
            memcpy(&n, e.data, sizeof n);
            seen[n % 4]++;
        }
    }
    atomic_store(&over, 1);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
    ck_assert_uint_eq(seen[0] + seen[2], 0);
    end(trid);
}
END_TEST

/* ---- a filter that is asked for while it is changed ---- */

enum { SETS = 3 };

static trace_event_set_t sets[SETS];
static atomic_bool asked;

/* Sets that differ in their first and in their last types. */
static void make_sets(void)
{
    for (int i = 0; i < SETS; i++) {
        ck_assert_int_eq(posix_trace_eventset_empty(&sets[i]), 0);
        for (uint32_t k = (uint32_t)i; k < 1000; k += SETS)
            ck_assert_int_eq(posix_trace_eventset_add(200 + k, &sets[i]), 0);
    }
}

static void *change_sets(void *trid)
{
    for (unsigned i = 0; !asked; i++)
        posix_trace_set_filter(*(trace_id_t *)trid, &sets[i % SETS], POSIX_TRACE_SET_EVENTSET);
    return NULL;
}

START_TEST(asked_while_changed)
{
    trace_id_t trid = create(0);
    trace_event_set_t set;
    pthread_t thread;

    make_sets();
    asked = false;
    ck_assert_int_eq(posix_trace_set_filter(trid, &sets[0], POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, change_sets, &trid), 0);
    for (unsigned i = getenv("POSIXTRACE_TEST_SHORT") ? 100000 : 3000000; i > 0; i--) {
        bool same = false;

        posix_trace_get_filter(trid, &set);
        for (int k = 0; k < SETS; k++)
            same |= memcmp(&set, &sets[k], sizeof set) == 0;
        if (!same)
            ck_abort_msg("a set that nobody has set, after %u", i);
    }
    asked = true;
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, errors);
    tcase_add_loop_test(t, fields, 0, 2 * (int)(sizeof by_fields / sizeof *by_fields));
    tcase_add_test(t, errno_is_kept);
    tcase_add_test(t, described_around_an_event);
    tcase_add_test(t, gates);
    tcase_add_test(t, beside_an_event_set);
    tcase_add_test(t, streams_beside_it);
    tcase_add_test(t, threads);
    tcase_add_test(t, in_a_signal_handler);
    tcase_add_loop_test(t, children, 0, 2);
    tcase_add_test(t, of_a_target);
    tcase_add_test(t, places);
    tcase_add_test(t, changed_while_tracing);
    tcase_add_test(t, asked_while_changed);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "image") == 0)
        return be_image();
    image_prepare("image");
    return run_suite("stream", "filter", NULL, add);
}
