/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See byteorder.h.  A structure is a list of runs, each of numbers of one size.  A number in
 * the fixed part counts the items that follow it; it can be used only before it is
 * swapped out and after it is swapped in.
 */
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include "log/byteorder.h"
#include "model/set.h"
#include "shm/record.h"

struct run {
    uint16_t count, size;
};
#define END_OF_RUNS \
    {               \
        0, 0        \
    }
#define STATE_RUNS                 \
    { 1, 8 }, { 8, 4 }, { 28, 8 }, \
    {                              \
        2, 4                       \
    }

static const struct run header_runs[] = { { 8, 1 }, { 4, 4 },   { 32, 1 }, { 2, 4 },   { 9, 8 },
                                          { 4, 4 }, { 80, 1 },  { 3, 8 },  { 2, 4 },   { 64, 1 },
                                          { 1, 4 }, { 176, 1 }, { 1, 4 },  END_OF_RUNS };
static const struct run head_runs[] = { { 1, 4 }, { 2, 2 }, { 2, 4 }, { 2, 8 }, END_OF_RUNS };
static const struct run author_runs[] = {
    { 4, 4 }, { 1, 8 }, { 16, 1 }, { 1 + PT_LOSS_CAUSES, 8 }, END_OF_RUNS
};
static const struct run count_runs[] = { { 2, 4 }, { 1, 8 }, END_OF_RUNS };
static const struct run three_runs[] = { { 3, 8 }, END_OF_RUNS }; /* sync, index entry */
static const struct run trailer_runs[] = { { 1, 8 }, { 2, 4 }, END_OF_RUNS };

/* The numbers after the head. */
static const struct run data_runs[] = { { 4, 4 }, { 1, 8 }, { 16, 1 },  { 1, 8 },
                                        { 4, 4 }, { 4, 8 }, END_OF_RUNS };
static const struct run two_runs[] = { { 2, 4 }, END_OF_RUNS }; /* texts, SYNC, INDEX */
static const struct run round_runs[] = { STATE_RUNS, { 5, 8 }, END_OF_RUNS };
static const struct run piece_runs[] = { { 2, 4 }, { 12, 8 }, END_OF_RUNS };
static const struct run piece_author_runs[] = { { 2, 4 }, { 6, 8 }, END_OF_RUNS };
static const struct run end_runs[] = { STATE_RUNS, { 4, 8 }, END_OF_RUNS };
static const struct run *const fixed_runs[PT_PACKET_TYPES] = {
    [PT_PACKET_DATA] = data_runs,       [PT_PACKET_NAME] = two_runs,
    [PT_PACKET_SYNC] = two_runs,        [PT_PACKET_ROUND] = round_runs,
    [PT_PACKET_INDEX] = two_runs,       [PT_PACKET_END] = end_runs,
    [PT_PACKET_DESCRIPTION] = two_runs, [PT_PACKET_MAPPING] = two_runs,
    [PT_PACKET_CLOCK] = two_runs,       [PT_PACKET_PIECE] = piece_runs,
};

/* Swaps a number in place; it may be unaligned. */
static void swap_number(uint8_t *p, unsigned size)
{
    for (unsigned i = 0; i < size / 2; i++) {
        uint8_t byte = p[i];

        p[i] = p[size - 1 - i];
        p[size - 1 - i] = byte;
    }
}

/* Returns the address after the runs. */
static uint8_t *swap_runs(uint8_t *p, const struct run *runs)
{
    for (; runs->count; runs++)
        for (unsigned i = 0; i < runs->count; i++, p += runs->size)
            swap_number(p, runs->size);
    return p;
}

static uint8_t *swap_many(uint8_t *p, const struct run *runs, uint32_t count)
{
    while (count--)
        p = swap_runs(p, runs);
    return p;
}

void pt_swap_header(struct pt_log_header *h)
{
    swap_runs((uint8_t *)h, header_runs);
}

