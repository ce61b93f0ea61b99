#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Best Trace Format against a reader and state machines of its own.

usage: btf.py PART POSIXTRACE [SEED]

  samples   files of others: as many events as were counted in them, and back again
  export    random schedules: what the file says is what the log said, in each version
  instances random lives of instances, and lines after their ends: threads for those alive only
  machines  random lines: the check finds what the tables here find
  single    one wrong line in a long file: a few findings; the last of two versions counts
  versions  a file comes back with the version that it had
  order     lines in any order: the log of the sorted ones, and how many were out of order
  hostile   damaged and excessive files: a message, no crash, bounded memory
"""

import collections
import gzip
import json
import os
import pathlib
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile

SKIP = 77
BASE = 1795255200000000000
VERSIONS = ("2.1.5", "2.2.1", "2.3.0")

# Figures 3, 5, 6 of version 2.1.5; 2-4, 2-5, 2-6 of version 2.3.0.
PROCESS = {
    "activate": [("TERMINATED", "ACTIVE")], "start": [("ACTIVE", "RUNNING")],
    "preempt": [("RUNNING", "READY")], "resume": [("READY", "RUNNING")],
    "terminate": [("RUNNING", "TERMINATED")], "wait": [("RUNNING", "WAITING")],
    "release": [("WAITING", "READY")], "poll": [("RUNNING", "POLLING")],
    "run": [("POLLING", "RUNNING")], "park": [("POLLING", "PARKING")],
    "poll_parking": [("PARKING", "POLLING")], "release_parking": [("PARKING", "READY")],
}
RUNNABLE = {
    "start": [("TERMINATED", "RUNNING")], "suspend": [("RUNNING", "SUSPENDED")],
    "resume": [("SUSPENDED", "RUNNING")], "terminate": [("RUNNING", "TERMINATED")],
}
SEMAPHORE = {
    "used": [("FREE", "USED"), ("USED", "USED")], "free": [("USED", "FREE")],
    "lock": [("FREE", "FULL")], "lock_used": [("USED", "FULL")], "unlock": [("FULL", "FREE")],
    "unlock_full": [("FULL", "USED")], "overfull": [("FULL", "OVERFULL"), ("OVERFULL", "OVERFULL")],
    "full": [("OVERFULL", "FULL")],
}
ON_CORE = {"start", "resume"}
OFF_CORE = {"preempt", "wait", "terminate"}

Line = collections.namedtuple("Line", "time source si type target ti action note")


def need(condition, *what):
    if not condition:
        sys.exit("not so: " + " ".join(str(w) for w in what))


def run(tool, *arguments, data=None, status=(0,)):
    done = subprocess.run([tool, *map(str, arguments)], input=data, capture_output=True, check=False,
                          preexec_fn=limit_memory)
    if done.returncode not in status:
        sys.exit(f"{arguments}: status {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def limit_memory():
    if "ASAN_OPTIONS" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def read(text):
    """Parameters and lines of a file; blanks are not expected in ours."""
    parameters, lines = {}, []
    for row in text.splitlines():
        if row.startswith("# "):
            continue
        if row.startswith("#"):
            name, _, value = row[1:].partition(" ")
            parameters[name.lower()] = value
            continue
        field = row.split(",", 7)
        need(len(field) in (7, 8), "fields of", row)
        lines.append(Line(int(field[0]), field[1], int(field[2]), field[3], field[4], int(field[5]),
                          field[6], field[7] if len(field) == 8 else ""))
    return parameters, lines


# ---- samples ----

def samples(tool, folder, _):
    there = pathlib.Path(os.environ.get("POSIXTRACE_SAMPLES", "")) / "btf"
    if not there.is_dir():
        print(f"no samples in {there}")
        return SKIP
    counts = {"app4mc-example1_task_only_short.btf": 16, "freertos-example.btf": 926,
              "freertos-kph-example.btf.gz": 3468, "freertos-kph-example-2cores.btf.gz": 9052}
    for name, count in counts.items():
        raw = (there / name).read_bytes()
        raw = gzip.decompress(raw) if name.endswith(".gz") else raw
        (folder / "in.btf").write_bytes(raw)
        run(tool, "import", "--force", "--from=btf", folder / "in.btf", folder / "x.ptl")
        events = [json.loads(row)["event"] for row in
                  run(tool, "print", "--format=jsonl", folder / "x.ptl")[0].splitlines()]
        found = sum(e.startswith("btf:") and e != "btf:parameter" for e in events)
        need(found == count, name, "has", found, "events")
        again = read(run(tool, "export", "--to=btf", folder / "x.ptl", "-")[0])[1]
        scale = 1 if b"#timeScale ns" in raw else 1000
        first = read(raw.decode())[1]
        need([l._replace(time=l.time * scale) for l in first] == again, name, "comes back otherwise")
        text, _ = run(tool, "btf", "check", "--from-start", folder / "in.btf", status=(0, 1))
        if name.startswith("freertos-example"):
            need(text.count("preempt while TERMINATED") == 10, "preempt while terminated")
            need("is T since line" in text, "a task as source")
        if name.startswith("app4mc"):
            text, _ = run(tool, "btf", "check", folder / "in.btf")
            need("no violation" in text, text)
        out, _ = run(tool, "metrics", "--metric=Preemption", "--stats", folder / "x.ptl")
        need("Preemption" in out, out)
    for path in (there / "freertos-kph-tiny").iterdir():
        run(tool, "import", "--force", "--from=btf", path, folder / "x.ptl")
    return 0


# ---- export ----

class Schedule:
    """Threads on two processors that lock, sleep, call and end; as events of a log."""

    def __init__(self, rng):
        self.rng, self.now, self.rows = rng, BASE + rng.randrange(10 ** 9), []
        self.threads = list(range(11, 11 + rng.randint(2, 6)))
        self.cpu, self.stack = {}, collections.defaultdict(list)
        self.owner, self.pending = {}, {}
        self.intervals = collections.defaultdict(list)

    def emit(self, tid, event, data=b""):
        self.now += self.rng.choice((0, 1, 7, 1000))
        self.rows.append(json.dumps({"ts": self.now, "pid": 5, "tid": tid, "thread": f"w{tid}, x",
                                     "event": event, "data": data.hex()}))

    def switch_in(self, tid):
        cpu = self.rng.choice([c for c in (0, 1) if c not in self.cpu.values()])
        self.cpu[tid] = cpu
        self.emit(tid, "posixtrace_switch_in", struct.pack("<I", cpu))
        self.intervals[tid].append([self.now])

    def switch_out(self, tid, preempted):
        cpu = self.cpu.pop(tid)
        self.emit(tid, "posixtrace_switch_preempted" if preempted else "posixtrace_switch_out",
                  struct.pack("<I", cpu))
        self.intervals[tid][-1].append(self.now)

    def act(self, tid):
        rng, stack = self.rng, self.stack[tid]
        kind = rng.randrange(10)
        if kind < 2:
            self.switch_out(tid, kind == 0)
        elif kind < 4 and len(stack) < 6:
            name = rng.choice(("job", "part, one", "deep"))
            stack.append(name)
            self.emit(tid, name + ":begin", b"x" * rng.randrange(3))
        elif kind < 6 and stack:
            self.emit(tid, stack.pop() + ":end")
        elif kind == 6:
            self.lock(tid, rng.choice((16, 32, 48)))
        elif kind == 7:
            self.unlock(tid, rng.choice(("unlock", "unlock", "condition", "semaphore")))
        elif kind == 8:
            self.emit(tid, "value", struct.pack("<H", rng.randrange(65536)))
        else:
            self.emit(tid, "mark")

    def lock(self, tid, o):
        """At once, or given up, or after others; then it leaves its processor."""
        if self.owner.get(o) == tid:
            return
        self.emit(tid, "posixtrace_mutex_lock", struct.pack("<Q", o))
        # a thread that has a lock does not wait for another: no two wait for each other
        if o not in self.owner or tid in self.owner.values() or self.rng.random() < 0.3:
            error = 16 if o in self.owner else 0
            self.owner.setdefault(o, tid)
            self.emit(tid, "posixtrace_mutex_locked", struct.pack("<Qq", o, error))
        else:
            self.pending[tid] = (o, "posixtrace_mutex_locked")
            self.switch_out(tid, False)

    def unlock(self, tid, how):
        mine = [o for o, owner in self.owner.items() if owner == tid]
        if how == "semaphore":
            self.emit(tid, "posixtrace_sem_post", struct.pack("<Q", 64))
            self.emit(tid, "posixtrace_sem_wait", struct.pack("<Q", 64))
            self.emit(tid, "posixtrace_sem_taken", struct.pack("<Qq", 64, self.rng.choice((0, 11))))
        elif len(mine) == 1 and how == "condition":
            self.emit(tid, "posixtrace_cond_wait", struct.pack("<Q", 80))
            self.emit(tid, "posixtrace_mutex_unlock", struct.pack("<Q", mine[0]))
            del self.owner[mine[0]]
            self.pending[tid] = (mine[0], "posixtrace_cond_woken")
            self.switch_out(tid, False)
        elif mine:
            del self.owner[mine[0]]
            self.emit(tid, "posixtrace_mutex_unlock", struct.pack("<Q", mine[0]))

    def goes_on(self, tid):
        o, event = self.pending.pop(tid)
        self.owner[o] = tid
        self.emit(tid, "posixtrace_mutex_locked", struct.pack("<Qq", o, 0))
        if event == "posixtrace_cond_woken":
            self.emit(tid, event, struct.pack("<Qq", 80, 0))

    def make(self, events):
        while len(self.rows) < events:
            idle = [t for t in self.threads if t not in self.cpu and
                    self.pending.get(t, (0,))[0] not in self.owner]
            if len(self.cpu) < 2 and idle and (self.rng.random() < 0.5 or not self.cpu):
                tid = self.rng.choice(idle)
                self.switch_in(tid)
                if tid in self.pending:
                    self.goes_on(tid)
            elif self.cpu:
                self.act(self.rng.choice(list(self.cpu)))
        for tid in list(self.cpu):
            self.emit(tid, "posixtrace_thread_end", struct.pack("<Q", tid))
            self.intervals[tid][-1].append(self.now)
            self.emit(tid, "posixtrace_switch_out", struct.pack("<I", self.cpu.pop(tid)))
        return "\n".join(self.rows) + "\n"


def follow(lines, version):
    """Every line through the machines here; intervals on cores by task."""
    state, cores, stacks = {}, {}, collections.defaultdict(list)
    counters, intervals = {}, collections.defaultdict(list)
    last = 0
    for l in lines:
        need(l.time >= last, "time in", l)
        last = l.time
        key = (l.type, l.target, l.ti)
        if l.type in ("T", "R", "SEM"):
            ways = {"T": PROCESS, "R": RUNNABLE, "SEM": SEMAPHORE}[l.type].get(l.action)
            if ways is None:
                need(l.type == "SEM" and l.action in
                     ("requestsemaphore", "increment", "assigned", "waiting", "released", "decrement",
                      "ready"), "action of", l)
                if l.action == "ready":
                    need(version == "2.1.5", l)
                    state[key] = "FREE"
                continue
            was = state.get(key, "FREE" if l.type == "SEM" else "TERMINATED")
            to = dict(ways).get(was)
            need(to, was, "before", l)
            state[key] = to
        if l.action in ("activate", "trigger") or (l.type == "R" and l.action == "start"):
            counter = (l.type, l.target)
            need(l.ti == counters.get(counter, -1) + 1, "instance of", l)
            counters[counter] = l.ti
        if l.type == "T" and l.action in ON_CORE:
            need(cores.get(l.source) is None, l.source, "is taken at", l)
            cores[l.source] = l.target
            intervals[l.target].append([l.time])
        if l.type == "T" and l.action in OFF_CORE:
            need(cores.get(l.source) == l.target, l.source, "is not that of", l)
            cores[l.source] = None
            intervals[l.target][-1].append(l.time)
            need(l.action != "terminate" or not stacks[l.target], "runnables at", l)
            need(all(state[("R",) + r] == "SUSPENDED" for r in stacks[l.target]), "runnables at", l)
        if l.type == "R":
            need(state[("T", l.source, l.si)] == "RUNNING", "process of", l)
            if l.action == "start":
                stacks[l.source].append((l.target, l.ti))
            elif l.action == "terminate":
                need(stacks[l.source].pop() == (l.target, l.ti), "nesting of", l)
    return intervals


def measured(tool, log):
    """Preemptions by thread's number in its order of appearance."""
    out, _ = run(tool, "metrics", "--metric=Preemption", "--format=csv", log)
    found = collections.defaultdict(list)
    for row in out.splitlines()[1:]:
        field = row.split(",")
        found[field[1]].append(int(field[4]))
    return sorted(map(tuple, found.values()))


