/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The wrapped functions of the C library that use descriptors; as in real.h each is called through
 * a pointer.  All return -1 and set errno where they fail.
 *
 * I: type, call, name, parameters, arguments; the call is on descriptor a.
 * W: a wait for work.  call, name, parameters, arguments, descriptor, count, time-out.
 *
 * A call is the word after POSIXTRACE_CALL_.  Its other names are those of programs that were
 * compiled for large files or with _FORTIFY_SOURCE, and those that the C library exports with two
 * underscores.  Names that older C libraries do not have come last (real.c).
 */
#ifndef PRELOAD_REAL_IO_H
#define PRELOAD_REAL_IO_H

#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The types of the C library's declarations. */
#define REAL_ADDRESS       __SOCKADDR_ARG
#define REAL_CONST_ADDRESS __CONST_SOCKADDR_ARG

/* clang-format off */
#define REAL_IO_FILES(I)                                                                        \
    I(ssize_t, READ, read, (int a, void *b, size_t c), (a, b, c))                               \
    I(ssize_t, READ, __read, (int a, void *b, size_t c), (a, b, c))                             \
    I(ssize_t, READ, __read_chk, (int a, void *b, size_t c, size_t d), (a, b, c, d))            \
    I(ssize_t, WRITE, write, (int a, const void *b, size_t c), (a, b, c))                       \
    I(ssize_t, WRITE, __write, (int a, const void *b, size_t c), (a, b, c))                     \
    I(ssize_t, PREAD, pread, (int a, void *b, size_t c, off_t d), (a, b, c, d))                 \
    I(ssize_t, PREAD, pread64, (int a, void *b, size_t c, off64_t d), (a, b, c, d))             \
    I(ssize_t, PREAD, __pread64, (int a, void *b, size_t c, off64_t d), (a, b, c, d))           \
    I(ssize_t, PREAD, __pread_chk, (int a, void *b, size_t c, off_t d, size_t e),               \
      (a, b, c, d, e))                                                                          \
    I(ssize_t, PREAD, __pread64_chk, (int a, void *b, size_t c, off64_t d, size_t e),           \
      (a, b, c, d, e))                                                                          \
    I(ssize_t, PWRITE, pwrite, (int a, const void *b, size_t c, off_t d), (a, b, c, d))         \
    I(ssize_t, PWRITE, pwrite64, (int a, const void *b, size_t c, off64_t d), (a, b, c, d))     \
    I(ssize_t, PWRITE, __pwrite64, (int a, const void *b, size_t c, off64_t d), (a, b, c, d))   \
    I(ssize_t, READV, readv, (int a, const struct iovec *b, int c), (a, b, c))                  \
    I(ssize_t, WRITEV, writev, (int a, const struct iovec *b, int c), (a, b, c))                \
    I(ssize_t, PREADV, preadv, (int a, const struct iovec *b, int c, off_t d), (a, b, c, d))    \
    I(ssize_t, PREADV, preadv64, (int a, const struct iovec *b, int c, off64_t d),              \
      (a, b, c, d))                                                                             \
    I(ssize_t, PWRITEV, pwritev, (int a, const struct iovec *b, int c, off_t d), (a, b, c, d))  \
    I(ssize_t, PWRITEV, pwritev64, (int a, const struct iovec *b, int c, off64_t d),            \
      (a, b, c, d))                                                                             \
    I(int, FTRUNCATE, ftruncate, (int a, off_t b), (a, b))                                      \
    I(int, FTRUNCATE, ftruncate64, (int a, off64_t b), (a, b))                                  \
    I(int, FALLOCATE, fallocate, (int a, int b, off_t c, off_t d), (a, b, c, d))                \
    I(int, FALLOCATE, fallocate64, (int a, int b, off64_t c, off64_t d), (a, b, c, d))          \
    I(int, FSYNC, fsync, (int a), (a))                                                          \
    I(int, FDATASYNC, fdatasync, (int a), (a))                                                  \
    I(int, SYNC_FILE_RANGE, sync_file_range, (int a, off64_t b, off64_t c, unsigned d),         \
      (a, b, c, d))                                                                             \
    I(ssize_t, SENDFILE, sendfile, (int a, int b, off_t *c, size_t d), (a, b, c, d))            \
    I(ssize_t, SENDFILE, sendfile64, (int a, int b, off64_t *c, size_t d), (a, b, c, d))        \
    I(ssize_t, SPLICE, splice,                                                                  \
      (int a, off64_t *b, int c, off64_t *d, size_t e, unsigned f), (a, b, c, d, e, f))         \
    I(ssize_t, TEE, tee, (int a, int b, size_t c, unsigned d), (a, b, c, d))                    \
    I(ssize_t, VMSPLICE, vmsplice, (int a, const struct iovec *b, size_t c, unsigned d),        \
      (a, b, c, d))

