/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state of a run over pairs.
 *
 * Order.  Each stream's next item - an event of interest, the start of a gap, or its end - is
 * known before an earlier one of another stream is taken, since gaps are found when the stream is
 * read up to there.  A heap has the streams by the time of that item.
 *
 * Doubt.  Items are numbered in the order in which they are taken.  A stream in a gap, or with a
 * gap that ended after an event with a certain number, may have lost events after that one.  A pair
 * is in doubt if one of the streams of its two events may have lost some after the first one;
 * gaps of third streams do not matter to it: a key that two streams have used is theirs.  A last
 * event whose first one was not seen may belong to one that any stream has lost.
 *
 * pair_parse.c: the text of a pair.  pair_types.c: event types and keys.  pair_source.c: the next
 * item of a stream.  pair_table.c: what waits by its key.  pair_match.c: what events and gaps
 * do.  pair_run.c: the merge, and the interface.
 */
#ifndef PT_PAIR_STATE_H
#define PT_PAIR_STATE_H

#include <posixtrace/event.h>
#include <posixtrace/pair.h>
#include <posixtrace/typed.h>
#include <sys/queue.h>
#include "analysis/metrics/run/gap_marks.h"

enum { PT_PAIR_BATCH = 64, PT_PAIR_KEY_MAX = 512, PT_PAIRS_MAX = 32 };

struct posixtrace_pair {
    char *event[2]; /* the first, the last */
    char *field[2][POSIXTRACE_PAIR_FIELDS];
    size_t field_count;
};

/* What a pair is to an event type. */
enum pt_pair_part { PT_PAIR_BEGIN = 1, PT_PAIR_END = 2 };

/* Where a field of a key is. */
struct pt_pair_field {
    size_t index;   /* in the layout */
    size_t at;      /* of one number, if all before it is of fixed size; else SIZE_MAX */
    unsigned bytes; /* of that */
    bool is_signed, is_text;
};

/* A use of an event type by a pair. */
struct pt_pair_use {
    size_t pair;
    unsigned part;
    const posixtrace_layout_t *layout;
    struct pt_pair_field fields[POSIXTRACE_PAIR_FIELDS];
};

struct pt_pair_type {
    bool known, is_mark;
    struct pt_pair_use *uses;
    size_t count;
};

enum pt_pair_gap {
    PT_PAIR_STOPPED = 1,
    PT_PAIR_OVERFLOW = 2,
    PT_PAIR_UNREAD = 4,
    PT_PAIR_HIDDEN = 8
};

enum pt_pair_item { PT_PAIR_ITEM_NONE, PT_PAIR_ITEM_EVENT, PT_PAIR_ITEM_GAP, PT_PAIR_ITEM_LAST };

struct pt_pair_source {
    trace_id_t trid;
    size_t place;
    posixtrace_fields_t *fields;
    struct pt_pair_type *types; /* by id */
    size_t type_count;
    uint32_t begins, ends; /* bits of the pairs whose first and last events it may have */
    bool names_later;      /* it may have types that are not known yet */
    /* Reading. */
    struct posixtrace_event batch[PT_PAIR_BATCH];
    size_t at, count;
    bool any;    /* an event was read */
    bool unread; /* events are missing before batch[at] */
    struct pt_gap_marks marks;
    bool over;         /* there is no more to read */
    bool last_is_stop; /* the last event that was read is STOP */
    enum pt_pair_item item;
    const struct pt_pair_type *type; /* of an event */
    int64_t item_ns, key;            /* its time; the same, not before that of the item before */
    int64_t now;                     /* time of the last event read */
    /* Gaps, as they are taken. */
    unsigned in_gap;  /* PT_PAIR_STOPPED and others */
    bool begun, full; /* full: it stopped by itself */
    uint64_t gap_seq; /* number of the item that ended the last gap */
};

struct pt_pair_entry;
TAILQ_HEAD(pt_pair_list, pt_pair_entry);

/* The state of one pair. */
struct pt_pair_match {
    const posixtrace_pair_t *pair;
    struct pt_pair_entry *table; /* by key */
    struct pt_pair_list open, done;
    size_t open_count, done_count;
    int8_t text[POSIXTRACE_PAIR_FIELDS]; /* is the field one of texts?  -1: not known yet */
    size_t text_from;                    /* the stream that said so */
    bool begins_lost, ends_lost;
    int64_t begin_lost_ns; /* valid with begins_lost: since when */
    int64_t end_lost_ns;  /* valid with ends_lost: until when; POSIXTRACE_NO_BOUND: nothing tells */
    uint64_t end_gap_seq; /* number of the item that ended the last gap that hides last events */
    size_t ends_in_gap;   /* streams in a gap that hides last events */
    struct posixtrace_pair_doubt doubt;
};

