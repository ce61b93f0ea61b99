#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Counts the instructions of posix_trace_event() and of lines of POSIXTRACE_EVENT.

Compares them with kept numbers.

callgrind counts the instructions between entering and leaving the function, after the first calls,
which do additional work.  So the fast path cannot grow unnoticed, on any machine, however busy.

The numbers depend on compiler and options: instructions.txt has a line for each
"key" (compiler, major version, processor, optimisation).  A key that is not
there is skipped (exit status 77), and the lines to add are printed; so is a
build that valgrind cannot run (valgrind 3.19 and the DWARF 5 of clang 14).

usage: instructions.py VALGRIND COUNT_PROGRAM INSTRUCTIONS_TXT KEY
"""

import pathlib
import re
import subprocess
import sys
import tempfile

WORKS = ("unwanted", "8", "64", "second", "full", "typed", "text", "line", "text-line")
SITES = {"typed": "site_typed", "text": "site_text",
         "line": "site_typed", "text-line": "site_text"}  # functions; the others: posix_trace_event
UNEVEN = ("full",)                                  # some calls may take a few more
SAME = {"switches": "8", "filtered": "unwanted"}    # what takes no more than another work
CALLS = 100
NOT_HERE = 77
SLACK = 2


def kept_numbers(text):
    """{(key, work): count}; a line is "key work count", # begins a comment."""
    kept = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if words:
            if len(words) != 3 or words[1] not in WORKS or not words[2].isdigit():
                sys.exit(f"instructions.txt:{number}: not 'key work count': {line}")
            kept[words[0], words[1]] = int(words[2])
    return kept


def instructions(valgrind, program, work, same):
    """Of all CALLS calls.  same: another work was counted, so this one can be."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "callgrind.out"
        done = subprocess.run(
            [valgrind, "--tool=callgrind", f"--toggle-collect={SITES.get(work, 'posix_trace_event')}",
             "--zero-before=begin_counting", f"--callgrind-out-file={out}", program, work, str(CALLS)],
            capture_output=True, text=True)
        if done.returncode == NOT_HERE:
            print(done.stdout.strip())
            sys.exit(f"{work} takes another way" if same else NOT_HERE)
        if "debuginfo reader" in done.stderr:
            print("this valgrind cannot read the debug information of this compiler")
            sys.exit(NOT_HERE)
        total = re.search(r'^(?:summary|totals): (\d+)', out.read_text() if out.exists() else "",
                          flags=re.M)
        if done.returncode or not total:
            sys.exit(f"{program} {work} {CALLS} under callgrind: exit {done.returncode}\n"
                     f"{done.stdout}{done.stderr}")
        return int(total.group(1))


def count(valgrind, program, work, same=False):
    """Instructions of one call."""
    total = instructions(valgrind, program, work, same)
    # A flush thread runs beside it, which now and then asks one of the calls for more.
    if total == 0 or (total % CALLS and not same and work not in UNEVEN):
        sys.exit(f"{work}: {CALLS} calls took {total} instructions: not the same for each, or none")
    return total // CALLS


def judge(work, found, kept):
    """The fault of a count; None if it has none."""
    if found > kept:
        return (f"{work}: {found} instructions, {found - kept} more than kept: the fast path has "
                f"grown. If that is meant, say why in the commit and keep the new number")
    if found < kept - SLACK:
        return f"{work}: {found} instructions, {kept - found} fewer than kept: keep the lower number"
    return None


def self_check():
    assert judge("8", 60, 60) is None and judge("8", 58, 60) is None
    assert judge("8", 61, 60) and judge("8", 57, 60)
    assert kept_numbers("# x\ngcc-12 8 60 # y\n") == {("gcc-12", "8"): 60}


def main():
    self_check()
    valgrind, program, file, key = sys.argv[1:]
    if not valgrind:
        print("valgrind is not installed")
        return NOT_HERE
    kept = kept_numbers(pathlib.Path(file).read_text(encoding="utf-8"))
    found = {work: count(valgrind, program, work) for work in WORKS}
    wrong = []
    for work, other in SAME.items():
        like = count(valgrind, program, work, same=True)
        if like > found[other]:
            like = min(like, count(valgrind, program, work, same=True))
        if like > found[other]:
            wrong.append(f"{work}: {like} instructions, more than {found[other]} of {other}")
    for work in WORKS:
        print(f"{key} {work} {found[work]}")
        if (key, work) in kept:
            wrong.append(judge(work, found[work], kept[key, work]))
    if not any((key, work) in kept for work in WORKS):
        print(f"{file} has no numbers for {key}; these lines would keep them")
        return NOT_HERE
    wrong += [f"{work}: no number is kept for {key}" for work in WORKS if (key, work) not in kept]
    wrong = [line for line in wrong if line]
    if wrong:
        print("\n".join(wrong))
        print(f"the lines above belong into {file}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
