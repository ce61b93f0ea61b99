/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: S.Ha.R.K.  chunks and packets.  For all bytes, import ends, with a reason if it
 * failed; the log has the reported number of events, in order; its export imports as the same
 * number of events.
 */
#include <stdlib.h>
#include <unistd.h>
#include "fuzz/foreign.h"
#include "fuzz/target.h"

/* Chunks cannot say that packets were lost; packets can, if there was one before. */
static void send_back(int log, const char *packets, uint64_t events, uint64_t lost)
{
    const char *const options[] = { packets, NULL };
    char *text = NULL;
    size_t size = 0;
    uint64_t left = fuzz_export(log, "shark", options, &text, &size), again;
    int error;

    FUZZ_NEED(left <= lost);
    close(fuzz_import("shark", NULL, text, size, &again, &error));
    FUZZ_NEED(error == 0 && again + left == events);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint64_t events, lost;
    int error, log = fuzz_import("shark", NULL, bytes, size, &events, &error);

    FUZZ_NEED(fuzz_walk(log, "shark:LOST", &lost) == events);
    send_back(log, "packets=no", events, lost);
    send_back(log, "packets=yes", events, lost);
    close(log);
    fuzz_count(error, events);
    return 0;
}

const struct fuzz_replay fuzz_replay = { .rounds = 100, .finish = fuzz_counted };
