/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace recover: completes a log whose writer died.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <posixtrace/log.h>

#include "input/log_file.h"
#include "input/log_left.h"
#include "input/folder.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/progress.h"
#include "common/tool.h"

static const struct option_spec options[] = { { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace recover LOG|FOLDER\n"
    "\n"
    "Completes a log whose writer was killed or crashed: adds the events that the\n"
    "writer left in memory, on the same machine and before the next boot, and then\n"
    "index and end mark. A log that is complete is left as it is. What does not fit\n"
    "into a log of limited size counts as lost; 'posixtrace export' saves it before.\n"
    "Of a folder: all *.ptl.part, which a 'posixtrace record --rotate' was writing.\n"
    "\n"
    "  --help  print this\n"
    "\n"
    "Exit status: 0 the log is complete; 1 it is not, and was not changed.\n"
    "Example: posixtrace recover app.ptl\n";

static int explain(int fd, const char *shown, int error)
{
    switch (error) {
    case EILSEQ: return tool_error("%s is not a trace log: %s", shown, log_file_why_not(fd));
    case ENOTSUP:
        return tool_error("cannot read %s: %s; nothing was changed", shown,
                          log_file_why_unsupported(fd));
    case EBUSY:
        return tool_error("%s is being written by a living process, or being recovered by "
                          "another; nothing was changed",
                          shown);
    case EIO:
        return tool_error("cannot complete %s: %s; what the writer left in memory is kept, and "
                          "'posixtrace info' says what the log has",
                          shown, strerror(error));
    default:
        return tool_error("cannot complete %s: %s; the log is as it was", shown, strerror(error));
    }
}

/* What the log, and what its writer left in memory, say at this moment. */
static void look(int fd, struct posixtrace_info *info)
{
    trace_id_t trid;

    memset(info, 0, sizeof *info);
    if (posix_trace_open(fd, &trid) != 0)
        return;
    posixtrace_get_info(trid, info, sizeof *info);
    posix_trace_close(trid);
}

/* It was no log, for want of contents. */
static bool was_empty(const struct posixtrace_info *before)
{
    static const uint8_t none[sizeof before->id];

    return memcmp(before->id, none, sizeof none) == 0;
}

static void print_report(const char *shown, const struct posixtrace_recover_report *r,
                         const struct posixtrace_info *before, const struct posixtrace_info *after)
{
    uint64_t lost = log_file_lost(after->lost) - log_file_lost(before->lost);

    if (r->was_complete) {
        out_format("%s: was complete, %" PRIu64 " events\n", shown, r->events_before);
        return;
    }
    out_format("%s: completed: %" PRIu64 " events, %" PRIu64 " added from ", shown, after->events,
               r->events_added);
    out_text(r->segment_found ? "the writer's memory\n"
                              : "memory: what its writer left there was not found\n");
    if (lost > 0 && log_file_lost(after->lost) > log_file_lost(before->lost))
        out_format("%s: %" PRIu64 " events %s; they count as lost\n", shown, lost,
                   was_empty(before) ? "were in the log before it was emptied"
                                     : "did not fit into the log, whose size is limited");
}

/* Completes the pieces of a log whose writer is dead. */
static int recover_folder(const char *path)
{
    size_t count;
    int status = pieces_settle(path, &count);

    if (status == EXIT_DONE)
        out_format("%s: %zu piece%s completed\n", quote(path), count, count == 1 ? "" : "s");
    return status;
}

static int recover_file(const char *path)
{
    struct posixtrace_recover_report report;
    struct posixtrace_info before, after;
    const char *shown;
    struct stat st;
    int fd, error;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return recover_folder(path);
    log_left_look_at(path);
    shown = quote(path);
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return tool_error("cannot open %s for writing: %s", shown, strerror(errno));
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
        close(fd);
        return tool_error("%s is no regular file; a log in another one cannot be completed", shown);
    }
    progress_begin_blind("recovering");
    look(fd, &before);
    error = posixtrace_log_recover(fd, &report, sizeof report);
    look(fd, &after);
    progress_end();
    if (error == 0)
        print_report(shown, &report, &before, &after);
    else
        explain(fd, shown, error);
    close(fd);
    if (error != 0)
        return EXIT_FAILED;
    return pieces_is_part(path) ? pieces_name(path) : EXIT_DONE;
}

static int run(struct options *o)
{
    return options_one_log(o, recover_file);
}

const struct verb verb_recover = { "recover", help, options, run };
