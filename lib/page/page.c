/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See page.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/open_above.h"
#include "base/sys.h"
#include "page/page.h"
#include "page/page_left.h"
#include "place/dir.h"
#include "place/place.h"
#include "shm/liveness.h"

#define TRIES      4u /* to make a page */
#define PAGE_BYTES ((sizeof(struct pt_page) + 4095u) & ~4095u)

#define ONES4   ~0ull, ~0ull, ~0ull, ~0ull
#define ONES16  ONES4, ONES4, ONES4, ONES4
#define ONES64  ONES16, ONES16, ONES16, ONES16
#define ONES256 ONES64, ONES64, ONES64, ONES64
const struct pt_page pt_page_unknown = {
    .shadows = UINT64_MAX, .gates = { ONES256, ONES256, ONES256, ONES256, ONES64, ONES64, ONES64 }
};
_Static_assert(PAGE_BYTES == PT_NAMES_PAGE, "a page fits into the front of a name map");
_Static_assert(PT_ID_MAX == 4 * 256 + 3 * 64, "every gate of pt_page_unknown is set");

static char *put_number(char *to, uint64_t n)
{
    char digits[24], *p = digits + sizeof digits - 1;

    *p = '\0';
    do
        *--p = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    return stpcpy(to, p);
}

/* Without /proc no other process looks for the page; but an earlier process with the same pid may
 * have left one. */
static void put_name(char file[64], uint32_t pid, uint64_t start, uint64_t ns)
{
    char *p = put_number(stpcpy(file, "p-"), pid);

    *p++ = '-';
    p = put_number(p, start);
    *p++ = '-';
    put_number(p, ns ? ns : pt_sys_image());
}

void pt_page_name(char file[64], uint32_t pid, uint64_t start)
{
    put_name(file, pid, start, pt_pid_namespace());
}

static int map_page(struct pt_page **page, int fd)
{
    int error;
    void *p = pt_dir_map(fd, PAGE_BYTES, PROT_READ | PROT_WRITE, &error);

    if (!p)
        return error;
    *page = p;
    return 0;
}

/* A bit has its epoch before a gate is opened for it; writers that belong to no
 * stream have epoch 0.  Gates are looked at first: others may be opening some. */
static bool gates_have_epochs(const struct pt_page *page)
{
    uint64_t open = 0;

    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        open |= pt_load_acquire(&page->gates[id]);
    for (; open; open &= open - 1)
        if (pt_load_relaxed(&page->epoch[__builtin_ctzll(open)]) == 0)
            return false;
    return true;
}

/* Opens the file, which has the start time that its maker saw: a tick earlier or later where the
 * two are in different time namespaces (pt_is_start()).  *start becomes that, and file its name; if
 * there is none, the name for *start. */
static int open_file(const struct pt_page_dir *dir, uint32_t pid, uint64_t *start, char file[64])
{
    static const uint64_t ticks[] = { 0, (uint64_t)-1, 1 };
    uint64_t mine = *start, ns = dir->pid_ns;
    int fd = dir->in.fd < 0 ? dir->in.fd : -ENOENT;

    for (unsigned i = 0; i < 3 && fd == -ENOENT && dir->in.fd >= 0; i++) {
        if (i == 1 && (mine == 0 || pt_time_is_shared(pid)))
            break;
        *start = mine + ticks[i];
        put_name(file, pid, *start, ns);
        fd = pt_open_above(dir->in.fd, file, O_RDWR | PT_OPEN_BRIEFLY, 0);
        fd = fd < 0 ? -errno : fd;
    }
    if (fd < 0)
        put_name(file, pid, mine, ns);
    return fd;
}

static void open_dir(struct pt_page_dir *dir, uid_t uid, uid_t maker, bool create)
{
    int saved = errno;

    pt_dir_begin(&dir->in, uid, maker, create);
    dir->pid_ns = pt_pid_namespace();
    dir->seen.all = false;
    dir->seen.count = 0;
    dir->seen.oldest = UINT64_MAX;
    errno = saved;
}

void pt_page_dir_open(struct pt_page_dir *dir, uid_t uid)
{
    open_dir(dir, uid, uid, false);
}

void pt_page_dir_make(struct pt_page_dir *dir, uid_t uid, uid_t maker)
{
    open_dir(dir, uid, maker, true);
}

void pt_page_dir_close(struct pt_page_dir *dir)
{
    pt_dir_end(&dir->in);
}

bool pt_page_dir_has(const struct pt_page_dir *dir, uint32_t pid)
{
    for (unsigned i = 0; i < dir->seen.count; i++)
        if (dir->seen.pid[i] == pid)
            return true;
    return !dir->seen.all;
}

