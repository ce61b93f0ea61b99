#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Rows of posixtrace metrics against the measurements that it prints one by one: --by, percentiles,
histograms and the longest, of random programs (jobs_random.py), some with losses.

usage: metrics_rows.py POSIXTRACE [FIRST_SEED [LOGS]]
"""

import csv
import io
import json
import random
import sys

import jobs_random
from report_random import lossy, main, percentile

LOGS = 40
PERCENTS = (0, 12.5, 50, 99.99, 100)


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def groups(measured, key):
    out = {}
    for m in measured:
        out.setdefault(key(m), []).append(int(m["length_ns"]))
    return out


def check_rows(shown, expected, key):
    assert {key(r) for r in shown} >= expected.keys()
    for row in shown:
        lengths = expected.get(key(row), [])
        assert int(row["count"]) == len(lengths), (row, lengths)
        if not lengths:
            continue
        assert (int(row["min_ns"]), int(row["max_ns"])) == (min(lengths), max(lengths))
        for percent in PERCENTS:
            true = percentile(lengths, percent)
            assert int(row[f"p{percent}_ns".replace(".", "_")]) == true, (row, percent, true)


def check_json(tool, folder, measured):
    for metric in json.loads(jobs_random.metrics(tool, folder, "--format=json", "--histogram",
                                                 "--worst=3"))["metrics"]:
        mine = [m for m in measured if m["metric"] == metric["metric"]]
        lengths = sorted((int(m["length_ns"]) for m in mine), reverse=True)
        assert metric["count"] == len(mine)
        assert sum(bar["count"] for bar in metric["histogram"]) == len(mine)
        assert [w["length_ns"] for w in metric["worst"]] == lengths[:3]
        for worst in metric["worst"]:
            assert any((int(m["tid"]), int(m["begin_ns"]), int(m["end_ns"])) ==
                       (worst["tid"], worst["begin_ns"], worst["end_ns"]) for m in mine)


def check(tool, folder):
    measured = [m for m in rows(jobs_random.metrics(tool, folder, "--format=csv"))
                if m["unknown"] == "0"]
    percents = "--percentiles=" + ",".join(map(str, PERCENTS))
    by = {name: rows(jobs_random.metrics(tool, folder, f"--by={name}", percents, "--format=csv"))
          for name in ("metric", "thread", "object")}
    check_rows(by["metric"], groups(measured, lambda m: m["metric"]), lambda m: m["metric"])
    check_rows(by["thread"], groups(measured, lambda m: (m["metric"], m["pid"], m["tid"])),
               lambda m: (m["metric"], m["pid"], m["tid"]))
    waits = {r["metric"] for r in by["object"]}
    check_rows(by["object"],
               groups([m for m in measured if m["metric"] in waits],
                      lambda m: (m["metric"], m["pid"], int(m["object"] or "0", 16))),
               lambda m: (m["metric"], m["pid"], int(m["object"], 16)))
    check_json(tool, folder, measured)


def one_log(tool, folder, seed):
    rng = random.Random(seed)
    sim = jobs_random.Program(rng, rng.choice(("switches", "neither")))
    sim.run()
    jobs_random.log_of(tool, folder, sim.events)
    check(tool, folder)
    jobs_random.log_of(tool, folder, lossy(sim, rng))
    check(tool, folder)


if __name__ == "__main__":
    sys.exit(main(one_log, LOGS))
