#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Export as kev files, held against a decoder of its own (codec.py).

usage: kev_export.py CASE POSIXTRACE
"""

import random
import struct
import sys
import tempfile

from codec import (GAPS, PR_TH, STATES, USER, Room, Writer, attributes, decode, events_of, header,
                   ns_of, run, same)
from kev import blocks, make, thread_trace


def native_lines(rng, count, types=40, threads=9):
    """Events as JSON lines: many types, threads, switches, lost events, long data."""
    lines, ts, out = [], 1700000000 * 10 ** 9, {}
    for i in range(count):
        ts += rng.choice([0, 1, 700, 10 ** 6, 5 * 10 ** 9 if i % 200 == 0 else 3])
        thread = rng.randrange(threads)
        e = {"ts": ts, "pid": 100 + thread % 3, "tid": 200 + thread,
             "thread_id": hex(0x7f0000000000 + thread), "thread": f"thread {thread}" + "+" * (i // 1500),
             "event": f"type {rng.randrange(types)}", "addr": hex(rng.choice([0, 0x401000, i])),
             "trunc": rng.choice([0, 0, 0, 1]), "data": rng.randbytes(rng.randrange(40)).hex()}
        kind = rng.randrange(12)
        if kind < 3:
            e.update(event=("posixtrace_switch_in", "posixtrace_switch_out",
                            "posixtrace_switch_preempted")[kind], addr="0x0", trunc=0,
                     data=struct.pack("<I", rng.randrange(6)).hex())
        elif kind == 3 and i % 5 == 0:
            e = {"ts": ts, "event": GAPS[0], "data": ""}
            lines.append(e)
            e = {"ts": ts, "event": GAPS[1], "data": ""}
        elif kind == 4 and i % 50 == 0:
            e["data"] = rng.randbytes(rng.choice([4096, 61440])).hex()
        elif kind == 5:
            e["event"] = rng.choice(["posixtrace_mutex_lock", "posixtrace_mutex_locked"])
            e["data"] = "10" + "00" * (7 if e["event"].endswith("lock") else 15)
        elif kind == 6:
            e = {"ts": ts, "event": "of nobody", "data": "01"}
        lines.append(e)
        out[e["event"]] = 1
    return lines


def decode_ours(events):
    """What docs/formats/qnx.md says that our export's user events are."""
    types, user, threads, places = {}, {}, {}, {}
    for ns, cpu, flags, cls, number, data, whole in events:
        assert whole, "an event without its end"
        word = struct.unpack_from("<I", data)[0]
        if (cls, number) == (USER, 1023):
            rest = data[4:]
            if word == 1:
                n, u = struct.unpack_from("<II", rest)
                name, text = rest[8:].split(b"\0")[:2]
                types[n], user[u] = (name.decode(errors="surrogateescape"), text.decode()), n
            elif word == 2:
                n, pid, tid, low, high = struct.unpack_from("<5I", rest)
                threads[n] = pid, tid, high << 32 | low, rest[20:].split(b"\0")[0].decode()
            elif word == 3:
                n, low, high = struct.unpack_from("<III", rest)
                places[n] = high << 32 | low
            continue
        if cls == PR_TH:
            assert flags == 0x80
            pid, tid = struct.unpack_from("<II", data)
            if number == 320:
                assert data[8:].split(b"\0")[0]
                continue
            thread = [t for t in threads.values() if t[:2] == (pid, tid)][-1]
            name = {1: "in", 2: "preempted"}.get(number, "out")
            yield (ns, *thread, f"posixtrace_switch_{name}", 0, 0, struct.pack("<I", cpu))
            continue
        assert cls == USER, cls
        skip = 8 if word >> 30 & 1 else 4
        n = struct.unpack_from("<I", data, 4)[0] if skip == 8 else user[number]
        yield (ns, *threads.get(word & 4095, (0, 0, 0, "")), types[n][0],
               places[word >> 12 & 8191] if word >> 12 & 8191 else 0, word >> 28 & 3,
               data[skip:len(data) - (word >> 25 & 7)])


def as_decoded(e):
    return (e["ts"], e["pid"], e["tid"], int(e["thread_id"], 16), e["thread"], e["event"],
            int(e["addr"], 16), e["trunc"], bytes.fromhex(e["data"]))


