/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What events of pairs, gaps and the ends of streams do; see pair_state.h for the rule. */
#include <errno.h>
#include <posixtrace/metrics.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/engine/bounds_share.h"
#include "analysis/pair/pair_state.h"

/* ---- gaps ---- */

static bool uses(uint32_t bits, size_t pair)
{
    return bits >> pair & 1;
}

void pt_pair_gap_begin(posixtrace_pair_run_t *run, struct pt_pair_source *s, enum pt_pair_gap why,
                       int64_t ns)
{
    bool goes_on = s->in_gap != 0;

    s->in_gap |= why;
    for (size_t i = 0; !goes_on && i < run->match_count; i++) {
        struct pt_pair_match *m = &run->matches[i];

        if (s->names_later || uses(s->begins, i)) {
            if (!m->begins_lost || ns < m->begin_lost_ns)
                m->begin_lost_ns = ns;
            m->begins_lost = true;
        }
        if (s->names_later || uses(s->ends, i)) {
            m->ends_in_gap++;
            m->end_lost_ns = m->ends_lost ? pt_ns_max(m->end_lost_ns, ns) : ns;
            m->ends_lost = true;
        }
    }
}

static void lose_ends(posixtrace_pair_run_t *run, struct pt_pair_match *m, int64_t ns)
{
    m->end_gap_seq = run->seq;
    m->end_lost_ns = m->ends_lost ? pt_ns_max(m->end_lost_ns, ns) : ns;
    m->ends_lost = true;
}

void pt_pair_gap_end(posixtrace_pair_run_t *run, struct pt_pair_source *s, unsigned why, int64_t ns)
{
    if (!(s->in_gap & why))
        return;
    s->in_gap &= ~why;
    if (s->in_gap)
        return;
    s->gap_seq = ++run->seq;
    for (size_t i = 0; i < run->match_count; i++) {
        struct pt_pair_match *m = &run->matches[i];

        if (!s->names_later && !uses(s->ends, i))
            continue;
        m->ends_in_gap -= m->ends_in_gap > 0;
        lose_ends(run, m, ns);
    }
}

void pt_pair_source_starts(posixtrace_pair_run_t *run, struct pt_pair_source *s, int64_t ns)
{
    s->gap_seq = ++run->seq;
    for (size_t i = 0; i < run->match_count; i++)
        if (s->names_later || uses(s->ends, i))
            lose_ends(run, &run->matches[i], ns);
}

void pt_pair_source_ends(posixtrace_pair_run_t *run, struct pt_pair_source *s, int64_t ns,
                         bool endless)
{
    if (!s->in_gap)
        return;
    if (!endless) {
        pt_pair_gap_end(run, s, s->in_gap, ns);
        return;
    }
    for (size_t i = 0; i < run->match_count; i++)
        if (s->names_later || uses(s->ends, i))
            run->matches[i].end_lost_ns = POSIXTRACE_NO_BOUND;
}

/* May the stream have lost events after that one? */
static bool may_have_lost(const struct pt_pair_source *s, uint64_t seq)
{
    return s->in_gap || s->gap_seq > seq;
}

/* May some stream have lost a last event of the pair after that one? */
static bool may_have_ended(const struct pt_pair_match *m, uint64_t seq)
{
    return m->ends_in_gap > 0 || m->end_gap_seq > seq;
}

/* ---- reports ---- */

static int report(posixtrace_pair_run_t *run, struct pt_pair_match *m,
                  struct posixtrace_pair_measurement *measurement)
{
    measurement->pair = (size_t)(m - run->matches);
    if (measurement->unknown) {
        m->doubt.unknown++;
        m->doubt.at_most_ns = pt_ns_max(m->doubt.at_most_ns, measurement->length_ns);
    }
    if (run->stopped == 0 && run->measured)
        run->stopped = run->measured(run->context, measurement);
    return run->stopped;
}

static int64_t span(int64_t from, int64_t to)
{
    return pt_ns_max(pt_ns_span(from, to), 0);
}

