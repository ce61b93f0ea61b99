/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log file, byte by byte, as structures; docs/log-format.md is the same in
 * words and is the reference for other readers.
 *
 * The structures have no holes, so that they are the file format, except for the byte
 * order.  Numbers in the file are little-endian; byteorder.h swaps them on big-endian
 * machines.  Static asserts hold the sizes and the offsets of members: a change of one
 * of them is a change of the format.
 *
 * A checksum covers everything in its object but itself; those of packets
 * begin with the log's id, so that bytes of another log (left over in a reused
 * file, or traced as event data) are never taken for a packet of this one.
 */
#ifndef PT_LOG_FORMAT_H
#define PT_LOG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include "log/contents.h"
#include "log/pack.h"

#define PT_LOG_MAGIC            "PXTLOG\r\n"
#define PT_LOG_VERSION          1u
#define PT_LOG_VERSION_FEATURES 2u /* the same, and the reader must know all its features */
#define PT_LOG_HEADER_SIZE      512u
#define PT_LOG_STATUS_OFF       512u /* the emergency status, up to the data */
#define PT_LOG_DATA_START       4096u
#define PT_LOG_STATUS_MAX       (PT_LOG_DATA_START - PT_LOG_STATUS_OFF)

#define PT_LOG_COMPLETE 1u /* header flag: nothing will be added */

/* Features */
#define PT_LOG_ZSTD     1u /* DATA packets may be compressed */
#define PT_LOG_COLUMNS  2u /* and may have columns */
#define PT_LOG_FEATURES (PT_LOG_ZSTD | PT_LOG_COLUMNS)

struct pt_log_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size;
    uint32_t flags;
    int32_t clock;
    uint8_t id[16];
    uint8_t boot_id[16];
    int32_t pid;
    uint32_t data_start;
    uint64_t ring_bytes; /* 0 until a LOOP log has wrapped */
    uint64_t meta_start; /* after the ring; 0 until then */
    uint64_t end_offset; /* of the END packet; 0: none */
    uint64_t file_end;
    /* attributes */
    int64_t create_ns;
    uint64_t clock_res_ns;
    uint64_t stream_size, max_data, log_size;
    int32_t stream_policy, log_policy, inheritance, policy_is_default;
    char name[64];
    char genversion[16];
    struct pt_sync sync;    /* the first point, when the header was last written */
    uint32_t features;      /* version 2: features that a reader has to support */
    uint32_t event_cost_ps; /* attribute; 0: not known */
    char host[64];          /* name of the machine, NUL-terminated; "" if unknown */
    uint32_t piece;         /* of a log in pieces: which one this is, from 1; else 0 */
    uint8_t zero[176];
    uint32_t crc; /* of the 508 bytes before; begins with 0 */
};
_Static_assert(sizeof(struct pt_log_header) == PT_LOG_HEADER_SIZE, "format");
_Static_assert(offsetof(struct pt_log_header, crc) == 508, "format");
_Static_assert(sizeof((struct pt_attr *)0)->name == 64, "format");
_Static_assert(sizeof((struct pt_attr *)0)->genversion == 16, "format");

#define PT_PACKET_MAGIC 0x50545850u /* "PXTP" */
#define PT_PACKET_ALIGN 8u
/* No packet is larger; a larger length field is an error. */
#define PT_PACKET_MAX       (16u << 20)
#define PT_PACKET_DATA_MAX  (1u << 20)
#define PT_PACKET_TYPES_MAX 64u /* types above are not packets */

enum pt_packet_type {
    PT_PACKET_DATA = 1,
    PT_PACKET_NAME,
    PT_PACKET_SYNC,
    PT_PACKET_ROUND,
    PT_PACKET_INDEX,
    PT_PACKET_END,
    PT_PACKET_PAD,
    PT_PACKET_DESCRIPTION,
    PT_PACKET_MAPPING,
    PT_PACKET_CLOCK,
    PT_PACKET_PIECE,
    PT_PACKET_TYPES
};

/* Packet flags */
#define PT_DATA_FULL_STOP  1u /* DATA: the STOP that the writer of a full log adds */
#define PT_DATA_PACKED     2u /* DATA: the records are compressed */
#define PT_DATA_COLUMNS    4u /* DATA: the records are columns, perhaps compressed */
#define PT_DATA_JOINED     8u /* DATA: of several chunks; struct pt_packet_part to its end */
#define PT_DATA_FORMS      (PT_DATA_PACKED | PT_DATA_COLUMNS) /* they are not as in memory */
#define PT_ROUND_CONTINUES 1u /* ROUND: the next part continues the round */
#define PT_ROUND_ALL       2u /* ROUND: lists all authors; forget those listed before */
#define PT_ROUND_EMERGENCY 4u /* ROUND: the emergency status in the header block */
#define PT_ROUND_HIDES     8u /* ROUND: the filter left out a mark of missing events in the round */
#define PT_END_ALONE       1u /* END: of a recovery that did not find the dead writer's segment */
#define PT_END_OUTLIVED    2u /* END: of a shutdown, at which traced processes were running */
#define PT_END_CONTINUED   4u /* END: of a piece; the stream ran on, and the next piece has more */

