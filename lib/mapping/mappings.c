/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See mappings.h. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "base/brief_files.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "page/mapping_list.h"
#include "mapping/mapping_scan.h"
#include "mapping/mappings.h"
#include "process/self.h"

enum { OBJECTS = 1024, PAGES = 512, FULL = PAGES, PAGE_SHIFT = 12, EAGER = 64 };

struct object {
    uintptr_t begin, end;
    uint32_t id; /* of its text */
    bool seen, is_new;
};

/* Of the process that has the lock. */
static struct {
    const struct pt_names *names; /* the map that has them; NULL: none */
    uint64_t instance;            /* of the process that has added them last: process/self.h */
    uint32_t pid;                 /* its number */
    int64_t ns;                   /* when */
    unsigned count;
    uint32_t vain; /* times that an address was looked up and not found */
    struct object object[OBJECTS];
    struct pt_mapping_scan scan;
    char line[PT_MAPPING_MAX + 1];
    size_t length;
    int64_t noted; /* when the address was, before the thread had the state */
    bool again;    /* some mappings may have gone since the last look */
    int64_t now;
    enum pt_mapping_room room; /* of the line */
    unsigned lines;            /* that were added */
    int error;                 /* of the first that was not, or of an object's text */
    uint64_t unknown;          /* the instance that has a line that nothing is known of it */
} state;

#define PAGE_BYTES ((PAGES + 1) * sizeof(uint64_t))
static uint64_t holder;    /* the instance of the process that has the state, or 0 */
static uint64_t *pages;    /* PAGES numbers of pages with known addresses, FULL; wiped by fork */
static uint32_t changes;   /* how often some may have gone */
static uint64_t changed;   /* when that was last, in ns */
static uint32_t looked_at; /* changes that were looked at; under the lock */

/* Each address is to be looked up again. */
static void forget_pages(void)
{
    uint64_t *p = pt_load_relaxed(&pages);

    for (unsigned i = 0; p && i < PAGES; i++)
        pt_store_relaxed(&p[i], (uint64_t)0);
}

/* ---- lines ---- */

static void put(const char *text, size_t length)
{
    if (length > PT_MAPPING_MAX - state.length)
        length = PT_MAPPING_MAX - state.length;
    memcpy(state.line + state.length, text, length);
    state.length += length;
}

static void put_number(uint64_t number, unsigned base, char end)
{
    char digits[24], *p = digits + sizeof digits;

    *--p = end;
    do
        *--p = "0123456789abcdef"[number % base];
    while (number /= base);
    put(p, (size_t)(digits + sizeof digits - p));
}

static void end_line(struct pt_self *self)
{
    uint32_t id;
    int r;

    if (state.length == 0)
        return;
    r = pt_mapping_list_add(self->names, state.room, state.line, state.length - 1, &id);
    if (r < 0 && state.error == 0)
        state.error = r;
    state.lines += r == 0;
    state.length = 0;
}

/* Begins a line of that kind, unless one is there with room for one more number. */
static void begin_line(struct pt_self *self, char kind)
{
    const char start[2] = { kind, ' ' };

    if (state.length > PT_MAPPING_MAX - 64)
        end_line(self);
    if (state.length > 0)
        return;
    state.room = kind == '-' ? PT_MAPPING_NO_MORE : PT_MAPPING_NEW;
    put(start, sizeof start);
    put_number(self->pid, 10, ' ');
    put_number((uint64_t)state.now, 10, ' ');
}

/* ---- what has changed ---- */

/* The number of the object's text. */
static uint32_t text_of(struct pt_self *self, const struct pt_mapped_object *o)
{
    uint32_t id;
    int r = 0;

    state.length = 0;
    put("o ", 2);
    for (unsigned i = 0; i < o->build_id_length; i++) {
        put(&"0123456789abcdef"[o->build_id[i] >> 4], 1);
        put(&"0123456789abcdef"[o->build_id[i] & 15], 1);
    }
    put("- ", o->build_id_length ? 0 : 1);
    put(" ", 1);
    put(o->path, o->path_length);
    id = pt_mapping_list_find(self->names, state.line, state.length);
    if (id == 0)
        r = pt_mapping_list_add(self->names, PT_MAPPING_NEW, state.line, state.length, &id);
    if (r < 0 && state.error == 0)
        state.error = r;
    state.length = 0;
    return id;
}

