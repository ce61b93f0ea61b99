/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Ways for chunks to go; all of it with the lock of shark_send.c held. */
#ifndef PT_FORMAT_SHARK_SEND_H
#define PT_FORMAT_SHARK_SEND_H

#include <stdint.h>

/* 0, or a positive errno. */
struct pt_shark_way {
    uint32_t batch; /* records of one put(), at most */
    int (*begin)(void);
    /* count records of SHARK_RECORD bytes; *put: how many of them are sent, also after an error. */
    int (*put)(const uint8_t *records, uint32_t count, uint32_t *put);
    int (*end)(int error); /* of begin() that worked; error: of the others */
};

extern const struct pt_shark_way pt_shark_udp;

/* A socket in place of the one before. */
int pt_shark_udp_open(const char *local, const char *target);

#endif
