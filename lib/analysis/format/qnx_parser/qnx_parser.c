/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The parser of QNX's interface: callbacks by class and event, queries, and calls of callbacks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/qnx_parser/qnx_parser.h"

#define ROWS_MAX 65535u

static const char *const key_names[PT_QNX_KEYS] = {
    "HEADER_BEGIN",   "FILE_NAME",  "DATE",          "VER_MAJOR", "VER_MINOR",
    "LITTLE_ENDIAN",  "BIG_ENDIAN", "MIDDLE_ENDIAN", "ENCODING",  "BOOT_DATE",
    "CYCLES_PER_SEC", "CPU_NUM",    "SYSNAME",       "NODENAME",  "SYS_RELEASE",
    "SYS_VERSION",    "MACHINE",    "SYSPAGE_LEN",   "HEADER_END"
};

const char *pt_qnx_parser_key_name(int key)
{
    return key_names[key];
}

static void forget(posixtrace_qnx_parser_t *p)
{
    free(p->rows);
    for (int i = 0; i < PT_QNX_KEYS; i++)
        free(p->keys[i]);
    memset(p, 0, sizeof *p);
    p->error = _TRACEPARSER_UNKNOWN_ERROR;
}

posixtrace_qnx_parser_t *posixtrace_qnx_parser_init(posixtrace_qnx_parser_t *parser)
{
    if (parser && parser->running) {
        errno = EBUSY;
        return NULL;
    }
    if (!parser)
        parser = calloc(1, sizeof *parser);
    if (parser)
        forget(parser);
    return parser;
}

void posixtrace_qnx_parser_destroy(posixtrace_qnx_parser_t **parser)
{
    if (!parser || !*parser || (*parser)->running)
        return;
    forget(*parser);
    free(*parser);
    *parser = NULL;
}

int posixtrace_qnx_parser_debug(posixtrace_qnx_parser_t *parser, FILE *stream, unsigned mask)
{
    if (!parser || (!stream && mask))
        return pt_qnx_result(EINVAL);
    parser->stream = stream;
    parser->debug = mask;
    return 0;
}

void posixtrace_qnx_parser_sort(posixtrace_qnx_parser_t *parser, unsigned mode)
{
    (void)parser;
    (void)mode;
}

int pt_qnx_parser_fail(posixtrace_qnx_parser_t *p, unsigned error, int number, const char *text,
                       ...)
{
    va_list arguments;

    p->error = error;
    va_start(arguments, text);
    vsnprintf(p->text, sizeof p->text, text, arguments);
    va_end(arguments);
    if (p->debug & _TRACEPARSER_DEBUG_ERRORS)
        fprintf(p->stream, "traceparser: %s\n", p->text);
    return pt_qnx_result(number);
}

bool pt_qnx_parser_key(posixtrace_qnx_parser_t *p, int key, const char *value)
{
    char *copy = strdup(value);

    if (copy) {
        free(p->keys[key]);
        p->keys[key] = copy;
    }
    return copy;
}

/* ---- callbacks ---- */

static unsigned error_of(unsigned event_class)
{
    switch (event_class) {
    case _NTO_TRACE_CONTROL: return _TRACEPARSER_UNKNOWN_CONTROL_EVENT;
    case _NTO_TRACE_PROCESS:
    case _NTO_TRACE_THREAD:
    case _NTO_TRACE_VTHREAD: return _TRACEPARSER_UNKNOWN_PR_TH_EVENT;
    case _NTO_TRACE_USER: return _TRACEPARSER_UNKNOWN_USR_EVENT;
    case _NTO_TRACE_COMM: return _TRACEPARSER_UNKNOWN_COMM_EVENT;
    case _NTO_TRACE_SYSTEM: return _TRACEPARSER_UNKNOWN_CONTAINER_EVENT;
    default:
        return event_class >= _NTO_TRACE_KERCALL && event_class <= _NTO_TRACE_KERCALLINT
                   ? _TRACEPARSER_UNKNOWN_KER_CALL_EVENT
                   : _TRACEPARSER_UNKNOWN_ERROR;
    }
}

static bool is_interrupt(unsigned event_class)
{
    return event_class != _NTO_TRACE_EMPTY && pt_qnx_belongs(event_class, _NTO_TRACE_INT);
}

/* The row of a callback and its data; -1: no memory. */
static int row_of(posixtrace_qnx_parser_t *p, posixtrace_qnx_callback_t callback, void *user_data)
{
    unsigned i = p->row_count, least = i > 64 ? i - 64 : 1;
    struct pt_qnx_row *rows;

    if (!callback)
        return 0;
    /* A program sets one callback for many events, one after the other. */
    while (i > least &&
           (p->rows[i - 1].callback != callback || p->rows[i - 1].user_data != user_data))
        i--;
    if (i > least)
        return (int)i - 1;
    if (p->row_count >= ROWS_MAX)
        return -1;
    /* Room for as many again, whenever it is full; there is none at first. */
    if (!(p->row_count & (p->row_count - 1))) {
        p->row_count += !p->row_count;
        rows = reallocarray(p->rows, 2 * (size_t)p->row_count, sizeof *rows);
        if (!rows)
            return -1;
        rows[0] = (struct pt_qnx_row){ NULL, NULL };
        p->rows = rows;
    }
    rows = p->rows;
    rows[p->row_count] = (struct pt_qnx_row){ callback, user_data };
    return (int)p->row_count++;
}

