/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The file system that a path is on.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct file_system {
    char type[32]; /* "tmpfs"; a number where the name is not known */
    bool in_memory;
    uint64_t size, space; /* bytes, and those that are free for this user */
};

/* False and errno: it cannot be known. */
bool place_look(const char *path, struct file_system *place);

#endif
