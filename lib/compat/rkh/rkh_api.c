/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * RKH's trace interface (posixtrace/rkh.h): filters, symbols, records and user events of
 * this process.  All of it is under one mutex, as RKH's is in one critical section.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <posixtrace/rkh.h>
#include "compat/rkh/rkh_shapes.h"

#define SIGNALS 1024u

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- the mutex, also over fork ---- */

#define TLS _Thread_local __attribute__((tls_model("initial-exec")))

/* Of the calling thread, for its signal handlers.  NEAR: it waits for the mutex, or is between two
 * instructions from having it to knowing that. */
static TLS volatile enum { OUTSIDE, NEAR, INSIDE } whereabouts;
/* A handler that runs inside fork() may fork. */
static TLS unsigned forks;
static TLS bool taken;

static void lock(void)
{
    whereabouts = NEAR;
    pthread_mutex_lock(&mutex);
    whereabouts = INSIDE;
}

static void unlock(void)
{
    whereabouts = NEAR;
    pthread_mutex_unlock(&mutex);
    whereabouts = OUTSIDE;
}

/* If no other thread releases the mutex within so many ms, it is the calling thread's. */
static bool take_near(void)
{
    static const struct timespec pause = { 0, 1000000 };

    for (unsigned ms = 0; ms < 20; ms++) {
        if (pthread_mutex_trylock(&mutex) == 0)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Not if a signal handler forks that interrupts a call which has the mutex: the call continues in
 * both processes. */
static void before_fork(void)
{
    if (forks++ > 0)
        return;
    switch (whereabouts) {
    case OUTSIDE: taken = pthread_mutex_lock(&mutex) == 0; break;
    case NEAR: taken = take_near(); break;
    case INSIDE: taken = false; break;
    }
}

static void after_fork(void)
{
    if (--forks == 0 && taken)
        pthread_mutex_unlock(&mutex);
}

__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* ---- state ---- */

/* Bits: 1 is emitted.  All closed at first, as in RKH. */
static struct {
    uint8_t groups, sma[256 / 8], signals[SIGNALS / 8];
    uint32_t events[8];
} filter;

/* Names and types; made with the first record that needs them. */
static struct {
    struct pt_rkh_types types;
    trace_event_id_t record[256], shape[PT_RKH_SHAPES];
    bool opened[256];
    struct pt_rkh_symbols *symbols;
    struct pt_rkh_users *users;
} * state;

static bool make_state(void)
{
    if (state)
        return true;
    state = calloc(1, sizeof *state);
    if (!state)
        return false;
    state->symbols = pt_rkh_symbols_new();
    state->users = pt_rkh_users_new();
    if (state->symbols && state->users) {
        pt_rkh_types_init(&state->types, false);
        return true;
    }
    pt_rkh_symbols_free(state->symbols);
    pt_rkh_users_free(state->users);
    free(state);
    state = NULL;
    return false;
}

/* ---- filters ---- */

static void set_bit(uint8_t *bits, unsigned n, bool on)
{
    bits[n / 8] = (uint8_t)(on ? bits[n / 8] | 1u << n % 8 : bits[n / 8] & ~(1u << n % 8));
}

static int set_filter(enum posixtrace_rkh_filter what, unsigned n, bool emit)
{
    switch (what) {
    case POSIXTRACE_RKH_GROUP:
    case POSIXTRACE_RKH_GROUP_EVENTS:
        if (n > 7)
            return EINVAL;
        set_bit(&filter.groups, n, emit);
        if (what == POSIXTRACE_RKH_GROUP_EVENTS)
            filter.events[n] = emit ? UINT32_MAX : 0;
        return 0;
    case POSIXTRACE_RKH_EVENT:
        if (n > 255)
            return EINVAL;
        filter.events[n >> 5] &= ~((uint32_t)1 << (n & 31));
        filter.events[n >> 5] |= (uint32_t)emit << (n & 31);
        if (emit)
            set_bit(&filter.groups, n >> 5, true);
        return 0;
    case POSIXTRACE_RKH_SMA: return n > 255 ? EINVAL : (set_bit(filter.sma, n, emit), 0);
    case POSIXTRACE_RKH_SIGNAL:
        return n >= SIGNALS ? EINVAL : (set_bit(filter.signals, n, emit), 0);
    case POSIXTRACE_RKH_ALL_SMA: memset(filter.sma, emit ? 0xff : 0, sizeof filter.sma); return 0;
    case POSIXTRACE_RKH_ALL_SIGNALS:
        memset(filter.signals, emit ? 0xff : 0, sizeof filter.signals);
        return 0;
    }
    return EINVAL;
}

int posixtrace_rkh_filter(enum posixtrace_rkh_filter what, unsigned n, bool emit)
{
    int error;

    lock();
    error = set_filter(what, n, emit);
    unlock();
    return error;
}

static bool is_wanted(unsigned record, int sma, int signal)
{
    return record < 256 && filter.groups >> (record >> 5) & 1 &&
           filter.events[record >> 5] >> (record & 31) & 1 &&
           (sma < 0 || (sma < 256 && filter.sma[sma / 8] >> sma % 8 & 1)) &&
           (signal < 0 ||
            ((unsigned)signal < SIGNALS && filter.signals[signal / 8] >> signal % 8 & 1));
}

bool posixtrace_rkh_wanted(unsigned record, int sma, int signal)
{
    bool wanted;

    lock();
    wanted = is_wanted(record, sma, signal);
    unlock();
    return wanted;
}

/* ---- records ---- */

static int open_record(unsigned record)
{
    struct pt_rkh_type *type = &state->types.of[record];
    char description[POSIXTRACE_DESCRIPTION_MAX + 1];
    int error;

    if (state->opened[record])
        return 0;
    pt_rkh_type_describe(type, description);
    error = *description
                ? posixtrace_event_describe(type->name, description, &state->record[record])
                : posix_trace_eventid_open(type->name, &state->record[record]);
    state->opened[record] = error == 0;
    return error;
}

static void put_value(struct pt_rkh_bytes *b, char kind, uint64_t v)
{
    const char *name = "";

    pt_rkh_put_number(b, pt_rkh_width_of_ours(kind), v);
    if (!pt_rkh_has_name(kind))
        return;
    name = pt_rkh_symbols_get(state->symbols, pt_rkh_space_of(kind), v);
    pt_rkh_put_string(b, name, strlen(name));
}

static bool has_text(const struct pt_rkh_type *type)
{
    for (unsigned i = 0; i < type->count; i++)
        if (type->args[i].kind == 's' || type->args[i].kind == 'r')
            return true;
    return false;
}

static int trace_record(unsigned record, const uint64_t *values, size_t count)
{
    const struct pt_rkh_type *type;
    uint8_t data[PT_RKH_ARGS_MAX * (PT_RKH_NAME_MAX + 9)];
    struct pt_rkh_bytes b = { .at = data, .room = sizeof data };
    int error;

    if (!make_state())
        return ENOMEM;
    type = &state->types.of[record & 255];
    if (record > 255 || !type->name[0] || record == PT_RKH_FWK_TCFG || count != type->count ||
        has_text(type) || (count && !values))
        return EINVAL;
    error = open_record(record);
    if (error)
        return error;
    for (size_t i = 0; i < count; i++)
        put_value(&b, type->args[i].kind, values[i]);
    posix_trace_event(state->record[record], data, b.used);
    return 0;
}

int posixtrace_rkh_record(unsigned record, int sma, int signal, const uint64_t *values,
                          size_t count)
{
    int error = 0;

    lock();
    if (is_wanted(record, sma, signal))
        error = trace_record(record, values, count);
    else if (record > 255)
        error = EINVAL;
    unlock();
    return error;
}

static int trace_symbol(unsigned record, uint64_t ao, uint64_t value, const char *name)
{
    uint8_t data[PT_RKH_NAME_MAX * 2 + 32];
    struct pt_rkh_bytes b = { .at = data, .room = sizeof data };
    size_t len = strnlen(name, PT_RKH_NAME_MAX);
    const struct pt_rkh_type *type;
    unsigned what;
    int error;

    if (!make_state())
        return ENOMEM;
    type = &state->types.of[record & 255];
    what = type->count > 1 ? type->count - 2u : 0;
    if (record > 255 || type->count < 2 || type->args[what + 1].kind != 's' ||
        !strchr("xgue", type->args[what].kind))
        return EINVAL;
    error = open_record(record);
    if (error)
        return error;
    if (what)
        put_value(&b, type->args[0].kind, ao);
    put_value(&b, type->args[what].kind, value);
    pt_rkh_put_string(&b, name, len);
    pt_rkh_symbols_set(state->symbols, pt_rkh_space_of(type->args[what].kind), value, name, len);
    posix_trace_event(state->record[record], data, b.used);
    return 0;
}

int posixtrace_rkh_symbol(unsigned record, uint64_t ao, uint64_t value, const char *name)
{
    int error;

    if (!name)
        return EINVAL;
    lock();
    error = trace_symbol(record, ao, value, name);
    unlock();
    return error;
}

/* ---- user events ---- */

bool posixtrace_rkh_user_begin(struct posixtrace_rkh_user *user, unsigned id)
{
    user->id = (uint8_t)(id & 31);
    user->count = 0;
    user->used = 0;
    user->on = (id < 32 || id >> 5 == RKH_TG_USR) &&
               posixtrace_rkh_wanted(RKH_TE_USER + user->id, -1, -1);
    return user->on;
}

/* Room for an argument of so many bytes; NULL: it is left off. */
static uint8_t *add_argument(struct posixtrace_rkh_user *user, unsigned format, size_t bytes)
{
    uint8_t *at = user->data + user->used;

    if (!user->on || user->count == sizeof user->formats || bytes > sizeof user->data - user->used)
        return NULL;
    user->formats[user->count++] = (uint8_t)format;
    user->used = (uint16_t)(user->used + bytes);
    return at;
}

/* The name of an object is put when it is traced: where the symbols are. */
void posixtrace_rkh_user_number(struct posixtrace_rkh_user *user, unsigned format, unsigned width,
                                uint64_t value)
{
    static const uint8_t bytes[] = { 1, 1, 2, 2, 4, 4, 4, 0, 0, 8, 8, 4 };
    unsigned n = format < sizeof bytes ? bytes[format] : 0;
    uint8_t *at = n ? add_argument(user, (width & 15) << 4 | format, n) : NULL;

    if (at)
        pt_rkh_store(at, n, value);
}

void posixtrace_rkh_user_string(struct posixtrace_rkh_user *user, const char *text)
{
    size_t len = text ? strnlen(text, sizeof user->data) : 0;
    uint8_t *at = add_argument(user, PT_RKH_STR, len + 1);

    if (!at)
        return;
    if (len)
        memcpy(at, text, len);
    at[len] = '\0';
}

void posixtrace_rkh_user_memory(struct posixtrace_rkh_user *user, const void *from, size_t len)
{
    size_t n = !from ? 0 : len > 255 ? 255 : len;
    uint8_t *at = add_argument(user, PT_RKH_MEM, n + 1);

    if (!at)
        return;
    *at = (uint8_t)n;
    if (n)
        memcpy(at + 1, from, n);
}

/* As import makes the data: names of objects, functions and signals follow them. */
static void put_user(const struct posixtrace_rkh_user *user, struct pt_rkh_bytes *b)
{
    static const uint8_t width[] = { 1, 1, 2, 2, 4, 4, 4, 0, 0, 8, 8, 4 };
    const uint8_t *at = user->data;

    for (unsigned i = 0; i < user->count; i++) {
        unsigned format = user->formats[i] & 15;
        size_t n = format == PT_RKH_STR   ? strlen((const char *)at) + 1
                   : format == PT_RKH_MEM ? *at + 1u
                                          : width[format];
        const char *name;

        pt_rkh_put(b, at, n);
        if (format >= PT_RKH_OBJ) {
            name = pt_rkh_symbols_get(state->symbols,
                                      format == PT_RKH_SIG ? PT_RKH_SIGNALS : PT_RKH_OBJECTS,
                                      pt_rkh_load(at, (unsigned)n));
            pt_rkh_put_string(b, name, strlen(name));
        }
        at += n;
    }
}

static int trace_user(const struct posixtrace_rkh_user *user)
{
    uint8_t data[POSIXTRACE_RKH_BYTES + 31 * (PT_RKH_NAME_MAX + 1)];
    struct pt_rkh_bytes b = { .at = data, .room = sizeof data };
    char description[POSIXTRACE_DESCRIPTION_MAX + 1];
    struct pt_rkh_shape *s;
    trace_event_id_t *id;
    int error = 0;

    if (!make_state())
        return ENOMEM;
    s = pt_rkh_find_shape(state->users, state->symbols, user->id, user->formats, user->count);
    if (!s)
        return ENOSPC;
    id = &state->shape[s - state->users->shape];
    if (!s->described) {
        pt_rkh_describe_shape(s, description);
        error = *description ? posixtrace_event_describe(s->name, description, id)
                             : posix_trace_eventid_open(s->name, id);
        s->described = error == 0;
    }
    if (error)
        return error;
    put_user(user, &b);
    posix_trace_event(*id, data, b.used);
    return 0;
}

int posixtrace_rkh_user_end(struct posixtrace_rkh_user *user)
{
    int error;

    if (!user->on)
        return 0;
    user->on = false;
    lock();
    error = trace_user(user);
    unlock();
    return error;
}
