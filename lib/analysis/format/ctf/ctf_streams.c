/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The streams of a CTF trace under construction: one for each thread, a file each.
 *
 * A stream collects whole packets in its buffer, which is appended to its file when it
 * is full, and the file is open only for that: one descriptor, however many threads.
 * When all buffers together are large, all are written and given back.  Threads beyond
 * the limit share one stream, where a packet is of one thread.
 *
 * Times of a stream never decrease.  A late event, after younger ones of its thread, is written to
 * another stream of the thread (a lane), so readers sort it in.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analysis/format/ctf/ctf.h"

#define MAGIC      0xc1fc1fc1u
#define HEAD       112u /* bytes before the first event of a packet */
#define CONTEXT    32u  /* where the packet's context begins in them */
#define FIRST_ROOM 1024u
#define BUFFER_MAX (128u << 10) /* more than two of the largest events */
#define PACKET_MAX (64u << 10)  /* a packet that is longer ends */
#define ALL_MAX    (32u << 20)

static uint32_t *cell_of(struct ctf_streams *all, int32_t pid, int32_t tid)
{
    uint64_t h = ((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid) * 0x9e3779b97f4a7c15u;

    return &all->cells[(h >> 32) % CTF_CELLS];
}

static struct ctf_stream *new_stream(struct ctf_streams *all, const struct ctf_thread *thread,
                                     uint32_t lane, bool shared)
{
    struct ctf_stream *s;

    if (all->count % 64 == 0) {
        s = reallocarray(all->list, all->count + 64, sizeof *s);
        if (!s) {
            pt_job_fail(all->job, ENOMEM, "no memory for %u streams", all->count + 64);
            return NULL;
        }
        all->list = s;
    }
    s = &all->list[all->count++];
    *s = (struct ctf_stream){ .thread = *thread, .lane = lane, .shared = shared };
    return s;
}

/* Finds one of the streams that several threads share. */
static struct ctf_stream *find_shared(struct ctf_streams *all, const struct ctf_thread *thread,
                                      uint64_t value)
{
    struct ctf_stream *s;

    for (uint32_t i = 0; i < all->shared_count; i++)
        if (all->list[all->shared[i]].last <= value)
            return &all->list[all->shared[i]];
    if (all->shared_count == CTF_LANES)
        return NULL;
    s = new_stream(all, thread, all->shared_count, true);
    if (s)
        all->shared[all->shared_count++] = all->count - 1;
    return s;
}

struct ctf_stream *pt_ctf_streams_find(struct ctf_streams *all, const struct ctf_thread *thread,
                                       uint64_t value)
{
    uint32_t *cell = cell_of(all, thread->pid, thread->tid), lanes = 0;
    struct ctf_stream *s;

    for (uint32_t i = *cell; i; i = s->next) {
        s = &all->list[i - 1];
        if (s->thread.pid != thread->pid || s->thread.tid != thread->tid)
            continue;
        if (s->last <= value)
            return s;
        lanes++;
    }
    if (all->count - all->shared_count >= all->limit || lanes == CTF_LANES)
        return find_shared(all, thread, value);
    s = new_stream(all, thread, lanes, false);
    if (!s)
        return NULL;
    s->next = *cell;
    *cell = all->count;
    return s;
}

static bool append(struct ctf_streams *all, const char *name, const uint8_t *from, size_t bytes)
{
    int fd = openat(all->directory, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                    0666);
    int error = fd < 0 ? errno : 0;

    while (!error && bytes) {
        ssize_t put = write(fd, from, bytes);

        if (put < 0 && errno != EINTR)
            error = errno;
        if (put > 0) {
            from += put;
            bytes -= (size_t)put;
        }
    }
    if (fd >= 0 && close(fd) != 0 && !error)
        error = errno;
    if (error)
        pt_job_fail(all->job, error, "cannot write %s: %s", name, strerror(error));
    return !error;
}

/* Whole packets only: none is open. */
static bool write_out(struct ctf_streams *all, struct ctf_stream *s)
{
    char name[64], lane[16] = "";
    uint32_t used = s->used;

    if (!used)
        return true;
    s->used = 0;
    if (s->lane)
        snprintf(lane, sizeof lane, "-%u", s->lane);
    if (s->shared)
        snprintf(name, sizeof name, "others%s", lane);
    else
        snprintf(name, sizeof name, "thread-%d-%d%s", s->thread.pid, s->thread.tid, lane);
    return append(all, name, s->buffer, used);
}

static void begin_packet(struct ctf_streams *all, struct ctf_stream *s,
                         const struct ctf_thread *thread, uint64_t value)
{
    uint8_t *to = s->buffer + s->used;

    s->packet = s->used;
    s->used += HEAD;
    s->open = true;
    s->thread = *thread;
    to = ctf_put(to, MAGIC, 4);
    to = (uint8_t *)mempcpy(to, all->uuid, sizeof all->uuid);
    to = ctf_put(to, 0, 4);
    to = ctf_put(to, (uint64_t)(s - all->list), 8);
    to = ctf_put(to, value, 8);
    to += 40;
    to = ctf_put(to, (uint32_t)thread->pid, 4);
    to = ctf_put(to, (uint32_t)thread->tid, 4);
    to = ctf_put(to, thread->thread_id, 8);
    memcpy(to, thread->name, sizeof thread->name);
}

void pt_ctf_stream_end_packet(struct ctf_stream *s)
{
    uint64_t bits = (uint64_t)(s->used - s->packet) * 8;
    uint8_t *to = s->buffer + s->packet + CONTEXT + 8;

    if (!s->open)
        return;
    to = ctf_put(to, s->last, 8);
    to = ctf_put(to, bits, 8);
    to = ctf_put(to, bits, 8);
    to = ctf_put(to, s->packets++, 8);
    ctf_put(to, s->discarded, 8);
    s->told = s->discarded;
    s->open = false;
}

bool pt_ctf_streams_write(struct ctf_streams *all)
{
    bool fine = true;

    for (uint32_t i = 0; i < all->count; i++) {
        struct ctf_stream *s = &all->list[i];

        pt_ctf_stream_end_packet(s);
        fine = fine && write_out(all, s);
        free(s->buffer);
        s->buffer = NULL;
        s->room = s->used = 0;
    }
    all->bytes = 0;
    return fine;
}

/* So that bytes more fit; may end the packet under way. */
static bool make_room(struct ctf_streams *all, struct ctf_stream *s, size_t bytes)
{
    size_t room = s->room ? s->room : FIRST_ROOM;
    uint8_t *buffer;

    if (s->used + bytes > BUFFER_MAX || (s->open && s->used - s->packet > PACKET_MAX)) {
        pt_ctf_stream_end_packet(s);
        if (!write_out(all, s))
            return false;
    }
    if (s->used + bytes <= s->room)
        return true;
    if (all->bytes > ALL_MAX && !pt_ctf_streams_write(all))
        return false;
    while (room < s->used + bytes)
        room *= 2;
    buffer = realloc(s->buffer, room);
    if (!buffer) {
        pt_job_fail(all->job, ENOMEM, "no memory for a packet of %zu bytes", room);
        return false;
    }
    all->bytes += room - s->room;
    s->buffer = buffer;
    s->room = (uint32_t)room;
    return true;
}

static bool same_thread(const struct ctf_thread *a, const struct ctf_thread *b)
{
    return a->pid == b->pid && a->tid == b->tid && a->thread_id == b->thread_id &&
           memcmp(a->name, b->name, sizeof a->name) == 0;
}

uint8_t *pt_ctf_stream_take(struct ctf_streams *all, struct ctf_stream *s,
                            const struct ctf_thread *thread, uint64_t value, size_t size)
{
    uint8_t *to;

    if (s->open && !same_thread(&s->thread, thread))
        pt_ctf_stream_end_packet(s);
    if (!make_room(all, s, size + HEAD))
        return NULL;
    if (!s->open)
        begin_packet(all, s, thread, value);
    s->last = value;
    to = s->buffer + s->used;
    s->used += (uint32_t)size;
    return to;
}

bool pt_ctf_stream_put_empty(struct ctf_streams *all, struct ctf_stream *s, uint64_t value)
{
    pt_ctf_stream_end_packet(s);
    if (!make_room(all, s, HEAD))
        return false;
    begin_packet(all, s, &s->thread, value);
    s->last = value;
    pt_ctf_stream_end_packet(s);
    return true;
}

void pt_ctf_streams_deinit(struct ctf_streams *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        free(all->list[i].buffer);
    free(all->list);
    if (all->directory >= 0)
        close(all->directory);
}
