/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * For tests that are not run under valgrind 3.19; they run without it, and under
 * AddressSanitizer:
 *
 *   barrier         an assertion of valgrind's own fails when a seccomp filter's SIGSYS
 *                   comes to a thread in a system call (async_signalhandler)
 *   seccomp         valgrind makes system calls of its own
 *   killed_create   one place of four: each takes half a minute
 *   shared_memory   valgrind has no clone() but that of threads and of fork()
 *   exit_meanwhile  threads that live at the end of a program are leaks for it
 *   wake; shm mapping_list, hostile_end
 *                   single steps are valgrind's
 *   space           a limit of address space is valgrind's own, too
 *   thread_end      in part: vfork() is a fork() there
 *   compat fork     what threads of the parent have allocated is a leak for it in a child
 *   scribbled       it takes many minutes; nothing was found in the first two
 *   preload io, preload descriptors
 *                   valgrind does not know epoll_pwait2() and an ioctl() of terminals
 *   preload waits, no lock
 *                   the address is wrong on purpose
 *   preload mappings, libraries that come and go
 *                   an assertion of valgrind's own fails when one is loaded again
 *                   (read_elf_debug_info)
 *   first_event, images
 *                   /proc/self/exe is valgrind there
 *   onward, half events; handler, forks; fork_reading
 *                   valgrind refuses mremap() of 0 bytes, which maps shared memory a second
 *                   time (lib/shm/segment_fork.c).  (With CK_FORK=no the failed test left the
 *                   stream, whose function forked at each event of the tests after it, in
 *                   every child again: processes without end.)
 */
#ifndef TEST_SUPPORT_VALGRIND_H
#define TEST_SUPPORT_VALGRIND_H

#include <stdlib.h>
#include <string.h>

#define TEST_SKIPPED 77 /* for meson */

static inline int is_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded && strstr(preloaded, "vgpreload") != NULL;
}

#endif
