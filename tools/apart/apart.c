/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Root's side; see apart.h. */
#include "apart/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/units.h"
#include "common/stdout_buffer.h"
#include "common/progress.h"
#include "common/tool.h"

bool apart_needed(pid_t pid)
{
    unsigned long real, effective = 0;
    char path[40], line[256];
    FILE *f;

    if (geteuid() != 0 || pid <= 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Uid: %lu %lu", &real, &effective) == 2)
            break;
    if (f)
        fclose(f);
    return effective != 0;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int apart_fork(struct apart *a, pid_t target, int log, bool *worker)
{
    int ends[2];

    /* Until there is a worker, root does not wait for it and sends it no signal. */
    *a = (struct apart){ .target = target,
                         .fd = -1,
                         .log = log,
                         .over = true,
                         .patience = APART_PATIENCE,
                         .heard = now_ms() };
    *worker = false;
    if (pipe(ends) < 0)
        return tool_error("cannot make a pipe: %s", strerror(errno));
    a->worker = fork();
    if (a->worker < 0) {
        close(ends[0]);
        close(ends[1]);
        return tool_error("cannot start a process: %s", strerror(errno));
    }
    if (a->worker == 0) {
        *worker = true;
        close(ends[0]);
        return apart_begin(ends[1], target);
    }
    close(ends[1]);
    a->fd = ends[0];
    a->over = false;
    a->buffer = tool_grow(NULL, sizeof(struct apart_head) + APART_MOST, 1);
    return EXIT_DONE;
}

/* ---- frames ---- */

static void show_line(struct apart *a)
{
    a->line[a->used] = '\0';
    a->used = 0;
    progress_wipe();
    fprintf(stderr, "%s\n", unquoted(a->line));
}

/* Messages: escaped, a line at a time, and not without end. */
static void show(struct apart *a, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length && a->text < APART_TEXT_MOST; i++, a->text++) {
        if (bytes[i] != '\n' && a->used < APART_LINE - 1)
            a->line[a->used++] = bytes[i] ? (char)bytes[i] : '?';
        else
            show_line(a);
    }
}

/* Results may be long.  On a terminal control characters are left out, those of two bytes in
 * UTF-8, too; a file takes any bytes. */
static bool pass_result(struct apart *a, uint8_t *bytes, size_t length)
{
    if (isatty(STDOUT_FILENO) == 1)
        for (size_t i = 0; i < length; i++) {
            uint8_t c = bytes[i];

            if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ||
                (a->before == 0xc2 && c >= 0x80 && c < 0xa0))
                bytes[i] = '?';
            a->before = c;
        }
    out_bytes(bytes, length);
    out_flush();
    return !out_failed();
}

/* The worker ends normally, and its further data is skipped. */
void apart_drop_log(struct apart *a, int error)
{
    a->error = error;
    if (!a->over)
        kill(a->worker, SIGTERM);
}

/* True: another program has truncated the file, so the next write is at its place after a hole. */
static bool is_cut(const struct apart *a)
{
    uint8_t first = 1;
    struct stat st;

    return fstat(a->log, &st) == 0 && S_ISREG(st.st_mode) &&
           ((uint64_t)st.st_size < a->written.bytes ||
            (pread(a->log, &first, 1, 0) == 1 && first == 0));
}

/* The header stays, so the file is a log that has the number of its missing events. */
static void end_cut(struct apart *a)
{
    a->cut = true;
    a->written = (struct apart_log){ .bytes = 0 };
    if (ftruncate(a->log, 0) == 0 && pwrite(a->log, a->header, a->kept, 0) < 0)
        a->kept = 0;
    apart_drop_log(a, EIO);
}

