/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Channels between threads: pipes, by their names in the kernel, which all processes see; event
 * counters, by their descriptors in their process, as they have no names of their own.  Ends of
 * sockets have different names, so nothing says which two belong together.
 */
#include <string.h>
#include <posixtrace/system.h>

#include "analysis/report/report_state.h"
#include "text/hash.h"

static int side_of(uint32_t call)
{
    switch (call) {
    case POSIXTRACE_CALL_READ:
    case POSIXTRACE_CALL_READV: return 0;
    case POSIXTRACE_CALL_WRITE:
    case POSIXTRACE_CALL_WRITEV: return 1;
    default: return -1;
    }
}

int pt_report_channel(const struct pt_report_object *o, uint32_t call, uint32_t descriptor,
                      struct pt_report_key *key)
{
    static const char pipes[] = "pipe:[", eventfd[] = "anon_inode:[eventfd]";
    const char *name = o->row.name;

    if (o->row.kind != POSIXTRACE_WAIT_IO || !name)
        return -1;
    if (strncmp(name, pipes, sizeof pipes - 1) == 0)
        *key = (struct pt_report_key){ .a = pt_hash_bytes(PT_HASH_START, name, strlen(name)) };
    else if (strcmp(name, eventfd) == 0)
        *key = (struct pt_report_key){ .a = (uint32_t)o->row.pid, .b = descriptor, .c = 1 };
    else
        return -1;
    return side_of(call);
}
