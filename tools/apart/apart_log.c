/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a worker sends as a log, before root writes it: a header block that names no ring, then
 * packets whose heads are plausible and whose sequence numbers ascend, then nothing after the
 * END packet (docs/log-format.md).  So much that root's file is a log, and no longer than a
 * recording makes it; checksums and contents are for the readers, which take any bytes.
 */
#include "apart/apart.h"

#include <string.h>

#define MAGIC        "PXTLOG\r\n"
#define PACKET_MAGIC 0x50545850u

enum { HEADER_BLOCK = 4096, RING_BYTES = 64, HEADER_HEAD = 72 };
enum {
    HEAD = 32,
    DATA_EVENTS = 88,
    DATA_HEAD = 96,
    PACKET_MOST = 16 << 20,
    DATA_MOST = 1 << 20,
    DATA = 1,
    END = 6,
    TYPES = 64
};

/* Names, the list of threads at the end, the part being written. */
#define EXTRA (64ull << 20)
/* Times the size, which counts packets of events only.  A LOOP log becomes a ring at twice its
 * size.  In one that grows, each flush with one short event has a ROUND of four times as much. */
enum { LOOPS_TIMES = 2, GROWS_TIMES = 8 };

uint64_t apart_log_most(uint64_t size, bool loops)
{
    unsigned times = loops ? LOOPS_TIMES : GROWS_TIMES;

    return size < (UINT64_MAX - EXTRA) / times ? times * size + EXTRA : UINT64_MAX;
}

static uint64_t number(const uint8_t *at, unsigned bytes)
{
    uint64_t n = 0;

    while (bytes-- > 0)
        n = n << 8 | at[bytes];
    return n;
}

static bool has_magic(const struct apart_log *log)
{
    return memcmp(log->head, MAGIC, sizeof MAGIC - 1) == 0;
}

/* How many bytes of its start are looked at. */
static uint32_t head_size(const struct apart_log *log)
{
    if (log->bytes < HEADER_BLOCK)
        return log->have >= sizeof MAGIC - 1 && has_magic(log) ? HEADER_HEAD : sizeof MAGIC - 1;
    return log->have >= HEAD && number(log->head + 4, 2) == DATA ? DATA_HEAD : HEAD;
}

static bool begin_packet(struct apart_log *log)
{
    const uint8_t *h = log->head;
    uint64_t type = number(h + 4, 2), bytes = number(h + 8, 4), lsn = number(h + 16, 8);

    if (number(h, 4) != PACKET_MAGIC || type == 0 || type >= TYPES || bytes % 8 != 0 ||
        bytes < log->have || bytes > (type == DATA ? DATA_MOST : PACKET_MOST) || lsn <= log->lsn)
        return false;
    log->lsn = lsn;
    log->left = bytes - log->have;
    log->ended = type == END;
    if (type == DATA)
        log->events += number(h + DATA_EVENTS, 4);
    return true;
}

static bool begin(struct apart_log *log)
{
    if (log->bytes >= HEADER_BLOCK)
        return begin_packet(log);
    log->left = HEADER_BLOCK - log->have;
    return has_magic(log) && (log->loops || number(log->head + RING_BYTES, 8) == 0);
}

/* Up to n bytes of a head that is looked at. */
static bool take_head(struct apart_log *log, const uint8_t *bytes, size_t n)
{
    uint32_t have;

    memcpy(log->head + log->have, bytes, n);
    log->have += (uint32_t)n;
    if (log->have < head_size(log))
        return true;
    have = log->have;
    if (!begin(log))
        return false;
    log->bytes += have;
    log->have = 0;
    return true;
}

bool apart_log_check(struct apart_log *log, const uint8_t *bytes, size_t length)
{
    if (log->most && log->bytes >= HEADER_BLOCK) {
        log->bytes += length;
        return log->bytes <= log->most;
    }
    while (length > 0) {
        size_t n = log->left;

        if (log->most && log->bytes == HEADER_BLOCK)
            return apart_log_check(log, bytes, length);
        if (n == 0 && log->ended)
            return false;
        if (n > 0) {
            n = n < length ? n : length;
            log->left -= n;
            log->bytes += n;
        } else {
            n = head_size(log) - log->have;
            n = n < length ? n : length;
            if (!take_head(log, bytes, n))
                return false;
        }
        bytes += n;
        length -= n;
    }
    return true;
}
