#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Root traces processes of another user through a worker that has that user's rights.  Checked: the
rights of root that the worker keeps; its death is an error and does not end root's process; a
target that overwrites or truncates its memory harms no other process; the other verbs work; and no
verb waits for ever for a worker that its user has stopped.

usage: apart.py POSIXTRACE TARGET rights|harm|scribble|log|stopped

TARGET is the program of apart_target.c.  Rounds of scribble: APART_ROUNDS, 8, in the short
form 2; a failure names the round, which is also the seed.
"""

import array
import fcntl
import os
import pathlib
import re
import signal
import subprocess
import termios
import time

import rooms
from rooms import ALICE, TIMEOUT, expect, files, not_tried


class Recorder:
    """posixtrace record --pid, by root."""

    def __init__(self, house, target, directory, *options):
        self.log = house.folder / f"{target.pid}.ptl"
        self.process = subprocess.Popen(
            [house.tool, "record", f"--pid={target.pid}", "-o", self.log, *options], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            **{**house.how(directory), "env": {**house.environment, "SECRET": "of-root",
                                               "POSIXTRACE_DIR": str(directory)}})
        wait_until("there is a segment", lambda: segments(directory))
        if not options:
            wait_until("there is a log", lambda: self.log.exists() and
                       self.log.stat().st_size > 4096)

    def worker(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])

    def end(self, number=signal.SIGINT):
        """Its status and what it said."""
        if number:
            self.process.send_signal(number)
        said, _ = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, said


def wait_until(what, condition):
    for _ in range(TIMEOUT * 100):
        if condition():
            return
        time.sleep(0.01)
    expect(what, False)


def segments(directory):
    return [name for name in files(directory) if name.endswith(".seg")]


def start(house, name):
    """A target of Alice's, and its directory."""
    directory = house.directory(name, ALICE)
    target = house.start(["trace"], directory, ALICE)
    target.until("ready")
    return target, directory


def events(house, log):
    status, text = house.posixtrace(["print", "--event=apart", "--format=csv", log], None)
    return status, len(text.splitlines())


def descriptors(pid):
    found = set()
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.add(os.readlink(fd))
        except FileNotFoundError:   # closed meanwhile
            pass
    return found


def worker_holds_only_pipes(root, worker):
    """Whether it has only /dev/null, pipes and event descriptors, and shares one pipe with root."""
    links = descriptors(worker)
    return (all(re.match(r"/dev/null|pipe:|anon_inode:", link) for link in links) and
            len([link for link in links & descriptors(root) if link.startswith("pipe:")]) == 1)


def check_worker(recorder):
    """What the worker has, and what root's process has not."""
    root, worker = recorder.process.pid, recorder.worker()
    proc = pathlib.Path(f"/proc/{worker}")
    status = (proc / "status").read_text()
    for line in (rf"Uid:\t{ALICE}(\t{ALICE}){{3}}", rf"Gid:\t{ALICE}(\t{ALICE}){{3}}",
                 rf"Groups:\t{ALICE} ?", "NoNewPrivs:\t1", "CapPrm:\t0+", "CapEff:\t0+",
                 "CapAmb:\t0+"):
        expect(f"{line} in {status}", re.search(f"^{line}$", status, re.M))
    expect("the worker is not dumpable", (proc / "environ").stat().st_uid == 0)
    # It also opens pages and /proc/PID/maps for short times.
    wait_until("the worker has only pipes, and shares one with root",
               lambda: worker_holds_only_pipes(root, worker))
    memory = b"".join(read_memory(worker, area) for area in ("[stack]", "[heap]"))
    expect("root's environment is gone", memory and b"of-root" not in memory)
    expect("root maps nothing of Alice's",
           ".seg" not in pathlib.Path(f"/proc/{root}/maps").read_text())
    expect("the worker does", ".seg" in (proc / "maps").read_text())


def read_memory(pid, area):
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        if line.endswith(area):
            begin, end = (int(part, 16) for part in line.split()[0].split("-"))
            with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
                memory.seek(begin)
                return memory.read(end - begin)
    return b""


