/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What descriptors are: recorded with the first call on each, once, and again when another one has
 * its number, in another stream, and in a forked child.
 */
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "scene.h"
#include "support/valgrind.h"

int __close(int fd);
int __dup2(int fd, int as);

enum { A = 100, B, C, D, E, F, G, H, LAST };

static DIR *volatile no_directory; /* NULL */
static char folder[TH_PATH], file_path[TH_PATH], other_path[TH_PATH];

static void put(int fd, int at)
{
    if (fd < 0 || dup2(fd, at) != at || close(fd) != 0)
        abort();
}

static void name_all(void)
{
    static const char *const names[] = { "A", "B", "C", "D", "E", "F", "G", "H" };

    for (int fd = A; fd < LAST; fd++)
        scene_name((void *)(intptr_t)fd, names[fd - A]);
    close(th_file(file_path, O_RDWR));
    close(th_file(other_path, O_RDWR));
    strcpy(folder, file_path);
    *strrchr(folder, '/') = '\0';
}

static void open_at(int at, const char *path)
{
    put(open(path, O_RDWR), at);
}

/* A call on it, which may fail. */
static void use(int fd)
{
    char c;
    ssize_t n = read(fd, &c, 1);

    (void)n;
}

static char *expected(const char *format, ...)
{
    static char text[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

#define ck_descriptors(...) ck_assert_str_eq(scene_descriptors(), expected(__VA_ARGS__))

START_TEST(files)
{
    struct stat status;
    trace_id_t trid;
    int two[2], master, slave;

    name_all();
    open_at(A, file_path);
    put(open(folder, O_RDONLY | O_DIRECTORY), B);
    ck_ok(pipe2(two, O_NONBLOCK));
    put(two[0], C);
    put(two[1], D);
    put(memfd_create("mem", 0), E);
    put(open("/dev/null", O_RDONLY), F);
    ck_ok(openpty(&master, &slave, NULL, NULL, NULL));
    ck_assert(fcntl(slave, F_SETFL, O_NONBLOCK) == 0);
    put(slave, G);
    trid = scene_begin();
    for (int fd = A; fd <= G; fd++)
        use(fd);
    for (int fd = A; fd <= G; fd++)
        use(fd);
    use(-1);
    use(H);
    use(70000);
    scene_end(trid);
    ck_ok(fstat(C, &status));
    ck_descriptors("A file %s, B directory %s, C pipe pipe:[%lu], D pipe pipe:[%lu], "
                   "E file /memfd:mem (deleted), F device /dev/null, G tty %s",
                   file_path, folder, (unsigned long)status.st_ino, (unsigned long)status.st_ino,
                   ttyname(G));
    close(master);
}
END_TEST

START_TEST(others)
{
    struct epoll_event events[1];
    struct pollfd none[1] = { { A, POLLIN, 0 } };
    sigset_t set;
    trace_id_t trid;

    name_all();
    sigemptyset(&set);
    put(eventfd(0, EFD_NONBLOCK), A);
    put(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), B);
    put(signalfd(-1, &set, SFD_NONBLOCK), C);
    put(epoll_create1(0), D);
    put(inotify_init1(IN_NONBLOCK), E);
    open_at(F, file_path);
    trid = scene_begin();
    poll(none, 1, 0);
    for (int fd = A; fd <= C; fd++)
        use(fd);
    epoll_wait(D, events, 1, 0);
    use(E);
    fcntl(F, F_SETLK, &(struct flock){ .l_type = F_RDLCK });
    scene_end(trid);
    ck_descriptors("A eventfd anon_inode:[eventfd], B timerfd anon_inode:[timerfd], "
                   "C signalfd anon_inode:[signalfd], D epoll anon_inode:[eventpoll], "
                   "E inotify anon_inode:inotify, F file %s",
                   file_path);
}
END_TEST

static int listener(int family, const void *a, socklen_t size)
{
    int fd = socket(family, SOCK_STREAM, 0);

    return fd >= 0 && bind(fd, a, size) == 0 && listen(fd, 5) == 0 ? fd : -1;
}

/* G: not on every machine.  How it is recorded. */
static const char *listen_ipv6(void)
{
    struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    socklen_t size = sizeof a;
    static char text[80];
    int fd = listener(AF_INET6, &a, sizeof a);

    if (fd < 0)
        return "";
    put(fd, G);
    ck_ok(getsockname(G, (struct sockaddr *)&a, &size));
    sprintf(text, ", G socket at [0:0:0:0:0:0:0:1]:%u", ntohs(a.sin6_port));
    return text;
}

START_TEST(sockets)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_un un = { .sun_family = AF_UNIX };
    socklen_t size = sizeof in;
    const char *more;
    struct stat status;
    trace_id_t trid;
    int two[2];

    name_all();
    snprintf(un.sun_path, sizeof un.sun_path, "%.90s/s", folder);
    put(listener(AF_INET, &in, sizeof in), A);
    ck_ok(getsockname(A, (struct sockaddr *)&in, &size));
    put(socket(AF_INET, SOCK_STREAM, 0), B);
    ck_ok(connect(B, (struct sockaddr *)&in, sizeof in));
    unlink(un.sun_path);
    put(listener(AF_UNIX, &un, sizeof un), C);
    put(socket(AF_UNIX, SOCK_STREAM, 0), D);
    ck_ok(connect(D, (struct sockaddr *)&un, sizeof un));
    put(accept(C, NULL, NULL), E);
    ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, two));
    put(two[0], F);
    close(two[1]);
    more = listen_ipv6();
    for (int fd = A; fd <= (*more ? G : F); fd++)
        ck_ok(fcntl(fd, F_SETFL, O_NONBLOCK));
    trid = scene_begin();
    for (int fd = A; fd <= (*more ? G : F); fd++)
        use(fd);
    scene_end(trid);
    ck_ok(fstat(F, &status));
    ck_descriptors("A socket at 127.0.0.1:%1$u, B socket 127.0.0.1:%1$u, C socket at %2$s, "
                   "D socket %2$s, E socket at %2$s, F socket socket:[%3$lu]%4$s",
                   ntohs(in.sin_port), un.sun_path, (unsigned long)status.st_ino, more);
}
END_TEST

