/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which thread let another one continue that waited for a pipe or event counter: the first call on
 * the other side that began in the wait; see html_states.h.
 */
#include <errno.h>
#include <posixtrace/system.h>

#include "analysis/html/html_states.h"

static uint32_t descriptor_of(const struct pt_report_open *open)
{
    return (uint32_t)(open->id >> 32); /* the first bytes of the event: the call, the descriptor */
}

/* It ends waits that began before; the first call after a wait began ended that. */
void pt_html_transfers(struct pt_html_watch *w, struct pt_report_thread *th, int64_t ns)
{
    const struct pt_report_open *open = th->depth > 0 ? &th->open[th->depth - 1] : NULL;
    struct pt_report_key key;
    struct pt_html_channel *channel;
    int side = open && open->ns == ns
                   ? pt_report_channel(open->object, open->number, descriptor_of(open), &key)
                   : -1;

    if (side < 0)
        return;
    channel = pt_report_map_make(&w->channels, key, sizeof *channel);
    if (!channel) {
        pt_html_fail(w->h, ENOMEM);
        return;
    }
    channel->last[side] = (struct pt_html_transfer){ th, ns };
    if (!channel->first[side].thread)
        channel->first[side] = channel->last[side];
    channel->first[1 - side].thread = NULL;
}

struct pt_report_thread *pt_html_transfer_of(const struct pt_html_watch *w,
                                             const struct pt_report_thread *th,
                                             const struct pt_report_open *open, int64_t *ns)
{
    struct pt_report_key key;
    const struct pt_html_channel *channel;
    const struct pt_html_transfer *t;
    int side = pt_report_channel(open->object, open->number, descriptor_of(open), &key);

    /* Where the log has context switches, a call without one did not wait. */
    if (side < 0 || (th->place != PT_REPORT_NO_SWITCH && !open->off))
        return NULL;
    channel = pt_report_map_find(&w->channels, key);
    if (!channel)
        return NULL;
    t = &channel->first[1 - side];
    if (!t->thread || t->ns < open->ns)
        t = &channel->last[1 - side];
    *ns = t->ns;
    return t->thread && t->ns >= open->ns ? t->thread : NULL;
}
