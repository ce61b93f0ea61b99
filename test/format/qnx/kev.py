#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Import of kev files, held against a generator of its own (codec.py).

usage: kev.py CASE POSIXTRACE
"""

import random
import struct
import sys
import tempfile

from codec import (BOOT, COMM, CONTROL, GAPS, INT, KER_CALL, PR_TH, QUIP, STATES, SYSTEM, USER,
                   Room, Writer, attributes, decode, header, ns_of, run, same)

def name_of(cls, number):
    """External class and event, as docs/formats/qnx.md has them, of those that are made here."""
    if cls == KER_CALL:
        kind = ("KER_CALL", "KER_EXIT", "INT_CALL", "INT_CALL")[number >> 7 & 3]
        return f"{kind}{'64' if number & 512 else ''}:{number & 127}"
    if cls == INT:
        return {1: "INT_ENTR", 2: "INT_EXIT", 3: "INT_HANDLER_ENTR",
                4: "INT_HANDLER_EXIT"}.get(number, f"INT:{number}")
    if cls == PR_TH and number < 26:
        return "THREAD:" + (STATES[number] if number < 21 else
                            {24: "CREATE", 25: "DESTROY"}.get(number, str(number)))
    if cls == PR_TH and number < 64:
        return "VTHREAD:" + (STATES[number - 26] if number < 47 else
                             {50: "CREATE", 51: "DESTROY"}.get(number, str(number - 26)))
    return {(USER, number): f"USER:{number}", (COMM, 2): "COMM:REC_MESSAGE",
            (COMM, 3): "COMM:REC_PULSE", (SYSTEM, 10): "SYSTEM:FUNC_ENTER",
            (QUIP, number): f"QUIP:{number}", (20, number): f"CLASS_20:{number}",
            (PR_TH, 64): "PROCESS:CREATE", (PR_TH, 128): "PROCESS:DESTROY",
            (SYSTEM, 522): "SYSTEM64:FUNC_ENTER"}[cls, number]


def own(events):
    return [e for e in events if e["event"].startswith("qnx:")]


def make(w, rng, count, cpus=4):
    """Buffers of random events, several processors, combine events with others between
    their parts; and what should come of it, (ns, event, data)."""
    time, want, sequence, cut_in = (7 << 32) - 40000, [], 33, []
    kinds = [(KER_CALL, 11), (KER_CALL, 11 + 128), (KER_CALL, 11 + 256), (KER_CALL, 11 + 512),
             (INT, 1), (INT, 2), (INT, 4), (INT, 9), (COMM, 2), (COMM, 3), (USER, 5), (USER, 1023),
             (SYSTEM, 10), (SYSTEM, 522), (QUIP, 3), (20, 7), (PR_TH, 64), (PR_TH, 128)]
    kinds += [(PR_TH, n) for n in range(52)]
    high, cut_cpu = {}, 0
    for i in range(count):
        if i % 100 == 0:
            w.buffer(0, time, sequence, 100)
            sequence, high = sequence + 1, {}
        time += rng.randrange(1, 5000)
        cpu, flags = rng.randrange(cpus), rng.choice([0, 0, 1])
        for c in {cpu, cut_cpu} if cut_in else {cpu}:
            if high.get(c) != time >> 32:
                high[c] = time >> 32
                w.time(c, time)
        while cut_in and (rng.random() < 0.5 or i == count - 1):
            w.out.append(cut_in.pop(0))
        if rng.random() < 0.7:
            cls, number = rng.choice(kinds)
            a, b = rng.randrange(1, 6), rng.randrange(1 << 32)
            if cls == PR_TH:
                b %= 4
            w.simple(cpu, cls, number, time, a, b, flags)
            data = struct.pack("<II", a, b)
            name = name_of(cls, number)
        elif not cut_in:
            kind = rng.randrange(4)
            words = [rng.randrange(1, 9), rng.randrange(4)] + [rng.randrange(99) for _ in range(4)]
            if kind == 0:       # wide thread state: four words that are known, and more
                cls, number, data = PR_TH, 5, w.words(*words)
                name = "THREAD:RECEIVE.wide"
                want_data = struct.pack("<4I", *words[:4]) + w.words(*words[4:])
            elif kind == 1:     # words and a string
                text = b"name " + b"x" * rng.randrange(40) + b"\0"
                cls, number, data = PR_TH, 192, w.words(*words[:2]) + text
                name, want_data = "PROCESS:CREATE_NAME", struct.pack("<II", *words[:2]) + text
            elif kind == 2:
                cls, number, data = USER, 77, b"a text of more than 8 bytes\0"
                name, want_data = "USER:77.string", data
            else:
                cls, number, data = KER_CALL, 11, rng.randbytes(8 * rng.randrange(2, 9))
                name, want_data = "KER_CALL:11.bytes", data
            parts = w.parts(cpu, cls, number, time, data, flags)
            w.out.append(parts[0])
            cut_in, cut_cpu = parts[1:], cpu
            data = want_data
        else:
            continue
        want.append((ns_of(time), f"qnx:{name}", (bytes([cpu, flags]) + data).hex()))
    while cut_in:
        w.out.append(cut_in.pop(0))
    return want


def case_read(room):
    """All kinds of events, in both byte orders, after a system page."""
    for seed, big in ((1, False), (2, True), (3, False)):
        w = Writer(big)
        want = make(w, random.Random(seed), 3000)
        data = header(attributes(big), b"\xffTRACE_\0page" * 50 * seed) + w.bytes()
        events, said = room.imported(data)
        same([(e["ts"], e["event"], e["data"]) for e in own(events)], want, f"events, big {big}")
        if said:
            sys.exit(f"of a good trace it is said: {said}")
        events, _ = room.imported(data, all_of_it=True)
        got = [bytes.fromhex(e["data"]).split(b"\0")[:2] for e in events
               if e["event"] == "qnx:HEADER"]
        pairs = dict(attributes(big), SYSPAGE_LEN=str(600 * seed))
        same(got, [[k.encode(), v.encode()] for k, v in pairs.items()], "header")
    out, _ = run(room.tool, "print", room.log)
    for fields in (b"pid=4 tid=3 priority=", b"rcvid=0x", b'name="name x', b"thisfn=0x"):
        if fields not in out:
            sys.exit(f"printed without {fields}")


def case_time(room):
    """High halves by processor, turns of the low half, rates, dates, options."""
    w = Writer()
    want = []
    w.buffer(0, 0xfffffff0, 1)
    for cpu, high in ((0, 5), (1, 5), (2, 9)):
        w.time(cpu, high << 32 | 0xffff0000)
    steps = [(0, 5 << 32 | 0xfffffff0), (1, 5 << 32 | 0xfffffff8), (0, 6 << 32 | 4),
             (1, 6 << 32 | 8), (0, 6 << 32 | 0x80000000), (2, 9 << 32 | 0xffffffff),
             (2, 10 << 32 | 1)]
    for cpu, time in steps:
        w.simple(cpu, USER, cpu, time)
        want.append((ns_of(time), cpu))
    data = w.bytes()
    events, _ = room.imported(header(attributes()) + data)
    same([(e["ts"], int(e["data"][:2])) for e in own(events)], sorted(want), "turns")
    events, _ = room.imported(header(attributes(CYCLES_PER_SEC="1")) + data, "--rate=1000",
                              "--start=5000000")
    first = steps[0][1]
    same([e["ts"] for e in own(events)],
         sorted(5000000 - first * 10 ** 6 + t * 10 ** 6 for _, t in steps), "rate and start")
    events, said = room.imported(header(attributes(CYCLES_PER_SEC=None, BOOT_DATE="soon")) + data)
    same([e["ts"] for e in own(events)], sorted(t for _, t in steps), "cycles are ns")
    if "--rate" not in said or "--start" not in said:
        sys.exit(f"no rate and no date, and: {said}")
    w = Writer()       # a processor that never says its high half; a step back that is small
    w.buffer(0, 0, 1)
    w.time(0, 3 << 32 | 0xffffff00)
    for cpu, time in ((0, 3 << 32 | 0xffffff80), (1, 4 << 32 | 5), (0, 4 << 32 | 9),
                      (0, 4 << 32 | 7)):
        w.simple(cpu, USER, 1, time)
    events, _ = room.imported(header(attributes(CYCLES_PER_SEC="1000000000")) + w.bytes())
    same([e["ts"] - BOOT for e in own(events)],
         [3 << 32 | 0xffffff80, 4 << 32 | 5, 4 << 32 | 7, 4 << 32 | 9], "another's high half")
    events, _ = room.imported(header(attributes(CYCLES_PER_SEC="1")) + data)
    same([e["ts"] for e in own(events)], [2 ** 63 - 1] * 7, "beyond what a time can be")


def blocks(order, events=30, first=33, step=100000):
    """One block of user events for each number; times go with the numbers."""
    out = {}
    for sequence in set(order):
        w = Writer()
        time = (1 << 32) + (sequence - first) * step
        w.buffer(0, time, sequence, events + 2)
        w.time(0, time)
        for i in range(events):
            w.simple(0, USER, 7, time + 10 * i, sequence, i)
        out[sequence] = w.bytes()
    return header(attributes()) + b"".join(out[s] for s in order)


def numbers(events):
    return [int.from_bytes(bytes.fromhex(e["data"])[2:6], "little") for e in events
            if e["event"] == "qnx:USER:7"]


def case_order(room):
    """Buffers that are not in order, that are missing, and that come much too late."""
    events, said = room.imported(blocks([33, 35, 34, 36, 39, 38, 37, 40]))
    same(numbers(events), [s for s in range(33, 41) for _ in range(30)], "put in order")
    if said:
        sys.exit(f"put in order, and: {said}")
    events, said = room.imported(blocks([33, 34, 37, 38, 40]))
    same(numbers(events), [s for s in (33, 34, 37, 38, 40) for _ in range(30)], "with gaps")
    lost = [(i, e) for i, e in enumerate(events) if e["event"] == "qnx:LOST"]
    same([struct.unpack("<III", bytes.fromhex(e["data"])) for _, e in lost],
         [(2, 35, 37), (1, 39, 40)], "what is lost")
    for i, _ in lost:
        same([e["event"] for e in events[i + 1:i + 3]], GAPS, "behind a loss")
    if "2 buffers are missing before number 37" not in said:
        sys.exit(f"two buffers less: {said}")
    events, said = room.imported(blocks([33, 34, 34, 36, 35, 36, 37]))
    same(sorted(numbers(events)), sorted(s for s in (33, 34, 34, 35, 36, 36, 37)
                                         for _ in range(30)), "numbers that come twice")
    if any(e["event"] == "qnx:LOST" for e in events):
        sys.exit(f"numbers that come twice: {said}")
    # of a ring: the first one is somewhere in the middle
    ring = list(range(70, 85)) + list(range(33, 70))
    events, said = room.imported(blocks(ring))
    same(numbers(events), [s for s in range(33, 85) for _ in range(30)], "of a ring")
    if said:
        sys.exit(f"of a ring: {said}")
    # more buffers wait than are held: the missing one is lost, and comes too late
    late = [33] + list(range(35, 140)) + [34, 140]
    events, said = room.imported(blocks(late, events=100))
    same(numbers(events), [s for s in [33] + list(range(35, 141)) for _ in range(100)], "too late")
    if "buffer 34 comes after number 139" not in said or "older" not in said or \
            "100 events could not be carried over" not in said:
        sys.exit(f"a buffer much too late: {said}")
    # numbers that restart are not a loss
    for first in (2, 200):
        w, order = Writer(), list(range(5, 5 + first)) + [1, 2]
        for at, sequence in enumerate(order):
            time = (1 << 32) + at * 1000
            w.buffer(0, time, sequence, 3)
            w.time(0, time)
            w.simple(0, USER, 7, time, sequence)
        events, said = room.imported(header(attributes()) + w.bytes())
        same(numbers(events), order, "numbers that begin anew")
        if any(e["event"] == "qnx:LOST" for e in events) or "continue at 1" not in said:
            sys.exit(f"numbers that begin anew: {said}")
    # processors whose records are not in order of time
    rng, w, times = random.Random(4), Writer(), []
    w.buffer(0, 0, 1)
    for cpu in range(8):
        w.time(cpu, 1 << 32)
    for i in range(5000):
        cpu = rng.randrange(8)
        times.append((1 << 32) + 100 * i + 5000 * cpu)
        w.simple(cpu, USER, 7, times[-1], cpu, i)
    events, said = room.imported(header(attributes()) + w.bytes())
    same([e["ts"] for e in own(events)], [ns_of(t) for t in sorted(times)], "processors")
    w = Writer()
    w.buffer(0, 0, 3, 50)
    w.simple(0, USER, 1, 5)
    if "said to have 50 records, and 2 are there" not in \
            room.imported(header(attributes()) + w.bytes() + b"12345")[1]:
        sys.exit("a buffer that is cut is not told")


def case_parts(room):
    """Combine events that are not whole, and more of them than can be remembered."""
    w = Writer()
    w.buffer(0, 0, 1)
    w.time(0, 1 << 32)
    t = 1 << 32
    w.combine(0, USER, 1, t + 10, b"unfinished, another begins", end=False)
    w.combine(0, USER, 1, t + 10, b"the other one is whole\0")
    w.out.append(w.parts(0, USER, 2, t + 20, bytes(24))[1])
    w.combine(0, QUIP, 2, t + 30, b"nothing more of it comes", end=False)
    for i in range(3000):
        w.simple(0, USER, 9, t + 40 + i)
    w.combine(0, USER, 3, t + 9000, b"the file ends within", end=False)
    events, said = room.imported(header(attributes()) + w.bytes())
    got = [(e["event"], e["trunc"], bytes.fromhex(e["data"])[2:]) for e in own(events)
           if e["event"] != "qnx:USER:9"]
    same(got, [("qnx:USER:1.bytes", 1, b"unfinished, another begins" + bytes(6)),
               ("qnx:USER:1.string", 0, b"the other one is whole\0"),
               ("qnx:QUIP:2.bytes", 1, b"nothing more of it comes"),
               ("qnx:USER:3.bytes", 1, b"the file ends within" + bytes(4))], "unfinished")
    if len(own(events)) != 3004:
        sys.exit(f"{len(events)} events")
    for words in ("another one like it begins", "beginning is missing", "for long",
                  "the trace ends", "1 event could not be carried over"):
        if words not in said:
            sys.exit(f"nothing of '{words}': {said}")
    # the same time, class and event on two processors, and two classes at one time
    w = Writer()
    w.buffer(0, 0, 1)
    for cpu in range(2):
        w.time(cpu, t)
    pieces = [w.parts(c, k, 4, t + 5, bytes([65 + c + 2 * (k == QUIP)] * 24) + bytes(8))
              for c in range(2) for k in (USER, QUIP)]
    for row in zip(*pieces):
        w.out += row
    events, said = room.imported(header(attributes()) + w.bytes())
    same(sorted((bytes.fromhex(e["data"])[2:], e["trunc"]) for e in own(events)),
         [(bytes([c] * 24) + bytes(8 if c > 66 else 1), 0) for c in b"ABCD"], "at one time")
    w = Writer()
    w.buffer(0, 0, 1)
    w.time(0, t)
    for i in range(400):
        w.combine(0, USER, i, t + i, b"%-15d" % i, end=False)
    w.combine(0, USER, 1000, t + 500, b"z" * 70000)
    events, said = room.imported(header(attributes()) + w.bytes())
    same([int(bytes.fromhex(e["data"])[2:17]) for e in own(events)[:-1]], list(range(400)), "many")
    last = own(events)[-1]
    if last["trunc"] != 1 or len(last["data"]) != 2 * 61440 or "more than 65536" not in said or \
            "more events are under way" not in said:
        sys.exit(f"too long: {last['trunc']} {len(last['data'])} {said}")


def thread_trace(**changes):
    """Two threads of two processes on one processor, and what they do, in microseconds."""
    w = Writer()
    t = 1 << 32
    w.buffer(0, t, 1)
    w.time(0, t)
    w.combine(0, PR_TH, 192, t, w.words(1, 10) + b"proc/boot/server\0")
    w.combine(0, PR_TH, 320, t, w.words(20, 1) + b"worker\0")
    for at, state, pid in ((0, "RECEIVE", 10), (0, "RUNNING", 20), (100, "READY", 10),
                           (110, "READY", 20), (111, "RUNNING", 10), (150, "RECEIVE", 10),
                           (151, "RUNNING", 20), (300, "READY", 10), (301, "READY", 20),
                           (302, "RUNNING", 10), (322, "RECEIVE", 10), (323, "RUNNING", 20),
                           (400, "MUTEX", 20)):
        w.simple(0, PR_TH, STATES.index(state), t + 1000 * at, pid, 1)
        if at == 111:
            w.simple(0, KER_CALL, 11, t + 1000 * at + 500)
            w.simple(0, INT, 1, t + 1000 * at + 600)
    return header(attributes(CYCLES_PER_SEC="1000000000", **changes)) + w.bytes()


def case_threads(room):
    """Who runs, as metrics of Linux threads want it, and names of threads."""
    events, _ = room.imported(thread_trace())
    base = events[0]["ts"]
    got = [((e["ts"] - base) // 1000, e["event"][11:], e["pid"], e["thread"]) for e in events
           if e["event"].startswith("posixtrace_")]
    same(got, [(0, "switch_in", 20, "worker"), (110, "switch_preempted", 20, "worker"),
               (111, "switch_in", 10, "server"), (111, "sleep_done", 10, "server"),
               (150, "sleep", 10, "server"), (150, "switch_out", 10, "server"),
               (151, "switch_in", 20, "worker"), (301, "switch_preempted", 20, "worker"),
               (302, "switch_in", 10, "server"), (302, "sleep_done", 10, "server"),
               (322, "sleep", 10, "server"), (322, "switch_out", 10, "server"),
               (323, "switch_in", 20, "worker"), (400, "switch_out", 20, "worker")], "system events")
    same([(e["pid"], e["tid"]) for e in events if e["event"] in ("qnx:KER_CALL:11",
                                                                 "qnx:INT_ENTR")],
         [(10, 1), (0, 0)], "who calls")
    for metric, want in (("Preemption", ["41.000", "22.000"]),
                         ("Response Time", ["50.000", "22.000"])):
        out, _ = run(room.tool, "metrics", "--each", f"--metric={metric}", room.log)
        got = [line.split()[1] for line in out.decode().splitlines()
               if line.startswith(" ") and line.rstrip().endswith(metric)]
        same(got, want, metric)
    # a thread whose leaving was not traced leaves when another one comes; one moves
    w = Writer()
    w.buffer(0, 0, 1)
    for cpu, pid, at in ((0, 1, 10), (0, 2, 20), (1, 2, 30), (0, 1, 40)):
        w.simple(cpu, PR_TH, 1, at, pid, 1)
    events, _ = room.imported(header(attributes(CYCLES_PER_SEC="1000000000")) + w.bytes())
    same([(e["ts"] - BOOT, e["event"][11:], e["pid"], e["data"][:2]) for e in events
          if e["event"].startswith("posixtrace_")],
         [(10, "switch_in", 1, "00"), (20, "switch_out", 1, "00"), (20, "switch_in", 2, "00"),
          (30, "switch_preempted", 2, "00"), (30, "switch_in", 2, "01"),
          (40, "switch_in", 1, "00")], "moving")
    # after a gap the running thread is not known: no thread leaves the processor
    w = Writer()
    for sequence, pid in ((1, 5), (3, 6)):
        w.buffer(0, 0, sequence, 1)
        w.simple(0, PR_TH, 1, 10 * sequence, pid, 1)
        w.simple(0, USER, 1, 10 * sequence + 1)
    w.simple(0, PR_TH, 2, 35, 5, 1)
    events, _ = room.imported(header(attributes()) + w.bytes())
    same([e["event"] for e in events], [
        "posixtrace_switch_in", "qnx:THREAD:RUNNING", "qnx:USER:1", "qnx:LOST", *GAPS,
        "posixtrace_switch_in", "qnx:THREAD:RUNNING", "qnx:USER:1", "qnx:THREAD:READY"], "gap")


def case_release8(room):
    """States have other numbers that are not published: they stay numbers without an option."""
    data = thread_trace(SYS_RELEASE="8.0.0")
    events, said = room.imported(data)
    if "--state" not in said or any(e["event"].startswith("posixtrace_") for e in events):
        sys.exit(f"release 8: {said}")
    names = {e["event"] for e in events}
    if not {"qnx:THREAD:1", "qnx:THREAD:5"} <= names:
        sys.exit(f"release 8: {names}")
    named, _ = room.imported(data, "--state=1=RUNNING", "--state=2=READY", "--state=5=RECEIVE")
    seven, _ = room.imported(data, "--release=7")
    system = [[(e["ts"], e["event"], e["pid"]) for e in x if e["event"][:11] == "posixtrace_"]
              for x in (named, seven)]
    same(system[0][:13], system[1][:13], "states that the user names")
    w = Writer()
    w.buffer(0, 0, 1)
    w.simple(0, INT, 7, 5, 1, 2)
    w.simple(0, CONTROL, 8, 6, 3, 4)
    w.simple(0, CONTROL, 4, 7, 0xe6e6e6e6, 0xe6e6e6e6)
    w.simple(0, PR_TH, 30, 8, 1, 1)
    events, _ = room.imported(header(attributes(SYS_RELEASE="8.0.0")) + w.bytes())
    same([e["event"] for e in events], ["qnx:INT_DELIVER", "qnx:CONTROL:DROPPED", *GAPS,
                                        "qnx:THREAD:30"], "of release 8")
    for option in ("--state=64=X", "--state=1", "--state=1=", "--state=x=RUNNING", "--state=1=a b",
                   "--release=5", "--release=77", "--rate=0", "--rate=-1", "--start=x"):
        room.refused(data, option)
    if "NORMALIZED_TO 'x'" not in room.imported(thread_trace(NORMALIZED_TO="x"))[1]:
        sys.exit("NORMALIZED is not told")


def case_hostile(room):
    """Headers that are none; wrong byte order; files that are cut, anywhere."""
    w = Writer()
    want = make(w, random.Random(9), 60)
    body = w.bytes()
    good = header(attributes(), b"page" * 9) + body
    for changes, words in (
            ({"SYSPAGE_LEN": "99999999999999"}, "within the system page"),
            ({"SYSPAGE_LEN": "-1"}, "SYSPAGE_LEN"), ({"SYSPAGE_LEN": "1x"}, "SYSPAGE_LEN"),
            ({"SYSPAGE_LEN": "99999999999999999999999"}, "SYSPAGE_LEN"),
            ({"VER_MAJOR": "2"}, "version 2.01"), ({"VER_MINOR": "00"}, "version 1.00"),
            ({"VER_MAJOR": "one"}, "version one"), ({"ENCODING": "32 byte events"}, "encoding"),
            ({"CYCLES_PER_SEC": "0"}, "CYCLES_PER_SEC"),
            ({"CYCLES_PER_SEC": "1e9"}, "CYCLES_PER_SEC"),
            ({"CYCLES_PER_SEC": "99999999999999999999"}, "CYCLES_PER_SEC"),
            ({"MIDDLE_ENDIAN": "TRUE"}, "middle"), ({"BIG_ENDIAN": "TRUE"}, "both")):
        said = room.refused(header(attributes(**changes)) + body)
        if words not in said:
            sys.exit(f"{changes}: {said}")
    for data, words in ((b"", "offset 0"), (b"\x7fELF" + good, "offset 0: not a trace of QNX"),
                        (good[:90], "offset 90"), (b"TRACE_HEADER_BEGIN::" + b"x" * 99999,
                                                   "64 KiB"),
                        (header(attributes(big=True)) + body, "the records are not")):
        said = room.refused(data)
        if words not in said:
            sys.exit(f"{data[:40]}: {said}")
    start = len(good) - len(body)
    for cut in [0, start - 1] + list(range(start, len(good), 7)):
        events, said = room.imported(good[:cut], fails=cut < start)
        if cut < start:
            continue
        if (cut - start) % 16 and f"offset {cut - (cut - start) % 16}" not in said:
            sys.exit(f"cut at {cut}: {said}")
        # Complete events are unchanged; the last one, which is cut, is marked.
        whole = [(e["ts"], e["event"], e["data"]) for e in own(events) if not e["trunc"]]
        if [e for e in whole if e not in want] or len(own(events)) - len(whole) > 1:
            sys.exit(f"cut at {cut}: {whole[-2:]}")
    rng = random.Random(5)
    for _ in range(40):        # damage anywhere in the records, and nothing but noise
        bad = bytearray(good)
        for _ in range(30):
            bad[rng.randrange(start, len(bad))] = rng.randrange(256)
        room.imported(bytes(bad))
    room.imported(header(attributes()) + rng.randbytes(160000))
    w = Writer()               # what no kernel makes, and what only import makes
    w.buffer(0, 0, 1)
    for number, data in ((1023, (0, 0)), (0, (0, 0)), (0, (1, 0))):
        w.simple(0, 0, number, 5, *data)
    events, said = room.imported(header(attributes()) + w.bytes())
    same([e["event"] for e in events], ["qnx:EMPTY:1023", "qnx:EMPTY:0"], "class EMPTY")
    if "record of zeros" not in said:
        sys.exit(f"a record of zeros: {said}")
    w = Writer()               # more types than a log can have
    w.buffer(0, 0, 1)
    for i in range(1024):
        w.simple(0, USER, i, 10 + i, i, 2)
        w.simple(0, QUIP, i, 2000 + i, i, 2)
    events, _ = room.imported(header(attributes()) + w.bytes())
    if len(own(events)) != 2048 or sum(e["event"] == "qnx:OTHER" for e in events) < 1000:
        sys.exit(f"many types: {len(events)}")
    back, said = room.exported()
    same([(e[3], e[4], e[5]) for e in decode(back)[1] if not (e[3] == USER and e[2] & 0x80)],
         [(c, i, struct.pack("<II", i, 2)) for c in (USER, QUIP) for i in range(1024)
          ], "many types back")
    again, _ = room.imported(back)
    same(again, events, "many types again")
    if said:
        sys.exit(f"many types back: {said}")


CASES = {name[5:]: f for name, f in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        CASES[sys.argv[1]](Room(sys.argv[2], folder, "kev"))
    print(f"{sys.argv[1]}: as it should be")
