/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A line of jsonl; see rows_read.h. */
#include <string.h>
#include "analysis/format/csv_json/rows_read.h"

static const char word_expected[] = "\"0x\" and 1 to 16 hexadecimal digits, in quotes";

static bool read_word(struct pt_text_scan *s, uint64_t *word)
{
    const char *begin = s->at;

    if (begin < s->end && *begin >= '0' && *begin <= '9')
        return pt_scan_size(s, UINT64_MAX, word_expected, word);
    if (pt_scan_is_at(s, '"')) {
        s->at++;
        if (pt_scan_hex(s, word) && pt_scan_is_at(s, '"')) {
            s->at++;
            return true;
        }
    }
    s->at = begin;
    return pt_scan_fail(s, word_expected);
}

static bool read_data(struct pt_text_scan *s, struct pt_row *to)
{
    size_t used;

    if (!pt_scan_take(s, '"', "a string of hexadecimal digits") ||
        !pt_scan_bytes(s, to->data, sizeof to->data, '"', &used) ||
        !pt_scan_take(s, '"', "two hexadecimal digits for each byte"))
        return false;
    to->event.data_len = used;
    return true;
}

static bool read_name(struct pt_text_scan *s, struct pt_row *to)
{
    const char *begin = s->at;

    return pt_scan_string(s, to->name, TRACE_EVENT_NAME_MAX, pt_row_name_too_long) &&
           (to->name[0] || pt_row_no_name(s, begin));
}

/* Others may call something so that is no description of ours. */
static bool read_description(struct pt_text_scan *s, struct pt_row *to)
{
    struct pt_scan_error ignored, *error = s->error;
    const char *begin = s->at;
    bool good;

    s->error = &ignored;
    good = pt_scan_string(s, to->description, POSIXTRACE_DESCRIPTION_MAX, "");
    s->error = error;
    if (good)
        return true;
    to->description[0] = '\0';
    s->at = begin;
    return pt_scan_skip_value(s);
}

static bool read_member(struct pt_text_scan *s, enum pt_row_member member, struct pt_row *to)
{
    switch (member) {
    case PT_ROW_TS:
    case PT_ROW_PID:
    case PT_ROW_TID:
    case PT_ROW_TRUNC: return pt_row_number(s, member, to);
    case PT_ROW_THREAD_ID: return read_word(s, &to->event.thread_id);
    case PT_ROW_ADDR: return read_word(s, &to->event.prog_address);
    case PT_ROW_DATA: return read_data(s, to);
    case PT_ROW_EVENT: return read_name(s, to);
    case PT_ROW_THREAD:
        return pt_scan_string(s, to->thread, PT_ROW_THREAD_MAX, pt_row_thread_too_long);
    case PT_ROW_DESCRIPTION: return read_description(s, to);
    case PT_ROW_MEMBERS: break;
    }
    return pt_scan_skip_value(s);
}

/* The members as export writes them. */
static const struct {
    const char *text;
    size_t length;
} fronts[PT_ROW_MEMBERS] = {
#define FRONT(name)                      \
    {                                    \
        "\"" name "\":", sizeof name + 2 \
    }
    [PT_ROW_TS] = FRONT("ts"),         [PT_ROW_PID] = FRONT("pid"),
    [PT_ROW_TID] = FRONT("tid"),       [PT_ROW_THREAD_ID] = FRONT("thread_id"),
    [PT_ROW_THREAD] = FRONT("thread"), [PT_ROW_EVENT] = FRONT("event"),
    [PT_ROW_ADDR] = FRONT("addr"),     [PT_ROW_TRUNC] = FRONT("trunc"),
    [PT_ROW_DATA] = FRONT("data"),     [PT_ROW_DESCRIPTION] = FRONT("description"),
#undef FRONT
};

/* Reads a member's name, up to its value.  likely: the one that is compared first, byte by byte. */
static bool read_member_name(struct pt_text_scan *s, unsigned likely, enum pt_row_member *member)
{
    char key[PT_ROW_KEY_MAX + 1];

    if (likely < PT_ROW_MEMBERS && (size_t)(s->end - s->at) >= fronts[likely].length &&
        memcmp(s->at, fronts[likely].text, fronts[likely].length) == 0) {
        s->at += fronts[likely].length;
        *member = (enum pt_row_member)likely;
        return true;
    }
    if (!pt_scan_key(s, key, PT_ROW_KEY_MAX))
        return false;
    *member = pt_row_member(key);
    pt_scan_space(s);
    s->member = *member < PT_ROW_MEMBERS ? pt_row_member_name(*member) : "";
    return pt_scan_take(s, ':', "':'");
}

static bool read_pair(struct pt_text_scan *s, struct pt_row *to, unsigned *seen, unsigned *likely)
{
    const char *begin;
    enum pt_row_member member;

    pt_scan_space(s);
    begin = s->at;
    if (!read_member_name(s, *likely, &member))
        return false;
    *likely = member + 1;
    if (member < PT_ROW_MEMBERS) {
        s->member = pt_row_member_name(member);
        if (*seen & 1u << member) {
            s->at = begin;
            return pt_scan_fail(s, "each member once");
        }
        *seen |= 1u << member;
    }
    pt_scan_space(s);
    if (!read_member(s, member, to))
        return false;
    s->member = "";
    return true;
}

static bool read_pairs(struct pt_text_scan *s, struct pt_row *to, unsigned *seen)
{
    unsigned likely = 0;

    pt_scan_space(s);
    if (!pt_scan_take(s, '{', "'{'"))
        return false;
    pt_scan_space(s);
    if (pt_scan_is_at(s, '}')) {
        s->at++;
        return true;
    }
    for (;;) {
        if (!read_pair(s, to, seen, &likely))
            return false;
        pt_scan_space(s);
        if (pt_scan_is_at(s, '}'))
            break;
        if (!pt_scan_take(s, ',', "',' or '}'"))
            return false;
    }
    s->at++;
    return true;
}

static bool parse(const char *line, size_t length, struct pt_row *to, struct pt_scan_error *error)
{
    struct pt_text_scan s = { .begin = line,
                              .at = line,
                              .end = line + length,
                              .member = "",
                              .stops = " \t\r,}",
                              .error = error };
    unsigned seen = 0;

    pt_row_clear(to);
    if (!read_pairs(&s, to, &seen))
        return false;
    pt_scan_space(&s);
    if (s.at != s.end)
        return pt_scan_fail(&s, "the end of the line after the object");
    return pt_row_complete(&s, seen);
}

static bool quick_time(const char *line, size_t length, const struct pt_row *row, int64_t *ns)
{
    static const char front[] = "{\"ts\":";

    (void)row;
    return length > sizeof front - 1 && memcmp(line, front, sizeof front - 1) == 0 &&
           pt_row_quick_time(line + sizeof front - 1, line + length, ns);
}

const struct pt_row_reader pt_row_jsonl = { .parse = parse, .time = quick_time };
