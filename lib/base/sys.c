/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See sys.h.  errno is saved by hand: these run inside posix_trace_event(),
 * which must not disturb the program it is called from.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/brief_files.h"
#include "base/clock.h"
#include "base/sys.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

static long call(long number, long a, long b, long c, long d, long e, long f)
{
    int saved = errno;
    long r = syscall(number, a, b, c, d, e, f);

    if (r < 0)
        r = -errno;
    errno = saved;
    return r;
}

int pt_futex_wait(uint32_t *word, uint32_t value, clockid_t clock, const struct timespec *until)
{
    long op = FUTEX_WAIT_BITSET | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);

    return (int)call(SYS_futex, (long)word, op, (long)value, (long)until, 0,
                     (long)FUTEX_BITSET_MATCH_ANY);
}

void pt_futex_wake_all(uint32_t *word)
{
    call(SYS_futex, (long)word, FUTEX_WAKE, 0x7fffffff, 0, 0, 0);
}

void *pt_sys_pages(size_t bytes)
{
    int saved = errno;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    errno = saved;
    return p == MAP_FAILED ? NULL : p;
}

void *pt_sys_wiped_pages(size_t bytes)
{
    int saved = errno;
    void *p = pt_sys_pages(bytes);

    /* Other errors than those of a shortage: there is no such call, or none is allowed. */
    if (p && madvise(p, bytes, MADV_WIPEONFORK) < 0 && (errno == ENOMEM || errno == EAGAIN)) {
        munmap(p, bytes);
        p = NULL;
    }
    errno = saved;
    return p;
}

#define DRAIN_NS 1000000u

/*
 * For the case that membarrier is refused after writers have relied on it (a seccomp filter
 * installed later).  Each caller does both steps itself and shares nothing, so that neither another
 * caller nor a fork can cancel its barrier.
 *
 * Taking write permission from a page that was just written makes the kernel
 * interrupt every processor that runs this process, on x86 without INVLPGB.  arm64 and others
 * invalidate by broadcast and interrupt no processor, and processors that run another process with
 * the same segment are not interrupted either.  For those the caller waits: a store leaves the
 * store buffer within microseconds, so after DRAIN_NS all stores that a writer made before the call
 * are visible (temporally bounded store buffers: Morrison and Afek, ASPLOS 2015).  Processors
 * behave like that, but their manuals do not promise it; a stream that is created where membarrier
 * is refused has writers with fences instead (the segment's fences).
 */
static void barrier_without_membarrier(void)
{
    uint64_t until;
    struct timespec t;
    char *page = pt_sys_pages(4096);

    if (page) {
        *(volatile char *)page = 1;
        call(SYS_mprotect, (long)page, 4096, PROT_READ, 0, 0, 0);
        call(SYS_munmap, (long)page, 4096, 0, 0, 0, 0);
    }
    until = pt_clock_ns(CLOCK_MONOTONIC) + DRAIN_NS;
    t.tv_sec = (time_t)(until / 1000000000u);
    t.tv_nsec = (long)(until % 1000000000u);
    while (call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&t, 0, 0, 0) == -EINTR)
        ;
}

static uint32_t registered; /* this process is a target of pt_barrier_all */

static bool register_process(void)
{
    return call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0, 0, 0, 0) == 0;
}

/*
 * Every pair of a writer and a caller has a fence, with any permissions of the two:
 *
 *   the segment's creator was refused   all writers use fences (the segment's fences)
 *   the writer's process was refused    its writers use fences (bind_writer); the result is kept,
 *                                       so that a permission that comes later changes nothing
 *   the writer was refused later        the kernel keeps the registration of a process, also
 *                                       over fork; exec makes a new one, which asks again
 *   the caller is not registered        the command needs no registration of the caller
 *   the caller is refused, or later     barrier_without_membarrier()
 */
void pt_barrier_all(void)
{
    pt_fence_seqcst();
    /* A process that CRIU has restored may have lost its registration, and the kernel
     * then passes its threads over without an error.  It takes one call to register again.  Writers
     * of other restored processes stay without a fence: their start time has changed, so their
     * streams and pages count as those of dead processes. */
    if (pt_load_relaxed(&registered))
        register_process();
    if (call(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0, 0, 0, 0) < 0)
        barrier_without_membarrier();
    pt_fence_seqcst();
}

/* liburcu has registered the process for it when it was loaded. */
static bool private_barrier(void)
{
    return call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0;
}

void pt_barrier_own(void)
{
    pt_fence_seqcst();
    if (!private_barrier())
        barrier_without_membarrier();
    pt_fence_seqcst();
}

bool pt_barrier_register(void)
{
    if (!register_process() ||
        call(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0, 0, 0, 0) < 0)
        return false;
    pt_store_relaxed(&registered, 1u);
    return true;
}

