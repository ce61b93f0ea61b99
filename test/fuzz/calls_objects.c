/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See calls_objects.h. */
#include <errno.h>
#include <string.h>
#include <posixtrace/attr.h>
#include <posixtrace/system.h>
#include "fuzz/calls_objects.h"
#include "fuzz/target.h"
#include "support/system_types.h"

/* Values that the arguments choose from; the invalid ones come last. */
static const size_t stream_sizes[] = { 1, 600, 4096, 20000, 65536, 1 << 20, 0, SIZE_MAX };
static const size_t data_sizes[] = { 0, 4, 16, 100, 4096, 61440, 61441, SIZE_MAX };
static const size_t log_sizes[] = { 1, 500, 3000, 4096, 20000, 1 << 16, 1 << 20, 0 };
static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH,
                                POSIX_TRACE_APPEND };

const char *const calls_names[CALLS_NAMES] = {
    "n0", "n1", "", "a name with spaces", "n4", "posix_trace_stop", "posix_trace_unnamed_userevent"
};
trace_event_id_t calls_ids[CALLS_NAMES];

void expect(int result, int wanted)
{
    if (result != wanted) {
        fprintf(stderr, "returned %d (%s), not %d (%s)\n", result, strerror(result), wanted,
                strerror(wanted));
        abort();
    }
}

void expect_ok_if(int result, bool good)
{
    expect(result, good ? 0 : EINVAL);
}

/* Events of types with and without calls_names, and numbers that are no user types. */
trace_event_id_t some_id(uint8_t b)
{
    static const trace_event_id_t others[] = {
        POSIX_TRACE_UNNAMED_USEREVENT, 700, 1215, 1, 8, 0, 9, 191, 1216, UINT32_MAX
    };

    return b % 2 ? calls_ids[b / 2 % CALLS_NAMES] : others[b / 2 % COUNT(others)];
}

static bool is_system(trace_event_id_t id)
{
    return (id >= POSIX_TRACE_START && id <= POSIX_TRACE_ERROR) ||
           (id >= POSIXTRACE_SWITCH_IN && id <= OWN_LAST);
}

bool is_type(trace_event_id_t id)
{
    return is_system(id) || (id >= POSIX_TRACE_UNNAMED_USEREVENT && id < MODEL_IDS);
}

/* ---- attributes ---- */

void attr_init(struct attr *a)
{
    expect(posix_trace_attr_init(&a->object), 0);
    a->good = true;
    a->policy = a->log_policy = POSIX_TRACE_LOOP;
    a->policy_set = false;
    a->max_data = 4096;
}

void attr_destroy(struct attr *a)
{
    expect_ok_if(posix_trace_attr_destroy(&a->object), a->good);
    a->good = false;
}

/* A build without zstd says so. */
static void set_compression(struct attr *a, int which)
{
    int compression = which == 3 ? 77 : which % 2, now = -1,
        r = posixtrace_attr_setcompression(&a->object, compression);

    if (r != ENOTSUP || compression != POSIXTRACE_COMPRESSION_ZSTD)
        expect_ok_if(r, a->good && compression != 77);
    expect_ok_if(posixtrace_attr_getcompression(&a->object, &now), a->good);
    FUZZ_NEED(r != 0 || now == compression);
}

void attr_set(struct attr *a, uint8_t b)
{
    size_t size;
    int policy = policies[b / 8 % COUNT(policies)];
    bool good;

    switch (b % 8) {
    case 0:
        size = stream_sizes[b / 8 % COUNT(stream_sizes)];
        expect_ok_if(posix_trace_attr_setstreamsize(&a->object, size),
                     a->good && size > 0 && size < SIZE_MAX);
        return;
    case 1:
    case 2:
        size = data_sizes[b / 8 % COUNT(data_sizes)];
        good = a->good && size <= 61440;
        expect_ok_if(posix_trace_attr_setmaxdatasize(&a->object, size), good);
        if (good)
            a->max_data = size;
        return;
    case 3:
        size = log_sizes[b / 8 % COUNT(log_sizes)];
        expect_ok_if(posix_trace_attr_setlogsize(&a->object, size), a->good && size > 0);
        return;
    case 4:
    case 5:
        good = a->good && policy != POSIX_TRACE_APPEND;
        expect_ok_if(posix_trace_attr_setstreamfullpolicy(&a->object, policy), good);
        if (good) {
            a->policy = policy;
            a->policy_set = true;
        }
        return;
    case 6:
        good = a->good && policy != POSIX_TRACE_FLUSH;
        expect_ok_if(posix_trace_attr_setlogfullpolicy(&a->object, policy), good);
        if (good)
            a->log_policy = policy;
        return;
    default:
        if (b & 128) {
            set_compression(a, b / 8 % 4);
            return;
        }
        policy = b & 64 ? POSIX_TRACE_INHERITED : b & 32 ? 77 : POSIX_TRACE_CLOSE_FOR_CHILD;
        expect_ok_if(posix_trace_attr_setinherited(&a->object, policy), a->good && policy != 77);
        expect_ok_if(posix_trace_attr_setname(&a->object, calls_names[b / 8 % CALLS_NAMES]),
                     a->good);
    }
}

