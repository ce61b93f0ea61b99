#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Logs of known content, exported to the formats of viewers and read back by decoders that
share nothing with the writers.

usage: timeline.py perfetto|chrome POSIXTRACE BUILD_LOG TRACED
       timeline.py perfetto|chrome POSIXTRACE BUILD_LOG TRACED protoc|jq
                                                       by that program instead; 77: not there
"""

import decimal
import json
import random
import re
import shutil
import struct
import subprocess
import sys

from facts import Chrome, Hex, Perfetto, without_names_of_ends
from perfetto_schema import decode, proto_file, text
from scenarios import Log, T, Tools

FORM = sys.argv[1]
TOOLS = Tools(*sys.argv[2:5])
DECODER = {"perfetto": Perfetto, "chrome": Chrome}[FORM]
APP = [("process", 100, "app"), ("thread", 100, 100, "app")]


def read(log, *options, said=()):
    data, notes = TOOLS.exported(FORM, log, *options)
    assert len(notes) == len(said) and all(map(re.search, said, notes)), (said, notes)
    return DECODER(data)


def compare(found, expected):
    """expected is Perfetto's; Chrome has no track without a name."""
    if FORM == "chrome":
        expected = [f for f in expected if f[0] not in ("process", "thread") or f[-1]]
    found, expected = without_names_of_ends(found), without_names_of_ends(expected)
    for i, (f, e) in enumerate(zip(found + [None] * len(expected),
                                   expected + [None] * len(found))):
        if f is None and e is None:
            break
        assert repr(f) == repr(e), f"fact {i}: found {f}, expected {e}"


def check(log, expected, *options, said=()):
    result = read(log, *options, said=said)
    compare(result.facts, expected)
    return result


def at(kind, ns, name, category=None, args=None, pid=100, tid=100):
    return (kind, T + ns, pid, tid, name, category, args or {})


# ---- tracks ----

def test_tracks():
    log = Log()
    log.add(0, "a", pid=100, tid=101, thread="worker")
    log.add(1, "a", pid=100, tid=100, thread="app")
    log.add(1, "a", pid=100, tid=101, thread="worker")
    log.add(2, "a", pid=100, tid=101, thread="renamed")
    log.add(3, "a", pid=200, tid=201, thread="")
    log.add(4, "a", pid=200, tid=0, thread="")
    log.add(5, "a", pid=0, tid=0, thread="")
    log.add(6, "a", pid=0, tid=7, thread="seven")
    log.add(7, "a", pid=2147483647, tid=2147483647, thread="fifteen bytes..")
    check(log, [
        ("process", 100, ""), ("thread", 100, 101, "renamed"), at("instant", 0, "a", tid=101),
        ("process", 100, "app"), ("thread", 100, 100, "app"), at("instant", 1, "a"),
        at("instant", 1, "a", tid=101),
        at("instant", 2, "a", tid=101),
        ("process", 200, ""), ("thread", 200, 201, ""), at("instant", 3, "a", pid=200, tid=201),
        at("instant", 4, "a", pid=200, tid=0),
        ("track", 0, 0, "not of a thread" if FORM == "perfetto" else "not of a process"),
        at("instant", 5, "a", pid=0, tid=0),
        ("track", 0, 7, "seven"), at("instant", 6, "a", pid=0, tid=7),
        ("process", 2147483647, "fifteen bytes.."),
        ("thread", 2147483647, 2147483647, "fifteen bytes.."),
        at("instant", 7, "a", pid=2147483647, tid=2147483647)])


def test_nothing():
    result = check(Log(), [])
    assert result.first_ns == 0


def test_time():
    log = Log().add(0, "a").add(1, "a").add(999, "a").add(1000, "a").add(10**15 + 1, "a")
    expected = APP + [at("instant", ns, "a") for ns in (0, 1, 999, 1000, 10**15 + 1)]
    assert check(log, expected).first_ns == T
    if FORM == "chrome":
        assert check(log, expected, "--time=first").base == T
        assert check(log, expected, "--time=1970").base == 0
    log = Log().add(2**63 - 1 - T, "a")
    check(log, APP + [at("instant", 2**63 - 1 - T, "a")])


def test_before_1970():
    log = Log().add(-T - 5, "a").add(-T - 2, "x:begin").add(-T, "x:end").add(0, "a")
    if FORM == "chrome":
        check(log, APP + [("instant", -5, 100, 100, "a", None, {}),
                          ("begin", -2, 100, 100, "x", "x", {}),
                          ("end", 0, 100, 100, "x", "x", {}), at("instant", 0, "a")])
    else:
        check(log, APP + [("end", 0, 100, 100, "x", "x", {}), at("instant", 0, "a")],
              said=["an event at -5 ns is from before 1970", "an event at -2 ns",
                    "2 events could not be carried over"])


# ---- slices ----

def test_names_of_pairs():
    """Each separator and word; what only looks like one."""
    log, expected, ns = Log(), list(APP), 0
    for begin, end, label in (
            ("file:begin", "file:end", "file"), ("a_begin", "a_end", "a"),
            ("b.begin", "b.end", "b"), ("c-enter", "c-exit", "c"), ("d entry", "d exit", "d"),
            ("e/begin", "e/exit", "e"), ("x:y:enter", "x:y:end", "x:y")):
        category = begin.split(":")[0] if ":" in begin else None
        log.add(ns, begin).add(ns + 1, end)
        expected += [at("begin", ns, label, category), at("end", ns + 1, label)]
        ns += 2
    for name in ("begin", ":begin", "_end", "xbegin", "x.beginning", "x:Begin", "x:start",
                 "x:stop", "end"):
        log.add(ns, name)
        category = name.split(":")[0] if ":" in name[1:] else None
        expected.append(at("instant", ns, name, category))
        ns += 1
    check(log, expected)


def test_no_names():
    log = Log().add(0, "x:begin").add(1, "go").add(2, "x:end").add(3, "stop")
    check(log, APP + [at("instant", 0, "x:begin", "x"), at("begin", 1, "run"),
                      at("instant", 2, "x:end", "x"), at("end", 3, "run")],
          "--pairs=no", "--pair=go,stop,run")
    check(log, APP + [at("begin", 0, "x", "x"), at("instant", 1, "go"), at("end", 2, "x"),
                      at("instant", 3, "stop")], "--pairs=yes")


