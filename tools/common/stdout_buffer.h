/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Standard output with a large buffer of its own, and number formatting by
 * hand: print writes millions of lines a second, which stdio's formatting does
 * not.
 *
 * There is one output.  Calls do not report errors: after the first one all output is dropped,
 * out_failed() is true, and out_finish() prints the error and returns an exit status.
 */
#ifndef STDOUT_BUFFER_H
#define STDOUT_BUFFER_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "text/number.h"

enum { OUT_BUFFER = 256 * 1024 };

extern struct out {
    char *at;  /* next byte */
    char *end; /* of the buffer */
    int error; /* errno of the first failed write, or 0 */
} out;

/* Writes the buffer out. */
void out_flush(void);

/* From now on the output is kept in memory; out_captured() returns it as a text for free(). */
void out_capture(void);
char *out_captured(void);

/* For signal handlers: 0, or that of the write(2) that is under way, which is another
 * number as soon as a byte was written. */
extern volatile sig_atomic_t out_writing;

static inline bool out_failed(void)
{
    return out.error != 0;
}

/* Room for at most bytes <= OUT_BUFFER; out_taken() adds the bytes written there to the output. */
static inline char *out_room(size_t bytes)
{
    if (__builtin_expect((size_t)(out.end - out.at) < bytes, 0))
        out_flush();
    return out.at;
}

static inline void out_taken(char *end)
{
    out.at = end;
}

void out_bytes(const void *bytes, size_t length);
void out_text(const char *text);
void out_spaces(size_t count);
void out_hex(const void *bytes, size_t length); /* two digits a byte, lower case */

/* For output that is not on a hot path. */
__attribute__((format(printf, 1, 2))) void out_format(const char *format, ...);

/* The columns that a table may use: COLUMNS, else the width of the terminal, else 80.  Never less
 * than 80. */
size_t out_columns(void);

/* Words of text from the column on, wrapped to out_columns(), further lines from
 * the column indent on; and the end of the line.  A word longer than a line is broken where
 * the width is given; where it is not, as in a pipe, a path stays whole. */
void out_wrapped(const char *text, size_t column, size_t indent);

/* The same, but as one line if no width is given, for programs that read it. */
void out_wrapped_if_given(const char *text, size_t column, size_t indent);

/* A sentence below a result: wrapped, further lines indented; or a note on standard error. */
void out_remark(bool to_output, const char *format, va_list args);

/* Lines that begin with "#", wrapped to width columns; 0: one line. */
void out_comment(const char *text, size_t width);

/* Flushes.  Returns status on success; else prints the error and returns EXIT_FAILED, or returns
 * EXIT_PIPE silently if the reader has ended. */
int out_finish(int status);

/* The formatters write at to and return the end; those of numbers are in text/number.h. */
static inline char *put_text(char *to, const char *text, size_t length)
{
    memcpy(to, text, length);
    return to + length;
}

/* The same where both sides have OUT_SHORT bytes of room: short ones without a
 * call, by copying more than is asked for. */
enum { OUT_SHORT = 32 };
static inline char *put_short(char *to, const char *text, size_t length)
{
    if (length > OUT_SHORT)
        return put_text(to, text, length);
    memcpy(to, text, OUT_SHORT);
    return to + length;
}

/* So many spaces; to has room for OUT_SHORT more. */
static inline char *put_spaces(char *to, size_t count)
{
    char *end = to + count;

    do {
        memcpy(to, "                                ", OUT_SHORT);
        to += OUT_SHORT;
    } while (to < end);
    return end;
}

/* Exactly nine digits; value is below 10^9. */
static inline char *put_nine(char *to, uint32_t value)
{
    to[8] = (char)('0' + value % 10);
    value /= 10;
    for (int i = 6; i >= 0; i -= 2) {
        memcpy(to + i, pt_digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    return to + 9;
}

#endif
