/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Whose calls are recorded: not those of posixtrace itself, nor of its threads.  See preload.h.
 */
#include <link.h>
#include <string.h>
#include <posixtrace/mapping.h>
#include "preload/preload.h"

enum { RANGES = 16 };

PRELOAD_THREAD bool preload_quiet_thread;
bool preload_ready;

/* Addresses of our libraries; they are never unloaded while this one is loaded. */
static struct {
    uintptr_t begin, end;
} ranges[RANGES];
static unsigned range_count;

bool preload_is_ours(const void *address)
{
    for (unsigned i = 0; i < range_count; i++)
        if ((uintptr_t)address - ranges[i].begin < ranges[i].end - ranges[i].begin)
            return true;
    return false;
}

bool preload_is_quiet(const void *caller, const void *object)
{
    return !preload_ready || preload_quiet_thread || preload_is_ours(caller) ||
           preload_is_ours(object);
}

bool preload_leaves_out(const void *caller, const void *object)
{
    if (preload_is_quiet(caller, object))
        return true;
    posixtrace_mapping_note(caller);
    return false;
}

static int note_range(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    uintptr_t begin = UINTPTR_MAX, end = 0;

    (void)size;
    (void)context;
    if (strncmp(name, "libposixtrace", 13) != 0 && strncmp(name, "liburcu", 7) != 0 &&
        strncmp(name, "libgcc_s", 8) != 0)
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type != PT_LOAD)
            continue;
        if (info->dlpi_addr + p->p_vaddr < begin)
            begin = info->dlpi_addr + p->p_vaddr;
        if (info->dlpi_addr + p->p_vaddr + p->p_memsz > end)
            end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
    }
    if (begin >= end || range_count == RANGES)
        return 0;
    ranges[range_count].begin = begin;
    ranges[range_count++].end = end;
    return 0;
}

void preload_callers_begin(void)
{
    dl_iterate_phdr(note_range, NULL);
}
