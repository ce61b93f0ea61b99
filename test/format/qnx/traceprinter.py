#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The format traceprinter, held against lines of its own and against the format kev.

usage: traceprinter.py CASE POSIXTRACE
"""

import random
import re
import struct
import sys
import tempfile

from codec import (GAPS, PR_TH, SYSTEM, USER, Room, Writer, attributes, decode, events_of,
                   header, ns_of, run, same)
from kev import make, own, thread_trace
from kev_export import native_lines

HEAD = ("TRACEPRINTER version 1.02\nTRACEPARSER LIBRARY version 1.02\n"
        " -- HEADER FILE INFORMATION -- \n%s -- KERNEL EVENTS -- \n")
# Lines as they are printed, and the event that each is: name, processor, pid, words or text.
LINES = [
    ("t:0x00000010 CPU:00 CONTROL: BUFFER sequence = 33, num_events = 714", None),
    ("t:0x00000010 CPU:00 CONTROL :TIME msb:0x00000003, lsb(offset):0x00000008", None),
    ("t:0x00000010 CPU:01 CONTROL :TIME msb:0x00000003 lsb(offset):0x00000008", None),
    ("t:0x00000011 CPU:00 PROCESS :PROCCREATE_NAME ppid:0 pid:1 name:proc/boot/procnto-smp-instr",
     ("PROCESS:CREATE_NAME", 0, 1, struct.pack("<II", 0, 1) + b"proc/boot/procnto-smp-instr\0")),
    ("t:0x00000012 CPU:00 THREAD  :THCREATE      pid:1 tid:2", ("THREAD:CREATE", 0, 1, (1, 2))),
    ("t:0x00000013 CPU:01 THREAD  :THRUNNING     pid:1 tid:2", ("THREAD:RUNNING", 1, 1, (1, 2))),
    ("t:0x00000014 CPU:01 THREAD  :THRECEIVE     pid:-2 tid:2 priority:10 policy:2 partition:0 "
     "sched_flags:7", ("THREAD:RECEIVE.wide", 1, -2, (2 ** 32 - 2, 2, 10, 2, 0, 7))),
    ("t:0x00000015 CPU:01 COMM    :REC_PULSE     scoid:0x40000003 pid:364659",
     ("COMM:REC_PULSE", 1, 1, (0x40000003, 364659))),
    ("t:0x00000016 CPU:01 USREVENT:EVENT:100, d0:0x00000002 d1:0xffffffff",
     ("USER:100", 1, 1, (2, 0xffffffff))),
    ('t:0x00000017 CPU:01 USREVENT:EVENT:101 STR:"a "quoted" text, # with all"',
     ("USER:101.string", 1, 1, b'a "quoted" text, # with all\0')),
    ("t:0x00000018 CPU:01 INT_ENTR:0x80000000 (-2147483648)       IP:0x002d8b18",
     ("INT_ENTR", 1, 0, (0x80000000, 0x2d8b18))),
    ("t:0x00000019 CPU:01 KER_EXIT:SCHED_GET/88 ret_val:2 sched_priority:10",
     ("KER_EXIT:88.text", 1, 1, b"SCHED_GET/88\0ret_val:2 sched_priority:10\0")),
    ("t:0x0000001a CPU:01 SYSTEM  :FUNC_ENTER thisfn:0x40e62048 call_site:0x00000000",
     ("SYSTEM:FUNC_ENTER", 1, 1, (0x40e62048, 0))),
    ("t:0x0000001b CPU:01 INT_HANDLER_ENTR:0x0000004d (77)       PID:8200 IP:0x00000000 "
     "AREA:0x0bf9b290", ("INT_HANDLER_ENTR.text", 1, 1,
                         b"0x0000004d\0(77)       PID:8200 IP:0x00000000 AREA:0x0bf9b290\0")),
    ("t:0x0000001c CPU:00 NOVELTY :BORN a:1", ("EMPTY:0.text", 0, 0, b"NOVELTY :BORN\0a:1\0")),
    ("t:0x0000001d CPU:00 QUIP    :9             d0:0x00000001 d1:0x00000002",
     ("QUIP:9", 0, 0, (1, 2))),
    ("t:0x0000001e CPU:00 SYSTEM  :MMAP          pid:8200 addr:0x0000000028000000",
     ("SYSTEM:MMAP.text", 0, 0, b"MMAP\0pid:8200 addr:0x0000000028000000\0")),
]


def text_of(lines, **changes):
    pairs = attributes(**changes)
    head = "".join(f"{'TRACE_' + k:>22}:: {v}\n" for k, v in pairs.items())
    return (HEAD % head + "".join(line + "\n" for line in lines)).encode()


def expect(events, ends="\n"):
    want, i = [], 0
    for line, e in LINES:
        if e:
            data = struct.pack(f"<{len(e[3])}I", *e[3]) if isinstance(e[3], tuple) else e[3]
            low = int(line[4:12], 16)
            want.append((ns_of(3 << 32 | low), f"qnx:{e[0]}", e[2], bytes([e[1], 0]) + data))
    same([(e["ts"], e["event"], e["pid"], bytes.fromhex(e["data"])) for e in own(events)], want,
         "lines")


def case_lines(room):
    """Lines as the documentation shows them, with -n and without."""
    lines = [line for line, _ in LINES]
    events, said = room.imported(text_of(lines))
    expect(events)
    if said:
        sys.exit(f"said: {said}")
    events, _ = room.imported(text_of(lines), all_of_it=True)
    head = [bytes.fromhex(e["data"]).split(b"\0")[:2] for e in events if "HEADER" in e["event"]]
    same(head, [[k.encode(), v.encode()] for k, v in attributes().items()], "header")
    expect(room.imported(text_of(lines).replace(b"\n", b"\r\n"))[0])
    without = [re.sub(r" (?=(\w+):\S*)", "\n                  ", line) if "PROC" in line or
               "THRECEIVE" in line else line for line in lines]
    without = [line.replace("\n                  CPU", " CPU", 1)
                   .replace("\n                  THREAD", " THREAD", 1)
                   .replace("\n                  PROCESS", " PROCESS", 1) for line in without]
    if not any("\n" in line for line in without):
        sys.exit("no line was continued")
    expect(room.imported(text_of(without))[0])
    # as other releases print it
    other = [line.replace("CONTROL: BUFFER ", "CONTROL         :BUFFER             ")
             for line in lines]
    expect(room.imported(text_of(other))[0])
    # printed again, each line is as it was, but for white space and the time
    out, _ = room.exported()

    def shown(text):
        return [re.sub(r"\s+", " ", line.split(" ", 2)[2].replace(":-2 ", ":4294967294 "))
                for line in text if "CONTROL" not in line]

    given = [line for line in out.decode().splitlines() if line.startswith("t:")]
    same(shown(given), [s.replace("partition:0 sched_flags:7", "more:0000000007000000")
                        for s in shown(lines)], "printed again")


def case_kev(room):
    """From a kev file to text and back nothing changes."""
    w = Writer()
    make(w, random.Random(11), 3000)
    kev = Room(room.tool, room.folder, "kev")
    for data in (header(attributes()) + w.bytes(), thread_trace(), thread_trace(SYS_RELEASE="8.0")):
        before, _ = kev.imported(data)
        first, _ = kev.exported()
        text, said = room.exported()
        if said:
            sys.exit(f"said: {said}")
        after, _ = room.imported(text)
        same(after, before, "through text")
        second, _ = room.exported(form="kev")
        same(decode(second)[1], decode(first)[1], "as records")
    # lost and cut events
    w = Writer()
    for sequence in (5, 8):
        w.buffer(0, 0, sequence)
        w.simple(0, USER, 1, 10 * sequence)
    w.combine(0, USER, 3, 100, b"not whole, this one", end=False)
    w.combine(0, SYSTEM, 8, 110, b"\x01" * 40)
    w.combine(0, PR_TH, 320, 120, w.words(1, 2) + b"two\nlines of a name\0")
    before, _ = kev.imported(header(attributes()) + w.bytes())
    text, _ = room.exported()
    after, _ = room.imported(text)
    # Buffers are ours now: how many are missing stays, their numbers do not.
    same([e["data"][:8] for e in (before[1], after[1])], ["02000000"] * 2, "how much is lost")
    same([e for e in after if e["event"] != "qnx:LOST"],
         [e for e in before if e["event"] != "qnx:LOST"], "lost and cut")
    same([e["event"] for e in before[1:4]], ["qnx:LOST", *GAPS], "loss")


def case_native(room):
    """Any log as text, and back."""
    log = room.made(native_lines(random.Random(3), 4000))
    text, said = room.exported(log)
    same(room.imported(text)[0], events_of(room.tool, log), "through text")
    if said:
        sys.exit(f"said: {said}")
    lines = text.decode(errors="surrogateescape").splitlines()
    start = lines.index(" -- KERNEL EVENTS -- ") + 1
    form = re.compile(r"t:0x[0-9a-f]{8} CPU:[0-9]{2} (CONTROL: BUFFER sequence = \d+, num_events = "
                      r"\d+|CONTROL :TIME msb:0x\w{8} lsb\(offset\):0x\w{8}|USREVENT:EVENT:\d+,? .+"
                      r"|THREAD  :TH\w+ .+|PROCESS :PROCTHREAD_NAME .+)$")
    for i, line in enumerate(lines[start:], start + 1):
        if not form.match(line):
            sys.exit(f"line {i}: {line[:200]}")
    counts = [int(line.rsplit(" ", 1)[1]) for line in lines if "CONTROL: BUFFER" in line]
    if sum(counts) != len(lines) - start:
        sys.exit(f"{sum(counts)} lines are said, {len(lines) - start} are there")
    # fields are there for people
    run(room.tool, "import", "--from=kev", "--force", described(room), room.folder / "d.ptl")
    text, _ = room.exported(room.folder / "d.ptl")
    if b" # order order=5 price=1.5 symbol=\"A\\nB\"\n" not in text:
        sys.exit(f"no fields: {text[-300:]}")
    before = events_of(room.tool, room.folder / "d.ptl")
    same(room.imported(text)[0], before, "described")
    out, _ = run(room.tool, "print", room.log)
    if b'order=5 price=1.5 symbol="A\\nB"' not in out:
        sys.exit(f"described, and: {out}")


def described(room):
    """A kev file of our export's form with an event type that has fields."""
    w = Writer()
    w.buffer(0, 0, 1)
    w.time(0, 1 << 32)
    t = 1 << 32
    w.combine(0, USER, 1023, t, w.words(1, 1, 7) + b"order\0u32 order; f64 price; str symbol\0")
    w.combine(0, USER, 1023, t, w.words(2, 9, 100, 101, 5, 0) + b"trader\0")
    data = struct.pack("<Id", 5, 1.5) + b"A\nB\0"
    w.combine(0, USER, 7, t + 1, w.words(9 | 4 << 25) + data)
    path = room.folder / "described.kev"
    path.write_bytes(header(attributes(POSIXTRACE="native", CYCLES_PER_SEC="1000000000")) +
                     w.bytes())
    return path


