#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The macro benchmark: what tracing costs memcached, redis and LevelDB.

usage: macro.py FOLDER BUILD [--rounds=N] [--requests=N] [--only=PROGRAM] [--idle]
       [--write=PAGE]

FOLDER gets the sources and builds, BUILD is a release build of posixtrace.  Each program runs
untraced, and for posixtrace and LTTng-UST with the same trace points compiled in: idle and
recording.  A round has each of these once, in an order that turns with the round; figures are
medians over rounds of the ratio to the untraced run of the same round.  Server and tracers have
processor 0, the load has processor 1.  A run in which a tracer lost events does not count.
LTTng-UST has the best of three sizes of sub-buffers, 8 MiB together for the processor that it
records on; posixtrace has its default, 8 MiB.  --idle: only the untraced runs and those with idle
points of posixtrace, which differ so little that they need many rounds.
"""

import json
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import build
import tracers

RATES = {"memcached": (50, 16), "redis": (50, 16)}  # connections, depth
BEGIN, END = "<!-- programs: begin -->", "<!-- programs: end -->"
SUBBUFFERS = (("512K", 16), ("1M", 8), ("2M", 4))
WAYS = ("untraced", "posixtrace idle", "LTTng-UST idle", "posixtrace", "LTTng-UST")


def option(name, default):
    for word in sys.argv[3:]:
        if word.startswith(f"--{name}="):
            return word.split("=", 1)[1]
    return default


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Work:
    """A program and what it does in one run."""

    def __init__(self, folder, program, path, requests):
        self.folder, self.program, self.path, self.requests = folder, program, path, requests
        self.port = free_port()
        self.ends_itself = program.startswith("leveldb")

    def command(self):
        if self.program == "memcached":
            return [self.path, "-u", "root", "-l", "127.0.0.1", "-p", self.port, "-t", "1",
                    "-c", "256", "-m", "256"]
        if self.program == "redis":
            return [self.path, "--port", self.port, "--save", "", "--appendonly", "no",
                    "--bind", "127.0.0.1", "--daemonize", "no"]
        what = self.program.split()[1]
        both = "fillrandom" if what == "fillrandom" else "fillrandom,readrandom"
        return [self.path, f"--benchmarks={both}", f"--num={self.requests // 4}",
                f"--db={self.folder}/db"]

    def wait_for_port(self):
        for _ in range(1000):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.01)
        raise SystemExit(f"{self.program} does not listen")

    def do(self, _pid):
        if self.ends_itself:
            return {}
        self.wait_for_port()
        connections, depth = RATES[self.program]
        done = subprocess.run(["taskset", "-c", "1", self.folder / "load", self.program,
                               str(self.port), str(connections), str(depth), str(self.requests)],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"load of {self.program}: {done.stderr}")
        return json.loads(done.stdout)

    def run(self, tracer):
        output = self.folder / "output"
        output.unlink(missing_ok=True)
        result = tracer.run(self.command(), self.do, self.ends_itself)
        if self.ends_itself:
            what = self.program.split()[1]
            found = re.search(rf"^{what}\s*:\s*([\d.]+) micros/op",
                              output.read_text(errors="replace"), re.M)
            if not found:
                raise SystemExit(f"{self.program}: no result in {output}")
            result.update(per_second=1e6 / float(found.group(1)), p99_ns=0)
        return result


def best_subbuffers(folder, work):
    """The size with which LTTng-UST loses nothing and is fastest."""
    best = None
    for size, number in SUBBUFFERS:
        tracer = tracers.Lttng(folder, size, number)
        result = work.run(tracer)
        tracer.close()
        if result["lost"] == 0 and (best is None or result["per_second"] > best[0]):
            best = result["per_second"], size, number
    return best[1:] if best else SUBBUFFERS[1]


def run_rounds(program, rounds, ways):
    """[{way: result}] of a program; ways: {name: (work, tracer)}."""
    names = list(ways)
    done = []
    for turn in range(rounds):
        one = {}
        for i in range(len(names)):
            way = names[(i + turn) % len(names)]
            work, tracer = ways[way]
            one[way] = work.run(tracer)
        done.append(one)
        print(f"{program}, round {turn + 1} of {rounds}: " + ", ".join(
            f"{way} {one[way]['per_second']:,.0f}/s" for way in names), flush=True)
    return done


def rounds_of(folder, tool, program, built, rounds, requests, idle):
    """The same of a program that is built; idle: without the ways that record, and LTTng-UST."""
    works = {}
    for variant in build.VARIANTS:
        works[variant] = Work(folder, program, built[program.split()[0], variant], requests)
    plain = tracers.Plain(folder)
    ways = {"untraced": (works["untraced"], plain), "posixtrace idle": (works["posixtrace"], plain)}
    if idle:
        return run_rounds(program, rounds, ways)
    lttng = tracers.Lttng(folder, *best_subbuffers(folder, works["lttng"]))
    ways |= {"LTTng-UST idle": (works["lttng"], plain),
             "posixtrace": (works["posixtrace"], tracers.Posixtrace(folder, tool, "8M")),
             "LTTng-UST": (works["lttng"], lttng)}
    done = run_rounds(program, rounds, ways)
    lttng.close()
    return done


def median_ratio(rounds, way, figure):
    ratios = [r[way][figure] / r["untraced"][figure] for r in rounds if r["untraced"][figure]]
    return statistics.median(ratios) if ratios else None


def interval(values):
    """The middle 95 % of the medians of 2,000 samples with replacement."""
    import random
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def row(program, rounds, way):
    """A line of the table."""
    ratios = [r[way]["per_second"] / r["untraced"]["per_second"] for r in rounds]
    low, high = interval(ratios)
    cells = [program, way, f"{100 * (1 - statistics.median(ratios)):.1f} %",
             f"{100 * (1 - high):.1f} to {100 * (1 - low):.1f} %"]
    p99 = median_ratio(rounds, way, "p99_ns")
    cells.append(f"{p99:.2f} x" if p99 else "")
    recorded = [r for r in rounds if r[way].get("events")]
    if not recorded:
        more = [r[way]["cpu"] / r["untraced"]["cpu"] - 1 for r in rounds]
        low, high = (100 * end for end in interval(more))
        return cells + [f"{100 * statistics.median(more):+.1f} % ({low:+.1f} to {high:+.1f} %)",
                        "", "", ""]
    cpu = statistics.median((r[way]["cpu"] - r["untraced"]["cpu"]) * 1e9 / r[way]["events"]
                            for r in recorded)
    last = recorded[-1][way]
    lost = sum(r[way]["lost"] for r in recorded)
    return cells + [f"{cpu:.0f} ns an event", f"{last['bytes'] / last['events']:.1f}",
                    f"{last['events']:,}", f"{lost:,}"]


def table(results):
    head = ["program", "way", "throughput lost", "95 % interval", "p99 latency",
            "processor time", "bytes an event", "events", "lost"]
    lines = [head, ["---"] * len(head)]
    for program, rounds in results.items():
        lines += [row(program, rounds, way) for way in WAYS[1:] if way in rounds[0]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def check(results):
    """Both tracers record the same events of a program, up to what differs from run to run."""
    wrong = []
    for program, rounds in results.items():
        for one in rounds:
            ours, theirs = one["posixtrace"], one["LTTng-UST"]
            if ours["lost"] or theirs["lost"]:
                wrong.append(f"{program}: lost {ours['lost']} and {theirs['lost']} (LTTng-UST)")
            elif abs(ours["events"] - theirs["events"]) > max(ours["events"], 1) // 50:
                wrong.append(f"{program}: {ours['events']} events and {theirs['events']}")
    return wrong


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, release = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    folder.mkdir(parents=True, exist_ok=True)
    built = build.build_all(folder, release)
    only, idle = option("only", ""), "--idle" in sys.argv
    results = {}
    with tempfile.TemporaryDirectory(prefix="macro.", dir=folder) as runs:
        runs = pathlib.Path(runs)
        (runs / "load").symlink_to(folder / "load")
        for program in ("memcached", "redis", "leveldb fillrandom", "leveldb readrandom"):
            if only in program:
                results[program] = rounds_of(runs, release / "tools/posixtrace", program, built,
                                             int(option("rounds", "7")),
                                             int(option("requests", "2000000")), idle)
    text = table(results) + f"\n\nProcessor: {processor()}.\n"
    print(text)
    if idle:
        return
    wrong = check(results)
    if wrong:
        sys.exit("these runs do not count:\n" + "\n".join(wrong))
    page = option("write", "")
    if page:
        old = pathlib.Path(page).read_text()
        before, rest = old.split(BEGIN, 1)
        pathlib.Path(page).write_text(f"{before}{BEGIN}\n{text}{END}{rest.split(END, 1)[1]}")


if __name__ == "__main__":
    main()
