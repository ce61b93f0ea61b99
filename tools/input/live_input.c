/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See live_input.h. */
#include "input/live_input.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/log_file.h"
#include "common/tool.h"

enum kind { FILES, CONNECT, LISTEN, PACKETS, SEND };

static const struct {
    const char *word, *fails;
} kinds[] = { [FILES] = { "", "" },
              [CONNECT] = { "tcp:", "connect to" },
              [LISTEN] = { "tcp-listen:", "wait at" },
              [PACKETS] = { "udp:", "receive at" },
              [SEND] = { "udp:", "send to" } };

static int watched = -1, nothing = -1;
static struct sigaction before_int, before_term;

/* "HOST:PORT" or "[HOST]:PORT" in two, in a copy; host NULL: there is none. */
static bool split(char *address, char **host, char **port)
{
    char *colon = strrchr(address, ':');

    *host = colon ? address : NULL;
    *port = colon ? colon + 1 : address;
    if (colon)
        *colon = '\0';
    if (*host && (*host)[0] == '[' && (*host)[strlen(*host) - 1] == ']') {
        (*host)[strlen(*host) - 1] = '\0';
        ++*host;
    }
    return **port && strspn(*port, "0123456789") == strlen(*port) && strlen(*port) < 6;
}

/* Where the system has put us: port 0 is any that is free. */
static void tell(int fd, enum kind kind)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
        getnameinfo((struct sockaddr *)&address, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        tool_note("waiting for %s %s, port %s", kind == LISTEN ? "a connection to" : "packets to",
                  host, port);
}

/* One connection; later ones are refused. */
static int accept_one(int fd)
{
    int got;

    tell(fd, LISTEN);
    do
        got = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    while (got < 0 && (errno == ECONNABORTED || errno == EAGAIN));
    return got;
}

static int try_address(const struct addrinfo *a, enum kind kind)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol), got, on = 1;
    int error;

    if (fd < 0)
        return -1;
    if ((kind == CONNECT || kind == SEND) && connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    if (kind == PACKETS && bind(fd, a->ai_addr, a->ai_addrlen) == 0) {
        tell(fd, kind);
        return fd;
    }
    got = -1;
    if (kind == LISTEN && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, 1) == 0)
        got = accept_one(fd);
    error = errno;
    close(fd);
    errno = error;
    return got;
}

static int open_connection(const char *path, char *address, enum kind kind)
{
    struct addrinfo hints = { .ai_socktype = kind >= PACKETS ? SOCK_DGRAM : SOCK_STREAM };
    struct addrinfo *list, *a;
    char *host, *port;
    int fd = -1, error;

    bool away = kind == CONNECT || kind == SEND;

    if (!split(address, &host, &port) || (!host && away)) {
        tool_error("%s: a connection is tcp:HOST:PORT, tcp-listen:[HOST:]PORT or udp:%s, with a "
                   "number as port",
                   quote(path), kind == SEND ? "HOST:PORT" : "[HOST:]PORT");
        return -1;
    }
    hints.ai_flags = AI_NUMERICSERV | (!away && host ? AI_PASSIVE : 0);
    if (!host)
        hints.ai_family = AF_INET;
    error = getaddrinfo(host && strcmp(host, "*") == 0 ? NULL : host, port, &hints, &list);
    if (error) {
        tool_error("%s: %s", quote(path), gai_strerror(error));
        return -1;
    }
    for (a = list; a && fd < 0; a = a->ai_next)
        fd = try_address(a, kind);
    if (fd < 0)
        tool_error("cannot %s %s: %s", kinds[kind].fails, quote(path), strerror(errno));
    freeaddrinfo(list);
    return fd;
}

static enum kind kind_of(const char *path)
{
    enum kind kind = PACKETS;

    while (kind != FILES && strncmp(path, kinds[kind].word, strlen(kinds[kind].word)) != 0)
        kind--;
    return kind;
}

bool live_input_is_udp(const char *path)
{
    return kind_of(path) == PACKETS;
}

static int open_address(const char *path, enum kind kind)
{
    char *address = tool_grow(NULL, strlen(path) + 1, 1);
    int fd;

    strcpy(address, strchr(path, ':') + 1);
    fd = open_connection(path, address, kind);
    free(address);
    return fd;
}

int live_input_open(const char *path)
{
    enum kind kind = kind_of(path);

    return kind == FILES ? log_file_descriptor(path, O_RDONLY) : open_address(path, kind);
}

int live_output_open(const char *path)
{
    return open_address(path, SEND);
}

/* A read that is under way then is interrupted; later reads find the end of the input. */
static void end_input(int signal_number)
{
    int error = errno;

    dup2(nothing, watched);
    sigaction(signal_number, signal_number == SIGINT ? &before_int : &before_term, NULL);
    errno = error;
}

/* A signal that is ignored (nohup) stays so. */
static void watch_signal(int number, const struct sigaction *action, struct sigaction *before)
{
    if (sigaction(number, NULL, before) == 0 && before->sa_handler != SIG_IGN)
        sigaction(number, action, NULL);
}

void live_input_watch(int fd)
{
    struct sigaction action = { .sa_handler = end_input };
    struct stat st;

    if (fstat(fd, &st) != 0 || S_ISREG(st.st_mode))
        return;
    nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0)
        return;
    watched = fd;
    sigemptyset(&action.sa_mask);
    watch_signal(SIGINT, &action, &before_int);
    watch_signal(SIGTERM, &action, &before_term);
}
