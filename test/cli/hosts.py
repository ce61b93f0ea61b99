# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Logs as if hosts had written them: a complete log, imported, gets a host, a boot id and readings of
the host's clock (docs/log-format.md, sections 2, 3, 5 and 8)."""

import struct

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)

HEAD, POINT, DATA_START = struct.Struct("<IHHIIQQ"), struct.Struct("<QqQ"), 4096
SYNC, INDEX, END, CLOCK = 3, 5, 6, 10
UNSYNCHRONISED = 64


def crc32c(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc = crc >> 8 ^ TABLE[(crc ^ b) & 255]
    return crc ^ 0xFFFFFFFF


def packet(log_id, raw, sequence):
    raw = bytearray(raw)
    struct.pack_into("<Q", raw, 16, sequence)
    struct.pack_into("<I", raw, 12, crc32c(log_id + bytes(raw[:12]) + bytes(raw[16:])))
    return bytes(raw)


def points(packets):
    for p in packets:
        if HEAD.unpack_from(p)[1] == SYNC:
            for i in range(struct.unpack_from("<I", p, HEAD.size)[0]):
                yield POINT.unpack_from(p, HEAD.size + 8 + i * POINT.size)


def ticks_at(table, ns):
    """Of the trace clock, when the log has that time."""
    ticks, at, slope = max((p for p in table if p[1] <= ns and p[2] > 0), default=table[0])
    return ticks + ((ns - at) << 32) // slope


def clock_packets(readings, table, round_number):
    """(ns, bound of the error, status) each."""
    for number, (ns, most, status) in enumerate(readings, 1):
        text = f"{ticks_at(table, ns)} {ns} {most} {most} {status}".encode()
        body = struct.pack("<II", number, len(text)) + text
        body += bytes(-len(body) % 8)
        yield HEAD.pack(0x50545850, CLOCK, 0, HEAD.size + len(body), 0, 0, round_number) + body


def of_host(path, name, boot, readings=()):
    """Changes the log at path; boot: a number."""
    raw = path.read_bytes()
    head, log_id = bytearray(raw[:DATA_START]), raw[24:40]
    packets, at = [], DATA_START
    while at < len(raw):
        size = struct.unpack_from("<I", raw, at + 8)[0]
        packets.append(raw[at:at + size])
        at += size
    kinds = [HEAD.unpack_from(p)[1] for p in packets]
    assert kinds[-2:] == [INDEX, END]
    added = list(clock_packets(readings, sorted(set(points(packets))),
                               HEAD.unpack_from(packets[-1])[6]))
    more = sum(map(len, added))
    end = bytearray(packets[-1])
    for place in (312, len(end) - 16):
        struct.pack_into("<Q", end, place, struct.unpack_from("<Q", end, place)[0] + more)
    first = HEAD.unpack_from(packets[-2])[5]
    closing = [packet(log_id, p, first + i)
               for i, p in enumerate([*added, packets[-2], bytes(end)])]
    head[40:56] = boot.to_bytes(16, "little")
    head[264:328] = name.encode().ljust(64, b"\0")
    for place in (80, 88):
        struct.pack_into("<Q", head, place, struct.unpack_from("<Q", head, place)[0] + more)
    struct.pack_into("<I", head, 508, crc32c(bytes(head[:508])))
    path.write_bytes(bytes(head) + b"".join(packets[:-2]) + b"".join(closing))
