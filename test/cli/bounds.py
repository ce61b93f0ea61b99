#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Where context switches are refused: what posixtrace record says, and that every way
to show the metrics tells which lengths are bounds.

usage: bounds.py POSIXTRACE REFUSED PERIODIC
"""

import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

METRICS = ("Execution Time", "Job System Time", "System Blocking", "Response Time")
LEAVE_OUT = METRICS[:3]
COLUMNS = "metric,tid,begin_ns,end_ns,length_ns,intermediate_events"


def run(*command):
    """(stdout, stderr) of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def need(condition, *what):
    if not condition:
        sys.exit("\n".join(str(each) for each in what))


def check_lines(tool, log):
    """The same measurements in all formats; {metric: [(least, length)]}."""
    names = [f"--metric={name}" for name in METRICS]
    lines = [json.loads(line) for line in
             run(tool, "metrics", "--format=jsonl", *names, log)[0].splitlines()]
    out, err = run(tool, "metrics", "--format=csv", *names, log)
    rows = list(csv.DictReader(io.StringIO(out)))
    need(out.startswith(COLUMNS), out[:200])
    need([int(row["length_ns"]) for row in rows] == [line["length_ns"] for line in lines],
         "csv and jsonl differ")
    table = run(tool, "metrics", "--each", *names, log)[0]
    bounds = {}
    for line in lines:
        if "bound" in line:
            need(0 <= line["least_ns"] < line["length_ns"], line)
            need(line["length_ns"] <= line["end_ns"] - line["begin_ns"], line)
        need("bound" not in line or line["metric"] in LEAVE_OUT, line)
        bounds.setdefault(line["metric"], []).append(
            (line.get("least_ns", line["length_ns"]), line["length_ns"]))
    count = sum("bound" in line for line in lines)
    need(count > 0, "nothing is a bound")
    need(table.count(" (bound)\n") == count, f"{count} bounds", table)
    for text in (err, table):
        need(re.search(r"Execution Time: .* because context switches were refused: the mean is "
                       r"[\d.]+\.\.[\d.]+ us, the longest [\d.]+", " ".join(text.split())), text)
    return bounds


def check_stats(tool, log, bounds):
    """The bounds of the mean and of the longest are those of all measurements."""
    for name, pairs in bounds.items():
        out = run(tool, "metrics", "--format=csv", "--stats", f"--metric={name}", log)[0]
        rows = list(csv.DictReader(io.StringIO(out)))
        least = sum(float(row["least_mean_ns"]) * int(row["count"]) for row in rows)
        need(sum(int(row["bounds"]) for row in rows) == sum(a < b for a, b in pairs), out)
        need(max(int(row["least_max_ns"]) for row in rows) == max(a for a, b in pairs), out)
        need(max(int(row["max_ns"]) for row in rows) == max(b for a, b in pairs), out)
        need(abs(least - sum(a for a, b in pairs)) <= len(pairs), out)


def main():
    tool, refused, periodic = sys.argv[1:]
    done = subprocess.run([refused, "true"], check=False)
    if done.returncode == 77:
        print("there are no filters of system calls here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        log = str(pathlib.Path(folder) / "log.ptl")
        err = run(refused, tool, "record", "--system", "-o", log, periodic, "300")[1]
        need("perf_event_paranoid" in err and "bounds" in err and "Permission denied" in err, err)
        info = run(tool, "info", log)[0]
        need(re.search(r"^ +\d+  posixtrace_cpu_time$", info, flags=re.M), info)
        need("posixtrace_switch" not in info, info)
        text = run(tool, "print", "--event=posixtrace_cpu_time", log)[0]
        need(re.search(r"- cpu time +ran [\d.]+ \w+, or up to [\d.]+ \w+ more", text),
             text[:2000])
        check_stats(tool, log, check_lines(tool, log))
        out = run(tool, "metrics", "--metric=Preemption", log)[0]
        need("context switches were refused" in " ".join(out.split()), out)


if __name__ == "__main__":
    main()
