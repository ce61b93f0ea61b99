/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * QNX's interface over ours (posixtrace/qnx.h), inside: how an event is called and numbered,
 * which are let through, how one is recorded.
 *
 * An event is a class of the interface and an index in it: of threads and processes the number
 * of the bit, of interrupts always 0, of others the number.  Its type and data are those that
 * importing a .kev file would make of it: "qnx:CLASS:EVENT", with an ending for the form of
 * the data, which begins with u8 cpu and u8 flags.
 */
#ifndef PT_FORMAT_QNX_H
#define PT_FORMAT_QNX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <posixtrace/qnx.h>

#define PT_QNX_CLASSES     21u
#define PT_QNX_EVENTS      1024u /* of one class, at most */
#define PT_QNX_NAME        80u   /* bytes of a type's name, with NUL, as kev.h makes it */
#define PT_QNX_DESCRIPTION 320u  /* and of its description */

enum pt_qnx_form {
    PT_QNX_FAST,   /* two words: missing ones are 0 */
    PT_QNX_WIDE,   /* of a thread, with the arguments of the wide mode */
    PT_QNX_STRING, /* a string, of some events after two words */
    PT_QNX_BYTES,  /* more words, an even number */
    PT_QNX_FORMS
};

struct pt_qnx_kind {
    uint8_t event_class; /* _NTO_TRACE_...: one that has events of its own */
    uint8_t form;
    uint16_t index;
    bool is64; /* arguments of 64 bits */
};

/* ---- names and numbers (qnx_names.c) ---- */

/* Events that the class has itself: 0 of _NTO_TRACE_EMPTY, _KERCALL and _INT. */
unsigned pt_qnx_events(unsigned event_class);
/* Is the class that, or does it belong to it, as _NTO_TRACE_INTENTER to _INT? */
bool pt_qnx_belongs(unsigned event_class, unsigned to);
/* Does the number of the interface mean events of the class? */
bool pt_qnx_has(unsigned event_class, unsigned number);
/* Does it mean that event of a class which has events? */
bool pt_qnx_selects(unsigned event_class, unsigned number, unsigned index);
/* One event by class and number; false: there is none, or several. */
bool pt_qnx_find(unsigned event_class, unsigned number, struct pt_qnx_kind *kind);
/* Its number in the interface, or its bit. */
unsigned pt_qnx_number(const struct pt_qnx_kind *kind);
/* Its index in the class, below PT_QNX_EVENTS: the number; for bits the index of the bit. */
unsigned pt_qnx_slot(const struct pt_qnx_kind *kind);
/* Are the class's numbers bits? */
bool pt_qnx_has_bits(unsigned event_class);

/* Internal class and event in a header word, and back; false: there is no such event. */
uint32_t pt_qnx_header(const struct pt_qnx_kind *kind);
bool pt_qnx_from_header(uint32_t header, struct pt_qnx_kind *kind);

/* The type's name and description; and the event, but not the form, of a name; false: it is
 * none of these. */
void pt_qnx_type_name(const struct pt_qnx_kind *kind, char name[PT_QNX_NAME]);
void pt_qnx_describe(const struct pt_qnx_kind *kind, char description[PT_QNX_DESCRIPTION]);
bool pt_qnx_from_name(const char *name, struct pt_qnx_kind *kind);

/* The form for data of that length.  *len without the zero bytes that fill up a string's last
 * word. */
void pt_qnx_choose_form(struct pt_qnx_kind *kind, const void *data, size_t *len);

/* ---- filters (qnx_filter.c); all return 0 or an errno ---- */

enum pt_qnx_filter {
    PT_QNX_ON,
    PT_QNX_OFF,
    PT_QNX_SET_FAST,
    PT_QNX_SET_WIDE,
    PT_QNX_PID,
    PT_QNX_TID,
    PT_QNX_HANDLER
};

struct pt_qnx_setting {
    enum pt_qnx_filter what;
    int pid, tid;                                           /* of PID and TID; pid 0: no filter */
    int (*handler)(struct posixtrace_qnx_event_data *data); /* NULL: none */
    void *area;
};

int pt_qnx_filter_all(const struct pt_qnx_setting *setting);
int pt_qnx_filter_class(unsigned event_class, const struct pt_qnx_setting *setting);
int pt_qnx_filter_event(unsigned event_class, unsigned number,
                        const struct pt_qnx_setting *setting);

/* The static masks: 0 off, 1 fast, 2 wide.  Async-signal-safe, as the next. */
int pt_qnx_mode(const struct pt_qnx_kind *kind);
/* The masks, then pid and tid, then the handlers. */
bool pt_qnx_passes(const struct pt_qnx_kind *kind, const void *data, size_t len);

/* ---- recording (qnx_types.c, qnx_record.c); 0 or an errno ---- */

/* Opens the type if it is not, and gives its id. */
int pt_qnx_type(const struct pt_qnx_kind *kind, trace_event_id_t *id);
/* In the form that kind has; masked: if the filters let it through. */
int pt_qnx_put(const struct pt_qnx_kind *kind, const void *data, size_t len, bool masked);
/* Chooses the form by data and length. */
int pt_qnx_record(struct pt_qnx_kind kind, const void *data, size_t len, bool masked);
/* -1 and errno, of an error that is not 0. */
int pt_qnx_result(int error);

/* ---- the stream (qnx_stream.c, qnx_state.c); 0 or an errno ---- */

int pt_qnx_allocate(unsigned buffers);
int pt_qnx_deallocate(void);
int pt_qnx_start(bool state);
int pt_qnx_stop(void);
int pt_qnx_flush(void);
int pt_qnx_query(int *events);
int pt_qnx_set_ring(bool ring);
/* Records the existing processes and threads: this process, as far as the filters want it. */
void pt_qnx_put_state(void);

#endif
