# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The ways to run a program in the macro benchmark.  Each has run(command, work): starts the
command on processor 0, calls work(pid) when it runs, ends it, and returns a dict with the
processor time of all that took part (cpu), and what was recorded (events, lost, bytes, memory).
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

CPU = "0"
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """Of a process with its threads, so far."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICK


def memory(pid):
    """The proportional share of memory of a process, in bytes."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def children(pid):
    return [int(c) for t in pathlib.Path(f"/proc/{pid}/task").iterdir()
            for c in (t / "children").read_text().split()]


def start(command, folder):
    log = open(folder / "output", "ab")
    return subprocess.Popen(["taskset", "-c", CPU, *map(str, command)], stdout=log, stderr=log,
                            cwd=folder)


def end(process, pid, ends_itself):
    """Waits for it; its processor time, with that of its children."""
    if not ends_itself:
        os.kill(pid, signal.SIGTERM)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


class Plain:
    """Without a tracer that records."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, command, work, ends_itself):
        process = start(command, self.folder)
        result = work(process.pid)
        result["memory"] = 0 if ends_itself else memory(process.pid)
        result["cpu"] = end(process, process.pid, ends_itself)
        return result


class Posixtrace:
    def __init__(self, folder, tool, size):
        self.folder, self.tool, self.size = folder, tool, size

    def run(self, command, work, ends_itself):
        log = self.folder / "macro.ptl"
        log.unlink(missing_ok=True)
        process = start([self.tool, "record", "--quiet", f"--size={self.size}", "-o", log, "--",
                         *command], self.folder)
        while not ends_itself and not children(process.pid):
            time.sleep(0.01)
        target = process.pid if ends_itself else children(process.pid)[0]
        result = work(target)
        result["memory"] = 0 if ends_itself else memory(process.pid) + memory(target)
        result["cpu"] = end(process, target, ends_itself)
        info = json.loads(subprocess.run([self.tool, "info", "--format=jsonl", log], check=False,
                                         capture_output=True).stdout.splitlines()[0])
        own = sum(t["count"] for t in info["types"] if not t["event"].startswith("posix_trace_"))
        result.update(events=own, lost=info["lost"], bytes=log.stat().st_size)
        log.unlink()
        return result


class Lttng:
    """A session daemon of its own, with one session for each run."""

    def __init__(self, folder, subbuffer, number):
        self.folder, self.subbuffer, self.number = folder, subbuffer, number
        self.home = tempfile.mkdtemp(prefix="lttng-home.", dir=folder)
        self.environment = {**os.environ, "LTTNG_HOME": self.home}
        self.daemon = subprocess.Popen(["taskset", "-c", CPU, "lttng-sessiond", "--no-kernel"],
                                       env=self.environment, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        for _ in range(200):
            if self.lttng("list", check=False) == 0:
                return
            time.sleep(0.05)
        raise SystemExit("lttng-sessiond does not answer")

    def lttng(self, *words, check=True):
        done = subprocess.run(["lttng", *words], env=self.environment, check=False,
                              capture_output=True, text=True)
        if check and done.returncode:
            raise SystemExit(f"lttng {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.returncode

    def daemons(self):
        return [self.daemon.pid, *children(self.daemon.pid)]

    def close(self):
        self.daemon.terminate()
        self.daemon.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def run(self, command, work, ends_itself):
        trace = self.folder / "macro-lttng"
        shutil.rmtree(trace, ignore_errors=True)
        self.lttng("create", "macro", f"--output={trace}")
        self.lttng("enable-channel", "--userspace", "macro", "--discard", "--buffers-uid",
                   f"--subbuf-size={self.subbuffer}", f"--num-subbuf={self.number}")
        self.lttng("enable-event", "--userspace", "--channel=macro", "macro:*")
        self.lttng("add-context", "--userspace", "--channel=macro", "--type=vpid", "--type=vtid")
        self.lttng("start")
        before = sum(map(cpu_seconds, self.daemons()))
        result = Plain(self.folder).run(command, work, ends_itself)
        self.lttng("stop")
        result["cpu"] += sum(map(cpu_seconds, self.daemons())) - before
        if result["memory"]:
            result["memory"] += sum(map(memory, self.daemons()))
        self.lttng("destroy")
        result.update(count_ctf(trace), bytes=sum(f.stat().st_size for f in trace.rglob("*")
                                                  if f.is_file()))
        shutil.rmtree(trace)
        return result


def count_ctf(trace):
    done = subprocess.run(["babeltrace2", "--component=sink.utils.counter", trace], check=False,
                          capture_output=True, text=True)
    counts = {"events": 0, "lost": 0}
    for line in done.stdout.splitlines():
        words = line.split()
        if "Event message" in line:
            counts["events"] = int(words[0])
        elif "Discarded event" in line and words[0] != "0":
            counts["lost"] = int(words[0])
    return counts