def export(tool, folder, rng):
    for _ in range(5):
        schedule = Schedule(rng)
        text = schedule.make(rng.choice((20, 300, 2000)))
        log, back, btf = folder / "a.ptl", folder / "b.ptl", folder / "a.btf"
        run(tool, "import", "--force", "--from=jsonl", "-", log, data=text.encode())
        rows = [json.loads(row) for row in text.split("\n") if row]
        count = collections.Counter(row["event"] for row in rows)
        paired = {n for n in ("job", "part, one", "deep") if count[n + ":begin"] and count[n + ":end"]}
        for version in VERSIONS:
            _, err = run(tool, "export", "--to=btf", "--force", f"--version={version}", log, btf)
            need("could not" not in err, err)
            parameters, lines = read(btf.read_text())
            need(parameters["version"] == version and parameters["timescale"] == "ns", parameters)
            start = BASE // 10 ** 9 * 10 ** 9 + (rows[0]["ts"] // 10 ** 9 - BASE // 10 ** 9) * 10 ** 9
            intervals = follow(lines, version)
            for tid, known in schedule.intervals.items():
                task = next(t for t in intervals if t.endswith(f".{tid}"))
                need([[a + start for a in i] for i in intervals[task]] == known, "cores of", task)
            starts = collections.Counter(l.target for l in lines if (l.type, l.action) == ("R", "start"))
            for name in paired:
                need(starts[name.replace(",", "_")] == count[name + ":begin"], "starts of", name)
            values = [l.note for l in lines if l.type == "SIG" and l.target == "value"]
            need(values == ["0x" + row["data"] for row in rows if row["event"] == "value"], "values")
            marks = sum(l.type == "STI" and l.target == "mark" for l in lines)
            need(marks == count["mark"], "marks")
            assigned = sum(l.action == "assigned" for l in lines)
            had = [row for row in rows if row["event"] in
                   ("posixtrace_mutex_locked", "posixtrace_sem_taken") and row["data"][16:] == "00" * 8]
            need(assigned == len(had), "locks")
            waits = [l.target for l in lines if l.action in ("wait_event", "clear_event")]
            need(len(waits) == count["posixtrace_cond_wait"] + count["posixtrace_cond_woken"], "waits")
            out, _ = run(tool, "btf", "check", "--from-start", btf)
            need("no violation" in out, out)
            run(tool, "import", "--force", "--from=btf", btf, back)
            need(measured(tool, log) == measured(tool, back), "preemptions of", version)
            out, _ = run(tool, "export", "--to=btf", f"--version={version}", "--exclude=SEM",
                         "--exclude=R", log, "-")
            need(read(out)[1] == [l for l in lines if l.type not in ("SEM", "R")], "exclude")
    return 0


