/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A stream and its trid in one go, for who has looked at the arguments. */
#ifndef PT_API_CREATE_H
#define PT_API_CREATE_H

#include "page/target.h"
#include "stream/handle.h"

/* fd: of the log, or -1; target: NULL for this process.  Cancellation is disabled.
 * 0 or a negative error, with nothing left behind. */
int pt_create(const struct pt_attr *attr, int fd, const struct pt_target *target,
              trace_id_t *trid);

#endif