struct posixtrace_pair_run {
    struct pt_pair_match *matches;
    size_t match_count;
    struct pt_pair_source *sources;
    size_t source_count;
    struct pt_pair_source **heap;
    size_t heap_count;
    bool ready; /* the heap is made */
    uint64_t seq, events;
    int64_t now;
    unsigned long long factor; /* of the hash, random: a log can choose the keys */
    int (*measured)(void *, const struct posixtrace_pair_measurement *);
    void *context;
    bool (*reversed)(void *, const struct posixtrace_pair_measurement *, int *);
    bool (*wants)(void *, size_t, const struct posixtrace_event *);
    void *wants_context;
    int stopped; /* the first result of measured that is not 0 */
    struct posixtrace_pair_fault fault;
};

/* ---- pair_types.c: 0 or an error number, EINVAL with run->fault ---- */

/* Types that the stream has already. */
int pt_pair_types_learn(posixtrace_pair_run_t *run, struct pt_pair_source *s);
/* The type of an event; NULL: *error. */
struct pt_pair_type *pt_pair_type(posixtrace_pair_run_t *run, struct pt_pair_source *s,
                                  trace_event_id_t id, int *error);
void pt_pair_types_free(struct pt_pair_source *s);

/* The bytes that are the same in both events of a pair.  is_number: it is one number. */
struct pt_pair_key {
    size_t length;
    uint64_t number;
    bool is_number;
    unsigned char bytes[PT_PAIR_KEY_MAX];
};
/* False: the data does not have the fields, or they are too long. */
bool pt_pair_key(const struct pt_pair_use *use, size_t field_count,
                 const struct posixtrace_event *e, struct pt_pair_key *key);

/* ---- pair_source.c ---- */

/* Finds the next item; NONE after the last.  0 or an error number. */
int pt_pair_source_next(posixtrace_pair_run_t *run, struct pt_pair_source *s);

/* ---- pair_table.c ---- */

struct pt_pair_entry *pt_pair_find(const posixtrace_pair_run_t *run, const struct pt_pair_match *m,
                                   const struct pt_pair_key *key);
/* A new entry, which waits; NULL: no memory. */
struct pt_pair_entry *pt_pair_add(posixtrace_pair_run_t *run, struct pt_pair_match *m,
                                  const struct pt_pair_key *key);
/* The entry waits, or does not wait any more: then it is kept for a while. */
void pt_pair_opens(struct pt_pair_match *m, struct pt_pair_entry *entry);
void pt_pair_closes(struct pt_pair_match *m, struct pt_pair_entry *entry);
void pt_pair_table_free(struct pt_pair_match *m);
/* The first one that waits, and has waited longest, or NULL. */
struct pt_pair_entry *pt_pair_oldest(const struct pt_pair_match *m);
/* Removes one that waits. */
void pt_pair_drop(struct pt_pair_match *m, struct pt_pair_entry *entry);

#include <uthash.h>

struct pt_pair_entry {
    UT_hash_handle hh;
    TAILQ_ENTRY(pt_pair_entry) link;
    struct posixtrace_pair_place begin; /* of the first event, or the last one if that was alone; of
                                         * one that is done, ns is that of the last event */
    uint64_t seq;                       /* number of the latest event */
    uint64_t number;
    bool is_open, is_number, is_alone; /* is_alone: a last event without a first one */
    bool unwanted;
    uint32_t length;
    unsigned char key[];
};

/* ---- pair_match.c: 0 or an error number ---- */

int pt_pair_take(posixtrace_pair_run_t *run, struct pt_pair_source *s, const struct pt_pair_type *t,
                 const struct posixtrace_event *e);
void pt_pair_gap_begin(posixtrace_pair_run_t *run, struct pt_pair_source *s, enum pt_pair_gap why,
                       int64_t ns);
void pt_pair_gap_end(posixtrace_pair_run_t *run, struct pt_pair_source *s, unsigned why,
                     int64_t ns);
/* The first event of the stream, after events of others: what it would have recorded before is not
 * known, and can be the last event of what waits.  First events before it are no part of the
 * trace. */
void pt_pair_source_starts(posixtrace_pair_run_t *run, struct pt_pair_source *s, int64_t ns);
/* No more event of the stream comes: its gap lasts until then, or without an end. */
void pt_pair_source_ends(posixtrace_pair_run_t *run, struct pt_pair_source *s, int64_t ns,
                         bool endless);
/* The entry is given up, for want of room. */
void pt_pair_evict(struct pt_pair_match *m, const struct pt_pair_entry *entry);
/* The end of the run for a pair. */
int pt_pair_settle(posixtrace_pair_run_t *run, size_t pair);

#endif
