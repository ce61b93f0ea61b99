/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The ready path of an event in several streams (lib/writer/event_multi.c): it copies the members
 * of the lanes that it needs, and checks neither chunk nor room, up to the event whose count is
 * ready_until.  A model of one thread and its signal handlers, which run between any two steps of
 * the thread.
 *
 * Events of type A use lane 0, events of type B lanes 0 and 1.  A handler's event uses the
 * same lanes while the thread is outside (word is 0), others while it is inside.  A handler may
 * leave by siglongjmp: then the interrupted event ends half-way, and the next one takes the slow
 * path.
 *
 * Guarantee, by the name that run.py expects:
 *   ROOM     a record is written into the lane's chunk, after the previous one, at the place of its
 *            count, and ends in the chunk
 *
 * -DEVENTS=of the thread, -DHANDLED=of its handlers; -DWITHOUT_x takes one protection away.
 */
#ifndef EVENTS
#define EVENTS 5
#endif
#ifndef HANDLED
#define HANDLED 3
#endif
#define ROOM_FOR 3          /* records in a chunk */

/* Never true: it puts the name of the guarantee into the checker's message. */
hidden byte ROOM;

byte count;                 /* events of level 0 */
bool word;                  /* inside */
byte chunk[2], used[2];     /* of the lanes */
byte ready_chunk[2];        /* the copies */
byte ready_used[2];         /* records there were, for an event with count ready_from + 1 */
byte ready_from;
byte several_count, ready_until;
bool over;

inline put(lane)
{
    if
    :: used[lane] == ROOM_FOR -> chunk[lane]++; used[lane] = 0
    :: else
    fi;
    used[lane]++
}

inline put_ready(lane, n)
{
    assert(ROOM || (ready_chunk[lane] == chunk[lane] && used[lane] < ROOM_FOR &&
                    used[lane] == ready_used[lane] + n - ready_from - 1));
    used[lane]++
}

inline make_ready(n)
{
    ready_chunk[0] = chunk[0];
    ready_chunk[1] = chunk[1];
    ready_used[0] = used[0];
    ready_used[1] = used[1];
    ready_from = n;
    if
    :: used[0] > used[1] -> ready_until = n + ROOM_FOR - used[0]
    :: else -> ready_until = n + ROOM_FOR - used[1]
    fi
}

inline put_rest(n)
{
    put(0);
    put(1);
    ready_until = 0;
    if
    :: n == several_count + 1 -> make_ready(n)
    :: else
    fi;
    several_count = n
}

/* A handler's event as a whole; it returns, so that the thread notices nothing. */
active proctype handlers()
{
    byte made;

end:
    do
    :: atomic { made < HANDLED && !over && !word ->
        made++;
        count++;
        if
        :: put(0)
        :: count <= ready_until && count == several_count + 1 ->
            put_ready(0, count);
            put_ready(1, count);
            several_count = count
        :: !(count <= ready_until && count == several_count + 1) -> put_rest(count)
        fi }
    od
}

active proctype thread()
{
    byte made, mine;
    bool both, slow;

    do
    :: made == EVENTS -> break
    :: made < EVENTS ->
        made++;
        if :: both = true :: both = false fi;
        slow = word;
#ifdef WITHOUT_WORD_FIRST
#ifdef WITHOUT_ONE_INSTRUCTION
        mine = count;
        count = mine + 1;
        word = true;
#else
        count++;
        word = true;
        mine = count;
#endif
#else
        word = true;
        count++;
        mine = count;
#endif
        if
        :: goto left            /* a handler jumps out */
        :: slow && !both -> put(0)
        :: slow && both -> put(0); put(1)
        :: !slow && !both -> put(0)
        :: !slow && both && mine <= ready_until && mine == several_count + 1 ->
            put_ready(0, mine);
            if :: goto left :: true fi;
            put_ready(1, mine);
            several_count = count
        :: !slow && both && !(mine <= ready_until && mine == several_count + 1) ->
            put_rest(mine)
        fi;
        word = false;
left:
        mine = 0
    od;
    over = true
}
