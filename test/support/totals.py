#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Sums up runs of "meson test" and prints the closing line.

usage: totals.py BROKEN LOGBASE...

BROKEN is the number of parts that could not be run; each counts as failed, as
does a LOGBASE (--logbase, with its folder) without a log or without a test in
it.  Names what was skipped and what failed, with the last lines that it printed.
Exits 0 if something passed and nothing failed.
"""

import glob
import json
import sys

PASSED, SKIPPED = {"OK", "EXPECTEDFAIL"}, {"SKIP"}
LAST_LINES, LINE = 8, 240


def results(base):
    """(name, result, what it printed) of each test of one run."""
    found = []
    for path in glob.glob(glob.escape(base) + "*.json"):
        with open(path, encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                test = json.loads(line)
                printed = test.get("stdout", "") + "\n" + test.get("stderr", "")
                found.append((test["name"], test["result"], printed))
    return found


def last_lines(printed):
    lines = [line for line in printed.splitlines() if line.strip()]
    return "".join(f"    | {line[:LINE]}\n" for line in lines[-LAST_LINES:])


def main():
    passed, failed, skipped, words = 0, int(sys.argv[1]), [], ""
    for base in sys.argv[2:]:
        run = results(base)
        label = base.rpartition("run-")[2]
        if not run:
            words += f"FAILED   {label}: no test was run\n"
            failed += 1
        for name, result, printed in run:
            if result in PASSED:
                passed += 1
            elif result in SKIPPED:
                skipped.append(f"{label}: {name}")
            else:
                words += f"FAILED   {label}: {name} ({result})\n" + last_lines(printed)
                failed += 1
    for name in skipped:
        print(f"skipped  {name}")
    print(words, end="")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
