/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * QNX's classes and events: the numbers of the interface, those in header words, and what
 * they are called here, which is what importing a .kev file calls them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/qnx.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define STATES   26u             /* of threads, in QNX 6 and 7 */
#define NAMES(a) a, COUNT(a)

static const char *const control_names[] = { NULL, "TIME", "BUFFER", NULL, "BUFFER_END", NULL,
    NULL, NULL, "DROPPED" };
static const char *const process_names[] = { "CREATE", "DESTROY", "CREATE_NAME", "DESTROY_NAME",
    "THREAD_NAME" };
static const char *const thread_names[] = { "DEAD", "RUNNING", "READY", "STOPPED", "SEND",
    "RECEIVE", "REPLY", "STACK", "WAITTHREAD", "WAITPAGE", "SIGSUSPEND", "SIGWAITINFO",
    "NANOSLEEP", "MUTEX", "CONDVAR", "JOIN", "INTR", "SEM", "WAITCTX", "NET_SEND", "NET_REPLY",
    NULL, NULL, NULL, "CREATE", "DESTROY" };
static const char *const system_names[] = { NULL, NULL, "PATHMGR_OPEN", "APS_NAME",
    "APS_NEW_BUDGET", "APS_BANKRUPTCY", "MMAP", "MUNMAP", "MAPNAME", "ADDRESS", "FUNC_ENTER",
    "FUNC_EXIT", "SLOG", "DEFRAG_START", "RUNSTATE", "POWER", "IPI", "PAGEWAIT", "TIMER",
    "DEFRAG_END", "PROFILE", "MAPNAME64", NULL, NULL, NULL, NULL, NULL, NULL, "SCHED_CONF",
    "IST_ATTACH", "IST_DETACH", "PCTRACE", "SEND_IPI" };
static const char *const comm_names[] = { "SND_MESSAGE", "SND_PULSE", "REC_MESSAGE", "REC_PULSE",
    "SND_PULSE_EXE", "SND_PULSE_DIS", "SND_PULSE_DEA", "SND_PULSE_UN", "SND_PULSE_QUN", "SIGNAL",
    "REPLY_MESSAGE", "MSG_ERROR" };
static const char *const qvm_names[] = { "GUEST_ENTER", "GUEST_EXIT", "CREATE_VCPU_THREAD",
    "RAISE_INTR", "LOWER_INTR", "TIMER_CREATE", "TIMER_FIRE", "CYCLES" };

enum { NUMBERS, BITS, LONGS, WHOLE };   /* of an event: it, its bit, bit 9 is 64 bits, always 0 */

/* first: of its events in header words; step: between them; group: the class that stands for
 * several. */
