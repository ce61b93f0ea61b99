#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace selftest: it passes here, it fails with a faulty library, it leaves no files, and its
table fits 80 columns.  Its measurements are not judged.

usage: selftest.py POSIXTRACE [FORGETFUL]

FORGETFUL is the preloaded library of forgetful.c; without it that part is left
out (a sanitizer's runtime would have to come first).  With POSIXTRACE_TEST_SHORT
in the environment one fault and one signal are tried.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

TIMEOUT = 240
CHECKS = {"kill -9", "signals", "clock order", "clock drift", "books", "reading"}
# What each fault of forgetful.c must be found by, at least.
FINDS = {"drop": {"kill -9", "signals", "clock order", "clock drift", "books", "reading"},
         "twice": {"kill -9", "signals", "books", "reading"},
         "time": {"clock order", "clock drift", "reading"},
         "late": {"clock drift"}}
ASK = ["selftest", "--seconds", "1"]
# Signals that end it, and when they come, in seconds after its start.
INTERRUPTS = {signal.SIGINT: 0.2, signal.SIGTERM: 0, signal.SIGHUP: 1}
SHORT = "POSIXTRACE_TEST_SHORT" in os.environ


class Place:
    """A folder for logs and one for streams, both empty before and after."""

    def __init__(self, tool, name):
        self.tool, self.folder = tool, pathlib.Path(name)
        (self.folder / "logs").mkdir()
        (self.folder / "streams").mkdir(mode=0o700)

    def environment(self, **more):
        return {**os.environ, "POSIXTRACE_DIR": str(self.folder / "streams"), "LC_ALL": "C", **more}

    def run(self, *arguments, **more):
        done = subprocess.run([self.tool, *arguments], cwd=self.folder / "logs",
                              env=self.environment(**more), capture_output=True, text=True,
                              timeout=TIMEOUT, check=False)
        self.is_clean(f"{arguments} {more}")
        return done

    def is_clean(self, what):
        # process pages of children that were killed are reaped by the next program
        left = [path for path in self.folder.rglob("*posixtrace-*")]
        left += list((self.folder / "logs").iterdir())
        if left:
            sys.exit(f"{what} left {left}")


def expect(what, truth):
    if not truth:
        sys.exit(what)


def check_table(place):
    done = place.run(*ASK)
    expect(f"exit {done.returncode}\n{done.stdout}\n{done.stderr}", done.returncode == 0)
    expect(f"stderr: {done.stderr}", not done.stderr)
    wide = [line for line in done.stdout.splitlines() if len(line) > 80 and "/" not in line]
    expect(f"too wide: {wide}", not wide)
    passed = set(re.findall(r'^passed  (.*?)  ', done.stdout, flags=re.M))
    expect(f"{passed}\n{done.stdout}", passed == CHECKS)
    expect(done.stdout, "6 of 6 checks passed" in done.stdout)


def failed_checks(done):
    report = json.loads(done.stdout)
    expect(f"checks: {done.stdout}", set(report["checks"]) == CHECKS)
    failed = {name for name, check in report["checks"].items() if not check["passed"]}
    expect(f"verdict and status: {done.returncode} {done.stdout}",
           report["passed"] == (not failed) and done.returncode == (1 if failed else 0))
    return failed


def check_json(place):
    done = place.run(*ASK, "--format=jsonl", "--log", str(place.folder))
    expect(done.stdout, failed_checks(done) == set())
    report = json.loads(done.stdout)
    for name in ("library", "kernel", "processor", "clock", "pages", "streams", "logs"):
        expect(f"no fact {name}: {done.stdout}", report["facts"].get(name))
    for name in ("event_8_ns", "event_8_p999_ns", "event_8_p9999_ns", "event_8_cold_ns",
                 "event_8_ratio", "no_stream_ns", "filtered_ns", "stopped_ns", "read_rate"):
        expect(f"no figure {name}: {done.stdout}", report["figures"][name]["value"] > 0)


def check_faults(place, forgetful):
    for fault, finds in list(FINDS.items())[:1 if SHORT else None]:
        done = place.run(*ASK, "--format=jsonl", LD_PRELOAD=forgetful, FORGETFUL=fault)
        failed = failed_checks(done)
        expect(f"{fault}: only {failed} failed\n{done.stdout}", finds <= failed)
    done = place.run(*ASK, "--format=jsonl", LD_PRELOAD=forgetful, FORGETFUL="nothing")
    expect(f"without a fault: {done.stdout}", failed_checks(done) == set())


def check_no_directory(place):
    """Streams without a name end with their process, and that is found."""
    done = place.run(*ASK, "--format=jsonl", POSIXTRACE_DIR=str(place.folder / "none" / "there"))
    expect(done.stdout, failed_checks(done) == {"kill -9"})


def check_errors(place):
    for arguments, status, said in (
            (["--log", "none"], 1, "cannot make a folder for logs in 'none': No such file or "
                                   "directory; name another place with --log"),
            (["--log", place.tool], 1, "Not a directory"),
            (["--log", "/proc"], 1, "cannot make a folder for logs in '/proc'"),
            (["--seconds", "0"], 64, "--seconds takes a number from 1 to 600, found '0'"),
            (["--seconds", "9x"], 64, "found '9x'"),
            (["here"], 64, "takes no operand, found 'here'")):
        done = place.run("selftest", *arguments)
        expect(f"{arguments}: {done.returncode} {done.stderr}",
               done.returncode == status and said in done.stderr and not done.stdout)


def heed_signals():
    """Whoever started the tests may have ignored some, as nohup does."""
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_DFL)


def check_interrupt(place):
    """Wherever it is when the signal comes: at a moment that differs from run to run."""
    for number, moment in list(INTERRUPTS.items())[:1 if SHORT else None]:
        process = subprocess.Popen([place.tool, "selftest"], cwd=place.folder / "logs",
                                   env=place.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals)
        while not list((place.folder / "logs").iterdir()):
            expect("it ended before it began", process.poll() is None)
            time.sleep(0.01)
        time.sleep(moment)
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT)
        expect(f"{number}: status {process.returncode} {err}", process.returncode == -number)
        expect(f"{number}: {out} {err}", not out and "interrupted; all its files" in err)
        place.is_clean(f"signal {number}")


def main():
    tool = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        place = Place(tool, name)
        check_table(place)
        check_json(place)
        check_errors(place)
        check_no_directory(place)
        check_interrupt(place)
        if len(sys.argv) > 2:
            check_faults(place, str(pathlib.Path(sys.argv[2]).resolve()))


if __name__ == "__main__":
    main()