/* The numbers of newer system events, which are not all of one size. */
static const struct run call_runs[] = { { 2, 4 }, { 1, 8 }, END_OF_RUNS };
static const struct run poll_runs[] = { { 2, 4 }, { 3, 8 }, END_OF_RUNS };
static const struct run lock_runs[] = { { 4, 4 }, { 1, 8 }, END_OF_RUNS };
static const struct run long_runs[] = { { 2, 4 }, { 4, 8 }, END_OF_RUNS };
static const struct run waiting_runs[] = { { 2, 4 }, { 3, 8 }, END_OF_RUNS };
static const struct run connection_runs[] = { { 2, 4 }, { 1, 8 }, END_OF_RUNS }; /* and texts */
static const struct run text_runs[] = { { 2, 4 }, END_OF_RUNS };                 /* and a text */
static const struct run no_runs[] = { END_OF_RUNS };
static const struct run *const own_runs[PT_ID_OWN_LAST + 1] = {
    [POSIXTRACE_IO] = call_runs,          [POSIXTRACE_IO_DONE] = call_runs,
    [POSIXTRACE_POLL] = poll_runs,        [POSIXTRACE_POLL_DONE] = call_runs,
    [POSIXTRACE_FILE_LOCK] = lock_runs,   [POSIXTRACE_FILE_LOCKED] = call_runs,
    [POSIXTRACE_CHILD_WAIT] = call_runs,  [POSIXTRACE_CHILD_WAITED] = call_runs,
    [POSIXTRACE_SIGNAL_WAIT] = call_runs, [POSIXTRACE_SIGNAL_TAKEN] = call_runs,
    [POSIXTRACE_DESCRIPTOR] = text_runs,  [POSIXTRACE_LONG_CALL] = long_runs,
    [POSIXTRACE_WAITING] = waiting_runs,  [POSIXTRACE_CONNECTION] = connection_runs,
    [POSIXTRACE_EPOLL_SET] = lock_runs,   [POSIXTRACE_CONTEXT] = no_runs,
};

static uint32_t bytes_of(const struct run *runs)
{
    uint32_t bytes = 0;

    for (; runs->count; runs++)
        bytes += (uint32_t)runs->count * runs->size;
    return bytes;
}

static bool has_text(const struct run *runs)
{
    return runs == text_runs || runs == connection_runs;
}

/* Two arrays of the same count, which the length of the data says. */
static void swap_ready(uint8_t *data, uint32_t len)
{
    uint32_t count = len < 12 ? 0 : (len - 12) / 10;
    struct run arrays[][2] = { { { (uint16_t)count, 8 }, END_OF_RUNS },
                               { { (uint16_t)count, 2 }, END_OF_RUNS } };

    if (len < 12 || len % 10 != 2)
        return;
    data = swap_runs(data, two_runs);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        swap_number(data, 2);
        data = swap_runs(data + 2, arrays[i]);
    }
}

/* Other system events of posixtrace/system.h have one 4-byte number, or up to three of 8 bytes.
 * Data of any other length is not changed. */
static void swap_own_data(uint32_t id, uint8_t *data, uint32_t len)
{
    if (id == POSIXTRACE_STACK) {
        if (len < 2 || len % 8 != 2)
            return;
        swap_number(data, 2);
        for (uint32_t at = 2; at < len; at += 8)
            swap_number(data + at, 8);
    } else if (id == POSIXTRACE_READY) {
        swap_ready(data, len);
    } else if (own_runs[id]) {
        if (len == bytes_of(own_runs[id]) ||
            (has_text(own_runs[id]) && len > bytes_of(own_runs[id])))
            swap_runs(data, own_runs[id]);
    } else if (len == 4) {
        swap_number(data, 4);
    } else if (len == 8 || len == 16 || len == 24) {
        for (uint32_t at = 0; at < len; at += 8)
            swap_number(data + at, 8);
    }
}

/* START and FILTER have event sets, STOP and ERROR an int. */
static void swap_system_data(uint32_t id, uint8_t *data, uint32_t len)
{
    if (id == POSIX_TRACE_START || id == POSIX_TRACE_FILTER) {
        for (uint32_t at = 0, size; at < len; at += size) {
            size = at % sizeof(struct pt_set) ? 4 : 8;
            if (size > len - at)
                break;
            swap_number(data + at, size);
        }
    } else if (id <= PT_ID_SYSTEM_LAST && len == 4) {
        swap_number(data, 4);
    } else if (pt_event_is_own(id)) {
        swap_own_data(id, data, len);
    }
}

