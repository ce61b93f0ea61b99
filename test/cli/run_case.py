#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Runs a case: commands with what they must print, as one would see them in a
terminal.

usage: run_case.py POSIXTRACE CASE [PROGRAM]...
       run_case.py --update ...   rewrites the expectations

A case is a text file of steps; other lines are comments:

    $ posixtrace print x.ptl      a command for bash
    > ...                         more lines of the command
      text                        a line of its stdout, after two spaces
    ! text                        a line of its stderr
    ? 64                          its exit status, if not 0

Expected lines may end in " (glob)" for shell patterns, or " (no newline)".
Commands of a case run one after the other in an empty folder, with a stream
directory of their own, in the C locale, with 'posixtrace', the PROGRAMs and
the variable $CASES (the folder of the case) at hand.
"""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMEOUT = 300


class Step:
    def __init__(self, line, number):
        self.command, self.number = [line], number
        self.out, self.err, self.status = [], [], 0


def parse(text):
    """Comments as strings and steps as Step, in order."""
    parts, step = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("$ "):
            step = Step(line[2:], number)
            parts.append(step)
        elif step and line.startswith("> "):
            step.command.append(line[2:])
        elif step and line.startswith("  "):
            step.out.append(line[2:])
        elif step and line.startswith("! "):
            step.err.append(line[2:])
        elif step and line.startswith("? "):
            step.status = int(line[2:])
        else:
            step = None
            parts.append(line)
    return parts


def lines_of(output):
    """Bytes as expectation lines: other bytes than UTF-8 show as \\xNN."""
    text = output.decode("utf-8", "backslashreplace").replace("\r", "\\r")
    lines = text.split("\n")
    last = lines.pop()
    return lines + ([last + " (no newline)"] if last else [])


def matches(expected, found):
    if expected.endswith(" (glob)"):
        return fnmatch.fnmatchcase(found, expected[:-len(" (glob)")])
    return expected == found


def same(expected, found):
    return len(expected) == len(found) and all(map(matches, expected, found))


def execute(step, folder, environment):
    done = subprocess.run(["bash", "-c", "\n".join(step.command)], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
    # LeakSanitizer says so where a thread that was joined is not quite gone at exit.
    err = re.sub(rb"==\d+==Running thread \d+ was not suspended.*\n", b"", done.stderr)
    return lines_of(done.stdout), lines_of(err), done.returncode


def show(step, out, err, status):
    lines = ["$ " + step.command[0]] + ["> " + line for line in step.command[1:]]
    lines += ["  " + line for line in out] + ["! " + line for line in err]
    return lines + ([f"? {status}"] if status else [])


def run(tool, case, programs, folder):
    """Returns the case as it came out, and whether that is what was expected."""
    (folder / "bin").mkdir()
    (folder / "bin/posixtrace").symlink_to(tool)
    for program in programs:
        (folder / "bin" / program.name).symlink_to(program)
    work = folder / "work"
    work.mkdir()
    (folder / "streams").mkdir(mode=0o700)
    environment = {"PATH": f"{folder}/bin:/usr/bin:/bin", "LC_ALL": "C", "HOME": str(work),
                   "POSIXTRACE_DIR": str(folder / "streams"), "CASES": str(case.parent)}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH", "TSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    result, good, steps = [], True, 0
    for part in parse(case.read_text(encoding="utf-8")):
        if isinstance(part, str):
            result.append(part)
            continue
        steps += 1
        out, err, status = execute(part, work, environment)
        if same(part.out, out) and same(part.err, err) and part.status == status:
            result += show(part, part.out, part.err, status)
            continue
        good = False
        result += show(part, out, err, status)
        print(f"{case}:{part.number}: expected", *show(part, part.out, part.err, part.status),
              "-- found", *show(part, out, err, status), "", sep="\n")
    if steps == 0:
        sys.exit(f"{case}: no steps")
    return "\n".join(result) + "\n", good


def main():
    arguments = sys.argv[1:]
    update = arguments[0] == "--update"
    tool, case, *programs = (pathlib.Path(name).resolve() for name in arguments[update:])
    with tempfile.TemporaryDirectory() as name:
        result, good = run(tool, case, programs, pathlib.Path(name))
    if update:
        case.write_text(result, encoding="utf-8")
        return 0
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