# ---- instances ----

NOTED = ("SCHED,SCHED0,-1,processterminate", "SIG,Speed,0,write,5", "SEM,Lock,0,released")


def lives(rng, name, numbers, overlap):
    """Lines of a process in rounds, each with the living instance that it is of, or None."""
    alive, lines, most, ended = [], [], 0, []
    for number in numbers:
        while len(alive) >= overlap or (alive and rng.random() < 0.4):
            k = alive.pop(rng.randrange(len(alive)))
            lines.append((f"C0,0,T,{name},{k},terminate", k))
            ended.append(k)
        alive.append(number)
        most = max(most, len(alive))
        lines += [(f"STI_{name},{number},T,{name},{number},activate", number),
                  (f"C0,0,T,{name},{number},start", number)]
        for _ in range(rng.randrange(4)):
            k = rng.choice(alive)
            lines.append((f"{name},{k}," + rng.choice(NOTED[1:]), k))
        if ended and ended[-1] not in alive:
            lines += [(f"{name},{rng.choice(ended)}," + text, None)
                      for text in rng.sample(NOTED, rng.randrange(4))
                      if ended.count(ended[-1]) == 1]
        if len(alive) == overlap and rng.random() < 0.3:
            lines.append((f"STI_{name},{number},T,{name},{number + 10 ** 6},mtalimitexceeded", None))
    return lines, most + 1


