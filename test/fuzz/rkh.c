/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: RKH's frames and Trazer's text.  The first byte says which, and with what
 * options.  Whatever the rest is, a log comes out that holds as many events as import
 * says, in order of time; it goes out as frames, text and a picture, and the frames come
 * in again as just as many events, but for damage, which is not sent again.
 */
#include <stdlib.h>
#include <unistd.h>
#include "fuzz/foreign.h"
#include "fuzz/target.h"

static const char *const option_sets[][3] = { { NULL },
                                              { "ids=flat", NULL },
                                              { "target=checksum=0,sender=1", "rate=1000", NULL },
                                              { "target=id=2,timestamp=0,pointer=8", NULL } };

static void use(int log, uint64_t events)
{
    uint64_t damaged, again;
    char *text = NULL;
    size_t size = 0;
    int error, second;

    FUZZ_NEED(fuzz_walk(log, "rkh:DAMAGED", &damaged) == events);
    FUZZ_NEED(fuzz_export(log, "rkh", NULL, &text, &size) <= events);
    second = fuzz_import("rkh", NULL, text, size, &again, &error);
    FUZZ_NEED(error == 0);
    close(second);
    free(text);
    fuzz_export(log, "trazer", NULL, &text, &size);
    free(text);
    fuzz_export(log, "kiwi", NULL, &text, &size);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned choice = size ? bytes[0] % 5 : 0;
    uint64_t events;
    int error, log;

    log = fuzz_import(choice == 4 ? "trazer" : "rkh", choice < 4 ? option_sets[choice] : NULL,
                      bytes + !!size, size - !!size, &events, &error);
    use(log, events);
    close(log);
    fuzz_count(error, events);
    return 0;
}

const struct fuzz_replay fuzz_replay = { .rounds = 100, .finish = fuzz_counted };