/* The last event of the entry's pair may be lost: until when is known, or nothing tells. */
static int report_lost_end(posixtrace_pair_run_t *run, struct pt_pair_match *m,
                           const struct pt_pair_entry *entry)
{
    bool endless = m->end_lost_ns >= POSIXTRACE_NO_BOUND;
    int64_t to = endless || m->ends_in_gap > 0 ? run->now : m->end_lost_ns;
    struct posixtrace_pair_measurement lost = { .begin = entry->begin,
                                                .end = { .ns = pt_ns_max(to, entry->begin.ns),
                                                         .stream = SIZE_MAX },
                                                .unknown = true,
                                                .is_number = entry->is_number,
                                                .number = entry->number };

    lost.length_ns = endless ? POSIXTRACE_NO_BOUND : span(lost.begin.ns, lost.end.ns);
    return report(run, m, &lost);
}

static struct posixtrace_pair_place place_of(const struct pt_pair_source *s,
                                             const struct posixtrace_event *e)
{
    return (struct posixtrace_pair_place){
        .ns = e->ns, .thread_id = e->thread_id, .stream = s->place, .pid = e->pid, .tid = e->tid
    };
}

/* ---- events ---- */

/* A last event came before its first one, in another stream: their clocks differ.  The caller may
 * know by how much. */
static void take_reversed(posixtrace_pair_run_t *run, struct pt_pair_source *s,
                          struct pt_pair_match *m, const struct posixtrace_event *e,
                          const struct pt_pair_entry *entry)
{
    struct posixtrace_pair_measurement reversed = {
        .pair = (size_t)(m - run->matches),
        .begin = place_of(s, e),
        .end = entry->begin,
        .length_ns = pt_ns_span(e->ns, entry->begin.ns),
        .unknown = may_have_lost(s, entry->seq) ||
                   may_have_lost(&run->sources[entry->begin.stream], entry->seq),
        .is_number = entry->is_number,
        .number = entry->number
    };

    m->doubt.unmatched--;
    if (run->reversed && run->stopped == 0 &&
        ((run->wants && !run->wants(run->wants_context, s->place, e)) ||
         run->reversed(run->context, &reversed, &run->stopped))) {
        m->doubt.unknown += reversed.unknown;
        return;
    }
    m->doubt.reversed++;
    m->doubt.reversed_ns = pt_ns_max(m->doubt.reversed_ns, span(entry->begin.ns, e->ns));
}

static int take_begin(posixtrace_pair_run_t *run, struct pt_pair_source *s, struct pt_pair_match *m,
                      const struct posixtrace_event *e, const struct pt_pair_key *key)
{
    struct pt_pair_entry *entry = pt_pair_find(run, m, key);
    int error = 0;

    if (entry && entry->is_alone && entry->begin.stream != s->place) {
        take_reversed(run, s, m, e, entry);
        entry->is_alone = false;
        entry->begin.ns = e->ns;
        entry->seq = run->seq;
        pt_pair_closes(m, entry);
        return 0;
    }
    if (entry && entry->is_open) {
        if (may_have_ended(m, entry->seq))
            error = report_lost_end(run, m, entry);
        else
            m->doubt.restarted++;
    }
    if (error)
        return error;
    if (entry)
        pt_pair_opens(m, entry);
    else
        entry = pt_pair_add(run, m, key);
    if (!entry)
        return ENOMEM;
    entry->is_alone = false;
    entry->begin = place_of(s, e);
    entry->seq = run->seq;
    entry->unwanted = run->wants && !run->wants(run->wants_context, s->place, e);
    return 0;
}

/* A last event, and its first one was seen. */
static int take_known(posixtrace_pair_run_t *run, struct pt_pair_source *s, struct pt_pair_match *m,
                      const struct posixtrace_event *e, struct pt_pair_entry *entry)
{
    struct posixtrace_pair_measurement known = {
        .begin = entry->begin,
        .end = place_of(s, e),
        .length_ns = pt_ns_span(entry->begin.ns, e->ns),
        .unknown = may_have_lost(s, entry->seq) ||
                   may_have_lost(&run->sources[entry->begin.stream], entry->seq),
        .is_number = entry->is_number,
        .number = entry->number
    };

    if (known.unknown)
        known.length_ns = pt_ns_max(known.length_ns, 0);
    return entry->unwanted && !known.unknown ? 0 : report(run, m, &known);
}