def instances(tool, folder, rng):
    """An ended instance that a line names does not live again: as many threads as lived at once,
    and one for what names no living one; all events of a living one are of one thread."""
    for turn in range(12):
        tasks, wanted = {}, {}
        for i in range(rng.randint(1, 4)):
            # Instances count up; tracers of FreeRTOS number all of them 0.
            numbers = [0] * 80 if i == 3 else range(rng.randrange(3), 80)
            tasks[f"Task{i}"], wanted[f"Task{i}"] = \
                lives(rng, f"Task{i}", numbers, 1 if i == 3 else rng.randint(1, 5))
        rows, time, living = ["#version 2.1.5", "#timeScale ns"], 0, []
        at = dict.fromkeys(tasks, 0)
        while open_ := [n for n in tasks if at[n] < len(tasks[n])]:
            name = rng.choice(open_)
            text, number = tasks[name][at[name]]
            at[name], time = at[name] + 1, time + rng.randint(1, 9)
            rows.append(f"{time},{text}")
            living.append((name, number))
        (folder / "i.btf").write_text("\n".join(rows) + "\n")
        run(tool, "import", "--force", "--from=btf", folder / "i.btf", folder / "i.ptl")
        events = [json.loads(row) for row in
                  run(tool, "print", "--format=jsonl", folder / "i.ptl")[0].splitlines()]
        events = [e for e in events if e["event"].startswith("btf:T:") or
                  e["event"] in ("btf:SCHED:processterminate", "btf:SIG:write", "btf:SEM:released")]
        need(len(events) == len(living), "round", turn, len(events), "events of", len(living))
        threads, thread_of = collections.defaultdict(set), {}
        for event, (name, number) in zip(events, living):
            threads[name].add(event["tid"])
            if number is None:
                continue
            was = thread_of.setdefault((name, number), event["tid"])
            need(was == event["tid"], "round", turn, name, number, "is thread", was, "and", event)
            need([k for k, tid in thread_of.items() if tid == was] == [(name, number)],
                 "round", turn, "instances share thread", was)
            if event["event"] == "btf:T:terminate":
                del thread_of[name, number]
        for name, most in wanted.items():
            need(len(threads[name]) <= most, "round", turn, name, "has", len(threads[name]),
                 "threads where at most", most, "are wanted")
    return 0


