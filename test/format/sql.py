#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The shipped queries over the tables of several hosts, in DuckDB, against what posixtrace metrics,
report and info say of the same logs.

usage: sql.py POSIXTRACE LOSSY CLI_TESTS DUCKDB_TABLES QUERY...

Without DuckDB the test is skipped: duckdb.py.
"""

import functools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

TOOL, LOSSY, CLI, VIEWS = (pathlib.Path(a).resolve() for a in sys.argv[1:5])
FILES = {pathlib.Path(a).stem.split("-")[1]: pathlib.Path(a).resolve() for a in sys.argv[5:]}
sys.path.insert(0, str(CLI))
import jobs_random  # noqa: E402
import report_random  # noqa: E402

from duckdb import ask, install  # noqa: E402
from parquet_logs import need  # noqa: E402

PERCENTS = {"p50": "50", "p90": "90", "p99": "99", "p999": "99.9"}


def run(*command):
    done = subprocess.run([TOOL, *map(str, command)], capture_output=True, timeout=100, check=False)
    need(done.returncode == 0, *command, done.stderr.decode())
    return done.stdout


def make_logs(folder, seed):
    """{host: log}: random programs, whole and with losses, and one that has lost by number."""
    logs = {}
    for i in range(8):
        rng = random.Random(seed + i)
        sim = (jobs_random.Program if i % 2 else report_random.Simulation)(rng, ("switches", "samples", "neither")[i % 3])
        sim.run()
        report_random.write(report_random.lossy(sim, rng) if i > 4 else sim.events, folder / "log.jsonl")
        run("import", "--from=jsonl", folder / "log.jsonl", folder / f"{i}.ptl")
        logs[f"host-{i}"] = folder / f"{i}.ptl"
    for how in ("one", "loop"):
        subprocess.run([LOSSY, folder / f"{how}.ptl", how], check=True, timeout=100)
        logs[how] = folder / f"{how}.ptl"
    return logs


def answers(folder, *more):
    """{query: [row as {column: value}]}"""
    views = [v for v in VIEWS.read_text().split(";") if "view" in v]
    texts = [*views, *more, *(f.read_text() for f in FILES.values())]
    found = ask(folder, *texts)[len(views) + len(more):]
    return {name: [dict(zip(columns, map(number, row))) for row in rows for row in [row]]
            for name, (columns, rows) in zip(FILES, found)}


def number(value):
    """Numbers of 64 bits and more are strings in the answer."""
    return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() else value


def of_host(rows, host):
    return [r for r in rows if r["machine"] == host]


@functools.cache
def info_of(log):
    info = json.loads(run("info", "--format=jsonl", log))
    return {**info, "lost": info["lost"] or 0}  # null: marks say that there are some, and not how many


@functools.cache
def summary_of(log):
    return json.loads(run("report", "--format=json", log))["summary"]


def gaps_of(log):
    return summary_of(log)["gaps"]


def says_losses(row, log):
    return (row["lost_events"], row["gap_count"]) == (info_of(log)["lost"], gaps_of(log))


def check_latency(rows, host, log):
    shown = {}
    for m in json.loads(run("metrics", "--format=json", "--percentiles=50,90,99,99.9", log))["metrics"]:
        if m["count"] or m["unknown"]:
            shown[m["metric"]] = m
    mine = of_host(rows, host)
    found = {}
    for r in mine:
        need(r["metric"] not in found, "a metric twice", r)
        found[r["metric"]] = r
        need(says_losses(r, log), r, gaps_of(log))
        need(abs(r["known_share"] - r["measured"] / (r["measured"] + r["hidden"])) < 1e-9, r)
    need(set(found) == set(shown), host, set(found) ^ set(shown))
    for name, m in shown.items():
        r = found[name]
        need((r["measured"], r["hidden"] - extra_of(log, name)) == (m["count"], m["unknown"]), host, r, m)
        if not m["count"]:
            need(r["p50"] is None and r["longest"] is None, r)
            continue
        need(r["longest"] == m["max_ns"], r, m)
        for column, percent in PERCENTS.items():
            key = f"p{percent.replace('.', '_')}_ns"
            need(abs(r[column] - m[key]) <= m[key] / 512 if m["count"] > 1024 else r[column] == m[key], column, r, m)
    return len(shown)


def extra_of(log, metric):
    """1: a row stands for threads that have lost all of their events, which are no place."""
    return sum(1 for r in HIDDEN.get(log, ()) if r == metric)


HIDDEN = {}


def check_slowest(rows, logs):
    every = []
    for host, log in logs.items():
        for line in run("metrics", "--each", "--format=jsonl", log).splitlines():
            m = json.loads(line)
            if not m.get("unknown"):
                every.append((m["length_ns"], host, m["metric"], m["tid"], m["begin_ns"]))
    lengths = sorted((e[0] for e in every), reverse=True)[:100]
    need([r["instance_length"] for r in rows] == lengths, "the slowest")
    for r in rows:
        need((r["instance_length"], r["machine"], r["metric"], r["tid"], r["begin_time"]) in every, r)
        need(says_losses(r, logs[r["machine"]]), r)


def check_contention(rows, host, log):
    report = json.loads(run("report", "--format=json", log))
    mine = of_host(rows, host)
    for kind in {r["waits_for"] for r in mine} | {s["kind"] for s in report["sites"]}:
        if kind == "work":
            continue  # report does not show it by site
        of = [r for r in mine if r["waits_for"] == kind]
        sites = [s for s in report["sites"] if s["kind"] == kind]
        by_place = {}
        for s in sites:
            key = s.get("caller_symbol") or str(s["caller"])
            waits, total, longest = by_place.get(key, (0, 0, 0))
            by_place[key] = waits + s["waits"], total + s["total_ns"], max(longest, s["longest_ns"])
        need({str(r["place"]): (r["waits"], r["total"], r["longest"]) for r in of if r["waits"]} == by_place, host, kind, of, by_place)
    for r in mine:
        need(says_losses(r, log), r)
    return len(mine)


def check_rates(rows, host, log):
    info = info_of(log)
    types = {t["event"]: t["count"] for t in info["types"] if t["count"]}
    mine = of_host(rows, host)
    found = {}
    for r in mine:
        found[r["event"]] = found.get(r["event"], 0) + r["recorded"]
        span = summary_of(log)["last_ns"] - summary_of(log)["first_ns"]
        seconds = span / 1e9
        need(abs(r["seconds"] - seconds) < 1e-12 * span, r)
        if not span:
            need(r["rate"] is None, r)
            continue
        need(abs(r["rate"] * seconds - r["recorded"]) < 1e-3, r)
        need(abs(r["at_most"] * seconds - r["recorded"] - info["lost"]) < 1e-3 and says_losses(r, log), r)
    need(found == types, host, found, types)


def check_gaps(rows, host, log):
    info, mine = info_of(log), of_host(rows, host)
    lost = {}
    for r in mine:
        lost[r["cause"]] = lost.get(r["cause"], 0) + r["lost_events"]
        need(r["recorded"] == info["events"], r)
    need({k: v for k, v in lost.items() if v} == info["lost_by_cause"], host, lost, info)
    summary = summary_of(log)
    need(sum(r["gap_count"] for r in mine) == summary["gaps"], host, mine)
    need(sum(r["gap_ns"] for r in mine) == summary["gap_ns"], host, mine)


def check_releases(rows, logs):
    """The first half of the logs against the second: as latency says of each, over all lengths."""
    need(rows, "two releases have a metric in common")
    lengths = {"a": {}, "b": {}}
    for i, log in enumerate(logs.values()):
        for line in run("metrics", "--each", "--format=jsonl", log).splitlines():
            m = json.loads(line)
            if not m.get("unknown"):
                lengths["a" if i % 2 else "b"].setdefault(m["metric"], []).append(m["length_ns"])
    of_release = {of: [log for i, log in enumerate(logs.values()) if (i % 2 == 1) == (of == "a")] for of in "ab"}
    for r in rows:
        for of in "ab":
            mine = lengths[of].get(r["metric"], [])
            if r["service"] == "":
                mine = mine[:]
            if r[f"{of}_measured"] == len(mine) and mine:
                need(r[f"{of}_p50"] == report_random.percentile(mine, 50), r)
                need(r[f"{of}_p99"] == report_random.percentile(mine, 99), r)
                need(r[f"{of}_longest"] == max(mine), r)
            need(r[f"{of}_lost_events"] == sum(info_of(log)["lost"] for log in of_release[of]), r)
            need(r[f"{of}_gap_count"] == sum(map(gaps_of, of_release[of])), r)
        if r["a_p50"] and r["b_p50"] is not None:
            change = r["b_p50"] / r["a_p50"] - 1
            need(abs(r["change_p50"] - change) <= 1e-9 * max(1, abs(change)), r)
    need(sum(r["a_measured"] == len(lengths["a"].get(r["metric"], [])) for r in rows) > 5, "whole metrics")


def main():
    seed = random.randrange(2**32)
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        install(folder)
        os.environ["POSIXTRACE_DIR"] = made
        print("seed", seed, flush=True)
        logs = make_logs(folder, seed)
        for host, log in logs.items():
            run("export", "--to=parquet", "--hive", f"--host={host}", log, f"{folder}/")
        ids = ", ".join(f"('{info_of(log)['id']}', '{'a' if i % 2 else 'b'}')" for i, log in enumerate(logs.values()))
        for log in logs.values():
            HIDDEN[log] = []
        hidden = ask(folder, *[v for v in VIEWS.read_text().split(";") if "view" in v],
                     "select host, metric from measurements where tid is null")[-1][1]
        for host, metric in hidden:
            HIDDEN[logs[host]].append(metric)
        found = answers(folder, f"create table releases as select * from (values {ids}) v(log, release)")
        measured = waits = 0
        for host, log in logs.items():
            measured += check_latency(found["latency"], host, log)
            waits += check_contention(found["contention"], host, log)
            check_rates(found["rates"], host, log)
            check_gaps(found["gaps"], host, log)
        need(measured > 50 and waits > 20, measured, waits)
        check_slowest(found["slowest"], logs)
        check_releases(found["releases"], logs)


main()
