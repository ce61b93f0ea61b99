/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Attached streams whose creator ends. */
#ifndef PT_STREAM_ATTACHED_H
#define PT_STREAM_ATTACHED_H

#include "stream/stream.h"

/* Has it been shut down, or its creator died?  The latter is looked at no more
 * than five times a second, unless now. */
bool pt_attached_is_over(struct pt_stream *s, bool now);
/* May it be steered?  0, -ENXIO, -ENOTSUP. */
int pt_attached_check(struct pt_stream *s);

#endif