/* Writes as many pending bytes as the log takes; returns how many are done with. */
static size_t write_log(struct apart *a, const uint8_t *bytes)
{
    size_t length = a->pending;

    while (a->pending > 0 && a->error == 0) {
        const uint8_t *from = bytes + (length - a->pending);
        bool cut = is_cut(a);
        ssize_t n = cut ? 0 : write(a->log, from, a->pending);

        if (n < 0 && errno == EAGAIN)
            return length - a->pending;
        if (n < 0 && errno != EINTR)
            apart_drop_log(a, errno);
        if (n > 0) {
            apart_log_check(&a->written, from, (size_t)n);
            a->pending -= (size_t)n;
        }
        if (cut || (n > 0 && is_cut(a)))
            end_cut(a);
    }
    a->pending = 0;
    return length;
}

/* Counts only grow, and are no reason to end a worker. */
static bool take_counts(struct apart *a, const uint8_t *bytes, size_t length)
{
    struct apart_counts c;

    if (length != sizeof c)
        return false;
    memcpy(&c, bytes, sizeof c);
    if (c.events >= a->counts.events && c.lost >= a->counts.lost && c.bytes <= c.reserved)
        a->counts = c;
    return true;
}

static bool take_frame(struct apart *a, const struct apart_head *head, uint8_t *bytes)
{
    switch (head->kind) {
    case APART_TEXT: show(a, bytes, head->length); return true;
    case APART_RESULT: return pass_result(a, bytes, head->length);
    case APART_COUNTS: return take_counts(a, bytes, head->length);
    default: return false;
    }
}

static void keep_header(struct apart *a, const uint8_t *bytes, size_t length)
{
    size_t room = sizeof a->header - a->kept, n = length < room ? length : room;

    memcpy(a->header + a->kept, bytes, n);
    a->kept += n;
}

/* A whole frame at the buffer's at; false: it is none.  *used: the bytes that are done with, or
 * pending from there on. */
static bool begin_frame(struct apart *a, const struct apart_head *head, size_t at, size_t *used)
{
    uint8_t *bytes = a->buffer + at + sizeof *head;

    *used = sizeof *head;
    if (head->kind == APART_LOG) {
        a->pending = head->length;
        keep_header(a, bytes, head->length);
        return a->log >= 0 && apart_log_check(&a->check, bytes, head->length);
    }
    *used += head->length;
    return take_frame(a, head, bytes);
}

/* The frames that are whole, up to one that the log does not take. */
static bool take_frames(struct apart *a)
{
    struct apart_head head;
    size_t at = write_log(a, a->buffer), used;

    while (a->pending == 0 && a->have - at >= sizeof head) {
        memcpy(&head, a->buffer + at, sizeof head);
        if (head.length > APART_MOST)
            return false;
        if (a->have - at - sizeof head < head.length)
            break;
        if (!begin_frame(a, &head, at, &used))
            return false;
        at += used;
        at += write_log(a, a->buffer + at);
    }
    a->have -= at;
    memmove(a->buffer, a->buffer + at, a->have);
    return true;
}

/* A worker has its end of the pipe until it has exited: one that has closed it and still runs
 * is not the program that root has started. */
void apart_kill(struct apart *a)
{
    kill(a->worker, SIGKILL);
    close(a->fd);
    a->fd = -1;
    a->over = true;
    while (waitpid(a->worker, &a->status, 0) < 0 && errno == EINTR)
        ;
    if (a->error == 0 && is_cut(a))
        end_cut(a);
}

struct pollfd apart_awaits(const struct apart *a)
{
    if (a->over)
        return (struct pollfd){ .fd = -1 };
    return a->pending ? (struct pollfd){ .fd = a->log, .events = POLLOUT }
                      : (struct pollfd){ .fd = a->fd, .events = POLLIN };
}

bool apart_read(struct apart *a)
{
    size_t room = sizeof(struct apart_head) + APART_MOST;
    ssize_t n = 1;

    if (a->over)
        return false;
    if (!a->pending) {
        n = read(a->fd, a->buffer + a->have, room - a->have);
        a->have += n > 0 ? (size_t)n : 0;
    }
    if (n < 0 && errno == EINTR)
        return true;
    if (n > 0) {
        bool good = take_frames(a);

        a->heard = now_ms();
        if (good)
            return true;
        a->hostile = !out_failed();
    }
    apart_kill(a);
    return false;
}