# ---- machines ----

class Machine:
    """What the tables here say of random lines of one entity."""

    def __init__(self, ways, begins, state):
        self.ways, self.begins, self.state, self.instance = ways, begins, state, 0

    def step(self, action):
        """The instance, and the state before if the action is not allowed there."""
        if action == self.begins and self.state is not None:
            self.instance += 1
            self.state = self.ways[action][0][0]
        ways = dict(self.ways[action])
        wrong = None if self.state is None or self.state in ways else self.state
        self.state = ways.get(self.state, self.ways[action][0][1])
        return self.instance, wrong

    def choose(self, rng):
        fits = [a for a, ways in self.ways.items() if self.state in dict(ways)]
        return rng.choice(fits if fits and rng.random() < 0.7 else list(self.ways))


def machine_lines(rng, version, from_start):
    rows = [f"#version {version}", "#timescale ns"]
    first = {"P": "TERMINATED", "R": "TERMINATED", "S": "FREE"} if from_start else {}
    all_ = [("T", f"Task{i}", Machine(PROCESS, "activate", first.get("P"))) for i in range(3)]
    all_ += [("R", f"Run{i}", Machine(RUNNABLE, "start", first.get("R"))) for i in range(3)]
    all_ += [("SEM", f"Sem{i}", Machine(SEMAPHORE, None, first.get("S"))) for i in range(3)]
    expected = []
    for time in range(rng.choice((10, 400))):
        kind, name, machine = rng.choice(all_)
        action = machine.choose(rng)
        instance, wrong = machine.step(action)
        source = {"T": f"STI_{name}" if action == "activate" else f"Core_{name}",
                  "R": "Main", "SEM": name}[kind]
        rows.append(f"{time},{source},0,{kind},{name},{instance},{action}")
        if wrong:
            expected.append((len(rows), name, wrong, action))
    return "\n".join(rows) + "\n", expected


