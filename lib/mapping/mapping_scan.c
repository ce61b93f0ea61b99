/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See mapping_scan.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/clock.h"
#include "base/sys.h"
#include "mapping/mapping_scan.h"
#include "process/self.h"

#define PAGE_MASK (~(uintptr_t)4095)

/* Up to size bytes of this process; how many. */
static size_t read_memory(const struct pt_mapping_scan *s, uintptr_t at, void *to, size_t size)
{
    bool is_there = pt_descriptor_check(&s->memory) == 0;
    ssize_t n = is_there ? pread(s->memory.fd, to, size, (off_t)at) : -1;

    return n > 0 ? (size_t)n : 0;
}

static void find_build_id(struct pt_mapping_scan *s, uintptr_t at, size_t size)
{
    uint8_t note[1024];
    size_t have = read_memory(s, at, note, size < sizeof note ? size : sizeof note), next;

    for (size_t i = 0; i + sizeof(ElfW(Nhdr)) + 4 <= have; i = next) {
        ElfW(Nhdr) n;
        size_t name = i + sizeof n, from;

        memcpy(&n, note + i, sizeof n);
        if (n.n_namesz > have || n.n_descsz > have)
            return;
        from = name + ((n.n_namesz + 3) & ~3u);
        next = from + ((n.n_descsz + 3) & ~3u);
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && from + n.n_descsz <= have &&
            memcmp(note + name, "GNU", 4) == 0 && n.n_descsz <= PT_BUILD_ID_MAX) {
            s->object.build_id_length = n.n_descsz;
            memcpy(s->object.build_id, note + from, n.n_descsz);
            return;
        }
    }
}

struct headers {
    ElfW(Ehdr) file;
    size_t have; /* bytes in s->header */
};

static bool read_header(struct pt_mapping_scan *s, struct headers *h)
{
    h->have = read_memory(s, s->object.begin, s->header, sizeof s->header);
    if (h->have < sizeof h->file)
        return false;
    memcpy(&h->file, s->header, sizeof h->file);
    return memcmp(h->file.e_ident, ELFMAG, SELFMAG) == 0 &&
           h->file.e_phentsize == sizeof(ElfW(Phdr));
}

/* Segment i; false: after the last one. */
static bool get_segment(const struct pt_mapping_scan *s, const struct headers *h, unsigned i,
                        ElfW(Phdr) * p)
{
    size_t at = h->file.e_phoff + i * sizeof *p;

    if (i >= h->file.e_phnum || at > h->have || h->have - at < sizeof *p)
        return false;
    memcpy(p, s->header + at, sizeof *p);
    return true;
}

/* Where its headers say that it ends, and its build id.  False: it is none. */
static bool read_headers(struct pt_mapping_scan *s)
{
    uintptr_t begin = s->object.begin, first = 0, last = 0;
    struct headers h;
    ElfW(Phdr) p;

    if (!read_header(s, &h))
        return h.have < sizeof h.file && s->memory.fd < 0; /* there is no access to it */
    for (unsigned i = 0; get_segment(s, &h, i, &p); i++) {
        if (p.p_type == PT_LOAD && last == 0)
            first = p.p_vaddr & PAGE_MASK;
        if (p.p_type == PT_LOAD && p.p_vaddr + p.p_memsz > last)
            last = p.p_vaddr + p.p_memsz;
    }
    for (unsigned i = 0; get_segment(s, &h, i, &p); i++)
        if (p.p_type == PT_NOTE && s->object.build_id_length == 0)
            find_build_id(s, begin + (p.p_vaddr - first), p.p_memsz);
    last = (begin + (last - first) + 4095) & PAGE_MASK;
    /* A file may say anything. */
    if (last > s->object.end && last - s->object.end < (uintptr_t)1 << 30)
        s->object.end = last;
    return true;
}

/* Is it a segment of the object that is in the file's first page?  The code of a small file may be
 * there, which is then mapped twice (lld). */
static bool is_segment(struct pt_mapping_scan *s, uintptr_t begin)
{
    bool is_first = true, found = false;
    uintptr_t first = 0;
    struct headers h;
    ElfW(Phdr) p;

    if (!read_header(s, &h))
        return false;
    for (unsigned i = 0; get_segment(s, &h, i, &p) && !found; i++) {
        if (p.p_type != PT_LOAD)
            continue;
        if (is_first)
            first = p.p_vaddr & PAGE_MASK;
        else
            found = (p.p_offset & PAGE_MASK) == 0 &&
                    (p.p_vaddr & PAGE_MASK) - first == begin - s->object.begin;
        is_first = false;
    }
    return found;
}

