#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The tables of docs/fleet.md against the columns of the library.

usage: tables.py SOURCE_ROOT SHOW_COLUMNS
"""

import pathlib
import re
import subprocess
import sys

ROOT, SHOW = sys.argv[1:3]
COMMON = "Columns of all tables"
# Names that need quotes in one of the engines.
RESERVED = set("""all and any array as asc between by case cast check collate column create cross default desc distinct else
    end except exists false fetch for foreign format from full global grant group having if in inner insert intersect interval into is
    join key lateral left like limit natural not null offset on only or order outer placing prewhere primary references
    returning right sample select settings some symmetric table then to totals trailing true union unique update using
    values when where window with""".split())


def documented():
    """{table: [(name, type, unit)]}"""
    found, section = {}, None
    for line in (pathlib.Path(ROOT) / "docs/fleet.md").read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [c.strip() for c in line.strip("|").split("|")] if line.startswith("|") else []
        if len(cells) == 4 and cells[0] != "column" and not set(cells[0]) <= set("-:"):
            found.setdefault(section, []).append(tuple(cells[:3]))
    return {table: found[COMMON] + rows for table, rows in found.items() if table != COMMON}


def main():
    there = {}
    for line in subprocess.run([SHOW], capture_output=True, text=True, check=True).stdout.splitlines():
        table, place, name, kind, unit, about = line.split("\t")
        there.setdefault(table, []).append((name, kind, unit))
        if int(place) + 1 != len(there[table]) or not about or not re.fullmatch(r"[a-z_]+", name) or name in RESERVED:
            sys.exit(f"not a column: {line}")
    wanted = documented()
    if list(there) != ["events", "measurements", "gaps"] or set(wanted) != set(there):
        sys.exit(f"tables: {list(there)}, in docs/fleet.md {list(wanted)}")
    for table, columns in there.items():
        for a, b in zip(columns, wanted[table]):
            if a != b:
                sys.exit(f"{table}: {a}, in docs/fleet.md {b}")
        if len(columns) != len(wanted[table]) or len(set(columns)) != len(columns):
            sys.exit(f"{table}: {len(columns)} columns, in docs/fleet.md {len(wanted[table])}")


main()
