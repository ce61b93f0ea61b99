/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The interface of QNX Neutrino's instrumentation over ours: TraceEvent(), trace_logf() and
 * its like, add_trace_event() and its like, traceparser().  docs/formats/qnx.md has a table of the
 * differences from the original, with reasons.
 *
 *     TraceEvent(_NTO_TRACE_DELALLCLASSES);
 *     TraceEvent(_NTO_TRACE_ADDEVENT, _NTO_TRACE_USER, 7);
 *     TraceEvent(_NTO_TRACE_START);
 *     trace_logf(7, "pressure %d", bar);
 *
 * Events are ours, "qnx:USER:7.string" with the field text: every stream that traces this process
 * records them, that of `posixtrace record` as well as that of _NTO_TRACE_START.  Until
 * _NTO_TRACE_DELALLCLASSES all are wanted, as tracelogger leaves it.  Numbers of classes and
 * events are those of QNX 6 and 7, where an event of a thread or process is a bit.
 *
 * QNX's names are macros for names of ours; with POSIXTRACE_QNX_NO_NAMES defined there are
 * none but constants.  Link with -lposixtrace-compat -lposixtrace.
 *
 * Safety.  All is thread-safe, a parser being one thread's at a time.  The first record of an
 * event opens its type and takes a mutex; later ones, and those after posixtrace_qnx_open(),
 * are async-signal-safe but for the printf() forms.  Commands that insert are the same; other
 * commands and the parser are not async-signal-safe.  Only reading is a cancellation point.
 * Functions of type int return 0, or -1 with errno, unless their comment has more.
 */
#ifndef POSIXTRACE_QNX_H
#define POSIXTRACE_QNX_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <posixtrace/event.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POSIXTRACE_QNX_BYTES  4088 /* of data of one event: 1022 words */
#define POSIXTRACE_QNX_STRING 128  /* of add_trace_string(), with NUL */

/* ---- commands: code, and in the upper four bits how many arguments with the command ---- */