def check_verbs(house, target, directory):
    for verb in (["stop"], ["start"], ["filter"], ["flush"]):
        status, text = house.posixtrace([*verb, target.pid], directory)
        expect(f"{verb}: {status} {text}", status == 0)
    follow = subprocess.Popen([house.tool, "print", "--follow", "--format=csv", str(target.pid)],
                              text=True, stdout=subprocess.PIPE, **house.how(directory))
    lines = [follow.stdout.readline() for _ in range(20)]
    expect(f"{lines}", sum("apart" in line for line in lines) > 10)
    follow.send_signal(signal.SIGINT)
    follow.communicate(timeout=TIMEOUT)
    expect(f"follow: {follow.returncode}", follow.returncode in (0, 3))
    snapshot = house.folder / "snapshot.ptl"
    status, text = house.posixtrace(["snapshot", target.pid, "-o", snapshot], directory)
    expect(f"snapshot: {status} {text}", status == 0 and "event" in text)
    expect("a whole snapshot", house.posixtrace(["check", snapshot], None)[0] == 0)
    status, text = house.posixtrace(["snapshot", target.pid, "-o", snapshot], directory)
    expect(f"it stays: {status} {text}", status == 1 and "exists" in text)


def test_rights(house):
    target, directory = start(house, "rights")
    recorder = Recorder(house, target, directory)
    check_worker(recorder)
    check_verbs(house, target, directory)
    status, said = recorder.end()
    expect(f"{status} {said}", status == 0 and "none lost" in said)
    expect("a whole log", house.posixtrace(["check", recorder.log], None)[0] == 0)
    status, count = events(house, recorder.log)
    expect(f"{status}, {count} events", status == 0 and count > 10)
    expect("the log is root's", recorder.log.stat().st_uid == 0)
    expect("nothing is left", not segments(directory))
    status, said = house.posixtrace(["record", f"--pid={target.pid}", "-o", "/nowhere/log"],
                                    directory)
    expect(f"no place for a log: {status} {said}", status == 1 and "cannot write" in said)
    recorder = Recorder(house, target, directory, "--log-size=100K")
    status, said = recorder.end()
    expect(f"limited: {status} {said}", status == 0)
    expect("a whole log", house.posixtrace(["check", recorder.log], None)[0] == 0)
    target.end()
    without(house)


def without(house):
    """A process that has nothing of the library: record says what it waits for."""
    directory = house.directory("without", ALICE)
    target = subprocess.Popen(["sleep", "1000"], **house.how(directory, ALICE))
    try:
        status, said = Recorder(house, target, directory).end()
        expect(f"{status} {said}", f"process {target.pid} ('sleep') has not loaded libposixtrace"
               in said)
    finally:
        target.kill()
        target.wait()


def as_alice(house, directory, *arguments):
    return subprocess.run(arguments, check=False, timeout=TIMEOUT,
                          **house.how(directory, ALICE)).returncode


def is_traced(target):
    """Its first event in a stream that has been started maps that stream's segment."""
    return ".seg" in pathlib.Path(f"/proc/{target.pid}/maps").read_text()


def pauses(target):
    """How often its threads have paused, which they do after each event."""
    return sum(int(re.search(r"^voluntary_ctxt_switches:\t(\d+)$", status.read_text(), re.M)[1])
               for status in pathlib.Path(f"/proc/{target.pid}/task").glob("*/status"))


def expect_death(house, recorder, why):
    status, said = recorder.end(0)
    expect(f"{status} {said}", status == 1 and why in said and "at least" in said)
    status, _ = house.posixtrace(["print", "--strict", recorder.log], None)
    expect(f"the log opens and is not whole: {status}", status == 3)
    lost = int(re.search(r"at least ([0-9,]+) event", said)[1].replace(",", ""))
    status, text = house.posixtrace(["info", recorder.log], None)
    expect(f"{said}: the log says {text}", lost > 0 and
           re.search(rf"^lost +{lost} events$", text, re.M) and
           re.search(rf"^ +{lost} log could not be written$", text, re.M))


def test_harm(house):
    """Killed by the user; the segment made empty."""
    target, directory = start(house, "killed")
    recorder = Recorder(house, target, directory)
    # Events that the worker has not delivered: it is stopped while the target traces.
    wait_until("the stream runs", lambda: is_traced(target))
    os.kill(recorder.worker(), signal.SIGSTOP)
    before = pauses(target)
    wait_until("the target traces", lambda: pauses(target) > before + 20)
    expect("Alice may", as_alice(house, directory, "kill", "-9", str(recorder.worker())) == 0)
    expect_death(house, recorder, "Killed")
    target.end()
    target, directory = start(house, "truncated")
    recorder = Recorder(house, target, directory)
    expect("Alice may", as_alice(house, directory, house.probe, "truncate",
                                 directory / segments(directory)[0]) == 0)
    # A sanitizer turns the signal into an exit.
    status, said = recorder.end(0)
    expect(f"{status} {said}", status == 1 and ("Bus error" in said or "BUS" in said))
    target.process.kill()


