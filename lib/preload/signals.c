/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Signal handlers.  Each is wrapped by a function that has an index into a table of the program's
 * handlers.  An index is assigned once and never changes, so the kernel's handler of a signal
 * always determines the program's handler, also if a signal comes while another handler is being
 * set.
 *
 * If the table is full, a handler is set unchanged, and not traced.
 */
#include <errno.h>
#include <sched.h>
#include "preload/preload.h"
#include "preload/real.h"

enum { PLACES = 128, PATIENCE = 1000 };

typedef void handler(int, siginfo_t *, void *);

static handler *volatile handlers[PLACES];

/* The kernel hands all three to every handler, and one that takes only the first does
 * not see the others. */
static void deliver(unsigned place, int number, siginfo_t *info, void *context)
{
    uint32_t data = (uint32_t)number;

    if (!preload_quiet_thread && posixtrace_system_wanted())
        preload_event(POSIXTRACE_SIGNAL_BEGIN, &data, sizeof data);
    handlers[place](number, info, context);
    if (!preload_quiet_thread && posixtrace_system_wanted())
        preload_event(POSIXTRACE_SIGNAL_END, &data, sizeof data);
}

#define ONE(place)                                                          \
    static void wrapper_##place(int number, siginfo_t *info, void *context) \
    {                                                                       \
        deliver(0##place, number, info, context);                           \
    }
/* clang-format off */
#define EIGHT(DO, place) \
    DO(place##0) DO(place##1) DO(place##2) DO(place##3) \
    DO(place##4) DO(place##5) DO(place##6) DO(place##7)
#define ALL(DO) \
    EIGHT(DO, 0) EIGHT(DO, 1) EIGHT(DO, 2) EIGHT(DO, 3) \
    EIGHT(DO, 4) EIGHT(DO, 5) EIGHT(DO, 6) EIGHT(DO, 7) \
    EIGHT(DO, 10) EIGHT(DO, 11) EIGHT(DO, 12) EIGHT(DO, 13) \
    EIGHT(DO, 14) EIGHT(DO, 15) EIGHT(DO, 16) EIGHT(DO, 17)
/* clang-format on */
#define NAME(place) wrapper_##place,

ALL(ONE) /* places in octal */
static handler *const wrappers[] = { ALL(NAME) };
_Static_assert(sizeof wrappers / sizeof wrappers[0] == PLACES, "one for each place");

static int place_of_wrapper(handler *h)
{
    for (int i = 0; i < PLACES; i++)
        if (wrappers[i] == h)
            return i;
    return -1;
}

/* -1: there is none. */
static int place_of(handler *h)
{
    for (int i = 0; i < PLACES && handlers[i]; i++)
        if (handlers[i] == h)
            return i;
    return -1;
}

/* Signals are blocked.  A lock that a thread held when another one forked stays locked in the
 * child, whose new handlers then get no place. */
static int take_place(handler *h)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int place;

    for (int i = 0; real_pthread_mutex_trylock(&mutex) != 0; i++) {
        if (i == PATIENCE)
            return -1;
        sched_yield();
    }
    place = place_of(h);
    for (int i = 0; place < 0 && i < PLACES; i++)
        if (!handlers[i]) {
            handlers[i] = h;
            place = i;
        }
    real_pthread_mutex_unlock(&mutex);
    return place;
}

static int find_place(handler *h)
{
    int place = place_of(h), saved = errno;
    sigset_t all, before;

    if (place >= 0)
        return place;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    place = take_place(h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return place;
}

static bool is_function(sighandler_t h)
{
    return h != SIG_DFL && h != SIG_IGN && h != SIG_ERR && h != SIG_HOLD;
}

/* The handler that is installed for h, and the handler that the program gets for an installed
 * one. */
static sighandler_t wrapped(sighandler_t h)
{
    int place = is_function(h) && place_of_wrapper((handler *)(void *)h) < 0
                    ? find_place((handler *)(void *)h)
                    : -1;

    return place < 0 ? h : (sighandler_t)(void *)wrappers[place];
}

static sighandler_t unwrapped(sighandler_t h)
{
    int place = place_of_wrapper((handler *)(void *)h);

    return place < 0 ? h : (sighandler_t)(void *)handlers[place];
}

/* sa_handler and sa_sigaction are the same word, with and without SA_SIGINFO. */
PRELOAD_PUBLIC int sigaction(int number, const struct sigaction *restrict action,
                             struct sigaction *restrict old)
{
    struct sigaction ours;
    int r;

    if (action) {
        ours = *action;
        ours.sa_handler = wrapped(action->sa_handler);
    }
    r = real_sigaction(number, action ? &ours : NULL, old);
    if (r == 0 && old)
        old->sa_handler = unwrapped(old->sa_handler);
    return r;
}

/* sigset() returns SIG_HOLD for a signal that was blocked; that is no function. */
#define SET_HANDLER(name)                                        \
    PRELOAD_PUBLIC sighandler_t name(int number, sighandler_t h) \
    {                                                            \
        sighandler_t old = real_##name(number, wrapped(h));      \
                                                                 \
        return is_function(old) ? unwrapped(old) : old;          \
    }

REAL_SET_HANDLER(SET_HANDLER)
