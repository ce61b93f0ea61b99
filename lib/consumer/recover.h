/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Completing the log of a writer that is gone; see posixtrace_log_recover. */
#ifndef PT_CONSUMER_RECOVER_H
#define PT_CONSUMER_RECOVER_H

#include <posixtrace/log.h>

/* lost: events that neither log nor segment knows of. */
int pt_stream_recover(int fd, uint64_t lost, struct posixtrace_recover_report *report);

#endif
