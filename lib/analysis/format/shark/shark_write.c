/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writing a S.Ha.R.K. trace.  What came from one goes back as it was; of other traces,
 * threads become contexts (numbered as they come), what the system's events mean becomes
 * what the manual has for it, and the program's own types become user events 0 to 14, in
 * the order in which they come.  Time is in nanoseconds since the first event, and the
 * records that say how fast the clock is say so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/system.h>
#include "analysis/format/common/format.h"
#include "analysis/format/shark/shark_format.h"
#include "compat/shark/shark.h"

#define CONTEXTS 65536u  /* a parameter has 16 bits */
#define CELLS    262144u /* a power of two, never more than a quarter full */
#define IDS      4096u

enum { LEFT_USERS, LEFT_CONTEXTS, LEFT_SIZE, LEFT_LOST };
/* OWN to LOST are S.Ha.R.K.'s. */
enum what { NEW, OWN, FAST, CHUNK, LOST, SYSTEM, USER, NOTHING };

struct context {
    int32_t pid, tid;
    uint32_t number; /* 0: the cell is free */
};

struct type {
    uint8_t what, code; /* enum what */
};

struct writer {
    struct pt_job *job;
    uint64_t origin;
    bool begun, packets, foreign; /* foreign: not from S.Ha.R.K. */
    uint32_t packet;              /* number of the last one */
    uint32_t pending;             /* records in the packet */
    uint8_t bytes[SHARK_PACKET_HEAD + SHARK_PACKET_EVENTS * SHARK_RECORD];
    uint32_t contexts, users;
    struct type type[IDS];
    struct context cell[CELLS];
};

static bool flush_packet(struct writer *w)
{
    size_t bytes;

    if (w->pending == 0)
        return true;
    bytes = pt_shark_packet(w->bytes, ++w->packet, w->pending);
    w->pending = 0;
    if (fwrite_unlocked(w->bytes, 1, bytes, w->job->file) == bytes)
        return true;
    pt_job_fail_file(w->job);
    return false;
}

static bool put_record(struct writer *w, uint16_t code, uint16_t par1, uint32_t par2, uint64_t tsc)
{
    struct shark_record record = { code, par1, par2, tsc };
    uint8_t bytes[SHARK_RECORD];

    if (w->packets) {
        pt_shark_pack(w->bytes + SHARK_PACKET_HEAD + w->pending * SHARK_RECORD, &record);
        return ++w->pending < SHARK_PACKET_EVENTS || flush_packet(w);
    }
    pt_shark_pack(bytes, &record);
    if (fwrite_unlocked(bytes, 1, sizeof bytes, w->job->file) == sizeof bytes)
        return true;
    pt_job_fail_file(w->job);
    return false;
}

/* The thread's context, which is created when it is new; 0: there are too many. */
static uint32_t context_of(struct writer *w, const struct posixtrace_event *e, uint64_t tsc)
{
    uint32_t i = ((uint32_t)e->pid * 31u + (uint32_t)e->tid) * 2654435761u % CELLS;

    while (w->cell[i].number && (w->cell[i].pid != e->pid || w->cell[i].tid != e->tid))
        i = (i + 1) % CELLS;
    if (w->cell[i].number || w->contexts == CONTEXTS - 1)
        return w->cell[i].number;
    w->cell[i] = (struct context){ e->pid, e->tid, ++w->contexts };
    put_record(w, SHARK_TASK_CREATE, (uint16_t)w->contexts, (uint32_t)e->tid, tsc);
    return w->contexts;
}

/* "shark:task_create" and the like, and "shark:code_3f"; false: not one of these. */
static bool is_own(const char *name, struct type *t)
{
    const struct shark_type *type;
    size_t len = strlen(name);
    unsigned code;
    bool fast;

    if (strncmp(name, SHARK_PREFIX, sizeof SHARK_PREFIX - 1) != 0)
        return false;
    if (strncmp(name, SHARK_CHUNK, sizeof SHARK_CHUNK - 1) == 0) {
        t->what = CHUNK;
        return true;
    }
    if (strcmp(name, SHARK_LOST) == 0) {
        t->what = LOST;
        return true;
    }
    name += sizeof SHARK_PREFIX - 1;
    len -= sizeof SHARK_PREFIX - 1;
    fast = len > 5 && strcmp(name + len - 5, ".fast") == 0;
    len -= fast ? 5 : 0;
    type = pt_shark_named(name, len);
    if (!type && (len != 7 || sscanf(name, "code_%2x", &code) != 1))
        return false;
    t->what = fast ? FAST : OWN;
    t->code = type ? type->code : (uint8_t)code;
    return true;
}

