#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""What 'posixtrace top' takes of a processor, and which part of the events it reads: of programs
with few and with many events a second, and with many threads.  The times are those of the kernel
for the process of top, from its start to its end; those of each second by its schedstat, in the
middle between two refreshes; where refreshes are further apart, those from one to the next.  Of
several runs each figure is the median.

usage: top_cost.py POSIXTRACE TOP_LOAD [SECONDS [THREADS [RUNS]]]
"""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

# name; threads; events a second, 0: as many as can be, -1: each thread waits; record's options
LOADS = (("100,000 a second, LOOP of the usual size", 2, 100000, ["--policy=loop", "--size=1440K"]),
         ("100,000 a second, into a log", 2, 100000, []),
         ("1,000,000 a second, into a log", 2, 1000000, []),
         ("full speed, one thread, LOOP", 1, 0, ["--policy=loop", "--size=1440K"]),
         ("full speed, two threads, LOOP of 64 MiB", 2, 0, ["--policy=loop", "--size=64M"]))


class Seconds(threading.Thread):
    """The shares of a processor that a process takes, second by second after the first two."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.shares, self.over = pid, [], threading.Event()
        self.start()

    def used(self):
        folder = pathlib.Path(f"/proc/{self.pid}/task")
        return sum(int((task / "schedstat").read_text().split()[0]) for task in folder.iterdir())

    def run(self):
        last, before = 0, 0
        while not self.over.wait(1 - (time.time() - 0.5) % 1):
            try:
                last, before, now = self.used(), last, time.monotonic()
            except OSError:
                return
            if before:
                self.shares.append((last - before) / 1e9 / (now - since))
            since = now

    def end(self):
        self.over.set()
        self.join()
        return max(self.shares, default=0)


def run(tool, program, load, seconds, folder):
    """Events a second, the share of top, in its worst second, the part of the events, s a refresh."""
    _, threads, rate, options = load
    log = os.path.join(folder, "a.ptl")
    target = subprocess.Popen([tool, "record", "--quiet", *options, "-o", log, program,
                               str(threads), str(rate), str(seconds + 4)])
    time.sleep(1)
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    top = subprocess.Popen([tool, "top", "--format=json"], stdout=subprocess.PIPE, text=True)
    worst = Seconds(top.pid)
    pictures = [json.loads(top.stdout.readline()) for _ in range(3)]
    while time.monotonic() < begin + seconds:
        pictures.append(json.loads(top.stdout.readline()))
    worst = worst.end()
    top.terminate()
    top.communicate()
    passed, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    target.wait()
    os.unlink(log)
    latest = pictures[2:]
    events = sum(p["per_s"] * p["seconds"] for p in latest)
    read = sum(p["per_s"] * p["seconds"] * p["cost"]["share_read"] for p in latest)
    whole = sum(p["seconds"] for p in latest)
    if whole > 1.1 * len(latest):
        worst = max(p["cost"]["top"] for p in latest)
    return events / whole, used / passed, worst, read / max(events, 1), whole / len(latest)


def measure(tool, program, load, seconds, folder, runs):
    results = [run(tool, program, load, seconds, folder) for _ in range(runs)]
    events, used, worst, read, refresh = map(statistics.median, zip(*results))
    print(f"| {load[0]} | {events:,.0f} | {100 * used:.2f} % | {100 * worst:.2f} % | "
          f"{100 * read:.2g} % | {refresh:.1f} s |", flush=True)


def main():
    tool, program = sys.argv[1:3]
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    many = int(sys.argv[4]) if len(sys.argv) > 4 else 10000
    runs = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.environ["POSIXTRACE_DIR"] = os.path.join(folder, "streams")
        os.mkdir(os.environ["POSIXTRACE_DIR"], 0o700)
        print("| program | events/s | top, of a processor | in the worst second | events read | "
              "refresh |\n|---|---:|---:|---:|---:|---:|")
        for load in LOADS:
            measure(tool, program, load, seconds, folder, runs)
        if many:
            measure(tool, program, (f"{many:,} threads that wait", many, -1,
                                    ["--system=locks", "--size=256M"]), seconds, folder, runs)


main()
