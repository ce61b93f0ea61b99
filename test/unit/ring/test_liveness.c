/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * An owner whose first thread ends while somebody looks whether it lives: in no moment
 * of that is it dead, as long as another thread of it is there.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ring/liveness.h"
#include "ring_helpers.h"

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
    pid_t pid;

    ck_assert(fd >= 0 && ftruncate(fd, 4096) == 0 && fstat(fd, &file) == 0);
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
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        ck_assert_int_eq(pt_owner_liveness(&h, file.st_dev, file.st_ino), PT_DEAD);
    }
    close(fd);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, first_thread_ends);
}

int main(void)
{
    return ring_main("liveness", add);
}
