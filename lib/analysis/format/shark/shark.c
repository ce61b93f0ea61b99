/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The format shark: its name and options. */
#include "analysis/format/common/format.h"
#include "analysis/format/shark/shark_format.h"

static const struct posixtrace_format_option options[] = {
    { "rate", "clock cycles a millisecond, in place of what the trace says" },
    { "start", "time of the first event, ns since 1970" },
    { "packets", "write UDP packets of the tracer, one after the other: yes or no" },
    { NULL, NULL }
};

const struct pt_format pt_format_shark = { { "shark",
                                             "S.Ha.R.K. tracer: chunks (.dat) and its UDP packets",
                                             true, true, false, false, NULL, options },
                                           pt_shark_write,
                                           pt_shark_read,
                                           NULL };
