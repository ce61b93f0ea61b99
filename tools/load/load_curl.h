/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The functions of libcurl.  The library is loaded when the first log is, since it brings thirty
 * others: the other verbs begin without them, and also where it is not installed.
 */
#ifndef LOAD_CURL_H
#define LOAD_CURL_H

#include <curl/curl.h>

#define LOAD_CURL_FUNCTIONS(X) \
    X(easy_cleanup)            \
    X(easy_escape)             \
    X(easy_getinfo)            \
    X(easy_init)               \
    X(easy_pause)              \
    X(easy_perform)            \
    X(easy_setopt)             \
    X(easy_strerror)           \
    X(free)                    \
    X(global_init)             \
    X(multi_add_handle)        \
    X(multi_cleanup)           \
    X(multi_info_read)         \
    X(multi_init)              \
    X(multi_perform)           \
    X(multi_poll)              \
    X(multi_remove_handle)     \
    X(slist_append)            \
    X(slist_free_all)          \
    X(url)                     \
    X(url_cleanup)             \
    X(url_get)                 \
    X(url_set)

/* clang-format off */
#define LOAD_CURL_MEMBER(name) __typeof__(&curl_##name) name;
/* clang-format on */

struct load_curl {
    LOAD_CURL_FUNCTIONS(LOAD_CURL_MEMBER)
};

extern struct load_curl load_curl;

/* Before any of them is called.  EXIT_DONE, or it was said. */
int load_curl_begin(void);

#endif
