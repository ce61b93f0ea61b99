/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See flush.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/sys.h"
#include "ring/pool.h"
#include "ring/slot.h"
#include "stream/books.h"
#include "stream/flush.h"
#include "stream/lookout.h"
#include "stream/round.h"
#include "stream/switches.h"

#define DELAY_NS 1000000000ull   /* from the first unflushed event to its round */
#define STUCK_NS   20000000ull   /* between rounds that bring nothing */
#define LAST_TRIES 10            /* to find memory for the last round */

enum { ASK_ROUND = 1, ASK_CLEAR = 2, ASK_FINISH = 4, ASK_SWITCHES = 8 };

struct pt_flusher {
    struct pt_stream *stream;
    struct pt_log_writer *writer;
    struct pt_round round;
    pthread_t thread;
    int fd;
    uint32_t asked;            /* ASK_* */
    uint32_t answered;         /* futex: counts answers to start and clear */
    int32_t answer;
    pthread_mutex_t clearing;  /* one clear at a time; inside no other lock */
    uint64_t clear_ts;
    uint32_t names_end;        /* names below are in the log */
    uint32_t described;        /* descriptions before this one of the list, too */
    uint32_t syncs;
    int switches;              /* why no context switches are recorded; 0: they are */
    uint64_t deadline;         /* CLOCK_MONOTONIC of the next round by time; 0: none */
    struct pt_lookout lookout;
    /* for get_status */
    uint32_t flushing, log_overrun, log_full;
    int32_t error;             /* first since the last get_status */
    pt_u64 log_lost[PT_LOSS_CAUSES];
};

static void note_error(struct pt_flusher *f, int e)
{
    uint32_t none = 0;

    if (e < 0 && pt_cas_seqcst((uint32_t *)&f->error, &none, (uint32_t)-e))
        pt_store_seqcst(&f->stream->seg->h->flush_error, (uint32_t)-e);
}

/* The status that can be seen from outside, see layout.h. */
static void show(struct pt_flusher *f, uint32_t bit, uint32_t on)
{
    if (on)
        pt_or_seqcst(&f->stream->seg->h->flush_state, bit);
    else
        pt_and_seqcst(&f->stream->seg->h->flush_state, ~bit);
}

static int put_packet(void *context, const struct pt_log_packet *packet)
{
    struct pt_flusher *f = context;
    int e = pt_log_put_packet(f->writer, packet);

    if (e < 0) {
        note_error(f, e);
        pt_log_drop_packet(f->writer, packet);
    }
    return 0;
}

/* What packets need to be understood goes before them. */
static void put_names_and_syncs(struct pt_flusher *f)
{
    struct pt_names *names = f->stream->names;
    struct pt_seg_header *h = f->stream->seg->h;
    uint32_t end = pt_names_end(names), syncs = pt_load_acquire(&h->syncs), id;
    const char *text;
    int e = 0;

    for (; e == 0 && f->names_end < end; f->names_end += e == 0)
        e = pt_log_put_text(f->writer, PT_TEXT_NAME, f->names_end,
                            pt_names_get(names, f->names_end));
    while (e == 0 && ((text = pt_names_description_at(names, f->described, &id)) || id)) {
        if (text)
            e = pt_log_put_text(f->writer, PT_TEXT_DESCRIPTION, id, text);
        f->described += e == 0;
    }
    for (; e == 0 && f->syncs < syncs && f->syncs < PT_SYNC_MAX; f->syncs += e == 0)
        e = pt_log_put_sync(f->writer, &h->sync[f->syncs]);
    note_error(f, e);
}

