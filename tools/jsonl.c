/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reading a line of jsonl; see jsonl.h.  A cursor moves over the line; each
 * reader leaves it behind what it took, or notes the first error and returns
 * false, which is passed up as it is.
 */
#include "jsonl.h"

#include <string.h>

#include "chars.h"

enum { KEY_MAX = 15, DEPTH_MAX = 64, FOUND_BYTES = 20 };

enum member { TS, PID, TID, THREAD_ID, THREAD, EVENT, ADDR, TRUNC, DATA, DESCRIPTION,
              MEMBERS };

static const char *const member_names[MEMBERS] = {
    "ts", "pid", "tid", "thread_id", "thread", "event", "addr", "trunc", "data",
    "description"
};

struct cursor {
    const char *begin, *at, *end;
    const char *member;           /* being read, "" outside */
    struct jsonl_error *error;
};

static bool fail(struct cursor *c, const char *expected)
{
    struct jsonl_error *e = c->error;
    size_t left = (size_t)(c->end - c->at);
    char *to = e->found, *limit = e->found + sizeof e->found - CHARS_MAX_ESCAPE - 4;
    const uint8_t *at = (const uint8_t *)c->at;
    size_t taken = 0;

    e->column = (size_t)(c->at - c->begin) + 1;
    e->expected = expected;
    strcpy(e->member, c->member);
    if (left == 0)
        to = stpcpy(to, "the end of the line");
    while (taken < left && taken < FOUND_BYTES && to < limit) {
        if (at[taken] == '\\')   /* JSON is shown as it stands there */
            *to++ = (char)at[taken++];
        else
            taken += chars_show_one(&to, at + taken, left - taken, CHARS_TERMINAL_ASCII);
    }
    if (taken < left)
        to = stpcpy(to, "...");
    *to = '\0';
    return false;
}

static void skip_space(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r'))
        c->at++;
}

static bool is_at(const struct cursor *c, char wanted)
{
    return c->at < c->end && *c->at == wanted;
}

