/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Typed events: a description of the data of an event type.  In POSIX the data is bytes only; a
 * description names the fields in them, is stored with the stream and its log, and every tool shows
 * the fields.
 *
 *     u32 order; f64 price; str symbol; u8 side {buy, sell}
 *
 * posixtrace-description(5) is the language.  posixtrace/emit.h traces such events in
 * one line, and describes them by the types of the arguments.
 *
 * Functions return 0 or an error number unless they say otherwise.  They are thread-safe, and
 * async-signal-safe only where they say so.
 * A layout belongs to the caller, who frees it; fields, enumerators and names belong to their
 * layout.  Functions that take a layout or a value do not check for NULL.
 */
#ifndef POSIXTRACE_TYPED_H
#define POSIXTRACE_TYPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSIXTRACE_DESCRIPTION_MAX 2047 /* bytes, without the final NUL */
#define POSIXTRACE_FIELDS_MAX      64   /* of one description */

/* ---- descriptions of event types ---- */

/*
 * Opens the event type of that name, as posix_trace_eventid_open() does, and describes
 * its data; *event_id, if not NULL, gets its id.  A description cannot be changed; giving the same
 * again is no error.  On a big-endian machine "be" is put before it in the stream, if it has no
 * byte order.  Thread-safe, not async-signal-safe.
 *
 * EINVAL        a NULL name, or the description is wrong: posixtrace_layout_parse() has the place
 * EEXIST        the type already has another description
 * ENAMETOOLONG  the name, or the description, is too long
 * EPERM         a type of the system, or posix_trace_unnamed_userevent, which a name also gets when
 *               there are TRACE_USER_EVENT_MAX types
 * ENOSPC        no room for more descriptions (512 KiB of them)
 * ENOMEM
 */
int posixtrace_event_describe(const char *event_name, const char *description,
                              trace_event_id_t *event_id);

/*
 * The same for a type of a stream that this process has created or attached to, for a controller
 * that knows the data of its target.  EINVAL also: no such stream or type; others as above.
 */
int posixtrace_trid_event_describe(trace_id_t trid, trace_event_id_t event,
                                   const char *description);

/*
 * Stores the description of the type in an active or pre-recorded stream, with its NUL, in size
 * bytes; POSIXTRACE_DESCRIPTION_MAX + 1 are always enough.  For a log in a pipe: as far as it was
 * read.  Thread-safe, not async-signal-safe.
 *
 * EINVAL  a NULL argument, size 0, or trid names no stream, or it does not have the type
 * ENOENT  it has no description
 * ERANGE  it is longer; nothing is stored
 */
int posixtrace_event_description(trace_id_t trid, trace_event_id_t event, char *description,
                                 size_t size);

/* ---- fields ---- */

enum posixtrace_field_kind {
    POSIXTRACE_FIELD_UNSIGNED,
    POSIXTRACE_FIELD_SIGNED,
    POSIXTRACE_FIELD_HEX,
    POSIXTRACE_FIELD_FLOAT,
    POSIXTRACE_FIELD_BOOL,
    POSIXTRACE_FIELD_CHAR,
    POSIXTRACE_FIELD_STRING,
    POSIXTRACE_FIELD_BYTES
};

struct posixtrace_enumerator {
    const char *name;
    int64_t value; /* of u64 and x64 its bits: -1 is 2^64 - 1 */
};

struct posixtrace_field {
    const char *name;
    int kind;            /* enum posixtrace_field_kind */
    unsigned bits;       /* of one element; 8 of strings and bytes */
    bool array;          /* several elements; not of strings and bytes */
    unsigned count_bits; /* of the count before the elements; 0: none */
    size_t count;        /* elements, where it is fixed; else 0 */
    const struct posixtrace_enumerator *enumerators; /* ascending by value */
    size_t enumerator_count;
};

/* A description that was understood.  Never changed: threads may share one. */
typedef struct posixtrace_layout posixtrace_layout_t;

struct posixtrace_layout_fault {
    size_t column; /* in bytes, from 1 */
    char text[120];
};

/*
 * Parses a description.  The caller frees *layout with posixtrace_layout_free().  fault may be
 * NULL.
 *
 * EINVAL        a NULL argument, or not a description: *fault has the place and the reason
 * ENAMETOOLONG  longer than POSIXTRACE_DESCRIPTION_MAX
 * ENOMEM
 */
