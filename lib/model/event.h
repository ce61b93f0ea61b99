/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event ids, limits and the decoded event, as every layer above sees them.
 *
 *   id 0                     no event type
 *   1 .. 191                 system event types: 1 to 8 predefined by the standard,
 *                            those of posixtrace/system.h from 16
 *   192                      posix_trace_unnamed_userevent
 *   193 .. 1215              user event types, numbered in the order of opening
 */
#ifndef PT_MODEL_EVENT_H
#define PT_MODEL_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace.h>

#define PT_ID_USER_FIRST  192u /* == POSIX_TRACE_UNNAMED_USEREVENT */
#define PT_ID_NAMED_FIRST 193u
#define PT_ID_MAX         (PT_ID_USER_FIRST + TRACE_USER_EVENT_MAX) /* one past the last */
#define PT_ID_SYSTEM_LAST POSIX_TRACE_ERROR
#define PT_ID_OWN_FIRST   16u /* posixtrace/system.h */
#define PT_ID_CPU_TIME    19u /* POSIXTRACE_CPU_TIME: the CPU time of a thread */
#define PT_ID_OWN_LAST    65u

#define PT_MAX_DATA 61440u /* largest max-data-size */

/* The writer of an event: a thread at one nesting level.  wid is never reused in a stream, unlike
 * the writer's slot.  wid 0 is the control writer (START, STOP, ...), 1 the consumer.  56 bits last
 * for 228,000 years at 10,000 threads a second. */
struct pt_author {
    uint64_t wid : 56;
    uint64_t level : 8;
    int32_t pid;
    int32_t tid;
    uint64_t thread_id; /* pthread_t, widened */
    char name[16];      /* NUL-terminated */
    uint32_t slot_1;    /* in a segment: index + 1 of the writer's slot, also after its end; else
                         * 0 */
    uint32_t names;     /* in a slot: how often its writer has stored its name */
};

struct pt_event {
    uint64_t ts; /* in ticks of the stream's clock */
    int64_t ns;  /* converted; filled by readers */
    uint64_t addr;
    const void *data;
    const struct pt_author *author;
    uint32_t len;
    uint16_t id;
    uint8_t truncated;
};

/* One conversion from ticks to CLOCK_REALTIME nanoseconds, in force for ticks
 * >= ts until the next point: ns + ((t - ts) * mult >> 32), 128-bit product. */
struct pt_sync {
    uint64_t ts;
    int64_t ns;
    uint64_t mult; /* nanoseconds per tick, 32.32 fixed point */
};

/* Texts beside the events: about an event type, by its id; mappings of processes
 * (page/mapping_list.h) and readings of the host's clock (model/clock_text.h), which are numbered
 * from 1 on. */
enum pt_text { PT_TEXT_NAME, PT_TEXT_DESCRIPTION, PT_TEXT_MAPPING, PT_TEXT_CLOCK, PT_TEXTS };

#define PT_DESCRIPTION_MAX 2047u /* bytes, as POSIXTRACE_DESCRIPTION_MAX */
#define PT_MAPPING_MAX     2047u /* bytes */
#define PT_MAPPING_END     8192u /* one past the highest number */
#define PT_CLOCK_TEXT_MAX  127u  /* bytes */
#define PT_CLOCK_TEXT_END  1024u /* one past the highest number */

static inline uint32_t pt_text_max(enum pt_text kind)
{
    return kind == PT_TEXT_NAME          ? TRACE_EVENT_NAME_MAX
           : kind == PT_TEXT_DESCRIPTION ? PT_DESCRIPTION_MAX
           : kind == PT_TEXT_CLOCK       ? PT_CLOCK_TEXT_MAX
                                         : PT_MAPPING_MAX;
}

/* One past the last id of a text. */
static inline uint32_t pt_text_end(enum pt_text kind)
{
    return kind == PT_TEXT_MAPPING ? PT_MAPPING_END
           : kind == PT_TEXT_CLOCK ? PT_CLOCK_TEXT_END
                                   : PT_ID_MAX;
}

/* Data of PT_ID_CPU_TIME: until its time the thread had run for that long, or up to
 * more_ns longer. */
struct pt_cpu_time {
    uint64_t run_ns, more_ns;
};
#define PT_CPU_TIME_OPEN UINT64_MAX

/* The name of a predefined type or of a system type of ours, or NULL. */
const char *pt_event_system_name(uint32_t id);

/* The name of an enum posixtrace_call ("read"), or NULL. */
const char *pt_event_call_name(uint32_t call);

/* The description of the data of a system type of ours, or NULL.  It is in each log. */
const char *pt_event_system_description(uint32_t id);
/* The same for a log without one, whose events have no callers. */
const char *pt_event_system_undescribed(uint32_t id);

/* A type that begins a call in which the thread may wait; the next one ends it. */
static inline bool pt_event_begins_call(uint32_t id)
{
    const uint64_t begins = 1ull << 20 | 1ull << 23 | 1ull << 26 | 1ull << 29 | 1ull << 32 |
                            1ull << 34 | 1ull << 42 | 1ull << 44 | 1ull << 46 | 1ull << 48 |
                            1ull << 50 | 1ull << 52 | 1ull << 54;

    return id < 64 && (begins >> id & 1u);
}

/* A type of the standard: every stream has it. */
static inline bool pt_event_is_predefined(uint32_t id)
{
    return (id >= 1 && id <= PT_ID_SYSTEM_LAST) || id == PT_ID_USER_FIRST;
}

/* A system type of posixtrace/system.h. */
static inline bool pt_event_is_own(uint32_t id)
{
    return id >= PT_ID_OWN_FIRST && id <= PT_ID_OWN_LAST;
}

#endif
