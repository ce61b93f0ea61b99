/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export as a QNX trace.  The mapping of events is the same for both formats; each format has a
 * pair of functions that write an event.
 */
#ifndef PT_FORMAT_KEV_WRITE_H
#define PT_FORMAT_KEV_WRITE_H

#include "analysis/format/qnx/kev.h"
#include "analysis/format/qnx/kev_roundtrip.h"

#define PT_KEV_EVENT_IDS   4096u /* beyond every id that a stream can have */
#define PT_KEV_BUFFER_MAX  1014u /* records of a buffer of the kernel */
#define PT_KEV_BUFFER_HIGH 714u  /* from where it is closed */

enum { PT_KEV_LEFT_SIZE, PT_KEV_TELL_TIME };

enum { PT_KEV_IS_NEW, PT_KEV_IS_ANY, PT_KEV_IS_NATIVE, PT_KEV_IS_LOST, PT_KEV_IS_OTHER };

/* The mapping of an event type of the log. */
struct pt_kev_target {
    uint8_t kind;
    uint8_t form; /* of native: enum pt_kev_form */
    bool described;
    uint16_t type;         /* of native */
    uint16_t number, user; /* of ours; number 0: none yet */
};

struct pt_kev_author {
    bool used;
    uint8_t cpu, wait; /* where it runs or ran; state in which it waits, or 0 */
    uint32_t pid, tid;
    uint64_t thread_id;
    char name[16];
};

struct pt_kev_writer {
    struct pt_job *job;
    struct pt_kev_rules rules;
    /* One event: header without the bits of its part, and whole pairs of words.  note: the original
     * event, for comments; or NULL.  cut: its end is missing. */
    bool (*put)(struct pt_kev_writer *w, uint32_t header, const uint8_t *data, size_t length,
                int64_t ns, bool cut, const struct posixtrace_event *note);
    /* Writes arguments that only traceprinter knows; or NULL. */
    bool (*put_text)(struct pt_kev_writer *w, uint32_t header, const char *call,
                     const char *arguments, int64_t ns);
    bool (*head_line)(struct pt_kev_writer *w, const char *name, const char *value);
    bool (*open)(struct pt_kev_writer *w, int64_t ns); /* a buffer, if none is */
    bool (*close)(struct pt_kev_writer *w);
    bool begun, of_qnx;
    bool marks;   /* it has flags, which distinguish our events from the program's */
    off_t cpu_at; /* where the number of processors is; -1: nowhere */
    unsigned cpus;

    uint32_t sequence, count; /* number of the buffer, and of the records in it */
    uint8_t *out;             /* for text: the buffer, and its bytes in use */
    size_t used;
    struct {
        bool known;
        uint32_t sequence, high;
    } cpu[PT_KEV_CPUS];

    char *attributes; /* of the log's header: name and value, with NULs */
    size_t attribute_bytes;
    unsigned swallow; /* OVERFLOW and RESUME that belong to a loss */
    uint16_t numbers;
    bool taken[1024], taken_by_us[1024];
    struct pt_kev_target target[PT_KEV_EVENT_IDS];
    struct pt_kev_author author[PT_KEV_OUR_THREADS];
    uint64_t place[PT_KEV_OUR_PLACES];
    uint8_t *data; /* of the event that is made */
};

/* ---- kev_write.c ---- */

/* Exports; the functions and out are set. */
int pt_kev_write_all(struct pt_kev_writer *w);
/* The next sequence numbers are missing. */
bool pt_kev_write_gap(struct pt_kev_writer *w, uint32_t missing, int64_t ns);
/* False: the processor has already recorded this high half of its time. */
bool pt_kev_tells_time(struct pt_kev_writer *w, unsigned cpu, int64_t ns);

/* ---- kev_write_head.c ---- */

bool pt_kev_write_head(struct pt_kev_writer *w, int64_t ns);
bool pt_kev_keep_attribute(struct pt_kev_writer *w, const struct posixtrace_event *e);
/* The number of processors is known at the end. */
void pt_kev_write_cpus(struct pt_kev_writer *w);

/* ---- kev_native_write.c ---- */

/* An event that came from QNX; *done is false where it has to be carried as any other. */
bool pt_kev_write_native(struct pt_kev_writer *w, const struct pt_kev_target *t,
                         const struct posixtrace_event *e, bool *done);
/* Can a user event of the program with that number and those flags be written back unchanged? */
bool pt_kev_user_is_free(const struct pt_kev_writer *w, unsigned number, unsigned flags);
/* One whose type had no room in the log. */
bool pt_kev_write_other(struct pt_kev_writer *w, const struct posixtrace_event *e, bool *done);

/* ---- kev_roundtrip_write.c ---- */

bool pt_kev_write_ours(struct pt_kev_writer *w, struct pt_kev_target *t,
                       const struct posixtrace_event *e);
/* A context switch; *done is false where there is more to it. */
bool pt_kev_write_switch(struct pt_kev_writer *w, const struct posixtrace_event *e, bool *done);
bool pt_kev_write_overflow(struct pt_kev_writer *w, const struct posixtrace_event *e);

#endif
