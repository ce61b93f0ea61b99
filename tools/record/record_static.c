/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Programs whose calls the preloaded library does not see: static ones, into which no library is
 * loaded, and those in Go, whose runtime makes its system calls itself.
 */
#include "record/record.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/tool.h"

#define GO_SECTION ".go.buildinfo"

struct image {
    const uint8_t *at;
    size_t size;
};

/* The part of the file, or NULL if it has no such part. */
static const void *part(const struct image *i, uint64_t offset, uint64_t size)
{
    return offset <= i->size && size <= i->size - offset ? i->at + offset : NULL;
}

struct facts {
    bool is_program, has_interpreter, is_go;
};

static bool is_named(const struct image *i, uint64_t names, uint64_t name)
{
    const char *text = part(i, names + name, sizeof GO_SECTION);

    return names + name >= names && text && memcmp(text, GO_SECTION, sizeof GO_SECTION) == 0;
}

/* The same for both sizes of addresses.  The headers may be at any address. */
#define LOOK(bits)                                                                               \
    static void look_##bits(const struct image *i, struct facts *f)                              \
    {                                                                                            \
        Elf##bits##_Ehdr e;                                                                      \
        Elf##bits##_Phdr p;                                                                      \
        Elf##bits##_Shdr s, names = { .sh_offset = 0 };                                          \
        const void *at = part(i, 0, sizeof e);                                                   \
                                                                                                 \
        if (!at)                                                                                 \
            return;                                                                              \
        memcpy(&e, at, sizeof e);                                                                \
        f->is_program = e.e_type == ET_EXEC || e.e_type == ET_DYN;                               \
        for (unsigned n = 0; n < e.e_phnum; n++)                                                 \
            if ((at = part(i, e.e_phoff + (uint64_t)n * e.e_phentsize, sizeof p)))               \
                f->has_interpreter |= memcpy(&p, at, sizeof p) && p.p_type == PT_INTERP;         \
        if ((at = part(i, e.e_shoff + (uint64_t)e.e_shstrndx * e.e_shentsize, sizeof s)))        \
            memcpy(&names, at, sizeof names);                                                    \
        for (unsigned n = 0; n < e.e_shnum; n++)                                                 \
            if ((at = part(i, e.e_shoff + (uint64_t)n * e.e_shentsize, sizeof s)))               \
                f->is_go |= memcpy(&s, at, sizeof s) && is_named(i, names.sh_offset, s.sh_name); \
    }

LOOK(32)
LOOK(64)

/* Of another machine's byte order nothing is known. */
static struct facts look(const struct image *i)
{
    const uint8_t order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
    struct facts f = { .is_program = false };

    if (i->size < EI_NIDENT || memcmp(i->at, ELFMAG, SELFMAG) != 0 || i->at[EI_DATA] != order)
        return f;
    if (i->at[EI_CLASS] == ELFCLASS32)
        look_32(i, &f);
    else if (i->at[EI_CLASS] == ELFCLASS64)
        look_64(i, &f);
    return f;
}

/* The dynamic linker, which has none itself, loads libraries into the program that it starts. */
static bool is_linker(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0;
}

void record_static_warn(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct facts f = { .is_program = false };
    struct image image;
    struct stat st;
    void *map = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (map == MAP_FAILED)
        return;
    image = (struct image){ map, (size_t)st.st_size };
    f = look(&image);
    munmap(map, (size_t)st.st_size);
    if (f.is_program && !f.has_interpreter && !is_linker(path))
        tool_note("%s is a static program: no library can be loaded into it, so none of its calls "
                  "is recorded; '--system=switches' records when it runs",
                  quote(path));
    else if (f.is_program && f.is_go)
        tool_note("%s is written in Go, whose runtime makes its system calls itself: only those of "
                  "C code in it are recorded; '--system=switches' records when it runs",
                  quote(path));
}
