/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See sync_option.h. */
#include "common/sync_option.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/tool.h"

static posixtrace_sync_t *clocks;
static const char *file;

int sync_option_take(const char *path)
{
    struct posixtrace_sync_fault fault;
    int fd, error;

    if (file && strcmp(file, path) == 0)
        return EXIT_DONE; /* for the next log of several */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return tool_error("cannot open %s: %s", quote(path), strerror(errno));
    posixtrace_sync_free(clocks);
    clocks = NULL;
    error = posixtrace_sync_read(fd, &clocks, &fault);
    close(fd);
    if (error == EILSEQ)
        return tool_error("%s, line %zu: %s", quote(path), fault.line, fault.text);
    if (error)
        return tool_error("cannot read %s: %s", quote(path), failure_reason(error));
    file = path;
    return EXIT_DONE;
}

const posixtrace_sync_t *sync_option_clocks(void)
{
    return clocks;
}

int sync_option_apply(trace_id_t trid, const char *shown)
{
    int error = clocks ? posixtrace_sync_apply(clocks, trid) : 0;

    if (error == ENOENT)
        return tool_error("%s has no clock of the host of %s: give that log to 'posixtrace sync', "
                          "too",
                          quote(file), shown);
    return error ? tool_error("cannot set the clock of %s: %s", shown, failure_reason(error))
                 : EXIT_DONE;
}
