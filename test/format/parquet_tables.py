#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The folder that export --to=parquet writes: its tables against their rows (show_tables), events
against the file of events alone, partitions, and logs that are added.

usage: parquet_tables.py CASE POSIXTRACE SHOW_TABLES LOSSY
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from parquet_file import File
from parquet_logs import line, need

CASE, TOOL, SHOW, LOSSY = sys.argv[1:5]
TABLES = ["events", "gaps", "measurements"]
DAY = 86400 * 10**9
PIECE_AT = 328  # in a log's header: docs/log-format.md, 2


def run(*command, status=0, **options):
    done = subprocess.run([TOOL, *map(str, command)], capture_output=True, timeout=100, check=False, **options)
    need(done.returncode == status, *command, "exit", done.returncode, done.stderr.decode())
    return done


def export(log, out, *options, status=0, **others):
    return run("export", "--to=parquet", *options, log, f"{out}/", status=status, **others)


def rows_of(log, table, *host):
    done = subprocess.run([SHOW, log, table, *host], capture_output=True, timeout=100, check=True)
    return [json.loads(row) for row in done.stdout.decode(errors="surrogateescape").split("\n") if row]


def files_of(out):
    return sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())


def compare(path, rows):
    file = File(path.read_bytes())
    need(file.rows == len(rows), file.rows, "rows, not", len(rows))
    for column in file.columns:
        wanted = [row[column.name] for row in rows]
        need(column.values == wanted, column.name, [p for p in zip(column.values, wanted) if p[0] != p[1]][:3])
    need(not rows or [c.name for c in file.columns] == list(rows[0]), "other columns")


def identity(log):
    return json.loads(run("info", "--format=jsonl", log).stdout)["id"]


def lossy_log(folder, how):
    subprocess.run([LOSSY, folder / f"{how}.ptl", how], check=True, timeout=100)
    return folder / f"{how}.ptl"


def case_rows(folder):
    """Three files, each with the rows of its table."""
    for how in ("one", "loop", "overwrite"):
        log, out = lossy_log(folder, how), folder / f"{how}-out"
        export(log, out)
        name = identity(log) + ".parquet"
        need(files_of(out) == [f"{t}/{name}" for t in TABLES], files_of(out))
        for table in ("measurements", "gaps"):
            compare(out / table / name, rows_of(log, table))
            run("export", "--to=parquet", "--time=integer", f"--table={table}", log, folder / "alone.parquet", "--force")
            need((folder / "alone.parquet").read_bytes() == (out / table / name).read_bytes(), "a table alone")
        run("export", "--to=parquet", "--time=integer", log, folder / "alone.parquet", "--force")
        need((folder / "alone.parquet").read_bytes() == (out / "events" / name).read_bytes(), "events alone")
        need(File((out / "gaps" / name).read_bytes()).pairs["posixtrace.lost"] ==
             str(json.loads(run("info", "--format=jsonl", log).stdout)["lost"]), "what is lost")


def case_add(folder):
    """Logs are added; the same again is an error, or replaced; nothing is left where it fails."""
    first, second, out = lossy_log(folder, "one"), lossy_log(folder, "stream"), folder / "out"
    export(first, out)
    export(second, out, "--host=a/b")
    names = sorted(f"{t}/{identity(log)}.parquet" for t in TABLES for log in (first, second))
    need(files_of(out) == names, files_of(out))
    need(b"--force" in export(first, out, status=1).stderr, "what to do")
    before = {n: (out / n).read_bytes() for n in names}
    export(first, out, "--force", "--host=other")
    changed = {n for n in names if (out / n).read_bytes() != before[n]}
    need(changed == {f"{t}/{identity(first)}.parquet" for t in TABLES}, changed)
    need(set(File((out / "events" / f"{identity(first)}.parquet").read_bytes()).by_name["host"].values) == {"other"}, "host")
    piece = pathlib.Path(__file__).resolve().parent.parent / "data" / "log-1" / "piece.ptl"
    number = int.from_bytes(piece.read_bytes()[PIECE_AT:PIECE_AT + 4], "little")
    need(number > 0, "the header has the number of the piece")
    export(piece, folder / "pieces")
    file = f"{identity(piece)}-{number:06}.parquet"
    need(files_of(folder / "pieces") == [f"{t}/{file}" for t in TABLES], files_of(folder / "pieces"))
    need(set(File((folder / "pieces/events" / file).read_bytes()).by_name["piece"].values) == {number}, "piece")
    bad = folder / "bad.ptl"
    bad.write_bytes(first.read_bytes()[:100])
    export(bad, out, status=1)
    done = run("export", "--to=parquet", "-", f"{folder}/piped/", status=1, input=first.read_bytes())
    need(b"pipe" in done.stderr and not (folder / "piped").exists(), done.stderr)
    (folder / "plain").write_text("x")
    need(export(first, folder / "plain", status=1).returncode == 1, "a file is no folder")
    need(sorted(p.name for p in folder.iterdir()) == ["bad.ptl", "one.ptl", "out", "pieces", "plain", "stream.ptl"], "left")
    for option in ("--table=gaps", "--time=now", "--time="):
        export(first, folder / "none", option, "--force", status=1)
    run("export", "--to=parquet", "--hive", first, folder / "none.parquet", status=1)
    run("export", "--to=parquet", "--table=none", first, folder / "none.parquet", status=1)
    run("export", "--to=jsonl", "--hive", first, folder / "none.jsonl", status=64)
    need(not (folder / "none").exists() and not (folder / "none.parquet").exists(), "an output of an error")


