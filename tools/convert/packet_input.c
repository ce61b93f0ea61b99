/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See packet_input.h. */
#include "convert/packet_input.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "common/tool.h"

enum { HEAD = 24, RECORD = 16, MOST = 60, PACKET = HEAD + MOST * RECORD, TRACE_STOP = 0x30 };

/* For packets that may still come when the last event has come before them. */
static const int64_t STRAGGLERS_NS = 200000000;
static const char mark[12] = "TRACER-V1.0";

struct packet {
    uint32_t number;
    size_t size;
    uint8_t bytes[PACKET + 1]; /* one more, to detect packets that are too long */
};

struct packet_input {
    int fd, spare; /* spare: from the end on, -1 */
    struct packet_until until;
    struct sockaddr_storage sender;
    uint64_t events, strange, others, again;
    uint32_t next; /* number that is due */
    bool begun, stopped, ended;
    unsigned held;
    struct packet window[PACKET_WINDOW];
    struct packet came, out;
    bool came_anew;        /* came is the first of another run, not held yet */
    size_t given;          /* bytes of out */
    uint8_t first[PACKET]; /* the packet that this run began with */
};

static uint32_t word(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Until something comes; false: it lasts too long, or cannot be. */
static bool wait_for_packet(const struct packet_input *p, int64_t limit)
{
    struct pollfd what = { .fd = p->fd, .events = POLLIN };
    int64_t due = now() + limit;
    int got;

    do {
        int64_t left = limit ? due - now() : -1;
        struct timespec t = { left / 1000000000, left % 1000000000 };

        if (limit && left <= 0)
            t = (struct timespec){ 0, 0 };
        got = ppoll(&what, 1, limit ? &t : NULL, NULL);
    } while (got < 0 && errno == EINTR);
    return got > 0;
}

static bool same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family == AF_INET)
        return memcmp(&((const struct sockaddr_in *)a)->sin_addr,
                      &((const struct sockaddr_in *)b)->sin_addr, sizeof(struct in_addr)) == 0;
    return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                  &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

/* Ports are at the same place in both. */
static bool same_port(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    return ((const struct sockaddr_in *)a)->sin_port == ((const struct sockaddr_in *)b)->sin_port;
}

static bool is_packet(const struct packet *came)
{
    return came->size >= HEAD && came->size <= PACKET &&
           memcmp(came->bytes, mark, sizeof mark) == 0 && word(came->bytes + 16) <= MOST &&
           came->size == HEAD + word(came->bytes + 16) * RECORD &&
           word(came->bytes + 20) == came->size;
}

static bool is_held(const struct packet_input *p, uint32_t number)
{
    for (unsigned i = 0; i < p->held; i++) {
        if (p->window[i].number == number)
            return true;
    }
    return false;
}

static void count_events(struct packet_input *p, const struct packet *came)
{
    p->events += word(came->bytes + 16);
    for (size_t at = HEAD; at < came->size; at += RECORD)
        p->stopped |= came->bytes[at] == TRACE_STOP;
}

/* Is what came the beginning of another run?  Its sender has another port then, or it is a
 * packet 1 unlike the one that there was. */
static bool begins_anew(const struct packet_input *p, const struct sockaddr_storage *from)
{
    if (!same_port(from, &p->sender))
        return true;
    return p->came.number == 1 && word(p->first + 12) == 1 &&
           memcmp(p->first, p->came.bytes, p->came.size) != 0;
}

static void hold(struct packet_input *p)
{
    if (p->came_anew || p->came.number == 1)
        memcpy(p->first, p->came.bytes, p->came.size);
    p->window[p->held++] = p->came;
}

/* Takes one datagram; a valid one is in the window then, or in came. */
static void receive(struct packet_input *p)
{
    struct sockaddr_storage from = { 0 };
    socklen_t len = sizeof from;
    int64_t limit = p->begun ? p->until.idle_ns : 0;
    ssize_t got;

    if (p->spare < 0)
        limit = 1;
    else if (p->until.stop && p->stopped)
        limit = STRAGGLERS_NS;

    p->ended = !wait_for_packet(p, limit);
    if (p->ended)
        return;
    got = recvfrom(p->fd, p->came.bytes, sizeof p->came.bytes, MSG_DONTWAIT,
                   (struct sockaddr *)&from, &len);
    if (got < 0 && errno == ENOTSOCK && p->spare >= 0) {
        p->fd = p->spare;
        p->spare = -1;
        return;
    }
    if (got < 0) {
        p->ended = errno != EAGAIN && errno != EINTR;
        return;
    }
    p->came.size = (size_t)got;
    if (!is_packet(&p->came)) {
        p->strange++;
        return;
    }
    p->came.number = word(p->came.bytes + 12);
    if (p->begun && !same_host(&from, &p->sender)) {
        p->others++;
        return;
    }
    p->came_anew = !p->begun || begins_anew(p, &from);
    if (!p->came_anew && (p->came.number < p->next || is_held(p, p->came.number))) {
        p->again++;
        return;
    }
    p->sender = from;
    count_events(p, &p->came);
    if (!p->came_anew)
        hold(p);
}

/* The held packet with the lowest number is the next one out. */
static void release(struct packet_input *p, unsigned i)
{
    p->out = p->window[i];
    p->window[i] = p->window[--p->held];
    p->next = p->out.number + 1;
    p->given = 0;
}

static unsigned lowest(const struct packet_input *p)
{
    unsigned found = 0;

    for (unsigned i = 1; i < p->held; i++) {
        if (p->window[i].number < p->window[found].number)
            found = i;
    }
    return found;
}

static void begin_run(struct packet_input *p)
{
    hold(p);
    p->came_anew = false;
    p->begun = true;
    p->next = 1;
}

/* The next packet, in out; false: there are no more. */
static bool next_packet(struct packet_input *p)
{
    for (;;) {
        unsigned i = lowest(p);

        p->ended |= p->until.events && p->events >= p->until.events;
        p->ended |= p->until.stop && p->stopped && p->held == 0 && !p->came_anew;
        if (p->held && (p->window[i].number == p->next || p->held == PACKET_WINDOW || p->ended ||
                        p->came_anew)) {
            release(p, i);
            return true;
        }
        if (p->came_anew)
            begin_run(p);
        else if (p->ended)
            return false;
        else
            receive(p);
    }
}

ssize_t packet_input_read(void *input, void *to, size_t size)
{
    struct packet_input *p = input;
    size_t n;

    if (p->given == p->out.size && !next_packet(p))
        return 0;
    n = p->out.size - p->given < size ? p->out.size - p->given : size;
    memcpy(to, p->out.bytes + p->given, n);
    p->given += n;
    return (ssize_t)n;
}

struct packet_input *packet_input_begin(int fd, int spare, const struct packet_until *until)
{
    struct packet_input *p = tool_grow(NULL, 1, sizeof *p);
    int room = 4 << 20;

    memset(p, 0, sizeof *p);
    p->fd = fd;
    p->spare = spare;
    p->until = *until;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    return p;
}

static void tell(uint64_t count, const char *what)
{
    if (count)
        tool_note("%" PRIu64 " packet%s %s: passed over", count, count == 1 ? "" : "s", what);
}

void packet_input_end(struct packet_input *input)
{
    tell(input->strange, "not of the tracer");
    tell(input->others, "of other hosts than the first");
    tell(input->again, "that came twice, or too late");
    free(input);
}
