/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Small packets of one author become one, so that its head and those of its columns are paid for
 * once: where chunks have 4 KiB, 16 of them.  The records are copied, their times count from the
 * base of the first packet, and the joined packet names each chunk and the place in it (parts), by
 * which a recovery finds what the log has.
 *
 * Packets wait for each other within a round, those of up to AUTHORS authors.  They belong to the
 * round and are in the log before its ROUND packet, each author's in order.  So a kill loses
 * nothing: their chunks are given back after the round.
 *
 * Not in LOOP and UNTIL_FULL logs, which cut packets and for which the order of the file says which
 * packets the log was given (log/reader/tail.c), and not without columns.
 */
#include <posixtrace/attr.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "log/byteorder.h"
#include "log/writer/state.h"
#include "log/writer/writer.h"

enum {
    AUTHORS = 64,
    BYTES = 64 << 10,      /* of a joined packet's records */
    MOST_BYTES = 32 << 10, /* a larger packet stays alone */
    PARTS = 64
};

struct pt_joined {
    struct pt_log_packet packet; /* no events: none waits */
    struct pt_types types;
    struct pt_log_part parts[PARTS]; /* all chunks but the first */
    uint8_t records[BYTES];
};

struct pt_log_join {
    struct pt_joined *authors[AUTHORS]; /* made when they are needed */
    unsigned next;                      /* gives its place up */
};

void pt_log_join_free(struct pt_log_writer *w)
{
    for (unsigned i = 0; w->join && i < AUTHORS; i++)
        free(w->join->authors[i]);
    free(w->join);
    w->join = NULL;
}

/* As pt_log_put_packet(), but after an error the events are counted as lost. */
static int put(struct pt_log_writer *w, const struct pt_log_packet *packet)
{
    int rc = pt_log_put_packet(w, packet);

    if (rc < 0)
        pt_log_drop_packet(w, packet);
    return rc;
}

static int put_joined(struct pt_log_writer *w, struct pt_joined *j)
{
    struct pt_type_count counts[PT_ID_MAX];
    int rc;

    if (!j->packet.events)
        return 0;
    for (uint32_t i = 0; i < j->types.used_count; i++)
        counts[i] = (struct pt_type_count){ j->types.used[i], j->types.count[j->types.used[i]] };
    j->packet.types = counts;
    j->packet.type_count = j->types.used_count;
    rc = put(w, &j->packet);
    j->packet.events = 0;
    return rc < 0 ? rc : 0;
}

/* Makes times count from a base that is ticks earlier.  False: the records are not all events, or a
 * time has no room; then the caller does not use them.  Another process may have written them. */
static bool move_base(uint8_t *records, uint32_t bytes, uint64_t ticks)
{
    for (uint32_t at = 0; at < bytes;) {
        uint32_t word, delta, size;

        if (bytes - at < PT_RECORD_HEAD)
            return false;
        memcpy(&word, records + at, sizeof word);
        memcpy(&delta, records + at + 4, sizeof delta);
        size = pt_record_size(word >> 16);
        if (size > bytes - at || (word >> 12 & 15u) != PT_RECORD_EVENT ||
            delta > UINT32_MAX - ticks)
            return false;
        delta += (uint32_t)ticks;
        memcpy(records + at + 4, &delta, sizeof delta);
        at += size;
    }
    return true;
}

static bool is_same_author(const struct pt_author *a, const struct pt_author *b)
{
    return a->wid == b->wid && a->level == b->level && a->pid == b->pid && a->tid == b->tid &&
           a->thread_id == b->thread_id && memcmp(a->name, b->name, sizeof a->name) == 0;
}

/* Can the packet be joined to those that wait? */
static bool follows(const struct pt_joined *j, const struct pt_log_packet *p)
{
    const struct pt_log_packet *has = &j->packet;

    return has->events && is_same_author(&has->author, &p->author) &&
           p->first_no == has->first_no + has->events && p->first_ts >= has->last_ts &&
           p->base_ts >= has->base_ts && p->base_ts - has->base_ts < UINT32_MAX &&
           has->bytes + p->bytes <= BYTES && has->part_count < PARTS;
}

/* False, and nothing has changed: its records cannot be joined. */
static bool append(struct pt_joined *j, const struct pt_log_packet *p)
{
    struct pt_log_packet *to = &j->packet;
    uint32_t had = to->events ? to->bytes : 0;

    pt_assert(had + p->bytes <= BYTES);
    pt_copy_unchecked(j->records + had, p->records, p->bytes);
    if (!move_base(j->records + had, p->bytes, to->events ? p->base_ts - to->base_ts : 0))
        return false;
    if (!to->events) {
        *to = *p;
        to->records = j->records;
        to->parts = j->parts;
        to->part_count = 0;
        pt_types_clear(&j->types);
    } else {
        j->parts[to->part_count++] = (struct pt_log_part){ p->chunk_seq, p->chunk_off, p->bytes };
        to->bytes += p->bytes;
        to->events += p->events;
        to->last_ts = p->last_ts > to->last_ts ? p->last_ts : to->last_ts;
    }
    for (uint32_t i = 0; i < p->type_count; i++)
        pt_types_add(&j->types, p->types[i].id, p->types[i].events);
    return true;
}

/* Where the author's packets wait; a free place, or one that another author gives up, in *error
 * with what that met.  NULL: no memory. */
static struct pt_joined *place_of(struct pt_log_writer *w, uint64_t wid, int *error)
{
    struct pt_log_join *join = w->join;
    struct pt_joined **free_one = NULL;

    *error = 0;
    for (unsigned i = 0; i < AUTHORS; i++) {
        struct pt_joined **j = &join->authors[i];

        if (*j && (*j)->packet.events && (*j)->packet.author.wid == wid)
            return *j;
        if (!free_one && (!*j || !(*j)->packet.events))
            free_one = j;
    }
    if (!free_one) {
        free_one = &join->authors[join->next++ % AUTHORS];
        *error = put_joined(w, *free_one);
    }
    if (!*free_one)
        *free_one = calloc(1, sizeof **free_one);
    return *free_one;
}

static bool joins(struct pt_log_writer *w)
{
    if (w->params.attr.compression == POSIXTRACE_COMPRESSION_NONE ||
        w->params.attr.log_policy != POSIX_TRACE_APPEND)
        return false;
    if (!w->join)
        w->join = calloc(1, sizeof *w->join);
    return w->join != NULL;
}

int pt_log_join_packet(struct pt_log_writer *w, const struct pt_log_packet *packet)
{
    struct pt_joined *j;
    int before, error = 0, rc;

    if (!joins(w))
        return put(w, packet);
    j = place_of(w, packet->author.wid, &before);
    if (j && j->packet.events && !follows(j, packet))
        error = put_joined(w, j);
    if (j && packet->types && packet->bytes <= MOST_BYTES && !(packet->chunk_seq & PT_LOG_MADE) &&
        append(j, packet))
        return before ? before : error;
    if (j && !error)
        error = put_joined(w, j);
    rc = put(w, packet);
    return before ? before : error ? error : rc;
}

int pt_log_join_end(struct pt_log_writer *w)
{
    int error = 0;

    for (unsigned i = 0; w->join && i < AUTHORS; i++) {
        int e = w->join->authors[i] ? put_joined(w, w->join->authors[i]) : 0;

        error = error ? error : e;
    }
    return error;
}
