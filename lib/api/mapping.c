/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/mapping.h. */
#include <posixtrace/mapping.h>
#include "api/guard.h"
#include "api/sized.h"
#include "control/control.h"
#include "log/string_table.h"
#include "mapping/mappings.h"

_Static_assert(POSIXTRACE_MAPPING_MAX == PT_MAPPING_MAX, "MAPPING_MAX");

PT_PUBLIC void posixtrace_mapping_note(const void *address)
{
    pt_mappings_note((uintptr_t)address);
}

PT_PUBLIC void posixtrace_mapping_changed(void)
{
    pt_mappings_changed();
}

PT_PUBLIC int posixtrace_mapping_text(trace_id_t trid, uint32_t number, char *text, size_t size)
{
    char copy[PT_MAPPING_MAX + 1];
    const char *is;
    struct pt_guard g;
    int r;

    if (!text || size == 0 || number == 0 || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    copy[0] = '\0';
    r = number < pt_stream_mapping_end(g.s) ? 0 : -ENOENT;
    is = r == 0 ? pt_stream_mapping(g.s, number) : NULL;
    if (is)
        pt_string_table_copy_out(copy, is, PT_MAPPING_MAX);
    pthread_mutex_unlock(&g.s->reading);
    if (r == 0)
        r = pt_sized_text(text, size, copy);
    return pt_guard_leave(&g, r);
}
