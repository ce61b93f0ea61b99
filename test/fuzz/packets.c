/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: packets of S.Ha.R.K.'s tracer as they are received, over the loopback
 * address.  An input is a list of datagrams, four bytes each: the sender (or that it is damaged),
 * its number, and how many events it has.
 *
 * For all inputs the result consists of complete packets that were sent, each at most once, and
 * each datagram is in it or was counted.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "fuzz/target.h"
#include "convert/packet_input.h"
#include "common/tool.h"

/* As many as wait in a socket's buffer without any being dropped. */
enum { DATAGRAMS = 80, EVENTS = 8, HEAD = 24, RECORD = 16 };

static unsigned long taken, passed_over;
static uint64_t told;

/* What the tool says begins with a number of packets. */
void tool_note(const char *format, ...)
{
    va_list arguments;
    char text[200];

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    FUZZ_NEED(text[0] >= '1' && text[0] <= '9');
    told += strtoull(text, NULL, 10);
}

void *tool_grow(void *block, size_t count, size_t size)
{
    block = realloc(block, count * size);
    FUZZ_NEED(block);
    return block;
}

static void put_word(uint8_t *at, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t word(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static int open_socket(uint32_t address, const struct sockaddr_in *to)
{
    struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr = { htonl(address) } };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    FUZZ_NEED(fd >= 0 && bind(fd, (struct sockaddr *)&own, sizeof own) == 0);
    FUZZ_NEED(!to || connect(fd, (const struct sockaddr *)to, sizeof *to) == 0);
    return fd;
}

/* The index of the datagram is in its first event, so that it is known again. */
static void send_one(const int *sender, const uint8_t *item, uint32_t index)
{
    uint32_t number = item[1] | (uint32_t)item[2] << 8, events = item[3] % EVENTS + 1;
    uint8_t bytes[HEAD + EVENTS * RECORD + 1] = "TRACER-V1.0";
    size_t size = HEAD + events * RECORD;

    if (number >= 0xff00)
        number |= 0xffff0000u;
    put_word(bytes + 12, number);
    put_word(bytes + 16, events);
    put_word(bytes + 20, (uint32_t)size);
    put_word(bytes + HEAD + 12, index);
    bytes[HEAD] = 9;
    if (item[0] & 0x40)
        bytes[item[0] % HEAD] ^= 0x81;
    if (item[0] & 0x80)
        size = item[0] & 0x20 ? size + 1 : size - (item[0] & 0x1f) % size;
    FUZZ_NEED(send(sender[item[0] % 3], bytes, size, 0) == (ssize_t)size);
}

static uint32_t send_all(const struct sockaddr_in *to, const uint8_t *data, size_t size)
{
    static const uint8_t good[4] = { 0, 5, 0, 0 };
    int sender[3] = { open_socket(INADDR_LOOPBACK, to), open_socket(INADDR_LOOPBACK, to),
                      open_socket(INADDR_LOOPBACK + 1, to) };
    uint32_t sent = 0;

    send_one(sender, good, sent++); /* a packet to wait for */
    for (; size >= 4 && sent < DATAGRAMS; data += 4, size -= 4)
        send_one(sender, data, sent++);
    for (int i = 0; i < 3; i++)
        close(sender[i]);
    return sent;
}

/* All have arrived: each look goes one further. */
static void wait_for_all(int fd, uint32_t sent)
{
    struct timeval watchdog = { 10, 0 };
    uint8_t bytes[HEAD + EVENTS * RECORD + 1];
    int first = 0, off = -1;

    FUZZ_NEED(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &watchdog, sizeof watchdog) == 0);
    FUZZ_NEED(setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &first, sizeof first) == 0);
    for (; sent > 0; sent--)
        FUZZ_NEED(recv(fd, bytes, sizeof bytes, MSG_PEEK) > 0);
    FUZZ_NEED(setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &off, sizeof off) == 0);
}

/* How many there are. */
static uint32_t look(FILE *from, uint32_t sent, bool all)
{
    bool seen[DATAGRAMS] = { false };
    uint8_t bytes[HEAD + EVENTS * RECORD];
    uint32_t count = 0;

    for (; fread(bytes, 1, HEAD, from) == HEAD; count++) {
        uint32_t events = word(bytes + 16), index;

        FUZZ_NEED(memcmp(bytes, "TRACER-V1.0", 12) == 0 && events >= 1 && events <= EVENTS);
        FUZZ_NEED(word(bytes + 20) == HEAD + events * RECORD);
        FUZZ_NEED(fread(bytes + HEAD, RECORD, events, from) == events);
        index = word(bytes + HEAD + 12);
        FUZZ_NEED(index < sent && !seen[index]);
        seen[index] = true;
    }
    FUZZ_NEED(feof(from) && (!all || seen[0]));
    return count;
}

static ssize_t read_packets(void *input, char *to, size_t size)
{
    return packet_input_read(input, to, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct packet_until until = { .idle_ns = 1 };
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    struct packet_input *input;
    uint32_t sent, count;
    int fd = open_socket(INADDR_LOOPBACK, NULL);
    FILE *from;

    if (size && data[0] & 1)
        until.events = data[0];
    FUZZ_NEED(getsockname(fd, (struct sockaddr *)&at, &len) == 0);
    input = packet_input_begin(fd, fd, &until);
    from = fopencookie(input, "r", (cookie_io_functions_t){ .read = read_packets });
    FUZZ_NEED(from);
    sent = send_all(&at, data + !!size, size - !!size);
    wait_for_all(fd, sent);
    count = look(from, sent, !until.events);
    fclose(from);
    told = 0;
    packet_input_end(input);
    FUZZ_NEED(count + told <= sent && (until.events || count + told == sent));
    taken += count;
    passed_over += told;
    close(fd);
    return 0;
}

static void finish(void)
{
    printf("%lu packets taken, %lu passed over\n", taken, passed_over);
    FUZZ_NEED(taken > 0 && passed_over > 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 100, .finish = finish };
