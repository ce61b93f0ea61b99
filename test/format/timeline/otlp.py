#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Logs of known content, exported to OTLP/JSON and read back by a strict decoder of its own.

usage: otlp.py POSIXTRACE BUILD_LOG TRACED             each test by the decoder
       otlp.py POSIXTRACE BUILD_LOG TRACED protobuf    and by Google's library; 77: it is not there
"""

import math
import os
import random
import re
import struct
import subprocess
import sys

from otlp_schema import attributes, by_protobuf, decode, descriptors, lines_of
from scenarios import Log, T, Tools

TOOLS = Tools(*sys.argv[1:4])
TRACES = None     # the class of Google's library, where that is to read, too
DEBIANS = "/usr/bin/python3"     # the Python that has Debian's packages
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
OTHER = "0af7651916cd43dd8448eb211c80319c"
NONE = b"\0" * 49


def context(trace=TRACE, span=SPAN, flags=1):
    return (trace + span).encode() + bytes([flags])


class Span:
    def __init__(self, raw, resource):
        self.raw, self.resource, self.name = raw, resource, raw["name"]
        self.trace, self.id, self.parent = raw["traceId"], raw["spanId"], raw.get("parentSpanId")
        self.begin, self.end = raw["startTimeUnixNano"] - T, raw["endTimeUnixNano"] - T
        self.kind, self.flags, self.status = raw["kind"], raw["flags"], raw.get("status")
        self.values = attributes(raw)
        self.events = [(e["timeUnixNano"] - T, e["name"], attributes(e)) for e in raw.get("events", ())]
        self.links = [(link["traceId"], link["spanId"]) for link in raw.get("links", ())]
        assert self.begin <= self.end and self.name
        assert self.flags & ~0xff == (0x300 if self.kind == 2 else 0x100)

    def own(self):
        """Attributes but for those of the thread."""
        return {k: v for k, v in self.values.items() if not k.startswith("thread.")}


def same_by_protobuf(data, lines):
    """Of many lines the first ones: that library is slow."""
    lines = lines[:3]
    found = by_protobuf(b"".join(data.splitlines(True)[:3]), TRACES)
    assert len(found) == len(lines)
    for message, line in zip(found, lines):
        spans = [s for r in message.resource_spans for c in r.scope_spans for s in c.spans]
        expected = [s for r in line["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]]
        assert [(s.trace_id.hex(), s.span_id.hex(), s.parent_span_id.hex(), s.name, s.start_time_unix_nano,
                 s.end_time_unix_nano, s.kind, s.flags, s.status.code, len(s.attributes), len(s.events), len(s.links),
                 s.dropped_attributes_count, s.dropped_events_count) for s in spans] == [
            (s["traceId"], s["spanId"], s.get("parentSpanId", ""), s["name"], s["startTimeUnixNano"],
             s["endTimeUnixNano"], s["kind"], s["flags"], s.get("status", {}).get("code", 0),
             len(s.get("attributes", ())), len(s.get("events", ())), len(s.get("links", ())),
             s.get("droppedAttributesCount", 0), s.get("droppedEventsCount", 0)) for s in expected]


def spans_of(data):
    assert all(len(line.encode()) < 2**20 for line in lines_of(data))
    lines, found = decode(data), []
    if TRACES:
        same_by_protobuf(data, lines)
    for line in lines:
        (part,) = line["resourceSpans"]
        (scope,) = part["scopeSpans"]
        assert scope["scope"]["name"] == "posixtrace" and scope["scope"]["version"]
        assert 0 < len(scope["spans"]) <= 1000
        found += [Span(s, attributes(part["resource"])) for s in scope["spans"]]
    assert len({s.id for s in found}) == len(found), "a span id twice"
    return found


def read(log, *options, said=()):
    data, notes = TOOLS.exported("otlp", log, *options)
    assert len(notes) == len(said) and all(map(re.search, said, notes)), (said, notes)
    return spans_of(data)


def named(spans, *names):
    found = [[s for s in spans if s.name == name] for name in names]
    assert all(len(f) == 1 for f in found), [s.name for s in spans]
    return [f[0] for f in found]


# ---- parents ----

def test_nesting():
    log = Log().add(0, "a:begin").add(1, "b:begin").add(2, "c:begin").add(3, "c:end").add(4, "b:end")
    log.add(5, "d:begin").add(6, "d:end").add(7, "a:end").add(8, "e:begin").add(9, "e:end")
    log.add(10, "a:begin", tid=101, thread="w").add(11, "a:end", tid=101, thread="w")
    path = TOOLS.build(log)
    spans = read(path)
    assert [(s.name, s.begin, s.end) for s in spans] == [
        ("c", 2, 3), ("b", 1, 4), ("d", 5, 6), ("a", 0, 7), ("e", 8, 9), ("a", 10, 11)]
    c, b, d, a, e, other = spans
    assert (a.parent, b.parent, c.parent, d.parent, e.parent) == (None, a.id, b.id, a.id, None)
    assert a.trace == b.trace == c.trace == d.trace and len({a.trace, e.trace, other.trace}) == 3
    assert all(s.kind == 1 and s.flags == 0x100 and not s.links and not s.status for s in spans)
    assert a.values == {"thread.id": 100, "thread.name": "app"} and other.values["thread.name"] == "w"
    assert TOOLS.exported("otlp", path)[0] == TOOLS.exported("otlp", path)[0]
    (later,) = read(path, f"--from={T + 8}", "--where=tid == 100", said=["of 12 events selected"])
    assert (later.trace, later.id) == (e.trace, e.id), "a part of the log gives other ids"


def test_same_time():
    """Spans that begin at one time have ids of their own."""
    log = Log()
    for _ in range(50):
        log.add(5, "a:begin").add(5, "a:end").add(5, "a:begin", tid=7).add(5, "a:end", tid=7)
    assert len(read(log)) == 100


def test_contexts():
    """The rule of posixtrace/context.h."""
    log = Log().add(0, "before:begin").add(1, "before:end")
    log.add(2, "posixtrace_context", context()).add(3, "a:begin").add(4, "b:begin")
    log.add(4, "other:begin", tid=101).add(4, "other:end", tid=101)
    log.add(5, "b:end").add(6, "a:end").add(7, "again:begin").add(8, "again:end")
    log.add(9, "posixtrace_context", context(OTHER, "b7ad6b7169203331", 0))
    log.add(10, "next:begin").add(11, "next:end")
    log.add(12, "posixtrace_context", NONE).add(13, "after:begin").add(14, "after:end")
    spans = read(log)
    before, a, b, other, again, following, after = named(spans, "before", "a", "b", "other", "again", "next", "after")
    for s in (before, other, after):
        assert s.parent is None and s.trace not in (TRACE, OTHER) and s.flags == 0x100, s.name
    assert (a.trace, a.parent, a.flags, a.kind) == (TRACE, SPAN, 0x301, 2)
    assert (b.trace, b.parent, b.flags, b.kind) == (TRACE, a.id, 0x101, 1)
    assert (again.trace, again.parent) == (TRACE, SPAN)
    assert (following.trace, following.parent, following.flags) == (OTHER, "b7ad6b7169203331", 0x300)


def test_contexts_within():
    """One inside of a span ends with it; parts of requests take turns."""
    log = Log().add(0, "posixtrace_context", context()).add(1, "loop:begin")
    log.add(2, "posixtrace_context", context(OTHER)).add(3, "a:begin").add(4, "a:end")
    log.add(5, "posixtrace_context", context(TRACE, "1" * 16)).add(6, "b:begin").add(7, "b:end")
    log.add(8, "posixtrace_context", NONE).add(9, "c:begin").add(10, "c:end").add(11, "loop:end")
    log.add(12, "d:begin").add(13, "d:end")
    loop, a, b, c, d = named(read(log), "loop", "a", "b", "c", "d")
    assert (loop.trace, loop.parent, d.trace, d.parent) == (TRACE, SPAN, TRACE, SPAN)
    assert (a.trace, a.parent, a.links) == (OTHER, SPAN, [(TRACE, loop.id)])
    assert (b.trace, b.parent, b.links) == (TRACE, "1" * 16, [(TRACE, loop.id)])
    assert (c.trace, c.parent, c.links) == (TRACE, loop.id, [])


def test_bad_contexts():
    """Any program may record an event of the type, with any data: none of it is an id."""
    for bad in (b"", b"x" * 49, context()[:48], context() + b"1", context("0" * 32), context(TRACE, "0" * 16),
                context("g" * 32)):
        log = Log().add(0, "posixtrace_context", context()).add(1, "posixtrace_context", bad)
        log.add(2, "a:begin").add(3, "a:end")
        (a,) = read(log)
        assert a.parent is None and a.trace != TRACE, bad


def test_thread_spans():
    """The life of a thread is no parent: what happens in it is not one trace."""
    log = Log().add(0, "posixtrace_thread_begin", struct.pack("<Q", 1)).add(1, "a:begin").add(2, "a:end")
    log.add(3, "posixtrace_context", context()).add(4, "b:begin").add(5, "b:end").add(6, "tick")
    log.add(7, "posixtrace_thread_end", struct.pack("<Q", 1)).add(8, "c:begin").add(9, "c:end")
    thread, a, b, c = named(read(log, said=["as 'tick'", "1 event could"]), "thread", "a", "b", "c")
    assert a.parent is None and a.trace != thread.trace and not b.links and not thread.events
    assert (b.trace, b.parent, c.parent) == (TRACE, SPAN, None)


def test_ids_in_fields():
    log = Log().describe("r:begin", "str trace_id; str span_id; str parent_span_id")
    log.describe("n:begin", "x64 trace_id; u32 span_id; x64 parent_id")
    log.describe("y:begin", "bytes[16] trace_id; x8[8] span_id").describe("c:begin", "char[32] trace_id")
    log.add(0, "r:begin", b"%s\0%s\0%s\0" % (OTHER.upper().encode(), b"1" * 16, b"2" * 16))
    log.add(1, "in:begin").add(2, "in:end").add(3, "r:end")
    log.add(4, "n:begin", struct.pack("<QIQ", 0x1234, 0x56, 2**63)).add(5, "n:end")
    log.add(6, "y:begin", bytes(range(16)) + bytes(range(8))).add(7, "y:end")
    log.add(8, "posixtrace_context", context()).add(9, "c:begin", TRACE.encode()).add(10, "c:end")
    r, inner, n, y, c = named(read(log), "r", "in", "n", "y", "c")
    assert (r.trace, r.id, r.parent, r.kind) == (OTHER, "1" * 16, "2" * 16, 2)
    assert (inner.trace, inner.parent) == (OTHER, r.id)
    assert (n.trace, n.id, n.parent) == ("1234".zfill(32), "56".zfill(16), "8" + "0" * 15)
    assert (y.trace, y.id, y.parent) == (bytes(range(16)).hex(), bytes(range(8)).hex(), None)
    assert (c.trace, c.parent) == (TRACE, SPAN), "the context has the same trace"
    # those that are no ids leave it as it would be without them
    log = Log().describe("r:begin", "str trace_id; str span_id; u64 parent_id; bytes[3] rest")
    log.add(0, "posixtrace_context", context())
    for ns, (trace, span) in enumerate(((b"0" * 32, b"0" * 16), (b"x" * 32, b"1" * 15), (b"", b"")), 1):
        log.add(2 * ns, "r:begin", trace + b"\0" + span + b"\0" + bytes(8) + b"123").add(2 * ns + 1, "r:end")
    assert all((s.trace, s.parent) == (TRACE, SPAN) for s in read(log))


# ---- spans ----

def test_crossing():
    """A span stays whole, and its parent the one around its beginning."""
    log = Log()
    for ns, name in enumerate(("a:begin", "b:begin", "c:begin", "a:end", "d:begin", "d:end", "c:end", "b:end")):
        log.add(ns, name)
    spans = read(log, said=["thread 100 ends a slice while one that began later is open"])
    assert [(s.name, s.begin, s.end) for s in spans] == [("a", 0, 3), ("d", 4, 5), ("c", 2, 6), ("b", 1, 7)]
    a, d, c, b = spans
    assert (b.parent, c.parent, d.parent) == (a.id, b.id, c.id) and not any(s.own() for s in spans)


def test_thread_ends():
    log = Log().thread_id(4096).add(0, "a:begin").add(1, "b:begin")
    log.thread_id(8192).add(3, "b:begin", thread="next").add(4, "c:begin", thread="next")
    log.add(5, "posixtrace_thread_end", struct.pack("<Q", 100), thread="next")
    cut = {"posixtrace.cut": "the thread ended"}
    spans = read(log, said=["as 'posixtrace_thread_end'", "1 event could"])
    assert [(s.name, s.begin, s.end, s.own()) for s in spans] == [
        ("b", 1, 3, cut), ("a", 0, 3, cut), ("c", 4, 5, cut), ("b", 3, 5, cut)]


def test_open():
    log = Log().add(0, "a:begin", b"\7").add(1, "b:begin").add(9, "b:end", tid=101)
    spans = read(log, said=["as 'b:end'", "1 event could"])
    assert [(s.name, s.begin, s.end, s.own()) for s in spans] == [
        ("b", 1, 9, {"posixtrace.open": True}), ("a", 0, 9, {"posixtrace.open": True, "posixtrace.data": b"\7"})]


def test_whole_calls():
    call = struct.pack("<IIQqqQ", 42, 0, 7, -11, 40, 8)
    log = Log().add(0, "posixtrace_context", context()).add(1, "a:begin").add(50, "posixtrace_long_call", call)
    log.add(51, "a:end")
    io, a = read(log)
    assert (io.name, io.begin, io.end, io.parent, io.trace) == ("io", 10, 50, a.id, TRACE)
    assert io.values["call"] == "read" and io.status == {"code": 2, "message": "Resource temporarily unavailable"}, io.status


def test_status():
    log = Log().describe("s:end", "str error").describe("i:end", "u8 error {fine, bad}").describe("b:end", "bool error")
    expected, ns = [], 0
    for name, data, status in (
            ("s", b"\0", None), ("s", b"no \"way\"\0", {"code": 2, "message": 'no "way"'}),
            ("i", b"\0", None), ("i", b"\1", {"code": 2, "message": "bad"}), ("i", b"\7", {"code": 2}),
            ("b", b"\0", None), ("b", b"\1", {"code": 2}), ("x", b"\1", None)):
        log.add(ns, name + ":begin").add(ns + 1, name + ":end", data)
        expected.append((name, status))
        ns += 2
    for error, status in ((0, None), (16, {"code": 2, "message": "Device or resource busy"})):
        log.add(ns, "posixtrace_mutex_lock", struct.pack("<QQ", 1, 2))
        log.add(ns + 1, "posixtrace_mutex_locked", struct.pack("<Qq", 1, error))
        expected.append(("mutex_lock", status))
        ns += 2
    found = [(s.name, s.status) for s in read(log)]
    assert found == expected, found


def test_events():
    """Instants are events of the innermost span; a note counts the others."""
    log = Log().describe("i", "u32 n").add(0, "i", struct.pack("<I", 0)).add(1, "a:begin")
    log.add(2, "i", struct.pack("<I", 1)).add(3, "b:begin").add(4, "plain").add(5, "b:end").add(6, "raw", b"\xff")
    log.add(7, "i", tid=101, thread="w").add(8, "a:end")
    b, a = read(log, said=["outside of all spans are left out, as 'i'; --instants=spans",
                           "outside of all spans are left out, as 'i'", "2 events could"])
    assert b.events == [(4, "plain", {})]
    assert a.events == [(2, "i", {"n": 1}), (6, "raw", {"posixtrace.data": b"\xff"})]
    log.add(9, "posixtrace_context", context()).add(10, "i", struct.pack("<I", 5))
    spans = read(log, "--instants=spans")
    assert [(s.name, s.begin, s.end) for s in spans] == [("i", 0, 0), ("b", 3, 5), ("i", 7, 7), ("a", 1, 8), ("i", 10, 10)]
    assert spans[0].own() == {"n": 0} and spans[2].own() == {"posixtrace.misfit": True}
    assert (spans[4].trace, spans[4].parent) == (TRACE, SPAN)


def test_switches():
    log = Log().add(0, "posixtrace_switch_in", struct.pack("<I", 0)).add(1, "a:begin").add(2, "a:end")
    log.add(3, "posixtrace_switch_out", struct.pack("<I", 0))
    (a,) = read(log, said=["context switches are left out", "context switches are left out", "2 events could"])
    assert a.name == "a" and not a.events


# ---- values ----

KINDS = ("u8 a; u16 b; u32 c; u64 d; i8 e; i16 f; i32 g; i64 h; x32 i; x64 j; f32 k; f64 l; "
         "bool m; char n; u8 o {buy, sell=7}; u16[3] p; char[4] q; str r; str:u8 s; bytes[2] t; "
         "bytes:u16 u; u8:u8 v; f64[2] w; i8 x {low=-1}; u64 y; bytes rest")


def test_kinds():
    for mark, order in (("", "<"), ("be; ", ">")):
        data = struct.pack(order + "BHIQbhiqIQfd?cB3H4s", 1, 2, 3, 2**64 - 1, -1, -2, -3, -2**63, 0xdead, 2**63, 0.1,
                           -1e300, True, b"z", 7, 7, 8, 9, b"ab\0\0")
        data += b"gr\xc3\xbcn\0" + b"\x03\x22\x5c\n" + b"\x00\xff" + struct.pack(order + "H", 3) + b"\x01\x02\x03"
        data += b"\x02\x05\x06" + struct.pack(order + "dd", 0.5, -3) + b"\xff"
        data += struct.pack(order + "Q", 2**63 - 1) + b"\xab\xcd"
        log = Log().describe("k:begin", mark + KINDS).add(0, "k:begin", data).add(1, "k:end")
        (k,) = read(log)
        assert k.own() == {
            "a": 1, "b": 2, "c": 3, "d": str(2**64 - 1), "e": -1, "f": -2, "g": -3, "h": -2**63, "i": "0xdead",
            "j": hex(2**63), "k": 0.1, "l": -1e300, "m": True, "n": "z", "o": "sell", "p": [7, 8, 9], "q": "ab",
            "r": "grün", "s": '"\\\n', "t": b"\0\xff", "u": b"\1\2\3", "v": [5, 6], "w": [0.5, -3.0], "x": "low",
            "y": 2**63 - 1, "rest": b"\xab\xcd"}, k.own()


def test_floats_and_bytes():
    log, chance = Log().describe("f:begin", "f64[3] v").describe("b:begin", "bytes v"), random.Random(1)
    log.add(0, "f:begin", struct.pack("<3d", math.inf, -math.inf, math.nan)).add(1, "f:end")
    (f,) = read(log)
    assert f.own()["v"][:2] == [math.inf, -math.inf] and math.isnan(f.own()["v"][2])
    texts = [chance.randbytes(n) for n in range(20)]
    for ns, text in enumerate(texts):
        log.add(10 + 2 * ns, "b:begin", text).add(11 + 2 * ns, "b:end")
    assert [s.own()["v"] for s in read(log)[1:]] == texts


def test_ends():
    """Data of the end; a name that the beginning has, too, gets a prefix."""
    log = Log().describe("x:begin", "u32 n").describe("x:end", "u32 n; i32 left")
    log.add(0, "x:begin", struct.pack("<I", 5)).add(1, "x:end", struct.pack("<Ii", 6, -7))
    log.add(2, "y:begin", b"\1", trunc=1).add(3, "y:end", b"\2", trunc=1)
    log.add(4, "x:begin", b"\1").add(5, "x:end", b"\2")
    x, y, misfit = read(log)
    assert x.own() == {"n": 5, "end.n": 6, "left": -7}
    assert y.own() == {"posixtrace.data": b"\1", "posixtrace.truncated": True, "posixtrace.end.data": b"\2",
                       "posixtrace.end.truncated": True}
    assert misfit.own() == {"posixtrace.data": b"\1", "posixtrace.misfit": True, "posixtrace.end.data": b"\2",
                            "posixtrace.end.misfit": True}


def test_any_bytes():
    """Names, strings and threads have any bytes: lines are UTF-8 and JSON, and no text is lost."""
    every = bytes(range(1, 256))
    clean = "".join(map(chr, range(1, 256)))
    torn = b"\xc3(\xe2\x82\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80\xff\"\\\n"
    log = Log().describe("s:begin", "str s").describe("e", "char[4] c")
    log.add(0, "s:begin", every + b"\0", thread=torn[:15]).add(1, torn, thread=torn[:15])
    log.add(2, "e", b"\xff\0\"\1", thread=torn[:15]).add(3, "s:end", thread=torn[:15])
    log.add(4, torn + b":begin", thread=torn[:15]).add(5, torn + b":end", thread=torn[:15])
    s, t = read(log, "--service=a\"\\\xfc\n")
    text = torn.decode("latin-1")
    assert s.values["s"] == clean and s.values["thread.name"] == torn[:15].decode("latin-1")
    assert s.events == [(1, text, {}), (2, "e", {"c": "\xff\0\"\1"})] and t.name == text
    assert s.resource["service.name"] == "a\"\\\xfc\n"


def test_huge():
    """What has no room is counted, beside what has; lines stay short."""
    size = 61440
    log = Log().describe("h:begin", "u8 n; str:u32 v; u8 m").describe("h:end", "str:u16 w; u8 k")
    log.describe("arr:begin", "u8:u32 v")
    log.add(0, "h:begin", b"\1" + struct.pack("<I", size - 6) + b"\xff" * (size - 6) + b"\2")
    log.add(1, "raw", bytes(size)).add(2, "small").add(3, "h:end", struct.pack("<H", 40000) + b"x" * 40000 + b"\3")
    log.add(4, "arr:begin", struct.pack("<I", size - 4) + b"\xc8" * (size - 4)).add(5, "arr:end")
    h, arr = read(log)
    assert h.own() == {"n": 1, "m": 2, "k": 3} and h.raw["droppedAttributesCount"] == 2
    assert [e[1] for e in h.events] == ["raw", "small"]
    assert h.raw["events"][0]["droppedAttributesCount"] == 1
    assert arr.own() == {} and arr.raw["droppedAttributesCount"] == 1
    log = Log().describe("big:begin", "str:u16 v")
    for ns in range(300):
        log.add(2 * ns, "big:begin", struct.pack("<H", 20000) + b"y" * 20000).add(2 * ns + 1, "big:end")
    data, _ = TOOLS.exported("otlp", log)
    assert len(spans_of(data)) == 300 and len(lines_of(data)) >= 6


def test_many_events():
    log = Log().add(0, "a:begin")
    for ns in range(1, 1001):
        log.add(ns, "i")
    (a,) = read(log.add(1001, "a:end"))
    assert len(a.events) == 128 and a.raw["droppedEventsCount"] == 1000 - 128


def test_deep():
    log = Log()
    for ns in range(200):
        log.add(ns, "f:begin")
    for ns in range(200, 400):
        log.add(ns, "f:end")
    spans = read(log, said=["thread 100 has more than 64 slices open at once"])
    assert len(spans) == 64 and len(spans[0].events) + spans[0].raw["droppedEventsCount"] == 2 * 136
    by_id = {s.id: s for s in spans}
    assert sum(s.parent is None for s in spans) == 1 and all(s.parent in by_id for s in spans if s.parent)


# ---- losses ----

def test_gaps():
    log, mark = Log(), {"pid": 0, "tid": 0, "thread": ""}
    log.add(0, "posixtrace_context", context()).add(0, "a:begin").add(1, "b:begin").add(2, "posix_trace_overflow", **mark)
    log.add(3, "c:begin").add(4, "posix_trace_resume", **mark).add(5, "d:begin").add(6, "d:end")
    log.add(7, "posixtrace_context", context()).add(8, "posix_trace_stop", **mark).add(9, "posix_trace_start", **mark)
    log.add(10, "e:begin").add(11, "e:end").add(12, "posix_trace_overflow", **mark).add(15, "f:begin")
    log.add(16, "posix_trace_stop", **mark)
    spans = read(log, said=["events were lost in 2 places"])
    lost = {"posixtrace.cut": "events were lost"}
    assert [(s.name, s.begin, s.end, s.own()) for s in spans if s.resource.get("process.pid")] == [
        ("b", 1, 2, lost), ("a", 0, 2, lost), ("c", 3, 4, lost), ("d", 5, 6, {}), ("e", 10, 11, {}),
        ("f", 15, 16, {"posixtrace.open": True})]
    assert [(s.name, s.begin, s.end, s.own()) for s in spans if not s.resource.get("process.pid")] == [
        ("events were lost", 2, 4, {"posixtrace.missing": "events were lost"}),
        ("recording was stopped", 8, 9, {"posixtrace.missing": "recording was stopped"}),
        ("events were lost", 12, 16, {"posixtrace.missing": "events were lost", "posixtrace.open": True})]
    d, e = named(spans, "d", "e")
    assert d.parent is None and e.parent is None, "a context may have ended where events are missing"


def test_lost():
    path = TOOLS.folder / "full.ptl"
    subprocess.run([TOOLS.traced, path, "full", "events", "5000"], check=True)
    data, notes = TOOLS.exported("otlp", path)
    total = int(re.search(r"(\d+) events lost", "\n".join(notes))[1])
    lost = [s for s in spans_of(data) if s.name == "events lost"]
    own = lost[0].own()["posixtrace.lost"]
    assert [s.own() for s in lost] == [{"posixtrace.lost": n, "posixtrace.lost.log_full": n} for n in (own, total)]
    assert own <= total <= own + 1 and lost[0].values["thread.id"] > 0 and "thread.id" not in lost[1].values
    ticks = [s for s in spans_of(TOOLS.exported("otlp", path, "--instants=spans")[0]) if s.name == "tick"]
    assert len(ticks) + own == 5000


def test_times():
    log = Log().add(-T - 9, "x:begin").add(-T - 5, "x:end").add(-T - 2, "y:begin").add(-T, "y:end").add(0, "z:begin")
    log.add(0, "z:end").add(2**63 - 1 - T, "last:begin")
    spans = read(log, said=["a span at -9 ns is from before 1970", "a span at -2 ns", "2 events could"])
    assert [(s.name, s.begin, s.end) for s in spans] == [("z", 0, 0), ("last", 2**63 - 1 - T, 2**63 - 1 - T)]


# ---- lines ----

def test_processes():
    """A line has spans of one process, also where many take turns."""
    log, count = Log(), 40
    for ns in range(6000):
        pid = 1000 + ns % count
        log.add(2 * ns, "a:begin", pid=pid, tid=pid, thread=f"p{pid}").add(2 * ns + 1, "a:end", pid=pid, tid=pid, thread=f"p{pid}")
    spans = read(log)
    assert len(spans) == 6000
    assert all(s.resource["process.pid"] == s.values["thread.id"] for s in spans)
    assert all(s.resource["service.name"] == f"p{s.values['thread.id']}" for s in spans)
    log = Log().many(1, 1, 0, "a:begin")
    for ns in range(2500):
        log.add(2 * ns, "b:begin").add(2 * ns + 1, "b:end")
    assert [len(line["resourceSpans"][0]["scopeSpans"][0]["spans"]) for line in decode(TOOLS.exported("otlp", log)[0])] == [
        1000, 1000, 501]


def test_many_threads():
    """More threads than are remembered, each with open spans: each span is there, ended or cut."""
    log, count = Log(), 30000
    for tid in range(1, count + 1):
        log.add(tid, "a:begin", pid=7, tid=tid, thread=f"t{tid}")
    data, notes = TOOLS.exported("otlp", log)
    spans = spans_of(data)
    assert {s.values["thread.id"] for s in spans} == set(range(1, count + 1)) and len(spans) == count
    cut = [s for s in spans if s.own() == {"posixtrace.cut": "too many threads"}]
    assert len(cut) > count // 3 and len(cut) + sum(s.own() == {"posixtrace.open": True} for s in spans) == count
    assert all(s.values["thread.name"] == f"t{s.values['thread.id']}" for s in spans) and "too many threads" in notes[0]


def test_links_to_the_log():
    """A span leads to its events in the log."""
    log = Log().describe("a:begin", "u32 n").add(0, "other").add(1, "a:begin", b"\5\0\0\0").add(2, "i").add(3, "a:end")
    path = TOOLS.build(log.add(4, "other"))
    strange = TOOLS.folder / "it's \"a\" log.ptl"
    strange.write_bytes(path.read_bytes())
    (a,) = read(strange, "--command=yes", said=["as 'other'", "as 'other'", "2 events could"])
    assert a.resource["posixtrace.log.file"] == str(strange.resolve()) and a.resource["process.pid"] == 100
    assert re.fullmatch("[0-9a-f]{32}", a.resource["posixtrace.log.id"])
    command = a.values["posixtrace.command"]
    assert command.startswith("posixtrace print --from=")
    done = subprocess.run(["sh", "-c", f'posixtrace() {{ "$TOOL" "$@"; }}; {command} --format=jsonl'], text=True,
                          capture_output=True, check=True, env={"TOOL": str(TOOLS.posixtrace)})
    assert re.findall(r'"event":"([^"]*)"', done.stdout) == ["a:begin", "i", "a:end"], done
    (a,) = read(path, "--log=/elsewhere", "--service=shop", said=["as", "as", "2 events"])
    assert a.resource["posixtrace.log.file"] == "/elsewhere" and a.resource["service.name"] == "shop"
    done = subprocess.run([TOOLS.posixtrace, "export", "--to=otlp", "-", "-"], input=path.read_bytes(),
                          capture_output=True, check=True)
    assert "posixtrace.log.file" not in spans_of(done.stdout)[0].resource


def test_contexts_in_the_log():
    """From a trace of a back end to the events: contexts have fields, which expressions know."""
    log = Log().add(0, "posixtrace_context", context(OTHER)).add(1, "posixtrace_context", context(), tid=101)
    path = TOOLS.build(log.add(2, "posixtrace_context", NONE))
    for where, count in ((f'trace_id == "{TRACE}"', 1), (f'span_id == "{SPAN}" and flags == 1', 2), ('trace_id == ""', 1)):
        done = subprocess.run([TOOLS.posixtrace, "print", "--where", where, "--format=jsonl", path], text=True,
                              capture_output=True, check=True)
        assert done.stdout.count('"event":"posixtrace_context"') == count, (where, done.stdout)
    done = subprocess.run([TOOLS.posixtrace, "print", path], text=True, capture_output=True, check=True)
    assert f'trace_id="{TRACE}" span_id="{SPAN}" flags=0x1' in done.stdout, done.stdout


def test_bad_options():
    for option, text in (("--instants=maybe", "say events or spans"), ("--command=maybe", "say yes or no"),
                         ("--pair=a", "say BEGIN,END"), ("--flow=a.b", "no option '--flow'")):
        done = TOOLS.export("otlp", Log().add(0, "a"), option)
        assert done.returncode != 0 and text in done.stderr.decode(), (option, done.stderr)


def test_nothing():
    assert TOOLS.exported("otlp", Log())[0] == b""


def peak(count):
    log = Log().describe("x:begin", "u32 n; str s")
    for tid in range(100, 108):
        for ns in range(count):
            log.add(ns * 10 + tid, "x:begin", b"\1\0\0\0text\0", tid=tid, thread=f"t{tid}")
            log.add(ns * 10 + tid + 1, "x:end", tid=tid, thread=f"t{tid}")
    log.lines.sort(key=lambda line: (line[0] != "d", int(line.split()[1]) if line[0] == "e" else 0))
    path = TOOLS.build(log)
    program = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", program, TOOLS.posixtrace, "export", "--to=otlp", path, "-"],
                          check=True, capture_output=True)
    return int(done.stdout)


def test_memory():
    few, many = peak(300), peak(6000)
    assert many < few + 6000, (few, many)


def test_random():
    """Random names, data, threads and ends: each line is good, and each event is there or counted."""
    chance = random.Random(4711)
    for _ in range(30):
        log, ns, count = Log(), 0, chance.randrange(300)
        names = [chance.randbytes(chance.randrange(1, 12)).replace(b"\0", b"_") for _ in range(chance.randrange(1, 8))]
        names += [n + e for n in names[:4] for e in (b":begin", b".end", b"_enter", b":end")]
        names += [b"posixtrace_context", b"posixtrace_mutex_lock", b"posixtrace_mutex_locked", b"posixtrace_thread_end",
                  b"posixtrace_thread_begin", b"posixtrace_function_enter", b"posixtrace_function_exit"]
        for name in {n for n in names[:12] if not n.startswith(b"posixtrace_")}:
            log.describe(name, chance.choice(("u8 a", "u16:u8 a; str error", "char[3] a; bytes b", "u8 trace_id; u8 span_id",
                                              "str:u16 trace_id; i8 error {x, y=2}")))
        for _ in range(count):
            data = chance.choice((b"", struct.pack("<I", chance.randrange(4)), context(), NONE,
                                  chance.randbytes(chance.randrange(24))))
            pid = chance.randrange(3)
            log.add(ns, chance.choice(names), data, pid, chance.choice((0, 10 * pid + 1, 10 * pid + 2)),
                    chance.randbytes(chance.randrange(15)).replace(b"\0", b""), chance.randrange(2))
            ns += chance.randrange(3)
        data, _ = TOOLS.exported("otlp", log, "--instants=spans")
        decoded = [s for line in decode(data) for s in line["resourceSpans"][0]["scopeSpans"][0]["spans"]]
        if TRACES:
            same_by_protobuf(data, decode(data))
        contexts = sum(line.split()[6] == b"posixtrace_context".hex() for line in log.lines if line[0] == "e")
        shown = len(decoded) + sum(len(s.get("events", ())) + s.get("droppedEventsCount", 0) for s in decoded)
        assert count - contexts <= 2 * shown and shown <= count, (shown, count, contexts)


def test_full_disk():
    with open("/dev/full", "wb") as full:
        done = TOOLS.export("otlp", Log().many(20000, 1, 0, "a:begin"), stdout=full)
    assert done.returncode != 0 and b"No space left" in done.stderr, done.stderr


def main():
    global TRACES
    if sys.argv[4:] == ["protobuf"]:
        try:
            TRACES = descriptors()
        except ImportError as missing:
            if sys.executable != DEBIANS and os.path.exists(DEBIANS):
                os.execv(DEBIANS, [DEBIANS, *sys.argv])
            print(f"skipped: python3-protobuf is not installed ({missing})")
            sys.exit(77)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            print(name, flush=True)
            test()


main()
