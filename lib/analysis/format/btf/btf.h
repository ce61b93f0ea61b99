/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Best Trace Format: the common part of its reader, writer and checker.
 *
 *   btf_vocabulary.c  entity types, actions, who may cause them, in which version
 *   btf_lines.c  lines of a file, parameters, mappings, fields of an event
 *   btf_names.c  entities by name, bounded
 *   btf_read.c   import; btf_read_events.c: what lines become; btf_order.c: sorting
 *   btf_jobs.c   processes as threads, with system events
 *   btf_write.c  export; btf_write_types.c: what types become; btf_output.c: lines
 *   btf_tasks.c  threads as processes
 *   btf_check.c  the rules; btf_states.c: state machines
 *
 * docs/formats/btf.md has the mapping.
 */
#ifndef PT_FORMAT_BTF_H
#define PT_FORMAT_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- words ---- */

enum pt_btf_type {
    PT_BTF_STI,
    PT_BTF_T,
    PT_BTF_I,
    PT_BTF_R,
    PT_BTF_IB,
    PT_BTF_ECU,
    PT_BTF_PROCESSOR,
    PT_BTF_C,
    PT_BTF_M,
    PT_BTF_SCHED,
    PT_BTF_SIG,
    PT_BTF_SEM,
    PT_BTF_EVENT,
    PT_BTF_SIM,
    PT_BTF_SYS,
    PT_BTF_TYPES
};

#define PT_BTF_BIT(type) (1u << (type))
#define PT_BTF_ANY       (PT_BTF_BIT(PT_BTF_TYPES) - 1)
#define PT_BTF_PROCESS   (PT_BTF_BIT(PT_BTF_T) | PT_BTF_BIT(PT_BTF_I))

/* Versions with rules of their own: before 2.1.4, 2.1.4 and 2.1.5, 2.2, 2.3. */
enum {
    PT_BTF_OLD = 1,
    PT_BTF_21 = 2,
    PT_BTF_22 = 4,
    PT_BTF_23 = 8,
    PT_BTF_FIRST = PT_BTF_OLD | PT_BTF_21,
    PT_BTF_NEW = PT_BTF_22 | PT_BTF_23,
    PT_BTF_EACH = 15
};

enum pt_btf_act { /* up to RELEASE_PARKING: states of a process */
                  PT_BTF_ACTIVATE,
                  PT_BTF_START,
                  PT_BTF_PREEMPT,
                  PT_BTF_RESUME,
                  PT_BTF_TERMINATE,
                  PT_BTF_WAIT,
                  PT_BTF_RELEASE,
                  PT_BTF_POLL,
                  PT_BTF_RUN,
                  PT_BTF_PARK,
                  PT_BTF_POLL_PARKING,
                  PT_BTF_RELEASE_PARKING,
                  PT_BTF_MTALIMIT,
                  PT_BTF_INTERRUPT_SUSPENDED,
                  PT_BTF_MIGRATION,
                  PT_BTF_SUSPEND,
                  PT_BTF_TRIGGER,
                  PT_BTF_READ,
                  PT_BTF_WRITE,
                  PT_BTF_SCHEDULEPOINT,
                  PT_BTF_SET_EVENT,
                  PT_BTF_EVENT_USE,
                  PT_BTF_REQUEST,
                  PT_BTF_INCREMENT,
                  PT_BTF_DECREMENT,
                  PT_BTF_QUEUED,
                  PT_BTF_ASSIGNED,
                  PT_BTF_WAITING,
                  PT_BTF_RELEASED,
                  PT_BTF_READY,
                  PT_BTF_FREE,
                  PT_BTF_USED,
                  PT_BTF_LOCK,
                  PT_BTF_LOCK_USED,
                  PT_BTF_FULL,
                  PT_BTF_OVERFULL,
                  PT_BTF_UNLOCK,
                  PT_BTF_UNLOCK_FULL,
                  PT_BTF_NO_ACT /* changes no state, asks for none */
};

struct pt_btf_action {
    const char *name;
    uint16_t types;   /* of the target, as bits */
    uint8_t act;      /* enum pt_btf_act */
    uint8_t versions; /* that have it so; 0: seen in files, in no specification */
    uint16_t sources; /* types that may cause it, as bits */
};

extern const struct pt_btf_action pt_btf_actions[]; /* ends with a name of NULL */
enum { PT_BTF_ACTIONS_MAX = 96 };

const char *pt_btf_type_name(unsigned type);
/* PT_BTF_TYPES: there is none.  Also spellings of older and of wild files. */
unsigned pt_btf_type_find(const char *name);
bool pt_btf_type_is_in(unsigned type, unsigned version);
/* The action of that name on a type, in a version, or in any (0); or NULL. */
const struct pt_btf_action *pt_btf_action_find(unsigned type, const char *name, unsigned version);
/* The rules for the text of #version: one bit; *known: that version was read. */
unsigned pt_btf_rules(const char *version, bool *known);
const char *pt_btf_rules_name(unsigned rules);

/* ---- names ---- */

enum { PT_BTF_NAMES_MAX = 1 << 16, PT_BTF_NAME_MAX = 1023 };
#define PT_BTF_NO_NAME UINT32_MAX

/* Texts with numbers from 0, at most PT_BTF_NAMES_MAX. */
struct pt_btf_names {
    uint32_t *cells, *hashes;
    char **texts;
    uint32_t count, room;
};