def test_given_pairs():
    """One event may end a slice and begin the next; a pair given goes before the name."""
    log = Log().add(0, "idle").add(1, "busy").add(2, "idle").add(3, "busy")
    check(log, APP + [at("begin", 0, "idle"), at("end", 1, "idle"), at("begin", 1, "busy"),
                      at("end", 2, "busy"), at("begin", 2, "idle"), at("end", 3, "idle"),
                      at("begin", 3, "busy")],
          "--pair=idle,busy", "--pair=busy,idle")
    log = Log().add(0, "x:begin").add(1, "x:end").add(2, "done")
    check(log, APP + [at("begin", 0, "all", "x"), at("instant", 1, "x:end", "x"),
                      at("end", 2, "all")], "--pair=x:begin,done,all")


def test_data_of_ends():
    log = Log().describe("x:begin", "u32 n").describe("x:end", "u32 n; i32 error")
    log.add(0, "x:begin", struct.pack("<I", 5)).add(1, "x:end", struct.pack("<Ii", 6, -7))
    check(log, APP + [at("begin", 0, "x", "x", {"n": 5}),
                      at("end", 1, "x", "x", {"end": {"n": 6, "error": -7}})])


def test_crossing():
    log = Log()
    for ns, name in enumerate(("a:begin", "b:begin", "c:begin", "a:end", "c:end", "b:end",
                               "b:end")):
        log.add(ns, name)
    again = {"continued": True}
    check(log, APP + [
        at("begin", 0, "a", "a"), at("begin", 1, "b", "b"), at("begin", 2, "c", "c"),
        at("end", 3, "c"), at("end", 3, "b"), at("end", 3, "a"),
        at("begin", 3, "b", None, again), at("begin", 3, "c", None, again),
        at("end", 4, "c"), at("end", 5, "b"), at("instant", 6, "b:end", "b")],
          said=["thread 100 ends a slice while one that began later is open"])


def test_cuts():
    """Where events are missing, slices end that may have ended unseen."""
    log, mark = Log(), {"pid": 0, "tid": 0, "thread": ""}
    log.add(0, "a:begin").add(1, "b:begin").add(2, "posix_trace_overflow", **mark)
    log.add(3, "c:begin").add(4, "posix_trace_resume", **mark).add(5, "b:end").add(6, "d:begin")
    log.add(7, "posix_trace_stop", **mark).add(9, "posix_trace_start", **mark)
    log.add(10, "d:end").add(11, "e:begin").add(12, "posix_trace_stop", **mark)
    lost, stopped = ({"cut": "events were lost"}, {"cut": "recording was stopped"})
    if FORM == "perfetto":
        lost = stopped = {"cut": True}
    none = ("track", 0, 0, "not of a thread" if FORM == "perfetto" else "not of a process")
    check(log, APP + [
        at("begin", 0, "a", "a"), at("begin", 1, "b", "b"),
        at("end", 2, "b", None, lost), at("end", 2, "a", None, lost), none,
        at("instant", 2, "posix_trace_overflow", pid=0, tid=0), at("begin", 3, "c", "c"),
        at("end", 4, "c", None, lost), at("instant", 4, "posix_trace_resume", pid=0, tid=0),
        at("instant", 5, "b:end", "b"), at("begin", 6, "d", "d"),
        at("instant", 7, "posix_trace_stop", pid=0, tid=0), at("end", 7, "d", None, stopped),
        at("instant", 9, "posix_trace_start", pid=0, tid=0), at("instant", 10, "d:end", "d"),
        at("begin", 11, "e", "e"), at("instant", 12, "posix_trace_stop", pid=0, tid=0)],
          said=["events were lost in 1 place"])


def test_recursion_and_threads():
    log, expected = Log(), list(APP)
    for depth in range(3):
        log.add(depth, "f:begin")
        expected.append(at("begin", depth, "f", "f"))
    log.add(3, "f:end", tid=101, thread="other")
    expected += [("thread", 100, 101, "other"), at("instant", 3, "f:end", "f", tid=101)]
    for ns in range(4, 7):
        log.add(ns, "f:end")
        expected.append(at("end", ns, "f"))
    log.add(7, "f:end")
    check(log, expected + [at("instant", 7, "f:end", "f")])


def test_number_again():
    """A thread that ends with slices open, and the next one with its number."""
    log = Log().thread_id(4096)
    log.add(0, "a:begin")
    log.add(1, "b:begin")
    log.add(2, "posixtrace_switch_in", struct.pack("<I", 0))   # says nothing of a pthread_t
    log.thread_id(8192).add(3, "b:end", thread="next")
    log.add(4, "b:begin", thread="next")
    log.add(5, "posixtrace_thread_end", struct.pack("<Q", 100), thread="next")
    log.add(6, "b:end", thread="next")
    facts = [f for f in read(log).facts if f[0] in ("begin", "end", "instant")]
    compare(facts, [
        at("begin", 0, "a", "a"), at("begin", 1, "b", "b"), at("end", 3, "b"), at("end", 3, "a"),
        at("instant", 3, "b:end", "b"), at("begin", 4, "b", "b"), at("end", 5, "b"),
        facts[-2], at("instant", 6, "b:end", "b")])


def test_deep():
    log, expected = Log(), list(APP)
    for ns in range(70):
        log.add(ns, "f:begin")
        expected.append(at("begin", ns, "f", "f") if ns < 64 else at("instant", ns, "f:begin", "f"))
    for ns in range(70, 140):
        log.add(ns, "f:end")
        expected.append(at("instant", ns, "f:end", "f") if ns < 76 else at("end", ns, "f"))
    check(log, expected, said=["thread 100 has more than 64 slices open at once"])


