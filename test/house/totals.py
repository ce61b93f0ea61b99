#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Sums up runs of "meson test" and prints the closing line.

usage: totals.py BROKEN LOGBASE...

BROKEN is the number of parts that could not be run; each counts as failed, as
does a LOGBASE (--logbase, with its folder) without a log or without a test in
it.  Names what failed and what was skipped.  Exits 0 if something passed and
nothing failed.
"""

import glob
import json
import sys

PASSED, SKIPPED = {"OK", "EXPECTEDFAIL"}, {"SKIP"}


def results(base):
    """(name, result) of each test of one run."""
    found = []
    for path in glob.glob(glob.escape(base) + "*.json"):
        with open(path, encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                test = json.loads(line)
                found.append((test["name"], test["result"]))
    return found


def main():
    passed, failed, skipped = 0, int(sys.argv[1]), []
    for base in sys.argv[2:]:
        run = results(base)
        label = base.rpartition("run-")[2]
        if not run:
            print(f"FAILED   {label}: no test was run")
            failed += 1
        for name, result in run:
            if result in PASSED:
                passed += 1
            elif result in SKIPPED:
                skipped.append(f"{label}: {name}")
            else:
                print(f"FAILED   {label}: {name} ({result})")
                failed += 1
    for name in skipped:
        print(f"skipped  {name}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
