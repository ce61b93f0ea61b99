/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The stream that QNX's commands steer: one of this process, made by ALLOCBUFFER or by START,
 * or one that the program has given.  A child after fork() has none: the parent's stays the
 * parent's.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include "compat/qnx/qnx.h"

#define BUFFER_BYTES 16384u /* of QNX's kernel */
#define BUFFERS      32u    /* the default of tracelogger */
#define BUFFERS_MAX  65536u

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
    pid_t pid; /* whose it is; 0: there is none */
    trace_id_t trid;
    bool own, ring;     /* ring: also for the next stream */
    bool running, used; /* started, now and ever */
    unsigned buffers;
} stream;

static bool have_stream(void)
{
    return stream.pid == getpid();
}

static int make(unsigned buffers, bool ring)
{
    trace_attr_t attr;
    trace_id_t trid;
    int error = posix_trace_attr_init(&attr);

    if (error)
        return error;
    posix_trace_attr_setname(&attr, "qnx");
    posix_trace_attr_setstreamfullpolicy(&attr, ring ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL);
    posix_trace_attr_setstreamsize(&attr, (size_t)buffers * BUFFER_BYTES);
    posix_trace_attr_setmaxdatasize(&attr, POSIXTRACE_QNX_BYTES + 8);
    error = posix_trace_create(0, &attr, &trid);
    posix_trace_attr_destroy(&attr);
    if (error)
        return error;
    stream.pid = getpid();
    stream.trid = trid;
    stream.own = true;
    stream.running = stream.used = false;
    stream.ring = ring;
    stream.buffers = buffers;
    return 0;
}

int pt_qnx_allocate(unsigned buffers)
{
    int error;

    pthread_mutex_lock(&mutex);
    if (have_stream())
        error = EFAULT;
    else if (!buffers)
        error = EINVAL;
    else if (buffers > BUFFERS_MAX)
        error = ENOMEM;
    else
        error = make(buffers, stream.ring);
    pthread_mutex_unlock(&mutex);
    return error;
}

int pt_qnx_deallocate(void)
{
    int error = 0;

    pthread_mutex_lock(&mutex);
    if (!have_stream())
        error = EFAULT;
    else if (stream.own)
        error = posix_trace_shutdown(stream.trid);
    if (!error)
        stream.pid = 0;
    pthread_mutex_unlock(&mutex);
    return error;
}

int pt_qnx_start(bool state)
{
    bool begins;
    int error = 0;

    pthread_mutex_lock(&mutex);
    if (!have_stream())
        error = make(BUFFERS, stream.ring);
    if (!error)
        error = posix_trace_start(stream.trid);
    begins = !error && !stream.running;
    if (begins)
        stream.running = stream.used = true;
    pthread_mutex_unlock(&mutex);
    if (begins && state)
        pt_qnx_put_state();
    return error;
}

/* Without a stream nothing runs, so nothing has to be stopped. */
int pt_qnx_stop(void)
{
    int error = 0;

    pthread_mutex_lock(&mutex);
    if (have_stream())
        error = posix_trace_stop(stream.trid);
    if (!error)
        stream.running = false;
    pthread_mutex_unlock(&mutex);
    return error;
}

/* In a stream without log all recorded events can be read, also from buffers that are not full. */
int pt_qnx_flush(void)
{
    struct posix_trace_status_info status;
    int error;

    pthread_mutex_lock(&mutex);
    error = have_stream() ? posix_trace_flush(stream.trid) : EFAULT;
    if (error == EINVAL)
        error = posix_trace_get_status(stream.trid, &status);
    pthread_mutex_unlock(&mutex);
    return error;
}

int pt_qnx_query(int *events)
{
    struct posixtrace_info info;
    int error;

    pthread_mutex_lock(&mutex);
    error = have_stream() ? posixtrace_get_info(stream.trid, &info, sizeof info) : EFAULT;
    if (!error)
        *events = info.events < INT_MAX ? (int)info.events : INT_MAX;
    pthread_mutex_unlock(&mutex);
    return error;
}

/* The mode belongs to a stream from its creation on: one that was never started has nothing in
 * it, and another takes its place. */
static int change_mode(bool ring)
{
    trace_id_t old = stream.trid;
    int error;

    if (!stream.own || stream.used)
        return EFAULT;
    error = make(stream.buffers, ring);
    if (!error)
        posix_trace_shutdown(old);
    return error;
}

int pt_qnx_set_ring(bool ring)
{
    int error = 0;

    pthread_mutex_lock(&mutex);
    if (!have_stream())
        stream.ring = ring;
    else if (!stream.own || stream.ring != ring)
        error = change_mode(ring);
    pthread_mutex_unlock(&mutex);
    return error;
}

int posixtrace_qnx_use(trace_id_t trid)
{
    struct posix_trace_status_info status;
    int error;

    pthread_mutex_lock(&mutex);
    error = have_stream() ? EFAULT : posix_trace_get_status(trid, &status);
    if (!error) {
        stream.pid = getpid();
        stream.trid = trid;
        stream.own = false;
        stream.running = status.posix_stream_status == POSIX_TRACE_RUNNING;
    }
    pthread_mutex_unlock(&mutex);
    return pt_qnx_result(error);
}

int posixtrace_qnx_stream(trace_id_t *trid)
{
    int error;

    pthread_mutex_lock(&mutex);
    error = trid && have_stream() ? 0 : EFAULT;
    if (!error)
        *trid = stream.trid;
    pthread_mutex_unlock(&mutex);
    return pt_qnx_result(error);
}

/* ---- after fork ---- */

/* Another thread of the parent may have held it; the stream is the parent's. */
static void forked(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    stream.pid = 0;
}

__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(NULL, NULL, forked);
}