def test_calls():
    """The calls of system-events.md; the condition's mutex is no slice of its own."""
    log, expected, ns = Log(), list(APP), 0
    for begin, end, label in (
            ("mutex_lock", "mutex_locked", "mutex_lock"), ("sem_wait", "sem_taken", "sem_wait"),
            ("rwlock_lock", "rwlock_locked", "rwlock_lock"),
            ("barrier_wait", "barrier_passed", "barrier_wait")):
        log.add(ns, "posixtrace_" + begin, struct.pack("<Q", 0x7f01))
        log.add(ns + 1, "posixtrace_" + end, struct.pack("<Qq", 0x7f01, 16))
        expected += [at("begin", ns, label, None, {"object": Hex(0x7f01)}),
                     at("end", ns + 1, label, None,
                        {"end": {"object": Hex(0x7f01), "error": 16}})]
        ns += 2
    mutex = {"object": Hex(9)}
    log.add(10, "posixtrace_thread_begin", struct.pack("<Q", 1))
    log.add(20, "posixtrace_cond_wait", struct.pack("<Q", 8))
    log.add(21, "posixtrace_mutex_unlock", struct.pack("<Q", 9))
    log.add(22, "posixtrace_mutex_locked", struct.pack("<Qq", 9, 0))
    log.add(23, "posixtrace_cond_woken", struct.pack("<Qq", 8, 0))
    log.add(30, "posixtrace_sleep", struct.pack("<Qq", 0, T))
    log.add(31, "posixtrace_thread_end", struct.pack("<Q", 1))
    log.add(32, "posixtrace_sleep_done", struct.pack("<Qq", 0, T))
    expected += [
        at("begin", 10, "thread", None, {"thread": Hex(1)}),
        at("begin", 20, "cond_wait", None, {"object": Hex(8)}),
        at("instant", 21, "posixtrace_mutex_unlock", None, mutex),
        at("instant", 22, "posixtrace_mutex_locked", None, {**mutex, "error": 0}),
        at("end", 23, "cond_wait", None, {"end": {"object": Hex(8), "error": 0}}),
        at("begin", 30, "sleep", None, {"zero": 0, "due": T}),
        # a thread that ends in a call is not in it any more
        at("end", 31, "sleep"), at("end", 31, "thread", None, {"end": {"thread": Hex(1)}}),
        at("instant", 32, "posixtrace_sleep_done", None, {"zero": 0, "due": T})]
    check(log, expected)


def test_whole_calls():
    """A long call is a slice of its duration, a call that has not returned one until its event,
    unless its beginning was one; what began before the log begins with it."""
    def long_call(call_type, call, duration, *more):
        return struct.pack("<IIQqqQ", call_type, call, 7, 0, duration, 8)

    def waiting(call_type, call, duration):
        return struct.pack("<IIQqQ", call_type, call, 7, duration, 8)

    none = 2**32 - 1
    log = Log().add(0, "a")
    log.add(50, "posixtrace_long_call", long_call(42, 0, 40))
    log.add(60, "posixtrace_long_call", long_call(20, none, 1000))
    log.add(70, "posixtrace_long_call", long_call(21, none, 5))      # is no call
    log.add(71, "posixtrace_long_call", long_call(20, none, -1))
    log.add(72, "posixtrace_long_call", b"\1")
    log.add(90, "posixtrace_waiting", waiting(50, none, 10), tid=101, thread="b")
    log.add(91, "posixtrace_mutex_lock", struct.pack("<QQ", 7, 8))
    log.add(95, "posixtrace_waiting", waiting(20, none, 4))
    found = [f for f in read(log).facts if len(f) == 7 and f[0] != "end"]
    shown = sorted((f[1] - T, f[3], f[0], f[4]) for f in found)
    assert shown == [
        (0, 100, "begin", "mutex_lock"), (0, 100, "instant", "a"), (10, 100, "begin", "io"),
        (70, 100, "instant", "posixtrace_long_call"), (71, 100, "instant", "posixtrace_long_call"),
        (72, 100, "instant", "posixtrace_long_call"), (80, 101, "begin", "thread_join"),
        (91, 100, "begin", "mutex_lock"), (95, 100, "instant", "posixtrace_waiting")], shown
    (io,) = [f for f in found if f[4] == "io"]
    assert io[6]["type"] == "io" and io[6]["call"] == "read" and io[6]["duration"] == 40, io


# ---- stacks ----

STACKS = 2**31


def stack(*addresses):
    return struct.pack(f"<H{len(addresses)}Q", len(addresses), *addresses)


def stack_slices(log, *options):
    """Those on the tracks of stacks: lists of names from the outermost in, each with thread, begin
    and length.  They nest as a viewer sees them: by begin, then by length, then as they come."""
    data, _ = TOOLS.exported(FORM, log, "--stacks=slices", *options)
    events = [e for e in json.loads(data, parse_float=decimal.Decimal)["traceEvents"]
              if e["tid"] >= STACKS and e["ph"] != "M"]
    found, open_slices = [], {}
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        assert set(e) == {"ph", "pid", "tid", "ts", "dur", "name"} and e["ph"] == "X", e
        begin, end = int(e["ts"].scaleb(3)), int((e["ts"] + e["dur"]).scaleb(3))
        within = open_slices.setdefault(e["tid"], [])
        while within and within[-1][1] <= begin and within[-1][:2] != (begin, end):
            within.pop()
        assert not within or within[-1][0] <= begin <= end <= within[-1][1], (e, within)
        same = [w for w in within if w[:2] == (begin, end)]
        if not same:
            found.append((e["tid"] - STACKS, begin, end - begin, []))
        within.append((begin, end, found[-1] if not same else same[0][2]))
        within[-1][2][3].append(e["name"])
    return found


def test_stacks():
    """The stack after a call is the call's, whose time is whole; others are none's."""
    if FORM != "chrome":
        return
    call = struct.pack("<QQ", 7, 8)
    log = Log().add(0, "a")
    log.add(10, "posixtrace_mutex_lock", call).add(25, "posixtrace_mutex_locked", call)
    log.add(26, "posixtrace_stack", stack(1, 2, 3))
    log.add(30, "posixtrace_stack", stack(4))           # again, of nothing
    log.add(40, "a").add(41, "posixtrace_stack", stack(1))
    log.add(50, "posixtrace_long_call", struct.pack("<IIQqqQ", 20, 2**32 - 1, 7, 0, 9, 8))
    log.add(51, "posixtrace_stack", stack(5, 2))
    log.add(60, "posixtrace_sem_wait", call).add(61, "posix_trace_overflow", pid=0, tid=0)
    log.add(62, "posix_trace_resume", pid=0, tid=0).add(63, "posixtrace_sem_taken", call)
    log.add(64, "posixtrace_stack", stack(1))
    log.add(70, "posixtrace_mutex_lock", call).add(71, "posixtrace_mutex_locked", call)
    log.add(72, "posixtrace_stack", stack(*range(1, 500)))
    for ns, data in enumerate((b"", b"\1", stack(), stack(1)[:-1], b"\xff\xff" + bytes(80))):
        log.add(80 + 9 * ns, "posixtrace_mutex_lock", call)
        log.add(81 + 9 * ns, "posixtrace_mutex_locked", call)
        log.add(82 + 9 * ns, "posixtrace_stack", data)
    names = [[f"0x{i:x}" for i in s] for s in ((3, 2, 1), (2, 5), range(64, 0, -1))]
    expected = [(100, 10, 15, names[0] + ["mutex_lock"]),
                (100, 41, 9, names[1] + ["mutex_lock"]), (100, 70, 1, names[2] + ["mutex_lock"])]
    assert stack_slices(log) == expected, stack_slices(log)
    assert stack_slices(log, "--time=1970") == [(t, T + b, d, n) for t, b, d, n in expected]
    plain = read(log, said=["events were lost in 1 place"])
    assert not any(f[0] == "begin" and f[3] >= STACKS for f in plain.facts)
    named = [f for f in DECODER(TOOLS.exported(FORM, log, "--stacks=slices")[0]).facts
             if f[0] == "thread" and f[2] >= STACKS]
    assert named == [("thread", 100, STACKS + 100, "stacks of app/100")], named


