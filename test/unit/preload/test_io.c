/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Calls on descriptors, by each of their names.  Each is made twice in the same circumstances, by
 * the program and past the library: results, errno and what was transferred are the same; and
 * twice on a descriptor that is none.  Each has its two events.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include "scene.h"
#include "support/valgrind.h"

/* Those without a declaration in the headers. */
ssize_t __read(int fd, void *to, size_t n);
ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
ssize_t __write(int fd, const void *from, size_t n);
ssize_t __pread64(int fd, void *to, size_t n, off64_t at);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t at, size_t room);
ssize_t __pwrite64(int fd, const void *from, size_t n, off64_t at);
ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags);
/* Not of every C library's. */
ssize_t __send(int fd, const void *from, size_t n, int flags) __attribute__((weak));
ssize_t __recvfrom_chk(int fd, void *to, size_t n, size_t room, int flags, struct sockaddr *a,
                       socklen_t *size);
int __connect(int fd, const struct sockaddr *a, socklen_t size);
int __poll(struct pollfd *fds, nfds_t n, int ms);
int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
                size_t size);
int __select(int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *t);

/* Descriptors with the same numbers in each call. */
enum {
    FILE_FD = 100,
    OUT_FD,
    PIPE_FD,
    PIPE_TO,
    SOCKET_FD,
    PEER_FD,
    LISTEN_FD,
    CLIENT_FD,
    EPOLL_FD
};
enum { BAD_FD = 119, ROOM = 64, CALLS = 200, LINE = 200 };

static void *libc;
static char room[ROOM], seen[2][ROOM];
static struct iovec part = { room, 5 };
static struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
static struct mmsghdr messages[1];
static struct sockaddr_un address;
static socklen_t address_size;
static struct epoll_event ready[2];
static struct pollfd one[1];
static fd_set set;
static const struct timespec no_time;
static struct timeval tv;
static off64_t offset;
static char expected[CALLS * LINE];
static int64_t wrong;
static const char *wrong_name;

static void *past(const char *name)
{
    void *found = dlsym(libc, name);

    if (!found)
        abort();
    return found;
}
#define PAST(name) ((__typeof__(&name))past(#name))

static void place(int fd, int at)
{
    if (fd < 0 || dup2(fd, at) != at || PAST(close)(fd) != 0)
        abort();
}

/* The listener and a client that it has not accepted yet, which has a name of its own. */
static void make_sockets(void)
{
    struct sockaddr_un any = { .sun_family = AF_UNIX };
    socklen_t size = sizeof address;

    memset(&address, 0, sizeof address);
    place(socket(AF_UNIX, SOCK_STREAM, 0), LISTEN_FD);
    if (bind(LISTEN_FD, (struct sockaddr *)&any, sizeof any.sun_family) != 0 ||
        listen(LISTEN_FD, 5) != 0 ||
        getsockname(LISTEN_FD, (struct sockaddr *)&address, &size) != 0)
        abort();
    address_size = size;
    place(socket(AF_UNIX, SOCK_STREAM, 0), CLIENT_FD);
}

/* All that a call can change, as if for the first call. */
static void prepare(void)
{
    int two[2];

    for (int fd = FILE_FD; fd <= EPOLL_FD; fd++)
        PAST(close)(fd);
    place(memfd_create("a", 0), FILE_FD);
    place(memfd_create("b", 0), OUT_FD);
    PAST(write)(FILE_FD, "0123456789", 10);
    lseek(FILE_FD, 2, SEEK_SET);
    if (pipe(two) != 0)
        abort();
    place(two[0], PIPE_FD);
    place(two[1], PIPE_TO);
    PAST(write)(PIPE_TO, "pipe", 4);
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, two) != 0)
        abort();
    place(two[0], SOCKET_FD);
    place(two[1], PEER_FD);
    PAST(write)(PEER_FD, "datagram", 8);
    make_sockets();
    place(epoll_create1(0), EPOLL_FD);
    memset(room, 'x', sizeof room);
    part = (struct iovec){ room, 5 };
    message = (struct msghdr){ .msg_iov = &part, .msg_iovlen = 1 };
    messages[0].msg_hdr = message;
    one[0] = (struct pollfd){ PIPE_FD, POLLIN, 0 };
    FD_ZERO(&set);
    FD_SET(PIPE_FD, &set);
    tv = (struct timeval){ 0, 1000 };
    offset = 3;
    errno = E2BIG;
}

