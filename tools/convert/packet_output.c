/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See packet_output.h. */
#include "convert/packet_output.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/tool.h"

/* A receiver's buffer takes so many; then it gets time to read them. */
enum { HEAD = 24, PACKET = HEAD + 60 * 16, PACKETS_AT_ONCE = 16, PAUSE_NS = 1000000 };

struct packet_output {
    int fd;
    unsigned sent;
    size_t have;
    uint8_t bytes[PACKET];
};

/* Bytes of the packet that is begun; 0: no packet is like that. */
static size_t whole(const struct packet_output *p)
{
    const uint8_t *at = p->bytes + 20;
    size_t size = HEAD;

    if (p->have >= HEAD)
        size = at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
    return size >= HEAD && size <= PACKET ? size : 0;
}

static int send_packet(struct packet_output *p)
{
    static const struct timespec pause = { 0, PAUSE_NS };
    ssize_t sent;

    do
        sent = send(p->fd, p->bytes, p->have, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    p->have = 0;
    if (sent >= 0 && ++p->sent % PACKETS_AT_ONCE == 0)
        nanosleep(&pause, NULL);
    return sent < 0 ? -1 : 0;
}

ssize_t packet_output_write(void *output, const void *bytes, size_t size)
{
    struct packet_output *p = output;
    const uint8_t *from = bytes;

    for (size_t left = size, n; left > 0; from += n, left -= n) {
        size_t size_now = whole(p);

        if (size_now == 0) {
            errno = EINVAL;
            return -1;
        }
        n = size_now - p->have < left ? size_now - p->have : left;
        memcpy(p->bytes + p->have, from, n);
        p->have += n;
        if (p->have >= HEAD && p->have == whole(p) && send_packet(p) != 0)
            return -1;
    }
    return (ssize_t)size;
}

struct packet_output *packet_output_begin(int fd)
{
    struct packet_output *p = tool_grow(NULL, 1, sizeof *p);

    memset(p, 0, sizeof *p);
    p->fd = fd;
    return p;
}

void packet_output_end(struct packet_output *output)
{
    close(output->fd);
    free(output);
}
