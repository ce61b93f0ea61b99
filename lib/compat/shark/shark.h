/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The records of the S.Ha.R.K. tracer (FTrace): 16 bytes, little-endian,
 *
 *     0  u16  code: the family in the low four bits of the low byte; bit 15: written by
 *             the fast probe, which does not store parameter 2
 *     2  u16  parameter 1
 *     4  u32  time stamp counter, high half; 8  u32  low half
 *    12  u32  parameter 2
 *
 * Sources: docs/formats/shark.md.
 */
#ifndef PT_FORMAT_SHARK_H
#define PT_FORMAT_SHARK_H

#include <stddef.h>
#include <stdint.h>

#define SHARK_RECORD        16u
#define SHARK_FAST          0x8000u
#define SHARK_PREFIX        "shark:"
#define SHARK_CHUNK         "shark:chunk_" /* and its number: events of posixtrace/shark.h */
#define SHARK_LOST          "shark:LOST"   /* packets that are missing: u32 */
#define SHARK_PACKET_MARK   "TRACER-V1.0"  /* with its NUL 12 bytes */
#define SHARK_PACKET_HEAD   24u
#define SHARK_PACKET_EVENTS 60u /* at most */
#define SHARK_PORT          "20000"
#define SHARK_NS_PER_MSEC   1000000u
#define PT_SHARK_DATA       8u /* bytes of an event of a chunk: u16, u16, u32 */

/* Codes that are looked at, beyond being a type. */
enum shark_code {
    SHARK_CYCLES_PER_MSEC = 0x10,
    SHARK_TRACE_START = 0x20,
    SHARK_TRACE_STOP = 0x30,
    SHARK_TASK_CREATE = 0x02,
    SHARK_TASK_END = 0x42,
    SHARK_CONTEXT_SWITCH = 0x15,
    SHARK_MUTEX_LOCK = 0x16,
    SHARK_MUTEX_UNLOCK = 0x36,
    SHARK_MUTEX_WAIT = 0x46,
    SHARK_MUTEX_POST = 0x56,
    SHARK_SIGNAL = 0x07,
    SHARK_USER_0 = 0x09
};
#define SHARK_USERS 15u /* user events: 0x09, 0x19, ... 0xE9 */

struct shark_type {
    uint8_t code;
    char name[20];
    char first[16], second[16]; /* names of the parameters */
};

struct shark_record {
    uint16_t code, par1;
    uint32_t par2;
    uint64_t tsc;
};

/* The type of a code (the low byte), or of a name; NULL: not in the manual. */
const struct shark_type *pt_shark_type(uint8_t code);
const struct shark_type *pt_shark_named(const char *name, size_t len);

void pt_shark_unpack(const uint8_t *at, struct shark_record *r);
void pt_shark_pack(uint8_t *at, const struct shark_record *r);

uint32_t pt_shark_word(const void *at); /* 4 bytes */

/* An event of a chunk: code and parameters, without time. */
void pt_shark_pack_data(uint8_t *at, unsigned code, unsigned par1, uint32_t par2);
void pt_shark_unpack_data(const uint8_t *at, struct shark_record *r);
/* Writes the description of such an event; to has room for POSIXTRACE_DESCRIPTION_MAX + 1. */
void pt_shark_describe(char *to);

/* Completes a packet of so many records, which are already after its head; returns its bytes. */
size_t pt_shark_packet(uint8_t *packet, uint32_t number, uint32_t events);
/* The second parameter; if it is the rate of the clock, it is replaced, since ours counts ns. */
uint32_t pt_shark_in_ns(uint8_t code, uint32_t par2);

#endif
