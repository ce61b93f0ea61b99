/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * RKH's trace interface over ours: user events, symbols, records of the framework,
 * filters, and the stream as framed bytes.  docs/formats/rkh.md has the differences.
 *
 *     RKH_FILTER_OFF_GROUP_ALL_EVENTS(RKH_TG_USR);
 *     RKH_TR_FWK_OBJ(&pump);
 *     RKH_TRC_USR_BEGIN(PRESSURE)
 *         RKH_TUSR_OBJ(&pump);
 *         RKH_TUSR_UI16(3, bar);
 *     RKH_TRC_USR_END();
 *
 * Events are ours, "rkh:USR:PRESSURE": any stream of posix_trace_create() records them,
 * they have fields, and import of RKH's frames gives the same.  As in RKH a filter that
 * is on suppresses, and everything is suppressed at the start; symbols are not.
 *
 * Link with -lposixtrace-compat -lposixtrace.  Thread-safe; a record takes a mutex, so
 * nothing here is async-signal-safe.  One record has POSIXTRACE_RKH_BYTES of data and 31
 * arguments; the rest is left off.
 */
#ifndef POSIXTRACE_RKH_H
#define POSIXTRACE_RKH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSIXTRACE_RKH_BYTES 1024

enum {
    RKH_TG_MP,
    RKH_TG_QUE,
    RKH_TG_SMA,
    RKH_TG_SM,
    RKH_TG_TMR,
    RKH_TG_FWK,
    RKH_TG_USR,
    RKH_TG_UT
};

/* Records of the framework, by group and order. */
enum {
    RKH_TE_MP_INIT = RKH_TG_MP << 5,
    RKH_TE_MP_GET,
    RKH_TE_MP_PUT,
    RKH_TE_QUE_INIT = RKH_TG_QUE << 5,
    RKH_TE_QUE_GET,
    RKH_TE_QUE_FIFO,
    RKH_TE_QUE_LIFO,
    RKH_TE_QUE_FULL,
    RKH_TE_QUE_DPT,
    RKH_TE_QUE_GET_LAST,
    RKH_TE_SMA_ACT = RKH_TG_SMA << 5,
    RKH_TE_SMA_TERM,
    RKH_TE_SMA_GET,
    RKH_TE_SMA_FIFO,
    RKH_TE_SMA_LIFO,
    RKH_TE_SMA_REG,
    RKH_TE_SMA_UNREG,
    RKH_TE_SMA_DEFER,
    RKH_TE_SMA_RCALL,
    RKH_TE_SM_INIT = RKH_TG_SM << 5,
    RKH_TE_SM_CLRH,
    RKH_TE_SM_TRN,
    RKH_TE_SM_STATE,
    RKH_TE_SM_ENSTATE,
    RKH_TE_SM_EXSTATE,
    RKH_TE_SM_NENEX,
    RKH_TE_SM_NTRNACT,
    RKH_TE_SM_TS_STATE,
    RKH_TE_SM_EVT_PROC,
    RKH_TE_SM_EVT_NFOUND,
    RKH_TE_SM_GRD_FALSE,
    RKH_TE_SM_CND_NFOUND,
    RKH_TE_SM_UNKN_STATE,
    RKH_TE_SM_EX_HLEVEL,
    RKH_TE_SM_EX_TSEG,
    RKH_TE_SM_EXE_ACT,
    RKH_TE_SM_DCH,
    RKH_TE_TMR_INIT = RKH_TG_TMR << 5,
    RKH_TE_TMR_START,
    RKH_TE_TMR_STOP,
    RKH_TE_TMR_TOUT,
    RKH_TE_TMR_REM,
    RKH_TE_FWK_EN = RKH_TG_FWK << 5,
    RKH_TE_FWK_EX,
    RKH_TE_FWK_EPREG,
    RKH_TE_FWK_AE,
    RKH_TE_FWK_GC,
    RKH_TE_FWK_GCR,
    RKH_TE_FWK_OBJ,
    RKH_TE_FWK_SIG,
    RKH_TE_FWK_FUN,
    RKH_TE_FWK_EXE_FUN,
    RKH_TE_FWK_SYNC_EVT,
    RKH_TE_FWK_TUSR,
    RKH_TE_FWK_TCFG,
    RKH_TE_FWK_ASSERT,
    RKH_TE_FWK_AO,
    RKH_TE_FWK_STATE,
    RKH_TE_FWK_PSTATE,
    RKH_TE_FWK_TIMER,
    RKH_TE_FWK_EPOOL,
    RKH_TE_FWK_QUEUE,
    RKH_TE_FWK_ACTOR,
    RKH_TE_USER = RKH_TG_USR << 5
};

/* ---- filters ---- */

enum posixtrace_rkh_filter {
    POSIXTRACE_RKH_GROUP,        /* n: RKH_TG_... */
    POSIXTRACE_RKH_EVENT,        /* n: RKH_TE_...; emit opens its group, too */
    POSIXTRACE_RKH_GROUP_EVENTS, /* n: RKH_TG_...: the group and all its events */
    POSIXTRACE_RKH_SMA,          /* n: priority of an active object, 0 to 255 */
    POSIXTRACE_RKH_ALL_SMA,
    POSIXTRACE_RKH_SIGNAL, /* n: 0 to 1023 */
    POSIXTRACE_RKH_ALL_SIGNALS
};

