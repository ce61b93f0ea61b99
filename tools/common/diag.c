/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Messages.  A line is composed first and written with one write(2), so that lines of several
 * processes on one terminal do not mix.  A progress line is wiped before it.
 */
#include "common/tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/units.h"
#include "common/utf8.h"
#include "common/progress.h"

enum { QUOTES = 8, QUOTED_MAX = 400, LINE_MAX_BYTES = 4096, INDENT = 4 };

static const char *verb_name;

void tool_set_verb(const char *name)
{
    verb_name = name;
}

const char *tool_verb(void)
{
    return verb_name;
}

static void write_all(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = write(STDERR_FILENO, text, length);

        if (n <= 0)
            return;
        text += n;
        length -= (size_t)n;
    }
}

/* The columns of the terminal on stderr; 0: stderr is no terminal, and lines have no limit. */
static size_t width_of_stderr(void)
{
    struct winsize size = { .ws_col = 0 };

    if (!isatty(STDERR_FILENO) || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col;
}

/* Up to the next blank; text in quotes stays whole, so that it can be copied. */
static size_t length_of_word(const char *at, size_t width)
{
    size_t plain = strcspn(at, " \n"), open = *at == '(';
    const char *close = at[open] == '\'' ? strchr(at + open + 1, '\'') : NULL;
    size_t whole;

    if (!close)
        return plain;
    whole = (size_t)(close - at) + strcspn(close, " \n");
    return utf8_columns(at, whole) <= width ? whole : plain;
}

/* Puts a line break and an indentation where a blank is; false: there is no room. */
static bool break_line(char *line, size_t size, char *blank, const char *rest)
{
    char *to = blank + 1 + INDENT;
    size_t length = strlen(rest);

    if ((size_t)(to - line) + length >= size)
        return false;
    memmove(to, rest, length + 1);
    *blank = '\n';
    memset(blank + 1, ' ', INDENT);
    return true;
}

/* Breaks a text of size bytes at most at blanks, in place. */
static void wrap(char *line, size_t size, size_t width)
{
    size_t column = 0;

    for (char *at = line; *at;) {
        size_t blanks = strspn(at, " "), length = length_of_word(at + blanks, width - INDENT);
        size_t columns = utf8_columns(at + blanks, length);

        if (blanks > 0 && column > 0 && column + blanks + columns > width &&
            break_line(line, size, at, at + blanks)) {
            at++;
            blanks = INDENT;
            column = 0;
        }
        column += blanks + columns;
        at += blanks + length;
        if (*at == '\n') {
            column = 0;
            at++;
        }
    }
}

__attribute__((format(printf, 2, 0))) static void say(bool with_verb, const char *format,
                                                      va_list args)
{
    size_t used, width = width_of_stderr();
    char line[LINE_MAX_BYTES];
    int n;

    progress_wipe();
    n = snprintf(line, sizeof line, "posixtrace: %s%s", with_verb && verb_name ? verb_name : "",
                 with_verb && verb_name ? ": " : "");
    used = (size_t)n;
    n = vsnprintf(line + used, sizeof line - used - 1, format, args);
    if (n < 0)
        return;
    used += (size_t)n < sizeof line - used - 1 ? (size_t)n : sizeof line - used - 2;
    line[used] = '\0';
    if (width > INDENT)
        wrap(line, sizeof line - 1, width);
    used = strlen(line);
    line[used++] = '\n';
    write_all(line, used);
}

int tool_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(true, format, args);
    va_end(args);
    return EXIT_FAILED;
}

int tool_usage(const char *format, ...)
{
    char hint[128];
    va_list args;
    int n;

    va_start(args, format);
    say(true, format, args);
    va_end(args);
    n = snprintf(hint, sizeof hint, "Try 'posixtrace %s%s--help'.\n", verb_name ? verb_name : "",
                 verb_name ? " " : "");
    write_all(hint, (size_t)n);
    return EXIT_USAGE;
}

void tool_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(false, format, args);
    va_end(args);
}

/* Quoted text is mostly for stderr, and for some results. */
static enum utf8_style quote_style(void)
{
    static int safe = -1;

    if (safe < 0)
        safe = utf8_is_safe(STDERR_FILENO) && utf8_is_safe(STDOUT_FILENO);
    return safe ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII;
}

const char *quote(const char *text)
{
    static char buffers[QUOTES][QUOTED_MAX + 8 * UTF8_MAX_ESCAPE];
    static unsigned next;
    char *buffer = buffers[next++ % QUOTES], *to = buffer;
    size_t left = strlen(text);
    const uint8_t *at = (const uint8_t *)text;

    *to++ = '\'';
    while (left > 0 && to < buffer + QUOTED_MAX) {
        size_t took = utf8_show_one(&to, at, left, quote_style());

        at += took;
        left -= took;
    }
    if (left > 0)
        to = stpcpy(to, "...");
    *to++ = '\'';
    *to = '\0';
    return buffer;
}

const char *quote_word(const char *text)
{
    static char *word;
    const uint8_t *at = (const uint8_t *)text;
    size_t left = strlen(text);
    char *to;

    free(word);
    word = tool_grow(NULL, left + 1, UTF8_MAX_ESCAPE);
    to = stpcpy(word, "'");
    while (left > 0) {
        size_t took = 1;

        if (*at == '\'')
            to = stpcpy(to, "'\\''");
        else
            took = utf8_show_one(&to, at, left, quote_style());
        at += took;
        left -= took;
    }
    stpcpy(to, "'");
    return word;
}

/* For want of memory, where address space is limited, the limit: it is the cause that can
 * be changed. */
const char *failure_reason(int error)
{
    static char text[120];
    struct rlimit limit;

    if (error != ENOMEM)
        return strerror(error);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(text, sizeof text, "no room for it in %s of address space; raise 'ulimit -v'",
                 units_bytes(limit.rlim_cur));
    else if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(text, sizeof text, "no room for it in a file of %s; raise 'ulimit -f'",
                 units_bytes(limit.rlim_cur));
    else
        return strerror(error);
    return text;
}

const char *unquoted(const char *text)
{
    /* One of the buffers of quote(), which may be written to. */
    char *quoted = (char *)(uintptr_t)quote(text);

    quoted[strlen(quoted) - 1] = '\0';
    return quoted + 1;
}

char *quote_copy(const char *text)
{
    const char *quoted = quote(text);
    size_t size = strlen(quoted) + 1;

    return memcpy(tool_grow(NULL, size, 1), quoted, size);
}

void *tool_grow(void *block, size_t count, size_t size)
{
    void *grown = reallocarray(block, count, size);

    if (!grown) {
        tool_error("no memory for %zu entries of %zu bytes", count, size);
        exit(EXIT_FAILED);
    }
    return grown;
}

void *tool_zeroed(size_t size)
{
    void *block = calloc(1, size);

    if (!block) {
        tool_error("no memory for %zu bytes", size);
        exit(EXIT_FAILED);
    }
    return block;
}
