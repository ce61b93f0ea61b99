# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""A reader of flat Parquet files, by the published format: all values, metadata, and whether
statistics are those of the values.  It reads what a writer could use, not what ours does."""

import ctypes
import ctypes.util
import math
import struct

BOOLEAN, INT32, INT64, FLOAT, DOUBLE, BYTE_ARRAY = 0, 1, 2, 4, 5, 6
CODES = {INT32: "i", INT64: "q", FLOAT: "f", DOUBLE: "d"}
STRING, TIMESTAMP, INTEGER = 1, 8, 10


class Wrong(Exception):
    pass


def need(truth, what):
    if not truth:
        raise Wrong(what)


class Input:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, n):
        need(n >= 0 and self.at + n <= len(self.data), f"{n} bytes at {self.at} of {len(self.data)}")
        self.at += n
        return self.data[self.at - n:self.at]

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 0x7f) << shift
            shift += 7
            if b < 0x80:
                need(value < 1 << 64, "a varint of more than 64 bits")
                return value

    def zigzag(self):
        v = self.varint()
        return v >> 1 ^ -(v & 1)


def thrift_value(i, kind):
    if kind in (1, 2):
        return kind == 1
    if kind == 3:
        return struct.unpack("b", i.take(1))[0]
    if kind in (4, 5, 6):
        return i.zigzag()
    if kind == 7:
        return struct.unpack("<d", i.take(8))[0]
    if kind == 8:
        return i.take(i.varint())
    if kind == 9:
        head = i.byte()
        count = head >> 4 if head >> 4 < 15 else i.varint()
        return [thrift_value(i, head & 15) for _ in range(count)]
    need(kind == 12, f"a value of type {kind}")
    return thrift_struct(i)


def thrift_struct(i):
    fields, last = {}, 0
    while (head := i.byte()) != 0:
        last = last + (head >> 4) if head >> 4 else i.zigzag()
        need(last not in fields, f"field {last} twice")
        fields[last] = thrift_value(i, head & 15)
    return fields


def zstd():
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return library


def unpacked(codec, data, size):
    if codec == 0:
        need(len(data) == size, f"an uncompressed page of {len(data)} bytes, not {size}")
        return data
    need(codec == 6, f"codec {codec}")
    room = ctypes.create_string_buffer(size)
    got = zstd().ZSTD_decompress(room, size, data, len(data))
    need(got == size, f"a page of {got} bytes, not {size}")
    return room.raw


def bits(data, width):
    """The numbers of that width in data, the first one lowest: eight in so many bytes."""
    mask, values = (1 << width) - 1, []
    for at in range(0, len(data), width):
        group = int.from_bytes(data[at:at + width], "little")
        values += [group >> n & mask for n in range(0, 8 * width, width)]
    return values


def hybrid(i, width, count, end):
    values = []
    while len(values) < count:
        need(i.at < end, f"{len(values)} of {count} numbers")
        head = i.varint()
        if head & 1:
            for _ in range(head >> 1):
                values += bits(i.take(width), width)
        else:
            need(head > 0, "a run of nothing")
            values += [int.from_bytes(i.take((width + 7) // 8), "little")] * (head >> 1)
    need(len(values) < count + 8, f"{len(values)} numbers for {count}")
    need(not any(values[count:]), "padding that is not zero")
    return values[:count]


def signed(v, size):
    v &= (1 << size) - 1
    return v - (1 << size) if v >> size - 1 else v


def delta(i, count, size):
    block, parts, total, value = i.varint(), i.varint(), i.varint(), i.zigzag()
    need(block % 128 == 0 and block // parts % 32 == 0, f"blocks of {block} in {parts}")
    need(total == count, f"{total} differences for {count} values")
    values = [value]
    while len(values) < count:
        least, widths = i.zigzag(), i.take(parts)
        for width in widths:
            if len(values) == count:
                break
            need(width <= size, f"differences of {width} bits")
            part = block // parts
            steps = bits(i.take(part * width // 8), width) if width else [0] * part
            for step in steps[:count - len(values)]:
                values.append(signed(values[-1] + least + step, size))
    return values[:count]


def plain(i, kind, count):
    if kind == BOOLEAN:
        return [bool(b) for b in bits(i.take((count + 7) // 8), 1)[:count]]
    if kind == BYTE_ARRAY:
        return [i.take(struct.unpack("<I", i.take(4))[0]) for _ in range(count)]
    code = CODES[kind]
    return list(struct.unpack(f"<{count}{code}", i.take(count * struct.calcsize(code))))


class Column:
    def __init__(self, element):
        self.name = element[4].decode()
        self.kind, self.optional = element[1], element[3] == 1
        self.logical = element.get(10, {})
        self.converted = element.get(6)
        self.unsigned = INTEGER in self.logical and not self.logical[INTEGER][2]
        self.values = []

    def order(self, value):
        if self.unsigned:
            return value % (1 << (64 if self.kind == INT64 else 32))
        return value

    def bound(self, data):
        if self.kind == BOOLEAN:
            return bool(data[0])
        if self.kind == BYTE_ARRAY:
            return data
        return struct.unpack("<" + CODES[self.kind], data)[0]

    def check_statistics(self, values, statistics):
        there = [v for v in values if v is not None]
        need(statistics[3] == len(values) - len(there), f"{self.name}: {statistics[3]} nulls")
        nan = self.kind in (FLOAT, DOUBLE) and any(map(math.isnan, there))
        if 5 not in statistics:
            need(not there or nan or self.kind == BYTE_ARRAY and max(map(len, there)) > 64,
                 f"{self.name}: no least value")
            return
        need(there and not nan, f"{self.name}: a least value of none")
        low, high = min(there, key=self.order), max(there, key=self.order)
        need((low, high) == (self.bound(statistics[6]), self.bound(statistics[5])),
             f"{self.name}: {statistics} for {low!r} to {high!r}")

    def shown(self, value):
        if value is None or self.kind in (FLOAT, DOUBLE, BOOLEAN):
            return value
        if self.kind == BYTE_ARRAY:
            return value.decode() if STRING in self.logical else value
        return self.order(value)


class File:
    def __init__(self, data):
        need(data[:4] == b"PAR1" and data[-4:] == b"PAR1", "not a Parquet file")
        length = struct.unpack("<I", data[-8:-4])[0]
        i = Input(data, len(data) - 8 - length)
        self.data = data
        self.spans = [(0, 4), (i.at, len(data))]
        meta = thrift_struct(i)
        need(i.at == len(data) - 8, "bytes after the footer")
        root, *elements = meta[2]
        need(root[5] == len(elements) == len(meta[7]), "columns that are not counted")
        self.columns = [Column(e) for e in elements]
        self.by_name = {c.name: c for c in self.columns}
        need(len(self.by_name) == len(self.columns), "a name twice")
        self.pairs = {p[1].decode(): p[2].decode() for p in meta.get(5, [])}
        self.rows, self.groups = meta[3], [g[3] for g in meta[4]]
        need(sum(self.groups) == self.rows, "rows that are not counted")
        for group in meta[4]:
            need(len(group[1]) == len(self.columns), "a group without a column")
            need(group[2] == sum(c[3][6] for c in group[1]), "bytes of a group")
            need(group[6] == sum(c[3][7] for c in group[1]), "compressed bytes of a group")
            for column, chunk in zip(self.columns, group[1]):
                self.read_chunk(column, chunk, group[3])
        self.check_spans()

    def check_spans(self):
        """Each byte of the file belongs to one thing."""
        at = 0
        for begin, end in sorted(self.spans):
            need(begin == at, f"{begin - at} bytes at {at}")
            at = end
        need(at == len(self.data), "bytes at the end")

    def page(self, i, meta, kind):
        begin = i.at
        head = thrift_struct(i)
        need(head[1] == kind, f"a page of type {head[1]}")
        data = unpacked(meta[4], i.take(head[3]), head[2])
        self.bytes += head[2] + i.at - begin - head[3]
        return head, Input(data)

    def read_chunk(self, column, chunk, rows):
        meta, dictionary, self.bytes = chunk[3], None, 0
        need(meta[1] == column.kind and meta[3] == [column.name.encode()], f"chunk of {column.name}")
        need(meta[5] == rows, f"{meta[5]} values in {rows} rows")
        i = Input(self.data, meta.get(11, meta[9]))
        begin = i.at
        if 11 in meta:
            head, page = self.page(i, meta, 2)
            need(head[7][2] == 0, "a dictionary that is not plain")
            dictionary = plain(page, column.kind, head[7][1])
            need(page.at == len(page.data), "bytes after the dictionary")
        need(i.at == meta[9], "data elsewhere")
        values = []
        while len(values) < rows:
            values += self.data_page(i, column, meta, dictionary)
        need(len(values) == rows and i.at - begin == meta[7] and self.bytes == meta[6],
             f"{column.name}: {len(values)} values for {rows}, {i.at - begin} bytes")
        self.spans.append((begin, i.at))
        column.check_statistics(values, meta[12])
        column.values += map(column.shown, values)

    def data_page(self, i, column, meta, dictionary):
        head, page = self.page(i, meta, 0)
        count, encoding = head[5][1], head[5][2]
        need(encoding in meta[2], f"encoding {encoding} is not in the metadata")
        levels = [1] * count
        if column.optional:
            end = page.at + 4 + struct.unpack("<I", page.data[page.at:page.at + 4])[0]
            page.take(4)
            levels = hybrid(page, 1, count, end)
            need(page.at == end, "levels")
        there = sum(levels)
        if encoding == 8 and there:
            ids = hybrid(page, page.byte(), there, len(page.data))
            values = [dictionary[i] for i in ids]
        elif encoding == 5:
            values = delta(page, there, 64 if column.kind == INT64 else 32)
        else:
            need(encoding == 0, f"encoding {encoding}")
            values = plain(page, column.kind, there)
        need(page.at == len(page.data), f"{column.name}: bytes after the values")
        values = iter(values)
        return [next(values) if level else None for level in levels]
