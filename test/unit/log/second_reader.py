#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""A second reader of logs, written from docs/log-format.md alone.

Reads each LOG and compares its events and totals with the text that
test/unit/log/golden.c makes of the same log.  What the two readers disagree
about is a mistake in one of them or in the document.  TEXT has the names that the log has;
those of predefined types, which it need not have, are compared with what the tool prints.

usage: second_reader.py TOOL LOG TEXT...
"""

import ctypes
import json
import os
import re
import shlex
import struct
import subprocess
import sys

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)

DATA, NAME, SYNC, ROUND, INDEX, END, PAD, DESCRIPTION, _, CLOCK, PIECE = range(1, 12)
M64 = (1 << 64) - 1
PREDEFINED = {1: b"start", 2: b"stop", 3: b"filter", 4: b"overflow", 5: b"resume",
              6: b"flush_start", 7: b"flush_stop", 8: b"error", 192: b"unnamed_userevent"}


def crc32c(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc = crc >> 8 ^ TABLE[(crc ^ b) & 255]
    return crc ^ 0xFFFFFFFF


def unzstd(packed, size):
    """The contents of a zstd frame; the library is loaded with the first one.  size None: as it
    stands in the frame."""
    zstd = ctypes.CDLL("libzstd.so.1")
    if size is None:
        zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
        zstd.ZSTD_getFrameContentSize.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
        size = zstd.ZSTD_getFrameContentSize(packed, len(packed))
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = (ctypes.c_char_p, ctypes.c_size_t) * 2
    to = ctypes.create_string_buffer(size)
    assert zstd.ZSTD_decompress(to, size, packed, len(packed)) == size
    return to.raw


class Columns:
    """Records of a packet that stand by column."""

    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, form):
        found = struct.unpack_from("<" + form, self.raw, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def column(self, count):
        mode, exceptions, base = self.take("HHI")
        size, differences = mode % 16, mode >= 16
        assert size <= 4 and mode < 32
        planes = [self.take(f"{count}B") for _ in range(size)]
        numbers = [sum(plane[i] << 8 * k for k, plane in enumerate(planes)) for i in range(count)]
        places = self.take(f"{exceptions}H")
        for place, number in zip(places, self.take(f"{exceptions}I")):
            numbers[place] = number
        before = 0
        for i, number in enumerate(numbers):
            numbers[i] = (number + base + (before if differences else 0)) & 0xFFFFFFFF
            before = numbers[i]
        return numbers

    def sequence(self, count, classes):
        bits = next(b for b, most in ((0, 1), (1, 2), (2, 4), (4, 16), (8, 64)) if classes <= most)
        if bits == 0:
            return [0] * count
        each = 8 // bits
        packed = self.take(f"{(count + each - 1) // each}B")
        return [packed[i // each] >> i % each * bits & (1 << bits) - 1 for i in range(count)]

    def rows(self):
        count, class_count = self.take("II")
        classes = [self.take("4I") for _ in range(class_count)]
        sequence, times = self.sequence(count, class_count), self.column(count)
        lengths = [self.column(n) if length == 0xFFFFFFFF else [length] * n
                   for _, n, length, _ in classes]
        bodies = []
        for (_, n, _, words), own in zip(classes, lengths):
            columns = [self.column(n) for _ in range(words)]
            data = [b"".join(struct.pack("<I", c[i]) for c in columns) for i in range(n)]
            for i, length in enumerate(own):
                rest = length + 8 - 4 * words
                data[i] = data[i][:8 + length] + bytes(self.take(f"{max(rest, 0)}B"))
                data[i] += b"\0" * (-length % 8)
            bodies.append(data)
        assert self.at == len(self.raw)
        next_of = [0] * class_count
        result = b""
        for k, time in zip(sequence, times):
            i = next_of[k]
            next_of[k] += 1
            result += struct.pack("<II", classes[k][0] | lengths[k][i] << 16, time) + bodies[k][i]
        return result


def text(raw):
    return raw.split(b"\0")[0]


class Packet:
    """A packet whose checksum is right; fields are read at offsets of the document."""

    def __init__(self, raw, offset):
        self.raw, self.offset = raw, offset
        self.type, self.flags, self.size = struct.unpack_from("<HHI", raw, 4)
        self.number, self.round = struct.unpack_from("<QQ", raw, 16)

    def get(self, form, at):
        found = struct.unpack_from("<" + form, self.raw, at)
        return found[0] if len(found) == 1 else found


class Log:
    def __init__(self, raw):
        self.raw = raw
        magic, version, size, flags = struct.unpack_from("<8sIII", raw, 0)
        assert magic == b"PXTLOG\r\n" and version in (1, 2) and size == 512
        assert version == 1 or struct.unpack_from("<I", raw, 256)[0] & ~3 == 0
        assert struct.unpack_from("<I", raw, 508)[0] == crc32c(raw[:508])
        self.id = raw[24:40]
        self.header_sync = struct.unpack_from("<QqQ", raw, 232)
        self.event_cost = struct.unpack_from("<I", raw, 260)[0]
        self.piece = struct.unpack_from("<I", raw, 328)[0]
        self.base, self.before = None, []
        self.ring, self.meta, self.end_offset = struct.unpack_from("<QQQ", raw, 64)
        self.complete = bool(flags & 1)
        self.names, self.syncs, self.state, self.skipped = {}, [], None, 0
        self.authors, self.described, self.shown, self.clocks = {}, {}, [], {}

    def packet(self, at):
        if at + 32 > len(self.raw):
            return None
        magic, kind, _, size, crc = struct.unpack_from("<IHHII", self.raw, at)
        if magic != 0x50545850 or not 1 <= kind <= 63 or size % 8 or size < 32:
            return None
        if at + size > len(self.raw):
            return None
        raw = self.raw[at:at + size]
        return Packet(raw, at) if crc32c(self.id + raw[:12] + raw[16:]) == crc else None

    def scan(self, at, to):
        """Packets in [at, to), and how many bytes lay between them."""
        while at + 8 <= to:
            p = self.packet(at)
            if p:
                yield p
                at += p.size
            else:
                self.skipped += 8
                at += 8

    def learn(self, p):
        if p.type == NAME:
            number, length = p.get("II", 32)
            self.names.setdefault(number, p.raw[40:40 + length])
        elif p.type == DESCRIPTION:
            number, length = p.get("II", 32)
            assert 193 <= number <= 1215 and 1 <= length <= 2047 and length <= p.size - 40
            self.described.setdefault(number, p.raw[40:40 + length])
        elif p.type == CLOCK:
            number, length = p.get("II", 32)
            assert 1 <= number <= 1023 and length <= 127 and length <= p.size - 40
            self.clocks.setdefault(number, p.raw[40:40 + length])
        elif p.type == PIECE:
            if self.base is None and p.get("I", 32) == self.piece:
                self.base = p.get("9Q", 40)
                self.before = [p.get("IIQQ4Q", 136 + 56 * i) for i in range(p.get("I", 36))]
                assert p.size == 136 + 56 * len(self.before)
        elif p.type == SYNC:
            for i in range(p.get("I", 32)):
                point = p.get("QqQ", 40 + 24 * i)
                if not self.syncs or point[0] > self.syncs[-1][0]:
                    self.syncs.append(point)
        elif p.type in (ROUND, END):
            self.state = p
            first = 344 if p.type == ROUND else 336
            if p.type == END or p.flags & 2:
                self.authors = {}
            for i in range(p.get("I", 296)):
                fields = p.get("IIiiQ16s8Q", first + 104 * i)
                self.authors[fields[0]] = fields

    def ns(self, ticks):
        point = self.syncs[0] if self.syncs else (0, 0, 1 << 32)
        for other in self.syncs:
            if other[0] <= ticks:
                point = other
        if ticks >= point[0]:
            value = point[1] + ((ticks - point[0]) * point[2] >> 32)
        else:
            value = point[1] - ((point[0] - ticks) * point[2] >> 32)
        value &= M64
        return value - (1 << 64) if value >> 63 else value

    def packets(self):
        """Those with events, and ROUNDs, in the order in which to read them."""
        end = self.packet(self.end_offset) if self.end_offset else None
        if not self.ring:
            to = end.get("Q", 304) if end else len(self.raw)
            found = list(self.scan(4096, to))
            self.closing = list(self.scan(to, len(self.raw))) if end else []
            return found
        ring_end = 4096 + self.ring
        everything = list(self.scan(4096, ring_end))
        self.skipped = 0
        self.closing = list(self.scan(self.meta, len(self.raw)))
        newest = max((p for p in everything if p.type == ROUND), key=lambda p: p.number)
        if end:
            newest = next(p for p in everything if p.number == end.get("Q", 320))
        oldest = newest.get("Q", 288)
        turned = ([p for p in everything if p.offset >= oldest] +
                  [p for p in everything if p.offset < oldest])
        result, last = [], 0
        for p in turned:
            if last < p.number <= newest.number:
                result.append(p)
                last = p.number
        return result if end else result + self.unfinished(newest, ring_end)

    def unfinished(self, newest, ring_end):
        """What follows the last ROUND round the ring, up to that ROUND itself."""
        result, last, at, to = [], newest.number, newest.offset + newest.size, ring_end
        while True:
            if to == ring_end and to - at < 32:
                at, to = 4096, newest.offset
            p = self.packet(at) if at < to else None
            if not p or p.number <= last:
                return result
            result.append(p)
            last, at = p.number, at + p.size

    def read(self):
        events, batch, found = [], [], self.packets()
        for p in found + self.closing:
            self.learn(p)
        if not self.syncs and self.header_sync[2]:
            self.syncs = [self.header_sync]
        emergency = self.packet(512)
        if emergency and not (emergency.flags & 4 and emergency.number > self.state.number):
            emergency = None
        if emergency:
            self.learn(emergency)
        self.settle(sum(p.get("I", 88) for p in found if p.type == DATA and
                        p.number < self.state.number))
        for p in found:
            if p.type == DATA:
                batch.append(p)
            elif p.type == ROUND and not p.flags & 1:
                events += self.merge(batch)
                batch = []
        return events + self.merge(batch)

    def readings(self):
        """Those of the host's clock, by their numbers."""
        matches = [re.match(rb"(\d+) (-?\d+) (-?\d+) (-?\d+) (-?\d+)(?: |$)", self.clocks[number])
                   for number in sorted(self.clocks)]
        return [[int(n) for n in m.groups()] for m in matches if m]

    @staticmethod
    def more(p):
        """The context switches that the kernel lost: after the authors, and END's counts."""
        at = (344 if p.type == ROUND else 336) + 104 * p.get("I", 296)
        end = p.size
        if p.type == END:
            at += 16 * p.get("I", 300)
            end -= 16
        return p.get("Q", at) if at + 8 <= end else 0

    def settle(self, written):
        """What the file has of the events that its newest state says are in it."""
        self.lost = list(self.state.get("7Q", 144))
        self.lost_switches = self.more(self.state)
        self.lost[0] -= self.lost_switches
        differ = self.state.get("Q", 104) - written
        if self.state.flags & 4 and differ < 0:
            self.lost[6] += differ
        elif self.ring and differ > 0:
            self.lost[5] += differ

    def merge(self, batch):
        events = []
        for place, p in enumerate(batch):
            for i, record in enumerate(self.records(p)):
                events.append((record[0], p.get("I", 32), place, i, p, record))
        events.sort(key=lambda e: e[:4])
        return [self.line(e[4], *e[5]) for e in events]

    def records(self, p):
        at, to, base = 0, p.get("I", 84), p.get("Q", 104)
        raw = p.raw[128:]
        if p.flags & 6:
            raw = raw[:p.get("I", 92)]
        if p.flags & 2:
            raw = unzstd(raw, None if p.flags & 4 else to)
        if p.flags & 4:
            raw = Columns(raw).rows()
            assert len(raw) == to
        while at < to:
            head, delta, word = struct.unpack_from("<IIQ", raw, at)
            kind, length = head >> 12 & 15, head >> 16
            if kind == 1:
                base = word
            else:
                assert kind == 0
                yield ((base + delta) & M64, head & 0x7ff, head >> 11 & 1, word,
                       raw[at + 16:at + 16 + length])
            at += 16 + (length + 7 & ~7)

    def name(self, number):
        known = PREDEFINED.get(number)
        return self.names.get(number, b"posix_trace_" + known if known else b"")

    def line(self, p, ticks, number, truncated, address, data):
        total = 0
        for b in data:
            total = (total * 31 + b) & 0xFFFFFFFF
        wid, level, pid, tid, thread, name = p.get("IIiiQ16s", 32)
        self.shown.append(self.name(number))
        latest = self.authors.get(wid)
        if latest and latest[1] == level:
            name = latest[5]
        return (b"%d %d writer %d level %d %d/%d/%x '%s' %d '%s' at %x len %d sum %08x%s" %
                (self.ns(ticks), ticks, wid, level, pid, tid, thread, text(name), number,
                 self.names.get(number, b""), address, len(data), total,
                 b" truncated" if truncated else b""))


