/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See target.h. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/sys.h"
#include "page/target.h"
#include "place/dir.h"
#include "shm/liveness.h"

/* Opens a file of /proc/PID.  A descriptor, or -errno.  Where the first thread has ended, those of
 * memory and directories are empty, or not there. */
static int open_proc(pid_t pid, const char *leaf, int flags)
{
    char path[48];
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, leaf);
    fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    return fd < 0 ? -errno : fd;
}

static bool is_gone(int error)
{
    return error == -ENOENT || error == -ESRCH;
}

/* The same of another thread that lives: threads share memory and directories. */
static int open_of_thread(pid_t pid, const char *leaf, int flags)
{
    int tasks = open_proc(pid, "task", O_DIRECTORY), fd = -ESRCH;
    DIR *dir = tasks < 0 ? NULL : fdopendir(tasks);
    struct dirent *entry;
    char path[32];

    if (!dir) {
        fd = tasks < 0 ? tasks : -errno;
        if (tasks >= 0)
            close(tasks);
        return fd;
    }
    while (is_gone(fd) && (entry = readdir(dir)) != NULL) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (tid <= 0 || tid == pid)
            continue;
        snprintf(path, sizeof path, "%ld/%s", (long)tid, leaf);
        fd = openat(tasks, path, O_RDONLY | O_CLOEXEC | flags);
        if (fd < 0)
            fd = -errno;
    }
    closedir(dir);
    return fd;
}

/* The lines of /proc/PID/status without that of the groups: there may be 65,536 of them, and
 * those lines that are asked for come after it. */
struct status {
    char text[4096];
    size_t length, line; /* where the last line begins */
    bool groups;         /* it is that of the groups */
};

static void take_char(struct status *s, char c)
{
    static const char groups[] = "Groups:";
    size_t key = sizeof groups - 1;

    if (!s->groups && s->length < sizeof s->text - 1)
        s->text[s->length++] = c;
    if (s->length - s->line == key && memcmp(s->text + s->line, groups, key) == 0) {
        s->length = s->line;
        s->groups = true;
    }
    if (c == '\n') {
        s->line = s->length;
        s->groups = false;
    }
}

/* 0 or -errno. */
static int read_status(pid_t pid, struct status *s)
{
    int fd = open_proc(pid, "status", 0), r;
    char piece[512];
    ssize_t n;

    s->length = s->line = 0;
    s->groups = false;
    if (fd < 0)
        return fd;
    while ((n = read(fd, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR))
        for (ssize_t i = 0; i < n; i++)
            take_char(s, piece[i]);
    r = n < 0 ? -errno : 0;
    close(fd);
    s->text[s->length] = '\0';
    return r;
}

/* The text after "Key:" in /proc/PID/status, or "". */
static const char *field(const char *status, const char *key)
{
    size_t n = strlen(key);

    for (const char *line = status; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && line[n] == ':')
            return line + n + 1 + strspn(line + n + 1, " \t");
    }
    return "";
}

static unsigned long number(const char *status, const char *key)
{
    return strtoul(field(status, key), NULL, 10);
}

/* Real, effective, saved and file system id are all the same one. */
static bool all_ids_are(const char *status, const char *key, unsigned long id)
{
    const char *p = field(status, key);

    for (int i = 0; i < 4; i++) {
        char *end;

        if (strtoul(p, &end, 10) != id || end == p)
            return false;
        p = end;
    }
    return true;
}

static unsigned long effective(const char *status, const char *key)
{
    char *end;

    strtoul(field(status, key), &end, 10);
    return strtoul(end, NULL, 10);
}

/* Has the process a pid in a namespace below ours, too? */
static bool has_second_pid(const char *status)
{
    char *end;

    strtoul(field(status, "NSpid"), &end, 10);
    return *end == '\t';
}

/* A process whose main thread has ended lives as long as it has other threads. */
static bool has_ended(const char *status)
{
    char state = *field(status, "State");

    return state == 'X' || (state == 'Z' && number(status, "Threads") <= 1);
}

static uint64_t aux_word(const uint8_t *at, bool wide)
{
    uint64_t long_word;
    uint32_t word;

    memcpy(&long_word, at, sizeof long_word);
    memcpy(&word, at, sizeof word);
    return wide ? long_word : word;
}

/* Closes the descriptor. */
static ssize_t read_once(int fd, uint8_t *to, size_t size)
{
    ssize_t n;

    if (fd < 0)
        return fd;
    n = read(fd, to, size);
    if (n < 0)
        n = -errno;
    close(fd);
    return n;
}

/* The file of a first thread that has ended cannot be opened, or is empty on older kernels. */
static ssize_t read_auxv(pid_t pid, uint8_t *to, size_t size)
{
    ssize_t n = read_once(open_proc(pid, "auxv", 0), to, size);

    if (n == 0 || is_gone((int)n))
        n = read_once(open_of_thread(pid, "auxv", 0), to, size);
    return n == 0 ? -ESRCH : n;
}

/*
 * Was the program started with more rights than its caller had?  The kernel lets
 * only those read the vector who may read the process's memory: that answer counts
 * as much as the vector.  Its words are those of the target's machine; no type has
 * a number so large that it would fill both halves of a long word.
 */
