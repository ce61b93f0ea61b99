/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The Common Trace Format 1.8: declarations shared by its files.
 *
 *   ctf.c            export: the events, and losses
 *   ctf_streams.c    streams, their packets and their files
 *   ctf_classes.c    event classes: the types that occurred, and their forms
 *   ctf_metadata.c   the metadata text, which describes the packets
 *   ctf_read.c       import: makes the log from the records of the reading process
 *   ctf_source.c     import: the reading process, a graph of libbabeltrace2
 *   ctf_messages.c   ... the messages of the graph
 *   ctf_map.c        ... the mapping of the events of a class
 *   ctf_walk.c       ... fields to data, and (ctf_describe.c) their classes to a description
 *   ctf_text.c       ... or to text, if a description cannot have them
 *
 * All numbers are little-endian and no field is aligned to more than a byte, so that
 * the data of an event is copied unchanged.
 */
#ifndef PT_FORMAT_CTF_H
#define PT_FORMAT_CTF_H

#include "analysis/format/common/format.h"

#define CTF_IDS         4096u /* beyond every event type id */
#define CTF_THREAD_NAME 16u

/* ---- event classes ---- */

/* An event type in one of four forms: its fields; the same, but texts are bytes, since one of
 * them has a NUL; bytes without a description or that do not fit theirs; no data. */
enum ctf_form { CTF_FIELDS, CTF_NO_TEXT, CTF_BYTES, CTF_NOTHING, CTF_FORMS };

struct ctf_class {
    char *name;
    const posixtrace_layout_t *layout; /* of CTF_FIELDS and CTF_NO_TEXT */
    enum ctf_form form;
    bool ends_in_bytes; /* the last field is all the rest */
    bool has_text;      /* in which a NUL would be data */
    size_t size;        /* of the data if always the same, else 0 */
};

struct ctf_classes {
    struct ctf_class *list; /* the index is the id in the trace */
    size_t count, room;
    uint16_t of[CTF_IDS][CTF_FORMS]; /* index + 1, or 0 */
};

/* The parts of an event's payload. */
struct ctf_payload {
    uint32_t class_id;
    bool counted; /* there is a count, of the bytes after head */
    size_t head;  /* bytes of the data before the count */
};

/* 0 or ENOMEM. */
int pt_ctf_classes_find(struct ctf_classes *classes, posixtrace_fields_t *fields,
                        const struct posixtrace_event *event, struct ctf_payload *payload);
void pt_ctf_classes_deinit(struct ctf_classes *classes);

/* ---- streams ---- */

struct ctf_thread {
    int32_t pid, tid;
    uint64_t thread_id;
    char name[CTF_THREAD_NAME]; /* no NUL after the longest */
};

struct ctf_stream {
    struct ctf_thread thread; /* of the packet under way */
    bool shared;              /* of several threads, a packet is of one */
    bool open;                /* a packet is under way */
    uint32_t lane;            /* 0, or the n-th of the same thread */
    uint32_t next;            /* in its chain: index + 1 */
    uint64_t last;            /* clock value of its last event or packet */
    uint64_t packets;
    uint64_t discarded, told, lost; /* counter; in a packet; known at the end */
    uint8_t *buffer;
    uint32_t room, used, packet; /* the open one begins there */
};

#define CTF_STREAMS_MAX 4096u
#define CTF_LANES       8u
#define CTF_CELLS       8192u

struct ctf_streams {
    struct pt_job *job;
    int directory;
    uint8_t uuid[16];
    struct ctf_stream *list; /* the index is the stream's id */
    uint32_t count, limit;   /* limit: of streams of one thread */
    uint32_t shared[CTF_LANES], shared_count;
    uint32_t cells[CTF_CELLS]; /* index + 1 */
    size_t bytes;              /* of all buffers */
};

/* The stream for an event of that thread at that time; NULL: there is none so far back,
 * or no memory (job->error).  Good until the next call. */
struct ctf_stream *pt_ctf_streams_find(struct ctf_streams *streams, const struct ctf_thread *thread,
                                       uint64_t value);
/* Room for size bytes in a packet of that thread that holds value: NULL: job->error. */
uint8_t *pt_ctf_stream_take(struct ctf_streams *streams, struct ctf_stream *stream,
                            const struct ctf_thread *thread, uint64_t value, size_t size);
/* A packet without events: for its times, and for the counter. */
bool pt_ctf_stream_put_empty(struct ctf_streams *streams, struct ctf_stream *stream,
                             uint64_t value);
void pt_ctf_stream_end_packet(struct ctf_stream *stream);
/* Writes the rest of all buffers; false: job->error. */
bool pt_ctf_streams_write(struct ctf_streams *streams);
void pt_ctf_streams_deinit(struct ctf_streams *streams);

/* ---- metadata ---- */

struct ctf_about {
    const char *name, *version; /* of the stream that was exported */
    int64_t offset_s;           /* clock value 0, in seconds since 1970 */
    int64_t created_ns;
    uint8_t uuid[16];
};

/* Writes the text; ferror() has errors. */
void pt_ctf_metadata_write(FILE *to, const struct ctf_about *about,
                           const struct ctf_classes *classes);

/* ---- import ---- */

/* pt_format_ctf is in ctf_read.c, or, in a build without libbabeltrace2, in ctf_read-fallback.c. */
extern const struct posixtrace_format_option pt_ctf_options[];
int pt_ctf_write(struct pt_job *job);

#define CTF_ABOUT                                                                             \
    .name = "ctf", .about = "Common Trace Format 1.8, a folder (babeltrace2, Trace Compass)", \
    .exports = true, .is_directory = true, .options = pt_ctf_options

/* ---- bytes ---- */

static inline uint8_t *ctf_put(uint8_t *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
    return to + bytes;
}

#endif
