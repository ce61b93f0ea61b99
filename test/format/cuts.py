#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""A slice is cut where its thread has lost events, and only then: exports of a log with two threads, where only one
has lost events.

usage: cuts.py POSIXTRACE LOSSY
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def run(*arguments):
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, (arguments, done)
    return done.stdout


def check_chrome(events):
    ends = [e for e in events if e["ph"] in "BE" and e["name"] in ("inner", "outer")]
    assert [(e["ph"], e["name"], "cut" in e.get("args", {})) for e in ends] == [
        ("B", "outer", False), ("B", "inner", False), ("E", "inner", False), ("B", "inner", False), ("E", "inner", True), ("E", "outer", False)], ends


def check_btf(lines):
    fields = [line.split(",") for line in lines if ",R,inner," in line or ",R,outer," in line]
    assert [(f[4], f[6]) for f in fields] == [
        ("outer", "start"), ("inner", "start"), ("inner", "terminate"), ("inner", "start"), ("inner", "terminate"),
        ("outer", "terminate")], fields
    lost = [line for line in lines if ",posix_trace_overflow,0,trigger" in line]
    assert len(lost) == 1 and lost[0].split(",")[0] == fields[4][0], (lost, fields)


def main():
    tool, lossy = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        log = pathlib.Path(name) / "one.ptl"
        run(lossy, log, "one")
        about = json.loads(run(tool, "info", "--format=jsonl", log))
        lost = sorted(thread["lost"] for thread in about["threads"])
        assert lost[-1] == about["lost"] > lost[-2] == 0, about
        check_chrome(json.loads(run(tool, "export", "--to=chrome", log, "-"))["traceEvents"])
        check_btf(run(tool, "export", "--to=btf", log, "-").splitlines())
        run(tool, "export", "--to=btf", log, pathlib.Path(name) / "one.btf")
        run(tool, "btf", "check", pathlib.Path(name) / "one.btf")


if __name__ == "__main__":
    main()
