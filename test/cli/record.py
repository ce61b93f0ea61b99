#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace record where a shell script is not enough: terminals, signals,
processes that run already, a disk that is full, other users.

usage: record.py POSIXTRACE PLAIN [PLAIN_STATIC]

PLAIN is the program of plain.c; PLAIN_STATIC the same with the library inside,
which a set-user-id copy is made of.
"""

import collections
import errno
import os
import pathlib
import platform
import pty
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile

from doctor import RET_ERRNO, filter_calls

TIMEOUT = 60
NOBODY = 65534


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


class Recorder:
    """posixtrace record, with pipes for what it and the program print."""

    def __init__(self, setup, *arguments, before=None, **environment):
        self.process = subprocess.Popen(
            [setup.tool, "record", *map(str, arguments)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=setup.folder, preexec_fn=before,
            close_fds=False, env={**setup.environment, **environment})
        self.seen = {self.process.stdout: b"", self.process.stderr: b""}

    def wait_for(self, text, stream="stdout"):
        """Until the text has been printed."""
        stream = getattr(self.process, stream)
        while text not in self.seen[stream]:
            ready, _, _ = select.select([stream], [], [], TIMEOUT)
            part = os.read(stream.fileno(), 65536) if ready else b""
            if not part:
                self.process.kill()
                sys.exit(f"{self.process.args}: no {text!r} after {self.seen}")
            self.seen[stream] += part

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, status):
        """Waits; what it printed on stderr."""
        out, err = self.process.communicate(timeout=TIMEOUT)
        err = (self.seen[self.process.stderr] + err).decode()
        expect(f"{self.process.args}: status {self.process.returncode}, not {status}: "
               f"{self.seen} {out} {err}", self.process.returncode == status)
        return err


class Setup:
    def __init__(self, tool, plain, folder):
        self.tool, self.plain, self.folder = tool, plain, folder
        self.streams = folder / "streams"
        self.streams.mkdir(mode=0o700)
        self.environment = {**os.environ, "LC_ALL": "C", "POSIXTRACE_DIR": str(self.streams)}

    def events(self, log):
        """{name: how many}, and whether the log is complete."""
        done = subprocess.run([self.tool, "print", "--strict", "--format=csv", log], text=True,
                              cwd=self.folder, env=self.environment, capture_output=True,
                              check=False)
        names = [line.split(",")[5].strip('"') for line in done.stdout.splitlines()[1:]]
        return collections.Counter(names), done.returncode == 0

    def expect_events(self, log, **wanted):
        found, complete = self.events(log)
        expect(f"{log}: {found}, not {wanted}; complete: {complete}", complete and
               all(found.get(name, 0) == count for name, count in wanted.items()))

    def start(self, *steps):
        """PLAIN, running; it has done all up to its first 'say ready'."""
        process = subprocess.Popen([self.plain, *map(str, steps)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=self.environment)
        expect(f"{steps} begins", process.stdout.readline() == b"ready\n")
        return process


def tell(process):
    process.stdin.write(b"\n")
    process.stdin.flush()


def check_terminal(setup):
    """Ctrl-C reaches the program, too, which ends in its own way; before that the
    live line is there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(setup.folder)
        os.execve(setup.tool, [setup.tool, "record", "-o", "tty.ptl", setup.plain, "catch", "2",
                               "events", "5", "tick", "pause", "events", "1", "last", "exit", "9"],
                  setup.environment)
    seen, pressed = b"", False
    while True:
        ready, _, _ = select.select([terminal], [], [], TIMEOUT)
        try:
            part = os.read(terminal, 65536) if ready else b""
        except OSError:
            part = b""
        if not part:
            break
        seen += part
        if not pressed and b"waiting" in seen and b" events/s, " in seen:
            os.write(terminal, b"\x03")
            pressed = True
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    expect(f"status 9, not {status}: {seen}", status == 9)
    expect(f"the last line: {seen}", b"recorded 7 events of 1 process in 'tty.ptl'" in seen)
    setup.expect_events("tty.ptl", tick=5, caught=1, last=1, posix_trace_stop=1)