def machines(tool, _, rng):
    total = 0
    for i in range(60):
        version, from_start = ("2.2.1", "2.3.0")[i % 2], i % 3 == 0
        text, expected = machine_lines(rng, version, from_start)
        out, _ = run(tool, "btf", "check", *(["--from-start"] if from_start else []), "-",
                     data=text.encode(), status=(0, 1))
        found = [(int(m[1]), m[2], m[3], m[4]) for m in
                 re.finditer(r"^standard input:(\d+): '(\w+)' \(([A-Z ]+)\), '(\w+)': \w+ while \w",
                             out, flags=re.M)]
        if found != expected:
            sys.exit(f"{text}\nexpected {set(expected) - set(found)}\n"
                     f"found {set(found) - set(expected)}")
        total += len(found)
    need(total > 100, "only", total, "violations were tried")
    return 0


# ---- single ----

def valid(rng, rounds):
    """Two tasks with runnables that share a lock, and one that lives on and on."""
    rows, t = ["#version 2.2.1", "#timescale ns"], 0

    def add(text, step=1):
        nonlocal t
        t += rng.randint(0, step)
        rows.append(f"{t},{text}")

    add("S_C,0,STI,S_C,0,trigger")
    add("S_C,0,T,C,0,activate")
    add("C1,0,T,C,0,start")
    for i in range(rounds):
        for p in "AB":
            add(f"S_{p},{i},STI,S_{p},{i},trigger", 9)
            add(f"S_{p},{i},T,{p},{i},activate")
            add(f"C0,0,T,{p},{i},start")
            for r in "xy":
                add(f"{p},{i},R,{p}{r},{i},start")
            add(f"{p},{i},SEM,L,0,requestsemaphore")
            add("L,0,SEM,L,0,lock")
            add(f"{p},{i},SEM,L,0,assigned")
            add(f"{p},{i},SEM,L,0,released")
            add("L,0,SEM,L,0,unlock")
            for r in "yx":
                add(f"{p},{i},R,{p}{r},{i},terminate")
            add(f"C0,0,T,{p},{i},terminate")
        for r in "vw":
            add(f"C,0,R,{r},{i},start")
        for r in "wv":
            add(f"C,0,R,{r},{i},suspend")
        for action in ("wait", "release", "resume"):
            add(f"C1,0,T,C,0,{action}")
        for r in "vw":
            add(f"C,0,R,{r},{i},resume")
        for r in "wv":
            add(f"C,0,R,{r},{i},terminate")
    return rows


def changed(rng, rows, at):
    """The rows with one of them gone, twice, or with another field, and what was done."""
    names = ("A", "C", "C0", "L", "S_A", "Ax", "v")
    kind, place, values = rng.choice((
        ("gone", 0, ()), ("twice", 0, ()), ("source", 1, names), ("target", 4, names),
        ("type", 3, ("T", "R", "I", "SEM", "STI")),
        ("action", 6, ("start", "resume", "wait", "suspend", "terminate"))))
    field = rows[at].split(",")
    if values:
        field[place] = rng.choice(values)
    new = {"gone": [], "twice": [rows[at]] * 2}.get(kind, [",".join(field)])
    return rows[:at] + new + rows[at + 1:], f"{kind}: {rows[at]} as {new}"


