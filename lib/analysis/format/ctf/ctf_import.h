/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF: the protocol from the reading process to the one that writes the log.
 *
 * libbabeltrace2 aborts if a trace violates its assumptions, and allocates as much as a trace
 * requests.  So it runs in a process of its own, with bounded memory, and the events read before
 * its death count.  It writes records into a pipe; the other end trusts no length and no index in
 * them.
 */
#ifndef PT_FORMAT_CTF_IMPORT_H
#define PT_FORMAT_CTF_IMPORT_H

#include <babeltrace2/babeltrace.h>
#include <signal.h>
#include "analysis/format/ctf/ctf.h"
#include "analysis/format/common/spool.h"

enum ctf_record_kind { CTF_CLASS = 1, CTF_EVENT, CTF_LOST, CTF_NOTE, CTF_FAULT, CTF_END };

#define CTF_CLASSES_MAX 4096u
#define CTF_DATA_MAX    61440u /* of one event in a log */
#define CTF_RECORD_MAX  (CTF_DATA_MAX + 4096u)

struct ctf_record {
    uint32_t kind, size; /* size: of the data after this */
};

/* CTF_CLASS: the name and the description, "" for none, with their NULs.  The n-th of
 * them has index n. */

struct ctf_event { /* and the data */
    int64_t ns;
    uint64_t thread_id, prog_address;
    int32_t pid, tid;
    uint32_t class_index;
    uint32_t truncated;
    char thread_name[CTF_THREAD_NAME]; /* ends with NUL */
};

struct ctf_lost { /* and the name of the stream */
    int64_t begin_ns, end_ns;
    uint64_t count;
    uint32_t timed, counted, packets; /* true or false */
};

/* CTF_NOTE, CTF_FAULT: a text. */

/* ---- the reading process ---- */

struct ctf_out {
    int fd;
    uint32_t used;
    uint8_t buffer[4 * CTF_RECORD_MAX]; /* whole records */
};

void pt_ctf_out_put(struct ctf_out *out, enum ctf_record_kind kind, const void *first,
                    size_t first_size, const void *second, size_t second_size);
/* An errno value, or 0. */
int pt_ctf_out_write(struct ctf_out *out);
/* To the other process; without it, this one ends. */
void pt_ctf_out_flush(struct ctf_out *out);

/* The clock of a stream.  Its numbers become ns since 1970 here, exactly: the library goes
 * through doubles where the frequency is not 1 GHz. */
struct ctf_clock {
    const bt_clock_class *class; /* NULL: not seen yet */
    uint64_t frequency, offset;  /* offset: cycles below a second */
    int64_t seconds;
};

/* The result of the messages. */
#define CTF_MAP_CELLS (4 * CTF_CLASSES_MAX)

/* Process and thread of the last packets, as far as the packet has them. */
#define CTF_PACKETS 64u

struct ctf_packets {
    struct ctf_packet {
        const bt_packet *packet; /* held, or NULL */
        uint64_t thread_id;
        int32_t pid, tid;
        char thread_name[CTF_THREAD_NAME];
    } cell[CTF_PACKETS], *latest;
};

struct ctf_sink {
    struct ctf_out out;
    struct pt_spool *spool; /* NULL: records of events go to out */
    int64_t spool_ns;       /* else: time of the message at hand */
    struct ctf_packets packets;
    struct ctf_map *maps[CTF_CLASSES_MAX];
    uint32_t map_count;
    uint16_t cells[CTF_MAP_CELLS]; /* index + 1 */
    uint64_t bytes;                /* of all files of the traces */
    uint64_t events;
    int64_t last_ns;
    bool failed, told_clock;
    uint8_t data[CTF_DATA_MAX];
};

/* Time of a message whose stream has no clock. */
#define CTF_NO_TIME INT64_MIN

void pt_ctf_take(struct ctf_sink *sink, struct ctf_clock *clock, const bt_message *message,
                 int64_t ns);
/* ctf_clock.c.  False: beyond 64 bits. */
bool pt_ctf_clock_ns(struct ctf_clock *clock, const bt_clock_snapshot *snapshot, int64_t *ns);
/* The time of an event, or of the start of a loss; CTF_NO_TIME also if the loss has none. */
int64_t pt_ctf_time(struct ctf_sink *sink, struct ctf_clock *clock, const bt_message *message);
/* 'chan_0', without its folder. */
void pt_ctf_stream_name(const bt_stream *stream, char *to, size_t size);
/* Why it cannot continue; the first counts.  The library's own words, if it has some. */
void pt_ctf_fault(struct ctf_sink *sink, const char *text);
/* Reports an error of the spool; 0: none. */
void pt_ctf_fault_of_file(struct ctf_sink *sink, int error);
void pt_ctf_fault_of_library(struct ctf_sink *sink, const char *otherwise);