int32_t pt_sys_tid(void)
{
    return (int32_t)call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

int32_t pt_sys_pid(void)
{
    return (int32_t)call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

void pt_sys_host(char to[64])
{
    struct utsname names;

    memset(to, 0, 64);
    if (uname(&names) == 0)
        memcpy(to, names.nodename, strnlen(names.nodename, 63));
}

bool pt_sys_thread_exists(int32_t pid, int32_t tid)
{
    return call(SYS_tgkill, pid, tid, 0, 0, 0, 0) != -ESRCH;
}

/* The id of the kernel's scheduler clock of a thread of this process. */
#define THREAD_CLOCK(tid) ((clockid_t)(~(unsigned)(tid) << 3 | 6u))

bool pt_sys_run_time(int32_t tid, uint64_t *ns)
{
    struct timespec t;
    int saved = errno;
    bool known = clock_gettime(THREAD_CLOCK(tid), &t) == 0;

    errno = saved;
    if (known)
        *ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return known;
}

bool pt_sys_tid_exists(int32_t tid)
{
    return call(SYS_tkill, tid, 0, 0, 0, 0, 0) != -ESRCH;
}

uint32_t pt_sys_image(void)
{
    static uint32_t known;
    const uint8_t *random;
    uint32_t h = pt_load_relaxed(&known);

    if (h != 0)
        return h;
    random = (const uint8_t *)(uintptr_t)getauxval(AT_RANDOM);
    h = 2166136261u;
    for (int i = 0; random && i < 16; i++)
        h = (h ^ random[i]) * 16777619u;
    pt_store_relaxed(&known, h | 1);
    return h | 1;
}

void pt_sys_random(void *to, size_t bytes)
{
    uint8_t *p = to;

    if (call(SYS_getrandom, (long)to, (long)bytes, GRND_NONBLOCK, 0, 0, 0) == (long)bytes)
        return;
    /* Early boot: ids only need to differ on this machine. */
    for (size_t i = 0; i < bytes; i++) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        p[i] = (uint8_t)((uint64_t)t.tv_nsec * 2654435761u >> 16 ^ (uint64_t)pt_sys_tid() >> i % 8);
    }
}

/*
 * Before Linux 5.14, or where a filter refuses madvise.  Touching a page of a
 * full file system would raise SIGBUS; so the kernel is asked to do it: adding 0
 * to a futex writes to its page and answers EFAULT where there is none.
 */
static int populate_by_futex(uint8_t *at, size_t bytes)
{
    long page = sysconf(_SC_PAGESIZE), r = 0;

    for (size_t i = 0; r >= 0 && i < bytes; i += (size_t)page)
        r = call(SYS_futex, (long)(at + i), FUTEX_WAKE_OP, 0, 0, (long)(at + i),
                 FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));
    return r >= 0 ? 0 : -ENOMEM;
}

static int populate(void *at, size_t bytes, int advice)
{
    long r = call(SYS_madvise, (long)at, (long)bytes, advice, 0, 0, 0);

    if (r == 0)
        return 0;
    return r == -ENOMEM || r == -EFAULT ? -ENOMEM : populate_by_futex(at, bytes);
}

int pt_sys_populate(void *at, size_t bytes)
{
    return populate(at, bytes, MADV_POPULATE_WRITE);
}

int pt_sys_populate_read(void *at, size_t bytes)
{
    return populate(at, bytes, MADV_POPULATE_READ);
}

bool pt_sys_read_text(const char *path, char *text, size_t size)
{
    ssize_t n = -1;
    int fd;

    pt_brief_files_enter();
    fd = open(path, O_RDONLY | PT_OPEN_BRIEFLY);
    if (fd >= 0) {
        n = read(fd, text, size - 1);
        close(fd);
    }
    pt_brief_files_leave();
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

uint64_t pt_sys_most_size(void)
{
    struct rlimit limit;
    int saved = errno;
    uint64_t most = getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY
                        ? UINT64_MAX
                        : limit.rlim_cur;

    errno = saved;
    return most;
}

bool pt_sys_allows_size(uint64_t size)
{
    return size <= pt_sys_most_size();
}

int pt_sys_write_at(int fd, const void *from, size_t bytes, uint64_t at)
{
    int saved = errno, r = pt_sys_allows_size(at + bytes) ? 0 : -EFBIG;

    for (size_t done = 0; r == 0 && done < bytes;) {
        ssize_t n = pwrite(fd, (const uint8_t *)from + done, bytes - done, (off_t)(at + done));

        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            r = n == 0 ? -EIO : -errno;
    }
    errno = saved;
    return r;
}

bool pt_barrier_works(void)
{
    static uint32_t known; /* 0 not tried, 1 works, 2 refused */

    if (pt_load_acquire(&known) == 0)
        pt_store_release(&known, pt_barrier_register() ? 1u : 2u);
    return pt_load_acquire(&known) == 1;
}
