#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Without a stream, a wrapped call tests one gate, and does nothing else of ours; nor where
the filters of all streams leave its events out.

callgrind counts how often the first thread calls functions, since the flush thread's rounds
depend on the time; the difference between N and 2 N
rounds of four calls has none of what the first calls do.  The instructions that the
library adds to a round are printed.

usage: cost.py VALGRIND PAIRS PRELOAD LIBRARY
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROUNDS, CALLS = 1000, 4
NOT_HERE = 77


def run(valgrind, program, preload, rounds, more):
    """({function: calls}, instructions)"""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment.update(more)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        first_thread = pathlib.Path(folder) / "out-01"
        done = subprocess.run(
            [valgrind, "--tool=callgrind", "--compress-strings=no", "--separate-threads=yes",
             f"--callgrind-out-file={out}", program, str(rounds)],
            env={**environment, **({"LD_PRELOAD": preload} if preload else {})},
            capture_output=True, text=True)
        if re.search("failed to start tool|cannot execute binary file", done.stderr):
            print("this valgrind does not run programs for this processor")
            sys.exit(NOT_HERE)
        if "debuginfo reader" in done.stderr:
            print("this valgrind cannot read the debug information of this compiler")
            sys.exit(NOT_HERE)
        if done.returncode or not first_thread.exists():
            sys.exit(f"{program} under callgrind: exit {done.returncode}\n{done.stderr}")
        text = first_thread.read_text()
    calls = {}
    for name, count in re.findall(r'^cfn=(\S+)\n(?:cfi=.*\n|cfl=.*\n)?calls=(\d+)', text, flags=re.M):
        name = name.split("@")[0]
        calls[name] = calls.get(name, 0) + int(count)
    return calls, int(re.search(r'^(?:summary|totals): (\d+)', text, flags=re.M).group(1))


def difference(valgrind, program, preload, rounds=ROUNDS, more=()):
    few, few_instructions = run(valgrind, program, preload, rounds, more)
    many, many_instructions = run(valgrind, program, preload, 2 * rounds, more)
    calls = {name: count - few.get(name, 0) for name, count in many.items()}
    return calls, many_instructions - few_instructions


def thunks(library):
    """What the callers of nothing call all the same: on 32-bit x86, code that may lie
    anywhere asks there for its own address.  gcc gives these no size, so that callgrind
    has their addresses for their names."""
    listed = subprocess.run(["nm", library], check=True, capture_output=True, text=True).stdout
    found = re.findall(r'^([0-9a-f]+) \S (__x86\.get_pc_thunk\.\w+)$', listed, flags=re.M)
    return {name for address, given in found for name in (given, f"0x{int(address, 16):08x}")}


def judge(calls, tests, expected, more_or_less=0):
    made = calls.get("posixtrace_system_wants", 0)
    if abs(made - tests) > more_or_less:
        sys.exit(f"{tests} calls made {made} tests of a gate")
    more = {name: count for name, count in calls.items()
            if count > ROUNDS / 2 and name not in expected}
    if more:
        sys.exit(f"more is called than the test: {more}")


def main():
    valgrind, program, preload, library = sys.argv[1:]
    if not valgrind:
        print("valgrind is not installed")
        return NOT_HERE
    plain, without = difference(valgrind, program, "")
    calls, instructions = difference(valgrind, program, preload)
    if plain.get("pthread_mutex_lock", 0) == 0 or plain.get("posixtrace_system_wants"):
        sys.exit("the program does not lock, or is not alone")
    expected = {"posixtrace_system_wants", *plain, *thunks(preload), *thunks(library)}
    judge(calls, CALLS * ROUNDS, expected)
    added = (instructions - without) / ROUNDS / CALLS
    print(f"{added:.1f} instructions more a call")
    with tempfile.TemporaryDirectory() as folder:
        recorded = {"POSIXTRACE_RECORD": f"{folder}/log", "POSIXTRACE_RECORD_SYSTEM": "calls",
                    "POSIXTRACE_DIR": folder}
        calls, _ = difference(valgrind, program, preload, ROUNDS, recorded)
        if calls.get("posixtrace_system_event", 0) < CALLS * ROUNDS:
            sys.exit("the program does not record itself")
        recorded["POSIXTRACE_RECORD_FILTER"] = "!posixtrace_mutex_*, !posixtrace_sem_*"
        calls, _ = difference(valgrind, program, preload, ROUNDS, recorded)
    # The shutdown calls other things, and tests some gates: not as many in each run.
    judge({name: count for name, count in calls.items()
           if name.startswith(("preload_", "traced_", "posixtrace_", "pt_event_"))
           and name != "pt_event_system_name"}, CALLS * ROUNDS, expected, ROUNDS // 2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
