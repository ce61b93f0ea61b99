#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""S.Ha.R.K.: the example of posixtrace/shark.h, and packets over UDP, both ways.

Everything stays on the loopback address, at ports that the system gives.

usage: shark_live.py CASE POSIXTRACE EXAMPLE
"""

import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from shark_codec import decode, name_of, packets, record  # noqa: E402

CASE, TOOL, EXAMPLE = sys.argv[1:4]
SECONDS = 60
RATE = 1000000


def expect(truth, what):
    if not truth:
        sys.exit(f"{CASE}: {what}")


def run(*words, status=0, **how):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=SECONDS,
                          **how)
    expect(done.returncode == status, f"{words}: exit {done.returncode}\n{done.stderr}")
    return done


def events_of(log):
    lines = run(TOOL, "print", "--format=jsonl", log).stdout.splitlines()
    return [json.loads(line) for line in lines]


class Receiver:
    """posixtrace import of packets, which waits already."""

    def __init__(self, folder, *options, address="udp:0"):
        self.log = folder / "got.ptl"
        self.process = subprocess.Popen([TOOL, "import", "--from=shark", "--force", *options,
                                         address, self.log], stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.search(r"packets to (\S+), port (\d+)", line)
        expect(found, f"no port in: {line}")
        self.address = found.group(1), int(found.group(2))

    def end(self, status=0):
        """The events, and what was said."""
        said = self.process.communicate(timeout=SECONDS)[1]
        expect(self.process.returncode == status, f"exit {self.process.returncode}: {said}")
        return events_of(self.log), said

    def wait_reading(self):
        """Until it reads, and minds signals: its copy of the input has no name."""
        def target(link):
            try:
                return os.readlink(link)
            except FileNotFoundError:
                return ""
        while not any(target(link).endswith("(deleted)")
                      for link in pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()):
            expect(self.process.poll() is None, "it has ended")

    def pause(self):
        self.wait_reading()
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def has_packet(self):
        wanted = f":{self.address[1]:04X}"
        lines = pathlib.Path("/proc/net/udp").read_text().splitlines()[1:]
        # By inode: the kernel lists a socket twice if others come while the file is read.
        mine = {line.split()[9]: line.split() for line in lines if line.split()[1].endswith(wanted)}
        expect(len(mine) == 1, f"sockets at the port: {mine}")
        return not next(iter(mine.values()))[4].endswith(":00000000")


class Sender:
    def __init__(self, receiver, own="127.0.0.1"):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((own, 0))
        self.socket.connect(receiver.address)

    def send(self, *parts):
        for part in parts:
            self.socket.send(part)


def split(stream):
    """The packets of a stream of them."""
    out = []
    while stream:
        size = int.from_bytes(stream[20:24], "little")
        out.append(stream[:size])
        stream = stream[size:]
    return out


def run_of(count, seed=1, stop=True):
    """So many packets, and their records; the last record is trace_stop."""
    records = [(0x10, 0, seed * 10**9, RATE)]
    records += [(0x09, i & 0xffff, seed * 10**9 + 5 * i, i) for i in range(1, 60 * count)]
    if stop:
        records[-1] = (0x30, 0, records[-1][2], 0)
    return split(packets([record(*r) for r in records])), records


def check(events, records, lost=()):
    """These records, with a loss of so many packets before each of those."""
    want = []
    for i, (code, par1, _, par2) in enumerate(records):
        want += [("shark:LOST", n) for at, n in lost if at == i]
        want.append((name_of(code), par2))
    got = [(e["event"], list(e["fields"].values())[-1]) for e in events]
    expect(got == want, f"{len(got)} events, not {len(want)}: {got[:3]} ... {got[-3:]}")


def case_interface(folder):
    """The manual's example: two files; read by an independent decoder, imported, printed."""
    run(EXAMPLE, folder / "trace.dat")
    want = [[(0xfb, 1, 0), (0x20, 2, RATE), (0x60, 1, 0), (0x60, 2, 1), (0x60, 7, 3),
             (0x09, 1, 1), (0x09, 2, 4), (0x09, 3, 9), (0xfb, 0, 0)],
            [(0x01, 6000, 0), (0x09, 100, 10000), (0x0b, 0, 100), (0x09, 101, 10201),
             (0x0b, 0, 101), (0x09, 102, 10404), (0x0b, 0, 102), (0x30, 0, 0)]]
    both = b""
    for n in (0, 1):
        data = (folder / f"{n}trace.dat").read_bytes()
        both += data
        got = [(code, par1, par2) for code, par1, _, par2 in decode(data)]
        expect(got == want[n], f"chunk {n} holds {got}")
    expect(not (folder / "2trace.dat").exists(), "a third file")
    times = [tsc for _, _, tsc, _ in decode(both)]
    expect(times == sorted(times), f"times: {times}")
    (folder / "both.dat").write_bytes(both)
    run(TOOL, "import", "--from=shark", folder / "both.dat", folder / "both.ptl")
    text = run(TOOL, "print", folder / "both.ptl").stdout
    for words in ("shark:trace_start", "cycles=1000000", "shark:ipoint", "number=6000",
                  "shark:user_event_0", "par1=102 par2=10404", "shark:trace_stop"):
        expect(words in text, f"{words} is not in\n{text}")
    expect(run(EXAMPLE, status=2).stderr.startswith("usage"), "no usage")
    expect("No such file" in run(EXAMPLE, folder / "no/x.dat", status=1).stderr, "no folder")


