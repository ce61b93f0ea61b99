/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Versions, and the decisive check: a child process traces, first into memory, then into a log, and
 * must read its events back.  These two decide whether tracing works; all other findings explain.
 *
 * The child stores its progress in shared memory, because a filter of system calls may end it at
 * any step.
 */
#include "doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <posixtrace/environment.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <trace.h>

#include "system/child.h"
#include "system/temp_stream_dir.h"

enum { EVENTS = 1000 };

struct trial {
    bool with_log;
    const char *volatile step; /* the child's present step; a constant text */
    struct posixtrace_info info;
};

void doctor_versions(void)
{
    struct posixtrace_environment e;
    struct utsname u;

    posixtrace_get_environment(&e, sizeof e);
    doctor_add(FINE, "library", "%s; this tool %s", e.version, POSIXTRACE_VERSION);
    if (uname(&u) == 0)
        doctor_add(FINE, "kernel", "%s %s, %s", u.sysname, u.release, u.machine);
}

/* A file without a name for the trial's log. */
static int log_file(void)
{
    int fd = memfd_create("posixtrace-doctor", MFD_CLOEXEC);

    return fd >= 0 ? fd : open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static int record(trace_event_id_t id)
{
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(id, &i, sizeof i);
    return 0;
}

/* EPROTO: the events are not those that were recorded. */
static int read_back(trace_id_t trid, trace_event_id_t id)
{
    int error = 0, unavailable = 0, next = 0, number;
    struct posixtrace_event e;

    while ((error = posixtrace_next_event(trid, &e, sizeof e, &unavailable)) == 0 && !unavailable) {
        if (e.id != id)
            continue;
        if (e.data_len != sizeof number)
            return EPROTO;
        memcpy(&number, e.data, sizeof number);
        if (number != next++)
            return EPROTO;
    }
    return error ? error : next == EVENTS ? 0 : EPROTO;
}

static int reopen(int log, trace_event_id_t id)
{
    trace_id_t trid;
    int error;

    if (lseek(log, 0, SEEK_SET) < 0)
        return errno;
    error = posix_trace_open(log, &trid);
    if (!error)
        error = read_back(trid, id);
    return error;
}

/* The steps by name: the first that fails ends the trial. */
static int try_out(void *context)
{
    struct trial *t = context;
    trace_event_id_t id;
    trace_id_t trid;
    int log = -1, error;

    t->step = "posix_trace_eventid_open";
    error = posix_trace_eventid_open("trial", &id);
    if (!error && t->with_log) {
        t->step = "making a file for the log";
        log = log_file();
        error = log < 0 ? errno : 0;
    }
    if (!error) {
        t->step = t->with_log ? "posix_trace_create_withlog" : "posix_trace_create";
        error = t->with_log ? posix_trace_create_withlog(0, NULL, log, &trid)
                            : posix_trace_create(0, NULL, &trid);
    }
    if (!error) {
        t->step = "posix_trace_start";
        error = posix_trace_start(trid);
    }
    if (!error) {
        t->step = "posix_trace_event";
        error = record(id);
    }
    if (!error) {
        t->step = "posixtrace_get_info";
        error = posixtrace_get_info(trid, &t->info, sizeof t->info);
    }
    if (!error && !t->with_log) {
        t->step = "reading the stream";
        error = read_back(trid, id);
    }
    if (!error) {
        t->step = "posix_trace_shutdown";
        error = posix_trace_shutdown(trid);
    }
    if (!error && t->with_log) {
        t->step = "reading the log";
        error = reopen(log, id);
    }
    return error;
}

/* Returns whether it worked. */
static bool run_trial(struct trial *t, bool with_log)
{
    const char *what = with_log ? "trial with a log" : "trial in memory";
    int result;

    t->with_log = with_log;
    t->step = "start of the process";
    result = child_run(try_out, t);
    if (result == 0) {
        doctor_add(FINE, what, "%d events recorded and read back", EVENTS);
        return true;
    }
    doctor_add(BAD, what, "%s: %s", t->step,
               result == EPROTO ? "not the events that were recorded" : child_text(result));
    doctor_means("%s", result < 0 ? "nothing could be tried out; a log takes a thread, which "
                                    "counts as a process"
                       : with_log ? "programs cannot write logs here"
                                  : "programs cannot trace here");
    switch (result) {
    case EMFILE:
    case ENFILE: doctor_remedy("allow more open files: ulimit -n 64"); break;
    case ENOMEM:
    case ENOSPC:
        doctor_remedy("give memory: see the stream directory, RLIMIT_AS and container below");
        break;
    case EAGAIN:
    case -EAGAIN:
        doctor_remedy("allow more processes and threads (ulimit -u, pids.max of the container), "
                      "or remove streams: posixtrace list --reap");
        break;
    case EFBIG: doctor_remedy("allow larger files: see RLIMIT_FSIZE below"); break;
    default: doctor_remedy("see seccomp, and the system calls that are refused, below"); break;
    }
    return false;
}

static void judge_barrier(const struct trial *t)
{
    if (t->info.barrier) {
        doctor_add(FINE, "membarrier", "works: an event needs no fence");
        return;
    }
    doctor_add(NOTE, "membarrier", "refused");
    doctor_means("each event carries a full fence, some 20 cycles more");
    doctor_remedy("allow membarrier(2) in the filter of system calls, or a kernel with "
                  "CONFIG_MEMBARRIER, Linux 4.16 or later");
}

void doctor_trial(void)
{
    struct trial *t = child_share(sizeof *t);
    struct temp_stream_dir own;

    if (!t) {
        doctor_add(BAD, "trial", "no memory to share with a child: %s", strerror(errno));
        doctor_means("programs cannot trace here");
        doctor_remedy("see RLIMIT_AS below");
        return;
    }
    /* a child that is killed leaves files */
    temp_stream_dir_enter(&own);
    if (run_trial(t, false)) {
        judge_barrier(t);
        run_trial(t, true);
    }
    temp_stream_dir_leave(&own);
    munmap(t, sizeof *t);
}