static void visit(void *context, const struct pt_mapped_object *o)
{
    struct object *have = NULL;
    uint32_t id = text_of(context, o);

    for (unsigned i = 0; i < state.count && !have; i++)
        if (state.object[i].begin == o->begin && state.object[i].end == o->end &&
            state.object[i].id == id)
            have = &state.object[i];
    if (!have && state.count < OBJECTS && id) {
        have = &state.object[state.count++];
        *have = (struct object){ .begin = o->begin, .end = o->end, .id = id, .is_new = true };
    }
    if (have)
        have->seen = true;
}

static void put_gone(struct pt_self *self)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < state.count; i++) {
        if (state.object[i].seen) {
            state.object[kept++] = state.object[i];
            continue;
        }
        begin_line(self, '-');
        put_number(state.object[i].begin, 16, ' ');
    }
    state.count = kept;
    end_line(self);
}

/* whole: the line says that the process has these and no others. */
static void put_new(struct pt_self *self, bool whole)
{
    for (unsigned i = 0; i < state.count; i++) {
        const struct object *o = &state.object[i];

        if (!o->is_new)
            continue;
        if (state.length > PT_MAPPING_MAX - 64)
            whole = false;
        begin_line(self, whole ? '=' : '+');
        put_number(o->begin, 16, '-');
        put_number(o->end, 16, ':');
        put_number(o->id, 10, ' ');
    }
    end_line(self);
}

/*
 * If mappings have gone since the last look, what was found is so from that time on, unless the
 * clock has been set back: no call has been noted between, and those in the old library are before
 * it.  Else it is so from the time on at which this thread noted its address: others may have
 * recorded calls in a new library since, which found the state in use.  That time would be too late
 * where a library is in the place of another: the times of events follow another clock, and are
 * some microseconds apart from it.
 */
static int64_t time_of_look(void)
{
    int64_t at = (int64_t)pt_load_acquire(&changed);

    if ((state.again || at > state.noted) && at <= (int64_t)pt_clock_ns(CLOCK_REALTIME))
        return at;
    return state.noted;
}

/*
 * From now on nothing is known of this process: what the list has of its number is that of an image
 * before, or of another process.  In a list with no room for that, of no process.
 */
static int put_unknown(struct pt_self *self)
{
    if (state.unknown == self->instance)
        return 0;
    state.error = 0;
    state.length = 0;
    if (pt_mapping_list_has(self->names, self->pid)) {
        begin_line(self, '=');
        state.room = PT_MAPPING_NO_MORE;
        end_line(self);
    }
    if (state.error == -ENOSPC) {
        state.error = 0;
        state.room = PT_MAPPING_LAST;
        put("! ", 2);
        put_number((uint64_t)state.now, 10, ' ');
        end_line(self);
    }
    if (state.error == -ENOSPC) /* there is one */
        state.error = 0;
    if (state.error == 0)
        state.unknown = self->instance;
    return state.error;
}

/* The list does not say what the process has.  If it is full, nothing more is noted. */
static void give_up(struct pt_self *self, int error)
{
    state.names = NULL;
    forget_pages();
    if (put_unknown(self) == 0 && error == -ENOSPC)
        pt_store_relaxed(&pages[FULL], (uint64_t)1);
}

/* In a list that is full, libraries that are new have no names, and those that are gone are noted
 * still. */
static void put_changes(struct pt_self *self, bool whole)
{
    int error = state.error;

    state.lines = 0;
    state.error = 0;
    put_gone(self);
    if (state.error < 0) {
        give_up(self, state.error);
        return;
    }
    put_new(self, whole);
    error = error ? error : state.error;
    if (whole && state.lines > 0)
        state.unknown = 0;
    if ((whole && state.lines == 0) || (error < 0 && error != -ENOSPC))
        give_up(self, error);
}

/* They may not be readable, as without a descriptor. */
static void read_again(struct pt_self *self)
{
    bool whole = state.names == NULL;

    if (whole)
        state.count = 0;
    for (unsigned i = 0; i < state.count; i++)
        state.object[i].seen = state.object[i].is_new = false;
    state.names = self->names;
    state.scan.visit = visit;
    state.scan.context = self;
    state.error = 0;
    if (!pt_mapping_scan(&state.scan)) {
        give_up(self, 0);
        return;
    }
    state.now = time_of_look();
    put_changes(self, whole);
    state.ns = state.now;
}

/* A forked child has the mappings of its parent, as of the time when they were last read. */
static void put_parent(struct pt_self *self)
{
    state.error = 0;
    state.length = 0;
    begin_line(self, '<');
    put_number(state.pid, 10, ' ');
    put_number((uint64_t)state.ns, 10, ' ');
    end_line(self);
    if (state.error < 0)
        give_up(self, state.error);
}

