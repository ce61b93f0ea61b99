/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Arithmetic whose results are rounded to double, once, as on every other processor.
 *
 * The registers of the x87, which 32-bit x86 computes in, have 64 bits of mantissa: a
 * quotient there is not the double nearest to it, and stored in memory it has been
 * rounded twice.  Between these two calls they have 53.  What computes is a function
 * of its own (noinline): compilers do not know that this orders its operations.
 */
#ifndef PT_TEXT_ROUNDING_H
#define PT_TEXT_ROUNDING_H

#include <float.h>

#if FLT_EVAL_METHOD == 2 && defined __i386__
#include <fpu_control.h>

static inline unsigned pt_rounding_begin(void)
{
    fpu_control_t was, now;

    _FPU_GETCW(was);
    now = (fpu_control_t)((was & ~_FPU_EXTENDED) | _FPU_DOUBLE);
    _FPU_SETCW(now);
    return was;
}

static inline void pt_rounding_end(unsigned was)
{
    fpu_control_t now = (fpu_control_t)was;

    _FPU_SETCW(now);
}

#else

static inline unsigned pt_rounding_begin(void)
{
    return 0;
}

static inline void pt_rounding_end(unsigned was)
{
    (void)was;
}

#endif

#endif