static bool take(struct cursor *c, char wanted, const char *expected)
{
    if (!is_at(c, wanted))
        return fail(c, expected);
    c->at++;
    return true;
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The four digits behind \u. */
static bool read_unit(struct cursor *c, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, c->at++) {
        int digit = c->at < c->end ? hex_value(*c->at) : -1;

        if (digit < 0)
            return fail(c, "four hexadecimal digits behind \\u");
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return true;
}

/* \uXXXX, the cursor behind the u: a character, two units that make one, or a
 * byte in disguise.  to has room for 4 bytes. */
static bool read_unicode(struct cursor *c, char *to, size_t *length)
{
    const char *begin = c->at - 2;
    uint32_t unit, low;

    if (!read_unit(c, &unit))
        return false;
    if (unit >= 0xdc80 && unit <= 0xdcff) {
        to[0] = (char)(unit - 0xdc00);
        *length = 1;
        return true;
    }
    if (unit >= 0xd800 && unit < 0xdc00 && c->end - c->at >= 2 && memcmp(c->at, "\\u", 2) == 0) {
        c->at += 2;
        if (!read_unit(c, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000) {
            *length = chars_encode(to, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
            return true;
        }
    }
    if (unit >= 0xd800 && unit < 0xe000) {
        c->at = begin;
        return fail(c, "a character, or one of \\udc80 to \\udcff for a byte that is not UTF-8");
    }
    *length = chars_encode(to, unit);
    return true;
}

/* An escape sequence, the cursor on the backslash. */
static bool read_escape(struct cursor *c, char *to, size_t *length)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *known;

    if (c->end - c->at < 2)
        return fail(c, "an escape sequence");
    if (c->at[1] == 'u') {
        c->at += 2;
        return read_unicode(c, to, length);
    }
    known = c->at[1] ? strchr(from, c->at[1]) : NULL;
    if (!known)
        return fail(c, "one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    c->at += 2;
    to[0] = into[known - from];
    *length = 1;
    return true;
}

/* The next character of a string: 1 to 4 bytes at to. */
static bool read_character(struct cursor *c, char *to, size_t *length)
{
    uint32_t value;

    if (c->at == c->end)
        return fail(c, "the closing quote of a string");
    if (*c->at == '\\')
        return read_escape(c, to, length);
    if ((uint8_t)*c->at < 0x20)
        return fail(c, "no control character in a string; write it as \\uXXXX");
    *length = chars_decode((const uint8_t *)c->at, (size_t)(c->end - c->at), &value);
    if (*length == 0)
        return fail(c, "UTF-8; write a byte NN that is not as \\udcNN");
    memcpy(to, c->at, *length);
    c->at += *length;
    return true;
}

/*
 * A string into to, terminated; at most max bytes, of which none is zero.  With
 * to NULL it is only passed over, and may be and hold anything.
 */
static bool read_string(struct cursor *c, char *to, size_t max, const char *too_long,
                        size_t *stored)
{
    const char *begin = c->at;
    size_t used = 0, length = 0;
    char character[4];

    if (!take(c, '"', "a string"))
        return false;
    while (!is_at(c, '"')) {
        if (!read_character(c, character, &length))
            return false;
        if (!to)
            continue;
        if (used + length > max || character[0] == '\0') {
            c->at = begin;
            return fail(c, character[0] ? too_long : "no zero byte in a name");
        }
        memcpy(to + used, character, length);
        used += length;
    }
    c->at++;
    if (to) {
        to[used] = '\0';
        *stored = used;
    }
    return true;
}

/* The name of a member: longer ones than any known are not told apart. */
static bool read_key(struct cursor *c, char key[KEY_MAX + 1])
{
    size_t used = 0, length = 0;
    char character[4];
    bool fits = true;

    if (!take(c, '"', "a member's name in quotes"))
        return false;
    while (!is_at(c, '"')) {
        if (!read_character(c, character, &length))
            return false;
        fits = fits && used + length <= KEY_MAX && character[0] != '\0';
        if (fits) {
            memcpy(key + used, character, length);
            used += length;
        }
    }
    c->at++;
    key[fits ? used : 0] = '\0';
    return true;
}

static bool is_digit(const struct cursor *c)
{
    return c->at < c->end && *c->at >= '0' && *c->at <= '9';
}

/* The cursor is to stand behind a whole value, not inside "12.5" or "12x". */
static bool at_delimiter(const struct cursor *c)
{
    return c->at == c->end || strchr(" \t\r,}", *c->at);
}

/* An integer whose size is at most max, negative only where allowed. */
static bool read_size(struct cursor *c, uint64_t max, const char *expected, uint64_t *size)
{
    const char *begin = c->at;
    uint64_t value = 0;

    while (is_digit(c)) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c->at - '0'), &value))
            break;
        c->at++;
    }
    if (c->at == begin || !at_delimiter(c) || value > max || (*begin == '0' && c->at - begin > 1)) {
        c->at = begin;
        return fail(c, expected);
    }
    *size = value;
    return true;
}

static bool read_ts(struct cursor *c, int64_t *ns)
{
    static const char expected[] =
        "an integer, nanoseconds since 1970, from 0 to 9223372036854775807";
    uint64_t size;

    if (!read_size(c, INT64_MAX, expected, &size))
        return false;
    *ns = (int64_t)size;
    return true;
}

static bool read_id(struct cursor *c, pid_t *id)
{
    uint64_t size;

    if (!read_size(c, INT32_MAX, "an integer from 0 to 2147483647", &size))
        return false;
    *id = (pid_t)size;
    return true;
}