struct pt_packet_head {
    uint32_t magic;
    uint16_t type;
    uint16_t flags;
    uint32_t bytes; /* all of the packet, a multiple of 8 */
    uint32_t crc;
    uint64_t lsn;   /* counts packets, from 1 */
    uint64_t round; /* to which it belongs, from 1; parts count one each */
};
_Static_assert(sizeof(struct pt_packet_head) == 32, "format");

/* As struct pt_author. */
struct pt_stored_author {
    uint32_t low_wid;   /* its low 32 bits: pt_stored_wid() has all of it */
    uint32_t level_wid; /* bits 0-7 level; above, bits 32-55 of wid: 0 in older logs */
    int32_t pid;
    int32_t tid;
    uint64_t thread_id;
    char name[16]; /* with NUL, unless the log is damaged */
};

static inline uint64_t pt_stored_wid(const struct pt_stored_author *author)
{
    return author->low_wid | (uint64_t)(author->level_wid >> 8) << 32;
}

struct pt_packet_data {
    struct pt_packet_head head;
    struct pt_stored_author author;
    uint64_t chunk_seq; /* PT_LOG_MADE: in no chunk, made by the stream's consumer */
    uint32_t chunk_off;
    uint32_t record_bytes; /* as they are read */
    uint32_t events;
    uint32_t packed_bytes; /* PT_DATA_PACKED, PT_DATA_COLUMNS: as they are here; else 0 */
    uint64_t first_no;
    uint64_t base_ts;
    uint64_t first_ts;
    uint64_t last_ts;
};
_Static_assert(sizeof(struct pt_packet_data) == 128, "format");

/* Of a joined packet, after its data and its padding; always little-endian. */
struct pt_packet_part {
    uint64_t chunk_seq;
    uint32_t chunk_off;
    uint32_t bytes;
};
_Static_assert(sizeof(struct pt_packet_part) == 16, "format");

struct pt_packet_text { /* NAME, DESCRIPTION, MAPPING */
    struct pt_packet_head head;
    uint32_t id;
    uint32_t length; /* of the text that follows, without a final NUL */
};
_Static_assert(sizeof(struct pt_packet_text) == 40, "format");

struct pt_packet_sync {
    struct pt_packet_head head;
    uint32_t count; /* of struct pt_sync that follow */
    uint32_t zero;
};
_Static_assert(sizeof(struct pt_packet_sync) == 40 && sizeof(struct pt_sync) == 24, "format");

/* Numbers of the stream and of the log, cumulative; in ROUND and END. */
struct pt_log_state {
    uint64_t watermark;
    int32_t running, stream_full, stream_overrun, flush_error;
    int32_t log_full, log_overrun;
    int32_t end;      /* enum posixtrace_end; 0 in a ROUND */
    uint32_t refused; /* see pt_log_status */
    uint64_t late;
    uint64_t peak_bytes, reserved_bytes, advised_size;
    uint64_t events, bytes;     /* present in the log; bytes of DATA packets */
    uint64_t first_ts, last_ts; /* of those events */
    uint64_t recorded, lost[7]; /* sums over all authors, listed or not */
    uint64_t buried;            /* of lost: a tombstone reports them, see log/reader/reader.h */
    uint64_t unknown_recorded, unknown_lost[7]; /* of authors that are not listed by themselves */
    uint64_t reported;                          /* of lost: the caller of a recovery reports them */
    uint64_t oldest_round, oldest_offset;       /* the first one still to be read */
    uint32_t authors, counts;                   /* how many follow the fixed part */
};
_Static_assert(sizeof(struct pt_log_state) == 272, "format");

struct pt_packet_author {
    struct pt_stored_author author;
    uint64_t recorded;
    uint64_t lost[PT_LOSS_CAUSES];
};
_Static_assert(sizeof(struct pt_packet_author) == 104, "format");

/*
 * Follows the authors of a ROUND, and the authors and counts of an END, if it is not 0: how many of
 * state.lost[0] and state.unknown_lost[0] are context switches that the kernel lost.  Older readers
 * count these as events that a full stream lost.
 */
struct pt_packet_more {
    uint64_t lost_switches;
};
_Static_assert(sizeof(struct pt_packet_more) == 8, "format");

struct pt_packet_round {
    struct pt_packet_head head;
    struct pt_log_state state;
    uint64_t events, packets, bytes; /* DATA in this round */
    uint64_t first_ts, last_ts;      /* of them */
};
_Static_assert(sizeof(struct pt_packet_round) == 344, "format");

struct pt_index_entry {
    uint64_t offset;   /* where a round begins */
    uint64_t first_ts; /* the earliest time in this round and those up to the next entry */
    uint64_t last_ts;  /* the latest time from the log's start up to the next entry */
};
_Static_assert(sizeof(struct pt_index_entry) == 24, "format");

