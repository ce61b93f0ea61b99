#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace top: a program that does what it is asked for (live.c), JSON of what its threads do
then, and a pseudo terminal on which keys are typed.  The terminal knows the sequences that top may
write; another one, as in a hostile name, or a line that is too long, fails the test.

Nothing depends on time: each step waits for a condition.

usage: top.py POSIXTRACE LIVE
"""

import codecs
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PATIENCE = 60
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


def expect(what, good):
    if not good:
        sys.exit(f"failed: {what}")


# ---- the program ----

class Live:
    """live.c, recorded by posixtrace record --system."""

    def __init__(self, tool, program, folder, *options):
        self.log = folder / f"{time.monotonic_ns()}.ptl"
        self.process = subprocess.Popen(
            [tool, "record", "--quiet", "--system", *options, "-o", self.log, program],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.end()

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().split()
        expect(f"{words}: {answer}", answer and answer[0] == "ok")
        return [int(word) for word in answer[1:]]

    def end(self):
        if self.process.stdin:
            self.process.stdin.close()
            self.process.stdin = None
            expect("the program ends", self.process.wait(timeout=PATIENCE) == 0)


# ---- without a terminal ----

def once(tool, *arguments):
    done = subprocess.run([tool, "top", "--once", "--interval=100ms", "--format=json",
                           *map(str, arguments)], capture_output=True, text=True, check=False,
                          timeout=PATIENCE, stdin=subprocess.DEVNULL)
    expect(f"{arguments}: {done.stderr}", done.returncode == 0 and done.stderr == "")
    return json.loads(done.stdout)


def until(what, tool, arguments, good):
    """The first picture that is good."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        picture = once(tool, *arguments)
        if good(picture):
            return picture
    sys.exit(f"never: {what}: {json.dumps(picture)[:3000]}")


def thread(picture, tid):
    found = [t for t in picture["threads"] if t["tid"] == tid]
    return found[0] if found else {}


def pair(picture, name):
    found = [p for p in picture["pairs"] if p["name"] == name]
    return {w["seconds"]: w for w in found[0]["windows"]} if found else {}


def check_nothing(tool):
    picture = once(tool)
    expect("nothing traces", picture["streams"] == picture["threads"] == picture["pairs"] == [])
    done = subprocess.run([tool, "top", "--once"], capture_output=True, text=True, check=True,
                          timeout=PATIENCE)
    expect("nothing traces", "nothing traces" in done.stdout)
    for arguments, status in ((["top", "--once", "no-such"], 1), (["top"], 1),
                              (["top", "--interval=1ms"], 64), (["top", "a", "b"], 64),
                              (["top", "--where=)"], 64), (["top", "--sort=x"], 64)):
        done = subprocess.run([tool, *arguments], capture_output=True, text=True, check=False,
                              timeout=PATIENCE)
        expect(f"{arguments}: {done}", done.returncode == status and done.stderr)
    os.chmod(os.environ["POSIXTRACE_DIR"], 0o777)
    done = subprocess.run([tool, "top", "--once"], capture_output=True, text=True, check=False,
                          timeout=PATIENCE)
    expect(f"a folder of others: {done}", done.returncode == 1 and "cannot list" in done.stderr)
    os.chmod(os.environ["POSIXTRACE_DIR"], 0o700)


