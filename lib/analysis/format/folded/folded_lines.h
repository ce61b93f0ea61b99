/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Lines of a folded profile: a stack as text, frames with ';' between them, and the sum of its
 * values.  They are written in the order of the alphabet.  Memory grows with different stacks.
 */
#ifndef PT_FOLDED_LINES_H
#define PT_FOLDED_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pt_folded_line {
    char *stack;
    uint64_t value;
};

/* Zeroed: there are none. */
struct pt_folded_lines {
    struct pt_folded_line *cells; /* stack NULL: free */
    size_t room, count;
};

enum { PT_FOLDED_BYTES = 8192 };

/* A stack under construction; one that is too long ends early. */
struct pt_folded_stack {
    size_t length;
    char text[PT_FOLDED_BYTES];
};

/* Appends a frame; characters that have a meaning in such a file, or are not printable, are '_'. */
void pt_folded_push(struct pt_folded_stack *s, const char *frame);
/* The same with the frame in square brackets. */
void pt_folded_push_state(struct pt_folded_stack *s, const char *state);

/* False: no memory. */
bool pt_folded_add(struct pt_folded_lines *l, const struct pt_folded_stack *s, uint64_t value);
void pt_folded_write(struct pt_folded_lines *l, FILE *to);
void pt_folded_free(struct pt_folded_lines *l);

#endif
