/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How the proof and torture tests fail: at once, with the reason, whichever
 * thread or child process it is; and when they cannot be had (exit status 77).
 */
#ifndef TORTURE_DEMAND_H
#define TORTURE_DEMAND_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SKIPPED 77

/* ThreadSanitizer runs handlers later than the signals come, and the handler of
 * one signal inside itself. */
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#if defined __SANITIZE_THREAD__
#define SIGNALS_ARE_DELAYED 1
#else
#define SIGNALS_ARE_DELAYED 0
#endif

/* In a child of fork() too: nothing of the parent's stdio or atexit runs. */
#define DEMAND(condition, ...)                                              \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                   \
            fputc('\n', stderr);                                            \
            _exit(1);                                                       \
        }                                                                   \
    } while (0)

#define DEMAND_OK(call)                                                 \
    do {                                                                \
        int error_ = (call);                                            \
        DEMAND(error_ == 0, "error %d (%s)", error_, strerror(error_)); \
    } while (0)

#endif
