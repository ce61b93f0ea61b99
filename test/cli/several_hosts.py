#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace metrics --pair across hosts whose true clocks are known: the true latency of each message
lies between its bounds, those of statistics too, and no time between two hosts is one number.  Bounds
come from the kernel's readings or from 'posixtrace sync'; without both, or with bounds on one side
only, the time is unknown.  print and report give no exact time between two hosts.

usage: several_hosts.py POSIXTRACE
"""

import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

from hosts import UNSYNCHRONISED, of_host

START, NO_BOUND = 1_795_000_000_000_000_000, 2305843009213693951
PAIR = "--pair=send by id..recv by id"


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


class World:
    """Hosts whose clocks are off by up to error ns, and what they sent each other; true times."""

    def __init__(self, rng, hosts, count, error, one_way=False):
        self.offset = [rng.randint(-error, error) for _ in range(hosts)]
        self.error, self.hosts, self.messages = error, hosts, {}
        ns = START
        for i in range(1, count + 1):
            ns += rng.randint(1, 400_000)
            a = 0 if one_way else rng.randrange(hosts)
            b = rng.choice([h for h in range(hosts) if h != a])
            self.messages[i] = (a, ns, b, ns + rng.randint(10_000, 200_000))
        self.last = ns + 1_000_000

    def shows(self, host, ns):
        return ns + self.offset[host]

    def rows(self, host):
        events = [(START - 2_000_000, "other", 0), (self.last, "other", 0)]
        for i, (a, sent, b, received) in self.messages.items():
            events += [(sent, "send", i)] if a == host else []
            events += [(received, "recv", i)] if b == host else []
        described = set()
        for ns, name, key in sorted(events):
            row = {"ts": self.shows(host, ns), "pid": 7, "tid": 8, "event": name,
                   "data": struct.pack("<I", key).hex()}
            if name not in described:
                row["description"] = "u32 id"
            described.add(name)
            yield json.dumps(row) + "\n"

    def readings(self, host, status=0):
        times = [START - 2_000_000, (START + self.last) // 2, self.last]
        return [(self.shows(host, ns), self.error, status) for ns in times]


class Test:
    def __init__(self, path, folder):
        self.path, self.folder, self.number = path, folder, 0

    def run(self, *words, **more):
        done = subprocess.run([self.path, *map(str, words)], text=True, capture_output=True,
                              check=False, timeout=300, **more)
        expect(f"{words}: exit {done.returncode}: {done.stderr}", done.returncode == 0)
        return done

    def logs(self, world, boots=None, readings=None):
        """boots: by host; readings: what readings() is given, by host; None: there are none."""
        logs = []
        self.number += 1
        for h in range(world.hosts):
            logs.append(self.folder / f"{self.number}-{h}.ptl")
            self.run("import", "--format=jsonl", "-", logs[-1], input="".join(world.rows(h)))
            if boots:
                of_host(logs[-1], f"host{boots[h]}", boots[h],
                        [] if readings is None else world.readings(h, readings[h]))
        return logs

    def each(self, *words):
        return [json.loads(line) for line in
                self.run("metrics", "--each", "--format=jsonl", *words).stdout.splitlines()]


def lengths(world):
    return sorted(r - s for _, s, _, r in world.messages.values())


def check_bounded(test, world, *words, what):
    """Each measurement, and all that is made of them."""
    rows = {int(m["object"], 16): m for m in test.each(PAIR, *words)}
    expect(f"{what}: all messages", sorted(rows) == sorted(world.messages))
    for i, (_, sent, _, received) in world.messages.items():
        m = rows[i]
        expect(f"{what}: {m} is a bound", m.get("bound") and "unknown" not in m)
        expect(f"{what}: {received - sent} of {m}",
               0 <= m["least_ns"] <= received - sent <= m["length_ns"])
    true, n = lengths(world), len(world.messages)
    s = json.loads(test.run("metrics", "--format=json", "--worst=2", "--histogram", PAIR,
                            *words).stdout)["metrics"][0]
    expect(f"{what}: counts", s["count"] == s["bounds"] == n and s["unknown"] == 0)
    expect(f"{what}: mean", s["least_mean_ns"] <= sum(true) / n <= s["mean_ns"])
    expect(f"{what}: longest", s["least_max_ns"] <= true[-1] <= s["max_ns"] == s["worst_ns"])
    for key, part in (("p50_ns", 0.5), ("p90_ns", 0.9)):
        expect(f"{what}: {key}", s[key] * 1.005 >= true[int(part * n) - 1])
    expect(f"{what}: worst", all(w["least_ns"] < w["length_ns"] for w in s["worst"]))
    for form in ((), ("--stats",), ("--each",), ("--worst=2",), ("--histogram",)):
        check_text(test.run("metrics", *form, PAIR, *words).stdout, form, what)


def check_text(text, form, what):
    """No time between the hosts stands alone."""
    said = " ".join(text.split())
    expect(f"{what}, {form}: {text}", "each a bound, because the clocks of hosts have errors" in said
           and re.search(r"the mean is [\d.]+\.\.[\d.]+ us, the longest [\d.]+\.\.[\d.]+ us", said))
    for line in text.splitlines():
        if form == ("--each",) and ">" in line and not line.startswith("#"):
            expect(f"{what}: {line}", re.search(r"\d\.\.\d", line))
        if form in ((), ("--stats",)) and re.search(r"\d(ns|us|ms|s)\b", line) and "#" not in line:
            expect(f"{what}: {line}", not re.search(r"\s\d[\d.]*(ns|us|ms|s)\b", line))
    if form == ("--histogram",):
        expect(f"{what}: histogram", "the upper bounds of them" in said)


def check_unknown(test, world, *words, what, remark):
    """A time between the hosts has only the bounds that are known."""
    rows = test.each(PAIR, *words)
    expect(f"{what}: all", len(rows) == len(world.messages))
    for m in rows:
        _, sent, _, received = world.messages[int(m["object"], 16)]
        expect(f"{what}: {m}", m.get("unknown") and m["length_ns"] == NO_BOUND
               and m["least_ns"] <= received - sent)
    s = json.loads(test.run("metrics", "--format=json", PAIR, *words).stdout)["metrics"][0]
    expect(f"{what}: {s}", s["count"] == 0 and s["unknown"] == len(world.messages)
           and s["worst_ns"] == NO_BOUND)
    for form in ((), ("--stats",), ("--each",)):
        said = " ".join(test.run("metrics", *form, PAIR, *words).stdout.split())
        expect(f"{what}: {said}", remark in said and "unlimited" in said)


def check_kernel(test, rng):
    """Offsets of more than a latency: many messages are received before they are sent, by the clocks."""
    world = World(rng, 3, 200, 150_000)
    logs = test.logs(world, [1, 2, 3], [0, 0, 0])
    check_bounded(test, world, *logs, what="kernel")
    done = test.run("metrics", PAIR, *logs)
    said = " ".join(done.stdout.split())
    found = re.search(r"the clocks of host\d and host\d and others are not aligned: by the kernel's "
                      r"bounds of their errors a time between them is right within ([\d.]+) us", said)
    expect(f"remark: {said}", found and 300 <= float(found[1]) < 600)
    expect("nothing is left out", "not measured" not in said)
    # bounds that are too good: what contradicts them is not measured
    world.error = 10_000
    for m in test.each(PAIR, *test.logs(world, [1, 2, 3], [0, 0, 0])):
        expect("a length below 0", m["length_ns"] >= m["least_ns"] >= 0)


def check_print(test, rng):
    """No time since a line of another host."""
    world = World(rng, 2, 40, 0)
    for boots in ([1, 2], [1, 1]):
        logs = test.logs(world, boots)
        head, _, *lines = test.run("print", *logs).stdout.splitlines()
        report = test.run("report", *logs).stdout.splitlines()[0]
        for line in (head, report):
            expect(f"{boots}: {line}", (" about " in line) == (boots == [1, 2]))
        before = None
        for line in lines:
            _, delta, log = line.split()[:3]
            exact = before is not None and (before == log or boots == [1, 1])
            expect(f"{boots}: {line}", (delta == "-") != exact)
            before = log


def check_one_host(test, rng):
    world = World(rng, 2, 50, 0)
    logs = test.logs(world, [4, 4])
    for m in test.each(PAIR, *logs):
        _, sent, _, received = world.messages[int(m["object"], 16)]
        expect(f"one host: {m}", m["length_ns"] == received - sent and "bound" not in m)
    done = test.run("metrics", PAIR, *logs)
    expect(f"one host: {done.stdout}", "aligned" not in done.stdout and "<=" not in done.stdout)
    s = json.loads(test.run("metrics", "--format=json", PAIR, *logs).stdout)["metrics"][0]
    expect("one host: statistics", s["bounds"] == 0 and s["max_ns"] == lengths(world)[-1])


def check_sync(test, rng):
    world = World(rng, 3, 400, 150_000)
    logs, file = test.logs(world, [1, 2, 3]), test.folder / "both.sync"
    test.run("sync", PAIR, "-o", file, *logs)
    check_bounded(test, world, f"--sync={file}", *logs, what="sync")
    said = " ".join(test.run("metrics", PAIR, f"--sync={file}", *logs).stdout.split())
    expect(f"sync: {said}", "aligned" not in said)
    world = World(rng, 2, 100, 150_000, one_way=True)
    logs, file = test.logs(world, [1, 2]), test.folder / "one.sync"
    test.run("sync", PAIR, "-o", file, *logs)
    check_unknown(test, world, f"--sync={file}", *logs, what="one direction",
                  remark="the clocks of host1 and host2 are not bounded on both sides by '--sync'")


def check_unaligned(test, rng):
    world = World(rng, 2, 60, 0)
    remark = ("the clocks of {} are not aligned, and the kernel gives no bound of their errors: a time "
              "between them is not known; 'posixtrace sync' aligns them by their messages")
    logs = test.logs(world, [1, 2])
    check_unknown(test, world, *logs, what="no readings", remark=remark.format("host1 and host2"))
    logs = test.logs(world, [1, 2], [0, UNSYNCHRONISED])
    check_unknown(test, world, *logs, what="one is not synchronised",
                  remark=remark.format("host1 and host2"))
    logs = test.logs(world)
    check_unknown(test, world, *logs, what="no host",
                  remark=remark.format(" and ".join(log.stem for log in logs)))


def main():
    rng = random.Random(2103)
    with tempfile.TemporaryDirectory() as folder:
        test = Test(sys.argv[1], pathlib.Path(folder))
        check_kernel(test, rng)
        check_one_host(test, rng)
        check_print(test, rng)
        check_sync(test, rng)
        check_unaligned(test, rng)


main()
