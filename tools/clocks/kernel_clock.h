/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How far the times of a log may be from UTC, by the kernel's bounds of the error of CLOCK_REALTIME
 * (posixtrace/clock.h).
 */
#ifndef KERNEL_CLOCK_H
#define KERNEL_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <trace.h>

struct kernel_reading {
    int64_t ns; /* the time that the log has there */
    int64_t error_ns;
};

struct kernel_clock {
    struct kernel_reading *at; /* in the order of time; synchronised ones since the last step */
    size_t count;
    int64_t from_ns; /* of the last step: before it nothing is known */
};

void kernel_clock_make(struct kernel_clock *k, trace_id_t trid);
void kernel_clock_free(struct kernel_clock *k);
/* Of a time of the log.  INT64_MAX: unknown. */
int64_t kernel_clock_error(const struct kernel_clock *k, int64_t ns);

#endif
