/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program for record --stacks and --functions: compiled with -finstrument-functions, so that it
 * enters two functions and makes one call in each round.
 *
 * usage: nested ROUNDS       prints how many bytes it has written
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int null;

static long __attribute__((noinline)) inner(void)
{
    return write(null, "x", 1);
}

static long __attribute__((noinline)) outer(void)
{
    return inner() + 0;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 0, written = 0;

    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (long i = 0; null >= 0 && i < rounds; i++)
        written += outer();
    printf("%ld\n", written);
    return written != rounds;
}
