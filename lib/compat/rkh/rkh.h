/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The common part of the formats rkh (framed bytes) and trazer (text): the types of RKH's trace
 * records with their arguments, the effect of a target's configuration on them, and the names of
 * its objects.  docs/formats/rkh.md has the tables.
 *
 * In our logs a record is an event "rkh:GROUP_EVENT".  Its data does not depend on the target's
 * widths: pointers have 64 bits and are followed by the object's name, other numbers have 32 bits,
 * arguments that the target leaves out are all ones.
 */
#ifndef PT_FORMAT_RKH_H
#define PT_FORMAT_RKH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <posixtrace/event.h>
#include <posixtrace/typed.h>

#define PT_RKH_FLAG      0x7eu
#define PT_RKH_ESCAPE    0x7du
#define PT_RKH_FRAME_MAX 65536u /* bytes of a frame, unstuffed */
#define PT_RKH_DATA_MAX  61440u /* of an event of ours */
#define PT_RKH_ARGS_MAX  10u
#define PT_RKH_NAME_MAX  63u /* bytes of a symbol's name that are kept */
#define PT_RKH_USER_IDS  32u

enum {
    PT_RKH_FWK_TCFG = 0xac,
    PT_RKH_FWK_TUSR = 0xab,
    PT_RKH_FWK_OBJ = 0xa6,
    PT_RKH_FWK_FUN = 0xa8,
    PT_RKH_USER = 0xc0,
    PT_RKH_UNIT_TEST = 0xe0
};

/* Flags in the configuration frame. */
enum {
    PT_RKH_SENDER = 1u << 0,
    PT_RKH_QUE_LOW = 1u << 11,
    PT_RKH_MP_LOW = 1u << 12,
    PT_RKH_SEQUENCE = 1u << 15,
    PT_RKH_TIMESTAMP = 1u << 16,
    PT_RKH_CHECKSUM = 1u << 17,
    PT_RKH_BITS = (1u << 18) - 1
};
#define PT_RKH_CONFIG_BYTES 13u

/* Widths are in bytes. */
struct pt_rkh_config {
    uint8_t id; /* of an event's number; in no frame */
    uint8_t signal, timestamp, pointer, tick, nblock, nelem, esize, bsize, pools;
    uint16_t version, hz; /* hz: the low 16 bits of it */
    uint32_t bits;
};

/*
 * Kinds of arguments, as in the tables of rkh_types.c:
 *   S F   object, function: pointer and name         x   pointer that gets a name here
 *   G     signal: number and name                    g   signal that gets a name here
 *   E B Z K V   elements, blocks, block size, ticks, event size
 *   b w d p     u8, u16, u32, event pool             u e user event, pool that get a name
 *   k     kind of action                             s   string          r   all the rest
 *   o y   of records of the reader itself: place or amount, kind of damage
 * and when they are there: q m s, as the configuration's low-water marks and senders.
 */
struct pt_rkh_arg {
    char kind, when; /* when: 0, always */
    uint8_t name_len;
    const char *name;
};

struct pt_rkh_type {
    char name[28]; /* "rkh:SMA_FIFO"; "": there is none */
    uint8_t count;
    bool described, by_object; /* the first argument is the active object that runs */
    struct pt_rkh_arg args[PT_RKH_ARGS_MAX];
};

/* All types, by number; 2 tables: of today, and the flat numbers before RKH 2.4. */
/* The events of importers for damaged and for missing frames. */
extern const struct pt_rkh_type pt_rkh_damaged, pt_rkh_lost;

struct pt_rkh_types {
    struct pt_rkh_type of[256];
};

void pt_rkh_types_init(struct pt_rkh_types *types, bool flat);
/* Room for POSIXTRACE_DESCRIPTION_MAX + 1. */
void pt_rkh_type_describe(const struct pt_rkh_type *type, char *to);
/* The number of the type of that name, with "rkh:"; or -1. */
int pt_rkh_type_find(const struct pt_rkh_types *types, const char *name);

void pt_rkh_config_init(struct pt_rkh_config *config);
/* The 13 bytes of a configuration frame. */
void pt_rkh_config_get(struct pt_rkh_config *config, const uint8_t *p);
void pt_rkh_config_put(const struct pt_rkh_config *config, uint8_t *p);
bool pt_rkh_config_has(const struct pt_rkh_config *config, char when);
/* Bytes of an argument in a frame; 0: strings, and arguments that take all the rest. */
unsigned pt_rkh_width(const struct pt_rkh_config *config, char kind);
/* Bytes of it in our data, without the name that follows it. */
unsigned pt_rkh_width_of_ours(char kind);
bool pt_rkh_has_name(char kind);
extern const char pt_rkh_config_description[];

static inline uint64_t pt_rkh_load(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static inline void pt_rkh_store(uint8_t *p, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* All ones of that width: an argument that was not sent. */
static inline uint64_t pt_rkh_none(unsigned bytes)
{
    return bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
}

/* ---- names ---- */

enum pt_rkh_space { PT_RKH_OBJECTS = 1, PT_RKH_SIGNALS, PT_RKH_USERS, PT_RKH_POOLS };

struct pt_rkh_symbols;

struct pt_rkh_symbols *pt_rkh_symbols_new(void);          /* NULL: ENOMEM */
void pt_rkh_symbols_free(struct pt_rkh_symbols *symbols); /* or NULL */
/* False: there are too many, the name is not remembered. */
bool pt_rkh_symbols_set(struct pt_rkh_symbols *symbols, enum pt_rkh_space space, uint64_t value,
                        const char *name, size_t len);
/* "" of one without. */
const char *pt_rkh_symbols_get(const struct pt_rkh_symbols *symbols, enum pt_rkh_space space,
                               uint64_t value);
/* The other way round, by looking at all; false: none has it. */
bool pt_rkh_symbols_find(const struct pt_rkh_symbols *symbols, enum pt_rkh_space space,
                         const char *name, size_t len, uint64_t *value);
/* The space that an argument's values are in; 0: no space. */
enum pt_rkh_space pt_rkh_space_of(char kind);

/* Active objects as threads: from 1, in the order of appearance; 0: too many. */
struct pt_rkh_objects {
    uint64_t pointer[256];
    unsigned count;
};

pid_t pt_rkh_objects_tid(struct pt_rkh_objects *objects, uint64_t pointer);

/* ---- bytes to be filled ---- */

struct pt_rkh_bytes {
    uint8_t *at;
    size_t used, room;
    bool full; /* something did not fit, and was not put */
};

void pt_rkh_put(struct pt_rkh_bytes *b, const void *from, size_t len);
void pt_rkh_put_number(struct pt_rkh_bytes *b, unsigned bytes, uint64_t v);
void pt_rkh_put_string(struct pt_rkh_bytes *b, const char *text, size_t len);

#endif