def case_export(room):
    """Any log, decoded by what the page says, and imported again."""
    log = room.made(native_lines(random.Random(1), 6000))
    events = events_of(room.tool, log)
    data, said = room.exported(log)
    if said:
        sys.exit(f"said: {said}")
    pairs, records, buffers = decode(data)
    same(list(decode_ours(records)), [as_decoded(e) for e in events], "decoded")
    if pairs["POSIXTRACE"] != "native" or int(pairs["CPU_NUM"]) != 6 or \
            pairs["CYCLES_PER_SEC"] != "1000000000" or pairs["DATE"] != "Tue Nov 14 22:13:20 2023":
        sys.exit(f"header: {pairs}")
    gaps = sum(b[0] != a[0] + 1 for a, b in zip(buffers, buffers[1:]))
    if gaps != sum(e["event"] == GAPS[0] for e in events):
        sys.exit(f"{gaps} gaps")
    if any(said != there or there > 1014 for _, said, there in buffers) or \
            sum(there >= 714 for _, _, there in buffers) < 3:
        sys.exit(f"buffers: {buffers[:9]}")
    states = {e[4] for e in records if e[3] == PR_TH and e[4] < 64}
    if not {1, 2, STATES.index("MUTEX")} <= states:
        sys.exit(f"states: {states}")
    again, said = room.imported(data)
    same(again, events, "imported again")
    if said:
        sys.exit(f"imported again: {said}")
    # a buffer that is lost on the way is a loss, the numbers that export leaves out are none
    start = data.index(b"TRACE_HEADER_END::") + 18
    at = [start + 16 * sum(b[2] for b in buffers[:i]) for i in range(len(buffers))]
    big = next(i for i, b in enumerate(buffers) if b[2] > 700 and i > 2)
    _, said = room.imported(data[:at[big]] + data[at[big + 1]:])
    if said.count("buffer is missing") != 1:
        sys.exit(f"a buffer less: {said}")
    # to a pipe the number of processors cannot be written after the end
    out, _ = run(room.tool, "export", "--to=kev", log, "-")
    if decode(out)[0]["CPU_NUM"] not in ("64", "06") or decode(out)[1] != records:
        sys.exit("to a pipe")
    # more types than user events: the rest has the type's number with each event
    lines = [{"ts": i, "event": f"t {i % 1023}", "tid": 1, "data": f"{i % 256:02x}"}
             for i in range(2046)]
    log = room.made(lines)
    data, _ = room.exported(log)
    if not any(e[3:5] == (USER, 1022) for e in decode(data)[1]):
        sys.exit("nothing is user event 1022")
    same(room.imported(data)[0], events_of(room.tool, log), "many types")
    log = room.made([{"ts": t, "event": "old", "data": "00"} for t in (0, 1, 2 ** 63 - 1)])
    same(room.imported(room.exported(log)[0])[0], events_of(room.tool, log), "all times")
    if room.imported(room.exported(room.made([]))[0])[0]:
        sys.exit("an empty log has events")


def case_back(room):
    """What came from QNX goes back as it was."""
    w = Writer()
    make(w, random.Random(7), 4000)
    data = header(attributes()) + w.bytes()
    before, _ = room.imported(data, all_of_it=True)
    given, said = room.exported()
    if said:
        sys.exit(f"said: {said}")
    pairs, records, _ = decode(given)
    wanted = sorted(((ns_of(e[0]), *e[1:]) for e in decode(data)[1]), key=lambda e: e[0])
    given_back = [e for e in records if not (e[3] == USER and (e[2] & 0x80 or e[4] == 1021))]
    same(given_back, wanted, "back")
    want = dict(attributes(), POSIXTRACE="qnx-2", CYCLES_PER_SEC="1000000000",
                BOOT_DATE="Thu Jan  1 00:00:00 1970")
    if pairs != want:
        sys.exit(f"header: {pairs}")
    after, said = room.imported(given, all_of_it=True)
    own_words = [e for e in before if "HEADER" not in e["event"]]
    same([e for e in after if "HEADER" not in e["event"]], own_words, "again")
    # the log keeps the states that were given to import
    for options in (["--state=1=RUNNING", "--state=2=READY", "--state=5=RECEIVE"], ["--release=7"]):
        events, _ = room.imported(thread_trace(SYS_RELEASE="8.0.0"), *options)
        if not any(e["event"] == "posixtrace_switch_in" for e in events):
            sys.exit(f"{options}: no switches")
        same(room.imported(room.exported()[0])[0], events, f"{options}, again")
    # losses, and events that are not whole
    events, _ = room.imported(blocks([33, 36, 37]))
    back, _ = room.exported()
    same([b[0] for b in decode(back)[2]], [1, 4], "numbers with a gap")
    same(room.imported(back)[0][:30], events[:30], "before a gap")
    lost = [e for e in room.imported(back)[0] if e["event"] == "qnx:LOST"]
    same([e["data"][:8] for e in lost], ["02000000"], "the gap")
    w = Writer()
    w.buffer(0, 0, 1)
    w.combine(0, USER, 3, 50, b"not whole, this one", end=False)
    w.simple(0, USER, 4, 60)
    events, _ = room.imported(header(attributes()) + w.bytes())
    same(room.imported(room.exported()[0])[0], events, "not whole")


CASES = {name[5:]: f for name, f in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        CASES[sys.argv[1]](Room(sys.argv[2], folder, "kev"))
    print(f"{sys.argv[1]}: as it should be")