struct pt_packet_index {
    struct pt_packet_head head;
    uint32_t count;
    uint32_t zero;
};
_Static_assert(sizeof(struct pt_packet_index) == 40, "format");

struct pt_packet_count {
    uint32_t id;
    uint32_t zero;
    uint64_t count;
};

struct pt_packet_end {
    struct pt_packet_head head;
    struct pt_log_state state;
    uint64_t closing_offset; /* copies of all SYNC and NAME packets, then INDEX, then this */
    uint64_t index_offset;
    uint64_t last_lsn; /* of the last ROUND packet */
    uint64_t rounds;
};
_Static_assert(sizeof(struct pt_packet_end) == 336, "format");

/* The first packet of a piece after the first: what the pieces before it have, as their writer has
 * counted it, and the numbers of the authors that were there at the seam. */
struct pt_packet_piece {
    struct pt_packet_head head;
    uint32_t number;  /* of the piece, as in the header */
    uint32_t authors; /* how many follow */
    uint64_t events;
    uint64_t recorded, lost[PT_LOSS_CAUSES];
    uint64_t lost_switches; /* in none of lost */
    uint64_t late;
    uint64_t made_ts; /* time of the last event that the consumer has made */
};
_Static_assert(sizeof(struct pt_packet_piece) == 136, "format");

struct pt_packet_piece_author {
    uint32_t low_wid, level_wid; /* as in struct pt_stored_author */
    uint64_t next_no;            /* number of its first event that is in a later piece, or lost */
    uint64_t recorded, lost[4];
};
_Static_assert(sizeof(struct pt_packet_piece_author) == 56, "format");

/* The last bytes of an END packet: finds it in a file whose header could not be
 * written again. */
struct pt_packet_trailer {
    uint64_t offset; /* of the END packet */
    uint32_t bytes;  /* of the END packet */
    uint32_t magic;
};
#define PT_TRAILER_MAGIC 0x45545850u /* "PXTE" */
_Static_assert(sizeof(struct pt_packet_trailer) == 16, "format");

/* Room for a copy in the other byte order; nothing where there is no other. */
struct pt_byteorder_buffer {
    uint8_t *at;
    size_t room;
};

/* Fills the checksum of a header whose other members are in place, and puts it
 * into file order. */
void pt_log_header_seal(struct pt_log_header *h);
/* The way back; false: it is no header, or not whole. */
bool pt_log_header_open(struct pt_log_header *h);

/* The first bytes of a file, with zeros where it has none.  True: they are what a cut has left of
 * the header of the log with that id, which may be nothing: the rest is zeros. */
bool pt_log_header_is_cut(const void *head, const uint8_t id[16]);

/* Where packet checksums of this log begin. */
uint32_t pt_packet_seed(const uint8_t id[16]);
/* Fills magic, type, length and checksum of a packet whose other bytes are in
 * place, and puts it into file order: afterwards it is only good to be written. */
void pt_packet_seal(struct pt_packet_head *head, unsigned type, uint32_t bytes, uint32_t seed);
/* A new checksum for a packet that is in file order. */
void pt_packet_reseal(struct pt_packet_head *head, uint32_t seed);
/* Could this be a packet, in file order, with at most room bytes?  Reads the head only. */
bool pt_packet_is_plausible(const struct pt_packet_head *head, uint64_t room);
/* In file order: the checksum, and that every count in the packet fits into its length. */
bool pt_packet_is_whole(const struct pt_packet_head *head, uint32_t seed);

/* For a valid ROUND or END whose numbers are in machine order; NULL: it has none. */
const struct pt_packet_more *pt_packet_more(const struct pt_packet_head *head);

void pt_packet_get_author(struct pt_author *author, const struct pt_stored_author *from);
void pt_packet_put_author(struct pt_stored_author *to, const struct pt_author *author);
/* A DATA packet, its numbers in order, as pt_log_packet; records point into it,
 * or are NULL if packed. */
void pt_packet_get_data(struct pt_log_packet *packet, const struct pt_packet_data *from);
/* The same, and records that are packed are unpacked into u->buffer.  0, or -errno
 * of pt_unpack(), and there are no bytes of records. */
int pt_packet_unpack_data(struct pt_log_packet *packet, const struct pt_packet_data *from,
                          struct pt_unpacker *u);

/* The further chunks of a DATA packet, its numbers in order.  How many, and where they are: in file
 * order; 0: it is not joined. */
uint32_t pt_packet_parts(const struct pt_packet_data *p, const struct pt_packet_part **parts);

static inline bool pt_packet_is_packed(const struct pt_packet_data *p)
{
    return (p->head.flags & PT_DATA_FORMS) != 0;
}

static inline uint32_t pt_packet_align(uint32_t bytes)
{
    return (bytes + PT_PACKET_ALIGN - 1) & ~(PT_PACKET_ALIGN - 1);
}

#endif
