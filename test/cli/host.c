/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A host that exchanges messages: host LOG PORT ping|pong COUNT AHEAD_NS DRIFT_PPB
 *
 * Its CLOCK_REALTIME is ahead by so much and runs faster by so much.  Each event has the time that
 * the clock of the kernel had before it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/emit.h>
#include <trace.h>

static int64_t began, ahead, drift;

static int64_t kernel_time(void)
{
    struct timespec now;

    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Of this program and of the library in it. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int r = (int)syscall(SYS_clock_gettime, clock, now);

    if (r == 0 && clock == CLOCK_REALTIME) {
        int64_t ns = now->tv_sec * INT64_C(1000000000) + now->tv_nsec;

        ns += ahead + (ns - began) / 1000 * drift / 1000000;
        now->tv_sec = ns / 1000000000;
        now->tv_nsec = ns % 1000000000;
    }
    return r;
}

static void must(int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "host: %s: %s\n", what, strerror(error));
    exit(1);
}

static int join(const char *port)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
    int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) != 0 ? errno : 0, "connect");
    must(setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) ? errno : 0, "setsockopt");
    return s;
}

static void send_message(int s, uint64_t id)
{
    POSIXTRACE_EVENT("net:send", id, kernel_time());
    must(send(s, &id, sizeof id, 0) == sizeof id ? 0 : errno, "send");
}

static uint64_t receive_message(int s)
{
    uint64_t id = 0;

    must(recv(s, &id, sizeof id, MSG_WAITALL) == sizeof id ? 0 : EPIPE, "recv");
    POSIXTRACE_EVENT("net:recv", id, kernel_time());
    return id;
}

int main(int argc, char **argv)
{
    trace_attr_t attr;
    trace_id_t trid;
    bool pings;
    int s, fd;

    if (argc != 7)
        return 64;
    began = kernel_time();
    ahead = atoll(argv[5]);
    drift = atoll(argv[6]);
    pings = strcmp(argv[3], "ping") == 0;
    fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(fd < 0 ? errno : 0, argv[1]);
    must(posix_trace_attr_init(&attr), "attr_init");
    must(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
    must(posix_trace_start(trid), "start");
    s = join(argv[2]);
    for (uint64_t i = 0, count = (uint64_t)atoll(argv[4]); i < count; i++) {
        if (pings)
            send_message(s, 2 * i);
        must(receive_message(s) == 2 * i + pings ? 0 : EBADMSG, "a message of another number");
        if (!pings)
            send_message(s, 2 * i + 1);
    }
    close(s);
    must(posix_trace_shutdown(trid), "shutdown");
    return 0;
}
