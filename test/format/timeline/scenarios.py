# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Logs with known contents, for build_log, and functions that run the tool on them."""

import pathlib
import subprocess
import tempfile

T = 1_763_000_000_123_456_789      # the first event of most logs


def hexadecimal(data):
    return (data.encode("utf-8") if isinstance(data, str) else data).hex() or "-"


class Log:
    def __init__(self):
        self.lines = []

    def describe(self, name, description):
        self.lines.append(f"d {hexadecimal(name)} {hexadecimal(description)}")
        return self

    def thread_id(self, number):
        """The pthread_t of the events that follow."""
        self.lines.append(f"t {number}")
        return self

    def add(self, ns, name, data=b"", pid=100, tid=100, thread="app", trunc=0):
        """ns counts from T."""
        self.lines.append(f"e {T + ns} {pid} {tid} {hexadecimal(thread)} {trunc} "
                          f"{hexadecimal(name)} {hexadecimal(data)}")
        return self

    def many(self, count, step, ns, name, data=b"", pid=100, tid=100, thread="app"):
        self.lines.append(f"n {count} {step} {T + ns} {pid} {tid} {hexadecimal(thread)} 0 "
                          f"{hexadecimal(name)} {hexadecimal(data)}")
        return self


class Tools:
    """The programs, and a folder to work in."""

    def __init__(self, posixtrace, build_log, traced):
        self.posixtrace, self.build_log, self.traced = posixtrace, build_log, traced
        self.work = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.work.name)

    def build(self, log):
        path = self.folder / "log.ptl"
        subprocess.run([self.build_log, path], input="\n".join(log.lines), text=True, check=True)
        return path

    def export(self, form, log, *options, out="-", stdout=subprocess.PIPE):
        """The process that did it; log is a Log or a path."""
        path = self.build(log) if isinstance(log, Log) else log
        return subprocess.run([self.posixtrace, "export", f"--to={form}", *options, path, out],
                              stdout=stdout, stderr=subprocess.PIPE, check=False, timeout=300)

    def exported(self, form, log, *options):
        """What was written, and the lines that were said."""
        done = self.export(form, log, *options)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout, done.stderr.decode().splitlines()
