#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Checks that lib/writer calls nothing of the C library that is not async-signal-safe.

An event may be traced in a signal handler.  Read are the undefined symbols of the objects of
lib/writer in the static library; those of this library (pt_..., posix_trace_...) are free.

usage: signal_safe.py SOURCE_ROOT LIBRARY.a
"""

import pathlib
import re
import subprocess
import sys

# Of POSIX.1-2017, 2.4.3: those that event code may have a use for.
POSIX = {"abort", "clock_gettime", "close", "fcntl", "fstat", "fstatat", "getpid", "kill", "memchr",
         "memcmp", "memcpy", "memmove", "memset", "open", "openat", "pthread_self",
         "pthread_sigmask", "read", "sigaction", "sigfillset", "strcmp", "strcpy", "strlen",
         "strncmp", "strncpy", "strnlen", "unlink", "unlinkat", "write"}
# Each is one system call without memory of its own, or code that the compiler adds.
MORE = {"__errno_location",        # the address of errno
        "madvise", "mmap", "mprotect", "munmap", "prctl", "sigaltstack", "syscall",
        "__memcpy_chk", "__memmove_chk", "__memset_chk", "__strncpy_chk", "__stack_chk_fail",
        "_GLOBAL_OFFSET_TABLE_"}
OWN = re.compile(r'(pt_|posix_trace_|posixtrace_)')


def unsafe(symbols):
    return sorted(s for s in symbols if s not in POSIX | MORE and not OWN.match(s))


def members(text):
    """{object: undefined symbols}, of what nm prints of an archive."""
    found, here = {}, None
    for line in text.splitlines():
        if line.endswith(":"):
            here = found.setdefault(line[:-1].rpartition("/")[2].rpartition("[")[2].rstrip("]"), set())
        elif here is not None and re.match(r'\s+[Uw] \S+$', line):
            here.add(line.split()[-1].partition("@")[0])
    return found


def main():
    assert unsafe({"memcpy", "pt_x"}) == [] and unsafe({"malloc", "write"}) == ["malloc"]
    assert members("\nwriter_a.c.o:\n                 U free\n") == {"writer_a.c.o": {"free"}}
    root, library = pathlib.Path(sys.argv[1]), sys.argv[2]
    found = members(subprocess.run(["nm", "-u", library], check=True, text=True,
                                   capture_output=True).stdout)
    wrong = []
    for source in sorted((root / "lib/writer").glob("*.c")):
        name = f"writer_{source.name}.o"
        if name not in found:
            sys.exit(f"signal_safe.py: {library} has no object {name}")
        wrong += [f"lib/writer/{source.name}: {s} is not async-signal-safe"
                  for s in unsafe(found[name])]
    print("\n".join(wrong) if wrong else "lib/writer is async-signal-safe")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
