/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The slope of a clock against another one, by least squares: of n readings with an error of e each
 * over a time of t the slope's is about 3.5 e / (t sqrt n), where the first and the last one alone
 * have up to 2 e / t.
 */
#ifndef PT_BASE_CLOCK_FIT_H
#define PT_BASE_CLOCK_FIT_H

#include <stdint.h>

#define PT_CLOCK_FIT_LEAST 16u /* readings; the ends alone are as good as fewer */

struct pt_clock_fit {
    uint64_t ticks, ns; /* the first reading */
    uint32_t count;
    double x, y, xx, xy; /* sums of ticks and nanoseconds since */
};

static inline void pt_clock_fit_begin(struct pt_clock_fit *f, uint64_t ticks, uint64_t ns)
{
    *f = (struct pt_clock_fit){ .ticks = ticks, .ns = ns };
}

static inline void pt_clock_fit_add(struct pt_clock_fit *f, uint64_t ticks, uint64_t ns)
{
    double x = (double)(ticks - f->ticks), y = (double)(ns - f->ns);

    f->count++;
    f->x += x;
    f->y += y;
    f->xx += x * x;
    f->xy += x * y;
}

/* Nanoseconds a tick, with 32 bits after the binary point; 0: too few readings. */
static inline uint64_t pt_clock_fit_slope(const struct pt_clock_fit *f)
{
    double n = f->count, across = n * f->xx - f->x * f->x;
    double slope = (n * f->xy - f->x * f->y) / (across > 0 ? across : 1);

    if (f->count < PT_CLOCK_FIT_LEAST || !(slope > 0) || slope >= 0x1p32)
        return 0;
    return (uint64_t)(slope * 0x1p32);
}

#endif
