/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF, in the reading process: times of messages.  A clock counts cycles from an
 * offset since 1970, of whole seconds and of cycles.
 */
#include "analysis/format/ctf/ctf_import.h"

#define SECOND 1000000000u

/* The library has refused offsets beyond 64 bits of ns. */
static void learn(struct ctf_clock *c, const bt_clock_class *class)
{
    *c = (struct ctf_clock){ .class = class, .frequency = bt_clock_class_get_frequency(class) };
    bt_clock_class_get_offset(class, &c->seconds, &c->offset);
    c->seconds = (int64_t)((uint64_t)c->seconds + c->offset / c->frequency);
    c->offset %= c->frequency;
}

/* Cycles below a second as ns. */
static uint64_t rest_ns(uint64_t cycles, uint64_t frequency)
{
    uint64_t ns = 0;

    if (frequency == SECOND)
        return cycles;
    /* Products have 64 bits up to 18 GHz. */
    if (frequency <= UINT64_MAX / SECOND)
        return cycles * SECOND / frequency;
    /* Above 1.8e18 Hz the last bits of a cycle are far below a nanosecond. */
    if (frequency > UINT64_MAX / 10) {
        frequency >>= 4;
        cycles = cycles >> 4 < frequency ? cycles >> 4 : frequency - 1;
    }
    for (int digit = 0; digit < 9; digit++) {
        cycles *= 10;
        ns = 10 * ns + cycles / frequency;
        cycles %= frequency;
    }
    return ns;
}

static bool convert(const struct ctf_clock *c, uint64_t value, int64_t *ns)
{
    uint64_t seconds = value / c->frequency, rest = value % c->frequency;
    bool carry = rest >= c->frequency - c->offset;
    int64_t whole;

    rest = carry ? rest - (c->frequency - c->offset) : rest + c->offset;
    if (__builtin_add_overflow(seconds, c->seconds, &whole) ||
        __builtin_add_overflow(whole, (int64_t)carry, &whole))
        return false;
    /* A time before 1970 is a negative number of seconds and a positive rest. */
    if (whole < 0) {
        whole++;
        return !__builtin_mul_overflow(whole, (int64_t)SECOND, ns) &&
               !__builtin_add_overflow(*ns, (int64_t)rest_ns(rest, c->frequency) - (int64_t)SECOND,
                                       ns);
    }
    return !__builtin_mul_overflow(whole, (int64_t)SECOND, ns) &&
           !__builtin_add_overflow(*ns, (int64_t)rest_ns(rest, c->frequency), ns);
}

bool pt_ctf_clock_ns(struct ctf_clock *c, const bt_clock_snapshot *snapshot, int64_t *ns)
{
    const bt_clock_class *class = bt_clock_snapshot_borrow_clock_class_const(snapshot);

    if (c->class != class)
        learn(c, class);
    return convert(c, bt_clock_snapshot_get_value(snapshot), ns);
}

static const bt_clock_snapshot *snapshot_of(const bt_message *m)
{
    const bt_stream *stream;

    switch (bt_message_get_type(m)) {
    case BT_MESSAGE_TYPE_EVENT:
        return bt_message_event_borrow_stream_class_default_clock_class_const(m)
                   ? bt_message_event_borrow_default_clock_snapshot_const(m)
                   : NULL;
    case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        stream = bt_message_discarded_events_borrow_stream_const(m);
        return bt_stream_class_discarded_events_have_default_clock_snapshots(
                   bt_stream_borrow_class_const(stream))
                   ? bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(m)
                   : NULL;
    default:
        stream = bt_message_discarded_packets_borrow_stream_const(m);
        return bt_stream_class_discarded_packets_have_default_clock_snapshots(
                   bt_stream_borrow_class_const(stream))
                   ? bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(m)
                   : NULL;
    }
}

int64_t pt_ctf_time(struct ctf_sink *s, struct ctf_clock *c, const bt_message *message)
{
    const bt_clock_snapshot *snapshot = snapshot_of(message);
    int64_t ns = CTF_NO_TIME;

    if (snapshot && !pt_ctf_clock_ns(c, snapshot, &ns))
        pt_ctf_fault(s, "a time that 64 bits of nanoseconds cannot say");
    return ns;
}
