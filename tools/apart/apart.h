/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Work for root on a process of another user.  That process can write and truncate its mapped
 * memory at any moment, so another process that maps it should have no more rights.  So a child,
 * the worker, takes the ids of the target (posixtrace_take_ids_of()), keeps no descriptor but one
 * pipe, and does the work.  Root opens and writes files, and maps nothing.
 *
 *   root                              worker
 *   opens the log                     maps segment, page and names of the target
 *   reads frames, checks them  <----  log, text, results, counts
 *   writes log and terminal
 *
 * A frame is a kind, a length and so many bytes.  The target may have taken over the worker: an
 * invalid frame, or one longer than APART_MOST, ends the worker; a log has to consist of packets
 * (apart_log.c); text is escaped.  The death of a worker is an error, and events that it has
 * recorded and not sent are counted as lost.
 *
 * Root never waits for ever.  A working worker sends a sign of life every second, an empty text if
 * it has nothing else; one that sends none for APART_PATIENCE was stopped by its user, or does
 * something else, and is killed.  During a recording that happens only when the target has ended: a
 * stopped worker may be continued before, and misses nothing.  A slow reader of the pipe that is
 * the log keeps root waiting until a signal comes.
 *
 *   apart.c         root's side
 *   apart_worker.c  the worker's
 *   apart_log.c     the checks of a log
 */
#ifndef APART_H
#define APART_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { APART_HEADER = 4096 };
enum { APART_MOST = 1 << 16, APART_LINE = 1000, APART_TEXT_MOST = 1 << 20 };
/* Milliseconds. */
enum { APART_BEAT = 1000, APART_PATIENCE = 10000 };
enum apart_kind { APART_LOG = 1, APART_TEXT, APART_RESULT, APART_COUNTS };

struct apart_head {
    uint32_t kind, length;
};

/* The progress of a recording, as the worker reports it. */
struct apart_counts {
    uint64_t events, lost, bytes, reserved;
};

/* ---- apart_log.c ---- */

/* The bytes of a log, as they come. */
struct apart_log {
    uint64_t bytes, lsn; /* so far; of the last packet */
    uint64_t left;       /* of the header block or packet that has begun */
    uint64_t events;     /* in packets that have begun */
    uint64_t most;       /* not 0: so many bytes at most, in any order after the header */
    uint8_t head[96];    /* of the next one, the bytes received so far */
    uint32_t have;
    bool loops; /* the header may name a ring: a log with a limit */
    bool ended; /* the END packet has come */
};

/* How long the file of a log of a size can get. */
uint64_t apart_log_most(uint64_t size, bool loops);
/* False: no log continues like that. */
bool apart_log_check(struct apart_log *log, const uint8_t *bytes, size_t length);

/* ---- apart.c: root's side ---- */

struct apart {
    pid_t target, worker;
    int fd;
    bool over;                       /* the worker has gone; status is set */
    bool hostile;                    /* it was ended because of its data */
    bool silent;                     /* it was ended because it sent nothing */
    int patience;                    /* ms without a sign of life */
    int64_t heard;                   /* when the last one came, or the log took what was pending */
    int status;                      /* as from waitpid() */
    uint64_t left;                   /* events found in its remaining segment after its death */
    int error;                       /* of the log's file */
    int log;                         /* descriptor of the log; -1: none is expected.  Not closed */
    struct apart_log check, written; /* of the received bytes, and of the bytes in the file */
    uint8_t header[APART_HEADER];    /* the first bytes of the log, */
    size_t kept;                     /* so many of them */
    bool cut;                        /* another program has truncated the log */
    size_t pending; /* bytes of the log at the buffer's start that it has not taken */
    struct apart_counts counts;
    uint8_t *buffer;
    size_t have;
    char line[APART_LINE]; /* of messages */
    size_t used, text;
    uint8_t before; /* the last byte of results */
};

/* Is root to use a worker for that process?  Not for one of root's own, or none. */
bool apart_needed(pid_t pid);

/* Forks.  *worker: true in the worker, which has the target's ids and returns with EXIT_DONE only;
 * false in root's process, which may return another status after an error message. */
int apart_fork(struct apart *a, pid_t target, int log, bool *worker);
/* The descriptor for poll() that apart_read() waits for: the worker, or a log that does not
 * block. */
struct pollfd apart_awaits(const struct apart *a);
/* Reads the available bytes, or waits for some; false: the worker has gone. */
bool apart_read(struct apart *a);
/* Nothing has come for as long as there is patience, though root would have read it. */
bool apart_is_silent(const struct apart *a);
/* As apart_read(), but a worker that is silent is killed. */
bool apart_listen(struct apart *a);
/* Kills a worker that is silent. */
void apart_give_up(struct apart *a);
/* As apart_read() until it has gone, or so many milliseconds are over: then it is killed. */
void apart_read_within(struct apart *a, int ms);
/* The log takes no more: an error number.  All later events are lost. */
void apart_drop_log(struct apart *a, int error);
/* Kills the worker, whatever it still has to say. */
void apart_kill(struct apart *a);
/* At least so many events have come to the worker and not into the log. */
uint64_t apart_lost(const struct apart *a);
/* After that: frees, and the exit status of the work; a death is said. */
int apart_end(struct apart *a);

/* For verbs that only talk: returns in the worker, or where none is needed.  Root's process
 * shows what the worker says, and exits with its status. */
int apart_enter(pid_t target);

/* ---- apart_worker.c: the worker's side ---- */

/* The child of apart_fork(). */
int apart_begin(int pipe, pid_t target);
bool apart_is_worker(void);
/* A descriptor: bytes written to it go to root's log. */
int apart_log_pipe(void);
/* Sends all of a file as the log. */
int apart_log_file(int fd);
void apart_send_counts(const struct apart_counts *counts);

#endif
