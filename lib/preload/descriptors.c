/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What descriptors are: an event for each, before the first traced call on it.
 *
 * A word for each descriptor below LIMIT, in pages that the process gets only for those that it
 * uses:
 *
 *   high 32 bits   generation: incremented when the descriptor is closed or replaced
 *   low 32 bits    0: nothing was recorded in this generation; LOOKING; else of
 *                  posixtrace_system_streams() when the descriptor was recorded
 *
 * A function that records a descriptor stores LOOKING, records the event, and stores the streams,
 * each by compare-and-exchange: if the descriptor was closed meanwhile, the next call on it looks
 * again.  Two threads that look at the same time record it twice.  A close changes a word that is
 * not 0 before and after it: before, as another thread may have the number again before this one
 * returns; after, if a call of another thread has recorded it in between.  No lock, no allocation;
 * async-signal-safe.
 *
 * A vfork child has a table of descriptors of its own and shares this one: it records none.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include "preload/address_text.h"
#include "preload/preload.h"
#include "preload/real.h"
#include "preload/real_io.h"

enum { LIMIT = 65536, TEXT_MAX = PRELOAD_TEXT_MAX };

#define GENERATION ((uint64_t)1 << 32)
#define LOOKING    1u

static uint64_t words[LIMIT];
static pid_t owner; /* of the memory */

/* The peer, or what it is bound to. */
static bool add_socket(struct preload_text *t, int fd)
{
    struct sockaddr_storage a;
    socklen_t size = sizeof a;

    memset(&a, 0, sizeof a);
    if (getpeername(fd, (struct sockaddr *)&a, &size) == 0 && preload_text_address(t, &a, size))
        return true;
    size = sizeof a;
    preload_text_add(t, "at ", 3);
    if (getsockname(fd, (struct sockaddr *)&a, &size) == 0 && preload_text_address(t, &a, size))
        return true;
    t->length = 0;
    return false;
}

/* What the kernel calls it. */
static void add_link(struct preload_text *t, int fd)
{
    struct preload_text name = { .length = 0 };
    char path[1024];
    ssize_t length;

    preload_text_add(&name, "/proc/thread-self/fd/", 21);
    preload_text_number(&name, (unsigned)fd, 10);
    length = readlink(name.at, path, sizeof path);
    if (length > TEXT_MAX) {
        preload_text_add(t, "...", 3);
        preload_text_add(t, path + length - (TEXT_MAX - 3), TEXT_MAX - 3);
    } else if (length > 0) {
        preload_text_add(t, path, (size_t)length);
    }
}

/* Of an inode that only descriptors have. */
static uint32_t kind_of_name(const char *name)
{
    static const struct {
        const char *name;
        uint32_t kind;
    } kinds[] = {
        { "anon_inode:[eventfd]", POSIXTRACE_KIND_EVENTFD },
        { "anon_inode:[timerfd]", POSIXTRACE_KIND_TIMERFD },
        { "anon_inode:[signalfd]", POSIXTRACE_KIND_SIGNALFD },
        { "anon_inode:[eventpoll]", POSIXTRACE_KIND_EPOLL },
        { "anon_inode:inotify", POSIXTRACE_KIND_INOTIFY },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(name, kinds[i].name, strlen(kinds[i].name)) == 0)
            return kinds[i].kind;
    return POSIXTRACE_KIND_OTHER;
}

static uint32_t kind_of(int fd, mode_t mode, const char *name)
{
    struct termios terminal;

    switch (mode & S_IFMT) {
    case S_IFREG: return POSIXTRACE_KIND_FILE;
    case S_IFDIR: return POSIXTRACE_KIND_DIRECTORY;
    case S_IFIFO: return POSIXTRACE_KIND_PIPE;
    case S_IFSOCK: return POSIXTRACE_KIND_SOCKET;
    case S_IFBLK: return POSIXTRACE_KIND_DEVICE;
    case S_IFCHR:
        return tcgetattr(fd, &terminal) == 0 ? POSIXTRACE_KIND_TTY : POSIXTRACE_KIND_DEVICE;
    default: return kind_of_name(name);
    }
}

/* peer: of a socketpair() the inode of the other end, else 0.  False: the next call looks again,
 * since the socket is to be connected. */
static __attribute__((noinline)) bool record(int fd, uint64_t peer)
{
    struct {
        int32_t descriptor;
        uint32_t kind;
        char name[TEXT_MAX + 1];
    } data = { .descriptor = fd };
    struct preload_text name = { .length = 0 };
    struct stat status;
    bool settled = true;
    int saved = errno;

    if (fstat(fd, &status) == 0) {
        if (!S_ISSOCK(status.st_mode) || !add_socket(&name, fd))
            add_link(&name, fd);
        data.kind = kind_of(fd, status.st_mode, name.at);
        memcpy(data.name, name.at, name.length + 1);
        posixtrace_system_event(POSIXTRACE_DESCRIPTOR, &data,
                                offsetof(__typeof__(data), name) + name.length + 1);
        if (data.kind == POSIXTRACE_KIND_SOCKET)
            settled = preload_connection(fd, status.st_ino, peer);
    }
    errno = saved;
    return settled;
}

static uint32_t mark(void)
{
    uint64_t streams = posixtrace_system_streams(POSIXTRACE_DESCRIPTOR);

    return streams ? (uint32_t)streams | LOOKING << 1 : 0;
}