/* emit: from now on such records are traced.  EINVAL: no such filter, or n out of range. */
int posixtrace_rkh_filter(enum posixtrace_rkh_filter what, unsigned n, bool emit);

/* Would a record of that number be traced?  sma, signal: -1 where it has none. */
bool posixtrace_rkh_wanted(unsigned record, int sma, int signal);

#define RKH_FILTER_ON_GROUP(g)  posixtrace_rkh_filter(POSIXTRACE_RKH_GROUP, (g), false)
#define RKH_FILTER_OFF_GROUP(g) posixtrace_rkh_filter(POSIXTRACE_RKH_GROUP, (g), true)
#define RKH_FILTER_ON_EVENT(e)  posixtrace_rkh_filter(POSIXTRACE_RKH_EVENT, (e), false)
#define RKH_FILTER_OFF_EVENT(e) posixtrace_rkh_filter(POSIXTRACE_RKH_EVENT, (e), true)
#define RKH_FILTER_ON_GROUP_ALL_EVENTS(g) \
    posixtrace_rkh_filter(POSIXTRACE_RKH_GROUP_EVENTS, (g), false)
#define RKH_FILTER_OFF_GROUP_ALL_EVENTS(g) \
    posixtrace_rkh_filter(POSIXTRACE_RKH_GROUP_EVENTS, (g), true)
#define RKH_FILTER_ON_SMA(prio)      posixtrace_rkh_filter(POSIXTRACE_RKH_SMA, (prio), false)
#define RKH_FILTER_OFF_SMA(prio)     posixtrace_rkh_filter(POSIXTRACE_RKH_SMA, (prio), true)
#define RKH_FILTER_ON_ALL_SMA()      posixtrace_rkh_filter(POSIXTRACE_RKH_ALL_SMA, 0, false)
#define RKH_FILTER_OFF_ALL_SMA()     posixtrace_rkh_filter(POSIXTRACE_RKH_ALL_SMA, 0, true)
#define RKH_FILTER_ON_SIGNAL(s)      posixtrace_rkh_filter(POSIXTRACE_RKH_SIGNAL, (s), false)
#define RKH_FILTER_OFF_SIGNAL(s)     posixtrace_rkh_filter(POSIXTRACE_RKH_SIGNAL, (s), true)
#define RKH_FILTER_ON_ALL_SIGNALS()  posixtrace_rkh_filter(POSIXTRACE_RKH_ALL_SIGNALS, 0, false)
#define RKH_FILTER_OFF_ALL_SIGNALS() posixtrace_rkh_filter(POSIXTRACE_RKH_ALL_SIGNALS, 0, true)

/* ---- records and symbols ---- */

/*
 * Traces a record of the framework, if it is wanted: count values, in the order of the
 * table in docs/formats/rkh.md, senders and low-water marks included.
 *
 * EINVAL  no such record, another number of arguments, or one with a text
 * ENOMEM, and as posixtrace_event_describe()
 */
int posixtrace_rkh_record(unsigned record, int sma, int signal, const uint64_t *values,
                          size_t count);

/*
 * Names the subject of a symbol record: RKH_TE_FWK_OBJ, _SIG, _FUN, _TUSR, _AO, _STATE,
 * _PSTATE, _TIMER, _EPOOL, _QUEUE, _ACTOR.  ao: of states, else 0.  Later records show
 * the name.  No filter suppresses it.  Errors as above; EINVAL also: a NULL name.
 */
int posixtrace_rkh_symbol(unsigned record, uint64_t ao, uint64_t value, const char *name);

