/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The names of the calls of enum posixtrace_call, once: descriptions of event types and
 * posixtrace_call_text() are made of these lists.
 *
 * FIRST(name, number, start): a group's first call, number after POSIXTRACE_CALL_, start is the
 * text by which a description says its number.  NEXT(name, number): the number after that.
 */
#ifndef PT_MODEL_CALLS_H
#define PT_MODEL_CALLS_H

/* clang-format off */
#define PT_CALLS_IO(FIRST, NEXT) \
    FIRST(read, READ, "") NEXT(write, WRITE) NEXT(pread, PREAD) NEXT(pwrite, PWRITE) \
    NEXT(readv, READV) NEXT(writev, WRITEV) NEXT(preadv, PREADV) NEXT(pwritev, PWRITEV) \
    NEXT(preadv2, PREADV2) NEXT(pwritev2, PWRITEV2) NEXT(recv, RECV) NEXT(send, SEND) \
    NEXT(recvfrom, RECVFROM) NEXT(sendto, SENDTO) NEXT(recvmsg, RECVMSG) NEXT(sendmsg, SENDMSG) \
    NEXT(recvmmsg, RECVMMSG) NEXT(sendmmsg, SENDMMSG) NEXT(accept, ACCEPT) \
    NEXT(accept4, ACCEPT4) NEXT(connect, CONNECT) NEXT(fsync, FSYNC) NEXT(fdatasync, FDATASYNC) \
    NEXT(syncfs, SYNCFS) NEXT(sync_file_range, SYNC_FILE_RANGE) NEXT(sendfile, SENDFILE) \
    NEXT(splice, SPLICE) NEXT(tee, TEE) NEXT(vmsplice, VMSPLICE) \
    NEXT(copy_file_range, COPY_FILE_RANGE) NEXT(mq_receive, MQ_RECEIVE) \
    NEXT(mq_timedreceive, MQ_TIMEDRECEIVE) NEXT(mq_send, MQ_SEND) \
    NEXT(mq_timedsend, MQ_TIMEDSEND) NEXT(open, OPEN) NEXT(openat, OPENAT) NEXT(creat, CREAT) \
    NEXT(close, CLOSE) NEXT(ftruncate, FTRUNCATE) NEXT(fallocate, FALLOCATE) \
    NEXT(unlink, UNLINK) NEXT(unlinkat, UNLINKAT) NEXT(rename, RENAME) NEXT(renameat, RENAMEAT) \
    NEXT(renameat2, RENAMEAT2)
#define PT_CALLS_POLL(FIRST, NEXT) \
    FIRST(poll, POLL, " = 64") NEXT(ppoll, PPOLL) NEXT(select, SELECT) NEXT(pselect, PSELECT) \
    NEXT(epoll_wait, EPOLL_WAIT) NEXT(epoll_pwait, EPOLL_PWAIT) NEXT(epoll_pwait2, EPOLL_PWAIT2)
#define PT_CALLS_LOCK(FIRST, NEXT) \
    FIRST(flock, FLOCK, " = 80") NEXT(fcntl, FCNTL) NEXT(lockf, LOCKF)
#define PT_CALLS_CHILD(FIRST, NEXT) \
    FIRST(wait, WAIT, " = 88") NEXT(waitpid, WAITPID) NEXT(wait3, WAIT3) NEXT(wait4, WAIT4) \
    NEXT(waitid, WAITID)
#define PT_CALLS_SIGNAL(FIRST, NEXT) \
    FIRST(sigwait, SIGWAIT, " = 96") NEXT(sigwaitinfo, SIGWAITINFO) \
    NEXT(sigtimedwait, SIGTIMEDWAIT) NEXT(sigsuspend, SIGSUSPEND) NEXT(pause, PAUSE)
#define PT_CALLS_ALL(FIRST, NEXT) \
    PT_CALLS_IO(FIRST, NEXT) PT_CALLS_POLL(FIRST, NEXT) PT_CALLS_LOCK(FIRST, NEXT) \
    PT_CALLS_CHILD(FIRST, NEXT) PT_CALLS_SIGNAL(FIRST, NEXT)
/* clang-format on */

#endif
