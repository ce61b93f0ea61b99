/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The stream directory that the library chose, and its contents.  Checked after the trial, which
 * makes it: if it is still missing then, it cannot be made.
 */
#include "doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <posixtrace/environment.h>
#include <posixtrace/stream.h>
#include <stdbool.h>
#include <trace.h>
#include <unistd.h>

#include "common/units.h"
#include "system/place.h"
#include "common/tool.h"

/* The library's default stream, and the memory that one stream may grow to. */
#define STREAM_DEFAULT (1u << 20)
#define STREAM_CAP     (64u << 20)

static const char *why(int choice)
{
    switch (choice) {
    case POSIXTRACE_DIRECTORY_VARIABLE: return "POSIXTRACE_DIR says so";
    case POSIXTRACE_DIRECTORY_SHM: return "the default";
    case POSIXTRACE_DIRECTORY_RUNTIME: return "in XDG_RUNTIME_DIR, as /dev/shm could not be used";
    default: return "for a reason not known to this tool";
    }
}

static const char *state(const struct posixtrace_environment *e)
{
    static char text[160];
    struct stat st;

    if (lstat(e->directory, &st) < 0)
        snprintf(text, sizeof text, "it cannot be made: %s",
                 errno == ENOENT ? "its parent does not exist, or is closed or read-only"
                                 : strerror(errno));
    else if (e->directory_error != EACCES)
        snprintf(text, sizeof text, "%s", strerror(e->directory_error));
    else if (!S_ISDIR(st.st_mode))
        snprintf(text, sizeof text, "it is %s",
                 S_ISLNK(st.st_mode) ? "a symbolic link" : "not a directory");
    else if (st.st_uid != geteuid())
        snprintf(text, sizeof text, "it belongs to user %u, not to user %u", (unsigned)st.st_uid,
                 (unsigned)geteuid());
    else
        snprintf(text, sizeof text, "its mode is %04o and must be 0700",
                 (unsigned)(st.st_mode & 07777));
    return text;
}

static void memory_only(const char *where, const char *reason, const char *remedy)
{
    doctor_add(NOTE, "stream directory", "%s: not used, %s", where, reason);
    doctor_means("streams are in memory without a name: what a process had not flushed when it "
                 "is killed ends with it, and posixtrace list does not show its streams");
    doctor_remedy("%s", remedy);
}

static int is_ours(void *unused, const struct posixtrace_stream *s)
{
    (void)unused;
    return s->owner == getpid();
}

/* Does a stream get a file in the directory?  True also where none can be made, which the trial
 * has reported, and where the limit for files is the reason. */
static bool holds_stream(void)
{
    struct rlimit limit;
    trace_id_t trid;
    bool holds;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY ||
        posix_trace_create(0, NULL, &trid) != 0)
        return true;
    holds = posixtrace_stream_list(is_ours, NULL) == 1;
    posix_trace_shutdown(trid);
    return holds;
}

/* There is room. */
static void tell_no_file(const struct file_system *p)
{
    doctor_add(NOTE, "its file system", "%s, in which a stream gets no file", p->type);
    doctor_means("it has no free inodes, or no fallocate() or hard links: streams are in memory "
                 "without a name, and posixtrace record makes none");
    doctor_remedy("a directory in another tmpfs for POSIXTRACE_DIR, or more inodes: "
                  "mount -o remount,nr_inodes=100000");
}

static void judge_space(const struct posixtrace_environment *e)
{
    struct file_system p;

    if (!place_look(e->directory, &p)) {
        doctor_add(NOTE, "its file system", "cannot be asked: %s", strerror(errno));
        return;
    }
    if ((p.size == 0 || p.space >= STREAM_CAP) && !holds_stream()) {
        tell_no_file(&p);
        return;
    }
    if (!p.in_memory) {
        doctor_add(NOTE, "its file system", "%s, not in memory; %s of %s free", p.type,
                   units_bytes(p.space), units_bytes(p.size));
        doctor_means("the kernel writes events to a disk in the background: slower, and uneven");
        doctor_remedy("a directory of a tmpfs for POSIXTRACE_DIR, or leave it unset");
        return;
    }
    /* a tmpfs without a limit has size 0 */
    if (p.size == 0 || p.space >= STREAM_CAP) {
        doctor_add(FINE, "its file system", "%s, %s of %s free", p.type, units_bytes(p.space),
                   units_bytes(p.size));
        return;
    }
    doctor_add(NOTE, "its file system", "%s, only %s of %s free", p.type, units_bytes(p.space),
               units_bytes(p.size));
    doctor_means(p.space < STREAM_DEFAULT
                     ? "a stream of default size finds no room and is in memory without a name"
                     : "a large stream, or one of many threads, finds no room here");
    doctor_remedy("remove unneeded files from it, or make it larger: "
                  "mount -o remount,size=1G, for a container --shm-size=1g");
}

void doctor_directory(void)
{
    struct posixtrace_environment e;

    posixtrace_get_environment(&e, sizeof e);
    if (e.directory_error) {
        memory_only(
            quote(e.directory), state(&e),
            e.directory_choice == POSIXTRACE_DIRECTORY_VARIABLE
                ? "correct POSIXTRACE_DIR, or leave it unset"
                : "set POSIXTRACE_DIR to a directory of your own with mode 0700, in a tmpfs");
        return;
    }
    doctor_add(FINE, "stream directory", "%s (%s), private", quote(e.directory),
               why(e.directory_choice));
    judge_space(&e);
}

struct left {
    unsigned alive, dead, unknown;
    uint64_t unsaved, bytes;
};

static int count_stream(void *context, const struct posixtrace_stream *s)
{
    struct left *l = context;

    l->alive += s->liveness == POSIXTRACE_LIVENESS_ALIVE;
    l->unknown += s->liveness == POSIXTRACE_LIVENESS_UNKNOWN;
    if (s->liveness == POSIXTRACE_LIVENESS_DEAD) {
        l->dead++;
        l->unsaved += s->unsaved;
        l->bytes += s->bytes;
    }
    return 0;
}

/* Losses by the limit for the segments of killed programs, or by force. */
static void tell_lost(void)
{
    uint64_t streams, events;

    posixtrace_stream_lost(&streams, &events);
    if (streams == 0)
        return;
    doctor_add(NOTE, "removed streams", "%" PRIu64 ", with %" PRIu64 " events", streams, events);
    doctor_means("they were left by killed processes, no log could take their events, and they "
                 "were beyond the limit or removed by force: their logs count these as lost");
    doctor_remedy("keep logs where they can be completed; see POSIXTRACE_LEFT_LIMIT in "
                  "posixtrace(7)");
}

void doctor_left_streams(void)
{
    struct left l = { 0 };
    int error = posixtrace_stream_list(count_stream, &l);

    tell_lost();

    if (error != 0)
        return; /* the check of the directory has reported it */
    if (l.dead > 0) {
        doctor_add(NOTE, "streams", "%u alive, %u of killed processes (%s)", l.alive, l.dead,
                   units_bytes(l.bytes));
        doctor_means("they take memory, and hold %" PRIu64 " events that no log has", l.unsaved);
        doctor_remedy("posixtrace list, then posixtrace list --reap");
    } else if (l.unknown > 0) {
        doctor_add(NOTE, "streams", "%u alive, %u that may be alive or dead", l.alive, l.unknown);
        doctor_means("they belong to another pid namespace or are no streams, and are never "
                     "removed");
        doctor_remedy("look with 'posixtrace list'; remove the files if no program uses them");
    } else {
        doctor_add(FINE, "streams", "%u alive, none of killed processes", l.alive);
    }
}
