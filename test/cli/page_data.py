# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Reads the data of a page of 'posixtrace report --html', as docs/report-page.md describes it.

This is a second reader, on purpose strict: lengths, flags and order are checked.
"""

import base64
import html.parser
import json
import struct
import zlib

EXACT = 2**53 - 1
DIFFERENCES, ZIGZAG, TEXT, WIDE, SIGNED = 1, 2, 4, 8, 16


class Elements(html.parser.HTMLParser):
    """The elements of the file as a browser sees them: texts of scripts by id, all tags."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.code, self.attributes = [], {}, [], {}
        self.order, self.now, self.title = [], None, ""

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        self.now = (tag, attrs.get("id"))
        if tag == "html":
            self.attributes = attrs
        if tag == "script":
            self.order.append(attrs.get("id"))
            if "id" in attrs:
                assert attrs["id"] not in self.scripts, attrs
                self.scripts[attrs["id"]] = ""

    def handle_endtag(self, tag):
        self.now = None

    def handle_data(self, data):
        if self.now and self.now[0] == "script" and self.now[1]:
            self.scripts[self.now[1]] += data
        elif self.now and self.now[0] == "script":
            self.code.append(data)
        elif self.now and self.now[0] == "title":
            self.title += data


def wrap(value, flags):
    value &= 2**64 - 1
    return value - 2**64 if flags & SIGNED and value >> 63 else value


def read_column(data, at):
    width, flags, zero, count, base = struct.unpack_from("<BBHIQ", data, at)
    at += 16
    assert zero == 0 and width <= 8 and flags < 32, (width, flags)
    if flags & TEXT:
        assert width == 1 and flags == TEXT and at + base <= len(data)
        texts = json.loads(data[at:at + base].decode("utf-8"))
        assert len(texts) == count
        return texts, at + base
    assert at + width * count <= len(data)
    values = [0] * count
    for plane in range(width):
        part = data[at + plane * count:at + (plane + 1) * count]
        values = [v | byte << (8 * plane) for v, byte in zip(values, part)] if plane else list(part)
    if not flags & WIDE:
        assert all(v <= EXACT for v in values)
        base = wrap(base, SIGNED)
    if flags & ZIGZAG:
        values = [v >> 1 ^ -(v & 1) for v in values]
    out, last = [], base
    for v in values:
        last = (last if flags & DIFFERENCES else base) + v
        last = wrap(last, flags) if flags & WIDE else last
        assert flags & WIDE or abs(last) <= EXACT
        out.append(last)
    return out, at + width * count