#define POSIXTRACE_QNX_COMMAND_(arguments, code) ((arguments) << 28 | (code))
enum {
    _NTO_TRACE_ADDALLCLASSES = POSIXTRACE_QNX_COMMAND_(1, 1),
    _NTO_TRACE_DELALLCLASSES = POSIXTRACE_QNX_COMMAND_(1, 2),
    _NTO_TRACE_ADDCLASS = POSIXTRACE_QNX_COMMAND_(2, 3),
    _NTO_TRACE_DELCLASS = POSIXTRACE_QNX_COMMAND_(2, 4),
    _NTO_TRACE_ADDEVENT = POSIXTRACE_QNX_COMMAND_(3, 5),
    _NTO_TRACE_DELEVENT = POSIXTRACE_QNX_COMMAND_(3, 6),
    _NTO_TRACE_ADDEVENTHANDLER = POSIXTRACE_QNX_COMMAND_(5, 7),
    _NTO_TRACE_DELEVENTHANDLER = POSIXTRACE_QNX_COMMAND_(3, 8),
    _NTO_TRACE_INSERTEVENT = POSIXTRACE_QNX_COMMAND_(5, 9),
    _NTO_TRACE_START = POSIXTRACE_QNX_COMMAND_(1, 10),
    _NTO_TRACE_STOP = POSIXTRACE_QNX_COMMAND_(1, 11),
    _NTO_TRACE_ALLOCBUFFER = POSIXTRACE_QNX_COMMAND_(3, 12),
    _NTO_TRACE_DEALLOCBUFFER = POSIXTRACE_QNX_COMMAND_(1, 13),
    _NTO_TRACE_FLUSHBUFFER = POSIXTRACE_QNX_COMMAND_(1, 14),
    _NTO_TRACE_QUERYEVENTS = POSIXTRACE_QNX_COMMAND_(1, 15),
    _NTO_TRACE_SETALLCLASSESFAST = POSIXTRACE_QNX_COMMAND_(1, 16),
    _NTO_TRACE_SETALLCLASSESWIDE = POSIXTRACE_QNX_COMMAND_(1, 17),
    _NTO_TRACE_SETCLASSFAST = POSIXTRACE_QNX_COMMAND_(2, 18),
    _NTO_TRACE_SETCLASSWIDE = POSIXTRACE_QNX_COMMAND_(2, 19),
    _NTO_TRACE_SETEVENTFAST = POSIXTRACE_QNX_COMMAND_(3, 20),
    _NTO_TRACE_SETEVENTWIDE = POSIXTRACE_QNX_COMMAND_(3, 21),
    _NTO_TRACE_SETCLASSPID = POSIXTRACE_QNX_COMMAND_(3, 22),
    _NTO_TRACE_SETCLASSTID = POSIXTRACE_QNX_COMMAND_(4, 23),
    _NTO_TRACE_SETEVENTPID = POSIXTRACE_QNX_COMMAND_(4, 24),
    _NTO_TRACE_SETEVENTTID = POSIXTRACE_QNX_COMMAND_(5, 25),
    _NTO_TRACE_CLRCLASSPID = POSIXTRACE_QNX_COMMAND_(2, 26),
    _NTO_TRACE_CLRCLASSTID = POSIXTRACE_QNX_COMMAND_(2, 27),
    _NTO_TRACE_CLREVENTPID = POSIXTRACE_QNX_COMMAND_(3, 28),
    _NTO_TRACE_CLREVENTTID = POSIXTRACE_QNX_COMMAND_(3, 29),
    _NTO_TRACE_INSERTSUSEREVENT = POSIXTRACE_QNX_COMMAND_(4, 30),
    _NTO_TRACE_INSERTCUSEREVENT = POSIXTRACE_QNX_COMMAND_(4, 31),
    _NTO_TRACE_INSERTUSRSTREVENT = POSIXTRACE_QNX_COMMAND_(3, 32),
    _NTO_TRACE_STARTNOSTATE = POSIXTRACE_QNX_COMMAND_(1, 33),
    _NTO_TRACE_SETRINGMODE = POSIXTRACE_QNX_COMMAND_(1, 34),
    _NTO_TRACE_SETLINEARMODE = POSIXTRACE_QNX_COMMAND_(1, 35),
    _NTO_TRACE_ADDCLASSEVHANDLER = POSIXTRACE_QNX_COMMAND_(4, 36),
    _NTO_TRACE_DELCLASSEVHANDLER = POSIXTRACE_QNX_COMMAND_(2, 37),
    _NTO_TRACE_SKIPBUFFER = POSIXTRACE_QNX_COMMAND_(1, 38),
    _NTO_TRACE_OVERWRITEBUFFER = POSIXTRACE_QNX_COMMAND_(1, 39),
    _NTO_TRACE_QUERYVERSION = POSIXTRACE_QNX_COMMAND_(1, 40),
    _NTO_TRACE_QUERYSUPPORT = POSIXTRACE_QNX_COMMAND_(1, 41),
    _NTO_TRACE_INSERTSCLASSEVENT = POSIXTRACE_QNX_COMMAND_(5, 42),
    _NTO_TRACE_INSERTCCLASSEVENT = POSIXTRACE_QNX_COMMAND_(5, 43),
    _NTO_TRACE_SETBUFFER = POSIXTRACE_QNX_COMMAND_(3, 44),     /* of release 8, as the */
    _NTO_TRACE_LOGGER_ATTACH = POSIXTRACE_QNX_COMMAND_(3, 45), /* next: all ENOTSUP */
    _NTO_TRACE_WAITBUFFER = POSIXTRACE_QNX_COMMAND_(2, 46),
    _NTO_TRACE_LOGGER_DETACH = POSIXTRACE_QNX_COMMAND_(1, 47),
    _NTO_TRACE_PMU_CONFIG = POSIXTRACE_QNX_COMMAND_(2, 48),
    _NTO_TRACE_PMU_QUERYEVENTS = POSIXTRACE_QNX_COMMAND_(1, 49)
};

/* ---- classes and events ---- */

enum {
    _NTO_TRACE_EMPTY,
    _NTO_TRACE_CONTROL,
    _NTO_TRACE_KERCALL,
    _NTO_TRACE_KERCALLENTER,
    _NTO_TRACE_KERCALLEXIT,
    _NTO_TRACE_KERCALLINT,
    _NTO_TRACE_INT,
    _NTO_TRACE_INTENTER,
    _NTO_TRACE_INTEXIT,
    _NTO_TRACE_PROCESS,
    _NTO_TRACE_THREAD,
    _NTO_TRACE_VTHREAD,
    _NTO_TRACE_USER,
    _NTO_TRACE_SYSTEM,
    _NTO_TRACE_COMM,
    _NTO_TRACE_INT_HANDLER_ENTER,
    _NTO_TRACE_INT_HANDLER_EXIT,
    _NTO_TRACE_QUIP,
    _NTO_TRACE_SEC,
    _NTO_TRACE_QVM,
    _NTO_TRACE_PMU
};

