/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A line of csv; see rows_read.h.  Values may be in quotes or not (RFC 4180); a column
 * that is empty or missing at the end has its default.  Names have the escapes that
 * export writes, those of jsonl but for the quote.  Columns with other names are skipped, and so is
 * "fields", which has the same as "data".
 */
#include <string.h>
#include "analysis/format/csv_json/rows_read.h"

static struct pt_text_scan scan_of(const char *line, size_t length, struct pt_scan_error *error)
{
    length -= length > 0 && line[length - 1] == '\r';
    return (struct pt_text_scan){ .begin = line,
                                  .at = line,
                                  .end = line + length,
                                  .member = "",
                                  .stops = ",\"",
                                  .csv = true,
                                  .error = error };
}

/* The byte order mark that some programs write first. */
static void skip_mark(struct pt_text_scan *s)
{
    if (s->end - s->at >= 3 && memcmp(s->at, "\xef\xbb\xbf", 3) == 0)
        s->at += 3;
}

static bool read_text(struct pt_text_scan *s, char *to, size_t max, const char *too_long)
{
    return pt_scan_is_at(s, '"') ? pt_scan_string(s, to, max, too_long)
                                 : pt_scan_bare(s, to, max, too_long);
}

static bool read_column_name(struct pt_text_scan *s, struct pt_row *to, unsigned *seen)
{
    const char *begin = s->at;
    char key[64];
    enum pt_row_member member;

    if (!read_text(s, key, sizeof key - 1, "a column's name of at most 63 bytes"))
        return false;
    member = pt_row_member(key);
    if (member < PT_ROW_MEMBERS && *seen & 1u << member) {
        s->at = begin;
        return pt_scan_fail(s, "each column once");
    }
    if (to->column_count == PT_ROW_COLUMNS)
        return pt_scan_fail(s, "at most 256 columns");
    *seen |= 1u << member;
    to->columns[to->column_count++] = (uint8_t)member;
    return true;
}

static bool head(const char *line, size_t length, struct pt_row *to, struct pt_scan_error *error)
{
    struct pt_text_scan s = scan_of(line, length, error);
    unsigned seen = 0;

    to->column_count = 0;
    skip_mark(&s);
    do
        if (!read_column_name(&s, to, &seen))
            return false;
    while (s.at < s.end && pt_scan_take(&s, ',', "',' or the end of the line"));
    if (s.at < s.end)
        return false;
    if (!(seen & 1u << PT_ROW_TS) || !(seen & 1u << PT_ROW_EVENT)) {
        s.at = s.begin;
        return pt_scan_fail(&s, "a line that names the columns, \"ts\" and \"event\" among them");
    }
    return true;
}

static bool read_word(struct pt_text_scan *s, uint64_t *word)
{
    static const char expected[] = "0x and 1 to 16 hexadecimal digits";
    const char *begin = s->at;

    if (!pt_scan_hex(s, word))
        return pt_scan_size(s, UINT64_MAX, expected, word);
    if (s->at == s->end || strchr(s->stops, *s->at))
        return true;
    s->at = begin;
    return pt_scan_fail(s, expected);
}

/* A value that is no name, quotes around it or not. */
static bool read_plain(struct pt_text_scan *s, enum pt_row_member member, struct pt_row *to)
{
    bool quoted = pt_scan_is_at(s, '"');
    char end = quoted ? '"' : ',';
    bool good;

    s->at += quoted;
    if (s->at == s->end || *s->at == end)
        good = member != PT_ROW_TS || pt_row_number(s, member, to);
    else if (member == PT_ROW_THREAD_ID)
        good = read_word(s, &to->event.thread_id);
    else if (member == PT_ROW_ADDR)
        good = read_word(s, &to->event.prog_address);
    else if (member == PT_ROW_DATA)
        good = pt_scan_bytes(s, to->data, sizeof to->data, end, &to->event.data_len);
    else
        good = pt_row_number(s, member, to);
    return good && (!quoted || pt_scan_take(s, '"', "the closing quote"));
}

static bool read_name(struct pt_text_scan *s, struct pt_row *to)
{
    const char *begin = s->at;

    return read_text(s, to->name, TRACE_EVENT_NAME_MAX, pt_row_name_too_long) &&
           (to->name[0] || pt_row_no_name(s, begin));
}

/* Others may write anything there, and no quotes around it. */
static bool pass_over(struct pt_text_scan *s)
{
    bool quoted = pt_scan_is_at(s, '"');

    s->at += quoted;
    while (s->at < s->end && (quoted || *s->at != ',')) {
        if (*s->at == '"' && quoted && !(s->end - s->at > 1 && s->at[1] == '"'))
            break;
        s->at += *s->at == '"' && quoted ? 2 : 1;
    }
    return !quoted || pt_scan_take(s, '"', "the closing quote");
}

static bool read_column(struct pt_text_scan *s, enum pt_row_member member, struct pt_row *to)
{
    switch (member) {
    case PT_ROW_EVENT: return read_name(s, to);
    case PT_ROW_THREAD: return read_text(s, to->thread, PT_ROW_THREAD_MAX, pt_row_thread_too_long);
    case PT_ROW_DESCRIPTION:
        return read_text(s, to->description, POSIXTRACE_DESCRIPTION_MAX,
                         "at most 2047 bytes in a description");
    case PT_ROW_MEMBERS: return pass_over(s);
    default: return read_plain(s, member, to);
    }
}

static bool parse(const char *line, size_t length, struct pt_row *to, struct pt_scan_error *error)
{
    struct pt_text_scan s = scan_of(line, length, error);
    unsigned seen = 0;

    pt_row_clear(to);
    for (unsigned i = 0; i < to->column_count; i++) {
        enum pt_row_member member = (enum pt_row_member)to->columns[i];

        if (i > 0 && s.at == s.end)
            break;
        if (i > 0 && !pt_scan_take(&s, ',', "','"))
            return false;
        s.member = member < PT_ROW_MEMBERS ? pt_row_member_name(member) : "";
        if (!read_column(&s, member, to))
            return false;
        s.member = "";
        seen |= 1u << member;
    }
    if (s.at != s.end)
        return pt_scan_fail(&s, "the end of the line: the first line has no more columns");
    return pt_row_complete(&s, seen);
}

static bool quick_time(const char *line, size_t length, const struct pt_row *row, int64_t *ns)
{
    return row->columns[0] == PT_ROW_TS && pt_row_quick_time(line, line + length, ns);
}

const struct pt_row_reader pt_row_csv = {
    .head = head, .parse = parse, .time = quick_time, .quotes = true
};
