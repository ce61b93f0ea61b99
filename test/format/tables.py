#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Rows of measurements and gaps (posixtrace/tables.h), against posixtrace metrics, report and info.

usage: tables.py CASE POSIXTRACE SHOW_TABLES LOSSY CLI_TESTS [PROGRAM] [FIRST_SEED]
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

CASE, TOOL, SHOW, LOSSY, CLI = sys.argv[1:6]
SEED = int(sys.argv[-1]) if sys.argv[-1].isdigit() else 1
LOGS = 20
EVENTS = 3000  # of each thread of lossy
NO_BOUND = (2**63 - 1) // 4
sys.path.insert(0, CLI)
import jobs_random  # noqa: E402
import report_random  # noqa: E402

WHEN = {"events lost", "recording stopped", "part not readable", "losses not marked", "filter changed"}


def need(condition, *what):
    if not condition:
        sys.exit("not so: " + " ".join(str(w) for w in what))


def run(*command, status=0):
    done = subprocess.run(list(map(str, command)), capture_output=True, timeout=100, check=False)
    need(done.returncode == status, *command, "exit", done.returncode, done.stderr.decode())
    return done.stdout


def objects(text):
    return [json.loads(line) for line in text.decode(errors="surrogateescape").split("\n") if line]


def rows_of(log, table):
    rows = objects(run(SHOW, log, table))
    need([r["position"] for r in rows] == list(range(len(rows))), "positions")
    need(rows == objects(run(SHOW, log, table)), "the same rows again")
    return rows


# ---- measurements ----

def as_metrics_shows(row):
    most = NO_BOUND if row["most"] is None else row["most"]
    return (row["metric"], row["pid"], row["tid"], row["begin_time"], row["end_time"], row["length"] if row["known"] else most,
            row["known"], row["least"], row["inside"] or 0, row["object"] or None)  # metrics shows no object 0


def shown_by_metrics(m):
    return (m["metric"], m["pid"], m["tid"], m["begin_ns"], m["end_ns"], m["length_ns"], not m.get("unknown", False),
            m.get("least_ns", m["length_ns"]), m["intermediate_events"],
                int(m["object"], 16) if isinstance(m.get("object"), str) else m.get("object"))


def check_metrics(log, rows):
    wanted = sorted(map(shown_by_metrics, objects(run(TOOL, "metrics", "--each", "--format=jsonl", log))), key=repr)
    found = sorted((as_metrics_shows(r) for r in rows if r["kind"] != "wait" and r["pid"] is not None), key=repr)
    need(len(found) == len(wanted), len(found), "rows for", len(wanted), "measurements")
    for a, b in zip(found, wanted):
        need(a == b, "a row", a, "and metrics", b)


def check_waits(log, rows):
    report = json.loads(run(TOOL, "report", "--format=json", log))
    waits = [r for r in rows if r["kind"] == "wait"]
    for row in waits:
        need(row["length"] == (row["most"] if row["known"] else None) and row["most"] == row["end_time"] - row["begin_time"],
             row)
    for things in ("locks", "waits", "descriptors", "work"):
        for o in report[things]:
            of = [r for r in waits if r["metric"] == o["kind"] and r["pid"] == o["pid"] and
                  (o.get("name") or r["object"] == o.get("object", o.get("descriptor", r["object"]))) and
                  r["object_name"] == (o.get("name") or None)]
            known = [r["length"] for r in of if r["known"]]
            if o["kind"] in ("I/O", "work", "file lock", "child", "signal", "sleep"):
                continue  # compared in sum, below
            need(len(known) == o["waits"] and sum(known) == o["total_ns"], o, len(known), sum(known))
            need(len(of) - len(known) == o["unknown"], o, len(of))
    everything = [o for t in ("locks", "waits", "descriptors", "work") for o in report[t]]
    for kind in {r["metric"] for r in waits} | {o["kind"] for o in everything}:
        of = [r for r in waits if r["metric"] == kind]
        rows_of_kind = [o for o in everything if o["kind"] == kind]
        known = [r["length"] for r in of if r["known"]]
        need(len(known) == sum(o["waits"] for o in rows_of_kind), kind, len(known))
        need(sum(known) == sum(o["total_ns"] for o in rows_of_kind), kind, sum(known))
        need(len(of) - len(known) == sum(o["unknown"] for o in rows_of_kind), kind, "unknown")
    sites = {}
    for r in waits:
        if r["known"] and r["caller"] and r["metric"] != "work":
            count, total = sites.get((r["metric"], r["pid"], r["caller"]), (0, 0))
            sites[(r["metric"], r["pid"], r["caller"])] = count + 1, total + r["length"]
    shown = {}
    for s in report["sites"]:
        count, total = shown.get((s["kind"], s["pid"], s["caller"]), (0, 0))
        shown[(s["kind"], s["pid"], s["caller"])] = count + s["waits"], total + s["total_ns"]
    need(sites == shown, sites, shown)
    pairs = {}
    for r in rows:
        if r["kind"] == "pair" and r["known"]:
            count, total = pairs.get(r["metric"], (0, 0))
            pairs[r["metric"]] = count + 1, total + r["length"]
    shown = {p["name"]: (p["count"], p["total_ns"]) for p in report["pairs"] if p["count"]}
    # After a gap metrics leaves open if a pair had begun inside, and report does not.
    need(pairs == shown or report["summary"]["gaps"] > 0, pairs, "and report", shown)
    for c in report["contention"]:
        of = [r["length"] for r in waits if r["known"] and r["metric"] == "lock" and
              (r["pid"], r["object"], r["tid"], r["holder_tid"] or 0) == (c["pid"], c["object"], c["tid"], c["holder_tid"])]
        need((len(of), sum(of)) == (c["waits"], c["total_ns"]), c, of)


