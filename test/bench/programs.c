/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See programs.h. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench/programs.h"

extern char **environ;

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

struct spawned spawn(char *const argv[], const char *output)
{
    struct spawned result = { .done = false };
    posix_spawn_file_actions_t actions;
    struct rusage used;
    int64_t start = bench_now();
    int status = -1;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output ? output : "/dev/null",
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) == 0 &&
        wait4(pid, &status, 0, &used) == pid) {
        result.done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        result.cpu = seconds(used.ru_utime) + seconds(used.ru_stime);
        result.rss = (uint64_t)used.ru_maxrss * 1024;
        result.wall = (double)(bench_now() - start) / 1e9;
    }
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

static bool find_recorder(char *path, size_t size)
{
    char self[200];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n <= 0)
        return false;
    self[n] = '\0';
    snprintf(path, size, "%s/bench_record", dirname(self));
    return access(path, X_OK) == 0;
}

bool record(struct recorded *log, const char *const args[])
{
    enum { MOST = 8 };
    char recorder[256], output[280];
    char *argv[MOST + 3] = { recorder, log->path };
    struct stat st;
    FILE *f;
    int fd;

    snprintf(log->path, sizeof log->path, "%s/posixtrace-bench.XXXXXX", bench_folder());
    fd = mkstemp(log->path);
    if (fd < 0 || !find_recorder(recorder, sizeof recorder)) {
        bench_wrong("cannot record %s: %s", log->path, fd < 0 ? strerror(errno) : "no recorder");
        return false;
    }
    close(fd);
    for (int i = 0; i < MOST && args[i]; i++)
        argv[i + 2] = (char *)(uintptr_t)args[i];
    snprintf(output, sizeof output, "%s.said", log->path);
    if (!spawn(argv, output).done)
        bench_wrong("recording %s failed", log->path);
    f = fopen(output, "re");
    if (!f || fscanf(f, "%llu %llu %lld", &log->events, &log->lost, &log->moment) != 3)
        log->events = 0;
    if (f)
        fclose(f);
    unlink(output);
    log->bytes = stat(log->path, &st) == 0 ? (uint64_t)st.st_size : 0;
    if (log->events == 0)
        record_forget(log);
    return log->events > 0;
}

void record_forget(struct recorded *log)
{
    unlink(log->path);
}

bool record_has_room(uint64_t bytes)
{
    return bench_disk_free(bench_folder()) > bytes;
}

void record_make_cold(const struct recorded *log)
{
    int fd = open(log->path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

double lttng_discarded(void)
{
    static const char label[] = "Discarded events:";
    FILE *f = popen("lttng stop >/dev/null 2>&1; lttng list bench 2>/dev/null", "re");
    char line[512], *at;
    double sum = -1;

    while (f && fgets(line, sizeof line, f))
        if ((at = strstr(line, label)))
            sum = (sum < 0 ? 0 : sum) + atof(at + strlen(label));
    if (f)
        pclose(f);
    return sum;
}
