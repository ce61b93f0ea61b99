/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The head of a kev file: TRACE_HEADER_BEGIN::, a sequence of pairs TRACE_KEY::value,
 * TRACE_HEADER_END::, and then a copy of the system page.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/qnx/kev_file.h"

static const char first[] = "TRACE_HEADER_BEGIN::", last[] = "TRACE_HEADER_END::";

static bool fail(struct pt_kev_file *f, const char *what)
{
    pt_job_fail(f->im->job, EILSEQ, "offset %" PRIu64 ": %s", f->offset, what);
    return false;
}

/* All of it into text, which ends with last and a NUL. */
static bool read_text(struct pt_kev_file *f, char *text)
{
    const size_t n = sizeof first - 1, m = sizeof last - 1;
    size_t used = 0;
    int c;

    while (used < n || memcmp(text + used - m, last, m) != 0) {
        c = getc_unlocked(f->in);
        if (c == EOF && ferror(f->in))
            return pt_job_fail_file(f->im->job), false;
        f->offset = used;
        if (used < n && c != first[used]) {
            f->offset = 0;
            return fail(f, "not a trace of QNX: it does not begin with "
                           "TRACE_HEADER_BEGIN::");
        }
        if (c == EOF)
            return fail(f, "the file ends within its header");
        if (used == PT_KEV_HEAD_MAX)
            return fail(f, "a header without an end, or of more than 64 KiB");
        text[used++] = (char)(c ? c : '?');
    }
    f->offset = used;
    text[used] = '\0';
    return true;
}

/* The start of the next TRACE_KEY::; *value: the byte after it. */
static char *next_key(char *at, char **value)
{
    while ((at = strstr(at, "TRACE_"))) {
        size_t n = strspn(at + 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

        if (n > 0 && strncmp(at + 6 + n, "::", 2) == 0) {
            *value = at + 6 + n + 2;
            return at;
        }
        at += 6;
    }
    return NULL;
}

static char *trimmed(char *at, char *end)
{
    while (at < end && strchr(" \t\r\n", *at))
        at++;
    while (end > at && strchr(" \t\r\n", end[-1]))
        end--;
    *end = '\0';
    return at;
}

static bool is_true(const char *value)
{
    return strcmp(value, "TRUE") == 0;
}

static bool take_attributes(struct pt_kev_file *f, char *text)
{
    char *value, *next_value, *key = next_key(text, &value), *next;
    bool little = false;

    for (; key; key = next, value = next_value) {
        next = next_key(value, &next_value);
        if (!next)
            break; /* HEADER_END */
        value[-2] = '\0';
        key += 6;
        /* The trimmed end may be where the next key begins: that has been found. */
        *next = '\0';
        value = trimmed(value, next);
        if (strcmp(key, "HEADER_BEGIN") == 0) {
            *next = 'T';
            continue;
        }
        little = little || (strcmp(key, "LITTLE_ENDIAN") == 0 && is_true(value));
        if (strcmp(key, "BIG_ENDIAN") == 0 && is_true(value))
            f->im->big_endian = true;
        if (strcmp(key, "MIDDLE_ENDIAN") == 0 && is_true(value))
            return fail(f, "a trace in middle-endian order, which no machine has that is known");
        if (!pt_kev_import_attribute(f->im, key, value))
            return false;
        *next = 'T';
    }
    if (little && f->im->big_endian)
        return fail(f, "the header says both byte orders");
    return true;
}

static bool skip_system_page(struct pt_kev_file *f)
{
    const char *text = pt_kev_import_find(f->im, "SYSPAGE_LEN");
    char *end, block[4096];
    unsigned long long left = 0;
    size_t n;

    if (text) {
        errno = 0;
        left = strtoull(text, &end, 10);
        if (errno || *text < '0' || *text > '9' || *end || left > INT64_MAX)
            return fail(f, "SYSPAGE_LEN in the header is no number of bytes");
    }
    while (left > 0) {
        n = fread(block, 1, left < sizeof block ? (size_t)left : sizeof block, f->in);
        if (n == 0 && ferror(f->in))
            return pt_job_fail_file(f->im->job), false;
        f->offset += n;
        left -= n;
        if (n == 0)
            return fail(f, "the file ends within the system page");
    }
    return true;
}

bool pt_kev_head_read(struct pt_kev_file *f)
{
    char *text = malloc(PT_KEV_HEAD_MAX + 1);
    bool good;

    if (!text)
        return pt_job_fail(f->im->job, ENOMEM, "no memory"), false;
    good = read_text(f, text) && take_attributes(f, text) && pt_kev_import_attributes_end(f->im) &&
           skip_system_page(f);
    free(text);
    return good;
}
