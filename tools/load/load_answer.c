/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See load_answer.h.  ClickHouse can find an error after it has sent status 200: then the body ends
 * with "Code: N, e.displayText() = ...", and newer versions have a header.
 */
#include "load/load_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/tool.h"

void load_answer_clear(struct load_answer *a)
{
    a->used = 0;
    a->has_length = false;
    a->exception = 0;
    if (a->text)
        a->text[0] = '\0';
}

bool load_answer_add(struct load_answer *a, const char *at, size_t length)
{
    if (length > LOAD_ANSWER_MAX - a->used)
        return false;
    if (a->used + length >= a->room) {
        a->room = 2 * (a->used + length) + 1;
        a->text = tool_grow(a->text, a->room, 1);
    }
    memcpy(a->text + a->used, at, length);
    a->used += length;
    a->text[a->used] = '\0';
    return true;
}

static bool is_header(const char *line, size_t length, const char *name)
{
    return length > strlen(name) && strncasecmp(line, name, strlen(name)) == 0;
}

void load_answer_header(struct load_answer *a, const char *line, size_t length)
{
    static const char code[] = "X-ClickHouse-Exception-Code:";
    char digits[16] = "";

    if (is_header(line, length, "HTTP/"))
        load_answer_clear(a);
    if (is_header(line, length, "Content-Length:") || is_header(line, length, "Transfer-Encoding:"))
        a->has_length = true;
    if (!is_header(line, length, code))
        return;
    length -= strlen(code);
    memcpy(digits, line + strlen(code), length < sizeof digits ? length : sizeof digits - 1);
    a->exception = atoi(digits);
    if (a->exception <= 0)
        a->exception = -1;
}

/* Where the body has an exception; NULL: nowhere. */
static const char *exception(const struct load_answer *a, int *code)
{
    static const char mark[] = "Code: ";
    const char *at = a->text;

    while (at && (at = strstr(at, mark))) {
        char *end;
        long number = strtol(at + strlen(mark), &end, 10);

        if ((at == a->text || at[-1] == '\n') && number > 0 && (*end == ',' || *end == '.')) {
            *code = (int)number;
            return at;
        }
        at += strlen(mark);
    }
    return NULL;
}

/* Errors that may pass without a change of the request or of the tables. */
static bool may_pass(int code)
{
    static const int codes[] = {
        3,   /* UNEXPECTED_END_OF_FILE: the connection ended */
        33,  /* CANNOT_READ_ALL_DATA: the same */
        75,  /* CANNOT_WRITE_TO_FILE_DESCRIPTOR: disk full */
        159, /* TIMEOUT_EXCEEDED */
        202, /* TOO_MANY_SIMULTANEOUS_QUERIES */
        203, /* NO_FREE_CONNECTION */
        209, /* SOCKET_TIMEOUT */
        210, /* NETWORK_ERROR */
        225, /* NO_ZOOKEEPER */
        236, /* ABORTED */
        241, /* MEMORY_LIMIT_EXCEEDED */
        242, /* TABLE_IS_READ_ONLY: its session with ZooKeeper is lost */
        243, /* NOT_ENOUGH_SPACE */
        252, /* TOO_MANY_PARTS */
        279, /* ALL_CONNECTION_TRIES_FAILED */
        285, /* TOO_LESS_LIVE_REPLICAS */
        286, /* UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE */
        289, /* REPLICA_IS_NOT_IN_QUORUM */
        319, /* UNKNOWN_STATUS_OF_INSERT */
        394, /* QUERY_WAS_CANCELLED */
        999, /* KEEPER_EXCEPTION */
        1000 /* POCO_EXCEPTION: of the network, of files */
    };

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static bool is_refusal(int code, long status)
{
    return (code >= 192 && code <= 195) || code == 497 || code == 516 || status == 401 ||
           status == 403;
}

/* The first line of a text, as far as there is room. */
static void put_line(char *error, const char *what, const char *text)
{
    char line[400];
    size_t n = strcspn(text, "\r\n");

    snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), text);
    snprintf(error, LOAD_ERROR_MAX, "%s%s", what, unquoted(line));
}

static enum load_result judge_exception(const struct load_answer *a, long status, int code,
                                        const char *at, char *error)
{
    const char *text = at ? at : a->text && a->text[0] ? a->text : "an exception without a text";

    put_line(error, "the server says: ", text);
    if (is_refusal(code, status))
        strncat(error, "; set POSIXTRACE_LOAD_USER and POSIXTRACE_LOAD_PASSWORD, or --auth-file",
                LOAD_ERROR_MAX - strlen(error) - 1);
    return may_pass(code) ? LOAD_AGAIN : LOAD_FAILED;
}

enum load_result load_answer_judge(const struct load_answer *a, long status, bool is_insertion,
                                   char *error, int *code)
{
    const char *at = exception(a, code);

    if (!at)
        *code = a->exception;
    if (at || a->exception)
        return judge_exception(a, status, *code, at, error);
    if (status != 200) {
        char what[60];

        snprintf(what, sizeof what, "the answer has status %ld, not 200: ", status);
        put_line(error, what, a->text ? a->text : "");
        if (is_refusal(0, status))
            return judge_exception(a, status, 0, error, error);
        return status == 429 || status >= 502 ? LOAD_AGAIN : LOAD_FAILED;
    }
    if (!a->has_length) {
        snprintf(error, LOAD_ERROR_MAX,
                 "the answer does not say how long it is: it may be cut; is this a ClickHouse "
                 "server, without a proxy before it?");
        return LOAD_FAILED;
    }
    if (is_insertion && a->used > 0) {
        put_line(error, "the answer to an insertion is not empty; is this a ClickHouse server? ",
                 a->text);
        return LOAD_FAILED;
    }
    return LOAD_DONE;
}