def case_recorded(folder):
    """A recorder has the events of the chunks too, and exports them as records."""
    run(TOOL, "record", "-o", folder / "rec.ptl", EXAMPLE, folder / "trace.dat")
    events = [e for e in events_of(folder / "rec.ptl") if e["event"].startswith("shark:chunk_")]
    expect([e["event"] for e in events] == ["shark:chunk_0"] * 9 + ["shark:chunk_1"] * 8,
           f"recorded: {events}")
    text = run(TOOL, "print", folder / "rec.ptl").stdout
    expect("code=ipoint par1=6000 par2=0" in text, text)
    for options in ([], ["--packets=yes"]):
        run(TOOL, "export", "--to=shark", "--force", *options, folder / "rec.ptl",
            folder / "rec.dat")
        run(TOOL, "import", "--from=shark", "--force", folder / "rec.dat", folder / "again.ptl")
        names = [e["event"] for e in events_of(folder / "again.ptl")]
        at = names.index("shark:filter_timer")
        expect(len(names[at:]) >= 17 and "shark:ipoint" in names and "shark:trace_stop" in names,
               f"again: {names}")


def case_example(folder):
    """The example sends, the tool receives: over IPv4, and over IPv6 where there is one."""
    hosts = [("udp:0", "127.0.0.1", "127.0.0.1:{}")]
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind(("::1", 0))
            hosts.append(("udp:[::1]:0", "::1", "[::1]:{}"))
        except OSError as error:
            print(f"no IPv6 here, so not tried: {error}")
    for address, own, target in hosts:
        receiver = Receiver(folder, "--until=stop", address=address)
        run(EXAMPLE, own, target.format(receiver.address[1]))
        events, said = receiver.end()
        names = [e["event"] for e in events]
        expect(len(names) == 17 and names[1] == "shark:trace_start" and
               names[-1] == "shark:trace_stop" and not said, f"{names} {said}")


def case_order(folder):
    """Packets that overtake others, come twice, come from elsewhere, or are none."""
    sent, records = run_of(20)
    rng = random.Random(3)
    for turn in range(4):
        receiver = Receiver(folder, "--until=stop")
        sender, other = Sender(receiver), Sender(receiver, "127.0.0.2")
        order = sent[:]
        if turn == 3:
            rng.shuffle(order)
        elif turn:
            order = order[::-1] if turn == 1 else order[1::2] + order[0::2]
        receiver.pause()                   # the last event may come before others
        for i, part in enumerate(order):
            sender.send(part)
            if turn == 2 and i in (3, 7):
                sender.send(part, b"", b"TRACER", part[:-1], part + b"x", b"x" * 2000)
                other.send(part)
        receiver.go_on()
        events, said = receiver.end()
        check(events, records)
        expect(turn == 2 or not said, said)
        if turn == 2:
            for words in ("10 packets not of the tracer", "2 packets of other hosts",
                          "2 packets that came twice"):
                expect(words in said, f"{words} is not in: {said}")


def case_lost(folder):
    """A missing packet is reported as a message, and as an event at its place."""
    sent, records = run_of(80)
    receiver = Receiver(folder, "--until=stop")
    Sender(receiver).send(*sent[:3], *sent[5:70], *sent[71:])
    events, said = receiver.end()
    check(events, records[:180] + records[300:4200] + records[4260:], [(180, 2), (4080, 1)])
    expect("3 packets are missing" in said, said)
    # The last ones before the end come late, or not at all.
    receiver = Receiver(folder, "--until=stop")
    Sender(receiver).send(*sent[:10], sent[-1])
    events, said = receiver.end()
    check(events, records[:600] + records[-60:], [(600, 69)])


