/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: an expression, a zero byte, a description, a zero byte, an event's name, a zero
 * byte, and data.  The expression is refused with a position inside it, or matches the event or
 * not, in a block of exactly its size.  If the type alone decides, the event has the same result,
 * and "not" inverts it.  As patterns the text and the name are refused, or make one expression.
 */
#include <errno.h>
#include <posixtrace/filter.h>
#include <posixtrace/typed.h>
#include <string.h>
#include "fuzz/target.h"

static unsigned long refused, meant, others, known, joined;

/* What stands up to the next zero byte, in memory of its own size. */
static char *take(const uint8_t **at, size_t *left)
{
    size_t length = *left ? strnlen((const char *)*at, *left) : 0;
    char *text = malloc(length + 1);

    FUZZ_NEED(text);
    if (length)
        memcpy(text, *at, length);
    text[length] = '\0';
    *at += length + (length < *left);
    *left -= length + (length < *left);
    return text;
}

static posixtrace_expression_t *parse(const char *text)
{
    struct posixtrace_expression_fault fault;
    posixtrace_expression_t *e = NULL;
    int error = posixtrace_expression_parse(text, &e, &fault);

    FUZZ_NEED((error == ENAMETOOLONG) == (strlen(text) > POSIXTRACE_EXPRESSION_MAX));
    if (error == EINVAL) {
        FUZZ_NEED(fault.column >= 1 && fault.column <= strlen(text) + 1);
        FUZZ_NEED(fault.text[0] && memchr(fault.text, '\0', sizeof fault.text));
        refused++;
    }
    return e;
}

static bool ask(const posixtrace_expression_t *e, const struct posixtrace_event *event,
                const posixtrace_layout_t *layout)
{
    bool match = posixtrace_expression_match(e, event, layout);
    int decided = posixtrace_expression_decide(e, event->name, layout);

    FUZZ_NEED(decided == -1 || decided == match);
    known += decided != -1;
    *(match ? &meant : &others) += 1;
    return match;
}

static void ask_opposite(const char *text, const struct posixtrace_event *event,
                         const posixtrace_layout_t *layout, bool match)
{
    char *opposite = malloc(strlen(text) + 8);
    posixtrace_expression_t *e = NULL;

    FUZZ_NEED(opposite);
    stpcpy(stpcpy(stpcpy(opposite, "not ("), text), ")");
    /* It may be too long now, or too deep. */
    if (posixtrace_expression_parse(opposite, &e, NULL) == 0)
        FUZZ_NEED(posixtrace_expression_match(e, event, layout) != match);
    posixtrace_expression_free(e);
    free(opposite);
}

static void ask_as_patterns(const char *text, const char *name)
{
    const char *const patterns[] = { name, text, "!x", name };
    struct posixtrace_expression_fault fault;
    size_t longest = strlen(name) > strlen(text) ? strlen(name) : strlen(text);
    char whole[POSIXTRACE_EXPRESSION_MAX + 1];
    posixtrace_expression_t *e = NULL;

    for (size_t count = 1; count <= sizeof patterns / sizeof *patterns; count++) {
        int error = posixtrace_expression_from_patterns(patterns, count, whole, sizeof whole,
                                                        &fault);

        FUZZ_NEED((error == 0) == (fault.text[0] == '\0') && fault.column <= longest + 1);
        if (error)
            continue;
        FUZZ_NEED(posixtrace_expression_parse(whole, &e, NULL) == 0);
        posixtrace_expression_free(e);
        joined++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = take(&bytes, &size), *description = take(&bytes, &size);
    char *name = take(&bytes, &size);
    posixtrace_layout_t *layout = NULL;
    posixtrace_expression_t *e = parse(text);
    uint8_t *data = malloc(size ? size : 1);
    struct posixtrace_event event = { .data = data,
                                      .data_len = size,
                                      .name = name,
                                      .thread_name = "worker 1",
                                      .pid = 10,
                                      .tid = 11 };

    FUZZ_NEED(data);
    if (size)
        memcpy(data, bytes, size);
    if (e && posixtrace_layout_parse(description, &layout, NULL) != 0)
        layout = NULL;
    if (e)
        ask_opposite(text, &event, layout, ask(e, &event, layout));
    ask_as_patterns(text, name);
    posixtrace_expression_free(e);
    posixtrace_layout_free(layout);
    free(data);
    free(name);
    free(description);
    free(text);
    return 0;
}

static void finish(void)
{
    printf("%lu refused, %lu meant, %lu not, %lu known of their types, %lu made of patterns\n",
           refused, meant, others, known, joined);
    FUZZ_NEED(refused > 0 && meant > 0 && others > 0 && known > 0 && joined > 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 2000, .finish = finish };
