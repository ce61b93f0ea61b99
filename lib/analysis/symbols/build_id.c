/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See build_id.h. */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "analysis/symbols/build_id.h"

enum { NOTES_MAX = 4096, HEADERS_MAX = 256 };
#define SIZE_MAX_FILE ((off_t)4 << 30)

struct notes {
    uint64_t offset, size;
};

static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
    return at <= INT64_MAX && pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

static bool has_id(const uint8_t *note, size_t have, const char *build_id)
{
    size_t next;

    for (size_t i = 0; i + 12 <= have; i = next) {
        uint32_t head[3]; /* name size, data size, type: the same in both classes */
        size_t from;
        char text[129];

        memcpy(head, note + i, sizeof head);
        if (head[0] > have || head[1] > have)
            return false;
        from = i + 12 + ((head[0] + 3) & ~3u);
        next = from + ((head[1] + 3) & ~3u);
        if (head[2] != NT_GNU_BUILD_ID || head[0] != 4 || head[1] > 64 || from + head[1] > have ||
            memcmp(note + i + 12, "GNU", 4) != 0)
            continue;
        for (uint32_t k = 0; k < head[1]; k++)
            snprintf(text + 2 * k, 3, "%02x", note[from + k]);
        return head[1] > 0 && strcmp(text, build_id) == 0;
    }
    return false;
}

static bool notes_have_id(int fd, struct notes notes, const char *build_id)
{
    uint8_t data[NOTES_MAX];
    size_t size = notes.size < sizeof data ? notes.size : sizeof data;

    return read_at(fd, data, size, notes.offset) && has_id(data, size, build_id);
}

/* A function for each class of files; SECTIONS: the build id is in a section's note, too, of files
 * with debug information, whose segments have no contents. */
#define DEFINE_CLASS(class)                                                                      \
    static bool find_##class(int fd, const char *build_id)                                       \
    {                                                                                            \
        Elf##class##_Ehdr e;                                                                     \
        Elf##class##_Phdr p;                                                                     \
        Elf##class##_Shdr s;                                                                     \
                                                                                                 \
        if (!read_at(fd, &e, sizeof e, 0) || e.e_phentsize != sizeof p)                          \
            return false;                                                                        \
        for (unsigned i = 0; i < e.e_phnum && i < HEADERS_MAX; i++)                              \
            if (read_at(fd, &p, sizeof p, e.e_phoff + i * sizeof p) && p.p_type == PT_NOTE &&    \
                notes_have_id(fd, (struct notes){ p.p_offset, p.p_filesz }, build_id))           \
                return true;                                                                     \
        for (unsigned i = 0; e.e_shentsize == sizeof s && i < e.e_shnum && i < HEADERS_MAX; i++) \
            if (read_at(fd, &s, sizeof s, e.e_shoff + i * sizeof s) && s.sh_type == SHT_NOTE &&  \
                notes_have_id(fd, (struct notes){ s.sh_offset, s.sh_size }, build_id))           \
                return true;                                                                     \
        return false;                                                                            \
    }

DEFINE_CLASS(32)
DEFINE_CLASS(64)

static bool is_wanted(int fd, const char *build_id)
{
    unsigned char ident[EI_NIDENT];
    const unsigned char order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;

    if (!read_at(fd, ident, sizeof ident, 0) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
        ident[EI_DATA] != order)
        return false;
    return ident[EI_CLASS] == ELFCLASS64   ? find_64(fd, build_id)
           : ident[EI_CLASS] == ELFCLASS32 ? find_32(fd, build_id)
                                           : false;
}

/* Opens the file of an O_PATH descriptor, which itself has not been opened. */
static int open_again(int at)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", at);
    return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

int pt_symbol_open(const char *path, const char *build_id, bool named)
{
    int at = open(path, O_PATH | O_CLOEXEC), fd = -1;
    struct stat st;

    if (at < 0)
        return -1;
    if (fstat(at, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SIZE_MAX_FILE &&
        (named || st.st_uid == 0 || st.st_uid == geteuid()) && build_id[0])
        fd = open_again(at);
    close(at);
    if (fd >= 0 && is_wanted(fd, build_id))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
