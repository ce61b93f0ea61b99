#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Real programs whose threads wait for each other in a known way: posixtrace why says how.

usage: why_programs.py POSIXTRACE WAITING
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


def run(*arguments):
    done = subprocess.run(list(map(str, arguments)), capture_output=True, timeout=100)
    if done.returncode == 77:
        sys.exit(77)
    if done.returncode != 0:
        sys.exit(f"{arguments}: {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout


def why(tool, folder, waiting, mode, *words):
    log = folder / f"{mode}.ptl"
    run(tool, "record", "--quiet", "--system", "-o", log, waiting, mode)
    return json.loads(run(tool, "why", "--format=json", *words, log))


def check_sums(row):
    at = row["begin_ns"]
    for s in row["segments"]:
        if s["depth"] == 0:
            assert s["begin_ns"] == at, (s, at)
            at = s["end_ns"]
    assert at == row["end_ns"]


def find(segments, **members):
    """A segment with these members."""
    for s in segments:
        if all(s.get(key) == value for key, value in members.items()):
            return s
    sys.exit(f"no segment with {members}: {segments}")


def check_held(answer):
    row = answer["instances"][0]
    check_sums(row)
    wait = find(row["segments"], depth=0, kind="lock", relation="holds")
    assert wait["other_tid"] != row["tid"]
    below = find(row["segments"], depth=1, tid=wait["other_tid"], kind="I/O", call="read")
    assert "pipe:" in below["name"], below
    find(row["segments"], depth=1, kind="I/O", relation="signals", other_tid=row["pid"])
    find([c["root"] for c in answer["causes"]], kind="I/O", call="read")


def check_signal(answer):
    row = answer["instances"][0]
    check_sums(row)
    wait = find(row["segments"], depth=0, kind="condition", relation="signals")
    find(row["segments"], depth=1, tid=wait["other_tid"], kind="I/O", call="read")


def check_child(answer):
    """The child reads from a pipe to which its grandparent writes."""
    row = answer["instances"][0]
    check_sums(row)
    wait = find(row["segments"], depth=0, kind="child", relation="is awaited")
    assert wait["other_pid"] == wait["other_tid"] != row["pid"], wait
    read = find(row["segments"], depth=1, pid=wait["other_pid"], kind="I/O", relation="signals")
    assert read["other_pid"] not in (wait["other_pid"], row["pid"]), read


def check_deadlock(answer):
    circle = [b for b in answer["blocked"] if b["deadlock_number"] == 1]
    assert len(circle) == 2 and all(b["kind"] == "lock" for b in circle), answer["blocked"]
    assert [b["tid"] for b in circle] == [b["other_tid"] for b in circle[::-1]], circle
    assert all(row["open"] for row in answer["instances"]) and len(answer["instances"]) == 2
    for row in answer["instances"]:
        check_sums(row)
        assert any(s.get("deadlock") for s in row["segments"]), row


def main():
    tool, waiting = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        os.environ["POSIXTRACE_DIR"] = name
        folder = pathlib.Path(name)
        check_held(why(tool, folder, waiting, "held", "req"))
        check_signal(why(tool, folder, waiting, "signal", "req"))
        check_child(why(tool, folder, waiting, "child", "req"))
        check_deadlock(why(tool, folder, waiting, "deadlock", "req"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
