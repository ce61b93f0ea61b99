/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See load_http.h.  libcurl asks for the bytes of a request when the connection has room for
 * them; the transfer pauses while there are none, and load_http_send() returns when libcurl has
 * taken all.  So the server sets the pace.
 */
#include "load/load_http.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"
#include "load/load_answer.h"
#include "load/load_curl.h"

enum { CONNECT_S = 10, POLL_MS = 1000, BUFFER = 1 << 20 };

struct load_http {
    const struct load_target *target;
    CURL *easy;
    CURLM *multi;
    struct curl_slist *headers;
    char curl_error[CURL_ERROR_SIZE];
    struct load_answer answer;
    char error[LOAD_ERROR_MAX];
    int code;
    /* The insertion that is under way: */
    const struct iovec *piece, *last;
    size_t taken; /* of *piece */
    bool is_open, is_last, is_over;
    CURLcode result; /* if it is over */
};

const char *load_http_error(const struct load_http *h)
{
    return h->error;
}

int load_http_code(const struct load_http *h)
{
    return h->code;
}

enum load_result load_http_fail(struct load_http *h, enum load_result result, const char *format,
                                ...)
{
    va_list args;

    h->code = 0;
    va_start(args, format);
    vsnprintf(h->error, sizeof h->error, format, args);
    va_end(args);
    return result;
}

static size_t on_read(char *to, size_t size, size_t count, void *context)
{
    struct load_http *h = context;
    size_t room = size * count, used = 0, n;

    for (; h->piece < h->last && used < room; used += n) {
        n = h->piece->iov_len - h->taken;
        n = n < room - used ? n : room - used;
        memcpy(to + used, (const char *)h->piece->iov_base + h->taken, n);
        h->taken += n;
        if (h->taken == h->piece->iov_len) {
            h->piece++;
            h->taken = 0;
        }
    }
    return used > 0 || h->is_last ? used : CURL_READFUNC_PAUSE;
}

static size_t on_write(char *at, size_t size, size_t count, void *context)
{
    struct load_http *h = context;

    return load_answer_add(&h->answer, at, size * count) ? size * count : 0;
}

static size_t on_header(char *at, size_t size, size_t count, void *context)
{
    struct load_http *h = context;

    load_answer_header(&h->answer, at, size * count);
    return size * count;
}

/* User and password are headers, which are neither in a log of addresses nor in argv. */
static bool add_header(struct load_http *h, const char *name, const char *value)
{
    char *line;
    struct curl_slist *list;

    if (asprintf(&line, "%s: %s", name, value) < 0)
        return false;
    list = load_curl.slist_append(h->headers, line);
    free(line);
    if (list)
        h->headers = list;
    return list;
}

static bool add_headers(struct load_http *h)
{
    const struct load_target *t = h->target;

    h->headers = load_curl.slist_append(NULL, "Expect:");
    return h->headers && add_header(h, "Content-Type", "application/octet-stream") &&
           (!t->user || add_header(h, "X-ClickHouse-User", t->user)) &&
           (!t->password || add_header(h, "X-ClickHouse-Key", t->password));
}

