/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Classes and events of QNX's traces: their numbers, names and fields.  The recording interface
 * (qnx.h) names its event types as an import of a .kev file does, so both use these tables.
 */
#ifndef PT_COMPAT_QNX_KEV_TYPES_H
#define PT_COMPAT_QNX_KEV_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_KEV_PREFIX   "qnx:"
#define PT_KEV_RECORD   16u
#define PT_KEV_CPUS     64u
#define PT_KEV_DATA_MAX 65536u /* limit for the data of an event, in bytes */
#define PT_KEV_HEAD_MAX 65536u /* of the text before the records */
#define PT_KEV_TYPES    32768u /* internal class and event, the low 15 bits of a header */
#define PT_KEV_BILLION  1000000000u

enum pt_kev_class { /* internal ones, as they are in headers */
                    PT_KEV_EMPTY,
                    PT_KEV_CONTROL,
                    PT_KEV_KER_CALL,
                    PT_KEV_INT,
                    PT_KEV_PR_TH,
                    PT_KEV_SYSTEM,
                    PT_KEV_USER,
                    PT_KEV_COMM,
                    PT_KEV_QUIP,
                    PT_KEV_SEC,
                    PT_KEV_QVM,
                    PT_KEV_PMU,
                    PT_KEV_CLASSES
};

enum { PT_KEV_SIMPLE, PT_KEV_BEGIN, PT_KEV_MIDDLE, PT_KEV_END };
enum { PT_KEV_TIME = 1, PT_KEV_BUFFER = 2, PT_KEV_BUFFER_END = 4, PT_KEV_DROPPED = 8 };
enum {
    PT_KEV_RUNNING = 1,
    PT_KEV_READY,
    PT_KEV_STOPPED,
    PT_KEV_NANOSLEEP = 12,
    PT_KEV_MUTEX,
    PT_KEV_CONDVAR,
    PT_KEV_SEM = 17,
    PT_KEV_STATES = 21,
    PT_KEV_THCREATE = 24,
    PT_KEV_THDESTROY,
    PT_KEV_VTHREAD,
    PT_KEV_PROCESS = 64,
    PT_KEV_CREATE_NAME = 192,
    PT_KEV_DESTROY_NAME = 256,
    PT_KEV_THREAD_NAME = 320
};
enum { PT_KEV_OURS = 0x80 }; /* flag: made of a system event, by our export */

static inline unsigned pt_kev_part(uint32_t header)
{
    return header >> 30;
}
static inline unsigned pt_kev_cpu(uint32_t header)
{
    return header >> 24 & 63;
}
static inline unsigned pt_kev_flags(uint32_t header)
{
    return header >> 16 & 255;
}
static inline unsigned pt_kev_type(uint32_t header)
{
    return header & (PT_KEV_TYPES - 1);
}
static inline unsigned pt_kev_class(uint32_t header)
{
    return header >> 10 & 31;
}
static inline unsigned pt_kev_number(uint32_t header)
{
    return header & 1023;
}
static inline uint32_t pt_kev_header(unsigned class, unsigned number, unsigned cpu, unsigned flags)
{
    return (uint32_t)cpu << 24 | flags << 16 | class << 10 | number;
}

static inline uint32_t pt_kev_load(const uint8_t *at, bool big_endian)
{
    if (big_endian)
        return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static inline void pt_kev_store(uint8_t *at, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

/* ---- kev_tables.c: facts about classes and events ---- */

/* The release of QNX that the trace is from. */
struct pt_kev_rules {
    bool release8;      /* numbers of thread states are not those of 6 and 7 */
    bool named;         /* the user gave names */
    char state[64][24]; /* names that the user gave, by number; or "" */
};

/* Fields are pieces of a description; NULL: not known. */
struct pt_kev_about {
    const char *label;       /* of the external class: "THREAD" */
    const char *prefix;      /* that traceprinter puts before the event: "TH" */
    char event[32];          /* "RUNNING"; a number, where there is no name */
    const char *fast, *wide; /* of one record; of several, with "bytes more" or "str" last */
};

void pt_kev_about(const struct pt_kev_rules *rules, unsigned type, struct pt_kev_about *about);
/* The type of such a label and event; -1: there is none. */
int pt_kev_find(const struct pt_kev_rules *rules, const char *label, size_t label_length,
                const char *event, size_t event_length);
/* Words at the front of fields, and whether a string follows them. */
unsigned pt_kev_words(const char *fields, bool *string);

/* The forms in which events of one type have data, a type of ours each. */
enum pt_kev_form {
    PT_KEV_FAST,   /* one record */
    PT_KEV_WIDE,   /* several, with fields */
    PT_KEV_STRING, /* words and a string */
    PT_KEV_BYTES,  /* several, as they are */
    PT_KEV_TEXT,   /* arguments that only traceprinter knows the names of */
    PT_KEV_FORMS
};

/* The name of such an event, and the description of its data: words are in our byte order,
 * unchanged bytes in the trace's. */
void pt_kev_name(const struct pt_kev_rules *rules, unsigned type, enum pt_kev_form form,
                 char name[80]);
void pt_kev_describe(const struct pt_kev_rules *rules, unsigned type, enum pt_kev_form form,
                     bool big_endian, char description[320]);
/* Only the fields after "u8 cpu; x8 flags; ". */
const char *pt_kev_fields(const struct pt_kev_rules *rules, unsigned type, enum pt_kev_form form);
/* The other way round; false: no such name. */
bool pt_kev_named(const struct pt_kev_rules *rules, const char *name, unsigned *type,
                  enum pt_kev_form *form);

#endif
