#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Readers that take nothing, of a stream that overtakes them: what print --follow prints and says to be lost,
what a snapshot has and lacks, and what top counts are the events that were generated.

usage: onlookers.py POSIXTRACE PLAIN [SEED]

PLAIN is the program of plain.c.
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROUNDS = 12
FIRST = 20  # events before an onlooker comes, for which each stream has room


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


class Setup:
    def __init__(self, tool, plain, folder):
        self.tool, self.plain, self.folder = tool, plain, folder
        streams = folder / "streams"
        streams.mkdir(mode=0o700)
        self.environment = {**os.environ, "LC_ALL": "C", "POSIXTRACE_DIR": str(streams)}

    def begin(self, *words):
        return subprocess.Popen([self.tool, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment)

    def run(self, *words):
        done = subprocess.run([self.tool, *map(str, words)], text=True, capture_output=True, check=False,
                              timeout=120, env=self.environment)
        expect(f"{words}: exit {done.returncode}: {done.stderr}", done.returncode == 0)
        return done.stdout


def read_rest(process):
    """communicate() would leave out the buffer of readline()."""
    rest, said = process.stdout.read(), process.stderr.read()
    expect(f"{process.args}: {process.wait(timeout=60)}: {said}", process.returncode == 0)
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    return rest, said


def lost_in(text):
    """The number of "N events lost"."""
    found = re.search(r"(\d[\d,]*) events? lost", text)
    return int(found[1].replace(",", "")) if found else 0


def count_snapshot(setup, pid, log):
    setup.run("snapshot", pid, "-o", log, "--force")
    info = json.loads(setup.run("info", "--format=jsonl", log))
    return sum(t["count"] for t in info["types"] if t["event"] == "tick"), info["lost"]


def one(setup, rng, number):
    policy = ("loop", "flush", "until-full")[number % 3]
    made = [FIRST, rng.randrange(1, 100000), rng.randrange(1, 3000)]
    steps = []
    for events in made:
        steps += ["events", str(events), "tick", "say", "done", "wait"]
    what = f"{policy}, {made}"
    recorder = setup.begin("record", "--quiet", f"--policy={policy}", f"--size={rng.choice(('16K', '64K', '1M'))}",
                           "-o", setup.folder / "o.ptl", "--", setup.plain, *steps)
    expect(what, recorder.stdout.readline() == "done\n")
    listed = json.loads(setup.run("list", "--format=jsonl").splitlines()[0])
    pid = listed["pid"]
    follow = setup.begin("print", "--follow", "--format=csv", pid)
    # a START, which each stream has until its first flush or for ever, says that it reads
    expect(f"{what}: a header", follow.stdout.readline().startswith("ts,"))
    first = follow.stdout.readline()
    top = setup.begin("top", "--format=json", "--interval=100ms", pid)
    pictures = [top.stdout.readline()]
    for i in (1, 2):
        recorder.stdin.write("\n")
        recorder.stdin.flush()
        expect(what, recorder.stdout.readline() == "done\n")
        ticks, lost = count_snapshot(setup, pid, setup.folder / "s.ptl")
        expect(f"{what}: a snapshot has {ticks} and lacks {lost}", policy != "loop" or
               ticks + lost in range(sum(made[:i + 1]), sum(made[:i + 1]) + 3))
    recorder.stdin.write("\n")
    recorder.communicate(timeout=60)
    rest, said = read_rest(follow)
    ticks = (first + rest).count(',"tick",')
    found = ticks + lost_in(said)
    expect(f"{what}: {ticks} printed, {said}", sum(made[1:]) <= found <= sum(made) + 3)
    expect(f"{what}: {ticks} printed, {said}", policy != "loop" or found >= sum(made))
    pictures += read_rest(top)[0].splitlines()
    row = json.loads(pictures[-1])["streams"][0]
    counted = row["events"] + sum(cause["events"] for cause in row["lost"])
    expect(f"{what}: top counts {counted}: {row}", sum(made[1:]) <= counted <= sum(made) + 3)
    expect(f"{what}: top counts {counted}: {row}", policy != "loop" or counted >= sum(made))
    return lost_in(said)


def main():
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        setup = Setup(sys.argv[1], sys.argv[2], pathlib.Path(name))
        overtaken = sum(one(setup, rng, i) > 0 for i in range(ROUNDS))
    print(f"{overtaken} of {ROUNDS} were overtaken")
    expect("one that was overtaken", overtaken > 0)


main()
