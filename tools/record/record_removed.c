/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log, or a folder of pieces, that another program removes while it is recorded.  The file stays
 * on the disk as long as it is open, but no reader finds it: that is said once, when it is noticed,
 * and at the end no other file of that name is taken for it.
 *
 * The flush thread notices itself that no further piece can be made, and counts what it can write
 * no more as lost.
 */
#include "record/record.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/tool.h"
#include "common/units.h"

static bool is_log_removed(const struct recording *r)
{
    struct stat st;

    return r->fd >= 0 && fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0;
}

/* A folder that was moved takes further pieces. */
static bool is_folder_removed(const struct recording *r, const struct record_request *q)
{
    struct posixtrace_info info;
    struct stat st;

    return r->active && stat(q->outdir, &st) < 0 && (errno == ENOENT || errno == ENOTDIR) &&
           posixtrace_get_info(r->trid, &info, sizeof info) == 0 &&
           info.lost[POSIXTRACE_LOST_LOG_ERROR] > 0;
}

bool record_removed_may_be(const struct recording *r)
{
    return r->named && !r->removed && (r->fd >= 0 || r->pieces);
}

void record_removed_look(struct recording *r, const struct record_request *q)
{
    if (!record_removed_may_be(r))
        return;
    if (r->pieces ? !is_folder_removed(r, q) : !is_log_removed(r))
        return;
    r->removed = true;
    if (r->pieces)
        tool_error("folder %s was removed; events go nowhere", quote(q->outdir));
    else
        tool_error("%s was removed; events go nowhere, except into /proc/%d/fd/%d until "
                   "the end of record",
                   quote(r->log), (int)getpid(), r->fd);
}

void record_removed_end(struct recording *r, const struct record_request *q)
{
    struct posixtrace_info info;

    record_removed_look(r, q);
    if (!r->removed || !r->active || posixtrace_get_info(r->trid, &info, sizeof info) != 0)
        return;
    r->gone_events = info.events;
    for (unsigned c = 0; c < POSIXTRACE_LOST_LOG_FULL; c++)
        r->gone_events += info.lost[c];
}

int record_removed_report(const struct recording *r, const struct record_request *q)
{
    if (!q->quiet)
        tool_note("%s event%s gone with %s, which was removed", units_count(r->gone_events),
                  r->gone_events == 1 ? " is" : "s are", quote(r->pieces ? q->outdir : r->log));
    return EXIT_FAILED;
}
