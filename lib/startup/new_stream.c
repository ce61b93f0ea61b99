/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See new_stream.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/brief_files.h"
#include "control/at_exit.h"
#include "control/control.h"
#include "directory/reap.h"
#include "directory/settle.h"
#include "source/perf.h"
#include "source/run_times.h"
#include "startup/new_stream.h"

/* As if the attribute was set; not for set-id programs. */
static bool environment_wants_switches(void)
{
    const char *wish = secure_getenv("POSIXTRACE_SYSTEM_SWITCHES");

    return wish && strcmp(wish, "1") == 0;
}

/* Called for the first stream of a process: completes the logs of killed programs. */
static void settle_left(int log)
{
    static uint32_t done;
    struct pt_log_look own = { .looks = 0 };
    struct stat st;
    uint32_t no = 0;
    uint64_t left;

    if (!pt_cas_seqcst(&done, &no, 1u))
        return;
    own.has_own = log >= 0 && fstat(log, &st) == 0;
    if (own.has_own) {
        own.own_dev = st.st_dev;
        own.own_ino = st.st_ino;
    }
    pt_brief_files_enter();
    left = pt_reap_step(&own);
    pt_brief_files_leave();
    pt_settle_start(left, &own);
}

int pt_create(const struct pt_attr *attr, int fd, const struct pt_target *target, trace_id_t *trid)
{
    struct pt_attr wanted = *attr;
    struct pt_stream *s = NULL;
    uint32_t instance;
    int r;

    settle_left(fd);
    pt_switches_use(&pt_perf_switches, &pt_run_times);
    if (fd >= 0 && environment_wants_switches())
        wanted.switches = 1;
    r = pt_creation_begin(&instance);
    if (r < 0)
        return r;
    r = pt_stream_create(&s, &wanted, fd, target);
    if (r == 0) {
        r = pt_handle_add(s, trid);
        if (r < 0)
            pt_stream_destroy(s, 0);
    }
    pt_unfinished_end(PT_CREATIONS, instance);
    return r;
}
