/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The records that a full ring had no room for.  The kernel reports them in a record LOST before
 * the next one that fits, which may come much later, or never.  Since Linux 6.0 the events of the
 * ring count them, too: counted records that no LOST has reported yet are lost already.
 *
 * They were lost after the last record in the ring, and not before the ring was last empty.  The
 * time of LOST is that of the record after them, perhaps of another window.
 */
#ifndef PT_SOURCE_PERF_LOSS_H
#define PT_SOURCE_PERF_LOSS_H

#include <stdint.h>

struct pt_perf_loss {
    uint64_t last;     /* time of the last record that was read */
    uint64_t reported; /* by LOST, in all */
    uint64_t counted;  /* that the caller knows of, in all: at least the reported ones */
};

/* LOST reports n more: how many of them are news. */
static inline uint64_t pt_perf_loss_report(struct pt_perf_loss *l, uint64_t n)
{
    uint64_t news;

    l->reported += n;
    if (l->reported <= l->counted)
        return 0;
    news = l->reported - l->counted;
    l->counted = l->reported;
    return news;
}

/* The events have counted so many in all: how many of them are news. */
static inline uint64_t pt_perf_loss_count(struct pt_perf_loss *l, uint64_t all)
{
    uint64_t news;

    if (all <= l->counted)
        return 0;
    news = all - l->counted;
    l->counted = all;
    return news;
}

#endif
