/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A segment is unmapped while a thread traces, and another process stores any value to the page,
 * also the epoch of that segment's stream (lib/process/thread.h).  A model of one thread, whose
 * stores reach memory in order but late, and of the thread that unmaps.
 *
 * An event uses the segment if its lane has the epoch that it loads from the page, or if several is
 * set, which depends on the lane; or it makes a lane, while the process knows the segment.
 *
 * Guarantee, by the name that run.py expects:
 *   MAPPED   no event uses the segment after it was unmapped
 *
 * -DEVENTS=of the thread; -DWITHOUT_x takes one protection away.
 */
#ifndef EVENTS
#define EVENTS 3
#endif

/* Never true: it puts the name of the guarantee into the checker's message. */
hidden byte MAPPED;

bool word;                  /* inside */
byte count;
bool lane;                  /* it has the epoch of the segment's stream */
bool several;
bool known = true, mapped = true;
bool late_word, late_count, late_lane, late_several;   /* stored, not in memory yet */
byte mine;                  /* the thread's count */

inline reach_memory()
{
    d_step {
        if :: late_word -> word = true; late_word = false :: else fi;
        if :: late_count -> count = mine; late_count = false :: else fi;
        if :: late_lane -> lane = true; late_lane = false :: else fi;
        if :: late_several -> several = true; late_several = false :: else fi
    }
}

active proctype memory()
{
end:
    do
    :: atomic { late_word -> word = true; late_word = false }
    :: atomic { !late_word && late_count -> count = mine; late_count = false }
    :: atomic { !late_word && !late_count && late_lane -> lane = true; late_lane = false }
    :: atomic { !late_word && !late_count && !late_lane && late_several ->
        several = true; late_several = false }
    od
}

inline use() { assert(MAPPED || mapped) }

/* Of a lane that has the epoch. */
inline learn()
{
    late_several = true;
#ifndef WITHOUT_FENCE
    reach_memory();
#endif
#ifndef WITHOUT_LOOKING_AGAIN
    if
    :: !lane && !late_lane -> atomic { late_several = false; several = false }
    :: else
    fi;
#endif
    use()
}

active proctype thread()
{
    byte made;

    do
    :: made == EVENTS -> break
    :: made < EVENTS ->
        made++;
        late_word = true;
        atomic { mine++; late_count = true };
        if
        :: true                                  /* the page has another epoch */
        :: (lane || late_lane) -> use()
        :: (several || late_several) -> use()
        :: (lane || late_lane) -> learn()
        :: !lane && !late_lane && known -> late_lane = true; use()
        fi;
        reach_memory();
        word = false
    od
}

inline wait()
{
    reach_memory();                              /* pt_barrier_all() */
    seen = count;
    (!word || count != seen)
}

active proctype unmapper()
{
    byte seen;

    known = false;
#ifndef WITHOUT_FIRST_WAIT
    wait();
#endif
#ifndef WITHOUT_FORGETTING
    lane = false;
    several = false;
#endif
#ifndef WITHOUT_SECOND_WAIT
    wait();
#endif
    mapped = false
}
