#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace record --system, --stacks and --functions on a disk that gets full: calls, context
switches, stacks and functions are recorded in other ways than the program's events, and losses of
all must be reported.

usage: full_disk.py POSIXTRACE PLAIN NESTED

The disk is a small tmpfs in a mount namespace.  PLAIN and NESTED are the programs of plain.c and
nested.c.
"""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMEOUT = 60
EVENTS = 100000
# Of the disk, and of the stream: full in the first flush round, or in a later one.
SIZES = (("48k", "8M"), ("64k", "1M"), ("36k", "256K"))

# Rounds of NESTED, how many events one round makes, and some of them.  What comes before and after
# the rounds makes a few more.
ROUNDS = 20000
FEW = 8
KINDS = {"--stacks --system=io": (3, "posixtrace_io", "posixtrace_io_done", "posixtrace_stack"),
         "--functions": (4, "posixtrace_function_enter", "posixtrace_function_exit"),
         "--stacks=3 --functions --system=io": (7, "posixtrace_stack", "posixtrace_function_exit")}

NESTED = """
mount -t tmpfs -o size=$disk tmpfs "$place" || exit 77
log=$place/x.ptl
"$tool" record $options -o "$log" --size "$stream" "$nested" $events
echo "status $?"
for verb in info check report "print --format=csv" "export --to=tree" "export --to=folded" \\
            "export --to=chrome --stacks=slices"; do
    case $verb in
        export*) "$tool" $verb "$log" - > "$out/${verb##*to=}" 2> "$out/error" ;;
        *) "$tool" $verb "$log" > "$out/${verb%% *}" 2> "$out/error" ;;
    esac
    echo "status $?"
done
"""

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


def run(script, out, **variables):
    done = subprocess.run(
        ["unshare", "-m", *([] if os.geteuid() == 0 else ["-r"]), "sh", "-c", script],
        env={**os.environ, "out": str(out), **variables},
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
    # for want of room in the log, or in the stream, whose events the log did not take
    expect(f"some are lost:\n{info}", lost > 0)
    expect(f"what is printed is what is counted:\n{info}",
           number(r"^ +(\d+)  tick$", info) == ticks and
           number(r"^events +(\d+)", info) == len(events))
    table = list(csv.DictReader(io.StringIO((out / "metrics").read_text())))
    measured = sum(int(row["count"]) for row in table)
    expect(f"{measured} times from tick to tick of {ticks}", measured < max(ticks, 1))
    if not table and ticks > 0:
        said = (out / "metrics.error").read_text()
        expect(f"it is said why there is none: {said}", "are not whole" in said)


def check_nested(done, out, each, *types):
    """The program ran as without a recorder; the log has whole events, and counts the others."""
    statuses = re.findall(r"^status (\d+)$", done.stdout, re.MULTILINE)
    expect(f"{done}", statuses == ["1"] + ["0"] * 7)
    expect(f"the program's output: {done}", done.stdout.startswith(f"{ROUNDS}\n"))
    expect(f"the recorder says what is wrong: {done}", "cannot write all of" in done.stderr)
    info = (out / "info").read_text()
    with open(out / "print", newline="") as file:
        rows = list(csv.DictReader(file))
    own = [row for row in rows if row["thread"] == "nested"]
    lost = number(r"^ +\d+ +(\d+) +\d+ +[1-9]\d* +nested$", info)
    expect(f"each event is there or lost: {len(own)}, {lost}\n{info}",
           0 <= len(own) + lost - each * ROUNDS <= FEW)
    # for want of room in the log, or in the stream, whose events the log did not take
    expect(f"some are lost:\n{info}", lost > 0)
    for name in types:
        expect(f"some {name} are there\n{info}", any(row["event"] == name for row in own))
    for row in own:
        data = bytes.fromhex(row["data"])
        if row["event"] == "posixtrace_stack":
            count = int.from_bytes(data[:2], "little")
            expect(f"a stack is whole: {row}", count > 0 and len(data) == 2 + 8 * count)
    chrome = json.loads((out / "chrome --stacks=slices").read_text())
    expect("the export has all of it", sum(e["name"] == "posixtrace_stack" for e in
                                           chrome["traceEvents"]) ==
           sum(row["event"] == "posixtrace_stack" for row in rows))


def main():
    tool, plain, nested = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        for i, (options, kind) in enumerate(KINDS.items()):
            place = pathlib.Path(name, f"disk{i}")
            out = pathlib.Path(name, f"out{i}")
            place.mkdir()
            out.mkdir()
            done = run(NESTED, out, tool=tool, nested=nested, place=str(place), options=options,
                       disk="128k", stream="1M", events=str(ROUNDS))
            check_nested(done, out, *kind)
        for disk, stream in SIZES:
            place = pathlib.Path(name, f"disk-{disk}")
            out = pathlib.Path(name, f"out-{disk}")
            place.mkdir()
            out.mkdir()
            check(run(SCRIPT, out, tool=tool, plain=plain, place=str(place), disk=disk,
                      stream=stream, events=str(EVENTS)), out)


if __name__ == "__main__":
    main()
