/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace record, in parts: launch starts the program, recording gives each process a stream
 * with a log and a filter, watch waits for the end, and report prints the results.
 *
 * One process, one recording: the recorder owns the streams and is not traced
 * itself.  The order at the start matters: the child waits before exec until its stream runs, so
 * that its first event is recorded; and the log is opened only after the program was found.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <trace.h>
#include "input/log_place.h"
#include "input/filter_option.h"

enum record_policy { RECORD_FLUSH, RECORD_LOOP, RECORD_UNTIL_FULL };

struct record_request {
    const char *log; /* pattern with %p, or NULL */
    char **command;  /* NULL-terminated; NULL: --pid */
    pid_t *pids;
    size_t pid_count;
    struct filter_option filter;
    uint64_t size, log_size; /* 0: not given */
    int policy;              /* enum record_policy */
    bool calls, switches;    /* --system */
    bool some_calls;         /* of the calls only those that are not in unwanted */
    trace_event_set_t unwanted;
    bool functions;         /* of a program that calls the profiling hooks */
    int64_t longer_than;    /* ns; 0: all calls */
    unsigned stacks;        /* addresses of each at most; 0: none */
    uint64_t switch_buffer; /* 0: not given */
    bool rotates;           /* the log in pieces, in outdir */
    struct posixtrace_rotation rotation;
    const char *outdir;
    bool zstd, print, quiet;
};

struct recording {
    pid_t pid;
    int pidfd;      /* -1: the kernel has none, look from time to time */
    uint64_t start; /* start time, for when there is no pidfd */
    char *log;
    char *pieces; /* of a log in pieces: FOLDER/ID (input/folder.h); else NULL */
    int fd;
    bool made;              /* the log was not there before */
    bool regular;           /* and can be read back */
    bool named;             /* and had a name at the start: else it may be /dev/fd/N */
    struct log_place place; /* and the log that was there before */
    int locked;             /* the descriptor of that one, with the lock; -1: none */
    bool active;            /* has a stream */
    bool over;              /* the process has ended */
    bool unseen;            /* it may have no page (record_unseen.c), as was reported */
    int error;              /* of recording_end() */
    trace_id_t trid;
    uint64_t switch_buffer; /* of the kernel, for each processor; 0: none */
    uint64_t shown_events;  /* at the last live line */
    bool removed;           /* the log, or its folder, was removed while it was written */
    uint64_t gone_events;   /* and has so many events */
    uint64_t lacks;         /* so many events at least are lost that the log does not count */
};

/* The reason for the end of the wait. */
struct watch_end {
    bool left;  /* the program continues, the recorder does not wait */
    int signal; /* that asked us to stop, or 0 */
    int status; /* of the program, as from waitpid() */
};

/* record_log.c.  EXIT_DONE, or another status after an error message.  A worker (apart.h) only gets
 * the name: it already has its descriptor. */
int record_log_open(struct recording *r, const struct record_request *q, const char *program);
/* Locks the file as its writer for a stream that cannot do it, if possible.  EXIT_FAILED: a stream
 * writes the file, which was reported. */
int record_log_lock(struct recording *r);
/* Called when the recording has started: removes the earlier log of that name. */
void record_log_keep(struct recording *r);
/* Removes the new log and restores the earlier one. */
void record_log_drop(struct recording *r);
/* Reports the process that already writes the log; EXIT_FAILED. */
int record_log_busy(const char *log);
/* Is there a %p in the pattern? */
bool record_log_has_pid(const char *pattern);

/* record_stream.c.  make: without a log and a stream yet.  begin: pid is set; opens log and
 * stream and starts it. */
struct recording recording_make(pid_t pid);
int recording_begin(struct recording *r, const struct record_request *q, const char *program);
/* The name of its segment in the stream directory; NULL: it has none. */
const char *recording_file(const struct recording *r);
/* Adds the living processes that it records, and descendants of the program that have not recorded
 * anything yet; pids are for free(). */
struct recording_alive {
    pid_t *pids;
    size_t count;
};
void recording_alive(const struct recording *r, struct recording_alive *alive);
/* Ends the stream and completes the log, once; r->error tells how it went. */
void recording_end(struct recording *r);
/* Ends a recording that began and cannot continue. */
void recording_drop(struct recording *r);

/* record_system.c */
/* Parses the value of --system, NULL: all.  EXIT_DONE, or EXIT_USAGE after an error message. */
int record_system_parse(struct record_request *q, const char *kinds);
/* Parses the value of --stacks, NULL: none is given. */
int record_system_stacks(struct record_request *q, const char *value);
/* Asks the program that is started for them. */
bool record_system_set_stacks(unsigned stacks);
/* Parses the value of --longer-than. */
int record_system_longer(struct record_request *q, const char *value);
/* Puts it into the environment; false: errno. */
bool record_system_set_longer(int64_t ns);
/* After all options: with --functions the events of functions are wanted, too. */
int record_system_functions(struct record_request *q);
bool record_system_set_functions(void);
/* record_static.c: says so if the calls of the program cannot be recorded. */
void record_static_warn(const char *path);