static void fill_status(struct pt_flusher *f, struct pt_log_status *st)
{
    struct pt_live *l = &f->stream->live;
    struct pt_seg_header *h = l->seg->h;

    st->watermark = l->watermark;
    st->status_running = pt_state_of(pt_load_seqcst(&h->state)) == PT_RUNNING;
    st->stream_full = pt_state_of(pt_load_seqcst(&h->state)) == PT_AUTOSTOPPED;
    st->stream_overrun = (int32_t)pt_load_relaxed(&h->overrun);
    st->flush_error = (int32_t)pt_load_seqcst((uint32_t *)&f->error);
    st->late = l->late;
    st->peak_bytes = (uint64_t)pt_load_relaxed(&h->peak_chunks) * h->chunk_size;
    st->reserved_bytes = (uint64_t)pt_load_relaxed(&h->nchunks) * h->chunk_size;
    st->advised_size = pt_slot_advised_size(l->seg);
}

static void publish(struct pt_flusher *f)
{
    pt_store_relaxed(&f->log_full, (uint32_t)pt_log_full(f->writer));
    show(f, PT_LOG_FULL, (uint32_t)pt_log_full(f->writer));
    if (pt_log_overrun(f->writer, true)) {
        pt_store_relaxed(&f->log_overrun, 1u);
        show(f, PT_LOG_OVERRUN, 1);
    }
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        pt_store_relaxed(&f->log_lost[c], pt_log_lost(f->writer, c));
}

/* Everything that is certain by now, from the segment to the log's writer. */
static int take_all(struct pt_flusher *f)
{
    struct pt_live *l = &f->stream->live;
    int e = pt_live_refresh(l);

    pt_live_look_at_state(l);
    put_names_and_syncs(f);
    if (e == 0)
        return pt_round_write(&f->round);
    l->watermark = l->delivered_ts;
    return e;
}

/* last: the round that ends the log. */
static int do_round(struct pt_flusher *f, bool last)
{
    struct pt_live *l = &f->stream->live;
    struct pt_log_author_totals *totals = NULL;
    struct pt_log_status status = { 0 }, *says = &status;
    size_t count = 0;
    bool whole;
    int e;

    pthread_mutex_lock(&f->stream->reading);
    pt_store_seqcst(&l->seg->h->flush_asked, 0u);
    e = take_all(f);
    /* What is left for want of memory comes with the next round, if there is one. */
    for (int i = 0; last && e == -ENOMEM && i < LAST_TRIES; i++) {
        note_error(f, e);
        e = take_all(f);
    }
    whole = e == 0;
    note_error(f, e);
    fill_status(f, &status);
    e = pt_round_totals(l, last, &totals, &count, &status);
    note_error(f, e);
    /* Without memory for the totals the round says of them what the last one said. */
    if (e < 0)
        says = NULL;
    if (last)
        e = pt_log_complete(f->writer, POSIXTRACE_END_SHUTDOWN, says, totals, count);
    else
        e = pt_log_end_round(f->writer, says, totals, count);
    free(totals);
    note_error(f, e);
    pt_round_commit(&f->round, pt_log_lsn(f->writer));
    if (whole && !f->round.more && pt_merge_top(&l->merge) == NULL)
        pt_live_restart(l);
    publish(f);
    pthread_mutex_unlock(&f->stream->reading);
    return e;
}

/* A flush as posix_trace_flush initiates it; start was put by the caller then. */
static void flush(struct pt_flusher *f, bool explicit_one)
{
    if (!explicit_one)
        pt_stream_put_mark(f->stream, POSIX_TRACE_FLUSH_START, 0);
    pt_store_seqcst(&f->flushing, 1u);
    show(f, PT_FLUSHING, 1);
    f->deadline = 0;
    do_round(f, false);
    pt_store_seqcst(&f->flushing, 0u);
    /* Another process may have asked meanwhile, and waits for the bit to go. */
    if (!pt_load_seqcst(&f->stream->seg->h->flush_asked_from))
        show(f, PT_FLUSHING, 0);
    pt_stream_put_mark(f->stream, POSIX_TRACE_FLUSH_STOP, 0);
}

