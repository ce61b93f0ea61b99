/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/shark.h: the UDP sender, on the loopback address. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include "shark_bench.h"

enum { HEAD = 24, MOST = 60 };

struct receiver {
    int fd;
    uint16_t port;
    char address[32];
};

static struct receiver listen_at_any(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    struct timeval watchdog = { TH_WATCHDOG_S, 0 };
    socklen_t len = sizeof at;
    struct receiver r;

    r.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(r.fd, 0);
    ck_ok(setsockopt(r.fd, SOL_SOCKET, SO_RCVTIMEO, &watchdog, sizeof watchdog));
    ck_ok(bind(r.fd, (struct sockaddr *)&at, sizeof at));
    ck_ok(getsockname(r.fd, (struct sockaddr *)&at, &len));
    r.port = ntohs(at.sin_port);
    snprintf(r.address, sizeof r.address, "127.0.0.1:%u", r.port);
    return r;
}

static uint32_t word(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The next packet has that number and holds ipoints from first on. */
static void expect_packet(const struct receiver *r, uint32_t number, uint32_t first, uint32_t n)
{
    unsigned char packet[2000];
    ssize_t got = recv(r->fd, packet, sizeof packet, 0);

    ck_assert_int_eq(got, (int)(HEAD + n * 16));
    ck_ok(memcmp(packet, "TRACER-V1.0", 12));
    ck_assert_uint_eq(word(packet + 12), number);
    ck_assert_uint_eq(word(packet + 16), n);
    ck_assert_uint_eq(word(packet + 20), (uint32_t)got);
    sb_expect(sb_decode(packet + HEAD, n * 16), first, n);
}

static void expect_silence(const struct receiver *r)
{
    char byte;

    ck_assert_int_eq(recv(r->fd, &byte, 1, MSG_DONTWAIT), -1);
    ck_assert_int_eq(errno, EAGAIN);
}

START_TEST(packets)
{
    struct receiver r = listen_at_any();
    int a = sb_chunk(1000, 0, FREE | STOP), b = sb_chunk(1000, 0, FREE | STOP);

    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    sb_log(0, 2 * MOST + 5);
    ck_ok(FTrace_actual_chunk_select(b));
    sb_log(500, MOST);
    ck_ok(FTrace_OSD_init_udp(1, "127.0.0.1", r.address));
    ck_ok(FTrace_send_chunk(a, 0, FREE | STOP));
    expect_packet(&r, 1, 0, MOST);
    expect_packet(&r, 2, MOST, MOST);
    expect_packet(&r, 3, 2 * MOST, 5);
    ck_ok(FTrace_send_chunk(b, 0, FREE | STOP));
    expect_packet(&r, 4, 500, MOST);
    ck_ok(FTrace_send_chunk(b, 0, FREE | STOP)); /* an empty one: no packet */
    expect_silence(&r);
    sb_log(9, 1);
    ck_ok(FTrace_OSD_init_udp(0, NULL, r.address)); /* from 1 again */
    ck_ok(FTrace_send_chunk(b, 0, FREE | STOP));
    expect_packet(&r, 1, 9, 1);
    close(r.fd);
    sb_clear();
}
END_TEST

/* The error of a missing receiver comes one or more packets later.  The events of the packet that
 * was not sent then stay in the chunk. */
START_TEST(nobody_there)
{
    struct receiver gone = listen_at_any(), r = listen_at_any();
    int a = sb_chunk(1000, 0, FREE | STOP), sent;
    uint32_t at = 0;

    close(gone.fd);
    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    ck_ok(FTrace_OSD_init_udp(1, "", gone.address));
    do {
        sb_log(at, MOST);
        at += MOST;
        sent = FTrace_send_chunk(a, 0, FREE | STOP);
    } while (sent == 0);
    ck_assert_int_eq(errno, ECONNREFUSED);
    ck_assert_uint_gt(at, MOST);
    ck_assert_uint_eq(sb_look(a).events, MOST);
    sb_log(at, 1);
    ck_ok(FTrace_OSD_init_udp(1, "", r.address));
    ck_ok(FTrace_send_chunk(a, 0, FREE | STOP));
    expect_packet(&r, 1, at - MOST, MOST);
    expect_packet(&r, 2, at, 1);
    expect_silence(&r);
    close(r.fd);
    sb_clear();
}
END_TEST

/* What could not be sent goes to the files that are initialised next. */
START_TEST(files_instead)
{
    struct receiver gone = listen_at_any();
    int a = sb_chunk(1000, 0, FREE | STOP), b = sb_chunk(1000, 0, FREE | STOP), sent;
    uint32_t at = 0;

    close(gone.fd);
    ck_ok(FTrace_actual_chunk_select(b));
    FTrace_enable();
    sb_log(5000, 2);
    ck_ok(FTrace_actual_chunk_select(a));
    ck_ok(FTrace_OSD_init_udp(1, "", gone.address));
    do {
        sb_log(at++, 1);
        sent = FTrace_send_chunk(a, 0, FREE | STOP);
    } while (sent == 0);
    sb_log(at, 100);
    sb_expect(sb_send(b, STOP), 5000, 2);
    sb_expect(sb_send(a, STOP), at - 1, 101);
    sb_clear();
}
END_TEST

static int lowest_free(void)
{
    int fd = dup(STDERR_FILENO);

    close(fd);
    return fd;
}

/* The program has closed the sender's descriptor, and has a socket of its own by that number. */
START_TEST(closed)
{
    int a = sb_chunk(1000, 0, FREE | STOP), udp, own[2];
    struct receiver r = listen_at_any();

    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    sb_log(0, 5);
    udp = lowest_free();
    ck_ok(FTrace_OSD_init_udp(1, "", r.address));
    ck_ok(close(udp));
    ck_ok(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, own));
    ck_assert_int_eq(own[0], udp);
    ck_errno(FTrace_send_chunk(a, 0, FREE | STOP), EBADF);
    expect_silence(&(struct receiver){ .fd = own[1] });
    ck_ok(FTrace_OSD_init_udp(1, "", r.address));
    ck_ok(FTrace_send_chunk(a, 0, FREE | STOP));
    expect_packet(&r, 1, 0, 5);
    ck_assert_int_eq(send(own[0], "x", 1, 0), 1);
    close(own[0]);
    close(own[1]);
    close(r.fd);
    sb_clear();
}
END_TEST

