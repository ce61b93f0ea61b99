/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * An owner whose first thread ends while another process checks whether it lives: it never counts
 * as dead as long as it has another thread, and is known to live once the first one has ended.
 *
 * A file system for which stat() has another device number than /proc/PID/maps, as btrfs: the given
 * number is not that of the mapping.
 *
 * A process in a time namespace of its own and one outside: each has the same start time for both.
 *
 * A signal that comes while a table of mappings is read, whose handler leaves by siglongjmp().
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "shm_helpers.h"
#include "shm/liveness.h"
#include "shm/maps.h"

enum { OWNERS = 100, LOOKS_BEHIND = 20 };

static volatile int *go;

static void *stay(void *nothing)
{
    *go = 1;
    for (;;)
        pause();
    return nothing;
}

static void be_owner(void)
{
    pthread_t t;

    if (pthread_create(&t, NULL, stay, NULL) == 0)
        pthread_exit(NULL);
    _exit(1);
}

/* The header that a stream of that process would have. */
static void fill_header(struct pt_seg_header *h, pid_t pid)
{
    struct pt_identity self;

    pt_identity_self(&self);
    memset(h, 0, sizeof *h);
    h->owner_pid = (uint32_t)pid;
    h->owner_start = pt_process_start((uint32_t)pid);
    h->pid_ns = self.pid_ns;
    memcpy(h->boot_id, self.boot_id, sizeof h->boot_id);
}

START_TEST(first_thread_ends)
{
    static struct pt_seg_header h;
    struct pt_process process;
    struct stat file;
    int fd = memfd_create("owned", MFD_CLOEXEC), behind = 0;
    ino_t another_file;
    pid_t pid;

    ck_assert(fd >= 0 && ftruncate(fd, 4096) == 0 && fstat(fd, &file) == 0);
    another_file = file.st_ino + 1000000;
    go = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert(go != MAP_FAILED);
    for (int i = 0; i < OWNERS; i++, behind = 0) {
        *go = 0;
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0)
            be_owner();
        fill_header(&h, pid);
        while (!*go)
            ck_assert_int_ne(pt_owner_liveness(&h, file.st_dev, file.st_ino), PT_DEAD);
        while (behind < LOOKS_BEHIND) {
            ck_assert_int_ne(pt_owner_liveness(&h, file.st_dev, file.st_ino), PT_DEAD);
            ck_assert_int_eq(pt_process_look((uint32_t)pid, &process), 0);
            behind += process.zombie;
        }
        /* Its other thread has the mapping. */
        ck_assert_int_eq(pt_owner_liveness(&h, file.st_dev, file.st_ino), PT_ALIVE);
        ck_assert_int_eq(pt_owner_liveness(&h, file.st_dev, 0), PT_ALIVE);
        ck_assert_int_ne(pt_owner_liveness(&h, file.st_dev, another_file), PT_ALIVE);
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        ck_assert_int_eq(pt_owner_liveness(&h, file.st_dev, file.st_ino), PT_DEAD);
    }
    close(fd);
}
END_TEST

static dev_t another(dev_t dev)
{
    return makedev(major(dev), minor(dev) + 1);
}

/* The name says it, without which the inode leaves it open; without both the owner is dead. */
START_TEST(another_device)
{
    static struct pt_seg_header h;
    struct pt_seg seg;
    dev_t dev;
    ino_t ino;

    ring_create(&seg, 4096);
    dev = another(seg.dev);
    ino = seg.ino;
    memcpy(&h, seg.h, sizeof h);
    ck_assert_int_eq(pt_owner_liveness(&h, seg.dev, ino), PT_ALIVE);
    ck_assert_int_eq(pt_owner_liveness(&h, dev, ino), PT_ALIVE);
    h.id[15] ^= 1;
    ck_assert_int_eq(pt_owner_liveness(&h, dev, ino), PT_UNKNOWN);
    h.id[15] ^= 1;
    pt_seg_unmap(&seg);
    ck_assert_int_eq(pt_owner_liveness(&h, dev, ino), PT_DEAD);
    h.owner_start++;
    ck_assert_int_eq(pt_owner_liveness(&h, dev, ino), PT_DEAD);
}
END_TEST