/* Is there an event of a thread that no round has written? */
static bool has_unflushed(struct pt_flusher *f)
{
    struct pt_seg *seg = f->stream->seg;
    uint32_t n = pt_load_acquire(&seg->h->nchunks);

    n = pt_seg_reachable(seg, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t w = pt_load_acquire(&pt_seg_info(seg, i)->word), consumed;
        struct pt_chunk *c = pt_seg_chunk(seg, i);
        uint32_t from = sizeof *c;
        struct pt_author author;

        if (pt_word_state(w) == PT_CHUNK_FREE || pt_load_acquire(&c->gen) != pt_word_gen(w))
            continue;
        pt_copy_unchecked(&author, &c->author, sizeof author);
        if (author.level == PT_LEVEL_CONTROL)
            continue;
        consumed = pt_load_relaxed(&c->consumed);
        if (consumed >> 24 == pt_word_gen(w))
            from = (uint32_t)(consumed & 0xffffffu);
        if (pt_chunk_position(seg, pt_load_acquire(&c->commit)) > from)
            return true;
    }
    return false;
}

static bool by_itself(const struct pt_flusher *f)
{
    return f->stream->seg->h->attr.stream_policy == POSIX_TRACE_FLUSH;
}

/* A quarter of the pool is full, as for the writers that wake us.  But not if the
 * last round gave nothing back: then a writer holds up what the chunks have, and
 * the next would not either. */
static bool is_filling(struct pt_flusher *f)
{
    struct pt_seg_header *h = f->stream->seg->h;

    return f->round.given_back > 0 &&
           (uint64_t)pt_load_relaxed(&h->full_chunks) * 4 >= h->base_chunks;
}

/* With policy FLUSH: must a round be made now? */
static bool is_due(struct pt_flusher *f)
{
    struct pt_seg_header *h = f->stream->seg->h;

    return by_itself(f) &&
           (pt_load_seqcst(&h->flush_asked) ||
            is_filling(f) ||
            pt_state_of(pt_load_seqcst(&h->state)) == PT_AUTOSTOPPED ||
            (f->deadline && pt_clock_ns(CLOCK_MONOTONIC) >= f->deadline));
}

/*
 * Sleeps until something may have to be done.  The first event after a quiet
 * time finds the attention bit, clears it and wakes us; from then on a deadline
 * runs and events cost nothing more.
 */
static void wait_for_work(struct pt_flusher *f, uint32_t futex)
{
    struct pt_seg_header *h = f->stream->seg->h;
    struct pt_lookout *l = &f->lookout;
    bool round_waits = by_itself(f) && !f->deadline, waits = round_waits || l->waits;
    struct timespec until;
    uint64_t at;

    if (waits) {
        pt_or_seqcst(&h->attention, PT_WAIT_FLUSHER);
        if (h->fences)
            pt_fence_seqcst();
        else
            pt_barrier_all();
        if (round_waits && has_unflushed(f))
            f->deadline = pt_clock_ns(CLOCK_MONOTONIC) + DELAY_NS;
        pt_lookout_waits_now(l);
    }
    at = l->at && (!f->deadline || l->at < f->deadline) ? l->at : f->deadline;
    until.tv_sec = (time_t)(at / 1000000000u);
    until.tv_nsec = (long)(at % 1000000000u);
    pt_futex_wait(&h->flush_futex, futex, CLOCK_MONOTONIC, at ? &until : NULL);
    if (!waits || (pt_load_seqcst(&h->attention) & PT_WAIT_FLUSHER))
        return;
    if (by_itself(f) && !f->deadline)
        f->deadline = pt_clock_ns(CLOCK_MONOTONIC) + DELAY_NS;
    if (l->waits)
        pt_lookout_wake(l);
}

static void reply(struct pt_flusher *f, int answer)
{
    f->answer = answer;
    pt_add_seqcst(&f->answered, 1u);
    pt_futex_wake_all(&f->answered);
}

static void do_clear(struct pt_flusher *f)
{
    int e;

    pthread_mutex_lock(&f->stream->reading);
    e = pt_live_clear(&f->stream->live, f->clear_ts);
    if (e == 0)
        e = pt_log_clear(f->writer);
    pt_books_leave(&f->stream->live, pt_log_lsn(f->writer));
    publish(f);
    pthread_mutex_unlock(&f->stream->reading);
    reply(f, e);
}

