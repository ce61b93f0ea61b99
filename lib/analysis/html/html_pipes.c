/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which thread let another one continue that waited for a pipe, event counter or connection: the
 * first call on the other side that began in the wait; see html_states.h.
 */
#include <errno.h>
#include <posixtrace/system.h>

#include "analysis/html/html_states.h"

/* It ends waits that began before; the first call after a wait began ended that. */
void pt_html_transfers(struct pt_html_watch *w, struct pt_report_thread *th, int64_t ns)
{
    const struct pt_report_open *open = th->depth > 0 ? &th->open[th->depth - 1] : NULL;
    struct pt_html_channel *channel;
    int side = open && open->ns == ns ? open->channel.side : -1;

    if (side < 0)
        return;
    channel = pt_report_map_make(&w->channels, open->channel.key, sizeof *channel);
    if (!channel) {
        pt_html_fail(w->h, ENOMEM);
        return;
    }
    channel->last[side] = (struct pt_html_transfer){ th, ns };
    if (!channel->first[side].thread) {
        channel->first[side] = channel->last[side];
        channel->several[side] = false;
    }
    channel->several[side] |= channel->first[side].thread != th;
    channel->first[1 - side].thread = NULL;
}

/* The first one on the other side since ns; its thread is NULL: none, or it is not known.  A wait
 * to write is one only if something was written before. */
static struct pt_html_transfer first_since(const struct pt_html_watch *w,
                                           const struct pt_report_channel *c, int64_t ns)
{
    const struct pt_html_transfer none = { .thread = NULL };
    const struct pt_html_channel *channel = pt_report_map_find(&w->channels, c->key);
    int other = 1 - c->side;

    if (!channel || (c->side == 1 && !channel->last[1].thread))
        return none;
    if (channel->first[other].thread && channel->first[other].ns >= ns)
        return channel->first[other];
    if (!channel->last[other].thread || channel->last[other].ns < ns || channel->several[other])
        return none;
    return channel->last[other];
}

/* Of all that was ready when the wait ended, the first one. */
static struct pt_html_transfer first_ready(const struct pt_html_watch *w,
                                           const struct pt_report_ready *ready, int64_t ns,
                                           const struct pt_report_channel **channel)
{
    struct pt_html_transfer found = { .thread = NULL }, t, other = found;

    for (unsigned i = 0; i < ready->count; i++) {
        t = first_since(w, &ready->at[i], ns);
        if (ready->also[i].side >= 0)
            other = first_since(w, &ready->also[i], ns);
        if (!t.thread || (other.thread && other.ns <= t.ns))
            return (struct pt_html_transfer){ .thread = NULL };
        if (!found.thread || t.ns < found.ns) {
            found = t;
            *channel = &ready->at[i];
        }
    }
    return found;
}

struct pt_report_thread *pt_html_transfer_of(const struct pt_html_watch *w,
                                             const struct pt_report_thread *th,
                                             const struct pt_report_open *open, int64_t *ns,
                                             bool *is_socket)
{
    const struct pt_report_channel *channel = &open->channel;
    struct pt_html_transfer t = { .thread = NULL };

    /* Where the log has context switches, a call without one did not wait. */
    if (th->place != PT_REPORT_NO_SWITCH && !open->off)
        return NULL;
    if (open->call->id == POSIXTRACE_POLL && th->ready && th->ready->known)
        t = first_ready(w, th->ready, open->ns, &channel);
    else if (channel->side >= 0)
        t = first_since(w, channel, open->ns);
    *ns = t.ns;
    *is_socket = pt_report_channel_is_socket(channel);
    return t.thread;
}