/* A socket that is used before connect() has another name after it. */
START_TEST(connects)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof in;
    trace_id_t trid;

    name_all();
    put(listener(AF_INET, &in, sizeof in), A);
    ck_ok(getsockname(A, (struct sockaddr *)&in, &size));
    put(socket(AF_INET, SOCK_STREAM, 0), B);
    trid = scene_begin();
    ck_ok(connect(B, (struct sockaddr *)&in, sizeof in));
    ck_ok(fcntl(B, F_SETFL, O_NONBLOCK));
    use(B);
    use(B);
    scene_end(trid);
    ck_descriptors("B socket at 0.0.0.0:0, B socket 127.0.0.1:%u", ntohs(in.sin_port));
}
END_TEST

/* Each way by which another descriptor gets the number. */
START_TEST(again)
{
    trace_id_t trid;

    name_all();
    open_at(A, file_path);
    open_at(B, other_path);
    trid = scene_begin();
    use(A);
    close(A);
    open_at(A, other_path);
    use(A);
    __close(A);
    open_at(A, file_path);
    use(A);
    dup2(B, A);
    use(A);
    __dup2(B, A);
    use(A);
    dup3(B, A, O_CLOEXEC);
    use(A);
    close_range(A, A, 0);
    open_at(A, file_path);
    use(A);
    syscall(SYS_close, A);
    open_at(A, other_path);
    use(A);
    fclose(fdopen(A, "r"));
    open_at(A, file_path);
    use(A);
    close(A);
    put(open(folder, O_RDONLY | O_DIRECTORY), A);
    use(A);
    closedir(fdopendir(A));
    open_at(A, file_path);
    use(A);
    use(A);
    scene_end(trid);
    ck_descriptors("A file %1$s, A file %2$s, A file %1$s, A file %2$s, A file %2$s, A file %2$s, "
                   "A file %1$s, A file %2$s, A file %1$s, A directory %3$s, A file %1$s",
                   file_path, other_path, folder);
}
END_TEST

