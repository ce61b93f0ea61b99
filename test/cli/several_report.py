#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace report of several logs of random programs, whose processes, threads and locks have the
same numbers: rows of threads, objects and places are those of each log, pairs and the summary are
sums, with losses and without.

usage: several_report.py POSIXTRACE
"""

import json
import os
import pathlib
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True

from several_random import expect, make, run  # noqa: E402

ROUNDS, LOGS = 12, 4
APART = ("threads", "locks", "contention", "waits", "descriptors", "sites", "work", "preemptors")
SUMS = ("events", "call_events", "switch_events", "cpu_time_events", "pair_events", "processes",
        "threads", "gaps", "gap_ns", "crossing")


def report(tool, *words):
    return json.loads(run(tool, "report", "--format=json", *words).stdout)


def by_text(rows):
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def check_pairs(several, ones):
    for name in {p["name"] for one in ones for p in one["pairs"]}:
        rows = [p for one in ones for p in one["pairs"] if p["name"] == name]
        row = next(p for p in several["pairs"] if p["name"] == name)
        for key in ("count", "unknown", "total_ns"):
            expect(f"{key} of {name}", row[key] == sum(r[key] for r in rows))
        # The report of a log without a measurement of the pair has no row that says how many are open.
        expect(f"open {name}", row["open"] >= sum(r["open"] for r in rows))
        expect(f"the longest {name}", row.get("max_ns") == max((r["max_ns"] for r in rows
                                                                if "max_ns" in r), default=None))
    expect("pairs", len(several["pairs"]) == len({p["name"] for o in ones for p in o["pairs"]}))


def check(tool, logs, *words):
    several = report(tool, *words, *logs)
    ones = [report(tool, *words, log) for log in logs]
    expect("logs", several["logs"] == [str(log) for log in logs])
    for section in APART:
        rows = [{**row, "log": str(log)} for log, one in zip(logs, ones) for row in one[section]]
        expect(f"rows of {section}", by_text(several[section]) == by_text(rows))
    for key in SUMS:
        expect(f"{key} is a sum", several["summary"][key] == sum(o["summary"][key] for o in ones))
    expect("the first event", several["summary"]["first_ns"]
           == min(o["summary"]["first_ns"] for o in ones))
    lost = {}
    for one in ones:
        for cause, count in one["lost"].items():
            lost[cause] = lost.get(cause, 0) + count
    expect("losses", several["lost"] == lost)
    check_pairs(several, ones)
    return sum(len(several[section]) for section in APART)


def check_times(tool, text, logs):
    """Places in time are those of the log alone: its clock is not that of others."""
    whens = lambda shown: set(re.findall(r" at (\+[0-9.]+s)", " ".join(shown.split())))
    expect("times count from the first event of each log", whens(text)
           and whens(text) <= set.union(*(whens(run(tool, "report", "--top=0", log).stdout)
                                          for log in logs)))


def check_text(tool, folder, logs):
    text = run(tool, "report", folder).stdout
    expect("80 columns", all(len(line) <= 80 for line in text.splitlines()))
    expect("labels", "host0:" in text and "host3:" in text)
    for form in ("dot", "mermaid"):
        run(tool, "report", f"--format={form}", folder)
    check_times(tool, text, logs)
    expect("one log has no labels", "host0:" not in run(tool, "report", logs[0]).stdout)
    done = run(tool, "report", f"--html={folder}/x.html", folder, status=64)
    expect("a page is refused", "one log" in done.stderr)
    done = run(tool, "report", logs[0], logs[0], status=1)
    expect("the same log twice", "same file" in done.stderr)


def main():
    tool, rows = pathlib.Path(sys.argv[1]).resolve(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["POSIXTRACE_DIR"] = name
        for number in range(ROUNDS):
            rng = random.Random(number)
            logs = [make(tool, folder, rng, i)[0] for i in range(LOGS)]
            rows += check(tool, logs)
            if number % 3 == 0:
                middle = report(tool, logs[0])["summary"]
                middle = (middle["first_ns"] + middle["last_ns"]) // 2
                check(tool, logs, f"--to={middle}", "--pid=50")
        check_text(tool, folder, logs)
    expect("rows", rows > 300)


main()