def case_runs(folder):
    """A sender that begins again: by its port, or by another first packet."""
    first, one = run_of(3, 1, stop=False)
    second, two = run_of(3, 2)
    for same in (False, True):
        receiver = Receiver(folder, "--until=stop")
        sender = Sender(receiver)
        sender.send(*first)
        (sender if same else Sender(receiver)).send(*second)
        events, said = receiver.end()
        check(events, one + two)
        expect(not said, said)
    # A receiver that starts late begins with the next packet.
    receiver = Receiver(folder, "--until=stop")
    Sender(receiver).send(*second[1:])
    check(receiver.end()[0], two[60:])


def case_sent(folder):
    """The tool sends: to a socket of ours, and to itself."""
    sent, records = run_of(40)
    (folder / "in.dat").write_bytes(b"".join(sent[:10] + sent[12:]))
    run(TOOL, "import", "--from=shark", folder / "in.dat", folder / "in.ptl")
    want, lost = records[:600] + records[720:], [(600, 2)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        ours.settimeout(SECONDS)
        ours.bind(("127.0.0.1", 0))
        port = ours.getsockname()[1]
        run(TOOL, "export", "--to=shark", folder / "in.ptl", f"udp:127.0.0.1:{port}")
        got = [ours.recv(2000) for _ in range(38)]
    numbers = [int.from_bytes(part[12:16], "little") for part in got]
    expect(numbers == [*range(1, 11), *range(13, 41)], f"numbers {numbers}")
    read = [(c, a, t, b) for part in got for c, a, t, b in decode(part[24:])]
    expect([(c, a, b) for c, a, _, b in read] == [(c, a, b) for c, a, _, b in want],
           f"sent: {read[:3]} and so on")
    receiver = Receiver(folder, "--until=stop")
    run(TOOL, "export", "--to=shark", "--packets=yes", folder / "in.ptl",
        f"udp:127.0.0.1:{receiver.address[1]}")
    events, said = receiver.end()
    check(events, want, lost)
    expect("2 packets are missing" in said, said)
    for words, status, told in (
            (["--to=shark", "--packets=no", folder / "in.ptl", "udp:127.0.0.1:9"], 64,
             "packets=yes"),
            (["--to=rkh", folder / "in.ptl", "udp:127.0.0.1:9"], 64, "--format=shark"),
            (["--to=shark", folder / "in.ptl", "udp:9"], 1, "udp:HOST:PORT"),
            (["--to=shark", folder / "in.ptl", "udp:255.255.255.255:9"], 1, "cannot send to")):
        said = run(TOOL, "export", *words, status=status).stderr
        expect(told in said, f"{words}: {said}")
    # There is no receiver.  The error comes some packets later, so it may take another try.
    done = None
    while not done or done.returncode == 0:
        done = subprocess.run([TOOL, "export", "--to=shark", folder / "in.ptl",
                               f"udp:127.0.0.1:{port}"], capture_output=True, text=True,
                              timeout=SECONDS)
    expect(done.returncode == 1 and "refused" in done.stderr, done.stderr)


def case_ends(folder):
    """A count, silence, a signal; and bad values."""
    sent, records = run_of(4, stop=False)
    receiver = Receiver(folder, "--until=events:150")
    Sender(receiver).send(*sent[:3])
    check(receiver.end()[0], records[:180])
    receiver = Receiver(folder, "--until=idle:50ms")
    Sender(receiver).send(sent[0])
    check(receiver.end()[0], records[:60])
    for number in (signal.SIGINT, signal.SIGTERM):
        receiver = Receiver(folder)
        receiver.pause()
        Sender(receiver).send(sent[0])     # what waits to be read then counts too
        while not receiver.has_packet():
            pass
        receiver.process.send_signal(number)
        receiver.go_on()
        check(receiver.end()[0], records[:60])
    receiver = Receiver(folder)
    receiver.wait_reading()
    receiver.process.send_signal(signal.SIGINT)
    expect(receiver.end()[0] == [], "events of nothing")
    log = folder / "no.ptl"
    for words, status, told in (
            (["--until=stop", folder / "x.dat"], 64, "--until is for packets"),
            *(([f"--until={word}", "udp:0"], 64, f"'{word}'")
              for word in ("never", "events:0", "events:x", "idle:", "idle:0s", "idle:5")),
            (["udp:x"], 1, "udp:x"), (["udp:"], 1, "udp:"), (["udp:123456"], 1, "123456"),
            (["udp:192.0.2.1:0"], 1, "cannot receive at")):
        said = run(TOOL, "import", "--from=shark", *words, log, status=status).stderr
        expect(told in said, f"{words}: {said}")
    for name in ("rkh", "jsonl"):
        said = run(TOOL, "import", f"--from={name}", "udp:0", log, status=64).stderr
        expect("for --from=shark" in said, said)
    expect(not log.exists(), "a log of nothing")


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    with tempfile.TemporaryDirectory() as folder:
        globals()[f"case_{CASE}"](pathlib.Path(folder))
