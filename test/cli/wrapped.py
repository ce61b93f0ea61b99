#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Logs with a size, which give up their oldest events, of each size down to less than a round: for every
reader the events and the lost ones are those that were generated, whether the log is complete, or was left
by a killed recorder and is read with the memory of it, or recovered from that.  Without that memory the
events are in order, each at most once, and the readers agree.

usage: wrapped.py POSIXTRACE PLAIN [SEED]

PLAIN is the program of plain.c.
"""

import csv
import io
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROUNDS = 40
FRONTS = 60  # at most; about every second log has its front
MARKS = ("posix_trace_overflow", "posix_trace_resume", "posix_trace_stop", "posix_trace_start")
SIZES = [1, 700, 4 << 10, 9000, 16 << 10, 40 << 10, 100 << 10, 1 << 20]


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


class Tool:
    def __init__(self, path, streams):
        self.path = path
        self.environment = {**os.environ, "LC_ALL": "C", "POSIXTRACE_DIR": str(streams)}

    def run(self, *words, statuses=(0,)):
        done = subprocess.run([self.path, *map(str, words)], text=True, capture_output=True, check=False,
                              timeout=120, env=self.environment)
        expect(f"{words}: exit {done.returncode}: {done.stderr}", done.returncode in statuses)
        return done.stdout

    def record(self, log, words, steps, say):
        """A recorder that runs; the program has done the steps if it says so."""
        recorder = subprocess.Popen([self.path, "record", "--quiet", "-o", log, *words, "--", *steps],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
        if say:
            expect("the program", recorder.stdout.readline() == b"done\n")
        return recorder


class Found:
    """What each reader says of a log."""

    def __init__(self, tool, log, whole, in_file=True):
        info = json.loads(tool.run("info", "--format=jsonl", log))
        rows = [json.loads(line) for line in tool.run("print", "--format=jsonl", log).split("\n") if line]
        self.what = f"{log.name}: {info}"
        self.ticks = [int.from_bytes(bytes.fromhex(row["data"]), "little") for row in rows if row["event"] == "tick"]
        ticks = len(self.ticks)
        self.lost = sum(thread["lost"] for thread in info["threads"] if thread["thread"] == "plain")
        self.all_lost = info["lost"]
        self.same("info's events", info["events"], len(rows))
        self.same("info's ticks", sum(t["count"] for t in info["types"] if t["event"] == "tick"), ticks)
        table = list(csv.DictReader(io.StringIO(tool.run("print", "--format=csv", log))))
        self.same("csv", [row["data"] for row in table], [row["data"] for row in rows])
        self.same("a selection", len(tool.run("print", "--format=csv", "--event=tick", log).splitlines()) - 1,
                  ticks)
        expect(f"{self.what}: {self.ticks[:5]} ... twice or not in order",
               all(a < b for a, b in zip(self.ticks, self.ticks[1:])))
        if in_file:  # check does not look into memory
            self.check(tool, log, whole, len(rows))
        self.measure(tool, log, info, rows)
        self.marks(rows)

    def marks(self, rows):
        """Between two ticks with others missing in between there is a mark."""
        last, mark = None, False
        for row in rows:
            mark |= row["event"] in MARKS
            if row["event"] != "tick":
                continue
            tick = int.from_bytes(bytes.fromhex(row["data"]), "little")
            expect(f"{self.what}: no mark between {last} and {tick}", mark or last is None or tick == last + 1)
            last, mark = tick, False

    def same(self, what, is_now, wanted):
        expect(f"{self.what}: {what}: {str(is_now)[:80]}, not {str(wanted)[:80]}", is_now == wanted)

    def check(self, tool, log, whole, events):
        said = tool.run("check", log, statuses=(0,) if whole else (0, 1))
        number = re.search(r"(\d+) events?\b", said)
        expect(f"{self.what}: check says {said}", number and int(number[1]) == events)

    def measure(self, tool, log, info, rows):
        """From each tick to the next one, but where some are missing between the two, as may be in a log that is cut."""
        said = tool.run("metrics", "--user=step:tick:tick", "--metric=step", "--format=jsonl", "--stats", log)
        row = [json.loads(line) for line in said.split("\n") if '"step"' in line]
        known = row[0].get("count", 0) - row[0].get("unknown", 0) if row else 0
        steps = sum(b == a + 1 for a, b in zip(self.ticks, self.ticks[1:]))
        expect(f"{self.what}: {known} measurements of {steps}: {said}",
               known == steps or (known < steps and (self.all_lost != 0 or info["ended"] == "cut")))


def one(tool, elsewhere, plain, folder, rng, number):
    log = folder / f"{number}.ptl"
    words = [f"--log-size={rng.choice(SIZES)}", f"--size={rng.choice(('16K', '64K', '1M'))}"]
    words += ["--zstd"] * rng.randrange(2)
    made = rng.choice((1, 30, 1000, 20000, rng.randrange(60000)))
    killed = rng.randrange(2)
    steps = [plain, "events", str(made), "tick", "say", "done", *["wait"] * killed]
    what = f"{log.name}: {words}, {made} events, {'killed' if killed else 'complete'}"
    recorder = tool.record(log, words, steps, True)
    if killed:
        recorder.kill()
    expect(what, recorder.wait(timeout=60) == (-9 if killed else 0))
    found = Found(tool, log, not killed, in_file=not killed)
    expect(f"{what}: {len(found.ticks)} and {found.lost} lost", len(found.ticks) + found.lost == made)
    if killed:
        alone = folder / f"{number}-alone.ptl"
        shutil.copyfile(log, alone)
        Found(elsewhere, alone, False)
        tool.run("recover", log)
        recovered = Found(tool, log, True)
        # what was in memory, too, has to fit into the log now
        expect(f"{what}: {len(recovered.ticks)} and {recovered.lost} lost after recovery",
               len(recovered.ticks) + recovered.lost == made and recovered.lost >= found.lost)
        expect(f"{what}: other events after recovery",
               recovered.ticks == found.ticks[len(found.ticks) - len(recovered.ticks):])
        recorder.communicate()
    recorder.stdin.close()
    recorder.stdout.close()
    return found.lost


def front(tool, plain, folder, rng):
    """A log that begins with the last ticks before a gap, whose OVERFLOW it has given up: nothing is measured over it."""
    log, found = folder / "front.ptl", 0
    for _ in range(FRONTS):
        words = (f"--log-size={rng.choice((4 << 10, 9000, 16 << 10))}", "--size=16K")
        recorder = tool.record(log, words, (plain, "events", str(rng.randrange(20000, 60000)), "tick"), False)
        expect("the recorder", recorder.wait(timeout=60) == 0)
        recorder.stdin.close()
        recorder.stdout.close()
        Found(tool, log, True)
        found += front_is_left(tool, log)
        if found == 3:
            return
    print(f"{found} of {FRONTS} logs began before a gap without its mark")


def front_is_left(tool, log):
    """Ticks, and others after RESUME, without an OVERFLOW in between; a report names each gap."""
    rows = [json.loads(line) for line in tool.run("print", "--format=jsonl", log).split("\n") if line]
    what = [row["event"] for row in rows if row["event"] in ("tick", *MARKS[:2])]
    first = what.index(MARKS[1]) if MARKS[1] in what else 0
    if first == 0 or MARKS[0] in what[:first] or "tick" not in what[first:]:
        return False
    gaps = json.loads(tool.run("report", "--format=json", log))["summary"]["gaps"]
    expect(f"{gaps} gaps, {what.count(MARKS[1])} with an end", gaps >= what.count(MARKS[1]))
    return True


def main():
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    rng = random.Random(seed)
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        streams = folder / "streams"
        streams.mkdir(mode=0o700)
        none = folder / "none"
        none.mkdir(mode=0o700)
        tool, elsewhere = Tool(sys.argv[1], streams), Tool(sys.argv[1], none)
        front(tool, sys.argv[2], folder, rng)
        lossy = sum(one(tool, elsewhere, sys.argv[2], folder, rng, i) > 0 for i in range(ROUNDS))
    print(f"{lossy} of {ROUNDS} logs had lost events")
    expect("some with and some without losses", 0 < lossy < ROUNDS)


main()
