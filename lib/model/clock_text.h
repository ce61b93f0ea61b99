/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A reading of the host's clock as the log has it, in a text of its own (CLOCK packets,
 * docs/log-format.md): what CLOCK_REALTIME showed at a time of the trace clock, and how good the
 * kernel took it to be.
 */
#ifndef PT_MODEL_CLOCK_TEXT_H
#define PT_MODEL_CLOCK_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct pt_clock_reading {
    uint64_t ts; /* in ticks */
    int64_t ns;
    int64_t most, estimated; /* errors in ns; -1: unknown */
    int32_t status;          /* STA_* of <sys/timex.h>; -1: unknown */
    bool left;               /* times were off by more than 10 ms, and the stream's clock table had
                              * no room to correct that (shm/syncpoint.h) */
};

/* to: PT_CLOCK_TEXT_MAX + 1 bytes. */
void pt_clock_text_put(char *to, const struct pt_clock_reading *reading);
/* False: the text is none; *reading is not changed. */
bool pt_clock_text_get(const char *text, struct pt_clock_reading *reading);

#endif
