#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace record where a signal ends it: at each stage of a recording, from a key and
from kill(2); pipes as logs; what a recording that fails leaves of an earlier log.

usage: record_signals.py POSIXTRACE PLAIN

PLAIN is the program of plain.c.
"""

import fcntl
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from record import TIMEOUT, Recorder, Setup, expect, tell

PIPE_NEARLY_FULL = 60000
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def wait_until(what, truth):
    end = time.monotonic() + TIMEOUT
    while not truth():
        expect(what, time.monotonic() < end)
        time.sleep(0.005)


def status_of(pid, field):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return line.split(":")[1].strip()
    return ""


def waits_with(pid, pipe, number):
    """Record lets the signal through, and the pipe that it writes to is full."""
    held = int(status_of(pid, "SigBlk"), 16) >> (number - 1) & 1
    waiting = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"    "))[0]
    return not held and waiting >= PIPE_NEARLY_FULL


def ended_by(r, number):
    r.signal(number)
    status = r.process.wait(timeout=TIMEOUT)
    expect(f"{r.process.args} ends by {number}: {status}", status == -number)
    err = r.seen[r.process.stderr] + r.process.stderr.read()
    r.process.stdout.close()
    r.process.stderr.close()
    r.process.stdin.close()
    return err.decode()


def children_of(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def check_print(setup):
    """The program has ended; the output of --print has no reader."""
    for number in ENDING:
        r = Recorder(setup, "--print", "-o", "print.ptl", setup.plain, "events", 30000, "tick")
        r.wait_for(b"recorded 30,000", "stderr")
        wait_until("the pipe is full", lambda r=r, number=number:
                   waits_with(r.process.pid, r.process.stdout, number))
        ended_by(r, number)
        setup.expect_events("print.ptl", tick=30000, posix_trace_stop=1)


def check_flush(setup):
    """The program has ended; the pipe that is the log has no reader."""
    fifo = setup.folder / "fifo"
    for number in ENDING:
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        r = Recorder(setup, "-o", "fifo", setup.plain, "events", 200000, "tick", "say", "done")
        r.wait_for(b"done")
        wait_until("the pipe is full", lambda r=r, number=number, reader=reader:
                   waits_with(r.process.pid, reader, number))
        err = ended_by(r, number)
        expect(f"what is undone: {err}", "interrupted: 'fifo' did not get everything" in err)
        os.close(reader)
        fifo.unlink()


def check_waiting_for_reader(setup):
    fifo = setup.folder / "fifo"
    os.mkfifo(fifo)
    r = Recorder(setup, "-o", "fifo", setup.plain, "events", 3, "tick")
    r.wait_for(b"waiting for a reader of 'fifo'", "stderr")
    child, = children_of(r.process.pid)
    wait_until("it lets signals through", lambda:
               not int(status_of(r.process.pid, "SigBlk"), 16) >> (signal.SIGTERM - 1) & 1)
    ended_by(r, signal.SIGTERM)
    wait_until("the program has not begun, and is gone", lambda:
               not pathlib.Path(f"/proc/{child}").exists())
    r = Recorder(setup, "-o", "fifo", setup.plain, "events", 3, "tick")
    done = subprocess.run([setup.tool, "print", "--format=csv", "-"], stdin=open(fifo, "rb"),
                          capture_output=True, text=True, env=setup.environment, check=True)
    r.end(0)
    expect(f"all arrived: {done.stdout}", done.stdout.count("tick") == 3)
    fifo.unlink()


def check_reader_gone(setup):
    """Record does not wait for a reader that has ended, in the middle or before."""
    fifo = setup.folder / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    r = Recorder(setup, "-o", "fifo", setup.plain, "say", "ready", "wait", "events", 30000, "tick")
    r.wait_for(b"ready")
    os.close(reader)
    r.process.stdin.write(b"\n")
    err = r.end(1)
    expect(f"{err}", "cannot write all of 'fifo': Broken pipe" in err)
    fifo.unlink()
    done = subprocess.run(f'"{setup.tool}" record -o /dev/stdout "{setup.plain}" wait events 30000 '
                          'tick 2>err | head -c 100 >/dev/null; echo ${PIPESTATUS[0]}; cat err',
                          shell=True, executable="/bin/bash", cwd=setup.folder, text=True,
                          env=setup.environment, capture_output=True, timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, check=False)
    expect(f"{done}", done.stdout.startswith("1\n") and "Broken pipe" in done.stdout)


def check_nobody_reads_messages(setup):
    """The reader of standard error has ended: the recording goes its way, and the program
    has SIGPIPE as it was."""
    fifo = setup.folder / "fifo"
    os.mkfifo(fifo)
    ours, theirs = os.pipe()
    os.close(ours)
    process = subprocess.Popen([setup.tool, "record", "-o", "fifo", setup.plain, "events", "3",
                                "tick", "signal", "13"], stderr=theirs, env=setup.environment,
                               cwd=setup.folder)
    os.close(theirs)
    wait_until("it waits for a reader", lambda: process.poll() is not None or
               not int(status_of(process.pid, "SigBlk"), 16) >> (signal.SIGTERM - 1) & 1 and
               children_of(process.pid))
    expect(f"it has not ended: {process.returncode}", process.poll() is None)
    done = subprocess.run([setup.tool, "print", "--format=csv", "-"], stdin=open(fifo, "rb"),
                          capture_output=True, text=True, env=setup.environment, check=True)
    expect("the program's SIGPIPE", process.wait(timeout=TIMEOUT) == 128 + signal.SIGPIPE)
    expect(f"all arrived: {done.stdout}", done.stdout.count("tick") == 3)
    fifo.unlink()


def check_escalation(setup):
    """SIGINT of kill(2) is passed on; so is a SIGTERM after it, at once or later."""
    for later in (False, True):
        r = Recorder(setup, "-o", "esc.ptl", setup.plain, "catch", 2, "pause", "catch", 15,
                     "say", "again", "pause", "exit", 6)
        r.wait_for(b"waiting")
        r.signal(signal.SIGINT)
        r.wait_for(b"again\nwaiting")
        if later:
            r.wait_for(b"waiting for process", "stderr")
        r.signal(signal.SIGTERM)
        r.end(6)
        setup.expect_events("esc.ptl", caught=2, posix_trace_stop=1)


def check_background(setup):
    """As a shell starts it in the background: a SIGINT for record ends it all the same."""
    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    r = Recorder(setup, "-o", "bg.ptl", setup.plain, "events", 4, "a", "catch", 10, "pause",
                 before=ignore)
    r.wait_for(b"waiting")
    r.signal(signal.SIGINT)
    r.end(128 + signal.SIGTERM)
    setup.expect_events("bg.ptl", a=4, posix_trace_stop=1)
    r = Recorder(setup, "-o", "bg.ptl", setup.plain, "catch", 2, "pause", "exit", 7,
                 before=ignore)
    r.wait_for(b"waiting")
    r.signal(signal.SIGINT)
    r.end(7)
    setup.expect_events("bg.ptl", caught=1, posix_trace_stop=1)


def check_key(setup):
    """Where SIGINT is ignored, the key of the terminal ends neither."""
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.chdir(setup.folder)
        os.execve(setup.tool, [setup.tool, "record", "-o", "key.ptl", setup.plain, "say", "ready",
                               "wait", "events", "3", "a"], setup.environment)
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
        if not pressed and b"ready" in seen:
            os.write(terminal, b"\x03\n")
            pressed = True
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    expect(f"status 0, not {status}: {seen}", status == 0)
    setup.expect_events("key.ptl", a=3, posix_trace_stop=1)


def check_follow(setup):
    """print --follow, whose reader does not read: one signal ends it soon, a second one at
    once."""
    process = setup.start("events", 1, "early", "say", "ready", "wait",
                          *(2 * ["events", 30000, "tick", "say", "done", "wait"]))
    r = Recorder(setup, "-o", "follow.ptl", "--pid", process.pid)
    name = f"{setup.folder}/follow.ptl"
    wait_until("it records", lambda: pathlib.Path(name).exists() and subprocess.run(
        [setup.tool, "start", str(process.pid)], env=setup.environment, stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, check=False).returncode == 0)
    for one_signal in (True, False):
        follower = subprocess.Popen([setup.tool, "print", "--follow", str(process.pid)],
                                    stdout=subprocess.PIPE, env=setup.environment)
        wait_until("it follows", lambda f=follower:
                   int(status_of(f.pid, "SigCgt"), 16) >> (signal.SIGTERM - 1) & 1)
        tell(process)
        expect("all are made", process.stdout.readline() == b"done\n")
        wait_until("the pipe is full", lambda f=follower: waits_with(f.pid, f.stdout,
                                                                     signal.SIGTERM))
        follower.send_signal(signal.SIGTERM)
        if not one_signal:
            wait_until("it has come", lambda f=follower:
                       not int(status_of(f.pid, "ShdPnd"), 16) and
                       not int(status_of(f.pid, "SigCgt"), 16) >> (signal.SIGTERM - 1) & 1)
            follower.send_signal(signal.SIGTERM)
        expect("it ends", follower.wait(timeout=TIMEOUT) == -signal.SIGTERM)
        follower.stdout.close()
    r.signal(signal.SIGTERM)
    r.end(0)
    tell(process)
    process.stdin.close()
    process.wait(timeout=TIMEOUT)
    process.stdout.close()


def check_left_log(setup):
    """What a recorder that was killed has renamed is found by the next one, and by recover."""
    folder = setup.folder / "left"
    folder.mkdir()

    def tool(*words):
        return subprocess.run([setup.tool, *words], cwd=folder, env=setup.environment,
                              capture_output=True, text=True, check=False)

    def record(log, count, event):
        done = tool("record", "-o", log, setup.plain, "events", str(count), event)
        expect(f"{done}", done.returncode == 0)
        return done.stderr

    record("x.ptl", 5, "a")
    whole = (folder / "x.ptl").read_bytes()
    for empty in (False, True):
        (folder / "x.ptl").rename(folder / "x.ptl.earlier.abcDEF")
        if empty:
            (folder / "x.ptl").touch()
        with open(folder / "x.ptl.earlier.abcDEF", "rb") as recorder:
            fcntl.flock(recorder, fcntl.LOCK_EX)
            done = tool("recover", "x.ptl")
            expect(f"of a living recorder: {done}", done.returncode == 1 and
                   "earlier" not in done.stderr)
        done = tool("recover", "x.ptl")
        expect(f"empty {empty}: {done}", done.returncode == 0 and "was complete" in done.stdout and
               "is the earlier log again" in done.stderr)
        expect(f"empty {empty}: {os.listdir(folder)}", os.listdir(folder) == ["x.ptl"])
        expect("it is the same", (folder / "x.ptl").read_bytes() == whole)
    # Where the name is another log's, and other names.
    for name in ("x.ptl.earlier.abcdef", "x.ptl.earlier.abcdefg", "x.ptl.backup"):
        (folder / name).write_bytes(whole)
    (folder / "x.ptl.earlier.nolog").write_bytes(b"nothing")
    names = sorted(os.listdir(folder))
    for said in (record("x.ptl", 7, "b"), tool("recover", "x.ptl").stderr):
        expect(said, "'x.ptl.earlier.abcdef' is an earlier 'x.ptl'" in said and
               said.count("earlier") == 2)
        expect(f"{os.listdir(folder)}", sorted(os.listdir(folder)) == names)
        setup.expect_events("left/x.ptl", a=0, b=7)
        setup.expect_events("left/x.ptl.earlier.abcdef", a=5, b=0)
    (folder / "x.ptl").unlink()
    said = record("x.ptl", 7, "b")
    expect(said, "is the earlier log again" in said)
    setup.expect_events("left/x.ptl", a=0, b=7)


def check_earlier_log(setup):
    """A recording that does not begin leaves the earlier log as it was."""
    folder = setup.folder / "earlier"
    folder.mkdir()
    (folder / "bad").write_text("#!/nonexistent/interpreter\n")
    (folder / "bad").chmod(0o755)
    done = subprocess.run([setup.tool, "record", "-o", "x.ptl", setup.plain, "events", "5", "a"],
                          cwd=folder, env=setup.environment, capture_output=True, check=True)
    (folder / "link.ptl").symlink_to("x.ptl")
    (folder / "x.ptl").chmod(0o640)
    before = (folder / "x.ptl").read_bytes()
    names = sorted(os.listdir(folder))
    for status, message, *words in (
            (127, "No such file", "-o", "x.ptl", "./bad"),
            (127, "No such file", "-o", "link.ptl", "./bad"),
            (1, "give less with --size", "--size=4000G", "-o", "x.ptl", setup.plain),
            (1, "no memory for a stream", "--size=900G", "-o", "x.ptl", setup.plain)):
        done = subprocess.run([setup.tool, "record", *words], cwd=folder, env=setup.environment,
                              capture_output=True, text=True, check=False)
        expect(f"{words}: {done}", done.returncode == status and message in done.stderr)
        expect(f"{words}: the earlier log is there", (folder / "x.ptl").read_bytes() == before)
        expect(f"{words}: {os.listdir(folder)}", sorted(os.listdir(folder)) == names)
    # Its writer's stream may be where record cannot see it.
    with open(folder / "x.ptl", "rb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        done = subprocess.run([setup.tool, "record", "-o", "x.ptl", setup.plain, "events", "7",
                               "b"], cwd=folder, env=setup.environment, capture_output=True,
                              text=True, check=False)
    expect(f"locked: {done}", done.returncode == 1 and "being written" in done.stderr)
    expect("the log of another writer is there", (folder / "x.ptl").read_bytes() == before)
    expect(f"locked: {os.listdir(folder)}", sorted(os.listdir(folder)) == names)
    for log in ("link.ptl", "x.ptl"):
        subprocess.run([setup.tool, "record", "-o", log, setup.plain, "events", "7", "b"],
                       cwd=folder, env=setup.environment, capture_output=True, check=True)
        setup.expect_events("earlier/x.ptl", a=0, b=7)
        expect(f"{os.listdir(folder)}", sorted(os.listdir(folder)) == names)
        expect("still a link", (folder / "link.ptl").is_symlink())
        expect("the same mode", (folder / "x.ptl").stat().st_mode & 0o777 == 0o640)


def check_size_limit(setup):
    """A limit of file sizes is an error; the traced program is ended by it as ever."""
    log = setup.folder / "limit.ptl"

    def run(limit, *words):
        return subprocess.run([setup.tool, *words], cwd=setup.folder, env=setup.environment,
                              capture_output=True, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                    (limit, limit)))

    names = sorted([*os.listdir(setup.folder), log.name])
    done = run(resource.RLIM_INFINITY, "record", "-o", log, "sh", "-c",
               f"{setup.plain} events 100 a; grep SigIgn /proc/self/status")
    ignored = int(re.search(r"SigIgn:\t(\w+)", done.stdout)[1], 16)
    expect(f"SIGXFSZ in the program: {done}", not ignored >> (signal.SIGXFSZ - 1) & 1)
    done = run(1000, "export", "--to=csv", log, "limit.csv")
    expect(f"limited: {done}", done.returncode == 1 and "File too large" in done.stderr)
    expect(f"{os.listdir(setup.folder)}", sorted(os.listdir(setup.folder)) == names)


# A user without rights, who owns the folder: x.ptl is his log, or a link to root's file.
EXCHANGE = """
import os, sys
os.setgid(65534); os.setuid(65534)
print("ready", flush=True)
while True:
    os.symlink(sys.argv[1], "new"); os.rename("new", "x.ptl")
    os.link("good.ptl", "new"); os.rename("new", "x.ptl")
