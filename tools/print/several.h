/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Several logs, printed in one order of time.  Each keeps its order; among logs the time of their
 * clocks decides (CLOCK_REALTIME), and for equal times the order in which they were named.  One
 * batch of events of each log is in memory.
 */
#ifndef SEVERAL_H
#define SEVERAL_H

#include "print/print.h"
#include "input/earliest.h"
#include "input/logs.h"

enum { SEVERAL_BATCH = 128 };

struct several_log {
    struct input_log *in;
    struct print_source *source;
    bool may_stop; /* after the window no event of it is inside */
    struct posixtrace_event batch[SEVERAL_BATCH];
    size_t at, count;
    int64_t key; /* the time of its next event, not before that of the one before */
};

struct several {
    struct logs *logs;
    struct several_log *each;
    struct earliest next; /* those that have events left */
    struct host_clocks *clocks;
    size_t last;   /* the log of the event printed before */
    uint64_t read; /* events */
};

/* Prints what the selections of the logs want, which are made and have labels; the status. */
int several_print(struct logs *logs, struct print *p, bool strict);

#endif
