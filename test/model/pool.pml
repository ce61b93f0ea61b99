/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Chunks that are taken, written, closed, orphaned, adopted, recycled and read; with death between
 * any two steps.  A model of lib/shm/{layout.h,pool.c,slot.c}, lib/writer/writer.c,
 * lib/consumer/{cursor,consumer}.c, for spin to check exhaustively.
 *
 * Threads are processes 0 and 1, each with one writer slot of the same number.
 * Each access to shared memory is a step of its own, except for those that no other process can
 * distinguish; a compare-and-exchange is one step.  The model does not fix which chunk a writer
 * tries next, when it sweeps for dead threads, and when it gives up: the guarantees hold for any
 * order.
 *
 * The clock counts readings, so that the time of an event also names it.  The tables after 'ghost'
 * have the true history; only checks use them.  A record has two halves, both with the event's
 * time.  The watermark is one step here: watermark.pml shows that the real one is equivalent.
 *
 * The processors' store buffers are not modelled: a writer's next step on another's data is always
 * a compare-and-exchange, which empties its buffer, and the stores of a killed thread reach memory.
 *
 * Guarantees, by the names that run.py expects in the message of the checker:
 *   ONE_OWNER   a record is committed to a chunk that is the writer's by its word
 *   WHOLE       a delivered event is one record, with its author and number
 *   ONCE        no event is delivered twice
 *   IN_ORDER    events are delivered by time, those of a writer by number
 *   GAP_REPORTED   the loss is announced before an event that follows lost ones
 *   NOTHING_FORGOTTEN   at the end each committed event was delivered or overwritten; without LOOP
 *               it was delivered
 *   COUNTED     the slot's number of events is what the writer has committed
 *   NO_LEAK     when all threads have ended and were swept, none keeps a chunk or slot
 *
 * -DREAD_AT_END, -DREAD_AFTER_FIRST: the consumer waits until both threads, or
 * the first, are gone.  -DLOOP, -DROOM=records, -DEVENTS0, -DEVENTS1=of each thread, -DDEATHS=0..2 choose the
 * scenario, -DAUDIT replaces the reader by a process that counts all the time; -DWITHOUT_x removes
 * one protection, and a guarantee must fail.
 */
#ifndef CHUNKS
#define CHUNKS 2
#endif
#ifndef ROOM
#define ROOM 2
#endif
#ifndef EVENTS0
#define EVENTS0 2
#endif
#ifndef EVENTS1
#define EVENTS1 2
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#define WRITERS  2
#define CONSUMER WRITERS   /* as one who ends the slots of the dead */
#define NONE     255
#define TIMES    (EVENTS0 + EVENTS1 + 1)

/* states of a chunk, lowest bits of its word */
#define FREE   0
#define OWNED  1
#define FULL   2
#define ORPHAN 3
#define WORD(state, slot, g) ((state) | (slot) << 2 | (g) << 4)
#define STATE(w) ((w) & 3)
#define SLOT(w)  ((w) >> 2 & 3)
#define GEN(w)   ((w) >> 4)

/* states of a slot */
#define LIVE   0
#define ENDING 1
#define ENDED  2

/* A record's halves: the time of an event, or the writer that continues here, and its number. */
#define AUTHOR(w, no) (128 | (w) << 4 | (no))
#define IS_AUTHOR(r)  ((r) >= 128)
#define AUTHOR_OF(r)  ((r) >> 4 & 3)
#define NUMBER_OF(r)  ((r) & 15)
#define AT(i, p) ((i) * ROOM + (p))

short word[CHUNKS];
byte gen[CHUNKS], pos[CHUNKS], count[CHUNKS];
byte first_no[CHUNKS], author[CHUNKS], last_ts[CHUNKS];
byte consumed_gen[CHUNKS], consumed[CHUNKS];
byte head[CHUNKS * ROOM], tail[CHUNKS * ROOM];

