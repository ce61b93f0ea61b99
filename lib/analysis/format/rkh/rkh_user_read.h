/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The reader of user events in its parts: those of any target, those of our export. */
#ifndef PT_FORMAT_RKH_USER_READ_H
#define PT_FORMAT_RKH_USER_READ_H

#include "analysis/format/rkh/rkh_read.h"
#include "compat/rkh/rkh_shapes.h"

struct pt_rkh_argument {
    uint8_t format, shown; /* shown: digits */
    const uint8_t *at;
    size_t len; /* of a string, with NUL */
};

/* Takes an argument off the front; false: there is none, or not all of it. */
bool pt_rkh_next_argument(const struct pt_rkh_config *c, const uint8_t **at, size_t *left,
                          struct pt_rkh_argument *a);

/* What user event 31 says.  False: it is not ours, or job->error. */
bool pt_rkh_learn_ours(struct pt_rkh_reader *r, const uint8_t *at, size_t left);
/* An event of ours; *misfit: it is none.  False: job->error. */
bool pt_rkh_add_ours(struct pt_rkh_reader *r, unsigned id, const uint8_t *at, size_t left,
                     bool *misfit);

#endif