static const struct class {
    const char *label;
    uint8_t internal, group, numbers;
    uint16_t events, first, step;
    const char *const *names;
    size_t named;
} classes[PT_QNX_CLASSES] = {
    [_NTO_TRACE_CONTROL] = { "CONTROL", 1, 0, NUMBERS, 16, 0, 1, NAMES(control_names) },
    [_NTO_TRACE_KERCALLENTER] = { "KER_CALL", 2, _NTO_TRACE_KERCALL, LONGS, 128, 0, 1, NULL, 0 },
    [_NTO_TRACE_KERCALLEXIT] = { "KER_EXIT", 2, _NTO_TRACE_KERCALL, LONGS, 128, 128, 1, NULL, 0 },
    [_NTO_TRACE_KERCALLINT] = { "INT_CALL", 2, _NTO_TRACE_KERCALL, LONGS, 256, 256, 1, NULL, 0 },
    [_NTO_TRACE_INTENTER] = { "INT_ENTR", 3, _NTO_TRACE_INT, WHOLE, 1, 1, 1, NULL, 0 },
    [_NTO_TRACE_INTEXIT] = { "INT_EXIT", 3, _NTO_TRACE_INT, WHOLE, 1, 2, 1, NULL, 0 },
    [_NTO_TRACE_PROCESS] = { "PROCESS", 4, 0, BITS, 5, 64, 64, NAMES(process_names) },
    [_NTO_TRACE_THREAD] = { "THREAD", 4, 0, BITS, 32, 0, 1, NAMES(thread_names) },
    [_NTO_TRACE_VTHREAD] = { "VTHREAD", 4, 0, BITS, STATES, STATES, 1, NAMES(thread_names) },
    [_NTO_TRACE_USER] = { "USER", 6, 0, NUMBERS, PT_QNX_EVENTS, 0, 1, NULL, 0 },
    [_NTO_TRACE_SYSTEM] = { "SYSTEM", 5, 0, LONGS, 512, 0, 1, NAMES(system_names) },
    [_NTO_TRACE_COMM] = { "COMM", 7, 0, NUMBERS, 16, 0, 1, NAMES(comm_names) },
    [_NTO_TRACE_INT_HANDLER_ENTER] = { "INT_HANDLER_ENTR", 3, _NTO_TRACE_INT, WHOLE, 1, 3, 1, NULL,
                                       0 },
    [_NTO_TRACE_INT_HANDLER_EXIT] = { "INT_HANDLER_EXIT", 3, _NTO_TRACE_INT, WHOLE, 1, 4, 1, NULL,
                                      0 },
    [_NTO_TRACE_QUIP] = { "QUIP", 8, 0, NUMBERS, PT_QNX_EVENTS, 0, 1, NULL, 0 },
    [_NTO_TRACE_SEC] = { "SEC", 9, 0, NUMBERS, 8, 0, 1, NULL, 0 },
    [_NTO_TRACE_QVM] = { "QVM", 10, 0, NUMBERS, 8, 0, 1, NAMES(qvm_names) },
    [_NTO_TRACE_PMU] = { "PMU", 11, 0, NUMBERS, 2, 0, 1, NULL, 0 },
};

unsigned pt_qnx_events(unsigned event_class)
{
    return event_class < PT_QNX_CLASSES ? classes[event_class].events : 0;
}

bool pt_qnx_belongs(unsigned event_class, unsigned to)
{
    return pt_qnx_events(event_class) &&
           (event_class == to || (classes[event_class].group && classes[event_class].group == to));
}

bool pt_qnx_has(unsigned event_class, unsigned number)
{
    unsigned events = pt_qnx_events(event_class);

    if (!events || classes[event_class].numbers == WHOLE)
        return events;
    if (classes[event_class].numbers == BITS)
        return number && (uint64_t)number >> events == 0;
    return (classes[event_class].numbers == LONGS ? number & ~_NTO_TRACE_KERCALL64 : number) <
           events;
}

bool pt_qnx_selects(unsigned event_class, unsigned number, unsigned index)
{
    switch (classes[event_class].numbers) {
    case BITS:
        return number >> index & 1;
    case LONGS:
        return index == (number & ~_NTO_TRACE_KERCALL64);
    case WHOLE:
        return true;
    default:
        return index == number;
    }
}

bool pt_qnx_find(unsigned event_class, unsigned number, struct pt_qnx_kind *kind)
{
    uint8_t numbers;

    if (!pt_qnx_has(event_class, number))
        return false;
    numbers = classes[event_class].numbers;
    if (numbers == BITS && number & (number - 1))
        return false;
    *kind = (struct pt_qnx_kind){ .event_class = (uint8_t)event_class,
                                  .is64 = numbers == LONGS && number & _NTO_TRACE_KERCALL64 };
    while (!pt_qnx_selects(event_class, number, kind->index))
        kind->index++;
    return true;
}

unsigned pt_qnx_number(const struct pt_qnx_kind *kind)
{
    return classes[kind->event_class].numbers == BITS
               ? 1u << kind->index : kind->index | (kind->is64 ? _NTO_TRACE_KERCALL64 : 0);
}

bool pt_qnx_has_bits(unsigned event_class)
{
    return event_class < PT_QNX_CLASSES && classes[event_class].numbers == BITS;
}

