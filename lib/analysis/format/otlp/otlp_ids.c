/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Trace and span ids.  Those that no event gives are hashes of the log's id, the thread, the time
 * and the name of the span, and its number among those of that time: the same in each export, also
 * in one of a part of the log.
 */
#include <string.h>
#include "analysis/format/otlp/otlp.h"
#include "text/hash.h"

/* The finalizer of splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    h ^= h >> 31;
    return h ? h : 1;
}

static void put_bytes(uint8_t *to, uint64_t h)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] = (uint8_t)(h >> (56 - 8 * i));
}

void pt_otlp_derive(struct pt_otlp *o, const struct pt_tl_track *t, int64_t ns, const char *name,
                    struct pt_otlp_place *to, bool trace_too)
{
    uint64_t h, key[3] = { (uint64_t)(uint32_t)t->pid << 32 | (uint32_t)t->tid, (uint64_t)ns, 0 };

    o->repeat = ns == o->last_begin ? o->repeat + 1 : 0;
    o->last_begin = ns;
    key[2] = o->repeat;
    h = pt_hash_bytes(PT_HASH_START, o->info.id, sizeof o->info.id);
    h = pt_hash_bytes(h, key, sizeof key);
    h = pt_hash_bytes(h, name, strlen(name));
    put_bytes(to->span, mix(h));
    if (trace_too) {
        put_bytes(to->trace, mix(h + UINT64_C(0x9e3779b97f4a7c15)));
        put_bytes(to->trace + 8, mix(h + UINT64_C(0x3c6ef372fe94f82a)));
    }
    to->any = true;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool pt_otlp_from_digits(const char *digits, size_t length, uint8_t *to, size_t size)
{
    uint8_t any = 0;

    if (length != 2 * size)
        return false;
    for (size_t i = 0; i < size; i++) {
        int high = digit(digits[2 * i]), low = digit(digits[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        to[i] = (uint8_t)(high << 4 | low);
        any |= to[i];
    }
    return any != 0;
}