void attr_get(struct attr *a)
{
    char text[TRACE_NAME_MAX + 1];
    struct timespec resolution;
    int policy = 0, log_policy = 0, inherit;
    size_t max_data = 0, size;

    expect_ok_if(posix_trace_attr_getstreamfullpolicy(&a->object, &policy), a->good);
    expect_ok_if(posix_trace_attr_getlogfullpolicy(&a->object, &log_policy), a->good);
    expect_ok_if(posix_trace_attr_getmaxdatasize(&a->object, &max_data), a->good);
    expect_ok_if(posix_trace_attr_getinherited(&a->object, &inherit), a->good);
    expect_ok_if(posix_trace_attr_getlogsize(&a->object, &size), a->good);
    expect_ok_if(posix_trace_attr_getstreamsize(&a->object, &size), a->good);
    expect_ok_if(posix_trace_attr_getmaxsystemeventsize(&a->object, &size), a->good);
    expect_ok_if(posix_trace_attr_getmaxusereventsize(&a->object, 10, &size), a->good);
    expect_ok_if(posix_trace_attr_getname(&a->object, text), a->good);
    expect_ok_if(posix_trace_attr_getgenversion(&a->object, text), a->good);
    expect_ok_if(posix_trace_attr_getclockres(&a->object, &resolution), a->good);
    FUZZ_NEED(!a->good ||
              (policy == a->policy && log_policy == a->log_policy && max_data == a->max_data));
}

/* ---- event sets ---- */

void set_change(struct set *s, uint8_t b)
{
    static const int fills[] = { POSIX_TRACE_WOPID_EVENTS, POSIX_TRACE_SYSTEM_EVENTS,
                                 POSIX_TRACE_ALL_EVENTS, 5 };
    trace_event_id_t id = some_id(b / 4);
    int what = fills[b / 4 % COUNT(fills)];

    switch (b % 4) {
    case 0:
        expect_ok_if(posix_trace_eventset_add(id, &s->object), s->good && is_type(id));
        if (s->good && is_type(id))
            s->has[id] = true;
        return;
    case 1:
        expect_ok_if(posix_trace_eventset_del(id, &s->object), s->good && is_type(id));
        if (s->good && is_type(id))
            s->has[id] = false;
        return;
    case 2:
        expect(posix_trace_eventset_empty(&s->object), 0);
        s->good = true;
        memset(s->has, 0, sizeof s->has);
        return;
    default:
        expect_ok_if(posix_trace_eventset_fill(&s->object, what), what != 5);
        if (what == 5)
            return;
        s->good = true;
        for (trace_event_id_t i = 0; i < MODEL_IDS; i++)
            s->has[i] = is_type(i) && (what == POSIX_TRACE_ALL_EVENTS ||
                                       (what == POSIX_TRACE_SYSTEM_EVENTS && is_system(i)) ||
                                       i == POSIX_TRACE_OVERFLOW || i == POSIX_TRACE_RESUME ||
                                       i == POSIX_TRACE_ERROR);
    }
}

void expect_members(const trace_event_set_t *object, const bool has[MODEL_IDS])
{
    for (trace_event_id_t id = 0; id <= MODEL_IDS; id++) {
        int member = -1, r = posix_trace_eventset_ismember(id, object, &member);

        expect_ok_if(r, is_type(id));
        FUZZ_NEED(r != 0 || member == has[id]);
    }
}

void set_expect(const struct set *s)
{
    int member;

    if (s->good)
        expect_members(&s->object, s->has);
    else
        expect(posix_trace_eventset_ismember(1, &s->object, &member), EINVAL);
}
