/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The functions by which QNX's kernel emits its own events, add_trace_event() and so on.  The
 * original makes records of 16 bytes, joined by struct bits and a common time; here one event is
 * one event, so that a header's struct bits and CPU mean nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "compat/qnx/qnx.h"

int posixtrace_qnx_add_event(unsigned header, unsigned time, unsigned d1, unsigned d2)
{
    const uint32_t words[] = { d1, d2 };
    struct pt_qnx_kind kind;

    (void)time;
    if (_TRACE_GET_STRUCT(header) != _TRACE_STRUCT_S)
        return pt_qnx_result(ENOTSUP);
    if (!pt_qnx_from_header(header, &kind))
        return pt_qnx_result(EINVAL);
    return pt_qnx_result(pt_qnx_record(kind, words, sizeof words, false));
}

/* These return no errors: records that are no events are dropped. */
static void record(uint32_t header, const void *data, size_t len)
{
    struct pt_qnx_kind kind;

    if (pt_qnx_from_header(header, &kind))
        pt_qnx_record(kind, data, len, false);
}

void posixtrace_qnx_add_buffer(uint32_t header, const uint32_t *words, unsigned count)
{
    record(header, words, (size_t)count * 4);
}

void posixtrace_qnx_b_init(posixtrace_qnx_builder_t *builder)
{
    if (builder)
        builder->used = 0;
}

void posixtrace_qnx_b_add(posixtrace_qnx_builder_t *builder, uint32_t header, const void *data,
                          unsigned bytes)
{
    size_t room;

    (void)header;
    if (!builder || !data || builder->used > sizeof builder->data)
        return;
    room = sizeof builder->data - builder->used;
    if (bytes > room)
        bytes = (unsigned)room;
    memcpy(builder->data + builder->used, data, bytes);
    builder->used += bytes;
}

void posixtrace_qnx_b_end(posixtrace_qnx_builder_t *builder, uint32_t header)
{
    if (!builder || !builder->used || builder->used > sizeof builder->data)
        return;
    record(header, builder->data, builder->used);
    builder->used = 0;
}

/* count words and a text. */
static void add_text(uint32_t header, const uint32_t *words, unsigned count, const char *fmt,
                     va_list arguments)
{
    uint8_t data[2 * 4 + POSIXTRACE_QNX_STRING];
    size_t len = count * sizeof *words;
    struct pt_qnx_kind kind;
    int wanted;

    if (!fmt || !pt_qnx_from_header(header, &kind))
        return;
    memcpy(data, words, len);
    wanted = vsnprintf((char *)data + len, POSIXTRACE_QNX_STRING, fmt, arguments);
    if (wanted < 0)
        return;
    len += wanted < POSIXTRACE_QNX_STRING ? (size_t)wanted + 1 : POSIXTRACE_QNX_STRING;
    pt_qnx_choose_form(&kind, data, &len);
    if (!count && kind.event_class != _NTO_TRACE_PROCESS)
        kind.form = PT_QNX_STRING;
    pt_qnx_put(&kind, data, len, false);
}

void posixtrace_qnx_add_string(uint32_t header, const char *fmt, ...)
{
    va_list arguments;

    va_start(arguments, fmt);
    add_text(header, (const uint32_t[]){ 0 }, 0, fmt, arguments);
    va_end(arguments);
}

void posixtrace_qnx_d1_string(uint32_t header, uint32_t d1, const char *fmt, ...)
{
    va_list arguments;

    va_start(arguments, fmt);
    add_text(header, &d1, 1, fmt, arguments);
    va_end(arguments);
}

void posixtrace_qnx_d2_string(uint32_t header, uint32_t d1, uint32_t d2, const char *fmt, ...)
{
    va_list arguments;

    va_start(arguments, fmt);
    add_text(header, (const uint32_t[]){ d1, d2 }, 2, fmt, arguments);
    va_end(arguments);
}
