/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See make_room.h. */
#include <unistd.h>
#include "base/brief_files.h"
#include "directory/make_room.h"
#include "directory/reap.h"
#include "directory/settle.h"
#include "place/dir.h"
#include "place/place.h"
#include "place/room.h"

/* About what a stream takes beyond its size: header, chunks of threads, page, name map. */
static uint64_t with_all(uint64_t bytes)
{
    return bytes + bytes / 4 + (192u << 10);
}

/* Only programs of a directory's user settle what it has beyond the limit: a look at all of another
 * user's would not make it less. */
static void make_step(uid_t uid, uint64_t bytes, const struct pt_log_look *own)
{
    bool ours = uid == pt_place_uid();
    struct pt_left_bytes left;

    pt_brief_files_enter();
    left = pt_reap_step(uid, own, bytes);
    if (ours && left.unseen > 0 && left.stay + left.unseen > pt_settle_limit())
        pt_reap_near(uid, PT_REAP_EASY, own, &left.stay);
    pt_brief_files_leave();
    if (ours)
        pt_settle_start(left.stay, own);
}

static bool has_room(uid_t uid, uint64_t bytes)
{
    int dir = pt_dir_open_of(uid, false);
    bool has = dir < 0 || pt_room_is_left(dir, bytes);

    if (dir >= 0)
        close(dir);
    return has;
}

/* The directories of all users are usually in one file system. */
bool pt_make_room_at_once(uid_t uid, const struct pt_log_look *own)
{
    unsigned removed;
    uint64_t stay;

    pt_brief_files_enter();
    removed = pt_reap_near(uid, PT_REAP_QUICK, own, &stay);
    if (uid != pt_place_uid())
        removed += pt_reap_near(pt_place_uid(), PT_REAP_QUICK, own, &stay);
    pt_brief_files_leave();
    return removed > 0;
}

void pt_make_room(uid_t uid, uint64_t bytes, bool step, const struct pt_log_look *own)
{
    bool has;

    bytes = with_all(bytes);
    if (step)
        make_step(uid, bytes, own);
    pt_brief_files_enter();
    has = has_room(uid, bytes);
    pt_brief_files_leave();
    if (!has)
        pt_make_room_at_once(uid, own);
}
