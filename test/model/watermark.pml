/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The watermark: writers that store without fences on processors with store
 * buffers (x86-TSO), and a consumer that makes them pass a fence.  A model of
 * lib/shm/watermark.h and of the order of stores in lib/writer/event.h, for
 * spin to check exhaustively.
 *
 * Each writer's stores go into a queue, from which they reach memory in order at any later time;
 * only stores that the writer does not load again are modelled.  The consumer's membarrier empties
 * the queues, one processor after the other; with -DFENCES a writer empties its own after the first
 * store instead.  The clock counts readings of the writers.  Only writer 0 is two threads, one
 * after the other, in the same slot: the new owner must not inherit a bound.
 *
 * The consumer remembers a slot as struct pt_seen does.  A writer may count as stalled or not
 * whenever it was found in the same event twice.  That event may then come late.
 *
 * Guarantees, by the names that run.py expects:
 *   NOT_LATE      a new event is not older than the previous watermark, unless its writer was
 *                 declared stalled
 *   NOT_BACK      the watermark does not go back
 *   STALLED_ONLY  a writer declared stalled was in one event all the time
 *
 * -DLOOKS=n, -DEVENTS=n and -DOTHERS=n (of writers 0 and 1) choose the scenario;
 * -DWITHOUT_x takes one protection away, and a guarantee must fail.
 */
#ifndef LOOKS
#define LOOKS 3
#endif
#ifndef EVENTS
#define EVENTS 2   /* of writer 0; its second thread has one */
#endif
#ifndef OTHERS
#define OTHERS 0   /* events of writer 1 */
#endif
#define WRITERS 2
#define OUTSIDE 0

/* Never true: they put the name of the guarantee into the checker's message. */
hidden byte NOT_LATE, NOT_BACK, STALLED_ONLY;

/* one slot a writer, in memory */
byte inside[WRITERS], wid[WRITERS], attached[WRITERS], commits[WRITERS];
bool live[WRITERS];
byte ts[WRITERS * 4];
byte clock;
bool stalled[WRITERS * 4];   /* by event: declared stalled during it */

/* stores: what, value */
mtype = { INSIDE, WID, ATTACHED, COMMITS, LIVE, TIME };
chan buffer0 = [4] of { mtype, byte };
chan buffer1 = [4] of { mtype, byte };

inline apply(w, what, value)
{
    if
    :: what == INSIDE -> inside[w] = value
    :: what == WID -> wid[w] = value
    :: what == ATTACHED -> attached[w] = value
    :: what == COMMITS -> commits[w] = value
    :: what == LIVE -> live[w] = value
    :: what == TIME -> ts[w * 4 + commits[w]] = value   /* after the committed events */
    fi
}

/* Everything in the queue of w reaches memory. */
inline drain(w, queue)
{
    do
    :: len(queue) > 0 -> queue ? what, value; apply(w, what, value)
    :: len(queue) == 0 -> break
    od;
    what = 0; value = 0
}

proctype memory(byte w; chan queue)
{
    mtype what;
    byte value;

end:
    do
    :: atomic { queue ? what, value -> apply(w, what, value); what = 0; value = 0 }
    od
}

/* The value that a writer inside stores; in the upper bits, for checks only, the event it is in. */
#ifdef WITHOUT_NEW_VALUE
#define VALUE (1 | made << 4)
#else
#define VALUE (made + 1 | made << 4)
#endif
#define REAL(value)  ((value) & 15)
#define EVENT(value) ((value) >> 4)

inline write_event()
{
#ifdef WITHOUT_INSIDE_FIRST
    atomic { clock++; now_ts = clock };
    queue ! INSIDE(VALUE);
#else
    queue ! INSIDE(VALUE);
#ifdef FENCES
    len(queue) == 0;
#endif
    atomic { clock++; now_ts = clock };
#endif
#ifdef WITHOUT_COMMIT_FIRST
    queue ! INSIDE(OUTSIDE);
#endif
    atomic { queue ! TIME(now_ts); now_ts = 0 };
    made++;
    queue ! COMMITS(made);
#ifndef WITHOUT_COMMIT_FIRST
    queue ! INSIDE(OUTSIDE)
#endif
}

