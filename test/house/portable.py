#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The metrics over nothing but <trace.h>: what a library built for that calls.

usage: portable.py STATIC_LIBRARY
"""

import subprocess
import sys


def main():
    lines = subprocess.run(["nm", "-g", sys.argv[1]], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    symbols = [line.split()[-2:] for line in lines if len(line.split()) >= 2]
    defined = {name for kind, name in symbols if kind not in "Uw"}
    called = {name for kind, name in symbols if kind in "Uw"} - defined
    ours = sorted(name for name in called if name.startswith(("posixtrace_", "pt_")))
    standard = sorted(name for name in called if name.startswith("posix_trace_"))
    if ours or not standard:
        print("\n".join(f"{name}: is called, and is none of the standard's" for name in ours))
        return 1
    print(f"{len(standard)} functions of the standard are called, and none of ours")
    return 0


if __name__ == "__main__":
    sys.exit(main())
