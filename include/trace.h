/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * <trace.h>: the POSIX tracing interface, IEEE Std 1003.1-2017 (options TRC,
 * TEF, TRI, TRL), and nothing else.  Our additions live in <posixtrace/...>.
 *
 * Every function except posix_trace_event() and posix_trace_eventid_equal()
 * returns 0 or an error number; none sets errno.  Each has a manual page in
 * section 3 with its errors, its thread and signal safety, and its source.
 */
#ifndef POSIXTRACE_TRACE_H
#define POSIXTRACE_TRACE_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>
#include <pthread.h>

#ifdef __cplusplus
#define POSIX_TRACE_RESTRICT_ __restrict
extern "C" {
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
#define POSIX_TRACE_RESTRICT_ restrict
#else
#define POSIX_TRACE_RESTRICT_ __restrict
#endif

/* Opaque.  Values are never reused within a process until 2^31 others were. */
typedef unsigned int trace_id_t;

/* Opaque.  System event types are compile-time constants below. */
typedef unsigned int trace_event_id_t;

/* Complete so that it can live on a stack; opaque: contents are private. */
typedef struct {
    unsigned long long posix_private_[32];
} trace_attr_t;

/* Plain data, assignable, without pointers; 160 bytes are part of the ABI. */
typedef struct {
    unsigned long long posix_private_[20];
} trace_event_set_t;

struct posix_trace_event_info {
    trace_event_id_t posix_event_id;
    pid_t posix_pid;
    void *posix_prog_address;
    pthread_t posix_thread_id;
    struct timespec posix_timestamp;
    int posix_truncation_status;
};

struct posix_trace_status_info {
    int posix_stream_status;
    int posix_stream_full_status;
    int posix_stream_overrun_status;
    int posix_stream_flush_status;
    int posix_stream_flush_error;
    int posix_log_overrun_status;
    int posix_log_full_status;
};

/* posix_stream_status */
#define POSIX_TRACE_SUSPENDED 0
#define POSIX_TRACE_RUNNING   1
/* posix_stream_full_status, posix_log_full_status */
#define POSIX_TRACE_NOT_FULL 0
#define POSIX_TRACE_FULL     1
/* posix_stream_overrun_status, posix_log_overrun_status; the standard resets
 * these members "to zero", so NO_OVERRUN is zero. */
#define POSIX_TRACE_NO_OVERRUN 0
#define POSIX_TRACE_OVERRUN    1
/* posix_stream_flush_status */
#define POSIX_TRACE_NOT_FLUSHING 0
#define POSIX_TRACE_FLUSHING     1
/* posix_truncation_status */
#define POSIX_TRACE_NOT_TRUNCATED    0
#define POSIX_TRACE_TRUNCATED_RECORD 1
#define POSIX_TRACE_TRUNCATED_READ   2

/* The groups below use disjoint values, so that a constant passed to the
 * wrong function is an error instead of an accident. */
/* stream and log full policies */
#define POSIX_TRACE_LOOP       0x11
#define POSIX_TRACE_UNTIL_FULL 0x12
#define POSIX_TRACE_FLUSH      0x13
#define POSIX_TRACE_APPEND     0x14
/* inheritance */
#define POSIX_TRACE_CLOSE_FOR_CHILD 0x21
#define POSIX_TRACE_INHERITED       0x22
/* posix_trace_eventset_fill() */
#define POSIX_TRACE_WOPID_EVENTS  0x31
#define POSIX_TRACE_SYSTEM_EVENTS 0x32
#define POSIX_TRACE_ALL_EVENTS    0x33
/* posix_trace_set_filter() */
#define POSIX_TRACE_SET_EVENTSET 0x41
#define POSIX_TRACE_ADD_EVENTSET 0x42
#define POSIX_TRACE_SUB_EVENTSET 0x43

/* predefined event types; 2.11.2 and the function pages spell the last one
 * USEREVENT, the header page USER_EVENT: both are here */
#define POSIX_TRACE_START              1U
#define POSIX_TRACE_STOP               2U
#define POSIX_TRACE_FILTER             3U
#define POSIX_TRACE_OVERFLOW           4U
#define POSIX_TRACE_RESUME             5U
#define POSIX_TRACE_FLUSH_START        6U
#define POSIX_TRACE_FLUSH_STOP         7U
#define POSIX_TRACE_ERROR              8U
#define POSIX_TRACE_UNNAMED_USEREVENT  192U
#define POSIX_TRACE_UNNAMED_USER_EVENT POSIX_TRACE_UNNAMED_USEREVENT

/* Limits belong to <limits.h>, which the C library owns; programs written to
 * the rationale's examples expect them from here. */
#ifndef TRACE_EVENT_NAME_MAX
#define TRACE_EVENT_NAME_MAX 255
#endif
#ifndef TRACE_NAME_MAX
#define TRACE_NAME_MAX 63
#endif
#ifndef TRACE_SYS_MAX
#define TRACE_SYS_MAX 64
#endif
#ifndef TRACE_USER_EVENT_MAX
#define TRACE_USER_EVENT_MAX 1024
#endif
#ifndef _POSIX_TRACE_EVENT_NAME_MAX
#define _POSIX_TRACE_EVENT_NAME_MAX 30
#endif
#ifndef _POSIX_TRACE_NAME_MAX
#define _POSIX_TRACE_NAME_MAX 8
#endif
#ifndef _POSIX_TRACE_SYS_MAX
#define _POSIX_TRACE_SYS_MAX 8
#endif
#ifndef _POSIX_TRACE_USER_EVENT_MAX
#define _POSIX_TRACE_USER_EVENT_MAX 32
#endif

/* attributes: life cycle, identification */
int posix_trace_attr_init(trace_attr_t *attr);
int posix_trace_attr_destroy(trace_attr_t *attr);
int posix_trace_attr_getclockres(const trace_attr_t *attr, struct timespec *resolution);
int posix_trace_attr_getcreatetime(const trace_attr_t *attr, struct timespec *createtime);
int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *genversion);
int posix_trace_attr_getname(const trace_attr_t *attr, char *tracename);
int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename);

