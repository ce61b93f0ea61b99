/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Calls that may wait, and what they wait for.
 *
 * Both events of a call begin with the same 8 bytes, which tell it from others of its kind.  A
 * thread has a stack of calls, since a handler of a signal may interrupt one and make another.
 */
#include "analysis/report/report_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/system.h>

#include "base/assert.h"
#include "text/hash.h"
#include "text/sum.h"

enum { SOCKET = 4, NAMED = 256 };   /* a kind of descriptor; of an object's key: it has a name */
enum { FIRST_CLIENT_PORT = 32768 }; /* what Linux gives to a socket that did not ask for a port */

struct named {
    char *name; /* of a path, or the address of a peer; see name_length() */
    uint64_t hash;
};

/* ---- objects and descriptors ---- */

static struct pt_report_key named_key(pid_t pid, uint32_t descriptor)
{
    return (struct pt_report_key){ .a = (uint32_t)pid, .b = descriptor };
}

static unsigned long port_at(const char *digits, size_t length)
{
    unsigned long port = 0;

    for (size_t i = 0; i < length && port < FIRST_CLIENT_PORT; i++)
        port = 10 * port + (unsigned long)(digits[i] - '0');
    return port;
}

/* Clients of one host are one peer, since each of their connections has another port.  The port
 * of a service stays: it tells two services of a host apart. */
static size_t name_length(const char *text, size_t length, uint32_t kind)
{
    size_t end = strnlen(text, length), digits = end;

    if (kind != SOCKET || memchr(text, '/', end))
        return end;
    while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9')
        digits--;
    if (digits < 2 || end - digits < 5 || text[digits - 1] != ':' ||
        port_at(text + digits, end - digits) < FIRST_CLIENT_PORT)
        return end;
    return digits - 1;
}

int pt_report_names_descriptor(posixtrace_report_t *r, const struct posixtrace_event *e)
{
    const char *text = (const char *)e->data + 8;
    struct named *n;
    size_t length;
    char *copy;

    if (e->data_len < 8)
        return 0;
    n = pt_report_map_make(&r->names, named_key(e->pid, pt_report_u32(e, 0)), sizeof *n);
    length = name_length(text, e->data_len - 8, pt_report_u32(e, 4));
    copy = n ? strndup(text, length) : NULL;
    if (!copy)
        return ENOMEM;
    free(n->name);
    n->name = copy;
    n->hash = pt_hash_bytes(PT_HASH_START, copy, length);
    return 0;
}

static int name_object(struct pt_report_object *o, const struct named *n)
{
    if (o->row.name)
        return 0;
    o->row.name = "";
    if (!n)
        return 0;
    o->name = strdup(n->name);
    if (o->name)
        o->row.name = o->name;
    return o->name ? 0 : ENOMEM;
}

static struct pt_report_key key_of(const struct pt_report_call *call, pid_t pid, uint64_t object)
{
    return (struct pt_report_key){ .a = (uint32_t)pid,
                                   .b = (uint64_t)(call - pt_report_calls),
                                   .c = object };
}

struct pt_report_object *pt_report_object_at(const posixtrace_report_t *r,
                                             const struct pt_report_call *call, pid_t pid,
                                             uint64_t address)
{
    return pt_report_map_find(&r->objects, key_of(call, pid, address));
}

static struct pt_report_object *
make_object(posixtrace_report_t *r, const struct pt_report_call *call, pid_t pid, uint64_t object)
{
    struct pt_report_key key = key_of(call, pid, object);
    bool is_descriptor = call->subject == PT_REPORT_DESCRIPTOR;
    struct pt_report_object *o;
    struct named *n = NULL;

    if (is_descriptor)
        n = pt_report_map_find(&r->names, named_key(pid, (uint32_t)object));
    if (n && !n->name[0])
        n = NULL;
    if (n) {
        key.b |= NAMED;
        key.c = n->hash;
    }
    o = pt_report_map_make(&r->objects, key, sizeof *o);
    if (!o || name_object(o, n) != 0)
        return NULL;
    o->call = call;
    o->row.kind = call->kind;
    o->row.is_descriptor = is_descriptor;
    o->row.pid = pid;
    o->row.object = object;
    return o;
}

