/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See own.h. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/open_above.h"
#include "base/sys.h"
#include "base/thread.h"
#include "log/writer/own.h"

#define PLACES 64 /* recoveries at once in one process */

/* Under the mutex.  An entry is in use if it has this process's pid: the child of a bare system
 * call has its parent's entries. */
static struct entry {
    pid_t pid;
    dev_t dev;
    ino_t ino;
    struct pt_descriptor file; /* the descriptor that a forked child closes; .fd negative: none */
} entries[PLACES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* A handler that runs inside fork() may fork. */
static _Thread_local unsigned forks __attribute__((tls_model("initial-exec")));

int pt_log_reopen(int fd, bool to_write)
{
    static const int modes[] = { O_RDWR, O_WRONLY, O_RDONLY };
    struct stat st, again;
    int own = -1, e = fstat(fd, &st) < 0 ? -errno : 0;
    char path[40];

    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", fd);
    for (int i = 0; e == 0 && own < 0 && i < (to_write ? 2 : 3); i++) {
        own = pt_open_above(AT_FDCWD, path, modes[i] | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
        if (own < 0 && pt_is_shortage(-errno))
            e = -errno;
    }
    if (own < 0)
        return e < 0 ? e : -EACCES;
    if (fstat(own, &again) == 0 && again.st_dev == st.st_dev && again.st_ino == st.st_ino)
        return own;
    close(own);
    return -EACCES;
}

/* -1: another thread has the file, or there are too many. */
static int find_place(const struct stat *st)
{
    pid_t pid = getpid();
    int place = -1;

    for (int i = 0; i < PLACES; i++)
        if (entries[i].pid != pid)
            place = i;
        else if (entries[i].dev == st->st_dev && entries[i].ino == st->st_ino)
            return -1;
    return place;
}

static int open_own(struct pt_log_own *own, int fd, const struct stat *st)
{
    int e = S_ISREG(st->st_mode) ? pt_log_reopen(fd, true) : -EACCES;

    if (pt_is_shortage(e))
        return e;
    if (e >= 0)
        own->file = (struct pt_descriptor){ e, st->st_dev, st->st_ino };
    return 0;
}

/* Signals are held: a handler could fork, in this thread. */
static int take(struct pt_log_own *own, int fd)
{
    bool apart = pt_thread_has_own_descriptors();
    struct stat st;
    int e;

    if (fstat(fd, &st) < 0)
        return -errno;
    pthread_mutex_lock(&mutex);
    own->place = find_place(&st);
    if (own->place >= 0)
        entries[own->place] = (struct entry){ own->pid, st.st_dev, st.st_ino, { .fd = -1 } };
    /* The mutex holds up every fork(), and the open may take long; no fork copies a table of
     * its own. */
    if (apart)
        pthread_mutex_unlock(&mutex);
    e = own->place >= 0 ? open_own(own, fd, &st) : -EBUSY;
    if (!apart) {
        if (e == 0)
            entries[own->place].file = own->file;
        pthread_mutex_unlock(&mutex);
    }
    return e;
}

int pt_log_own_take(struct pt_log_own *own, int fd)
{
    sigset_t before;
    int e;

    *own = (struct pt_log_own){ { .fd = -1 }, -1, getpid() };
    pt_thread_hold_signals(&before);
    e = take(own, fd);
    if (e < 0)
        pt_log_own_release(own);
    pt_thread_let_signals(&before);
    return e;
}

int pt_log_own_check(const struct pt_log_own *own)
{
    if (getpid() != own->pid)
        return -EBUSY;
    return own->file.fd < 0 ? 0 : pt_descriptor_check(&own->file);
}

void pt_log_own_release(struct pt_log_own *own)
{
    sigset_t before;

    if (own->place < 0)
        return;
    pt_thread_hold_signals(&before);
    pthread_mutex_lock(&mutex);
    /* Else a forked child has closed it already. */
    if (entries[own->place].pid == own->pid) {
        entries[own->place].pid = 0;
        pt_descriptor_close(&own->file);
    }
    pthread_mutex_unlock(&mutex);
    pt_thread_let_signals(&before);
}

static void before_fork(void)
{
    if (forks++ == 0)
        pthread_mutex_lock(&mutex);
}

static void after_fork(void)
{
    if (--forks == 0)
        pthread_mutex_unlock(&mutex);
}

static void after_fork_in_child(void)
{
    for (int i = 0; i < PLACES; i++) {
        if (entries[i].pid != 0)
            pt_descriptor_close(&entries[i].file);
        entries[i].pid = 0;
    }
    after_fork();
}

/* At load: no recovery runs yet. */
__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
