/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The text of QNX Neutrino's traces. */
#include "analysis/format/qnx/kev.h"

int pt_traceprinter_read(struct pt_job *job);
int pt_traceprinter_write(struct pt_job *job);

const struct pt_format pt_format_traceprinter = {
    { "traceprinter", "QNX Neutrino: the text that 'traceprinter -n' prints", true, true, false,
      NULL, pt_kev_options },
    pt_traceprinter_write,
    pt_traceprinter_read
};
