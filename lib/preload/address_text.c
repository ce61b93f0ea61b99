/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See address_text.h. */
#include "preload/address_text.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

void preload_text_add(struct preload_text *t, const char *from, size_t length)
{
    if (length > PRELOAD_TEXT_MAX - t->length)
        length = PRELOAD_TEXT_MAX - t->length;
    memcpy(t->at + t->length, from, length);
    t->length += length;
    t->at[t->length] = '\0';
}

void preload_text_number(struct preload_text *t, uint64_t number, unsigned base)
{
    char digits[24], *p = digits + sizeof digits;

    do
        *--p = "0123456789abcdef"[number % base];
    while (number /= base);
    preload_text_add(t, p, (size_t)(digits + sizeof digits - p));
}

static void add_port(struct preload_text *t, in_port_t port)
{
    preload_text_add(t, ":", 1);
    preload_text_number(t, ntohs(port), 10);
}

static void add_ipv4(struct preload_text *t, const struct sockaddr_in *a)
{
    const uint8_t *p = (const uint8_t *)&a->sin_addr;

    for (int i = 0; i < 4; i++) {
        preload_text_add(t, ".", i > 0);
        preload_text_number(t, p[i], 10);
    }
    add_port(t, a->sin_port);
}

static void add_ipv6(struct preload_text *t, const struct sockaddr_in6 *a)
{
    const uint8_t *p = a->sin6_addr.s6_addr;

    preload_text_add(t, "[", 1);
    for (int i = 0; i < 16; i += 2) {
        preload_text_add(t, ":", i > 0);
        preload_text_number(t, (unsigned)p[i] << 8 | p[i + 1], 16);
    }
    preload_text_add(t, "]", 1);
    add_port(t, a->sin6_port);
}

bool preload_text_address(struct preload_text *t, const struct sockaddr_storage *a, socklen_t size)
{
    const struct sockaddr_un *un = (const void *)a;
    const size_t path = offsetof(struct sockaddr_un, sun_path);

    if (a->ss_family == AF_INET)
        add_ipv4(t, (const void *)a);
    else if (a->ss_family == AF_INET6)
        add_ipv6(t, (const void *)a);
    else if (a->ss_family != AF_UNIX || size <= path)
        return false;
    else if (un->sun_path[0])
        preload_text_add(t, un->sun_path, strnlen(un->sun_path, size - path));
    else {
        preload_text_add(t, "@", 1);
        preload_text_add(t, un->sun_path + 1, strnlen(un->sun_path + 1, size - path - 1));
    }
    return true;
}