class Page:
    def __init__(self, path):
        self.path = path
        text = open(path, encoding="utf-8").read()
        self.size = len(text.encode())
        self.text = text
        self.elements = Elements()
        self.elements.feed(text)
        self.elements.close()
        self.head = json.loads(self.elements.scripts["head"])
        self.cache = {}

    def block(self, number):
        if number not in self.cache:
            data = base64.b64decode(self.elements.scripts[f"b{number}"], validate=True)
            inflater = zlib.decompressobj(-15)
            data = inflater.decompress(data)
            assert inflater.eof and not inflater.unused_data
            (columns,), at, out = struct.unpack_from("<I", data), 4, []
            for _ in range(columns):
                column, at = read_column(data, at)
                out.append(column)
            assert at == len(data)
            self.cache[number] = out
        return self.cache[number]

    def rows_of(self, tiles, columns):
        """The items of tiles, as tuples; each within its tile."""
        for tile in tiles:
            data = self.block(tile["block"])
            assert len(data) == columns and len(data[0]) == tile.get("items", len(data[0]))
            yield from ((tile, item) for item in zip(*data))

    def check(self):
        """What holds of every page."""
        head = self.head
        blocks = [b for b in self.elements.order if b and b.startswith("b")]
        assert blocks == [f"b{i}" for i in range(len(blocks))], blocks
        assert self.elements.order[0] == "head" and self.elements.order[-1] == "end"
        code = self.elements.order.index(None)
        assert code == head["first"] + 1 and self.elements.order.count(None) == 1
        used = [t["block"] for level in head["levels"] + head["counters"] for t in level["tiles"]]
        detail = head["detail"]
        for kind in ("long", "items", "flows", "events"):
            used += [t["block"] for t in detail[kind]]
        used += [t["fields"] for t in detail["events"] if t["fields"] >= 0]
        assert sorted(used) == list(range(len(blocks))), used
        assert self.elements.attributes["data-events"] == str(head["events"])
        assert self.elements.attributes["data-lost"] == head["lost"]["total"]

    # ---- events ----

    def field(self, columns, about):
        values = next(columns)
        if about["kind"] in "sbj":
            texts = next(columns)
            values = [texts[v] for v in values]
            return [json.loads(v) for v in values] if about["kind"] == "j" else values
        if about["kind"] == "f":
            return [struct.unpack("<d", struct.pack("<Q", v))[0] for v in values]
        names = {int(v): {"false": False, "true": True}.get(name, name) for v, name in about.get("names", [])}
        return [names.get(v, v) for v in values]

    def fields(self, tile, types):
        """By ordinal: (site, fields by name, raw, truncated) of the events of a tile."""
        columns = iter(self.block(tile["fields"]))
        present = next(columns)
        assert present == sorted(set(types)), (present, types)
        out = [None] * len(types)
        for number in present:
            about = self.head["types"][number]
            places = [i for i, t in enumerate(types) if t == number]
            values = [next(columns)] + [self.field(columns, f) for f in about["fields"]]
            assert all(len(v) == len(places) for v in values)
            for i, (site, *rest) in zip(places, zip(*values)):
                names = [f["name"] for f in about["fields"]]
                out[i] = [site, dict(zip(names, rest)), None, 0]
        raw, index, texts, truncated = columns
        for i, text in zip(raw, index):
            out[i][2] = texts[text]
        for i in truncated:
            out[i][3] = 1
        return out

    def events(self):
        """(number, time, lane, type, site, fields, raw, truncated) of each event; None without fields."""
        for tile in self.head["detail"]["events"]:
            times, lanes, types = self.block(tile["block"])[:3]
            assert len(times) == len(lanes) == len(types) == tile["events"]
            assert (min(times), max(times)) == (tile["from"], tile["to"])
            more = self.fields(tile, types) if tile["fields"] >= 0 else [[None] * 4] * len(types)
            for i, event in enumerate(zip(times, lanes, types)):
                yield (tile["first"] + i, *event, *more[i])

    # ---- slices ----

    def slices(self):
        """(row, label, begin, end, flags), those of tiles with flags 0."""
        for tile in self.head["detail"]["events"]:
            times, _, _, rows, labels, ends, lengths = self.block(tile["block"])
            assert ends == sorted(ends)
            for row, label, end, length in zip(rows, labels, ends, lengths):
                assert 0 <= end - length <= end < len(times)
                yield row, label, times[end - length], times[end], 0
        for tile, (row, label, begin, length, flags) in self.rows_of(self.head["detail"]["long"], 5):
            assert tile["from"] <= begin and begin + length <= tile["to"]
            yield row, label, begin, begin + length, flags

    def items(self):
        for tile, (row, begin, length, value) in self.rows_of(self.head["detail"]["items"], 4):
            assert tile["from"] <= begin and begin + length <= tile["to"]
            yield row, begin, length, value

    # ---- levels ----

    def sums(self):
        """By row: how many items, and the time that they cover, as the detail has it."""
        out = {}
        lanes = {row["lane"]: i for i, row in enumerate(self.head["rows"]) if row["kind"] == "events"}
        for _, _, lane, *_ in self.events():
            count, covered = out.get(lanes[lane], (0, 0))
            out[lanes[lane]] = (count + 1, covered)
        for row, _, begin, end, _ in self.slices():
            count, covered = out.get(row, (0, 0))
            out[row] = (count + 1, covered + end - begin)
        for row, _, length, _ in self.items():
            count, covered = out.get(row, (0, 0))
            out[row] = (count + 1, covered + length)
        return out

    def level_sums(self, level):
        out, last = {}, None
        for tile, (row, begin, length, _, count, uncovered) in self.rows_of(level["tiles"], 6):
            assert tile["from"] <= begin and begin + length <= tile["to"], (tile, begin, length)
            assert count >= 1 and length < 2 * level["resolution"] or count == 1 or \
                self.head["rows"][row]["kind"] == "events", (level["resolution"], length, count)
            assert last is None or last[0] != tile["block"] or last[1:] <= (row, begin)
            last = (tile["block"], row, begin)
            total, covered = out.get(row, (0, 0))
            out[row] = (total + count, covered + length - uncovered)
        return out

    def check_levels(self, whole):
        """whole: the sums of the detail, or those of another page of the log."""
        resolutions = [level["resolution"] for level in self.head["levels"]]
        assert resolutions == sorted(set(resolutions), reverse=True)
        for level in self.head["levels"]:
            assert level["items"] == sum(t["items"] for t in level["tiles"])
            assert self.level_sums(level) == whole, level["resolution"]
