#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Checks that the library compiles without a warning for 32-bit x86, where shared memory has the
same layout as in 64-bit programs (asserted at compile time), and with char as other processors have
it, unsigned.  Nothing is linked or run; scripts/portability does that.

Skipped (exit status 77) where there is no compiler and no C library for 32-bit x86, as without
gcc-multilib.

usage: word_size.py SOURCE_ROOT BUILD_ROOT
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
COMPILERS = (["gcc", "-m32"], ["i686-linux-gnu-gcc"])
# Headers of other packages do not depend on the word size.
OTHER_HEADERS = pathlib.Path("/usr/include/x86_64-linux-gnu")
APART = {"compat", "preload", "text", "analysis"}


def compiles(command, text):
    """Is there a C library for it?"""
    try:
        return subprocess.run([*command, "-fsyntax-only", "-x", "c", "-"], input=text, text=True,
                              capture_output=True).returncode == 0
    except OSError:
        return False


def find_compiler():
    for command in COMPILERS:
        if compiles(command, "#include <stdint.h>\n#include <sys/stat.h>\n"
                             "_Static_assert(sizeof(void *) == 4, \"32 bits\");\n"):
            return command
    return None


def sources(root):
    return [path for path in sorted(root.glob("lib/**/*.c"))
            if path.relative_to(root).parts[1] not in APART]


def errors_of(command, path):
    run = subprocess.run([*command, str(path)], text=True, capture_output=True)
    lines = [line for line in run.stderr.splitlines() if ": error:" in line]
    return (lines or [f"{path}: {run.stderr.strip()}"]) if run.returncode else []


def main():
    root, build = (pathlib.Path(argument) for argument in sys.argv[1:])
    compiler = find_compiler()
    if not compiler:
        print("no C compiler for 32-bit x86")
        return SKIPPED
    command = [*compiler, "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
               "-funsigned-char", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", f"-I{root}/lib",
               f"-I{root}/include", f"-I{build}/include", f"-I{build}/lib", "-idirafter",
               str(OTHER_HEADERS)]
    files = sources(root)
    if len(files) < 100:
        sys.exit(f"only {len(files)} files in {root}/lib")
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        found = [line for lines in pool.map(lambda path: errors_of(command, path), files)
                 for line in lines]
    for line in found:
        print(line)
    print(f"{len(files)} files, {len(found)} errors")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
