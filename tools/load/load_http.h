/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A client of ClickHouse's HTTP interface.
 *
 * A request is done only if the server reports so in every way that it has: status 200, no
 * exception in its headers or its body, an answer that is whole, and to an insertion an empty one.
 * All else is an error.  LOAD_AGAIN is one that may pass: a connection that fails, a server that is
 * busy or full.
 */
#ifndef LOAD_HTTP_H
#define LOAD_HTTP_H

#include <stddef.h>
#include <sys/uio.h>
#include "load/load.h"

enum load_result { LOAD_DONE, LOAD_AGAIN, LOAD_FAILED };

enum { LOAD_ANSWER_MAX = 4 << 20 };

struct load_http;

/* NULL after an error message. */
struct load_http *load_http_open(const struct load_target *t);
void load_http_close(struct load_http *h);

/* The last error, for a message: without control characters. */
const char *load_http_error(const struct load_http *h);
/* The engine's number of the last error; 0: it was another. */
int load_http_code(const struct load_http *h);

/* An error that the caller has found; returns result. */
enum load_result load_http_fail(struct load_http *h, enum load_result result, const char *format,
                                ...) __attribute__((format(printf, 3, 4)));

/* Runs a statement.  *answer, if not NULL, gets the text: the client's, until the next request. */
enum load_result load_http_query(struct load_http *h, const char *sql, const char **answer);

/* An insertion whose rows come in pieces.  After an error of _send() it is over; else _end() says
 * whether the server has it. */
enum load_result load_http_insert(struct load_http *h, const char *sql);
enum load_result load_http_send(struct load_http *h, const struct iovec *pieces, size_t count);
enum load_result load_http_end(struct load_http *h);

#endif
