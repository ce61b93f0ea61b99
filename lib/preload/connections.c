/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which two descriptors are the ends of one connection: an event after that of the descriptor,
 * POSIXTRACE_CONNECTION, with a name of this end and one of the other.
 *
 * Of TCP these are the addresses of both ends, which each end knows, and the cookie of the network
 * namespace, in which they are unique.  An address of IPv4 that a socket of IPv6 has is one of
 * IPv4, since its peer has it so.  Of sockets of this machine (AF_UNIX) they are the inodes: that
 * of the peer is known after socketpair(), else the kernel says it (sock_diag(7)).  It says none
 * while the connection waits for accept(), and where it has no unix_diag: then the other end may
 * know, or the connection has no name.
 *
 * Only connections that keep their order and lose nothing.  No lock, no allocation;
 * async-signal-safe.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "preload/address_text.h"
#include "preload/preload.h"
#include "preload/real.h"
#include "preload/real_io.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* Linux 5.14 */
#endif
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

enum { NAME_MAX_BYTES = 64, DIAG_BYTES = 512 };

static void record(int fd, uint32_t kind, uint64_t space, const struct preload_text *own,
                   const struct preload_text *peer)
{
    struct {
        int32_t descriptor;
        uint32_t kind;
        uint64_t space;
        char names[2 * NAME_MAX_BYTES];
    } data = { .descriptor = fd, .kind = kind, .space = space };

    if (own->length >= NAME_MAX_BYTES || peer->length >= NAME_MAX_BYTES)
        return;
    memcpy(data.names, own->at, own->length + 1);
    memcpy(data.names + own->length + 1, peer->at, peer->length + 1);
    posixtrace_system_event(POSIXTRACE_CONNECTION, &data,
                            offsetof(__typeof__(data), names) + own->length + peer->length + 2);
}

static int option(int fd, int name)
{
    int value = 0;
    socklen_t size = sizeof value;

    return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

/* ---- TCP ---- */

/* The number of the thread's network namespace, where the kernel does not say the socket's. */
static uint64_t space_of_thread(void)
{
    char text[64];
    ssize_t length = readlink("/proc/thread-self/ns/net", text, sizeof text);
    uint64_t number = 0;

    for (ssize_t i = 0; i < length; i++)
        if (text[i] >= '0' && text[i] <= '9')
            number = 10 * number + (uint64_t)(text[i] - '0');
    return number;
}

static uint64_t space_of(int fd)
{
    uint64_t cookie = 0;
    socklen_t size = sizeof cookie;

    return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) == 0 ? cookie
                                                                            : space_of_thread();
}