static bool read_word(struct cursor *c, uint64_t *word)
{
    static const char expected[] = "\"0x\" and 1 to 16 hexadecimal digits, in quotes";
    const char *begin = c->at;
    uint64_t value = 0;
    int digits = 0;

    if (is_digit(c))
        return read_size(c, UINT64_MAX, expected, word);
    if (c->end - c->at < 3 || memcmp(c->at, "\"0x", 3) != 0)
        return fail(c, expected);
    for (c->at += 3; c->at < c->end && hex_value(*c->at) >= 0; c->at++, digits++)
        value = value << 4 | (uint64_t)hex_value(*c->at);
    if (digits == 0 || digits > 16 || !is_at(c, '"')) {
        c->at = begin;
        return fail(c, expected);
    }
    c->at++;
    *word = value;
    return true;
}

static bool read_data(struct cursor *c, struct jsonl_event *to)
{
    size_t used = 0;

    if (!take(c, '"', "a string of hexadecimal digits"))
        return false;
    for (; !is_at(c, '"'); c->at += 2) {
        int high = c->at < c->end ? hex_value(c->at[0]) : -1;
        int low = c->end - c->at > 1 ? hex_value(c->at[1]) : -1;

        if (high < 0 || low < 0)
            return fail(c, "two hexadecimal digits for each byte");
        if (used == JSONL_DATA_MAX)
            return fail(c, "at most 61440 bytes of data");
        to->data[used++] = (uint8_t)(high << 4 | low);
    }
    c->at++;
    to->event.data_len = used;
    return true;
}

static bool skip_digits(struct cursor *c)
{
    if (!is_digit(c))
        return fail(c, "a digit");
    while (is_digit(c))
        c->at++;
    return true;
}

static bool skip_number(struct cursor *c)
{
    if (is_at(c, '-'))
        c->at++;
    if (is_at(c, '0'))
        c->at++;
    else if (!skip_digits(c))
        return false;
    if (is_at(c, '.')) {
        c->at++;
        if (!skip_digits(c))
            return false;
    }
    if (is_at(c, 'e') || is_at(c, 'E')) {
        c->at++;
        if (is_at(c, '+') || is_at(c, '-'))
            c->at++;
        return skip_digits(c);
    }
    return true;
}

static bool skip_scalar(struct cursor *c)
{
    static const char *const words[] = { "true", "false", "null" };

    if (is_at(c, '"'))
        return read_string(c, NULL, 0, NULL, NULL);
    if (is_digit(c) || is_at(c, '-'))
        return skip_number(c);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);

        if ((size_t)(c->end - c->at) >= length && memcmp(c->at, words[i], length) == 0) {
            c->at += length;
            return true;
        }
    }
    return fail(c, "a value");
}

static bool skip_key(struct cursor *c)
{
    skip_space(c);
    if (!read_string(c, NULL, 0, NULL, NULL))
        return false;
    skip_space(c);
    return take(c, ':', "':'");
}

/* Passes over any value.  objects has a bit for each level: 1 in an object. */
static bool skip_value(struct cursor *c)
{
    uint64_t objects = 0;
    unsigned depth = 0;
    bool complete;

    do {
        skip_space(c);
        complete = true;
        if (is_at(c, '{') || is_at(c, '[')) {
            bool object = *c->at == '{';

            if (depth++ == DEPTH_MAX)
                return fail(c, "at most 64 values inside each other");
            c->at++;
            objects = objects << 1 | object;
            skip_space(c);
            complete = is_at(c, object ? '}' : ']');
            if (!complete && object && !skip_key(c))
                return false;
        } else if (!skip_scalar(c)) {
            return false;
        }
        while (complete && depth > 0) {
            bool object = objects & 1;

            skip_space(c);
            if (is_at(c, object ? '}' : ']')) {
                c->at++;
                depth--;
                objects >>= 1;
                continue;
            }
            if (!take(c, ',', object ? "',' or '}'" : "',' or ']'") || (object && !skip_key(c)))
                return false;
            complete = false;
        }
    } while (depth > 0);
    return true;
}

static bool read_trunc(struct cursor *c, int *truncation)
{
    uint64_t value;

    if (!read_size(c, 1, "0 or 1", &value))
        return false;
    *truncation = value ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
    return true;
}

