#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace record --rotate --keep --outdir, and verbs that read the folder: the pieces of one stream
are one log, also with another stream's between them, after a kill, and where some are missing.

usage: pieces.py POSIXTRACE PLAIN

PLAIN is the program of plain.c.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

BATCHES, BATCH = 4, 500
MANY = 60    # batches, for a test that repeats what a flush round of the flush thread's own has spoilt


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


class Tool:
    def __init__(self, path):
        self.path = path

    def run(self, *words, status=0):
        done = subprocess.run([self.path, *map(str, words)], text=True, capture_output=True,
                              check=False, timeout=120)
        expect(f"{words}: exit {done.returncode}, not {status}: {done.stderr}",
               done.returncode == status)
        return done

    def events(self, *words):
        return [json.loads(line) for line in self.run("print", "--format=jsonl", *words).stdout.split("\n") if line]

    def info(self, log):
        return [json.loads(line) for line in self.run("info", "--format=jsonl", log).stdout.split("\n") if line]

    def sums(self, log):
        """Events in a log and lost ones."""
        text = self.run("info", log).stdout
        events = int(re.search(r"^events +(\d+)", text, re.M)[1])
        lost = re.search(r"^lost +(\d+) event", text, re.M)
        return events, int(lost[1]) if lost else 0


def finished(folder):
    return sorted(folder.glob("*.ptl"))


def parts(folder):
    return sorted(folder.glob("*.part"))


