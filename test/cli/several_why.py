#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace why of several logs of random programs, whose processes, threads and locks have the same
numbers: the longest instances of all, each as why of its log alone has it; causes and the waits where
logs end are those of each; counts are sums, with losses and without.

usage: several_why.py POSIXTRACE
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from several_random import expect, make, run  # noqa: E402

ROUNDS, LOGS = 8, 4
SUMS = ("count", "open", "unknown", "unkeyed", "events", "call_events", "switch_events", "gaps")


def why(tool, *words):
    """None: there is nothing to explain."""
    done = subprocess.run([tool, "why", "--format=json", *map(str, words)], text=True,
                          capture_output=True, check=False)
    expect(f"{words}: exit {done.returncode}: {done.stderr}",
           done.returncode == 0 or ("no " in done.stderr and done.returncode == 1))
    return json.loads(done.stdout) if done.returncode == 0 else None


def merged(ones, section):
    return [{"log": str(log), **row} for log, one in ones for row in one[section]]


def check(tool, logs, subject, worst):
    """Several: the same as each alone, merged."""
    words = [f"--worst={worst}", *subject]
    several = why(tool, *words, *logs)
    ones = [(log, why(tool, *words, log)) for log in logs]
    ones = [(log, one) for log, one in ones if one]
    if not several:
        expect(f"{subject}: none of the logs has any", not ones)
        return 0
    expect("logs", several["logs"] == [str(log) for log in logs])
    rows = merged(ones, "instances")
    order = sorted(rows, key=lambda r: -r["length_ns"])   # stable: of equal ones in the order of logs
    expected = ([r for r in order if not r["open"]][:worst] + [r for r in order if r["open"]][:worst])
    expect(f"{subject}: the longest of all", several["instances"] == expected)
    expect(f"{subject}: causes", several["causes"] == merged(ones, "causes"))
    if len(ones) == len(logs):
        expect(f"{subject}: ends", several["blocked"] == merged(ones, "blocked"))
        for key in SUMS:
            expect(f"{subject}: {key} is a sum",
                   several["summary"][key] == sum(one["summary"][key] for _, one in ones))
        expect(f"{subject}: of each", [{"log": str(log), **one["summary"]} for log, one in ones]
               == several["summaries"])
    return len(expected)


def check_text(tool, folder, logs, name):
    text = run(tool, "why", "--worst=5", name, folder).stdout
    expect("80 columns", all(len(line) <= 80 for line in text.splitlines()))
    shown = why(tool, "--worst=5", name, folder)["instances"]
    for number, row in enumerate(shown, 1):
        start = text.index(f"\n{number}. ")
        block = text[start:text.find("\n\n", start)]
        label = pathlib.Path(row["log"]).stem
        expect(f"instance {number} names its log: {block}",
               f"{label}:" in block and f"{label}.ptl" in block
               and not any(f"{log.stem}:" in block for log in logs if log.stem != label))
        # the command prints the events of that time
        command = " ".join(block.split()).rsplit("posixtrace ", 1)[1].replace("'", "").split()
        first = json.loads(run(tool, *command[:-1], "--format=jsonl", f"--tid={row['tid']}",
                               row["log"]).stdout.splitlines()[0])
        expect(f"{command}: {first}", first["ts"] == row["begin_ns"])
    for row in shown:
        label = pathlib.Path(row["log"]).stem
        expect("its causes", f"{label}: of the " in text)
    expect("one log has no labels", f"{logs[0].stem}:" not in run(tool, "why", logs[0]).stdout)
    ends = run(tool, "why", *logs).stdout
    expect(f"ends: {ends}", "Where " in ends and ("host" in ends or "the 4 logs end" in ends))
    for form in ("dot", "mermaid"):
        graph = run(tool, "why", f"--format={form}", name, folder).stdout
        expect(f"{form}: {graph}", "host" in graph)


def check_errors(tool, logs, name):
    done = run(tool, "why", "no:such..event", *logs, status=1)
    expect(done.stderr, "in the 4 logs" in done.stderr and "no:such" in done.stderr)
    done = run(tool, "why", "--at=+1us", "--tid=1", *logs, status=64)
    expect(done.stderr, "one log" in done.stderr)
    done = run(tool, "why", name, logs[0], logs[0], status=1)
    expect(done.stderr, "same file" in done.stderr)
    done = run(tool, "why", "missing.ptl", logs[0], status=1)
    expect(done.stderr, "missing.ptl" in done.stderr and "event" not in done.stderr)
    done = run(tool, "why", "--metric=Mutex Wait", name, *logs, status=64)
    expect(done.stderr, "only one of" in done.stderr)
    lossy = [log for log in logs if "lost" in run(tool, "why", log).stderr]
    expect("losses are said", run(tool, "why", *logs).stderr.count("lost") >= len(lossy) > 0)
    run(tool, "why", "--strict", *logs, status=3)


def main():
    tool, rows = pathlib.Path(sys.argv[1]).resolve(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["POSIXTRACE_DIR"] = name
        for number in range(ROUNDS):
            rng = random.Random(number + 40)
            made = [make(tool, folder, rng, i) for i in range(LOGS)]
            logs, names = [m[0] for m in made], sorted(set.union(*(m[1] for m in made)))
            for pair in names:
                rows += check(tool, logs, [pair], rng.choice((0, 1, 3, 8)))
            check(tool, logs, ["--metric=Mutex Wait"], 3)
            check(tool, logs, [], 3)
        expect("there were instances", rows > 20)
        check_text(tool, folder, logs, names[0])
        check_errors(tool, logs, names[0])


main()