#define REAL_IO_SOCKETS(I)                                                                      \
    I(ssize_t, RECV, recv, (int a, void *b, size_t c, int d), (a, b, c, d))                     \
    I(ssize_t, RECV, __recv_chk, (int a, void *b, size_t c, size_t d, int e), (a, b, c, d, e))  \
    I(ssize_t, SEND, send, (int a, const void *b, size_t c, int d), (a, b, c, d))               \
    I(ssize_t, SEND, __send, (int a, const void *b, size_t c, int d), (a, b, c, d))             \
    I(ssize_t, RECVFROM, recvfrom,                                                              \
      (int a, void *restrict b, size_t c, int d, REAL_ADDRESS e, socklen_t *restrict f),        \
      (a, b, c, d, e, f))                                                                       \
    I(ssize_t, RECVFROM, __recvfrom_chk,                                                        \
      (int a, void *restrict b, size_t c, size_t d, int e, REAL_ADDRESS f,                      \
       socklen_t *restrict g), (a, b, c, d, e, f, g))                                           \
    I(ssize_t, SENDTO, sendto,                                                                  \
      (int a, const void *b, size_t c, int d, REAL_CONST_ADDRESS e, socklen_t f),               \
      (a, b, c, d, e, f))                                                                       \
    I(ssize_t, RECVMSG, recvmsg, (int a, struct msghdr *b, int c), (a, b, c))                   \
    I(ssize_t, SENDMSG, sendmsg, (int a, const struct msghdr *b, int c), (a, b, c))             \
    I(int, RECVMMSG, recvmmsg,                                                                  \
      (int a, struct mmsghdr *b, unsigned c, int d, struct timespec *e), (a, b, c, d, e))       \
    I(int, SENDMMSG, sendmmsg, (int a, struct mmsghdr *b, unsigned c, int d), (a, b, c, d))     \
    I(int, ACCEPT, accept, (int a, REAL_ADDRESS b, socklen_t *restrict c), (a, b, c))           \
    I(int, ACCEPT4, accept4, (int a, REAL_ADDRESS b, socklen_t *restrict c, int d),             \
      (a, b, c, d))                                                                             \
    I(int, CONNECT, connect, (int a, REAL_CONST_ADDRESS b, socklen_t c), (a, b, c))             \
    I(int, CONNECT, __connect, (int a, REAL_CONST_ADDRESS b, socklen_t c), (a, b, c))

#define REAL_IO_NEWER(I)                                                                        \
    I(int, SYNCFS, syncfs, (int a), (a))                                                        \
    I(ssize_t, PREADV2, preadv2, (int a, const struct iovec *b, int c, off_t d, int e),         \
      (a, b, c, d, e))                                                                          \
    I(ssize_t, PREADV2, preadv64v2, (int a, const struct iovec *b, int c, off64_t d, int e),    \
      (a, b, c, d, e))                                                                          \
    I(ssize_t, PWRITEV2, pwritev2, (int a, const struct iovec *b, int c, off_t d, int e),       \
      (a, b, c, d, e))                                                                          \
    I(ssize_t, PWRITEV2, pwritev64v2, (int a, const struct iovec *b, int c, off64_t d, int e),  \
      (a, b, c, d, e))                                                                          \
    I(ssize_t, COPY_FILE_RANGE, copy_file_range,                                                \
      (int a, off64_t *b, int c, off64_t *d, size_t e, unsigned f), (a, b, c, d, e, f))

#define REAL_IO_QUEUES(I)                                                                       \
    I(ssize_t, MQ_RECEIVE, mq_receive, (mqd_t a, char *b, size_t c, unsigned *d), (a, b, c, d)) \
    I(ssize_t, MQ_TIMEDRECEIVE, mq_timedreceive,                                                \
      (mqd_t a, char *restrict b, size_t c, unsigned *restrict d,                               \
       const struct timespec *restrict e), (a, b, c, d, e))                                     \
    I(int, MQ_SEND, mq_send, (mqd_t a, const char *b, size_t c, unsigned d), (a, b, c, d))      \
    I(int, MQ_TIMEDSEND, mq_timedsend,                                                          \
      (mqd_t a, const char *b, size_t c, unsigned d, const struct timespec *e),                 \
      (a, b, c, d, e))