/* ---- addresses ---- */

static bool is_in(uintptr_t address)
{
    for (unsigned i = 0; i < state.count; i++)
        if (address - state.object[i].begin < state.object[i].end - state.object[i].begin)
            return true;
    return false;
}

/* After many vain attempts, as for code that the program makes itself, only some read again. */
static bool is_due(void)
{
    return state.vain < EAGER || (state.vain & (state.vain - 1)) == 0;
}

/* The state is that of this image of this process, or of the parent of a forked child. */
static void adopt(struct pt_self *self)
{
    if (state.names && state.names != self->names) {
        state.names = NULL;
        state.vain = 0;
    }
    state.now = state.noted;
    if (state.names && state.instance != self->instance)
        put_parent(self);
    state.instance = self->instance;
    state.pid = self->pid;
    if (!state.names && pt_mapping_list_is_full(self->names))
        give_up(self, -ENOSPC);
}

/* False: to be tried again with the next call. */
static bool look(struct pt_self *self, uintptr_t address)
{
    uint32_t now = pt_load_acquire(&changes);
    bool again = now != looked_at;

    adopt(self);
    if (pt_load_relaxed(&pages[FULL]) || (state.names && !again && is_in(address)))
        return true;
    looked_at = now;
    state.again = again;
    if (again || is_due())
        read_again(self);
    state.vain += !state.names || !is_in(address);
    return state.names || pt_load_relaxed(&pages[FULL]);
}

/* In a forked child, where a thread of the parent was changing the state. */
static void forget(void)
{
    pt_mapping_scan_abandon(&state.scan);
    state.names = NULL;
    state.vain = 0;
    state.length = 0;
}

/* False: another thread has it, or the caller interrupted its own. */
static bool take_state(uint64_t instance)
{
    uint64_t was = 0;

    if (pt_cas_seqcst(&holder, &was, instance))
        return true;
    if (was == instance || !pt_cas_seqcst(&holder, &was, instance))
        return false;
    forget();
    return true;
}

static void after_fork_in_child(void)
{
    if (pt_load_relaxed(&holder)) {
        forget();
        pt_store_release(&holder, (uint64_t)0);
    }
}

__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

static uint64_t *page_of(uintptr_t address)
{
    uint64_t *p = pt_load_relaxed(&pages), *none = NULL;

    if (pt_unlikely(!p)) {
        p = pt_sys_wiped_pages(PAGE_BYTES);
        if (!p)
            return NULL;
        if (!pt_cas_seqcst(&pages, &none, p)) {
            munmap(p, PAGE_BYTES);
            p = none;
        }
    }
    return &p[(address >> PAGE_SHIFT) * 0x9e3779b97f4a7c15ull >> 55];
}

static PT_COLD void note(uintptr_t address)
{
    struct pt_self *self = pt_self_get();
    uint64_t *page = page_of(address);
    sigset_t before;
    uint32_t seen;
    int64_t now;
    bool known;
    int cancel;

    if (!self || !page || pt_load_relaxed(&self->page->gates[0]) == 0)
        return;
    pt_thread_hold_signals(&before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    now = (int64_t)pt_clock_ns(CLOCK_REALTIME);
    if (take_state(self->instance)) {
        state.noted = now;
        pt_brief_files_enter();
        known = look(self, address);
        pt_brief_files_leave();
        seen = looked_at;
        pt_store_release(&holder, (uint64_t)0);
        if (known)
            pt_store_seqcst(page, (uint64_t)(address >> PAGE_SHIFT));
        /* pt_mappings_changed() may have emptied the table before the store. */
        if (known && pt_load_seqcst(&changes) != seen)
            pt_store_relaxed(page, (uint64_t)0);
    }
    pthread_setcancelstate(cancel, NULL);
    pt_thread_let_signals(&before);
}

void pt_mappings_note(uintptr_t address)
{
    const uint64_t *p = pt_load_relaxed(&pages);
    int saved;

    if (pt_likely(p && pt_load_relaxed(&p[(address >> PAGE_SHIFT) * 0x9e3779b97f4a7c15ull >> 55]) ==
                           address >> PAGE_SHIFT))
        return;
    if (p && pt_load_relaxed(&p[FULL]))
        return;
    saved = errno;
    note(address);
    errno = saved;
}

void pt_mappings_changed(void)
{
    pt_store_release(&changed, pt_clock_ns(CLOCK_REALTIME));
    pt_add_seqcst(&changes, 1u);
    forget_pages();
}
