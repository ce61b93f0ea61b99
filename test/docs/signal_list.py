#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The list of async-signal-safe functions in posixtrace(7) is the one that the test
unit/stream signal_list runs in a signal handler.

usage: signal_list.py SOURCE_ROOT TEST_PROGRAM
"""

import pathlib
import re
import subprocess
import sys


def listed(page):
    """The names of the list that the section on signals has."""
    section = page[page.index('.Ss Signals\n'):]
    block = section[section.index('.Bl -item'):section.index('.El\n')]
    return re.findall(r'^\.Xr (\w+) 3$', block, re.M)


def main():
    page = pathlib.Path(sys.argv[1], 'man/man7/posixtrace.7').read_text()
    run = subprocess.run([sys.argv[2], '--list'], check=True, capture_output=True, text=True)
    on_page, tested = set(listed(page)), set(run.stdout.split())
    for name in sorted(on_page ^ tested):
        print(f'{name}: ' + ('listed, not tested' if name in on_page else 'tested, not listed'))
    return 1 if on_page != tested or not tested else 0


sys.exit(main())
