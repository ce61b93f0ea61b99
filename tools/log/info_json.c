/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See info_json.h.  Times are nanoseconds since 1970, sizes bytes.  A value that is unknown in the
 * text is null.
 */
#include "log/info_json.h"

#include <posixtrace/attr.h>
#include <posixtrace/typed.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_out.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "log/info_clock.h"
#include "log/info_tables.h"

static const char *stream_policy(int policy)
{
    switch (policy) {
    case POSIX_TRACE_LOOP: return "loop";
    case POSIX_TRACE_UNTIL_FULL: return "until-full";
    case POSIX_TRACE_FLUSH: return "flush";
    case POSIX_TRACE_APPEND: return "append";
    default: return "unknown";
    }
}

static const char *clock_word(int clock)
{
    switch (clock) {
    case POSIXTRACE_CLOCK_TSC: return "tsc";
    case POSIXTRACE_CLOCK_MONOTONIC: return "monotonic";
    case POSIXTRACE_CLOCK_REALTIME: return "imported";
    default: return "unknown";
    }
}

static const char *end_word(int end)
{
    switch (end) {
    case POSIXTRACE_END_ACTIVE: return "active";
    case POSIXTRACE_END_SHUTDOWN: return "shutdown";
    case POSIXTRACE_END_RECOVERED: return "recovered";
    case POSIXTRACE_END_TAIL: return "tail";
    case POSIXTRACE_END_CUT: return "cut";
    default: return "unknown";
    }
}

