/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Losses without another mark: threads record some of their events and lose others, and a consumer
 * has to put a gap between the events of a thread before and after a loss.  A model of
 * lib/shm/loss_interval.h and its caller lib/consumer/cursor.c, for spin to check exhaustively.
 *
 * watermark.pml checks the watermark.  Here an event is its time and its commit in one step, and T
 * is a time such that all older events are committed.  A thread's note takes a step for each load
 * and store, with steps of other threads in between; stores need no queues, since each is a
 * compare-and-exchange.  Each event and each loss advances the clock.
 *
 * Guarantee, by the name that run.py expects:
 *   REPORTED   if an event is delivered and its thread has lost one before it, a gap has begun
 *              before it that has not ended before the thread's previous event
 *
 * -DITEMS=n, -DWRITERS=n, -DLOOKS=n and -DGRAIN=n choose the scenario; -DWITHOUT_x takes
 * one protection away, and the guarantee must fail.
 */
#ifndef ITEMS
#define ITEMS 3    /* events and losses of each thread, as it happens */
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef LOOKS
#define LOOKS 3
#endif
#ifndef GRAIN
#define GRAIN 2
#endif
#define NONE 0

/* Never true: it puts the name of the guarantee into the checker's message. */
hidden byte REPORTED;

byte clock = 1, first = NONE, last = NONE;
byte ts[WRITERS * ITEMS], committed[WRITERS];
bool lost_before[WRITERS * ITEMS];   /* by event: something was lost since the one before */

inline note()
{
    atomic { clock++; t = clock };
    atomic { if :: first == NONE -> first = t :: else fi };
    seen = last;
    if
    :: t > seen + GRAIN -> atomic { if :: t > last -> last = t :: else fi }
    :: else
    fi;
    t = 0; seen = 0
}

proctype writer(byte w)
{
    byte items, t, seen;
    bool lost;

    do
    :: items < ITEMS ->
        items++;
        if
        :: atomic {
               clock++;
               ts[w * ITEMS + committed[w]] = clock;
               lost_before[w * ITEMS + committed[w]] = lost;
               lost = false;
               committed[w]++
           }
        :: note(); lost = true
        fi
    :: else -> break
    od
}

/* what the consumer remembers: the last event of each thread, the end of the last gap */
byte taken[WRITERS], before[WRITERS], gap_end;

#ifdef WITHOUT_NEWS
#define IS_NEWS(last, known) false
#else
#define IS_NEWS(last, known) ((last) != (known))
#endif
#ifdef WITHOUT_GRAIN
#define IN_GRAIN(watermark, last) false
#else
#define IN_GRAIN(watermark, last) ((watermark) < (last) + GRAIN)
#endif

inline take(w)
{
    d_step {
        do
        :: taken[w] < committed[w] && ts[w * ITEMS + taken[w]] <= watermark ->
            now = ts[w * ITEMS + taken[w]];
            assert(REPORTED || !lost_before[w * ITEMS + taken[w]] || gap_end >= before[w] ||
                   (missing && (from <= now || last_watermark >= from)));
            before[w] = now; taken[w]++; now = 0
        :: else -> break
        od;
        skip
    }
}

active proctype consumer()
{
    byte looks, watermark, last_watermark, known, was, from, now;
    bool missing;

    do
    :: looks < LOOKS ->
        looks++;
#ifndef WITHOUT_WATERMARK_FIRST
        watermark = clock;
#endif
        was = known; known = last;
        from = first;
#ifdef WITHOUT_WATERMARK_FIRST
        watermark = clock;
#endif
        missing = known != NONE && (IS_NEWS(known, was) || IN_GRAIN(last_watermark, known));
        take(0);
#if WRITERS > 1
        take(1);
#endif
        d_step {
            if :: missing -> gap_end = watermark :: else fi;
            last_watermark = watermark; was = 0; from = 0
        }
    :: else -> break
    od
}

init
{
    atomic {
        run writer(0);
#if WRITERS > 1
        run writer(1);
#endif
        skip
    }
}
