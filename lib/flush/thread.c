/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The flush thread; see thread.h, and state.h for its other files. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "flush/state.h"
#include "flush/switches.h"
#include "log/writer/writer.h"

#define REPLY_STEP_NS 100000000u

enum { ASK_ROUND = 1, ASK_CLEAR = 2, ASK_FINISH = 4, ASK_SWITCHES = 8, ASK_PIECES = 16 };

static void reply(struct pt_flusher *f, int answer)
{
    f->answer = answer;
    pt_add_seqcst(&f->answered, 1u);
    pt_futex_wake_all(&f->answered);
}

/* A caller that requests a round sees the stream as flushing until that round has ended: first by
 * the request itself, then by bits that are set before the request is taken. */
static uint32_t take_requests(struct pt_flusher *f)
{
    struct pt_seg_header *h = f->stream->seg->h;
    uint32_t asked = pt_load_seqcst(&f->asked);

    do {
        if (asked & ASK_ROUND)
            pt_flush_shows(f, true);
    } while (!pt_cas_seqcst(&f->asked, &asked, 0u));
    if (pt_load_seqcst(&h->flush_asked_from)) {
        pt_flush_shows(f, true);
        pt_store_seqcst(&h->flush_asked_from, 0u);
        asked |= ASK_ROUND;
    }
    return asked;
}

static void work(struct pt_flusher *f)
{
    struct pt_seg_header *h = f->stream->seg->h;

    for (;;) {
        uint32_t futex = pt_load_seqcst(&h->flush_futex);
        uint32_t asked = take_requests(f);

        if (asked & ASK_FINISH)
            return;
        if (asked & ASK_CLEAR)
            reply(f, pt_flush_clear(f));
        if (asked & ASK_PIECES)
            reply(f, pt_pieces_set(f));
        pt_cputime_turn(&f->lookout, pt_state_of(pt_load_seqcst(&h->state)) == PT_RUNNING);
        if ((asked & ASK_ROUND) || ((asked & ASK_SWITCHES) && pt_flush_by_itself(f)) ||
            pt_flush_is_due(f)) {
            pt_flush_marked_round(f, (asked & ASK_ROUND) != 0);
            pt_flush_wait_if_stuck(f, futex);
        } else if (!asked && !pt_pieces_is_due(f)) {
            pt_flush_wait(f, futex);
        }
        if (pt_pieces_is_due(f))
            pt_pieces_turn(f);
    }
}

/* A write may last as long as a pipe is full: others may look at the books meanwhile. */
static void let_go(void *flusher, bool waits)
{
    struct pt_flusher *f = flusher;

    if (!f->holds)
        return;
    pt_assert_call(f->writing != waits);
    if (!waits)
        pt_stream_lock_reading(f->stream);
    f->writing = waits;
    if (waits)
        pthread_mutex_unlock(&f->stream->reading);
}

static void fill_params(struct pt_flusher *f, int fd, struct pt_log_params *params)
{
    const struct pt_seg *seg = f->stream->seg;
    const struct pt_seg_header *h = seg->h;
    int flags = fcntl(fd, F_GETFL);
    struct stat st = { 0 };

    *params = (struct pt_log_params){ .attr = seg->g.attr,
                                      .clock = seg->g.clock,
                                      .pid = (int32_t)seg->g.owner_pid,
                                      .waits = let_go,
                                      .waits_context = f };
    memcpy(params->id, h->id, sizeof params->id);
    memcpy(params->boot_id, h->boot_id, sizeof params->boot_id);
    pt_sys_host(params->host);
    params->seekable = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !(flags & O_APPEND);
    params->ino = st.st_ino;
}

/* From here on the file is a log that opens, even after a kill. */
static int begin(struct pt_flusher *f, const struct pt_piece_base *base)
{
    int e = base ? pt_log_put_base(f->writer, base) : 0;

    f->names_end = PT_ID_NAMED_FIRST;
    f->described = f->syncs = 0;
    f->clocks = f->clock_syncs = 0;
    f->clock_due = 0;
    f->mappings_end = 1;
    if (e == 0)
        e = pt_flush_names_and_syncs(f, false);
    if (e == 0) {
        struct pt_log_status status = { 0 };

        e = pt_log_end_round(f->writer, &status, NULL, 0);
    }
    return e;
}