static void set_options(struct load_http *h)
{
    const struct load_options *o = h->target->options;

    load_curl.easy_setopt(h->easy, CURLOPT_ERRORBUFFER, h->curl_error);
    load_curl.easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
    load_curl.easy_setopt(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    load_curl.easy_setopt(h->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    load_curl.easy_setopt(h->easy, CURLOPT_USERAGENT, "posixtrace/" POSIXTRACE_VERSION);
    load_curl.easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    load_curl.easy_setopt(h->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    load_curl.easy_setopt(h->easy, CURLOPT_LOW_SPEED_TIME, (long)o->timeout);
    load_curl.easy_setopt(h->easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)BUFFER);
    load_curl.easy_setopt(h->easy, CURLOPT_TCP_KEEPALIVE, 1L);
    load_curl.easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
    load_curl.easy_setopt(h->easy, CURLOPT_READFUNCTION, on_read);
    load_curl.easy_setopt(h->easy, CURLOPT_READDATA, h);
    load_curl.easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, on_write);
    load_curl.easy_setopt(h->easy, CURLOPT_WRITEDATA, h);
    load_curl.easy_setopt(h->easy, CURLOPT_HEADERFUNCTION, on_header);
    load_curl.easy_setopt(h->easy, CURLOPT_HEADERDATA, h);
    if (o->ca_file)
        load_curl.easy_setopt(h->easy, CURLOPT_CAINFO, o->ca_file);
}

struct load_http *load_http_open(const struct load_target *t)
{
    struct load_http *h = tool_zeroed(sizeof *h);

    h->target = t;
    h->easy = load_curl.easy_init();
    h->multi = load_curl.multi_init();
    if (!h->easy || !h->multi || !add_headers(h)) {
        load_http_close(h);
        tool_error("no memory for a client of %s", quote(t->url));
        return NULL;
    }
    set_options(h);
    return h;
}

static void detach(struct load_http *h)
{
    if (h->is_open)
        load_curl.multi_remove_handle(h->multi, h->easy);
    h->is_open = false;
}

void load_http_close(struct load_http *h)
{
    if (!h)
        return;
    detach(h);
    load_curl.easy_cleanup(h->easy);
    load_curl.multi_cleanup(h->multi);
    load_curl.slist_free_all(h->headers);
    free(h->answer.text);
    free(h);
}

static enum load_result no_memory(struct load_http *h)
{
    snprintf(h->error, sizeof h->error, "no memory");
    return LOAD_FAILED;
}

/* The address of a request; sql is in it only where the body has rows. */
static char *address(struct load_http *h, const char *sql)
{
    char *database = load_curl.easy_escape(h->easy, h->target->database, 0);
    char *query = sql ? load_curl.easy_escape(h->easy, sql, 0) : NULL, *url = NULL;
    const char *sync = h->target->options->cluster ? "&insert_distributed_sync=1" : "";

    if (database && (!sql || query) &&
        asprintf(&url, "%s/?database=%s&%s%s%s", h->target->url, database,
                 sql ? "query=" : "wait_end_of_query=1", sql ? query : "", sync) < 0)
        url = NULL;
    load_curl.free(database);
    load_curl.free(query);
    return url;
}

static enum load_result begin(struct load_http *h, const char *sql)
{
    char *url = address(h, sql);

    if (!url)
        return no_memory(h);
    load_answer_clear(&h->answer);
    h->curl_error[0] = h->error[0] = '\0';
    h->code = 0;
    h->is_over = h->is_last = false;
    h->piece = h->last = NULL;
    h->taken = 0;
    load_curl.easy_setopt(h->easy, CURLOPT_URL, url);
    free(url);
    return LOAD_DONE;
}

/* What became of a request. */
static enum load_result judge(struct load_http *h, CURLcode result, bool is_insertion)
{
    long status = 0;

    load_curl.easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
    if (result == CURLE_OK || h->answer.used > 0) {
        enum load_result r = load_answer_judge(&h->answer, status, is_insertion, h->error,
                                               &h->code);

        if (result == CURLE_OK || r != LOAD_DONE)
            return r;
    }
    snprintf(h->error, sizeof h->error, "%s",
             h->curl_error[0] ? h->curl_error : load_curl.easy_strerror(result));
    switch (result) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        strncat(h->error, "; --ca-file=FILE names the authority of its certificate",
                sizeof h->error - strlen(h->error) - 1);
        return LOAD_FAILED;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WRITE_ERROR: return LOAD_FAILED;
    default: return LOAD_AGAIN;
    }
}

enum load_result load_http_query(struct load_http *h, const char *sql, const char **answer)
{
    enum load_result r = begin(h, NULL);

    if (r != LOAD_DONE)
        return r;
    load_curl.easy_setopt(h->easy, CURLOPT_POST, 1L);
    load_curl.easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(sql));
    load_curl.easy_setopt(h->easy, CURLOPT_COPYPOSTFIELDS, sql);
    r = judge(h, load_curl.easy_perform(h->easy), false);
    if (answer)
        *answer = h->answer.text ? h->answer.text : "";
    return r;
}

enum load_result load_http_insert(struct load_http *h, const char *sql)
{
    enum load_result r = begin(h, sql);

    if (r != LOAD_DONE)
        return r;
    load_curl.easy_setopt(h->easy, CURLOPT_POST, 1L);
    load_curl.easy_setopt(h->easy, CURLOPT_POSTFIELDS, NULL);
    load_curl.easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)-1);
    if (load_curl.multi_add_handle(h->multi, h->easy) != CURLM_OK)
        return no_memory(h);
    h->is_open = true;
    return LOAD_DONE;
}

static void run_once(struct load_http *h)
{
    CURLMcode failed = CURLM_OK;
    int running, left;
    CURLMsg *m;

    failed = load_curl.multi_perform(h->multi, &running);
    while ((m = load_curl.multi_info_read(h->multi, &left)))
        if (m->msg == CURLMSG_DONE) {
            h->is_over = true;
            h->result = m->data.result;
        }
    if (failed != CURLM_OK) {
        h->is_over = true;
        h->result = CURLE_OUT_OF_MEMORY;
    }
}

/* Until the server has taken all, or the request is over. */
static void run(struct load_http *h)
{
    load_curl.easy_pause(h->easy, CURLPAUSE_CONT);
    for (;;) {
        run_once(h);
        if (h->is_over || (!h->is_last && h->piece == h->last))
            return;
        load_curl.multi_poll(h->multi, NULL, 0, POLL_MS, NULL);
    }
}

enum load_result load_http_send(struct load_http *h, const struct iovec *pieces, size_t count)
{
    enum load_result r;

    h->piece = pieces;
    h->last = pieces + count;
    h->taken = 0;
    run(h);
    if (!h->is_over)
        return LOAD_DONE;
    detach(h);
    r = judge(h, h->result, true);
    if (r != LOAD_DONE)
        return r;
    snprintf(h->error, sizeof h->error, "the server ended the insertion before it had all rows");
    return LOAD_AGAIN;
}

enum load_result load_http_end(struct load_http *h)
{
    h->is_last = true;
    run(h);
    detach(h);
    return judge(h, h->result, true);
}