def check_measured(log):
    rows = rows_of(log, "measurements")
    check_metrics(log, rows)
    check_waits(log, rows)
    return rows


def case_measured(folder):
    """Random programs, whole and with losses."""
    kinds, unknown = set(), 0
    for seed in range(SEED, SEED + LOGS):
        rng = random.Random(seed)
        sim = (jobs_random.Program if seed % 2 else report_random.Simulation)(
            rng, rng.choice(("switches", "switches", "samples", "neither")))
        sim.run()
        for events in (sim.events, report_random.lossy(sim, rng)):
            report_random.write(events, folder / "log.jsonl")
            run(TOOL, "import", "--force", "--from=jsonl", folder / "log.jsonl", folder / "log.ptl")
            rows = check_measured(folder / "log.ptl")
            check_gaps(folder / "log.ptl")
            kinds |= {r["kind"] for r in rows}
            unknown += sum(not r["known"] for r in rows)
    need(kinds == {"metric", "pair", "wait"} and unknown > 20, kinds, unknown)


CAUSES = ("run", "runnable", "wait_lock", "wait_condition", "wait_semaphore", "wait_barrier", "wait_sleep", "wait_io", "wait_work",
          "wait_file_lock", "wait_futex", "wait_thread", "wait_child", "wait_signal", "off_cpu", "unknown")


def by_why(instance):
    """{cause: ns} of the segments of the thread itself."""
    sums = dict.fromkeys(CAUSES, 0)
    for s in instance["segments"]:
        if s["depth"] == 0:
            key = {"run": "run", "runnable": "runnable", "wait": None, "off": "off_cpu", "ended": "off_cpu"}.get(
                s["state"], "unknown")
            key = key or "wait_" + s["kind"].lower().replace("/", "").replace(" ", "_")
            sums[key] += s["end_ns"] - s["begin_ns"]
    return sums


def case_causes(folder):
    """What threads did in the time of a pair, against the segments of posixtrace why."""
    same = seen = 0
    for seed in range(SEED, SEED + LOGS):
        rng = random.Random(seed)
        mode = ("switches", "switches", "samples", "neither")[seed % 4]
        sim = report_random.Simulation(rng, mode)
        sim.run()
        for events in (sim.events, report_random.lossy(sim, rng)):
            report_random.write(events, folder / "log.jsonl")
            run(TOOL, "import", "--force", "--from=jsonl", folder / "log.jsonl", folder / "log.ptl")
            rows = [r for r in objects(run(SHOW, folder / "log.ptl", "measurements", "h", "causes"))]
            plain = [r for r in rows if r["kind"] == "wait" or not r["known"]]
            need(all(r[c] is None for r in plain for c in CAUSES), "causes of what is not known")
            for r in rows:
                if r["run"] is not None:
                    need(sum(r[c] for c in CAUSES) == r["end_time"] - r["begin_time"], r)
            for name in {r["metric"] for r in rows if r["kind"] == "pair" and r["known"]}:
                why = json.loads(run(TOOL, "why", "--format=json", "--worst=1000", f"{name}:begin..{name}:end",
                                     folder / "log.ptl"))
                told = {(i["tid"], i["begin_ns"], i["end_ns"]): by_why(i) for i in why["instances"]}
                for r in rows:
                    if (r["kind"], r["metric"], r["known"]) != ("pair", name, True):
                        continue
                    mine, theirs = {c: r[c] for c in CAUSES}, told[(r["tid"], r["begin_time"], r["end_time"])]
                    need(all(mine[c] <= theirs[c] for c in CAUSES if c != "unknown"), mine, "and why", theirs)
                    need(mine == theirs or events is not sim.events, mode, mine, "and why", theirs)
                    same += mine == theirs
                    seen += 1
    need(seen > 50 and same > 0.9 * seen, same, seen)


