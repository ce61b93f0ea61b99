#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""QNX traces, generated and decoded by the facts in docs/formats/qnx.md alone."""

import json
import pathlib
import struct
import subprocess
import sys

CONTROL, KER_CALL, INT, PR_TH, SYSTEM, USER, COMM, QUIP, SEC, QVM, PMU = range(1, 12)
STATES = ("DEAD RUNNING READY STOPPED SEND RECEIVE REPLY STACK WAITTHREAD WAITPAGE SIGSUSPEND "
          "SIGWAITINFO NANOSLEEP MUTEX CONDVAR JOIN INTR SEM WAITCTX NET_SEND NET_REPLY").split()
BOOT = 1245757666 * 10 ** 9       # Tue Jun 23 11:47:46 2009
RATE = 736629000
SIMPLE, BEGIN, MIDDLE, END = range(4)
GAPS = ["posix_trace_overflow", "posix_trace_resume"]


def attributes(big=False, **changes):
    """Of a header as tracelogger writes it; None leaves one out."""
    pairs = {"FILE_NAME": "/dev/shmem/tracebuffer.kev", "DATE": "Wed Jun 24 10:52:58 2009",
             "VER_MAJOR": "1", "VER_MINOR": "01",
             "BIG_ENDIAN" if big else "LITTLE_ENDIAN": "TRUE", "ENCODING": "16 byte events",
             "BOOT_DATE": "Tue Jun 23 11:47:46 2009", "CYCLES_PER_SEC": str(RATE),
             "CPU_NUM": "4", "SYSNAME": "QNX", "NODENAME": "localhost", "SYS_RELEASE": "6.6.0",
             "SYS_VERSION": "2014/02/22-18:29:37EST", "MACHINE": "x86pc", "SYSPAGE_LEN": "0",
             "TRACELOGGER_ARGS": "tracelogger -d1 -f tracebuffer.kev"}
    pairs.update(changes)
    return {k: v for k, v in pairs.items() if v is not None}


def header(pairs, page=b""):
    if page:
        pairs = dict(pairs, SYSPAGE_LEN=str(len(page)))
    text = "".join(f"TRACE_{k}::{v}" for k, v in pairs.items())
    return f"TRACE_HEADER_BEGIN::{text}TRACE_HEADER_END::".encode() + page


class Writer:
    """Records of one file; a time is a whole count of cycles."""

    def __init__(self, big=False):
        self.mark = ">" if big else "<"
        self.out = []

    def record(self, part, cpu, flags, cls, number, time, data):
        """data: two words, or eight bytes as they are."""
        head = part << 30 | cpu << 24 | flags << 16 | cls << 10 | number
        words = data if isinstance(data, bytes) else struct.pack(self.mark + "II", *data)
        self.out.append(struct.pack(self.mark + "II", head, time & 0xffffffff) + words)

    def simple(self, cpu, cls, number, time, a=0, b=0, flags=0):
        self.record(SIMPLE, cpu, flags, cls, number, time, (a, b))

    def time(self, cpu, time):
        self.simple(cpu, CONTROL, 1, time, time >> 32, time & 0xffffffff)

    def buffer(self, cpu, time, sequence, count=714):
        self.simple(cpu, CONTROL, 2, time, sequence, count)

    def words(self, *words):
        return struct.pack(f"{self.mark}{len(words)}I", *words)

    def combine(self, cpu, cls, number, time, data, flags=0, end=True):
        """All parts of an event whose data is bytes, filled up with zeros."""
        for record in self.parts(cpu, cls, number, time, data, flags, end):
            self.out.append(record)

    def parts(self, cpu, cls, number, time, data, flags=0, end=True):
        data += bytes(-len(data) % 8)
        other = Writer(self.mark == ">")
        for at in range(0, len(data), 8):
            part = BEGIN if at == 0 else END if at + 8 == len(data) and end else MIDDLE
            other.record(part, cpu, flags, cls, number, time, data[at:at + 8])
        return other.out

    def bytes(self):
        return b"".join(self.out)


def split(data):
    """The pairs of a header, and the records after it, as (header, low, a, b)."""
    begin, end = b"TRACE_HEADER_BEGIN::", b"TRACE_HEADER_END::"
    assert data.startswith(begin), data[:40]
    stop = data.index(end)
    pairs = dict(item.split("::", 1)
                 for item in data[len(begin):stop].decode().split("TRACE_")[1:])
    mark = ">" if pairs.get("BIG_ENDIAN") == "TRUE" else "<"
    body = data[stop + len(end) + int(pairs["SYSPAGE_LEN"]):]
    assert len(body) % 16 == 0, len(body)
    return pairs, [struct.unpack_from(mark + "IIII", body, at) for at in range(0, len(body), 16)]