/* Number in the place of the descriptor, as below. */
#define REAL_PATH(N)                                                                            \
    N(int, OPEN, __open_2, (const char *a, int b), (a, b), -1)                                  \
    N(int, OPEN, __open64_2, (const char *a, int b), (a, b), -1)                                \
    N(int, OPENAT, __openat_2, (int a, const char *b, int c), (a, b, c), -1)                    \
    N(int, OPENAT, __openat64_2, (int a, const char *b, int c), (a, b, c), -1)                  \
    N(int, CREAT, creat, (const char *a, mode_t b), (a, b), -1)                                 \
    N(int, CREAT, creat64, (const char *a, mode_t b), (a, b), -1)                               \
    N(int, UNLINK, unlink, (const char *a), (a), -1)                                            \
    N(int, UNLINKAT, unlinkat, (int a, const char *b, int c), (a, b, c), -1)                    \
    N(int, RENAME, rename, (const char *a, const char *b), (a, b), -1)                          \
    N(int, RENAMEAT, renameat, (int a, const char *b, int c, const char *d), (a, b, c, d), -1)
#define REAL_PATH_NEWER(N)                                                                      \
    N(int, RENAMEAT2, renameat2, (int a, const char *b, int c, const char *d, unsigned e),      \
      (a, b, c, d, e), -1)

/* call, name, parameters before the path. */
#define REAL_OPEN(O)                                                                            \
    O(OPEN, open, (), ())                                                                       \
    O(OPEN, open64, (), ())                                                                     \
    O(OPEN, __open, (), ())                                                                     \
    O(OPEN, __open64, (), ())                                                                   \
    O(OPENAT, openat, (int a, ), (a, ))                                                         \
    O(OPENAT, openat64, (int a, ), (a, ))

/* Number in the place of the descriptor, which the call names last. */
#define REAL_CHILD(N)                                                                           \
    N(pid_t, WAIT, wait, (int *a), (a), -1)                                                     \
    N(pid_t, WAIT, __wait, (int *a), (a), -1)                                                   \
    N(pid_t, WAITPID, waitpid, (pid_t a, int *b, int c), (a, b, c), a)                          \
    N(pid_t, WAITPID, __waitpid, (pid_t a, int *b, int c), (a, b, c), a)                        \
    N(pid_t, WAIT3, wait3, (int *a, int b, struct rusage *c), (a, b, c), -1)                    \
    N(pid_t, WAIT4, wait4, (pid_t a, int *b, int c, struct rusage *d), (a, b, c, d), a)         \
    N(int, WAITID, waitid, (idtype_t a, id_t b, siginfo_t *c, int d), (a, b, c, d),             \
      child_of(a, b))

#define REAL_SIGNAL(N)                                                                          \
    N(int, SIGWAITINFO, sigwaitinfo, (const sigset_t *a, siginfo_t *b), (a, b), 0)              \
    N(int, SIGTIMEDWAIT, sigtimedwait,                                                          \
      (const sigset_t *restrict a, siginfo_t *restrict b, const struct timespec *restrict c),   \
      (a, b, c), 0)                                                                             \
    N(int, SIGSUSPEND, sigsuspend, (const sigset_t *a), (a), 0)                                 \
    N(int, SIGSUSPEND, __sigsuspend, (const sigset_t *a), (a), 0)

#define REAL_FILE_LOCK(L)                                                                       \
    L(FLOCK, flock, (int a, int b), (a, b), flock_mode(b), !(b & LOCK_NB))                      \
    L(LOCKF, lockf, (int a, int b, off_t c), (a, b, c), lockf_mode(b), b == F_LOCK)             \
    L(LOCKF, lockf64, (int a, int b, off64_t c), (a, b, c), lockf_mode(b), b == F_LOCK)

#define REAL_IO(I) REAL_IO_FILES(I) REAL_IO_SOCKETS(I)