int pt_page_open_in(struct pt_page **page, const struct pt_page_dir *dir, uint32_t pid,
                    uint64_t start, char file[64])
{
    int saved = errno, fd = open_file(dir, pid, &start, file), r = fd;
    struct stat st;

    errno = saved;
    if (fd < 0)
        return r;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != dir->in.uid ||
        (st.st_size != (off_t)PAGE_BYTES && st.st_size != (off_t)pt_names_fronted_bytes()))
        r = -EINVAL;
    else
        r = map_page(page, fd);
    close(fd);
    if (r < 0)
        return r;
    /* Reading a hole in a full file system would bring SIGBUS. */
    if (pt_sys_populate(*page, PAGE_BYTES) < 0) {
        pt_page_unmap(*page);
        return -ENOMEM;
    }
    /* Made by another copy of the library, or another thread. */
    if (pt_load_acquire(&(*page)->magic) != PT_PAGE_MAGIC || (*page)->layout != PT_SEG_LAYOUT ||
        (*page)->pid != pid || (*page)->start != start || (*page)->pid_ns != dir->pid_ns ||
        !gates_have_epochs(*page)) {
        pt_page_unmap(*page);
        return -EINVAL;
    }
    return 0;
}

int pt_page_open_of(struct pt_page **page, uid_t uid, uint32_t pid, uint64_t start, char file[64])
{
    struct pt_page_dir dir;
    int r;

    pt_page_dir_open(&dir, uid);
    r = pt_page_open_in(page, &dir, pid, start, file);
    pt_page_dir_close(&dir);
    return r;
}

int pt_page_open(struct pt_page **page, uint32_t pid, uint64_t start, char file[64])
{
    return pt_page_open_of(page, pt_place_uid(), pid, start, file);
}

static void fill_page(struct pt_page *page, uint64_t pid_ns, uint32_t pid, uint64_t start,
                      const char *names_file)
{
    page->layout = PT_SEG_LAYOUT;
    page->size = PAGE_BYTES;
    page->pid = pid;
    page->pid_ns = pid_ns; /* its own, or its controller's: the same */
    page->start = start;
    strncpy(page->names_file, names_file, sizeof page->names_file - 1);
    pt_store_release(&page->magic, PT_PAGE_MAGIC);
}

/* The page gets no name in the directory, as one that has no file there: on a tmpfs a link counts
 * as an inode, and some file systems have no links. */
static bool stays_nameless(int r)
{
    return pt_is_no_room(r) || r == -EPERM || r == -EMLINK || r == -EOPNOTSUPP || r == -ENOSYS;
}

/* The page is filled under a temporary name, so a process that finds it finds it complete.  If its
 * process is killed meanwhile, directory/reap.c removes the file when it is ten seconds old. */
static int create_page(struct pt_page **page, struct pt_page_dir *dir, uint32_t pid, uint64_t start,
                       const char *names_file, char file[64])
{
    char fresh[64];
    uint8_t id[16];
    bool named;
    int fd, r;

    pt_dir_id(&dir->in, id);
    pt_dir_hex_name(fresh, sizeof fresh, 't', id, "");
    fd = pt_dir_new_file_in(&dir->in, fresh, PAGE_BYTES, PAGE_BYTES, &named);
    r = map_page(page, fd);
    if (fd >= 0)
        close(fd);
    if (r < 0) {
        if (named)
            unlinkat(dir->in.fd, fresh, 0);
        return r;
    }
    fill_page(*page, dir->pid_ns, pid, start, names_file);
    put_name(file, pid, start, dir->pid_ns);
    r = named ? pt_dir_publish(&dir->in, fresh, file) : -ENOSPC;
    if (stays_nameless(r)) {
        file[0] = '\0';
        return 0;
    }
    if (r == 0)
        return 0;
    pt_page_unmap(*page);
    return r == -EEXIST ? pt_page_open_in(page, dir, pid, start, file) : r;
}

int pt_page_create_in(struct pt_page **page, struct pt_page_dir *dir, uint32_t pid, uint64_t start,
                      const char *names_file, char file[64])
{
    int saved = errno, r = -ENOENT;

    if (pt_page_dir_has(dir, pid))
        r = pt_page_open_in(page, dir, pid, start, file);
    /* Again if another process has removed the new file, which a step of the clock has made
     * look old, or the page that was found in its place. */
    for (unsigned i = 0; r < 0 && (i == 0 || (r == -ENOENT && i < TRIES)); i++)
        r = create_page(page, dir, pid, start, names_file, file);
    errno = saved;
    return r;
}