#define _NTO_TRACE_EMPTYEVENT       0u
#define _NTO_TRACE_CONTROLTIME      1u
#define _NTO_TRACE_CONTROLBUFFER    2u
#define _NTO_TRACE_KERCALLFIRST     0u
#define _NTO_TRACE_KERCALLLAST      127u
#define _NTO_TRACE_KERCALL64        0x200u /* arguments of 64 bits */
#define _NTO_TRACE_INTFIRST         0u
#define _NTO_TRACE_INTLAST          0xffffffffu
#define _NTO_TRACE_PROCCREATE       1u
#define _NTO_TRACE_PROCDESTROY      2u
#define _NTO_TRACE_PROCCREATE_NAME  4u
#define _NTO_TRACE_PROCDESTROY_NAME 8u
#define _NTO_TRACE_PROCTHREAD_NAME  16u

/* Events of _NTO_TRACE_THREAD. */
enum {
    _NTO_TRACE_THDEAD = 1 << 0,
    _NTO_TRACE_THRUNNING = 1 << 1,
    _NTO_TRACE_THREADY = 1 << 2,
    _NTO_TRACE_THSTOPPED = 1 << 3,
    _NTO_TRACE_THSEND = 1 << 4,
    _NTO_TRACE_THRECEIVE = 1 << 5,
    _NTO_TRACE_THREPLY = 1 << 6,
    _NTO_TRACE_THSTACK = 1 << 7,
    _NTO_TRACE_THWAITTHREAD = 1 << 8,
    _NTO_TRACE_THWAITPAGE = 1 << 9,
    _NTO_TRACE_THSIGSUSPEND = 1 << 10,
    _NTO_TRACE_THSIGWAITINFO = 1 << 11,
    _NTO_TRACE_THNANOSLEEP = 1 << 12,
    _NTO_TRACE_THMUTEX = 1 << 13,
    _NTO_TRACE_THCONDVAR = 1 << 14,
    _NTO_TRACE_THJOIN = 1 << 15,
    _NTO_TRACE_THINTR = 1 << 16,
    _NTO_TRACE_THSEM = 1 << 17,
    _NTO_TRACE_THWAITCTX = 1 << 18,
    _NTO_TRACE_THNET_SEND = 1 << 19,
    _NTO_TRACE_THNET_REPLY = 1 << 20,
    _NTO_TRACE_THCREATE = 1 << 24,
    _NTO_TRACE_THDESTROY = 1 << 25
};

#define _NTO_TRACE_USERFIRST 0u
#define _NTO_TRACE_USERLAST  0x3ffu
enum {
    _NTO_TRACE_SYS_RESERVED = 1,
    _NTO_TRACE_SYS_PATHMGR,
    _NTO_TRACE_SYS_APS_NAME,
    _NTO_TRACE_SYS_APS_BUDGETS,
    _NTO_TRACE_SYS_APS_BNKR,
    _NTO_TRACE_SYS_MMAP,
    _NTO_TRACE_SYS_MUNMAP,
    _NTO_TRACE_SYS_MAPNAME,
    _NTO_TRACE_SYS_ADDRESS,
    _NTO_TRACE_SYS_FUNC_ENTER,
    _NTO_TRACE_SYS_FUNC_EXIT,
    _NTO_TRACE_SYS_SLOG,
    _NTO_TRACE_SYS_DEFRAG_START,
    _NTO_TRACE_SYS_RUNSTATE,
    _NTO_TRACE_SYS_POWER,
    _NTO_TRACE_SYS_IPI,
    _NTO_TRACE_SYS_PAGEWAIT,
    _NTO_TRACE_SYS_TIMER,
    _NTO_TRACE_SYS_DEFRAG_END,
    _NTO_TRACE_SYS_PROFILE,
    _NTO_TRACE_SYS_MAPNAME_64
};
enum {
    _NTO_TRACE_COMM_SMSG,
    _NTO_TRACE_COMM_SPULSE,
    _NTO_TRACE_COMM_RMSG,
    _NTO_TRACE_COMM_RPULSE,
    _NTO_TRACE_COMM_SPULSE_EXE,
    _NTO_TRACE_COMM_SPULSE_DIS,
    _NTO_TRACE_COMM_SPULSE_DEA,
    _NTO_TRACE_COMM_SPULSE_UN,
    _NTO_TRACE_COMM_SPULSE_QUN,
    _NTO_TRACE_COMM_SIGNAL,
    _NTO_TRACE_COMM_REPLY,
    _NTO_TRACE_COMM_ERROR
};

