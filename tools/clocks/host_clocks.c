/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See host_clocks.h. */
#include "clocks/host_clocks.h"

#include <posixtrace/info.h>
#include <stdlib.h>
#include <string.h>

#include "clocks/kernel_clock.h"
#include "common/sync_option.h"
#include "common/tool.h"

struct log_clock {
    size_t clock; /* the place of the first log that has it; of a file of clocks, its index */
    char host[64];
    uint8_t boot_id[16];
    const char *name;
    struct kernel_clock kernel; /* without --sync */
};

struct host_clocks {
    const posixtrace_sync_t *sync; /* or NULL */
    size_t count;
    struct log_clock at[];
};

static bool is_one(const struct log_clock *a, const struct log_clock *b)
{
    static const uint8_t none[16];

    if (memcmp(a->boot_id, b->boot_id, sizeof a->boot_id) != 0)
        return false;
    return memcmp(a->boot_id, none, sizeof none) != 0 ||
           (a->host[0] && strncmp(a->host, b->host, sizeof a->host) == 0);
}

static void identify(struct host_clocks *c, size_t log, trace_id_t trid)
{
    struct log_clock *l = &c->at[log];
    struct posixtrace_info info;

    l->clock = log;
    if (posixtrace_get_info(trid, &info, sizeof info) == 0) {
        memcpy(l->host, info.host, sizeof l->host);
        l->host[sizeof l->host - 1] = '\0';
        memcpy(l->boot_id, info.boot_id, sizeof l->boot_id);
    }
    if (c->sync) { /* each log has one: sync_option_apply() has said so */
        posixtrace_sync_find(c->sync, trid, &l->clock);
        return;
    }
    for (size_t i = 0; l->clock == log && i < log; i++)
        if (is_one(&c->at[i], l))
            l->clock = c->at[i].clock;
    kernel_clock_make(&l->kernel, trid);
}

struct host_clocks *host_clocks_make(const trace_id_t *trids, const char *const *names,
                                     size_t count)
{
    struct host_clocks *c = tool_zeroed(sizeof *c + count * sizeof c->at[0]);

    c->sync = sync_option_clocks();
    c->count = count;
    for (size_t i = 0; i < count; i++) {
        c->at[i].name = names[i];
        identify(c, i, trids[i]);
    }
    return c;
}

void host_clocks_free(struct host_clocks *c)
{
    for (size_t i = 0; c && i < c->count; i++)
        kernel_clock_free(&c->at[i].kernel);
    free(c);
}

bool host_clocks_same(const struct host_clocks *c, size_t a, size_t b)
{
    return c->at[a].clock == c->at[b].clock;
}

bool host_clocks_several(const struct host_clocks *c)
{
    for (size_t i = 1; i < c->count; i++)
        if (!host_clocks_same(c, 0, i))
            return true;
    return false;
}

const char *host_clocks_name(const struct host_clocks *c, size_t log)
{
    return unquoted(c->at[log].host[0] ? c->at[log].host : c->at[log].name);
}

/* Beyond the range of known bounds: its end. */
static int64_t less(int64_t a, int64_t b)
{
    int64_t d;

    return __builtin_sub_overflow(a, b, &d) ? (b < 0 ? INT64_MAX : INT64_MIN) : d;
}

struct posixtrace_interval host_clocks_between(const struct host_clocks *c, size_t from,
                                               int64_t from_ns, size_t to, int64_t to_ns)
{
    struct posixtrace_interval d = { INT64_MIN, INT64_MAX };
    int64_t length = less(to_ns, from_ns), a, b;

    if (host_clocks_same(c, from, to)) {
        d.least_ns = d.most_ns = length;
    } else if (c->sync) {
        posixtrace_sync_difference(c->sync, c->at[from].clock, from_ns, c->at[to].clock, to_ns, &d);
    } else {
        a = kernel_clock_error(&c->at[from].kernel, from_ns);
        b = kernel_clock_error(&c->at[to].kernel, to_ns);
        if (a < INT64_MAX && b < INT64_MAX) {
            d.least_ns = less(less(length, a), b);
            d.most_ns = less(less(length, -a), -b);
        }
    }
    return d;
}
