#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The table that export --to=parquet writes, read by DuckDB: the values are those that
parquet_file.py finds, and queries that skip row groups by their statistics find the same rows.

usage: parquet_duckdb.py POSIXTRACE

Without DuckDB the test is skipped: duckdb.py.
"""

import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

from duckdb import ask, install
from parquet_file import BYTE_ARRAY, DOUBLE, FLOAT, STRING, File
from parquet_logs import big_log, line, need, random_log, random_types

TOOL = pathlib.Path(sys.argv[1]).resolve()
def shown(column, value):
    """As the script prints what DuckDB has."""
    if value is None or isinstance(value, bool):
        return value
    if column.kind in (FLOAT, DOUBLE):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return "-0" if value == 0 and math.copysign(1, value) < 0 else value
    if column.kind == BYTE_ARRAY:
        return value if STRING in column.logical else value.hex()
    return str(value) if column.kind == 2 else value


def export(folder, lines, *options):
    (folder / "in.jsonl").write_text(lines)
    for command in (["import", "--from=jsonl", "--force", "in.jsonl", "a.ptl"],
                    ["export", "--to=parquet", "--force", *options, "a.ptl", "a.parquet"]):
        done = subprocess.run([TOOL, *command], cwd=folder, timeout=100, capture_output=True, check=False)
        need(done.returncode == 0, done.stderr.decode())
    return File((folder / "a.parquet").read_bytes())


def compare(folder, file):
    (names, rows), = ask(folder, "select * from 'a.parquet' order by position")
    need(len(rows) == file.rows and len(names) == len(file.columns), len(rows), "rows", len(names), "columns")
    for at, column in enumerate(file.columns):
        for row, value in zip(rows, column.values):
            need(row[at] == shown(column, value), f"{column.name}: {row[at]!r}, not {value!r}")


def ordered(v):
    return v.encode() if isinstance(v, str) else v


def count_query(file, name, value, sign, holds):
    column = f'"{name}"'
    quoted = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
    found = sum(v is not None and holds(ordered(v), ordered(value)) for v in file.by_name[name].values)
    return f"select count(*)::integer from 'a.parquet' where {column} {sign} {quoted}", found


def compare_selections(folder, file, rng, names):
    queries = []
    for name in names:
        values = [v for v in set(file.by_name[name].values) if v is not None]
        for value in rng.sample(sorted(values), min(4, len(values))):
            queries += [count_query(file, name, value, "=", lambda a, b: a == b),
                        count_query(file, name, value, "<", lambda a, b: a < b),
                        count_query(file, name, value, ">", lambda a, b: a > b)]
    queries.append(("select count(*)::integer from 'a.parquet' where \"tick.a\" is null",
                    file.by_name["tick.a"].values.count(None)))
    for (query, wanted), (_, rows) in zip(queries, ask(folder, *(q for q, _ in queries))):
        need(rows == [[wanted]], f"{query}: {rows}, not {wanted}")


def compare_metadata(folder, file):
    (_, pairs), (_, types) = ask(folder, "select decode(key), decode(value) from parquet_kv_metadata('a.parquet')",
                                 "select column_name, column_type from (describe select * from 'a.parquet')")
    need(dict(map(tuple, pairs)) == file.pairs, pairs)
    types = dict(map(tuple, types))
    wanted = {"time": "TIMESTAMP WITH TIME ZONE", "position": "BIGINT", "address": "UBIGINT", "data": "BLOB",
              "truncated": "BOOLEAN", "event": "VARCHAR", "tick.a": "UINTEGER", "tick.b": "UBIGINT"}
    need({k: types[k] for k in wanted} == wanted, types)


def main():
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        install(folder)
        print("seed", seed, flush=True)
        types = random_types(rng, 40)
        compare(folder, export(folder, random_log(rng, 2000, types), "--time=integer", "--host=here"))
        compare(folder, export(folder, line(1, "one", b""), "--time=integer"))
        file = export(folder, big_log())
        compare_metadata(folder, file)
        compare_selections(folder, file, rng, ("position", "pid", "tid", "thread", "event", "address", "tick.a",
                                               "tick.b", "late.c"))
        need(ask(folder, "select count(*)::integer from 'a.parquet'")[0][1] == [[file.rows]], "rows")
        export(folder, "")
        need(ask(folder, "select count(*)::integer from 'a.parquet'")[0][1] == [[0]], "an empty table")


main()