/* Header words: struct in bits 31-30, CPU 29-24, internal class 14-10, event 9-0. */
#define _TRACE_STRUCT_S             0u
#define _TRACE_STRUCT_CB            (1u << 30)
#define _TRACE_STRUCT_CC            (2u << 30)
#define _TRACE_STRUCT_CE            (3u << 30)
#define _TRACE_GET_STRUCT(h)        ((h)&3u << 30)
#define _NTO_TRACE_GETCPU(h)        (((h)&0x3f000000u) >> 24)
#define _NTO_TRACE_GETEVENT_C(h)    ((h)&0x1fu << 10)
#define _NTO_TRACE_GETEVENT(h)      ((h)&0x3ffu)
#define _NTO_TRACE_SETEVENT_C(h, c) ((h) &= ~(0x1fu << 10), (h) |= (c))
#define _NTO_TRACE_SETEVENT(h, e)   ((h) &= ~0x3ffu, (h) |= (e))
#define _TRACE_EMPTY_C              (0u << 10)
#define _TRACE_CONTROL_C            (1u << 10)
#define _TRACE_KER_CALL_C           (2u << 10)
#define _TRACE_INT_C                (3u << 10)
#define _TRACE_PR_TH_C              (4u << 10)
#define _TRACE_SYSTEM_C             (5u << 10)
#define _TRACE_USER_C               (6u << 10)
#define _TRACE_COMM_C               (7u << 10)

#define _NTO_TRACE_NOINSTRSUPP 0
#define _NTO_TRACE_SUPPINSTR   1

/* ---- control ---- */

enum { _NTO_TRACE_FIPID, _NTO_TRACE_FITID, _NTO_TRACE_FI_NUM };
#define _NTO_TRACE_FMEMPTY 0u
#define _NTO_TRACE_FMPID   (1u << _NTO_TRACE_FIPID)
#define _NTO_TRACE_FMTID   (1u << _NTO_TRACE_FITID)

/*
 * The argument of an event handler: one for each call, valid until the handler returns, with area
 * from the registration.  pid and tid are of the thread that the event is about.
 */
typedef struct posixtrace_qnx_event_data {
    uint32_t header;
    uint32_t *data_array;
    uint32_t el_num; /* words in data_array */
    void *area;
    uint32_t feature_mask;
    uint32_t feature[_NTO_TRACE_FI_NUM];
} posixtrace_qnx_event_data_t;

/*
 * TraceEvent().  Returns 0; _NTO_TRACE_QUERYEVENTS and _QUERYSUPPORT return the answer.
 *
 * EINVAL   no such class or event, or one that cannot be set alone; pid or tid below 1
 * EFAULT   a NULL pointer; or out of order: no buffer to free or flush, one there already, a
 *          mode set after the start
 * EMSGSIZE more than POSIXTRACE_QNX_BYTES of data
 * ENOTSUP  the command has no meaning here, or there is none of that number
 * ENOMEM, ENOSPC  no memory; more than 255 different handlers or filters, more types of
 *          events than TRACE_USER_EVENT_MAX; others as posix_trace_create() and its like
 */
int posixtrace_qnx_trace_event(int command, ...);

/*
 * Has commands steer that stream from now on instead of one of their own: one that this
 * process has created, which stays the caller's.  EFAULT: there is one already.  EINVAL: not
 * an active stream.  _NTO_TRACE_DEALLOCBUFFER lets go of it.
 */
