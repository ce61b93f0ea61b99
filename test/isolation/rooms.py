# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Rooms in which the program of probe.c lives: a user, a stream directory, a
namespace.  For the tests of isolation."""

import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile

TIMEOUT = 60
ALICE, BOB, CAROL = 65531, 65532, 65533   # numbers are all that a user needs
ANYBODY = None                            # the user that runs the test
NEW_MOUNTS = ["unshare", "-m", *([] if os.geteuid() == 0 else ["-r"])]


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


def not_tried(what, why):
    print(f"not possible here, so not tried: {what}: {why}")


def as_user(user, group=None):
    """To be run in a child: becomes the user, if one is named."""
    def become():
        if user is not ANYBODY:
            os.setgroups([])
            os.setgid(user if group is None else group)
            os.setuid(user)
    return become


class Probe:
    """A running probe, which waits for a line before each next step."""

    def __init__(self, arguments, **how):
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, bufsize=0, **how)
        self.seen, self.rest = [], b""
        self.pid = self.process.pid

    def line(self):
        """The next line that it prints; None at its end."""
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT)
            expect(f"{self.process.args} goes on after {self.seen}", ready)
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                return None
            self.rest += part
        line, self.rest = self.rest.split(b"\n", 1)
        self.seen.append(line.decode(errors="replace"))
        return self.seen[-1]

    def until(self, wanted):
        """Up to that line; all lines since the last call."""
        begin = len(self.seen)
        while (line := self.line()) != wanted:
            expect(f"{self.process.args}: no {wanted!r} in {self.seen}", line is not None)
        return self.seen[begin:]

    def go(self):
        self.process.stdin.write(b"\n")

    def end(self):
        """Lets it run to its end, which has to be a good one; all that it printed."""
        self.process.stdin.close()
        while self.line() is not None:
            pass
        status = self.process.wait(timeout=TIMEOUT)
        self.process.stdout.close()
        expect(f"{self.process.args}: status {status} after {self.seen}", status == 0)
        return self.seen


class House:
    """A folder that every user may enter, with copies of the programs."""

    def __init__(self, folder, tool, probe):
        self.folder = pathlib.Path(folder)
        self.folder.chmod(0o711)
        self.probe = str(shutil.copy(probe, self.folder / "probe"))
        self.tool = str(shutil.copy(tool, self.folder / "posixtrace"))
        self.library = pathlib.Path(tool).resolve().parent.parent / "lib"
        for library in self.library.rglob("libposixtrace*.so.0"):
            if library.exists():     # ninja leaves the links of targets that a newer tree has elsewhere
                shutil.copy(library, self.folder / library.name)
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C",
                            "LD_LIBRARY_PATH": str(self.folder), "ASAN_OPTIONS": "detect_leaks=0"}

    def directory(self, name, user=ANYBODY, mode=0o700):
        """A stream directory, in the file system of those of the other tests."""
        path = pathlib.Path(os.environ["POSIXTRACE_DIR"]) / name
        path.parent.chmod(0o711)
        path.mkdir()
        path.chmod(mode)
        if user is not ANYBODY:
            os.chown(path, user, user)
        return path

    def how(self, directory, user=ANYBODY, **more):
        environment = {**self.environment, **more}
        if directory is not None:
            environment["POSIXTRACE_DIR"] = str(directory)
        return {"env": environment, "preexec_fn": as_user(user), "cwd": self.folder}

    def start(self, steps, directory, user=ANYBODY, prefix=(), program=None, **more):
        return Probe([*prefix, program or self.probe, *map(str, steps)],
                     **self.how(directory, user, **more))

    def run(self, steps, directory, user=ANYBODY, **more):
        return self.start(steps, directory, user, **more).end()

    def posixtrace(self, arguments, directory, user=ANYBODY, prefix=(), **more):
        """The tool: its status, and all that it printed."""
        done = subprocess.run([*prefix, self.tool, *map(str, arguments)], text=True,
                              timeout=TIMEOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, **self.how(directory, user, **more))
        return done.returncode, done.stdout


def files(directory):
    return sorted(entry.name for entry in pathlib.Path(directory).iterdir())


def is_possible(prefix, house, directory=None):
    """Can programs be started with this prefix?"""
    done = subprocess.run([*prefix, "true"], capture_output=True, check=False,
                          **house.how(directory))
    return done.returncode == 0


def in_mount(options):
    """A file system of its own at the place of the stream directory, $POSIXTRACE_DIR."""
    return [*NEW_MOUNTS, "sh", "-c", f'mount -t tmpfs -o {options} tmpfs "$POSIXTRACE_DIR" || '
            'exit 77; exec "$0" "$@"']


def main(tests):
    """usage: ... POSIXTRACE PROBE TEST"""
    with tempfile.TemporaryDirectory() as folder:
        tests[sys.argv[3]](House(folder, sys.argv[1], sys.argv[2]))
