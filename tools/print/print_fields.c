/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The data of described types in print --format=text: its fields, as far as the columns
 * that are left allow.
 */
#include "print/print.h"

#include <posixtrace/system.h>
#include <stdlib.h>

#include "common/stdout_buffer.h"
#include "common/tool.h"

/* Bytes that are not ASCII, as they are escaped elsewhere. */
static size_t make_ascii(struct print *p, size_t length)
{
    char *from = p->text, *at, *to;

    p->text = at = tool_grow(NULL, length + 1, UTF8_MAX_ESCAPE);
    p->text_room = (length + 1) * UTF8_MAX_ESCAPE;
    for (size_t i = 0, took; i < length; i += took) {
        took = 1;
        to = at;
        if ((uint8_t)from[i] < 0x80)
            *to++ = from[i];
        else
            took = utf8_show_one(&to, (const uint8_t *)from + i, length - i, UTF8_TERMINAL_ASCII);
        at = to;
    }
    free(from);
    return (size_t)(at - p->text);
}

void print_clipped(const char *text, size_t length, size_t columns)
{
    bool all = columns == SIZE_MAX || utf8_columns(text, length) <= columns;

    out_bytes(text, all ? length : utf8_fit(text, length, columns - 3));
    if (!all)
        out_text("...");
}

/* The name of an address in its place, in the fields of a system event; key: of the field. */
static size_t put_site(struct print *p, const struct posixtrace_event *e, const char *key,
                       enum posixtrace_address kind, size_t length)
{
    char *at = strstr(p->text, key), *end;
    char site[SITES_TEXT];
    uint64_t address;
    size_t size, rest;

    if (!at || !describe_is_own(e))
        return length;
    at += strlen(key) - 2; /* the number */
    address = strtoull(at, &end, 16);
    size = sites_find(p->from->sites, e->pid, e->ns, address, kind, site);
    if (size == 0)
        return length;
    rest = length - (size_t)(end - p->text);
    if (length + size >= p->text_room) {
        size_t from = (size_t)(at - p->text), to = (size_t)(end - p->text);

        p->text_room = 2 * (length + size);
        p->text = tool_grow(p->text, p->text_room, 1);
        at = p->text + from;
        end = p->text + to;
    }
    memmove(at + size, end, rest + 1);
    memcpy(at, site, size);
    return (size_t)(at - p->text) + size + rest;
}

bool print_fields(struct print *p, const struct posixtrace_event *e,
                  const posixtrace_layout_t *layout, size_t columns)
{
    size_t length = posixtrace_layout_text(layout, e->data, e->data_len, p->text, p->text_room);

    if (length == 0)
        return false;
    if (length >= p->text_room) {
        p->text_room = 2 * length;
        p->text = tool_grow(p->text, p->text_room, 1);
        posixtrace_layout_text(layout, e->data, e->data_len, p->text, p->text_room);
    }
    length = put_site(p, e, "caller=0x", POSIXTRACE_ADDRESS_RETURN, length);
    if (e->id == POSIXTRACE_FUNCTION_ENTER || e->id == POSIXTRACE_FUNCTION_EXIT)
        length = put_site(p, e, "function=0x", POSIXTRACE_ADDRESS_CODE, length);
    if (!p->utf8)
        length = make_ascii(p, length);
    print_clipped(p->text, length, columns);
    return true;
}