int posixtrace_qnx_use(trace_id_t trid);
/* The stream that commands steer, for its reader.  EFAULT: none, or trid is NULL. */
int posixtrace_qnx_stream(trace_id_t *trid);

/* 0: the static masks let no such event through; 1: it is to be fast, 2: wide. */
int posixtrace_qnx_wanted(unsigned event_class, unsigned event);
/* Opens all types that the event can have, so that recording it is async-signal-safe.  Errors
 * as TraceEvent(). */
int posixtrace_qnx_open(unsigned event_class, unsigned event);
/*
 * Records an event of a program that instruments itself: if it is wanted fast its first fast
 * words, if wide wide of them.  Classes as in TraceEvent(), one event.  Errors the same.
 */
int posixtrace_qnx_emit(unsigned event_class, unsigned event, const uint32_t *words, unsigned fast,
                        unsigned wide);

/* ---- trace_logf() and its like; codes modulo 1024, as in the original ---- */

/* How many bytes of text were recorded, with NUL; 0: it is not wanted.  max: as many at most,
 * 0: POSIXTRACE_QNX_BYTES.  The rest is cut off.  EFAULT: fmt is NULL; EINVAL: max is
 * negative, or a fault of vsnprintf(). */
__attribute__((format(printf, 2, 3))) int posixtrace_qnx_logf(int code, const char *fmt, ...);
__attribute__((format(printf, 3, 4))) int posixtrace_qnx_nlogf(int code, int max, const char *fmt,
                                                               ...);
__attribute__((format(printf, 3, 0))) int posixtrace_qnx_vnlogf(int code, int max, const char *fmt,
                                                                va_list arguments);
int posixtrace_qnx_logi(int code, unsigned d1, unsigned d2);
int posixtrace_qnx_logb(int code, const void *data, size_t bytes);
/* internal_class: _TRACE_USER_C and so on. */
int posixtrace_qnx_logbc(int internal_class, int event, const void *data, size_t bytes);
int posixtrace_qnx_func_enter(void *function, void *site);
int posixtrace_qnx_func_exit(void *function, void *site);
int posixtrace_qnx_here(void);

/* ---- add_trace_event() and its like: masks are not looked at, the caller has done so ---- */

/* Being made; its members are not for others. */
typedef struct posixtrace_qnx_builder {
    uint32_t used;
    uint8_t data[POSIXTRACE_QNX_BYTES];
} posixtrace_qnx_builder_t;

/* time is not looked at.  ENOTSUP: a header of a part of a combined event. */
int posixtrace_qnx_add_event(unsigned header, unsigned time, unsigned d1, unsigned d2);
void posixtrace_qnx_add_buffer(uint32_t header, const uint32_t *words, unsigned count);
/* One event from pieces of bytes: more than POSIXTRACE_QNX_BYTES are cut off, none is no
 * event.  The header is that of the end. */
void posixtrace_qnx_b_init(posixtrace_qnx_builder_t *builder);
void posixtrace_qnx_b_add(posixtrace_qnx_builder_t *builder, uint32_t header, const void *data,
                          unsigned bytes);
void posixtrace_qnx_b_end(posixtrace_qnx_builder_t *builder, uint32_t header);
__attribute__((format(printf, 2, 3))) void posixtrace_qnx_add_string(uint32_t header,
                                                                     const char *fmt, ...);
__attribute__((format(printf, 3, 4))) void posixtrace_qnx_d1_string(uint32_t header, uint32_t d1,
                                                                    const char *fmt, ...);
__attribute__((format(printf, 4, 5))) void
posixtrace_qnx_d2_string(uint32_t header, uint32_t d1, uint32_t d2, const char *fmt, ...);

/* ---- the parser: logs of ours and .kev files ---- */

typedef struct posixtrace_qnx_parser posixtrace_qnx_parser_t;

/*
 * time: ns since 1970, all 64 bits.  words: count of them, good until it returns; bytes after
 * the last are 0.  Its result is kept, and ends nothing.
 */
typedef int (*posixtrace_qnx_callback_t)(posixtrace_qnx_parser_t *parser, void *user_data,
                                         unsigned header, uint64_t time, unsigned *words,
                                         unsigned count);

