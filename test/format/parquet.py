#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The table that export --to=parquet writes, by a reader of our own (parquet_file.py), against what
print --format=jsonl shows, value by value.

usage: parquet.py CASE POSIXTRACE LOSSY
"""

import json
import math
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile

from description import Description, DoesNotFit
from parquet_file import File
from parquet_logs import GROUP_ROWS, NUMBERS, big_log, line, need, random_log, random_types

CASE, TOOL, LOSSY = sys.argv[1:4]
FIXED = ["host", "boot", "log", "piece", "clock_least", "clock_most", "position", "pid", "tid", "thread_id", "thread", "process", "time", "event",
         "truncated", "address", "data"]
SIZES = {1: 8, 2: 16, 4: 32, 8: 64}
MOST_FIELDS = 4000


def run(*command, status=0, **options):
    done = subprocess.run([TOOL, *map(str, command)], capture_output=True, timeout=240, check=False, **options)
    need(done.returncode == status, *command, "exit", done.returncode, done.stderr.decode())
    return done


def text(data):
    """As a column shows it: \\xNN for a byte that is not UTF-8."""
    return data.decode(errors="backslashreplace")


def name(shown):
    return text(shown.encode("utf-8", "surrogateescape"))


# ---- expected values ----

def names_twice(field):
    names = [n for values in field.names.values() for n in values]
    return len(set(names)) < len(names)


def is_text(field):
    return field.type in ("char", "str")


def same(field, value, found, shown):
    """Is that the value in the column?  shown: in jsonl."""
    if is_text(field):
        data = bytes([value]) if isinstance(value, int) else value
        return found == text(data)
    if field.type == "bytes":
        return found == value.hex()
    if isinstance(value, list):
        return json.loads(found) == shown
    if field.names:
        return found == (field.names[value][0] if value in field.names else str(value)) == str(shown)
    if field.type in ("f32", "f64"):
        code = "<" + field.code()
        return struct.pack(code, value) == struct.pack(code, found)
    return found == value and isinstance(found, bool) == (field.type == "bool")


def is_whole(description, values, data):
    """Does the text of the fields say all that the data has?  By the documented reasons."""
    for field, (_, value) in zip(description.fields, values):
        items = value if isinstance(value, list) else [value]
        if is_text(field):
            raw = bytes(items) if isinstance(value, int) else value
            if text(raw).encode() != raw:
                return False
        elif field.type in ("f32", "f64") and isinstance(value, list):
            if not all(map(math.isfinite, value)):
                return False
        if field.names and names_twice(field):
            return False
    return description.encode(values) == data


class Again(Description):
    """The data from its values, where that is one."""

    def encode(self, values):
        out = b""
        for f, (_, value) in zip(self.fields, values):
            items = value if isinstance(value, (list, bytes)) else [value]
            if f.count:
                out += struct.pack(self.order + {"u8": "B", "u16": "H", "u32": "I"}[f.count], len(items))
            if f.type == "bytes" or f.type == "str":
                out += value.ljust(f.fixed or 0, b"\0") + (b"" if f.fixed or f.count or f.type == "bytes" else b"\0")
            elif f.type in ("char", "bool"):
                out += bytes(items)
            else:
                out += b"".join(struct.pack(self.order + f.code(), i) for i in items)
        return out


def column_names(objects, pairs):
    """Of fields, in the order of the first event of each type.  Descriptions of system types are
    not in jsonl."""
    descriptions, columns, used = {}, {}, set()
    for o in objects:
        if "description" in o:
            descriptions[o["event"]] = Again(o["description"])
        elif "fields" in o and o["event"] not in descriptions:
            descriptions[o["event"]] = Again(pairs["posixtrace.description." + o["event"]])
    for o in objects:
        if o["event"] not in descriptions or o["event"] in columns:
            continue
        columns[o["event"]] = []
        for field in descriptions[o["event"]].fields:
            free = base = f"{name(o['event'])}.{field.name}"
            number = 1
            while free in used:
                number += 1
                free = f"{base}#{number}"
            used.add(free)
            columns[o["event"]].append(free)
    return descriptions, columns


def check_type(field, column):
    want = 6
    size = struct.calcsize("<" + field.code()) if field.type in (*NUMBERS, "f32", "f64") else 1
    if not (field.fixed is not None or field.count or is_text(field) or field.type == "bytes"):
        if field.type in ("f32", "f64"):
            want = 4 if size == 4 else 5
        elif field.type == "bool":
            want = 0
        elif not field.names:
            want = 2 if size == 8 else 1
            need(column.logical[10] == {1: SIZES[size], 2: field.type[0] == "i"}, column.logical)
            need(column.converted == (15 if field.type[0] == "i" else 11) + SIZES[size].bit_length() - 4,
                 column.converted)
    need(column.kind == want and column.optional, column.name, field.type, column.kind)
    need(want != 6 or (column.logical == {1: {}} and column.converted == 0), column.name)


def check_fixed(file, objects):
    want = {"position": list(range(len(objects))), "pid": [o["pid"] for o in objects],
            "tid": [o["tid"] for o in objects], "thread_id": [int(o["thread_id"], 16) for o in objects],
            "thread": [name(o["thread"]) for o in objects], "time": [o["ts"] for o in objects],
            "event": [name(o["event"]) for o in objects], "truncated": [bool(o["trunc"]) for o in objects],
            "address": [int(o["addr"], 16) for o in objects]}
    for key, values in want.items():
        found = file.by_name[key].values
        need(found == values, key, [(i, f, v) for i, (f, v) in enumerate(zip(found, values)) if f != v][:3])


def compare(file, lines, limit=MOST_FIELDS):
    """All of the table, but for the columns of the log."""
    objects = [json.loads(line) for line in lines.decode().split("\n")[:-1]]
    descriptions, columns = column_names(objects, file.pairs)
    need(file.rows == len(objects), file.rows, "rows for", len(objects))
    names = [n for fields in columns.values() for n in fields][:limit]
    need([c.name for c in file.columns] == FIXED + names, "other columns")
    for event, fields in columns.items():
        for field, column in zip(descriptions[event].fields, fields):
            if column in file.by_name:
                check_type(field, file.by_name[column])
    for o in objects:
        if "description" in o:
            need(o["description"] in [v for k, v in file.pairs.items() if k.endswith(name(o["event"]))], o)
    left = {n: len(file.by_name[n].values) for n in names}
    nulls = {n: file.by_name[n].values.count(None) for n in names}
    check_fixed(file, objects)
    for row, o in enumerate(objects):
        data, held = bytes.fromhex(o["data"]), file.by_name["data"].values[row]
        if o.get("fields") is None:
            need(held == data, f"row {row}: data {held!r}")
            need(all(file.by_name[n].values[row] is None for n in columns.get(o["event"], ()) if n in left),
                 f"row {row}: a field")
            continue
        description = descriptions[o["event"]]
        values = description.decode(data)
        all_there = True
        for field, (key, value), column in zip(description.fields, values, columns[o["event"]]):
            if column not in left:
                all_there = False
                continue
            found = file.by_name[column].values[row]
            need(same(field, value, found, o["fields"][key]), f"row {row}: {column}: {found!r} for {value!r}")
            left[column] -= 1
        whole = all_there and is_whole(description, values, data)
        need(held == (None if whole else data), f"row {row}: data {held!r}, whole {whole}: {o}")
    need(left == nulls, "values in rows of other types")
    return file


def make(folder, lines):
    (folder / "in.jsonl").write_text(lines)
    run("import", "--from=jsonl", "--force", folder / "in.jsonl", folder / "a.ptl")
    return folder / "a.ptl"


def table(log, *options, **more):
    """The table of a log, and what the tool said."""
    out = log.parent / "out.parquet"
    said = run("export", "--to=parquet", "--force", *options, log, out, **more).stderr.decode()
    return File(out.read_bytes()), said


def shown(log, *options):
    return run("print", "--format=jsonl", *options, log).stdout


def compare_pipe(log):
    """A log in a pipe gives the same file, but for names that are known at its end only."""
    piped = subprocess.run([TOOL, "export", "--to=parquet", "-", "-"], input=log.read_bytes(),
                           capture_output=True, check=True)
    found, wanted = (File(data) for data in (piped.stdout, (log.parent / "out.parquet").read_bytes()))
    need(found.pairs == wanted.pairs and [c.name for c in found.columns] == [c.name for c in wanted.columns], "other columns")
    for a, b in zip(found.columns, wanted.columns):
        need(repr(a.values) == repr(b.values) or (a.name == "process" and set(a.values) == {None}), a.name, "from a pipe")


def case_random(folder):
    seed = int(os.environ.get("POSIXTRACE_SEED", random.randrange(2**32)))
    print("seed", seed, flush=True)
    rng = random.Random(seed)
    for count, types in ((2000, 300), (1, 1), (300, 3), (1000, 20)):
        types = random_types(rng, types)
        log = make(folder, random_log(rng, count, types))
        compare(table(log)[0], shown(log))
        compare_pipe(log)


def case_empty(folder):
    log = make(folder, "")
    file = compare(table(log)[0], shown(log))
    need(file.rows == 0 and not file.groups, file.rows)
    file, _ = table(log, "--host=here ü")
    need([c.name for c in file.columns] == FIXED, "columns")


def case_groups(folder):
    """Groups end by rows and by bytes, and columns may come late."""
    log = make(folder, big_log())
    file = compare(table(log)[0], shown(log))
    need(file.groups[0] == GROUP_ROWS and len(file.groups) == 3 and file.groups[2] < 10, file.groups)


def case_fields(folder):
    """More fields than a file has columns for."""
    lines = [line(i, f"t{i}", bytes(range(60)), description="; ".join(f"u8 f{n}" for n in range(60)))
             for i in range(70)]
    log = make(folder, "".join(lines))
    file, said = table(log)
    need(len(file.columns) == len(FIXED) + MOST_FIELDS, len(file.columns))
    need("at most 4000 columns of fields: 20 of the 60 fields of 't66'" in said, said)
    compare(file, shown(log))


def case_columns(folder):
    """The columns of the log, and options."""
    log = make(folder, "".join(line(10**18 + i, "tick", b"") for i in range(10)))
    identity = json.loads(run("info", "--format=jsonl", log).stdout)
    file, _ = table(log)
    need(set(file.by_name["host"].values) == {identity.get("host")}, identity)
    file, _ = table(log, "--host=a\"b\udcff")
    need(set(file.by_name["host"].values) == {"a\"b\\xff"}, file.by_name["host"].values)
    ids = set(file.by_name["log"].values)
    need(ids == {identity["id"]}, identity)
    need(file.by_name["time"].logical == {8: {1: True, 2: {3: {}}}}, file.by_name["time"].logical)
    need(10 in table(log, "--time=integer")[0].by_name["time"].logical, "an integer")
    file, _ = table(log, f"--from=@{10**9}.000000004")
    need(file.by_name["position"].values == [4, 5, 6, 7, 8, 9], file.by_name["position"].values)
    said = run("export", "--to=parquet", "--time=soon", log, folder / "none", status=1).stderr.decode()
    need("--time=soon" in said and not (folder / "none").exists(), said)


def case_lost(folder):
    for how in ("loop", "full", "stream", "one"):
        log = folder / "lost.ptl"
        subprocess.run([LOSSY, str(log), how], check=True, timeout=60)
        file = compare(table(log)[0], shown(log))
        compare_pipe(log)
        info = json.loads(run("info", "--format=jsonl", log).stdout)
        lost = int(file.pairs["posixtrace.lost"])
        need(set(file.by_name["host"].values) == {os.uname().nodename}, file.by_name["host"].values[0])
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")
        need(set(file.by_name["boot"].values) == {boot}, file.by_name["boot"].values[0], boot)
        causes = {k[16:]: int(v) for k, v in file.pairs.items() if k.startswith("posixtrace.lost.")}
        need(lost > 0 and (lost, causes) == (info["lost"], info["lost_by_cause"]), file.pairs, info)
        need(how != "one" or "posix_trace_overflow" in file.by_name["event"].values, "no mark")


def case_damaged(folder):
    whole = make(folder, "".join(line(i, "tick", bytes(8), i % 3, description="u64 a" if i == 0 else None)
                                 for i in range(20000)))
    data = bytearray(whole.read_bytes())
    for at in (len(data) // 2, len(data) // 3):
        data[at] ^= 0x55
        log = folder / "damaged.ptl"
        log.write_bytes(data)
        compare(table(log)[0], shown(log))
    log.write_bytes(data[:len(data) * 2 // 3])
    file, said = table(log)
    compare(file, shown(log))
    need("cut" in said, said)


def no_space():
    resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))


def case_full(folder):
    """A disk without room leaves no file, under that name or another."""
    rng = random.Random(1)
    log = make(folder, "".join(line(i, "tick", rng.randbytes(64)) for i in range(3000)))
    place = folder / "place"
    place.mkdir()
    said = run("export", "--to=parquet", log, place / "x.parquet", status=1, preexec_fn=no_space).stderr.decode()
    need("cannot write" in said and not list(place.iterdir()), said, list(place.iterdir()))
    with open("/dev/full", "wb") as full:
        done = subprocess.run([TOOL, "export", "--to=parquet", log, "-"], stdout=full, stderr=subprocess.PIPE, check=False)
    need(done.returncode == 1 and b"No space left" in done.stderr, done)
    said = run("export", "--to=parquet", log, place / "x.parquet", status=1,
               env={**os.environ, "TMPDIR": str(folder / "nowhere")}).stderr.decode()
    need("TMPDIR" in said and not list(place.iterdir()), said)


with tempfile.TemporaryDirectory() as made:
    globals()["case_" + CASE](pathlib.Path(made))