#define REAL_POLL(W)                                                                            \
    W(POLL, poll, (struct pollfd * a, nfds_t b, int c), (a, b, c), -1, b, poll_ms(c))           \
    W(POLL, __poll, (struct pollfd * a, nfds_t b, int c), (a, b, c), -1, b, poll_ms(c))         \
    W(SELECT, select,                                                                           \
      (int a, fd_set *restrict b, fd_set *restrict c, fd_set *restrict d,                       \
       struct timeval *restrict e), (a, b, c, d, e), -1, (uint64_t)a, poll_us(e))               \
    W(SELECT, __select, (int a, fd_set *b, fd_set *c, fd_set *d, struct timeval *e),            \
      (a, b, c, d, e), -1, (uint64_t)a, poll_us(e))                                             \
    W(PSELECT, pselect,                                                                         \
      (int a, fd_set *restrict b, fd_set *restrict c, fd_set *restrict d,                       \
       const struct timespec *restrict e, const sigset_t *restrict f),                          \
      (a, b, c, d, e, f), -1, (uint64_t)a, poll_ns(e))                                          \
    W(EPOLL_WAIT, epoll_wait, (int a, struct epoll_event *b, int c, int d), (a, b, c, d),       \
      a, (uint64_t)c, poll_ms(d))                                                               \
    W(EPOLL_PWAIT, epoll_pwait,                                                                 \
      (int a, struct epoll_event *b, int c, int d, const sigset_t *e),                          \
      (a, b, c, d, e), a, (uint64_t)c, poll_ms(d))                                              \
    W(PPOLL, ppoll,                                                                             \
      (struct pollfd * a, nfds_t b, const struct timespec *c, const sigset_t *d),               \
      (a, b, c, d), -1, b, poll_ns(c))                                                          \
    W(POLL, __poll_chk, (struct pollfd * a, nfds_t b, int c, size_t d), (a, b, c, d),           \
      -1, b, poll_ms(c))                                                                        \
    W(PPOLL, __ppoll_chk,                                                                       \
      (struct pollfd * a, nfds_t b, const struct timespec *c, const sigset_t *d, size_t e),     \
      (a, b, c, d, e), -1, b, poll_ns(c))                                                       \
    W(EPOLL_PWAIT2, epoll_pwait2,                                                               \
      (int a, struct epoll_event *b, int c, const struct timespec *d, const sigset_t *e),       \
      (a, b, c, d, e), a, (uint64_t)c, poll_ns(d))
/* clang-format on */

/* The headers declare some of them only. */
#define REAL_DECLARE(type, call, name, parameters, arguments) type name parameters;
REAL_IO(REAL_DECLARE)
REAL_IO_NEWER(REAL_DECLARE)
REAL_IO_QUEUES(REAL_DECLARE)
#undef REAL_DECLARE
#define REAL_DECLARE(call, name, parameters, arguments, descriptor, count, timeout) \
    int name parameters;
REAL_POLL(REAL_DECLARE)
#undef REAL_DECLARE
#define REAL_DECLARE(type, call, name, parameters, arguments, number) type name parameters;
REAL_CHILD(REAL_DECLARE)
REAL_SIGNAL(REAL_DECLARE)
REAL_PATH(REAL_DECLARE)
REAL_PATH_NEWER(REAL_DECLARE)
#undef REAL_DECLARE
#define REAL_DECLARE(call, name, parameters, arguments, mode, waits) int name parameters;
REAL_FILE_LOCK(REAL_DECLARE)
#undef REAL_DECLARE

#pragma GCC visibility push(hidden)
#define REAL_DECLARE(type, call, name, parameters, arguments) extern type(*real_##name) parameters;
REAL_IO(REAL_DECLARE)
REAL_IO_NEWER(REAL_DECLARE)
REAL_IO_QUEUES(REAL_DECLARE)
#undef REAL_DECLARE
#define REAL_DECLARE(call, name, parameters, arguments, descriptor, count, timeout) \
    extern int(*real_##name) parameters;
REAL_POLL(REAL_DECLARE)
#undef REAL_DECLARE
#define REAL_DECLARE(type, call, name, parameters, arguments, number) \
    extern type(*real_##name) parameters;
REAL_CHILD(REAL_DECLARE)
REAL_SIGNAL(REAL_DECLARE)
REAL_PATH(REAL_DECLARE)
REAL_PATH_NEWER(REAL_DECLARE)
#undef REAL_DECLARE
#define REAL_DECLARE(call, name, first, argument) \
    extern int (*real_##name)(PRELOAD_LIST first const char *path, int flags, ...);
REAL_OPEN(REAL_DECLARE)
#undef REAL_DECLARE
#define REAL_DECLARE(call, name, parameters, arguments, mode, waits) \
    extern int(*real_##name) parameters;
REAL_FILE_LOCK(REAL_DECLARE)
#undef REAL_DECLARE
#pragma GCC visibility pop

#endif
