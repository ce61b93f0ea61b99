# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Logs of random programs (report_random.py) as if of several hosts: processes, threads and locks have
the same numbers in all."""

import subprocess
import sys

import report_random as programs


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


def run(tool, *words, status=0):
    done = subprocess.run([tool, *map(str, words)], text=True, capture_output=True, check=False)
    expect(f"{words}: exit {done.returncode}: {done.stderr}", done.returncode == status)
    return done


def make(tool, folder, rng, number):
    """The path of a log, and the names of its pairs."""
    sim = programs.Simulation(rng, rng.choice(("switches", "samples", "neither")))
    sim.run()
    events = programs.lossy(sim, rng) if number % 2 else sim.events
    programs.write(events, folder / "log.jsonl")
    path = folder / f"host{number}.ptl"
    run(tool, "import", "--force", "--from=jsonl", folder / "log.jsonl", path)
    return path, {p[0] for p in sim.pairs}