#define POSIXTRACE_RKH_POINTER(p) ((uint64_t)(uintptr_t)(p))
#define RKH_TR_FWK_OBJ(obj) \
    posixtrace_rkh_symbol(RKH_TE_FWK_OBJ, 0, POSIXTRACE_RKH_POINTER(obj), #obj)
#define RKH_TR_FWK_OBJ_NAME(obj, name) \
    posixtrace_rkh_symbol(RKH_TE_FWK_OBJ, 0, POSIXTRACE_RKH_POINTER(obj), (name))
#define RKH_TR_FWK_AO(ao) posixtrace_rkh_symbol(RKH_TE_FWK_AO, 0, POSIXTRACE_RKH_POINTER(ao), #ao)
#define RKH_TR_FWK_STATE(ao, st)                                        \
    posixtrace_rkh_symbol(RKH_TE_FWK_STATE, POSIXTRACE_RKH_POINTER(ao), \
                          POSIXTRACE_RKH_POINTER(st), #st)
#define RKH_TR_FWK_QUEUE(q) \
    posixtrace_rkh_symbol(RKH_TE_FWK_QUEUE, 0, POSIXTRACE_RKH_POINTER(q), #q)
#define RKH_TR_FWK_TIMER(t) \
    posixtrace_rkh_symbol(RKH_TE_FWK_TIMER, 0, POSIXTRACE_RKH_POINTER(t), #t)
/* clang-format off */
#define RKH_TR_FWK_FUN(fn) \
    posixtrace_rkh_symbol(RKH_TE_FWK_FUN, 0, POSIXTRACE_RKH_POINTER(fn), #fn)
#define RKH_TR_FWK_SIG(sig) \
    posixtrace_rkh_symbol(RKH_TE_FWK_SIG, 0, (sig), #sig)
#define RKH_TR_FWK_TUSR(id) \
    posixtrace_rkh_symbol(RKH_TE_FWK_TUSR, 0, (unsigned)(id) & 31u, #id)
/* clang-format on */

/* ---- user events ---- */

/* Being made; its members are not for others. */
struct posixtrace_rkh_user {
    uint8_t id, count, formats[31];
    bool on;
    uint16_t used;
    uint8_t data[POSIXTRACE_RKH_BYTES];
};

/* id: RKH_TE_USER + 0 to 31, or 0 to 31.  Whether it is wanted; if not, adding arguments
 * does nothing. */
bool posixtrace_rkh_user_begin(struct posixtrace_rkh_user *user, unsigned id);
/* format: 0 I8, 1 UI8, 2 I16, 3 UI16, 4 I32, 5 UI32, 6 X32, 9 OBJ, 10 FUN, 11 SIG; width:
 * digits to be shown, 0 to 15. */
void posixtrace_rkh_user_number(struct posixtrace_rkh_user *user, unsigned format, unsigned width,
                                uint64_t value);
void posixtrace_rkh_user_string(struct posixtrace_rkh_user *user, const char *text); /* or NULL */
/* At most 255 bytes of it. */
void posixtrace_rkh_user_memory(struct posixtrace_rkh_user *user, const void *from, size_t len);
/* Traces it.  0 also where it is not wanted; errors as posixtrace_event_describe(). */
int posixtrace_rkh_user_end(struct posixtrace_rkh_user *user);

#define RKH_TRC_USR_BEGIN(id)                 \
    do {                                      \
        struct posixtrace_rkh_user rkh_user_; \
        if (posixtrace_rkh_user_begin(&rkh_user_, (id))) {
#define RKH_TRC_USR_END()                \
    posixtrace_rkh_user_end(&rkh_user_); \
    }                                    \
    }                                    \
    while (0)
#define RKH_TRC_USR_BEGIN_NOCRIT(id) RKH_TRC_USR_BEGIN(id)
#define RKH_TRC_USR_END_NOCRIT()     RKH_TRC_USR_END()
#define RKH_TUSR_NUMBER_(f, w, d)    posixtrace_rkh_user_number(&rkh_user_, (f), (w), (uint64_t)(d))
#define RKH_TUSR_I8(w, d)            RKH_TUSR_NUMBER_(0, w, d)
#define RKH_TUSR_UI8(w, d)           RKH_TUSR_NUMBER_(1, w, d)
#define RKH_TUSR_I16(w, d)           RKH_TUSR_NUMBER_(2, w, d)
#define RKH_TUSR_UI16(w, d)          RKH_TUSR_NUMBER_(3, w, d)
#define RKH_TUSR_I32(w, d)           RKH_TUSR_NUMBER_(4, w, d)
#define RKH_TUSR_UI32(w, d)          RKH_TUSR_NUMBER_(5, w, d)
#define RKH_TUSR_X32(w, d)           RKH_TUSR_NUMBER_(6, w, d)
#define RKH_TUSR_STR(s)              posixtrace_rkh_user_string(&rkh_user_, (s))
#define RKH_TUSR_MEM(p, size)        posixtrace_rkh_user_memory(&rkh_user_, (p), (size))
#define RKH_TUSR_OBJ(obj)            RKH_TUSR_NUMBER_(9, 0, POSIXTRACE_RKH_POINTER(obj))
#define RKH_TUSR_FUN(fn)             RKH_TUSR_NUMBER_(10, 0, POSIXTRACE_RKH_POINTER(fn))
#define RKH_TUSR_SIG(sig)            RKH_TUSR_NUMBER_(11, 0, sig)

/* ---- the read side ---- */

/* A stream of ours as framed bytes, as `posixtrace export --to=rkh` writes them. */
typedef struct posixtrace_rkh_bytes posixtrace_rkh_bytes_t;

/*
 * trid: of any stream that can be read: an active one without log, a log, an attached one.
 * Pointers have 8 bytes.  EINVAL: a NULL argument; ENOMEM.
 */
int posixtrace_rkh_open(trace_id_t trid, posixtrace_rkh_bytes_t **bytes);
/*
 * Takes at most size bytes; *got is 0 where there are none now.  Never waits.
 * EINVAL: a NULL argument; others as posixtrace_next_event().
 */
int posixtrace_rkh_get(posixtrace_rkh_bytes_t *bytes, void *to, size_t size, size_t *got);
void posixtrace_rkh_close(posixtrace_rkh_bytes_t *bytes); /* or NULL; trid stays open */

#ifdef __cplusplus
}
#endif
#endif