struct pt_report_object *pt_report_object_of(posixtrace_report_t *r,
                                             const struct pt_report_call *call,
                                             const struct posixtrace_event *e)
{
    struct pt_report_thread *th = r->last;
    struct pt_report_object *o = th->recent;
    uint64_t object = 0;

    if (call->subject != PT_REPORT_OBJECT) {
        if (call->subject != PT_REPORT_NOTHING)
            object = (uint64_t)(int64_t)(int32_t)pt_report_u32(e, 4);
        return make_object(r, call, e->pid, object);
    }
    object = pt_report_u64(e, 0);
    if (o && o->call == call && o->row.object == object)
        return o;
    o = make_object(r, call, e->pid, object);
    if (o)
        th->recent = o;
    return o;
}

void pt_report_objects_free(posixtrace_report_t *r)
{
    for (size_t i = 0; i < r->objects.count; i++) {
        struct pt_report_object *o = r->objects.items[i];

        posixtrace_statistics_free(o->statistics);
        free(o->holders);
        free(o->name);
    }
    for (size_t i = 0; i < r->names.count; i++)
        free(((struct named *)r->names.items[i])->name);
}

/* ---- calls ---- */

int pt_report_notes_ready(posixtrace_report_t *r, struct pt_report_thread *th,
                          const struct posixtrace_event *e)
{
    if (!r->watch)
        return 0;
    if (!th->ready)
        th->ready = calloc(1, sizeof *th->ready);
    if (!th->ready)
        return ENOMEM;
    pt_report_channels_ready(&r->channels, e, r->gap, th->ready);
    return 0;
}

void pt_report_calls_lost(posixtrace_report_t *r, struct pt_report_thread *th)
{
    for (unsigned i = 0; i < th->depth; i++) {
        bool counts = th->open[i].wanted && th->wanted;

        th->open[i].object->row.unknown += counts;
        if (counts && r->each.wait_lost && !r->each_error)
            r->each_error = r->each.wait_lost(r->each.context, th, &th->open[i]);
    }
    th->depth = th->deeper = 0;
}

/* A handler that was left by siglongjmp() has left calls without their ends: what was begun at
 * this level, or in a handler that has ended, is over. */
static void drop_left(struct pt_report_thread *th)
{
    while (th->process->handlers && th->deeper == 0 && th->depth > 0 &&
           th->open[th->depth - 1].handlers >= th->handlers)
        th->depth--;
}

/* What an observer learns of a call on a descriptor. */
static void begin_channel(posixtrace_report_t *r, struct pt_report_thread *th,
                          struct pt_report_open *open)
{
    uint32_t descriptor = (uint32_t)(open->id >> 32); /* after the call */

    if (open->call->id == POSIXTRACE_POLL && th->ready)
        th->ready->known = false;
    if (open->call->id != POSIXTRACE_IO)
        return;
    open->channel = pt_report_channels_of(&r->channels, th->row.pid, descriptor, open->number,
                                          r->gap);
    if (open->number == POSIXTRACE_CALL_CLOSE)
        pt_report_channels_closed(&r->channels, th->row.pid, descriptor);
}

int pt_report_call_begins(posixtrace_report_t *r, struct pt_report_thread *th,
                          const struct pt_report_call *call, const struct posixtrace_event *e)
{
    struct pt_report_object *o = pt_report_object_of(r, call, e);
    struct pt_report_open *open;

    if (!o)
        return ENOMEM;
    drop_left(th);
    if (th->depth == PT_REPORT_DEPTH) {
        th->deeper++;
        return 0;
    }
    open = &th->open[th->depth++];
    *open = (struct pt_report_open){ .call = call,
                                     .object = o,
                                     .ns = e->ns,
                                     .id = pt_report_u64(e, 0),
                                     .caller = pt_report_u64(e, call->caller),
                                     .handlers = th->handlers,
                                     .wanted = pt_report_wants_begin(r, e),
                                     .channel.side = -1 };
    if (call->subject == PT_REPORT_DESCRIPTOR)
        open->number = pt_report_u32(e, 0);
    if (r->watch)
        begin_channel(r, th, open);
    if (call->unlock) {
        open->holder = pt_report_held(r, o, th);
        open->several = o->count > 1;
    }
    return 0;
}

