/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See report_channels.h. */
#include "analysis/report/report_channels.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "analysis/report/report_types.h"
#include "text/hash.h"

enum { NONE = -1, READS, WRITES };
enum { OF_PIPE, OF_EVENTFD, OF_CONNECTION }; /* key.c */
enum { DEL = 2 };                            /* epoll_ctl() */

/* What a descriptor is. */
struct end {
    bool is_channel;
    struct pt_report_key key;  /* of a pipe or event counter */
    uint64_t own, peer;        /* names of a connection; peer 0: not known */
    uint64_t identity, before; /* what it is, and what it was until a new name; 0: not known */
    uint64_t generation;       /* incremented when it is closed or another one has the number */
    uint64_t gap;
};

struct peer {
    uint64_t name;
};

struct member { /* of an epoll */
    bool is_in;
    uint64_t data, generation, gap;
};

struct datum { /* what an epoll says of that descriptor */
    uint32_t descriptor;
    bool used, ambiguous;
};

/* ---- what descriptors are ---- */

static struct pt_report_key end_key(pid_t pid, uint32_t descriptor)
{
    return (struct pt_report_key){ .a = (uint32_t)pid, .b = descriptor };
}

static struct end *end_of(const struct pt_report_channels *c, pid_t pid, uint32_t descriptor)
{
    return pt_report_map_find(&c->ends, end_key(pid, descriptor));
}

static void identify(struct end *end, uint64_t identity)
{
    end->generation += end->before && end->before != identity;
    end->identity = identity;
    end->before = 0;
}

/* Of a socket the event after this one may say what it is. */
int pt_report_channels_named(struct pt_report_channels *c, const struct posixtrace_event *e,
                             uint64_t gap)
{
    const char *name = (const char *)e->data + 8;
    uint32_t descriptor = pt_report_u32(e, 0), kind = pt_report_u32(e, 4);
    struct end *end;
    uint64_t hash;

    if (e->data_len < 8)
        return 0;
    end = pt_report_map_make(&c->ends, end_key(e->pid, descriptor), sizeof *end);
    if (!end)
        return ENOMEM;
    hash = pt_hash_bytes(PT_HASH_START + kind, name, strnlen(name, e->data_len - 8));
    end->before = end->before ? end->before : end->identity;
    end->gap = gap;
    end->own = end->peer = end->identity = 0;
    end->is_channel = kind == POSIXTRACE_KIND_PIPE || kind == POSIXTRACE_KIND_EVENTFD;
    if (kind == POSIXTRACE_KIND_PIPE)
        end->key = (struct pt_report_key){ .a = hash, .c = OF_PIPE };
    else
        end->key = (struct pt_report_key){ .a = (uint32_t)e->pid,
                                           .b = descriptor,
                                           .c = OF_EVENTFD };
    if (kind != POSIXTRACE_KIND_SOCKET)
        identify(end, hash);
    return 0;
}

/* The text at *at, which ends before the data; *at moves to the byte after it.  0: it is empty, or
 * does not end. */
static uint64_t take_name(const struct posixtrace_event *e, size_t *at)
{
    const char *name = (const char *)e->data + *at;
    size_t length = strnlen(name, e->data_len - *at);
    uint64_t kind_space[2] = { pt_report_u32(e, 4), pt_report_u64(e, 8) };

    if (*at + length >= e->data_len)
        return 0;
    *at += length + 1;
    if (length == 0)
        return 0;
    return pt_hash_bytes(pt_hash_bytes(PT_HASH_START, kind_space, sizeof kind_space), name,
                         length) |
           1;
}

static int note_peer(struct pt_report_channels *c, uint64_t own, uint64_t name)
{
    struct peer *peer = pt_report_map_make(&c->peers, (struct pt_report_key){ .a = own },
                                           sizeof *peer);

    if (!peer)
        return ENOMEM;
    peer->name = name;
    return 0;
}

int pt_report_channels_connected(struct pt_report_channels *c, const struct posixtrace_event *e,
                                 uint64_t gap)
{
    uint32_t descriptor = pt_report_u32(e, 0);
    struct end *end;
    size_t at = 16;

    if (e->data_len <= at)
        return 0;
    end = pt_report_map_make(&c->ends, end_key(e->pid, descriptor), sizeof *end);
    if (!end)
        return ENOMEM;
    end->gap = gap;
    end->is_channel = false;
    end->own = take_name(e, &at);
    end->peer = end->own && at < e->data_len ? take_name(e, &at) : 0;
    identify(end, end->own);
    if (!end->own || !end->peer)
        return 0;
    return note_peer(c, end->own, end->peer) || note_peer(c, end->peer, end->own) ? ENOMEM : 0;
}

void pt_report_channels_closed(struct pt_report_channels *c, pid_t pid, uint32_t descriptor)
{
    struct end *end = end_of(c, pid, descriptor);

    if (!end)
        return;
    *end = (struct end){ .generation = end->generation + 1 };
}

/* ---- channels ---- */

static struct pt_report_channel channel_of(const struct pt_report_channels *c, pid_t pid,
                                           uint32_t descriptor, int side, uint64_t gap)
{
    const struct pt_report_channel none = { .side = NONE };
    const struct end *end = side == NONE ? NULL : end_of(c, pid, descriptor);
    const struct peer *found;
    uint64_t peer;

    if (!end || end->gap != gap)
        return none;
    if (end->is_channel)
        return (struct pt_report_channel){ end->key, side };
    if (!end->own)
        return none;
    found = end->peer ? NULL
                      : pt_report_map_find(&c->peers, (struct pt_report_key){ .a = end->own });
    peer = found ? found->name : end->peer;
    if (!peer || peer == end->own)
        return none;
    return (struct pt_report_channel){ { .a = side == READS ? peer : end->own,
                                         .b = side == READS ? end->own : peer,
                                         .c = OF_CONNECTION },
                                       side };
}