/* pt_slot_attach; as a compare-and-exchange it begins with an empty queue */
inline attach(id)
{
    len(queue) == 0;
#ifdef WITHOUT_WID_FIRST
    queue ! ATTACHED(clock);
    queue ! WID(id);
#else
    queue ! WID(id);
    queue ! ATTACHED(clock);
#endif
    queue ! LIVE(1)
}

inline detach()
{
    len(queue) == 0;
    live[w] = false
}

proctype writer(byte w; chan queue)
{
    byte made, now_ts;

    attach(w + 1);
    do
    :: made < (w == 0 -> EVENTS : OTHERS) -> write_event()
    :: else -> break
    od;
#if OTHERS == 0
    detach();
    attach(WRITERS + 1);
    write_event()
#else
    skip
#endif
}

/* what the consumer remembers of each slot */
byte seen_inside[WRITERS], seen_bound[WRITERS], seen_wid[WRITERS], known[WRITERS];

/* bound_of: lowers bound by what the writer of slot i may still bring */
inline look_at_slot(i)
{
    saw = inside[i];
    id = wid[i];
    if
    :: !live[i] || saw == OUTSIDE ->
        d_step { seen_inside[i] = OUTSIDE; seen_bound[i] = t; seen_wid[i] = id }
    :: else ->
        d_step {
            if
            :: seen_wid[i] != id ->
                seen_wid[i] = id; seen_inside[i] = OUTSIDE; seen_bound[i] = attached[i]
            :: else
            fi;
            if
            :: REAL(seen_inside[i]) != REAL(saw) ->
                if
                :: seen_bound[i] < before && seen_inside[i] != 0 -> seen_bound[i] = before
                :: else
                fi;
                seen_inside[i] = saw;
                again = false
            :: else -> again = true
            fi
        }
        if
        :: !(again && stalled[i * 4 + EVENT(saw)]) ->
            d_step { if :: seen_bound[i] < bound -> bound = seen_bound[i] :: else fi }
        :: again ->
            d_step {
                assert(STALLED_ONLY || EVENT(saw) == EVENT(seen_inside[i]));
                stalled[i * 4 + EVENT(saw)] = true
            }
        fi;
        again = false
    fi;
    saw = 0; id = 0
}

/* Takes the events that were committed since the last look. */
inline take(i)
{
    d_step {
        do
        :: known[i] < commits[i] ->
            assert(NOT_LATE || ts[i * 4 + known[i]] > watermark || stalled[i * 4 + known[i]]);
            if
            :: ts[i * 4 + known[i]] <= bound -> ts[i * 4 + known[i]] = 0; known[i]++
            :: else -> break
            fi
        :: else -> break
        od;
        skip
    }
}

active proctype consumer()
{
    byte looks, t, before, bound, watermark, saw, id, value;
    bool again;
    mtype what;

    do
    :: looks < LOOKS ->
        looks++;
#ifdef WITHOUT_CLOCK_FIRST
        skip;
#else
        t = clock;
#endif
#if !defined(WITHOUT_MEMBARRIER) && !defined(FENCES)
        atomic { drain(0, buffer0) };
        atomic { drain(1, buffer1) };
#endif
        bound = 255;
#ifdef WITHOUT_CLOCK_FIRST
        look_at_slot(0);
        look_at_slot(1);
        t = clock;
#else
        look_at_slot(0);
        look_at_slot(1);
#endif
        if :: t < bound -> bound = t :: else fi;
        before = t;
        take(0);
        take(1);
        d_step {
            assert(NOT_BACK || bound >= watermark);
            watermark = bound; bound = 0; t = 0
        }
    :: else -> break
    od
}

init
{
    atomic {
        run memory(0, buffer0); run writer(0, buffer0);
#if OTHERS > 0
        run memory(1, buffer1); run writer(1, buffer1)
#endif
    }
}
