#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""What 'posixtrace top' takes of a processor, and which part of the events it reads: of programs
with few and with many events a second, and with many threads.  The times are those of the kernel
for the process of top, from its start to its end.

usage: top_cost.py POSIXTRACE TOP_LOAD [SECONDS [THREADS]]
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

# name; threads; events a second, 0: as many as can be, -1: each thread waits; record's options
LOADS = (("100,000 a second, LOOP of the usual size", 2, 100000, ["--policy=loop", "--size=1440K"]),
         ("100,000 a second, into a log", 2, 100000, []),
         ("1,000,000 a second, into a log", 2, 1000000, []),
         ("full speed, one thread, LOOP", 1, 0, ["--policy=loop", "--size=1440K"]),
         ("full speed, two threads, LOOP of 64 MiB", 2, 0, ["--policy=loop", "--size=64M"]))


def measure(tool, program, load, seconds, folder):
    name, threads, rate, options = load
    log = os.path.join(folder, "a.ptl")
    target = subprocess.Popen([tool, "record", "--quiet", *options, "-o", log, program,
                               str(threads), str(rate), str(seconds + 4)])
    time.sleep(1)
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    top = subprocess.Popen([tool, "top", "--format=json"], stdout=subprocess.PIPE, text=True)
    pictures = [json.loads(top.stdout.readline()) for _ in range(3)]
    while time.monotonic() < begin + seconds:
        pictures.append(json.loads(top.stdout.readline()))
    top.terminate()
    top.communicate()
    passed, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    target.wait()
    os.unlink(log)
    latest = pictures[2:]
    events = sum(p["per_s"] * p["seconds"] for p in latest)
    read = sum(p["per_s"] * p["seconds"] * p["cost"]["share_read"] for p in latest)
    print(f"| {name} | {events / sum(p['seconds'] for p in latest):,.0f} | "
          f"{100 * used / passed:.2f} % | {max(100 * p['cost']['top'] for p in latest):.2f} % | "
          f"{100 * read / max(events, 1):.2g} % | "
          f"{sum(p['seconds'] for p in latest) / len(latest):.1f} s |", flush=True)


def main():
    tool, program = sys.argv[1:3]
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    many = int(sys.argv[4]) if len(sys.argv) > 4 else 10000
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.environ["POSIXTRACE_DIR"] = os.path.join(folder, "streams")
        os.mkdir(os.environ["POSIXTRACE_DIR"], 0o700)
        print("| program | events/s | top, of a processor | in the worst second | events read | "
              "refresh |\n|---|---:|---:|---:|---:|---:|")
        for load in LOADS:
            measure(tool, program, load, seconds, folder)
        if many:
            measure(tool, program, (f"{many:,} threads that wait", many, -1,
                                    ["--system=locks", "--size=256M"]), seconds, folder)


main()
