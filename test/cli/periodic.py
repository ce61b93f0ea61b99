#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The example of section 4 of the paper, from the task set to its table and its
analysis: every job of every task is measured once, whatever the machine does
meanwhile, and metrics and rta tell the same.

usage: periodic.py POSIXTRACE PERIODIC
"""

import collections
import csv
import io
import pathlib
import re
import subprocess
import sys
import tempfile

MILLISECONDS = 400
PAPER = ("Job System Time", "System Blocking", "Delay Until Wakeup")


def output(*command, statuses=(0,)):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in statuses:
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def check_jobs(tool, log, tasks):
    """A response of each job, in order of time; names and counts per thread."""
    lines = rows(output(tool, "metrics", "--format=csv", "--metric=Response Time",
                        "--user=Computation:work:rest", log))
    ends = [int(line["end_ns"]) for line in lines]
    if ends != sorted(ends):
        sys.exit("measurements are not in the order of their ends")
    stats = rows(output(tool, "metrics", "--format=csv", "--stats", "--metric=Response Time",
                        "--user=Computation:work:rest", log))
    found = collections.Counter((line["metric"], line["tid"]) for line in lines)
    for line in stats:
        jobs = -(-MILLISECONDS // tasks[line["thread"]])
        if not jobs == int(line["count"]) == found[line["metric"], line["tid"]]:
            sys.exit(f"{jobs} jobs, but {line}")
    if len(stats) != 2 * len(tasks):
        sys.exit(f"{len(stats)} lines of statistics for {len(tasks)} tasks")
    return {line["thread"]: int(line["max_ns"]) for line in stats
            if line["metric"] == "Response Time"}


def check_table(tool, log, tasks):
    """The paper's figure 4: three numbers for each task."""
    table = output(tool, "metrics", "--each", *(f"--metric={name}" for name in PAPER), log)
    table = table[table.index("# largest, in us"):]
    lines = re.findall(r"^ +\d+ +([\d.]+) +([\d.]+) +([\d.]+)  (\w+)$", table, flags=re.M)
    if {line[3] for line in lines} != set(tasks) or not all(name in table for name in PAPER):
        sys.exit(f"this is not figure 4:\n{table}")


def check_analysis(tool, log, task_file, seen):
    """R contains the task's own C, and what it compares with is what was measured."""
    lines = rows(output(tool, "rta", "--format=csv", task_file, log, statuses=(0, 1)))
    for line in lines:
        if int(line["r_ns"]) < int(line["c_ns"]) or int(line["seen_ns"]) != seen[line["task"]]:
            sys.exit(f"seen: {seen[line['task']]}, but {line}")
    if {line["task"] for line in lines} != set(seen):
        sys.exit(f"tasks of the analysis: {lines}")


def main():
    tool, periodic = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log, task_file = folder / "periodic.ptl", folder / "periodic.tasks"
        task_file.write_text(output(periodic, "tasks"), encoding="utf-8")
        tasks = {words[0]: int(words[2][:-2]) for words in
                 map(str.split, task_file.read_text(encoding="utf-8").splitlines())}
        output(tool, "record", "--quiet", "--system=calls", "-o", log, periodic,
               str(MILLISECONDS), "5")
        seen = check_jobs(tool, log, tasks)
        check_table(tool, log, tasks)
        check_analysis(tool, log, task_file, seen)
    print(f"{len(tasks)} tasks")


if __name__ == "__main__":
    main()
