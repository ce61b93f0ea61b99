# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The language of descriptions, posixtrace-description(5), written a second time."""

import re
import struct

FIELD = re.compile(r"\s*(?P<type>\w+)\s*(?:\[\s*(?P<fixed>\d+)\s*\]|:\s*(?P<count>u\d+))?"
                   r"\s*(?P<name>\w+)\s*(?:\{(?P<names>[^}]*)\})?\s*$")
CODES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i",
         "i64": "q", "f32": "f", "f64": "d"}


class DoesNotFit(Exception):
    pass


class Field:
    def __init__(self, text):
        m = FIELD.match(text)
        self.type, self.name = m["type"], m["name"]
        self.fixed = int(m["fixed"]) if m["fixed"] else None
        self.count = m["count"]
        self.names = {}
        value = 0
        for part in (m["names"] or "").split(","):
            if part.strip():
                name, _, given = part.partition("=")
                value = int(given, 0) if given else value
                self.names.setdefault(value, []).append(name.strip())
                value += 1

    def code(self):
        return CODES[self.type.replace("x", "u")]


class Description:
    def __init__(self, text):
        parts = [p for p in text.split(";") if p.strip()]
        self.order = "<"
        if parts[0].strip() in ("le", "be"):
            self.order = ">" if parts.pop(0).strip() == "be" else "<"
        self.fields = [Field(p) for p in parts]

    def decode(self, data):
        """A list of name and value; strings and bytes as bytes."""
        at, values = 0, []

        def take(n):
            nonlocal at
            if at + n > len(data):
                raise DoesNotFit
            at += n
            return data[at - n:at]

        def number(code):
            return struct.unpack(self.order + code, take(struct.calcsize(code)))[0]

        for f in self.fields:
            n = number(CODES[f.count]) if f.count else f.fixed
            if f.type == "str" and n is None:
                end = data.find(b"\0", at)
                if end < 0:
                    raise DoesNotFit
                value = take(end + 1 - at)[:-1]
            elif f.type in ("str", "bytes"):
                value = take(len(data) - at if n is None else n)
                if f.type == "str" and f.fixed:
                    value = value.split(b"\0")[0]
            elif f.type == "char":
                value = take(1 if n is None else n)
                value = value if n is not None else value[0]
            elif f.type == "bool":
                value = [bool(b) for b in take(1 if n is None else n)]
                value = value if n is not None else value[0]
            elif n is None:
                value = number(f.code())
            else:
                value = [number(f.code()) for _ in range(n)]
            values.append((f.name, value))
        if at != len(data):
            raise DoesNotFit
        return values
