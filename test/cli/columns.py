#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""No line of a result is wider than the terminal, for logs with the longest names, ids and
times that there are; what a pipe gets of print is complete.

usage: columns.py POSIXTRACE PLAIN
"""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unicodedata

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from terminal import ESCAPE, expect, on_terminal  # noqa: E402

YEAR = 365 * 86400 * 10**9
LONG = "z" * 240
WIDE = "注文を実行する長い名前" * 7     # 231 bytes, two columns a character
NARROW = "e\u0301" * 80                  # a combining character for each letter
PID = 2**31 - 1
TASKS = "".join(f"{name} {priority} {30 * YEAR // 10**9}s C={YEAR // 10**9}s\n"
                for priority, name in enumerate((LONG[:63], WIDE[:21], "t"), 1))


def columns(line):
    """As Unicode has it, not libc: an oracle of its own."""
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def fits(what, text, most):
    wide = [line for line in ESCAPE.sub("", text).replace("\r", "").split("\n")
            if columns(line) > most]
    expect(f"{what}: over {most} columns: {wide[:3]}", not wide)


def pair(first, second):
    return struct.pack("<Qq", first, second).hex()


def extreme_events():
    """Spans of 20 years and 50 years between them, from two threads."""
    events = []

    def add(ts, tid, event, data="", **more):
        events.append({"ts": ts, "pid": PID - tid % 2, "tid": PID - tid, "event": event, "data": data,
                       "thread": "日本語スレ" if tid % 2 else "worker-of-queue", **more})
    for i in range(4):
        for tid in range(2):
            at = 10**18 + i * 50 * YEAR
            add(at, tid, LONG + ":begin")
            add(at + 1, tid, WIDE, "ff" * 64)
            add(at + 2, tid, "posixtrace_sleep", pair(0, at + YEAR))
            add(at + 3, tid, "posixtrace_switch_out", "00000000")
            add(at + 4, tid, NARROW, "ff" * 8)
            add(at + 5, tid, "text", ("Lorem ipsum " * 20).encode().hex(), trunc=1)
            add(at + 6, tid, "order", "05000000000000000000c03f" + "41" * 300 + "00",
                description="u64 number_of_the_order; f32 price_of_it; str its_symbol")
            add(at + 7, tid, "wrong", "05", description="u64 number_of_the_order; str its_symbol")
            add(at + YEAR, tid, "posixtrace_switch_in", "00000000")
            add(at + YEAR + 5, tid, "posixtrace_sleep_done", pair(0, at + YEAR))
            add(at + YEAR + 7, tid, "posixtrace_mutex_lock", "ff" * 8)
            add(at + 2 * YEAR, tid, "posixtrace_mutex_locked", "ff" * 8 + "00" * 8)
            add(at + 3 * YEAR, tid, "posixtrace_mutex_unlock", "ff" * 8)
            add(at + 20 * YEAR, tid, LONG + ":end")
    return sorted(events, key=lambda event: event["ts"])


def make_log(tool, folder, events):
    log = folder / "a.ptl"
    subprocess.run([tool, "import", "--from=jsonl", "-", log], check=True,
                   input="\n".join(map(json.dumps, events)).encode() + b"\n")
    return log


def run(tool, folder, *arguments, **environment):
    """rta ends with 1 where a task is late."""
    done = subprocess.run([tool, *map(str, arguments)], cwd=folder, capture_output=True,
                          stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, "COLUMNS": "80", **environment})
    if done.returncode != 0 and (arguments[0] != "rta" or done.returncode != 1 or done.stderr):
        sys.exit(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.decode("utf-8", "surrogateescape")


def check_print(tool, folder, log, events):
    for width in (40, 60, 80, 100, 132):
        text = on_terminal(tool, ["print", log], width)
        fits(f"print on {width}", text, width)
        rows = [line for line in text.splitlines() if not ESCAPE.sub("", line).startswith("#")]
        expect(f"a row for each event on {width}", len(rows) == len(events))
        fits(f"print --width={width}", run(tool, folder, "print", f"--width={width}", log), width)
        piped = subprocess.run([tool, "print", f"--width={width}"], input=log.read_bytes(),
                               capture_output=True, check=True)
        fits(f"print - of {width}", piped.stdout.decode(), width)
    text = on_terminal(tool, ["print", log], 80)
    for mark in ("..", "...", " +"):
        expect(f"what is cut has a mark: {mark}", mark in text)
    expect("columns are aligned", len({columns(ESCAPE.sub("", line).split("0xfff")[0])
                                       for line in text.splitlines() if "0xfff" in line}) == 1)


def check_pipe(tool, folder, log, events):
    """All names and all data, whatever COLUMNS says."""
    text = run(tool, folder, "print", log)
    for event in events:
        if not event["event"].startswith("posixtrace_"):
            expect(f"{event['event']} in a pipe", event["event"] in text)
        if event["event"] in (WIDE, NARROW, "text", "wrong"):
            expect(f"{event['data']} in a pipe", event["data"] in text)
    expect("fields in a pipe", "A" * 300 in text)


def check_results(tool, folder, log):
    (folder / "tasks").write_text(TASKS)
    for arguments in (["info"], ["info", f"--event={LONG}*", "--from=+1s"], ["check"],
                      ["metrics", f"--where={LONG}*", f"--event={WIDE}*", "--to=+9999min"],
                      ["metrics"], ["metrics", "--stats"],
                      ["metrics", "--each"], ["metrics", "--cost=123456", "--stats"],
                      ["metrics", "--set=marte"],
                      ["metrics", "--set=marte", "--stats"],
                      ["metrics", f"--user={WIDE}:text:order"],
                      ["metrics", "--stats", f"--user={WIDE}:text:order"], ["rta", "tasks"],
                      ["report"], ["report", f"--where={LONG}*", f"--event={WIDE}*", "--from=+0s"],
                      ["why"], ["why", "--metric=Mutex Wait"], ["why", "--worst=9", LONG],
                      ["why", f"{LONG}:begin..{WIDE}"]):
        for width in (80, 132):
            fits(f"{arguments} on {width}",
                 run(tool, folder, *arguments, "a.ptl", COLUMNS=str(width)), width)
    fits("rta", run(tool, folder, "rta", "tasks"), 80)
    for arguments in (["doctor"], ["selftest", "--seconds=1"], ["metrics", "--list"],
                      ["export", "--list"], ["import", "--list"], ["--help"], ["--version"]):
        fits(arguments, run(tool, folder, *arguments), 80)
    verbs = re.findall(r"^  ([a-z|]+) ", run(tool, folder, "--help"), flags=re.M)
    for verb in "|".join(verbs).split("|"):
        fits(f"{verb} --help", run(tool, folder, verb, "--help"), 80)


def check_damaged(tool, folder, log):
    """Each place and the sums of a log with many faults, also without its end."""
    data = bytearray(log.read_bytes())
    for at in range(5000, len(data) - 6000, 700):
        data[at] ^= 255
    for name, end in (("damaged.ptl", None), ("cut.ptl", -6000)):
        (folder / name).write_bytes(data[:end])
        done = subprocess.run([tool, "check", name], cwd=folder, capture_output=True, check=False,
                              env={**os.environ, "COLUMNS": "80"})
        text = done.stdout.decode()
        expect(f"faults are found: {text}{done.stderr}", done.returncode == 1 and "at byte" in text)
        fits(f"check {name}", text, 80)


def check_stream(tool, folder, plain):
    """A stream with a long name and a long log path, left alone while it is listed."""
    (folder / LONG[:200]).mkdir()
    recorded = subprocess.Popen(
        [tool, "record", "--quiet", "-o", folder / LONG[:200] / f"{LONG[:200]}.ptl",
         f"--filter={LONG[:100]}*", f"--filter=!{LONG[:99]}a*", plain,
         "events", "1", WIDE[:60], "say", "go", "wait"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        recorded.stdout.readline()
        text = run(tool, folder, "list")
        expect(f"it is listed: {text}", "running" in text)
        fits("list", text, 80)
        pid = re.search(r"^ *(\d+)", text, flags=re.M).group(1)
        fits("filter", run(tool, folder, "filter", pid), 80)
        fits("snapshot", run(tool, folder, "snapshot", pid, "-o", "s.ptl"), 80)
        fits("info of a snapshot", run(tool, folder, "info", "s.ptl"), 80)
    finally:
        recorded.stdin.close()
        recorded.wait()


def main():
    tool, plain = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        events = extreme_events()
        log = make_log(tool, folder, events)
        check_print(tool, folder, log, events)
        check_pipe(tool, folder, log, events)
        check_results(tool, folder, log)
        check_damaged(tool, folder, log)
        check_stream(tool, folder, plain)


if __name__ == "__main__":
    main()