static int is_secure(pid_t pid)
{
    uint8_t aux[2048];
    ssize_t n = read_auxv(pid, aux, sizeof aux);
    bool wide = n >= 8 && aux_word(aux, true) < 0x10000;
    size_t word = wide ? 8 : 4;

    if (n < 0)
        return (int)n;
    for (size_t i = 0; i + 2 * word <= (size_t)n; i += 2 * word)
        if (aux_word(aux + i, wide) == AT_SECURE)
            return aux_word(aux + i + word, wide) != 0;
    return 0;
}

/* The process that root has checked before it gave up its rights; pid 0: none. */
static struct pt_target looked_at;

static int may_trace(pid_t pid, const char *status)
{
    uid_t uid = geteuid();
    int secure;

    if (looked_at.pid == (uint32_t)pid && looked_at.uid == uid &&
        looked_at.start == pt_process_start((uint32_t)pid))
        return 0;
    if (uid != 0 && (!all_ids_are(status, "Uid", uid) || !all_ids_are(status, "Gid", getegid())))
        return -EPERM;
    secure = is_secure(pid);
    if (is_gone(secure))
        return -ESRCH;
    if (pt_is_shortage(secure))
        return secure;
    /* Root without CAP_SYS_PTRACE, as in many containers, still has all files. */
    if (secure < 0 && uid == 0)
        return 0;
    return secure == 0 ? 0 : -EPERM;
}

static int look(struct pt_target *t, pid_t pid, struct status *s)
{
    const char *status = s->text;
    int r;

    if (pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH))
        return -ESRCH;
    if (!pt_proc_is_ours())
        return -ENOTSUP;
    r = read_status(pid, s);
    if (r < 0 && pt_is_shortage(r))
        return r;
    if (r < 0) /* it has just gone, or is another user's and hidden */
        return kill(pid, 0) == 0 ? -ENOTSUP : errno == EPERM ? -EPERM : -ESRCH;
    if (number(status, "Tgid") != (unsigned long)pid || has_ended(status))
        return -ESRCH;
    r = may_trace(pid, status);
    if (r < 0)
        return r;
    if (has_second_pid(status))
        return -ENOTSUP;
    t->pid = (uint32_t)pid;
    t->uid = (uid_t)effective(status, "Uid");
    t->start = pt_process_start(t->pid);
    return t->start == 0 ? -ESRCH : t->start == UINT64_MAX ? -ENOTSUP : 0;
}

int pt_target_look(struct pt_target *t, pid_t pid)
{
    struct status *s = malloc(sizeof *s); /* too large for a small stack */
    int r = s ? look(t, pid, s) : -ENOMEM;

    free(s);
    return r;
}

/* Also those that a securebit would have kept. */
static int drop_capabilities(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { .effective = 0 } };

    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

static int become(uid_t uid, gid_t gid)
{
    uid_t ids[3];

    if (setgroups(1, &gid) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
        return -errno;
    if (drop_capabilities() < 0 || getresuid(&ids[0], &ids[1], &ids[2]) < 0)
        return -errno;
    /* Only the ids prevent a process that has taken over this one from becoming root. */
    if (ids[0] != uid || ids[1] != uid || ids[2] != uid || setresuid(0, 0, 0) == 0)
        return -EPERM;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    return 0;
}

int pt_target_take_ids(pid_t pid)
{
    struct pt_target t;
    struct status s;
    int r;

    if (geteuid() != 0)
        return -EPERM;
    r = read_status(getpid(), &s);
    if (r < 0 || number(s.text, "Threads") != 1)
        return r < 0 ? -ENOTSUP : -EBUSY;
    r = pt_target_look(&t, pid);
    if (r < 0 || t.uid == 0)
        return r;
    r = read_status(pid, &s);
    if (r < 0 || pt_process_start(t.pid) != t.start || effective(s.text, "Uid") != t.uid)
        return -ESRCH;
    r = become(t.uid, (gid_t)effective(s.text, "Gid"));
    if (r == 0)
        looked_at = t;
    return r;
}

bool pt_target_uid(uint32_t pid, uid_t *uid)
{
    struct status s;
    int saved = errno;
    bool known = read_status((pid_t)pid, &s) == 0 && field(s.text, "Uid")[0] != '\0';

    if (known)
        *uid = (uid_t)effective(s.text, "Uid");
    errno = saved;
    return known;
}

/* Of the target. */
static int open_root(const struct pt_target *t)
{
    int fd = open_proc((pid_t)t->pid, "root", O_PATH | O_DIRECTORY);

    return is_gone(fd) ? open_of_thread((pid_t)t->pid, "root", O_PATH | O_DIRECTORY) : fd;
}

bool pt_target_sees(const struct pt_target *t, int dir)
{
    char link[48], ours[512];
    struct stat a, b;
    bool sees = true;
    ssize_t n;
    int root;

    snprintf(link, sizeof link, "/proc/thread-self/fd/%d", dir);
    n = readlink(link, ours, sizeof ours - 1);
    if (n <= 1 || fstat(dir, &a) < 0)
        return true;
    ours[n] = '\0';
    root = open_root(t);
    if (root < 0)
        return true;
    if (fstatat(root, ours + 1, &b, 0) == 0)
        sees = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    else
        sees = errno != ENOENT && errno != ENOTDIR;
    close(root);
    return sees;
}