static void unmap(struct sockaddr_storage *a)
{
    const struct sockaddr_in6 *six = (const void *)a;
    struct sockaddr_in four = { .sin_family = AF_INET };

    if (a->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        return;
    four.sin_port = six->sin6_port;
    memcpy(&four.sin_addr, six->sin6_addr.s6_addr + 12, sizeof four.sin_addr);
    memcpy(a, &four, sizeof four);
}

static void record_tcp(int fd, struct sockaddr_storage *peer_address)
{
    struct preload_text own = { .length = 0 }, peer = { .length = 0 };
    struct sockaddr_storage own_address;
    socklen_t size = sizeof own_address;
    int protocol = option(fd, SO_PROTOCOL);

    if ((protocol != IPPROTO_TCP && protocol != IPPROTO_MPTCP) ||
        getsockname(fd, (struct sockaddr *)&own_address, &size) != 0)
        return;
    unmap(&own_address);
    unmap(peer_address);
    preload_text_address(&own, &own_address, size);
    preload_text_address(&peer, peer_address, size);
    record(fd, POSIXTRACE_CONNECTION_TCP, space_of(fd), &own, &peer);
}

/* ---- AF_UNIX ---- */

/* 0: the answer has none. */
static uint64_t peer_in(const void *answer, size_t length)
{
    const struct nlmsghdr *head = answer;
    const struct rtattr *a;
    size_t left, skip = NLMSG_LENGTH(NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
    uint32_t inode = 0;

    if (length < skip || head->nlmsg_type != SOCK_DIAG_BY_FAMILY || head->nlmsg_len > length ||
        head->nlmsg_len < skip)
        return 0;
    a = (const void *)((const char *)answer + skip);
    for (left = head->nlmsg_len - skip; RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) == sizeof inode)
            memcpy(&inode, RTA_DATA(a), sizeof inode);
    return inode;
}

/* A program may close descriptors that it does not know, and then have the number for a file of its
 * own. */
static bool is_still(int fd, const struct stat *known)
{
    struct stat now;

    return fstat(fd, &now) == 0 && now.st_dev == known->st_dev && now.st_ino == known->st_ino;
}

/* By system calls, which are no cancellation points. */
static uint64_t ask(int fd, uint64_t inode)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req request;
    } q = { .head = { .nlmsg_len = sizeof q,
                      .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                      .nlmsg_flags = NLM_F_REQUEST },
            .request = { .sdiag_family = AF_UNIX,
                         .udiag_states = UINT32_MAX,
                         .udiag_ino = (uint32_t)inode,
                         .udiag_show = UDIAG_SHOW_PEER,
                         .udiag_cookie = { UINT32_MAX, UINT32_MAX } } };
    _Alignas(NLMSG_ALIGNTO) char answer[DIAG_BYTES];
    long length = -1;
    struct stat known;

    if (fstat(fd, &known) != 0)
        return 0;
    if (real_syscall(SYS_sendto, fd, &q, sizeof q, 0, NULL, 0) == (long)sizeof q &&
        is_still(fd, &known))
        length = real_syscall(SYS_recvfrom, fd, answer, sizeof answer, MSG_DONTWAIT, NULL, NULL);
    if (is_still(fd, &known))
        real_syscall(SYS_close, fd);
    return length > 0 ? peer_in(answer, (size_t)length) : 0;
}

static uint64_t ask_peer(uint64_t inode)
{
    int fd = inode <= UINT32_MAX ? socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
                                 : -1;

    return fd < 0 ? 0 : ask(fd, inode);
}

static void add_inode(struct preload_text *t, uint64_t inode)
{
    preload_text_add(t, "socket:[", 8);
    preload_text_number(t, inode, 10);
    preload_text_add(t, "]", 1);
}

static void record_unix(int fd, uint64_t inode, uint64_t peer_inode)
{
    struct preload_text own = { .length = 0 }, peer = { .length = 0 };

    if (!peer_inode)
        peer_inode = ask_peer(inode);
    add_inode(&own, inode);
    if (peer_inode)
        add_inode(&peer, peer_inode);
    record(fd, POSIXTRACE_CONNECTION_UNIX, 0, &own, &peer);
}

/* ---- any ---- */

bool preload_connection(int fd, uint64_t inode, uint64_t peer_inode)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    int type = option(fd, SO_TYPE);

    if (!posixtrace_system_wants(POSIXTRACE_CONNECTION, POSIXTRACE_CONNECTION))
        return true;
    if (type != SOCK_STREAM && type != SOCK_SEQPACKET && !peer_inode)
        return true;
    memset(&peer, 0, sizeof peer);
    if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0)
        return errno != ENOTCONN || option(fd, SO_ACCEPTCONN) != 0;
    if (peer.ss_family == AF_UNIX)
        record_unix(fd, inode, peer_inode);
    else if (peer.ss_family == AF_INET || peer.ss_family == AF_INET6)
        record_tcp(fd, &peer);
    return true;
}

/* Both ends are known here for less than later. */
PRELOAD_PUBLIC int socketpair(int domain, int type, int protocol, int ends[2])
{
    int r = real_socketpair(domain, type, protocol, ends);

    if (r == 0 && domain == AF_UNIX &&
        !PRELOAD_OFF(NULL, POSIXTRACE_CONNECTION, POSIXTRACE_CONNECTION))
        preload_descriptor_pair(ends);
    return r;
}