/* attributes: behaviour */
int posix_trace_attr_getinherited(const trace_attr_t *POSIX_TRACE_RESTRICT_ attr,
                                  int *POSIX_TRACE_RESTRICT_ inheritancepolicy);
int posix_trace_attr_setinherited(trace_attr_t *attr, int inheritancepolicy);
int posix_trace_attr_getlogfullpolicy(const trace_attr_t *POSIX_TRACE_RESTRICT_ attr,
                                      int *POSIX_TRACE_RESTRICT_ logpolicy);
int posix_trace_attr_setlogfullpolicy(trace_attr_t *attr, int logpolicy);
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *POSIX_TRACE_RESTRICT_ attr,
                                         int *POSIX_TRACE_RESTRICT_ streampolicy);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int streampolicy);

/* attributes: sizes in bytes */
int posix_trace_attr_getlogsize(const trace_attr_t *POSIX_TRACE_RESTRICT_ attr,
                                size_t *POSIX_TRACE_RESTRICT_ logsize);
int posix_trace_attr_setlogsize(trace_attr_t *attr, size_t logsize);
int posix_trace_attr_getmaxdatasize(const trace_attr_t *POSIX_TRACE_RESTRICT_ attr,
                                    size_t *POSIX_TRACE_RESTRICT_ maxdatasize);
int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t maxdatasize);
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *POSIX_TRACE_RESTRICT_ attr,
                                           size_t *POSIX_TRACE_RESTRICT_ eventsize);
int posix_trace_attr_getmaxusereventsize(const trace_attr_t *POSIX_TRACE_RESTRICT_ attr,
                                         size_t data_len, size_t *POSIX_TRACE_RESTRICT_ eventsize);
