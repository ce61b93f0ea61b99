/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See clock_text.h. */
#include <inttypes.h>
#include <stdio.h>
#include "model/clock_text.h"
#include "model/event.h"

#define MOST_ERROR_NS INT64_C(1000000000000000) /* as pt_clock_error() stores */

void pt_clock_text_put(char *to, const struct pt_clock_reading *r)
{
    snprintf(to, PT_CLOCK_TEXT_MAX + 1,
             "%" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId32 "%s", r->ts, r->ns, r->most,
             r->estimated, r->status, r->left ? " 1" : "");
}

/* A number without a sign, up to most; one blank or the end follows. */
static bool get_number(const char **at, uint64_t most, uint64_t *number)
{
    const char *p = *at;
    uint64_t n = 0;

    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');

        if (n > (most - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    if (*p != ' ' && *p != '\0')
        return false;
    *at = p + (*p == ' ');
    *number = n;
    return true;
}

static bool get_signed(const char **at, uint64_t most, int64_t *number)
{
    const char *p = *at + (**at == '-');
    uint64_t n;

    if (!get_number(&p, most, &n))
        return false;
    *number = **at == '-' ? -(int64_t)n : (int64_t)n;
    *at = p;
    return true;
}

bool pt_clock_text_get(const char *text, struct pt_clock_reading *reading)
{
    struct pt_clock_reading r = { .ts = 0 };
    int64_t status;
    uint64_t left;

    if (!get_number(&text, UINT64_MAX, &r.ts) || !get_signed(&text, INT64_MAX, &r.ns) ||
        !get_signed(&text, MOST_ERROR_NS, &r.most) ||
        !get_signed(&text, MOST_ERROR_NS, &r.estimated) || !get_signed(&text, INT32_MAX, &status) ||
        r.most < -1 || r.estimated < -1 || status < -1)
        return false;
    r.status = (int32_t)status;
    r.left = get_number(&text, UINT64_MAX, &left) && left == 1;
    *reading = r;
    return true;
}
