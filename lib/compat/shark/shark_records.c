/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * S.Ha.R.K.  traces: the events of the manual, with its errata corrected, and the form of a record.
 */
#include <stdio.h>
#include <string.h>
#include <posixtrace/typed.h>
#include "compat/shark/shark.h"

static const struct shark_type types[] = {
    { 0x00, "empty", "", "" },
    { 0x10, "cycles_per_msec", "", "cycles" },
    { 0x20, "trace_start", "", "cycles" },
    { 0x30, "trace_stop", "", "" },
    { 0x40, "blackout_start", "", "" },
    { 0x50, "blackout_end", "", "" },
    { 0x60, "id", "context", "pid" },
    { 0x70, "numevents", "", "" },
    { 0x01, "ipoint", "number", "" },
    { 0x02, "task_create", "context", "pid" },
    { 0x12, "task_activate", "context", "" },
    { 0x22, "task_dispatch", "", "" },
    { 0x32, "task_epilogue", "", "" },
    { 0x42, "task_end", "context", "pid" },
    { 0x52, "task_begin_cycle", "", "" },
    { 0x62, "task_end_cycle", "context", "level" },
    { 0x72, "task_sleep", "", "" },
    { 0x82, "task_schedule", "shadow", "context" },
    { 0x92, "task_timer", "context", "level" },
    { 0xa2, "task_disable", "", "" },
    { 0xb2, "task_deadline_miss", "context", "" },
    { 0xc2, "task_wcet_violation", "context", "" },
    { 0x03, "interrupt_start", "number", "" },
    { 0x13, "interrupt_end", "number", "" },
    { 0x23, "interrupt_hit", "", "" },
    { 0x33, "interrupt_count", "", "" },
    { 0x04, "to_real_mode", "", "" },
    { 0x14, "to_protected_mode", "", "" },
    { 0x24, "cli", "", "" },
    { 0x34, "sti", "", "" },
    { 0x05, "set_priority", "", "" },
    { 0x15, "context_switch", "context", "" },
    { 0x25, "inheritance", "shadow", "context" },
    { 0x06, "mutex_create", "", "" },
    { 0x16, "mutex_lock", "context", "mutex" },
    { 0x26, "mutex_inherit", "", "" },
    { 0x36, "mutex_unlock", "context", "mutex" },
    { 0x46, "mutex_wait", "context", "mutex" },
    { 0x56, "mutex_post", "context", "mutex" },
    { 0x07, "signal", "", "" },
    { 0x08, "server_create", "", "server" },
    { 0x18, "server_replenish", "", "server" },
    { 0x28, "server_exhaust", "", "server" },
    { 0x38, "server_reclaiming", "", "server" },
    { 0x48, "server_remove", "", "server" },
    { 0x58, "server_active", "", "server" },
    { 0x68, "server_using_rec", "reclaiming", "server" },
    { 0x09, "user_event_0", "", "" },
    { 0x19, "user_event_1", "", "" },
    { 0x29, "user_event_2", "", "" },
    { 0x39, "user_event_3", "", "" },
    { 0x49, "user_event_4", "", "" },
    { 0x59, "user_event_5", "", "" },
    { 0x69, "user_event_6", "", "" },
    { 0x79, "user_event_7", "", "" },
    { 0x89, "user_event_8", "", "" },
    { 0x99, "user_event_9", "", "" },
    { 0xa9, "user_event_10", "", "" },
    { 0xb9, "user_event_11", "", "" },
    { 0xc9, "user_event_12", "", "" },
    { 0xd9, "user_event_13", "", "" },
    { 0xe9, "user_event_14", "", "" },
    { 0x0b, "timer_post", "", "" },
    { 0x1b, "timer_delete", "", "" },
    { 0x2b, "timer_wakeup_start", "", "" },
    { 0x3b, "timer_wakeup_end", "context", "" },
    { 0x1a, "data_pointer", "kind", "pointer" },
    { 0xff, "next_chunk", "", "" },
    { 0xf0, "filter_trace_events", "", "" },
    { 0xf1, "filter_ipoint", "status", "" },
    { 0xf2, "filter_task", "status", "" },
    { 0xf3, "filter_interrupt", "status", "" },
    { 0xf4, "filter_cpu", "status", "" },
    { 0xf5, "filter_priority", "status", "" },
    { 0xf6, "filter_mutex", "status", "" },
    { 0xf7, "filter_signal", "status", "" },
    { 0xf8, "filter_server", "status", "" },
    { 0xf9, "filter_user", "status", "" },
    { 0xfa, "filter_data", "status", "" },
    { 0xfb, "filter_timer", "status", "" },
};

const struct shark_type *pt_shark_type(uint8_t code)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == code)
            return &types[i];
    return NULL;
}

const struct shark_type *pt_shark_named(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == len && memcmp(types[i].name, name, len) == 0)
            return &types[i];
    return NULL;
}

static uint32_t get(const uint8_t *at, unsigned bytes)
{
    uint32_t v = 0;

    for (unsigned i = 0; i < bytes; i++)
        v |= (uint32_t)at[i] << 8 * i;
    return v;
}

static void put(uint8_t *at, unsigned bytes, uint32_t v)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

uint32_t pt_shark_word(const void *at)
{
    return get(at, 4);
}

/* The high half of the time comes first: it is no 64-bit number in either order. */
void pt_shark_unpack(const uint8_t *at, struct shark_record *r)
{
    r->code = (uint16_t)get(at, 2);
    r->par1 = (uint16_t)get(at + 2, 2);
    r->tsc = (uint64_t)get(at + 4, 4) << 32 | get(at + 8, 4);
    r->par2 = get(at + 12, 4);
}

void pt_shark_pack(uint8_t *at, const struct shark_record *r)
{
    put(at, 2, r->code);
    put(at + 2, 2, r->par1);
    put(at + 4, 4, (uint32_t)(r->tsc >> 32));
    put(at + 8, 4, (uint32_t)r->tsc);
    put(at + 12, 4, r->par2);
}

void pt_shark_pack_data(uint8_t *at, unsigned code, unsigned par1, uint32_t par2)
{
    put(at, 2, code);
    put(at + 2, 2, par1);
    put(at + 4, 4, par2);
}

void pt_shark_unpack_data(const uint8_t *at, struct shark_record *r)
{
    r->code = (uint16_t)get(at, 2);
    r->par1 = (uint16_t)get(at + 2, 2);
    r->par2 = get(at + 4, 4);
}

void pt_shark_describe(char *to)
{
    const char *const end = to + POSIXTRACE_DESCRIPTION_MAX + 1;
    const char *between = "le; u16 code {";

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        to += snprintf(to, (size_t)(end - to), "%s%s = 0x%02x", between, types[i].name,
                       types[i].code);
        between = ", ";
    }
    snprintf(to, (size_t)(end - to), "}; u16 par1; u32 par2");
}

size_t pt_shark_packet(uint8_t *packet, uint32_t number, uint32_t events)
{
    size_t bytes = SHARK_PACKET_HEAD + events * SHARK_RECORD;

    memcpy(packet, SHARK_PACKET_MARK, sizeof SHARK_PACKET_MARK);
    put(packet + 12, 4, number);
    put(packet + 16, 4, events);
    put(packet + 20, 4, (uint32_t)bytes);
    return bytes;
}

uint32_t pt_shark_in_ns(uint8_t code, uint32_t par2)
{
    return par2 && (code == SHARK_CYCLES_PER_MSEC || code == SHARK_TRACE_START) ? SHARK_NS_PER_MSEC
                                                                                : par2;
}
