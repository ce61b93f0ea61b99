/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See sync_messages.h.  Tables with open addressing, at most half full. */
#include "analysis/sync/sync_messages.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 1024, MOST_ENDS = 1 << 22 };

void pt_sync_messages_free(struct pt_sync_messages *m)
{
    free(m->sent.ends);
    free(m->received.ends);
}

static struct pt_sync_end *find(const struct pt_sync_table *t, struct pt_sync_id id, size_t clock,
                                bool by_clock)
{
    size_t i = (size_t)((id.low >> 20) ^ (by_clock ? clock * 0x9e3779b9u : 0)) & (t->room - 1);

    while (t->ends[i].used && (t->ends[i].id.low != id.low || t->ends[i].id.high != id.high ||
                               (by_clock && t->ends[i].clock != clock)))
        i = (i + 1) & (t->room - 1);
    return &t->ends[i];
}

/* Another table of that room, of the ends whose hashes are kept. */
static int move(struct pt_sync_table *t, size_t room, uint64_t mask, bool by_clock)
{
    struct pt_sync_table to = { calloc(room, sizeof *to.ends), 0, room };

    if (!to.ends)
        return ENOMEM;
    for (size_t i = 0; i < t->room; i++)
        if (t->ends[i].used && !(t->ends[i].id.high & mask)) {
            *find(&to, t->ends[i].id, t->ends[i].clock, by_clock) = t->ends[i];
            to.count++;
        }
    free(t->ends);
    *t = to;
    return 0;
}

static int make_room(struct pt_sync_messages *m, struct pt_sync_table *t)
{
    size_t most = m->most ? m->most : MOST_ENDS;
    int error = 0;

    if (t->room && t->count < t->room / 2 && t->count < most)
        return 0;
    if (t->count < most)
        return move(t, t->room ? 2 * t->room : FIRST_ROOM, m->mask, t == &m->received);
    m->mask = 2 * m->mask + 1;
    error = m->sent.room ? move(&m->sent, m->sent.room, m->mask, false) : 0;
    if (!error && m->received.room)
        error = move(&m->received, m->received.room, m->mask, true);
    return error;
}

int pt_sync_messages_add(struct pt_sync_messages *m, struct pt_sync_id id, bool sent, size_t clock,
                         int64_t ns)
{
    struct pt_sync_table *t = sent ? &m->sent : &m->received;
    struct pt_sync_end *e;
    int error = make_room(m, t);

    if (error || (id.high & m->mask))
        return error;
    e = find(t, id, clock, !sent);
    if (!e->used) {
        *e = (struct pt_sync_end){ id, ns, 1, (uint16_t)clock, true, false };
        t->count++;
        return 0;
    }
    e->count += e->count < UINT32_MAX;
    e->ambiguous |= e->clock != clock;
    if (sent ? ns < e->ns : ns > e->ns)
        e->ns = ns;
    return 0;
}

int pt_sync_channel_add(struct pt_sync_channel *c, int64_t sent, int64_t received)
{
    /* doubled at each power of two */
    if ((c->count & (c->count - 1)) == 0) {
        void *grown = realloc(c->messages, (c->count ? 2 * c->count : 1) * sizeof *c->messages);

        if (!grown)
            return ENOMEM;
        c->messages = grown;
    }
    c->messages[c->count++] = (struct pt_sync_message){ sent, received };
    return 0;
}

int pt_sync_messages_join(const struct pt_sync_messages *m, struct pt_sync_channel *channels,
                          size_t clocks, struct posixtrace_sync_summary *s)
{
    uint64_t joined = 0;
    int error = 0;

    s->one_of = m->mask + 1;
    for (size_t i = 0; i < m->sent.room; i++)
        if (m->sent.ends[i].used) {
            s->ambiguous += m->sent.ends[i].ambiguous;
            s->repeated += m->sent.ends[i].count > 1 && !m->sent.ends[i].ambiguous;
        }
    for (size_t i = 0; i < m->received.room && !error; i++) {
        const struct pt_sync_end *r = &m->received.ends[i], *sent = NULL;

        if (!r->used)
            continue;
        if (m->sent.room)
            sent = find(&m->sent, r->id, 0, false);
        s->repeated += r->count > 1;
        if (!sent || !sent->used) {
            s->lonely++;
            continue;
        }
        joined++;
        if (sent->ambiguous)
            continue;
        if (sent->clock == r->clock) {
            s->same_clock++;
            continue;
        }
        s->messages++;
        error = pt_sync_channel_add(&channels[sent->clock * clocks + r->clock], sent->ns, r->ns);
    }
    s->lonely += m->sent.count > joined ? m->sent.count - joined : 0;
    return error;
}