def case_hostile(room):
    """Bad lines are reported with their numbers; the good ones are kept."""
    lines = [line for line, _ in LINES]
    good = text_of(lines)
    first = good.count(b"\n") - len(lines) + 1
    for bad, words in ((b"t:0x1g CPU:00 THREAD  :THREADY pid:1 tid:1", "time and processor"),
                       (b"t:0x00000010 CPU:99 THREAD  :THREADY pid:1 tid:1", "time and processor"),
                       (b"t:0x00000010 CPU:00", "class and event"),
                       (b"t:0x123456789 CPU:00 A:B", "time and processor"),
                       (b"what is this", "neither an event"),
                       (b"t:0x00000010 CPU:00 USREVENT:EVENT:1\0", "NUL"),
                       (b"t:0x00000010 CPU:00 A:B " + b"x" * 200000, "160 KiB"),
                       (b"t:0x00000010 CPU:00 A:B " + b"x" * 900000, "160 KiB")):
        events, said = room.imported(good + bad + b"\n" + good[good.index(b"t:0x00000010"):])
        if words not in said or f"line {first + len(lines)}:" not in said:
            sys.exit(f"{bad[:60]}: {said}")
        if len(own(events)) != 2 * sum(e is not None for _, e in LINES):
            sys.exit(f"{bad[:60]}: {len(events)} events")
    for data, words in ((b"", "line 1"), (b"ELF\n" * 5, "line 1"), (b"\n" * 300, "line 1"),
                        (b"a,b,c\n" * 10 ** 5, "line 1"), (b"x" * 10 ** 6, "line 1"),
                        (text_of(lines, CYCLES_PER_SEC="none"), "CYCLES_PER_SEC"),
                        (text_of(lines, VER_MAJOR="3"), "version 3"),
                        (header(attributes()), "--from=kev")):
        said = room.refused(data)
        if words not in said:
            sys.exit(f"{data[:40]}: {said}")
    events, said = room.imported(text_of(lines + [
        "t:0x00000020 CPU:00 CONTROL: BUFFER sequence = 36, num_events = 714",
        "t:0x00000021 CPU:00 THREAD  :THREADY       pid:1 tid:2",
        "t:0x00000022 CPU:00 CONTROL: BUFFER sequence = 35, num_events = 714"]))
    names = [e["event"] for e in events]
    same(names[-4:], ["qnx:LOST", *GAPS, "qnx:THREAD:READY"], "a gap")
    if "2 buffers are missing before number 36" not in said or "35 comes after" not in said:
        sys.exit(f"a gap: {said}")
    rng = random.Random(2)
    for _ in range(60):
        bad = bytearray(good)
        for _ in range(20):
            bad[rng.randrange(len(bad) // 3, len(bad))] = rng.randrange(256)
        room.imported(bytes(bad))
    for cut in range(first, len(good), 11):
        room.imported(good[:cut + good.index(b"t:0x00000010")])


CASES = {name[5:]: f for name, f in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        CASES[sys.argv[1]](Room(sys.argv[2], folder, "traceprinter"))
    print(f"{sys.argv[1]}: as it should be")
