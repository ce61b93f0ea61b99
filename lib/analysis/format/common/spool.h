/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Inputs that are not in order of time: an external sort by keys.
 *
 * A log is in order of time, so an import sorts other inputs.  Memory holds a key of 16 bytes
 * for each item, its time and its place; the items stay in a file.  That is the input itself
 * where an item can be parsed again by its place alone (rows_import.c), else a spool: records
 * in a temporary file (btf_order.c, ctf_merge.c).  Items of equal time keep the order of the
 * input.
 *
 * Temporary files have no name.  They are in TMPDIR, or in /var/tmp.
 */
#ifndef PT_FORMAT_SPOOL_H
#define PT_FORMAT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/uio.h>

struct pt_job;

/* 0, or a positive errno; here and below. */
int pt_temporary_file(FILE **file);
/* The rest of from, in a temporary file that is at its start. */
int pt_temporary_copy(FILE *from, FILE **copy);
/* The input itself, if it can be positioned, else a copy, which is to be closed. */
int pt_temporary_input(FILE *from, FILE **file);

struct pt_spool_place {
    int64_t ns;
    uint64_t at;
};

/* Zeroed: there are none. */
struct pt_places {
    struct pt_spool_place *list;
    size_t count, room;
    uint64_t late;  /* how many are older than one before them */
    uint64_t worst; /* by how many ns at most */
    int64_t newest; /* of all, if there is one */
};

/* ENOMEM. */
int pt_places_add(struct pt_places *p, int64_t ns, uint64_t at);
void pt_places_sort(struct pt_places *p);
/* A note of that kind: how many were late, if any was. */
void pt_places_report(const struct pt_places *p, struct pt_job *job, unsigned kind);
void pt_places_free(struct pt_places *p);

/* Records of any bytes. */
struct pt_spool {
    FILE *file;
    uint64_t bytes; /* in it */
    struct pt_places places;
    size_t next; /* after the sort: which one is fetched next */
};

int pt_spool_open(struct pt_spool *s);
void pt_spool_close(struct pt_spool *s);
/* A record of so many parts, which are joined. */
int pt_spool_put(struct pt_spool *s, int64_t ns, const struct iovec *parts, size_t count);
/* After the last one. */
int pt_spool_sort(struct pt_spool *s);
static inline bool pt_spool_has_more(const struct pt_spool *s)
{
    return s->next < s->places.count;
}
/* The time of the next record, if there is one. */
static inline int64_t pt_spool_time(const struct pt_spool *s)
{
    return s->places.list[s->next].ns;
}
/* The next record, into to, which has room bytes: a longer one is an error, EIO. */
int pt_spool_take(struct pt_spool *s, void *to, size_t room, size_t *size);

#endif