int posixtrace_layout_parse(const char *description, posixtrace_layout_t **layout,
                            struct posixtrace_layout_fault *fault);
void posixtrace_layout_free(posixtrace_layout_t *layout); /* or NULL */

/* How many fields it has.  The following five are async-signal-safe. */
size_t posixtrace_layout_count(const posixtrace_layout_t *layout);
/* i from 0; NULL after the last. */
const struct posixtrace_field *posixtrace_layout_field(const posixtrace_layout_t *layout, size_t i);
/* The index of the field of that name; the number of fields if there is none. */
size_t posixtrace_layout_find(const posixtrace_layout_t *layout, const char *name);
bool posixtrace_layout_is_big_endian(const posixtrace_layout_t *layout);
/* Bytes of the data if that is always the same, else 0. */
size_t posixtrace_layout_size(const posixtrace_layout_t *layout);

/* ---- values ---- */

/* Where a field is in an event's data: good as long as that is. */
struct posixtrace_value {
    const void *at; /* of the first element, after a count; not aligned */
    size_t count;   /* elements, or bytes without the NUL of a string */
};

/*
 * Finds the fields in an event's data; values has room for all.  *fields gets how many are
 * there whole.  Async-signal-safe.
 *
 * EMSGSIZE  the data ends within a field, or has bytes after the last: it does not fit this
 *           description, or was truncated when recorded
 */
int posixtrace_layout_split(const posixtrace_layout_t *layout, const void *data, size_t len,
                            struct posixtrace_value *values, size_t *fields);

/*
 * The i-th element, from 0, below value->count, of the field with that index: of kinds
 * UNSIGNED, HEX, BOOL, CHAR and SIGNED (cast), and of FLOAT.  Async-signal-safe.
 */
uint64_t posixtrace_value_integer(const posixtrace_layout_t *layout, size_t field,
                                  const struct posixtrace_value *value, size_t i);
double posixtrace_value_float(const posixtrace_layout_t *layout, size_t field,
                              const struct posixtrace_value *value, size_t i);
/* The name of a value in the field's enumeration, of several the first, or NULL; value as in
 * struct posixtrace_enumerator.  Async-signal-safe. */
const char *posixtrace_field_enumerator(const struct posixtrace_field *field, int64_t value);

/* One field of an event.  Pointers into the event's data are good as long as that, others until
 * trid is closed. */
struct posixtrace_field_value {
    const struct posixtrace_field *field; /* its kind, its enumeration */
    const void *at;                       /* its elements in the event's data; not aligned */
    size_t count;                         /* of them; bytes of a string without its NUL */
    double number;    /* the first element of any kind of number; 0 of strings and bytes */
    uint64_t integer; /* the same of UNSIGNED, HEX, BOOL, CHAR and SIGNED (cast), else 0 */
    /* A string, with a NUL only where the description gives no length; or the name of the first
     * element in an enumeration; or NULL. */
    const char *text;
    size_t text_len; /* bytes of text, for "%.*s" */
};

/*
 * The field of that name in an event of trid, a stream of any kind, by the description of its
 * type: what posixtrace_fields_layout() and posixtrace_layout_split() do, in one call.  The
 * library parses a description once for each stream and type.  Thread-safe, not
 * async-signal-safe.
 *
 * EINVAL    a NULL argument, size 0, or trid is not a stream
 * ENOENT    the type has no description, or no such field
 * EMSGSIZE  the data ends before the end of the field
 * ENOMEM
 */
struct posixtrace_event;
int posixtrace_event_field(trace_id_t trid, const struct posixtrace_event *event, const char *name,
                           struct posixtrace_field_value *value, size_t size);

/* The descriptions of a stream's types, understood and remembered, for a reader that looks
 * at fields of each event.  Used by one thread at a time. */
typedef struct posixtrace_fields posixtrace_fields_t;

/* EINVAL: a NULL pointer; ENOMEM */
int posixtrace_fields_create(trace_id_t trid, posixtrace_fields_t **fields);
void posixtrace_fields_free(posixtrace_fields_t *fields); /* or NULL */
/* The layout of a type's data; NULL: it has no description, or one that is not understood.  Belongs
 * to fields. */
const posixtrace_layout_t *posixtrace_fields_layout(posixtrace_fields_t *fields,
                                                    trace_event_id_t event);

#ifdef __cplusplus
}
#endif
#endif