static bool change(uint64_t *word, uint64_t *from, uint64_t to)
{
    return __atomic_compare_exchange_n(word, from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void preload_descriptor(int fd)
{
    if (!preload_longer)
        preload_descriptor_now(fd);
}

static void look(int fd, uint64_t peer)
{
    uint64_t word, generation;
    uint32_t now = mark();

    if ((unsigned)fd >= LIMIT || !now)
        return;
    word = __atomic_load_n(&words[fd], __ATOMIC_RELAXED);
    if (__builtin_expect((uint32_t)word == now, 1))
        return;
    generation = word & ~(uint64_t)UINT32_MAX;
    if (!change(&words[fd], &word, generation | LOOKING))
        return;
    now = 0;
    if (getpid() == owner && record(fd, peer))
        now = mark(); /* the process's first event changes it */
    word = generation | LOOKING;
    change(&words[fd], &word, generation | now);
}

void preload_descriptor_now(int fd)
{
    look(fd, 0);
}

void preload_descriptor_pair(const int ends[2])
{
    struct stat status[2];
    int saved = errno;

    if (!preload_longer && fstat(ends[0], &status[0]) == 0 && fstat(ends[1], &status[1]) == 0) {
        look(ends[0], status[1].st_ino);
        look(ends[1], status[0].st_ino);
    }
    errno = saved;
}

void preload_descriptor_ends(int fd)
{
    uint64_t word;

    if ((unsigned)fd >= LIMIT)
        return;
    word = __atomic_load_n(&words[fd], __ATOMIC_RELAXED);
    while ((uint32_t)word != 0 &&
           !change(&words[fd], &word, (word & ~(uint64_t)UINT32_MAX) + GENERATION))
        ;
}

static void forked(void)
{
    owner = getpid();
}

__attribute__((constructor)) static void begin(void)
{
    forked();
    pthread_atfork(NULL, NULL, forked);
}

int __close(int fd);
int __dup2(int fd, int as);

/* fd is what ends. */
#define ENDS(name, parameters, arguments, fd)         \
    PRELOAD_PUBLIC int name parameters                \
    {                                                 \
        int saved = errno, ends = fd, r;              \
                                                      \
        errno = saved; /* fileno() may have set it */ \
        preload_descriptor_ends(ends);                \
        r = real_##name arguments;                    \
        preload_descriptor_ends(ends);                \
        return r;                                     \
    }

static __attribute__((noinline)) int traced_close(const void *caller, int (*real)(int), int fd)
{
    struct preload_io call = { POSIXTRACE_IO_DONE, POSIXTRACE_CALL_CLOSE, fd };
    int r;

    preload_io_began(&call, caller);
    pthread_cleanup_push(preload_io_cancelled, &call);
    r = real(fd);
    pthread_cleanup_pop(0);
    preload_io_ended(&call, r < 0 ? -errno : r);
    return r;
}

/* It may wait for what the file still has to write.  What was not used is not looked up for it. */
#define CLOSE(name)                                              \
    PRELOAD_PUBLIC int name(int fd)                              \
    {                                                            \
        int r;                                                   \
                                                                 \
        preload_descriptor_ends(fd);                             \
        r = PRELOAD_OFF(NULL, POSIXTRACE_IO, POSIXTRACE_IO_DONE) \
                ? real_##name(fd)                                \
                : traced_close(PRELOAD_CALLER, real_##name, fd); \
        preload_descriptor_ends(fd);                             \
        return r;                                                \
    }

/* The compiler takes the argument of closedir() for not NULL, by its declaration; the C library
 * returns an error. */
static int descriptor_of(DIR *folder)
{
    __asm__("" : "+r"(folder));
    return folder ? dirfd(folder) : -1;
}

CLOSE(close)
CLOSE(__close)
ENDS(dup2, (int fd, int as), (fd, as), as)
ENDS(__dup2, (int fd, int as), (fd, as), as)
ENDS(dup3, (int fd, int as, int flags), (fd, as, flags), as)
ENDS(fclose, (FILE * file), (file), fileno(file))
ENDS(pclose, (FILE * file), (file), fileno(file))
ENDS(closedir, (DIR * folder), (folder), descriptor_of(folder))

/* The stream may get another number. */
#define REOPEN(name)                                                                       \
    FILE *name(const char *restrict path, const char *restrict mode, FILE *restrict file); \
    PRELOAD_PUBLIC FILE *name(const char *restrict path, const char *restrict mode,        \
                              FILE *restrict file)                                         \
    {                                                                                      \
        int saved = errno, ends = fileno(file);                                            \
        FILE *r;                                                                           \
                                                                                           \
        errno = saved;                                                                     \
        preload_descriptor_ends(ends);                                                     \
        r = real_##name(path, mode, file);                                                 \
        preload_descriptor_ends(ends);                                                     \
        if (r)                                                                             \
            preload_descriptor_ends(fileno(r));                                            \
        return r;                                                                          \
    }

REAL_REOPEN(REOPEN)

void preload_descriptors_end(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd <= last && fd < LIMIT; fd++)
        preload_descriptor_ends((int)fd);
}

PRELOAD_PUBLIC int close_range(unsigned first, unsigned last, int flags)
{
    int r;

    preload_descriptors_end(first, last);
    r = real_close_range(first, last, flags);
    preload_descriptors_end(first, last);
    return r;
}

PRELOAD_PUBLIC void closefrom(int least)
{
    unsigned first = least < 0 ? 0 : (unsigned)least;

    preload_descriptors_end(first, LIMIT - 1);
    real_closefrom(least);
    preload_descriptors_end(first, LIMIT - 1);
}