byte slot_state[WRITERS], ender[WRITERS], slot_chunk[WRITERS], slot_next[WRITERS];
short slot_base[WRITERS];
bool inside[WRITERS];
byte entered[WRITERS];

byte next_gen = 1, clock, lost_last;
bool alive[WRITERS] = true, killed[WRITERS];

/* Never true: they put the name of the guarantee into the checker's message. */
hidden byte ONE_OWNER, WHOLE, ONCE, IN_ORDER, GAP_REPORTED, NOTHING_FORGOTTEN, COUNTED, NO_LEAK;

/* ghost */
#define COMMITTED   1
#define DELIVERED   2
#define PASSED_OVER 3   /* older than what was overwritten */
#define OVERWRITTEN 4
byte fate[TIMES], by[TIMES], number[TIMES], committed[WRITERS];

/* Steps that only death, or the auditor, can distinguish. */
#if DEATHS > 0 || defined(AUDIT)
#define TOGETHER
#else
#define TOGETHER d_step
#endif

/* Orphans a chunk when its slot ends: pt_pool_orphan.  One step: only the process that ends the
 * slot changes a chunk that the slot owns. */
inline orphan(i, v)
{
    d_step {
        x = word[i];
        if
        :: STATE(x) == OWNED && SLOT(x) == v && gen[i] != GEN(x) -> word[i] = WORD(FREE, 0, GEN(x))
        :: STATE(x) == OWNED && SLOT(x) == v && gen[i] == GEN(x) ->
            y = 0; k = 0;
            do
            :: k < pos[i] ->
                if :: !IS_AUTHOR(head[AT(i, k)]) -> y = head[AT(i, k)] :: else fi;
                k++
            :: else -> break
            od;
            last_ts[i] = y; k = 0; y = 0;
            word[i] = WORD(ORPHAN, v, GEN(x))
        :: else
        fi;
        x = 0
    }
}

#ifdef WITHOUT_TAKING_OVER
#define ENDABLE(v) (slot_state[v] == LIVE)
#else
#define ENDABLE(v) \
    (slot_state[v] == LIVE || \
     (slot_state[v] == ENDING && ender[v] != CONSUMER && !alive[ender[v]]))
#endif

/* Ends the slot of v: pt_slot_detach.  The process may die in any step; the next one starts
 * again. */
inline detach(v, me)
{
    if
    :: atomic { ENDABLE(v) -> slot_state[v] = ENDING; ender[v] = me };
        c = slot_chunk[v];
#ifdef WITHOUT_COUNT_FIRST
        if :: c > 0 -> y = slot_base[v] + count[c - 1] :: else fi;
#else
        if
        :: c > 0 ->
            slot_next[v] = slot_base[v] + count[c - 1];
            slot_chunk[v] = 0
        :: else
        fi;
#endif
        orphan(0, v);
        orphan(1, v);
#if CHUNKS > 2
        orphan(2, v);
#endif
#ifdef WITHOUT_COUNT_FIRST
        if
        :: c > 0 ->
            slot_next[v] = slot_base[v] + count[c - 1];
            slot_chunk[v] = 0
        :: else
        fi;
#endif
        c = 0;
        inside[v] = false;
        slot_state[v] = ENDED
    :: else
    fi
}

inline sweep(me)
{
    s = 0;
    do
    :: s < WRITERS ->
        if :: !alive[s] -> detach(s, me) :: else fi;
        s++
    :: else -> break
    od;
    s = 0
}

/* pt_pool_take's init_chunk: the word is ours, what the chunk holds is old. */
inline init_chunk(i, w, g)
{
#ifdef WITHOUT_GENERATION_LAST
    gen[i] = g;
#endif
    d_step { pos[i] = 0; count[i] = 0; consumed_gen[i] = g; consumed[i] = 0 }
    d_step { first_no[i] = slot_next[w]; author[i] = w; last_ts[i] = 0 }
#ifndef WITHOUT_GENERATION_LAST
    gen[i] = g
#endif
}

