#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace export of several logs: the lines of each, in its order and with its name, in one order
of time; formats of one log refuse them.

usage: several_export.py POSIXTRACE
"""

import csv
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

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
        for form in ("chrome", "perfetto", "btf", "parquet"):
            done = run(tool, "export", f"--to={form}", folder, out.with_suffix(".x"), status=64)
            expect(f"{form}: {done.stderr}", form in done.stderr and "jsonl or csv" in done.stderr)
        run(tool, "export", "--to=jsonl", "--from=+1s", folder, "-o", "-", status=64)
        done = run(tool, "export", "--to=jsonl", logs[1], logs[1], "-o", "-", status=1)
        expect("the same log twice", "same file" in done.stderr)


main()
