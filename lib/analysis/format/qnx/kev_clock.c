/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Time in a QNX trace.  Records have the low half of a count of cycles.  Each processor records the
 * high half in CONTROL TIME, after each change of buffers and whenever the low half has wrapped.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "analysis/format/qnx/kev.h"

/* A step back that is less is no turn of the low half. */
#define BACK 0x100000u

void pt_kev_clock_set(struct pt_kev_clock *k, unsigned cpu, uint32_t high, uint32_t low)
{
    k->cpu[cpu].known = true;
    k->cpu[cpu].high = high;
    k->cpu[cpu].low = low;
}

/* The high half of a processor that has not recorded it: the one nearest to the last time of
 * another processor. */
static uint32_t guess_high(const struct pt_kev_clock *k, uint32_t low)
{
    uint32_t high = (uint32_t)(k->last >> 32), last = (uint32_t)k->last;

    if (low < last && last - low > UINT32_MAX / 2)
        return high + 1;
    if (low > last && low - last > UINT32_MAX / 2 && high > 0)
        return high - 1;
    return high;
}

static int64_t ns_of(const struct pt_kev_clock *k, uint64_t cycles)
{
    uint64_t seconds, ns;

    if (k->signed_ns)
        return (int64_t)cycles;
    seconds = cycles / k->rate;
    if (seconds > INT64_MAX / PT_KEV_BILLION - 1)
        return INT64_MAX;
    ns = seconds * PT_KEV_BILLION + cycles % k->rate * PT_KEV_BILLION / k->rate;
    if (k->base > 0 && ns > (uint64_t)(INT64_MAX - k->base))
        return INT64_MAX;
    return k->base + (int64_t)ns;
}

int64_t pt_kev_clock_ns(struct pt_kev_clock *k, unsigned cpu, uint32_t low)
{
    uint64_t cycles;

    if (!k->cpu[cpu].known)
        pt_kev_clock_set(k, cpu, guess_high(k, low), low);
    else if (low < k->cpu[cpu].low && k->cpu[cpu].low - low > BACK)
        k->cpu[cpu].high++;
    k->cpu[cpu].low = low;
    cycles = (uint64_t)k->cpu[cpu].high << 32 | low;
    k->last = cycles;
    if (!k->started && k->has_start) {
        k->base = 0;
        k->base = k->start - ns_of(k, cycles);
    }
    k->started = true;
    return ns_of(k, cycles);
}

bool pt_kev_date(const char *text, int64_t *ns)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char weekday[4], month[4];
    struct tm t = { 0 };
    const char *at;
    time_t seconds;

    if (sscanf(text, "%3s %3s %2d %2d:%2d:%2d %4d", weekday, month, &t.tm_mday, &t.tm_hour,
               &t.tm_min, &t.tm_sec, &t.tm_year) != 7)
        return false;
    at = strlen(month) == 3 ? strstr(months, month) : NULL;
    if (!at || (at - months) % 3 || t.tm_year < 1970 || t.tm_year > 2200 || t.tm_mday < 1 ||
        t.tm_mday > 31 || t.tm_hour < 0 || t.tm_hour > 23 || t.tm_min < 0 || t.tm_min > 59 ||
        t.tm_sec < 0 || t.tm_sec > 60)
        return false;
    t.tm_mon = (int)(at - months) / 3;
    t.tm_year -= 1900;
    seconds = timegm(&t);
    *ns = (int64_t)seconds * PT_KEV_BILLION;
    return seconds != (time_t)-1;
}