/* The values that can be queried; those of headers are strings, NULL if a file has none. */
typedef enum {
    _TRACEPARSER_INFO_HEADER_BEGIN,
    _TRACEPARSER_INFO_FILE_NAME,
    _TRACEPARSER_INFO_DATE,
    _TRACEPARSER_INFO_VER_MAJOR,
    _TRACEPARSER_INFO_VER_MINOR,
    _TRACEPARSER_INFO_LITTLE_ENDIAN,
    _TRACEPARSER_INFO_BIG_ENDIAN,
    _TRACEPARSER_INFO_MIDDLE_ENDIAN,
    _TRACEPARSER_INFO_ENCODING,
    _TRACEPARSER_INFO_BOOT_DATE,
    _TRACEPARSER_INFO_CYCLES_PER_SEC,
    _TRACEPARSER_INFO_CPU_NUM,
    _TRACEPARSER_INFO_SYSNAME,
    _TRACEPARSER_INFO_NODENAME,
    _TRACEPARSER_INFO_SYS_RELEASE,
    _TRACEPARSER_INFO_SYS_VERSION,
    _TRACEPARSER_INFO_MACHINE,
    _TRACEPARSER_INFO_SYSPAGE_LEN,
    _TRACEPARSER_INFO_HEADER_END,
    _TRACEPARSER_INFO_SYSPAGE = -1,              /* always NULL */
    _TRACEPARSER_INFO_ENDIAN_CONV = -2,          /* unsigned: words are of the other order */
    _TRACEPARSER_INFO_NOW_CALLBACK_CLASS = -3,   /* unsigned */
    _TRACEPARSER_INFO_NOW_CALLBACK_EVENT = -4,   /* unsigned */
    _TRACEPARSER_INFO_PREV_CALLBACK_CLASS = -5,  /* unsigned */
    _TRACEPARSER_INFO_PREV_CALLBACK_EVENT = -6,  /* unsigned */
    _TRACEPARSER_INFO_PREV_CALLBACK_RETURN = -7, /* int */
    _TRACEPARSER_INFO_DEBUG = -8,                /* unsigned */
    _TRACEPARSER_INFO_ERROR = -9,                /* unsigned: of the last that failed */
    _TRACEPARSER_INFO_ERROR_STR = -10            /* char: the same in words, "" at first */
} posixtrace_qnx_info_t;

enum {
    _TRACEPARSER_UNKNOWN_CLASS,
    _TRACEPARSER_UNKNOWN_PR_TH_EVENT,
    _TRACEPARSER_UNKNOWN_CONTROL_EVENT,
    _TRACEPARSER_UNKNOWN_KER_CALL_EVENT,
    _TRACEPARSER_UNKNOWN_INT_EVENT,
    _TRACEPARSER_UNKNOWN_CONTAINER_EVENT,
    _TRACEPARSER_UNKNOWN_USR_EVENT,
    _TRACEPARSER_UNKNOWN_COMM_EVENT,
    _TRACEPARSER_NO_MORE_MEMORY,
    _TRACEPARSER_WRONG_H_KEYWORD,
    _TRACEPARSER_NULL_STATE_PTR,
    _TRACEPARSER_WRONG_ENDIAN_TYPE,
    _TRACEPARSER_CANNOT_READ_IN_FILE,
    _TRACEPARSER_WRONG_FILE_VERSION,
    _TRACEPARSER_MISSING_FIELD,
    _TRACEPARSER_UNKNOWN_ERROR
};

#define _TRACEPARSER_DEBUG_NONE    0u
#define _TRACEPARSER_DEBUG_ERRORS  1u
#define _TRACEPARSER_DEBUG_HEADER  2u
#define _TRACEPARSER_DEBUG_SYSPAGE 4u
#define _TRACEPARSER_DEBUG_EVENTS  8u
#define _TRACEPARSER_DEBUG_ALL     0xffffffffu
#define _TRACEPARSER_NOSORT        0u
#define _TRACEPARSER_SORT          1u

