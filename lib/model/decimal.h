/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Numbers with a decimal point in texts that mean the same in every locale. */
#ifndef PT_MODEL_DECIMAL_H
#define PT_MODEL_DECIMAL_H

#include <langinfo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* strtod(), but with a point where the locale of the program has a comma. */
static inline double pt_decimal_read(const char *at, char **end)
{
    const char *radix = nl_langinfo(RADIXCHAR);
    bool sign = at[0] == '-' || at[0] == '+';
    size_t before = sign + strspn(at + sign, "0123456789");
    size_t length = strlen(radix), used;
    char text[512], *stop;
    double value;

    if (at[before] != '.' || strcmp(radix, ".") == 0)
        return strtod(at, end);
    if (before + length + 2 > sizeof text) {
        *end = (char *)(uintptr_t)at;
        return 0;
    }
    snprintf(text, sizeof text, "%.*s%s%s", (int)before, at, radix, at + before + 1);
    value = strtod(text, &stop);
    used = (size_t)(stop - text);
    *end = (char *)(uintptr_t)at + (used > before ? used - length + 1 : used);
    return value;
}

#endif