/* The same for the streams of the C library, and for system calls. */
START_TEST(again_inside)
{
    trace_id_t trid;
    FILE *stream;

    name_all();
    open_at(A, file_path);
    open_at(B, other_path);
    stream = fdopen(A, "r");
    trid = scene_begin();
    use(A);
    ck_assert(freopen(other_path, "r", stream) && fileno(stream) == A);
    use(A);
    ck_assert(freopen64(file_path, "r", stream) && fileno(stream) == A);
    use(A);
    syscall(SYS_dup3, B, A, 0);
    use(A);
    syscall(SYS_close_range, A, A, 0);
    open_at(A, file_path);
    use(A);
    scene_end(trid);
    fclose(stream);
    ck_descriptors("A file %1$s, A file %2$s, A file %1$s, A file %2$s, A file %1$s", file_path,
                   other_path);
}
END_TEST

/* The C library returns an error. */
START_TEST(no_folder)
{
    errno = 0;
    ck_assert_int_eq(closedir(no_directory), -1);
    ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(closed_in_child)
{
    trace_id_t trid;
    int status;
    pid_t pid;

    name_all();
    open_at(A, file_path);
    trid = scene_begin();
    use(A);
    pid = fork();
    if (pid == 0) {
        use(A);
        closefrom(A);
        open_at(A, other_path);
        use(A);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    use(A);
    scene_end(trid);
    ck_assert_int_eq(status, 0);
    ck_descriptors("A file %1$s, A file %1$s, A file %2$s", file_path, other_path);
}
END_TEST

START_TEST(piped)
{
    trace_id_t trid;
    FILE *stream;
    int fd;

    name_all();
    trid = scene_begin();
    stream = popen("exec sleep 0", "r");
    fd = fileno(stream);
    use(fd);
    scene_name((void *)(intptr_t)fd, "P");
    pclose(stream);
    scene_note(open(file_path, O_RDONLY) - fd);
    use(fd);
    scene_end(trid);
    close(fd);
    ck_results("0");
    ck_assert_ptr_nonnull(strstr(scene_descriptors(), "P pipe pipe:["));
    ck_assert_ptr_nonnull(strstr(scene_descriptors(), expected(", P file %s", file_path)));
}
END_TEST

START_TEST(another_stream)
{
    trace_id_t trid;

    name_all();
    open_at(A, file_path);
    for (int i = 0; i < 2; i++) {
        trid = scene_begin();
        use(A);
        use(A);
        scene_end(trid);
        ck_descriptors("A file %s", file_path);
    }
}
END_TEST

static volatile int shared;

/* A vfork child has descriptors of its own. */
START_TEST(vforked)
{
    trace_id_t trid;
    pid_t pid;

    name_all();
    open_at(A, file_path);
    open_at(B, other_path);
    trid = scene_begin();
    pid = vfork();
    if (pid == 0) {
        syscall(SYS_dup3, B, A, 0);
        use(A);
        shared = 1;
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    use(A);
    scene_end(trid);
    if (shared)
        ck_descriptors("A file %s", file_path);
}
END_TEST

START_TEST(long_path)
{
    char path[TH_PATH + 300], *to;
    trace_id_t trid;

    name_all();
    to = path + sprintf(path, "%s/", folder);
    memset(to, 'x', 220);
    strcpy(to + 220, "end");
    put(open(path, O_RDWR | O_CREAT, 0600), A);
    trid = scene_begin();
    use(A);
    scene_end(trid);
    unlink(path);
    ck_descriptors("A file ...%s", path + strlen(path) - POSIXTRACE_DESCRIPTOR_TEXT_MAX + 3);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, files);
    tcase_add_test(tc, others);
    tcase_add_test(tc, sockets);
    tcase_add_test(tc, connects);
    tcase_add_test(tc, again);
    tcase_add_test(tc, again_inside);
    tcase_add_test(tc, no_folder);
    tcase_add_test(tc, closed_in_child);
    tcase_add_test(tc, piped);
    tcase_add_test(tc, another_stream);
    tcase_add_test(tc, vforked);
    tcase_add_test(tc, long_path);
}

int main(void)
{
    if (is_under_valgrind())
        return TEST_SKIPPED;
    return th_main("preload descriptors", add);
}
