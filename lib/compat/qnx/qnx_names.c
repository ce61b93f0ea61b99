/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * QNX's classes and events: the numbers of the interface, those in header words, and their names
 * here, which are also those of an imported .kev file (kev.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compat/qnx/kev_types.h"
#include "compat/qnx/qnx.h"

#define STATES 26u /* of threads, in QNX 6 and 7 */

enum { NUMBERS, BITS, LONGS, WHOLE }; /* of an event: it, its bit, bit 9 is 64 bits, always 0 */

/* first: of its events in header words; step: between them; group: the class that includes
 * several. */
static const struct class
{
    uint8_t internal, group, numbers;
    uint16_t events, first, step;
} classes[PT_QNX_CLASSES] = {
    [_NTO_TRACE_CONTROL] = { 1, 0, NUMBERS, 16, 0, 1 },
    [_NTO_TRACE_KERCALLENTER] = { 2, _NTO_TRACE_KERCALL, LONGS, 128, 0, 1 },
    [_NTO_TRACE_KERCALLEXIT] = { 2, _NTO_TRACE_KERCALL, LONGS, 128, 128, 1 },
    [_NTO_TRACE_KERCALLINT] = { 2, _NTO_TRACE_KERCALL, LONGS, 256, 256, 1 },
    [_NTO_TRACE_INTENTER] = { 3, _NTO_TRACE_INT, WHOLE, 1, 1, 1 },
    [_NTO_TRACE_INTEXIT] = { 3, _NTO_TRACE_INT, WHOLE, 1, 2, 1 },
    [_NTO_TRACE_PROCESS] = { 4, 0, BITS, 5, 64, 64 },
    [_NTO_TRACE_THREAD] = { 4, 0, BITS, 32, 0, 1 },
    [_NTO_TRACE_VTHREAD] = { 4, 0, BITS, STATES, STATES, 1 },
    [_NTO_TRACE_USER] = { 6, 0, NUMBERS, PT_QNX_EVENTS, 0, 1 },
    [_NTO_TRACE_SYSTEM] = { 5, 0, LONGS, 512, 0, 1 },
    [_NTO_TRACE_COMM] = { 7, 0, NUMBERS, 16, 0, 1 },
    [_NTO_TRACE_INT_HANDLER_ENTER] = { 3, _NTO_TRACE_INT, WHOLE, 1, 3, 1 },
    [_NTO_TRACE_INT_HANDLER_EXIT] = { 3, _NTO_TRACE_INT, WHOLE, 1, 4, 1 },
    [_NTO_TRACE_QUIP] = { 8, 0, NUMBERS, PT_QNX_EVENTS, 0, 1 },
    [_NTO_TRACE_SEC] = { 9, 0, NUMBERS, 8, 0, 1 },
    [_NTO_TRACE_QVM] = { 10, 0, NUMBERS, 8, 0, 1 },
    [_NTO_TRACE_PMU] = { 11, 0, NUMBERS, 2, 0, 1 },
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
    case BITS: return number >> index & 1;
    case LONGS: return index == (number & ~_NTO_TRACE_KERCALL64);
    case WHOLE: return true;
    default: return index == number;
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
               ? 1u << kind->index
               : kind->index | (kind->is64 ? _NTO_TRACE_KERCALL64 : 0);
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

/* The states of threads come first, then those of virtual threads. */
static unsigned events_in_headers(unsigned event_class)
{
    return event_class == _NTO_TRACE_THREAD ? STATES : classes[event_class].events;
}

bool pt_qnx_from_header(uint32_t header, struct pt_qnx_kind *kind)
{
    unsigned internal = header >> 10 & 31, event = header & 1023;

    for (unsigned i = 0; i < PT_QNX_CLASSES; i++) {
        const struct class *c = &classes[i];
        unsigned e = c->numbers == LONGS ? event & ~_NTO_TRACE_KERCALL64 : event;
        unsigned events = events_in_headers(i);

        if (!c->events || c->internal != internal || e < c->first || (e - c->first) % c->step ||
            (e - c->first) / c->step >= events)
            continue;
        *kind = (struct pt_qnx_kind){ .event_class = (uint8_t)i,
                                      .is64 = e != event,
                                      .index = (uint16_t)((e - c->first) / c->step) };
        return true;
    }
    return false;
}

/* ---- names ---- */

_Static_assert((int)PT_QNX_FAST == PT_KEV_FAST && (int)PT_QNX_WIDE == PT_KEV_WIDE &&
                   (int)PT_QNX_STRING == PT_KEV_STRING && (int)PT_QNX_BYTES == PT_KEV_BYTES,
               "the same forms");

/* Only release 8 has so many states of threads, and no public source names them. */
static const struct pt_kev_rules *rules_of(const struct pt_qnx_kind *kind)
{
    static const struct pt_kev_rules usual, release8 = { .release8 = true };

    return kind->index < events_in_headers(kind->event_class) ? &usual : &release8;
}

static void about(const struct pt_qnx_kind *kind, struct pt_kev_about *a)
{
    pt_kev_about(rules_of(kind), pt_kev_type(pt_qnx_header(kind)), a);
}

/* Does the event always have two words and a string? */
static bool is_string(const struct pt_qnx_kind *kind)
{
    return kind->event_class == _NTO_TRACE_PROCESS && kind->index >= 2;
}

void pt_qnx_type_name(const struct pt_qnx_kind *kind, char name[PT_QNX_NAME])
{
    pt_kev_name(rules_of(kind), pt_kev_type(pt_qnx_header(kind)), (enum pt_kev_form)kind->form,
                name);
}

static bool is_word(const char *word, const char *at, size_t len)
{
    return strncmp(word, at, len) == 0 && !word[len];
}

static bool find_class(const char *at, size_t len, struct pt_qnx_kind *kind)
{
    struct pt_kev_about a;

    for (unsigned i = 0; i < 2 * PT_QNX_CLASSES; i++) {
        kind->event_class = (uint8_t)(i / 2);
        kind->is64 = i % 2;
        if (!classes[i / 2].events || (kind->is64 && classes[i / 2].numbers != LONGS))
            continue;
        about(kind, &a);
        if (is_word(a.label, at, len))
            return true;
    }
    return false;
}

static bool find_event(const char *at, size_t len, struct pt_qnx_kind *kind)
{
    struct pt_kev_about a;

    for (; kind->index < events_in_headers(kind->event_class); kind->index++) {
        about(kind, &a);
        if (is_word(a.event, at, len))
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
    return find_event(at, len, kind);
}

/* ---- data ---- */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ORDER "be"
#else
#define ORDER "le"
#endif

/* Addresses of 64 bits: one is two words, two are more.  NULL: it has none. */
static const char *long_fields(const struct pt_qnx_kind *kind)
{
    bool call = kind->index == _NTO_TRACE_SYS_FUNC_ENTER || kind->index == _NTO_TRACE_SYS_FUNC_EXIT;

    if (!kind->is64 || kind->event_class != _NTO_TRACE_SYSTEM)
        return NULL;
    if (kind->form == PT_QNX_BYTES && call)
        return "x64 thisfn; x64 call_site";
    return kind->form == PT_QNX_FAST && kind->index == _NTO_TRACE_SYS_ADDRESS ? "x64 address"
                                                                              : NULL;
}

void pt_qnx_describe(const struct pt_qnx_kind *kind, char description[PT_QNX_DESCRIPTION])
{
    const char *fields = long_fields(kind);

    if (!fields)
        fields = pt_kev_fields(rules_of(kind), pt_kev_type(pt_qnx_header(kind)),
                               (enum pt_kev_form)kind->form);
    snprintf(description, PT_QNX_DESCRIPTION, ORDER "; u8 cpu; x8 flags; %s", fields);
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

int pt_qnx_result(int error)
{
    if (error)
        errno = error;
    return error ? -1 : 0;
}