/* What becomes of the system's types; 0: nothing. */
static uint8_t code_of_system(trace_event_id_t id)
{
    switch (id) {
    case POSIX_TRACE_START: return SHARK_TRACE_START;
    case POSIX_TRACE_STOP: return SHARK_TRACE_STOP;
    case POSIXTRACE_SWITCH_IN: return SHARK_CONTEXT_SWITCH;
    case POSIXTRACE_MUTEX_LOCK: return SHARK_MUTEX_WAIT;
    case POSIXTRACE_MUTEX_LOCKED: return SHARK_MUTEX_LOCK;
    case POSIXTRACE_MUTEX_UNLOCK: return SHARK_MUTEX_UNLOCK;
    case POSIXTRACE_SEM_POST: return SHARK_MUTEX_POST;
    case POSIXTRACE_THREAD_END: return SHARK_TASK_END;
    case POSIXTRACE_SIGNAL_BEGIN: return SHARK_SIGNAL;
    default: return 0;
    }
}

static struct type learn(struct writer *w, const struct posixtrace_event *e)
{
    struct type t = { NOTHING, 0 };

    if (is_own(e->name, &t))
        return t;
    if (e->id < POSIX_TRACE_UNNAMED_USEREVENT) {
        t.code = code_of_system(e->id);
        t.what = t.code ? SYSTEM : NOTHING;
    } else if (w->users < SHARK_USERS) {
        t.what = USER;
        t.code = (uint8_t)(SHARK_USER_0 + (w->users++ << 4));
        pt_job_note(w->job, LEFT_USERS, "'%s' is user_event_%u", e->name, w->users - 1);
    }
    return t;
}

/* An integer field, or of data without a description bytes of it. */
static uint32_t parameter(const struct writer *w, const struct posixtrace_event *e, size_t index)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(w->job->fields, e->id);
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    uint8_t bytes[6] = { 0 };
    size_t count;

    if (layout) {
        const struct posixtrace_field *f = posixtrace_layout_field(layout, index);

        posixtrace_layout_split(layout, e->data, e->data_len, values, &count);
        if (!f || index >= count || values[index].count == 0 ||
            f->kind == POSIXTRACE_FIELD_STRING || f->kind == POSIXTRACE_FIELD_BYTES)
            return 0;
        if (f->kind == POSIXTRACE_FIELD_FLOAT)
            return (uint32_t)(int64_t)posixtrace_value_float(layout, index, &values[index], 0);
        return (uint32_t)posixtrace_value_integer(layout, index, &values[index], 0);
    }
    memcpy(bytes, e->data_len ? e->data : "", e->data_len < 6 ? e->data_len : 6);
    if (index == 0)
        return (uint32_t)(bytes[0] | bytes[1] << 8);
    return bytes[2] | (uint32_t)bytes[3] << 8 | (uint32_t)bytes[4] << 16 | (uint32_t)bytes[5] << 24;
}

static bool put_own(struct writer *w, const struct type *t, const struct posixtrace_event *e,
                    uint64_t tsc)
{
    uint8_t bytes[6] = { 0 };
    size_t want = t->what == FAST ? 2 : 6;
    uint32_t par2;

    if (e->data_len != want) {
        pt_job_left_out(w->job, LEFT_SIZE, "'%s' with %zu bytes of data, not %zu: left out",
                        e->name, e->data_len, want);
        return true;
    }
    memcpy(bytes, e->data, want);
    par2 = bytes[2] | (uint32_t)bytes[3] << 8 | (uint32_t)bytes[4] << 16 | (uint32_t)bytes[5] << 24;
    par2 = pt_shark_in_ns(t->code, par2);
    return put_record(w, (uint16_t)(t->code | (t->what == FAST ? SHARK_FAST : 0)),
                      (uint16_t)(bytes[0] | bytes[1] << 8), par2, tsc);
}

