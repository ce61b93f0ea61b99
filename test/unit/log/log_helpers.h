/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Logs for the tests of lib/log: a generated stream of known events, so that each event read can be
 * compared with the one written.
 *
 * Each event carries (author, number) as its data, followed by a pattern; its
 * time and type follow from them, and so does its address.
 */
#ifndef LOG_HELPERS_H
#define LOG_HELPERS_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "log/reader/reader.h"
#include "shm/record.h"

struct payload {
    uint32_t wid;
    uint32_t no;
};

/* Collects records for packets. */
struct maker {
    uint32_t wid;
    uint32_t next_no;
    uint64_t chunk_seq;
    uint32_t chunk_off;
    struct pt_log_packet packet;
    _Alignas(8) uint8_t records[65536];
};

/* An event as the tests remember it. */
struct seen {
    uint64_t ts;
    uint32_t wid, no;
    uint16_t id;
};

struct seen_list {
    struct seen *at;
    size_t n, room;
};

#define ID_A 193u
#define ID_B 194u

int log_file(void);                /* an empty file without a name */
unsigned test_size(unsigned full); /* a tenth of it in short runs (valgrind) */
int log_packing(void);             /* enum posixtrace_compression, by the environment */
bool logs_are_packed(void);        /* the same tests with compressed packets */
struct pt_log_params log_params(int policy, uint64_t size);
void seen_add(struct seen_list *list, struct seen s);
/* Sorts [from, n) as a reader gives the events of one round. */
void seen_sort(struct seen_list *list, size_t from);

void maker_init(struct maker *m, uint32_t wid);
/* Adds an event with len bytes (8 or more) at ts and returns what will be seen. */
struct seen maker_add(struct maker *m, uint64_t ts, uint32_t len);
/* The packet so far; the maker begins the next one in the same chunk. */
struct pt_log_packet *maker_take(struct maker *m);

/* A writer with the usual names and one sync point (2 ns a tick from tick 0). */
struct pt_log_writer *log_writer(int fd, const struct pt_log_params *params);
struct pt_log_author_totals totals_of(const struct maker *m);

/* Reads on to the end, checks every event in itself, appends to the list. */
void read_all(struct pt_log_reader *r, struct seen_list *list);
/* The same for a log whose sync points or names may be gone. */
void read_damaged(struct pt_log_reader *r, struct seen_list *list);
struct pt_log_reader *log_reader(int fd);
/* Reads the undamaged part: the numbers of each author's events are consecutive, except after a
 * reported gap.  next: the number after the last event of each author, up to authors; 0: none since
 * the last gap.  True: there is a gap at the end. */
bool read_whole(struct pt_log_reader *r, uint32_t *next, unsigned authors);
/* Every event of got is the one at the same place of wanted[from..]. */
void expect_same(const struct seen_list *got, const struct seen_list *wanted, size_t from);

/*
 * rounds rounds of events by authors authors, interleaved in time at random;
 * *wanted gets what a reader must give.  The writer is left open.
 */
void write_rounds(struct pt_log_writer *w, struct maker *makers, unsigned authors, unsigned rounds,
                  unsigned events, struct seen_list *wanted);

#endif
