/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The pieces that Trazer's text is made of, into one buffer. */
#include <string.h>
#include "text/number.h"
#include "analysis/format/rkh/trazer_write.h"

enum { PIECE = 1024 };

/* Where n bytes, at most PIECE, go. */
static char *take_room(struct pt_trazer_writer *w, size_t n)
{
    char *to;

    if (w->used + n > PT_TRAZER_OUT) {
        if (fwrite_unlocked(w->out, 1, w->used, w->job->file) != w->used)
            pt_job_fail_file(w->job);
        w->used = 0;
    }
    to = w->out + w->used;
    w->used += n;
    return to;
}

void pt_trazer_put(struct pt_trazer_writer *w, char c)
{
    *take_room(w, 1) = c;
}

void pt_trazer_put_piece(struct pt_trazer_writer *w, const char *text, size_t n)
{
    memcpy(take_room(w, n), text, n);
}

void pt_trazer_put_repeated(struct pt_trazer_writer *w, char c, size_t n)
{
    memset(take_room(w, n), c, n);
}

/* Text that came from a program, in a format of lines. */
void pt_trazer_put_foreign(struct pt_trazer_writer *w, const char *text, size_t len)
{
    while (len > 0) {
        size_t n = len < PIECE ? len : PIECE;
        char *to = take_room(w, n);

        for (size_t i = 0; i < n; i++) {
            unsigned char c = (unsigned char)text[i];

            to[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
        }
        text += n;
        len -= n;
    }
}

void pt_trazer_put_padded(struct pt_trazer_writer *w, const char *text, size_t len, size_t width)
{
    pt_trazer_put_foreign(w, text, len);
    pt_trazer_put_repeated(w, ' ', len < width ? width - len : 0);
}

/* In base 10 or 16, with leading fill up to width. */
void pt_trazer_put_unsigned(struct pt_trazer_writer *w, uint64_t v, unsigned base, unsigned width,
                            char fill)
{
    char digits[PT_NUMBER_MAX], *at = digits, *end;

    if (base == 10) {
        end = pt_number_u64(digits, v);
    } else {
        at = end = digits + sizeof digits;
        do
            *--at = "0123456789ABCDEF"[v & 15];
        while (v >>= 4);
    }
    if (end - at < (ptrdiff_t)width)
        pt_trazer_put_repeated(w, fill, width - (size_t)(end - at));
    pt_trazer_put_piece(w, at, (size_t)(end - at));
}

void pt_trazer_put_signed(struct pt_trazer_writer *w, int64_t v)
{
    if (v < 0)
        pt_trazer_put(w, '-');
    pt_trazer_put_unsigned(w, v < 0 ? -(uint64_t)v : (uint64_t)v, 10, 0, ' ');
}