unsigned pt_qnx_slot(const struct pt_qnx_kind *kind)
{
    return pt_qnx_has_bits(kind->event_class) ? kind->index : pt_qnx_number(kind);
}

/* ---- headers ---- */

uint32_t pt_qnx_header(const struct pt_qnx_kind *kind)
{
    const struct class *c = &classes[kind->event_class];

    return (uint32_t)c->internal << 10 | (unsigned)(c->first + c->step * kind->index) |
           (kind->is64 ? _NTO_TRACE_KERCALL64 : 0);
}

bool pt_qnx_from_header(uint32_t header, struct pt_qnx_kind *kind)
{
    unsigned internal = header >> 10 & 31, event = header & 1023;

    for (unsigned i = 0; i < PT_QNX_CLASSES; i++) {
        const struct class *c = &classes[i];
        unsigned e = c->numbers == LONGS ? event & ~_NTO_TRACE_KERCALL64 : event;
        unsigned events = i == _NTO_TRACE_THREAD ? STATES : c->events;

        if (!c->events || c->internal != internal || e < c->first || (e - c->first) % c->step ||
            (e - c->first) / c->step >= events)
            continue;
        *kind = (struct pt_qnx_kind){ .event_class = (uint8_t)i, .is64 = e != event,
                                      .index = (uint16_t)((e - c->first) / c->step) };
        return true;
    }
    return false;
}

/* ---- names ---- */

static const char *const endings[PT_QNX_FORMS] = { "", ".wide", ".string", ".bytes" };

/* Of two words and a string, always. */
static bool is_string(const struct pt_qnx_kind *kind)
{
    return kind->event_class == _NTO_TRACE_PROCESS && kind->index >= 2;
}

void pt_qnx_type_name(const struct pt_qnx_kind *kind, char name[PT_QNX_NAME])
{
    const struct class *c = &classes[kind->event_class];
    const char *ending = endings[kind->form], *event = NULL;
    char number[8];

    snprintf(number, sizeof number, "%u", (unsigned)kind->index);
    if (c->numbers == WHOLE)
        *number = '\0';
    if (kind->index < c->named)
        event = c->names[kind->index];
    if (is_string(kind))
        ending = kind->form == PT_QNX_FAST ? ".short" : kind->form == PT_QNX_STRING ? "" : ending;
    snprintf(name, PT_QNX_NAME, "qnx:%s%s%s%s%s", c->label, kind->is64 ? "64" : "",
             *number ? ":" : "", event ? event : number, ending);
}

static bool is_word(const char *word, const char *at, size_t len)
{
    return word && strncmp(word, at, len) == 0 && !word[len];
}

static bool find_class(const char *at, size_t len, struct pt_qnx_kind *kind)
{
    for (unsigned i = 0; i < PT_QNX_CLASSES; i++) {
        size_t label = classes[i].label ? strlen(classes[i].label) : 0;

        kind->event_class = (uint8_t)i;
        kind->is64 = classes[i].numbers == LONGS && label && len == label + 2 &&
                     memcmp(at + label, "64", 2) == 0;
        if (is_word(classes[i].label, at, kind->is64 ? label : len))
            return true;
    }
    return false;
}

/* The form itself is of no interest where the name is all there is. */
bool pt_qnx_from_name(const char *name, struct pt_qnx_kind *kind)
{
    const char *at = name + 4, *end;
    const struct class *c;
    size_t len;

    if (strncmp(name, "qnx:", 4) != 0)
        return false;
    *kind = (struct pt_qnx_kind){ 0 };
    len = strcspn(at, ":.");
    if (!find_class(at, len, kind))
        return false;
    c = &classes[kind->event_class];
    if (c->numbers == WHOLE)
        return at[len] != ':';
    if (at[len] != ':')
        return false;
    at += len + 1;
    end = strchrnul(at, '.');
    len = (size_t)(end - at);
    if (len && len <= 4 && strspn(at, "0123456789") == len) {
        kind->index = (uint16_t)strtoul(at, NULL, 10);
        return kind->index < c->events;
    }
    while (kind->index < c->named && !is_word(c->names[kind->index], at, len))
        kind->index++;
    return kind->index < c->named;
}