def import_log(folder, events, name="days"):
    (folder / f"{name}.jsonl").write_text("".join(events))
    run("import", "--from=jsonl", folder / f"{name}.jsonl", folder / f"{name}.ptl")
    return folder / f"{name}.ptl"


def case_sync(folder):
    """Times of the common clock, and its error in each row; null without it, from a pipe and without events."""
    start, number = 1795255200 * 10**9, [n.to_bytes(4, "little") for n in range(5)]
    a = [line(start + at, event, number[n], description="u32 id" if i < 2 else None) for i, (at, event, n) in
         enumerate(((10**6, "send", 1), (33 * 10**5, "recv", 2), (5 * 10**6, "send", 3), (73 * 10**5, "recv", 4)))]
    b = [line(start + at, event, number[n], description="u32 id" if i < 2 else None) for i, (at, event, n) in
         enumerate(((-2489 * 10**5, "recv", 1), (-247 * 10**6, "send", 2), (-2449 * 10**5, "recv", 3), (-243 * 10**6, "send", 4)))]
    logs = [import_log(folder, a, "a"), import_log(folder, b, "b")]
    run("sync", "--pair=send by id..recv by id", "-o", folder / "two.sync", *logs)
    widths = []
    for log in logs:
        export(log, folder / "out", f"--sync={folder}/two.sync")
        columns = File((folder / "out/events" / f"{identity(log)}.parquet").read_bytes()).by_name
        shown = run("print", "--format=jsonl", f"--sync={folder}/two.sync", log).stdout.splitlines()
        need(columns["time"].values == [json.loads(one)["ts"] for one in shown], "times")
        ends = {*zip(columns["clock_least"].values, columns["clock_most"].values)}
        need(len(ends) == 1 and all(least <= 0 <= most for least, most in ends), ends)
        widths += [most - least for least, most in ends]
    need(widths[0] == 0 < widths[1] < 2 * 10**6, "the first one is the common clock", widths)
    export(logs[1], folder / "own")
    columns = File((folder / "own/events" / f"{identity(logs[1])}.parquet").read_bytes()).by_name
    need({*columns["clock_least"].values, *columns["clock_most"].values} == {None}, "no clock was given")


def case_hive(folder):
    """A file for each date; names of hosts are escaped, and no host is the null of Hive."""
    start = 1795824000 * 10**9  # 2026-11-28
    events = [line(start - 5, "x:begin", b""), line(start + 1, "x:end", b""), line(start + 2, "x:begin", b""),
              line(start + 2 * DAY + 7, "x:end", b""), line(start + 2 * DAY + 8, "tick", b"abc", description="str[3] a")]
    log, out = import_log(folder, events), folder / "out"
    export(log, out, "--hive", "--host=a=b/ü")
    name, host = identity(log) + ".parquet", "host=a%3Db%2F%C3%BC"
    dates = {"events": ["2026-11-27", "2026-11-28", "2026-11-30"], "measurements": ["2026-11-28", "2026-11-30"],
             "gaps": ["2026-11-27"]}
    need(files_of(out) == sorted(f"{t}/{host}/date={d}/{name}" for t, of in dates.items() for d in of), files_of(out))
    parts = [File((out / f"events/{host}/date={d}/{name}").read_bytes()) for d in dates["events"]]
    need([p.by_name["position"].values for p in parts] == [[0], [1, 2], [3, 4]], "positions")
    need(parts[2].by_name["tick.a"].values == [None, "abc"] and "tick.a" not in parts[0].by_name, "columns of fields")
    rows = rows_of(log, "measurements", "a=b/ü")
    compare(out / f"measurements/{host}/date=2026-11-28/{name}", [r for r in rows if r["end_time"] < start + DAY])
    compare(out / f"measurements/{host}/date=2026-11-30/{name}", [r for r in rows if r["end_time"] > start + DAY])
    export(log, folder / "none", "--hive")
    need(all("/host=__HIVE_DEFAULT_PARTITION__/" in f for f in files_of(folder / "none")), files_of(folder / "none"))
    empty = import_log(folder, [], "empty")
    export(empty, folder / "no-rows", "--hive", "--host=h")
    need(len(files_of(folder / "no-rows")) == 3, "files of an empty log")


def case_many(folder):
    """More measurements than a row group has."""
    count = 131072 + 500
    lines = [line(10**9 + i, "x:end" if i & 1 else "x:begin", b"", tid=i // 2 % 5 + 1) for i in range(2 * count)]
    log = import_log(folder, lines)
    run("export", "--to=parquet", "--time=integer", "--table=measurements", log, folder / "m.parquet")
    file = File((folder / "m.parquet").read_bytes())
    need(file.groups == [131072, 500], file.groups)
    wanted = {"position": list(range(count)), "begin_time": [10**9 + 2 * i for i in range(count)], "length": [1] * count,
              "tid": [i % 5 + 1 for i in range(count)], "metric": ["x"] * count, "known": [True] * count, "caller": [None] * count}
    for name, values in wanted.items():
        need(file.by_name[name].values == values, name)


def main():
    with tempfile.TemporaryDirectory() as made:
        os.environ["POSIXTRACE_DIR"] = made
        folder = pathlib.Path(made) / "work"
        folder.mkdir()
        globals()["case_" + CASE](folder)


main()
