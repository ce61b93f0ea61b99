/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The losses of a log that is united with the tail of a dead writer.  For each author
 *
 *     recorded = read + lost by the stream + lost by the log
 *
 * holds by construction:
 *
 *   lost by the stream  by the tail, which does not know the unbooked packets of the log
 *                       (struct pt_author_share.present)
 *   lost by the log     the events that it was given, by the accounts of the tail, less
 *                       those in the file; and the events of the unbooked round that
 *                       are not read again
 *
 * The losses of the log in ROUND packets divide these sums among causes, and among
 * authors that the tail does not name.  They may be older or newer than the accounts, which have
 * more errors than the lists if these could not be written either.
 * Of what they leave, threads have no more than the log was given of them; the rest is
 * of control writers, which are no threads.
 */
#include <errno.h>
#include <posixtrace/info.h>
#include <string.h>
#include <trace.h>
#include "log/reader/tail.h"

/* The tail's count less the events that are present; never below 0. */
static void set_right(uint64_t *overwritten, uint64_t present)
{
    int64_t n = (int64_t)(*overwritten - present);

    *overwritten = n > 0 ? (uint64_t)n : 0;
}

static uint64_t rest_of(uint64_t all, uint64_t known)
{
    return all > known ? all - known : 0;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The cause of losses of a log that can be written. */
static unsigned usual_cause(const struct pt_log_reader *r)
{
    switch (r->params.attr.log_policy) {
    case POSIX_TRACE_LOOP: return POSIXTRACE_LOST_LOG_OVERWRITTEN;
    case POSIX_TRACE_UNTIL_FULL: return POSIXTRACE_LOST_LOG_FULL;
    default: return POSIXTRACE_LOST_LOG_ERROR;
    }
}

static void set_log_lost(struct pt_log_reader *r, struct pt_total *e, unsigned cause, uint64_t n)
{
    r->totals.lost[cause] += n - e->log_lost[cause];
    e->log_lost[cause] = n;
}

static uint64_t lost_of(const struct pt_author_share *share)
{
    return rest_of(share->author->logged, share->booked) + share->dropped;
}

/* An author that the tail names: from its own accounts.  errors: of all such authors.  Which
 * authors have those errors that are in no list of the log is unknown: the first ones that have
 * lost more than the lists say. */
static uint64_t balance_author(struct pt_log_reader *r, const struct pt_author_share *share,
                               uint64_t errors)
{
    const unsigned error = POSIXTRACE_LOST_LOG_ERROR, usual = usual_cause(r);
    struct pt_total *e = pt_author_stats_find(&r->totals, share->author->author.wid);
    uint64_t lost = lost_of(share), known, others;

    if (!e)
        return 0;
    known = least_of(e->log_lost[error], lost);
    others = least_of(usual == error ? 0 : e->log_lost[usual], lost - known);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        if (pt_cause_is_of_log(c))
            set_log_lost(r, e, c, c == error ? known : 0);
    known += least_of(lost - known - others, rest_of(errors, r->totals.lost[error]));
    set_log_lost(r, e, error, known);
    set_log_lost(r, e, usual, usual == error ? lost : lost - known);
    return lost;
}

/* Losses that are not divided yet: of all authors, and of threads that the tail does not name. */
struct left {
    uint64_t all, threads;
};

static bool is_thread(const struct pt_author *author)
{
    return author->wid > 1 && author->level != PT_LEVEL_MADE;
}

/* Other authors: the numbers of the log, as far as the sums allow them.  The last ROUND of a full
 * log may be newer than the accounts, with the same lsn: what control writers have lost in
 * it takes nothing from the threads. */
static void balance_other(struct pt_log_reader *r, struct pt_total *e, struct left *left)
{
    bool thread = is_thread(&e->author);

    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++) {
        uint64_t most = thread ? least_of(left->all, left->threads)
                               : rest_of(left->all, left->threads);

        if (!pt_cause_is_of_log(c))
            continue;
        set_log_lost(r, e, c, least_of(e->log_lost[c], most));
        left->all -= e->log_lost[c];
        left->threads -= thread ? e->log_lost[c] : 0;
    }
}

/* The list with the losses of the control writers may be gone: the rest that no thread has is
 * theirs.  0 or -ENOMEM. */
static int balance_control(struct pt_log_reader *r, uint64_t n, uint64_t errors)
{
    static const struct pt_author control = { .wid = 0 };
    struct pt_total *e = n ? pt_author_stats_get(&r->totals, &control) : NULL;
    const unsigned c = POSIXTRACE_LOST_LOG_ERROR;

    if (!e)
        return n ? -ENOMEM : 0;
    set_log_lost(r, e, c, e->log_lost[c] + errors);
    set_log_lost(r, e, usual_cause(r), e->log_lost[usual_cause(r)] + n - errors);
    return 0;
}

/* The accounts have no event that an earlier piece was given (pt_checkpoint_clear). */
static uint64_t lost_of_unnamed(const struct pt_union *u)
{
    const struct pt_author_share *others = &u->shares[u->tail->author_count];

    return rest_of(u->tail->given_unnamed, others->booked) + others->dropped;
}

/* Of the errors those that are left for authors that the tail does not name: at most what they have
 * lost, as the log may have all of them without a list. */
