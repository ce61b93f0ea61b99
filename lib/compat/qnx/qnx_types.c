/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The types of QNX's events, opened when they are first recorded and found without a lock
 * after that: an open hash table of words, each an event's key above its id, that are written
 * once.  There are fewer types than cells, so an empty one ends every search.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <posixtrace/typed.h>
#include "compat/qnx/qnx.h"
#include "compat/common/word.h"

#define CELLS 4096u
_Static_assert(CELLS >= 2 * TRACE_USER_EVENT_MAX, "an empty cell must end a search");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __attribute__((aligned(8))) uint64_t cells[CELLS];

/* Never 0. */
static uint32_t key_of(const struct pt_qnx_kind *kind)
{
    return 1u << 31 | (uint32_t)kind->event_class << 16 | (uint32_t)kind->is64 << 15 |
           (uint32_t)kind->form << 12 | kind->index;
}

/* Where the key is, or an empty cell where it would be. */
static uint64_t *cell_of(uint32_t key)
{
    uint32_t i = (key * 2654435761u >> 20) % CELLS;
    uint64_t word;

    while ((word = pt_word_load_acquire(&cells[i])) != 0 && word >> 32 != key)
        i = (i + 1) % CELLS;
    return &cells[i];
}

static int open_type(const struct pt_qnx_kind *kind, trace_event_id_t *id)
{
    char name[PT_QNX_NAME], again[PT_QNX_NAME + 16], description[PT_QNX_DESCRIPTION];
    int error;

    pt_qnx_type_name(kind, name);
    pt_qnx_describe(kind, description);
    error = posixtrace_event_describe(name, description, id);
    /* Where the program has described the name in other words, as posixtrace/emit.h does. */
    for (unsigned n = 2; error == EEXIST; n++) {
        snprintf(again, sizeof again, "%s#%u", name, n);
        error = posixtrace_event_describe(again, description, id);
    }
    return error == EPERM ? ENOSPC : error;
}

int pt_qnx_type(const struct pt_qnx_kind *kind, trace_event_id_t *id)
{
    uint32_t key = key_of(kind);
    uint64_t *cell = cell_of(key), word = pt_word_load_acquire(cell);
    int error = 0;

    if (word) {
        *id = (trace_event_id_t)word;
        return 0;
    }
    pthread_mutex_lock(&mutex);
    cell = cell_of(key);
    if (*cell)
        *id = (trace_event_id_t)*cell;
    else
        error = open_type(kind, id);
    if (!error)
        pt_word_store_release(cell, (uint64_t)key << 32 | *id);
    pthread_mutex_unlock(&mutex);
    return error;
}

int posixtrace_qnx_open(unsigned event_class, unsigned event)
{
    struct pt_qnx_kind kind;
    trace_event_id_t id;
    int error = 0;

    if (!pt_qnx_find(event_class, event, &kind))
        return pt_qnx_result(EINVAL);
    for (unsigned form = 0; form < PT_QNX_FORMS && !error; form++) {
        kind.form = (uint8_t)form;
        if (form != PT_QNX_WIDE || event_class == _NTO_TRACE_THREAD ||
            event_class == _NTO_TRACE_VTHREAD)
            error = pt_qnx_type(&kind, &id);
    }
    return pt_qnx_result(error);
}

/* ---- after fork ---- */

/* Another thread of the parent may have held it; the cells are whole at any moment. */
static void forked(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(NULL, NULL, forked);
}
