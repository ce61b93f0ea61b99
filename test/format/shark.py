#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""S.Ha.R.K. traces against a generator and a decoder of their own.

Both are written from docs/formats/shark.md: chunks with and without a seam, UDP
packets, records of the fast probe, unknown codes, wrong input; and what the exporter
writes, from such a trace and from another one.

usage: shark.py POSIXTRACE
"""

import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from shark_codec import NAMES, decode, name_of, packets, record  # noqa: E402

TOOL = sys.argv[1]


def run(*words, fails=False):
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True)
    if bool(done.returncode) != fails:
        sys.exit(f"{words}: exit {done.returncode}\n{done.stderr}")
    return done.stdout, done.stderr


class Case:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def imported(self, data, *options, fails=False):
        """The events of the log that is made of data, and what was said."""
        (self.folder / "in.dat").write_bytes(data)
        _, said = run("import", "--from=shark", "--force", *options, self.folder / "in.dat",
                      self.folder / "log.ptl", fails=fails)
        return self.log(), said

    def log(self):
        text, _ = run("print", "--format=jsonl", self.folder / "log.ptl")
        return [json.loads(line) for line in text.split("\n") if line]

    def exported(self, *options):
        run("export", "--to=shark", "--force", *options, self.folder / "log.ptl",
            self.folder / "out.dat")
        return (self.folder / "out.dat").read_bytes()


def make(count, seed):
    """Records in order of time, the clock's rate first."""
    rng = random.Random(seed)
    codes = [c for c in NAMES if c not in (0x10, 0x20)] + [0x3f, 0x8009, 0x8015]
    tsc, out = 1 << 33, [(0x10, 0, (1 << 33) - 5, 500000)]
    for _ in range(count):
        out.append((rng.choice(codes), rng.randrange(65536), tsc, rng.randrange(1 << 32)))
        tsc += rng.randrange(1, 100000)
    return out