int pt_flush_begin_log(struct pt_flusher *f, int fd, const struct pt_log_lock *lock,
                       const struct pt_piece_base *base)
{
    /* How far names and the rest are in the log that is written so far. */
    const struct pt_flusher before = *f;
    struct pt_log_params params;
    int e;

    fill_params(f, fd, &params);
    params.piece = base ? base->number : 0;
    params.ino = base ? params.ino : 0;
    if (params.seekable && ftruncate(fd, 0) < 0)
        return -errno;
    e = pt_log_writer_new(&f->writer, fd, &params);
    if (e < 0) {
        f->writer = before.writer;
        return e;
    }
    if (lock->fd >= 0)
        pt_log_read_by(f->writer, lock->fd);
    e = begin(f, base);
    if (e < 0) {
        pt_log_writer_free(f->writer);
        f->writer = before.writer;
        f->names_end = before.names_end;
        f->described = before.described;
        f->mappings_end = before.mappings_end;
        f->syncs = before.syncs;
        f->clocks = before.clocks;
        f->clock_syncs = before.clock_syncs;
        f->clock_due = before.clock_due;
    }
    return e;
}

static void ask(struct pt_flusher *f, uint32_t what)
{
    struct pt_seg_header *h = f->stream->seg->h;

    pt_or_seqcst(&f->asked, what);
    pt_add_seqcst(&h->flush_futex, 1u);
    pt_futex_wake_all(&h->flush_futex);
}

/* Rings of context switches are half full; called by another thread. */
static void switches_wait(void *flusher)
{
    ask(flusher, ASK_SWITCHES);
}

/* Where it is refused the stream works without. */
static void open_switches(struct pt_flusher *f)
{
    struct pt_stream *s = f->stream;
    int e = s->seg->g.attr.switches ? pt_switches_open(&f->round.switches, s, switches_wait, f)
                                    : -ENODATA;

    f->round.put_switches = pt_switches_write;
    f->switches = -e;
    f->switch_buffer = pt_switches_ring_bytes(f->round.switches);
    if (!f->round.switches)
        return;
    pt_names_use_own(s->names);
    pt_cputime_init(&f->lookout, f->round.switches);
    if (f->lookout.switches)
        pt_store_release(&s->seg->h->times, 1u);
}

/* The last cycle.  Where the log cannot be written at all it does not take the events out of the
 * segment, which has them for a recovery, as after _exit(). */
static int complete_log(struct pt_flusher *f)
{
    int e;

    if (pt_log_is_barred(f->writer)) {
        f->stream->log_is_left = true;
        return -EFBIG;
    }
    pt_consumer_finish(&f->stream->live);
    e = pt_flush_cycle(f, PT_TOTALS_ALL);
    if (e == 0)
        pt_store_seqcst(&f->stream->seg->h->log_complete, 1u);
    return e;
}

static void *flush_thread(void *arg)
{
    struct pt_flusher *f = arg;
    int e;

    prctl(PR_SET_NAME, "pxtrace-flush", 0, 0, 0);
    e = pt_thread_own_descriptors(f->fd);
    if (e == 0)
        e = pt_log_lock_take(&f->lock, f->fd);
    if (e == 0)
        e = pt_flush_begin_log(f, f->fd, &f->lock, NULL);
    if (e == 0)
        open_switches(f);
    else
        pt_log_lock_release(&f->lock);
    reply(f, e);
    if (e < 0)
        return NULL;
    work(f);
    if (f->lookout.switches)
        pt_switches_look(f->round.switches);
    e = complete_log(f);
    pt_switches_close(f->round.switches);
    e = e < 0 ? e : -(int)(pt_load_seqcst(&f->stream->seg->h->flush_error) & PT_FLUSH_ERRNO);
    pt_log_writer_free(f->writer);
    pt_pieces_finish(f);
    pt_log_lock_release(&f->lock);
    reply(f, e);
    return NULL;
}

/* Waits in steps, because a handler of the waiting thread may fork, and no flush thread answers the
 * child.  -EINVAL in a child. */
static int wait_for_reply(struct pt_flusher *f, uint32_t before)
{
    while (pt_load_seqcst(&f->answered) == before) {
        uint64_t at = pt_clock_ns(CLOCK_MONOTONIC) + REPLY_STEP_NS;
        struct timespec until = { (time_t)(at / 1000000000u), (long)(at % 1000000000u) };

        if (!pt_stream_is_ours(f->stream))
            return -EINVAL;
        pt_futex_wait(&f->answered, before, CLOCK_MONOTONIC, &until);
    }
    return pt_stream_is_ours(f->stream) ? f->answer : -EINVAL;
}

/* Joins the thread, which has sent its last reply and ends at once.  False: in a forked child. */
static bool join(struct pt_flusher *f)
{
    sigset_t before;
    bool ours;

    pt_thread_hold_signals(&before);
    ours = pt_stream_is_ours(f->stream);
    if (ours)
        pthread_join(f->thread, NULL);
    pt_thread_let_signals(&before);
    return ours;
}

