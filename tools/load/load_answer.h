/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The answer to a request, and what it says. */
#ifndef LOAD_ANSWER_H
#define LOAD_ANSWER_H

#include "load/load_http.h"

enum { LOAD_ERROR_MAX = 700 };

struct load_answer {
    char *text; /* ends with a NUL; NULL: empty */
    size_t used, room;
    bool has_length; /* by its headers, so that a cut one is noticed */
    int exception;   /* of the headers; 0: none */
};

void load_answer_clear(struct load_answer *a);
/* False: it is longer than LOAD_ANSWER_MAX. */
bool load_answer_add(struct load_answer *a, const char *at, size_t length);
/* A line of the headers, or the first line of another answer. */
void load_answer_header(struct load_answer *a, const char *line, size_t length);
/* error: LOAD_ERROR_MAX bytes, set unless it is LOAD_DONE, as *code. */
enum load_result load_answer_judge(const struct load_answer *a, long status, bool is_insertion,
                                   char *error, int *code);

#endif