static uint64_t errors_of_unnamed(const struct pt_log_reader *r, const struct pt_union *u,
                                  uint64_t lost)
{
    for (size_t i = 0; i < u->tail->author_count; i++)
        lost = rest_of(lost, lost_of(&u->shares[i]));
    return least_of(r->state.unknown_lost[POSIXTRACE_LOST_LOG_ERROR], lost);
}

/* A file that was cut may have events that its books have as overwritten: where the part is gone
 * that tells from which event on the log is valid. */
static int balance_log(struct pt_log_reader *r, const struct pt_union *u)
{
    const struct pt_log_books *b = &u->tail->booked;
    uint64_t given = b->full + b->overwritten + b->error + b->events;
    struct left left = { rest_of(given, u->booked) + u->dropped, lost_of_unnamed(u) };
    uint64_t errors = b->error + least_of(b->waiting, rest_of(b->events, u->booked)), threads;
    uint64_t *unknown = r->state.unknown_lost;
    uint64_t of_named = rest_of(errors, errors_of_unnamed(r, u, left.all));

    for (size_t i = 0; i < u->tail->author_count; i++)
        left.all = rest_of(left.all, balance_author(r, &u->shares[i], of_named));
    for (size_t i = 0; i < r->totals.count; i++)
        if (!pt_union_share(u, r->totals.entries[i].author.wid)->author)
            balance_other(r, &r->totals.entries[i], &left);
    errors = least_of(rest_of(errors, r->totals.lost[POSIXTRACE_LOST_LOG_ERROR]), left.all);
    threads = least_of(left.all, left.threads);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        if (pt_cause_is_of_log(c))
            unknown[c] = c == POSIXTRACE_LOST_LOG_ERROR ? least_of(errors, threads) : 0;
    unknown[usual_cause(r)] += rest_of(threads, errors);
    return balance_control(r, left.all - threads, rest_of(errors, threads));
}

/* The log's name is newer than the one with which the writer began, and older than one that
 * the writer has stored since. */
static void keep_name_of_log(const struct pt_log_reader *r, struct pt_author *author)
{
    const struct pt_total *known = pt_author_stats_find(&r->totals, author->wid);

    if (known && author->names == 0)
        memcpy(author->name, known->author.name, sizeof author->name);
}

/* The tail's sums cover all authors that it does not name.  The log has entries for some of
 * them; the rest stays without a name. */
static int balance_stream(struct pt_log_reader *r, const struct pt_union *u)
{
    struct pt_log_tail *tail = u->tail;
    struct pt_log_status *status = &tail->status;
    struct pt_log_state *s = &r->state;
    struct pt_log_author_totals named = { .recorded = 0 };

    set_right(&status->lost_unknown_author[POSIXTRACE_LOST_OVERWRITTEN],
              u->shares[tail->author_count].present);
    for (size_t i = 0; i < tail->author_count; i++) {
        struct pt_log_author_totals *a = u->shares[i].author;

        set_right(&a->lost[POSIXTRACE_LOST_OVERWRITTEN], u->shares[i].present);
        keep_name_of_log(r, &a->author);
        if (pt_author_stats_set(&r->totals, a) < 0)
            return -ENOMEM;
        named.recorded += a->recorded;
        for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
            named.lost[c] += a->lost[c];
    }
    s->unknown_recorded = rest_of(status->recorded_unknown_author,
                                  r->totals.recorded - named.recorded);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        if (!pt_cause_is_of_log(c))
            s->unknown_lost[c] = rest_of(status->lost_unknown_author[c],
                                         r->totals.lost[c] - named.lost[c]);
    return 0;
}

/* A writer that continues the log writes this status, whose sums are of the authors that
 * the status does not list. */
static void take_status(struct pt_log_reader *r, struct pt_log_status *status)
{
    struct pt_log_state *s = &r->state;

    s->watermark = status->watermark;
    s->running = status->status_running;
    s->stream_full = status->stream_full;
    s->stream_overrun = status->stream_overrun;
    /* The writer may have been killed before it could store these. */
    if (s->lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] || s->lost[POSIXTRACE_LOST_LOG_FULL])
        s->log_overrun = POSIX_TRACE_OVERRUN;
    if (r->ring_bytes)
        s->log_full = POSIX_TRACE_FULL;
    /* The log's is the older one. */
    if (s->flush_error)
        status->flush_error = s->flush_error;
    s->flush_error = status->flush_error;
    s->late = status->late += s->late;
    s->peak_bytes = status->peak_bytes;
    s->reserved_bytes = status->reserved_bytes;
    s->advised_size = status->advised_size;
    s->refused = status->refused;
    status->recorded_unknown_author = s->unknown_recorded;
    if (status->lost_switches < r->lost_switches)
        status->lost_switches = r->lost_switches;
    r->lost_switches = status->lost_switches;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        status->lost_unknown_author[c] = pt_cause_is_of_log(c) ? 0 : s->unknown_lost[c];
}

int pt_union_balance(struct pt_log_reader *r, const struct pt_union *u)
{
    struct pt_log_state *s = &r->state;
    int error = balance_stream(r, u);

    if (error)
        return error;
    error = balance_log(r, u);
    if (error)
        return error;
    s->buried = s->reported = 0;
    s->recorded = r->totals.recorded + s->unknown_recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        s->lost[c] = r->totals.lost[c] + s->unknown_lost[c];
    take_status(r, &u->tail->status);
    return 0;
}
