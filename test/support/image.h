/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A test program that is its own other program: what execvp() and posix_spawnp() take to
 * run it again, with an argument.  Where an emulator runs it, the kernel does not know the
 * program's format, and meson says in MESON_EXE_WRAPPER what does.
 */
#ifndef SUPPORT_IMAGE_H
#define SUPPORT_IMAGE_H

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <wordexp.h>

enum { IMAGE_WORDS = 16 };

static char image_path[512];
static char *image_command[IMAGE_WORDS + 1];

/* At the beginning of main(); the argument may change later. */
static inline void image_prepare(const char *argument)
{
    const char *wrapper = getenv("MESON_EXE_WRAPPER");
    ssize_t length = readlink("/proc/self/exe", image_path, sizeof image_path - 1);
    wordexp_t words = { .we_wordc = 0 };
    size_t n = 0;

    if (length <= 0 || (wrapper && wordexp(wrapper, &words, WRDE_NOCMD) != 0) ||
        words.we_wordc + 2 > IMAGE_WORDS)
        abort();
    for (; n < words.we_wordc; n++)
        image_command[n] = words.we_wordv[n];
    image_command[n++] = image_path;
    image_command[n] = (char *)(uintptr_t)argument;
}

#endif