class Recording:
    """A recording of PLAIN, which records BATCH events, says so and waits; a flush ends a piece."""

    def __init__(self, tool, plain, folder, *words, batches=BATCHES):
        self.tool, self.folder, self.number = tool, folder, batches
        step = ["events", str(BATCH), "tick", "say", "done", "wait"]
        self.done = subprocess.Popen(
            [tool.path, "record", "--rotate=1", f"--outdir={folder}", *words, "--", plain] + batches * step,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def batches(self, count, keep=None):
        """So many of them, each in a piece of its own."""
        for i in range(1, count + 1):
            expect("a batch", self.done.stdout.readline() == "done\n")
            part = self.part()
            self.tool.run("flush", re.search(r"Z\.(\d+)-", part.name)[1])
            while part.exists():
                time.sleep(0.001)
            expect("pieces that stay", keep is None or len(finished(self.folder)) <= keep)
            if i < count:
                self.go_on()

    def part(self):
        """The one that is written: a look at the folder may miss it while the next one takes its place."""
        while not (found := parts(self.folder)):
            expect("the recorder lives", self.done.poll() is None)
        return found[-1]

    def go_on(self):
        self.done.stdin.write("\n")
        self.done.stdin.flush()

    def end(self):
        """The rest, without flushes."""
        self.done.stdin.write(self.number * "\n")
        message = self.done.communicate(timeout=60)[1]
        expect(f"record: {self.done.returncode}: {message}", self.done.returncode == 0)
        return message

    def kill(self):
        """PLAIN stays, and waits for the end of its input."""
        self.done.kill()
        self.done.wait()


def record(tool, plain, folder, *words, keep=None):
    recording = Recording(tool, plain, folder, *words)
    recording.batches(BATCHES - 1, keep)
    return recording.end()


def check_whole(tool, plain, folder):
    message = record(tool, plain, folder)
    pieces = finished(folder)
    expect(f"pieces {pieces}, {parts(folder)}", len(pieces) >= BATCHES and not parts(folder))
    expect(f"names {pieces}", all(re.fullmatch(r"plain-\d{8}T\d{6}Z\.\d+-\d{6}\.ptl", p.name)
                                  for p in pieces))
    expect(message, "events of 1 process in " in message and "none lost" in message)
    for piece in pieces:
        expect("a piece is not whole", "whole" in tool.run("check", piece).stdout)
    alone = [tool.sums(piece) for piece in pieces]
    together = tool.sums(folder)
    expect(f"{together}, {alone}", together == tuple(map(sum, zip(*alone))))
    rows = tool.events(folder)
    expect(f"{len(rows)} events, {together}", len(rows) == together[0])
    ticks = [row["data"] for row in rows if row["event"] == "tick"]
    expect(f"{len(ticks)} ticks", len(ticks) == BATCHES * BATCH)
    expect("other rows", rows == [row for piece in pieces for row in tool.events(piece)])
    for verb in ["metrics", "report", "info"]:
        tool.run(verb, folder)
    tool.run("export", "--to=jsonl", "-o", folder.parent / "exported.jsonl", folder)
    return pieces, together


def check_missing(tool, folder, pieces, together):
    away = folder.parent / pieces[1].name
    missing = tool.sums(pieces[1])
    pieces[1].rename(away)
    done = tool.run("print", "--strict", "--format=jsonl", folder, status=3)
    events, lost = tool.sums(folder)
    expect(f"{events} and {lost} lost of {together}", (events - 2, lost) ==
           (together[0] - missing[0], together[1] + missing[0] + missing[1]))
    expect(done.stderr, f"{missing[0]} events lost" in done.stderr.replace(",", ""))
    names = [json.loads(line)["event"] for line in done.stdout.split("\n") if line]
    expect("no gap", names.count("posix_trace_overflow") == names.count("posix_trace_resume") == 1)
    away.rename(pieces[1])
    expect("the piece is back", tool.sums(folder) == together)


def check_two(tool, plain, folder, together):
    """Pieces of two streams, and a log that has none."""
    record(tool, plain, folder)
    tool.run("record", "-o", folder / "other.ptl", "--", plain, "events", 10, "tick")
    rows = tool.events(folder)
    logs = {row["log"] for row in rows}
    expect(f"logs {logs}", len(logs) == 3)
    expect("streams by their ids", sum(bool(re.fullmatch(r".*/[0-9a-f]{32}", log)) for log in logs) == 2)
    streams = sorted(log for log in logs if not log.endswith(".ptl"))
    expect("each by its id", together in [tool.sums(log) for log in streams])
    expect("text has names", "plain-" in tool.run("print", folder).stdout)
    done = tool.run("info", folder, status=1)
    expect(done.stderr, "has 3 logs; name one of them" in done.stderr)
    tool.run("info", folder / ("0" * 32), status=1)


def check_keep(tool, plain, folder):
    """Of two recordings of a program together."""
    for _ in range(2):
        record(tool, plain, folder, "--keep=2", keep=2)
        expect(f"{finished(folder)} stay", len(finished(folder)) == 2 and not parts(folder))
    events, lost = tool.sums(folder)
    expect(f"{events} and {lost}", events - 2 + lost >= BATCHES * BATCH)


def numbers(folder):
    return [int(re.search(r"-(\d+)\.ptl$", piece.name)[1]) for piece in finished(folder)]


def set_times(folder, first, step):
    """Of the two pieces, from now on, in hours."""
    for i, piece in enumerate(finished(folder)):
        os.utime(piece, (time.time() + 3600 * (first + i * step),) * 2)


def one_replaces(recording, folder, what, first, step):
    """The next piece takes the place of the first of two, whatever their times.  A flush thread that has made
    one of its own meanwhile, as it does a second after an event, has perhaps replaced both: then again."""
    while True:
        before = numbers(folder)
        set_times(folder, first, step)
        recording.go_on()
        recording.batches(1)
        after = numbers(folder)
        expect(f"{before}, then {after} {what}", after[1] == after[0] + 1 and after[0] > before[0])
        if after[0] == before[1]:
            return


def check_clock(tool, plain, folder):
    """The oldest piece goes, not the one that looks oldest after the clock was set back."""
    recording = Recording(tool, plain, folder, "--keep=2", batches=MANY)
    recording.batches(2)
    while len(numbers(folder)) < 2:
        recording.go_on()
        recording.batches(1)
    one_replaces(recording, folder, "with times to come", 9, -1)
    one_replaces(recording, folder, "with times in reverse", -1, -1)
    recording.end()
    expect(f"{numbers(folder)}", numbers(folder)[-1] >= 4 and len(numbers(folder)) == 2)


def kill_recorder(tool, plain, folder):
    """Leaves pieces of a recorder that was killed, with events that are only in memory."""
    recording = Recording(tool, plain, folder, "--quiet")
    recording.batches(2)
    recording.go_on()
    expect("a batch", recording.done.stdout.readline() == "done\n")
    recording.kill()
    expect("nothing is left", parts(folder))
    for piece in finished(folder):
        expect("a finished piece is not whole", "whole" in tool.run("check", piece).stdout)
    return recording


def check_killed(tool, plain, folder):
    recording = kill_recorder(tool, plain, folder)
    before = tool.sums(folder)
    ticks = sum(row["event"] == "tick" for row in tool.events(folder))
    expect(f"{ticks} ticks", ticks == 3 * BATCH)
    done = tool.run("recover", folder)
    expect(done.stdout, re.search(r": [12] pieces? completed", done.stdout))
    expect(f"{parts(folder)} are left", not parts(folder))
    expect(f"{before}, then {tool.sums(folder)}", tool.sums(folder) == before)
    recording.done.communicate(timeout=60)


def check_next(tool, plain, folder):
    """The next recording completes what a killed one has left."""
    recording = kill_recorder(tool, plain, folder)
    message = record(tool, plain, folder)
    expect(message, "of killed recordings in" in message)
    expect(f"{parts(folder)} are left", not parts(folder))
    recording.done.communicate(timeout=60)


def check_strangers(tool, plain, folder):
    """Files that cannot be completed do not keep a program from being recorded."""
    folder.mkdir()
    (folder / "no-20260101T000000Z.1-000001.ptl.part").write_text("no log")
    (folder / "folder.ptl.part").mkdir()
    (folder / "link.ptl.part").symlink_to("/etc/passwd")
    message = record(tool, plain, folder)
    expect(message, message.count("cannot ") == 3 and "none lost" in message)
    tool.run("recover", folder, status=1)


def check_removed(tool, plain, folder):
    """The folder is removed: the first piece that cannot be made says so, and all is lost."""
    recording = Recording(tool, plain, folder)
    recording.batches(1)
    recording.go_on()
    expect("a batch", recording.done.stdout.readline() == "done\n")
    stream = re.search(r"Z\.(\d+)-", recording.part().name)[1]
    while folder.exists():    # again, where the flush thread has made a piece meanwhile
        shutil.rmtree(folder, ignore_errors=True)
    tool.run("flush", stream, status=1)
    said = recording.done.stderr.readline()
    expect(said, f"folder '{folder}' was removed; events go nowhere" in said)
    recording.done.stdin.write(BATCHES * "\n")
    message = recording.done.communicate(timeout=60)[1]
    expect(f"record: {recording.done.returncode}: {message}", recording.done.returncode == 1)
    expect(message, f"{BATCHES * BATCH} events are gone with" in message.replace(",", ""))
    expect(message, "go nowhere" not in message and "cannot" not in message)
    expect("a folder", not folder.exists())


def check_usage(tool, plain, folder):
    wrong = [["--rotate=1M"], ["--keep=2"], [f"--outdir={folder}"], ["--rotate=x", f"--outdir={folder}"],
             ["--rotate=0", f"--outdir={folder}"], ["--rotate=1M", f"--outdir={folder}", "--keep=0"],
             ["--rotate=1M", f"--outdir={folder}", "-o", "x.ptl"],
             ["--rotate=1M", f"--outdir={folder}", "--policy=loop"],
             ["--rotate=1M", f"--outdir={folder}", "--log-size=1M"],
             ["--rotate=1M", f"--outdir={folder}", "--print"]]
    for words in wrong:
        tool.run("record", *words, "--", plain, "events", 1, "tick", status=64)
    expect("a folder", not folder.exists())


def main():
    tool, plain = Tool(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        check_usage(tool, plain, root / "none")
        pieces, together = check_whole(tool, plain, root / "one")
        check_missing(tool, root / "one", pieces, together)
        check_two(tool, plain, root / "one", together)
        check_keep(tool, plain, root / "keep")
        check_clock(tool, plain, root / "clock")
        check_killed(tool, plain, root / "killed")
        check_strangers(tool, plain, root / "strangers")
        check_next(tool, plain, root / "next")
        check_removed(tool, plain, root / "removed")


main()