static void finish(struct pt_mapping_scan *s)
{
    if (s->runs && read_headers(s))
        s->visit(s->context, &s->object);
    s->runs = false;
    s->object.end = 0;
}

static const char *read_hex(const char *at, uintptr_t *value)
{
    *value = 0;
    for (;; at++) {
        unsigned c = (unsigned char)*at, digit = c - '0' < 10u ? c - '0' : (c | 32u) - 'a' + 10;

        if (digit > 15 || (c - '0' >= 10u && (c | 32u) - 'a' > 5u))
            return at;
        *value = *value << 4 | digit;
    }
}

static const char *skip_word(const char *at)
{
    while (*at == ' ')
        at++;
    while (*at && *at != ' ')
        at++;
    while (*at == ' ')
        at++;
    return at;
}

/* begin-end rwxp offset device inode    path */
static void take_line(struct pt_mapping_scan *s, const char *line)
{
    uintptr_t begin, end, offset, major, minor, inode = 0;
    const char *at = read_hex(line, &begin), *rights;

    at = read_hex(at + (*at == '-'), &end);
    rights = at + (*at == ' ');
    at = read_hex(skip_word(rights), &offset);
    at = read_hex(at + (*at == ' '), &major);
    at = read_hex(at + (*at == ':'), &minor);
    at += *at == ' ';
    for (; *at >= '0' && *at <= '9'; at++)
        inode = inode * 10 + (unsigned)(*at - '0');
    while (*at == ' ')
        at++;
    major = major << 20 | minor;
    if (*at != '/')
        return;
    if (s->object.end == 0 || inode != s->inode || major != s->device ||
        (offset == 0 && !is_segment(s, begin))) {
        finish(s);
        if (offset != 0)
            return; /* a part of a file is no program */
        s->object = (struct pt_mapped_object){ .begin = begin, .path = s->path };
        s->object.path_length = strlen(at);
        memcpy(s->path, at, s->object.path_length + 1);
        s->inode = inode;
        s->device = major;
    }
    s->object.end = end;
    s->runs = s->runs || (strlen(rights) > 2 && rights[2] == 'x');
}

/* Takes the whole lines of the text; how many bytes are left, at its start. */
static size_t take_lines(struct pt_mapping_scan *s, size_t have)
{
    char *from = s->text, *end;

    while ((end = memchr(from, '\n', (size_t)(s->text + have - from)))) {
        *end = '\0';
        take_line(s, from);
        from = end + 1;
    }
    have -= (size_t)(from - s->text);
    memmove(s->text, from, have);
    return have == sizeof s->text ? 0 : have; /* no line is that long */
}

/* ---- descriptors ---- */

/* A copy with a high number, which the next file of the program does not get. */
static void open_file(struct pt_descriptor *d, const char *path)
{
    int fd = open(path, O_RDONLY | PT_OPEN_BRIEFLY);

    d->fd = -1;
    if (fd >= 0 && pt_descriptor_copy(d, fd) < 0)
        d->fd = -1;
    if (fd >= 0)
        close(fd);
}

void pt_mapping_scan_abandon(struct pt_mapping_scan *s)
{
    pt_descriptor_close(&s->maps);
    pt_descriptor_close(&s->memory);
}

/* All lines; how many bytes.  -1: not to the end. */
static off_t read_lines(struct pt_mapping_scan *s)
{
    size_t have = 0;
    off_t at = 0;
    ssize_t n;

    do {
        if (pt_descriptor_check(&s->maps) < 0)
            return -1;
        n = pread(s->maps.fd, s->text + have, sizeof s->text - have, at);
        if (n > 0)
            have = take_lines(s, have + (size_t)n);
        at += n > 0 ? n : 0;
    } while (n > 0);
    return n < 0 ? -1 : at;
}

static off_t scan(struct pt_mapping_scan *s, const char *maps, const char *memory)
{
    off_t bytes;

    open_file(&s->maps, maps);
    open_file(&s->memory, memory);
    s->object.end = 0;
    s->runs = false;
    bytes = s->maps.fd < 0 ? 0 : read_lines(s);
    finish(s);
    pt_mapping_scan_abandon(s);
    return bytes;
}

/* A first thread that has ended has no mappings.  qemu-user invents only the files of self. */
bool pt_mapping_scan(struct pt_mapping_scan *s)
{
    off_t bytes = scan(s, "/proc/self/maps", "/proc/self/mem");

    if (bytes == 0)
        bytes = scan(s, "/proc/thread-self/maps", "/proc/thread-self/mem");
    return bytes > 0;
}