"""


def check_exchanged(setup):
    """Root does not follow another user's link, whenever it is exchanged for his log."""
    if os.geteuid() != 0:
        return
    folder, secret = setup.folder / "theirs", setup.folder / "secret"
    folder.mkdir()
    setup.folder.chmod(0o755)
    record = [setup.tool, "record", "--quiet", "-o", "x.ptl", setup.plain, "events", "3", "a"]

    def run():
        return subprocess.run(record, cwd=folder, env=setup.environment, capture_output=True,
                              text=True, check=False)

    run()
    (folder / "x.ptl").rename(folder / "good.ptl")
    for path in (folder, folder / "good.ptl"):
        os.chown(path, 65534, 65534)
    shutil.copy(folder / "good.ptl", secret)
    secret.chmod(0o600)
    before = secret.read_bytes()
    (folder / "x.ptl").symlink_to(secret)
    os.lchown(folder / "x.ptl", 65534, 65534)
    done = run()
    expect(f"another's link: {done}", done.returncode == 1 and
           "a link of user 65534" in done.stderr)
    user = subprocess.Popen([sys.executable, "-c", EXCHANGE, secret], cwd=folder,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    user.stdout.readline()
    for _ in range(20):
        run()
        status = secret.lstat()
        expect("root's file has another owner", (status.st_uid, status.st_mode & 0o777) ==
               (0, 0o600))
        expect("root's file was written", secret.read_bytes() == before)
    user.kill()
    user.wait(timeout=TIMEOUT)
    user.stdout.close()


def check_foreign(setup):
    """What root records does not become another user's by a file of his in a common folder."""
    if os.geteuid() != 0:
        return
    folder, log = setup.folder / "common", setup.folder / "common" / "x.ptl"
    folder.mkdir()
    folder.chmod(0o1777)
    record = [setup.tool, "record", "--quiet", "-o", "x.ptl", setup.plain, "events", "3", "a"]

    def run():
        return subprocess.run(record, cwd=folder, env=setup.environment, capture_output=True,
                              text=True, check=False, timeout=TIMEOUT)

    def give(mode):
        os.chown(log, 65534, 65534)
        log.chmod(mode)

    run()
    give(0o666)
    done = run()
    status = log.stat()
    expect(f"his log gives way: {done}", done.returncode == 0 and log.stat().st_size > 0)
    expect(f"the new log is root's: {status}", status.st_uid == 0 and not status.st_mode & 0o22)
    for make in (log.touch, lambda: os.mkfifo(log)):
        log.unlink()
        make()
        give(0o666)
        reader = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
        done = run()
        expect(f"his file is refused: {done}", done.returncode == 1 and
               "belongs to user 65534" in done.stderr and log.stat().st_size == 0)
        os.close(reader)
    os.chown(folder, 65534, 65534)
    log.unlink()
    log.touch()
    give(0o640)
    for what in ("empty file", "log"):
        done = run()
        status = log.stat()
        expect(f"his {what} in his folder stays his: {done} {status}", done.returncode == 0 and
               (status.st_uid, status.st_mode & 0o777) == (65534, 0o640) and status.st_size > 0)


def main():
    tool, plain = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:])
    # Under nohup(1) record, too, would ignore it.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as name:
        setup = Setup(tool, plain, pathlib.Path(name))
        for check in (check_print, check_flush, check_waiting_for_reader, check_reader_gone,
                      check_nobody_reads_messages, check_escalation, check_background, check_key,
                      check_follow, check_earlier_log, check_left_log, check_size_limit,
                      check_exchanged, check_foreign):
            check(setup)


if __name__ == "__main__":
    main()
