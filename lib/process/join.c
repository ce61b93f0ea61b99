/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See join.h.
 *
 * Gates.  A process that joins a stream sets its own gates, and every controller sets them,
 * too, from the moment at which the table has the process:
 *
 *   controller                          process
 *   1 changes state, closed, filter     1 enters itself into the table
 *   2 fence                             2 fence
 *   3 sets the gates of all             3 loads state, closed, filter, is_successor, epoch
 *     processes in the table            4 sets each gate, if (3) is still the same
 *                                       5 fence, loads them again: other values: back to 3
 *
 * If the controller does not find the process in the table, (3) loads the changed values.  If it
 * finds it, its change is either before (5), and the process sets the gates again, or after (5),
 * and all stores of the process are older than the controller's.  Because of the check in (4) no
 * more than one gate is wrong at any time, also if the process is stopped between two stores.  A
 * STOP and a START between two checks make no difference: the gates are the same as before.
 *
 * A bit that is freed meanwhile has another epoch.  Its last gate may have been set after it was
 * closed: then the process takes the free bit, so that no other stream gets it, closes its gates,
 * and frees it again.
 */
#include <errno.h>
#include <string.h>
#include "process/gates.h"
#include "process/join.h"
#include "shm/liveness.h"

#define MOST_LOOKS 1000u /* only a process that writes random values makes more changes */

/* The values that decide the gates of a bit. */
struct view {
    uint64_t epoch, filter;
    bool is_successor, open;
};

struct heir {
    const struct pt_seg *seg;
    struct pt_page *page;
    unsigned bit;
    bool refused; /* no controller sets the gates: they are open also before a start */
};

static struct view look(const struct heir *heir)
{
    const struct pt_seg_header *h = heir->seg->h;
    struct view v = { .epoch = pt_load_seqcst(&heir->page->epoch[heir->bit]) };

    v.filter = pt_load_seqcst(&h->filter_now);
    v.is_successor = pt_load_seqcst(&h->is_successor) != 0;
    v.open = (heir->refused || pt_state_runs(pt_load_seqcst(&h->state))) &&
             !pt_load_seqcst(&h->closed);
    return v;
}

static bool is_same(const struct heir *heir, const struct view *v)
{
    struct view now = look(heir);

    return now.epoch == v->epoch && now.filter == v->filter &&
           now.is_successor == v->is_successor && now.open == v->open;
}

/* Each event of a refused process looks at the event set of its time (pt_event_writer). */
static enum pt_gate gate_of(const struct heir *heir, const struct view *v,
                            const struct pt_gates *gates, uint32_t id)
{
    if (!v->open)
        return PT_GATE_CLOSED;
    if (heir->refused && id && !v->is_successor)
        return gates->asks ? PT_GATE_ASK : PT_GATE_OPEN;
    return pt_gates_decide(gates, heir->page, heir->bit, id);
}

/* 1: something has changed meanwhile; 0; -EAGAIN. */
static int set_gates(const struct heir *heir, const struct view *v)
{
    struct pt_gates gates;

    pt_gates_init(&gates, heir->seg->h, NULL);
    if (v->open && pt_gates_make_room(&gates, heir->page, heir->bit) < 0)
        return -EAGAIN;
    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        enum pt_gate gate = gate_of(heir, v, &gates, id);

        if (!is_same(heir, v))
            return 1;
        pt_page_set_gate(heir->page, heir->bit, id, gate);
    }
    pt_fence_seqcst();
    return is_same(heir, v) ? 0 : 1;
}

/* 0 or -EAGAIN. */
static int open_gates(const struct heir *heir)
{
    int r = 1;

    for (unsigned i = 0; r == 1 && i < MOST_LOOKS; i++) {
        struct view v = look(heir);

        if (!pt_page_bit_is_of(heir->page, heir->bit, heir->seg->file)) {
            pt_page_clean_bit(heir->page, heir->bit);
            return 0;
        }
        /* At the first turn the gates are still closed, so closed needs no store. */
        if (i == 0 && !v.open)
            return 0;
        r = set_gates(heir, &v);
    }
    return r < 0 ? r : 0;
}

