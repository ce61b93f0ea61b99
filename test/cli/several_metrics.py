#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace metrics of several logs: what it says of all is the sum of what it says of each, for
logs whose processes and threads have the same numbers, with losses and without.

usage: several_metrics.py POSIXTRACE
"""

import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

LOGS, EVENTS = 6, 500
START = 1_795_000_000_000_000_000
SUMS = ("count", "unknown", "unfinished", "restarted", "discarded")


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


class Tool:
    def __init__(self, path):
        self.path = path

    def run(self, *words, status=0, **more):
        done = subprocess.run([self.path, *map(str, words)], text=True, capture_output=True,
                              check=False, timeout=300, **more)
        expect(f"{words}: exit {done.returncode}, not {status}: {done.stderr}",
               done.returncode == status)
        return done

    def metrics(self, *words):
        return self.run("metrics", *words).stdout

    def rows(self, *words):
        return [json.loads(line) for line in self.metrics("--format=jsonl", *words).splitlines()]


def make(tool, rng, path, number):
    """Two processes of three threads, the same numbers in each log; the first log is empty, and every
    second one has lost events."""
    ts, lines = START + rng.randint(0, 10**5), []
    for _ in range(0 if number == 0 else EVENTS):
        ts += rng.randint(1, 4000)
        pid, tid = rng.choice((7, 9)), rng.randint(1, 3)
        name = rng.choice(("req:begin", "req:end", "req:end", f"job{number % 2}:begin",
                           f"job{number % 2}:end"))
        if number % 2 == 0 and rng.random() < 0.02:
            name, pid, tid = rng.choice(("posix_trace_overflow", "posix_trace_resume")), 7, 0
        lines.append(json.dumps({
            "ts": ts, "pid": pid, "tid": pid * 10 + tid if tid else 0, "thread_id": "0x0",
            "thread": f"t{tid}", "event": name, "addr": "0x0", "trunc": 0, "data": ""},
            separators=(",", ":")) + "\n")
    tool.run("import", "--format=jsonl", "-", path, input="".join(lines))


def all_of(tool, words, logs):
    return {m["metric"]: m
            for m in json.loads(tool.metrics("--format=json", *words, *logs))["metrics"]}


def check_sums(tool, logs):
    """Totals, and the rows of threads."""
    words = ("--by=thread",)
    several, single = all_of(tool, words, logs), [all_of(tool, words, [log]) for log in logs]
    for name in {n for one in single for n in one}:
        ones = [one[name] for one in single if name in one]
        for key in SUMS:
            expect(f"{name}: {key} {several[name][key]} is no sum",
                   several[name][key] == sum(m[key] for m in ones))
        measured = [m for m in ones if m["count"]]
        if measured:
            expect(f"{name}: extremes", several[name]["max_ns"] == max(m["max_ns"] for m in measured)
                   and several[name]["min_ns"] == min(m["min_ns"] for m in measured))
        threads = [{"log": str(log), **row} for log, one in zip(logs, single)
                   for row in one.get(name, {"threads": []})["threads"]]
        expect(f"{name}: rows of threads", several[name]["threads"] == threads)
    expect("all metrics", set(several) == {n for one in single for n in one})


def in_order(rows):
    """Without the log's name.  Those that end in one gap have no order among each other: pairs are
    known in the order in which the logs have them."""
    bare = [{k: v for k, v in row.items() if k != "log"} for row in rows]
    return [sorted(map(str, same)) for _, same in itertools.groupby(bare, lambda r: r["end_ns"])]


def check_each(tool, logs):
    """Each measurement once, with its log, in the order of their ends."""
    rows = tool.rows("--each", *logs)
    ones = [{"log": str(log), **row} for log in logs for row in tool.rows("--each", log)]
    key = str
    expect("measurements", sorted(map(key, rows)) == sorted(map(key, ones)) and len(rows) > 100)
    for log in logs:
        expect("the order of a log", in_order(r for r in rows if r["log"] == str(log)) ==
               in_order(tool.rows("--each", log)))
    known = [r["end_ns"] for r in rows if not r.get("unknown")]
    expect("the order of all", known == sorted(known))
    lines = tool.metrics("--each", "--format=csv", *logs).splitlines()
    expect("csv", lines[0].startswith("log,metric,tid,") and len(lines) == len(rows) + 1)


def check_selection(tool, logs):
    """Of a time, relative to the first event of all logs; of a process."""
    first = min(json.loads(line)["ts"] for log in logs
                for line in tool.run("print", "--format=jsonl", log).stdout.splitlines()[:1])
    relative = tool.rows("--each", "--from=+100us", "--to=+400us", "--pid=7", *logs)
    absolute = tool.rows("--each", f"--from={first + 100_000}", f"--to={first + 400_000}", "--pid=7",
                         *logs)
    expect("a selection", relative == absolute and relative)
    expect("its process", all(r["pid"] == 7 for r in relative))
    expect("its time", all(r["begin_ns"] >= first + 100_000 for r in relative
                           if not r.get("unknown")))


def check_text(tool, folder, logs):
    text = tool.metrics("--stats", "--metric=req", folder)
    expect("a column for the log", "LOG" in text and "log3" in text)
    expect("80 columns", all(len(line) <= 80 for line in text.splitlines()))
    text = tool.metrics("--metric=req", "--each", folder)
    expect("80 columns of measurements", all(len(line) <= 80 for line in text.splitlines()))
    text = tool.metrics("--metric=req", logs[1])
    expect("no such column of one log", "LOG" not in text)


def check_errors(tool, folder, logs):
    same = folder / "same.ptl"
    same.hardlink_to(logs[1])
    done = tool.run("metrics", logs[1], same, status=1)
    expect(f"the same log twice: {done.stderr}", str(logs[1]) in done.stderr
           and str(same) in done.stderr and "same file" in done.stderr)
    same.unlink()
    for words in (("--follow",), ("--job=sleep",), ("--load=1ms",)):
        done = tool.run("metrics", *words, *logs[:2], status=64)
        expect(f"{words}: {done.stderr}", "one log at a time" in done.stderr)
    done = tool.run("metrics", "--metric=nothing", *logs, status=64)
    expect(f"no such metric: {done.stderr}", "nothing" in done.stderr)
    done = tool.run("metrics", logs[1], "-", status=1, input=logs[2].read_bytes().decode("latin1"))
    expect(f"a pipe: {done.stderr}", "pipe" in done.stderr or "not a" in done.stderr)


def check_damage(tool, folder, logs):
    """A log that is cut is reported by its name, and measured as alone."""
    cut = folder / "cut.ptl"
    cut.write_bytes(logs[3].read_bytes()[:-300])
    done = tool.run("metrics", "--format=json", logs[1], cut)
    alone = json.loads(tool.metrics("--format=json", "--metric=req", cut))["metrics"][0]
    both = {m["metric"]: m for m in json.loads(done.stdout)["metrics"]}["req"]
    other = json.loads(tool.metrics("--format=json", "--metric=req", logs[1]))["metrics"][0]
    expect("a cut log is named", str(cut) in done.stderr)
    expect("a cut log is measured", both["count"] == alone["count"] + other["count"])
    expect("--strict", tool.run("metrics", "--strict", logs[1], cut, status=3).stdout)
    cut.unlink()


def main():
    tool, rng = Tool(sys.argv[1]), random.Random(19)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        logs = [folder / f"log{i}.ptl" for i in range(LOGS)]
        for i, log in enumerate(logs):
            make(tool, rng, log, i)
        expect("folder and list", tool.metrics("--format=json", folder)
               == tool.metrics("--format=json", *logs))
        check_sums(tool, logs)
        check_each(tool, logs)
        check_selection(tool, logs)
        check_text(tool, folder, logs)
        check_damage(tool, folder, logs)
        check_errors(tool, folder, logs)


main()
