/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * TraceEvent(): the commands of QNX's instrumentation.  A command's number contains its number of
 * arguments; they are taken as int, unsigned or pointer, as programs pass them.
 */
#include <errno.h>
#include <string.h>
#include "compat/qnx/qnx.h"

struct arguments {
    unsigned number[4];
    void *pointer[2];
};

/* How many numbers a command takes, then pointers, then numbers again. */
static const struct shape {
    uint8_t numbers, pointers, more;
} shapes[] = {
    [3] = { 1, 0, 0 },  [4] = { 1, 0, 0 },  [5] = { 2, 0, 0 },  [6] = { 2, 0, 0 },
    [7] = { 2, 2, 0 },  [8] = { 2, 0, 0 },  [9] = { 4, 0, 0 },  [12] = { 1, 1, 0 },
    [18] = { 1, 0, 0 }, [19] = { 1, 0, 0 }, [20] = { 2, 0, 0 }, [21] = { 2, 0, 0 },
    [22] = { 2, 0, 0 }, [23] = { 3, 0, 0 }, [24] = { 3, 0, 0 }, [25] = { 4, 0, 0 },
    [26] = { 1, 0, 0 }, [27] = { 1, 0, 0 }, [28] = { 2, 0, 0 }, [29] = { 2, 0, 0 },
    [30] = { 3, 0, 0 }, [31] = { 1, 1, 1 }, [32] = { 1, 1, 0 }, [36] = { 1, 2, 0 },
    [37] = { 1, 0, 0 }, [42] = { 4, 0, 0 }, [43] = { 2, 1, 1 },
};

/* ---- filters ---- */

static const struct pt_qnx_setting on = { .what = PT_QNX_ON }, off = { .what = PT_QNX_OFF },
                                   fast = { .what = PT_QNX_SET_FAST },
                                   wide = { .what = PT_QNX_SET_WIDE },
                                   any_pid = { .what = PT_QNX_PID },
                                   any_tid = { .what = PT_QNX_TID },
                                   no_handler = { .what = PT_QNX_HANDLER };

static int check(const struct pt_qnx_setting *s)
{
    if (s->what == PT_QNX_PID)
        return s->pid > 0 ? 0 : EINVAL;
    if (s->what == PT_QNX_TID)
        return s->pid > 0 && s->tid > 0 ? 0 : EINVAL;
    return s->handler ? 0 : EFAULT;
}

static int set_class(unsigned event_class, struct pt_qnx_setting s)
{
    int error = check(&s);

    return error ? error : pt_qnx_filter_class(event_class, &s);
}

static int set_event(unsigned event_class, unsigned event, struct pt_qnx_setting s)
{
    int error = check(&s);

    return error ? error : pt_qnx_filter_event(event_class, event, &s);
}

static struct pt_qnx_setting handler_of(const struct arguments *a)
{
    struct pt_qnx_setting s = { .what = PT_QNX_HANDLER };
    const struct posixtrace_qnx_event_data *data = a->pointer[1];

    /* A function in an object pointer, as it came through the variable arguments. */
    if (data)
        memcpy(&s.handler, &a->pointer[0], sizeof s.handler);
    s.area = data ? data->area : NULL;
    return s;
}

/* -1: it is another command. */
static int filter_class(int command, const struct arguments *a)
{
    unsigned c = a->number[0];
    int pid = (int)a->number[1], tid = (int)a->number[2];

    switch (command) {
    case _NTO_TRACE_ADDALLCLASSES: return pt_qnx_filter_all(&on);
    case _NTO_TRACE_DELALLCLASSES: return pt_qnx_filter_all(&off);
    case _NTO_TRACE_SETALLCLASSESFAST: return pt_qnx_filter_all(&fast);
    case _NTO_TRACE_SETALLCLASSESWIDE: return pt_qnx_filter_all(&wide);
    case _NTO_TRACE_ADDCLASS: return pt_qnx_filter_class(c, &on);
    case _NTO_TRACE_DELCLASS: return pt_qnx_filter_class(c, &off);
    case _NTO_TRACE_SETCLASSFAST: return pt_qnx_filter_class(c, &fast);
    case _NTO_TRACE_SETCLASSWIDE: return pt_qnx_filter_class(c, &wide);
    case _NTO_TRACE_SETCLASSPID:
        return set_class(c, (struct pt_qnx_setting){ .what = PT_QNX_PID, .pid = pid });
    case _NTO_TRACE_SETCLASSTID:
        return set_class(c, (struct pt_qnx_setting){ .what = PT_QNX_TID, .pid = pid, .tid = tid });
    case _NTO_TRACE_CLRCLASSPID: return pt_qnx_filter_class(c, &any_pid);
    case _NTO_TRACE_CLRCLASSTID: return pt_qnx_filter_class(c, &any_tid);
    case _NTO_TRACE_ADDCLASSEVHANDLER: return set_class(c, handler_of(a));
    case _NTO_TRACE_DELCLASSEVHANDLER: return pt_qnx_filter_class(c, &no_handler);
    default: return -1;
    }
}

