/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_log_check(): verification of a log file. */
#include <errno.h>
#include "base/atomics.h"
#include "log/reader.h"

PT_PUBLIC int posixtrace_log_check(int fd,
                                   void (*finding)(void *, const struct posixtrace_log_finding *),
                                   void *context, struct posixtrace_log_report *report)
{
    return report ? -pt_log_check(fd, finding, context, report) : EINVAL;
}
