#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Differences on a terminal: colours, width, control characters, progress.

usage: terminal.py POSIXTRACE
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import threading

TIMEOUT = 60
ESCAPE = re.compile(r'\x1b\[[0-9;]*m')


class Terminal:
    """A pseudo terminal; what was written to it collects in 'seen'."""

    def __init__(self, columns=80):
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.seen = b""

    def read(self, process):
        """Until the process has closed the terminal."""
        os.close(self.theirs)
        while True:
            ready, _, _ = select.select([self.ours], [], [], TIMEOUT)
            if not ready:
                process.kill()
                sys.exit(f"nothing happens on the terminal after {self.seen!r}")
            try:
                part = os.read(self.ours, 65536)
            except OSError:
                part = b""
            if not part:
                break
            self.seen += part
        os.close(self.ours)
        return self.seen.decode("utf-8", "surrogateescape")


def on_terminal(tool, arguments, columns=80, status=0, **environment):
    """Runs the tool with stdout on a terminal."""
    terminal = Terminal(columns)
    settings = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment}
    for name in {"NO_COLOR", "FORCE_COLOR"} - environment.keys():
        settings.pop(name, None)
    process = subprocess.Popen([tool, *map(str, arguments)], stdout=terminal.theirs, env=settings)
    text = terminal.read(process)
    if process.wait() != status:
        sys.exit(f"{arguments}: exit {process.returncode}")
    return text


def expect(what, good):
    if not good:
        sys.exit(f"failed: {what}")


def make_log(tool, folder, lines):
    log = folder / "a.ptl"
    subprocess.run([tool, "import", "--force", "--from=jsonl", "-", log], check=True,
                   input="".join(lines).encode())
    return log


def check_colours(tool, log):
    expect("colours", ESCAPE.search(on_terminal(tool, ["print", log])))
    for settings in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        expect(f"no colours with {settings}",
               "\x1b" not in on_terminal(tool, ["print", log], **settings))
    expect("an empty NO_COLOR is none",
           ESCAPE.search(on_terminal(tool, ["print", log], NO_COLOR="")))
    expect("--color=never", "\x1b" not in on_terminal(tool, ["print", "--color=never", log]))
    for form in ("jsonl", "csv"):
        expect(f"no colours in {form}",
               "\x1b" not in on_terminal(tool, ["print", f"--format={form}", log]))


def piped(tool, arguments, **environment):
    settings = {name: value for name, value in os.environ.items()
                if name not in ("NO_COLOR", "FORCE_COLOR")}
    done = subprocess.run([tool, *map(str, arguments)], env={**settings, **environment}, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout


def check_colour_settings(tool, folder):
    """The same in print, info and metrics; the text without its colours is that of a pipe."""
    log = make_log(tool, folder, ['{"ts":1000,"tid":1,"thread":"t","event":"a"}\n',
                                  '{"ts":2000,"event":"posix_trace_overflow"}\n',
                                  '{"ts":2500,"event":"posix_trace_resume"}\n',
                                  '{"ts":3000,"tid":1,"thread":"t","event":"b"}\n'])
    for arguments in (["print"], ["info"], ["info", "--tid=1"], ["metrics", "--user=m:a:b"],
                      ["metrics", "--stats", "--user=m:a:b"], ["metrics", "--each", "--user=m:a:b"]):
        plain = piped(tool, [*arguments, log])
        expect(f"{arguments}: no colours in a pipe", "\x1b" not in plain)
        for coloured in (piped(tool, [*arguments, "--color=always", log]),
                         piped(tool, [*arguments, "--color=always", log], NO_COLOR="1"),
                         piped(tool, [*arguments, log], FORCE_COLOR="1")):
            expect(f"{arguments}: colours", ESCAPE.search(coloured))
            expect(f"{arguments}: the same text", ESCAPE.sub("", coloured) == plain)
        for settings in ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"FORCE_COLOR": ""}):
            expect(f"{arguments}: no colours with {settings}",
                   piped(tool, [*arguments, log], **settings) == plain)
        expect(f"{arguments}: colours on a terminal",
               ESCAPE.search(on_terminal(tool, [*arguments, log])))
        expect(f"{arguments}: --color=never",
               "\x1b" not in on_terminal(tool, [*arguments, "--color=never", log], FORCE_COLOR="1"))
        expect(f"{arguments}: no colours in jsonl",
               "\x1b" not in on_terminal(tool, [*arguments, "--format=jsonl", log], FORCE_COLOR="1"))


