/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The file format of QNX Neutrino's traces, and the options for it. */
#include "analysis/format/qnx/kev.h"

int pt_kev_read(struct pt_job *job);
int pt_kev_write(struct pt_job *job);

const struct posixtrace_format_option pt_kev_options[] = {
    { "rate", "import: clock cycles a second, in place of what the header says" },
    { "start", "import: time of the first event, ns since 1970" },
    { "release", "import: of QNX, in place of what the header says: 6, 7 or 8" },
    { "state", "import: NUMBER=NAME, replaces the known name of a thread state; may be repeated" },
    { NULL, NULL }
};

const struct pt_format pt_format_kev = { { "kev",
                                           "QNX Neutrino: the file that tracelogger writes (.kev)",
                                           true, true, false, false, NULL, pt_kev_options },
                                         pt_kev_write,
                                         pt_kev_read,
                                         NULL };

/* ---- the text of the same traces ---- */

int pt_traceprinter_read(struct pt_job *job);
int pt_traceprinter_write(struct pt_job *job);

const struct pt_format pt_format_traceprinter = {
    { "traceprinter", "QNX Neutrino: the text that 'traceprinter -n' prints", true, true, false,
      false, NULL, pt_kev_options },
    pt_traceprinter_write,
    pt_traceprinter_read,
    NULL
};
