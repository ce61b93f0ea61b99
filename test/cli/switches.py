#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""What posixtrace says of context switches that the kernel loses, and of the limits for its
rings.

usage: switches.py POSIXTRACE
"""

import ctypes
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

SKIP = 77
ROUNDS = 500
PR_CAPBSET_DROP, CAP_IPC_LOCK = 24, 14
# Answers each byte: it blocks, and so switches, for each.
ECHO = "import os\nwhile os.read(0, 1):\n    os.write(1, b'x')\n"


def need(condition, *what):
    if not condition:
        sys.exit("\n".join(str(each) for each in what))


def setting(name):
    try:
        return int(pathlib.Path(f"/proc/sys/kernel/{name}").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def run(*command, status=0, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    need(done.returncode == status, command, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def refusal(tool, folder):
    """What record says where the system gives it no switches; or ''."""
    said = run(tool, "record", "--system=switches", "-o", folder / "try.ptl", "true")[1]
    refused = "no context switches will be" in said
    paranoid = setting("perf_event_paranoid")
    if refused and paranoid is not None and paranoid > 2:
        need(f"kernel.perf_event_paranoid is {paranoid}" in said, said)
    return said if refused else ""


def turn(child):
    child.stdin.write(b"x")
    child.stdin.flush()
    need(child.stdout.read(1) == b"x", "the traced program has ended")


def check_loss(tool, folder):
    """The recorder stands still while the program switches: nothing empties the rings."""
    log = folder / "lost.ptl"
    command = [tool, "record", "--system=switches", "--switch-buffer=4K", "-o", log,
               sys.executable, "-c", ECHO]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        turn(child)
        child.send_signal(signal.SIGSTOP)
        need(os.WIFSTOPPED(os.waitpid(child.pid, os.WUNTRACED)[1]), "it does not stop")
        for _ in range(ROUNDS):
            turn(child)
        child.send_signal(signal.SIGCONT)
        child.stdin.close()
        said = child.stderr.read().decode()
        need(child.wait() == 0, said)
    lost = re.search(r", ([0-9,]+) lost \(switches lost by the kernel (\d+)\);", said)
    need(lost, said)
    count = int(lost[2])
    need(lost[1] == f"{count:,}" and count > ROUNDS, said)
    need(re.search(r"rings, of \d+ KiB for each processor, had no room for "
                   f"{count:,} context switches: record with --switch-buffer=", said), said)
    info = run(tool, "info", log)[0]
    need(re.search(rf"^lost +{count} events\n +{count} switches lost by the kernel\n"
                   r"advice +larger rings, 'posixtrace record --switch-buffer'", info, re.M), info)
    need("stream full" not in info.split("lost ")[1], info)
    need(re.search(rf"^ +0 +{count} +0 +0  \(no thread\)$", info, re.M), info)
    need("(ended" not in info, info)
    note = f"posixtrace: {count} events lost (switches lost by the kernel {count})\n"
    need(run(tool, "print", "--strict", log, status=3)[1] == note, "print")
    need(run(tool, "print", "--format=jsonl", "--strict", log, status=3)[1] == note, "jsonl")
    run(tool, "export", "--to=chrome", log, folder / "lost.json")
    events = json.loads((folder / "lost.json").read_text())["traceEvents"]
    need([e["args"] for e in events if e["name"] == "events lost"] ==
         [{"switches lost by the kernel": count}], "chrome")
    run(tool, "export", "--to=btf", log, folder / "lost.btf")
    need(f"# events lost when recording: {count}\n" in (folder / "lost.btf").read_text(), "btf")


def without_rights():
    """No CAP_IPC_LOCK after exec, also for root, and no memory that may be locked."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))


def check_limits(tool, folder):
    """64 MiB are too much for a user: the line names the limits and what would do."""
    said = run(tool, "record", "--system=switches", "--switch-buffer=64M", "-o",
               folder / "a.ptl", "true", preexec_fn=without_rights)[1]
    limit, wanted = setting("perf_event_mlock_kb"), 65536 + os.sysconf("SC_PAGESIZE") // 1024
    if setting("perf_event_paranoid") == -1 or limit is None or limit >= wanted:
        return
    if "no context switches will be" in said:
        need(f"perf_event_mlock_kb is {limit}" in said or "paranoid" in said, said)
        return
    found = re.search(r"rings for context switches have ([\d.]+ [KM]iB) for each processor, not "
                      r"the 64 MiB of --switch-buffer: kernel\.perf_event_mlock_kb is (\d+) and "
                      r"'ulimit -l' 0; 'sysctl kernel\.perf_event_mlock_kb=(\d+)', as root, or "
                      r"CAP_IPC_LOCK allows 64 MiB\n", said)
    need(found and int(found[2]) == limit and int(found[3]) == wanted, said)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: switches.py POSIXTRACE")
    tool = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        said = refusal(tool, folder)
        if said:
            print(said)
            return SKIP
        check_loss(tool, folder)
        check_limits(tool, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
