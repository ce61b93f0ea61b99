#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace metrics --pair over several logs of one clock: messages between programs whose logs have
other ids, descriptions and byte orders for the same events, measured as the program of the test made
them.  several_hosts.py has hosts with clocks of their own.  With
losses each message is measured rightly or is within one that is unknown.

usage: several_pairs.py POSIXTRACE
"""

import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from hosts import of_host

START = 1_795_000_000_000_000_000
PAIR = "--pair=send by id..recv by id"
# Of each host: descriptions of both events, and what packs an id by them.
FORMS = (("u64 id; u32 size", lambda i: struct.pack("<QI", i, 7)),
         ("be; u16 kind; str name; u32 id", lambda i: struct.pack(">H", 3) + b"n" * (i % 5) + b"\0"
          + struct.pack(">I", i)),
         ("x32 id", lambda i: struct.pack("<I", i)),
         ("i64 id", lambda i: struct.pack("<q", i)))


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

    def rows(self, *words):
        return [json.loads(line) for line in
                self.run("metrics", "--each", "--format=jsonl", *words).stdout.splitlines()]

    def all(self, *words):
        return json.loads(self.run("metrics", "--format=json", *words).stdout)["metrics"]


class Event:
    def __init__(self, ns, host, name, key=None, tid=1):
        self.ns, self.host, self.name, self.key, self.tid = ns, host, name, key, tid

    def row(self, number):
        description, pack = FORMS[self.host % len(FORMS)]
        row = {"ts": self.ns, "pid": 7, "tid": 0 if self.key is None else 70 + self.tid,
               "thread_id": "0x0", "thread": "", "event": self.name, "addr": "0x0", "trunc": 0,
               "data": "" if self.key is None else pack(self.key).hex()}
        if number == 0:
            row["description"] = description
        return json.dumps(row, separators=(",", ":")) + "\n"


def write(tool, path, events):
    """A log; other types come first in some, so that ids differ."""
    lines, seen = [], set()
    for e in sorted(events, key=lambda e: e.ns):
        described = e.name in ("send", "recv") and e.name not in seen
        lines.append(e.row(0 if described else 1))
        seen.add(e.name)
    tool.run("import", "--format=jsonl", "-", path, input="".join(lines))
    of_host(path, "host", 1)


def traffic(rng, hosts, count):
    """Messages with their own ids, between any two hosts; (id, send, recv)."""
    messages, ns = [], START
    for i in range(count):
        ns += rng.randint(1, 3000)
        a, b = rng.randrange(hosts), rng.randrange(hosts)
        messages.append((i + 1, Event(ns, a, "send", i + 1, rng.randint(1, 3)),
                         Event(ns + rng.randint(1, 20000), b, "recv", i + 1, rng.randint(1, 3))))
    return messages


def logs_of(tool, folder, events, hosts, name):
    logs = []
    for h in range(hosts):
        own = [e for e in events if e.host == h]
        if h % 2:
            own.append(Event(START - 5, h, "other"))
        logs.append(folder / f"{name}{h}.ptl")
        write(tool, logs[-1], own)
    return logs


def check_exact(tool, rng, folder):
    """Without losses: all messages, and nothing else."""
    messages = traffic(rng, 4, 600)
    start = [Event(START - 10 + h, h, "other") for h in range(4)]
    events = start + [e for _, s, r in messages for e in (s, r)]
    logs = logs_of(tool, folder, events, 4, "exact")
    rows = tool.rows(PAIR, *logs)
    expected = sorted((r.ns, s.ns, str(logs[s.host]), str(logs[r.host]), 70 + r.tid)
                      for _, s, r in messages)
    found = [(m["end_ns"], m["begin_ns"], m.get("begin_log", m["log"]), m["log"], m["tid"])
             for m in rows]
    expect("messages", sorted(found) == expected)
    expect("their order", [m["end_ns"] for m in rows] == sorted(m["end_ns"] for m in rows))
    expect("their lengths", all(m["length_ns"] == m["end_ns"] - m["begin_ns"] for m in rows))
    total = tool.all(PAIR, "--by=thread", *logs)[0]
    expect("the sum", total["count"] == len(messages) and total["unknown"] == 0
           and sum(t["count"] for t in total["threads"]) == len(messages))
    for words in ((), ("--stats",), ("--each",), ("--worst=3",)):
        text = tool.run("metrics", PAIR, *words, *logs).stdout
        expect(f"text {words}", ">" in text and "LOG" in text)
        expect(f"80 columns {words}", all(len(line) <= 80 for line in text.splitlines()
                                          if "posixtrace print" not in line))
    check_selection(tool, logs, messages)


def check_selection(tool, logs, messages):
    """By either thread, by the first event, by time."""
    rows = tool.rows(PAIR, "--tid=71", *logs)
    expect("a thread", len(rows) == sum(1 in (s.tid, r.tid) for _, s, r in messages))
    rows = tool.rows(PAIR, "--where=id < 100", *logs)
    expect("an expression", len(rows) == 99)
    middle = START + 500_000
    rows = tool.rows(PAIR, f"--from={middle}", *logs)
    expect("a time", len(rows) == sum(s.ns >= middle for _, s, _ in messages))


def check_cut(tool, rng, folder):
    """One log, and the same events in a log for each thread."""
    messages = traffic(rng, 1, 500)
    events = [e for _, s, r in messages for e in (s, r)]
    whole = folder / "whole.ptl"
    write(tool, whole, [Event(START - 9, 0, "other"), *events])
    parts = []
    for tid in (1, 2, 3):
        parts.append(folder / f"part{tid}.ptl")
        write(tool, parts[-1], [Event(START - 9, 0, "other"), *(e for e in events if e.tid == tid)])
    one, several = tool.rows(PAIR, whole), tool.rows(PAIR, *parts)
    key = lambda m: (m["begin_ns"], m["end_ns"], m["length_ns"], m["tid"], m["object"])
    expect("a log cut by threads", sorted(map(key, one)) == sorted(map(key, several))
           and len(one) == 500)
    by_item = folder / "item.metrics"
    by_item.write_text("metric M by item 8 state idle out send -> put state put begin lambda -> waits "
                       "state waits in send -> put recv -> got state got end lambda -> idle end")
    return by_item


def lose(rng, messages, hosts):
    """Events after losses: each host but the first has gaps."""
    events = [Event(START - 50 + h, h, "other") for h in range(hosts)]
    events += [e for _, s, r in messages for e in (s, r)]
    last = max(e.ns for e in events)
    for h in range(1, hosts):
        edges = sorted(rng.sample(range(START, last), 2 * rng.randint(0, 3)))
        for begin, end in zip(edges[::2], edges[1::2]):
            inside = [e for e in events if e.host == h and begin < e.ns < end]
            events = [e for e in events if e not in inside]
            events += [Event(begin, h, "posix_trace_overflow"), Event(end, h, "posix_trace_resume")]
    return events


def check_losses(tool, rng, folder, number):
    """Each message that left an event is measured exactly or lies in an unknown one."""
    messages = traffic(rng, 3, 150)
    events = lose(rng, messages, 3)
    logs = logs_of(tool, folder, events, 3, f"lossy{number}-")
    rows = tool.rows(PAIR, *logs)
    true = {(s.ns, r.ns): i for i, s, r in messages}
    known = [(m["begin_ns"], m["end_ns"]) for m in rows if not m.get("unknown")]
    expect("only what was", all(k in true for k in known) and len(set(known)) == len(known))
    unknown = [m for m in rows if m.get("unknown")]
    for i, s, r in messages:
        if (s.ns, r.ns) in known or not (s in events or r in events):
            continue
        expect(f"message {i} of log set {number} is not covered",
               any(u["begin_ns"] <= s.ns and r.ns <= u["end_ns"]
                   and u["length_ns"] >= r.ns - s.ns and int(u.get("object", "0x0"), 16) == i
                   for u in unknown))
    gaps = [any(e.host == h and e.name == "posix_trace_overflow" for e in events) for h in range(3)]
    expect("a pair of two logs without a gap is known",
           all((s.ns, r.ns) in known for _, s, r in messages
               if not gaps[s.host] and not gaps[r.host] and s in events and r in events))


def check_like_engine(tool, folder, rng):
    """One log with gaps: the same as the automata of a metric by item."""
    by_item = check_cut(tool, rng, folder)
    messages = traffic(rng, 1, 300)
    for key, s, r in messages:       # ids that return
        s.key = r.key = key % 40 + 1
    events = [e for _, s, r in messages for e in (s, r)]
    for _ in range(3):
        begin = rng.randint(START, events[-1].ns)
        events = [e for e in events if not begin <= e.ns < begin + 40000]
        events += [Event(begin, 0, "posix_trace_overflow"),
                   Event(begin + 40000, 0, "posix_trace_resume")]
    log = folder / "engine.ptl"
    write(tool, log, events)
    mine = [(m["begin_ns"], m["end_ns"]) for m in tool.rows(PAIR, log) if not m.get("unknown")]
    item = [(m["begin_ns"], m["end_ns"]) for m in tool.rows(f"--set={by_item}", log)
            if not m.get("unknown")]
    expect("as by item", sorted(mine) == sorted(item) and len(mine) > 50)


def check_apart(tool, rng, folder):
    """Hosts that send nothing to each other: the sum."""
    logs, ones, base = [], [], 0
    for h in range(3):
        messages = traffic(rng, 1, 100)
        events = []
        for key, s, r in messages:
            s.key = r.key = key + base
            s.host = r.host = h
            events += [s, r]
        base += 1000
        if h == 1:
            events += [Event(START + 40000, h, "posix_trace_overflow"),
                       Event(START + 45000, h, "posix_trace_resume")]
        logs.append(folder / f"apart{h}.ptl")
        write(tool, logs[-1], [Event(START - 20, h, "other"), *events])
        ones.append(tool.all(PAIR, logs[-1])[0])
    both = tool.all(PAIR, *logs)[0]
    for key in ("count", "unknown", "unfinished", "restarted"):
        expect(f"{key} is the sum", both[key] == sum(o[key] for o in ones))
    expect("something is unknown", both["unknown"] > 0)


def check_clocks(tool, folder):
    """A clock that is slow: pairs that end before they begin are said, not measured."""
    a, b = folder / "clock_a.ptl", folder / "clock_b.ptl"
    write(tool, a, [Event(START + 1000 * i, 0, "send", i) for i in range(1, 11)])
    write(tool, b, [Event(START + 1000 * i - 400, 2, "recv", i) for i in range(1, 11)])
    done = tool.run("metrics", PAIR, a, b)
    expect(f"slow clock: {done.stdout}", "10 not measured" in done.stdout
           and "up to 0.400 us" in " ".join(done.stdout.split()) and "clocks" in done.stdout)
    expect("nothing measured", tool.all(PAIR, a, b)[0]["count"] == 0)


def check_errors(tool, folder):
    a, b, c = folder / "err_a.ptl", folder / "err_b.ptl", folder / "err_c.ptl"
    write(tool, a, [Event(START, 0, "send", 1)])
    row = json.loads(Event(START, 0, "recv", 1).row(0))
    row["description"], row["data"] = "str id", b"1\0".hex()
    tool.run("import", "--format=jsonl", "-", b, input=json.dumps(row, separators=(",", ":")) + "\n")
    row["description"] = "str other"
    tool.run("import", "--format=jsonl", "-", c, input=json.dumps(row, separators=(",", ":")) + "\n")
    done = tool.run("metrics", PAIR, a, b, status=1)
    expect(f"both are named: {done.stderr}", str(a) in done.stderr and str(b) in done.stderr
           and "text" in done.stderr)
    done = tool.run("metrics", PAIR, a, c, status=1)
    expect(f"no such field: {done.stderr}", str(c) in done.stderr and "'id'" in done.stderr)
    done = tool.run("metrics", "--pair=send by id..receive by id", a, b, status=1)
    expect(f"no such event: {done.stderr}", "receive" in done.stderr)
    for text in ("send", "send by id", "send by id..recv", "send by id..send by id",
                 "send by a,b..recv by a", '"send by id..recv by id', "send by id..recv by id x"):
        done = tool.run("metrics", f"--pair={text}", a, b, status=64)
        expect(f"{text}: {done.stderr}", "--pair" in done.stderr and "column" in done.stderr)
    tool.run("metrics", PAIR, "--metric=x", a, status=64)
    logs = [folder / f"exact{h}.ptl" for h in range(4)]
    expect("quotes", tool.rows('--pair="send" by "id"..recv by id', *logs) == [
        {**m, "metric": '"send" by "id"..recv by id'} for m in tool.rows(PAIR, *logs)])


def main():
    tool, rng = Tool(sys.argv[1]), random.Random(1903)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_exact(tool, rng, folder)
        check_like_engine(tool, folder, rng)
        for number in range(16):
            check_losses(tool, rng, folder, number)
        check_apart(tool, rng, folder)
        check_clocks(tool, folder)
        check_errors(tool, folder)


main()