#define SEGMENT "s-00112233445566778899aabbccddeeff.seg"
#define OTHER   "7f0000000000-7f0000001000 r-xp 00000000 fe:01 999    /usr/lib/libc.so.6\n"

/* The contents of one line of maps, after one of another file. */
static const struct {
    const char *line;
    bool found, alike;
} lines[] = {
    { "7f0000000000-7f0000001000 rw-s 00000000 00:2a 4711   /dev/shm/other", true, false },
    { "7f0000000000-7f0000001000 rw-s 00000000 00:2a 4711", true, false },
    { "7f0000000000-7f0000001000 rw-s 00000000 00:27 4711   /b/d/" SEGMENT, true, true },
    { "7f0000000000-7f0000001000 rw-s 00000000 00:27 4712   /b/d/" SEGMENT, true, false },
    { "7f0000000000-7f0000001000 rw-s 00000000 00:27 12   /b c/" SEGMENT " (deleted)", true,
      false },
    { "7f0000000000-7f0000001000 rw-s 00000000 00:27 4711   /b/d/" SEGMENT "s", false, true },
    { "7f0000000000-7f0000001000 rw-s 00000000 00:27 4711", false, true },
    { "7f0000000000-7f0000001000 rw-s 00000000 00:2a 4712   /b/s-0011.seg", false, false },
    { "7f0000000000-7f0000001000 rw-s 00000000 00:2a 4712   /b/" SEGMENT "/x", false, false },
    { "7f0000000000-7f0000001000 rw-s 00000000 00:2a 4712   /b/" SEGMENT " (deleted)/x", false,
      false },
    { "7f0000000000-7f0000001000 rw-s 00000000 00:2a 4712   /b/x" SEGMENT, false, false },
    { "7f0000000000-7f0000001000 rw-p 00000000 00:00 0      [heap]", false, false },
    { "7f0000000000-7f0000001000 rw-p 00000000 00:00 0", false, false },
};

/* As a whole, and in two pieces wherever they are cut. */
START_TEST(lines_of_maps)
{
    static const uint8_t id[16] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                    0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
    char text[512];
    struct pt_maps m;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t n = (size_t)snprintf(text, sizeof text, OTHER "%s\n" OTHER, lines[i].line);

        for (size_t cut = 0; cut < n; cut++) {
            pt_maps_begin(&m, makedev(0, 0x2a), 4711, id);
            if (!pt_maps_take(&m, text, cut))
                pt_maps_take(&m, text + cut, n - cut);
            if (m.found != lines[i].found || m.alike != lines[i].alike)
                ck_abort_msg("cut at %zu: found %d, alike %d: %s", cut, m.found, m.alike,
                             lines[i].line);
        }
    }
}
END_TEST

/* ---- a handler that leaves ---- */

bool __real_pt_maps_take(struct pt_maps *m, const char *text, size_t bytes);
bool __wrap_pt_maps_take(struct pt_maps *m, const char *text, size_t bytes);

static bool raises;
static sigjmp_buf before;

bool __wrap_pt_maps_take(struct pt_maps *m, const char *text, size_t bytes)
{
    if (raises) {
        raises = false;
        raise(SIGUSR1);
    }
    return __real_pt_maps_take(m, text, bytes);
}

static void leave(int number)
{
    siglongjmp(before, number);
}

static int lowest_descriptor(void)
{
    int fd = dup(0);

    ck_assert_int_ge(fd, 0);
    close(fd);
    return fd;
}

START_TEST(left_by_siglongjmp)
{
    struct pt_seg_header h;
    int lowest = lowest_descriptor();

    fill_header(&h, getpid());
    ck_assert_ptr_ne(signal(SIGUSR1, leave), SIG_ERR);
    raises = true;
    if (sigsetjmp(before, 1) == 0) {
        pt_owner_liveness(&h, makedev(1, 2), 3);
        ck_abort_msg("the handler has not run");
    }
    ck_assert(!raises);
    ck_assert_int_eq(lowest_descriptor(), lowest);
}
END_TEST

/* ---- time namespaces ---- */

enum { OFFSET_S = 86400, NO_NAMESPACE = 77 };

static int64_t now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec;
}

