/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream that is started without room for its START: it is full from the start, counts its
 * losses, and records again when it has been read.  A LOOP stream, where the reason can only be a
 * lack of memory, is not started.  And a stream that a slow thread finds full: the events that
 * others recorded meanwhile stay.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "base/clock.h"
#include "shm/slot.h"
#include "stream/control_lock.h"
#include "stream/handle.h"
#include "support/chunk_holders.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "writer/writer.h"

enum { TOGGLES_MAX = 200 };

static trace_event_id_t tick;
static uint64_t made;

static trace_id_t create(int policy)
{
    trace_attr_t attr;
    trace_id_t trid;

    made = 0;
    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 8192), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static struct posix_trace_status_info status_of(trace_id_t trid)
{
    struct posix_trace_status_info status;

    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    return status;
}

static void trace(unsigned n)
{
    for (; n > 0; n--) {
        posix_trace_event(tick, &made, sizeof made);
        made++;
    }
}

/* Every chunk is in use, and nothing was lost. */
static void use_all_chunks(trace_id_t trid)
{
    struct posixtrace_info info;

    do {
        trace(1);
        info = info_of(trid);
    } while (info.bytes < info.reserved_bytes);
    ck_assert_int_eq(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
}

/* Stops and starts until START finds no room. */
static int start_without_room(trace_id_t trid)
{
    int r = 0;

    for (unsigned i = 0; r == 0 && i < TOGGLES_MAX; i++) {
        ck_assert_int_eq(posix_trace_stop(trid), 0);
        r = posix_trace_start(trid);
        if (status_of(trid).posix_stream_status == POSIX_TRACE_SUSPENDED)
            return r;
    }
    ck_abort_msg("the stream had always room for a START");
    return r;
}

/* The events read have the numbers 0, 1, 2...; missing numbers were lost. */
struct reader {
    trace_id_t trid;
    uint64_t next;
    unsigned ticks, starts, stops;
};

static void take(struct reader *r, const struct posixtrace_event *e)
{
    uint64_t number;

    if (e->id == POSIX_TRACE_START) {
        ck_assert_uint_eq(r->starts++, r->stops);
    } else if (e->id == POSIX_TRACE_STOP) {
        r->stops++;
        ck_assert_uint_eq(r->stops, r->starts);
    } else if (e->id == tick) {
        ck_assert_uint_gt(r->starts, r->stops);
        memcpy(&number, e->data, sizeof number);
        ck_assert_uint_ge(number, r->next);
        r->next = number + 1;
        r->ticks++;
    }
}

static unsigned read_all(struct reader *r)
{
    struct posixtrace_event e;
    int unavailable;

    r->ticks = 0;
    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(r->trid, &e, sizeof e, &unavailable), 0);
        if (unavailable)
            return r->ticks;
        take(r, &e);
    }
}

static int note_stream(void *file, const struct posixtrace_stream *s)
{
    snprintf(file, 128, "%s", s->file);
    return s->owner == getpid();
}

static trace_id_t attach(void)
{
    char file[128];
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_stream_list(note_stream, file), 1);
    ck_assert_int_eq(posixtrace_attach(file, &trid), 0);
    return trid;
}