/* The file of the map gets a second name: it is complete before. */
int pt_page_create_front(struct pt_page **page, struct pt_page_dir *dir, uint32_t pid,
                         uint64_t start, const char *names_file, char file[64], void *front)
{
    int saved = errno, r = -ENOSPC;

    *page = front;
    fill_page(*page, dir->pid_ns, pid, start, names_file);
    put_name(file, pid, start, dir->pid_ns);
    if (names_file[0])
        r = linkat(dir->in.fd, names_file, dir->in.fd, file, 0) < 0 ? -errno : 0;
    errno = saved;
    if (stays_nameless(r))
        file[0] = '\0';
    if (r == 0 || stays_nameless(r))
        return 0;
    pt_page_unmap(*page);
    dir->seen.all = false; /* another process has made the page */
    return pt_page_create_in(page, dir, pid, start, names_file, file);
}

int pt_page_create_of(struct pt_page **page, uid_t uid, uint32_t pid, uint64_t start,
                      const char *names_file, char file[64])
{
    struct pt_page_dir dir;
    int r;

    pt_page_dir_make(&dir, uid, geteuid());
    r = pt_page_create_in(page, &dir, pid, start, names_file, file);
    pt_page_dir_close(&dir);
    return r;
}

int pt_page_create(struct pt_page **page, uint32_t pid, uint64_t start, const char *names_file,
                   char file[64])
{
    return pt_page_create_of(page, pt_place_uid(), pid, start, names_file, file);
}

bool pt_page_names_in_use(int dirfd, const char *names_file)
{
    int copy = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | PT_OPEN_BRIEFLY);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    char names[sizeof((struct pt_page *)0)->names_file];
    struct dirent *entry;
    bool found = !d && pt_is_shortage(-errno); /* they may be: in doubt they stay */

    while (d && !found && (entry = readdir(d))) {
        int fd;

        if (strncmp(entry->d_name, "p-", 2) != 0)
            continue;
        fd = openat(dirfd, entry->d_name, O_RDONLY | PT_OPEN_BRIEFLY);
        if (fd < 0) {
            found = pt_is_shortage(-errno);
            continue;
        }
        found = pread(fd, names, sizeof names, offsetof(struct pt_page, names_file)) ==
                    (ssize_t)sizeof names &&
                strncmp(names, names_file, sizeof names) == 0;
        close(fd);
    }
    if (d)
        closedir(d);
    else if (copy >= 0)
        close(copy);
    return found;
}

void pt_page_unmap(struct pt_page *page)
{
    munmap(page, PAGE_BYTES);
}

#define START_BITS 40
#define NO_PROCESS 1ull /* a taker that is never dead */

static uint64_t taker_of(uint32_t pid, uint64_t start)
{
    return (uint64_t)pid << START_BITS | (start & ((1ull << START_BITS) - 1));
}

static bool is_dead(uint64_t taker)
{
    unsigned asks = 1;

    return taker >> START_BITS != 0 &&
           pt_page_process_is_gone((uint32_t)(taker >> START_BITS),
                                   taker & ((1ull << START_BITS) - 1), &asks);
}

/* If several processes see the bit free, one becomes its taker.  The bit of a taker that was killed
 * before it had the bit, or after it freed it, counts as free. */
static bool claim_bit(struct pt_page *page, int bit, uint64_t taker, bool ask)
{
    uint64_t was = pt_load_seqcst(&page->taker[bit]);

    return (was == 0 || (ask && is_dead(was))) && pt_cas_seqcst(&page->taker[bit], &was, taker);
}

static int take_free(struct pt_page *page, uint64_t taker, bool ask)
{
    for (int bit = 0; bit < (int)PT_STREAMS; bit++) {
        uint64_t own = 1ull << bit, is = taker;

        if ((pt_load_seqcst(&page->used) & own) || !claim_bit(page, bit, taker, ask))
            continue;
        if (!(pt_or_seqcst(&page->used, own) & own)) {
            pt_add_seqcst(&page->epoch[bit], 1u);
            return bit;
        }
        pt_cas_seqcst(&page->taker[bit], &is, 0u); /* being cleaned, see pt_page_clean_bit() */
    }
    return -EAGAIN;
}

/* The epoch is loaded first: another process that gives the bit back, or takes it, changes it. */
static void recover_bits(struct pt_page *page)
{
    for (unsigned bit = 0; bit < PT_STREAMS; bit++) {
        uint64_t epoch = pt_load_seqcst(&page->epoch[bit]);

        if ((pt_load_seqcst(&page->used) >> bit & 1) && is_dead(pt_load_seqcst(&page->taker[bit])))
            pt_page_revoke_bit(page, bit, epoch);
    }
}

static int take_bit(struct pt_page *page, uint64_t taker)
{
    int bit = take_free(page, taker, false);

    if (bit >= 0)
        return bit;
    recover_bits(page);
    return take_free(page, taker, true);
}

