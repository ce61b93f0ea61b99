#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Checks that clang-format would change no line of a C file.

Versions of clang-format disagree about details, so any version but the one that .clang-format
names is a reason to skip the test (exit status 77).

usage: format.py SOURCE_ROOT
"""

import pathlib
import re
import shutil
import subprocess
import sys

import style

SKIPPED = 77


def command(root):
    """The clang-format of the version that .clang-format names, or None."""
    wanted = re.search(r'clang-format (\d+)', (root / ".clang-format").read_text()).group(1)
    for name in (f"clang-format-{wanted}", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            if re.search(rf'version {wanted}\.', said):
                return name
    return None


def differences(clang_format, root, paths):
    """The lines that clang-format prints about files that it would change."""
    run = subprocess.run([clang_format, "--style=file", "--dry-run", "-Werror", *paths],
                         cwd=root, capture_output=True, text=True)
    if run.returncode < 0 or (run.returncode and not run.stderr):
        raise SystemExit(f"{clang_format} ended with {run.returncode}")
    return [line for line in run.stderr.splitlines() if re.search(r': (error|warning): ', line)]


def self_check(clang_format, root):
    """A line that is out of place must be found."""
    text = "int a;\n  int b;\n"
    run = subprocess.run([clang_format, "--style=file", "--dry-run", "-Werror",
                          "--assume-filename=lib/a.c"], cwd=root, input=text,
                         capture_output=True, text=True)
    assert run.returncode and "error" in run.stderr, run


def main():
    root = pathlib.Path(sys.argv[1])
    clang_format = command(root)
    if not clang_format:
        print("no clang-format of the version that .clang-format names")
        sys.exit(SKIPPED)
    self_check(clang_format, root)
    paths = [path for path in style.files(root) if style.C.search(path)]
    assert len(paths) > 500, len(paths)
    wrong = differences(clang_format, root, paths)
    print("\n".join(wrong[:40]))
    sys.exit(f"{len(wrong)} places differ; run clang-format -i on the files" if wrong else 0)


if __name__ == "__main__":
    main()