/* Announces a loss before the events are overwritten: announce_loss. */
inline announce(i)
{
    d_step {
        y = 0; k = (consumed_gen[i] == GEN(x) -> consumed[i] : 0);
        do
        :: gen[i] == GEN(x) && k < pos[i] ->
            if :: !IS_AUTHOR(head[AT(i, k)]) -> y = 1 :: else fi;
            k++
        :: else -> break
        od;
        if :: y && last_ts[i] > lost_last -> lost_last = last_ts[i] :: else fi;
        k = 0; y = 0
    }
}

inline ghost_overwritten(i)
{
    k = 0;
    do
    :: k < pos[i] && gen[i] == GEN(x) ->
        if
        :: !IS_AUTHOR(head[AT(i, k)]) && fate[head[AT(i, k)]] == COMMITTED ->
            fate[head[AT(i, k)]] = OVERWRITTEN
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

#ifdef WITHOUT_NEW_GENERATION
#define NEW_GEN GEN(x)
#else
#define NEW_GEN next_gen
#endif

/* A free chunk is as good as another.  Which of several that hold events is
 * taken is left open: the guarantees must not depend on it. */
#define IS(i, state) (STATE(word[i]) == state)
#if CHUNKS > 2
#define ANY(state) (IS(0, state) || IS(1, state) || IS(2, state))
#else
#define ANY(state) (IS(0, state) || IS(1, state))
#endif
#define FIRST_FREE(i) (IS(i, FREE) && !((i) > 0 && IS(0, FREE)) && !((i) > 1 && IS(1, FREE)))
#if defined(LOOP) && defined(WITHOUT_RESPECT)
#define MAY_TAKE(i) (FIRST_FREE(i) || (!ANY(FREE) && SLOT(word[i]) != w))
#define NOTHING_TO_TAKE false
#elif defined(LOOP)
#define MAY_TAKE(i) (FIRST_FREE(i) || IS(i, ORPHAN) || (!ANY(FREE) && IS(i, FULL)))
#define NOTHING_TO_TAKE (!ANY(FREE) && !ANY(ORPHAN) && !ANY(FULL))
#else
#define MAY_TAKE(i) (FIRST_FREE(i) || IS(i, ORPHAN))
#define NOTHING_TO_TAKE (!ANY(FREE) && !ANY(ORPHAN))
#endif

/* An empty chunk, a dead writer's, or (LOOP) one that holds events.  lane stays
 * NONE if there is none to be had. */
inline take(w)
{
    do
    :: lane == NONE ->
        if
        :: atomic { MAY_TAKE(0) -> i = 0; x = word[0] }
        :: atomic { MAY_TAKE(1) -> i = 1; x = word[1] }
#if CHUNKS > 2
        :: atomic { MAY_TAKE(2) -> i = 2; x = word[2] }
#endif
        :: atomic { NOTHING_TO_TAKE -> i = NONE }
        fi;
        if
        :: i == NONE ->
            sweep(w);
            if :: NOTHING_TO_TAKE -> break :: else fi
        :: i != NONE && STATE(x) == FREE ->
#ifdef WITHOUT_EXCHANGE
            d_step { word[i] = WORD(OWNED, w, next_gen); g = next_gen; next_gen++; lane = i }
#else
            d_step {
                if
                :: word[i] == x ->
                    word[i] = WORD(OWNED, w, next_gen); g = next_gen; next_gen++; lane = i
                :: else
                fi
            }
#endif
            if
            :: lane == i -> init_chunk(i, w, g); d_step { g = 0; p = 0; n = 0 }
            :: else
            fi
        :: i != NONE && STATE(x) == ORPHAN ->
            d_step { y = pos[i]; k = gen[i] }
            d_step {
                if
                :: word[i] == x && k == GEN(x) && ROOM - y >= 2 ->
                    word[i] = WORD(OWNED, w, GEN(x)); lane = i
                :: word[i] == x && !(k == GEN(x) && ROOM - y >= 2) ->
                    word[i] = WORD(FULL, SLOT(x), GEN(x))
                :: else
                fi;
                k = 0; y = 0
            }
            if
            :: lane == i ->
                d_step { p = pos[i]; n = count[i] }
                head[AT(i, p)] = AUTHOR(w, slot_next[w]);
                tail[AT(i, p)] = AUTHOR(w, slot_next[w]);
                d_step { p++; pos[i] = p }
            :: else
            fi
#ifdef LOOP
        :: i != NONE && STATE(x) != FREE ->
#ifndef WITHOUT_ANNOUNCEMENT
            announce(i);
#endif
            d_step {
                if
                :: word[i] == x ->
                    ghost_overwritten(i);
                    g = NEW_GEN; next_gen++; word[i] = WORD(OWNED, w, g); lane = i
                :: else
                fi
            }
            if
            :: lane == i ->
#ifdef WITHOUT_ANNOUNCEMENT
                announce(i);
#endif
                init_chunk(i, w, g); d_step { g = 0; p = 0; n = 0 }
            :: else
            fi
#endif
        fi
    :: lane != NONE -> break
    od;
    x = 0; i = 0;
    if
    :: lane != NONE -> TOGETHER { slot_base[w] = slot_next[w] - n; slot_chunk[w] = lane + 1 }
    :: else
    fi
}

/* pt_writer_close_chunk */
inline close_chunk(w)
{
    if
    :: lane != NONE ->
        TOGETHER {
#ifdef WITHOUT_COUNT_FIRST
            slot_chunk[w] = 0;
            slot_next[w] = slot_base[w] + n;
#else
            slot_next[w] = slot_base[w] + n;
            slot_chunk[w] = 0;
#endif
            last_ts[lane] = last
        }
        d_step {
            x = word[lane];
            if
            :: STATE(x) == OWNED && SLOT(x) == w -> word[lane] = WORD(FULL, w, GEN(x))
            :: else
            fi;
            lane = NONE; p = 0; n = 0; x = 0
        }
    :: else
    fi
}

inline write_event(w)
{
    d_step { inside[w] = true; entered[w] = clock }
    if
    :: lane == NONE || p == ROOM -> close_chunk(w); take(w)
    :: else
    fi;
    if
    :: lane != NONE ->
        d_step {
            clock++; last = clock; by[last] = w; number[last] = committed[w];
            head[AT(lane, p)] = last
        }
#ifndef WITHOUT_COMMIT_LAST
        tail[AT(lane, p)] = last;
#endif
        d_step {
            assert(ONE_OWNER || (STATE(word[lane]) == OWNED && SLOT(word[lane]) == w));
            fate[last] = COMMITTED; committed[w]++;
            p++; n++; pos[lane] = p; count[lane] = n
        }
#ifdef WITHOUT_COMMIT_LAST
        tail[AT(lane, p - 1)] = last
#endif
    :: else
    fi;
    inside[w] = false
}

proctype thread(byte w)
{
    byte lane = NONE, p, n, last, made, i, k, s, c, g;
    short x, y;

    {
        do
        :: made < (w == 0 -> EVENTS0 : EVENTS1) -> made++; write_event(w)
        :: else -> break
        od;
        detach(w, w)
    } unless { killed[w] };
    alive[w] = false
}

#if DEATHS > 0
active proctype death()
{
    if :: killed[0] = true :: skip fi;
#if DEATHS > 1
    if :: killed[1] = true :: skip fi
#endif
}
#endif

#ifdef AUDIT
/* pt_slot_recorded while the writer records: right for some moment in between. */
active proctype auditor()
{
    byte at, low, sum;
    short base;

end:
    do
    :: d_step { low = committed[0]; at = slot_chunk[0] }
        if
        :: at == 0 -> sum = slot_next[0]
        :: else ->
            base = slot_base[0];
            sum = base + count[at - 1];
            if :: slot_chunk[0] != at -> at = 255 :: else fi;
#ifndef WITHOUT_SECOND_LOOK
            if :: at != 255 && slot_base[0] != base -> at = 255 :: else fi
#endif
        fi;
        d_step {
            assert(COUNTED || (at == 255 || (sum >= low && sum <= committed[0])));
            at = 0; low = 0; sum = 0; base = 0
        }
    od
}

#else

/* The consumer's cursors, one a chunk. */
typedef cursor { bool known, queued; byte gen, off, limit, no, author, ts }
cursor cur[CHUNKS];
byte seen_no[WRITERS];   /* the number after the last one delivered */

#define STILL_THERE(i) (GEN(word[i]) == cur[i].gen)
#define FORGET(i) cur[i].known = false; cur[i].queued = false; cur[i].gen = 0; cur[i].off = 0; \
                  cur[i].limit = 0; cur[i].no = 0; cur[i].author = 0; cur[i].ts = 0

/* pt_cursor_decode: queued if there is an event, forgotten if it was overwritten. */
inline decode(i)
{
    d_step {
        r = 0;
        do
        :: cur[i].off < cur[i].limit && IS_AUTHOR(head[AT(i, cur[i].off)]) ->
            r = tail[AT(i, cur[i].off)];
            cur[i].author = AUTHOR_OF(r); cur[i].no = NUMBER_OF(r); cur[i].off++; r = 0
        :: cur[i].off < cur[i].limit && !IS_AUTHOR(head[AT(i, cur[i].off)]) ->
            r = head[AT(i, cur[i].off)];
            break
        :: else -> break
        od;
        cur[i].queued = false
    }
    d_step {
        if
        :: !STILL_THERE(i) -> FORGET(i)
        :: STILL_THERE(i) && r != 0 -> cur[i].queued = true; cur[i].ts = r
        :: else
        fi;
        r = 0
    }
    if
    :: cur[i].known && !cur[i].queued -> retire(i)
    :: else
    fi
}

/* What a free chunk holds means nothing; to set it to 0 makes fewer states. */
#define EMPTY(i) \
    k = 0; \
    do \
    :: k < ROOM -> head[AT(i, k)] = 0; tail[AT(i, k)] = 0; k++ \
    :: else -> break \
    od; \
    k = 0; first_no[i] = 0; author[i] = 0; last_ts[i] = 0; consumed_gen[i] = 0; \
    consumed[i] = 0; pos[i] = 0; count[i] = 0

/* Gives a chunk back that is full and read to its end: pt_cursor_retire. */
inline retire(i)
{
    d_step {
        x = word[i];
        if
        :: GEN(x) != cur[i].gen -> FORGET(i)
        :: GEN(x) == cur[i].gen && STATE(x) == FULL && pos[i] == cur[i].off ->
            word[i] = WORD(FREE, 0, GEN(x));
            EMPTY(i);
            FORGET(i)
        :: else
        fi;
        x = 0
    }
}

/* look_at_chunk.  A cursor that waits for its turn in a chunk that was taken
 * away is forgotten here; the real one finds that out when its turn comes. */
inline look_at_chunk(i)
{
    d_step {
        x = word[i];
        if :: cur[i].known && cur[i].gen != GEN(x) -> FORGET(i) :: else fi;
        if
        :: STATE(x) != FREE && !cur[i].known && gen[i] == GEN(x) ->
            cur[i].no = first_no[i]; cur[i].author = author[i];
            cur[i].gen = GEN(x); cur[i].known = true
        :: else
        fi;
        if :: cur[i].known -> cur[i].limit = pos[i] :: else fi;
        x = 0
    }
    if :: cur[i].known && !cur[i].queued -> decode(i) :: else fi
}

inline deliver(i)
{
    d_step {
        assert(WHOLE || (r == cur[i].ts && by[r] == cur[i].author && number[r] == cur[i].no));
        assert(ONCE || (fate[r] == COMMITTED));
        assert(IN_ORDER || (r > delivered && cur[i].no >= seen_no[cur[i].author]));
        k = delivered + 1;
        do
        :: k < r ->
            assert(GAP_REPORTED || (fate[k] == 0 || fate[k] == COMMITTED || lost_seen >= k));
            k++
        :: else -> break
        od;
        k = 0;
        fate[r] = DELIVERED; delivered = r; seen_no[cur[i].author] = cur[i].no + 1
    }
}

#ifdef WITHOUT_RECHECK
#define RECHECK(i) (true)
#else
#define RECHECK(i) (STILL_THERE(i))
#endif

/* take_top: the record of cursor i, which is the oldest. */
inline take_top(i)
{
    lost_seen = lost_last;
    if
    :: cur[i].ts <= lost_seen ->
        d_step {
            if
            :: STILL_THERE(i) && fate[cur[i].ts] == COMMITTED -> fate[cur[i].ts] = PASSED_OVER
            :: else
            fi
        }
        step_on(i)
    :: else ->
        r = tail[AT(i, cur[i].off)];
        if
        :: atomic { RECHECK(i) -> deliver(i); r = 0 }; step_on(i)
        :: atomic { !RECHECK(i) -> FORGET(i); r = 0 }
        fi
    fi
}

/* pt_cursor_consume, then the next record. */
inline step_on(i)
{
    d_step { cur[i].off++; cur[i].no++; consumed_gen[i] = cur[i].gen; consumed[i] = cur[i].off }
    decode(i)
}

inline check_all()
{
    d_step {
        k = 1;
        do
        :: k < TIMES ->
            assert(NOTHING_FORGOTTEN || (fate[k] != COMMITTED));
#ifndef LOOP
            assert(NOTHING_FORGOTTEN || (fate[k] == 0 || fate[k] == DELIVERED));
#endif
            k++
        :: else -> break
        od;
        k = 0;
        do
        :: k < WRITERS ->
            assert(NO_LEAK || (slot_state[k] == ENDED && slot_chunk[k] == 0));
            assert(COUNTED || (slot_next[k] == committed[k]));
            k++
        :: else -> break
        od;
        k = 0;
        do
        :: k < CHUNKS -> assert(NO_LEAK || (STATE(word[k]) != OWNED)); k++
        :: else -> break
        od;
        k = 0
    }
}

active proctype consumer()
{
    byte i, k, s, c, r, mark, delivered, lost_seen;
    bool last;
    short x, y;

    do
    :: last = !alive[0] && !alive[1];
#ifdef READ_AT_END
        if :: !last -> !alive[0] && !alive[1]; last = true :: else fi;
#elif defined(READ_AFTER_FIRST)
        !alive[0];
#endif
#ifndef WITHOUT_SWEEP
        if :: last -> sweep(CONSUMER) :: else fi;
#endif
        d_step {
            mark = clock + 1; k = 0;
            do
            :: k < WRITERS ->
                if
                :: inside[k] && alive[k] && entered[k] + 1 < mark -> mark = entered[k] + 1
                :: else
                fi;
                k++
            :: else -> break
            od;
            k = 0
        }
        i = 0;
        do
        :: i < CHUNKS -> look_at_chunk(i); i++
        :: else -> break
        od;
        do
        :: i = NONE;
           d_step {
               k = 0;
               do
               :: k < CHUNKS ->
                   if
                   :: cur[k].queued && cur[k].ts < mark ->
                       if
                       :: i == NONE -> i = k
                       :: i != NONE -> if :: cur[k].ts < cur[i].ts -> i = k :: else fi
                       fi
                   :: else
                   fi;
                   k++
               :: else -> break
               od;
               k = 0
           }
            if
            :: i != NONE -> take_top(i)
            :: else -> break
            fi
        od;
        mark = 0; i = 0;
        if :: last -> break :: else fi
    od;
    skip;
    check_all()
}
#endif

init
{
    atomic {
        run thread(0);
#if EVENTS1 > 0
        run thread(1)
#else
        alive[1] = false; slot_state[1] = ENDED
#endif
    }
}
