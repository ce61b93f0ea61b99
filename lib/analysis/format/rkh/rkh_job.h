/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What the formats rkh and trazer do with a job. */
#ifndef PT_FORMAT_RKH_JOB_H
#define PT_FORMAT_RKH_JOB_H

#include "analysis/format/common/format.h"
#include "compat/rkh/rkh.h"

/* Describes the type, once, and adds the event with the data in bytes. */
bool pt_rkh_add(struct pt_job *job, struct pt_rkh_type *type, struct posixtrace_event *event,
                const struct pt_rkh_bytes *data);

/* A number of an option; false: job->error has the message. */
bool pt_rkh_number_option(struct pt_job *job, const char *name, uint64_t least, uint64_t most,
                          uint64_t *value);

#endif
