/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Records QNX's events: the common part of trace_logf(), add_trace_event() and the inserting
 * commands, and the functions for text or words.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <posixtrace/emit.h>
#include "compat/qnx/qnx.h"

#define HEAD  2u /* cpu and flags */
#define SMALL 8u /* of data: two words */

/* The type of the event; *id is 0 if no stream records it, or the masks do not want it. */
static int find_type(const struct pt_qnx_kind *kind, bool masked, trace_event_id_t *id)
{
    int error = 0;

    *id = 0;
    if (!masked || pt_qnx_mode(kind))
        error = pt_qnx_type(kind, id);
    if (error || !posixtrace_event_wanted(*id))
        *id = 0;
    return error;
}

/* Room for HEAD bytes is before the data. */
static void trace(trace_event_id_t id, uint8_t *data, size_t len)
{
    int cpu = sched_getcpu();

    data[0] = (uint8_t)(cpu < 0 ? 0 : cpu & 63);
    data[1] = 0;
    posix_trace_event(id, data, HEAD + len);
}

static void copy(trace_event_id_t id, uint8_t *to, const void *data, size_t len, size_t padded)
{
    if (len)
        memcpy(to + HEAD, data, len);
    memset(to + HEAD + len, 0, padded - len);
    trace(id, to, padded);
}

/* Apart, so that simple events need little stack. */
static __attribute__((noinline)) void copy_large(trace_event_id_t id, const void *data, size_t len,
                                                 size_t padded)
{
    uint8_t to[HEAD + POSIXTRACE_QNX_BYTES];

    copy(id, to, data, len, padded);
}

int pt_qnx_put(const struct pt_qnx_kind *kind, const void *data, size_t len, bool masked)
{
    /* Pairs of words, as the original's records hold. */
    size_t padded = kind->form == PT_QNX_STRING ? len
                    : kind->form == PT_QNX_FAST ? SMALL
                                                : (len + 7) & ~(size_t)7;
    uint8_t small[HEAD + SMALL];
    trace_event_id_t id;
    int error;

    if (len && !data)
        return EFAULT;
    if (len > POSIXTRACE_QNX_BYTES)
        return EMSGSIZE;
    error = find_type(kind, masked, &id);
    if (!id || (masked && !pt_qnx_passes(kind, data, len)))
        return error;
    if (padded <= SMALL)
        copy(id, small, data, len, padded);
    else
        copy_large(id, data, len, padded);
    return 0;
}

int pt_qnx_record(struct pt_qnx_kind kind, const void *data, size_t len, bool masked)
{
    if (data)
        pt_qnx_choose_form(&kind, data, &len);
    return pt_qnx_put(&kind, data, len, masked);
}

static struct pt_qnx_kind user_kind(int code)
{
    return (struct pt_qnx_kind){ .event_class = _NTO_TRACE_USER,
                                 .index = (uint16_t)((unsigned)code & _NTO_TRACE_USERLAST) };
}

int posixtrace_qnx_wanted(unsigned event_class, unsigned event)
{
    struct pt_qnx_kind kind;

    return pt_qnx_find(event_class, event, &kind) ? pt_qnx_mode(&kind) : 0;
}

int posixtrace_qnx_emit(unsigned event_class, unsigned event, const uint32_t *words, unsigned fast,
                        unsigned wide)
{
    struct pt_qnx_kind kind;
    int mode;

    if (!pt_qnx_find(event_class, event, &kind))
        return pt_qnx_result(EINVAL);
    mode = pt_qnx_mode(&kind);
    return pt_qnx_result(
        mode ? pt_qnx_record(kind, words, (size_t)(mode == 2 ? wide : fast) * 4, true) : 0);
}

/* ---- trace_log..., of the user's class ---- */

int posixtrace_qnx_vnlogf(int code, int max, const char *fmt, va_list arguments)
{
    struct pt_qnx_kind kind = user_kind(code);
    uint8_t data[HEAD + POSIXTRACE_QNX_BYTES];
    size_t room = max > 0 && max < POSIXTRACE_QNX_BYTES ? (size_t)max : POSIXTRACE_QNX_BYTES;
    trace_event_id_t id;
    int wanted, error;

    if (!fmt || max < 0)
        return pt_qnx_result(fmt ? EINVAL : EFAULT);
    kind.form = PT_QNX_STRING;
    error = find_type(&kind, true, &id);
    if (!id)
        return pt_qnx_result(error);
    wanted = vsnprintf((char *)data + HEAD, room, fmt, arguments);
    if (wanted < 0)
        return pt_qnx_result(EINVAL);
    if ((size_t)wanted < room)
        room = (size_t)wanted + 1;
    if (!pt_qnx_passes(&kind, data + HEAD, room))
        return 0;
    trace(id, data, room);
    return (int)room;
}

int posixtrace_qnx_nlogf(int code, int max, const char *fmt, ...)
{
    va_list arguments;
    int result;

    va_start(arguments, fmt);
    result = posixtrace_qnx_vnlogf(code, max, fmt, arguments);
    va_end(arguments);
    return result;
}

int posixtrace_qnx_logf(int code, const char *fmt, ...)
{
    va_list arguments;
    int result;

    va_start(arguments, fmt);
    result = posixtrace_qnx_vnlogf(code, 0, fmt, arguments);
    va_end(arguments);
    return result;
}

int posixtrace_qnx_logi(int code, unsigned d1, unsigned d2)
{
    const uint32_t words[] = { d1, d2 };

    return pt_qnx_result(pt_qnx_record(user_kind(code), words, sizeof words, true));
}

int posixtrace_qnx_logb(int code, const void *data, size_t bytes)
{
    return pt_qnx_result(pt_qnx_record(user_kind(code), data, bytes, true));
}

/* ---- of other classes ---- */

int posixtrace_qnx_logbc(int internal_class, int event, const void *data, size_t bytes)
{
    uint32_t header = (uint32_t)internal_class | (uint32_t)event;
    struct pt_qnx_kind kind;

    if ((uint32_t)internal_class & ~(31u << 10) || (uint32_t)event & ~1023u ||
        !pt_qnx_from_header(header, &kind))
        return pt_qnx_result(EINVAL);
    return pt_qnx_result(pt_qnx_record(kind, data, bytes, true));
}

static int record_addresses(unsigned event, const void *const *addresses, unsigned count)
{
    struct pt_qnx_kind kind = { .event_class = _NTO_TRACE_SYSTEM,
                                .index = (uint16_t)event,
                                .is64 = true };
    uint64_t data[2];

    for (unsigned i = 0; i < count; i++)
        data[i] = (uintptr_t)addresses[i];
    return pt_qnx_result(pt_qnx_record(kind, data, count * sizeof *data, true));
}

int posixtrace_qnx_func_enter(void *function, void *site)
{
    return record_addresses(_NTO_TRACE_SYS_FUNC_ENTER, (const void *[]){ function, site }, 2);
}

int posixtrace_qnx_func_exit(void *function, void *site)
{
    return record_addresses(_NTO_TRACE_SYS_FUNC_EXIT, (const void *[]){ function, site }, 2);
}

int posixtrace_qnx_here(void)
{
    const void *here = __builtin_return_address(0);

    return record_addresses(_NTO_TRACE_SYS_ADDRESS, &here, 1);
}