def scribble(house, seed):
    target, directory = start(house, f"scribble-{seed}")
    recorder = Recorder(house, target, directory)
    segment = directory / segments(directory)[0]
    expect("Alice may", as_alice(house, directory, house.probe, "scribble", segment,
                                 str(seed)) == 0)
    status, said = recorder.end()
    expect(f"round {seed}: {status} {said}",
           status in (0, 1) and not re.search("Sanitizer|runtime error|ended:", said))
    expect(f"round {seed}: the target is alive", target.process.poll() is None)
    target.end()


def test_scribble(house):
    default = 2 if "POSIXTRACE_TEST_SHORT" in os.environ else 8
    for seed in range(1, int(os.environ.get("APART_ROUNDS", default)) + 1):
        scribble(house, seed)


def test_log(house):
    """Root's file has one writer, though the worker's stream writes into a pipe; and record ends
    even if the reader of root's pipe does not empty it."""
    target, directory = start(house, "one")
    recorder = Recorder(house, target, directory)
    other, elsewhere = start(house, "other")
    for verb in (["record", f"--pid={other.pid}", "-o"], ["recover"]):
        status, said = house.posixtrace([*verb, recorder.log], elsewhere)
        expect(f"{verb}: {status} {said}", status == 1 and "written" in said)
    status, said = house.posixtrace(["info", recorder.log], elsewhere)
    expect(f"info: {status} {said}", status == 0 and "it is being written" in said)
    follow = subprocess.Popen([house.tool, "print", "--follow", "--event=apart", "--format=csv",
                               recorder.log],
                              text=True, stdout=subprocess.PIPE, **house.how(elsewhere))
    first = [follow.stdout.readline() for _ in range(20)]
    status, said = recorder.end()
    rest = follow.stdout.readlines()
    expect("the follower ends", follow.wait(timeout=TIMEOUT) == 0)
    followed, whole = len(first) + len(rest), events(house, recorder.log)
    expect(f"{followed} events, and {whole} in the log", (0, followed) == whole)
    expect(f"{status} {said}", status == 0 and " lost" not in said.replace("none lost", ""))
    expect("a whole log", house.posixtrace(["check", recorder.log], None)[0] == 0)
    leave(house, target, directory)
    stall(house, other, elsewhere)
    full(house, other, elsewhere)
    truncated(house, other, elsewhere)
    target.end()
    other.end()


def leave(house, target, directory):
    """Root's record is killed in the middle: the earlier log is found, the new one is cut."""
    log = house.folder / f"{target.pid}.ptl"
    earlier = log.read_bytes()
    recorder = Recorder(house, target, directory)
    wait_until("a new log", lambda: log.read_bytes()[:64] != earlier[:64] and
               log.stat().st_size > 4096)
    recorder.process.kill()
    recorder.end(0)
    left = [name for name in files(house.folder) if name.startswith(f"{log.name}.earlier.")]
    expect(f"{left}", len(left) == 1 and (house.folder / left[0]).read_bytes() == earlier)
    wait_until("the worker has gone", lambda: not segments(directory))
    status, said = house.posixtrace(["recover", log], directory)
    expect(f"{status} {said}", status == 0 and f"{left[0]}' is an earlier" in said)
    log.unlink()
    status, said = house.posixtrace(["recover", log], directory)
    expect(f"{status} {said}", status == 0 and "is the earlier log again" in said)
    expect("it is the same", log.read_bytes() == earlier and not
           (house.folder / left[0]).exists())


def stall(house, target, directory):
    fifo = house.folder / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    size = fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    recorder = Recorder(house, target, directory, "-o", fifo)
    wait_until("the pipe is full", lambda: waiting_in(reader) == size)
    # Of the header, at first.
    wait_until("events wait for root", lambda: unread(recorder) > size)
    recorder.process.send_signal(signal.SIGINT)
    status, said = recorder.end(signal.SIGTERM)
    expect(f"{status} {said}", status == 1 and "cannot write all of" in said and
           re.search("lacks at least [1-9][0-9,]* event", said))
    os.close(reader)


