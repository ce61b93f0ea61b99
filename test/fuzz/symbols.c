/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: texts of mappings, a line each.  Each is taken or refused; for each number in the
 * input, as an address, process and time, the text is printable, the same when it is asked for
 * again, and cut to the room that there is.
 */
#include <errno.h>
#include <posixtrace/symbols.h>
#include <stdio.h>
#include <string.h>
#include "fuzz/target.h"

static unsigned long taken, refused, known, unknown;

static void ask(posixtrace_symbols_t *s, pid_t pid, int64_t ns, uint64_t address)
{
    enum posixtrace_address kind = (enum posixtrace_address)(address % 3);
    char text[300], again[300], cut[8];
    struct posixtrace_symbol symbol;
    size_t length = posixtrace_symbols_text(s, pid, ns, address, kind, text, sizeof text);
    bool found = posixtrace_symbols_find(s, pid, ns, address, kind, &symbol, sizeof symbol);

    FUZZ_NEED(length < sizeof text && strlen(text) == length && found == (length > 0));
    for (size_t i = 0; i < length; i++)
        FUZZ_NEED(text[i] >= ' ' && text[i] <= '~');
    FUZZ_NEED(posixtrace_symbols_text(s, pid, ns, address, kind, again, sizeof again) == length &&
              strcmp(text, again) == 0);
    FUZZ_NEED(posixtrace_symbols_text(s, pid, ns, address, kind, cut, sizeof cut) < sizeof cut &&
              strncmp(text, cut, strlen(cut)) == 0);
    *(found ? &known : &unknown) += 1;
}

static void ask_about(posixtrace_symbols_t *s, const char *line)
{
    uint64_t number[3] = { 0 };

    for (const char *at = line; *at; at++) {
        char *end;

        if (!strchr("0123456789abcdef", *at))
            continue;
        number[0] = number[1];
        number[1] = number[2];
        number[2] = strtoull(at, &end, 16);
        ask(s, (pid_t)number[0], (int64_t)number[1], number[2]);
        ask(s, 7, 2000, number[2]);
        at = end - 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *line, *rest;
    posixtrace_symbols_t *s;
    uint32_t number = 1;

    FUZZ_NEED(text && posixtrace_symbols_create("/nowhere", &s) == 0);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    for (rest = text; (line = strsep(&rest, "\n"));) {
        int r = posixtrace_symbols_add(s, number++, line);

        FUZZ_NEED(r == 0 || r == EINVAL);
        *(r == 0 ? &taken : &refused) += 1;
        ask_about(s, line);
    }
    posixtrace_symbols_free(s);
    free(text);
    return 0;
}

static void finish(void)
{
    printf("%lu taken, %lu refused, %lu known, %lu unknown\n", taken, refused, known, unknown);
    FUZZ_NEED(taken > 0 && refused > 0 && known > 0 && unknown > 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 2000, .finish = finish };