START_TEST(addresses)
{
    static const char *const bad[] = {
        "",
        "x",
        "1.2.3.x",
        "1.2.3.4.5",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:123456",
        "127.0.0.1:-1",
        ":20000",
        "[",
        "[]",
        "[::1",
        "[::1]x",
        "[::1]:",
        "localhost",
        "::1::2",
        "00000000000000000000000000000000000000000000000000000000000000000000000000000001"
    };

    for (size_t i = 0; i < TH_COUNT(bad); i++) {
        ck_errno(FTrace_OSD_init_udp(1, NULL, bad[i]), EINVAL);
        if (*bad[i])
            ck_errno(FTrace_OSD_init_udp(1, bad[i], "127.0.0.1"), EINVAL);
    }
    ck_errno(FTrace_OSD_init_udp(1, "127.0.0.1", NULL), EINVAL);
    ck_errno(FTrace_OSD_init_udp(1, "192.0.2.1", "127.0.0.1"), EADDRNOTAVAIL);
    ck_ok(FTrace_OSD_init_udp(1, NULL, "127.0.0.1"));
    ck_ok(FTrace_OSD_init_udp(1, "127.0.0.1:0", "127.0.0.1:1"));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, packets);
    tcase_add_test(tc, nobody_there);
    tcase_add_test(tc, closed);
    tcase_add_test(tc, addresses);
    tcase_add_test(tc, files_instead);
}

int main(void)
{
    return th_main("shark udp", add);
}
