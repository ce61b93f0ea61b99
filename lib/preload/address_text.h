/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Addresses of sockets as text, in a buffer that cuts it.  No allocation; async-signal-safe. */
#ifndef PRELOAD_ADDRESS_TEXT_H
#define PRELOAD_ADDRESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <posixtrace/system.h>

enum { PRELOAD_TEXT_MAX = POSIXTRACE_DESCRIPTOR_TEXT_MAX };

struct preload_text {
    char at[PRELOAD_TEXT_MAX + 1];
    size_t length;
};

#pragma GCC visibility push(hidden)
void preload_text_add(struct preload_text *t, const char *from, size_t length);
void preload_text_number(struct preload_text *t, uint64_t number, unsigned base);
/* False: it says nothing. */
bool preload_text_address(struct preload_text *t, const struct sockaddr_storage *a, socklen_t size);
#pragma GCC visibility pop

#endif