static int filter_event(int command, const struct arguments *a)
{
    unsigned c = a->number[0], e = a->number[1];
    int pid = (int)a->number[2], tid = (int)a->number[3];

    switch (command) {
    case _NTO_TRACE_ADDEVENT: return pt_qnx_filter_event(c, e, &on);
    case _NTO_TRACE_DELEVENT: return pt_qnx_filter_event(c, e, &off);
    case _NTO_TRACE_SETEVENTFAST: return pt_qnx_filter_event(c, e, &fast);
    case _NTO_TRACE_SETEVENTWIDE: return pt_qnx_filter_event(c, e, &wide);
    case _NTO_TRACE_SETEVENTPID:
        return set_event(c, e, (struct pt_qnx_setting){ .what = PT_QNX_PID, .pid = pid });
    case _NTO_TRACE_SETEVENTTID:
        return set_event(c, e,
                         (struct pt_qnx_setting){ .what = PT_QNX_TID, .pid = pid, .tid = tid });
    case _NTO_TRACE_CLREVENTPID: return pt_qnx_filter_event(c, e, &any_pid);
    case _NTO_TRACE_CLREVENTTID: return pt_qnx_filter_event(c, e, &any_tid);
    case _NTO_TRACE_ADDEVENTHANDLER: return set_event(c, e, handler_of(a));
    case _NTO_TRACE_DELEVENTHANDLER: return pt_qnx_filter_event(c, e, &no_handler);
    default: return -1;
    }
}

/* ---- events ---- */

static int insert_text(struct pt_qnx_kind *kind, const char *text)
{
    size_t len;

    if (!text)
        return EFAULT;
    len = strnlen(text, POSIXTRACE_QNX_BYTES) + 1;
    if (len > POSIXTRACE_QNX_BYTES)
        return EMSGSIZE;
    kind->form = PT_QNX_STRING;
    return pt_qnx_put(kind, text, len, true);
}

static int insert(int command, const struct arguments *a)
{
    const unsigned *n = a->number;
    struct pt_qnx_kind kind = { .event_class = _NTO_TRACE_USER,
                                .index = (uint16_t)(n[0] & _NTO_TRACE_USERLAST) };

    if ((command == _NTO_TRACE_INSERTSCLASSEVENT || command == _NTO_TRACE_INSERTCCLASSEVENT) &&
        !pt_qnx_find(n[0], n[1], &kind))
        return EINVAL;
    switch (command) {
    case _NTO_TRACE_INSERTEVENT:
        return posixtrace_qnx_add_event(n[0], n[1], n[2], n[3]) ? errno : 0;
    case _NTO_TRACE_INSERTSUSEREVENT:
        return pt_qnx_record(kind, (const uint32_t[]){ n[1], n[2] }, 8, true);
    case _NTO_TRACE_INSERTCUSEREVENT:
        return pt_qnx_record(kind, a->pointer[0], (size_t)n[1] * 4, true);
    case _NTO_TRACE_INSERTUSRSTREVENT: return insert_text(&kind, a->pointer[0]);
    case _NTO_TRACE_INSERTSCLASSEVENT:
        return pt_qnx_record(kind, (const uint32_t[]){ n[2], n[3] }, 8, true);
    case _NTO_TRACE_INSERTCCLASSEVENT:
        return pt_qnx_record(kind, a->pointer[0], (size_t)n[2] * 4, true);
    default: return -1;
    }
}

/* ---- the stream, and queries ---- */

static int allocate(const struct arguments *a)
{
    void **list = a->pointer[0];
    int error = list ? pt_qnx_allocate(a->number[0]) : EFAULT;

    /* There is no list of buffers to be mapped. */
    if (!error)
        *list = NULL;
    return error;
}

static int steer(int command, const struct arguments *a, int *result)
{
    switch (command) {
    case _NTO_TRACE_ALLOCBUFFER: return allocate(a);
    case _NTO_TRACE_DEALLOCBUFFER: return pt_qnx_deallocate();
    case _NTO_TRACE_START: return pt_qnx_start(true);
    case _NTO_TRACE_STARTNOSTATE: return pt_qnx_start(false);
    case _NTO_TRACE_STOP: return pt_qnx_stop();
    case _NTO_TRACE_FLUSHBUFFER: return pt_qnx_flush();
    case _NTO_TRACE_QUERYEVENTS: return pt_qnx_query(result);
    case _NTO_TRACE_SETRINGMODE: return pt_qnx_set_ring(true);
    case _NTO_TRACE_SETLINEARMODE: return pt_qnx_set_ring(false);
    case _NTO_TRACE_SKIPBUFFER: /* a full stream in linear mode does that */ return 0;
    case _NTO_TRACE_QUERYSUPPORT: *result = _NTO_TRACE_SUPPINSTR; return 0;
    default: return ENOTSUP;
    }
}

static void take(struct arguments *a, const struct shape *shape, va_list list)
{
    unsigned n = 0;

    while (n < shape->numbers)
        a->number[n++] = va_arg(list, unsigned);
    for (unsigned i = 0; i < shape->pointers; i++)
        a->pointer[i] = va_arg(list, void *);
    if (shape->more)
        a->number[n] = va_arg(list, unsigned);
}

int posixtrace_qnx_trace_event(int command, ...)
{
    struct arguments a = { { 0 }, { NULL } };
    unsigned code = (unsigned)command & 0xfffffff;
    struct shape shape = { 0, 0, 0 };
    int error, result = 0;
    va_list list;

    if (code < sizeof shapes / sizeof *shapes)
        shape = shapes[code];
    if ((unsigned)command >> 28 != 1u + shape.numbers + shape.pointers + shape.more)
        return pt_qnx_result(ENOTSUP);
    va_start(list, command);
    take(&a, &shape, list);
    va_end(list);
    error = filter_class(command, &a);
    if (error < 0)
        error = filter_event(command, &a);
    if (error < 0)
        error = insert(command, &a);
    if (error < 0)
        error = steer(command, &a, &result);
    return error ? pt_qnx_result(error) : result;
}