def expect_events(events, records, rate, start=0):
    own = [e for e in events if e["event"].startswith("shark:")]
    if len(own) != len(records):
        sys.exit(f"{len(own)} events of {len(records)} records")
    origin = records[0][2]
    for e, (code, par1, tsc, par2) in zip(own, records):
        data = struct.pack("<H", par1) + (b"" if code & 0x8000 else struct.pack("<I", par2))
        want = (name_of(code), start + (tsc - origin) * 1000000 // rate, data.hex())
        got = (e["event"], e["ts"], e["data"])
        if got != want:
            sys.exit(f"got {got}, not {want}")


def check_read(case):
    records = make(500, 1)
    raw = [record(*r) for r in records]
    events, _ = case.imported(b"".join(raw))
    expect_events(events, records, 500000)
    # cyclic: anywhere cut and rotated, with room that was never written
    for cut in (1, 77, 500):
        data = b"".join(raw[cut:]) + bytes(16 * 3) + b"".join(raw[:cut])
        expect_events(case.imported(data)[0], records, 500000)
    expect_events(case.imported(packets(raw[200:] + raw[:200]))[0], records, 500000)
    expect_events(case.imported(b"".join(raw), "--rate=1000", "--start=5000")[0], records, 1000,
                  5000)
    events, said = case.imported(b"".join(raw) + b"rest")
    expect_events(events, records, 500000)
    if "4 bytes" not in said:
        sys.exit(f"a rest of 4 bytes, and: {said}")
    events, said = case.imported(record(0x09, 1, 10, 2) + record(0x09, 1, 30, 2))
    if events[1]["ts"] - events[0]["ts"] != 20 or "--rate" not in said:
        sys.exit(f"without a rate: {events} {said}")


def check_chunks(case):
    """Several chunks, each with its seam, concatenated in any order."""
    records = make(700, 4)
    raw = [record(*r) for r in records]
    parts = [raw[:100], raw[100:350], raw[350:600], raw[600:]]
    turned = [part[cut:] + part[:cut] for part, cut in zip(parts, (0, 99, 1, 60))]
    for order in ((0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 0, 1)):
        data = b"".join(b"".join(turned[i]) for i in order)
        expect_events(case.imported(data)[0], records, 500000)
        sent, number = b"", 0
        for i in order:
            sent += packets(turned[i], number)
            number += -(-len(turned[i]) // 60)
        expect_events(case.imported(sent)[0], records, 500000)
    # older events may be anywhere, also between events that belong together
    data = b"".join(raw[0::3] + raw[1::3] + raw[2::3])
    expect_events(case.imported(data)[0], records, 500000)
    same = [(0x10, 0, 10, 1000000)] + [(0x09, i, 10, 0) for i in range(9)]
    data = b"".join(record(*r) for r in same[:5]) + record(0x09, 99, 9, 0) + \
        b"".join(record(*r) for r in same[5:])
    expect_events(case.imported(data)[0], [(0x09, 99, 9, 0)] + same, 1000000)


def check_lost(case):
    """Packets that are missing are an event with their number, which goes out as a gap."""
    records = make(300, 5)
    whole = packets([record(*r) for r in records])
    _, said = case.imported(whole[:984] + whole[3 * 984:])
    if "2 packets are missing" not in said:
        sys.exit(f"two packets less: {said}")
    for again in (False, True):
        events = [e for e in case.log() if e["event"].startswith("shark:")]
        if events[60]["event"] != "shark:LOST" or events[60]["fields"] != {"packets": 2}:
            sys.exit(f"no loss but {events[60]}")
        del events[60]
        names = [name_of(r[0]) for r in records[:60] + records[180:]]
        if [e["event"] for e in events] != names:
            sys.exit(f"beside the loss, sent on {again}: {len(events)} events")
        (case.folder / "sent.dat").write_bytes(case.exported("--packets=yes"))
        run("import", "--from=shark", "--force", case.folder / "sent.dat",
            case.folder / "log.ptl")
    _, said = run("export", "--to=shark", "--force", case.folder / "log.ptl",
                  case.folder / "out.dat")
    if "1 event could not" not in said:
        sys.exit(f"a loss in a chunk: {said}")


def check_switches(case):
    """Contexts that get the processor are threads that do."""
    events, _ = case.imported(record(0x10, 0, 0, 1000000) + record(0x15, 3, 10, 0) +
                              record(0x15, 4, 25, 0))
    got = [(e["event"], e["tid"], e["ts"]) for e in events if e["event"].startswith("posixtrace_")]
    want = [("posixtrace_switch_in", 3, 10), ("posixtrace_switch_out", 3, 25),
            ("posixtrace_switch_in", 4, 25)]
    if got != want:
        sys.exit(f"switches: {got}")


def check_wrong(case):
    events, said = case.imported(b"".join(record(1, 0, 5000 - i, 0) for i in range(1100)),
                                 fails=True)
    if "record 1025" not in said or [e["ts"] for e in events] != list(range(1024)):
        sys.exit(f"a seam at each record: {said} {len(events)} events")
    good = packets([record(*r) for r in make(100, 2)])
    events, said = case.imported(good[:984] + b"X" * 200, fails=True)
    if "record 60" not in said:
        sys.exit(f"no packet: {said}")
    expect_events(events, make(100, 2)[:60], 500000)
    for text in (b"hello world\n" * 20, b"%PDF-1.4 and so on, as other files are\n" * 9,
                 pathlib.Path(__file__).read_bytes()):
        events, said = case.imported(text, fails=True)
        if events or "record 1: not of S.Ha.R.K." not in said:
            sys.exit(f"a text is taken for a trace: {said}")
    records = make(100, 2)
    events, said = case.imported(b"".join(record(*r) for r in records[:60]) +
                                 b"hello, all of you" + b"".join(record(*r) for r in records[60:]),
                                 fails=True)
    if "record 61: not of S.Ha.R.K." not in said:
        sys.exit(f"a text after 60 records: {said}")
    expect_events(events, records[:60], 500000)
    for option in ("--rate=-1", "--rate=x", "--start=1e3", "--rate=99999999999"):
        (case.folder / "in.dat").write_bytes(record(1, 0, 1, 0))
        run("import", "--from=shark", "--force", option, case.folder / "in.dat",
            case.folder / "no.ptl", fails=True)
    if (case.folder / "no.ptl").exists():
        sys.exit("a wrong option left a log")
    events, _ = case.imported(b"")
    if events:
        sys.exit(f"nothing gave {events}")


def check_written(case):
    records = make(300, 3)
    raw = [record(*r) for r in records]
    case.imported(b"".join(raw))
    # --rate of the input apart, all is as it was; times are nanoseconds now
    want = [(code, par1, (tsc - records[0][2]) * 2, 0 if code & 0x8000 else
             1000000 if code == 0x10 else par2) for code, par1, tsc, par2 in records]
    got = list(decode(case.exported()))
    if got != want:
        sys.exit(f"exported {got[:3]}, not {want[:3]}")
    data = case.exported("--packets=yes")
    plain, at, number = b"", 0, 0
    while at < len(data):
        mark, n, count, size = struct.unpack_from("<12sIII", data, at)
        number += 1
        if mark != b"TRACER-V1.0\0" or n != number or count > 60 or size != 24 + 16 * count:
            sys.exit(f"packet {number}: {mark} {n} {count} {size}")
        plain += data[at + 24:at + size]
        at += size
    if list(decode(plain)) != want:
        sys.exit("packets hold something else")


def check_foreign(case):
    lines = [{"ts": 1000, "event": "posixtrace_switch_in", "tid": 71, "data": "00000000"},
             {"ts": 1500, "event": "work", "tid": 71, "data": "0700" + "01020304"},
             {"ts": 2000, "event": "posixtrace_mutex_lock", "tid": 72, "data": "1000000000000000"},
             {"ts": 2500, "event": "posixtrace_switch_in", "tid": 72, "data": "00000000"}]
    lines += [{"ts": 3000 + i, "event": f"type {i}", "tid": 72, "data": ""} for i in range(20)]
    (case.folder / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run("import", "--from=jsonl", "--force", case.folder / "in.jsonl", case.folder / "log.ptl")
    got = list(decode(case.exported()))
    want = [(0x10, 0, 0, 1000000), (0x02, 1, 0, 71), (0x15, 1, 0, 0), (0x09, 7, 500, 0x04030201),
            (0x02, 2, 1000, 72), (0x46, 2, 1000, 16), (0x15, 2, 1500, 0)]
    want += [(0x09 + (i + 1 << 4), 0, 2000 + i, 0) for i in range(14)]
    if got != want:
        sys.exit(f"foreign: {got}")
    _, said = run("export", "--to=shark", "--force", case.folder / "log.ptl",
                  case.folder / "out.dat")
    if "6 events could not be carried over" not in said:
        sys.exit(f"what was left out: {said}")


with tempfile.TemporaryDirectory() as folder:
    case = Case(folder)
    for check in (check_read, check_chunks, check_lost, check_switches, check_wrong,
                  check_written, check_foreign):
        check(case)
print("reading, seams, chunks, packets, loss, switches, faults, writing")
