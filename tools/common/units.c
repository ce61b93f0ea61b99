/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Amounts; see units.h.
 */
#include "common/units.h"

#include <stdio.h>

enum { BUFFERS = 8, SIZE = 32 };

static char *next_buffer(void)
{
    static char buffers[BUFFERS][SIZE];
    static unsigned next;

    return buffers[next++ % BUFFERS];
}

const char *units_bytes(uint64_t bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    char *buffer = next_buffer();
    double value = (double)bytes;
    unsigned unit = 0;

    while (value >= 1024) {
        value /= 1024;
        unit++;
    }
    snprintf(buffer, SIZE, "%.4g %s", value, units[unit]);
    return buffer;
}

const char *units_time(int64_t ns)
{
    static const char *const units[] = { "ns", "us", "ms", "s", "d" };
    char *buffer = next_buffer();
    double value = ns < 0 ? -(double)ns : (double)ns;
    unsigned unit = 0;

    /* a value that would be rounded to four digits gets the next unit */
    while (value >= 999.5 && unit < 3) {
        value /= 1000;
        unit++;
    }
    if (value >= 99999.5) {
        value /= 86400;
        unit++;
    }
    snprintf(buffer, SIZE, "%s%.*f%s", ns < 0 ? "-" : "",
             unit == 0 || value >= 99.95 ? 0
             : value >= 9.995            ? 1
                                         : 2,
             value, units[unit]);
    return buffer;
}

const char *units_count(uint64_t count)
{
    char *at = next_buffer() + SIZE - 1;

    *at = '\0';
    for (unsigned digits = 0; digits == 0 || count > 0; digits++) {
        if (digits > 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + count % 10);
        count /= 10;
    }
    return at;
}

const char *units_percent(double part, double whole)
{
    char *buffer = next_buffer();
    double percent = whole > 0 ? 100 * part / whole : 0;

    if (whole <= 0)
        snprintf(buffer, SIZE, "-");
    else if (part > 0 && percent < 0.05)
        snprintf(buffer, SIZE, "<0.1%%");
    else
        snprintf(buffer, SIZE, "%.1f%%", percent);
    return buffer;
}
