/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See new_stream.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "control/at_exit.h"
#include "control/control.h"
#include "directory/make_room.h"
#include "page/target.h"
#include "place/place.h"
#include "process/self.h"
#include "shm/segment.h"
#include "source/perf.h"
#include "source/run_times.h"
#include "startup/new_stream.h"

/* As if the attribute was set; not for set-id programs. */
static bool environment_wants_switches(void)
{
    const char *wish = secure_getenv("POSIXTRACE_SYSTEM_SWITCHES");

    return wish && strcmp(wish, "1") == 0;
}

/* Which log a stream is to have. */
static struct pt_log_look look_of(int log)
{
    struct pt_log_look own = { .looks = 0 };
    struct stat st;

    own.has_own = log >= 0 && fstat(log, &st) == 0;
    if (own.has_own) {
        own.own_dev = st.st_dev;
        own.own_ino = st.st_ino;
    }
    return own;
}

/* In whose directory the stream will be. */
static uid_t uid_of(const struct pt_target *target)
{
    return target ? target->uid : pt_place_uid();
}

/* Removes what killed programs have left, and completes their logs.  The stream is counted. */
static void settle_left(const struct pt_attr *attr, uid_t uid, const struct pt_log_look *own)
{
    static pt_u64 steps;
    uint32_t chunk_size, chunks;
    bool step = pt_self_inside(&steps) < pt_held_count();

    if (step)
        pt_self_enter(&steps);
    pt_seg_geometry(attr, &chunk_size, &chunks);
    pt_make_room(uid, (uint64_t)chunk_size * chunks, step, own);
}

/* Again where the first time there was no memory, which others may have left. */
static int create(struct pt_stream **s, const struct pt_attr *attr, int fd,
                  const struct pt_target *target, const struct pt_log_look *own)
{
    int r = pt_stream_create(s, attr, fd, target);

    if (r == -ENOMEM && pt_make_room_at_once(uid_of(target), own))
        r = pt_stream_create(s, attr, fd, target);
    return r;
}

static int add(const struct pt_attr *attr, int fd, const struct pt_target *target,
               const struct pt_log_look *own, uint32_t held, trace_id_t *trid)
{
    struct pt_stream *s = NULL;
    uint32_t instance;
    int r = pt_creation_begin(&instance);

    if (r < 0) {
        pt_held_end(held);
        return r;
    }
    r = create(&s, attr, fd, target, own);
    if (r < 0)
        pt_held_end(held);
    else
        s->held = held;
    if (r == 0) {
        r = pt_handle_add(s, trid);
        if (r < 0)
            pt_stream_destroy(s, 0);
    }
    pt_unfinished_end(PT_CREATIONS, instance);
    return r;
}

int pt_create(const struct pt_attr *attr, int fd, const struct pt_target *target, trace_id_t *trid)
{
    struct pt_log_look own = look_of(fd);
    struct pt_attr wanted = *attr;
    uint32_t held = pt_held_begin();

    settle_left(attr, uid_of(target), &own);
    pt_switches_use(&pt_perf_switches, &pt_run_times);
    if (fd >= 0 && environment_wants_switches())
        wanted.switches = 1;
    return add(&wanted, fd, target, &own, held, trid);
}
