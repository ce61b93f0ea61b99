/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The layouts of event types by id, each parsed once.  A type without a description may get one
 * while a stream or a growing log is read: it is looked up again at its second, fourth, eighth
 * ... event, so that types that never get one cost nearly nothing.  One user at a time.
 */
#ifndef PT_MODEL_LAYOUT_CACHE_H
#define PT_MODEL_LAYOUT_CACHE_H

#include "model/layout.h"

struct pt_layout_cache;

struct pt_layout_cache *pt_layout_cache_new(void);        /* NULL: no memory */
void pt_layout_cache_free(struct pt_layout_cache *cache); /* or NULL */
/* The layout of a type, or NULL.  *look: the caller looks up the description, and puts it. */
const struct posixtrace_layout *pt_layout_cache_get(struct pt_layout_cache *cache, uint32_t id,
                                                    bool *look);
/* description: NULL if there is none yet.  The same results. */
const struct posixtrace_layout *pt_layout_cache_put(struct pt_layout_cache *cache, uint32_t id,
                                                    const char *description);

#endif
