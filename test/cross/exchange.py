#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# usage: exchange.py [--segments | --foreign] HERE THERE [WRAPPER...]
#
# Logs made by a program of one build are read by the tools of both builds, which
# must say the same, byte for byte; both ways round.  HERE and THERE are build
# folders; programs of THERE are run by the wrapper.
#
# --segments: the two also share the memory of streams (same byte order and page
# size).  Then what a killed program of the one left is read and recovered by the
# tool of the other.
#
# --foreign: the byte orders differ.  Data of user events is the program's own
# bytes; print's guess at the number that they are is left out, and so are the
# bytes of system events' data, which are in each machine's order.

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

# name of the log, what the traced program does
LIVES = [
    ("small", ["events", "100"]),
    ("filtered", ["filter", "events", "1000", "flush", "events", "5000"]),
    ("full", ["full", "events", "2000"]),
    ("appended", ["append", "events", "300", "flush", "events", "10"]),
]
EVENTS = 700


class Build:
    def __init__(self, folder, wrapper):
        self.folder, self.wrapper = pathlib.Path(folder).resolve(), wrapper

    def run(self, program, *arguments, status=0):
        command = [*self.wrapper, str(self.folder / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != status:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}, not {status}\n"
                     f"{done.stdout.decode(errors='replace')}{done.stderr.decode(errors='replace')}")
        return done.stdout

    def trace(self, log, *what, status=0):
        self.run("test/cli/traced", log, *what, status=status)

    def tool(self, *arguments):
        return self.run("tools/posixtrace", *arguments)


def compare(what, here, there):
    if here != there:
        for a, b in zip(here.splitlines(), there.splitlines()):
            if a != b:
                sys.exit(f"{what}: the builds differ:\n{a!r}\n{b!r}")
        sys.exit(f"{what}: one of the builds says more: {len(here)} and {len(there)} bytes")


def logs(writer, here, there, foreign):
    for name, what in LIVES:
        log = pathlib.Path(f"{name}.ptl")
        writer.trace(log, *what)
        for arguments in (["print", log], ["print", "--format", "jsonl", log], ["check", log]):
            said = [build.tool(*arguments) for build in (here, there)]
            if foreign:
                said = [re.sub(rb"(tick +[0-9a-f]+) = \d+$", rb"\1", text, flags=re.M)
                        for text in said]
                said = [re.sub(rb'("event":"posix_trace_.*"data":")[0-9a-f]+', rb"\1", text)
                        for text in said]
            compare(f"{arguments[:-1]} {name}", *said)
        if here.tool("print", log).count(b"tick") < 10:
            sys.exit(f"{name}: its events are not there")
        log.unlink()


def killed(writer, reader):
    log = pathlib.Path("killed.ptl")
    killed_by = -signal.SIGKILL
    writer.trace(log, "events", EVENTS, "kill", status=killed_by)
    for step in ("before", "after"):
        found = reader.tool("print", log).count(b"tick")
        if found != EVENTS:
            sys.exit(f"killed program, {step} recovery: {found} events of {EVENTS}")
        reader.tool("recover" if step == "before" else "check", log)
    compare("recovered log", writer.tool("print", log), reader.tool("print", log))
    log.unlink()


def main():
    arguments = sys.argv[1:]
    option = arguments.pop(0) if arguments[0].startswith("--") else ""
    segments, foreign = option == "--segments", option == "--foreign"
    here, there = Build(arguments[0], []), Build(arguments[1], arguments[2:])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("streams", 0o700)
        os.environ["POSIXTRACE_DIR"] = str(pathlib.Path("streams").resolve())
        for writer, reader in ((here, there), (there, here)):
            logs(writer, here, there, foreign)
            if segments:
                killed(writer, reader)
        os.chdir("/")
    print(f"{2 * len(LIVES)} logs read by both builds alike"
          + (", 2 killed programs recovered by the other build" if segments else ""))


main()