#define PROBES 16u /* of the entries: does one belong to a process that has ended? */
#define ASKS   2u  /* of these by /proc, which takes ten microseconds, where there can be more */

static bool claim(struct pt_proc *p, uint32_t was, uint32_t pid)
{
    return pt_cas_seqcst(&p->pid, &was, pid) || was == pid;
}

/* An entry that has the process already, from another thread of it, or else a free one. */
static struct pt_proc *own_or_free(const struct pt_seg *seg, uint32_t n, uint32_t pid)
{
    struct pt_proc *found = NULL;

    for (uint32_t i = 0; i < n; i++) {
        struct pt_proc *p = pt_seg_proc(seg, i);
        uint32_t was = pt_load_relaxed(&p->pid);

        if (was == pid)
            return p;
        if (was == 0 && !found)
            found = p;
    }
    return found && claim(found, 0, pid) ? found : NULL;
}

/* The start time in an entry is not compared: the entry may be another process's since just now. */
static bool has_ended(uint32_t pid, unsigned *asks)
{
    struct pt_process process;

    if (pt_thread_is_gone((int32_t)pid, (int32_t)pid))
        return true;
    if (*asks == 0)
        return false;
    --*asks;
    return pt_process_look(pid, &process) == 0 && pt_process_has_ended(&process);
}

/* The entry of a process that has ended.  Threads of one process look at the same ones. */
static struct pt_proc *of_ended(const struct pt_seg *seg, uint32_t n, uint32_t pid)
{
    uint32_t most = n < PT_PROC_MAX && n > PROBES ? PROBES : n;
    unsigned asks = n < PT_PROC_MAX ? ASKS : PROBES;

    for (uint32_t k = 0; k < most; k++) {
        struct pt_proc *p = pt_seg_proc(seg, (pid * 2654435761u + k) % n);
        uint32_t was = pt_load_relaxed(&p->pid);

        if ((was == pid || has_ended(was, &asks)) && claim(p, was, pid))
            return p;
    }
    return NULL;
}

/* 0; -EAGAIN: the table is full of processes that live; -ENOMEM: no memory for more of it. */
static int find_entry(struct pt_seg *seg, uint32_t pid, struct pt_proc **entry)
{
    for (unsigned tries = 0; tries < 2 * PT_PROC_MAX; tries++) {
        uint32_t n = pt_seg_proc_count(seg);
        int r;

        *entry = own_or_free(seg, n, pid);
        if (!*entry)
            *entry = of_ended(seg, n, pid);
        if (*entry)
            return 0;
        r = pt_seg_add_proc(seg, n);
        if (r < 0)
            return r;
    }
    return -EAGAIN;
}

int pt_process_register(struct pt_seg *seg, uint32_t pid, uint64_t start, struct pt_page *page,
                        unsigned bit)
{
    struct pt_proc *p;
    int r = find_entry(seg, pid, &p);

    if (r < 0)
        return r;
    pt_store_relaxed(&p->bit, bit);
    pt_store_seqcst(&p->start, start);
    pt_fence_seqcst();
    return open_gates(&(struct heir){ .seg = seg, .page = page, .bit = bit });
}

void pt_process_leaves(const struct pt_seg *seg, uint32_t pid, uint64_t start)
{
    for (uint32_t i = 0; i < pt_seg_proc_count(seg); i++) {
        struct pt_proc *p = pt_seg_proc(seg, i);

        if (pt_load_seqcst(&p->pid) == pid && pt_load_seqcst(&p->start) == start)
            pt_or_seqcst(&p->bit, PT_PROC_LEAVES);
    }
}

#define HEIR_BIT 63ull

static uint64_t key_of(const struct pt_seg *seg)
{
    uint64_t key;

    memcpy(&key, seg->h->id, sizeof key);
    return (key & ~HEIR_BIT) | (HEIR_BIT + 1);
}

static int take_bit(struct pt_page *page, const struct pt_seg *seg)
{
    int bit = pt_page_take_bit(page);

    if (bit >= 0) {
        page->stream[bit].inherited = 1;
        pt_page_set_file(page, (unsigned)bit, seg->file);
    }
    return bit;
}