/* Logged through posixtrace/shark.h. */
static bool put_chunk(struct writer *w, const struct posixtrace_event *e, uint64_t tsc)
{
    struct shark_record r;

    if (e->data_len != PT_SHARK_DATA) {
        pt_job_left_out(w->job, LEFT_SIZE, "'%s' with %zu bytes of data, not %u: left out", e->name,
                        e->data_len, PT_SHARK_DATA);
        return true;
    }
    pt_shark_unpack_data(e->data, &r);
    return put_record(w, r.code, r.par1, pt_shark_in_ns((uint8_t)r.code, r.par2), tsc);
}

/* In packets a gap in their numbers; chunks have no way to say it. */
static bool put_loss(struct writer *w, const struct posixtrace_event *e)
{
    uint32_t packets = 0;

    if (e->data_len == sizeof packets)
        packets = pt_shark_word(e->data);
    if (!flush_packet(w))
        return false;
    if (!w->packets || w->packet == 0 || packets == 0 || packets > UINT32_MAX / 2 - w->packet)
        pt_job_left_out(w->job, LEFT_LOST, "the file does not show that packets were lost");
    else
        w->packet += packets;
    return true;
}

/* The parameters that the manual names: context first, then what it is about. */
static bool put_system(struct writer *w, const struct type *t, const struct posixtrace_event *e,
                       uint64_t tsc)
{
    uint32_t context = 0, second = 0;

    if (t->code == SHARK_TRACE_START) {
        second = SHARK_NS_PER_MSEC;
    } else if (t->code != SHARK_TRACE_STOP) {
        context = context_of(w, e, tsc);
        if (!context) {
            pt_job_left_out(w->job, LEFT_CONTEXTS,
                            "more than %u threads: events of further ones "
                            "are left out",
                            CONTEXTS - 1);
            return true;
        }
        second = t->code == SHARK_TASK_END         ? (uint32_t)e->tid
                 : t->code == SHARK_CONTEXT_SWITCH ? 0
                                                   : parameter(w, e, 0);
    }
    return put_record(w, t->code, (uint16_t)context, second, tsc);
}

static bool begin(struct writer *w, const struct posixtrace_event *e, bool own)
{
    w->begun = true;
    w->origin = (uint64_t)e->ns;
    w->foreign = !own;
    return own || put_record(w, SHARK_CYCLES_PER_MSEC, 0, SHARK_NS_PER_MSEC, 0);
}

static bool put_event(struct writer *w, const struct posixtrace_event *e)
{
    struct type *t = &w->type[e->id % IDS];
    uint64_t tsc;

    if (t->what == NEW)
        *t = learn(w, e);
    /* Made beside a record when that was imported. */
    if (w->begun && !w->foreign && (t->what == SYSTEM || t->what == NOTHING) &&
        e->id < POSIX_TRACE_UNNAMED_USEREVENT)
        return true;
    if (t->what == NOTHING) {
        pt_job_left_out(w->job, LEFT_USERS, NULL);
        return true;
    }
    if (!w->begun && !begin(w, e, t->what <= LOST))
        return false;
    tsc = (uint64_t)e->ns - w->origin;
    if (t->what == LOST)
        return put_loss(w, e);
    if (t->what == CHUNK)
        return put_chunk(w, e, tsc);
    if (t->what < CHUNK)
        return put_own(w, t, e, tsc);
    if (t->what == SYSTEM)
        return put_system(w, t, e, tsc);
    return put_record(w, t->code, (uint16_t)parameter(w, e, 0), parameter(w, e, 1), tsc);
}

int pt_shark_write(struct pt_job *job)
{
    const char *packets = pt_job_option(job, "packets", 0);
    struct writer *w = calloc(1, sizeof *w);
    struct posixtrace_event e;

    if (!w)
        return pt_job_fail(job, ENOMEM, "no memory");
    w->job = job;
    w->packets = packets && strcmp(packets, "yes") == 0;
    if (packets && !w->packets && strcmp(packets, "no") != 0)
        pt_job_fail(job, EINVAL, "--packets=%s: yes or no is expected", packets);
    while (pt_job_next(job, &e) && put_event(w, &e))
        ;
    if (!job->error && w->packets)
        flush_packet(w);
    free(w);
    return job->error;
}
