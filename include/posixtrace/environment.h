/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What this library chose in the surroundings that the process runs in, and
 * why: for programs that want to say so, and for bug reports.
 *
 * Functions return 0 or an error number unless they say otherwise.  They are thread-safe, and
 * async-signal-safe only where they say so.
 */
#ifndef POSIXTRACE_ENVIRONMENT_H
#define POSIXTRACE_ENVIRONMENT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum posixtrace_directory_choice {
    POSIXTRACE_DIRECTORY_VARIABLE, /* the directory in POSIXTRACE_DIR */
    POSIXTRACE_DIRECTORY_SHM,      /* /dev/shm/posixtrace-UID */
    POSIXTRACE_DIRECTORY_RUNTIME   /* $XDG_RUNTIME_DIR/posixtrace, as that failed */
};

enum posixtrace_clock_choice {
    POSIXTRACE_CLOCK_CHOICE_TRUSTED,       /* TSC: it is invariant, and the kernel uses it */
    POSIXTRACE_CLOCK_CHOICE_NOT_INVARIANT, /* no time stamp counter of constant rate */
    POSIXTRACE_CLOCK_CHOICE_KERNEL_AVOIDS, /* the kernel's clock source is another one */
    POSIXTRACE_CLOCK_CHOICE_WISHED         /* POSIXTRACE_CLOCK asks for CLOCK_MONOTONIC */
};

struct posixtrace_environment {
    char version[16];     /* of the library */
    char directory[512];  /* where streams are; as posixtrace_stream_directory() */
    int directory_choice; /* enum posixtrace_directory_choice */
    int directory_error;  /* 0: it is there and private; ENOENT: it is not made yet, or
                             * cannot be; else why it is not used.  Streams are then in
                             * memory without a name, which ends with the process */
    int clock;            /* enum posixtrace_clock of new streams */
    int clock_choice;     /* enum posixtrace_clock_choice */
};

/*
 * Looks, and makes nothing.  size is sizeof *environment as the caller knows
 * it: later versions may add members at the end, and an older program gets none of
 * these; members that this version does not know are zero.  Thread-safe, not
 * async-signal-safe.
 *
 * EINVAL  environment is NULL, or size is 0
 */
int posixtrace_get_environment(struct posixtrace_environment *environment, size_t size);

/*
 * Whether this process records itself because of POSIXTRACE_RECORD (posixtrace(7)).  log gets the
 * name of its log, cut to size bytes; until the process opens an event type, the value of the
 * variable; "" if that is not set.  *why is 0 if the process records itself, or would; else an
 * error number: EINVAL if another POSIXTRACE_RECORD_* is not understood, EBUSY if the log belongs
 * to another process, EEXIST if the name belongs to another file, ESRCH if the process that records
 * itself was an ancestor of this one and has ended, or the error of opening the log or creating the
 * stream.  Thread-safe, not async-signal-safe.
 *
 * EINVAL  log or why is NULL, or size is 0
 */
int posixtrace_get_self_record(char *log, size_t size, int *why);

/*
 * For EINVAL there: which of the variables is not understood, and why, as a line without a newline,
 * cut to size bytes; at most 512.  "" if all are understood.  Thread-safe, not async-signal-safe.
 *
 * EINVAL  fault is NULL, or size is 0
 */
int posixtrace_get_self_record_fault(char *fault, size_t size);

#ifdef __cplusplus
}
#endif
#endif