@contextlib.contextmanager
def watched(tool, *arguments):
    """A top that runs, and its pictures."""
    top = subprocess.Popen([tool, "top", "--interval=100ms", "--format=json",
                            *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    try:
        yield map(json.loads, iter(top.stdout.readline, ""))
    finally:
        top.terminate()
        expect("SIGTERM ends it in order", top.wait(timeout=PATIENCE) == 0)


def check_pairs(tool, program, folder):
    """Counts are exact where all was read; other readers miss nothing.  The flush thread takes
    events into the log, so top has to be there before."""
    pairs = 500
    with Live(tool, program, folder) as live, watched(tool, live.pid) as pictures:
        next(pictures)
        live.ask("pairs", pairs)
        picture = next(p for p in pictures if pair(p, "req").get(60, {}).get("count", 0) >= pairs)
        expect("no pair too many", pair(picture, "req")[60]["count"] == pairs)
        evil = [p["name"] for p in picture["pairs"]]
        expect(f"hostile names in JSON: {evil}", "e\x1b]0;x\x07" in evil)
        window = pair(picture, "req")[60]
        expect(f"percentiles: {window}",
               0 < window["p50_ns"] <= window["p99_ns"] <= window["max_ns"])
        expect("all was read", picture["streams"][0]["share_read"] == 1 and
               not window["at_least"])
        with watched(tool, live.pid, "--where=req:*") as chosen:
            next(chosen)
            live.ask("pairs", pairs)
            names = next(p["pairs"] for p in chosen if p["pairs"])
            expect(f"a filter: {names}", [p["name"] for p in names] == ["req"])
        live.end()
        counted = subprocess.run([tool, "print", "--format=csv", "--event=req:*", live.log],
                                 capture_output=True, text=True, check=True).stdout
        expect("the log has all", counted.count("req:begin") == 2 * pairs)


def check_waits(tool, program, folder):
    with Live(tool, program, folder) as live:
        wanter, holder = live.ask("held")
        picture = until("the holder", tool, [live.pid],
                        lambda p: thread(p, wanter).get("wait", {}).get("for_tid") == holder)
        expect("no deadlock", picture["deadlocks"] == [])
        wait = thread(picture, wanter)["wait"]
        expect(f"names of lock and caller: {wait}", wait["call"] == "mutex_lock" and
               wait["length_ns"] > 0 and re.match(r"held|live|0x", wait["object"]))
        lock = [one for one in picture["locks"] if one["holder_tid"] == holder]
        expect(f"the lock: {picture['locks']}", lock and lock[0]["waiters"] == 1)


def check_deadlocks(tool, program, folder):
    with Live(tool, program, folder) as live:
        pair_of = live.ask("deadlock")
        picture = until("the deadlock", tool, [live.pid],
                        lambda p: [sorted(one) for one in p["deadlocks"]] == [sorted(pair_of)])
        for tid in pair_of:
            row = thread(picture, tid)
            other = [one for one in pair_of if one != tid][0]
            expect(f"each waits for the other: {row}", row["wait"]["for_tid"] == other and
                   row["state"] == "waiting" and row["deadlock"] > 0)
        lonely, = live.ask("alone")
        until("a thread that waits for itself", tool, [live.pid],
              lambda p: [lonely] in p["deadlocks"])


def check_sampled_deadlock(tool, program, folder):
    """A top that runs keeps the deadlock, however many events of others pass: more than the stream
    has room for."""
    with Live(tool, program, folder, "--size=256K", "--policy=loop") as live:
        pair_of = live.ask("deadlock")
        with watched(tool, live.pid) as pictures:
            found = [sorted(pair_of)]
            next(p for p in pictures if [sorted(one) for one in p["deadlocks"]] == found)
            live.ask("chatter", 100000)
            next(p for p in pictures if p["streams"][0]["events"] > 200000 and
                 [sorted(one) for one in p["deadlocks"]] == found)


def check_several(tool, program, folder):
    with Live(tool, program, folder) as one, Live(tool, program, folder) as two:
        for live in (one, two):
            live.ask("pairs", 3)
        picture = until("two streams", tool, [], lambda p: len(p["streams"]) == 2)
        expect("processes", {t["pid"] for t in picture["threads"]} == {one.pid, two.pid})
        top = subprocess.Popen([tool, "top", "--interval=100ms", "--format=json", str(one.pid)],
                               stdout=subprocess.PIPE, text=True)
        top.stdout.readline()
        one.end()
        last = json.loads(top.stdout.read().splitlines()[-1])
        expect("it ends with the stream", top.wait(timeout=PATIENCE) == 0 and
               last["streams"][0]["state"] == "ended")


# ---- a terminal ----

class Terminal:
    """A terminal that knows few sequences, with a process on it."""

    SEQUENCE = re.compile(r"\x1b\[(\?1049[hl]|\?25[hl]|H|2J|K|J|[0-9;]*m)")

    def __init__(self, tool, arguments, rows=24, columns=80, keys=True, **environment):
        self.rows, self.columns = rows, columns
        self.screen, self.red = [""] * rows, set()
        self.row, self.raw, self.rest, self.bold = 0, "", "", False
        self.decode = codecs.getincrementaldecoder("utf-8")().decode    # a read may end within a character
        self.ours, self.theirs = pty.openpty()
        self.set_size(rows, columns)
        self.before = termios.tcgetattr(self.theirs)
        settings = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment}
        for name in {"NO_COLOR", "FORCE_COLOR"} - environment.keys():
            settings.pop(name, None)
        self.process = subprocess.Popen(
            [tool, "top", "--interval=100ms", *map(str, arguments)], env=settings,
            stdin=self.theirs if keys else subprocess.DEVNULL, stdout=self.theirs,
            stderr=subprocess.PIPE, start_new_session=True, preexec_fn=self.take_terminal)

    def take_terminal(self):
        fcntl.ioctl(self.theirs, termios.TIOCSCTTY, 0)

    def set_size(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.screen = [""] * rows
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self.ours, keys.encode())

    def put(self, text):
        """Text without sequences."""
        for part in re.findall(r"\r+\n|[^\r\n]+|.", text, flags=re.S):
            if part.endswith("\n"):
                self.row += 1
                expect(f"no line below the last: {self.screen}", self.row < self.rows)
                continue
            expect(f"no control characters: {part!r}", part.isprintable())
            self.screen[self.row] += part
            expect(f"no line is too long: {self.screen[self.row]!r}",
                   len(self.screen[self.row]) <= self.columns)
            if self.bold:
                self.red.add(self.row)

    def obey(self, sequence):
        if sequence == "H":
            self.row = 0
            self.screen[0] = ""
            self.red = set()
        elif sequence == "K":
            if self.row + 1 < self.rows:
                self.screen[self.row + 1] = ""
        elif sequence == "2J":
            self.screen = [""] * self.rows
        elif sequence.endswith("m"):
            self.bold = sequence == "1;31m"

    def take(self, text):
        self.raw += text
        at = 0
        for match in self.SEQUENCE.finditer(text):
            self.put(text[at:match.start()])
            self.obey(match.group(1))
            at = match.end()
        self.put(text[at:])

    def read(self):
        """Frames: each starts at the top left.  False: the terminal is closed."""
        ready, _, _ = select.select([self.ours], [], [], 0.1)
        if not ready:
            return self.process.poll() is None
        try:
            part = self.decode(os.read(self.ours, 65536))
        except OSError:
            return False
        self.rest += part
        # A picture that is not there whole waits for its rest.
        whole = self.rest.rfind("\x1b[J") + len("\x1b[J")
        if whole > 3:
            self.take(self.rest[:whole])
            self.rest = self.rest[whole:]
        return True

    def wait(self, what, good):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.read():
            if good(self):
                return
        self.process.kill()
        sys.exit(f"never on the terminal: {what}\n" + "\n".join(self.screen) +
                 f"\n{self.process.stderr.read()}")

    def has(self, what, pattern):
        self.wait(what, lambda t: re.search(pattern, "\n".join(t.screen)))

    def ends(self, status=0):
        """The terminal is as it was before."""
        end = time.monotonic() + PATIENCE
        while self.read():
            expect(f"it ends: {self.screen}", time.monotonic() < end)
        expect(f"exit status {self.process.wait(timeout=PATIENCE)}",
               self.process.returncode == status)
        with contextlib.suppress(BlockingIOError, OSError):
            os.set_blocking(self.ours, False)
            self.rest += self.decode(os.read(self.ours, 65536))
        raw = self.raw + self.rest
        expect("the screen of the shell comes back",
               raw.count(ENTER) == raw.count(LEAVE) > 0 and raw.rstrip().endswith(LEAVE) and
               raw.rfind("\x1b[?25h") > raw.rfind("\x1b[?25l"))
        expect("the terminal's settings come back",
               termios.tcgetattr(self.theirs) == self.before)
        os.close(self.ours)
        os.close(self.theirs)


def check_keys(tool, program, folder):
    with Live(tool, program, folder) as live:
        live.ask("pairs", 100)
        one, two = live.ask("deadlock")
        terminal = Terminal(tool, [live.pid])
        terminal.has("the pairs", r"(?m)^PAIR .*\n(.*\n)*?req ")
        terminal.wait("the deadlock in red", lambda t: any(
            row in t.red and re.search(rf"deadlock: .*\({one}\) -> .*\({two}\)|"
                                       rf"deadlock: .*\({two}\) -> .*\({one}\)", line)
            for row, line in enumerate(t.screen)))
        terminal.has("hostile names", r"two\\e\[7m\\x07")
        expect("only deadlocks are red", not any("req" in terminal.screen[row]
                                                 for row in terminal.red))
        terminal.type("s")
        terminal.has("another order", "sort: rate")
        terminal.type("h")
        terminal.has("help", r"freeze the picture")
        terminal.type("h2")
        terminal.wait("threads only", lambda t: any("THREAD" in line for line in t.screen) and
                      not any(line.startswith("PAIR") for line in t.screen))
        terminal.type(f"f(tid {one}\x7f\x7f)\x15tid {one}")
        terminal.has("what is typed", rf"filter: tid {one}_")
        terminal.type("\r")
        terminal.has("the filter", rf"filter tid {one}")
        terminal.type("f\x15)\r")
        terminal.has("a wrong filter", "not a filter")
        terminal.type("0 ")
        terminal.has("frozen", "FROZEN")
        terminal.type("s")
        terminal.has("frozen", "picture is frozen")
        terminal.type(" ")
        terminal.wait("not frozen", lambda t: "FROZEN" not in t.screen[0] and t.screen[0])
        terminal.set_size(40, 120)
        os.kill(terminal.process.pid, signal.SIGWINCH)
        terminal.wait("the new size", lambda t: t.screen[39].startswith("q quit") and
                      any("READY" in line for line in t.screen))
        terminal.type("w")
        terminal.has("a snapshot", r"top-\d+\.ptl: \d+ events")
        terminal.type("q")
        terminal.ends()
        made = list(pathlib.Path().glob("top-*.ptl"))
        expect("the snapshot is a log", len(made) == 1 and subprocess.run(
            [tool, "check", made[0]], stdout=subprocess.DEVNULL, check=False).returncode == 0)


def check_ends(tool, program, folder):
    """Ctrl-C, SIGTERM, SIGHUP, a target that ends, a stop, no keys."""
    with Live(tool, program, folder) as live:
        live.ask("pairs", 5)
        terminal = Terminal(tool, [live.pid])
        terminal.has("a picture", "events/s")
        terminal.type("\x03")
        terminal.ends()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            terminal = Terminal(tool, [live.pid], NO_COLOR="1")
            terminal.has("a picture", "events/s")
            terminal.process.send_signal(number)
            terminal.ends()
            expect("no colour", "\x1b[1" not in terminal.raw and "\x1b[2m" not in terminal.raw)
        terminal = Terminal(tool, [live.pid], keys=False)
        terminal.has("a picture without keys", "events/s")
        terminal.process.send_signal(signal.SIGINT)
        terminal.ends()
        terminal = Terminal(tool, [], LC_ALL="C")
        terminal.has("a picture", "req ")
        live.end()
        terminal.has("the end of the stream", "has ended: the last picture")
        terminal.has("the last picture", "req ")
        terminal.type("q")
        terminal.ends()
        terminal = Terminal(tool, [])
        terminal.has("nothing", "nothing traces")
        terminal.type("\x1a")
        # The process is alone in its session, where the kernel does not stop it.
        terminal.wait("it leaves the terminal, and takes it again",
                      lambda t: (t.raw + t.rest).count(LEAVE) == 1 and
                      (t.raw + t.rest).count(ENTER) == 2)
        terminal.type("q")
        terminal.ends()


def main():
    # A shell may have said that this process ignores one (nohup), and then top does, too.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    tool, program = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["POSIXTRACE_DIR"] = os.path.join(folder, "streams")
        os.mkdir(os.environ["POSIXTRACE_DIR"], 0o700)
        check_nothing(tool)
        for check in (check_pairs, check_waits, check_deadlocks, check_sampled_deadlock,
                      check_several, check_keys, check_ends):
            check(tool, program, pathlib.Path(folder))


if __name__ == "__main__":
    main()