static int side_of(uint32_t call)
{
    switch (call) {
    case POSIXTRACE_CALL_READ:
    case POSIXTRACE_CALL_READV:
    case POSIXTRACE_CALL_RECV:
    case POSIXTRACE_CALL_RECVFROM:
    case POSIXTRACE_CALL_RECVMSG:
    case POSIXTRACE_CALL_RECVMMSG: return READS;
    case POSIXTRACE_CALL_WRITE:
    case POSIXTRACE_CALL_WRITEV:
    case POSIXTRACE_CALL_SEND:
    case POSIXTRACE_CALL_SENDTO:
    case POSIXTRACE_CALL_SENDMSG:
    case POSIXTRACE_CALL_SENDMMSG:
    case POSIXTRACE_CALL_SENDFILE: return WRITES;
    default: return NONE;
    }
}

struct pt_report_channel pt_report_channels_of(const struct pt_report_channels *c, pid_t pid,
                                               uint32_t descriptor, uint32_t call, uint64_t gap)
{
    return channel_of(c, pid, descriptor, side_of(call), gap);
}

/* ---- epolls ---- */

static struct pt_report_key epoll_key(pid_t pid, uint32_t epoll, uint64_t value)
{
    return (struct pt_report_key){ .a = (uint32_t)pid, .b = epoll, .c = value };
}

static bool has(const struct pt_report_channels *c, pid_t pid, uint32_t epoll, uint32_t descriptor,
                uint64_t data, uint64_t gap)
{
    const struct member *m = pt_report_map_find(&c->members, epoll_key(pid, epoll, descriptor));
    const struct end *end = end_of(c, pid, descriptor);

    return m && m->is_in && m->data == data && m->gap == gap &&
           m->generation == (end ? end->generation : 0);
}

int pt_report_channels_set(struct pt_report_channels *c, const struct posixtrace_event *e,
                           uint64_t gap)
{
    uint32_t epoll = pt_report_u32(e, 0), descriptor = pt_report_u32(e, 4);
    uint64_t data = pt_report_u64(e, 16);
    const struct end *end = end_of(c, e->pid, descriptor);
    struct member *m;
    struct datum *d;

    if (e->data_len != 24)
        return 0;
    m = pt_report_map_make(&c->members, epoll_key(e->pid, epoll, descriptor), sizeof *m);
    if (!m)
        return ENOMEM;
    m->is_in = pt_report_u32(e, 8) != DEL;
    if (!m->is_in)
        return 0;
    *m = (struct member){ true, data, end ? end->generation : 0, gap };
    d = pt_report_map_make(&c->data, epoll_key(e->pid, epoll, data), sizeof *d);
    if (!d)
        return ENOMEM;
    d->ambiguous = d->used && d->descriptor != descriptor &&
                   (d->ambiguous || has(c, e->pid, epoll, d->descriptor, data, gap));
    d->used = true;
    d->descriptor = descriptor;
    return 0;
}

/* False: it is not known. */
static bool find_descriptor(const struct pt_report_channels *c, pid_t pid, uint32_t epoll,
                            uint64_t which, uint64_t gap, uint32_t *descriptor)
{
    const struct datum *d;

    *descriptor = (uint32_t)which;
    if (epoll == UINT32_MAX)
        return true;
    d = pt_report_map_find(&c->data, epoll_key(pid, epoll, which));
    if (!d || d->ambiguous || !has(c, pid, epoll, d->descriptor, which, gap))
        return false;
    *descriptor = d->descriptor;
    return true;
}

static int side_of_events(unsigned events, bool *both)
{
    bool in = events & (POLLIN | POLLRDNORM), out = events & (POLLOUT | POLLWRNORM);

    *both = in && out;
    return in ? READS : out ? WRITES : NONE;
}

void pt_report_channels_ready(const struct pt_report_channels *c, const struct posixtrace_event *e,
                              uint64_t gap, struct pt_report_ready *ready)
{
    const char *data = e->data;
    uint16_t count, events;
    uint64_t which;
    uint32_t descriptor;
    bool both;

    ready->known = false;
    ready->count = 0;
    if (e->data_len < 12)
        return;
    memcpy(&count, data + 8, sizeof count);
    if (count == 0 || count > POSIXTRACE_READY_MAX || count != pt_report_u32(e, 4) ||
        e->data_len != 12 + 10 * (size_t)count)
        return;
    for (unsigned i = 0; i < count; i++) {
        memcpy(&which, data + 10 + i * sizeof which, sizeof which);
        memcpy(&events, data + 12 + count * sizeof which + i * sizeof events, sizeof events);
        if (!find_descriptor(c, e->pid, pt_report_u32(e, 0), which, gap, &descriptor))
            return;
        ready->at[i] = channel_of(c, e->pid, descriptor, side_of_events(events, &both), gap);
        ready->also[i] = channel_of(c, e->pid, descriptor, both ? WRITES : NONE, gap);
        if (ready->at[i].side == NONE)
            return;
    }
    ready->count = count;
    ready->known = true;
}

void pt_report_channels_deinit(struct pt_report_channels *c)
{
    pt_report_map_deinit(&c->ends);
    pt_report_map_deinit(&c->peers);
    pt_report_map_deinit(&c->members);
    pt_report_map_deinit(&c->data);
}