/* The stream has stopped itself and cannot be emptied, because a writer that
 * stands still inside an event holds the rest back: not a round after the other
 * until it is declared stalled. */
static void wait_if_stuck(struct pt_flusher *f, uint32_t futex)
{
    struct pt_seg_header *h = f->stream->seg->h;
    uint64_t until = pt_clock_ns(CLOCK_MONOTONIC) + STUCK_NS;
    struct timespec t = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

    if (f->round.more && f->round.given_back == 0 &&
        pt_state_of(pt_load_seqcst(&h->state)) == PT_AUTOSTOPPED)
        pt_futex_wait(&h->flush_futex, futex, CLOCK_MONOTONIC, &t);
}

static void work(struct pt_flusher *f)
{
    struct pt_seg_header *h = f->stream->seg->h;

    for (;;) {
        uint32_t futex = pt_load_seqcst(&h->flush_futex);
        uint32_t asked = pt_exchange_seqcst(&f->asked, 0u);

        if (pt_load_relaxed(&h->flush_asked_from) && pt_exchange_seqcst(&h->flush_asked_from, 0u))
            asked |= ASK_ROUND;
        if (asked & ASK_FINISH)
            return;
        if (asked & ASK_CLEAR)
            do_clear(f);
        pt_lookout_turn(&f->lookout, pt_state_of(pt_load_seqcst(&h->state)) == PT_RUNNING);
        if ((asked & ASK_ROUND) || ((asked & ASK_SWITCHES) && by_itself(f)) || is_due(f)) {
            flush(f, (asked & ASK_ROUND) != 0);
            wait_if_stuck(f, futex);
        } else if (!asked) {
            wait_for_work(f, futex);
        }
    }
}

/* Our own descriptor table, with nothing in it but the log. */
static int own_descriptors(int fd)
{
    struct rlimit limit;

    if (syscall(SYS_close_range, fd + 1, ~0u, CLOSE_RANGE_UNSHARE) == 0) {
        if (fd > 0)
            syscall(SYS_close_range, 0, fd - 1, 0);
        return 0;
    }
    if (unshare(CLONE_FILES) < 0)
        return -errno;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > 65536)
        limit.rlim_cur = 65536;
    for (int i = 0; i < (int)limit.rlim_cur; i++)
        if (i != fd)
            close(i);
    return 0;
}

static int open_log(struct pt_flusher *f)
{
    struct pt_seg_header *h = f->stream->seg->h;
    struct pt_log_params params = { .attr = h->attr, .clock = h->clock,
                                    .pid = (int32_t)h->owner_pid };
    struct stat st;
    int flags = fcntl(f->fd, F_GETFL), e;

    memcpy(params.id, h->id, sizeof params.id);
    memcpy(params.boot_id, h->boot_id, sizeof params.boot_id);
    params.seekable = fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode) && !(flags & O_APPEND);
    if (params.seekable && ftruncate(f->fd, 0) < 0)
        return -errno;
    e = pt_log_writer_new(&f->writer, f->fd, &params);
    if (e < 0)
        return e;
    /* From here on the file is a log that opens, whatever happens. */
    f->names_end = PT_ID_NAMED_FIRST;
    put_names_and_syncs(f);
    e = -(int)pt_load_seqcst((uint32_t *)&f->error);
    if (e == 0) {
        struct pt_log_status status = { 0 };

        e = pt_log_end_round(f->writer, &status, NULL, 0);
    }
    if (e < 0)
        pt_log_writer_free(f->writer);
    pt_store_seqcst((uint32_t *)&f->error, 0u);
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
    int e = s->seg->h->attr.switches
            ? pt_switches_open(&f->round.switches, s, switches_wait, f) : -ENODATA;

    f->switches = -e;
    if (!f->round.switches)
        return;
    pt_names_use_own(s->names);
    pt_lookout_init(&f->lookout, f->round.switches);
    if (f->lookout.switches)
        pt_store_release(&s->seg->h->times, 1u);
}