/* Since when the first event may have been lost; false: it was not. */
static bool lost_begin(const posixtrace_pair_run_t *run, const struct pt_pair_source *s,
                       const struct pt_pair_match *m, const struct pt_pair_entry *entry,
                       int64_t *ns)
{
    size_t pair = (size_t)(m - run->matches);

    if (!entry) {
        *ns = m->begin_lost_ns;
        return m->begins_lost;
    }
    *ns = entry->begin.ns;
    for (int i = 0; i < 2; i++) {
        const struct pt_pair_source *of = i ? s : &run->sources[entry->begin.stream];

        if ((of->names_later || uses(of->begins, pair)) && may_have_lost(of, entry->seq))
            return true;
    }
    return false;
}

/* The key does not wait any more. */
static int keep_done(posixtrace_pair_run_t *run, struct pt_pair_source *s, struct pt_pair_match *m,
                     const struct posixtrace_event *e, const struct pt_pair_key *key,
                     struct pt_pair_entry *entry, bool alone)
{
    if (!entry) {
        entry = pt_pair_add(run, m, key);
        if (!entry)
            return ENOMEM;
        entry->begin = place_of(s, e);
    }
    entry->begin.ns = e->ns;
    entry->is_alone = alone;
    entry->seq = run->seq;
    pt_pair_closes(m, entry);
    return 0;
}

static int take_end(posixtrace_pair_run_t *run, struct pt_pair_source *s, struct pt_pair_match *m,
                    const struct posixtrace_event *e, const struct pt_pair_key *key)
{
    struct pt_pair_entry *entry = pt_pair_find(run, m, key);
    struct posixtrace_pair_measurement lost = {
        .end = place_of(s, e), .unknown = true, .is_number = key->is_number, .number = key->number
    };
    bool alone = false;
    int error = 0;

    if (entry && entry->is_open) {
        error = take_known(run, s, m, e, entry);
    } else if (lost_begin(run, s, m, entry, &lost.begin.ns)) {
        lost.begin.stream = SIZE_MAX;
        lost.length_ns = span(lost.begin.ns, e->ns);
        error = report(run, m, &lost);
    } else {
        m->doubt.unmatched++;
        alone = !entry;
    }
    return error ? error : keep_done(run, s, m, e, key, entry, alone);
}

/* Its key is not known: it may be any of the pair. */
static void take_keyless(posixtrace_pair_run_t *run, struct pt_pair_source *s,
                         struct pt_pair_match *m, int64_t ns)
{
    m->doubt.keyless++;
    if (s->in_gap)
        return;
    pt_pair_gap_begin(run, s, PT_PAIR_UNREAD, ns);
    pt_pair_gap_end(run, s, PT_PAIR_UNREAD, ns);
}

int pt_pair_take(posixtrace_pair_run_t *run, struct pt_pair_source *s, const struct pt_pair_type *t,
                 const struct posixtrace_event *e)
{
    int error = 0;

    run->seq++;
    for (size_t i = 0; error == 0 && i < t->count; i++) {
        const struct pt_pair_use *use = &t->uses[i];
        struct pt_pair_match *m = &run->matches[use->pair];
        struct pt_pair_key key;

        if (!pt_pair_key(use, m->pair->field_count, e, &key))
            take_keyless(run, s, m, e->ns);
        else if (use->part == PT_PAIR_BEGIN)
            error = take_begin(run, s, m, e, &key);
        else
            error = take_end(run, s, m, e, &key);
    }
    return error;
}

/* ---- what waits at the end ---- */

void pt_pair_evict(struct pt_pair_match *m, const struct pt_pair_entry *entry)
{
    m->doubt.unfinished++;
    if (!m->begins_lost || entry->begin.ns < m->begin_lost_ns)
        m->begin_lost_ns = entry->begin.ns;
    m->begins_lost = true;
}

int pt_pair_settle(posixtrace_pair_run_t *run, size_t pair)
{
    struct pt_pair_match *m = &run->matches[pair];
    struct pt_pair_entry *entry;
    int error = 0;

    while (error == 0 && (entry = pt_pair_oldest(m)) != NULL) {
        if (may_have_ended(m, entry->seq))
            error = report_lost_end(run, m, entry);
        else
            m->doubt.unfinished++;
        pt_pair_drop(m, entry);
    }
    if (m->begins_lost && m->ends_lost)
        m->doubt.at_most_ns = pt_ns_max(m->doubt.at_most_ns,
                                        m->end_lost_ns >= POSIXTRACE_NO_BOUND
                                            ? POSIXTRACE_NO_BOUND
                                            : span(m->begin_lost_ns, m->end_lost_ns));
    return error;
}
