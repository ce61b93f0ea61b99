/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See folder.h. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include "analysis/format/parquet/folder.h"

enum { FILE_BUFFER = 1 << 18, HIVE_MAX = 255 };
static const int64_t day_ns = INT64_C(86400000000000);

int64_t pt_parquet_folder_date(int64_t ns)
{
    return ns / day_ns - (ns % day_ns < 0);
}

struct path {
    char text[PATH_MAX];
    size_t length;
    bool cut;
};

static void add(struct path *p, const char *text, size_t length)
{
    p->cut |= length >= sizeof p->text - p->length;
    if (p->cut)
        return;
    memcpy(p->text + p->length, text, length);
    p->length += length;
    p->text[p->length] = '\0';
}

static bool is_plain(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
}

/* The name of a partition: other characters are %XX. */
static void add_host(struct path *p, const struct posixtrace_cell *host)
{
    char escaped[4];

    if (host->null || host->length == 0) {
        add(p, "__HIVE_DEFAULT_PARTITION__", 26);
        return;
    }
    for (size_t i = 0; i < host->length; i++) {
        unsigned char c = (unsigned char)host->text[i];

        if (is_plain(c))
            add(p, (const char *)&c, 1);
        else
            add(p, escaped, (size_t)snprintf(escaped, sizeof escaped, "%%%02X", c));
    }
}

static bool make(struct path *p)
{
    return !p->cut && (mkdir(p->text, 0777) == 0 || errno == EEXIST);
}

static bool add_folder(struct path *p, const char *name)
{
    add(p, "/", 1);
    add(p, name, strlen(name));
    return make(p);
}

static bool add_partitions(struct path *p, const struct posixtrace_cell *host, int64_t date)
{
    char text[40] = "date=1970-01-01";
    time_t seconds = (time_t)(date * 86400);
    struct tm tm;

    add(p, "/host=", 6);
    add_host(p, host);
    if (!make(p))
        return false;
    if (gmtime_r(&seconds, &tm))
        strftime(text, sizeof text, "date=%Y-%m-%d", &tm);
    return add_folder(p, text);
}

static void add_name(struct path *p, const struct posixtrace_cell *origin)
{
    const struct posixtrace_cell *log = &origin[POSIXTRACE_COLUMN_LOG];
    char piece[30];

    add(p, "/", 1);
    add(p, log->text, log->length);
    if (origin[POSIXTRACE_COLUMN_PIECE].number != 0)
        add(p, piece,
            (size_t)snprintf(piece, sizeof piece, "-%06" PRIi64,
                             origin[POSIXTRACE_COLUMN_PIECE].number));
    add(p, ".parquet", 8);
}

FILE *pt_parquet_folder_open(struct pt_job *job, const struct pt_parquet_options *o, bool hive,
                             unsigned table, int64_t date)
{
    const struct posixtrace_cell *origin = posixtrace_tables_origin(o->tables);
    struct path p = { .length = 0 };
    FILE *file = NULL;
    bool made;

    errno = 0;
    add(&p, job->directory, strlen(job->directory));
    made = add_folder(&p, posixtrace_table_name(table)) &&
           (!hive || add_partitions(&p, &origin[POSIXTRACE_COLUMN_HOST], date));
    add_name(&p, origin);
    if (made && !p.cut)
        file = fopen(p.text, "wxe");
    if (!file)
        pt_job_fail(job, p.cut ? ENAMETOOLONG : errno, "cannot make %s: %s", p.text,
                    strerror(p.cut ? ENAMETOOLONG : errno));
    else
        setvbuf(file, NULL, _IOFBF, FILE_BUFFER);
    return file;
}

int pt_parquet_folder_close(struct pt_job *job, FILE *file)
{
    errno = 0;
    if (file && fclose(file) != 0)
        pt_job_fail_file(job);
    return job->error;
}
