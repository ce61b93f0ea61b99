/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The ends of connections: each is recorded with the name that the other end has for it, by any
 * process that has the descriptor; and which descriptors ended a wait for work.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "scene.h"
#include "support/valgrind.h"

enum { A = 100, B, C, D, E, LAST };

static void put(int fd, int at)
{
    if (fd < 0 || dup2(fd, at) != at || close(fd) != 0)
        abort();
}

static void name_all(void)
{
    static const char *const names[] = { "A", "B", "C", "D", "E" };

    for (int fd = A; fd < LAST; fd++)
        scene_name((void *)(intptr_t)fd, names[fd - A]);
}

static void move_byte(int from, int to)
{
    char c = 'x';

    if (write(from, &c, 1) != 1 || read(to, &c, 1) != 1)
        abort();
}

#define ck_connections(...)                          \
    do {                                             \
        char text[4096];                             \
                                                     \
        snprintf(text, sizeof text, __VA_ARGS__);    \
        ck_assert_str_eq(scene_connections(), text); \
    } while (0)

static unsigned long inode_of(int fd)
{
    struct stat status;

    ck_ok(fstat(fd, &status));
    return (unsigned long)status.st_ino;
}

/* A listens, B is connected to it.  family: of A. */
static unsigned connect_tcp(int family, unsigned *client)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT };
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_storage own;
    socklen_t size = sizeof own;

    put(socket(family, SOCK_STREAM, 0), A);
    ck_ok(family == AF_INET6 ? bind(A, (struct sockaddr *)&six, sizeof six)
                             : bind(A, (struct sockaddr *)&in, sizeof in));
    ck_ok(listen(A, 1));
    ck_ok(getsockname(A, (struct sockaddr *)&own, &size));
    in.sin_port = ((struct sockaddr_in *)&own)->sin_port; /* where IPv6 has it, too */
    put(socket(AF_INET, SOCK_STREAM, 0), B);
    ck_ok(connect(B, (struct sockaddr *)&in, sizeof in));
    size = sizeof own;
    ck_ok(getsockname(B, (struct sockaddr *)&own, &size));
    *client = ntohs(((struct sockaddr_in *)&own)->sin_port);
    return ntohs(in.sin_port);
}

/* Addresses of IPv4 in IPv6 are those of IPv4, as the peer has them. */
START_TEST(tcp)
{
    unsigned server, client;
    trace_id_t trid;

    name_all();
    server = connect_tcp(_i ? AF_INET6 : AF_INET, &client);
    put(accept(A, NULL, NULL), C);
    trid = scene_begin();
    for (int i = 0; i < 3; i++)
        move_byte(B, C);
    scene_end(trid);
    ck_connections("connection B tcp 127.0.0.1:%u 127.0.0.1:%u, "
                   "connection C tcp 127.0.0.1:%u 127.0.0.1:%u",
                   client, server, server, client);
}
END_TEST

/* The call after connect() names both ends, and so does the first one after accept(). */
START_TEST(tcp_connects)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof in;
    trace_id_t trid;
    int more;

    name_all();
    put(socket(AF_INET, SOCK_STREAM, 0), A);
    ck_ok(bind(A, (struct sockaddr *)&in, sizeof in));
    ck_ok(listen(A, 1));
    ck_ok(getsockname(A, (struct sockaddr *)&in, &size));
    put(socket(AF_INET, SOCK_STREAM, 0), B);
    trid = scene_begin();
    scene_note_errno((int)recv(B, &more, 1, MSG_DONTWAIT));
    scene_note_errno(connect(B, (struct sockaddr *)&in, sizeof in));
    scene_note_errno((int)recv(B, &more, 1, MSG_DONTWAIT));
    more = accept(A, NULL, NULL);
    scene_note_errno((int)recv(more, &more, 1, MSG_DONTWAIT));
    scene_end(trid);
    ck_results("ENOTCONN 0 EAGAIN EAGAIN");
    ck_assert_ptr_nonnull(strstr(scene_connections(), "connection B tcp 127.0.0.1:"));
    ck_assert_ptr_nonnull(strstr(scene_connections(), ", connection ? tcp 127.0.0.1:"));
}
END_TEST

