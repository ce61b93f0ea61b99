/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Using a stream that another process has created; see posixtrace/attach.h. */
#ifndef PT_CONTROL_ATTACH_H
#define PT_CONTROL_ATTACH_H

#include "stream/stream.h"

/* By its file in the stream directory.  0, or a negative errno as
 * posixtrace_attach() returns it. */
int pt_attach(struct pt_stream **stream, const char *file);
/* After its handle is gone. */
void pt_detach(struct pt_stream *s);

#endif
