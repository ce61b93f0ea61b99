#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace export of several logs: the lines of each, in its order and with its name, in one order
of time; chrome and perfetto with the events of each as its own export has them, under numbers and
names of its own, in one clock; otlp and parquet what each makes; formats of one log refuse them.

usage: several_export.py POSIXTRACE
"""

import csv
import decimal
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import report_random as programs  # noqa: E402

STEP, PROCESSORS = 10_000_000, 4294967295
START = 1_795_000_000_000_000_000


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


def run(tool, *words, status=0, **more):
    done = subprocess.run([tool, *map(str, words)], text=True, capture_output=True, check=False, **more)
    expect(f"{words}: exit {done.returncode}: {done.stderr}", done.returncode == status)
    return done


def make(tool, rng, path, number):
    """Described in another way in each log."""
    ts, lines = START + rng.randint(0, 999), []
    for i in range(0 if number == 0 else 300):
        ts += rng.choice((0, 1, 900))
        row = {"ts": ts, "pid": 7, "tid": 7, "thread_id": "0x0", "thread": "t", "event": "order",
               "addr": "0x0", "trunc": 0, "data": i.to_bytes(2 * number, "little").hex()}
        if i == 0:
            row["description"] = ("u16 a", "u32 b", "u16 c; u32 d")[number - 1]
        lines.append(json.dumps(row, separators=(",", ":")) + "\n")
    run(tool, "import", "--format=jsonl", "-", path, input="".join(lines))


# ---- one trace of programs that have the same numbers ----

def make_programs(tool, folder):
    """Hosts whose processes, threads and processors have the same numbers; the second has losses."""
    logs = []
    for number in range(3):
        rng = random.Random(number + 70)
        sim = programs.Simulation(rng, "switches")
        sim.run()
        programs.write(programs.lossy(sim, rng) if number == 1 else sim.events, folder / "log.jsonl")
        logs.append(folder / f"host{number}.ptl")
        run(tool, "import", "--from=jsonl", folder / "log.jsonl", logs[-1])
    return logs


def chrome(tool, *words):
    trace = json.loads(run(tool, "export", "--to=chrome", *words, "-").stdout,
                       parse_float=decimal.Decimal)
    base = int(trace["otherData"]["ts-0-ns"])
    for e in trace["traceEvents"]:
        if "ts" in e:
            e["ts"] = int(e["ts"] * 1000) + base
    frames = trace.get("stackFrames", {})
    return trace["traceEvents"], frames


def own_numbers(event, number):
    """The event, if it is of that log, with the numbers that the log has."""
    e = dict(event)
    if e["pid"] == PROCESSORS - number:
        e["pid"] = PROCESSORS
    elif number * STEP <= e["pid"] < (number + 1) * STEP:
        e["pid"] -= number * STEP
        e["tid"] -= number * STEP
    else:
        return None
    return e


def without_names(events):
    return [e for e in events if e.get("name") not in ("process_name",)]


def check_chrome(tool, logs, *words):
    several, _ = chrome(tool, *words, *logs)
    count = 0
    for number, log in enumerate(logs):
        own = [e for e in (own_numbers(e, number) for e in several) if e]
        count += len(own)
        one, _ = chrome(tool, *words, log)
        # What runs at the end of all logs runs until then.
        ends = lambda events: [{**e, "dur": 0} if e.get("args", {}).get("then") == "runs on" else e
                               for e in without_names(events)]
        expect(f"chrome {words}: events of {log}", ends(own) == ends(one))
        names = [e["args"]["name"] for e in own if e["name"] == "process_name"]
        expect(f"chrome: names of {log}: {names}", (names or not own) and all(
            n == log.stem or n.startswith(f"{log.stem}: ") for n in names))
    expect("chrome: nothing else", count == len(several))
    return several


# ---- protocol buffers ----

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def message(data):
    """{field: [values]}"""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            value, at = data[at:at + size], at + size
        fields.setdefault(key >> 3, []).append(value)
    return fields


def perfetto(tool, folder, *words):
    out = folder / "trace.pf"
    run(tool, "export", "--force", "--to=perfetto", *words, out)
    return [message(p) for p in message(out.read_bytes())[1]]


def check_perfetto(tool, folder, logs):
    """The same packets, but for numbers and names."""
    several = perfetto(tool, folder, *logs)
    uuids = []
    for number, log in enumerate(logs):
        own = [p for p in several if p[10] == [number + 1]]
        one = perfetto(tool, folder, log)
        expect(f"perfetto: packets of {log}", len(own) == len(one)
               and [p.get(8) for p in own] == [p.get(8) for p in one])
        tracks, raised = {}, number * STEP
        for mine, its in zip(own, one):
            for a, b in zip(mine.get(60, []), its.get(60, [])):      # descriptions of tracks
                a, b = message(a), message(b)
                tracks[b[1][0]] = a[1][0]
                for kind, fields in ((3, (1,)), (4, (1, 2))):
                    for x, y in zip(a.get(kind, []), b.get(kind, [])):
                        x, y = message(x), message(y)
                        expect(f"perfetto: numbers of {log}",
                               all(x[f][0] == y[f][0] + raised for f in fields))
                        if kind == 3:
                            expect(f"perfetto: name {x}", x[6][0].decode().startswith(log.stem))
            for a, b in zip(mine.get(11, []), its.get(11, [])):      # events on tracks
                a, b = message(a), message(b)
                expect(f"perfetto: an event of {log}", a[11][0] == tracks[b[11][0]]
                       and {k: v for k, v in a.items() if k != 11}
                       == {k: v for k, v in b.items() if k != 11})
            for a, b in zip(mine.get(1, []), its.get(1, [])):        # context switches
                a, b = message(a), message(b)
                expect(f"perfetto: a processor of {log}",
                       a[1][0] == b[1][0] + number * (1024 // len(logs)))
                x, y = (message(message(m[2][0])[4][0]) for m in (a, b))
                expect(f"perfetto: a switch of {log}",
                       all(x[f][0] == (y[f][0] + raised if y[f][0] else 0) for f in (2, 6))
                       and x[4] == y[4])
        uuids += tracks.values()
    expect("perfetto: tracks of their own", len(uuids) == len(set(uuids)) > 6)
    expect("perfetto: switches", any(1 in p for p in several))


def check_joined(tool, folder, logs):
    several = run(tool, "export", "--to=otlp", *logs, "-").stdout
    expect("otlp", several == "".join(run(tool, "export", "--to=otlp", log, "-").stdout
                                      for log in logs) and several.count("host2.ptl") > 0)
    run(tool, "export", "--to=parquet", *logs, f"{folder}/all/")
    for log in logs:
        run(tool, "export", "--to=parquet", log, f"{folder}/each/")
    files = {p.relative_to(folder / "all"): p.read_bytes() for p in (folder / "all").rglob("*.parquet")}
    expect("parquet", len(files) == 9 and files == {
        p.relative_to(folder / "each"): p.read_bytes() for p in (folder / "each").rglob("*.parquet")})
    run(tool, "export", "--to=parquet", *logs, f"{folder}/all/", status=1)   # they are there
    run(tool, "export", "--to=parquet", "--force", *logs, f"{folder}/all/")
    done = run(tool, "export", "--to=parquet", *logs, folder / "table.parquet", status=64)
    expect(done.stderr, "folder" in done.stderr)


def check_clocks(tool, folder):
    """One clock by --sync, also for arrows between hosts: the first end is where a message was sent."""
    def log(name, off, events):
        rows = [{"ts": START + ns + off, "pid": 7, "tid": 8, "event": event, "data": f"{key:02x}000000"}
                for ns, event, key in sorted(events)]
        for event in {r["event"] for r in rows}:
            next(r for r in rows if r["event"] == event)["description"] = "u32 id"
        path = folder / name
        run(tool, "import", "--from=jsonl", "-", path,
            input="".join(json.dumps(r) + "\n" for r in rows))
        return path

    sent = [(1000 * i, i % 2, i) for i in range(1, 60)]
    logs = [log(f"clock{h}.ptl", h * 700_000_000,
                [(ns, "send", i) for ns, a, i in sent if a == h]
                + [(ns + 400, "recv", i) for ns, a, i in sent if a != h]) for h in (0, 1)]
    file = folder / "clocks.sync"
    run(tool, "sync", "--pair=send by id..recv by id", "-o", file, *logs)
    done = run(tool, "export", "--to=chrome", *logs, "-")
    expect(f"not aligned: {done.stderr}", "not aligned" in done.stderr)
    done = run(tool, "export", "--to=chrome", f"--sync={file}", *logs, "-")
    expect(f"aligned: {done.stderr}", "aligned" not in done.stderr)
    several = check_chrome(tool, logs, f"--sync={file}")
    times = [e["ts"] for e in several if "ts" in e]
    expect("one clock", max(times) - min(times) < 100_000 and times == sorted(times))
    arrows, _ = chrome(tool, f"--sync={file}", "--flow=send.id", "--flow=recv.id", *logs)
    arrows = [e for e in arrows if e.get("cat") == "flow"]
    for _, a, i in sent:
        ends = [(e["ph"], e["pid"] // STEP) for e in arrows if int(e["id"], 16) == i]
        expect(f"arrow {i}: {ends}", ends == [("s", a), ("t", 1 - a)])


def check_traces(tool, folder):
    logs = make_programs(tool, folder)
    check_chrome(tool, logs)
    check_chrome(tool, logs, "--stacks=slices", "--tid=102")
    first = min(json.loads(run(tool, "info", "--format=jsonl", log).stdout)["first"] for log in logs)
    check_chrome(tool, logs, f"--from={first + 400}")
    check_perfetto(tool, folder, logs)
    check_joined(tool, folder, logs)
    check_clocks(tool, folder)
    row = {"ts": START, "pid": STEP, "tid": 1, "event": "x", "data": ""}
    run(tool, "import", "--from=jsonl", "-", folder / "large.ptl", input=json.dumps(row) + "\n")
    done = run(tool, "export", "--to=chrome", logs[0], folder / "large.ptl", "-", status=1)
    expect(f"a large number: {done.stderr}", "large" in done.stderr and str(STEP) in done.stderr)
    run(tool, "export", "--to=chrome", folder / "large.ptl", "-")


def main():
    tool, rng = pathlib.Path(sys.argv[1]).resolve(), random.Random(4)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / 'a "folder", of logs'
        folder.mkdir()
        logs = [folder / f"log{i}.ptl" for i in range(4)]
        for i, log in enumerate(logs):
            make(tool, rng, log, i)
        rows = [json.loads(line) for line in
                run(tool, "export", "--to=jsonl", *logs, "-").stdout.splitlines()]
        expect("all lines", len(rows) == 900)
        expect("one order", [r["ts"] for r in rows] == sorted(r["ts"] for r in rows))
        for log in logs:
            own = [{k: v for k, v in r.items() if k != "log"} for r in rows if r["log"] == str(log)]
            one = run(tool, "export", "--to=jsonl", log, "-").stdout.splitlines()
            expect(f"lines of {log}", own == [json.loads(line) for line in one])
        out = pathlib.Path(name) / "out.csv"
        run(tool, "export", "--to=csv", folder, "-o", out)
        table = list(csv.DictReader(io.StringIO(out.read_text())))
        expect("csv", [(t["log"], int(t["ts"])) for t in table] == [(r["log"], r["ts"]) for r in rows])
        expect("a selection", len(run(tool, "export", "--to=jsonl", "--event=c >= 0", folder, "-o", "-")
                                  .stdout.splitlines()) == 300)
        for form in ("btf", "kev", "folded", "tree"):
            done = run(tool, "export", f"--to={form}", folder, out.with_suffix(".x"), status=64)
            expect(f"{form}: {done.stderr}", form in done.stderr and "jsonl, csv" in done.stderr)
        run(tool, "export", "--to=jsonl", "--from=+1s", folder, "-o", "-", status=64)
        done = run(tool, "export", "--to=jsonl", logs[1], logs[1], "-o", "-", status=1)
        expect("the same log twice", "same file" in done.stderr)
        check_traces(tool, pathlib.Path(name))


main()
