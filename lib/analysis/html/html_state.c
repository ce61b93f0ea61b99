/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What all parts use; see html_state.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"

void pt_html_fail(struct pt_html *h, int error)
{
    if (!h->error)
        h->error = error;
}

void pt_html_note(struct pt_html *h, const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (h->note_count == PT_HTML_NOTES)
        return;
    h->notes[h->note_count] = strdup(text);
    h->note_count += h->notes[h->note_count] != NULL;
}

const char *pt_html_count(char text[PT_HTML_COUNT], uint64_t n)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n), used = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

int64_t pt_html_time(const struct pt_html *h, int64_t ns)
{
    uint64_t since = ns <= h->origin ? 0 : (uint64_t)ns - (uint64_t)h->origin;

    return since > (uint64_t)h->span ? h->span : (int64_t)since;
}

void *pt_html_more(struct pt_html *h, void *array, size_t count, size_t *room, size_t size)
{
    size_t larger = *room ? 2 * *room : 64;

    if (count < *room)
        return array;
    array = realloc(array, larger * size);
    if (array)
        *room = larger;
    else
        pt_html_fail(h, ENOMEM);
    return array;
}

struct pt_html_tile *pt_html_tiles_add(struct pt_html *h, struct pt_html_tiles *tiles, int64_t from,
                                       int64_t to, uint32_t block, uint64_t items)
{
    struct pt_html_tile *at = pt_html_more(h, tiles->at, tiles->count, &tiles->room, sizeof *at);

    if (!at)
        return NULL;
    tiles->at = at;
    at[tiles->count] = (struct pt_html_tile){ from, to, block, items };
    return &at[tiles->count++];
}
