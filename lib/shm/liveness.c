/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See liveness.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/brief_files.h"
#include "base/clock.h"
#include "base/dir_names.h"
#include "base/sys.h"
#include "base/thread.h"
#include "shm/liveness.h"
#include "shm/maps.h"

#define MAPS_BYTES (1u << 20) /* of the table of mappings, at most: an event may wait for it */

/* Events come here: no call of the C library that is a cancellation point. */
static int open_file(const char *path)
{
    int fd;

    pt_brief_files_enter();
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | PT_OPEN_BRIEFLY, 0);
    if (fd < 0)
        pt_brief_files_leave();
    return fd;
}

static ssize_t read_some(int fd, char *to, size_t size)
{
    ssize_t n;

    do
        n = (ssize_t)syscall(SYS_read, fd, to, size);
    while (n < 0 && errno == EINTR);
    return n;
}

static void close_file(int fd)
{
    syscall(SYS_close, fd);
    pt_brief_files_leave();
}

static ssize_t read_file(const char *path, char *to, size_t size)
{
    ssize_t n;
    int fd;

    fd = open_file(path);
    n = fd < 0 ? -1 : read_some(fd, to, size - 1);
    if (n < 0)
        n = -errno;
    if (fd >= 0)
        close_file(fd);
    to[n > 0 ? n : 0] = '\0';
    return n;
}

static char *put_number(char *to, uint32_t n)
{
    char digits[12], *d = digits + sizeof digits - 1;

    *d = '\0';
    do
        *--d = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    return stpcpy(to, d);
}

/* For the whole process, tid 0, or for a thread: the first one has the process's number. */
static void proc_path(char *to, uint32_t pid, uint32_t tid, const char *leaf)
{
    char *p = put_number(stpcpy(to, "/proc/"), pid);

    if (tid)
        p = put_number(stpcpy(p, "/task/"), tid);
    stpcpy(p, leaf);
}

static uint64_t number(const char *p)
{
    uint64_t n = 0;

    for (; *p >= '0' && *p <= '9'; p++)
        n = n * 10 + (uint64_t)(*p - '0');
    return n;
}

/* The number that we have there; 0: none. */
static uint32_t number_in_proc(void)
{
    char link[24];
    ssize_t n = readlink("/proc/self", link, sizeof link - 1);

    link[n > 0 ? n : 0] = '\0';
    return (uint32_t)number(link);
}

bool pt_proc_is_ours(void)
{
    return number_in_proc() == (uint32_t)getpid();
}

/* Processes of others may be hidden (hidepid): only the kernel knows them all. */
static bool is_nowhere(uint32_t pid)
{
    return kill((pid_t)pid, 0) < 0 && errno == ESRCH && access("/proc/self/stat", R_OK) == 0;
}

/* ---- time namespaces ---- */

#define FIRST_TIME_NAMESPACE 0xEFFFFFFAu /* a constant of the kernel's: this one has no offset */

/* A first thread that has ended is in no namespace: the links of the calling one are read. */
static uint64_t namespace_of(const char *link)
{
    struct stat st;
    int saved = errno;
    uint64_t ns = stat(link, &st) == 0 ? st.st_ino : 0;

    errno = saved;
    return ns;
}

/* A number after spaces; *p points to what follows it. */
static int64_t signed_number(const char **p)
{
    bool negative;
    int64_t n;

    *p += strspn(*p, " ");
    negative = **p == '-';
    *p += negative;
    n = (int64_t)number(*p);
    *p += strspn(*p, "0123456789");
    return negative ? -n : n;
}

static uint64_t time_namespace; /* of the caller, at its last look at a process; 0: not known */

bool pt_time_is_shared(uint32_t pid)
{
    uint64_t own = pt_load_relaxed(&time_namespace);
    char path[48];

    proc_path(path, pid, 0, "/ns/time");
    return own != 0 && own == namespace_of(path);
}

/* The file has the offsets of the namespace for children. */
bool pt_time_offset(const char *clock, int64_t *ns)
{
    uint64_t own = namespace_of("/proc/thread-self/ns/time");
    char text[256];
    const char *p;

    pt_store_relaxed(&time_namespace, own);
    *ns = 0;
    if (own == FIRST_TIME_NAMESPACE || own == 0)
        return true;
    if (own != namespace_of("/proc/thread-self/ns/time_for_children") ||
        read_file("/proc/self/timens_offsets", text, sizeof text) <= 0 ||
        !(p = strstr(text, clock)))
        return false;
    p += strlen(clock);
    *ns = signed_number(&p) * 1000000000;
    *ns += signed_number(&p);
    return true;
}

