/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Standard output; see stdout_buffer.h.
 */
#include "common/stdout_buffer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/utf8.h"
#include "common/tool.h"

enum { COLUMNS = 80, COLUMNS_MAX = 1000, REMARK_INDENT = 2 };

static char buffer[OUT_BUFFER];

struct out out = { buffer, buffer + sizeof buffer, 0 };
volatile sig_atomic_t out_writing;

/* Where the output goes instead; NULL: it is not captured. */
static char *captured;
static size_t captured_used, captured_room;

static void capture(void)
{
    size_t length = (size_t)(out.at - buffer);

    while (captured_room - captured_used <= length) {
        captured_room *= 2;
        captured = tool_grow(captured, captured_room, 1);
    }
    memcpy(captured + captured_used, buffer, length);
    captured_used += length;
    out.at = buffer;
}

void out_capture(void)
{
    out_flush();
    captured_room = sizeof buffer;
    captured_used = 0;
    captured = tool_grow(NULL, captured_room, 1);
}

char *out_captured(void)
{
    char *text;

    capture();
    text = captured;
    text[captured_used] = '\0';
    captured = NULL;
    return text;
}

void out_flush(void)
{
    static sig_atomic_t number;
    const char *from = buffer;

    if (captured) {
        capture();
        return;
    }
    while (from < out.at && out.error == 0) {
        ssize_t n;

        out_writing = number + 1;
        n = write(STDOUT_FILENO, from, (size_t)(out.at - from));
        out_writing = 0;
        if (n > 0) {
            from += n;
            number = (number + 1) & 0x3fffffff;
        } else if (n < 0 && errno != EINTR) {
            out.error = errno;
        }
    }
    out.at = buffer;
}

void out_bytes(const void *bytes, size_t length)
{
    const char *from = bytes;

    while (length > 0) {
        size_t part = length < OUT_BUFFER ? length : OUT_BUFFER;

        out_taken(put_text(out_room(part), from, part));
        from += part;
        length -= part;
    }
}

void out_text(const char *text)
{
    out_bytes(text, strlen(text));
}

void out_spaces(size_t count)
{
    while (count > 0) {
        size_t part = count < 256 ? count : 256;
        char *to = out_room(part);

        memset(to, ' ', part);
        out_taken(to + part);
        count -= part;
    }
}

void out_hex(const void *bytes, size_t length)
{
    const uint8_t *from = bytes;

    while (length > 0) {
        size_t part = length < 4096 ? length : 4096;

        out_taken(pt_number_bytes(out_room(2 * part), from, part));
        from += part;
        length -= part;
    }
}

void out_format(const char *format, ...)
{
    char line[2048];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n > 0)
        out_bytes(line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

static size_t columns;
static bool is_given; /* by COLUMNS or a terminal */

size_t out_columns(void)
{
    const char *asked = getenv("COLUMNS");
    struct winsize size = { .ws_col = 0 };
    unsigned long found = 0;

    if (columns > 0)
        return columns;
    if (asked && asked[0] >= '0' && asked[0] <= '9')
        found = strtoul(asked, NULL, 10);
    if (found == 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        found = size.ws_col;
    is_given = found > 0;
    columns = found < COLUMNS ? COLUMNS : found > COLUMNS_MAX ? COLUMNS_MAX : found;
    return columns;
}

/* Where further lines begin, with a mark at their front, and where they end. */
struct wrap {
    const char *mark;
    size_t indent, end;
    size_t column; /* of the next character */
};

static void next_line(struct wrap *w)
{
    out_text("\n");
    out_text(w->mark);
    out_spaces(w->indent - strlen(w->mark));
    w->column = w->indent;
}

/* A word on a line of its own, which it may fill several times. */
static void put_word(struct wrap *w, const char *word, size_t length)
{
    while (is_given && utf8_columns(word, length) > w->end - w->column) {
        size_t part = utf8_fit(word, length, w->end - w->column);

        out_bytes(word, part);
        word += part;
        length -= part;
        next_line(w);
    }
    out_bytes(word, length);
    w->column += utf8_columns(word, length);
}

static void wrap(struct wrap *w, const char *text)
{
    for (const char *at = text; *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");

        if (at != text && w->column + 1 + utf8_columns(at, word) > w->end) {
            next_line(w);
        } else if (at != text) {
            out_text(" ");
            w->column++;
        }
        put_word(w, at, word);
        at += word;
    }
    out_text("\n");
}

void out_wrapped(const char *text, size_t column, size_t indent)
{
    struct wrap w = { .mark = "", .indent = indent, .end = out_columns(), .column = column };

    wrap(&w, text);
}

void out_wrapped_if_given(const char *text, size_t column, size_t indent)
{
    struct wrap w = { .mark = "", .indent = indent, .end = out_columns(), .column = column };

    w.end = is_given ? w.end : SIZE_MAX;
    wrap(&w, text);
}

void out_remark(bool to_output, const char *format, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, format, args) < 0)
        return;
    if (to_output)
        out_wrapped(text, 0, REMARK_INDENT);
    else
        tool_note("%s", text);
    free(text);
}

void out_comment(const char *text, size_t width)
{
    struct wrap w = { .mark = "#", .indent = 4, .end = width > 0 ? width : SIZE_MAX, .column = 2 };

    out_text("# ");
    wrap(&w, text);
}

int out_finish(int status)
{
    out_flush();
    if (out.error == 0)
        return status;
    if (out.error == EPIPE)
        return EXIT_PIPE;
    return tool_error("cannot write to standard output: %s", strerror(out.error));
}