/* A client that waits to be accepted. */
static int64_t connects(void)
{
    return PAST(connect)(CLIENT_FD, (struct sockaddr *)&address, address_size);
}

static void note(const char *name, const int64_t r[2], const int e[2])
{
    if ((r[0] != r[1] || e[0] != e[1] || memcmp(seen[0], seen[1], ROOM) != 0) && !wrong_name) {
        wrong_name = name;
        wrong = r[0];
    }
}

static void tell(const char *type, const char *call, const char *fd, const char *more, int64_t r,
                 int error)
{
    char *to = expected + strlen(expected), done[20];

    sprintf(done, "%s_done", type);
    to += sprintf(to, "%s %s %s%s, ", type, call, fd, more);
    if (r < 0)
        sprintf(to, "%s %s %s %s, ", done, call, fd, strerrorname_np(error));
    else
        sprintf(to, "%s %s %s %d, ", done, call, fd, (int)r);
}

/* Does the call return a descriptor? */
static bool is_opened(const char *call)
{
    return strncmp(call, "accept", 6) == 0 || strncmp(call, "open", 4) == 0 ||
           strcmp(call, "creat") == 0;
}

/* Makes the call in both ways after first, which prepares more. */
#define BOTH(type, call, fd, more, name, first, ...) \
    do {                                             \
        int64_t r[2];                                \
        int e[2];                                    \
                                                     \
        prepare();                                   \
        first;                                       \
        errno = E2BIG;                               \
        r[0] = name(__VA_ARGS__);                    \
        e[0] = errno;                                \
        memcpy(seen[0], room, ROOM);                 \
        if (is_opened(call) && r[0] > 0)             \
            PAST(close)((int)r[0]);                  \
        tell(type, call, fd, more, r[0], e[0]);      \
        prepare();                                   \
        first;                                       \
        errno = E2BIG;                               \
        r[1] = PAST(name)(__VA_ARGS__);              \
        e[1] = errno;                                \
        memcpy(seen[1], room, ROOM);                 \
        if (is_opened(call) && r[1] > 0)             \
            PAST(close)((int)r[1]);                  \
        note(#name, r, e);                           \
    } while (0)

/* On a descriptor, and on none. */
#define IO(call, fd, name, ...)                                            \
    do {                                                                   \
        BOTH("io", call, #fd, "", name, (void)0, fd##_FD, ##__VA_ARGS__);  \
        BOTH("io", call, "BAD", "", name, (void)0, BAD_FD, ##__VA_ARGS__); \
    } while (0)

static void name_all(void)
{
    libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    ck_assert_ptr_nonnull(libc);
    expected[0] = '\0';
    wrong_name = NULL;
    scene_name((void *)FILE_FD, "FILE");
    scene_name((void *)PIPE_FD, "PIPE");
    scene_name((void *)SOCKET_FD, "SOCKET");
    scene_name((void *)LISTEN_FD, "LISTEN");
    scene_name((void *)CLIENT_FD, "CLIENT");
    scene_name((void *)EPOLL_FD, "EPOLL");
    scene_name((void *)OUT_FD, "OUT");
    scene_name((void *)BAD_FD, "BAD");
}

static void check(void)
{
    size_t length = strlen(expected);

    ck_assert_msg(!wrong_name, "%s returned %d", wrong_name, (int)wrong);
    ck_assert_uint_gt(length, 2);
    expected[length - 2] = '\0';
    ck_assert_str_eq(scene_events(0), expected);
    ck_assert_uint_eq(scene_threads(), 1);
}

static void play(void (*calls)(void))
{
    trace_id_t trid;

    name_all();
    trid = scene_begin();
    calls();
    scene_end(trid);
    check();
}

static void make_reads(void)
{
    IO("read", FILE, read, room, 4);
    IO("read", PIPE, __read, room, 10);
    IO("read", FILE, __read_chk, room, 4, ROOM);
    IO("pread", FILE, pread, room, 4, 3);
    IO("pread", FILE, pread64, room, 4, 3);
    IO("pread", FILE, __pread64, room, 4, 3);
    IO("pread", FILE, __pread_chk, room, 4, 3, ROOM);
    IO("pread", FILE, __pread64_chk, room, 4, 3, ROOM);
    IO("pread", FILE, pread, room, 4, -1);
    IO("readv", FILE, readv, &part, 1);
    IO("preadv", FILE, preadv, &part, 1, 4);
    IO("preadv", FILE, preadv64, &part, 1, 4);
    IO("preadv2", FILE, preadv2, &part, 1, 4, 0);
    IO("preadv2", FILE, preadv64v2, &part, 1, 4, 0);
    IO("preadv2", FILE, preadv2, &part, 1, 4, -1);
}

START_TEST(reads)
{
    play(make_reads);
}
END_TEST

static void make_writes(void)
{
    IO("write", FILE, write, room, 4);
    IO("write", OUT, __write, room, 4);
    IO("pwrite", FILE, pwrite, room, 4, 3);
    IO("pwrite", FILE, pwrite64, room, 4, 3);
    IO("pwrite", FILE, __pwrite64, room, 4, 3);
    IO("writev", FILE, writev, &part, 1);
    IO("pwritev", FILE, pwritev, &part, 1, 4);
    IO("pwritev", FILE, pwritev64, &part, 1, 4);
    IO("pwritev2", FILE, pwritev2, &part, 1, 4, 0);
    IO("pwritev2", FILE, pwritev64v2, &part, 1, 4, 0);
    IO("fsync", FILE, fsync);
    IO("fsync", PIPE, fsync);
    IO("fdatasync", FILE, fdatasync);
    IO("syncfs", FILE, syncfs);
    IO("sync_file_range", FILE, sync_file_range, 0, 4, SYNC_FILE_RANGE_WRITE);
    IO("sendfile", OUT, sendfile, FILE_FD, NULL, 4);
    IO("sendfile", OUT, sendfile64, FILE_FD, &offset, 4);
    IO("splice", PIPE, splice, NULL, OUT_FD, NULL, 3, 0);
    IO("tee", PIPE, tee, PIPE_TO, 3, 0);
    IO("vmsplice", PIPE, vmsplice, &part, 1, 0);
    IO("copy_file_range", FILE, copy_file_range, NULL, OUT_FD, NULL, 3, 0);
}

START_TEST(writes)
{
    play(make_writes);
}
END_TEST

static void make_socket_calls(void)
{
    struct sockaddr_un from;
    socklen_t size = sizeof from;

    IO("recv", SOCKET, recv, room, 4, 0);
    IO("recv", SOCKET, __recv_chk, room, 4, ROOM, MSG_TRUNC);
    IO("recvfrom", SOCKET, recvfrom, room, 20, 0, (struct sockaddr *)&from, &size);
    IO("recvfrom", SOCKET, __recvfrom_chk, room, 20, ROOM, 0, NULL, NULL);
    IO("recvmsg", SOCKET, recvmsg, &message, 0);
    IO("recvmmsg", SOCKET, recvmmsg, messages, 1, 0, NULL);
    IO("send", SOCKET, send, room, 4, 0);
    if (__send)
        IO("send", SOCKET, __send, room, 4, 0);
    IO("sendto", SOCKET, sendto, room, 4, 0, NULL, 0);
    IO("sendmsg", SOCKET, sendmsg, &message, 0);
    IO("sendmmsg", SOCKET, sendmmsg, messages, 1, 0);
    IO("recv", PIPE, recv, room, 4, 0);
    IO("connect", CLIENT, connect, (struct sockaddr *)&address, address_size);
    IO("connect", CLIENT, __connect, (struct sockaddr *)&address, address_size);
    BOTH("io", "accept", "LISTEN", "", accept, connects(), LISTEN_FD, NULL, NULL);
    BOTH("io", "accept4", "LISTEN", "", accept4, connects(), LISTEN_FD, NULL, NULL, SOCK_CLOEXEC);
    IO("accept", CLIENT, accept, NULL, NULL);
    IO("accept4", CLIENT, accept4, NULL, NULL, 0);
}

START_TEST(sockets)
{
    play(make_socket_calls);
}
END_TEST

static void watch(void)
{
    struct epoll_event e = { .events = EPOLLIN };

    if (epoll_ctl(EPOLL_FD, EPOLL_CTL_ADD, PIPE_FD, &e) != 0)
        abort();
}

static void make_polls(void)
{
    sigset_t none;

    sigemptyset(&none);
    BOTH("poll", "poll", "-", " 1 -1", poll, (void)0, one, 1, -1);
    BOTH("poll", "poll", "-", " 0 2000000", poll, (void)0, one, 0, 2);
    BOTH("poll", "poll", "-", " 1 0", __poll, (void)0, one, 1, 0);
    BOTH("poll", "poll", "-", " 1 0", __poll_chk, (void)0, one, 1, 0, sizeof one);
    BOTH("poll", "ppoll", "-", " 1 -1", ppoll, (void)0, one, 1, NULL, &none);
    BOTH("poll", "ppoll", "-", " 1 0", __ppoll_chk, (void)0, one, 1, &no_time, NULL, sizeof one);
    BOTH("poll", "select", "-", " 103 1000000", select, (void)0, PIPE_FD + 1, &set, NULL, NULL,
         &tv);
    BOTH("poll", "select", "-", " 103 -1", __select, (void)0, PIPE_FD + 1, &set, NULL, NULL, NULL);
    BOTH("poll", "select", "-", " -1 -1", select, (void)0, -1, NULL, NULL, NULL, NULL);
    BOTH("poll", "pselect", "-", " 103 0", pselect, (void)0, PIPE_FD + 1, &set, NULL, NULL,
         &no_time, &none);
    BOTH("poll", "epoll_wait", "EPOLL", " 2 -1", epoll_wait, watch(), EPOLL_FD, ready, 2, -1);
    BOTH("poll", "epoll_wait", "EPOLL", " 2 0", epoll_wait, (void)0, EPOLL_FD, ready, 2, 0);
    BOTH("poll", "epoll_wait", "BAD", " 2 0", epoll_wait, (void)0, BAD_FD, ready, 2, 0);
    BOTH("poll", "epoll_pwait", "EPOLL", " 1 3000000", epoll_pwait, watch(), EPOLL_FD, ready, 1, 3,
         &none);
    BOTH("poll", "epoll_pwait2", "EPOLL", " 1 0", epoll_pwait2, watch(), EPOLL_FD, ready, 1,
         &no_time, &none);
    BOTH("poll", "epoll_pwait2", "BAD", " 1 -1", epoll_pwait2, (void)0, BAD_FD, ready, 1, NULL,
         NULL);
}

START_TEST(polls)
{
    play(make_polls);
}
END_TEST

/* ---- names of files ---- */

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int fd, const char *path, int flags);
int __openat64_2(int fd, const char *path, int flags);
int __open(const char *path, int flags, ...);
int __open64(const char *path, int flags, ...);
int __close(int fd);

static char path[TH_PATH], other[TH_PATH], none[TH_PATH + 10];

/* Opens in both ways, with the same descriptor as result. */
#define OPEN(call, name, ...)                                               \
    do {                                                                    \
        BOTH("io", call, "-", "", name, PAST(close)(FILE_FD), __VA_ARGS__); \
    } while (0)

static void make_opens(void)
{
    OPEN("open", open, path, O_RDONLY);
    OPEN("open", open64, path, O_RDONLY);
    OPEN("open", __open, path, O_RDONLY);
    OPEN("open", __open64, path, O_RDONLY);
    OPEN("open", open, none, O_RDONLY);
    OPEN("open", __open_2, path, O_RDONLY);
    OPEN("open", __open64_2, path, O_RDONLY);
    OPEN("openat", openat, AT_FDCWD, path, O_RDONLY);
    OPEN("openat", openat64, AT_FDCWD, path, O_RDONLY);
    OPEN("openat", __openat_2, AT_FDCWD, path, O_RDONLY);
    OPEN("openat", __openat64_2, BAD_FD, "a", O_RDONLY);
    OPEN("creat", creat, path, 0600);
    OPEN("creat", creat64, path, 0600);
    BOTH("io", "unlink", "-", "", unlink, (void)0, none);
    BOTH("io", "unlinkat", "-", "", unlinkat, (void)0, AT_FDCWD, none, 0);
    BOTH("io", "rename", "-", "", rename, (void)0, path, path);
    BOTH("io", "rename", "-", "", rename, (void)0, none, other);
    BOTH("io", "renameat", "-", "", renameat, (void)0, AT_FDCWD, path, AT_FDCWD, path);
    BOTH("io", "renameat2", "-", "", renameat2, (void)0, AT_FDCWD, path, AT_FDCWD, path, 0);
    BOTH("io", "close", "FILE", "", close, (void)0, FILE_FD);
    BOTH("io", "close", "FILE", "", __close, (void)0, FILE_FD);
    BOTH("io", "close", "BAD", "", close, (void)0, BAD_FD);
    IO("ftruncate", FILE, ftruncate, 3);
    IO("ftruncate", FILE, ftruncate64, 3);
    IO("fallocate", FILE, fallocate, 0, 0, 10);
    IO("fallocate", FILE, fallocate64, 0, 0, 10);
    BOTH("io", "open", "-", "", open, PAST(unlink)(other), other, O_RDWR | O_CREAT, 0640);
}

START_TEST(opens)
{
    struct stat status;
    mode_t mask = umask(0);

    close(th_file(path, O_RDWR));
    close(th_file(other, O_RDWR));
    sprintf(none, "%s/none", path);
    play(make_opens);
    umask(mask);
    ck_ok(stat(other, &status));
    ck_assert_int_eq(status.st_mode & 0777, 0640);
}
END_TEST

/* ---- cancellation ---- */

static void *reads_nothing(void *unused)
{
    read(PIPE_FD, room, 1);
    return unused;
}

static void *polls_nothing(void *unused)
{
    poll(NULL, 0, -1);
    return unused;
}

static void cancel(void *(*body)(void *), const char *begin, const char *end)
{
    trace_id_t trid;
    void *result = NULL;
    pthread_t t;

    name_all();
    prepare();
    PAST(read)(PIPE_FD, room, 4);
    trid = scene_begin();
    scene_note(pthread_create(&t, NULL, body, NULL));
    scene_note(pthread_cancel(t));
    scene_note(pthread_join(t, &result));
    scene_end(trid);
    ck_results("0 0 0");
    ck_assert(result == PTHREAD_CANCELED);
    ck_assert_ptr_nonnull(strstr(scene_events(0), begin) ? scene_events(0)
                                                         : strstr(scene_events(1), begin));
    ck_assert_ptr_nonnull(strstr(scene_events(0), end) ? scene_events(0)
                                                       : strstr(scene_events(1), end));
}

START_TEST(cancelled)
{
    cancel(reads_nothing, "io read PIPE", "io_done read PIPE ECANCELED");
    cancel(polls_nothing, "poll poll - 0 -1", "poll_done poll - ECANCELED");
}
END_TEST

/* A timer is read as any other descriptor. */
START_TEST(timer)
{
    struct itimerspec soon = { .it_value = { 0, 1 } };
    uint64_t ticks = 0;
    trace_id_t trid;
    int fd, taken;

    name_all();
    fd = timerfd_create(CLOCK_MONOTONIC, 0);
    scene_name((void *)(intptr_t)fd, "TIMER");
    ck_ok(timerfd_settime(fd, 0, &soon, NULL));
    trid = scene_begin();
    taken = (int)read(fd, &ticks, sizeof ticks);
    scene_end(trid);
    close(fd);
    ck_assert_int_eq(taken, 8);
    ck_assert_uint_eq(ticks, 1);
    ck_events(0, "io read TIMER, io_done read TIMER 8");
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, reads);
    tcase_add_test(tc, writes);
    tcase_add_test(tc, sockets);
    tcase_add_test(tc, polls);
    tcase_add_test(tc, opens);
    tcase_add_test(tc, cancelled);
    tcase_add_test(tc, timer);
}

int main(void)
{
    if (is_under_valgrind())
        return TEST_SKIPPED;
    return th_main("preload io", add);
}