/* The library that traces calls, for free(); NULL after an error message. */
char *record_system_preload(void);
/* Appends it to LD_PRELOAD; false: no memory. */
bool record_system_set_preload(const char *library);
/* Makes the stream list the types; reports those that cannot be recorded.  An error number. */
int record_system_begin(struct recording *r, const struct record_request *q);

/* record_switches.c */
/* Checks a size of the kernel's rings.  text: as given.  EXIT_DONE, or EXIT_USAGE after an error
 * message. */
int record_switch_buffer_check(uint64_t bytes, const char *text);
/* Reports a refusal of the kernel, and its limit.  An error number. */
int record_switches_begin(struct recording *r, const struct record_request *q);
/* If the kernel lost switches, reports the size that would have avoided it. */
void record_switches_report(const struct recording *r, uint64_t lost);

/* record_pieces.c: a log in pieces.  parse, keep and check: EXIT_DONE, or EXIT_USAGE after an error
 * message. */
int record_pieces_parse(struct record_request *q, const char *value);
int record_pieces_keep(struct record_request *q, const char *value);
int record_pieces_check(const struct record_request *q);
/* Makes the folder, and completes what killed recordings have left in it. */
int record_pieces_prepare(const struct record_request *q);
/* The name of the first piece, for free(). */
char *record_pieces_name(const struct record_request *q, const char *program, pid_t pid);
/* With a stream that does not run yet.  An error number, after a message. */
int record_pieces_begin(struct recording *r, const struct record_request *q);

/* record_removed.c */
/* Is there a log that can be removed, and was not yet? */
bool record_removed_may_be(const struct recording *r);
/* Called from time to time: says once that it was removed. */
void record_removed_look(struct recording *r, const struct record_request *q);
/* The same before the log is completed. */
void record_removed_end(struct recording *r, const struct record_request *q);
/* In place of a report; EXIT_FAILED. */
int record_removed_report(const struct recording *r, const struct record_request *q);

/* record_launch.c */
struct launch {
    char **argv;
    char *path; /* of the program's file */
    pid_t pid;
    int channel;   /* to the child; -1: gone */
    char *preload; /* a library for LD_PRELOAD, or NULL */
    bool functions;
    int64_t longer_than; /* ns; 0: all calls */
    unsigned stacks;     /* addresses of each at most; 0: none */
};
/* Finds the program.  EXIT_DONE, or 126 or 127 after an error message. */
int launch_find(struct launch *l, char **argv);
/* The child, waiting; the program gets the signals as they were before signals_begin(). */
int launch_fork(struct launch *l);
/* Lets it execute the program, which finds the stream by this name. */
int launch_go(struct launch *l, const char *stream_file);
void launch_cancel(struct launch *l);
/* Exit status of a shell for it. */
int launch_status(int wait_status);

/* record_apart.c: processes of other users, for root. */
int record_apart(const struct record_request *q);

/* verb_record.c: prints the log. */
int record_print(const struct recording *r);

/* record_signals.c */
/* Blocks the signals that end a recording. */
void signals_begin(void);
/* In the child, before exec: mask and actions as before signals_begin(). */
void signals_restore(void);
/* A signalfd for those that are blocked, or -1. */
int signals_open(void);
/* From now on signals end this program; left_undone is printed before (NULL: nothing). */
void signals_let(const char *left_undone);
/* They are blocked again. */
void signals_hold(void);
/* Is the signal that has come to be acted on?  Not if it is a key of the terminal and was
 * ignored at the start, or if the same came just before.  code: si_code. */
bool signals_count(int number, int code);
/* SIGINT is the weakest, 0. */
int signals_rank(int number);
/* Does the process ignore the signal? */
bool signals_ignores(pid_t pid, int number);
int64_t signals_now_ms(void);

/* record_watch.c */
int watch_pidfd(pid_t pid);
/* The live line: so many events in so many milliseconds. */
void watch_show(uint64_t events, int64_t ms, double fill, uint64_t lost);
/* Until all processes have ended, or a signal comes.  own: r[0] is a child of
 * ours, and is reaped; else the recording of a process that ends is ended, too. */
void watch(struct recording *r, size_t count, const struct record_request *q, bool own,
           struct watch_end *end);

/* record_report.c.  Reports the recorded events, or the reason why there are none; path: the
 * program's file, or NULL.  EXIT_DONE, or EXIT_FAILED if the log is not whole. */
int record_report(const struct recording *r, const struct record_request *q, const char *path);
/* The name of a process, "?" if it cannot be seen. */
void record_process_name(pid_t pid, char *to, size_t size);
/* Reports if the process cannot record anything in its present state. */
void record_report_waiting(struct recording *r, const struct record_request *q);
/* record_unseen.c.  What the process may write into a file, if that may be why it has no page; else
 * RECORD_SEEN. */
#define RECORD_SEEN UINT64_MAX
uint64_t record_unseen_limit(pid_t pid);
/* Reports that.  True: it is so. */
bool record_unseen_note(const struct recording *r);
/* Names those of the processes that are still alive and not r's own. */
void record_report_alive(const struct recording *r, const struct recording_alive *alive);

#endif
