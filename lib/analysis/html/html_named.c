/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Addresses in fields of system events: callers are places in the program, objects of locks and the
 * like variables.  The different ones of a field get their names in the head.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"

enum { NAMED_MOST = 1024 }; /* of a field */

enum pt_html_address pt_html_address_of(const char *name, char kind, bool is_system)
{
    if (!is_system || kind != 'x')
        return PT_HTML_NO_ADDRESS;
    return strcmp(name, "caller") == 0   ? PT_HTML_CODE
           : strcmp(name, "object") == 0 ? PT_HTML_DATA
                                         : PT_HTML_NO_ADDRESS;
}

void pt_html_named_add(struct pt_html *h, struct pt_html_field *f, uint64_t value,
                       const struct posixtrace_event *e)
{
    struct pt_report_key key = { .a = value, .b = (uint64_t)(uintptr_t)f };
    struct pt_html_site *named;
    uint32_t *place;

    f->last_value = value;
    f->last_pid = e->pid;
    place = f->named_count < NAMED_MOST ? pt_report_map_make(&h->named, key, sizeof *place)
                                        : pt_report_map_find(&h->named, key);
    if (!place)
        return;
    if (*place > 0) {
        /* Of two processes that are not one program, it is two things. */
        f->named[*place - 1].ambiguous |= f->named[*place - 1].pid != e->pid;
        return;
    }
    named = pt_html_more(h, f->named, f->named_count, &f->named_room, sizeof *named);
    if (!named)
        return;
    f->named = named;
    named[f->named_count++] = (struct pt_html_site){ value, e->ns, e->pid, false };
    *place = (uint32_t)f->named_count;
}

const char *pt_html_address_name(const struct pt_html *h, enum pt_html_address kind,
                                 const struct pt_html_site *site)
{
    const char *(*name)(void *, pid_t, int64_t, uint64_t) = kind == PT_HTML_CODE ? h->options.code
                                                                                 : h->options.data;

    return name && site->address ? name(h->options.context, site->pid, site->ns, site->address)
                                 : NULL;
}