bool pt_time_learn(void)
{
    int64_t offset;

    if (pt_time_offset("monotonic", &offset))
        pt_store_relaxed(&pt_clock_offset, (uint64_t)offset);
    return pt_load_relaxed(&time_namespace) == FIRST_TIME_NAMESPACE;
}

/* Makes ticks of our namespace those of the first one. */
static int to_first_namespace(struct pt_process *process)
{
    long hz = sysconf(_SC_CLK_TCK);
    int64_t offset;

    if (!process->is_known) {
        if (!pt_time_offset("boottime", &offset) || hz <= 0)
            return -EIO;
        process->added = offset / (1000000000 / hz);
        process->is_known = true;
    }
    process->start -= (uint64_t)process->added;
    return 0;
}

/* vsize: the size of its memory. */
static int parse_stat(const char *text, ssize_t n, struct pt_process *process, uint64_t *vsize)
{
    const char *p = n > 0 ? strrchr(text, ')') : NULL;
    bool found = false;

    /* The command name in field 2 may contain anything, so count from the last
     * parenthesis, after which field 3 follows. */
    *vsize = 0;
    for (int field = 3; p && (p = strchr(p, ' ')) && field <= 23; field++) {
        p++;
        if (field == 3)
            process->zombie = *p == 'Z' || *p == 'X' || *p == 'x';
        else if (field == 4)
            process->parent = (uint32_t)number(p);
        else if (field == 20)
            process->threads = (uint32_t)number(p);
        else if (field == 22) {
            process->start = number(p);
            found = true;
        } else if (field == 23)
            *vsize = number(p);
    }
    if (found)
        return to_first_namespace(process);
    if (pt_is_shortage((int)n))
        return (int)n;
    return n == -ENOENT || n == -ESRCH ? -ENOENT : -EIO;
}

/* Reads the stat of the process's first thread, whose start time is the process's. */
static int read_stat(uint32_t pid, struct pt_process *process)
{
    char path[48], text[1024];
    uint64_t vsize;
    ssize_t n;

    proc_path(path, pid, pid, "/stat");
    n = read_file(path, text, sizeof text);
    return parse_stat(text, n, process, &vsize);
}

/* The same of the caller, by one file; *here: its number in /proc.  qemu-user invents that file: a
 * forked child has its parent's start time there, and no memory; nor has a first thread that has
 * ended. */
static int read_own_stat(struct pt_process *process, uint32_t *here)
{
    char text[1024];
    uint64_t vsize;
    ssize_t n = read_file("/proc/self/stat", text, sizeof text);
    int r = parse_stat(text, n, process, &vsize);

    *here = (uint32_t)number(text);
    if (r == 0 && vsize == 0) {
        *here = number_in_proc();
        r = read_stat(*here, process);
    }
    return r;
}

static int look(uint32_t pid, struct pt_process *process)
{
    int saved = errno, r = read_stat(pid, process);

    if (r == -ENOENT)
        r = is_nowhere(pid) ? -ESRCH : -EIO;
    errno = saved;
    return r;
}

int pt_process_look(uint32_t pid, struct pt_process *process)
{
    int saved = errno, r;

    process->is_known = false;
    r = pt_proc_is_ours() ? look(pid, process) : -EIO;
    errno = saved;
    return r;
}

int pt_process_parent(uint32_t *pid, struct pt_process *process)
{
    uint64_t born = process->start;
    int r;

    *pid = process->parent;
    if (*pid == 0)
        return -ESRCH;
    r = look(*pid, process); /* the same /proc as before */
    return r == 0 && process->start > born ? -ESRCH : r;
}

uint64_t pt_process_start(uint32_t pid)
{
    struct pt_process p;
    int r = pt_process_look(pid, &p);

    return r == 0 ? p.start : r == -ESRCH ? 0 : UINT64_MAX;
}

uint64_t pt_pid_namespace(void)
{
    return namespace_of("/proc/thread-self/ns/pid");
}

uint64_t pt_mount_namespace(void)
{
    return namespace_of("/proc/thread-self/ns/mnt");
}

static uint64_t *home; /* the number; the word is 0 in a forked child */

void pt_home_note(uint64_t *word)
{
    pt_store_release(word, (uint64_t)pt_sys_pid());
    pt_store_release(&home, word);
}

/* False also if the kernel does not tell. */
static bool shares_memory(pid_t with)
{
    long own = pt_sys_pid();

    return with > 0 && syscall(SYS_kcmp, own, (long)with, (long)KCMP_VM, 0L, 0L) == 0;
}

/*
 * A thread whose number the C library knows belongs to no child that shares memory.  Without
 * kcmp, the caller counts as a process of its own: right for a child of the bare system call,
 * wrong only for the vfork child of such a child before that one's first call.
 */
