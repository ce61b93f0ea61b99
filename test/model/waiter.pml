/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Sleep and wake-up: readers that sleep until there is an event, and writers that only load a word
 * after the event, without a fence.  A model of lib/control/read.c (lib/flush/thread.c sleeps the
 * same way) and of steps 9 to 11 of lib/writer/event.h with pt_stream_wake, on processors with
 * store buffers (x86-TSO).
 *
 * A writer's commit and its leaving are in a queue and reach memory at any later time, in order.
 * An event can be delivered when it is committed and no writer is inside: a writer inside may still
 * commit an older one.  If no step is possible any more (for spin an invalid end state), a reader
 * sleeps though there is an event for it: STUCK.
 *
 * -DREADERS=n, -DWRITERS=n, -DEVENTS=n of each; -DFENCES: writers with a fence
 * of their own and no membarrier; -DWITHOUT_x takes one protection away.
 */
#ifndef READERS
#define READERS 1
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef EVENTS
#define EVENTS 1
#endif

bool attention;
byte futex;
byte committed, delivered, inside;
byte wakes;                /* FUTEX_WAKE calls: a sleeper notices the next one */
byte pending[2];           /* stores of writer w that are not in memory yet */

/* The stores of an event, oldest first: commit, then outside. */
#define COMMIT_AND_LEAVE 2

inline reach_memory(w)
{
    if
    :: pending[w] == 2 -> committed++
    :: pending[w] == 1 -> inside--
    fi;
    pending[w]--
}

proctype memory(byte w)
{
end:
    do
    :: atomic { pending[w] > 0 -> reach_memory(w) }
    od
}

inline wake(w)
{
    /* the exchange empties the queue */
    pending[w] == 0;
    atomic { was = attention; attention = false };
    if
    :: was ->
#ifndef WITHOUT_FUTEX_COUNT
        futex++;
#endif
        wakes++
    :: else
    fi;
    was = false
}

proctype writer(byte w)
{
    byte made;
    bool was;

    do
    :: made < EVENTS ->
        made++;
        /* The store of inside is early enough: watermark.pml. */
        pending[w] == 0;
        inside++;
#ifdef WITHOUT_LOOK_LAST
        was = attention;
        pending[w] = COMMIT_AND_LEAVE;
        if :: was -> wake(w) :: else fi
#else
        pending[w] = COMMIT_AND_LEAVE;
#ifdef FENCES
        pending[w] == 0;
#endif
        if :: attention -> wake(w) :: else fi
#endif
    :: else -> break
    od
}

/* The next event, under the lock of reading: one step. */
inline look()
{
    d_step {
        found = committed > delivered && inside == 0;
        if :: found -> delivered++ :: else fi
    }
}

inline make_writers_pass_a_fence()
{
#if !defined(FENCES) && !defined(WITHOUT_MEMBARRIER)
    atomic { do :: pending[0] > 0 -> reach_memory(0) :: else -> break od };
#if WRITERS > 1
    atomic { do :: pending[1] > 0 -> reach_memory(1) :: else -> break od };
#endif
#endif
    skip
}

/* Ends when all that will ever be is delivered. */
proctype reader()
{
    byte value, slept;
    bool found;

end:
    do
    :: delivered == WRITERS * EVENTS -> break
    :: delivered < WRITERS * EVENTS ->
        look();
        if
        :: found -> skip
        :: else ->
#ifdef WITHOUT_FUTEX_FIRST
            attention = true;
            make_writers_pass_a_fence();
            value = futex;
            look();
#else
            value = futex;
#ifdef WITHOUT_SECOND_LOOK
            attention = true;
            make_writers_pass_a_fence();
#else
            attention = true;
            make_writers_pass_a_fence();
            look();
#endif
#endif
            if
            :: found -> skip
            :: else ->
                /* FUTEX_WAIT: compares and sleeps in one */
                if
                :: atomic { futex == value -> slept = wakes };
                    wakes != slept || delivered == WRITERS * EVENTS
                :: futex != value
                fi
            fi
        fi;
        value = 0; slept = 0; found = false
    od
}

init
{
    atomic {
        run memory(0); run writer(0);
#if WRITERS > 1
        run memory(1); run writer(1);
#endif
        run reader();
#if READERS > 1
        run reader()
#endif
    }
}
