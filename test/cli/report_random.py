#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Random programs, simulated, whose threads know where their time went: posixtrace report says
the same, to the nanosecond.

usage: report_random.py POSIXTRACE [FIRST_SEED]

Each simulated thread writes the events that it would record, and apart from them its truth: in
which state it was from when to when, each wait for a lock with the thread that held it, each pair.
Logs have context switches, or CPU times, or neither; some are looked at through a window.  Then
events are taken out between marks of a loss, and nothing that is said may contradict the truth.
"""

import bisect
import heapq
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

LOGS = 300
START = 1795255200000000000
CALLS = {  # of one thread alone: events before and after, kind, data before, data after
    "condition": ("cond_wait", "cond_woken", "<QQ", "<Qq"),
    "semaphore": ("sem_wait", "sem_taken", "<QQ", "<Qq"),
    "barrier": ("barrier_wait", "barrier_passed", "<QQ", "<Qq"),
    "I/O": ("io", "io_done", "<IiQ", "<Iiq"),
    "work": ("poll", "poll_done", "<IiQqQ", "<Iiq"),
    "futex": ("futex_wait", "futex_woken", "<QQ", "<Qq"),
    "thread": ("thread_join", "thread_joined", "<QQ", "<Qq"),
    "sleep": ("sleep", "sleep_done", "<QqQ", "<Qq"),
}
TYPES = {"lock": 20, "condition": 26, "semaphore": 29, "barrier": 32, "sleep": 34, "I/O": 42,
         "work": 44, "futex": 48, "thread": 50}
ERROR = 0.01  # of a percentile, as docs/report.md says


class Lock:
    def __init__(self, address):
        self.address, self.owner, self.queue = address, None, []
        self.held_by = None  # as the events say it


class Thread:
    def __init__(self, sim, pid, tid, name):
        self.sim, self.pid, self.tid, self.name = sim, pid, tid, name
        self.now = self.since = None
        self.state, self.truth, self.ran, self.stuck = "run", [], 0, None

    def emit(self, event, data=b""):
        self.sim.events.append((self.now, self.tid, self.pid, self.name, event, data))

    def become(self, state):
        """From now on; what was before is known."""
        if self.now > self.since:
            self.truth.append((self.state, self.since, self.now))
            if self.state == "run" or self.state[0] == "run":
                self.ran += self.now - self.since
        self.state, self.since = state, self.now

    def switch(self, event, state):
        if self.sim.switches:
            self.emit("posixtrace_switch_" + event, struct.pack("<I", self.tid % 2))
        self.become(state)


class Simulation:
    """Threads are generators that yield how long nothing happens to them."""

    def __init__(self, rng, mode):
        self.rng, self.switches, self.samples = rng, mode == "switches", mode == "samples"
        self.events, self.waits, self.pairs, self.calls, self.holds = [], [], [], {}, []
        self.locks = [Lock(0x1000 * (i + 1)) for i in range(rng.randint(1, 3))]
        self.count = rng.randint(1, 5)
        self.threads = [Thread(self, 50 + i % 2, 100 + i, f"t{i}") for i in range(self.count)]
        self.end = rng.randint(500, 3000) * self.count
        self.ready = []

    def long_calls(self, least):
        """The same program, of whose calls the log has those that took so long, at their ends."""
        calls = {before: (kind, after) for kind, (before, after, *_) in CALLS.items()}
        calls["mutex_lock"] = ("lock", "mutex_locked")
        kinds = {"posixtrace_" + after: kind for kind, after in calls.values()}
        left = {"posixtrace_" + name for name in calls} | {"posixtrace_mutex_unlock"}
        events = []
        for ns, tid, pid, name, event, data in self.events:
            if event in left:
                continue
            if event in kinds:
                kind = kinds[event]
                begin = [c[0] for c in self.calls[(tid, kind)] if c[1] == ns][0]
                if ns - begin < least:
                    continue
                event = "posixtrace_long_call"
                number = struct.unpack("<I", data[:4])[0] if kind in ("I/O", "work") else 2 ** 32 - 1
                thing = struct.unpack("<i", data[4:8])[0] if kind in ("I/O", "work") else \
                    struct.unpack("<Q", data[:8])[0]
                if kind in ("I/O", "work"):
                    events.append((ns, tid, pid, name, "posixtrace_descriptor",
                                   struct.pack("<iI", thing, 0) + b"/\0"))
                data = struct.pack("<IIqqqQ", TYPES[kind], number, thing, 0, ns - begin, 7)
            events.append((ns, tid, pid, name, event, data))
        self.events, self.least = events, least
        for th in self.threads:
            th.truth = [(self.without_short(th, s, b, e), b, e) for s, b, e in th.truth]
            th.stuck = None

    def without_short(self, th, state, begin, end):
        """The state of a time as that log can know it."""
        if isinstance(state, str):
            return state
        for first, last in self.calls.get((th.tid, state[1]), ()):
            if first <= begin and end <= last:
                return state if last - first >= self.least else \
                    "unnamed" if state[0] == "off" else "run"
        return "unknown" if state[0] == "off" or not self.switches else "run"

    def some(self, most=40):
        """Times of thread i are i modulo the number of threads, so no two events coincide."""
        return self.rng.randint(1, most) * self.count

    def wake(self, th, after):
        heapq.heappush(self.ready, (after, th.tid, th))

    def run(self):
        for i, th in enumerate(self.threads):
            th.now = th.since = START + self.some(100) + i
            th.script = self.live(th)
            self.wake(th, th.now)
        while self.ready:
            now, _, th = heapq.heappop(self.ready)
            if now > START + self.end:
                continue  # the log ends before
            th.now = now
            wait = next(th.script, None)
            if wait:
                self.wake(th, now + wait)
        self.events.sort(key=lambda e: e[0])
        for th in self.threads:  # in a wait that the log does not see the end of
            if not isinstance(th.state, str) and (th.state[0] == "off" or not self.switches):
                th.stuck = th.state[1]

    def live(self, th):
        actions = [self.works, self.is_preempted, self.calls_alone, self.locks_one, self.pairs_one,
                   self.waits_unnamed]
        if self.switches:
            th.emit("posixtrace_switch_in", struct.pack("<I", th.tid % 2))
            yield self.some(3)
            th.become("run")
        th.emit("posixtrace_thread_begin", struct.pack("<Q", th.tid))
        for _ in range(self.rng.randint(3, 40)):
            yield from self.rng.choice(actions)(th)
        yield self.some()
        th.become("run")
        th.emit("posixtrace_thread_end", struct.pack("<Q", th.tid))
        if self.switches:
            yield self.some(3)
            th.switch("out", "gone")

    def works(self, th):
        yield self.some()
        th.become("run")
        if self.samples:
            more = self.rng.choice((0, 0, 3, 50))
            low = max(0, th.ran - self.rng.randint(0, more))
            th.emit("posixtrace_cpu_time", struct.pack("<QQ", low, more))
        else:
            th.emit("user event")

    def off(self, th, event, state, most=60):
        th.switch(event, state)
        yield self.some(most)
        th.switch("in", "run" if isinstance(state, str) else ("run", state[1]))
        yield self.some(3)

    def is_preempted(self, th):
        yield self.some(5)
        th.become("run")
        yield from self.off(th, "preempted", "runnable")
        th.become("run")

    def waits_unnamed(self, th):
        yield self.some(5)
        yield from self.off(th, "out", "unnamed")
        th.become("run")

    def calls_alone(self, th):
        kind = self.rng.choice(list(CALLS))
        before, after, data, data_after = CALLS[kind]
        first = (self.rng.randrange(4), self.rng.randrange(5)) if "i" in data[:3] else (
            0 if kind == "sleep" else 0x90000 + 16 * self.rng.randrange(3),)
        rest = [7] * (len(data) - 1 - len(first))
        yield self.some(5)
        th.become("run")
        begin = th.now
        th.emit("posixtrace_" + before, struct.pack(data, *first, *rest))
        th.become(("run", kind))
        if self.rng.random() < 0.05:
            yield self.some(2)
            th.switch("out", ("off", kind))
            yield 10 * self.end
        yield self.some(3)
        if self.rng.random() < 0.7:
            yield from self.off(th, "out", ("off", kind))
        th.emit("posixtrace_" + after, struct.pack(data_after, *first, 0))
        th.become("run")
        self.calls.setdefault((th.tid, kind), []).append((begin, th.now))

    def locks_one(self, th):
        lock = self.rng.choice(self.locks)
        yield self.some(5)
        th.become("run")
        begin = th.now
        held = lock.held_by if lock.held_by and lock.held_by.pid == th.pid else None
        th.emit("posixtrace_mutex_lock", struct.pack("<QQ", lock.address, 0x400000 + th.tid))
        th.become(("run", "lock"))
        slept = False
        if lock.owner:
            lock.queue.append(th)
            yield self.some(1)
            slept = lock.owner is not th
            if slept:
                th.switch("out", ("off", "lock"))
            while lock.owner is not th:
                yield self.some(2)
            if slept:
                th.switch("in", ("run", "lock"))
        else:
            lock.owner = th
        yield self.some(2)
        th.emit("posixtrace_mutex_locked", struct.pack("<Qq", lock.address, 0))
        th.become("run")
        self.calls.setdefault((th.tid, "lock"), []).append((begin, th.now))
        since = [t for t in self.holds if t[0] == lock.address and t[1] == th.pid and t[2] >= begin]
        if held:
            seen = {held.tid}
        else:  # or one of those that had it meanwhile
            seen = {t[3] for t in since}
        self.waits.append((th.pid, lock.address, begin, th.now, th.tid, seen,
                           bool(seen) or (slept and self.switches)))
        lock.held_by = th
        for _ in range(self.rng.randint(0, 2)):
            yield from self.rng.choice([self.works, self.is_preempted, self.calls_alone])(th)
        yield self.some(3)
        th.become("run")
        th.emit("posixtrace_mutex_unlock", struct.pack("<QQ", lock.address, 0x400000))
        lock.held_by = None
        self.holds.append((lock.address, th.pid, th.now, th.tid))
        lock.owner = lock.queue.pop(0) if lock.queue else None

    def pairs_one(self, th):
        name = self.rng.choice("abc")
        yield self.some(5)
        th.become("run")
        begin = th.now
        th.emit(name + ":begin")
        for _ in range(self.rng.randint(0, 2)):
            yield from self.rng.choice([self.works, self.is_preempted, self.calls_alone])(th)
        yield self.some()
        th.become("run")
        th.emit(name + ":end")
        self.pairs.append((name, begin, th.now, th.tid))


# ---- the truth, as the report has to show it ----

def state_share(state, switches):
    """The share of a time in that state."""
    word, kind = (state, None) if isinstance(state, str) else state
    if switches:
        if word == "run":
            return "run_ns"
        return {"runnable": "runnable_ns", "unnamed": "other_waits_ns",
                "unknown": "unknown_ns"}.get(word, kind)
    return kind or "unknown_ns"


def clip(begin, end, window):
    return max(0, min(end, window[1]) - max(begin, window[0]))


def true_shares(sim, th, window):
    last = max(e[0] for e in sim.events if e[1] == th.tid)
    process_last = max(e[0] for e in sim.events if e[2] == th.pid)
    truth, shares = list(th.truth), {}
    known = truth[-1][2] if truth else min(e[0] for e in sim.events if e[1] == th.tid)
    if th.stuck and process_last > known:
        truth.append((("off", th.stuck), known, process_last))
    for state, begin, end in truth:
        share = state_share(state, sim.switches)
        end = min(end, max(last, process_last if th.stuck else last))
        shares[share] = shares.get(share, 0) + clip(begin, end, window)
    return shares


def shown_shares(row):
    shares = {key: row[key] for key in ("run_ns", "runnable_ns", "other_waits_ns", "unknown_ns")}
    shares.update(row["waiting_ns"])
    assert sum(shares.values()) == row["total_ns"], row
    return {key: value for key, value in shares.items() if value}


def percentile(values, percent):
    rank = max(1, math.ceil(percent / 100 * len(values) * (1 - 1e-15)))
    return sorted(values)[rank - 1]


def near(shown, true):
    return abs(shown - true) <= max(1, ERROR * true)


def check_values(row, values, longest):
    assert row["total_ns"] == sum(values) and row[longest] == max(values), (row, values)
    for key, percent in (("p50_ns", 50), ("p99_ns", 99), ("p99_9_ns", 99.9)):
        assert near(row[key], percentile(values, percent)), (row, key, values)


def within(items, window, begin, end):
    return [i for i in items if i[begin] >= window[0] and i[end] <= window[1]]


def check_locks(sim, report, window):
    waiting = sum(1 for th in sim.threads if th.stuck == "lock")
    assert sum(r["open"] for r in report["locks"]) >= waiting
    for lock in sim.locks:
        for pid in (50, 51):
            calls = within([w for w in sim.waits if w[:2] == (pid, lock.address)], window, 2, 3)
            waits = [w for w in calls if w[6]]
            rows = [r for r in report["locks"] if (r["pid"], r["object"]) == (pid, lock.address)]
            if not waits:
                assert all(r["waits"] == 0 and r["open"] for r in rows), (rows, calls)
                continue
            row = rows[0]
            assert (row["calls"], row["waits"]) == (len(calls), len(waits)), (row, calls)
            check_values(row, [w[3] - w[2] for w in waits], "longest_ns")
            one = [w for w in waits if w[2] == row["longest_at_ns"]][0]
            assert one[3] - one[2] == row["longest_ns"] and row["longest_tid"] == one[4]
            assert row.get("holder_tid") in (one[5] or {None}), (row, one)
            assert row["caller"] == 0x400000 + one[4], (row, one)
            assert not one[5] or row["holder_caller"] == 0x400000 + row["holder_tid"]


def check_contention(sim, report, window):
    """Rows of a lock and two threads add up to the lock; their holders had it."""
    shown, true = {}, {}
    for row in report["contention"]:
        key = row["pid"], row["object"], row["tid"]
        shown[key] = [a + b for a, b in zip(shown.get(key, (0, 0)), (row["waits"], row["total_ns"]))]
        waits = [w for w in sim.waits if w[:2] == key[:2] and w[4] == row["tid"] and w[2] == row["longest_at_ns"]]
        assert [w[3] - w[2] for w in waits] == [row["longest_ns"]], (row, waits)
        assert row["holder_tid"] in (waits[0][5] or {0}) | {0}, (row, waits)
        assert bool(row["holder_tid"]) == bool(waits[0][5]), (row, waits)
    for w in within([w for w in sim.waits if w[6]], window, 2, 3):
        key = w[0], w[1], w[4]
        true[key] = [a + b for a, b in zip(true.get(key, (0, 0)), (1, w[3] - w[2]))]
    assert shown == true, (shown, true)
    order = [row["total_ns"] for row in report["contention"]]
    assert order == sorted(order, reverse=True)


def check_sites(sim, report, window):
    """Each thread locks from a place of its own."""
    sites = {(r["pid"], r["caller"]): r for r in report["sites"] if r["kind"] == "lock"}
    waits = {}
    for wait in within([w for w in sim.waits if w[6]], window, 2, 3):
        waits.setdefault((wait[0], 0x400000 + wait[4]), []).append(wait[3] - wait[2])
    assert sites.keys() == waits.keys(), (sites, waits)
    for site, values in waits.items():
        assert sites[site]["waits"] == len(values), (sites[site], values)
        check_values(sites[site], values, "longest_ns")


def check_pairs(sim, report, window):
    for name in "abc":
        pairs = within([p for p in sim.pairs if p[0] == name], window, 1, 2)
        rows = [r for r in report["pairs"] if r["name"] == name]
        assert len(rows) == (1 if pairs else 0), (rows, pairs)
        if pairs:
            assert rows[0]["count"] == len(pairs)
            check_values(rows[0], [p[2] - p[1] for p in pairs], "max_ns")
            assert any(p[1] == rows[0]["max_at_ns"] and p[3] == rows[0]["max_tid"] and
                       p[2] - p[1] == rows[0]["max_ns"] for p in pairs)


def check_full(sim, report, window):
    for th in sim.threads:
        rows = [r for r in report["threads"] if r["tid"] == th.tid]
        shares = {k: v for k, v in true_shares(sim, th, window).items() if v}
        shown = shown_shares(rows[0]) if rows else {}
        if sim.samples:
            check_bounds(th, shown, shares, window)
        else:
            assert shown == shares, (th.tid, shown, shares)
    check_locks(sim, report, window)
    check_contention(sim, report, window)
    check_sites(sim, report, window)
    check_pairs(sim, report, window)


def outside_calls(th, window):
    """Time with a processor, and without one."""
    off = sum(clip(b, e, window) for s, b, e in th.truth if s in ("runnable", "unnamed"))
    return sum(clip(b, e, window) for s, b, e in th.truth if s == "run"), off


def check_bounds(th, shown, shares, window):
    """CPU times prove a part of the time that is unknown without them."""
    ran, off = outside_calls(th, window)
    assert sum(shown.values()) == sum(shares.values()), (shown, shares)
    assert shown.get("run_ns", 0) <= ran and shown.get("other_waits_ns", 0) <= off, (shown, ran)
    for key in shares:
        assert key == "unknown_ns" or shown[key] == shares[key], (shown, shares)


# ---- with losses ----

def lossy(sim, rng):
    """Takes events out between marks; returns events in order."""
    times = [e[0] for e in sim.events]
    events, cut = list(sim.events), []
    for _ in range(rng.randint(1, 4)):
        begin = rng.randrange(len(times))
        end = min(len(times) - 1, begin + rng.randint(0, rng.choice((12, 12, 100))))
        cut.append((times[begin], times[end]))
    cut.sort()
    merged = []
    for begin, end in cut:
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([begin, end])
    events = [e for e in events if not any(b <= e[0] <= t for b, t in merged)]
    for begin, end in merged:
        events.append((begin, 0, 50, "", "posix_trace_overflow", b""))
        events.append((end, 0, 50, "", "posix_trace_resume", b""))
    return sorted(events, key=lambda e: e[0])


def had(sim, wait):
    """Threads that had the lock in a wait."""
    return wait[5] | {t[3] for t in sim.holds if t[:2] == (wait[1], wait[0]) and
                      wait[2] <= t[2] <= wait[3]}


def check_long(sim, report):
    """Threads, and how often things were waited for; which thread held a lock is not in the log."""
    everything = (-math.inf, math.inf)
    for row in report["threads"]:
        th = [t for t in sim.threads if t.tid == row["tid"]][0]
        own = max(e[0] for e in sim.events if e[1] == th.tid and "switch" not in e[4])
        th.truth = [("unknown" if s == "unnamed" and b >= own else s, b, e)
                    for s, b, e in th.truth]
        shares = {k: v for k, v in true_shares(sim, th, everything).items() if v}
        assert shown_shares(row) == shares, (th.tid, shown_shares(row), shares)
    waits = [e - b for calls in sim.calls.values() for b, e in calls if e - b >= sim.least]
    rows = report["locks"] + report["waits"] + report["descriptors"] + report["work"]
    assert sum(r["waits"] for r in rows) == len(waits)
    assert sum(r["total_ns"] for r in rows) == sum(waits)


def check_lossy(sim, report, locks=True):
    everything = (-math.inf, math.inf)
    for row in report["threads"]:
        th = [t for t in sim.threads if t.tid == row["tid"]][0]
        if sim.switches and row["waiting_is"] != "off the processor":
            assert row["unknown_ns"] == row["total_ns"], row
            continue
        true = true_shares(sim, th, everything)
        if sim.samples:
            true["run_ns"], true["other_waits_ns"] = outside_calls(th, everything)
        for key, value in shown_shares(row).items():
            assert key == "unknown_ns" or value <= true.get(key, 0), (row, key, true)
    for row in report["locks"] if locks else ():
        waits = [w for w in sim.waits if w[:2] == (row["pid"], row["object"]) and w[6]]
        assert row["waits"] <= len(waits) and row["total_ns"] <= sum(w[3] - w[2] for w in waits)
        if row["waits"]:
            one = [w for w in waits if w[2] == row["longest_at_ns"]][0]
            assert (one[3] - one[2], one[4]) == (row["longest_ns"], row["longest_tid"])
            assert row.get("holder_tid") in {None, *had(sim, one)}, (row, one)
    for row in report["pairs"]:
        pairs = [p for p in sim.pairs if p[0] == row["name"]]
        assert row["count"] <= len(pairs)
        assert not row["count"] or any(p[1] == row["max_at_ns"] and p[2] - p[1] == row["max_ns"]
                                       for p in pairs), (row, pairs)


# ---- the tool ----

def write(events, path):
    with path.open("w") as to:
        for ns, tid, pid, name, event, data in events:
            to.write(json.dumps({"ts": ns, "pid": pid, "tid": tid, "thread": name, "event": event,
                                 "data": data.hex()}) + "\n")


def run(tool, *arguments):
    done = subprocess.run([tool, *arguments], capture_output=True, timeout=100)
    if done.returncode != 0:
        sys.exit(f"posixtrace {' '.join(map(str, arguments))}: {done.returncode}\n" +
                 done.stderr.decode(errors="replace"))
    return done.stdout


def report(tool, folder, events, *options):
    write(events, folder / "log.jsonl")
    run(tool, "import", "--force", "--from=jsonl", folder / "log.jsonl", folder / "log.ptl")
    return json.loads(run(tool, "report", "--format=json", *options, folder / "log.ptl"))


def one_log(tool, folder, seed):
    rng = random.Random(seed)
    sim = Simulation(rng, rng.choice(("switches", "switches", "samples", "neither")))
    sim.run()
    everything = (-math.inf, math.inf)
    check_full(sim, report(tool, folder, sim.events), everything)
    if seed % 3 == 0:
        times = [e[0] for e in sim.events]
        window = sorted((rng.choice(times) + rng.randint(-9, 9), rng.choice(times)))
        check_full(sim, report(tool, folder, sim.events, f"--from={window[0]}",
                               f"--to={window[1]}"), window)
    check_lossy(sim, report(tool, folder, lossy(sim, rng)))
    if sim.samples or seed % 2:
        return
    sim.long_calls(rng.randint(20, 300))
    if not any(e[4] == "posixtrace_long_call" for e in sim.events):
        return  # as a log without calls
    check_long(sim, report(tool, folder, sim.events))
    events = lossy(sim, rng)
    if any(e[4] == "posixtrace_long_call" for e in events):
        check_lossy(sim, report(tool, folder, events), False)


def main(one, logs):
    """One log for each seed."""
    tool, first = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    logs = logs if len(sys.argv) < 4 else int(sys.argv[3])
    with tempfile.TemporaryDirectory() as name:
        os.environ["POSIXTRACE_DIR"] = name
        for seed in range(first, first + logs):
            try:
                one(tool, pathlib.Path(name), seed)
            except AssertionError:
                print(f"seed {seed}:", file=sys.stderr)
                raise
    print(f"{logs} random programs")
    return 0


if __name__ == "__main__":
    sys.exit(main(one_log, LOGS))
