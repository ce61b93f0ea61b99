/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which of QNX's events are recorded: static masks first, then process and thread, handlers of
 * the user last.
 *
 * All that is set for an event, or for a class, is one word, read with one load:
 *
 *     bit 0 off, bit 1 wide, bits 8-15 row of pid, 16-23 row of pid and tid, 24-31 of a handler
 *
 * Row 0 is none.  A row is written before the first word that names it (release, and acquire
 * where it is read) and never changed, so that signal handlers and other threads need no lock,
 * and a handler that is taken away may still be running.  The same filter or handler set again
 * gets the same row.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "compat/qnx/qnx.h"
#include "compat/common/word.h"

#define OFF  1u
#define WIDE 2u
#define ROWS 256u

struct row {
    int pid, tid; /* tid 0: any */
    int (*handler)(struct posixtrace_qnx_event_data *data);
    void *area;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct row rows[ROWS];
static unsigned row_count = 1;
static uint32_t class_words[PT_QNX_CLASSES], event_words[PT_QNX_CLASSES][PT_QNX_EVENTS];

/* ---- setting ---- */

static unsigned shift_of(enum pt_qnx_filter what)
{
    return what == PT_QNX_PID ? 8 : what == PT_QNX_TID ? 16 : 24;
}

/* Finds the row of a filter or handler; 0: none. */
static int find_row(const struct pt_qnx_setting *s, unsigned *row)
{
    struct row wanted = { s->pid, s->what == PT_QNX_TID ? s->tid : 0, s->handler, s->area };

    *row = 0;
    if (s->what < PT_QNX_PID || (!wanted.pid && !wanted.handler))
        return 0;
    for (unsigned i = 1; i < row_count && !*row; i++)
        if (rows[i].pid == wanted.pid && rows[i].tid == wanted.tid &&
            rows[i].handler == wanted.handler && rows[i].area == wanted.area)
            *row = i;
    if (*row)
        return 0;
    if (row_count == ROWS)
        return ENOMEM;
    rows[row_count] = wanted;
    *row = row_count++;
    return 0;
}

static void set_word(uint32_t *word, enum pt_qnx_filter what, unsigned row)
{
    uint32_t w = *word;

    switch (what) {
    case PT_QNX_ON: w &= ~OFF; break;
    case PT_QNX_OFF: w |= OFF; break;
    case PT_QNX_SET_FAST: w &= ~WIDE; break;
    case PT_QNX_SET_WIDE: w |= WIDE; break;
    default: w = (w & ~((uint32_t)255 << shift_of(what))) | (uint32_t)row << shift_of(what);
    }
    pt_word_store_release(word, w);
}

/* Masks belong to events, the rest of a class to the class. */
static void set_class(unsigned c, enum pt_qnx_filter what, unsigned row)
{
    if (what >= PT_QNX_PID)
        set_word(&class_words[c], what, row);
    else
        for (unsigned i = 0; i < pt_qnx_events(c); i++)
            set_word(&event_words[c][i], what, 0);
}

static int lock(const struct pt_qnx_setting *s, unsigned *row)
{
    pthread_mutex_lock(&mutex);
    return find_row(s, row);
}

int pt_qnx_filter_all(const struct pt_qnx_setting *s)
{
    unsigned row;
    int error = lock(s, &row);

    for (unsigned c = 0; c < PT_QNX_CLASSES && !error; c++)
        set_class(c, s->what, row);
    pthread_mutex_unlock(&mutex);
    return error;
}

int pt_qnx_filter_class(unsigned event_class, const struct pt_qnx_setting *s)
{
    bool any = false;
    unsigned row;
    int error = lock(s, &row);

    for (unsigned c = 0; c < PT_QNX_CLASSES && !error; c++)
        if (pt_qnx_belongs(c, event_class)) {
            set_class(c, s->what, row);
            any = true;
        }
    pthread_mutex_unlock(&mutex);
    return error ? error : any ? 0 : EINVAL;
}

int pt_qnx_filter_event(unsigned event_class, unsigned number, const struct pt_qnx_setting *s)
{
    bool any = false;
    unsigned row;
    int error = lock(s, &row);

    for (unsigned c = 0; c < PT_QNX_CLASSES && !error; c++) {
        if (!pt_qnx_belongs(c, event_class) || !pt_qnx_has(c, number))
            continue;
        any = true;
        for (unsigned i = 0; i < pt_qnx_events(c); i++)
            if (pt_qnx_selects(c, number, i))
                set_word(&event_words[c][i], s->what, row);
    }
    pthread_mutex_unlock(&mutex);
    return error ? error : any ? 0 : EINVAL;
}

/* ---- asking ---- */

int pt_qnx_mode(const struct pt_qnx_kind *kind)
{
    uint32_t word = pt_word_load_acquire(&event_words[kind->event_class][kind->index]);

    return word & OFF ? 0 : word & WIDE ? 2 : 1;
}

/* The thread that the event is about, from the data of process and thread events. */
static void find_thread(const struct pt_qnx_kind *kind, const void *data, size_t len, int who[2])
{
    bool thread = kind->event_class == _NTO_TRACE_THREAD || kind->event_class == _NTO_TRACE_VTHREAD;
    uint32_t words[2];

    who[0] = getpid();
    who[1] = (int)syscall(SYS_gettid);
    if (len < sizeof words || (!thread && kind->event_class != _NTO_TRACE_PROCESS))
        return;
    memcpy(words, data, sizeof words);
    if (thread || kind->index == 4) {
        who[0] = (int)words[0];
        who[1] = (int)words[1];
    } else {
        who[0] = (int)words[1];
    }
}

static bool is_of(uint32_t word, const int who[2])
{
    const struct row *pid = &rows[word >> 8 & 255], *both = &rows[word >> 16 & 255];

    return (!pid->pid || pid->pid == who[0]) &&
           (!both->pid || (both->pid == who[0] && both->tid == who[1]));
}

/* The handler gets a copy of the data, so its changes are not recorded. */
static __attribute__((noinline)) bool ask(const struct row *row, const struct pt_qnx_kind *kind,
                                          const void *data, size_t len, const int who[2])
{
    uint32_t words[POSIXTRACE_QNX_BYTES / 4];
    struct posixtrace_qnx_event_data e = {
        .header = pt_qnx_header(kind) | (len > 8 ? _TRACE_STRUCT_CB : _TRACE_STRUCT_S),
        .data_array = words,
        .el_num = (uint32_t)((len + 3) / 4),
        .area = row->area,
        .feature_mask = _NTO_TRACE_FMPID | _NTO_TRACE_FMTID,
        .feature = { (uint32_t)who[0], (uint32_t)who[1] },
    };
    int saved = errno;
    bool emit;

    if (e.el_num)
        words[e.el_num - 1] = 0;
    if (len)
        memcpy(words, data, len);
    emit = row->handler(&e) != 0;
    errno = saved;
    return emit;
}

bool pt_qnx_passes(const struct pt_qnx_kind *kind, const void *data, size_t len)
{
    uint32_t event = pt_word_load_acquire(&event_words[kind->event_class][kind->index]);
    uint32_t class = pt_word_load_acquire(&class_words[kind->event_class]);
    int who[2] = { 0, 0 };

    if (event & OFF)
        return false;
    if (!((event | class) >> 8))
        return true;
    find_thread(kind, data, len, who);
    return is_of(class, who) && is_of(event, who) &&
           (!(event >> 24) || ask(&rows[event >> 24], kind, data, len, who)) &&
           (!(class >> 24) || ask(&rows[class >> 24], kind, data, len, who));
}

/* ---- after fork ---- */

/* Another thread of the parent may have held it; a row that it had not counted is written
 * again. */
static void forked(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(NULL, NULL, forked);
}
