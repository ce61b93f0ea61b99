/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One line of jsonl into one event.  Strict JSON of one flat object: what print
 * writes, with members in any order, white space between them, and members of
 * other names, whose values may be anything, passed over.
 *
 *   ts         integer, nanoseconds since 1970; needed
 *   event      1 to 255 bytes; needed
 *   pid, tid   0 to 2147483647; default 0
 *   thread_id, addr   "0x" and hexadecimal digits, or an integer; default 0
 *   thread     up to 15 bytes; default ""
 *   trunc      0 or 1; default 0
 *   data       two hexadecimal digits a byte, up to 61440 bytes; default ""
 *   description   what describes the data of the type; default "", and that if it is
 *                 no string, is longer than 2047 bytes or holds a zero byte
 *
 * Strings are UTF-8 where a lone surrogate \udcNN, NN from 80 to ff, is the
 * byte NN (chars.h).  No recursion, no allocation, nothing read behind the line.
 */
#ifndef JSONL_H
#define JSONL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <posixtrace/event.h>
#include <posixtrace/typed.h>

enum { JSONL_DATA_MAX = 61440, JSONL_THREAD_MAX = 15, JSONL_LINE_MAX = 8 << 20 };

struct jsonl_event {
    struct posixtrace_event event;   /* points into the members below */
    char    name[TRACE_EVENT_NAME_MAX + 1];
    char    thread[JSONL_THREAD_MAX + 1];
    char    description[POSIXTRACE_DESCRIPTION_MAX + 1];
    uint8_t data[JSONL_DATA_MAX];
};

struct jsonl_error {
    size_t      column;       /* byte in the line, from 1 */
    char        member[16];   /* which one, "" if none of the known */
    const char *expected;
    char        found[64];    /* what stands there, as text for people */
};

/* False: *error tells why, and *to is not an event. */
bool jsonl_parse(const char *line, size_t length, struct jsonl_event *to,
                 struct jsonl_error *error);

#endif
