/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The load of the macro benchmark: one thread, connections to a server on 127.0.0.1, each with
 * so many requests under way; a batch is sent when the answers of the last one are complete.
 * One request in ten stores a value.
 *
 * usage: load memcached|redis PORT CONNECTIONS DEPTH REQUESTS
 *
 * Prints requests a second and the 50th and 99th percentile of the time of a batch, in
 * nanoseconds.  Exit 1 where an answer is not the one that is due.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 10000, VALUE = 100, ROOM = 1 << 16, DEPTH_MOST = 128, MOST = 256 };

struct connection {
    int fd;
    char out[ROOM], in[ROOM];
    size_t got;
    unsigned char sets[DEPTH_MOST]; /* which requests of the batch store */
    int64_t sent_ns;
};

static char value[VALUE + 1];
static bool is_redis;
static int depth;
static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int open_connection(uint16_t port)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        fail("cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static size_t put_request(char *at, bool stores, unsigned key)
{
    size_t room = ROOM / DEPTH_MOST;

    if (is_redis && stores)
        return (size_t)snprintf(at, room, "*3\r\n$3\r\nSET\r\n$8\r\nkey%05u\r\n$%d\r\n%s\r\n", key,
                                VALUE, value);
    if (is_redis)
        return (size_t)snprintf(at, room, "*2\r\n$3\r\nGET\r\n$8\r\nkey%05u\r\n", key);
    if (stores)
        return (size_t)snprintf(at, room, "set key%05u 0 0 %d\r\n%s\r\n", key, VALUE, value);
    return (size_t)snprintf(at, room, "get key%05u\r\n", key);
}

static void send_batch(struct connection *c, bool fills, unsigned *fill)
{
    size_t size = 0, done = 0;

    for (int i = 0; i < depth; i++) {
        unsigned key = fills ? (*fill)++ % KEYS : (unsigned)(next_random() >> 20) % KEYS;

        c->sets[i] = fills || (next_random() >> 20) % 10 == 0;
        size += put_request(c->out + size, c->sets[i], key);
    }
    c->got = 0;
    c->sent_ns = now_ns();
    while (done < size) {
        ssize_t n = write(c->fd, c->out + done, size - done);

        if (n < 0)
            fail("cannot send");
        done += (size_t)n;
    }
}

/* How long the answers of a batch are. */
static size_t answers(const struct connection *c)
{
    size_t size = 0;

    for (int i = 0; i < depth; i++)
        if (is_redis)
            size += c->sets[i] ? strlen("+OK\r\n") : strlen("$100\r\n\r\n") + VALUE;
        else
            size += c->sets[i] ? strlen("STORED\r\n")
                               : strlen("VALUE key00000 0 100\r\n\r\nEND\r\n") + VALUE;
    return size;
}

/* Is the batch complete? */
static bool take_answers(struct connection *c)
{
    size_t due = answers(c);
    ssize_t n = read(c->fd, c->in + c->got, sizeof c->in - c->got);

    if (n <= 0)
        fail("the server has closed a connection");
    c->got += (size_t)n;
    if (c->got > due || strncmp(c->in, is_redis ? "-" : "ERROR", is_redis ? 1 : 5) == 0) {
        fprintf(stderr, "load: a wrong answer: %.60s\n", c->in);
        exit(1);
    }
    return c->got == due;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Sends so many batches over all connections; the times of the batches. */
static void run(struct connection *c, int connections, size_t batches, bool fills, int64_t *times)
{
    struct epoll_event ready[MOST];
    size_t sent = 0, done = 0;
    unsigned fill = 0;
    int poll_fd = epoll_create1(EPOLL_CLOEXEC);

    for (int i = 0; i < connections; i++) {
        struct epoll_event e = { .events = EPOLLIN, .data = { .ptr = &c[i] } };

        if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, c[i].fd, &e) < 0)
            fail("epoll");
        if (sent < batches) {
            send_batch(&c[i], fills, &fill);
            sent++;
        }
    }
    while (done < batches) {
        int n = epoll_wait(poll_fd, ready, MOST, -1);

        for (int i = 0; i < n; i++) {
            struct connection *one = ready[i].data.ptr;

            if (!take_answers(one))
                continue;
            times[done++] = now_ns() - one->sent_ns;
            if (sent < batches) {
                send_batch(one, fills, &fill);
                sent++;
            }
        }
    }
    close(poll_fd);
}

int main(int argc, char **argv)
{
    int connections = argc == 6 ? atoi(argv[3]) : 0;
    size_t batches, fill;
    struct connection *c;
    int64_t *times, begin, end;

    depth = argc == 6 ? atoi(argv[4]) : 0;
    if (depth < 1 || depth > DEPTH_MOST || connections < 1 || connections > MOST) {
        fputs("usage: load memcached|redis PORT CONNECTIONS DEPTH REQUESTS\n", stderr);
        return 64;
    }
    is_redis = strcmp(argv[1], "redis") == 0;
    memset(value, 'v', VALUE);
    batches = (size_t)atol(argv[5]) / (size_t)depth;
    fill = (KEYS + (size_t)depth - 1) / (size_t)depth;
    c = calloc((size_t)connections, sizeof *c);
    times = calloc(batches + fill, sizeof *times);
    if (!c || !times || batches == 0)
        fail("no requests, or no memory");
    for (int i = 0; i < connections; i++)
        c[i].fd = open_connection((uint16_t)atoi(argv[2]));
    run(c, connections, fill, true, times);
    begin = now_ns();
    run(c, connections, batches, false, times);
    end = now_ns();
    qsort(times, batches, sizeof *times, by_size);
    printf("{\"requests\": %zu, \"seconds\": %.6f, \"per_second\": %.0f, \"p50_ns\": %lld, "
           "\"p99_ns\": %lld}\n",
           batches * (size_t)depth, (double)(end - begin) / 1e9,
           (double)(batches * (size_t)depth) * 1e9 / (double)(end - begin),
           (long long)times[batches / 2], (long long)times[batches - 1 - batches / 100]);
    return 0;
}