def decode(data):
    """Header pairs, events (time, cpu, flags, class, number, bytes, whole), and buffers
    (sequence, said, records); what must hold of any file is looked at."""
    pairs, records = split(data)
    events, buffers, clocks, pending, told = [], [], {}, {}, {}
    for i, (head, low, a, b) in enumerate(records):
        part, cpu, flags = head >> 30, head >> 24 & 63, head >> 16 & 255
        cls, number = head >> 10 & 31, head & 1023
        assert not head & 0x8000, f"record {i}: bit 15"
        if (part, cls, number) == (SIMPLE, CONTROL, 2):
            buffers.append([a, b, 1])
            told = {}
            continue
        assert buffers, "a record before the first buffer"
        buffers[-1][2] += 1
        if (part, cls, number) == (SIMPLE, CONTROL, 1):
            clocks[cpu] = a << 32 | b
            told[cpu] = a
            continue
        assert cpu in told, f"record {i}: no time of processor {cpu} in its buffer"
        if part in (SIMPLE, BEGIN):
            assert low >= clocks[cpu] & 0xffffffff, f"record {i}: time goes back"
            clocks[cpu] = clocks[cpu] >> 32 << 32 | low
        key, words = (cpu, cls, number, low), struct.pack("<II", a, b)
        if part == SIMPLE:
            events.append([clocks[cpu], cpu, flags, cls, number, words, True])
        elif part == BEGIN:
            pending[key] = [clocks[cpu], cpu, flags, cls, number, words, False]
            events.append(pending[key])
        else:
            pending[key][5] += words
            pending[key][6] = part == END
            if part == END:
                del pending[key]
    return pairs, [tuple(e) for e in events], [tuple(b) for b in buffers]


def ns_of(time, rate=RATE, base=BOOT):
    return base + time * 10 ** 9 // rate


def run(*words, fails=False):
    done = subprocess.run([str(w) for w in words], capture_output=True)
    if bool(done.returncode) != fails or done.returncode < 0:
        sys.exit(f"{words}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout, done.stderr.decode(errors="replace")


def events_of(tool, log):
    out, _ = run(tool, "print", "--format=jsonl", log)
    return [json.loads(line) for line in out.decode(errors="surrogateescape").split("\n") if line]


class Room:
    """A folder, and the steps that tests repeat in it."""

    def __init__(self, tool, folder, form):
        self.tool, self.folder, self.form = tool, pathlib.Path(folder), form
        self.log = self.folder / "log.ptl"

    def imported(self, data, *options, fails=False, all_of_it=False):
        """The events that are made of data, without those of the header; what was said."""
        (self.folder / "in").write_bytes(data)
        _, said = run(self.tool, "import", f"--from={self.form}", "--force", *options,
                      self.folder / "in", self.log, fails=fails)
        if fails and not self.log.exists():
            return [], said
        events = events_of(self.tool, self.log)
        return [e for e in events if all_of_it or e["event"] != "qnx:HEADER"], said

    def refused(self, data, *options):
        """The text for data that cannot be decoded."""
        self.log.unlink(missing_ok=True)
        return self.imported(data, *options, fails=True)[1]

    def exported(self, log=None, *options, form=None):
        _, said = run(self.tool, "export", f"--to={form or self.form}", "--force", *options,
                      log or self.log, self.folder / "out")
        # that a log has gaps is known here
        said = "".join(line for line in said.splitlines(True) if "events were lost in" not in line)
        return (self.folder / "out").read_bytes(), said

    def made(self, lines):
        """A log of events as JSON lines have them."""
        (self.folder / "in.jsonl").write_text("".join(json.dumps(e) + "\n" for e in lines))
        run(self.tool, "import", "--from=jsonl", "--force", self.folder / "in.jsonl",
            self.folder / "made.ptl")
        return self.folder / "made.ptl"


def same(got, want, what):
    for i, (g, w) in enumerate(zip(got, want)):
        if g != w:
            sys.exit(f"{what}, number {i}:\n got {g}\nwant {w}")
    if len(got) != len(want):
        sys.exit(f"{what}: {len(got)}, not {len(want)}; behind the last: "
                 f"{(list(got) + list(want))[min(len(got), len(want)):][:2]}")
