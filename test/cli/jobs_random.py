#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Random programs, simulated, whose threads know their jobs and where the time of each went:
posixtrace metrics --job and --load say the same, to the nanosecond.

usage: jobs_random.py POSIXTRACE [FIRST_SEED [LOGS]]

The programs are those of report_random.py, with due times, time-outs and a timerfd.  What a job is
follows docs/metrics.md, not the program: jobs are made from the calls that a thread knows of.  Then
events are taken out between marks of a loss: each job that is shown all the same is one of the true
ones, and no share but unknown is larger than it was.
"""

import json
import math
import random
import struct
import sys

import report_random
from report_random import clip, lossy, main, run, write

LOGS = 120
HANDLER = 1000000  # ns that the rest of a sleep may be late
TIMERFD = 1  # the descriptor
KINDS = ("lock", "condition", "semaphore", "barrier", "sleep", "io", "work", "file_lock", "futex",
         "thread", "child", "signal")
KEYS = {"I/O": "io"}
RULES = ("sleep", "timerfd", "poll", "timed", "a:begin..a:end", "b:begin..c:end")


class Program(report_random.Simulation):
    """Calls have due times, time-outs, results; each thread notes them."""

    def __init__(self, rng, mode):
        super().__init__(rng, mode)
        self.notes, self.named = {}, set()

    def arguments(self, th, kind):
        """Data before and after the call, and a note of it."""
        rng = self.rng
        if kind == "sleep":
            due = th.now + rng.choice((-50, 0, 5, 20, 200, 2000)) * self.count + rng.randint(-3, 3)
            return struct.pack("<QqQ", 0, due, 7), struct.pack("<Qq", 0, due), due
        if kind == "I/O":
            call, fd, result = rng.choice((0, 0, 1)), rng.randrange(3), rng.choice((8, 8, -11))
            return struct.pack("<IiQ", call, fd, 7), struct.pack("<Iiq", call, fd, result), \
                (call, fd, result)
        if kind == "work":
            timeout, result = rng.choice((-1, 0, 10, 100, 3000)), rng.choice((0, 1, -4))
            return struct.pack("<IiQqQ", 0, -1, 1, timeout, 7), \
                struct.pack("<Iiq", 0, -1, result), (timeout, result)
        thing = 0x90000 + 16 * rng.randrange(2)
        error = rng.choice((0, 110)) if kind in ("condition", "semaphore", "futex") else 0
        return struct.pack("<QQ", thing, 7), struct.pack("<Qq", thing, error), (kind, thing, error)

    def calls_alone(self, th):
        kind = self.rng.choice(list(report_random.CALLS))
        before, after, _, _ = report_random.CALLS[kind]
        yield self.some(5)
        th.become("run")
        data, data_after, note = self.arguments(th, kind)
        if kind == "I/O" and (th.pid, note[1]) not in self.named:
            self.named.add((th.pid, note[1]))
            th.emit("posixtrace_descriptor", struct.pack("<iI", note[1], 8 if note[1] == TIMERFD
                                                         else 1) + b"x\0")
        begin = th.now
        th.emit("posixtrace_" + before, data)
        th.become(("run", kind))
        note = [kind, begin, None, note]
        self.notes.setdefault(th.tid, []).append(note)
        if self.rng.random() < 0.03:
            yield self.some(2)
            th.switch("out", ("off", kind))
            yield 10 * self.end
        yield self.some(3)
        for _ in range(self.rng.choice((0, 1, 1, 1, 2))):
            yield from self.off(th, *self.rng.choice((("out", ("off", kind)),
                                                      ("out", ("off", kind)),
                                                      ("preempted", ("ready", kind)))))
        th.emit("posixtrace_" + after, data_after)
        th.become("run")
        note[2] = th.now
        self.calls.setdefault((th.tid, kind), []).append((begin, th.now))


# ---- the truth ----

def continues(last, due, ns):
    """Is a sleep the rest of the one before, which a signal has ended?"""
    if not last or last["due"] <= last["seen"]:
        return False
    return due - last["due"] >= -HANDLER and due - ns <= last["due"] - last["seen"] + HANDLER and \
        due - ns < last["due"] - last["from"]


def note_due(last, due, ns):
    if not last or last["due"] != due:
        last = {"due": due, "from": ns}
    return {**last, "seen": ns}


def sleep_jobs(notes):
    """(release, return, end, begin of the call) of each."""
    job = last = None
    for kind, begin, end, due in notes:
        if kind != "sleep":
            continue
        if job and not continues(last, due, begin):
            yield (*job[:2], begin, job[2])
        last = note_due(last, due, begin)
        if end is None:
            return
        job = (due if due <= end else end, end, begin if due <= end else None)
        last = note_due(last, due, end)


def poll_jobs(notes):
    job = None
    for kind, begin, end, note in notes:
        if kind != "work" or note[0] == 0:
            continue
        timeout, result = note
        if job:
            yield (*job[:2], begin, job[2])
        job = None
        if end is None or result < 0:
            continue
        due = begin + timeout
        on_time = result == 0 and timeout > 0 and due <= end
        job = (due if on_time else end, end, begin if on_time else None)


def timerfd_jobs(notes):
    job = None
    for kind, begin, end, note in notes:
        if kind == "work" and note[0] != 0 and job:
            yield (job, job, begin, None)
            job = None
        if kind != "I/O" or note[1] != TIMERFD or note[0] != 0:
            continue
        if job and note[2] != -11:
            yield (job, job, begin, None)
            job = None
        if end is not None and note[2] > 0 and not job:
            job = end


def timed_jobs(notes):
    jobs = {}
    for kind, begin, end, note in notes:
        if kind not in ("condition", "semaphore", "futex"):
            continue
        if note[:2] in jobs:
            release = jobs.pop(note[:2])
            yield (release, release, begin, None, note[:2])
        if end is not None and note[2]:
            jobs[note[:2]] = end


def pair_jobs(sim, tid, first, last):
    job = None
    for ns, who, _, _, event, _ in sim.events:
        if who != tid:
            continue
        if event == last and job is not None:
            yield (job, job, ns, None)
            job = None
        if event == first and job is None:
            job = ns


def shares(sim, th, release, woken, end, call):
    """Of one job; call: when that began which was due at the release."""
    out = dict.fromkeys(("late", "wakeup", "run", "system", "runnable", "other_waits", "unknown",
                         *KINDS), 0)
    if call is not None and release < call:
        out["late"] = call - release
        release = call
    for state, begin, to in th.truth:
        for part, waking in (((begin, min(to, woken)), call is not None),
                             ((max(begin, woken), to), False)):
            time = clip(*part, (release, end))
            if time <= 0:
                continue
            word, kind = (state, None) if isinstance(state, str) else state
            if sim.switches:
                key = {"run": "system" if kind else "run", "unnamed": "other_waits",
                       "ready": "runnable",
                       "off": "wakeup" if waking else KEYS.get(kind, kind)}.get(word, word)
            else:
                key = ("wakeup" if waking else KEYS.get(kind, kind)) if kind else "unknown"
            out[key] += time
    return out


def true_jobs(sim):
    """By rule, thread, release and end."""
    jobs = {}
    for th in sim.threads:
        notes = sim.notes.get(th.tid, ())
        found = {"sleep": sleep_jobs(notes), "timerfd": timerfd_jobs(notes),
                 "poll": poll_jobs(notes), "timed": timed_jobs(notes),
                 "a:begin..a:end": pair_jobs(sim, th.tid, "a:begin", "a:end"),
                 "b:begin..c:end": pair_jobs(sim, th.tid, "b:begin", "c:end")}
        for rule in RULES:
            befores = {}
            for release, woken, end, call, *thing in found[rule]:
                left = [e for e in sim.events if e[1] == th.tid and e[4] in (
                    "posixtrace_switch_out", "posixtrace_switch_preempted") and
                    max(release, call or 0) <= e[0] <= end]
                jobs[(rule, th.tid, release, end)] = {
                    "woken_ns": woken, "due": call is not None, "call": call, "before": befores.get(str(thing)),
                    "shares": shares(sim, th, release, woken, end, call),
                    "switches": len(left),
                    "preemptions": sum(e[4].endswith("preempted") for e in left)}
                befores[str(thing)] = release
    return jobs


# ---- the tool ----

def options_of(folder):
    """--job for the rules whose events the log has."""
    text = (folder / "log.jsonl").read_text()
    return [f"--job={rule}" for rule in RULES
            if all(f'"{name}"' in text for name in rule.split("..") if ":" in name)]


def log_of(tool, folder, events):
    write(events, folder / "log.jsonl")
    run(tool, "import", "--force", "--from=jsonl", folder / "log.jsonl", folder / "log.ptl")


def metrics(tool, folder, *options):
    return run(tool, "metrics", *options, folder / "log.ptl").decode()


def shown_jobs(tool, folder, *options):
    text = metrics(tool, folder, *options_of(folder), "--format=jsonl", *options)
    jobs = [json.loads(line) for line in text.split("\n") if line]
    for job in jobs:
        assert job["response_ns"] == job["end_ns"] - job["begin_ns"]
        assert sum(shown_shares(job).values()) == job["response_ns"], job
    return {(j["job"], j["tid"], j["begin_ns"], j["end_ns"]): j for j in jobs}


def shown_shares(job):
    return {key: job[key + "_ns"] for key in ("late", "wakeup", "run", "system", "runnable",
                                              "other_waits", "unknown", *KINDS)}


def check_full(sim, shown, true):
    assert shown.keys() == true.keys(), (shown.keys() - true.keys(), true.keys() - shown.keys())
    for key, job in shown.items():
        expected = true[key]
        assert shown_shares(job) == expected["shares"], (key, shown_shares(job), expected)
        assert job["due"] == expected["due"] and job["woken_ns"] == expected["woken_ns"], (key, job)
        if sim.switches:
            assert (job["switches"], job["preemptions"]) == (
                expected["switches"], expected["preemptions"]), (key, job, expected)
        if expected["before"] is not None:
            assert job["period_ns"] == key[2] - expected["before"], (key, job)


def check_kept(events, shown, true):
    """Jobs without a loss from the call that they are released in to their end are shown."""
    marks = [e[0] for e in events if e[4] in ("posix_trace_overflow", "posix_trace_resume")]
    for key, job in true.items():
        begin = job["call"] if job["due"] else key[2] if key[0] == "timed" else None
        if begin is None or any(min(begin, key[2]) <= mark <= key[3] for mark in marks):
            continue
        if any(marks[i] <= key[3] and begin <= marks[i + 1] for i in range(0, len(marks), 2)):
            continue
        assert key in shown, (key, job)


def check_lossy(sim, shown, true):
    for key, job in shown.items():
        assert key in true, (key, job)
        if sim.switches and not job["by_switches"]:
            continue
        for name, value in shown_shares(job).items():
            assert name == "unknown" or value <= true[key]["shares"][name], (key, name, job)


def check_rows(tool, folder, true):
    """The sums over threads are those of the jobs."""
    report = json.loads(metrics(tool, folder, *options_of(folder),
                                "--format=json", "--worst=3", "--percentiles=50"))
    for rule in report["jobs"]:
        jobs = {k: j for k, j in true.items() if k[0] == rule["job"]}
        assert rule["jobs"] == len(jobs)
        worst = sorted((k[3] - k[2] for k in jobs), reverse=True)[:3]
        assert [j["response_ns"] for j in rule["worst"]] == worst
        for row in rule["threads"]:
            mine = {k: j for k, j in jobs.items() if k[1] == row["tid"]}
            assert row["jobs"] == len(mine) and row["max_ns"] == max(k[3] - k[2] for k in mine)
            for name in ("run", "unknown", "sleep", "late"):
                assert row[name + "_ns"] == sum(j["shares"][name] for j in mine.values())
            delays = [j["woken_ns"] - k[2] for k, j in mine.items() if j["due"]]
            assert row.get("jitter_ns") == (max(delays) - min(delays) if delays else None), row


def check_load(tool, folder, sim, interval, known):
    load = json.loads(metrics(tool, folder, f"--load={interval}ns", "--format=json"))["load"]
    for row in load["threads"]:
        th = [t for t in sim.threads if t.tid == row["tid"]][0]
        last = max(e[0] for e in sim.events if e[1] == th.tid)
        for i, (ran, unknown) in enumerate(zip(row["run_ns"], row["unknown_ns"])):
            begin = load["begin_ns"] + i * interval
            true = sum(clip(b, min(e, last), (begin, begin + interval)) for s, b, e in th.truth
                       if s == "run" or s[0] == "run")
            assert ran <= true and (not known or (ran == true and not unknown)), (row, i, true)
            assert true <= ran + unknown or not known, (row, i, true)


def one_log(tool, folder, seed):
    rng = random.Random(seed)
    sim = Program(rng, rng.choice(("switches", "switches", "samples", "neither")))
    sim.run()
    true = true_jobs(sim)
    log_of(tool, folder, sim.events)
    check_full(sim, shown_jobs(tool, folder), true)
    check_rows(tool, folder, true)
    if sim.switches:
        check_load(tool, folder, sim, rng.randint(20, 2000), True)
    if seed % 3 == 0:
        times = [e[0] for e in sim.events]
        window = sorted((rng.choice(times), rng.choice(times)))
        within = {k: j for k, j in true.items() if window[0] <= k[2] and k[3] <= window[1]}
        check_full(sim, shown_jobs(tool, folder, f"--from={window[0]}", f"--to={window[1]}"),
                   within)
    events = lossy(sim, rng)
    log_of(tool, folder, events)
    shown = shown_jobs(tool, folder)
    check_lossy(sim, shown, true)
    check_kept(events, shown, true)
    if sim.switches:
        check_load(tool, folder, sim, rng.randint(20, 2000), False)


if __name__ == "__main__":
    sys.exit(main(one_log, LOGS))
