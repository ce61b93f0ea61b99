#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace print of several logs and of folders: each log's events in their order, all in one order
of time, each with the name of its log; selections, losses and errors as for one log.

usage: several.py POSIXTRACE TRACED

TRACED is the program of traced.c.
"""

import json
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

LOGS, EVENTS = 7, 400
START = 1_795_000_000_000_000_000


class Tool:
    def __init__(self, path):
        self.path = path

    def run(self, *words, status=0, **more):
        done = subprocess.run([self.path, *map(str, words)], text=True, capture_output=True,
                              check=False, timeout=300, **more)
        expect(f"{words}: exit {done.returncode}, not {status}: {done.stderr}",
               done.returncode == status)
        return done

    def out(self, *words, **more):
        return self.run("print", *words, **more).stdout.splitlines()

    def rows(self, *words):
        return self.out("--format=jsonl", *words)


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


def make(tool, rng, path, number):
    """A log with names, times and threads that other logs have, too; the first ones have no event."""
    ts, lines = START + rng.randint(0, 10**6), []
    for i in range(0 if number == 0 else EVENTS):
        ts += rng.choice((0, 0, 1, 50, rng.randint(0, 5000)))
        lines.append(json.dumps({
            "ts": ts, "pid": 100 + number % 3, "tid": 100 + number % 3, "thread_id": "0x0",
            "thread": f"t{number % 3}", "event": rng.choice(("alpha", "beta", f"own{number}")),
            "addr": "0x0", "trunc": 0, "data": i.to_bytes(4, "little").hex()},
            separators=(",", ":")) + "\n")
    tool.run("import", "--format=jsonl", "-", path, input="".join(lines))


def unlabelled(row):
    return re.sub(r'^\{"log":"[^"]*",', "{", row)


def in_order(tool, logs):
    """jsonl: of each log what it has alone; by time, for equal times by the order of the logs."""
    alone = {str(log): tool.rows(log) for log in logs}
    wanted = sorted(((json.loads(row)["ts"], i, n, row)
                     for i, log in enumerate(logs) for n, row in enumerate(alone[str(log)])))
    rows = tool.rows(*logs)
    expect("the events in order", [unlabelled(row) for row in rows] == [w[3] for w in wanted])
    expect("the names of their logs",
           [json.loads(row)["log"] for row in rows] == [str(logs[w[1]]) for w in wanted])
    expect("as many rows of csv", len(tool.out("--format=csv", *logs)) == len(rows) + 1)


def selected(tool, logs):
    """A selection takes from all logs what it takes from each."""
    for options in (["--event=alpha"], ["--event=own*", "--pid=101"], ["--tid=102"],
                    [f"--from={START + 600_000}", f"--to={START + 900_000}"]):
        each = sorted(row for log in logs for row in tool.rows(*options, log))
        rows = tool.rows(*options, *logs)
        expect(f"{options}: some events, not all", 0 < len(rows) < len(tool.rows(*logs)))
        expect(f"{options}", sorted(map(unlabelled, rows)) == each)
    first = min(json.loads(tool.rows(log)[0])["ts"] for log in logs[1:])
    expect("a time after the first event of all",
           tool.rows("--to=+100us", *logs) == tool.rows(f"--to={first + 100_000}", *logs))


def as_text(tool, folder, logs):
    lines = tool.out(folder)
    heads = [line for line in lines if line.startswith("#")]
    expect(f"the title: {heads}", heads[0].startswith(f"# {LOGS} logs: {(LOGS - 1) * EVENTS} events"))
    expect(f"the columns: {heads}", re.search(r"TIME +DELTA +LOG +PID +THREAD +EVENT", heads[1]))
    names = {line.split()[2] for line in lines if not line.startswith("#")}
    expect(f"the logs {names}", names == {log.stem for log in logs[1:]})
    expect("all events", len(lines) - len(heads) == (LOGS - 1) * EVENTS)
    expect("a folder is its logs", tool.rows(folder) == tool.rows(*logs))
    for width in (40, 60, 80, 132):
        expect(f"width {width}",
               all(len(line) <= width for line in tool.out(f"--width={width}", folder)))


def same_names(tool, folder, log):
    """Logs of one name in two folders are numbered."""
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    paths = [shutil.copy(log, folder / sub / "app.ptl") for sub in "ab"]
    names = {line.split()[2] for line in tool.out(*paths) if not line.startswith("#")}
    expect(f"numbered names: {names}", names == {"1:app", "2:app"})


def wrong(tool, folder, logs):
    (folder / "empty").mkdir()
    (folder / "bad.ptl").write_bytes(b"no log")
    for words, said in ((("print", logs[1], logs[1]), "are the same file"),
                        (("print", folder / "empty"), "has no log"),
                        (("print", logs[1], folder / "none.ptl"), "cannot open"),
                        (("print", logs[1], folder / "bad.ptl"), "is not a trace log")):
        stderr = tool.run(*words, status=1).stderr
        expect(f"{words}: {stderr}", said in stderr)
    stderr = tool.run("print", logs[1], "-", status=1, stdin=subprocess.PIPE).stderr
    expect(f"a pipe: {stderr}", "not a trace log" in stderr or "is a pipe" in stderr)
    with subprocess.Popen(["cat", logs[2]], stdout=subprocess.PIPE) as piped:
        stderr = tool.run("print", logs[1], "-", status=1, stdin=piped.stdout).stderr
    expect(f"a log in a pipe: {stderr}", "is a pipe" in stderr)
    for option in ("--tree", "--follow"):
        tool.run("print", option, *logs[:2], status=64)
    note = tool.run("print", "--event=nonsense", *logs).stderr
    expect(f"a name that no log has: {note}", note.count("nonsense") == 1 and f"{LOGS} logs" in note)
    expect("a name that one log has", not tool.run("print", "--event=own3", *logs).stderr)


def cut(tool, folder, logs):
    """A log without its end is printed as far as it goes, and said; --strict ends with 3."""
    part = folder / "cut.ptl"
    whole = logs[1].read_bytes()
    part.write_bytes(whole[:len(whole) * 2 // 3])
    done = tool.run("print", "--strict", "--format=jsonl", part, logs[2], status=3)
    expect(f"what is cut: {done.stderr}", "cut.ptl' is cut" in done.stderr)
    alone = tool.run("print", "--format=jsonl", part).stdout.splitlines()
    rows = [unlabelled(row) for row in done.stdout.splitlines() if "cut.ptl" in row]
    expect("its events", rows == alone)


def lossy(tool, traced, folder, log):
    """A log that has lost events is named."""
    full = folder / "full.ptl"
    subprocess.run([traced, full, "full", "events", "10000"], check=True, timeout=300)
    done = tool.run("print", "--strict", full, log, status=3)
    expect(f"which log lost events: {done.stderr}",
           re.search(r"\d+ events of '.*full\.ptl' lost \(log full", done.stderr))


def many(tool, folder, log):
    """More logs than the soft limit of descriptors."""
    place = folder / "many"
    place.mkdir()
    for i in range(200):
        shutil.copy(log, place / f"log{i:03}.ptl")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    rows = subprocess.run([tool.path, "print", "--format=jsonl", place], text=True, check=True,
                          capture_output=True, timeout=300,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard)))
    expect("all of 200 logs", rows.stdout.count("\n") == 200 * EVENTS)


def main():
    tool, rng = Tool(sys.argv[1]), random.Random(19)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "logs").mkdir()
        logs = [folder / "logs" / f"log{i}.ptl" for i in range(LOGS)]
        for i, log in enumerate(logs):
            make(tool, rng, log, i)
        in_order(tool, logs)
        in_order(tool, [logs[3], logs[1]])
        selected(tool, logs)
        as_text(tool, folder / "logs", logs)
        same_names(tool, folder, logs[1])
        wrong(tool, folder, logs)
        cut(tool, folder, logs)
        lossy(tool, sys.argv[2], folder, logs[1])
        many(tool, folder, logs[1])


if __name__ == "__main__":
    main()