def check_width(tool, log):
    """All columns are used; columns.py tests extreme widths."""
    for columns in (80, 100, 200):
        text = ESCAPE.sub("", on_terminal(tool, ["print", log], columns))
        widest = max(len(line.rstrip("\r\n")) for line in text.splitlines(True))
        expect(f"fits {columns} columns: {widest}", columns - 20 < widest <= columns)


def check_controls(tool, log):
    for arguments in (["print"], ["print", "--format=jsonl"], ["print", "--format=csv"], ["info"]):
        for locale in ("C.UTF-8", "C"):
            text = on_terminal(tool, [*arguments, log], LC_ALL=locale)
            text = ESCAPE.sub("", text).replace("\r\n", "\n").replace("\r\n", "\n")
            if "csv" in arguments[-1]:
                text = text.replace("\r", "")
            bad = [c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or
                   0xd800 <= ord(c) < 0xe000]
            expect(f"{arguments} in {locale} writes no control characters: {bad}", not bad)
            expect(f"{arguments} in {locale}: ASCII only there",
                   text.isascii() if locale == "C" else not text.isascii())


def check_binary(tool, log):
    """Only formats of text come to a terminal; nothing else is written there."""
    for form in ("perfetto", "kev", "rkh", "shark"):
        expect(f"no {form}", on_terminal(tool, ["export", f"--to={form}", log, "-"], status=64) == "")
    for form in ("jsonl", "csv", "btf", "chrome", "kiwi", "otlp", "trazer"):
        on_terminal(tool, ["export", f"--to={form}", log, "-"])
    expect("no log", on_terminal(tool, ["record", "-o", "/dev/stdout", "true"], status=1) == "")


def check_progress(tool, folder):
    """Lines are fed until progress shows; then there is an end to it."""
    terminal = Terminal()
    process = subprocess.Popen([tool, "import", "--from=jsonl", "-", folder / "p.ptl"],
                               stdin=subprocess.PIPE, stderr=terminal.theirs)
    found = threading.Event()

    def feed():
        number = 0
        while not found.is_set() and process.poll() is None:
            lines = [f'{{"ts":{number + i},"event":"e"}}\n' for i in range(1000)]
            number += len(lines)
            process.stdin.write("".join(lines).encode())
            found.wait(0.01)
        process.stdin.close()

    def watch():
        while b"posixtrace: import: " not in terminal.seen:
            ready, _, _ = select.select([terminal.ours], [], [], TIMEOUT)
            if not ready:
                break
            terminal.seen += os.read(terminal.ours, 65536)
        found.set()

    threads = [threading.Thread(target=feed), threading.Thread(target=watch)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = terminal.read(process)
    expect("import ends well", process.wait() == 0)
    expect(f"progress was shown: {text!r}", "million events" in text)
    expect(f"and taken away: {text!r}", text.endswith("\r\x1b[K"))


def check_messages(tool, folder):
    """A message is broken at blanks where it goes to a terminal, and quoted text stays whole."""
    command = [pathlib.Path(tool).resolve(), "record", "-o", "m n.ptl", "true"]
    unbroken = subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, check=True).stderr.decode()
    expect(f"one line in a pipe: {unbroken!r}", unbroken.count("\n") == 1 and len(unbroken) > 120)
    for columns in (80, 50, 100):
        terminal = Terminal(columns)
        process = subprocess.Popen(command, cwd=folder, stderr=terminal.theirs)
        lines = terminal.read(process).splitlines()
        expect("record ends well", process.wait() == 0)
        expect(f"{columns} columns: {lines}", max(map(len, lines)) <= columns < len(unbroken))
        expect(f"whole in {columns}: {lines}",
               " ".join(line.strip() for line in lines) == unbroken.strip())
        expect(f"quoted is whole: {lines}", any("m n.ptl'" in line for line in lines))
        expect(f"indented: {lines}", all(line.startswith("    ") for line in lines[1:]))


def main():
    tool = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = [f'{{"ts":{i * 1000},"event":"step","thread":"main","tid":{i % 2 + 1},'
                 f'"data":"{"61" * (3 * i)}"}}\n' for i in range(60)]
        log = make_log(tool, folder, lines)
        check_colours(tool, log)
        check_colour_settings(tool, folder)
        log = make_log(tool, folder, lines)
        check_width(tool, log)
        check_binary(tool, log)
        nasty = ('{"ts":1000000,"event":"control \\u001b[2J\\u0007\\r\\u009b\\udc9b\\ud83d\\ude00",'
                 '"thread":"\\u001bc\\u00e9","data":"1b5b324a0d"}\n')
        check_controls(tool, make_log(tool, folder, lines + [nasty]))
        check_progress(tool, folder)
        check_messages(tool, folder)


if __name__ == "__main__":
    main()
