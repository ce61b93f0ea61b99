/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writes the file of clocks: lines of words (docs/sync.md).  Bytes of names that are not printable
 * ASCII, blanks and backslashes are \xNN.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/sync/sync_file.h"

static void put_hex(FILE *f, const uint8_t *bytes)
{
    for (int i = 0; i < 16; i++)
        fprintf(f, "%02x", bytes[i]);
}

static void put_name(FILE *f, const char *name)
{
    for (const char *c = name; *c; c++)
        if (*c > ' ' && *c < 0x7f && *c != '\\')
            fputc(*c, f);
        else
            fprintf(f, "\\x%02x", (unsigned char)*c);
}

static void put_end(FILE *f, int64_t value)
{
    if (value == INT64_MIN || value == INT64_MAX)
        fputs(" -", f);
    else
        fprintf(f, " %" PRId64, value);
}

static void put_bounds(FILE *f, const struct pt_sync_bound *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "bound %" PRId64, b[i].ns);
        put_end(f, b[i].least);
        put_end(f, b[i].most);
        fputc('\n', f);
    }
}

static void put_host(FILE *f, const struct pt_sync_host *h)
{
    static const uint8_t none[16];
    bool by_log = memcmp(h->log_id, none, sizeof none) != 0;

    fprintf(f, "%s ", by_log ? "log" : "host");
    put_hex(f, by_log ? h->log_id : h->boot_id);
    fprintf(f, " %s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " ",
            pt_sync_clock_words[h->clock], pt_sync_source_words[h->source], h->first_ns, h->last_ns,
            h->offset_ns, h->drift_ppb);
    put_name(f, h->host);
    fputc('\n', f);
    for (size_t i = 0; i < h->knot_count; i++)
        fprintf(f, "knot %" PRIu64 " %" PRId64 "\n", h->knots[i].ticks, h->knots[i].ns);
    put_bounds(f, h->bounds, h->bound_count);
    fprintf(f, "drift %" PRId64 " %" PRId64 "\n", h->least_ppb, h->most_ppb);
}

int posixtrace_sync_write(const posixtrace_sync_t *sync, int fd)
{
    FILE *f;
    int copy, failed, error;

    if (!sync || (sync->made && sync->conflict_count))
        return EINVAL;
    copy = dup(fd);
    f = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (!f) {
        error = errno;
        if (copy >= 0)
            close(copy);
        return error;
    }
    fputs(PT_SYNC_FIRST_LINE "\n", f);
    for (size_t i = 0; i < sync->host_count; i++)
        put_host(f, &sync->hosts[i]);
    for (size_t i = 0; i < sync->between_count; i++) {
        fprintf(f, "between %zu %zu\n", sync->between[i].from, sync->between[i].to);
        put_bounds(f, sync->between[i].bounds, sync->between[i].bound_count);
    }
    fputs("end\n", f);
    failed = fflush(f) != 0 || ferror(f);
    error = failed ? errno : 0;
    if (fclose(f) != 0 && !error)
        error = errno;
    return failed && !error ? EIO : error;
}
