/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reads the file of clocks (docs/sync.md).  It may have any contents: every number is checked for
 * its range and order before it is used, so that an object that was read is as good as one that
 * was made.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/sync/sync_file.h"

enum { MOST_BYTES = 64 << 20 };
#define LOST_ENDS INT64_C(4000000000000000000) /* errors and times are below: 126 years */

const char *const pt_sync_clock_words[] = { "tsc", "monotonic", "imported", NULL };
const char *const pt_sync_source_words[] = { "reference", "messages", "kernel", "unknown", NULL };

struct reading {
    char *at; /* the rest of the line */
    size_t line;
    posixtrace_sync_t *sync;
    struct pt_sync_host *host;       /* the lines are about it, */
    struct pt_sync_between *between; /* or about these */
    bool ended, no_memory;
    struct posixtrace_sync_fault fault;
};

__attribute__((format(printf, 2, 3))) static bool wrong(struct reading *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(r->fault.text, sizeof r->fault.text, format, args);
    va_end(args);
    r->fault.line = r->line;
    return false;
}

/* ---- words ---- */

/* The next word, "" if there is none. */
static char *word(struct reading *r)
{
    char *begin = r->at, *blank = strchr(begin, ' ');

    if (blank)
        *blank = '\0';
    r->at = blank ? blank + 1 : begin + strlen(begin);
    return begin;
}

static bool number(struct reading *r, int64_t most, int64_t *n)
{
    const char *w = word(r);
    char *end;

    errno = 0;
    *n = strtoll(w, &end, 10);
    if (errno || end == w || *end || !((*w >= '0' && *w <= '9') || *w == '-') || *n > most ||
        *n < -most)
        return wrong(r, "a number is expected, up to %lld", (long long)most);
    return true;
}

static bool ticks(struct reading *r, uint64_t *n)
{
    const char *w = word(r);
    char *end;

    errno = 0;
    *n = strtoull(w, &end, 10);
    if (errno || end == w || *end || *w < '0' || *w > '9')
        return wrong(r, "a number without a sign is expected");
    return true;
}