static int64_t ns_of(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static void put_policies(const trace_attr_t *attr)
{
    int stream = 0, log = 0, inherited = 0;
    size_t stream_size = 0, log_size = 0;

    posix_trace_attr_getstreamfullpolicy(attr, &stream);
    posix_trace_attr_getlogfullpolicy(attr, &log);
    posix_trace_attr_getstreamsize(attr, &stream_size);
    posix_trace_attr_getlogsize(attr, &log_size);
    posix_trace_attr_getinherited(attr, &inherited);
    json_text("stream_full", stream_policy(stream));
    json_count("stream_bytes", stream_size);
    json_text("log_full", stream_policy(log));
    if (log == POSIX_TRACE_APPEND)
        json_none("log_bytes");
    else
        json_count("log_bytes", log_size);
    json_truth("children", inherited == POSIX_TRACE_INHERITED);
}

static void put_attributes(const struct log_file *log)
{
    char text[TRACE_NAME_MAX + 1];
    struct timespec time = { 0, 0 };
    trace_attr_t attr;
    int compression = 0;
    size_t data = 0;
    double cost = 0;

    if (posix_trace_get_attr(log->trid, &attr) != 0)
        return;
    if (posix_trace_attr_getname(&attr, text) == 0)
        json_text("stream", text);
    if (posix_trace_attr_getgenversion(&attr, text) == 0)
        json_text("made_by", text);
    if (posix_trace_attr_getcreatetime(&attr, &time) == 0)
        json_integer("created", ns_of(&time));
    /* an import never had a stream */
    if (log->info.clock != POSIXTRACE_CLOCK_REALTIME)
        put_policies(&attr);
    posixtrace_attr_getcompression(&attr, &compression);
    json_truth("compressed", compression == POSIXTRACE_COMPRESSION_ZSTD);
    posix_trace_attr_getmaxdatasize(&attr, &data);
    json_count("event_data_bytes", data);
    if (posixtrace_attr_geteventcost(&attr, &cost) == 0 && cost > 0)
        json_number("event_cost_ns", cost, 3);
    if (posix_trace_attr_getclockres(&attr, &time) == 0)
        json_integer("clock_resolution", ns_of(&time));
    posix_trace_attr_destroy(&attr);
}

static void put_log(const struct log_file *log)
{
    static const uint8_t none[sizeof log->info.boot_id];
    char id[2 * sizeof log->info.id + 1], boot[2 * sizeof none + 1];
    bool outlived = false;

    *pt_number_bytes(id, log->info.id, sizeof log->info.id) = '\0';
    *pt_number_bytes(boot, log->info.boot_id, sizeof none) = '\0';
    posixtrace_outlived(log->trid, &outlived);
    json_text("log", log->path);
    if (log->info.host[0])
        json_text("host", log->info.host);
    if (memcmp(log->info.boot_id, none, sizeof none) != 0)
        json_text("boot", boot);
    if (log->seekable)
        json_count("file_bytes", log->size);
    else
        json_none("file_bytes");
    json_text("ended", end_word(log->info.end));
    json_truth("outlived", outlived);
    json_text("id", id);
    json_text("clock", clock_word(log->info.clock));
}

static void put_span(const struct log_file *log, int64_t first)
{
    const struct posixtrace_info *info = &log->info;

    json_count("events", info->events);
    if (info->events > 0) {
        json_integer("first", first);
        json_integer("last", info->last_ns);
    }
    if (info->events > 0 && first != info->first_ns)
        json_integer("overwritten_from", info->first_ns);
    json_count("late", info->late);
    json_count("peak_bytes", info->peak_bytes);
    json_count("reserved_bytes", info->reserved_bytes);
}

static void put_causes(const char *key, const uint64_t *lost)
{
    json_open(key, '{');
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        if (lost[i])
            json_count(posixtrace_loss_cause_text(i), lost[i]);
    json_close();
}

static void put_loss(const struct log_file *log)
{
    const struct posixtrace_info *info = &log->info;
    struct posixtrace_limits limits;
    uint64_t gaps = log_file_gaps(log);

    /* how many is not known: null, and in how many places */
    if (!log_file_knows_totals(log) || gaps > 0)
        json_none("lost");
    else
        json_count("lost", log_file_lost_all(log));
    json_count("lost_places", gaps);
    put_causes("lost_by_cause", info->lost);
    json_count("unreadable_bytes", info->skipped_bytes);
    json_integer("log_error", info->flush_error);
    json_count("advised_stream_bytes", info->advised_size);
    json_count("unnamed_events", log_file_unnamed(log));
    if (posixtrace_get_limits(log->trid, &limits, sizeof limits) == 0) {
        json_count("refused_threads", limits.refused_threads);
        json_count("refused_processes", limits.refused_processes);
    }
}

static void put_type(const struct log_file *log, const struct log_type *type)
{
    char text[POSIXTRACE_DESCRIPTION_MAX + 1];

    json_open(NULL, '{');
    json_text("event", type->name);
    json_count("count", type->count);
    if (type->id > POSIX_TRACE_UNNAMED_USEREVENT &&
        posixtrace_event_description(log->trid, type->id, text, sizeof text) == 0)
        json_text("description", text);
    json_close();
}

static int put_types(const struct log_file *log)
{
    struct log_type *types;
    size_t count;
    int status = log_file_types(log, &types, &count);

    if (status != EXIT_DONE)
        return status;
    json_open("types", '[');
    for (size_t i = 0; i < count; i++)
        if (info_shows_type(&types[i]))
            put_type(log, &types[i]);
    json_close();
    free(types);
    return EXIT_DONE;
}

static void put_threads(const struct log_file *log)
{
    struct posixtrace_thread_info t;
    struct info_threads i;

    info_threads_begin(&i, log);
    json_open("threads", '[');
    while (info_threads_next(&i, &t)) {
        json_open(NULL, '{');
        json_integer("pid", t.pid);
        json_integer("tid", t.tid);
        json_text("thread", t.name);
        json_count("recorded", t.recorded);
        json_count("lost", log_file_lost(t.lost));
        json_close();
    }
    json_close();
}

int info_json(const struct log_file *log, int64_t first, const struct info_selected *selected,
              const char *selection, const struct info_rate *rate)
{
    int status = EXIT_DONE;

    json_open(NULL, '{');
    put_log(log);
    put_attributes(log);
    info_clock_json(log);
    put_span(log, first);
    put_loss(log);
    if (log_file_knows_totals(log)) {
        status = put_types(log);
        put_threads(log);
    }
    if (selected)
        info_json_selected(log, selected, selection);
    if (rate)
        info_rate_json(rate);
    json_close();
    return status;
}
