#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Runs the hello-world and reads its log with the tool.

usage: run_hello.py HELLO POSIXTRACE
"""

import json
import os
import subprocess
import sys
import tempfile


def main():
    hello, tool = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([hello], cwd=folder, check=True)
        printed = subprocess.run([tool, "print", "--format=jsonl", "hello.ptl"], cwd=folder,
                                 check=True, capture_output=True, text=True)
    events = [json.loads(line) for line in printed.stdout.splitlines()]
    mine = [event for event in events if event["event"] == "hello"]
    if printed.stderr or [bytes.fromhex(event["data"]) for event in mine] != [b"world"]:
        sys.exit(f"expected one event 'hello' with 'world', got:\n{printed.stdout}{printed.stderr}")
    if events[0]["event"] != "posix_trace_start" or events[-1]["event"] != "posix_trace_stop":
        sys.exit(f"expected start and stop around it, got:\n{printed.stdout}")


if __name__ == "__main__":
    main()
