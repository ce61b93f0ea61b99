/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Giving a stream a function of the program's that decides over its events:
 * process/filter_callback.h. */
#ifndef PT_CONTROL_SET_CALLBACK_H
#define PT_CONTROL_SET_CALLBACK_H

#include <posixtrace/filter.h>
#include "stream/stream.h"

/* function NULL: none from now on.  0; -ESRCH: the stream does not trace this process;
 * -EAGAIN: no gate bit for it is free; -ENOMEM; or as a change of the filter. */
int pt_filter_callback_set(struct pt_stream *s, uint32_t id, posixtrace_handler_t function,
                           void *context);

#endif