def single(tool, _, rng):
    """One wrong line has a few findings, however many lines there are; the last version counts."""
    good = valid(rng, 60)

    def check(rows, *options):
        out, _ = run(tool, "btf", "check", *options, "-", data="\n".join(rows).encode() + b"\n",
                     status=(0, 1))
        return out

    need("no violation" in check(good, "--from-start"), "findings in what is right")
    for turn in range(80):
        rows, what = changed(rng, good, rng.randrange(2, len(good) if turn % 2 else 30))
        found = check(rows, "--from-start").splitlines()[:-1]
        need(len(found) <= 16, what, "has", len(found), found[:4])
    for first, last in (("2.1.5", "2.2.1"), ("2.2.1", "2.1.5")):
        out = check([f"#version {first}", f"#version {last}"] + good[1:])
        need(f"by the rules of {last}" in out and "a second time" in out, out[-300:])
    need(", 1 violation" in check(["#version 2.1.5"] + good), "the rules are those of the last one")
    return 0


def versions(tool, folder, rng):
    """What goes back as it was says so: the version of the file, if none is asked for."""
    for version in ("2.1.3", "2.1.5", "2.2.0", "2.2.1", "2.3.0"):
        rows = valid(rng, 2)
        (folder / "v.btf").write_text("\n".join([f"#version {version}"] + rows[1:]) + "\n")
        run(tool, "import", "--force", "--from=btf", folder / "v.btf", folder / "v.ptl")
        parameters, lines = read(run(tool, "export", "--to=btf", folder / "v.ptl", "-")[0])
        need(parameters["version"] == version, version, "comes back as", parameters)
        need(len(lines) == len(rows) - 2, "lines")
        parameters, _ = read(run(tool, "export", "--to=btf", "--version=2.3.0", folder / "v.ptl",
                                 "-")[0])
        need(parameters["version"] == "2.3.0", parameters)
    # Of several, the last one before the first event; one after it says nothing of what was.
    rows = ["#version 2.2.1", "#version 2.1.5", *rows[1:], "#version 2.3.0"]
    (folder / "v.btf").write_text("\n".join(rows) + "\n")
    run(tool, "import", "--force", "--from=btf", folder / "v.btf", folder / "v.ptl")
    parameters, _ = read(run(tool, "export", "--to=btf", folder / "v.ptl", "-")[0])
    need(parameters["version"] == "2.1.5", parameters)
    return 0


# ---- order ----

def events_of(tool, folder, rows, *options, pipe=False, status=(0,)):
    """The events of the log of these rows, without the ends of lines, and what was said."""
    text = ("\n".join(rows) + "\n").encode()
    (folder / "o.btf").write_bytes(text)
    _, err = run(tool, "import", "--force", "--from=btf", *options,
                 "-" if pipe else folder / "o.btf", folder / "o.ptl", data=text, status=status)
    return run(tool, "print", "--format=jsonl", folder / "o.ptl")[0], err


def moved(rng, rows):
    """Some of the rows moved down, and how many are older than one before them then."""
    rows = list(rows)
    for _ in range(rng.choice((1, 5, 200))):
        at = rng.randrange(len(rows))
        rows.insert(min(len(rows), at + rng.choice((1, 30, len(rows)))), rows.pop(at))
    late, newest = 0, 0
    for row in rows:
        time = int(row.split(",")[0])
        late, newest = late + (time < newest), max(time, newest)
    return rows, late