void pt_btf_names_free(struct pt_btf_names *n);
/* PT_BTF_NO_NAME: none of that name. */
uint32_t pt_btf_names_find(const struct pt_btf_names *n, const char *text);
/* Adds it if need be.  PT_BTF_NO_NAME: there are too many, or there is no memory. */
uint32_t pt_btf_names_put(struct pt_btf_names *n, const char *text);

/* ---- lines ---- */

struct pt_btf_file {
    FILE *from;
    char *buffer;
    size_t at, end;
    bool ended;
    uint64_t line;                   /* number of the last one, from 1 */
    char version[32];                /* the last one; "": none yet */
    char scale[4];                   /* "": none yet */
    uint32_t multiply, divide;       /* to nanoseconds */
    int table;                       /* that rows "#-..." belong to */
    uint32_t *type_map, *entity_map; /* by id: number in mapped + 1; NULL: no mapping */
    struct pt_btf_names mapped;
};

enum { PT_BTF_END, PT_BTF_LINE, PT_BTF_TOO_LONG, PT_BTF_HAS_NUL };

/* ENOMEM or 0. */
int pt_btf_file_init(struct pt_btf_file *f, FILE *from);
void pt_btf_file_deinit(struct pt_btf_file *f);
/* Reads the next line, without its end, valid until the next call.  The kind of line, or a negative
 * errno of reading. */
int pt_btf_file_next(struct pt_btf_file *f, char **text);

enum pt_btf_parameter {
    PT_BTF_COMMENT,
    PT_BTF_VERSION,
    PT_BTF_CREATOR,
    PT_BTF_CREATION_DATE,
    PT_BTF_TIMESCALE,
    PT_BTF_INPUT_FILE,
    PT_BTF_MAPPING,
    PT_BTF_OTHER
};

struct pt_btf_header {
    enum pt_btf_parameter kind;
    char *name, *value; /* in the line; "" where there is none */
    unsigned type;      /* of an entity's type mapping, else PT_BTF_TYPES */
    const char *entity; /* the same */
    const char *fault;  /* the error in it, or NULL */
};

/* Parses a line that begins with '#'; stores version, scale and mappings. */
void pt_btf_file_parameter(struct pt_btf_file *f, char *text, struct pt_btf_header *h);

#define PT_BTF_NO_INSTANCE INT64_MIN

struct pt_btf_event {
    int64_t time;                             /* in the file's unit */
    int64_t source_instance, target_instance; /* PT_BTF_NO_INSTANCE: empty */
    const char *source, *type_name, *target, *action, *note;
    unsigned type; /* PT_BTF_TYPES: not a known one */
    bool has_note; /* also an empty one */
};

/* NULL, or the error in the line, a static text. */
const char *pt_btf_file_event(const struct pt_btf_file *f, char *text, struct pt_btf_event *e);
/* The time of an event's line, which is cut there, in the file's unit and in nanoseconds;
 * false: it has none. */
bool pt_btf_file_time(const struct pt_btf_file *f, char *text, int64_t *time, int64_t *ns);
/* Converts to nanoseconds; false: beyond 64 bits. */
bool pt_btf_file_ns(const struct pt_btf_file *f, int64_t time, int64_t *ns);
/* Converts an ISO 8601 date to nanoseconds since 1970; false: not a date. */
bool pt_btf_date(const char *text, int64_t *ns);

/* ---- state machines ---- */

enum pt_btf_state {
    PT_BTF_S_ANY,
    PT_BTF_S_NOT_INITIALIZED,
    PT_BTF_S_TERMINATED,
    PT_BTF_S_ACTIVE,
    PT_BTF_S_RUNNING,
    PT_BTF_S_READY,
    PT_BTF_S_WAITING,
    PT_BTF_S_POLLING,
    PT_BTF_S_PARKING,
    PT_BTF_S_SUSPENDED,
    PT_BTF_S_FREE,
    PT_BTF_S_USED,
    PT_BTF_S_FULL,
    PT_BTF_S_OVERFULL
};

enum { PT_BTF_OF_PROCESS, PT_BTF_OF_RUNNABLE, PT_BTF_OF_SEMAPHORE };

const char *pt_btf_state_name(unsigned state);
/* Whether the action is of the machine at all. */
bool pt_btf_state_has(unsigned machine, unsigned act);
/* The state after the action, also after one that is not allowed (*allowed false). */
unsigned pt_btf_state_after(unsigned machine, unsigned rules, unsigned state, unsigned act,
                            bool *allowed);
/* From which states it is allowed, "RUNNING or READY", into a text of that size. */
void pt_btf_state_origins(unsigned machine, unsigned rules, unsigned act, char *text, size_t size);

/* ---- imported events ---- */

#define PT_BTF_PREFIX          "btf:"
#define PT_BTF_PARAMETER_EVENT "btf:parameter"
#define PT_BTF_OTHER_EVENT     "btf:other"
#define PT_BTF_NONE_WORDS      "{none=-9223372036854775808}"
#define PT_BTF_EVENT_FIELDS                                  \
    "le; str source; i64 source_instance " PT_BTF_NONE_WORDS \
    "; str target; i64 target_instance " PT_BTF_NONE_WORDS "; str note"
#define PT_BTF_OTHER_FIELDS                                  \
    "le; str source; i64 source_instance " PT_BTF_NONE_WORDS \
    "; str type; str target; i64 target_instance " PT_BTF_NONE_WORDS "; str action; str note"
#define PT_BTF_PARAMETER_FIELDS "str name; str value"

struct pt_job;
int pt_btf_read(struct pt_job *job);
int pt_btf_write(struct pt_job *job);

#endif
