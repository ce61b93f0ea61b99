/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One line of jsonl or csv into one event.
 *
 *   ts         integer, nanoseconds since 1970; needed
 *   event      1 to 255 bytes; needed
 *   pid, tid   0 to 2147483647; default 0
 *   thread_id, addr   0x and hexadecimal digits, or an integer; default 0
 *   thread     up to 15 bytes; default ""
 *   trunc      0 or 1; default 0
 *   data       two hexadecimal digits a byte, up to 61440 bytes; default ""
 *   description   what describes the data of the type; default "", and that if it is
 *                 no string, is longer than 2047 bytes or holds a zero byte
 *
 * jsonl: strict JSON of one flat object, members in any order, white space between them;
 * members of other names, whose values may be anything, are passed over.  csv: the first
 * line names the columns, in any order.
 */
#ifndef PT_FORMAT_ROWS_READ_H
#define PT_FORMAT_ROWS_READ_H

#include <posixtrace/event.h>
#include <posixtrace/typed.h>
#include "analysis/format/csv_json/scan.h"

enum { PT_ROW_DATA_MAX = 61440, PT_ROW_THREAD_MAX = 15, PT_ROW_KEY_MAX = 15, PT_ROW_COLUMNS = 256 };

enum pt_row_member {
    PT_ROW_TS,
    PT_ROW_PID,
    PT_ROW_TID,
    PT_ROW_THREAD_ID,
    PT_ROW_THREAD,
    PT_ROW_EVENT,
    PT_ROW_ADDR,
    PT_ROW_TRUNC,
    PT_ROW_DATA,
    PT_ROW_DESCRIPTION,
    PT_ROW_MEMBERS
};

struct pt_row {
    struct posixtrace_event event; /* points into the members below */
    char name[TRACE_EVENT_NAME_MAX + 1];
    char thread[PT_ROW_THREAD_MAX + 1];
    char description[POSIXTRACE_DESCRIPTION_MAX + 1];
    uint8_t data[PT_ROW_DATA_MAX];
    /* csv: what each column is */
    uint8_t columns[PT_ROW_COLUMNS];
    unsigned column_count;
};

/* How a format of lines is read. */
struct pt_row_reader {
    /* The first line, if it is not an event; or NULL. */
    bool (*head)(const char *line, size_t length, struct pt_row *to, struct pt_scan_error *error);
    /* False: *error tells why, and *to is not an event. */
    bool (*parse)(const char *line, size_t length, struct pt_row *to, struct pt_scan_error *error);
    /* Only the time of a line in the form that export writes; false: it takes parse(). */
    bool (*time)(const char *line, size_t length, const struct pt_row *row, int64_t *ns);
    bool quotes; /* lines continue between quotes */
};

extern const struct pt_row_reader pt_row_jsonl, pt_row_csv;

struct pt_job;
/* All of an import; as pt_format.read. */
int pt_rows_import(struct pt_job *job, const struct pt_row_reader *reader);

/* ---- common to both readers ---- */

/* Which member has that name; PT_ROW_MEMBERS: none. */
enum pt_row_member pt_row_member(const char *name);
const char *pt_row_member_name(enum pt_row_member member);

/* An event without anything. */
void pt_row_clear(struct pt_row *row);
/* A member that is a number of decimal digits: ts, pid, tid and trunc. */
bool pt_row_number(struct pt_text_scan *s, enum pt_row_member member, struct pt_row *to);
/* Reports that the name at begin is empty; false. */
bool pt_row_no_name(struct pt_text_scan *s, const char *begin);
/* "123" and the stop after it, as the time of a line. */
bool pt_row_quick_time(const char *at, const char *end, int64_t *ns);
/* Whether all that is needed was seen (a bit for each member). */
bool pt_row_complete(struct pt_text_scan *s, unsigned seen);

extern const char pt_row_word_expected[], pt_row_name_too_long[], pt_row_thread_too_long[];

#endif