static int64_t result_of(const struct posixtrace_event *e)
{
    return (int64_t)pt_report_u64(e, 8);
}

static bool is_taken(int64_t error)
{
    return error == 0 || error == EOWNERDEAD;
}

static bool has_failed(const struct pt_report_call *call, int64_t result)
{
    if (call->subject == PT_REPORT_OBJECT)
        return !is_taken(result);
    return call->kind != POSIXTRACE_WAIT_SLEEP && result < 0;
}

static int add_wait(posixtrace_report_t *r, const struct pt_report_open *open,
                    const struct pt_report_holder *holder, const struct pt_report_thread *th,
                    int64_t ns)
{
    struct pt_report_object *o = open->object;
    struct posixtrace_report_object *row = &o->row;
    int64_t length = ns - open->ns;

    if (!o->statistics && posixtrace_statistics_create(&o->statistics) != 0)
        return ENOMEM;
    pt_sum_add(&row->total_ns, length);
    if (row->waits++ == 0 || length > row->longest_ns) {
        row->longest_ns = length;
        row->longest_at_ns = open->ns;
        row->longest_tid = th->row.tid;
        row->caller = open->caller;
        row->call = open->number;
        row->holder_tid = holder->thread ? holder->thread->row.tid : 0;
        row->holder_caller = holder->thread ? holder->caller : 0;
    }
    if (posixtrace_statistics_add(o->statistics, length) != 0)
        return ENOMEM;
    if (r->each.waited && !r->each_error)
        r->each_error = r->each.waited(r->each.context, th, open, holder, ns);
    return pt_report_site_waits(r, th, open, ns);
}

/*
 * Which had the lock, when the call ends.  Readers have it together: they wait for the one that
 * unlocks last, and not for one that has it together with them.
 */
static struct pt_report_holder waited_for(posixtrace_report_t *r, const struct pt_report_open *open,
                                          const struct pt_report_thread *th, bool taken)
{
    struct pt_report_holder holder = open->holder;
    struct pt_report_holder last = pt_report_held_since(r, open->object, th, open->ns);
    bool shared = taken && open->call->id == POSIXTRACE_RWLOCK_LOCK && holder.thread &&
                  pt_report_holds(r, open->object, holder.thread);

    if (shared)
        holder.thread = NULL;
    return !holder.thread || (open->several && last.thread) ? last : holder;
}

static int count_call(posixtrace_report_t *r, struct pt_report_thread *th,
                      const struct pt_report_open *open, const struct posixtrace_event *e)
{
    const struct pt_report_call *call = open->call;
    struct pt_report_object *o = open->object;
    struct pt_report_holder holder = open->holder;
    int error = 0;

    if (r->watch || !pt_report_counts(r, th, open->wanted, open->ns, e->ns))
        return 0;
    o->row.calls++;
    th->row.calls[call->kind]++;
    o->row.failed += has_failed(call, result_of(e));
    if (call->unlock) {
        holder = waited_for(r, open, th, is_taken(result_of(e)));
        if (result_of(e) == EBUSY || (!holder.thread && !open->off))
            return 0;
        error = pt_report_contends(r, th, open, holder.thread, e->ns);
    }
    return error ? error : add_wait(r, open, &holder, th, e->ns);
}

/* The place in the stack of the call that ends, or depth: it began in a gap or before the log. */
static unsigned place_of(const struct pt_report_thread *th, const struct pt_report_call *call,
                         uint64_t id)
{
    for (unsigned i = th->depth; i > 0; i--)
        if (th->open[i - 1].call == call && th->open[i - 1].id == id)
            return i - 1;
    return th->depth;
}

int pt_report_call_ends(posixtrace_report_t *r, struct pt_report_thread *th,
                        const struct pt_report_call *call, const struct posixtrace_event *e)
{
    unsigned place = place_of(th, call, pt_report_u64(e, 0));
    uint64_t caller = th->depth > 0 ? th->open[th->depth - 1].caller : 0;
    struct pt_report_object *o = NULL;
    int error = 0;

    if (th->deeper > 0) {
        th->deeper--;
    } else if (place < th->depth) {
        caller = th->open[place].caller;
        o = th->open[place].object;
        error = count_call(r, th, &th->open[place], e);
        if (r->watch)
            r->watch->ended(r->watcher, th, &th->open[place], result_of(e));
        th->depth = place;
    }
    if (error || !call->unlock || !is_taken(result_of(e)))
        return error;
    if (!o)
        o = pt_report_object_of(r, call, e);
    return o ? pt_report_takes(r, o, th, caller) : ENOMEM;
}

