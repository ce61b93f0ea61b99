#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Writes the figures of a benchmark run into docs/benchmarks.md.

The page is written by hand, except for the part between its two marks, which is replaced: the
machine, a table of the figures with a target, one of those without, and the raw medians, all from
the file that POSIXTRACE_BENCH_CSV named.

usage: report.py RESULTS BENCHMARKS_MD [COMPILER]
"""

import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
ROW = ("id", "work", "value", "unit", "asked", "verdict", "note")
RAW = ("group", "side", "median", "low", "high", "rounds")


def parse(text):
    """(rows, raws), the last of each id; a row that was measured twice counts once."""
    rows, raws = {}, {}
    for number, line in enumerate(text.splitlines(), 1):
        kind, *fields = line.split("|")
        if kind == "row" and len(fields) == len(ROW):
            rows[fields[0]] = dict(zip(ROW, fields))
        elif kind == "raw" and len(fields) == len(RAW):
            raws[fields[0], fields[1]] = dict(zip(RAW, fields))
        else:
            sys.exit(f"line {number} of the results is neither a row nor a median: {line}")
    return list(rows.values()), list(raws.values())


def number(text):
    """Three significant digits are what these figures are good for."""
    if text == "":
        return ""
    value = float(text)
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table(head, lines):
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *lines]) + "\n"


def asked_table(rows):
    lines = []
    for row in rows:
        if row["verdict"] == "skipped":
            lines.append((row["work"], "not measured", "", "", row["note"]))
        elif row["asked"]:
            lines.append((row["work"], f"{number(row['value'])} {row['unit']}", row["asked"],
                          "ok" if row["verdict"] == "ok" else f"**{row['verdict']}**",
                          row["note"]))
    return table(("work", "measured", "asked", "", "behind it"), lines)


def reported_table(rows):
    return table(("work", "measured", "behind it"),
                 [(row["work"], f"{number(row['value'])} {row['unit']}", row["note"])
                  for row in rows if not row["asked"] and row["verdict"] != "skipped"])


def raw_table(raws):
    return table(("comparison", "contestant", "median ns", "10 % to 90 %", "rounds"),
                 [(r["group"], r["side"], r["median"], f"{r['low']} to {r['high']}", r["rounds"])
                  for r in raws])


def first_line(command, root):
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        return done.stdout.split("\n")[0].strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def processor():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    name = re.search(r'^model name\s*:\s*(.*)$', text, flags=re.M)
    virtual = re.search(r'^flags\s*:.*\bhypervisor\b', text, flags=re.M)
    return (name.group(1) if name else platform.machine()) + (
        ", a virtual machine" if virtual else "")


def machine(root, compiler):
    """Facts of this machine, as lines of a list."""
    memory = re.search(r'MemTotal:\s+(\d+)', pathlib.Path("/proc/meminfo").read_text())
    clock = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    commit = first_line(["git", "describe", "--always", "--dirty"], root)
    yield f"date: {datetime.date.today()}" + (f", commit {commit}" if commit else "")
    yield f"processor: {processor()}, {os.cpu_count()} of them"
    yield f"memory: {int(memory.group(1)) / 2**20:.0f} GiB"
    yield (f"kernel: {platform.release()}, clocksource "
           f"{clock.read_text().strip() if clock.exists() else 'unknown'}")
    if compiler:
        yield f"compiler: {compiler}, meson buildtype release"
    for program in ("lttng", "babeltrace2"):
        version = first_line([program, "--version"], root)
        yield f"{program}: {version or 'not installed'}"
    yield (f"load average over the last 15 minutes: {os.getloadavg()[2]:.1f} "
           f"(these benchmarks alone make about 1)")


def figures(rows, raws, facts):
    missed = [row for row in rows if row["verdict"] == "MISSED"]
    met = [row for row in rows if row["verdict"] == "ok"]
    skipped = [row for row in rows if row["verdict"] == "skipped"]
    return "\n".join([
        "### The machine\n", *(f"- {fact}" for fact in facts),
        "\n### What is asked\n",
        f"{len(met)} rows keep to what is asked, {len(missed)} miss it, {len(skipped)} were not "
        f"measured.\n",
        asked_table(rows), "### What is only reported\n", reported_table(rows),
        "### Raw medians\n",
        "Nanoseconds a call, over all rounds of a comparison.\n", raw_table(raws)])


def self_check():
    rows, raws = parse("row|a|work|1.234|x floor|at most 1.35|ok|n\n"
                       "row|a|work|1.5|x floor|at most 1.35|MISSED|n\n"
                       "raw|g|s|1|0.5|2|32\n")
    text = figures(rows, raws, ["f"])
    assert "| work | 1.5 x floor | at most 1.35 | **MISSED** | n |" in text and "1.234" not in text
    assert number("1234567") == "1,234,567" and number("0.12345") == "0.123"


def main():
    self_check()
    results, page = map(pathlib.Path, sys.argv[1:3])
    rows, raws = parse(results.read_text(encoding="utf-8"))
    if not rows:
        sys.exit(f"{results}: no rows")
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{page}: the marks '{BEGIN}' and '{END}' must be there once")
    facts = machine(page.resolve().parent, sys.argv[3] if len(sys.argv) > 3 else "")
    new = figures(rows, raws, facts)
    page.write_text(text[:text.index(BEGIN)] + BEGIN + "\n\n" + new + "\n" +
                    text[text.index(END):], encoding="utf-8")
    print(asked_table(rows))


if __name__ == "__main__":
    main()