START_TEST(is_full_from_the_start)
{
    struct reader owner = { .trid = create(POSIX_TRACE_UNTIL_FULL) };
    struct reader onlooker = { .trid = attach() };
    struct posixtrace_info info;
    unsigned before;

    use_all_chunks(owner.trid);
    ck_assert_int_eq(start_without_room(owner.trid), 0);
    ck_assert_int_eq(status_of(owner.trid).posix_stream_full_status, POSIX_TRACE_FULL);
    /* The last chunk may have had room for one of them: refused when it is read. */
    trace(10);
    info = info_of(owner.trid);
    ck_assert_uint_ge(info.lost[POSIXTRACE_LOST_FULL], 9);
    ck_assert_uint_eq(info.events + info.lost[POSIXTRACE_LOST_FULL], made);

    before = (unsigned)(made - 10);
    ck_assert_uint_eq(read_all(&onlooker), before);
    ck_assert_uint_eq(read_all(&owner), before);
    ck_assert_int_eq(status_of(owner.trid).posix_stream_status, POSIX_TRACE_RUNNING);
    /* With a START that was made when there was room. */
    ck_assert_uint_eq(owner.starts, owner.stops + 1);

    trace(5);
    ck_assert_uint_eq(read_all(&onlooker), 5);
    ck_assert_uint_eq(onlooker.starts, owner.starts);
    ck_assert_uint_eq(read_all(&owner), 5);
    ck_assert_int_eq(posix_trace_stop(owner.trid), 0);
    trace(3);
    ck_assert_uint_eq(read_all(&owner), 0);
    ck_assert_uint_eq(owner.stops, owner.starts);
    info = info_of(owner.trid);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_FULL], 10);
    ck_assert_uint_eq(info.events + 10 + 3, made);
    ck_assert_int_eq(posixtrace_detach(onlooker.trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(owner.trid), 0);
}
END_TEST

/* The control writer has no chunk any more, and there will be no further ones.  How many
 * there are for threads. */
static uint32_t take_from_control(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);
    uint32_t n;

    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(pt_control_lock_begin(s), 0);
    pt_writer_close_chunk(&s->writer);
    ck_assert(pt_control_lock_end(s));
    n = s->seg->g.chunk_max = s->seg->h->nchunks;
    pt_handle_put(s);
    return n;
}

START_TEST(loop_is_not_started)
{
    trace_id_t trid = create(POSIX_TRACE_LOOP);
    uint32_t n = take_from_control(trid);
    struct chunk_holders holders;

    hold_chunks(&holders, n, tick);
    ck_assert_int_eq(start_without_room(trid), ENOMEM);
    trace(1);
    let_chunks_go(&holders);
    ck_assert_uint_eq(info_of(trid).events, n);

    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace(4);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    ck_assert_uint_eq(info_of(trid).events, n + 4);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* A second writer of this thread, as of a signal handler. */
static void attach_writer(struct pt_writer *writer, struct pt_stream *s)
{
    struct pt_author author = { .level = 1, .pid = getpid(), .tid = gettid() };

    memset(writer, 0, sizeof *writer);
    ck_assert_int_eq(pt_writer_attach(writer, s->seg, 1, &author), 0);
}

/* The thread takes the time of its event and then has no processor, while others use up the
 * stream.  Its event is lost, and no other. */
START_TEST(slow_thread_loses_its_own_event)
{
    static struct pt_writer writer;
    struct reader owner = { .trid = create(POSIX_TRACE_UNTIL_FULL) };
    struct pt_stream *s = pt_handle_get(owner.trid, ~0u);
    uint64_t early, number = UINT64_MAX;
    struct posixtrace_info info;

    ck_assert_ptr_nonnull(s);
    attach_writer(&writer, s);
    early = pt_clock_now(s->seg->h->clock);
    while (pt_load_relaxed(&s->seg->h->used_chunks) <
           s->seg->h->base_chunks + pt_load_relaxed(&s->seg->h->writers))
        trace(1);
    ck_assert(!pt_writer_write(&writer, tick, &number, sizeof number, 0, early));
    ck_assert_int_eq(status_of(owner.trid).posix_stream_full_status, POSIX_TRACE_FULL);
    ck_assert_uint_eq(read_all(&owner), made);
    info = info_of(owner.trid);
    ck_assert_uint_eq(info.events, made);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_FULL], 1);
    pt_slot_detach(writer.seg, writer.slot_index, 0);
    pt_handle_put(s);
    ck_assert_int_eq(posix_trace_shutdown(owner.trid), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, slow_thread_loses_its_own_event);
    tcase_add_test(t, is_full_from_the_start);
    tcase_add_test(t, loop_is_not_started);
}

int main(void)
{
    return run_suite("full start", "stream", NULL, add);
}