int pt_page_take_bit_for(struct pt_page *page, uint32_t pid, uint64_t start)
{
    return take_bit(page, taker_of(pid, start));
}

int pt_page_take_bit(struct pt_page *page)
{
    return take_bit(page, NO_PROCESS);
}

/* A process that is killed in between leaves a taker without a bit. */
static void give_used(struct pt_page *page, unsigned bit)
{
    uint64_t taker = pt_load_seqcst(&page->taker[bit]);

    pt_and_seqcst(&page->used, ~(1ull << bit));
    pt_cas_seqcst(&page->taker[bit], &taker, 0u);
}

void pt_page_retire_bit(struct pt_page *page, unsigned bit)
{
    pt_page_close_gates(page, bit);
    pt_add_seqcst(&page->epoch[bit], 1u);
    pt_add_seqcst(&page->changes, 1u);
}

static void give_shadow(struct pt_page *page, unsigned shadow)
{
    if (shadow >= PT_STREAMS)
        return;
    pt_and_seqcst(&page->shadows, ~(1ull << shadow));
    pt_page_retire_bit(page, shadow);
    give_used(page, shadow);
}

int pt_page_take_shadow(struct pt_page *page, unsigned bit)
{
    uint32_t none = 0;
    int shadow;

    if (pt_load_acquire(&page->stream[bit].shadow))
        return 0;
    shadow = pt_page_take_bit(page);
    if (shadow < 0)
        return shadow;
    pt_or_seqcst(&page->shadows, 1ull << shadow);
    if (!pt_cas_seqcst(&page->stream[bit].shadow, &none, (uint32_t)shadow + 1))
        give_shadow(page, (unsigned)shadow);
    return 0;
}

void pt_page_give_bit(struct pt_page *page, unsigned bit)
{
    pt_page_retire_bit(page, bit);
    give_shadow(page, pt_exchange_seqcst(&page->stream[bit].shadow, 0u) - 1u);
    pt_store_relaxed(&page->stream[bit].handled, 0u);
    pt_store_relaxed(&page->stream[bit].refused, 0u);
    pt_page_set_file(page, bit, "");
    give_used(page, bit);
}

void pt_page_clean_bit(struct pt_page *page, unsigned bit)
{
    uint64_t used = pt_load_seqcst(&page->used);

    while (!(used >> bit & 1))
        if (pt_cas_seqcst(&page->used, &used, used | 1ull << bit)) {
            pt_page_give_bit(page, bit);
            return;
        }
}

bool pt_page_revoke_bit(struct pt_page *page, unsigned bit, uint64_t epoch)
{
    if (!pt_cas_seqcst(&page->epoch[bit], &epoch, epoch + 1))
        return false;
    pt_page_give_bit(page, bit);
    return true;
}

void pt_page_set_file(struct pt_page *page, unsigned bit, const char *file)
{
    uint64_t words[PT_PAGE_FILE / 8] = { 0 };

    strncpy((char *)words, file, PT_PAGE_FILE - 1);
    pt_copy_watched(page->stream[bit].file, words, sizeof words);
}

void pt_page_get_file(const struct pt_page *page, unsigned bit, char file[PT_PAGE_FILE])
{
    uint64_t words[PT_PAGE_FILE / 8];

    pt_copy_unchecked(words, page->stream[bit].file, sizeof words);
    memcpy(file, words, sizeof words);
}

bool pt_page_bit_is_of(const struct pt_page *page, unsigned bit, const char *file)
{
    char is[PT_PAGE_FILE];

    if (bit >= PT_STREAMS || !(pt_load_seqcst(&page->used) >> bit & 1))
        return false;
    pt_page_get_file(page, bit, is);
    return strncmp(is, file, sizeof is - 1) == 0;
}

void pt_page_set_gate(struct pt_page *page, unsigned bit, uint32_t id, enum pt_gate gate)
{
    uint64_t own = 1ull << bit, both = own | pt_page_shadow(page, bit);
    uint64_t want = gate == PT_GATE_ASK ? both : gate == PT_GATE_OPEN ? own : 0;
    uint64_t have = pt_load_relaxed(&page->gates[id]) & both;

    if (want & ~have)
        pt_or_seqcst(&page->gates[id], want);
    if (have & ~want)
        pt_and_seqcst(&page->gates[id], ~(both & ~want));
}

void pt_page_close_gates(struct pt_page *page, unsigned bit)
{
    uint64_t both = 1ull << bit | pt_page_shadow(page, bit);

    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        if (pt_load_relaxed(&page->gates[id]) & both)
            pt_and_seqcst(&page->gates[id], ~both);
}
