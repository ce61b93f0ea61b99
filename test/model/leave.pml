/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Shutdown against events: a segment is unmapped only when no thread can be in it, though events
 * take no lock and pass no fence.  A model of steps 1 to 5 and 12 of lib/writer/event.h and of
 * pt_threads_left, on processors with store buffers (x86-TSO).
 *
 * A thread's stores of its count and its word are in a queue and reach memory at any later time, in
 * order.  The controller closes the gate, retires the epoch, makes all threads pass a fence, waits
 * for each to be outside or in a later event, and unmaps; then it gives the same gate bit to the
 * next stream, another mapping, whose number is the epoch.
 *
 * Guarantee, by the name that run.py expects:
 *   MAPPED   an event writes into a mapping that is there
 *
 * -DTHREADS=1..2, -DEVENTS=of each; -DWITHOUT_x takes one protection away.
 */
#ifndef THREADS
#define THREADS 1
#endif
#ifndef EVENTS
#define EVENTS 3
#endif
#define STREAMS 2
#define RETIRED 0           /* an epoch that no lane has */

/* Never true: it puts the name of the guarantee into the checker's message. */
hidden byte MAPPED;

bool gate;
byte epoch;                 /* of the stream that has the bit */
bool mapped[STREAMS + 1];
bool inside[2];             /* the word, in memory */
byte counted[2];            /* the count, in memory */

mtype = { COUNT, WORD };
chan buffer0 = [4] of { mtype, byte };
chan buffer1 = [4] of { mtype, byte };

inline apply(t, what, value)
{
    if
    :: what == COUNT -> counted[t] = value
    :: what == WORD -> inside[t] = value
    fi;
    what = 0;
    value = 0
}

proctype memory(byte t; chan queue)
{
    mtype what;
    byte value;

end:
    do
    :: atomic { queue ? what, value -> apply(t, what, value) }
    od
}

/* Writes the event, as long as that takes. */
inline use_lane()
{
    assert(MAPPED || mapped[lane]);
    assert(MAPPED || mapped[lane])
}

proctype thread(byte t; chan queue)
{
    byte made, lane, seen;

    do
    :: made == EVENTS -> break
    :: made < EVENTS ->
        made++;
        if
        :: !gate
        :: gate ->
            queue ! WORD(true);
            queue ! COUNT(made);
#ifdef WITHOUT_SECOND_LOOK
            if :: lane == 0 -> seen = epoch :: else -> seen = lane fi;
#else
            seen = epoch;
#endif
            if
            :: seen == lane && lane != RETIRED -> use_lane()
            :: else ->
                /* The slow path, from the start; it has a fence. */
                queue ! WORD(false);
                queue ! WORD(true);
                queue ! COUNT(made);
                len(queue) == 0;
                if
                :: !gate
                :: gate ->
                    lane = epoch;
                    if :: lane != RETIRED -> use_lane() :: else fi
                fi
            fi;
            seen = 0;
            queue ! WORD(false)
        fi
    od
}

inline drain(t, queue)
{
    atomic {
        do
        :: len(queue) > 0 -> queue ? what, value; apply(t, what, value)
        :: len(queue) == 0 -> break
        od
    }
}

inline wait_for(t)
{
    before = counted[t];
    (!inside[t] || counted[t] != before);
    before = 0
}

active proctype controller()
{
    mtype what;
    byte value, before, n;

    do
    :: n == STREAMS -> break
    :: n < STREAMS ->
        n++;
        d_step { mapped[n] = true; epoch = n }
        gate = true;
        gate = false;
#ifndef WITHOUT_RETIRING
        epoch = RETIRED;
#endif
#ifndef WITHOUT_MEMBARRIER
        drain(0, buffer0);
        drain(1, buffer1);
#endif
#ifndef WITHOUT_WAITING
        wait_for(0);
        wait_for(1);
#endif
        mapped[n] = false
    od
}

init
{
    atomic {
        run memory(0, buffer0); run thread(0, buffer0);
#if THREADS > 1
        run memory(1, buffer1); run thread(1, buffer1)
#endif
    }
}