/* Data that came while this process itself was stopped is a sign of life. */
bool apart_is_silent(const struct apart *a)
{
    struct pollfd p = apart_awaits(a);

    return !a->over && a->pending == 0 && now_ms() - a->heard >= a->patience && poll(&p, 1, 0) == 0;
}

void apart_give_up(struct apart *a)
{
    a->silent = true;
    apart_kill(a);
}

bool apart_listen(struct apart *a)
{
    while (!a->over) {
        struct pollfd p = apart_awaits(a);
        int64_t left = a->heard + a->patience - now_ms();

        if (poll(&p, 1, a->pending ? -1 : left > 0 ? (int)left : 0) > 0)
            return apart_read(a);
        if (apart_is_silent(a))
            apart_give_up(a);
    }
    return false;
}

void apart_read_within(struct apart *a, int ms)
{
    int64_t end = now_ms() + ms;

    while (!a->over) {
        struct pollfd p = apart_awaits(a);
        int64_t left = end - now_ms();

        if (left <= 0)
            apart_kill(a);
        else if (poll(&p, 1, (int)left) > 0)
            apart_read(a);
    }
}

/* ---- the end ---- */

uint64_t apart_lost(const struct apart *a)
{
    uint64_t came = a->check.events, got = a->written.events;
    uint64_t known = a->counts.events > came + a->left ? a->counts.events : came + a->left;

    /* In a log with a limit the writer counts all losses, and the last data may be more than the
     * worker had counted. */
    return known > got ? known - got : 0;
}

static int say_death(const struct apart *a)
{
    uint64_t lost = apart_lost(a);
    const char *why = "it sent data that is no part of a recording";
    char silence[60];

    if (a->silent) {
        snprintf(silence, sizeof silence, "it gave no sign of life for %d s", a->patience / 1000);
        why = silence;
    } else if (!a->hostile) {
        why = strsignal(WTERMSIG(a->status));
    }
    if (a->log < 0)
        return tool_error("the worker that used process %d with its user's rights was ended: %s",
                          (int)a->target, why);
    return tool_error("the worker that traced process %d with its user's rights was ended: %s; "
                      "lost what it had not delivered, at least %s event%s",
                      (int)a->target, why, units_count(lost), lost == 1 ? "" : "s");
}

int apart_end(struct apart *a)
{
    int status = WIFEXITED(a->status) ? WEXITSTATUS(a->status) : EXIT_FAILED;

    if (a->used)
        show_line(a);
    free(a->buffer);
    a->buffer = NULL;
    if (a->error || out_failed())
        return EXIT_FAILED;
    if (a->hostile || !WIFEXITED(a->status))
        return say_death(a);
    return status <= EXIT_LOST || status == EXIT_USAGE ? status : EXIT_FAILED;
}

static volatile sig_atomic_t passed_to;

static void pass_on(int number)
{
    int saved = errno;

    kill((pid_t)passed_to, number);
    errno = saved;
}

/* Once; a second signal ends this process. */
static void pass_signals_on(pid_t worker)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = pass_on, .sa_flags = SA_RESETHAND }, before;

    passed_to = worker;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

int apart_enter(pid_t target)
{
    struct apart a;
    bool worker;
    int status;

    if (apart_is_worker() || !apart_needed(target))
        return EXIT_DONE;
    status = apart_fork(&a, target, -1, &worker);
    if (worker)
        return status;
    if (status != EXIT_DONE)
        exit(out_finish(status));
    pass_signals_on(a.worker);
    while (apart_listen(&a))
        ;
    exit(out_finish(apart_end(&a)));
}