int pt_flusher_start(struct pt_stream *s, int fd)
{
    struct pt_collect_sink sink = { pt_flush_put_packet, NULL };
    struct pt_flusher *f = calloc(1, sizeof *f);
    int e;

    if (!f)
        return -ENOMEM;
    f->stream = s;
    f->fd = fd;
    f->lock = (struct pt_log_lock){ -1, -1 };
    pthread_mutex_init(&f->clearing, NULL);
    sink.context = f;
    e = pt_collect_init(&f->round, &s->live, &sink);
    if (e == 0)
        e = pt_thread_start(&f->thread, flush_thread, f);
    if (e == 0) {
        e = wait_for_reply(f, 0);
        if (e < 0 && !join(f))
            return e;
    }
    if (e < 0) {
        pt_collect_deinit(&f->round);
        free(f);
        return e;
    }
    s->flusher = f;
    return 0;
}

void pt_flusher_ask(struct pt_flusher *f)
{
    ask(f, ASK_ROUND);
}

/* Signals are held until the turn has come: in a child that a handler has forked before, it may be
 * the turn of a thread that is not there.  0; -EINVAL in such a child. */
static int take_turn(struct pt_flusher *f)
{
    sigset_t mask;
    int r = -EINVAL;

    pt_thread_hold_signals(&mask);
    if (pt_stream_is_ours(f->stream))
        r = -pthread_mutex_lock(&f->clearing);
    pt_thread_let_signals(&mask);
    return r;
}

/* One look before the lock would not do: the log may become one in pieces before the clear. */
int pt_flusher_clear_begin(struct pt_flusher *f)
{
    int r = take_turn(f);

    if (r < 0 || pt_load_seqcst(&f->pieces.on) == 0)
        return r;
    pthread_mutex_unlock(&f->clearing);
    return -ENOTSUP;
}

int pt_flusher_clear(struct pt_flusher *f, uint64_t ts)
{
    uint32_t before = pt_load_seqcst(&f->answered);

    f->clear_ts = ts;
    ask(f, ASK_CLEAR);
    return wait_for_reply(f, before);
}

void pt_flusher_clear_end(struct pt_flusher *f)
{
    pthread_mutex_unlock(&f->clearing);
}

int pt_flusher_set_pieces(struct pt_flusher *f, const struct pt_piece_limits *limits)
{
    uint32_t before;
    int e = take_turn(f);

    if (e < 0)
        return e;
    before = pt_load_seqcst(&f->answered);
    f->pieces.asked = *limits;
    ask(f, ASK_PIECES);
    e = wait_for_reply(f, before);
    pthread_mutex_unlock(&f->clearing);
    return e;
}

int pt_flusher_finish(struct pt_flusher *f)
{
    uint32_t before = pt_load_seqcst(&f->answered);
    int e;

    ask(f, ASK_FINISH);
    e = wait_for_reply(f, before);
    if (!join(f))
        return e;
    pt_collect_deinit(&f->round);
    pt_pieces_deinit(f);
    pthread_mutex_destroy(&f->clearing);
    free(f);
    return e;
}

void pt_flusher_status(struct pt_flusher *f, struct pt_flush_status *st, bool reset)
{
    struct pt_seg_header *h = f->stream->seg->h;
    /* A request is loaded before the bits, as the flush thread sets PT_FLUSHING before it takes the
     * request, and the error after them, as it is stored before PT_FLUSHING is reset. */
    bool asked = (pt_load_seqcst(&f->asked) & ASK_ROUND) || pt_load_seqcst(&h->flush_asked_from);
    uint32_t bits = reset ? pt_and_seqcst(&h->flush_state, ~PT_LOG_OVERRUN)
                          : pt_load_seqcst(&h->flush_state);

    st->flushing = asked || (bits & PT_FLUSHING);
    st->log_overrun = (bits & PT_LOG_OVERRUN) != 0;
    st->log_full = (bits & PT_LOG_FULL) != 0;
    st->error = (int)((reset ? pt_exchange_seqcst(&h->flush_error, 0u)
                             : pt_load_seqcst(&h->flush_error)) &
                      PT_FLUSH_ERRNO);
}

bool pt_flusher_is_writing(const struct pt_flusher *f)
{
    return f->writing;
}

uint64_t pt_flusher_log_lost(struct pt_flusher *f, unsigned cause)
{
    return cause < PT_LOSS_CAUSES ? pt_load_relaxed(&f->log_lost[cause]) : 0;
}

uint64_t pt_flusher_switch_buffer(const struct pt_flusher *f)
{
    return f->switch_buffer;
}

int pt_flusher_switches(const struct pt_flusher *f)
{
    return f->switches;
}