def test_stacks_random():
    """Calls within calls, of three threads."""
    if FORM != "chrome":
        return
    rng = random.Random(16)
    log, expected, clock = Log().add(0, "a"), [], 0

    def call(tid, depth):
        nonlocal clock
        clock += rng.randrange(1, 10**rng.randrange(1, 7))
        begin, place = clock, len(expected)
        kind = rng.choice((("mutex_lock", "mutex_locked"), ("sem_wait", "sem_taken"),
                           ("io", "io_done")))
        log.add(clock, "posixtrace_" + kind[0], b"\0" * 16, tid=tid)
        while depth < 4 and rng.random() < 0.3:
            call(tid, depth + 1)
        clock += rng.randrange(1, 1000)
        log.add(clock, "posixtrace_" + kind[1], b"\0" * 16, tid=tid)
        if rng.random() < 0.8:
            frames = [rng.randrange(1, 5) for _ in range(rng.randrange(1, 6))]
            expected.insert(place, (tid, begin, clock - begin,
                                    [hex(f) for f in reversed(frames)] + [kind[0]]))
            log.add(clock + 1, "posixtrace_stack", stack(*frames), tid=tid)
            clock += 1

    for _ in range(300):
        call(rng.choice((100, 101, 102)), 0)
    assert stack_slices(log) == expected


def test_starts():
    """What a start or a filter ignores is said by name, not as the bytes of a set."""
    log = Log()
    empty = struct.pack("=Q", 0x70784574657331).ljust(160, b"\0")
    log.add(0, "posix_trace_start", empty)
    log.add(1, "posix_trace_start", (empty[:8] + b"\xff" * 128).ljust(160, b"\0"))
    log.add(2, "posix_trace_filter", empty * 2)
    log.add(3, "posix_trace_start", b"no set")
    log.add(4, "order")
    found = [f[6] for f in read(log).facts if f[0] == "instant" and f[4] != "order"]
    every = found[1].get("ignores", "").split(", ")
    assert {"order", "posix_trace_start"} <= set(every), found[1]
    assert found == [{"ignores": "nothing"}, {"ignores": ", ".join(every)},
                     {"ignores": "nothing"}, {"data": b"no set".hex()}], found


# ---- fields ----

KINDS = ("u8 a; u16 b; u32 c; u64 d; i8 e; i16 f; i32 g; i64 h; x32 i; x64 j; f32 k; f64 l; "
         "bool m; char n; u8 o {buy, sell=7}; u16[3] p; char[4] q; str r; str:u8 s; bytes[2] t; "
         "bytes:u16 u; u8:u8 v; f64[2] w; i8 x {low=-1}; bytes rest")


def kinds(order):
    data = struct.pack(order + "BHIQbhiqIQfd?cB3H4s", 1, 2, 3, 2**64 - 1, -1, -2, -3, -2**63,
                       0xdead, 2**63, 0.1, -1e300, True, b"z", 7, 7, 8, 9, b"ab\0\0")
    data += b"grun\xc3\xbc\0" + b"\x03\x22\x5c\n" + b"\x00\xff"
    data += struct.pack(order + "H", 3) + b"\x01\x02\x03" + b"\x02\x05\x06"
    data += struct.pack(order + "dd", 0.5, -3) + b"\xff" + b"\xab\xcd"
    return data


KIND_VALUES = {
    "a": 1, "b": 2, "c": 3, "d": 2**64 - 1, "e": -1, "f": -2, "g": -3, "h": -2**63,
    "i": Hex(0xdead), "j": Hex(2**63), "k": struct.unpack("<f", struct.pack("<f", 0.1))[0],
    "l": -1e300, "m": True, "n": "z", "o": "sell", "p": [7, 8, 9], "q": "ab", "r": "grunü",
    "s": '"\\\n', "t": "00ff", "u": "010203", "v": [5, 6], "w": [0.5, -3.0], "x": "low",
    "rest": "abcd"}


def test_kinds():
    for mark, order in (("", "<"), ("be; ", ">")):
        log = Log().describe("k", mark + KINDS).add(0, "k", kinds(order))
        values = dict(KIND_VALUES)
        if FORM == "chrome":
            # a float is what its shortest decimal form says, a number without fraction an integer
            values.update(k=0.1, w=[0.5, -3])
        check(log, APP + [at("instant", 0, "k", None, values)])


def test_floats():
    numbers = [0.0, 1.5, 0.1, 1 / 3, 1e-7, 123456.000001, 2.0**60, 1e22, 5e-324, 1.7e308,
               0.3 + 1e-17, 9007199254740993.0, -0.25, 99.999999, 1e15 + 0.3]
    log = Log().describe("f", "f64 v").describe("g", "f32 v")
    expected = list(APP)
    for ns, v in enumerate(numbers):
        log.add(ns, "f", struct.pack("<d", v))
        expected.append(at("instant", ns, "f", None, {"v": v}))
    found = read(log).facts
    assert [f[-1].get("v") for f in found[2:]] == numbers, found
    log = Log().describe("f", "f64 v")
    for ns, v in enumerate((float("inf"), float("-inf"), float("nan"))):
        log.add(ns, "f", struct.pack("<d", v))
    check(log, APP + [at("instant", ns, "f", None, {"v": v})
                      for ns, v in enumerate(("inf", "-inf", "nan"))])