int pt_report_unlocks(posixtrace_report_t *r, struct pt_report_thread *th,
                      const struct pt_report_call *call, const struct posixtrace_event *e)
{
    struct pt_report_object *o = pt_report_object_of(r, call, e);

    pt_assert(call->unlock);
    if (!o)
        return ENOMEM;
    pt_report_releases(r, o, th, e->ns, pt_report_u64(e, 8));
    return 0;
}

/* A call with its data in another event, which has u32 type, u32 call and u64 object first, and at
 * these places how long it took and the caller.  False: that is no call. */
static bool read_call(posixtrace_report_t *r, const struct posixtrace_event *e, size_t duration_at,
                      struct pt_report_open *open)
{
    int64_t duration = (int64_t)pt_report_u64(e, duration_at);
    const struct pt_report_call *call = pt_report_calls;

    while (call->begin && call->id != pt_report_u32(e, 0))
        call++;
    *open = (struct pt_report_open){ .call = call,
                                     .channel.side = -1,
                                     .caller = pt_report_u64(e, duration_at + 8),
                                     .wanted = pt_report_wants_begin(r, e) };
    if (call->subject == PT_REPORT_DESCRIPTOR)
        open->number = pt_report_u32(e, 4);
    return call->begin && duration >= 0 && !__builtin_sub_overflow(e->ns, duration, &open->ns);
}

static struct pt_report_object *called_object(posixtrace_report_t *r,
                                              const struct pt_report_call *call,
                                              const struct posixtrace_event *e)
{
    return make_object(r, call, e->pid,
                       call->subject == PT_REPORT_NOTHING ? 0 : pt_report_u64(e, 8));
}

/* A call whole, with i64 result, i64 duration, u64 caller. */
int pt_report_long_call(posixtrace_report_t *r, struct pt_report_thread *th,
                        const struct posixtrace_event *e)
{
    const struct pt_report_holder none = { .thread = NULL };
    struct pt_report_object *o;
    struct pt_report_open open;

    if (!read_call(r, e, 24, &open))
        return 0;
    while (th->depth > 0 && th->open[th->depth - 1].noted)
        th->depth--;
    pt_report_thread_long_call(r, th, open.call->kind, open.ns, e->ns);
    o = called_object(r, open.call, e);
    if (!o)
        return ENOMEM;
    open.object = o;
    if (r->watch)
        r->watch->long_call(r->watcher, th, &open, open.ns, e->ns);
    if (!pt_report_counts(r, th, open.wanted, open.ns, e->ns))
        return 0;
    o->row.calls++;
    th->row.calls[open.call->kind]++;
    o->row.failed += has_failed(open.call, (int64_t)pt_report_u64(e, 16));
    return add_wait(r, &open, &none, th, e->ns);
}

/* The call in which a thread still is, with i64 duration, u64 caller: the log has its first
 * event, or has lost it, or has only long calls. */
int pt_report_notes_wait(posixtrace_report_t *r, struct pt_report_thread *th,
                         const struct posixtrace_event *e)
{
    uint32_t begin[2] = { pt_report_u32(e, 4), pt_report_u32(e, 8) };
    struct pt_report_open open;

    if (th->depth > 0 || !read_call(r, e, 16, &open))
        return 0;
    open.noted = true;
    open.handlers = th->handlers;
    open.id = pt_report_u64(e, 8);
    if (open.call->subject != PT_REPORT_OBJECT && open.call->kind != POSIXTRACE_WAIT_SLEEP)
        memcpy(&open.id, begin, sizeof open.id);
    open.object = called_object(r, open.call, e);
    if (!open.object)
        return ENOMEM;
    pt_report_thread_long_call(r, th, open.call->kind, open.ns, e->ns);
    th->open[th->depth++] = open;
    return 0;
}
