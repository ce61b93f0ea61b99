/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The parser of QNX's interface, inside: its state, and what an event of a log is to it.
 */
#ifndef PT_FORMAT_QNX_PARSER_H
#define PT_FORMAT_QNX_PARSER_H

#include <posixtrace/format.h>
#include "compat/qnx/qnx.h"

#define PT_QNX_IDS       4096u  /* beyond every id that a log can have */
#define PT_QNX_LOG_BYTES 61440u /* of data of an event of a log */
#define PT_QNX_THREADS   1024u
#define PT_QNX_KEYS      (_TRACEPARSER_INFO_HEADER_END + 1)

/* The origin of a type's events.  For types that are not QNX's, the kind says as which QNX event
 * they are reported. */
enum pt_qnx_meaning {
    PT_QNX_UNSEEN,
    PT_QNX_OWN,    /* data begins with cpu and flags */
    PT_QNX_OTHER,  /* "qnx:OTHER": class and number are in the data */
    PT_QNX_HEAD,   /* "qnx:HEADER": name and value */
    PT_QNX_LOST,   /* "qnx:LOST" */
    PT_QNX_SWITCH, /* a thread comes or goes: state in the kind */
    PT_QNX_LIFE,   /* a thread starts or ends */
    PT_QNX_PLAIN,  /* as it is */
    PT_QNX_SILENT  /* said by another event already */
};

struct pt_qnx_type {
    uint8_t meaning;
    uint8_t waits; /* the state of its thread after it; 0: any */
    bool swapped;  /* data is of the other byte order */
    struct pt_qnx_kind kind;
};

/* What the last events of a thread said; two threads may take one another's place. */
struct pt_qnx_thread {
    pid_t pid, tid;
    uint8_t cpu, waits;
};

struct pt_qnx_row {
    posixtrace_qnx_callback_t callback;
    void *user_data;
};

struct posixtrace_qnx_parser {
    struct pt_qnx_row *rows; /* 0 is none */
    unsigned row_count;
    uint16_t slots[PT_QNX_CLASSES][PT_QNX_EVENTS];

    FILE *stream; /* for debugging; or NULL */
    unsigned debug, error, swapped;
    char text[300]; /* the error in words */
    unsigned now_class, now_event, previous_class, previous_event;
    int previous_return;
    char *keys[PT_QNX_KEYS];              /* the header; NULL: there is no such thing */
    const struct posixtrace_event *event; /* of the callback that runs */

    /* Of one run. */
    bool running, begun;
    bool silent; /* system events are said by QNX's own already */
    void *user_data;
    trace_id_t trid;
    posixtrace_fields_t *fields;
    struct pt_qnx_type *types;     /* PT_QNX_IDS */
    struct pt_qnx_thread *threads; /* PT_QNX_THREADS */
    unsigned *words;               /* room for PT_QNX_LOG_BYTES and two more words */
    bool taken[PT_QNX_EVENTS];     /* numbers of user events, by QNX's or by others */
};

/* Says what went wrong; returns -1 with errno. */
int pt_qnx_parser_fail(posixtrace_qnx_parser_t *p, unsigned error, int number, const char *text,
                       ...) __attribute__((format(printf, 4, 5)));
/* A value of the header, copied; false: no memory. */
bool pt_qnx_parser_key(posixtrace_qnx_parser_t *p, int key, const char *value);
/* The name of a value, "CYCLES_PER_SEC". */
const char *pt_qnx_parser_key_name(int key);
/* Calls the callback for the event, if one is set. */
void pt_qnx_parser_call(posixtrace_qnx_parser_t *p, const struct pt_qnx_kind *kind, unsigned cpu,
                        unsigned flags, uint64_t time, unsigned count);

/* One event of the log; false: no memory. */
bool pt_qnx_take(posixtrace_qnx_parser_t *p, const struct posixtrace_event *event);
/* Called after the header: sets values that are the same for all files, and calls the callback for
 * the header's end. */
bool pt_qnx_begin(posixtrace_qnx_parser_t *p);

#endif