static void *flush_thread(void *arg)
{
    struct pt_flusher *f = arg;
    int e;

    prctl(PR_SET_NAME, "posixtrace-flush", 0, 0, 0);
    e = own_descriptors(f->fd);
    if (e == 0)
        e = open_log(f);
    if (e == 0)
        open_switches(f);
    reply(f, e);
    if (e < 0)
        return NULL;
    work(f);
    if (f->lookout.switches)
        pt_switches_look(f->round.switches);
    pt_live_finish(&f->stream->live);
    e = do_round(f, true);
    pt_switches_close(f->round.switches);
    if (e == 0)
        pt_store_seqcst(&f->stream->seg->h->log_complete, 1u);
    f->answer = e < 0 ? e : -(int32_t)pt_load_seqcst((uint32_t *)&f->error);
    pt_log_writer_free(f->writer);
    return NULL;
}

static int wait_for_reply(struct pt_flusher *f, uint32_t before)
{
    while (pt_load_seqcst(&f->answered) == before)
        pt_futex_wait(&f->answered, before, CLOCK_MONOTONIC, NULL);
    return f->answer;
}

static int start_thread(struct pt_flusher *f)
{
    sigset_t all, old;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    e = pthread_create(&f->thread, NULL, flush_thread, f);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return e == EAGAIN ? -ENOMEM : -e;
}

int pt_flusher_start(struct pt_stream *s, int fd)
{
    struct pt_round_sink sink = { put_packet, NULL };
    struct pt_flusher *f = calloc(1, sizeof *f);
    int e;

    if (!f)
        return -ENOMEM;
    f->stream = s;
    f->fd = fd;
    pthread_mutex_init(&f->clearing, NULL);
    sink.context = f;
    e = pt_round_init(&f->round, &s->live, &sink);
    if (e == 0)
        e = start_thread(f);
    if (e == 0) {
        e = wait_for_reply(f, 0);
        if (e < 0)
            pthread_join(f->thread, NULL);
    }
    if (e < 0) {
        pt_round_deinit(&f->round);
        free(f);
        return e;
    }
    s->flusher = f;
    return 0;
}

void pt_flusher_ask(struct pt_flusher *f)
{
    pt_store_seqcst(&f->flushing, 1u);
    ask(f, ASK_ROUND);
}

int pt_flusher_clear(struct pt_flusher *f, uint64_t ts)
{
    uint32_t before;
    int e;

    pthread_mutex_lock(&f->clearing);
    before = pt_load_seqcst(&f->answered);
    f->clear_ts = ts;
    ask(f, ASK_CLEAR);
    e = wait_for_reply(f, before);
    pthread_mutex_unlock(&f->clearing);
    return e;
}

int pt_flusher_finish(struct pt_flusher *f)
{
    int e;

    ask(f, ASK_FINISH);
    pthread_join(f->thread, NULL);
    e = f->answer;
    pt_round_deinit(&f->round);
    pthread_mutex_destroy(&f->clearing);
    free(f);
    return e;
}

void pt_flusher_status(struct pt_flusher *f, struct pt_flush_status *st, bool reset)
{
    st->flushing = (int)pt_load_seqcst(&f->flushing);
    st->log_full = (int)pt_load_relaxed(&f->log_full);
    if (reset) {
        st->error = (int)pt_exchange_seqcst((uint32_t *)&f->error, 0u);
        st->log_overrun = (int)pt_exchange_seqcst(&f->log_overrun, 0u);
    } else {
        st->error = (int)pt_load_seqcst((uint32_t *)&f->error);
        st->log_overrun = (int)pt_load_relaxed(&f->log_overrun);
    }
}

uint64_t pt_flusher_log_lost(struct pt_flusher *f, unsigned cause)
{
    return cause < PT_LOSS_CAUSES ? pt_load_relaxed(&f->log_lost[cause]) : 0;
}

int pt_flusher_switches(const struct pt_flusher *f)
{
    return f->switches;
}