# ---- gaps ----

def check_gaps(log):
    rows = rows_of(log, "gaps")
    info, = objects(run(TOOL, "info", "--format=jsonl", log))
    lost, threads = {}, {}
    for r in rows:
        need((r["lost"] is None) == (r["cause"] in WHEN), r)
        need(r["begin_time"] is None or r["end_time"] is None or r["begin_time"] <= r["end_time"], r)
        if r["lost"] is None:
            need(r["tid"] is None and r["begin_time"] is not None and r["end_time"] is not None, r)
            continue
        need(r["lost"] > 0 and (r["tid"] is None) == (r["thread"] is None), r)
        lost[r["cause"]] = lost.get(r["cause"], 0) + r["lost"]
        threads[r["tid"]] = threads.get(r["tid"], 0) + r["lost"]
    need(lost == info["lost_by_cause"], lost, "and info", info["lost_by_cause"])
    for t in info["threads"]:
        need(t["tid"] == 0 or threads.get(t["tid"], 0) == t["lost"], t, threads)
    summary = json.loads(run(TOOL, "report", "--format=json", log))["summary"]
    when = [r for r in rows if r["lost"] is None]
    need(len(when) == summary["gaps"], when, summary)
    need(sum(r["end_time"] - r["begin_time"] for r in when) == summary["gap_ns"], when, summary)
    return rows


def lossy_log(folder, how):
    log = folder / f"{how}.ptl"
    run(LOSSY, log, how)
    return log


def case_gaps(folder):
    """Losses of each sort: in the stream, in the log, of one thread only."""
    for how, cause in (("loop", "overwritten in the log"), ("full", "log full"), ("stream", "stream full"),
                       ("one", "stream full"), ("overwrite", "overwritten")):
        log = lossy_log(folder, how)
        rows = check_gaps(log)
        check_metrics(log, rows_of(log, "measurements"))
        need(any(cause in r["cause"] for r in rows), how, rows)


def case_placed(folder):
    """Where the numbers of a thread's events jump, so many are lost there: between the times of the
    events before and after, which have their own numbers as data."""
    log = lossy_log(folder, "overwrite")
    rows = [r for r in check_gaps(log) if r["lost"] is not None]
    events = [e for e in objects(run(TOOL, "print", "--format=jsonl", log)) if e["event"] == "tick"]
    found, wanted = {}, {}
    for tid in {e["tid"] for e in events}:
        mine = [(int.from_bytes(bytes.fromhex(e["data"]), "little"), e["ts"]) for e in events if e["tid"] == tid]
        places = [(None, mine[0][0], mine[0][1])] if mine[0][0] else []
        places += [(a[1], b[0] - a[0] - 1, b[1]) for a, b in zip(mine, mine[1:]) if b[0] != a[0] + 1]
        if mine[-1][0] != EVENTS - 1:
            places.append((mine[-1][1], EVENTS - 1 - mine[-1][0], None))
        wanted[tid] = places
        found[tid] = [(r["begin_time"], r["lost"], r["end_time"]) for r in rows if r["tid"] == tid]
    need(found == wanted and any(wanted.values()), found, "and events say", wanted)


def case_recorded(folder):
    """A real program: locks, waits for descriptors, sites as functions, and no loss."""
    log = folder / "waits.ptl"
    run(TOOL, "record", "--system", "-o", log, "--", sys.argv[6])
    rows = check_measured(log)
    need(not check_gaps(log), "a gap")
    need(any(r["kind"] == "wait" and r["site"] and r["site"].startswith("main") for r in rows), "a site")
    need(all(r["process"] == "locks" and r["host"] == os.uname().nodename for r in rows), rows[:1])
    row = objects(run(SHOW, log, "measurements", "other"))[0]
    need(row["host"] == "other", row)


def case_hostile(folder):
    """A log that is cut at any place has rows, or an error; never a loss that info has not."""
    whole = lossy_log(folder, "one").read_bytes()
    rng = random.Random(SEED)
    for _ in range(12):
        cut = folder / "cut.ptl"
        data = bytearray(whole[:rng.randrange(4096, len(whole))])
        for _ in range(rng.randrange(3)):
            data[rng.randrange(512, len(data))] ^= 1 << rng.randrange(8)
        cut.write_bytes(data)
        if subprocess.run([TOOL, "info", cut], capture_output=True, timeout=100, check=False).returncode:
            continue
        check_gaps(cut)
        rows_of(cut, "measurements")


def main():
    with tempfile.TemporaryDirectory() as made:
        os.environ["POSIXTRACE_DIR"] = made
        globals()["case_" + CASE](pathlib.Path(made))


main()