/* The bit of a stream that is in the list, or -1. */
static int find_heir(const struct pt_page *page, uint64_t key)
{
    for (unsigned i = 0; i < PT_STREAMS; i++) {
        uint64_t heir = pt_load_acquire(&page->heir[i]);

        if ((heir & ~HEIR_BIT) == key)
            return (int)(heir & HEIR_BIT);
    }
    return -1;
}

/* Appends it with a bit of ours, unless another is faster; -1: the list is full. */
static int add_heir(struct pt_page *page, uint64_t key, int bit)
{
    for (unsigned i = 0; i < PT_STREAMS; i++) {
        uint64_t heir = 0;

        if (pt_cas_seqcst(&page->heir[i], &heir, key | (unsigned)bit))
            return bit;
        if ((heir & ~HEIR_BIT) == key)
            return (int)(heir & HEIR_BIT);
    }
    return -1;
}

/* By its numbers of another pid namespace, the threads of the child would be taken for dead. */
static bool is_near(const struct pt_self *child, const struct pt_seg *seg)
{
    return seg->h->pid_ns == child->page->pid_ns;
}

/* A controller has traced the process directly before. */
static bool is_traced(const struct pt_self *child, const struct pt_seg *seg)
{
    for (unsigned i = 0; is_near(child, seg) && seg->file[0] && i < pt_seg_proc_count(seg); i++) {
        const struct pt_proc *p = pt_seg_proc(seg, i);

        if (pt_load_seqcst(&p->pid) == child->pid &&
            pt_is_start(pt_load_seqcst(&p->start), child->start) &&
            pt_page_bit_is_of(child->page, pt_load_relaxed(&p->bit), seg->file))
            return true;
    }
    return false;
}

static int agree_on_bit(struct pt_self *child, const struct pt_seg *seg)
{
    uint64_t key = key_of(seg);
    int bit = find_heir(child->page, key), mine;

    if (bit >= 0 || is_traced(child, seg))
        return bit;
    mine = take_bit(child->page, seg);
    if (mine < 0)
        return -1;
    bit = add_heir(child->page, key, mine);
    if (bit != mine)
        pt_page_give_bit(child->page, (unsigned)mine);
    return bit;
}

/* The stream's table of processes is full, or has numbers of another pid namespace: the child only
 * counts its losses, and no controller changes its gates (pt_event_writer).  False: the gates
 * cannot be set. */
static bool refuse(struct pt_self *child, const struct pt_seg *seg, unsigned bit)
{
    uint32_t no = 0;

    if (pt_cas_seqcst(&child->page->stream[bit].refused, &no, 1u))
        pt_note_refused(&seg->h->refused_procs);
    return open_gates(&(struct heir){ seg, child->page, bit, true }) == 0;
}

static bool enter(const struct pt_self *child, struct pt_seg *seg, unsigned bit)
{
    return is_near(child, seg) &&
           pt_process_register(seg, child->pid, child->start, child->page, bit) == 0;
}

/* A stream that is shut down after the child took the bit and before it is in the table keeps the
 * bit, with its gates closed, as long as the process lives: one for each such stream.  The child
 * does not give it back, since the owner may do so at the same time, and the bit would then be
 * taken from its next stream. */
int pt_join_take(struct pt_self *child, struct pt_seg *seg, bool opened)
{
    uint64_t epoch;
    int bit;

    bit = agree_on_bit(child, seg);
    if (bit < 0)
        return -1;
    epoch = pt_load_seqcst(&child->page->epoch[bit]);
    /* Shut down since, if another thread of ours was much faster. */
    if (!pt_page_bit_is_of(child->page, (unsigned)bit, seg->file))
        return -1;
    if (opened)
        seg->epoch = epoch;
    pt_self_set_segment(child, (unsigned)bit, epoch, seg);
    if (!enter(child, seg, (unsigned)bit) && !refuse(child, seg, (unsigned)bit))
        pt_page_revoke_bit(child->page, (unsigned)bit, epoch);
    return bit;
}
