/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Data that nothing describes, in print --format=text: hexadecimal digits and how they read,
 * as "text", = number or |..xt..|.  Where that is too much for the columns left: text and
 * numbers without the digits, and of the rest as many bytes as there is room for, with how
 * many more there are.
 */
#include "print/print.h"

#include "common/stdout_buffer.h"
#include "common/tool.h"

#define PUT(to, literal) put_text(to, literal, sizeof literal - 1)

enum {
    SHORT_REST = 24, /* columns below which " +N bytes" is " +N" */
    MARKED_MIN = 4
}; /* columns of data before a mark; where there are fewer, none */

static uint64_t as_number(const uint8_t *data, size_t length)
{
    uint64_t value = 0;

    memcpy(&value, data, length);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value >>= 8 * (sizeof value - length);
#endif
    return value;
}

static bool is_number(size_t length)
{
    return length == 1 || length == 2 || length == 4 || length == 8;
}

/* Text with a zero at its end, as C has it. */
static bool is_ended(const uint8_t *data, size_t length)
{
    return length > 1 && data[length - 1] == 0;
}

/* The first so many bytes, which are text, in quotes. */
static char *put_quoted(char *to, const uint8_t *data, size_t shown, size_t length)
{
    bool ended = shown == length && is_ended(data, length);

    *to++ = '"';
    to = put_text(to, (const char *)data, shown - ended);
    return ended ? PUT(to, "\\0\"") : PUT(to, "\"");
}

static char *put_bytes(char *to, const uint8_t *data, size_t shown)
{
    *to++ = '|';
    for (size_t i = 0; i < shown; i++)
        *to++ = data[i] >= 0x20 && data[i] < 0x7f ? (char)data[i] : '.';
    *to++ = '|';
    return to;
}

static bool is_text(const struct print *p, const uint8_t *data, size_t length)
{
    return utf8_are_plain(data, length - is_ended(data, length), print_style(p));
}

/* How all of the data reads. */
static char *put_reading(const struct print *p, char *to, const uint8_t *data, size_t length)
{
    if (is_text(p, data, length))
        return put_quoted(to, data, length, length);
    if (is_number(length))
        return pt_number_u64(PUT(to, "= "), as_number(data, length));
    return put_bytes(to, data, length);
}

/* As many bytes as there is room for. */
static void print_part(struct print *p, const uint8_t *data, size_t length, size_t columns)
{
    char rest[48], *end = pt_number_u64(PUT(rest, " +"), length), *to;
    size_t left = (size_t)(end - rest) + (columns < SHORT_REST ? 0 : sizeof " bytes" - 1), shown;
    bool text = is_text(p, data, length);

    /* the number of omitted bytes is below length, and has no more digits */
    left = columns > left ? columns - left : 0;
    shown = text       ? utf8_fit((const char *)data, length, left > 2 ? left - 2 : 0)
            : left > 3 ? (left - 3) / 3
                       : 0;
    to = out_room(3 * shown + 64);
    if (shown > 0 && text)
        to = put_quoted(to, data, shown, length);
    else if (shown > 0)
        to = put_bytes(PUT(pt_number_bytes(to, data, shown), " "), data, shown);
    out_taken(to);
    end = pt_number_u64(PUT(rest, " +"), length - shown);
    if (columns >= SHORT_REST)
        end = PUT(end, " bytes");
    print_clipped(rest + (shown == 0), (size_t)(end - rest) - (shown == 0), columns);
}

/* Not all of it, in digits and as it reads, has room. */
static void print_shortened(struct print *p, const uint8_t *data, size_t length, size_t columns)
{
    char number[24], *end;

    if (!is_number(length) || is_text(p, data, length)) {
        print_part(p, data, length, columns);
        return;
    }
    end = pt_number_u64(PUT(number, "= "), as_number(data, length));
    print_clipped(number, (size_t)(end - number), columns);
}

char *print_put_data(const struct print *p, char *to, const struct posixtrace_event *e)
{
    to = PUT(pt_number_bytes(to, e->data, e->data_len), " ");
    return put_reading(p, to, e->data, e->data_len);
}

void print_data(struct print *p, const struct posixtrace_event *e, size_t columns, const char *mark)
{
    const uint8_t *data = e->data;
    size_t length = e->data_len, marked = strlen(mark);
    char *from, *to;

    if (*mark && (length == 0 || columns < marked + MARKED_MIN)) {
        print_clipped(mark + 1, marked - 1, columns);
        return;
    }
    columns -= columns == SIZE_MAX ? 0 : marked;
    if (3 * length + 64 > OUT_BUFFER && columns == SIZE_MAX) {
        out_hex(data, length);
    } else if (columns != SIZE_MAX && 2 * length > columns) {
        print_shortened(p, data, length, columns);
    } else {
        from = out_room(3 * length + 64);
        to = put_reading(p, PUT(pt_number_bytes(from, data, length), " "), data, length);
        if (columns == SIZE_MAX || utf8_columns(from, (size_t)(to - from)) <= columns)
            out_taken(to);
        else
            print_shortened(p, data, length, columns);
    }
    out_text(mark);
}