/* Sets the row for the slots of the class in the range; returns their number. */
static unsigned fill(posixtrace_qnx_parser_t *p, unsigned c, unsigned first, unsigned last, int row)
{
    uint16_t *slot = p->slots[c];
    unsigned count = 0;

    if (is_interrupt(c)) {
        slot[0] = (uint16_t)row;
        return 1;
    }
    if (!pt_qnx_has_bits(c)) {
        for (unsigned i = first; i <= last && last < PT_QNX_EVENTS; i++, count++)
            slot[i] = (uint16_t)row;
        return count;
    }
    for (unsigned i = 0; i < pt_qnx_events(c); i++) {
        if (1u << i < first || 1u << i > last)
            continue;
        slot[i] = (uint16_t)row;
        count++;
    }
    return count;
}

static bool is_class(unsigned event_class)
{
    bool any = event_class == _NTO_TRACE_EMPTY;

    for (unsigned c = 0; c < PT_QNX_CLASSES; c++)
        any |= pt_qnx_belongs(c, event_class);
    return any;
}

int posixtrace_qnx_parser_cs_range(posixtrace_qnx_parser_t *parser, void *user_data,
                                   posixtrace_qnx_callback_t callback, unsigned event_class,
                                   unsigned first, unsigned last)
{
    bool interrupt = is_interrupt(event_class) || event_class == _NTO_TRACE_INT;
    unsigned count = event_class == _NTO_TRACE_EMPTY;
    int row;

    if (!parser)
        return pt_qnx_result(EINVAL);
    if (!is_class(event_class))
        return pt_qnx_parser_fail(parser, _TRACEPARSER_UNKNOWN_CLASS, EINVAL,
                                  "there is no class %u", event_class);
    if (interrupt && (first != _NTO_TRACE_INTFIRST || last != _NTO_TRACE_INTLAST))
        return pt_qnx_parser_fail(parser, _TRACEPARSER_UNKNOWN_INT_EVENT, EINVAL,
                                  "of interrupts, class %u, only all can be asked for: 0 to "
                                  "0xffffffff",
                                  event_class);
    row = row_of(parser, callback, user_data);
    if (row < 0)
        return pt_qnx_parser_fail(parser, _TRACEPARSER_NO_MORE_MEMORY, ENOMEM,
                                  "no memory for another callback");
    if (count)
        parser->slots[_NTO_TRACE_EMPTY][0] = (uint16_t)row;
    for (unsigned c = 1; c < PT_QNX_CLASSES; c++)
        if (pt_qnx_belongs(c, event_class))
            count += fill(parser, c, first, last, row);
    return count ? 0
                 : pt_qnx_parser_fail(parser, error_of(event_class), EINVAL,
                                      "class %u has no "
                                      "events from %u to %u",
                                      event_class, first, last);
}

int posixtrace_qnx_parser_cs(posixtrace_qnx_parser_t *parser, void *user_data,
                             posixtrace_qnx_callback_t callback, unsigned event_class,
                             unsigned event)
{
    return posixtrace_qnx_parser_cs_range(parser, user_data, callback, event_class, event, event);
}

void pt_qnx_parser_call(posixtrace_qnx_parser_t *p, const struct pt_qnx_kind *kind, unsigned cpu,
                        unsigned flags, uint64_t time, unsigned count)
{
    unsigned header = kind->event_class == _NTO_TRACE_EMPTY
                          ? 0
                          : pt_qnx_header(kind) | (cpu & 63) << 24 | (flags & 255) << 16 |
                                (count > 2 ? _TRACE_STRUCT_CB : _TRACE_STRUCT_S);
    unsigned row = p->slots[kind->event_class][pt_qnx_slot(kind)];
    struct pt_qnx_row to;

    if (p->debug & _TRACEPARSER_DEBUG_EVENTS && header)
        fprintf(p->stream, "t:0x%016llx h:0x%08x words:%u\n", (unsigned long long)time, header,
                count);
    if (!row)
        return;
    /* The callback may set others, which moves the rows. */
    to = p->rows[row];
    p->now_class = kind->event_class;
    p->now_event = pt_qnx_number(kind);
    p->previous_return = to.callback(p, to.user_data ? to.user_data : p->user_data, header, time,
                                     header ? p->words : NULL, count);
    p->previous_class = p->now_class;
    p->previous_event = p->now_event;
}

/* ---- what can be asked ---- */

void *posixtrace_qnx_parser_get_info(posixtrace_qnx_parser_t *parser, posixtrace_qnx_info_t what,
                                     unsigned *length)
{
    unsigned ignored;
    unsigned *of[] = { NULL,
                       NULL,
                       parser ? &parser->swapped : NULL,
                       parser ? &parser->now_class : NULL,
                       parser ? &parser->now_event : NULL,
                       parser ? &parser->previous_class : NULL,
                       parser ? &parser->previous_event : NULL,
                       NULL,
                       parser ? &parser->debug : NULL,
                       parser ? &parser->error : NULL };
    int w = (int)what;
    void *at = NULL;

    length = length ? length : &ignored;
    *length = 0;
    if (!parser || w >= (int)PT_QNX_KEYS || w < _TRACEPARSER_INFO_ERROR_STR) {
        errno = EINVAL;
        return NULL;
    }
    if (w >= 0 || w == _TRACEPARSER_INFO_ERROR_STR) {
        at = w >= 0 ? parser->keys[w] : parser->text;
        *length = at ? (unsigned)strlen(at) + 1 : 0;
    } else if (w == _TRACEPARSER_INFO_PREV_CALLBACK_RETURN) {
        at = &parser->previous_return;
        *length = sizeof parser->previous_return;
    } else if (w != _TRACEPARSER_INFO_SYSPAGE) {
        at = of[-w];
        *length = sizeof(unsigned);
    }
    return at;
}

const struct posixtrace_event *posixtrace_qnx_parser_event(const posixtrace_qnx_parser_t *parser)
{
    return parser ? parser->event : NULL;
}