static bool write_offset(int64_t s, int64_t ns)
{
    FILE *f = fopen("/proc/self/timens_offsets", "w");

    return f && fprintf(f, "boottime %" PRId64 " %" PRId64 "\n", s, ns) > 0 && fclose(f) == 0;
}

/* In the namespace: sees the process outside, and itself, as that one does. */
static int live_in_namespace(pid_t outside, uint64_t start, int64_t outside_s)
{
    struct pt_seg_header outer, inner;
    struct pt_seg seg = { .h = NULL };
    int64_t made_s;

    fill_header(&outer, outside);
    fill_header(&inner, getpid());
    if (now_s() < outside_s + OFFSET_S || pt_process_start((uint32_t)outside) != start ||
        pt_owner_liveness(&outer, 0, 0) != PT_ALIVE || pt_owner_liveness(&inner, 0, 0) != PT_ALIVE)
        return 1;
    ring_create(&seg, 64 << 10);
    made_s = (int64_t)(seg.h->created / 1000000000);
    ring_remove(&seg);
    return made_s >= outside_s && made_s < outside_s + OFFSET_S / 2 ? 0 : 3;
}

static int make_namespace(pid_t outside, uint64_t start, int64_t outside_s)
{
    struct pt_seg_header header;
    int status;
    pid_t pid;

    fill_header(&header, outside);
    if (unshare(CLONE_NEWTIME) < 0 || !write_offset(OFFSET_S, 0))
        return NO_NAMESPACE;
    pid = fork();
    if (pid == 0)
        _exit(live_in_namespace(outside, start, outside_s));
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return 4;
    return WEXITSTATUS(status);
}

START_TEST(time_namespace)
{
    pid_t outside = getpid(), pid;
    uint64_t start = pt_process_start((uint32_t)outside);
    int64_t outside_s = now_s();
    int status;

    pid = fork();
    if (pid == 0)
        _exit(make_namespace(outside, start, outside_s));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) != NO_NAMESPACE)
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* Reports itself as it sees itself, and lives until that was looked at. */
static int live_a_tick_later(int out, int in, struct pt_seg_header *outer)
{
    struct pt_identity self;
    char end;

    pt_identity_self(&self);
    if (write(out, &self, sizeof self) != sizeof self || read(in, &end, 1) != 0)
        return 1;
    return pt_owner_liveness(outer, 0, 0) == PT_ALIVE ? 0 : 3;
}

static int make_late_namespace(int out, int in, struct pt_seg_header *outer)
{
    int status;
    pid_t pid;

    if (unshare(CLONE_NEWTIME) < 0 || !write_offset(0, 1000000000 / sysconf(_SC_CLK_TCK) - 1))
        return NO_NAMESPACE;
    pid = fork();
    if (pid == 0)
        _exit(live_a_tick_later(out, in, outer));
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

/* An offset of a tick less a nanosecond: in the namespace each start time is one tick later. */
START_TEST(part_of_a_tick)
{
    struct pt_seg_header h;
    struct pt_identity inner;
    int out[2], in[2], status;
    pid_t maker;
    ssize_t n;

    ck_assert_int_eq(pipe(out) | pipe(in), 0);
    fill_header(&h, getpid());
    maker = fork();
    if (maker == 0) {
        close(in[1]);
        _exit(make_late_namespace(out[1], in[0], &h));
    }
    close(out[1]);
    n = read(out[0], &inner, sizeof inner);
    if (n == sizeof inner) {
        h.owner_pid = inner.pid;
        h.owner_start = inner.start;
        ck_assert_uint_eq(inner.start, pt_process_start(inner.pid) + 1);
        ck_assert_int_eq(pt_owner_liveness(&h, 0, 0), PT_ALIVE);
    }
    close(in[1]);
    ck_assert_int_eq(waitpid(maker, &status, 0), maker);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), n == sizeof inner ? 0 : NO_NAMESPACE);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, time_namespace);
    tcase_add_test(tc, part_of_a_tick);
    tcase_add_test(tc, left_by_siglongjmp);
    tcase_add_test(tc, first_thread_ends);
    tcase_add_test(tc, another_device);
    tcase_add_test(tc, lines_of_maps);
}

int main(void)
{
    return ring_main("liveness", add);
}
