#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace record of programs with very many threads.

usage: crowd.py POSIXTRACE CROWD

CROWD is the program of crowd.c.  POSIXTRACE_TEST_THREADS says how many threads it
has at once, 16384 in the long form; 600 otherwise.  A machine that has no room for so
many threads tries half as many.
"""

import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

TIMEOUT = 300
EACH = 64            # events of a thread, 2 KiB of records
RUSH, RUSH_EACH = 500, 2000
STREAM = 8 << 20
RECORD = 24          # bytes of an event with 8 bytes of data


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


class Recording:
    def __init__(self, tool, folder, crowd, threads, each, *options, file_limit=None, rush=False):
        log = folder / "crowd.ptl"
        limit = ((lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit)))
                 if file_limit else None)
        command = [tool, "record", *options, "-o", log, crowd, threads, each]
        done = subprocess.run([*map(str, command)] + (["rush"] if rush else []), text=True,
                              capture_output=True, timeout=TIMEOUT, check=False, preexec_fn=limit)
        self.status, self.said = done.returncode, done.stderr
        self.info = subprocess.run([tool, "info", log], text=True, capture_output=True,
                                   timeout=TIMEOUT, check=False).stdout
        recorded = re.search(r"^ +(\d+)  crowd$", self.info, re.M)
        lost = re.search(r"^lost +(\d+) events", self.info, re.M)
        self.recorded = int(recorded.group(1)) if recorded else 0
        self.lost = int(lost.group(1)) if lost else 0


def many_threads(tool, crowd, folder):
    """Nothing is lost whatever the size."""
    threads = int(os.environ.get("POSIXTRACE_TEST_THREADS", 600))
    for size in ("1M", "8M", "64M"):
        made = Recording(tool, folder, crowd, threads, EACH, "--size", size)
        while made.status == 3 and threads > 100:
            threads //= 2
            made = Recording(tool, folder, crowd, threads, EACH, "--size", size)
        expect(f"{size}, {threads} threads: {made.said} {made.info}",
               made.status == 0 and made.recorded == threads * EACH and made.lost == 0)


def rush(tool, crowd, folder):
    """However the threads get the processors, what the stream can hold is kept."""
    made = Recording(tool, folder, crowd, RUSH, RUSH_EACH, "--size", STREAM, rush=True)
    expect(f"rush: {made.said} {made.info}",
           made.status == 0 and made.recorded + made.lost == RUSH * RUSH_EACH and
           made.recorded >= STREAM // RECORD)


def too_many(tool, crowd, folder):
    """Where files may not be large, there is room for fewer threads, and that is said."""
    made = Recording(tool, folder, crowd, 700, 1, "--size", "16K", file_limit=16 << 20)
    refused = re.search(r"(\d+) threads found no room", made.said)
    expect(f"too many: {made.said} {made.info}",
           made.status == 0 and refused and 0 < int(refused.group(1)) == made.lost and
           made.recorded + made.lost == 700 and
           re.search(rf"^no room +for {made.lost} threads", made.info, re.M) and
           "advice" not in made.info)


def main():
    tool, crowd = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        for test in (many_threads, rush, too_many):
            test(tool, crowd, pathlib.Path(name))


if __name__ == "__main__":
    main()