def order(tool, folder, rng):
    for turn in range(12):
        head, rows = ["#version 2.2.1", "#timescale ns"], valid(rng, rng.choice((3, 60)))[2:]
        rows, late = moved(rng, rows)
        wanted, err = events_of(tool, folder,
                                head + sorted(rows, key=lambda row: int(row.split(",")[0])))
        need("order" not in err, "of a sorted file:", err)
        found, err = events_of(tool, folder, head + rows, pipe=turn % 2 == 0)
        need(found == wanted, "turn", turn, "the events are not those of the sorted lines")
        said = re.search(r"(\d+) lines? of .* out of order", err)
        need(late == (int(said[1]) if said else 0), late, "lines are out of order:", err)
        need("left out" not in err, err)
        if late:
            found, err = events_of(tool, folder, head + rows, "--strict=yes", status=(1,))
            need(re.search(r"line \d+: time \d+ is before", err), err)
            need(len(found) < len(wanted), "strict reads on")
    # What a line means is settled at its place: scale, mappings, the parameter after it.
    rows = ["#version 2.2.1", "#timescale us", "#entityMapping 1 A", "#typeMapping 7 T",
            "5,C0,0,7,1,0,start", "#between 5", "3,S,0,7,1,0,activate", "#timescale ns",
            "#between 3", "4000,C0,0,SIG,x,0,write,a,b", "6000,C0,0,T,A,0,terminate",
            "5500,C0,0,odd,A,0,strange"]
    found, err = events_of(tool, folder, rows)
    need("line 12: type 'odd'" in err, err)
    need("5 lines of" in err, err)
    events = [json.loads(row) for row in found.split("\n") if row]
    btf = [(e["ts"], e["event"], e["fields"].get("target", e["fields"].get("value")))
           for e in events if e["event"].startswith("btf:")]
    need(btf[-8:] == [
        (3000, "btf:T:activate", "A"), (3000, "btf:parameter", "ns"), (3000, "btf:parameter", "3"),
        (4000, "btf:SIG:write", "x"), (5000, "btf:T:start", "A"), (5000, "btf:parameter", "5"),
        (5500, "btf:other", "A"), (6000, "btf:T:terminate", "A")], btf)
    return 0


# ---- hostile ----

def hostile(tool, folder, rng):
    good = "#version 2.2.1\n#timescale ns\n#entityMapping 3 Task\n#typeMapping 1 T\n"
    good += "".join(f"{t},Core,0,T,Task_{t % 5},{t},{rng.choice(list(PROCESS))},n\n" for t in range(60))
    inputs = [good[:cut] for cut in range(0, len(good), 97)]
    for _ in range(150):
        raw = bytearray(good, "ascii")
        for _ in range(rng.randint(1, 8)):
            at = rng.randrange(len(raw))
            raw[at:at + rng.randrange(3)] = rng.choice(
                (b"\0", b"\xff", b",", b"\n", b"#-", b"99999999999999999999", b"-", b"\r", b"\x1b[2J",
                 b"#timescale s\n", b"#version 1.0\n"))
        inputs.append(bytes(raw))
    inputs.append(b"#version 2.2.1\n" + b"x" * (1 << 20) + b"\n1,a,0,T,b,0,start\n")
    inputs.append("#version 2.2.1\n#timescale ns\n" +
                  "".join(f"{i},C{i},0,T,T{i},0,start\n" for i in range(70000)))
    inputs.append("#version 2.2.1\n#timescale ns\n" +
                  "".join(f"{i},S,{i},T,T,{i},activate\n" for i in range(3000)))
    inputs.append("#version 2.2.1\n#timescale ns\n" +
                  "".join(f"{i},T,0,R,R{i},0,start\n" for i in range(3000)))
    inputs.append("#version 2.2.1\n" + "".join(f"#entityMapping {i} n{i}\n" for i in range(70000)))
    inputs.append(b"".join(b"#p%d " % i + b"v" * 5000 + b"\n" for i in range(100)))
    for i, data in enumerate(inputs):
        data = data.encode() if isinstance(data, str) else data
        out, err = run(tool, "import", "--force", "--from=btf", "-", folder / "h.ptl", data=data,
                       status=(0, 1))
        both = out + err + run(tool, "btf", "check", "-", data=data, status=(0, 1))[0]
        need("\x1b" not in both, "input", i, "steers the terminal")
        run(tool, "check", folder / "h.ptl")
        run(tool, "export", "--to=btf", "--force", folder / "h.ptl", folder / "h.btf")
    return 0


def main():
    part, tool = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    print(f"seed {seed}")
    parts = {"samples": samples, "export": export, "instances": instances, "machines": machines,
             "single": single, "versions": versions, "order": order, "hostile": hostile}
    with tempfile.TemporaryDirectory() as name:
        return parts[part](tool, pathlib.Path(name), random.Random(seed))


if __name__ == "__main__":
    sys.exit(main())
