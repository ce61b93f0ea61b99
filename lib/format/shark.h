/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The records of the S.Ha.R.K. tracer (FTrace): 16 bytes, little-endian,
 *
 *     0  u16  code: the family in the low four bits of the low byte; bit 15: written by
 *             the fast probe, which leaves parameter 2 as it was
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

#define SHARK_RECORD 16u
#define SHARK_FAST   0x8000u
#define SHARK_PREFIX "shark:"

/* Codes that are looked at, beyond being a type. */
enum shark_code {
    SHARK_CYCLES_PER_MSEC = 0x10, SHARK_TRACE_START = 0x20, SHARK_TRACE_STOP = 0x30,
    SHARK_TASK_CREATE = 0x02, SHARK_TASK_END = 0x42, SHARK_CONTEXT_SWITCH = 0x15,
    SHARK_MUTEX_LOCK = 0x16, SHARK_MUTEX_UNLOCK = 0x36, SHARK_MUTEX_WAIT = 0x46,
    SHARK_MUTEX_POST = 0x56, SHARK_SIGNAL = 0x07, SHARK_USER_0 = 0x09
};
#define SHARK_USERS 15u      /* user events: 0x09, 0x19, ... 0xE9 */

struct shark_type {
    uint8_t code;
    char    name[20];
    char    first[16], second[16];   /* what the parameters are called */
};

struct shark_record {
    uint16_t code, par1;
    uint32_t par2;
    uint64_t tsc;
};

/* Of a code (the low byte), or of a name; NULL: the manual has none. */
const struct shark_type *pt_shark_type(uint8_t code);
const struct shark_type *pt_shark_named(const char *name, size_t len);

void pt_shark_unpack(const uint8_t *at, struct shark_record *r);
void pt_shark_pack(uint8_t *at, const struct shark_record *r);

struct pt_job;
int pt_shark_read(struct pt_job *job);
int pt_shark_write(struct pt_job *job);

#endif
