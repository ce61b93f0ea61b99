/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Programs with many streams that are killed, again and again: what they leave in the stream
 * directory does not become more.
 *
 *   - with twelve streams, also where the programs are forked from one that has a stream itself;
 *   - with as many streams as a process can have: the number of files;
 *   - with a low limit, beside many streams that have to stay;
 *   - where there is no room left: a new stream gets it, and is in the directory (needs a mount).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"

#define WATCHDOG_S 280u
#define STREAMS    12u
#define MOST       63u /* with the parent's, as many as a user may have */
#define STAY       100u
#define LARGE      (8u << 20)
#define LIMIT      "32M"
#define LIMIT_KIB  (32ul << 10)

static trace_id_t create(size_t size, int log)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, size));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
    if (log < 0)
        DEMAND_OK(posix_trace_create(0, &attr, &trid));
    else
        DEMAND_OK(posix_trace_create_withlog(0, &attr, log, &trid));
    DEMAND_OK(posix_trace_start(trid));
    return trid;
}

static void run_and_kill(unsigned streams, size_t size, int log)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        for (unsigned i = 0; i < streams; i++)
            create(size, log);
        kill(getpid(), SIGKILL);
    }
    DEMAND(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
           "wait status %#x", (unsigned)status);
}

struct content {
    unsigned files, large; /* of LARGE bytes and more */
    unsigned long kib;
};

static struct content look(void)
{
    DIR *d = opendir(posixtrace_stream_directory());
    struct content c = { 0, 0, 0 };
    struct dirent *entry;
    struct stat st;

    DEMAND(d, "no stream directory");
    while ((entry = readdir(d))) {
        if (entry->d_name[0] == '.' || fstatat(dirfd(d), entry->d_name, &st, 0) < 0)
            continue;
        c.files++;
        c.large += st.st_blocks >= (blkcnt_t)(LARGE / 512);
        c.kib += (unsigned long)st.st_blocks / 2;
    }
    closedir(d);
    return c;
}

/* Beside what was there before, never more than three such programs leave. */
static void stays_the_same(unsigned kills, unsigned streams, size_t size)
{
    struct content before = look(), one, most = { 0, 0, 0 };

    for (unsigned i = 0; i < kills; i++) {
        struct content now;

        run_and_kill(streams, size, -1);
        now = look();
        if (i == 0)
            one = (struct content){ now.files - before.files, 0, now.kib - before.kib };
        most.files = now.files > most.files ? now.files : most.files;
        most.kib = now.kib > most.kib ? now.kib : most.kib;
    }
    printf("%u kills of %u streams: at most %u files, %lu KiB; one leaves %u, %lu\n", kills,
           streams, most.files, most.kib, one.files, one.kib);
    DEMAND(most.kib <= before.kib + 3 * one.kib, "%lu KiB are too many", most.kib);
    DEMAND(most.files <= before.files + 3 * one.files, "%u files are too many", most.files);
}

static void reap(void)
{
    DEMAND_OK(posixtrace_stream_reap(1, NULL, NULL));
}

/* Streams whose log has no name have to stay, and a step looks at few of them. */
static void limit_holds(void)
{
    unsigned long most = 0, stay, one;

    setenv("POSIXTRACE_LEFT_LIMIT", LIMIT, 1);
    for (unsigned i = 0; i < STAY; i++) {
        char path[] = "/tmp/posixtrace-many.XXXXXX";
        int log = mkstemp(path);

        DEMAND(log >= 0, "%s: %s", path, strerror(errno));
        unlink(path);
        run_and_kill(1, 1u << 16, log);
        close(log);
    }
    stay = look().kib;
    run_and_kill(1, 1u << 20, -1);
    one = look().kib - stay;
    for (unsigned i = 0; i < 2 * LIMIT_KIB / 1024; i++) {
        unsigned long kib;

        run_and_kill(1, 1u << 20, -1);
        kib = look().kib;
        most = kib > most ? kib : most;
    }
    printf("%lu KiB that stay, one more leaves %lu, limit of %lu: at most %lu KiB\n", stay, one,
           LIMIT_KIB, most);
    DEMAND(stay < LIMIT_KIB, "these are removed themselves: %lu KiB", stay);
    DEMAND(most <= LIMIT_KIB + 4 * one, "%lu KiB under a limit of %lu", most, LIMIT_KIB);
    unsetenv("POSIXTRACE_LEFT_LIMIT");
    reap();
}

static void in_small_directory(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", posixtrace_stream_directory(), "tmpfs", 0, "size=16m,mode=0700") < 0) {
        fprintf(stderr, "left out: no mounts of our own\n");
        _exit(0);
    }
    for (unsigned i = 0; i < 4; i++) {
        trace_id_t trid;

        run_and_kill(14, 1u << 20, -1);
        DEMAND(look().kib > (12u << 10), "not full: %lu KiB", look().kib);
        trid = create(LARGE, -1);
        DEMAND(look().large == 1, "the new stream is not in the directory");
        DEMAND_OK(posix_trace_shutdown(trid));
    }
    _exit(0);
}

int main(void)
{
    trace_id_t own;
    int status;
    pid_t pid;

    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_create(0, NULL, &own));
    stays_the_same(30, STREAMS, 1u << 18);
    reap();
    stays_the_same(8, MOST, 1u << 16);
    reap();
    limit_holds();
    DEMAND_OK(posix_trace_shutdown(own));
    pid = fork();
    if (pid == 0)
        in_small_directory();
    DEMAND(waitpid(pid, &status, 0) == pid && status == 0, "wait status %#x", (unsigned)status);
    return 0;
}
