/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Chunks as UDP packets.  The records of a packet that could not be sent stay in the chunk, and
 * the next packet that is sent has its number.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "compat/shark/shark.h"
#include "compat/shark/shark_send.h"

/* The kernel's sender waits 5 ms with each; a receiver's buffer takes so many. */
#define PACKETS_AT_ONCE 16u
#define PAUSE_NS        1000000
#define ADDRESS_MAX     64u

static int udp = -1;
static struct stat udp_file;
static uint32_t packets; /* sent */

/* "1.2.3.4", "1.2.3.4:5", "::1", "[::1]", "[::1]:5"; port: the default. */
static int look_up(const char *text, const char *port, struct addrinfo **list)
{
    struct addrinfo hints = { .ai_socktype = SOCK_DGRAM,
                              .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
    char address[ADDRESS_MAX], *host = address, *colon;

    if (strlen(text) >= sizeof address)
        return EINVAL;
    strcpy(address, text);
    colon = strrchr(address, ':');
    if (*host == '[') {
        char *end = strchr(++host, ']');

        if (!end || (end[1] && end[1] != ':'))
            return EINVAL;
        colon = end[1] ? end + 1 : NULL;
        *end = '\0';
    } else if (colon && strchr(host, ':') != colon) {
        colon = NULL;
    }
    if (colon) {
        *colon = '\0';
        port = colon + 1;
    }
    if (!*host || !*port || strspn(port, "0123456789") != strlen(port) || strlen(port) > 5)
        return EINVAL;
    return getaddrinfo(host, port, &hints, list) == 0 ? 0 : EINVAL;
}

static int make_socket(const struct addrinfo *local, const struct addrinfo *target, int *fd)
{
    int error = 0;

    *fd = socket(target->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return errno;
    if ((local && bind(*fd, local->ai_addr, local->ai_addrlen) != 0) ||
        connect(*fd, target->ai_addr, target->ai_addrlen) != 0)
        error = errno;
    if (error)
        close(*fd);
    return error;
}

/* A program that closes all descriptors may have a file of its own by that number then. */
static bool is_open(void)
{
    struct stat st;

    return udp >= 0 && fstat(udp, &st) == 0 && st.st_dev == udp_file.st_dev &&
           st.st_ino == udp_file.st_ino;
}

int pt_shark_udp_open(const char *local, const char *target)
{
    struct addrinfo *from = NULL, *to = NULL;
    int fd = -1, error = look_up(target, SHARK_PORT, &to);

    if (!error && *local)
        error = look_up(local, "0", &from);
    if (!error)
        error = make_socket(from, to, &fd);
    if (from)
        freeaddrinfo(from);
    if (to)
        freeaddrinfo(to);
    if (error)
        return error;
    if (is_open())
        close(udp);
    udp = fd;
    fstat(fd, &udp_file);
    packets = 0;
    return 0;
}

/* ECONNREFUSED is news of an earlier packet; this one has not gone out then. */
static int send_packet(const uint8_t *records, uint32_t count, uint32_t *put)
{
    static const struct timespec pause = { 0, PAUSE_NS };
    uint8_t packet[SHARK_PACKET_HEAD + SHARK_PACKET_EVENTS * SHARK_RECORD];
    size_t bytes;
    ssize_t sent;

    memcpy(packet + SHARK_PACKET_HEAD, records, (size_t)count * SHARK_RECORD);
    bytes = pt_shark_packet(packet, packets + 1, count);
    if (!is_open())
        return EBADF;
    do
        sent = send(udp, packet, bytes, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return errno;
    *put = count;
    if (++packets % PACKETS_AT_ONCE == 0)
        nanosleep(&pause, NULL);
    return 0;
}

static int begin_udp(void)
{
    return 0;
}

static int end_udp(int error)
{
    return error;
}

const struct pt_shark_way pt_shark_udp = { SHARK_PACKET_EVENTS, begin_udp, send_packet, end_udp };
