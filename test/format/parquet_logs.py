# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Logs, as lines of jsonl, for the tests of Parquet."""

import json
import math
import struct
import sys

from description import Description

NUMBERS = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "x8", "x16", "x32", "x64")
GROUP_ROWS, GROUP_BYTES = 1 << 17, 32 << 20  # of a row group


def need(condition, *what):
    if not condition:
        sys.exit("not so: " + " ".join(str(w) for w in what))


def random_field(rng, number, last):
    kind = rng.choice((*NUMBERS, *NUMBERS, "f32", "f64", "bool", "char", "str", "str", "bytes"))
    extent = rng.choice(("", "", "", "[3]", ":u8"))
    if kind == "bytes" and not (extent or last):
        extent = "[5]"
    names = ""
    if kind in NUMBERS and rng.random() < 0.2:
        names = rng.choice((" {a, b, c = 7}", " {x = 1, y = 2, x = 3}", " {only}"))
    return f"{kind}{extent} f{number}{names}"


def random_number(rng, code):
    size = 8 * struct.calcsize(code)
    low = -(1 << size - 1) if code.islower() else 0
    high = (1 << size - (1 if code.islower() else 0)) - 1
    return rng.choice((low, high, max(low, min(high, rng.randint(-3, 8))), rng.randint(low, high)))


def random_value(rng, field, order):
    count = {None: 1}.get(field.fixed, field.fixed)
    if field.count:
        count = rng.choice((0, 1, 2, 9))
    out = struct.pack(order + {"u8": "B", "u16": "H", "u32": "I"}[field.count], count) if field.count else b""
    words = (b"", b"plain", "ümlaut €".encode(), b"\xff\xfe", b"\xe2\x82", b"line\nend \"quoted\"", b"same")
    if field.type == "str" and not field.count and field.fixed is None:
        return rng.choice((*words, rng.randbytes(9).replace(b"\0", b"1"))) + b"\0"
    if field.type in ("str", "char", "bytes"):
        if field.type == "bytes" and field.fixed is None and not field.count:
            return rng.choice(words)
        return out + rng.choice((rng.randbytes(count), b"abcdefghi"[:count], b"\0" * count, b"a".ljust(count, b"\0")[:count]))
    for _ in range(count):
        if field.type == "bool":
            out += bytes([rng.choice((0, 1, 1, rng.randrange(256)))])
        elif field.type in ("f32", "f64"):
            out += struct.pack(order + field.code(),
                               rng.choice((0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, -1e30, rng.random())))
        else:
            out += struct.pack(order + field.code(), random_number(rng, field.code()))
    return out


def random_types(rng, count):
    types = []
    for i in range(count):
        fields = 60 if i == 0 else rng.randint(1, 5)
        words = [random_field(rng, n, n == fields - 1) for n in range(fields)]
        order = rng.choice(("", "", "be;"))
        types.append((f"type-{i}", order + "; ".join(words) if rng.random() < 0.9 or i == 0 else None))
    types += [("select \"*\" from 'x'; --", "u32 a"), ("d\udcff", "u8 a"), ("d\\xff", "u8 a"), ("d\udcff.a", "u8 a"),
              ("data", "i64 a; str b"), ("günther €.x", "f64 a"), ("nothing", None)]
    return types


def line(ts, event, data, tid=7, thread="main", trunc=0, description=None, address=0x401234, thread_id=1):
    o = {"ts": ts, "pid": 5, "tid": tid, "thread_id": hex(thread_id), "thread": thread, "event": event,
         "addr": hex(address), "trunc": trunc, "data": data.hex()}
    if description:
        o["description"] = description
    return json.dumps(o) + "\n"


def random_log(rng, count, types):
    seen, ts, lines = set(), rng.choice((0, 10**18)), []
    for _ in range(count):
        event, description = rng.choice(types)
        if rng.random() < 0.3:
            event, description = types[0]
        data, trunc = rng.randbytes(rng.choice((0, 1, 9, 300))), 0
        if description:
            d = Description(description)
            data = b"".join(random_value(rng, f, d.order) for f in d.fields)
            if rng.random() < 0.1:
                data, trunc = data[:rng.randrange(len(data) + 1)], 1
        ts += rng.choice((0, 1, 170, rng.randint(0, 10**10)))
        tid = rng.randint(1, 5)
        lines.append(line(ts, event, data, tid, rng.choice(("main", "", "w\udcff", "é"))[:1] + str(tid), trunc,
                          None if event in seen else description,
                          rng.choice((0, 2**64 - 1, rng.getrandbits(47))), rng.choice((0, 2**64 - 1))))
        seen.add(event)
    return "".join(lines)


def big_log():
    """Of three row groups: they end by rows and by bytes, and a column begins in the last."""
    lines = [line(i * 170 + i % 7, "tick", struct.pack("<IQ", i % 5, i * 2654435761 % 2**32), i // 8 % 4 + 1,
                  description="u32 a; u64 b" if i == 0 else None) for i in range(GROUP_ROWS + 100)]
    end = 2 * GROUP_ROWS * 170
    lines += [line(end + i, "big", bytes([i % 251]) * 60000) for i in range(GROUP_BYTES // 60000 + 2)]
    lines.append(line(2 * end, "late", b"\1\0x\0", description="bool a; bool b; str c"))
    return "".join(lines)
