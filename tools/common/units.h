/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Amounts as people read them.
 */
#ifndef UNITS_H
#define UNITS_H

#include <stdint.h>

/* "1.5 MiB", four digits; one of eight static buffers, reused in turn. */
const char *units_bytes(uint64_t bytes);

/* "1.23ms", three digits, for columns of tables; the same. */
const char *units_time(int64_t ns);

/* "1,234,567"; the same. */
const char *units_count(uint64_t count);

/* "12.5%"; "<0.1%" is more than nothing, "-" a part of nothing. */
const char *units_percent(double part, double whole);

#endif
