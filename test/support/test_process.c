/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Test programs, their private directories, children and threads; see
 * trace_helpers.h.
 */
#include "asleep.h"
#include "trace_helpers.h"
#include "run_suite.h"

#include <fcntl.h>
#include <ftw.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char base_dir[64];
static char stream_dir[96];
static pid_t dir_owner;

const char *th_stream_dir(void)
{
    return stream_dir;
}

/* Runs in each test's own process; where check does not fork, the first test's
 * directory serves all, because the library looks at the variable once. */
static void set_up(void)
{
    char files[sizeof stream_dir + 8];

    if (dir_owner == getpid())
        return;
    dir_owner = getpid();
    /* Not its number, which a later test's process may have again. */
    snprintf(stream_dir, sizeof stream_dir, "%s/XXXXXX", base_dir);
    ck_assert_ptr_nonnull(mkdtemp(stream_dir));
    snprintf(files, sizeof files, "%s.files", stream_dir);
    ck_assert_int_eq(mkdir(files, 0700), 0);
    ck_assert_int_eq(setenv("POSIXTRACE_DIR", stream_dir, 1), 0);
}

/* ---- memory ---- */

/* Blocks that th_alloc() hands pieces out of. */
struct block {
    struct block *next;
    size_t used, size;
    max_align_t bytes[];
};

#define BLOCK_SIZE ((size_t)1 << 20)

static struct block *blocks;

void *th_alloc(size_t size)
{
    struct block *b = blocks;
    void *piece;

    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!b || b->size - b->used < size) {
        size_t room = size < BLOCK_SIZE ? BLOCK_SIZE : size;

        b = calloc(1, sizeof *b + room);
        ck_assert_ptr_nonnull(b);
        b->size = room;
        b->next = blocks;
        blocks = b;
    }
    piece = (char *)b->bytes + b->used;
    b->used += size;
    return piece;
}

static void tear_down(void)
{
    while (blocks) {
        struct block *b = blocks;

        blocks = b->next;
        free(b);
    }
}

/* ---- test programs ---- */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    remove(path);
    return 0;
}

void th_add_fresh(TCase *tc, const TTest *test)
{
    const char *fork_mode = getenv("CK_FORK");

    if (!fork_mode || strcmp(fork_mode, "no") != 0)
        tcase_add_test(tc, test);
}

static char *folder_of_all;

static void use_folder_of_all(void)
{
    if (folder_of_all)
        setenv("POSIXTRACE_DIR", folder_of_all, 1);
}

void th_use_folder_of_all(TCase *tc)
{
    tcase_add_checked_fixture(tc, use_folder_of_all, NULL);
}

static void prepare(TCase *tc)
{
    tcase_add_checked_fixture(tc, set_up, tear_down);
}

int th_main(const char *name, void (*add)(TCase *tc))
{
    const char *folder = getenv("POSIXTRACE_DIR");
    int status;

    folder_of_all = folder ? strdup(folder) : NULL;
    strcpy(base_dir, access("/dev/shm", W_OK) == 0 ? "/dev/shm/posixtrace-test-XXXXXX"
                                                   : "/tmp/posixtrace-test-XXXXXX");
    if (!mkdtemp(base_dir)) {
        perror(base_dir);
        return EXIT_FAILURE;
    }
    status = run_suite(name, name, prepare, add);
    nftw(base_dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(folder_of_all);
    return status;
}

/* ---- children ---- */

pid_t th_fork(void (*body)(void *), void *context)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        body(context);
        _exit(0);
    }
    return pid;
}

void th_reap(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child ended with status %#x",
                  (unsigned)status);
}

void th_in_child(void (*body)(void *), void *context)
{
    th_reap(th_fork(body, context));
}

/* ---- threads ---- */

static void *thread_main(void *arg)
{
    struct th_thread *t = arg;

    pthread_mutex_lock(&t->mutex);
    t->tid = (pid_t)syscall(SYS_gettid);
    t->started = true;
    pthread_cond_signal(&t->cond);
    pthread_mutex_unlock(&t->mutex);
    return t->body(t->context);
}

void th_thread_start(struct th_thread *t, void *(*body)(void *), void *context)
{
    t->body = body;
    t->context = context;
    t->started = false;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->cond, NULL);
    ck_assert_int_eq(pthread_create(&t->thread, NULL, thread_main, t), 0);
    pthread_mutex_lock(&t->mutex);
    while (!t->started)
        pthread_cond_wait(&t->cond, &t->mutex);
    pthread_mutex_unlock(&t->mutex);
}

void *th_thread_join(struct th_thread *t)
{
    void *result = NULL;

    ck_assert_int_eq(pthread_join(t->thread, &result), 0);
    return result;
}

/* A thread may sleep shortly on its way (a lock, a page); several looks in a
 * row at a sleeping thread tell that it has come to rest. */
void th_wait_asleep(pid_t tid)
{
    int seen = 0;

    for (int64_t end = th_now_ns() + TH_WATCHDOG_S * INT64_C(1000000000); seen < 10;) {
        seen = thread_state(tid) == 'S' ? seen + 1 : 0;
        ck_assert_msg(th_now_ns() < end, "the thread does not block");
        th_sleep_ms(2);
    }
}

void th_thread_wait_asleep(struct th_thread *t)
{
    th_wait_asleep(t->tid);
}

void th_sleep_ms(unsigned ms)
{
    struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

    while (nanosleep(&t, &t) < 0 && errno == EINTR)
        ;
}