/* Does the kernel answer questions about sockets of this machine? */
static bool has_diag(void)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req request;
    } q = { .head = { .nlmsg_len = sizeof q,
                      .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                      .nlmsg_flags = NLM_F_REQUEST },
            .request = { .sdiag_family = AF_UNIX,
                         .udiag_states = UINT32_MAX,
                         .udiag_ino = (uint32_t)inode_of(B),
                         .udiag_cookie = { UINT32_MAX, UINT32_MAX } } };
    struct {
        struct nlmsghdr head;
        char data[1024];
    } answer = { .head.nlmsg_type = NLMSG_ERROR };
    int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
    bool has = fd >= 0 && send(fd, &q, sizeof q, 0) == (ssize_t)sizeof q &&
               recv(fd, &answer, sizeof answer, 0) > 0 &&
               answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY;

    close(fd);
    return has;
}

/* Until it is accepted a connection has one end; that one has no name for the other. */
START_TEST(unix_sockets)
{
    struct sockaddr_un un = { .sun_family = AF_UNIX };
    unsigned long server, client;
    socklen_t size;
    trace_id_t trid;
    char c = 'x';

    name_all();
    snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "posixtrace-test-%d", (int)getpid());
    size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(un.sun_path + 1));
    put(socket(AF_UNIX, SOCK_STREAM, 0), A);
    ck_ok(bind(A, (struct sockaddr *)&un, size));
    ck_ok(listen(A, 1));
    put(socket(AF_UNIX, SOCK_STREAM, 0), B);
    ck_ok(connect(B, (struct sockaddr *)&un, size));
    if (!has_diag())
        return;
    trid = scene_begin();
    scene_note((int)write(B, &c, 1));
    put(accept(A, NULL, NULL), C);
    scene_note((int)read(C, &c, 1));
    scene_end(trid);
    client = inode_of(B);
    server = inode_of(C);
    ck_connections("connection B unix socket:[%lu] , "
                   "connection C unix socket:[%lu] socket:[%lu]",
                   client, server, client);
}
END_TEST

static void run_child(void (*does)(void))
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        does();
        kill(getpid(), SIGKILL);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
        abort();
}

static void send_back(void)
{
    move_byte(B, A);
}

/* Both ends at once, without a call on them; in a child, which asks, too. */
START_TEST(pairs)
{
    static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };
    unsigned long a, b;
    trace_id_t trid;
    int two[2];

    name_all();
    trid = scene_begin();
    ck_ok(socketpair(AF_UNIX, types[_i], 0, two));
    scene_end(trid);
    a = inode_of(two[0]);
    b = inode_of(two[1]);
    ck_connections("connection ? unix socket:[%lu] socket:[%lu], "
                   "connection ? unix socket:[%lu] socket:[%lu]",
                   a, b, b, a);
    put(two[0], A);
    put(two[1], B);
    if (types[_i] == SOCK_DGRAM || !has_diag())
        return;
    trid = scene_begin();
    run_child(send_back);
    scene_end(trid);
    ck_connections("connection B unix socket:[%lu] socket:[%lu], "
                   "connection A unix socket:[%lu] socket:[%lu]",
                   b, a, a, b);
}
END_TEST

/* Datagrams are no connection: others may send them, and they may be lost. */
START_TEST(datagrams)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof in;
    trace_id_t trid;

    name_all();
    put(socket(AF_INET, SOCK_DGRAM, 0), A);
    ck_ok(bind(A, (struct sockaddr *)&in, sizeof in));
    ck_ok(getsockname(A, (struct sockaddr *)&in, &size));
    put(socket(AF_INET, SOCK_DGRAM, 0), B);
    ck_ok(connect(B, (struct sockaddr *)&in, sizeof in));
    trid = scene_begin();
    move_byte(B, A);
    scene_end(trid);
    ck_connections("%s", "");
}
END_TEST

static struct pollfd *volatile nowhere = (struct pollfd *)8;

static void make_pipes(void)
{
    int two[2];

    ck_ok(pipe(two));
    put(two[0], A);
    put(two[1], B);
    ck_ok(pipe(two));
    put(two[0], C);
    put(two[1], D);
}