/* parser: NULL, for a new one, or one to be made as new.  NULL: no memory. */
posixtrace_qnx_parser_t *posixtrace_qnx_parser_init(posixtrace_qnx_parser_t *parser);
/* Frees it and makes it NULL; parser or *parser may be NULL. */
void posixtrace_qnx_parser_destroy(posixtrace_qnx_parser_t **parser);
/* Prints the messages that mask selects to stream, which stays the caller's. */
int posixtrace_qnx_parser_debug(posixtrace_qnx_parser_t *parser, FILE *stream, unsigned mask);
/*
 * Sets the callback for an event, or for all from first to last.  An event has one callback, the
 * last one set; NULL: none.  user_data NULL: that of posixtrace_qnx_parse().  Interrupt classes
 * accept only _NTO_TRACE_INTFIRST to _INTLAST.  The callback for _NTO_TRACE_EMPTY is called once,
 * after the header.  -1 with EINVAL: a NULL parser, no such class or event; the parser's error has
 * the reason.
 */
int posixtrace_qnx_parser_cs(posixtrace_qnx_parser_t *parser, void *user_data,
                             posixtrace_qnx_callback_t callback, unsigned event_class,
                             unsigned event);
int posixtrace_qnx_parser_cs_range(posixtrace_qnx_parser_t *parser, void *user_data,
                                   posixtrace_qnx_callback_t callback, unsigned event_class,
                                   unsigned first, unsigned last);
/* Events come in the order of time with each mode; nothing to be done. */
void posixtrace_qnx_parser_sort(posixtrace_qnx_parser_t *parser, unsigned mode);
/* *length, if length is not NULL: bytes there.  Belongs to the parser.  NULL: nothing of the
 * kind; EINVAL: a NULL parser, or no such thing. */
void *posixtrace_qnx_parser_get_info(posixtrace_qnx_parser_t *parser, posixtrace_qnx_info_t what,
                                     unsigned *length);
/* The log's event for the current callback, with name, thread, data.  NULL outside of callbacks. */
const struct posixtrace_event *posixtrace_qnx_parser_event(const posixtrace_qnx_parser_t *parser);
/*
 * traceparser(): calls the callbacks for the events of a log or .kev file; "-": standard
 * input.  -1, with errno: it could not be read, or not to its end; the parser's error and
 * _TRACEPARSER_INFO_ERROR_STR have the reason, and the callbacks were called for the events before
 * the fault.  A parser may be used again; not from its own callbacks (EBUSY).
 */
int posixtrace_qnx_parse(posixtrace_qnx_parser_t *parser, void *user_data, const char *path);

#ifndef POSIXTRACE_QNX_NO_NAMES
#define _Uint32t             uint32_t
#define _Uint64t             uint64_t
#define TraceEvent           posixtrace_qnx_trace_event
#define event_data_t         posixtrace_qnx_event_data_t
#define trace_logf           posixtrace_qnx_logf
#define trace_nlogf          posixtrace_qnx_nlogf
#define trace_vnlogf         posixtrace_qnx_vnlogf
#define trace_logi           posixtrace_qnx_logi
#define trace_logb           posixtrace_qnx_logb
#define trace_logbc          posixtrace_qnx_logbc
#define trace_func_enter     posixtrace_qnx_func_enter
#define trace_func_exit      posixtrace_qnx_func_exit
#define trace_here           posixtrace_qnx_here
#define trace_state_t        posixtrace_qnx_builder_t
#define add_trace_event      posixtrace_qnx_add_event
#define add_trace_buffer     posixtrace_qnx_add_buffer
#define add_trace_b_init     posixtrace_qnx_b_init
#define add_trace_b_add      posixtrace_qnx_b_add
#define add_trace_b_end      posixtrace_qnx_b_end
#define add_trace_string     posixtrace_qnx_add_string
#define add_trace_d1_string  posixtrace_qnx_d1_string
#define add_trace_d2_string  posixtrace_qnx_d2_string
#define traceparser_state    posixtrace_qnx_parser
#define tracep_callb_func_t  posixtrace_qnx_callback_t
#define info_modes_t         posixtrace_qnx_info_t
#define traceparser_init     posixtrace_qnx_parser_init
#define traceparser_destroy  posixtrace_qnx_parser_destroy
#define traceparser_debug    posixtrace_qnx_parser_debug
#define traceparser_cs       posixtrace_qnx_parser_cs
#define traceparser_cs_range posixtrace_qnx_parser_cs_range
#define traceparser_sort     posixtrace_qnx_parser_sort
#define traceparser_get_info posixtrace_qnx_parser_get_info
#define traceparser          posixtrace_qnx_parse
#endif

#ifdef __cplusplus
}
#endif
#endif
