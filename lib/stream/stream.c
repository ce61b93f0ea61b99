/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The part of creation and destruction that all kinds of streams share; see stream.h. */
#include <errno.h>
#include <stdlib.h>
#include "base/clock.h"
#include "consumer/balance.h"
#include "model/layout_cache.h"
#include "shm/liveness.h"
#include "stream/stream.h"

#define LOOK_NS 200000000u /* between looks whether the creator lives */

struct pt_stream *pt_stream_new(enum pt_stream_kind kind)
{
    struct pt_stream *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->kind = kind;
    s->instance = pt_self_instance();
    s->file.fd = -1;
    s->next_type = 1;
    pthread_mutex_init(&s->control, NULL);
    pthread_mutex_init(&s->turn, NULL);
    pthread_mutex_init(&s->reading, NULL);
    return s;
}

void pt_stream_free(struct pt_stream *s)
{
    if (s->texts)
        pt_string_table_deinit(s->texts);
    free(s->texts);
    pthread_mutex_destroy(&s->control);
    pthread_mutex_destroy(&s->turn);
    pthread_mutex_destroy(&s->reading);
    if (s->balance)
        pt_balance_free(s->balance);
    free(s->balance);
    pt_layout_cache_free(s->layouts);
    free(s);
}

void pt_stream_lock_reading(struct pt_stream *s)
{
    pthread_mutex_lock(&s->turn);
    pthread_mutex_lock(&s->reading);
    pthread_mutex_unlock(&s->turn);
}

/* ---- attached streams ---- */

bool pt_attached_is_over(struct pt_stream *s, bool now)
{
    const struct pt_seg_header *h = s->seg->h;
    uint64_t ns = pt_clock_ns(CLOCK_MONOTONIC), last = pt_load_seqcst(&s->looked_ns);

    if (pt_load_seqcst(&h->closed) || pt_load_seqcst(&s->over))
        return true;
    if (!now && ns - last < LOOK_NS)
        return false;
    pt_store_seqcst(&s->looked_ns, ns);
    return pt_owner_liveness(h, s->seg->dev, s->seg->ino) == PT_DEAD;
}

int pt_attached_check(struct pt_stream *s)
{
    if (s->kind != PT_STREAM_ATTACHED)
        return 0;
    if (pt_attached_is_over(s, true))
        return -ENXIO;
    return s->readable_only ? -ENOTSUP : 0;
}