/* Reads the traces under the directory, sends their contents to fd, and never returns.  sort:
 * streams may be out of order. */
_Noreturn void pt_ctf_source_run(const char *directory, int fd, bool sort);

/* ---- streams in order of time (ctf_merge.c) ---- */

struct ctf_merge;

/* A component of the graph with that many inputs, or NULL.  in_library is true while the
 * library works. */
struct ctf_merge *pt_ctf_merge_new(bt_graph *graph, struct ctf_sink *sink, uint64_t inputs,
                                   bool sort, volatile sig_atomic_t *in_library);
const bt_component_sink *pt_ctf_merge_component(const struct ctf_merge *merge);

/* ---- field classes and fields ---- */

enum ctf_identity {
    CTF_PID,
    CTF_TID,
    CTF_NAME,
    CTF_ADDRESS,
    CTF_TRUNCATED,
    CTF_THREAD_ID,
    CTF_IDENTITIES
};

/* How much of the structure of fields becomes fields of the description: less and less,
 * until it is short enough. */
enum ctf_detail { CTF_ALL, CTF_NO_NAMES, CTF_FLAT, CTF_TEXT };

struct ctf_place {
    bool known, in_packet; /* else in the event's common context */
    uint64_t index;
};

/* A field, where it is and how it is packed. */
enum ctf_scope { CTF_SCOPE_PAYLOAD, CTF_SCOPE_SPECIFIC, CTF_SCOPE_COMMON, CTF_SCOPE_PACKET };
enum ctf_step_kind {
    CTF_STEP_NONE,
    CTF_STEP_UNSIGNED,
    CTF_STEP_SIGNED,
    CTF_STEP_SINGLE,
    CTF_STEP_DOUBLE,
    CTF_STEP_STRING
};

struct ctf_step {
    uint8_t scope, kind, bytes;
    uint16_t index;
};

struct ctf_map {
    const bt_event_class *class;
    uint32_t index; /* index in the records to the other process */
    enum ctf_detail detail;
    bool ours; /* a trace that posixtrace has written */
    bool raw;  /* ours, and bytes without a description */
    int32_t trace_pid;
    struct ctf_place place[CTF_IDENTITIES];
    bool has_cpu;
    uint64_t cpu;   /* index in the packet's context */
    bool by_packet; /* its context has process and thread of the event */
    bool planned;   /* the steps are all of the walk */
    unsigned step_count;
    struct ctf_step steps[POSIXTRACE_FIELDS_MAX];
    char description[POSIXTRACE_DESCRIPTION_MAX + 1];
};

/* Makes the mapping for the events of a class, from one of its events. */
void pt_ctf_map_make(struct ctf_map *map, const bt_event *event);
/* Packs the data of an event: at most CTF_DATA_MAX bytes; *event has whether it was cut. */
size_t pt_ctf_map_pack(const struct ctf_map *map, struct ctf_packets *packets, const bt_event *from,
                       struct ctf_event *event, uint8_t *data);

/* ---- in short (ctf_plan.c) ---- */

/* The next field in the order of the walk; counted: its length was in the field before. */
void pt_ctf_plan_add(struct ctf_map *map, enum ctf_scope scope, uint64_t index,
                     const bt_field_class *fc, bool counted);
/* Data of an event of a class that is planned; false: too long, the walk cuts it. */
bool pt_ctf_plan_pack(const struct ctf_map *map, const bt_event *event, uint8_t *data,
                      size_t *used);
/* Fills in process and thread as known from the event's packet; false: not known, and the caller
 * stores them (pt_ctf_packet_keep) once it has them. */
bool pt_ctf_packet_known(struct ctf_packets *p, const bt_event *event, struct ctf_event *head);
void pt_ctf_packet_keep(struct ctf_packets *p, const struct ctf_event *head);

/* The text of a string field.  Version 2.0.4 leaves old contents in the buffer of an empty one. */
static inline const char *ctf_string(const bt_field *field)
{
    return bt_field_string_get_length(field) ? bt_field_string_get_value(field) : "";
}

/* Writes a field as text; returns the length of the whole text, as snprintf(). */
size_t pt_ctf_text(const bt_field *field, char *to, size_t size);

#endif