/* Which are ready, with the result; a call that finds nothing, or fails, says nothing. */
START_TEST(ready_polls)
{
    struct pollfd fds[] = { { A, POLLIN, 0 }, { C, POLLIN, 0 }, { D, POLLOUT, 0 } };
    struct timeval now = { 0, 0 };
    fd_set in, out;
    trace_id_t trid;

    name_all();
    make_pipes();
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(C, &in);
    FD_SET(A, &in);
    FD_SET(D, &out);
    trid = scene_begin();
    scene_note(poll(fds, 2, 0));
    scene_note((int)write(D, "x", 1));
    scene_note(poll(fds, 3, 0));
    scene_note(select(LAST, &in, &out, NULL, &now));
    scene_note_errno(poll(nowhere, 1, 0));
    scene_end(trid);
    ck_results("0 EPERM ENOENT ENOENT EFAULT"); /* 0, 1, 2, 2 */
    ck_connections("ready - 2 C in D out, ready - 2 C in D out");
}
END_TEST

/* One descriptor in two sets counts once. */
START_TEST(ready_select)
{
    struct timeval now = { 0, 0 };
    fd_set in, out;
    trace_id_t trid;
    int two[2];

    name_all();
    ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, two));
    put(two[0], A);
    put(two[1], B);
    ck_assert(write(B, "x", 1) == 1);
    FD_ZERO(&in);
    FD_SET(A, &in);
    out = in;
    trid = scene_begin();
    scene_note(select(LAST, &in, &out, NULL, &now));
    scene_end(trid);
    ck_assert_ptr_nonnull(strstr(scene_connections(), "ready - 1 A in out"));
}
END_TEST

START_TEST(ready_epoll)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = A }, found[4];
    trace_id_t trid;

    name_all();
    make_pipes();
    put(epoll_create1(0), E);
    trid = scene_begin();
    scene_note(epoll_ctl(E, EPOLL_CTL_ADD, A, &event));
    scene_note_errno(epoll_ctl(E, EPOLL_CTL_ADD, A, &event));
    event.data.u64 = B;
    scene_note(epoll_ctl(E, EPOLL_CTL_MOD, A, &event));
    scene_note((int)write(B, "x", 1));
    scene_note(epoll_wait(E, found, 4, 0));
    scene_note(epoll_ctl(E, EPOLL_CTL_DEL, A, NULL));
    scene_note(epoll_wait(E, found, 4, 0));
    scene_end(trid);
    ck_results("0 EEXIST 0 EPERM EPERM 0 0"); /* EPERM: 1 */
    ck_connections("epoll_set E add A A, epoll_set E mod A B, ready E 1 B in, "
                   "epoll_set E del A -");
}
END_TEST

/* Of many the first ones, and how many there were. */
START_TEST(ready_many)
{
    enum { MANY = POSIXTRACE_READY_MAX + 5 };
    struct pollfd fds[MANY];
    const char *ready;
    unsigned listed = 0;
    trace_id_t trid;

    name_all();
    make_pipes();
    for (int i = 0; i < MANY; i++)
        fds[i] = (struct pollfd){ B, POLLOUT, 0 };
    trid = scene_begin();
    scene_note(poll(fds, MANY, 0));
    scene_end(trid);
    ready = strstr(scene_connections(), "ready - ");
    ck_assert_ptr_nonnull(ready);
    ck_assert_int_eq(atoi(ready + 8), MANY);
    for (const char *at = ready; (at = strstr(at, " B out")); at++)
        listed++;
    ck_assert_uint_eq(listed, POSIXTRACE_READY_MAX);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, tcp, 0, 2);
    tcase_add_test(tc, tcp_connects);
    tcase_add_test(tc, unix_sockets);
    tcase_add_loop_test(tc, pairs, 0, 3);
    tcase_add_test(tc, datagrams);
    tcase_add_test(tc, ready_polls);
    tcase_add_test(tc, ready_select);
    tcase_add_test(tc, ready_epoll);
    tcase_add_test(tc, ready_many);
}

int main(void)
{
    if (is_under_valgrind())
        return TEST_SKIPPED;
    return th_main("preload connections", add);
}
