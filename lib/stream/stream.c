/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The part of creation and destruction that all kinds of streams share; see stream.h. */
#include <stdlib.h>
#include "consumer/balance.h"
#include "model/layout_cache.h"
#include "stream/stream.h"

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
        pt_texts_deinit(s->texts);
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
