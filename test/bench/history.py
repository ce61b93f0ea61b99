#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Keeps the figures of all benchmark runs, and draws them.

No single run shows a creep of a few per cent from run to run.  The history is a CSV file with a line
for each figure of a run: date, commit, processor, id of the row, value, unit, target, and the work
that was measured.  Only figures that are ratios, counts or bytes can be compared across machines.

usage: history.py add RESULTS HISTORY    adds the rows of a run (the file of POSIXTRACE_BENCH_CSV)
       history.py draw HISTORY OUT.png   a panel for each row that has a target
"""

import csv
import datetime
import pathlib
import re
import sys

import report

FIELDS = ("date", "commit", "processor", "id", "value", "unit", "asked", "work")
COLUMNS = 5
COLORS = ("#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")


def new_lines(rows, date, commit, processor):
    """Of the rows of a run; a row that was skipped, or has no number, has none."""
    return [(date, commit, processor, row["id"], f"{float(row['value']):.6g}", row["unit"],
             row["asked"], row["work"])
            for row in rows if row["verdict"] != "skipped" and row["value"] != ""]


def commit_of(root):
    """The pages of figures are no part of what was measured."""
    changed = report.first_line(["git", "status", "--porcelain", "--", ".", ":!docs"], root)
    return report.first_line(["git", "rev-parse", "--short", "HEAD"], root) + (
        "-dirty" if changed else "")


def add(results, history):
    rows, _ = report.parse(results.read_text(encoding="utf-8"))
    commit = commit_of(history.resolve().parent.parent)
    lines = new_lines(rows, str(datetime.date.today()), commit, report.processor())
    is_new = not history.exists()
    with history.open("a", newline="", encoding="utf-8") as to:
        writer = csv.writer(to, lineterminator="\n")
        if is_new:
            writer.writerow(FIELDS)
        writer.writerows(lines)
    print(f"{history}: {len(lines)} figures of {commit}")


def load(history):
    with history.open(newline="", encoding="utf-8") as lines:
        reader = csv.DictReader(lines)
        if tuple(reader.fieldnames or ()) != FIELDS:
            sys.exit(f"{history}: the first line must be {','.join(FIELDS)}")
        return list(reader)


def runs_of(lines):
    """The runs in the order of the file: (date, commit, processor)."""
    return list(dict.fromkeys((l["date"], l["commit"], l["processor"]) for l in lines))


def series(lines):
    """{id: [(run's number, line)]} of the rows that had a target in their last run."""
    place = {run: i for i, run in enumerate(runs_of(lines))}
    all_rows = {}
    for line in lines:
        run = place[line["date"], line["commit"], line["processor"]]
        all_rows.setdefault(line["id"], []).append((run, line))
    return {row: points for row, points in all_rows.items() if points[-1][1]["asked"]}


def limit_of(asked):
    """The number of 'at most 1.35', 'at least 5'."""
    found = re.search(r'[-+]?\d[\d,]*(?:\.\d+)?', asked)
    return float(found.group().replace(",", "")) if found else None


def draw_panel(axes, points, runs):
    """A line for each processor."""
    last = points[-1][1]
    limit = limit_of(last["asked"])
    values = [float(line["value"]) for _, line in points]
    for color, processor in zip(COLORS, dict.fromkeys(line["processor"] for _, line in points)):
        axes.plot([run for run, line in points if line["processor"] == processor],
                  [float(line["value"]) for _, line in points if line["processor"] == processor],
                  marker="o", markersize=3, linewidth=1, color=color)
    if limit is not None:
        axes.axhline(limit, linestyle="--", linewidth=0.8, color="#d55e00")
    axes.set_xlim(-0.5, len(runs) - 0.5)
    axes.set_ylim(0, 1.15 * max([*values, limit or 0]) or 1)
    axes.set_xticks([])
    axes.tick_params(labelsize=6)
    axes.set_title(last["id"], fontsize=7, loc="left", pad=3)
    axes.set_xlabel(f"{float(last['value']):.3g} {last['unit']} ({last['asked']})", fontsize=6)


def draw(history, out):
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("agg")
    import matplotlib.pyplot as plot  # pylint: disable=import-outside-toplevel

    lines = load(history)
    rows, runs = series(lines), runs_of(lines)
    if not rows:
        sys.exit(f"{history}: no row has a target")
    height = -(-len(rows) // COLUMNS)
    figure, panels = plot.subplots(height, COLUMNS, figsize=(11, 1.35 * height + 0.6),
                                   squeeze=False)
    flat = list(panels.flat)
    for axes, points in zip(flat, rows.values()):
        draw_panel(axes, points, runs)
    for axes in flat[len(rows):]:
        axes.set_visible(False)
    figure.suptitle(f"runs: {len(runs)}, {runs[0][0]} ({runs[0][1]}) to {runs[-1][0]} "
                    f"({runs[-1][1]}); dashed: the target", fontsize=9)
    figure.tight_layout(rect=(0, 0, 1, 0.99))
    figure.savefig(out, dpi=80)
    print(f"{out}: {len(rows)} rows, {len(runs)} runs")


def self_check():
    rows, _ = report.parse("row|a|work, long|1.25|x|at most 1.35|ok|n\nrow|b|w||||skipped|no\n")
    made = new_lines(rows, "2026-01-01", "c0ffee", "p")
    assert made == [("2026-01-01", "c0ffee", "p", "a", "1.25", "x", "at most 1.35", "work, long")]
    assert limit_of("at most 1,350.5") == 1350.5 and limit_of("") is None
    lines = [dict(zip(FIELDS, made[0])), dict(zip(FIELDS, made[0]), date="2026-01-02", value="2")]
    assert [(run, line["value"]) for run, line in series(lines)["a"]] == [(0, "1.25"), (1, "2")]


def main():
    self_check()
    if len(sys.argv) != 4 or sys.argv[1] not in ("add", "draw"):
        sys.exit(__doc__)
    (add if sys.argv[1] == "add" else draw)(*map(pathlib.Path, sys.argv[2:4]))


if __name__ == "__main__":
    main()
