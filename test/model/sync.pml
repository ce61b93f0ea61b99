/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The clock table: adders of pairs, which may stop for ever at any step (killed, stopped, left by
 * siglongjmp), and readers that convert times.  A model of lib/shm/syncpoint.h.
 *
 * A pair is the time from which it is in force, 0: not written.  The result of a reader for a time
 * is the number of pairs in force then.  That number never changes (SAME), named pairs are written
 * (WHOLE) and ascend (ASCEND), and an adder that does not stop reaches its end wherever others have
 * stopped: an invalid end state is STUCK.
 *
 * -DSTOPPERS=n, -DADDERS=n, -DREADERS=n; -DWITHOUT_x takes one protection away.
 */
#ifndef STOPPERS
#define STOPPERS 1
#endif
#ifndef ADDERS
#define ADDERS 1
#endif
#ifndef READERS
#define READERS 1
#endif
#define LAST  3                        /* time passes until then */
#define PLACES 2                       /* decisions */
#define PAIRS (STOPPERS + ADDERS + PLACES)
#define NAMED 100

hidden byte SAME, WHOLE, ASCEND;        /* 0: names of guarantees in assertions */
byte now = 1;
bool used[PAIRS];
byte pair[PAIRS];
byte next[PLACES];                     /* open: times below it were read; NAMED + pair */
byte claim;                            /* WITHOUT_PAIRS: held by the process that may add */

proctype time()
{
end:
    do
    :: now < LAST -> now++
    :: else -> break
    od
}

/* One load for each decision: a closed one stays closed. */
inline find_open(k, r)
{
    atomic { r = next[0]; k = (r >= NAMED -> 1 : 0) };
    atomic {
        if
        :: k == 1 -> r = next[1]; k = (r >= NAMED -> PLACES : 1)
        :: else
        fi
    }
}

inline exchange(k, r, value, done)
{
    atomic {
        done = (next[k] == r);
        if :: done -> next[k] = value :: else fi
    }
}

inline own(p)
{
#if defined(WITHOUT_PAIRS) || defined(WITHOUT_OWNER)
    p = k;
#else
    d_step {
        p = 0;
        do
        :: used[p] -> p++
        :: else -> used[p] = true; break
        od
    }
#endif
}

/* stops: at any step, for ever. */
#define maybe_stop if :: stops -> goto over :: true fi

proctype adder(bool stops)
{
    byte k, r, p, at, last, from;
    bool done;

    do
    :: true ->
        at = now;
        find_open(k, r);
        if :: k == PLACES -> break :: else fi;
        atomic {
            last = 0;
            if :: k == 1 -> last = pair[next[0] - NAMED] :: else fi;
#ifndef WITHOUT_AGE
            if :: at <= last -> break :: else fi;
#endif
        }
#ifdef WITHOUT_PAIRS
        atomic { claim == 0 -> claim = 1 };
#endif
        own(p);
        maybe_stop;
        atomic {
#ifdef WITHOUT_AFTER
        from = at + 1;
#else
        from = (at > r -> at : r) + 1;
#endif
#ifdef WITHOUT_POINTS_FIRST
        }
        exchange(k, r, NAMED + p, done);
        maybe_stop;
        pair[p] = from;
#else
        pair[p] = from;
        }
        maybe_stop;
#ifdef WITHOUT_COMPARING
        atomic { done = next[k] < NAMED; if :: done -> next[k] = NAMED + p :: else fi };
#else
        exchange(k, r, NAMED + p, done);
#endif
#endif
        maybe_stop;
        atomic {
            used[p] = done;
            claim = 0;
            k = 0; r = 0; p = 0; last = 0; from = 0; done = false
        }
    od;
over:
    skip
}

/* How many pairs are in force at t, of those that are named now. */
inline in_force(t, n)
{
    d_step {
        n = 0;
        if
        :: next[0] >= NAMED ->
            assert(WHOLE || pair[next[0] - NAMED] != 0);
            n = (pair[next[0] - NAMED] <= t -> 1 : 0)
        :: else
        fi;
        if
        :: next[1] >= NAMED ->
            assert(WHOLE || pair[next[1] - NAMED] != 0);
            assert(ASCEND || pair[next[1] - NAMED] > pair[next[0] - NAMED]);
            n = (pair[next[1] - NAMED] <= t -> 2 : n)
        :: else
        fi
    }
}

proctype reader()
{
    byte k, r, t, n, again;
    bool done;

    t = now;
    do
    :: true ->
        find_open(k, r);
#ifdef WITHOUT_MARK
        break;
#else
        if :: k == PLACES || t < r -> break :: else fi;
        exchange(k, r, t + 1, done);
        if :: done -> break :: else fi
#endif
    od;
    /* A pair that is named later is not in force at t: it may be read or not. */
    in_force(t, n);
    in_force(t, again);
    assert(SAME || n == again)
}

init
{
    byte i;

    atomic {
        run time();
        for (i : 1 .. STOPPERS) { run adder(true) }
#if ADDERS
        for (i : 1 .. ADDERS) { run adder(false) }
#endif
        for (i : 1 .. READERS) { run reader() }
    }
}
