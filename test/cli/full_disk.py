#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace record --system on a disk that gets full: calls and context switches are recorded in
other ways than the program's events, and losses of all must be reported.

usage: full_disk.py POSIXTRACE PLAIN

The disk is a small tmpfs in a mount namespace.  PLAIN is the program of plain.c.
"""

import csv
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMEOUT = 60
EVENTS = 100000
# Of the disk, and of the stream: full in the first flush round, or in a later one.
SIZES = (("256k", "8M"), ("1m", "1M"), ("300k", "256K"))

SCRIPT = """
mount -t tmpfs -o size=$disk tmpfs "$place" || exit 77
log=$place/x.ptl
"$tool" record --system -o "$log" --size "$stream" "$plain" events $events tick
echo "status $?"
for verb in info check "metrics --stats --format=csv --user=t:tick:tick" "print --format=csv"; do
    "$tool" $verb "$log" > "$out/${verb%% *}" 2> "$out/${verb%% *}.error"
    echo "status $?"
done
"""


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


def number(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return int(found.group(1)) if found else 0


def run(tool, plain, place, out, disk, stream):
    done = subprocess.run(
        ["unshare", "-m", *([] if os.geteuid() == 0 else ["-r"]), "sh", "-c", SCRIPT],
        env={**os.environ, "tool": tool, "plain": plain, "place": str(place), "out": str(out),
             "disk": disk, "stream": stream, "events": str(EVENTS)},
        capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        print("not tried: no namespace of mounts to be had")
        sys.exit(77)
    return done


def check(done, out):
    statuses = re.findall(r"^status (\d+)$", done.stdout, re.MULTILINE)
    expect(f"{done}", statuses == ["1", "0", "0", "0", "0"])
    expect(f"the recorder says what is wrong: {done}", "cannot write all of" in done.stderr and
           "No space left on device" in done.stderr)
    info = (out / "info").read_text()
    with open(out / "print", newline="") as file:
        events = [row["event"] for row in csv.DictReader(file)]
    ticks = events.count("tick")
    lost = number(r"^ +\d+ +(\d+) +\d+ +[1-9]\d* +plain$", info)
    expect(f"each event is there or lost: {ticks} and {lost}\n{info}", ticks + lost == EVENTS)
    expect(f"some are lost, for want of room:\n{info}",
           number(r"^ +(\d+) log could not be written$", info) > 0)
    expect(f"what is printed is what is counted:\n{info}",
           number(r"^ +(\d+)  tick$", info) == ticks and
           number(r"^events +(\d+)", info) == len(events))
    table = list(csv.DictReader(io.StringIO((out / "metrics").read_text())))
    measured = sum(int(row["count"]) for row in table)
    expect(f"{measured} times from tick to tick of {ticks}", measured < max(ticks, 1))
    if not table and ticks > 0:
        said = (out / "metrics.error").read_text()
        expect(f"it is said why there is none: {said}", "are not whole" in said)


def main():
    tool, plain = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        for disk, stream in SIZES:
            place = pathlib.Path(name, f"disk-{disk}")
            out = pathlib.Path(name, f"out-{disk}")
            place.mkdir()
            out.mkdir()
            check(run(tool, plain, place, out, disk, stream), out)


if __name__ == "__main__":
    main()
