#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""A program that records through the interface of QNX, S.Ha.R.K. or RKH does not load the
analysis library: neither it nor libposixtrace-compat.so has that among its needed libraries.

usage: needed.py PROGRAM... COMPAT_LIBRARY ANALYSIS_LIBRARY
"""

import re
import subprocess
import sys

COMPAT, ANALYSIS, CORE = "libposixtrace-compat.so.0", "libposixtrace-analysis.so.0", "libposixtrace.so.0"


def needed(path):
    """DT_NEEDED of an ELF file."""
    text = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def soname(path):
    text = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
    return re.search(r"\(SONAME\).*\[(.*)\]", text).group(1)


def main():
    *programs, compat, analysis = sys.argv[1:]
    problems = []
    for path, name in ((compat, COMPAT), (analysis, ANALYSIS)):
        if soname(path) != name:
            problems.append(f"{path}: soname {soname(path)}, expected {name}")
    for program in programs:
        if COMPAT not in needed(program):
            problems.append(f"{program} does not need {COMPAT}: {needed(program)}")
    for path in (*programs, compat):
        if ANALYSIS in needed(path):
            problems.append(f"{path} needs {ANALYSIS}")
    if CORE not in needed(compat):
        problems.append(f"{compat} does not need {CORE}")
    print("\n".join(problems) if problems else f"{len(programs)} programs record without {ANALYSIS}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
