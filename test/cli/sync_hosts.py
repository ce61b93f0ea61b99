#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace sync of two hosts that run: each in its own namespaces for the network and the host name,
with another CLOCK_REALTIME that is wrong and drifts, and a relay between them that delays messages.  Events
have the time of the kernel, which both share: it is inside of the intervals that sync gives.

usage: sync_hosts.py POSIXTRACE HOST
"""

import fcntl
import json
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

MESSAGES = 150
# CLOCK_REALTIME of the kernel is corrected all the time: a trace clock is a line, and up to 0.5 us off (seen).
UNEVEN_NS = 20_000
PAIR = "--pair=net:send by id..net:recv by id"
NEW_HOST = ["unshare", "-nu", *([] if os.geteuid() == 0 else ["-Ur"])]
# CLOCK_REALTIME: ns ahead, ppb faster.  Delays of messages that leave the host, in s.
HOSTS = {"north": (0, 0, (0.0001, 0.0008)), "south": (3_700_000_000, 80_000, (0.0006, 0.0020))}


def expect(what, truth):
    if not truth:
        sys.exit(f"failed: {what}")


# ---- in the namespaces of a host ----

def lift_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        request = struct.pack("16sH14x", b"lo", 1)  # IFF_UP
        fcntl.ioctl(s, 0x8914, request)  # SIOCSIFFLAGS


def forward(source, sink, delay=None):
    while data := source.recv(8, socket.MSG_WAITALL):
        if delay:
            time.sleep(random.uniform(*delay))
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)


def be_host(name, fd, words):
    """Half of the relay, and the program."""
    socket.sethostname(name)
    lift_loopback()
    other = socket.socket(fileno=fd)
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = subprocess.Popen([words[0], words[1], str(server.getsockname()[1]), *words[2:]])
        near = server.accept()[0]
    near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    back = threading.Thread(target=forward, args=(other, near))
    back.start()
    forward(near, other, HOSTS[name][2])
    status = program.wait()
    back.join()
    sys.exit(status)


# ---- outside ----

def run_hosts(program, folder):
    ends, running = socket.socketpair(), []
    for end, role, (name, (ahead, drift, _)) in zip(ends, ("ping", "pong"), HOSTS.items()):
        running.append(subprocess.Popen(
            [*NEW_HOST, sys.executable, __file__, "--host", name, str(end.fileno()), program, folder / f"{name}.ptl",
             role, str(MESSAGES), str(ahead), str(drift)], pass_fds=[end.fileno()]))
    for end in ends:
        end.close()
    for host in running:
        expect(f"a host ended with {host.wait()}", host.returncode == 0)


def events(tool, folder, *options):
    """By log: events in order."""
    text = subprocess.run([tool, "print", "--format=jsonl", *options, folder / "north.ptl", folder / "south.ptl"],
                          capture_output=True, check=True, text=True).stdout
    found = [json.loads(one) for one in text.splitlines()]
    return [one for one in found if one["event"].startswith("net:")]


def latencies(found):
    sent = {e["fields"]["id"]: e["ts"] for e in found if e["event"] == "net:send"}
    return [e["ts"] - sent[e["fields"]["id"]] for e in found if e["event"] == "net:recv"]


class Clock:
    """What the file says of a host: at NS, true times are from LEAST to MOST later."""
    def __init__(self):
        self.bounds, self.drift = [], (0, 0)

    def at(self, ns, which):
        b = self.bounds
        if ns <= b[0][0] or ns >= b[-1][0]:
            end = b[0] if ns <= b[0][0] else b[-1]
            slack = abs(ns - end[0]) * max(abs(d) for d in self.drift) / 1e9
            return end[which] + (slack if which == 2 else -slack)
        i = next(i for i in range(1, len(b)) if b[i][0] >= ns)
        share = (ns - b[i - 1][0]) / (b[i][0] - b[i - 1][0])
        return b[i - 1][which] + share * (b[i][which] - b[i - 1][which])


def read_clocks(path):
    clocks, clock = {}, None
    for line in path.read_text().splitlines():
        word, *rest = line.split()
        if word == "host":
            clock = clocks[rest[-1]] = Clock()
        elif word == "between":
            break
        elif word == "bound":
            clock.bounds.append(tuple(map(int, rest)))
        elif word == "drift":
            clock.drift = tuple(map(int, rest))
    return clocks


def check(tool, folder):
    wrong = latencies(events(tool, folder))
    expect("clocks that differ by seconds show in latencies", min(wrong) < -10**9 and len(wrong) == 2 * MESSAGES)
    done = subprocess.run([tool, "sync", PAIR, "--reference=north", "-o", folder / "two.sync", folder / "north.ptl",
                           folder / "south.ptl"], capture_output=True, text=True, check=False)
    expect(f"sync: {done}", done.returncode == 0)
    print(done.stdout)
    found = events(tool, folder, f"--sync={folder / 'two.sync'}")
    expect("each message was received after it was sent", min(latencies(found)) >= 0)
    clocks = read_clocks(folder / "two.sync")
    expect(f"clocks of {list(clocks)}", set(clocks) == set(HOSTS))
    check_truth(found, clocks)


def check_truth(found, clocks):
    """The kernel's time of an event was read before it, that of the next one of the host after it."""
    widest = 0
    for host, clock in clocks.items():
        own = [e for e in found if pathlib.Path(e["log"]).stem == host]
        expect(f"all events of {host}", len(own) == 2 * MESSAGES)
        for event, following in zip(own, own[1:]):
            least, most = clock.at(event["ts"], 1), clock.at(event["ts"], 2)
            widest = max(widest, most - least)
            truth = [int(next(v for k, v in e["fields"].items() if k != "id")) for e in (event, following)]
            expect(f"{host}: {event}: {least} to {most}, truth {truth}", event["ts"] + most + UNEVEN_NS >= truth[0]
                   and event["ts"] + least - UNEVEN_NS <= truth[1])
    print(f"intervals are up to {widest / 1000:.0f} us wide")
    expect("the interval is not wider than a message there and back can be", 0 < widest < 10**9)


def main():
    if sys.argv[1] == "--host":
        be_host(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
    tool, program = (pathlib.Path(one).resolve() for one in sys.argv[1:3])
    if subprocess.run([*NEW_HOST, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("no new namespaces here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        run_hosts(program, pathlib.Path(folder))
        check(tool, pathlib.Path(folder))


if __name__ == "__main__":
    main()