static uint32_t find_home(uint64_t noted, uint32_t own)
{
    pid_t parent;

    if (noted == own || pt_thread_number() == pt_sys_tid())
        return own;
    /* If several processes share the memory, one that still lives owns it. */
    if (noted)
        return pt_sys_thread_exists((int32_t)noted, (int32_t)noted) ? (uint32_t)noted : own;
    parent = getppid();
    return shares_memory(parent) ? (uint32_t)parent : own;
}

static uint32_t home_of(uint32_t own)
{
    int saved = errno;
    uint64_t *word = pt_load_acquire(&home);
    uint64_t noted = word ? pt_load_relaxed(word) : 0;
    uint32_t pid = find_home(noted, own);

    if (word && noted == 0)
        pt_store_relaxed(word, (uint64_t)pid);
    errno = saved;
    return pid;
}

uint32_t pt_home_pid(void)
{
    return home_of((uint32_t)pt_sys_pid());
}

static pt_u64 home_namespace; /* 0: unknown */

void pt_home_note_namespace(uint64_t ns)
{
    pt_store_relaxed(&home_namespace, ns);
}

/* A thread whose number the C library knows is the home process's.  But the first child in a pid
 * namespace has the number 1, as may its parent. */
static bool sees_home(void)
{
    uint64_t known = pt_load_relaxed(&home_namespace);
    int32_t tid = pt_sys_tid();

    return (tid != 1 && tid == pt_thread_number()) || known == 0 || pt_pid_namespace() == known;
}

bool pt_thread_is_gone(int32_t pid, int32_t tid)
{
    return !pt_sys_thread_exists(pid, tid) && sees_home();
}

bool pt_tid_is_gone(int32_t tid)
{
    return !pt_sys_tid_exists(tid) && sees_home();
}

/* Reads the stat of the process with that number here, which may have another one in /proc. */
static int read_home(uint32_t pid, uint32_t own, struct pt_process *process)
{
    uint32_t here = number_in_proc();
    int r;

    if (here == own)
        return read_stat(pid, process);
    r = getppid() == (pid_t)pid ? read_stat(here, process) : -ENOENT;
    return r == 0 ? read_stat(process->parent, process) : r;
}

int pt_identity_process(struct pt_identity *id, struct pt_process *process, bool no_offset,
                        bool *is_ours)
{
    const uint64_t *word = pt_load_acquire(&home);
    uint32_t here, own;
    int saved = errno, r;

    memset(id, 0, sizeof *id);
    memset(process, 0, sizeof *process);
    process->is_known = no_offset;
    r = read_own_stat(process, &here);
    /* The kernel need not be asked for the number that was noted, and that /proc shows. */
    if (r == 0 && word && here == pt_load_relaxed(word)) {
        own = id->pid = here;
    } else {
        own = (uint32_t)pt_sys_pid();
        id->pid = home_of(own);
    }
    *is_ours = r == 0 && here == own && id->pid == own;
    if (id->pid != own)
        r = read_home(id->pid, own, process);
    if (r == 0)
        id->start = process->start;
    errno = saved;
    return pt_is_shortage(r) ? r : 0;
}

int pt_identity_self(struct pt_identity *id)
{
    char text[64] = "";
    struct pt_process process;
    bool is_ours;
    int saved = errno, r = pt_identity_process(id, &process, false, &is_ours), e;
    unsigned k = 0;

    e = (int)read_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
    for (const char *p = text; *p && k < 32; p++) {
        int d = pt_maps_hex_digit(*p);

        if (d >= 0) {
            id->boot_id[k / 2] = (uint8_t)(id->boot_id[k / 2] << 4 | d);
            k++;
        }
    }
    id->pid_ns = pt_pid_namespace();
    errno = saved;
    return r < 0 ? r : pt_is_shortage(e) ? e : 0;
}

enum maps { MAPS_UNKNOWN, MAPS_NOTHING, MAPS_OTHERS, MAPS_IT };

/* Is the segment among the mappings in that file?  NOTHING: there are none, as the thread has ended
 * or ends just now. */
static enum maps look_at_maps(const char *path, const struct pt_seg_header *h, dev_t dev, ino_t ino)
{
    char text[2048]; /* events come here, on any stack */
    size_t total = 0;
    struct pt_maps maps;
    ssize_t n = 1;
    bool gone;
    int fd;