def check_small_files(setup):
    """A process that may write small files only has no page, or no names, that others see."""
    for kib, events, said in ((8, True, b"no page in "), (64, True, b"names of its event types"),
                              (8, False, None), (4096, True, None)):
        def limit(most=kib << 10):
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        first = ["events", 1, "early"] if events else []
        program = subprocess.Popen(
            [setup.plain, *map(str, first), "say", "ready", "wait", "events", "2", "tick"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=limit, env=setup.environment)
        expect("the program", program.stdout.readline() == b"ready\n")
        r = Recorder(setup, "-o", "small.ptl", "--pid", program.pid)
        if said:
            r.wait_for(said, "stderr")
            expect(f"the limit: {r.seen}", f"files of {kib} KiB at most (ulimit -f)".encode()
                   in r.seen[r.process.stderr])
        else:
            wait_until_running(setup, r, "small.ptl", program)
        program.communicate(b"\n", timeout=TIMEOUT)
        err = r.end(1 if kib == 64 else 0)
        if said and kib == 8:
            expect(f"the end: {err}", "limit of file sizes" in err and "is it linked" not in err)
        if not said:
            expect(f"no limit matters: {err}", "ulimit" not in err)
            setup.expect_events("small.ptl", tick=2)


def check_no_terminal(setup):
    r = Recorder(setup, "-o", "quiet.ptl", setup.plain, "say", "ready", "wait", "events", "1", "a")
    r.wait_for(b"ready")
    r.process.stdin.write(b"\n")
    err = r.end(0)
    expect(f"one line: {err!r}", err.count("\n") == 1 and "events/s" not in err)


def check_second_signal(setup):
    """A program that ignores Ctrl-C continues when the recorder gives up."""
    for first in (signal.SIGINT, signal.SIGTERM):
        r = Recorder(setup, "-o", "on.ptl", setup.plain, "ignore", 2, "ignore", 15,
                     "events", 3, "tick", "say", "ready", "wait", "events", 1, "late")
        r.wait_for(b"ready")
        r.signal(first)
        r.wait_for(b"waiting for process", "stderr")
        r.signal(signal.SIGINT)
        # the program has the pipes, so that the end is that of the recorder alone
        status = r.process.wait(timeout=TIMEOUT)
        expect(f"status {status}", status == 128 + signal.SIGINT)
        r.wait_for(b"recorded 3 events", "stderr")
        expect(f"{r.seen}", b"continues, and is not recorded any more" in
               r.seen[r.process.stderr])
        r.process.stdin.write(b"\n")
        r.process.stdin.close()
        while os.read(r.process.stdout.fileno(), 4096):
            pass
        r.process.stdout.close()
        r.process.stderr.close()
        setup.expect_events("on.ptl", tick=3, late=0, posix_trace_stop=1)


def check_terminate(setup):
    """SIGTERM is passed on, also when our whole group gets it."""
    r = Recorder(setup, "-o", "term.ptl", setup.plain, "catch", 15, "pause", "exit", 6)
    r.wait_for(b"waiting")
    r.signal(signal.SIGTERM)
    r.end(6)
    setup.expect_events("term.ptl", caught=1, posix_trace_stop=1)
    r = Recorder(setup, "-o", "term.ptl", setup.plain, "events", 2, "a", "say", "ready", "wait",
                 before=os.setpgrp)
    r.wait_for(b"ready")
    os.killpg(r.process.pid, signal.SIGTERM)
    r.end(128 + signal.SIGTERM)
    setup.expect_events("term.ptl", a=2, posix_trace_stop=1)


def without_pidfd():
    """For where it matters: the number of the call is that of x86_64."""
    return filter_calls(RET_ERRNO | errno.ENOSYS, "pidfd_open")


def check_processes(setup, before=None):
    """Two that run: one log each; children from now on; the end of each."""
    first = setup.start("events", 1, "early", "say", "ready", "wait", "events", 2, "a", "fork",
                        "events", 3, "b")
    second = setup.start("open", "xa", "say", "ready", "wait", "events", 4, "xa", "events", 5, "c")
    r = Recorder(setup, "-o", "run-%p.ptl", "--filter=!x*", "--pid", first.pid, "--pid",
                 second.pid, before=before)
    for process in (first, second):
        while not (setup.folder / f"run-{process.pid}.ptl").exists():
            expect("the recorder lives", r.process.poll() is None)
    for process in (first, second):
        wait_until_running(setup, r, f"run-{process.pid}.ptl", process)
    for process in (first, second):
        tell(process)
        expect("ends well", process.wait(timeout=TIMEOUT) == 0)
    err = r.end(0)
    expect(f"a line for each: {err}", err.count("recorded 5 events") == 2 and
           "5 events of 2 processes" in err)
    setup.expect_events(f"run-{first.pid}.ptl", early=0, a=2, b=3, posix_trace_stop=1)
    setup.expect_events(f"run-{second.pid}.ptl", c=5, posix_trace_stop=1)


def wait_until_running(setup, recorder, log, process):
    """Until the stream with that log records the process, all gates open.  The recorder has
    others for moments: it measures what an event costs."""
    running = False
    while not running:
        expect("the recorder lives", recorder.process.poll() is None)
        done = subprocess.run([setup.tool, "list"], env=setup.environment, capture_output=True,
                              text=True, check=True)
        running = any(" running " in line and f"/{log}'" in line
                      for line in done.stdout.splitlines())
    # The program runs before all gates are open; a start by another process comes after that.
    subprocess.run([setup.tool, "start", str(process.pid)], env=setup.environment, check=True)


def check_stop(setup):
    """Either signal ends it at once, and the traced process continues."""
    for number in (signal.SIGINT, signal.SIGTERM):
        process = setup.start("events", 1, "early", "say", "ready", "wait", "events", 2, "a",
                              "say", "more", "wait", "events", 3, "b", "exit", 4)
        r = Recorder(setup, "-o", "stop.ptl", "--pid", process.pid)
        wait_until_running(setup, r, "stop.ptl", process)
        tell(process)
        expect("goes on", process.stdout.readline() == b"more\n")
        r.signal(number)
        r.end(0)
        tell(process)
        expect("the process is unharmed", process.wait(timeout=TIMEOUT) == 4)
        setup.expect_events("stop.ptl", a=2, b=0, posix_trace_stop=1)


def check_full_disk(setup):
    r = Recorder(setup, "-o", "/dev/full", setup.plain, "say", "begun")
    err = r.end(1)
    expect(f"{err}", "No space left on device" in err and b"begun" not in r.seen.values())
    place = setup.folder / "tiny"
    place.mkdir()
    script = (f'mount -t tmpfs -o size=48k tmpfs "{place}" || exit 77; '
              f'"$0" record -o "{place}/x.ptl" --size 8M "$@"')
    done = subprocess.run(
        ["unshare", "-m", *([] if os.geteuid() == 0 else ["-r"]), "sh", "-c", script, setup.tool,
         setup.plain, "events", "100000", "tick"],
        env=setup.environment, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        print("no full disk tried: no namespace of mounts to be had")
        return
    expect(f"{done}", done.returncode == 1 and "cannot write all of" in done.stderr and
           "No space left on device" in done.stderr and "log could not be written" in done.stderr)


def check_removed(setup):
    """It is said once, while the program runs, and no other file is taken for the log."""
    for words, other in ([], False), (["--print"], True), (["--quiet"], False):
        log = setup.folder / "gone.ptl"
        r = Recorder(setup, "-o", log, *words, setup.plain, "events", 30, "tick", "say", "ready", "wait",
                     "events", 12, "tick", "exit", 0)
        r.wait_for(b"ready")
        log.unlink()
        if other:
            log.write_text("another file")
        r.wait_for(b"was removed; events go nowhere", "stderr")
        kept = r.seen[r.process.stderr].decode().split("/proc/")[1].split()[0]
        while True:    # until a flush
            shutil.copyfile(pathlib.Path("/proc") / kept, setup.folder / "copy.ptl")
            rows = subprocess.run([setup.tool, "print", "--format=csv", "copy.ptl"], cwd=setup.folder, text=True,
                                  env=setup.environment, capture_output=True, timeout=TIMEOUT, check=False)
            if rows.stdout.count(',"tick",') == 30:
                break
            expect(f"the recorder lives, and the copy has no more than there was: {rows}",
                   r.process.poll() is None and rows.stdout.count(',"tick",') < 30)
        r.process.stdin.write(b"\n")
        err = r.end(1)
        expect(f"once: {err!r}", err.count("go nowhere") == 1 and "cannot" not in err)
        expect(f"how many: {err!r}", ("42 events are gone with" in err) == (words != ["--quiet"]))
        expect("the other file", not other or log.read_text() == "another file")
        log.unlink(missing_ok=True)
    # at the last moment, where no look is due before the end
    r = Recorder(setup, "-o", log, setup.plain, "events", 5, "tick", "say", "ready", "wait", "exit", 3)
    r.wait_for(b"ready")
    log.unlink()
    r.process.stdin.write(b"\n")
    err = r.end(3)
    expect(f"at the end: {err!r}", err.count("go nowhere") == 1 and "5 events are gone" in err)
    # a log that never had a name is no log that was removed
    with tempfile.TemporaryFile() as file:
        done = subprocess.run([setup.tool, "record", "-o", f"/dev/fd/{file.fileno()}", setup.plain, "events", "5",
                               "tick"], pass_fds=[file.fileno()], env=setup.environment, capture_output=True,
                              text=True, timeout=TIMEOUT, check=False)
    expect(f"{done}", "go nowhere" not in done.stderr)


def check_killed(setup):
    """The recorder is killed: the program continues, the log can be completed."""
    r = Recorder(setup, "-o", "killed.ptl", setup.plain, "events", 10, "tick", "say", "ready",
                 "wait", "events", 1, "late")
    r.wait_for(b"ready")
    r.signal(signal.SIGKILL)
    r.process.wait(timeout=TIMEOUT)
    subprocess.run([setup.tool, "recover", "killed.ptl"], cwd=setup.folder, check=True,
                   env=setup.environment, stdout=subprocess.DEVNULL)
    setup.expect_events("killed.ptl", tick=10)
    r.process.stdin.write(b"\n")
    r.process.stdin.close()
    expect("the program ends", os.read(r.process.stdout.fileno(), 4096) == b"")
    r.process.stdout.close()
    r.process.stderr.close()


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def check_set_id(setup, static):
    """A set-user-id program is neither made to record itself, nor followed."""
    place = setup.folder / "open"
    place.mkdir()
    place.chmod(0o777)
    setup.folder.chmod(0o711)
    streams = place / "streams"
    streams.mkdir(mode=0o700)
    os.chown(streams, NOBODY, NOBODY)
    found = {}
    for name, mode in (("plain", 0o755), ("set", 0o4755)):
        program = setup.folder / name
        shutil.copy(static, program)
        program.chmod(mode)
        done = subprocess.run([program, "euid", "events", "1", "tick"], preexec_fn=as_nobody,
                              cwd=place, capture_output=True, text=True, check=False,
                              env={**setup.environment, "POSIXTRACE_RECORD": f"{name}.ptl",
                                   "POSIXTRACE_DIR": str(streams)})
        found[name] = (done.stdout.strip(), (place / f"{name}.ptl").exists())
    expect(f"the same program is recorded: {found}", found["plain"] == (str(NOBODY), True))
    if found["set"][0] != "0":
        print("no set-user-id program tried: the file system does not have them")
        return
    expect(f"a set-user-id program is not: {found}", not found["set"][1])
    done = subprocess.run([setup.tool, "record", "-o", "follow.ptl", setup.folder / "set", "events",
                           "1", "tick"], preexec_fn=as_nobody, cwd=place, capture_output=True,
                          text=True, env={**setup.environment, "POSIXTRACE_DIR": str(streams)},
                          check=False)
    expect(f"nor followed: {done}", "nothing was recorded" in done.stderr)


def main():
    tool, plain, *static = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        setup = Setup(tool, plain, pathlib.Path(name))
        check_terminal(setup)
        check_no_terminal(setup)
        check_small_files(setup)
        check_second_signal(setup)
        check_terminate(setup)
        check_processes(setup)
        if platform.machine() == "x86_64":
            check_processes(setup, before=without_pidfd())
        check_stop(setup)
        check_full_disk(setup)
        check_removed(setup)
        check_killed(setup)
        if static and os.geteuid() == 0:
            check_set_id(setup, static[0])
        else:
            print("no set-user-id program tried: that takes root, and no sanitizer")


if __name__ == "__main__":
    main()