int posix_trace_attr_getstreamsize(const trace_attr_t *POSIX_TRACE_RESTRICT_ attr,
                                   size_t *POSIX_TRACE_RESTRICT_ streamsize);
int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t streamsize);

/* creation, flush, shutdown */
int posix_trace_create(pid_t pid, const trace_attr_t *POSIX_TRACE_RESTRICT_ attr,
                       trace_id_t *POSIX_TRACE_RESTRICT_ trid);
int posix_trace_create_withlog(pid_t pid, const trace_attr_t *POSIX_TRACE_RESTRICT_ attr,
                               int file_desc, trace_id_t *POSIX_TRACE_RESTRICT_ trid);
int posix_trace_flush(trace_id_t trid);
int posix_trace_shutdown(trace_id_t trid);
int posix_trace_clear(trace_id_t trid);

/* start, stop, filter */
int posix_trace_start(trace_id_t trid);
int posix_trace_stop(trace_id_t trid);
int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set);
int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how);

/* trace points and names; posix_trace_event() is async-signal-safe */
void posix_trace_event(trace_event_id_t event_id, const void *POSIX_TRACE_RESTRICT_ data_ptr,
                       size_t data_len);
int posix_trace_eventid_open(const char *POSIX_TRACE_RESTRICT_ event_name,
                             trace_event_id_t *POSIX_TRACE_RESTRICT_ event_id);
int posix_trace_trid_eventid_open(trace_id_t trid, const char *POSIX_TRACE_RESTRICT_ event_name,
                                  trace_event_id_t *POSIX_TRACE_RESTRICT_ event);
int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1, trace_event_id_t event2);
int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event, char *event_name);

/* event sets */
int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set);
int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set);
int posix_trace_eventset_empty(trace_event_set_t *set);
int posix_trace_eventset_fill(trace_event_set_t *set, int what);
int posix_trace_eventset_ismember(trace_event_id_t event_id,
                                  const trace_event_set_t *POSIX_TRACE_RESTRICT_ set,
                                  int *POSIX_TRACE_RESTRICT_ ismember);

/* event-type list, attributes and status of a stream */
int posix_trace_eventtypelist_getnext_id(trace_id_t trid,
                                         trace_event_id_t *POSIX_TRACE_RESTRICT_ event,
                                         int *POSIX_TRACE_RESTRICT_ unavailable);
int posix_trace_eventtypelist_rewind(trace_id_t trid);
int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr);
int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo);

/* logs */
int posix_trace_open(int file_desc, trace_id_t *trid);
int posix_trace_rewind(trace_id_t trid);
int posix_trace_close(trace_id_t trid);

/* reading */
int posix_trace_getnext_event(trace_id_t trid,
                              struct posix_trace_event_info *POSIX_TRACE_RESTRICT_ event,
                              void *POSIX_TRACE_RESTRICT_ data, size_t num_bytes,
                              size_t *POSIX_TRACE_RESTRICT_ data_len,
                              int *POSIX_TRACE_RESTRICT_ unavailable);
int posix_trace_timedgetnext_event(trace_id_t trid,
                                   struct posix_trace_event_info *POSIX_TRACE_RESTRICT_ event,
                                   void *POSIX_TRACE_RESTRICT_ data, size_t num_bytes,
                                   size_t *POSIX_TRACE_RESTRICT_ data_len,
                                   int *POSIX_TRACE_RESTRICT_ unavailable,
                                   const struct timespec *POSIX_TRACE_RESTRICT_ abstime);
int posix_trace_trygetnext_event(trace_id_t trid,
                                 struct posix_trace_event_info *POSIX_TRACE_RESTRICT_ event,
                                 void *POSIX_TRACE_RESTRICT_ data, size_t num_bytes,
                                 size_t *POSIX_TRACE_RESTRICT_ data_len,
                                 int *POSIX_TRACE_RESTRICT_ unavailable);

#ifdef __cplusplus
}
#endif
#endif
