/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The words of --until; see packet_input.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/packet_input.h"
#include "common/time_parse.h"

bool packet_until_parse(const char *text, struct packet_until *until)
{
    static const char events[] = "events:", idle[] = "idle:";
    struct when span;
    char time[40], *end;

    if (strcmp(text, "stop") == 0) {
        until->stop = true;
        return true;
    }
    if (strncmp(text, events, sizeof events - 1) == 0) {
        text += sizeof events - 1;
        errno = 0;
        until->events = strtoull(text, &end, 10);
        return *text >= '1' && *text <= '9' && !*end && !errno;
    }
    if (strncmp(text, idle, sizeof idle - 1) != 0 ||
        snprintf(time, sizeof time, "+%s", text + sizeof idle - 1) >= (int)sizeof time ||
        !when_parse(time, &span) || span.kind != WHEN_RELATIVE || span.ns <= 0)
        return false;
    until->idle_ns = span.ns;
    return true;
}
