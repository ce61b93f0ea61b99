#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The page of 'posixtrace report --html' has what the log has: each event as 'print --format=jsonl' shows it, each slice
as 'export --to=chrome' has it, and levels that agree with them; of random logs with any bytes in their names.

usage: page.py POSIXTRACE [SEED]
"""

import errno
import json
import os
import pathlib
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile

import page_data
import random_logs

ROUNDS, DAMAGED = 3, 30
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
EVIL = ["</script><script>alert(1)</script>", "<!--", "]]>", "\" onload=\"x", "a\u2028b\u2029c", "{{head}}", "&lt;&#x3c;"]
DESCRIPTIONS = ["u32 id; str name", "i64 a; u8 b {no, yes = 200}; f64 c; x16 d", "u8[3] list; char[4] word", "str text",
                "f32 small; i8 tiny; bool flag", "u16 value"]


def run(tool, *arguments, silent=True):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, check=False)
    if done.returncode or (silent and done.stderr):
        sys.exit(f"{arguments}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def make_page(tool, log, *options):
    """Messages about losses are those of other verbs."""
    page = log.with_suffix(".html")
    run(tool, "report", f"--html={page}", "--force", *options, log, silent=False)
    made = page_data.Page(page)
    made.check()
    return made


# ---- events ----

def same_fields(event, fields, raw):
    """Compares with the line of print: floats of 32 bits are doubles in the page."""
    if event.get("fields") is None:
        return (raw or "") == event["data"]
    if raw is not None or fields.keys() != event["fields"].keys():
        return False
    for name, value in event["fields"].items():
        mine = fields[name]
        if isinstance(value, float) or value is None:
            if value is not None and abs(mine - value) > 1e-6 * abs(value):
                return False
        elif mine != value:
            return False
    return True


def compare_events(page, lines):
    head, found = page.head, list(page.events())
    names = {(e["pid"], e["tid"]): e["thread"] for e in lines if e["thread"]}  # the last one
    assert len(found) == len(lines) == head["events"], (len(found), len(lines), head["events"])
    for (number, ns, lane, kind, site, fields, raw, truncated), event in zip(found, lines):
        thread = head["lanes"][lane]
        pid = head["processes"][thread["process"]]["pid"] if thread["process"] >= 0 else 0
        assert lines[number] is event
        assert int(head["origin"]) + ns == event["ts"], (number, ns, event)
        assert (pid, thread["tid"]) == (event["pid"], event["tid"]), (thread, event)
        assert event["tid"] == 0 or thread["name"] == names.get((pid, thread["tid"]), ""), (thread, event)
        assert head["types"][kind]["name"] == event["event"], (head["types"][kind], event)
        assert truncated == event["trunc"]
        assert same_fields(event, fields, raw), (fields, raw, event)
        address = "0x0" if site == 0 else head["sites"][site - 1]
        assert address == event["addr"] or (site == 0 and len(head["sites"]) == 4096), (site, event)


# ---- slices ----

def chrome_slices(tool, log):
    """(tid, pid, name, begin, end) of the slices that end, but for those of processors; those that were cut."""
    found, cut, stacks = [], [], {}
    chrome = log.with_suffix(".chrome")
    chrome.unlink(missing_ok=True)
    run(tool, "export", "--to=chrome", log, chrome, silent=False)
    for event in json.loads(chrome.read_text(encoding="utf-8"))["traceEvents"]:
        key = (event["tid"], event["pid"])
        if event["ph"] == "B":
            stacks.setdefault(key, []).append((event["name"], round(event["ts"] * 1000)))
        elif event["ph"] == "E":
            name, begin = stacks[key].pop()
            found.append((*key, name, begin, round(event["ts"] * 1000)))
            if "cut" in event.get("args", {}):
                cut.append(found[-1])
        elif event["ph"] == "X" and event["pid"] != 2**32 - 1:
            begin = round(event["ts"] * 1000)
            found.append((*key, event["name"], begin, begin + round(event["dur"] * 1000)))
    return sorted(found), cut


def compare_slices(page, tool, log):
    head, found, flagged = page.head, [], set()
    for row, label, begin, end, flags in page.slices():
        about = head["rows"][row]
        lane = head["lanes"][about["lane"]]
        assert about["kind"] == "slice"
        pid = head["processes"][lane["process"]]["pid"] if lane["process"] >= 0 else 0
        if not (flags & 2 and end == head["span"]):
            found.append((lane["tid"], pid, head["labels"][label], begin, end))
            flagged |= {found[-1]} if flags & 2 else set()
    first = json.loads(run(tool, "print", "--format=jsonl", log, silent=False).split(b"\n")[0])["ts"] - int(head["origin"])
    wanted, cut = ([(*key, begin + first, end + first) for *key, begin, end in some] for some in chrome_slices(tool, log))
    assert flagged >= {s for s in cut if s[4] != head["span"]}, set(cut) - flagged
    wanted = [s for s in wanted if s[4] != head["span"] or s in found]
    assert sorted(found) == wanted, (set(found) ^ set(wanted))


# ---- logs ----

def random_lines(rng):
    """Events with pairs, nested, crossed and cut, fields of all kinds, and hostile names."""
    names = ["a:begin", "a:end", "b:begin", "b:end", "c:enter", "c:exit", "plain", EVIL[0] + ":begin", EVIL[0] + ":end", *EVIL, *[f"d{i}" for i in range(6)]]
    threads = [(rng.choice((1, 2)), tid, rng.choice((*EVIL, "worker", "\udcff\udc80"))[:15])
               for tid in range(1, rng.choice((2, 4, 40)))]
    described = {f"d{i}": text for i, text in enumerate(DESCRIPTIONS)}
    ts, lines, told = 10**18, [], set()
    for _ in range(rng.choice((50, 1000, 3000))):
        ts += rng.choice((0, 1, 100, rng.randint(0, 10**6), rng.randint(0, 10**9)))
        pid, tid, thread = rng.choice(threads)
        name = rng.choice(names)
        if rng.random() < 0.01:
            name = rng.choice(("posix_trace_overflow", "posix_trace_resume", "posix_trace_stop", "posix_trace_start"))
        line = {"ts": ts, "pid": pid, "tid": tid, "thread_id": hex(tid), "thread": thread, "event": name,
                "addr": hex(rng.choice((0, 4096, 2**64 - 1))), "trunc": 0, "data": random_data(rng, name)}
        if name in described and name not in told:
            line["description"] = described[name]
            told.add(name)
        lines.append(line)
    return lines


def random_data(rng, name):
    text = rng.choice(EVIL).encode() + b"\0"
    number = lambda size: rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size)))
    data = {"d0": lambda: number(4) + text, "d1": lambda: number(8) + number(1) + number(8) + number(2),
            "d2": lambda: number(3) + rng.choice((b"<a>&", b"\0\0\0\0", b"\xff\xfe<b")), "d3": lambda: text,
            "d4": lambda: number(4) + number(1) + rng.choice((b"\0", b"\1")), "d5": lambda: number(2)}
    made = data.get(name, lambda: rng.randbytes(rng.choice((0, 0, 3, 40))))()
    return (made[:-1] if rng.random() < 0.05 else made).hex()


def log_of(tool, folder, lines):
    source, log = folder / "in.jsonl", folder / "a.ptl"
    log.unlink(missing_ok=True)
    source.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run(tool, "import", "--from=jsonl", source, log)
    return log


def check_log(tool, log):
    lines = [json.loads(text) for text in run(tool, "print", "--format=jsonl", log, silent=False).decode().split("\n")[:-1]]
    page = make_page(tool, log)
    compare_events(page, lines)
    compare_slices(page, tool, log)
    check_gaps(page, lines)
    page.check_levels(page.sums())
    check_safe(page)
    return page


def check_cut(tool, folder):
    """A slice ends where events are lost, not at the end of the log."""
    thread = {"pid": 1, "tid": 1, "thread_id": "0x1", "thread": "t", "addr": "0x1", "trunc": 0, "data": ""}
    events = ["a:begin", "b:begin", "posix_trace_overflow", "posix_trace_resume", "b:end", "a:begin", "a:end", "x"]
    page = check_log(tool, log_of(tool, folder, [
        {**thread, "event": event, "ts": 10**18 + 100 * i} for i, event in enumerate(events)]))
    found = [(page.head["labels"][label], begin, end, flags, page.head["rows"][row]["depth"])
             for row, label, begin, end, flags in page.slices()]
    assert sorted(found) == [("a", 0, 200, 2, 0), ("a", 500, 600, 0, 0), ("b", 100, 200, 2, 1)], found


def check_safe(page):
    """The elements are those of the skeleton and the blocks, whatever the log has."""
    tags = [tag for tag, attributes in page.elements.tags if attributes.get("class") != "block"]
    assert tags.count("script") == 2 and "alert" not in "".join(page.elements.code)
    assert not any(name.startswith("on") for _, attributes in page.elements.tags for name in attributes)
    assert len(page.elements.code) == 1
    for character in "<>&\u2028\u2029":
        assert character not in page.elements.scripts["head"]


def check_random(tool, rng, folder):
    log = log_of(tool, folder, random_lines(rng))
    page = check_log(tool, log)
    assert any(EVIL[0] == pair["name"] for pair in page.head["report"]["pairs"]) or page.head["events"] < 300
    evil = folder / "'</script>&\"\u2028.ptl".replace("/", "\u2215")
    log.rename(evil)
    page = make_page(tool, evil)
    check_safe(page)
    assert page.head["log"]["name"] == evil.name and "'\\''" in page.head["log"]["print"]
    evil.unlink()
    events = random_logs.random_events(rng)
    source, log = folder / "in.jsonl", folder / "a.ptl"
    source.write_bytes("".join(map(random_logs.line, events)).encode())
    run(tool, "import", "--from=jsonl", source, log)
    check_log(tool, log)


# ---- pipes ----

READ, WRITE = 0, 1
KINDS = {"pipe:[": 3, "socket": 4, "anon_i": 7}


def transfers(name, other_pid, switches):
    """Thread 1 reads and waits until thread 2 writes; then 2 writes, and 1 reads without a wait."""
    line = {"thread_id": "0x1", "thread": "t", "addr": "0x1", "trunc": 0}
    events, pids = [], {1: 1, 2: other_pid}
    add = lambda ns, tid, event, data=b"": events.append(
        {**line, "ts": 10**18 + ns, "pid": pids[tid], "tid": tid, "event": "posixtrace_" + event, "data": data.hex()})
    for tid in (1, 2):
        if switches:
            add(tid, tid, "switch_in", bytes(4))
        add(2 + tid, tid, "thread_begin", struct.pack("<Q", tid))
        for descriptor in (5, 6, 7):
            add(4 + tid, tid, "descriptor", struct.pack("<iI", descriptor, KINDS[name[:6]]) + name.encode() + b"\0")
    begin = lambda ns, tid, call, descriptor: add(ns, tid, "io", struct.pack("<IiQ", call, descriptor, 64))
    end = lambda ns, tid, call, descriptor, result=1: add(ns, tid, "io_done", struct.pack("<Iiq", call, descriptor, result))
    begin(100, 1, READ, 5)
    if switches:
        add(110, 1, "switch_out", bytes(4))
    begin(120, 2, WRITE, 7)
    end(130, 2, WRITE, 7)
    begin(200, 2, WRITE, 5 if "eventfd" in name else 6)
    end(210, 2, WRITE, 5 if "eventfd" in name else 6)
    if switches:
        add(220, 1, "switch_in", bytes(4))
    end(230, 1, READ, 5)
    begin(300, 1, READ, 5)
    end(310, 1, READ, 5)
    return sorted(events, key=lambda event: event["ts"])


def check_pipes(tool, folder):
    """A read that waits is let go by the first write of another thread to the same pipe, or event counter."""
    for switches in (False, True):
        for name, other_pid, wanted in (("pipe:[77]", 1, 120), ("pipe:[77]", 9, 120), ("anon_inode:[eventfd]", 1, 200),
                                        ("anon_inode:[eventfd]", 9, None), ("socket:[77]", 1, None)):
            page = make_page(tool, log_of(tool, folder, transfers(name, other_pid, switches)))
            lanes = page.head["lanes"]
            found = [(lanes[source]["tid"], ns, lanes[target]["tid"], length, kind)
                     for _, (source, ns, target, length, kind) in page.rows_of(page.head["detail"]["flows"], 5)]
            base = 10**18 - int(page.head["origin"])
            why = json.loads(run(tool, "why", "--at=+150ns", "--tid=1", "--format=json", folder / "a.ptl"))
            others = {segment.get("other_tid") for segment in why["instances"][0]["segments"]} - {None}
            assert others == ({2} if wanted else set()), (name, switches, why)
            assert found == ([(2, wanted + base, 1, 230 - wanted, 4)] if wanted else []), (name, switches, found)


# ---- connections ----

ADD, DEL, RECV, SEND, CLOSE, IN, OUT = 1, 2, 10, 11, 37, 1, 4
RING = "posix_trace_overflow", "posix_trace_resume"


class Threads:
    """Events of two threads of two processes: 1 waits, 2 lets it continue."""

    def __init__(self, switches):
        self.events, self.ns, self.switches = [], 0, switches
        for tid in (1, 2):
            if switches:
                self.add(tid, "switch_in", bytes(4))
            self.add(tid, "thread_begin", struct.pack("<Q", tid))

    def add(self, tid, event, data=b"", pid=None, standard=False):
        self.ns += 10
        self.events.append({"thread_id": "0x1", "thread": "t", "addr": "0x1", "trunc": 0, "ts": 10**18 + self.ns, "tid": tid,
                            "pid": tid if pid is None else pid, "event": event if standard else "posixtrace_" + event, "data": data.hex()})
        return self.ns

    def end_of(self, tid, fd, own, peer, space=1, kind=0):
        self.add(tid, "descriptor", struct.pack("<iI", fd, 4) + b"x\0")
        self.add(tid, "connection", struct.pack("<iIQ", fd, kind, space) + own + b"\0" + peer + b"\0")

    def call(self, tid, call, fd, result=1):
        begin = self.add(tid, "io", struct.pack("<IiQ", call, fd, 64))
        self.add(tid, "io_done", struct.pack("<Iiq", call, fd, result))
        return begin

    def lose(self):
        self.add(0, RING[0], pid=0, standard=True)
        self.add(0, RING[1], pid=0, standard=True)

    def close(self, tid, fd):
        self.call(tid, CLOSE, fd, 0)

    def set(self, operation, fd, data, epoll=9):
        self.add(1, "epoll_set", struct.pack("<iiIIQ", epoll, fd, operation, IN, data))

    def wait(self, during, ready=None, call=RECV, fd=5):
        """Thread 1 waits in a call; what during() returns, and when the wait ended."""
        number, event = (68, "poll") if ready is not None else (call, "io")
        more = struct.pack("<Qq", 8, -1) if ready is not None else b""
        self.add(1, event, struct.pack("<Ii", number, fd) + more + struct.pack("<Q", 64))
        if self.switches:
            self.add(1, "switch_out", bytes(4))
        result = during()
        if self.switches:
            self.add(1, "switch_in", bytes(4))
        if ready:
            self.add(1, "ready", ready)
        return result, self.add(1, event + "_done", struct.pack("<Iiq", number, fd, 1))


def ready(epoll, *found, count=None):
    which, events = [one[0] for one in found], [one[1] for one in found]
    return struct.pack(f"<iIH{len(which)}QH{len(events)}H", epoll, len(found) if count is None else count, len(which), *which,
                       len(events), *events)


def case_direct(t, lost=False, space=1, peer=b"a:1", kind=0, again=False):
    t.end_of(1, 5, b"a:1", b"b:2", kind=kind)
    t.end_of(2, 6, b"b:2", peer, space, kind)
    if lost:
        t.lose()
    if again:
        t.end_of(1, 5, b"a:1", b"b:2", kind=kind)
        t.end_of(2, 6, b"b:2", peer, space, kind)
    return t.wait(lambda: t.call(2, SEND, 6))


def case_other_direction(t):
    t.end_of(1, 5, b"a:1", b"b:2")
    t.end_of(2, 6, b"b:2", b"a:1")
    return t.wait(lambda: t.call(2, RECV, 6))


def case_closed(t):
    """The number is that of another file, which has not been described."""
    t.end_of(1, 5, b"a:1", b"b:2")
    t.end_of(2, 6, b"b:2", b"a:1")
    t.close(2, 6)
    return t.wait(lambda: t.call(2, SEND, 6))


def case_reused(t):
    """The same addresses for the next connection, by other descriptors: an older write is none of it."""
    t.end_of(1, 5, b"a:1", b"b:2")
    t.end_of(2, 6, b"b:2", b"a:1")
    t.call(2, SEND, 6)
    t.close(1, 5)
    t.close(2, 6)
    t.end_of(1, 5, b"a:1", b"b:2")
    t.end_of(2, 8, b"b:2", b"a:1")
    return t.wait(lambda: t.call(2, SEND, 8))


def case_full(t):
    """A send waits until the other end receives; one that nothing filled does not."""
    t.end_of(1, 5, b"a:1", b"b:2")
    t.end_of(2, 6, b"b:2", b"a:1")
    return t.wait(lambda: t.call(2, RECV, 6), call=SEND)


def epolls(t, events=IN, data=77, fds=((5, 77),), **options):
    t.end_of(1, 5, b"a:1", b"b:2")
    t.end_of(2, 6, b"b:2", b"a:1")
    t.end_of(1, 7, b"a:1", b"b:3")
    t.end_of(2, 8, b"b:3", b"a:1")
    for fd, value in fds:
        t.set(ADD, fd, value)
    return t, ready(9, (data, events), **options)


def case_epoll(t, **options):
    t, found = epolls(t, **options)
    return t.wait(lambda: t.call(2, SEND, 6), found, fd=9)


def case_both(t, reads_first):
    """Ready to read and to write: the end of the wait is that of a read only if the other end did not read before."""
    t, found = epolls(t, events=IN | OUT)
    t.call(1, SEND, 5)
    return t.wait(lambda: ((t.call(2, RECV, 6) if reads_first else None), t.call(2, SEND, 6))[1], found, fd=9)


def case_removed(t):
    t, found = epolls(t)
    t.set(DEL, 5, 0)
    return t.wait(lambda: t.call(2, SEND, 6), found, fd=9)


def case_epoll_reused(t):
    """The descriptor is closed, and another one gets its data."""
    t, found = epolls(t, fds=((7, 77),))
    t.close(1, 7)
    t.set(ADD, 5, 77)
    return t.wait(lambda: t.call(2, SEND, 6), found, fd=9)


def case_several(t, both=True):
    """All that was ready has a first write: the earlier one; else another event may have come first."""
    t, _ = epolls(t, fds=((5, 77), (7, 78)))
    return t.wait(lambda: ((t.call(2, SEND, 8) if both else None), t.call(2, SEND, 6))[0 if both else 1],
                  ready(9, (77, IN), (78, IN)), fd=9)


def case_poll(t):
    t, _ = epolls(t)
    return t.wait(lambda: t.call(2, SEND, 6), ready(-1, (5, IN)), fd=-1)


CONNECTIONS = (
    (case_direct, {}, True), (case_direct, {"kind": 1}, True), (case_direct, {"lost": True}, False),
    (case_direct, {"lost": True, "again": True}, True), (case_direct, {"space": 2}, False),
    (case_direct, {"peer": b"a:9"}, False), (case_direct, {"peer": b""}, True), (case_direct, {"peer": b"x" * 300}, False),
    (case_other_direction, {}, False), (case_closed, {}, False), (case_reused, {}, True), (case_full, {}, None),
    (case_epoll, {}, True), (case_epoll, {"data": 5}, False), (case_epoll, {"fds": ((5, 77), (7, 77))}, False),
    (case_epoll, {"fds": ()}, False), (case_epoll, {"events": IN | OUT}, True), (case_both, {"reads_first": False}, True),
    (case_both, {"reads_first": True}, False), (case_epoll, {"events": OUT}, False),
    (case_epoll, {"count": 2}, False), (case_epoll, {"count": 0}, False), (case_removed, {}, False), (case_epoll_reused, {}, True),
    (case_several, {}, True), (case_several, {"both": False}, False), (case_poll, {}, True))


def check_connections(tool, folder):
    """A thread of another process that wrote to the other end is named, and no thread where that could be false."""
    for switches in (False, True):
        for case, options, wanted in CONNECTIONS:
            t = Threads(switches)
            since, until = case(t, **options)
            page = make_page(tool, log_of(tool, folder, t.events))
            lanes, base = page.head["lanes"], 10**18 - int(page.head["origin"])
            found = [(lanes[source]["tid"], ns - base, lanes[target]["tid"], ns - base + length, kind)
                     for _, (source, ns, target, length, kind) in page.rows_of(page.head["detail"]["flows"], 5)]
            what = case.__name__, options, switches, found
            if wanted is not None:
                assert found == ([(2, since, 1, until, 6)] if wanted else []), (what, since, until)
            words = [tool, "why", f"--at=+{since - 10 - t.events[0]['ts'] + 10**18}ns", "--tid=1", "--format=json", folder / "a.ptl"]
            why = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
            others = {segment.get("other_tid") for one in why["instances"] for segment in one["segments"]} - {None}
            if wanted is not None:
                assert others == ({2} if wanted else set()), (what, why)


# ---- flame graph ----

def check_flame(tool, folder):
    """The stacks of waits are those of 'export --to=folded', the longest first; without stacks there are none."""
    line, events = {"pid": 1, "thread_id": "0x1", "addr": "0x1", "trunc": 0}, []
    add = lambda ns, tid, event, data: events.append({**line, "ts": 10**18 + ns, "tid": tid, "event": "posixtrace_" + event,
                                                      "thread": EVIL[0][:15] if tid == 2 else "t", "data": data.hex()})
    for i in range(1500):
        add(100 * i, 1 + i % 2, "mutex_lock", struct.pack("<QQ", 64, 4096))
        add(100 * i + 20 + i % 50, 1 + i % 2, "mutex_locked", struct.pack("<Qq", 64, 0))
        add(100 * i + 20 + i % 50, 1 + i % 2, "stack", struct.pack("<H3Q", 3, 4096, 8192 + i % 1100, 12288))
    log = log_of(tool, folder, events)
    page = make_page(tool, log)
    wanted = {}
    for text in run(tool, "export", "--to=folded", log, "-").decode().splitlines():
        frames, _, ns = text.rpartition(" ")
        wanted[tuple(frames.split(";"))] = int(ns)
    flame = page.head["flame"]
    assert len(wanted) > len(flame) == 1001 and sum(one["ns"] for one in flame) == sum(wanted.values())
    assert all(wanted[tuple(one["frames"])] == one["ns"] for one in flame[:-1])
    assert flame[:-1] == sorted(flame[:-1], key=lambda one: -one["ns"]) and flame[-1]["frames"][0].startswith("other stacks")
    check_safe(page)
    events = [event for event in events if event["event"] != "posixtrace_stack"]
    assert "flame" not in make_page(tool, log_of(tool, folder, events)).head


# ---- sizes, errors ----

def check_sizes(tool, rng, folder):
    """A page of 1,000 events is small; one that may not be large says what it has left out, and has all levels."""
    lines = [{"ts": 10**18 + i * 1000, "pid": 1, "tid": 1 + i % 4, "thread_id": "0x1", "thread": "t",
              "event": ("a:begin", "a:end")[i // 4 % 2], "addr": "0x1", "trunc": 0, "data": ""} for i in range(1000)]
    page = make_page(tool, log_of(tool, folder, lines))
    assert page.size <= 200_000, page.size
    assert sum(len(text) for text in page.elements.scripts.values()) < 50_000
    for i in range(1000, 150_000):
        lines.append({**lines[i % 1000], "ts": 10**18 + i * 10**6 + rng.randrange(10**6), "data": rng.randbytes(4).hex()})
    log = log_of(tool, folder, lines)
    whole = make_page(tool, log)
    assert not whole.head["notes"] and not whole.head["detail"]["missing"]
    sums = whole.sums()
    whole.check_levels(sums)
    for size in (1_500_000, 700_000, 500_000):
        page = make_page(tool, log, f"--html-size={size}")
        assert page.size <= size, (page.size, size)
        assert page.head["notes"] and page.head["levels"], page.head["notes"]
        shown = sum(1 for _ in page.events())
        assert shown == 150_000 or any(f"{150_000 - shown:,} of 150,000 events" in note for note in page.head["notes"])
        assert (shown < 150_000) == bool(page.head["detail"]["missing"]), page.head["detail"]["missing"]
        assert size > 500_000 or shown < 150_000, shown
        page.check_levels(sums)


def check_threads(tool, rng, folder):
    """Of more threads than the page has room for those with the most events have lanes; it says so."""
    lines, counts = [], {}
    for i in range(12_000):
        tid = 1 + int(rng.random() ** 2 * 4000)
        counts[tid] = counts.get(tid, 0) + 1
        lines.append({"ts": 10**18 + i * 1000, "pid": 1 + tid % 7, "tid": tid, "thread_id": "0x1", "thread": "t",
                      "event": ("a:begin", "a:end")[counts[tid] % 2], "addr": "0x1", "trunc": 0, "data": ""})
    log = log_of(tool, folder, lines)
    whole = make_page(tool, log)
    assert len(whole.head["lanes"]) == len(counts) and not whole.head["notes"]
    page = make_page(tool, log, "--html-size=500000")
    lanes = page.head["lanes"]
    assert page.size <= 500_000 and len(lanes) == 1001, (page.size, len(lanes))
    shared = [lane for lane in lanes if lane["process"] < 0]
    assert [lane["name"] for lane in shared] == ["other threads"] and sum(lane["events"] for lane in lanes) == len(lines)
    own = [counts.pop(lane["tid"]) for lane in lanes if lane["process"] >= 0]
    assert min(own) >= max(counts.values()) and sum(counts.values()) == shared[0]["events"]
    assert any(f"The 1,000 threads with the most events have lanes" in note and f"of {len(counts):,} others" in note
               for note in page.head["notes"]), page.head["notes"]
    assert not any(page.head["rows"][row].get("lane") == lanes.index(shared[0]) for row, *_ in page.slices())
    page.check_levels(page.sums())


# ---- losses, damage ----

def check_lost(page, about):
    """The losses are those of posixtrace info, and a place of each is shown."""
    lost = page.head["lost"]
    assert int(lost["total"]) == about["lost"] == sum(int(n) for _, n in lost["causes"])
    assert {cause: int(n) for cause, n in lost["causes"]} == {k: v for k, v in about["lost_by_cause"].items() if v}
    mine = {}
    for lane in page.head["lanes"]:
        key = page.head["processes"][lane["process"]]["pid"] if lane["process"] >= 0 else 0, lane["tid"]
        mine[key] = int(lane["lost"])
    wanted = {}
    for thread in about["threads"]:
        key = thread["pid"], thread["tid"]
        wanted[key] = wanted.get(key, 0) + thread["lost"]
    assert all(mine.get(key, 0) == n for key, n in wanted.items() if key[1]), (mine, wanted)


def check_gaps(page, lines):
    """From each posix_trace_overflow to its resume, and from each stop to the next event."""
    found, wanted, since, marked = [], [], None, False
    for row, begin, length, value in page.items():
        if page.head["rows"][row]["kind"] == "loss" and value == 0:
            found.append((begin, begin + length))
    for line in lines:
        ns = line["ts"] - int(page.head["origin"])
        if line["event"] == "posix_trace_overflow" and since is None:
            since = ns
        elif line["event"] == "posix_trace_resume":
            if since is not None or not marked:
                wanted.append((since or 0, ns))
            since = None
        marked |= line["event"] in ("posix_trace_overflow", "posix_trace_resume")
    if since is not None:
        wanted.append((since, page.head["span"]))
    assert sorted(found) == sorted(wanted), (found, wanted)


def check_kept(tool, folder):
    """The logs of all versions, some of them full, cut or with losses."""
    lost = 0
    for source in sorted(DATA.glob("log-*/*.ptl")):
        log = folder / source.name
        log.write_bytes(source.read_bytes())
        page = make_page(tool, log)
        text = run(tool, "print", "--format=jsonl", log, silent=False)
        lines = [json.loads(line) for line in text.decode().split("\n")[:-1]]
        compare_events(page, lines)
        check_gaps(page, lines)
        check_lost(page, json.loads(run(tool, "info", "--format=jsonl", log, silent=False)))
        page.check_levels(page.sums())
        lost += int(page.head["lost"]["total"])
    assert lost > 0


def check_damaged(tool, rng, folder):
    """Of a log with changed bytes there is a page that can be read, or a message."""
    made, log, page = 0, folder / "damaged.ptl", folder / "damaged.html"
    sources = sorted(DATA.glob("log-*/*.ptl"))
    for _ in range(DAMAGED):
        data = bytearray(rng.choice(sources).read_bytes())
        for _ in range(rng.choice((1, 3, 40))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        log.write_bytes(data[:rng.choice((len(data), rng.randrange(len(data))))])
        done = subprocess.run([tool, "report", f"--html={page}", "--force", log], capture_output=True, check=False)
        assert done.returncode in (0, 1), (done, data.hex())
        if done.returncode == 0:
            found = page_data.Page(page)
            found.check()
            found.check_levels(found.sums())
            made += 1
    assert made > 0


def counters_of(page, level):
    """By row: (first time, least, greatest, last) of each range of a level."""
    found = {}
    for tile, item in page.rows_of(level["tiles"], 3 if level["resolution"] == 0 else 5):
        row, ns, *bits = item
        values = [struct.unpack("<d", struct.pack("<Q", b))[0] for b in bits]
        assert tile["from"] <= ns <= tile["to"]
        found.setdefault(row, []).append((ns, *(values * 3 if len(values) == 1 else values)))
    assert all(items == sorted(items, key=lambda item: item[0]) for items in found.values())
    return found


def joined(items, resolution):
    out = []
    for ns, least, most, last in items:
        if out and out[-1][0] // resolution == ns // resolution:
            out[-1] = (out[-1][0], min(out[-1][1], least), max(out[-1][2], most), last)
        else:
            out.append((ns, least, most, last))
    return out


def check_counters(tool, rng, folder):
    """Levels have the least, greatest and last values of what the log has, also where it is more than is kept."""
    lines = [{"ts": 10**18 + i * 5000 + rng.randrange(5000), "pid": 1 + i % 2, "tid": 1 + i % 2, "thread_id": "0x1",
              "thread": "t", "event": ("depth", "heat")[i // 2 % 2], "addr": "0x1", "trunc": 0,
              "data": rng.randbytes(2).hex()} for i in range(40_000)]
    for line in lines[:4]:
        line["description"] = "u16 value" if line["event"] == "depth" else "i16 value"
    log, wanted = log_of(tool, folder, lines), {}
    for line in lines:
        value = int.from_bytes(bytes.fromhex(line["data"]), "little", signed=line["event"] == "heat")
        key = line["event"] + ".value", line["pid"]
        wanted.setdefault(key, []).append((line["ts"] - lines[0]["ts"], value, value, value))
    for size, resolutions in ((40_000_000, {0}), (500_000, set())):
        head = (page := make_page(tool, log, f"--html-size={size}")).head
        for about in head["rows"]:
            if about["kind"] == "counter":
                values = [v for _, v, _, _ in wanted[about["name"], head["processes"][about["process"]]["pid"]]]
                assert (about["least"], about["greatest"]) == (min(values), max(values)), about
        levels = head["counters"]
        assert levels and {0} & {level["resolution"] for level in levels} == resolutions, levels
        for level in levels:
            for row, items in counters_of(page, level).items():
                about = head["rows"][row]
                whole = wanted[about["name"], head["processes"][about["process"]]["pid"]]
                assert items == joined(whole, level["resolution"] or 1), (about, level["resolution"])


def check_errors(tool, folder):
    event = {"pid": 1, "tid": 1, "thread_id": "0x1", "thread": "t", "event": "e", "addr": "0x1", "trunc": 0, "data": ""}
    log = log_of(tool, folder, [{**event, "ts": 5}, {**event, "ts": 2**53 + 10}])
    page = folder / "error.html"
    for arguments, text in (((log,), b"104 days"), (("-",), b"cannot be read twice"),
                            (("--from=+1s", log), b"whole log"), (("--top=3", log), b"leave out --top")):
        with open(log, "rb") as file:
            pipe = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
            done = subprocess.run([tool, "report", f"--html={page}", *map(str, arguments)], stdin=pipe.stdout,
                                  capture_output=True, check=False)
            pipe.stdout.close()
            pipe.wait()
        assert done.returncode != 0 and text in done.stderr and not page.exists(), done
    log = log_of(tool, folder, [{**event, "ts": 5}])
    assert run(tool, "report", "--html=-", log) == open(make_page(tool, log).path, "rb").read()
    page.write_text("mine")
    done = subprocess.run([tool, "report", f"--html={page}", log], capture_output=True, check=False)
    assert done.returncode != 0 and b"--force" in done.stderr and page.read_text() == "mine"
    empty = make_page(tool, log_of(tool, folder, []))
    assert empty.head["events"] == 0 and not list(empty.events())


def check_full(tool, folder):
    """Where the disk is full, the message has the file and the reason; what was there under its name stays."""
    rng = random.Random(1)
    log = log_of(tool, folder, [{"ts": 10**18 + i, "pid": 1, "tid": 1, "thread_id": "0x1", "thread": "t", "event": "e",
                                 "addr": "0x1", "trunc": 0, "data": rng.randbytes(16).hex()} for i in range(20_000)])
    for options, before in (((), []), (("--force",), ["page.html"])):
        disk = folder / "disk"
        disk.mkdir()
        page = disk / "page.html"
        for name in before:
            (disk / name).write_text("mine")
        words = [tool, "report", f"--html={page}", *options, log]
        limit = lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)))
        done = subprocess.run(words, capture_output=True, check=False, preexec_fn=limit)
        check_refused(done, page, os.strerror(errno.EFBIG), before)
        script = f"mount -t tmpfs -o size=300k none {disk} || exit 77; for f in {' '.join(before)}; do echo -n mine >{disk}/$f; done; " \
                 f'"$@"; status=$?; ls -A {disk} | tr "\\n" " "; exit $status'
        done = subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", *map(str, words)],
                              capture_output=True, check=False)
        if done.returncode == 1 and b"posixtrace" in done.stderr:
            assert done.stdout.decode().split() == before, done
            assert f"cannot write '{page}': {os.strerror(errno.ENOSPC)}" in done.stderr.decode(), done
        else:
            print("a small disk cannot be made here:", done.stderr.decode().strip())
        for name in before:
            (disk / name).unlink()
        disk.rmdir()
    with open("/dev/full", "wb") as full:
        done = subprocess.run([tool, "report", "--html=-", log], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and f"cannot write 'standard output': {os.strerror(errno.ENOSPC)}" in done.stderr.decode(), done


def check_refused(done, page, reason, before):
    assert done.returncode == 1 and f"cannot write '{page}': {reason}" in done.stderr.decode(), done
    assert [path.name for path in page.parent.iterdir()] == before
    assert all((page.parent / name).read_text() == "mine" for name in before)


def main():
    tool = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)
    print("seed", seed, flush=True)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_errors(tool, folder)
        check_full(tool, folder)
        check_cut(tool, folder)
        check_pipes(tool, folder)
        check_connections(tool, folder)
        check_flame(tool, folder)
        check_kept(tool, folder)
        check_damaged(tool, rng, folder)
        check_sizes(tool, rng, folder)
        check_threads(tool, rng, folder)
        check_counters(tool, rng, folder)
        for _ in range(ROUNDS):
            check_random(tool, rng, folder)


if __name__ == "__main__":
    main()
