/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The common part of reading a line of jsonl and of csv; see rows_read.h. */
#include <string.h>
#include "analysis/format/csv_json/rows_read.h"

static const char *const names[PT_ROW_MEMBERS] = {
    [PT_ROW_TS] = "ts",         [PT_ROW_PID] = "pid",
    [PT_ROW_TID] = "tid",       [PT_ROW_THREAD_ID] = "thread_id",
    [PT_ROW_THREAD] = "thread", [PT_ROW_EVENT] = "event",
    [PT_ROW_ADDR] = "addr",     [PT_ROW_TRUNC] = "trunc",
    [PT_ROW_DATA] = "data",     [PT_ROW_DESCRIPTION] = "description"
};

const char pt_row_name_too_long[] = "at most 255 bytes in an event's name";
const char pt_row_thread_too_long[] = "at most 15 bytes in a thread's name";

const char *pt_row_member_name(enum pt_row_member member)
{
    return names[member];
}

enum pt_row_member pt_row_member(const char *name)
{
    unsigned i = 0;

    while (i < PT_ROW_MEMBERS && strcmp(names[i], name) != 0)
        i++;
    return (enum pt_row_member)i;
}

void pt_row_clear(struct pt_row *row)
{
    memset(&row->event, 0, sizeof row->event);
    row->name[0] = row->thread[0] = row->description[0] = '\0';
    row->event.name = row->name;
    row->event.thread_name = row->thread;
    row->event.data = row->data;
    row->event.truncation = POSIX_TRACE_NOT_TRUNCATED;
}

bool pt_row_number(struct pt_text_scan *s, enum pt_row_member member, struct pt_row *to)
{
    static const struct {
        uint64_t max;
        const char *expected;
    } numbers[PT_ROW_MEMBERS] = {
        [PT_ROW_TS] = { INT64_MAX, "an integer, nanoseconds since 1970, from 0 to "
                                   "9223372036854775807" },
        [PT_ROW_PID] = { INT32_MAX, "an integer from 0 to 2147483647" },
        [PT_ROW_TID] = { INT32_MAX, "an integer from 0 to 2147483647" },
        [PT_ROW_TRUNC] = { 1, "0 or 1" },
    };
    uint64_t value;

    if (!pt_scan_size(s, numbers[member].max, numbers[member].expected, &value))
        return false;
    if (member == PT_ROW_TS)
        to->event.ns = (int64_t)value;
    else if (member == PT_ROW_PID)
        to->event.pid = (pid_t)value;
    else if (member == PT_ROW_TID)
        to->event.tid = (pid_t)value;
    else
        to->event.truncation = value ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
    return true;
}

bool pt_row_no_name(struct pt_text_scan *s, const char *begin)
{
    s->at = begin;
    return pt_scan_fail(s, "a name that is not empty");
}

bool pt_row_quick_time(const char *at, const char *end, int64_t *ns)
{
    const char *begin = at;
    uint64_t value = 0;

    while (at < end && (uint8_t)(*at - '0') <= 9 && at - begin < 19)
        value = value * 10 + (uint64_t)(*at++ - '0');
    if (at == begin || at == end || *at != ',' || value > INT64_MAX)
        return false;
    *ns = (int64_t)value;
    return true;
}

bool pt_row_complete(struct pt_text_scan *s, unsigned seen)
{
    if (!(seen & 1u << PT_ROW_TS))
        return pt_scan_fail(s, "a member \"ts\" before the end");
    if (!(seen & 1u << PT_ROW_EVENT))
        return pt_scan_fail(s, "a member \"event\" before the end");
    return true;
}