void pt_swap_records(void *records, uint32_t bytes, enum pt_swap direction)
{
    uint8_t *p = records, *end = p + bytes;

    while (end - p >= (ptrdiff_t)PT_RECORD_HEAD) {
        uint32_t what, kind, len;

        memcpy(&what, p, sizeof what);
        if (direction == PT_SWAP_IN)
            what = __builtin_bswap32(what);
        len = what >> 16;
        kind = what >> 12 & 15u;
        swap_number(p, 4);
        swap_number(p + 4, 4);
        swap_number(p + 8, 8);
        /* The decoder stops at the same record. */
        if (pt_record_size(len) > (size_t)(end - p) || kind > PT_RECORD_TIME)
            break;
        if (kind == PT_RECORD_EVENT)
            swap_system_data(what & PT_RECORD_ID_MASK, p + PT_RECORD_HEAD, len);
        p += pt_record_size(len);
    }
}

/* The number of elements after the fixed part. */
struct rest {
    uint32_t records, triples, authors, counts, pieces;
    bool trailer;
};

static struct rest rest_of(const struct pt_packet_head *head)
{
    const void *p = head;
    const struct pt_packet_data *data = p;
    const struct pt_packet_sync *sync = p;
    const struct pt_packet_round *round = p;
    const struct pt_packet_end *end = p;
    const struct pt_packet_piece *piece = p;

    switch (head->type) {
    case PT_PACKET_PIECE: return (struct rest){ .pieces = piece->authors };
    case PT_PACKET_DATA:
        return (struct rest){ .records = pt_packet_is_packed(data) ? 0 : data->record_bytes };
    case PT_PACKET_SYNC:
    case PT_PACKET_INDEX: return (struct rest){ .triples = sync->count };
    case PT_PACKET_ROUND: return (struct rest){ .authors = round->state.authors };
    case PT_PACKET_END:
        return (struct rest){ .authors = end->state.authors,
                              .counts = end->state.counts,
                              .trailer = true };
    default: return (struct rest){ .records = 0 };
    }
}

/* See pt_packet_more(). */
static bool has_more(ptrdiff_t left, bool trailer)
{
    return left >= (ptrdiff_t)(sizeof(struct pt_packet_more) +
                               (trailer ? sizeof(struct pt_packet_trailer) : 0));
}

void pt_swap_packet(struct pt_packet_head *packet, enum pt_swap direction)
{
    uint8_t *p = (uint8_t *)packet, *after;
    uint32_t bytes = packet->bytes;
    unsigned type = packet->type;
    struct rest rest = { .records = 0 };

    if (direction == PT_SWAP_OUT)
        rest = rest_of(packet);
    after = swap_runs(p, head_runs);
    if (direction == PT_SWAP_IN) {
        bytes = packet->bytes;
        type = packet->type;
    }
    if (type < PT_PACKET_TYPES && fixed_runs[type])
        after = swap_runs(after, fixed_runs[type]);
    if (direction == PT_SWAP_IN)
        rest = rest_of(packet);
    pt_swap_records(after, rest.records, direction);
    swap_many(after, three_runs, rest.triples);
    after = swap_many(after, author_runs, rest.authors);
    after = swap_many(after, count_runs, rest.counts);
    after = swap_many(after, piece_author_runs, rest.pieces);
    if ((type == PT_PACKET_ROUND || type == PT_PACKET_END) &&
        has_more(p + bytes - after, rest.trailer))
        swap_number(after, sizeof(struct pt_packet_more));
    if (rest.trailer)
        swap_runs(p + bytes - sizeof(struct pt_packet_trailer), trailer_runs);
}

void *pt_swap_copy(struct pt_byteorder_buffer *b, const void *from, uint32_t bytes)
{
    if (b->room < bytes) {
        free(b->at);
        b->at = malloc(bytes);
        b->room = b->at ? bytes : 0;
    }
    return b->at ? memcpy(b->at, from, bytes) : NULL;
}