static bool read_name(struct cursor *c, struct jsonl_event *to)
{
    const char *begin = c->at;
    size_t length;

    if (!read_string(c, to->name, TRACE_EVENT_NAME_MAX, "at most 255 bytes in an event's name",
                     &length))
        return false;
    if (length > 0)
        return true;
    c->at = begin;
    return fail(c, "a name that is not empty");
}

/* Others may call something so that is no description of ours. */
static bool read_description(struct cursor *c, struct jsonl_event *to)
{
    const char *begin = c->at;
    struct jsonl_error ignored, *error = c->error;
    size_t length;
    bool good;

    c->error = &ignored;
    good = read_string(c, to->description, POSIXTRACE_DESCRIPTION_MAX, "", &length);
    c->error = error;
    if (good)
        return true;
    to->description[0] = '\0';
    c->at = begin;
    return skip_value(c);
}

static bool read_member(struct cursor *c, enum member member, struct jsonl_event *to)
{
    struct posixtrace_event *e = &to->event;
    size_t length;

    switch (member) {
    case TS: return read_ts(c, &e->ns);
    case PID: return read_id(c, &e->pid);
    case TID: return read_id(c, &e->tid);
    case THREAD_ID: return read_word(c, &e->thread_id);
    case ADDR: return read_word(c, &e->prog_address);
    case TRUNC: return read_trunc(c, &e->truncation);
    case DATA: return read_data(c, to);
    case EVENT: return read_name(c, to);
    case THREAD:
        return read_string(c, to->thread, JSONL_THREAD_MAX, "at most 15 bytes in a thread's name",
                           &length);
    case DESCRIPTION: return read_description(c, to);
    case MEMBERS: break;
    }
    return skip_value(c);
}

static enum member find_member(const char *key)
{
    int i = 0;

    while (i < MEMBERS && strcmp(member_names[i], key) != 0)
        i++;
    return (enum member)i;
}

static bool read_pair(struct cursor *c, struct jsonl_event *to, unsigned *seen)
{
    const char *begin;
    char key[KEY_MAX + 1];
    enum member member;
    bool good;

    skip_space(c);
    begin = c->at;
    if (!read_key(c, key))
        return false;
    member = find_member(key);
    if (member < MEMBERS) {
        c->member = member_names[member];
        if (*seen & 1u << member) {
            c->at = begin;
            return fail(c, "each member once");
        }
        *seen |= 1u << member;
    }
    skip_space(c);
    if (!take(c, ':', "':'"))
        return false;
    skip_space(c);
    good = read_member(c, member, to);
    if (good)
        c->member = "";
    return good;
}

static bool read_pairs(struct cursor *c, struct jsonl_event *to, unsigned *seen)
{
    skip_space(c);
    if (!take(c, '{', "'{'"))
        return false;
    skip_space(c);
    if (is_at(c, '}')) {
        c->at++;
        return true;
    }
    for (;;) {
        if (!read_pair(c, to, seen))
            return false;
        skip_space(c);
        if (is_at(c, '}'))
            break;
        if (!take(c, ',', "',' or '}'"))
            return false;
    }
    c->at++;
    return true;
}

bool jsonl_parse(const char *line, size_t length, struct jsonl_event *to,
                 struct jsonl_error *error)
{
    struct cursor c = { line, line, line + length, "", error };
    unsigned seen = 0;

    memset(&to->event, 0, sizeof to->event);
    to->name[0] = to->thread[0] = to->description[0] = '\0';
    to->event.name = to->name;
    to->event.thread_name = to->thread;
    to->event.data = to->data;
    to->event.truncation = POSIX_TRACE_NOT_TRUNCATED;
    if (!read_pairs(&c, to, &seen))
        return false;
    skip_space(&c);
    if (c.at != c.end)
        return fail(&c, "the end of the line behind the object");
    if (!(seen & 1u << TS))
        return fail(&c, "a member \"ts\" before the end");
    if (!(seen & 1u << EVENT))
        return fail(&c, "a member \"event\" before the end");
    return true;
}
