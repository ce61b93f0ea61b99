/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * First events that wait for their last ones, by key; and for a while keys that do not wait any
 * more.  Memory is bounded: beyond so many, the one that has waited longest is given up, and its
 * pair is unknown should its last event come.
 */
#include <stdlib.h>
#include <string.h>

/* Without memory an entry is not added, and its tbl is NULL. */
#define HASH_NONFATAL_OOM 1
/* HASH_FIND is used where run is a name. */
#define HASH_FUNCTION(key, length, hash) ((hash) = pt_pair_hash(key, length, run->factor))

static unsigned pt_pair_hash(const void *key, size_t length, unsigned long long factor)
{
    const unsigned char *at = key;
    unsigned long long h = length, word;

    for (; length > 0; length -= length < sizeof word ? length : sizeof word, at += sizeof word) {
        word = 0;
        memcpy(&word, at, length < sizeof word ? length : sizeof word);
        h = (h ^ word) * factor;
        h ^= h >> 32;
    }
    return (unsigned)h;
}

#include "analysis/pair/pair_state.h"

enum { OPEN_MAX = 1 << 20, DONE_MAX = 1 << 16 };

struct pt_pair_entry *pt_pair_find(const posixtrace_pair_run_t *run, const struct pt_pair_match *m,
                                   const struct pt_pair_key *key)
{
    struct pt_pair_entry *entry;

    HASH_FIND(hh, m->table, key->bytes, key->length, entry);
    return entry;
}

static void remove_entry(struct pt_pair_match *m, struct pt_pair_entry *entry)
{
    HASH_DEL(m->table, entry);
    free(entry);
}

void pt_pair_opens(struct pt_pair_match *m, struct pt_pair_entry *entry)
{
    if (entry->is_open) {
        TAILQ_REMOVE(&m->open, entry, link);
    } else {
        TAILQ_REMOVE(&m->done, entry, link);
        m->done_count--;
        m->open_count++;
    }
    entry->is_open = true;
    TAILQ_INSERT_TAIL(&m->open, entry, link);
}

void pt_pair_closes(struct pt_pair_match *m, struct pt_pair_entry *entry)
{
    if (entry->is_open) {
        TAILQ_REMOVE(&m->open, entry, link);
        m->open_count--;
        m->done_count++;
    } else {
        TAILQ_REMOVE(&m->done, entry, link);
    }
    entry->is_open = false;
    TAILQ_INSERT_TAIL(&m->done, entry, link);
    if (m->done_count > DONE_MAX) {
        struct pt_pair_entry *oldest = TAILQ_FIRST(&m->done);

        TAILQ_REMOVE(&m->done, oldest, link);
        m->done_count--;
        remove_entry(m, oldest);
    }
}

struct pt_pair_entry *pt_pair_add(posixtrace_pair_run_t *run, struct pt_pair_match *m,
                                  const struct pt_pair_key *key)
{
    struct pt_pair_entry *entry;

    if (m->open_count == OPEN_MAX) {
        entry = TAILQ_FIRST(&m->open);
        pt_pair_evict(m, entry);
        pt_pair_drop(m, entry);
    }
    entry = calloc(1, sizeof *entry + key->length);
    if (!entry)
        return NULL;
    memcpy(entry->key, key->bytes, key->length);
    entry->length = (uint32_t)key->length;
    entry->number = key->number;
    entry->is_number = key->is_number;
    entry->is_open = true;
    HASH_ADD_KEYPTR(hh, m->table, entry->key, key->length, entry);
    if (!entry->hh.tbl) {
        free(entry);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&m->open, entry, link);
    m->open_count++;
    return entry;
}

struct pt_pair_entry *pt_pair_oldest(const struct pt_pair_match *m)
{
    return TAILQ_FIRST(&m->open);
}

void pt_pair_drop(struct pt_pair_match *m, struct pt_pair_entry *entry)
{
    TAILQ_REMOVE(&m->open, entry, link);
    m->open_count--;
    remove_entry(m, entry);
}

static void free_list(struct pt_pair_list *list)
{
    struct pt_pair_entry *entry;

    while ((entry = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, entry, link);
        free(entry);
    }
}

void pt_pair_table_free(struct pt_pair_match *m)
{
    HASH_CLEAR(hh, m->table);
    free_list(&m->open);
    free_list(&m->done);
}