def test_data_that_does_not_fit():
    log = Log().describe("k", "u32 n; str s")
    log.add(0, "k", b"\x01\x02").add(1, "k", b"\1\0\0\0ab\0more").add(2, "k", trunc=1)
    log.add(3, "plain", b"\x00\xff\x10").add(4, "plain").add(5, "plain", b"\x01", trunc=1)
    log.add(6, "k", b"\1\0\0\0\0", trunc=1).add(7, "plain", trunc=1)
    log.add(8, "x:begin", b"\x07").add(9, "x:end", b"\x08", trunc=1)
    misfit, cut = {"misfit": True}, {"truncated": True}
    check(log, APP + [
        at("instant", 0, "k", None, {"data": "0102", **misfit}),
        at("instant", 1, "k", None, {"data": "010000006162006d6f7265", **misfit}),
        at("instant", 2, "k", None, {"data": "", **misfit, **cut}),
        at("instant", 3, "plain", None, {"data": "00ff10"}), at("instant", 4, "plain"),
        at("instant", 5, "plain", None, {"data": "01", **cut}),
        at("instant", 6, "k", None, {"n": 1, "s": "", **cut}),
        at("instant", 7, "plain", None, cut),
        at("begin", 8, "x", "x", {"data": "07"}),
        at("end", 9, "x", "x", {"end": {"data": "08", **cut}})])


def test_any_bytes():
    """Names, strings and threads have any bytes; those that are not UTF-8 stay distinct."""
    every = bytes(range(1, 256))
    clean = "".join(map(chr, range(1, 256)))
    good = "grün 日本 😀 \u00ff"
    torn = b"\xc3(\xe2\x82\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80\xff"
    log = Log().describe("s", "str s").add(0, every[:200], thread="ab\x01\"\\")
    log.add(1, good, thread="ab\x01\"\\").add(2, torn, thread="ab\x01\"\\")
    log.add(3, "s", every + b"\0", thread="ab\x01\"\\")
    log.add(4, torn + b":begin", tid=101, thread=b"\xff\xfe")
    name = 'ab\x01"\\'
    text = torn.decode("latin-1")
    check(log, [("process", 100, name), ("thread", 100, 100, name),
                at("instant", 0, clean[:200], clean[:57]), at("instant", 1, good),
                at("instant", 2, text), at("instant", 3, "s", None, {"s": clean}),
                ("thread", 100, 101, "ÿþ"), at("begin", 4, text, text, tid=101)])


def test_long_data():
    size = 61440
    log = Log().describe("a", "u8:u32 v").describe("s", "str:u32 v")
    log.describe("e", "u8:u32 v {%s}" % ", ".join(f"{'n' * 60}{i}" for i in range(10)))
    log.add(0, "raw", bytes(size)).add(1, "raw", b"\xff" * 64).add(2, "raw", b"\x01" * 63)
    body = struct.pack("<I", size - 4)
    log.add(3, "a", body + b"\xc8" * (size - 4)).add(4, "s", body + b"\xff" * (size - 4))
    log.add(5, "e", body + bytes(i % 10 for i in range(size - 4)))
    names = ["n" * 60 + str(i % 10) for i in range(size - 4)]
    check(log, APP + [
        at("instant", 0, "raw", None, {"data": "00" * size}),
        at("instant", 1, "raw", None, {"data": "ff" * 64}),
        at("instant", 2, "raw", None, {"data": "01" * 63}),
        at("instant", 3, "a", None, {"v": [200] * (size - 4)}),
        at("instant", 4, "s", None, {"v": "ÿ" * (size - 4)}),
        at("instant", 5, "e", None, {"v": names})])


# ---- counters and flows ----

def test_counters():
    log = Log().describe("q.len", "u32 len; i8 d; f64 f; u64 big; str s; u8[2] two")
    rows = ((5, -1, 0.5, 2**53 + 1, 1), (7, -128, float("nan"), 2**64 - 1, 2))
    expected, said = list(APP), ["option counter=q.len.two: no event", "counter=q.len.s: no event",
                                 "counter=none.x: no event"]
    for ns, (n, d, f, big, who) in enumerate(rows):
        log.add(ns, "q.len", struct.pack("<IbdQ", n, d, f, big) + b"s\0ab", tid=100,
                pid=100 * who)
    log.add(2, "q.len", b"short")
    result = read(log, *(f"--counter={name}" for name in (
        "q.len.len", "q.len.d", "q.len.f", "q.len.big", "q.len.two", "q.len.s", "none.x")),
        said=said)
    counters = [f for f in result.facts if f[0] == "counter"]
    nan = [("counter", T + 1, 200, "q.len.f", "nan")] if FORM == "perfetto" else []
    most = float(2**64 - 1) if FORM == "perfetto" else 2**64 - 1
    expected = [
        ("counter", T, 100, "q.len.len", 5), ("counter", T, 100, "q.len.d", -1),
        ("counter", T, 100, "q.len.f", 0.5), ("counter", T, 100, "q.len.big", 2**53 + 1),
        ("counter", T + 1, 200, "q.len.len", 7), ("counter", T + 1, 200, "q.len.d", -128), *nan,
        ("counter", T + 1, 200, "q.len.big", most)]
    assert counters == expected, counters
    # the events are there all the same
    assert [f[0] for f in result.facts].count("instant") == 3


def test_counter_of_slices():
    log = Log().describe("x:begin", "u32 n").add(0, "x:begin", b"\1\0\0\0").add(1, "x:end")
    check(log, APP + [at("begin", 0, "x", "x", {"n": 1}), ("counter", T, 100, "x:begin.n", 1),
                      at("end", 1, "x")], "--counter=x:begin.n")


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return h


