#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The example does its work and its trace tells the truth about it: the
compressed files give back their originals, every step is there in pairs, and
the byte counts of the events are those of the files.

usage: demo.py COMPRESS POSIXTRACE FILE...
"""

import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

STEPS = ("file", "read", "compress", "write")


def check_pairs(events):
    """Per thread: begin and end alternate for each step."""
    open_steps = collections.Counter()
    for event in events:
        step, _, edge = event["event"].partition(":")
        if step not in STEPS:
            continue
        open_steps[event["tid"], step] += 1 if edge == "begin" else -1
        if open_steps[event["tid"], step] not in (0, 1):
            sys.exit(f"unpaired: {event}")
    if any(open_steps.values()):
        sys.exit(f"left open: {[key for key, n in open_steps.items() if n]}")


def main():
    compress, tool = sys.argv[1:3]
    files = [pathlib.Path(name) for name in sys.argv[3:]]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log = folder / "compress.ptl"
        subprocess.run([compress, "3", log, folder, *files], check=True)
        printed = subprocess.run([tool, "print", "--strict", "--format=jsonl", log], check=True,
                                 capture_output=True, text=True)
        packed = {path: (folder / f"{path.name}.gz").read_bytes() for path in files}
    for path, data in packed.items():
        if gzip.decompress(data) != path.read_bytes():
            sys.exit(f"{path}: does not come back")
    events = [json.loads(line) for line in printed.stdout.splitlines()]
    if [event["ts"] for event in events] != sorted(event["ts"] for event in events):
        sys.exit("events are not in order of time")
    check_pairs(events)
    begun = {e["fields"]["path"] for e in events if e["event"] == "file:begin"}
    if begun != {str(path) for path in files}:
        sys.exit(f"files in the trace: {sorted(begun)}")
    for step, wanted in (("read:end", sum(path.stat().st_size for path in files)),
                         ("write:end", sum(map(len, packed.values())))):
        found = sum(event["fields"]["bytes"] for event in events if event["event"] == step)
        if found != wanted:
            sys.exit(f"{step}: {found} bytes in the trace, {wanted} in the files")
    print(f"{len(events)} events about {len(files)} files")


if __name__ == "__main__":
    main()