static bool bytes(struct reading *r, uint8_t to[16])
{
    const char *w = word(r);
    bool good = strlen(w) == 32 && strspn(w, "0123456789abcdef") == 32;

    for (int i = 0; good && i < 16; i++) {
        const char two[3] = { w[2 * i], w[2 * i + 1], '\0' };

        to[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    return good || wrong(r, "32 hexadecimal digits are expected");
}

static bool one_of(struct reading *r, const char *const *words, unsigned *index)
{
    const char *w = word(r);

    for (*index = 0; words[*index]; ++*index)
        if (strcmp(words[*index], w) == 0)
            return true;
    return wrong(r, "'%s' is expected, or a word like it", words[0]);
}

static bool name(struct reading *r, char to[64])
{
    const char *w = word(r);
    size_t n = 0;

    for (; *w && n < 63; n++) {
        char two[3] = "";

        if (*w != '\\') {
            to[n] = *w++;
            continue;
        }
        if (w[1] == 'x' && w[2] && w[3])
            memcpy(two, w + 2, 2);
        if (strlen(two) != 2 || strspn(two, "0123456789abcdef") != 2 || strcmp(two, "00") == 0)
            return wrong(r, "\\xNN is expected after a backslash");
        to[n] = (char)strtoul(two, NULL, 16);
        w += 4;
    }
    return !*w || wrong(r, "a name is longer than 63 bytes");
}

/* Room for one more; NULL: there is none. */
static void *more(struct reading *r, void *array, size_t *count, size_t size, size_t most)
{
    void **pointer = array;
    char *grown = *pointer;

    if (*count == most) {
        wrong(r, "there are more than %zu", most);
        return NULL;
    }
    if ((*count & (*count - 1)) == 0) /* doubled at each power of two */
        grown = realloc(grown, (*count ? 2 * *count : 1) * size);
    if (!grown) {
        r->no_memory = true;
        return NULL;
    }
    *pointer = grown;
    memset(grown + *count * size, 0, size);
    return grown + (*count)++ * size;
}

/* ---- lines ---- */

/* The clock that the lines before were about is whole. */
static bool finish(struct reading *r)
{
    if (r->host && (r->host->knot_count < 2 || r->host->bound_count < 1))
        return wrong(r, "the clock before has less than two knots or no bound");
    if (r->between && r->between->bound_count < 1)
        return wrong(r, "the pair before has no bound");
    r->host = NULL;
    r->between = NULL;
    return true;
}

static bool host_line(struct reading *r, bool by_log)
{
    static const uint8_t none[16];
    struct pt_sync_host *h;
    unsigned clock;

    if (!finish(r))
        return false;
    if (r->sync->between_count)
        return wrong(r, "a clock is expected before pairs of clocks");
    h = more(r, &r->sync->hosts, &r->sync->host_count, sizeof *h, PT_SYNC_FILE_HOSTS);
    if (!h || !bytes(r, by_log ? h->log_id : h->boot_id) ||
        !one_of(r, pt_sync_clock_words, &clock) || !one_of(r, pt_sync_source_words, &h->source) ||
        !number(r, LOST_ENDS, &h->first_ns) || !number(r, LOST_ENDS, &h->last_ns) ||
        !number(r, LOST_ENDS, &h->offset_ns) || !number(r, PT_SYNC_MOST_PPB, &h->drift_ppb) ||
        !name(r, h->host))
        return false;
    if (by_log && (h->host[0] || memcmp(h->log_id, none, sizeof none) == 0))
        return wrong(r, "a clock of a log has an id and no name");
    h->clock = (int)clock;
    r->host = h;
    return true;
}

static bool knot_line(struct reading *r)
{
    struct posixtrace_clock_knot *k;

    if (!r->host)
        return wrong(r, "a knot belongs to no clock");
    k = more(r, &r->host->knots, &r->host->knot_count, sizeof *k, PT_SYNC_KNOTS);
    if (!k || !ticks(r, &k->ticks) || !number(r, LOST_ENDS, &k->ns))
        return false;
    if (r->host->knot_count > 1 && (k->ticks <= k[-1].ticks || k->ns <= k[-1].ns ||
                                    (uint64_t)(k->ns - k[-1].ns) / 4096 >= k->ticks - k[-1].ticks))
        return wrong(r, "knots of a clock ascend, by at most 4096 ns a tick");
    return true;
}

/* The interval contains 0: the time itself is possible. */
static bool end_of(struct reading *r, bool most, int64_t *value)
{
    if (strcmp(r->at, "-") == 0 || strncmp(r->at, "- ", 2) == 0) {
        word(r);
        *value = most ? INT64_MAX : INT64_MIN;
        return true;
    }
    if (!number(r, LOST_ENDS, value))
        return false;
    return (most ? *value >= 0 : *value <= 0) || wrong(r, "a bound is on the wrong side of 0");
}

static bool bound_line(struct reading *r)
{
    struct pt_sync_bound *b, **array;
    size_t *count;

    if (!r->host && !r->between)
        return wrong(r, "a bound belongs to no clock");
    array = r->host ? &r->host->bounds : &r->between->bounds;
    count = r->host ? &r->host->bound_count : &r->between->bound_count;
    b = more(r, array, count, sizeof *b, PT_SYNC_KNOTS);
    if (!b || !number(r, LOST_ENDS, &b->ns) || !end_of(r, false, &b->least) ||
        !end_of(r, true, &b->most))
        return false;
    return *count == 1 || b->ns > b[-1].ns || wrong(r, "bounds ascend");
}

static bool drift_line(struct reading *r)
{
    if (!r->host)
        return wrong(r, "a drift belongs to no clock");
    if (!number(r, PT_SYNC_MOST_PPB, &r->host->least_ppb) ||
        !number(r, PT_SYNC_MOST_PPB, &r->host->most_ppb))
        return false;
    return (r->host->least_ppb <= 0 && r->host->most_ppb >= 0) ||
           wrong(r, "the drift is on the wrong side of 0");
}

static bool between_line(struct reading *r)
{
    struct pt_sync_between *b;
    uint64_t from, to;

    if (!finish(r) || !ticks(r, &from) || !ticks(r, &to))
        return false;
    if (from >= to || to >= r->sync->host_count)
        return wrong(r, "two different clocks of the file are expected, the first one first");
    b = more(r, &r->sync->between, &r->sync->between_count, sizeof *b,
             (size_t)PT_SYNC_HOSTS * PT_SYNC_HOSTS);
    if (!b)
        return false;
    b->from = (size_t)from;
    b->to = (size_t)to;
    r->between = b;
    return true;
}

static bool known_line(struct reading *r, const char *w, bool *known)
{
    *known = true;
    if (strcmp(w, "host") == 0 || strcmp(w, "log") == 0)
        return host_line(r, *w == 'l');
    if (strcmp(w, "knot") == 0)
        return knot_line(r);
    if (strcmp(w, "bound") == 0)
        return bound_line(r);
    if (strcmp(w, "drift") == 0)
        return drift_line(r);
    if (strcmp(w, "between") == 0)
        return between_line(r);
    if (strcmp(w, "end") == 0) {
        r->ended = true;
        return finish(r);
    }
    *known = false;
    return false;
}

static bool line(struct reading *r, char *text)
{
    bool known, good;

    r->at = text;
    if (r->line == 1)
        return strcmp(text, PT_SYNC_FIRST_LINE) == 0 ||
               wrong(r, "it is not a file of clocks: 'posixtrace sync' makes one");
    if (r->ended)
        return wrong(r, "something follows the end");
    good = known_line(r, word(r), &known);
    if (!known)
        return wrong(r, "a line of an unknown kind");
    return good && (!*r->at || wrong(r, "more words than expected"));
}

/* ---- the file ---- */

/* All of it, with a NUL; NULL: errno says why not. */
static char *read_all(int fd, size_t *size)
{
    size_t room = 1 << 14, used = 0;
    char *text = malloc(room);

    while (text) {
        ssize_t n = read(fd, text + used, room - used - 1);
        char *grown;

        if (n == 0) {
            text[used] = '\0';
            *size = used;
            return text;
        }
        if (n < 0 && errno == EINTR)
            continue;
        used += n > 0 ? (size_t)n : 0;
        errno = n < 0 ? errno : used > MOST_BYTES ? EILSEQ : 0;
        grown = errno ? NULL : room - used > 1 ? text : realloc(text, room *= 2);
        if (!grown) {
            int error = errno;

            free(text);
            errno = error ? error : ENOMEM;
            return NULL;
        }
        text = grown;
    }
    return NULL;
}

static bool lines(struct reading *r, char *text, size_t size)
{
    char *at = text, *end = text + size;

    while (at < end) {
        char *newline = memchr(at, '\n', (size_t)(end - at));

        r->line++;
        if (!newline || memchr(at, '\0', (size_t)(newline - at)))
            return wrong(r, newline ? "a NUL" : "the line has no end");
        *newline = '\0';
        if (!line(r, at))
            return false;
        at = newline + 1;
    }
    r->line++;
    return r->ended || wrong(r, "the end is missing");
}

int posixtrace_sync_read(int fd, posixtrace_sync_t **sync, struct posixtrace_sync_fault *fault)
{
    struct reading r = { .line = 0 };
    size_t size;
    char *text;
    bool good;

    if (!sync)
        return EINVAL;
    if (fault)
        *fault = (struct posixtrace_sync_fault){ .line = 0 };
    text = read_all(fd, &size);
    if (!text)
        return errno;
    r.sync = calloc(1, sizeof *r.sync);
    good = r.sync && lines(&r, text, size);
    free(text);
    if (good) {
        *sync = r.sync;
        return 0;
    }
    r.no_memory |= !r.sync;
    posixtrace_sync_free(r.sync);
    if (fault && !r.no_memory)
        *fault = r.fault;
    return r.no_memory ? ENOMEM : EILSEQ;
}
