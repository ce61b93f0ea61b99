#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Each function that libposixtrace-preload.so wraps is called by a test of this folder.

usage: all_names.py LIBRARY FILE...
"""

import pathlib
import re
import subprocess
import sys


def main():
    library, *files = sys.argv[1:]
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                            capture_output=True, text=True).stdout
    wrapped = set(re.findall(r"^[0-9a-f]+ T (\w+)", listed, flags=re.M))
    words = set()
    for file in files:
        words |= set(re.findall(r"\w+", pathlib.Path(file).read_text()))
    if len(wrapped) < 100 or "read" not in wrapped:
        sys.exit(f"only {len(wrapped)} functions are in {library}")
    if wrapped - words:
        sys.exit("no test calls " + ", ".join(sorted(wrapped - words)))
    print(f"{len(wrapped)} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