def compare_names(tool, log_name, shown):
    emulator = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
    done = subprocess.run([*emulator, tool, "print", "--format=jsonl", log_name],
                          capture_output=True, text=True, check=False)
    printed = [json.loads(line)["event"] for line in done.stdout.split("\n") if line]
    assert len(printed) == len(shown), f"{log_name}: {done.stderr}"
    for a, b in zip(shown, printed):
        assert a == b.encode("utf-8", "surrogateescape"), f"{log_name}: name {a}, printed {b}"


def compare_piece(log_name, log, rest):
    """What the pieces before this one have."""
    line = re.search(rb"\npiece (\d+) after (\d+) events, (\d+) recorded, lost([0-9 ]+)\n", rest)
    wanted = [int(n) for n in b" ".join(line.groups()).split()] if line else None
    got = [log.piece, *log.base] if log.base else None
    assert got == wanted, f"{log_name}: piece {got}, wanted {wanted}"
    wanted = [tuple(map(int, a)) for a in
              re.findall(rb"\nwriter (\d+) before: next (\d+) recorded (\d+) full (\d+)", rest)]
    got = [(a[0] | a[1] >> 8 << 32, a[2], a[3], a[4]) for a in log.before]
    assert got == wanted, f"{log_name}: authors before {got}, wanted {wanted}"