    fd = open_file(path);
    if (fd < 0)
        return errno == ENOENT || errno == ESRCH ? MAPS_NOTHING : MAPS_UNKNOWN;
    pt_maps_begin(&maps, dev, ino, h->id);
    while (!maps.found && total < MAPS_BYTES && (n = read_some(fd, text, sizeof text)) > 0) {
        total += (size_t)n;
        pt_maps_take(&maps, text, (size_t)n);
    }
    gone = (n == 0 && total == 0) || (n < 0 && errno == ESRCH);
    close_file(fd);
    if (maps.found || gone)
        return maps.found ? MAPS_IT : MAPS_NOTHING;
    return n == 0 && !maps.alike ? MAPS_OTHERS : MAPS_UNKNOWN;
}

/* Those of the process, which are those of its first thread. */
static enum maps look_at_first(uint32_t pid, const struct pt_seg_header *h, dev_t dev, ino_t ino)
{
    char path[40];

    proc_path(path, pid, 0, "/maps");
    return look_at_maps(path, h, dev, ino);
}

/* Those of another thread, where the first one has ended. */
static enum maps look_at_others(uint32_t pid, const struct pt_seg_header *h, dev_t dev, ino_t ino)
{
    _Alignas(struct pt_dir_entry) char names[512];
    enum maps maps = MAPS_NOTHING;
    char path[48];
    long n = 0;
    int fd;

    proc_path(path, pid, 0, "/task");
    fd = open_file(path);
    while (fd >= 0 && maps == MAPS_NOTHING &&
           (n = pt_dir_read_names(fd, names, sizeof names)) > 0) {
        for (long at = 0; at < n && maps == MAPS_NOTHING; at += pt_dir_entry_at(names, at)->bytes) {
            uint32_t tid = (uint32_t)number(pt_dir_entry_at(names, at)->name);

            if (tid == 0 || tid == pid)
                continue;
            proc_path(path, pid, tid, "/maps");
            maps = look_at_maps(path, h, dev, ino);
        }
    }
    if (fd >= 0)
        close_file(fd);
    return maps;
}

/* Without /proc there is no telling one boot from another. */
static bool is_known(const uint8_t boot_id[16])
{
    static const uint8_t none[16];

    return memcmp(boot_id, none, sizeof none) != 0;
}

/* The process, or another one of its number.  PT_ALIVE: as far as that tells. */
static enum pt_liveness look_at_process(uint32_t pid, uint64_t start, struct pt_process *process)
{
    int r = pt_process_look(pid, process);

    if (r == -ESRCH || (r == 0 && !pt_is_start(process->start, start)))
        return PT_DEAD;
    return r < 0 ? PT_UNKNOWN : PT_ALIVE;
}

static enum pt_liveness look_at_user(const struct pt_seg_header *h, uint32_t pid, uint64_t start,
                                     dev_t dev, ino_t ino)
{
    struct pt_identity self;
    struct pt_process user;
    enum pt_liveness seen;
    enum maps maps;

    pt_identity_self(&self);
    if (is_known(self.boot_id) && is_known(h->boot_id) &&
        memcmp(self.boot_id, h->boot_id, sizeof self.boot_id) != 0)
        return PT_DEAD;
    if (self.pid_ns == 0 || self.pid_ns != h->pid_ns)
        return PT_UNKNOWN;
    seen = look_at_process(pid, start, &user);
    if (seen == PT_ALIVE && !user.zombie) {
        maps = ino ? look_at_first(pid, h, dev, ino) : MAPS_IT;
        /* They may have gone while they were read, which looks like their end. */
        if (maps == MAPS_OTHERS)
            maps = look_at_first(pid, h, dev, ino);
        if (maps != MAPS_NOTHING)
            return maps == MAPS_IT ? PT_ALIVE : maps == MAPS_OTHERS ? PT_DEAD : PT_UNKNOWN;
        /* Since it was asked how many threads there are, one may have begun. */
        seen = look_at_process(pid, start, &user);
    }
    if (seen != PT_ALIVE)
        return seen;
    if (user.threads <= 1)
        return PT_DEAD;
    /* main() has called pthread_exit(): its mappings are no more shown, a while before it is
     * a zombie; those of another thread are. */
    maps = ino ? look_at_others(pid, h, dev, ino) : MAPS_IT;
    return maps == MAPS_IT ? PT_ALIVE : PT_UNKNOWN;
}

enum pt_liveness pt_user_liveness(const struct pt_seg_header *h, uint32_t pid, uint64_t start,
                                  dev_t dev, ino_t ino)
{
    int saved = errno;
    enum pt_liveness r;
    sigset_t before;

    pt_thread_hold_signals(&before);
    r = look_at_user(h, pid, start, dev, ino);
    pt_thread_let_signals(&before);
    errno = saved;
    return r;
}

enum pt_liveness pt_owner_liveness(const struct pt_seg_header *h, dev_t dev, ino_t ino)
{
    return pt_user_liveness(h, h->owner_pid, h->owner_start, dev, ino);
}