/* ---- data ---- */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define OF(fields) "be; u8 cpu; x8 flags; " fields
#else
#define OF(fields) "le; u8 cpu; x8 flags; " fields
#endif

/* Addresses of 64 bits: one is two words, two are more. */
static const char *describe_system(const struct pt_qnx_kind *kind)
{
    bool call = kind->index == _NTO_TRACE_SYS_FUNC_ENTER || kind->index == _NTO_TRACE_SYS_FUNC_EXIT;

    if (kind->is64 && kind->form == PT_QNX_BYTES && call)
        return OF("x64 thisfn; x64 call_site");
    if (kind->is64 && kind->form == PT_QNX_FAST && kind->index == _NTO_TRACE_SYS_ADDRESS)
        return OF("x64 address");
    if (!kind->is64 && kind->form == PT_QNX_FAST && call)
        return OF("x32 thisfn; x32 call_site");
    return NULL;
}

static const char *describe_simple(const struct pt_qnx_kind *kind)
{
    switch (kind->event_class) {
    case _NTO_TRACE_CONTROL:
        if (kind->index == 1)
            return OF("x32 msb; x32 lsb");
        return kind->index == 2 ? OF("u32 sequence; u32 num_events") : NULL;
    case _NTO_TRACE_PROCESS:
        return kind->index < 2 ? OF("u32 ppid; u32 pid") : NULL;
    case _NTO_TRACE_THREAD:
    case _NTO_TRACE_VTHREAD:
        return OF("u32 pid; u32 tid");
    case _NTO_TRACE_INTENTER:
        return OF("u32 interrupt; x32 ip");
    case _NTO_TRACE_INTEXIT:
        return OF("u32 interrupt; x32 d1");
    case _NTO_TRACE_COMM:
        if (kind->index >= _NTO_TRACE_COMM_SIGNAL)
            return NULL;
        return kind->index == _NTO_TRACE_COMM_SMSG || kind->index == _NTO_TRACE_COMM_RMSG
                   ? OF("x32 rcvid; u32 pid") : OF("x32 scoid; u32 pid");
    default:
        return NULL;
    }
}

const char *pt_qnx_describe(const struct pt_qnx_kind *kind)
{
    const char *known = NULL;

    if (kind->event_class == _NTO_TRACE_SYSTEM)
        known = describe_system(kind);
    else if (kind->form == PT_QNX_FAST)
        known = describe_simple(kind);
    if (known)
        return known;
    switch (kind->form) {
    case PT_QNX_FAST:
        return OF("x32 d0; x32 d1");
    case PT_QNX_WIDE:
        return OF("u32 pid; u32 tid; u32 priority; u32 policy; bytes more");
    case PT_QNX_STRING:
        if (is_string(kind))
            return kind->index < 4 ? OF("u32 ppid; u32 pid; str name")
                                   : OF("u32 pid; u32 tid; str name");
        return OF("str text");
    default:
        return OF("bytes data");
    }
}

/* Words and a string that ends in the last of them. */
static bool has_text(const char *data, size_t *len)
{
    size_t end = *len > 8 ? 8 + strnlen(data + 8, *len - 8) : *len;

    if (end == *len || *len - end > 4)
        return false;
    for (size_t i = end; i < *len; i++)
        if (data[i])
            return false;
    *len = end + 1;
    return true;
}

void pt_qnx_choose_form(struct pt_qnx_kind *kind, const void *data, size_t *len)
{
    bool thread = kind->event_class == _NTO_TRACE_THREAD || kind->event_class == _NTO_TRACE_VTHREAD;

    if (*len <= 8)
        kind->form = PT_QNX_FAST;
    else if (is_string(kind) && has_text(data, len))
        kind->form = PT_QNX_STRING;
    else
        kind->form = thread && *len >= 16 ? PT_QNX_WIDE : PT_QNX_BYTES;
}