def test_flows():
    log = Log().describe("send", "u64 id").describe("work:begin", "u32 order")
    log.describe("work:end", "u32 order").describe("got", "i64 id; str s; f64 no")
    log.add(0, "send", struct.pack("<Q", 77))
    log.add(1, "work:begin", struct.pack("<I", 77), tid=101, thread="w")
    log.add(2, "work:end", struct.pack("<I", 77), tid=101, thread="w")
    log.add(3, "got", struct.pack("<q", -1) + b"abc\0" + bytes(8), tid=101, thread="w")
    log.add(4, "got", struct.pack("<q", 77) + b"abc\0" + bytes(8))
    log.add(5, "got", struct.pack("<q", 77) + b"\0" + bytes(8))
    w = {"tid": 101}
    first = {"id": -1, "s": "abc", "no": 0.0 if FORM == "perfetto" else 0}
    args = [first, {**first, "id": 77}, {**first, "id": 77, "s": ""}]
    # the end of what has not begun is no arrow: Perfetto's reader finds out, Chrome's not
    unknown = lambda ns, tid, i: [("flow", T + ns, 100, tid, i, True)] * (FORM == "perfetto")
    result = check(log, APP + [
        at("instant", 0, "send", None, {"id": 77}), ("flow", T, 100, 100, 77, False),
        ("thread", 100, 101, "w"),
        at("begin", 1, "work", "work", {"order": 77}, **w), ("flow", T + 1, 100, 101, 77, False),
        ("flow", T + 2, 100, 101, 77, False), at("end", 2, "work", "work",
                                                 {"end": {"order": 77}}, **w),
        at("instant", 3, "got", None, args[0], **w),
        ("flow", T + 3, 100, 101, fnv(b"abc"), False), *unknown(3, 101, 2**64 - 1),
        at("instant", 4, "got", None, args[1]),
        ("flow", T + 4, 100, 100, fnv(b"abc"), False), ("flow", T + 4, 100, 100, 77, True),
        at("instant", 5, "got", None, args[2]),
        ("flow", T + 5, 100, 100, fnv(b""), False), *unknown(5, 100, 77),
    ], "--flow=send.id", "--flow=work:begin.order", "--flow=work:end.order", "--flow-end=got.id",
        "--flow=got.s", "--flow=got.no", said=["option flow=got.no: no event"])
    if FORM == "chrome":
        assert [p for p in result.phases if p in "stf"] == list("sttstfs"), result.phases


# ---- processors ----

def switches():
    log, u32 = Log(), lambda n: struct.pack("<I", n)
    for ns, what, cpu, tid in (
            (0, "out", 2, 101),             # ran there before the trace began
            (1, "in", 0, 100), (2, "out", 0, 100), (3, "in", 0, 101),
            (4, "preempted", 0, 101), (5, "in", 0, 100),
            (6, "in", 1, 100),              # its leaving 0 is missing
            (7, "in", 1, 101),              # and so is 100's leaving 1
            (8, "preempted", 0, 102),       # and 102's coming to 0
            (9, "in", 1, 101),              # and 101's leaving 1
            (10, "in", 1024, 102), (11, "in", 3, 102)):
        log.add(ns, f"posixtrace_switch_{what}", u32(cpu), tid=tid, thread=f"t{tid}")
    log.add(12, "posixtrace_switch_out", b"\x01", tid=102, thread="t102")
    log.add(20, "a", tid=102, thread="t102")
    return log


def test_switches():
    facts = [f for f in read(switches()).facts if f[0] not in ("process", "thread")]
    rest = [at("instant", 10, "posixtrace_switch_in", None, {"cpu": 1024}, tid=102),
            at("instant", 12, "posixtrace_switch_out", None, {"data": "01", "misfit": True},
               tid=102), at("instant", 20, "a", tid=102)]
    if FORM == "perfetto":
        expected = [
            (0, 2, 101, True, 0), (1, 0, 0, False, 100), (2, 0, 100, True, 0),
            (3, 0, 0, False, 101), (4, 0, 101, False, 0), (5, 0, 0, False, 100),
            (6, 0, 100, True, 0), (6, 1, 0, False, 100), (7, 1, 100, False, 101),
            (8, 0, 0, False, 102), (8, 0, 102, False, 0),
            (9, 1, 101, True, 0), (9, 1, 0, False, 101), (11, 3, 0, False, 102)]
        found = [(f[1] - T, *f[2:]) for f in facts if f[0] == "switch"]
    else:
        expected = [
            (0, 2, 101, 0, "waits"), (1, 0, 100, 2, "waits"), (3, 0, 101, 4, "preempted"),
            (5, 0, 100, 6, "waits"), (6, 1, 100, 7, "preempted"), (8, 0, 102, 8, "preempted"),
            (7, 1, 101, 9, "waits"), (9, 1, 101, 20, "runs on"), (11, 3, 102, 20, "runs on")]
        found = [(f[1] - T, *f[2:4], f[4] - T, f[5]) for f in facts if f[0] == "ran"]
    assert found == expected, found
    compare([f for f in facts if f[0] == "instant"], rest)
    if FORM == "perfetto":
        consistent(facts)


def test_thread_ends():
    """After its end, a thread is shown to run up to its last switch or event, and no longer."""
    log, u64 = Log(), lambda n: struct.pack("<Q", n)

    def switch(ns, what, cpu, tid):
        log.add(ns, f"posixtrace_switch_{what}", struct.pack("<I", cpu), tid=tid, thread=f"t{tid}")

    def thread(ns, what, tid):
        log.add(ns, f"posixtrace_thread_{what}", u64(tid), tid=tid, thread=f"t{tid}")

    switch(0, "in", 0, 101)
    thread(2, "begin", 101)
    thread(10, "end", 101)           # and no switch after that
    switch(11, "in", 1, 102)
    thread(20, "end", 102)
    log.add(21, "destructor", tid=102, thread="t102")
    switch(22, "preempted", 1, 102)
    switch(23, "in", 2, 102)
    switch(24, "out", 2, 102)
    switch(25, "in", 1, 102)         # it exits
    switch(30, "in", 3, 103)
    switch(31, "out", 3, 103)
    thread(40, "end", 103)           # on no processor that is known
    thread(50, "begin", 101)         # another thread with the same number
    switch(51, "in", 0, 101)
    switch(60, "out", 0, 101)
    switch(70, "in", 4, 104)
    thread(71, "end", 104)
    switch(80, "in", 4, 101)         # 104's leaving 4 is missing
    switch(85, "out", 4, 101)
    switch(90, "out", 4, 104)
    switch(91, "in", 4, 104)
    switch(92, "in", 5, 104)         # its leaving 4 is missing
    log.add(1000, "a", tid=100)
    facts = read(log).facts
    if FORM == "perfetto":
        expected = [(0, 0, 0, False, 101), (10, 0, 101, "ends", 0), (11, 1, 0, False, 102),
                    (20, 1, 102, "ends", 0), (20, 1, 0, True, 102), (21, 1, 102, "ends", 0),
                    (21, 1, 0, True, 102), (22, 1, 102, False, 0), (23, 2, 0, True, 102),
                    (24, 2, 102, "ends", 0), (30, 3, 0, False, 103), (31, 3, 103, True, 0),
                    (51, 0, 0, False, 101), (60, 0, 101, True, 0), (70, 4, 0, False, 104),
                    (71, 4, 104, "ends", 0), (80, 4, 0, False, 101), (85, 4, 101, True, 0),
                    (91, 4, 0, True, 104), (92, 4, 104, "ends", 0)]
        found = [(f[1] - T, *f[2:]) for f in facts if f[0] == "switch"]
    else:
        expected = [(0, 0, 101, 10, "ends"), (11, 1, 102, 20, "ends"), (20, 1, 102, 21, "ends"),
                    (21, 1, 102, 22, "preempted"), (23, 2, 102, 24, "ends"),
                    (30, 3, 103, 31, "waits"), (51, 0, 101, 60, "waits"), (70, 4, 104, 71, "ends"),
                    (80, 4, 101, 85, "waits"), (91, 4, 104, 92, "ends")]
        found = [(f[1] - T, *f[2:4], f[4] - T, f[5]) for f in facts if f[0] == "ran"]
    assert found == expected, found
    if FORM == "perfetto":
        consistent(facts)


