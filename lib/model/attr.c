/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Stream attributes: defaults, validity, and the memory that an event needs.
 *
 * pt_attr_check() is the one place that knows which values are good; the
 * setters, create and the log reader all ask it.  It trusts nothing but the
 * size of the object: a log's attributes come from a file.
 */
#include <errno.h>
#include <posixtrace/attr.h>
#include <string.h>
#include "base/clock.h"
#include "model/attr.h"
#include "model/event.h"
#include "model/set.h"

/* The most bytes that an event takes beside its data: its own record head, a time record and an
 * author record.  The same is in pt_record_max_size() of lib/shm/record.h, a layer above;
 * test/unit/model compares the two. */
#define RECORD_GROUP_OVERHEAD 104u

/* FILTER carries the old and the new filter: the largest system event. */
#define LARGEST_SYSTEM_DATA (2 * sizeof(struct pt_set))

/* Beyond any memory, yet far from overflow in the arithmetic of chunks. */
#if SIZE_MAX > UINT32_MAX
#define STREAM_SIZE_MAX (1ull << 40)
#else
#define STREAM_SIZE_MAX ((uint64_t)SIZE_MAX / 4)
#endif

void pt_attr_init(struct pt_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->magic = PT_ATTR_MAGIC;
    strcpy(attr->genversion, PT_GEN_VERSION);
    attr->clock_res_ns = pt_clock_resolution_ns();
    attr->stream_size = PT_DEFAULT_STREAM_SIZE;
    attr->max_data = PT_DEFAULT_MAX_DATA;
    attr->log_size = PT_DEFAULT_LOG_SIZE;
    attr->stream_policy = POSIX_TRACE_LOOP;
    attr->log_policy = POSIX_TRACE_LOOP;
    attr->inheritance = POSIX_TRACE_CLOSE_FOR_CHILD;
    attr->policy_is_default = 1;
}

struct pt_attr *pt_attr_get_mutable(trace_attr_t *attr)
{
    struct pt_attr *a = (struct pt_attr *)(void *)attr;

    return a && a->magic == PT_ATTR_MAGIC ? a : NULL;
}

const struct pt_attr *pt_attr_get(const trace_attr_t *attr)
{
    const struct pt_attr *a = (const struct pt_attr *)(const void *)attr;

    return a && a->magic == PT_ATTR_MAGIC ? a : NULL;
}

static bool policies_are_valid(const struct pt_attr *attr, bool with_log)
{
    if (attr->stream_policy != POSIX_TRACE_LOOP && attr->stream_policy != POSIX_TRACE_UNTIL_FULL &&
        !(attr->stream_policy == POSIX_TRACE_FLUSH && with_log))
        return false;
    if (attr->log_policy != POSIX_TRACE_LOOP && attr->log_policy != POSIX_TRACE_UNTIL_FULL &&
        attr->log_policy != POSIX_TRACE_APPEND)
        return false;
    if (attr->compression < POSIXTRACE_COMPRESSION_NONE ||
        attr->compression > POSIXTRACE_COMPRESSION_COLUMNS)
        return false;
    /* They are made by the thread that writes the log. */
    if (attr->switches != 0 && !(attr->switches == 1 && with_log))
        return false;
    return attr->inheritance == POSIX_TRACE_CLOSE_FOR_CHILD ||
           attr->inheritance == POSIX_TRACE_INHERITED;
}

/* The kernel has rings of 2^n pages. */
static bool switch_buffer_is_valid(uint64_t bytes)
{
    return bytes == 0 || ((bytes & (bytes - 1)) == 0 && bytes >= PT_SWITCH_BUFFER_MIN &&
                          bytes <= PT_SWITCH_BUFFER_MAX);
}

static bool numbers_are_valid(const struct pt_attr *attr)
{
    return attr->stream_size > 0 && attr->stream_size <= STREAM_SIZE_MAX &&
           attr->max_data <= PT_MAX_DATA && attr->log_size > 0 &&
           attr->event_cost_ps <= PT_EVENT_COST_MAX && switch_buffer_is_valid(attr->switch_buffer);
}

int pt_attr_check(const struct pt_attr *attr, bool with_log)
{
    if (attr->magic != PT_ATTR_MAGIC || !memchr(attr->name, 0, sizeof attr->name) ||
        !memchr(attr->genversion, 0, sizeof attr->genversion))
        return -EINVAL;
    return policies_are_valid(attr, with_log) && numbers_are_valid(attr) ? 0 : -EINVAL;
}

static uint64_t event_size(uint64_t data_len)
{
    return RECORD_GROUP_OVERHEAD + ((data_len + 7) & ~7ull);
}

uint64_t pt_attr_max_user_event(const struct pt_attr *attr, uint64_t data_len)
{
    return event_size(data_len < attr->max_data ? data_len : attr->max_data);
}

uint64_t pt_attr_max_system_event(const struct pt_attr *attr)
{
    (void)attr;
    return event_size(LARGEST_SYSTEM_DATA);
}