def full(house, target, directory):
    """A disk that gets full: what does not come into the log is a loss there."""
    small = house.folder / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", small],
                      check=False, capture_output=True).returncode != 0:
        print("not tried: a full disk, since nothing can be mounted")
        return
    try:
        recorder = Recorder(house, target, directory, "-o", small / "x.ptl")
        status, said = recorder.end(0)
        lost = re.search(r"lacks at least ([0-9,]+) event", said)
        expect(f"{status} {said}", status == 1 and "No space left" in said and lost and
               "none lost" not in said)
        status, text = house.posixtrace(["info", small / "x.ptl"], None)
        count = lost[1].replace(",", "")
        # Where the disk is so full that the log cannot take the number, record says it.
        expect(f"{said}: the log says {status}, {text}",
               re.search(rf"^lost +{count} events$", text, re.M) or
               ("how many events were lost: No space left" in said and f"at least {lost[1]} lost" in said))
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def truncated(house, target, directory):
    """A log that is truncated ends there, and counts what it had."""
    log = house.folder / "truncated.ptl"
    recorder = Recorder(house, target, directory, "-o", log)
    wait_until("events in the log", lambda: log.exists() and log.stat().st_size > 16384)
    os.truncate(log, 0)
    status, said = recorder.end(0)
    expect(f"{status} {said}", status == 1 and "has truncated" in said)
    lost = re.search(r"lacks at least ([0-9,]+) event", said)
    status, text = house.posixtrace(["info", log], None)
    expect(f"{said}: the log says {status}, {text}", lost and status == 0 and
           re.search(rf"^lost +{lost[1].replace(',', '')} events$", text, re.M))
    expect("a whole log", house.posixtrace(["check", log], None)[0] == 0)


def waiting_in(pipe):
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def unread(recorder):
    """Bytes that the worker has sent and root has not read."""
    pipe = os.open(f"/proc/{recorder.worker()}/fd/3", os.O_RDONLY | os.O_NONBLOCK)
    try:
        return waiting_in(pipe)
    finally:
        os.close(pipe)


def is_stopped(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


def start_stopped(house, directory, *verb, made=None):
    """A verb whose worker stands still before it has ended: again, if it was quicker and has made
    what it makes."""
    for _ in range(200):
        process = subprocess.Popen([house.tool, *verb], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, **house.how(directory))
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while process.poll() is None:
            try:
                worker = int(children.read_text().split()[0])
                os.kill(worker, signal.SIGSTOP)
                wait_until("it is stopped", lambda: is_stopped(worker))
                return process
            except (OSError, IndexError):
                pass
        process.communicate()
        if made:
            made.unlink(missing_ok=True)
    expect(f"{verb}: a worker that is stopped", False)
    return None


def stopped_at_once(house, target, directory):
    """A snapshot whose log is there ends at once, and its worker with it, also one that is stopped
    while it has root's standard output."""
    snapshot = house.folder / "there.ptl"
    snapshot.touch()
    for _ in range(20):
        process = subprocess.Popen([house.tool, "snapshot", str(target.pid), "-o", snapshot], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   **house.how(directory))
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while process.poll() is None:
            try:
                os.kill(int(children.read_text().split()[0]), signal.SIGSTOP)
                break
            except (OSError, IndexError):
                pass
        said, _ = process.communicate(timeout=TIMEOUT)
        expect(f"{process.returncode} {said}", process.returncode == 1 and "exists" in said)


def test_stopped(house):
    """The limit is the tool's own, of ten seconds, once for all of them."""
    target, directory = start(house, "stopped")
    recorder = Recorder(house, target, directory)
    follow = subprocess.Popen([house.tool, "print", "--follow", "--format=csv", str(target.pid)],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              **house.how(directory))
    expect("events are shown", follow.stdout.readline() and follow.stdout.readline())
    stopped_at_once(house, target, directory)
    children = pathlib.Path(f"/proc/{follow.pid}/task/{follow.pid}/children")
    snapshot = house.folder / "stopped-snapshot.ptl"
    waiting = [start_stopped(house, directory, "start", str(target.pid)),
               start_stopped(house, directory, "filter", str(target.pid)),
               start_stopped(house, directory, "snapshot", str(target.pid), "-o", snapshot,
                             made=snapshot)]
    for worker in (recorder.worker(), int(children.read_text().split()[0])):
        expect("Alice may", as_alice(house, directory, "kill", "-STOP", str(worker)) == 0)
        wait_until("it is stopped", lambda pid=worker: is_stopped(pid))
    target.process.kill()
    for process in [follow, *waiting]:      # it writes until its pipe is full
        said = "".join(filter(None, process.communicate(timeout=TIMEOUT)))
        expect(f"{process.args}: {process.returncode} {said}", process.returncode == 1 and
               "was ended: it gave no sign of life for 10 s" in said)
    expect("no snapshot", not snapshot.exists())
    status, said = recorder.end(0)
    expect(f"{status} {said}", status == 1 and "no sign of life for 10 s; lost" in said and
           "no such process" not in said)


def needs_root(test):
    def run(house):
        if os.geteuid() == 0:
            test(house)
        else:
            not_tried("a worker with the rights of another user", "that takes root")
    return run


if __name__ == "__main__":
    rooms.main({"rights": needs_root(test_rights), "harm": needs_root(test_harm),
                "scribble": needs_root(test_scribble), "log": needs_root(test_log),
                "stopped": needs_root(test_stopped)})