def consistent(facts):
    """The thread that leaves a processor is the one that came; none is on two at the same time."""
    on = {}
    for _, _, cpu, before, _, after in (f for f in facts if f[0] == "switch"):
        assert on.get(cpu, before) == before != after, (cpu, on, before)
        on[cpu] = after
        running = [tid for tid in on.values() if tid]
        assert len(set(running)) == len(running), on


# ---- loss, size, bad input ----

def test_lost():
    path = TOOLS.folder / "full.ptl"
    subprocess.run([TOOLS.traced, path, "full", "events", "5000"], check=True)
    data, notes = TOOLS.exported(FORM, path)
    (said,) = notes
    total = int(re.search(r"(\d+) events lost", said)[1])
    result = DECODER(data)
    assert result.lost == total > 0
    lost = [f for f in result.facts if f[0] == "instant" and f[4] == "events lost"]
    # those of the thread; all, with the STOP of the end, which is of no thread
    own = lost[0][6]["log full"]
    assert [f[6] for f in lost] == [{"log full": own}, {"log full": total}], lost
    assert own <= total <= own + 1
    assert lost[0][2] == lost[0][3] > 0 and lost[1][2:4] == (0, 0)
    ticks = [f for f in result.facts if f[0] == "instant" and f[4] == "tick"]
    assert len(ticks) + own == 5000
    through_pipe(path, data)


def through_pipe(path, data):
    """A log that cannot be looked at twice gives the same."""
    done = subprocess.run([TOOLS.posixtrace, "export", f"--to={FORM}", "-", "-"],
                          input=path.read_bytes(), capture_output=True, check=True)
    assert done.stdout == data


def test_pipe():
    log = Log().describe("k", KINDS).many(5000, 3, 0, "k", kinds("<")).add(20000, "x:begin")
    through_pipe(TOOLS.build(log), TOOLS.exported(FORM, log)[0])


def test_many_threads():
    """More threads than are remembered: none is lost, descriptions come again, except for those
    that are always remembered; and a thread that came to a processor leaves it, also when it was
    forgotten."""
    log, count, steady, cpus = Log(), 3900, 100, 1000
    numbers = random.Random(4711).sample(range(1, 2**31), count + steady + 1)
    def add(name, i, data=b""):
        log.add(len(log.lines), name, data, pid=numbers[i], tid=numbers[i], thread=f"t{i}")
    for cpu in range(cpus):
        add("posixtrace_switch_in", cpu + 1, struct.pack("<I", cpu))
    for tid in list(range(1, count + 1)) * 2:
        add("a", tid)
        add("a", count + 1 + tid % steady)
    for cpu in range(cpus):
        add("posixtrace_switch_out", cpu + 1, struct.pack("<I", cpu))
    facts = read(log).facts
    named = [numbers.index(f[2]) for f in facts if f[0] == "thread"]
    assert set(named) == set(range(1, count + steady + 1))
    assert all(f[3] == f"t{numbers.index(f[2])}" for f in facts if f[0] == "thread")
    assert len(named) > len(set(named)), "all were remembered"
    assert all(named.count(tid) == 1 for tid in range(count + 1, count + steady + 1))
    assert sum(f[0] == "instant" for f in facts) == 4 * count
    if FORM == "perfetto":
        consistent(facts)
        assert sum(f[0] == "switch" for f in facts) == 2 * cpus
    else:
        assert all(f[5] == "waits" for f in facts if f[0] == "ran")
        assert sum(f[0] == "ran" for f in facts) == cpus


def test_bad_options():
    for option, text in (
            ("--pair=a", "say BEGIN,END or BEGIN,END,LABEL"), ("--pair=a,", "say BEGIN,END"),
            ("--pair=,b", "say BEGIN,END"), ("--pair=a,a", "two different events"),
            ("--pair=a,b,", "say BEGIN,END"), ("--pair=a,b,c,d", "say BEGIN,END"),
            ("--pairs=maybe", "say yes or no"), ("--counter=a", "say EVENT.FIELD"),
            ("--counter=.a", "say EVENT.FIELD"), ("--flow=a.", "say EVENT.FIELD"),
            ("--flow-end=", "say EVENT.FIELD"),
            *([("--time=now", "say first or 1970"),
               ("--stacks=all", "say frames or slices")] if FORM == "chrome" else [])):
        done = TOOLS.export(FORM, Log().add(0, "a"), option)
        assert done.returncode != 0 and text in done.stderr.decode(), (option, done.stderr)
    done = TOOLS.export(FORM, Log().add(0, "a"), *["--pair=a,b"] * 65)
    assert done.returncode != 0 and b"more than 64" in done.stderr, done.stderr
    read(Log().add(0, "a"), "--pair=x,y", "--flow=a.b", "--flow-end=z.b",
         said=["option pair=x,y: no event", "flow=a.b: no event", "flow-end=z.b: no event"])


def test_more_flows_than_remembered():
    """Chrome's arrows need a memory, and it has an end; each event is there."""
    log, count = Log().describe("f", "u64 id"), 40000
    for i in list(range(count)) + [count - 1]:
        log.add(len(log.lines), "f", struct.pack("<Q", i * 0x10001))
    data, notes = TOOLS.exported(FORM, log, "--flow=f.id")
    facts = DECODER(data).facts
    assert [f[4] for f in facts if f[0] == "flow"] == [
        i * 0x10001 for i in list(range(count)) + [count - 1]]
    if FORM == "chrome":
        assert notes and all("more flows at once than are remembered" in n for n in notes)
        assert Chrome(data).phases[-2:] == ["X", "t"]


