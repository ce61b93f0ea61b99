/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The header of an exported QNX trace: that of the trace that the log was, or ours. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "analysis/format/qnx/kev_write.h"

/* Is it an attribute that export writes itself? */
static bool is_own(const char *name)
{
    static const char *const own[] = { "VER_MAJOR",    "VER_MINOR",      "LITTLE_ENDIAN",
                                       "BIG_ENDIAN",   "MIDDLE_ENDIAN",  "ENCODING",
                                       "BOOT_DATE",    "CYCLES_PER_SEC", "SYSPAGE_LEN",
                                       "HEADER_BEGIN", "HEADER_END",     PT_KEV_ATTRIBUTE };

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return false;
}

bool pt_kev_keep_attribute(struct pt_kev_writer *w, const struct posixtrace_event *e)
{
    const char *name = e->data;
    size_t n = e->data_len ? strnlen(name, e->data_len) : 0;
    size_t digits = n ? strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") : 0;

    if (n == 0 || n >= e->data_len || digits != n ||
        strnlen(name + n + 1, e->data_len - n - 1) + n + 2 != e->data_len ||
        w->attribute_bytes + e->data_len > PT_KEV_HEAD_MAX / 2)
        return false;
    if (is_own(name))
        return true;
    memcpy(w->attributes + w->attribute_bytes, e->data, e->data_len);
    w->attribute_bytes += e->data_len;
    return true;
}

/* A value may not look like the next key. */
static bool put_line(struct pt_kev_writer *w, const char *name, const char *value)
{
    char *clean = (char *)w->data, *at;

    snprintf(clean, PT_KEV_DATA_MAX, "%s", value);
    for (at = clean; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    while ((at = strstr(clean, "::")) || (at = strstr(clean, "TRACE_")))
        *at = *at == ':' ? ';' : 't';
    return w->head_line(w, name, clean);
}

static bool put_attributes(struct pt_kev_writer *w)
{
    const char *at = w->attributes, *end = at + w->attribute_bytes;

    while (at < end) {
        const char *value = at + strlen(at) + 1;

        if (!put_line(w, at, value))
            return false;
        at = value + strlen(value) + 1;
    }
    return true;
}

/* Times are ns since 1970, as if the system had booted then. */
static bool put_own(struct pt_kev_writer *w)
{
    return put_line(w, "VER_MAJOR", "1") && put_line(w, "VER_MINOR", "01") &&
           put_line(w, "LITTLE_ENDIAN", "TRUE") && put_line(w, "ENCODING", "16 byte events") &&
           put_line(w, "BOOT_DATE", "Thu Jan  1 00:00:00 1970") &&
           put_line(w, "CYCLES_PER_SEC", "1000000000") && put_line(w, "SYSPAGE_LEN", "0") &&
           put_line(w, PT_KEV_ATTRIBUTE, w->of_qnx ? w->marks ? "qnx-2" : "qnx" : "native");
}

static bool put_native(struct pt_kev_writer *w, int64_t ns)
{
    time_t seconds = (time_t)(ns / PT_KEV_BILLION);
    char date[64] = "";
    struct tm t;

    if (gmtime_r(&seconds, &t))
        asctime_r(&t, date);
    date[strcspn(date, "\n")] = '\0';
    if (!put_line(w, "DATE", date) || !put_line(w, "SYSNAME", "posixtrace") ||
        !put_line(w, "SYS_RELEASE", "7.1"))
        return false;
    w->cpu_at = ftello(w->job->file);
    return put_line(w, "CPU_NUM", "64");
}

bool pt_kev_write_head(struct pt_kev_writer *w, int64_t ns)
{
    w->begun = true;
    return w->head_line(w, "HEADER_BEGIN", NULL) && put_own(w) &&
           (w->of_qnx ? put_attributes(w) : put_native(w, ns)) &&
           w->head_line(w, "HEADER_END", NULL);
}

void pt_kev_write_cpus(struct pt_kev_writer *w)
{
    int fd = fileno(w->job->file), flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);
    off_t end = ftello(w->job->file);
    char digits[8];

    if (w->cpu_at < 0 || end < 0 || flags < 0 || (flags & O_APPEND) ||
        fseeko(w->job->file, w->cpu_at, SEEK_SET) != 0)
        return;
    snprintf(digits, sizeof digits, "%02u", w->cpus % 100);
    w->cpu_at = -1;
    if (w->head_line(w, "CPU_NUM", digits))
        fseeko(w->job->file, end, SEEK_SET);
}
