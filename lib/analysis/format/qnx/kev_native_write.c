/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Events that came from a QNX trace go back as they were. */
#include <string.h>
#include "analysis/format/qnx/kev_write.h"

/* Copies the data after cpu and flags, padded to whole pairs of words; 0: it does not have that
 * form. */
static size_t take_data(struct pt_kev_writer *w, enum pt_kev_form form, const uint8_t *data,
                        size_t length)
{
    size_t padded = (length + 7) / 8 * 8;

    if (padded > PT_KEV_DATA_MAX || (form == PT_KEV_FAST && length != 8) ||
        (form == PT_KEV_BYTES && (length % 8 || !length)) || form == PT_KEV_TEXT)
        return 0;
    if (form != PT_KEV_FAST && padded < 16)
        padded = form == PT_KEV_BYTES ? padded : 16;
    memset(w->data + length, 0, padded - length);
    memcpy(w->data, data, length);
    return padded;
}

bool pt_kev_user_is_free(const struct pt_kev_writer *w, unsigned number, unsigned flags)
{
    return number >= PT_KEV_USER_MORE ? w->marks && !(flags & PT_KEV_OURS)
                                      : !w->taken_by_us[number];
}

/* Two strings; false: it is something else. */
static bool is_text(const uint8_t *data, size_t length)
{
    size_t n = strnlen((const char *)data, length), rest;

    if (n >= length)
        return false;
    rest = length - n - 1;
    return rest > 0 && strnlen((const char *)data + n + 1, rest) == rest - 1 &&
           !memchr(data, '\n', length) && !memchr(data, '\r', length);
}

bool pt_kev_write_other(struct pt_kev_writer *w, const struct posixtrace_event *e, bool *done)
{
    const uint8_t *data = e->data;
    bool cut = e->truncation != POSIX_TRACE_NOT_TRUNCATED;
    unsigned number;
    size_t length;

    if (e->data_len < 6 || data[0] >= PT_KEV_CPUS || data[2] > 31 || data[4] > 3 ||
        data[5] >= PT_KEV_TEXT)
        return true;
    number = data[3] | (unsigned)data[4] << 8;
    if (data[2] == PT_KEV_USER && !pt_kev_user_is_free(w, number, data[1]))
        return true;
    length = take_data(w, (enum pt_kev_form)data[5], data + 6, e->data_len - 6);
    if (!length || (cut && data[5] != PT_KEV_BYTES) ||
        (!cut && data[5] != PT_KEV_FAST && length < 16))
        return true;
    if (data[2] == PT_KEV_USER)
        w->taken[number] = true;
    *done = true;
    return w->put(w, pt_kev_header(data[2], number, data[0], data[1]), w->data, length, e->ns, cut,
                  NULL);
}

bool pt_kev_write_native(struct pt_kev_writer *w, const struct pt_kev_target *t,
                         const struct posixtrace_event *e, bool *done)
{
    const uint8_t *data = e->data;
    unsigned class = t->type >> 10, number = t->type & 1023;
    bool cut = e->truncation != POSIX_TRACE_NOT_TRUNCATED;
    size_t length;

    if (e->data_len < 2 || data[0] >= PT_KEV_CPUS ||
        (class == PT_KEV_USER && !pt_kev_user_is_free(w, number, data[1])) ||
        (class == PT_KEV_CONTROL && number != PT_KEV_DROPPED && number <= PT_KEV_BUFFER_END))
        return true;
    if (t->form == PT_KEV_TEXT && w->put_text && !cut && is_text(data + 2, e->data_len - 2)) {
        *done = true;
        return w->put_text(w, pt_kev_header(class, number, data[0], 0), (const char *)data + 2,
                           (const char *)data + 3 + strlen((const char *)data + 2), e->ns);
    }
    length = take_data(w, (enum pt_kev_form)t->form, data + 2, e->data_len - 2);
    /* A cut event has as its rest one record that is not the last of several. */
    if (!length || (cut && t->form != PT_KEV_BYTES) ||
        (!cut && t->form != PT_KEV_FAST && length < 16))
        return true;
    *done = true;
    if (class == PT_KEV_CONTROL && number == PT_KEV_DROPPED)
        w->swallow = 2;
    return w->put(w, pt_kev_header(class, number, data[0], data[1]), w->data, length, e->ns, cut,
                  NULL);
}