def peak(count):
    """KiB of memory that an export of so many events took."""
    log = Log().describe("x:begin", "u32 n; str s").describe("f", "u64 id")
    for tid in range(100, 108):
        log.many(count, 1, len(log.lines) * count, "f", bytes(8), tid=tid, thread=f"t{tid}")
    path = TOOLS.build(log)
    program = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, "
               "stdout=subprocess.DEVNULL); "
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", program, TOOLS.posixtrace, "export",
                           f"--to={FORM}", "--flow=f.id", "--counter=f.id", path, "-"],
                          check=True, capture_output=True)
    return int(done.stdout)


def test_memory():
    # ten bytes an event would be seen; the sanitizer's own memory grows a little
    few, many = peak(4000), peak(80000)
    assert many < few + 6000, (few, many)


def test_random():
    """Random bytes in names, threads, descriptions' fields, data, in random order."""
    chance = random.Random(4711)
    for _ in range(20):
        log, ns, count = Log(), 0, chance.randrange(300)
        names = [chance.randbytes(chance.randrange(1, 12)).replace(b"\0", b"_")
                 for _ in range(chance.randrange(1, 12))]
        names += [n + e for n in names[:3] for e in (b":begin", b".end", b"_enter")]
        names += [b"posixtrace_switch_" + w for w in (b"in", b"out", b"preempted")]
        names += [b"posixtrace_mutex_lock", b"posixtrace_mutex_locked", b"posixtrace_thread_end"]
        for name in {n for n in names[:6] if not n.startswith(b"posixtrace_")}:
            log.describe(name, chance.choice(("u8 a", "u16:u8 a; str b", "char[3] a; bytes b",
                                              "f64 a; f32 b", "str:u16 a; i8 b {x, y=2}")))
        for _ in range(count):
            data = chance.choice((b"", struct.pack("<I", chance.randrange(4)),
                                  chance.randbytes(chance.randrange(24))))
            pid = chance.randrange(3)
            log.add(ns, chance.choice(names), data, pid, chance.choice((0, 10 * pid + 1, 10 * pid + 2)),
                    chance.randbytes(chance.randrange(15)).replace(b"\0", b""),
                    chance.randrange(2))
            ns += chance.randrange(3)
        facts = DECODER(TOOLS.exported(FORM, log)[0]).facts
        slices = sum(f[0] in ("begin", "end", "instant") for f in facts)
        nested(facts)
        if FORM == "chrome":
            same_picture(facts, Perfetto(TOOLS.exported("perfetto", log)[0]).facts)
        else:
            consistent(facts)
        moved = sum(f[0] in ("switch", "ran") for f in facts)
        assert slices + 2 * moved >= count, (slices, moved, count)


def rounded(value):
    """Floats as both can say them."""
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    if isinstance(value, (int, float)) and not isinstance(value, (bool, Hex)):
        return f"{value:.5g}"
    return value


def same_picture(chrome, perfetto):
    """Both formats draw the same events, fields and names."""
    def drawn(facts):
        return [(*f[:6], rounded(f[6])) if len(f) == 7 else f for f in without_names_of_ends(facts)
                if f[0] not in ("switch", "ran", "track") and f[-1] != ""]
    found, expected = drawn(chrome), drawn(perfetto)
    assert found == expected, next((f, e) for f, e in zip(found, expected) if f != e)


def nested(facts):
    """Each end has a start, and no thread's time goes back."""
    depth, time = {}, {}
    for f in (f for f in facts if f[0] in ("begin", "end", "instant")):
        who = f[2:4]
        assert time.get(who, 0) <= f[1]
        time[who] = f[1]
        depth[who] = depth.get(who, 0) + {"begin": 1, "end": -1, "instant": 0}[f[0]]
        assert depth[who] >= 0, f


def test_full_disk():
    if not shutil.os.path.exists("/dev/full"):
        return
    log = Log().many(20000, 1, 0, "a")
    with open("/dev/full", "wb") as full:
        done = TOOLS.export(FORM, log, stdout=full)
    assert done.returncode != 0 and b"No space left" in done.stderr, done.stderr


# ---- other people's programs ----

def everything():
    log = switches()
    log.describe("k", KINDS).add(100, "k", kinds("<")).add(101, b"\xff\n\"\\\x01'")
    log.add(102, "x:begin", b"\1").add(103, "x:end").add(104, "f")
    log.describe("send", "u64 id; f64 f").add(105, "send", struct.pack("<Qd", 7, 0.1))
    return TOOLS.exported(FORM, log, "--flow=send.id", "--counter=send.f", "--flow-end=k.c")[0]


def by_protoc():
    """What protoc, given the published numbers, reads is what our decoder read."""
    data = everything()
    packets = len(decode("Trace", data)["packet"])
    raw = subprocess.run(["protoc", "--decode_raw"], input=data, capture_output=True, check=True)
    assert raw.stdout.splitlines().count(b"1 {") == packets > 20
    (TOOLS.folder / "trace.proto").write_text(proto_file())
    done = subprocess.run(["protoc", f"--proto_path={TOOLS.folder}", "--decode=Trace",
                           "trace.proto"], input=data, capture_output=True, check=True)
    assert done.stdout.decode() == text("Trace", decode("Trace", data))


def by_jq():
    """A reader of JSON that is not ours agrees on phases, times and values."""
    data = everything()
    done = subprocess.run(["jq", "-r", ".traceEvents[].ph"], input=data, capture_output=True,
                          check=True)
    assert done.stdout.decode().split() == Chrome(data).phases
    subprocess.run(["jq", "-e", '.traceEvents | map(select(.name == "k")) | .[0] | .ts == 0.1 and '
                    '(.args | .c == 3 and .r == "grunü" and .p == [7, 8, 9] and .k == 0.1)'],
                   input=data, capture_output=True, check=True)


def main():
    tests = [t for name, t in globals().items() if name.startswith("test_")]
    if len(sys.argv) > 5:
        if not shutil.which(sys.argv[5]):
            print(f"{sys.argv[5]} is not installed (Debian: protobuf-compiler, jq)")
            return 77
        tests = [globals()["by_" + sys.argv[5]]]
    for test in tests:
        print(test.__name__, flush=True)
        test()
    return 0


if __name__ == "__main__":
    sys.exit(main())