def compare(tool, log_name, text_name):
    with open(log_name, "rb") as f:
        log = Log(f.read())
    with open(text_name, "rb") as f:
        wanted = f.read().split(b"\n")
    got = log.read()
    events = [line for line in wanted if b" writer " in line]
    assert got, "no events"
    for a, b in zip(got, events):
        assert a == b, f"{log_name}: got\n{a}\nwanted\n{b}"
    assert len(got) == len(events), f"{log_name}: {len(got)} events, wanted {len(events)}"
    rest = b"\n".join(wanted)
    lost = [int(n) for n in re.search(rb"\nlost ([0-9 ]+)\n", rest).group(1).split()]
    assert log.lost == lost, f"{log_name}: losses {log.lost}, wanted {lost}"
    kernel = re.search(rb"\nlost by the kernel ([0-9]+)\n", rest)
    assert log.lost_switches == (int(kernel.group(1)) if kernel else 0), f"{log_name}: kernel"
    cost = re.search(rb"an event costs ([0-9]+) ps\n", rest)
    assert log.event_cost == (int(cost.group(1)) if cost else 0), f"{log_name}: event cost"
    assert int(b"complete 1" in rest) == log.complete, f"{log_name}: completeness"
    described = {int(n): d for n, d in re.findall(rb"\ndescribed (\d+) '([^']*)'", rest)}
    assert log.described == described, f"{log_name}: {log.described}, wanted {described}"
    clocks = [[int(n) for n in re.findall(rb"-?\d+", line)]
              for line in wanted if line.startswith(b"clock ")]
    assert log.readings() == clocks, f"{log_name}: {log.readings()}, wanted {clocks}"
    compare_piece(log_name, log, rest)
    for tid, recorded in re.findall(rb"thread 4000/(\d+) '[^']*' recorded (\d+)", rest):
        mine = [a for a in log.authors.values() if a[3] == int(tid)]
        # after the last ROUND the events' numbers are newer than the totals
        assert sum(a[6] for a in mine) <= int(recorded), f"{log_name}: thread {tid}"
    compare_names(tool, log_name, log.shown)
    print(f"{log_name}: {len(got)} events, {log.skipped} bytes skipped")


def main():
    if len(sys.argv) < 4 or len(sys.argv) % 2:
        sys.exit("usage: second_reader.py TOOL LOG TEXT...")
    assert crc32c(b"123456789") == 0xE3069283
    for log_name, text_name in zip(sys.argv[2::2], sys.argv[3::2]):
        compare(sys.argv[1], log_name, text_name)


if __name__ == "__main__":
    main()
