#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""CTF, held against babeltrace2: what it reads of our traces, and we of others'.

usage: ctf.py CASE POSIXTRACE MANY_TYPES SHOW_FIELDS LOSSY
"""

import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

from description import Description, DoesNotFit

try:
    import bt2
except ImportError:
    bt2 = None
    # Debian's module is for Debian's python
    if "POSIXTRACE_SECOND" not in os.environ and os.access("/usr/bin/python3", os.X_OK):
        os.environ["POSIXTRACE_SECOND"] = "1"
        os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)

SKIP = 77
SAMPLES = pathlib.Path(os.environ.get("POSIXTRACE_SAMPLES", "")) / "ctf" / "babeltrace"
CASE, TOOL, MANY_TYPES, SHOW_FIELDS, LOSSY = sys.argv[1:6]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def need(condition, *what):
    if not condition:
        sys.exit("not so: " + " ".join(str(w) for w in what))


def run(*command, status=0, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, timeout=240, **options)
    need(done.returncode == status, *command, "exit", done.returncode,
         done.stderr.decode(errors="replace"))
    return done.stdout


def export(log, to, *options, **more):
    run(TOOL, "export", "--to=ctf", *options, log, to, **more)


def many_types(folder, seed, events, threads, start):
    """A log, what print says of it, and the descriptions by name."""
    log = folder / f"many-{seed}.ptl"
    types = run(MANY_TYPES, log, seed, events, threads, start).decode()
    types = dict(line.split("\t") for line in types.splitlines())
    types = {bytes.fromhex(n).decode(): Description(d) for n, d in types.items()}
    printed = run(TOOL, "print", "--format=jsonl", log).decode()
    return log, [json.loads(line) for line in printed.split("\n") if line], types


# ---- what babeltrace2 reads ----

def plain(field):
    """A field of bt2 as numbers, strings, lists and dicts."""
    if isinstance(field, bt2._StructureFieldConst):
        return {name: plain(field[name]) for name in field}
    if isinstance(field, bt2._ArrayFieldConst):
        return [plain(element) for element in field]
    if isinstance(field, bt2._VariantFieldConst):
        return plain(field.selected_option)
    if isinstance(field, bt2._RealFieldConst):
        return float(field)
    if isinstance(field, bt2._IntegerFieldConst):
        return int(field)
    # 2.0.4 leaves what was there before in the buffer of an empty string
    return str(field) if len(field) else ""


def messages(path):
    for message in bt2.TraceCollectionMessageIterator(str(path)):
        yield message


def events_of(path):
    return [m for m in messages(path) if type(m) is bt2._EventMessageConst]


def labels(field):
    if not isinstance(field, bt2._EnumerationFieldConst):
        return None
    try:
        return list(field.labels)
    except AssertionError:
        return []    # 2.0.4 cannot say that there are none


def expected_fields(event, types):
    """As babeltrace2 should have them: names, values, labels of the scalars."""
    data = bytes.fromhex(event["data"])
    description = types.get(event["event"])
    if description:
        try:
            return description, description.decode(data)
        except DoesNotFit:
            pass
    return None, ([("data", data)] if data else [])


def text(value):
    return value.decode().split("\0")[0]


def compare_field(f, value, got, field):
    if f is None or f.type == "bytes":
        need(got == list(value), f and f.name, got, value)
    elif f.type == "str" or (f.type == "char" and isinstance(value, bytes)):
        need(got == text(value), f.name, repr(got), value)
    elif f.type[0] == "f":
        same = repr(got) == repr(value) or got == value
        need(same, f.name, got, value)
    else:
        need(got == value, f.name, got, value)
        if f.type == "bool" and not isinstance(value, list):
            need(labels(field) == [str(value).lower()], labels(field), value)
        elif f.names and not isinstance(value, list):
            fits = labels(field) or []
            signed = value - (1 << 64) if value >= 1 << 63 else value
            named = f.names.get(signed, [])
            need(len(fits) == min(len(named), 1) and set(fits) <= set(named), f.name, value, fits)


def compare_event(message, event, types):
    got, context = message.event, message.event.common_context_field
    packet = message.event.packet.context_field
    need(message.default_clock_snapshot.ns_from_origin == event["ts"], event)
    need(got.name == event["event"], got.name, event)
    need(int(context["vpid"]) == event["pid"] == int(packet["pid"]), event)
    need(int(context["vtid"]) == event["tid"] == int(packet["tid"]), event)
    need(int(context["ip"]) == int(event["addr"], 16), event)
    need(int(context["truncated"]) == event["trunc"], event)
    need(int(packet["thread_id"]) == int(event["thread_id"], 16), event)
    need(plain(packet["thread_name"]) == event["thread"], event)
    description, values = expected_fields(event, types)
    payload = got.payload_field
    names = list(payload) if payload is not None else []
    counts = [n for n in names if re.fullmatch(r"_\w+_length_*", n)
              and n not in [v[0] for v in values]]
    need([n for n in names if n not in counts] == [v[0] for v in values], names, values)
    for i, (name, value) in enumerate(values):
        compare_field(description.fields[i] if description else None, value,
                      plain(payload[name]), payload[name])
    return description is not None


def case_export(folder):
    """Same count, order, times and fields as print, many types, before 1970 too."""
    if not bt2 or not shutil.which("babeltrace2"):
        skip("the packages python3-bt2 and babeltrace2 are needed")
    for seed, start in enumerate([1700000000 * 10**9, 0, -5 * 10**9, -9223372035 * 10**9], 1):
        log, events, types = many_types(folder, seed, 3000, 5, start)
        to = folder / f"{seed}.ctf"
        export(log, to)
        got = events_of(to)
        need(len(got) == len(events) == 3000, len(got), len(events))
        described = sum(compare_event(m, e, types) for m, e in zip(got, events))
        need(2000 < described < 3000, described, "events with fields")
        lines = run("babeltrace2", "--clock-cycles", to).decode()
        need(len(re.findall(r"^\[\d{20}\]", lines, re.M)) == 3000, "lines of babeltrace2")
        need(any(m.event.name.startswith('quote"s and \\ back\nslash') for m in got), "names")
    # nine hundred milliseconds more than a reader's clock can go back
    log, events, types = many_types(folder, 8, 3000, 5, -2**63)
    done = subprocess.run([TOOL, "export", "--to=ctf", log, folder / "8.ctf"], capture_output=True)
    left = sum(e["ts"] < -9223372036 * 10**9 for e in events)
    need(done.returncode == 0 and b"%d events could not" % left in done.stderr, left, done)
    need(len(events_of(folder / "8.ctf")) == 3000 - left, "the others")
    # an empty log is a trace without events
    log, events, types = many_types(folder, 9, 0, 1, 0)
    export(log, folder / "empty.ctf")
    need((folder / "empty.ctf" / "metadata").read_text().startswith("/* CTF 1.8 */"), "metadata")


def case_threads(folder):
    """Many thousands of threads with few descriptors, each event there, in order."""
    log, events, types = many_types(folder, 5, 12000, 9000, 1700000000 * 10**9)
    few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))}
    export(log, folder / "some.ctf", **few)
    files = [p.name for p in (folder / "some.ctf").iterdir()]
    need(len(files) == 512 + 2 and "others" in files, len(files), "files")
    export(log, folder / "many.ctf", "--streams=4096", **few)
    need(len(list((folder / "many.ctf").iterdir())) == 4096 + 2, "4096 streams and others")
    export(log, folder / "two.ctf", "--streams=2", **few)
    for bad in ["0", "4097", "x", "", "-1"]:
        run(TOOL, "export", "--to=ctf", f"--streams={bad}", log, folder / "bad.ctf", status=1)
        need(not (folder / "bad.ctf").exists(), "a failed export leaves nothing")
    if not bt2:
        skip("the package python3-bt2 is needed for the rest")
    for name in ["some.ctf", "two.ctf"]:
        got = events_of(folder / name)
        need(len(got) == len(events), name, len(got))
        for m, e in zip(got, events):
            compare_event(m, e, types)


def lost_of(log):
    lines = [line.split() for line in run(SHOW_FIELDS, "--lost", log).decode().splitlines()]
    return {(int(p), int(t)): int(n) for p, t, n in lines[:-1] if int(n)}, int(lines[-1][1])


def case_lost(folder):
    """The counters of discarded events are what the log knows, by thread."""
    if not bt2:
        skip("the package python3-bt2 is needed")
    for how in ["loop", "full", "stream"]:
        log, to = folder / f"{how}.ptl", folder / f"{how}.ctf"
        run(LOSSY, log, how)
        by_thread, total = lost_of(log)
        need(total > 1000, how, "lost", total)
        export(log, to)
        told, threads, begins = {}, {}, {}
        for m in messages(to):
            if type(m) is bt2._PacketBeginningMessageConst:
                c = m.packet.context_field
                threads[m.packet.stream.id] = (int(c["pid"]), int(c["tid"]))
                begins.setdefault(m.packet.stream.id, m.default_clock_snapshot.value)
            elif type(m) is bt2._DiscardedEventsMessageConst:
                need(m.count is not None, "a count of discarded events")
                told[m.stream.id] = told.get(m.stream.id, 0) + m.count
        need(sum(told.values()) == total, how, told, total)
        told = {threads[s]: n for s, n in told.items()}
        for thread, count in by_thread.items():
            need(told.get(thread, 0) == count or thread == (0, 0), how, thread, count, told)
        need(len(events_of(to)) == len(run(SHOW_FIELDS, log).splitlines()), how, "events")


# ---- what we read of others' traces ----

def shown(log):
    lines = run(SHOW_FIELDS, log).decode(errors="surrogateescape")
    return [json.loads(line) for line in lines.split("\n") if line]


def flat(value, name, to):
    """As docs/formats/ctf.md says: structures and arrays of them joined with _."""
    if isinstance(value, dict):
        names = list(value)
        for i, n in enumerate(names):
            following = names[i + 1] if i + 1 < len(names) else None
            if following and re.fullmatch(rf"_{re.escape(following)}_length_*", n):
                continue
            flat(value[n], f"{name}_{n}" if name else n, to)
    elif isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        for i, element in enumerate(value):
            flat(element, f"{name}_{i}", to)
    else:
        to[name] = value


def same_value(ours, theirs):
    if isinstance(theirs, list):
        if isinstance(ours, str):
            return ours == bytes(theirs).hex()
        return len(ours) == len(theirs) and all(map(same_value, ours, theirs))
    if isinstance(theirs, float) and ours is not None:
        return ours == theirs
    return ours == theirs or ours == str(theirs) or ours is None


def compare_import(path, log):
    """Events of a log that was imported, with what babeltrace2 reads of the trace."""
    theirs, ours = [], [e for e in shown(log) if not e["event"].startswith("posix_trace_")]
    try:
        for m in messages(path):
            if type(m) is bt2._EventMessageConst:
                fields = {}
                for scope in [m.event.payload_field, m.event.specific_context_field]:
                    if scope is not None:
                        flat({n: (labels(scope[n]) or [plain(scope[n])])[0] for n in scope}, "",
                             fields)
                ns = None
                if m.event.stream.cls.default_clock_class:
                    ns = m.default_clock_snapshot.ns_from_origin
                theirs.append((m.event.name, ns, fields))
    except bt2._Error:
        pass
    need(len(theirs) == len(ours), path, len(theirs), len(ours))
    for (name, ns, fields), e in zip(theirs, ours):
        need(e["event"].split("#")[0] == name, name, e)
        need(ns is None or ns == e["ts"], ns, e)
        got = e.get("fields", {})
        for key, value in fields.items():
            need(re.sub(r"\W", "_", key) in got or value == [], key, got)
            need(same_value(got.get(re.sub(r"\W", "_", key)), value), path, key, value, got)
    return len(ours)


def case_import(folder):
    """There and back: the same events and fields; again: the same bytes."""
    log, events, types = many_types(folder, 7, 3000, 5, 1700000000 * 10**9)
    export(log, folder / "a.ctf")
    run(TOOL, "import", "--from=ctf", folder / "a.ctf", folder / "b.ptl")
    back = shown(folder / "b.ptl")
    need(len(back) == len(events), len(back))
    first = shown(log)
    for a, b in zip(first, back):
        for key in ["ts", "pid", "tid", "thread", "event", "trunc"]:
            need(a[key] == b[key], key, a, b)
        if "fields" not in a:
            need("fields" not in b or types.get(a["event"]) is None, a, b)
            need(a["data"] == b["data"], a, b)
            continue
        for key, value in a["fields"].items():
            got = b["fields"].get(key)
            if isinstance(value, bool) or (isinstance(value, list) and value and
                                           isinstance(value[0], bool)):
                got = json.loads(json.dumps(got).replace('"true"', "true")
                                 .replace('"false"', "false"))
            if a["event"] == "characters" and key == "a":
                got = chr(got)
            need(got == value, key, value, got, a, b)
    export(folder / "b.ptl", folder / "b.ctf")
    run(TOOL, "import", "--from=ctf", folder / "b.ctf", folder / "c.ptl")
    need(shown(folder / "c.ptl") == back, "a second time changes nothing")


def case_nul(folder):
    """Texts with NULs: every byte that is part of the value comes back, and fields stay fields."""
    dice, rows, kept = random.Random(9), [], []
    types = {"str:u8": 1, "str:u16": 2, "str:u32": 4, "char:u8": 1, "char:u32": 4, "char[6]": 0,
             "str[6]": 0}
    for i in range(600):
        kind, count = dice.choice(list(types.items()))
        value = bytes(dice.choice(b"ab\0") for _ in range(dice.randrange(7) if count else 6))
        data = len(value).to_bytes(count, "little") + value if count else value
        rows.append(json.dumps({"ts": i, "pid": 1, "tid": 2, "event": kind,
                                "data": (data + b"\7").hex(), "description": f"{kind} s; u8 n"}))
        kept.append((kind, value))
    (folder / "in.jsonl").write_text("\n".join(rows) + "\n")
    run(TOOL, "import", "--from=jsonl", folder / "in.jsonl", folder / "a.ptl")
    export(folder / "a.ptl", folder / "a.ctf")
    run(TOOL, "import", "--from=ctf", folder / "a.ctf", folder / "b.ptl")
    back = shown(folder / "b.ptl")
    need(len(back) == len(kept), len(back))
    as_bytes = 0
    for (kind, value), event in zip(kept, back):
        got, inner = event["fields"]["s"], b"\0" in value.rstrip(b"\0")
        is_bytes = kind != "str[6]" and (inner or ("[" not in kind and b"\0" in value))
        # what fills a text of a fixed size up is no part of it
        text = value.split(b"\0")[0] if kind == "str[6]" else value.rstrip(b"\0")
        need(event["event"] in (kind, kind + "#2") and event["fields"]["n"] == 7, event)
        need(got == (value.hex() if is_bytes else text.decode()), kind, value, event)
        as_bytes += is_bytes
    need(100 < as_bytes < 500, as_bytes)


def by_hand(place, events, stream):
    """A trace of one stream without a clock; events: name and fields."""
    place.mkdir()
    text = ('/* CTF 1.8 */ typealias integer { size = 32; align = 8; signed = false; } := u32;'
            'trace { major = 1; minor = 8; byte_order = le; };'
            'stream { event.header := struct { u32 id; }; };')
    for i, (name, fields) in enumerate(events):
        text += f'event {{ name = "{name}"; id = {i}; fields := struct {{ {fields} }}; }};'
    (place / "metadata").write_text(text)
    (place / "stream").write_bytes(b"".join(n.to_bytes(4, "little") for n in stream))


def case_types(folder):
    """More types than a log can have; one name for several; more fields than fit."""
    by_hand(folder / "many", [(f"e{i}", "u32 a;") for i in range(1100)],
            [n for i in range(1100) for n in (i, 7)])
    done = subprocess.run([TOOL, "import", "--from=ctf", folder / "many", folder / "a.ptl"],
                          capture_output=True)
    need(done.returncode == 0 and b"77 events could not be carried" in done.stderr, done)
    need([e["event"] for e in shown(folder / "a.ptl")] == [f"e{i}" for i in range(1023)], "types")

    by_hand(folder / "one", [("e", f"u32 a{i % 150};") for i in range(200)],
            [n for i in range(200) for n in (i, i)])
    run(TOOL, "import", "--from=ctf", folder / "one", folder / "b.ptl")
    names = ["e"] + [f"e#{n}" for n in range(2, 151)]
    for i, e in enumerate(shown(folder / "b.ptl")):
        need(e["event"] == names[i % 150] and e["fields"] == {f"a{i % 150}": i}, i, e)

    fields = " ".join(f"u32 f{i};" for i in range(65))
    by_hand(folder / "wide", [("wide", fields), ("text", "string t;")],
            [0] + list(range(65)) + [1] + [int.from_bytes(b"abc\0", "little")])
    run(TOOL, "import", "--from=ctf", folder / "wide", folder / "c.ptl")
    wide, short = shown(folder / "c.ptl")
    need(wide["fields"] == {"fields": "{" + ", ".join(f"f{i}={i}" for i in range(65)) + "}"}, wide)
    need(short["fields"] == {"t": "abc"}, short)


def case_samples(folder):
    """Sample traces of babeltrace: what it reads is what we read."""
    if not bt2:
        skip("the package python3-bt2 is needed")
    if not SAMPLES.is_dir():
        skip("the sample traces are not here")
    total = 0
    for metadata in sorted(SAMPLES.rglob("metadata")):
        if not metadata.is_file() or "fail" in metadata.parts:
            continue
        trace = metadata.parent
        log = folder / "log.ptl"
        bad = trace.name.endswith("-corrupted") and "not" not in trace.name
        run(TOOL, "import", "--force", "--from=ctf", trace, log, status=1 if bad else 0)
        total += compare_import(trace, log)
    need(total > 4000, total)
    for trace in ["integer-range", "invalid-packet-size", "metadata-syntax-error", "smalltrace",
                  "valid-events-then-invalid-events"]:
        done = subprocess.run([TOOL, "import", "--force", "--from=ctf", SAMPLES / "fail" / trace,
                               log], capture_output=True, timeout=60)
        need(done.returncode == 1 and b"after " in done.stderr, trace, done)
        if trace.startswith("valid"):
            need(len(shown(log)) == 2, trace)
    expect_details(folder)
    told = subprocess.run([TOOL, "import", "--force", "--from=ctf",
                           SAMPLES / "packet-seq-num" / "2-streams-lost-in-2", log],
                          capture_output=True, timeout=60).stderr.decode()
    need(re.findall(r"packets.*?: (\d+)", told) == ["2", "3", "1"], told)
    marks = [e["event"] for e in shown(log) if e["event"].startswith("posix_trace_")]
    need(marks == ["posix_trace_overflow", "posix_trace_resume"] * 3, marks)


def expect_details(folder):
    """The text that babeltrace's own tests expect: names, and values of payloads."""
    names = {"smalltrace": "smalltrace", "2packets": "2packets",
             "array-align-elem": "array-align-elem"}
    for name, sample in names.items():
        text_of = (SAMPLES / "expect" / "succeed" / f"trace-{name}.expect").read_text()
        wanted = re.findall(r"^Event `([^`]*)` \(Class ID \d+\):\n((?:  .*\n)*)", text_of, re.M)
        need(wanted, name)
        log = folder / "expect.ptl"
        run(TOOL, "import", "--force", "--from=ctf", SAMPLES / "succeed" / sample, log)
        ours = shown(log)
        need([w[0] for w in wanted] == [e["event"] for e in ours], name)
        for (_, body), event in zip(wanted, ours):
            numbers = re.findall(r"^ +(\w+): (-?[\d,]+)$", body.split("Payload:")[-1], re.M)
            for key, value in numbers:
                need(event["fields"][key] == int(value.replace(",", "")), name, key, event)


def case_hostile(folder):
    """Cut and changed traces: an end, with a message, and what was good is kept."""
    log, _, _ = many_types(folder, 3, 120, 2, 1700000000 * 10**9)
    export(log, folder / "good")
    dice = random.Random(1)
    good = {p.name: p.read_bytes() for p in (folder / "good").iterdir()}
    outcomes = {0: 0, 1: 0}
    for n in range(int(os.environ.get("POSIXTRACE_TEST_SHORT", "0")) and 30 or 120):
        bad = folder / "bad"
        shutil.rmtree(bad, ignore_errors=True)
        bad.mkdir()
        victim = dice.choice(sorted(good))
        for name, content in good.items():
            content = bytearray(content)
            if name == victim and n % 2:
                content = content[:dice.randrange(len(content))]
            elif name == victim:
                for _ in range(dice.randrange(1, 4)):
                    content[dice.randrange(len(content))] = dice.randrange(256)
            (bad / name).write_bytes(content)
        done = subprocess.run([TOOL, "import", "--force", "--from=ctf", bad, folder / "x.ptl"],
                              capture_output=True, timeout=120)
        need(done.returncode in outcomes, n, victim, done)
        need(done.returncode == 0 or b"after " in done.stderr, n, done)
        outcomes[done.returncode] += 1
        shown(folder / "x.ptl")
    need(all(outcomes.values()), outcomes)
    bombs(folder)
    for what in ["nothing", "file"]:
        place = folder / what
        if what == "file":
            place.write_bytes(b"x")
        else:
            place.mkdir()
        run(TOOL, "import", "--force", "--from=ctf", place, folder / "x.ptl", status=1)


def bombs(folder):
    """Traces that ask for endless events and endless memory."""
    head = ('/* CTF 1.8 */ typealias integer { size = 32; align = 8; signed = false; } := u32;'
            'trace { major = 1; minor = 8; byte_order = le; }; ')
    endless = head + 'event { name = "e"; id = 0; fields := struct { }; };'
    huge = head + ('event { name = "e"; id = 0; fields := struct { struct { } a[4000000000]; }; };')
    sequence = head + ('event { name = "e"; id = 0; fields := struct '
                       '{ u32 n; struct { } s[n]; }; };')
    nested = head + ('event { name = "e"; id = 0; fields := struct { u32 x' + "[2]" * 2000 +
                     '; }; };')
    deep = head + ('event { name = "e"; id = 0; fields := ' + "struct { " * 20000 + "u32 a; " +
                   "} b; " * 19999 + "}; };")
    for name, metadata in [("endless", endless), ("huge", huge), ("sequence", sequence),
                           ("nested", nested), ("deep", deep)]:
        place = folder / f"bomb-{name}"
        place.mkdir()
        (place / "metadata").write_text(metadata)
        (place / "stream").write_bytes(b"\xff" * 64)
        done = subprocess.run([TOOL, "import", "--force", "--from=ctf", place, folder / "x.ptl"],
                              capture_output=True, timeout=120)
        need(done.returncode == 1 and b"after " in done.stderr, name, done)


def case_work(folder):
    """Work without end, far from the limit of memory, ends by the limit of processor time."""
    place = folder / "bomb-time"
    place.mkdir()
    (place / "metadata").write_text(
        '/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; }; '
        'event { name = "e"; id = 0; fields := struct { struct { } a[200000]; }; };')
    (place / "stream").write_bytes(b"\0" * 65536)
    for blocked in ((), (signal.SIGPROF,)):            # in the thread that imports
        done = subprocess.run(
            [TOOL, "import", "--force", "--from=ctf", place, folder / "x.ptl"],
            capture_output=True, timeout=100,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, blocked))
        need(done.returncode == 1 and b"more than 3 s of processor time" in done.stderr, done)
        need(len(shown(folder / "x.ptl")) > 0, "what was before the limit is kept")


def timed(place, streams, frequency=10**9, offset_s=0, offset=0, uuid=None):
    """A trace of packets: a list of (begin, end, [times]) for each stream; the events e have
    their stream and number in it as fields."""
    place.mkdir(parents=True)
    clock = (f'clock {{ name = c; freq = {frequency}; offset_s = {offset_s}; offset = {offset}; '
             f'absolute = {"false" if uuid else "true"};'
             + (f' uuid = "{uuid}";' if uuid else "") + " };")
    (place / "metadata").write_text(
        '/* CTF 1.8 */ typealias integer { size = 32; align = 8; signed = false; } := u32;'
        'typealias integer { size = 64; align = 8; signed = false; } := u64;' + clock +
        'typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := stamp;'
        'trace { major = 1; minor = 8; byte_order = le; };'
        'stream { event.header := struct { stamp timestamp; u32 id; }; packet.context := struct '
        '{ stamp timestamp_begin; stamp timestamp_end; u64 content_size; u64 packet_size; }; };'
        'event { name = "e"; id = 0; fields := struct { u32 part; u32 number; }; };')
    for i, packets in enumerate(streams):
        out, number = b"", 0
        for begin, end, times in packets:
            bits = 8 * (32 + 20 * len(times))
            out += struct.pack("<4Q", begin, end, bits, bits)
            for t in times:
                out += struct.pack("<QIII", t, 0, i, number)
                number += 1
        (place / f"s{i}").write_bytes(out)


def imported(place, log, *options, status=0):
    """Events as (time, stream, number), in the order of the log; what was said."""
    done = subprocess.run([TOOL, "import", "--force", "--from=ctf", *options, place, log],
                          capture_output=True, timeout=60)
    need(done.returncode == status, place.name, *options, done)
    return ([(e["ts"], e["fields"]["part"], e["fields"]["number"]) for e in shown(log)],
            done.stderr.decode())


def sorted_events(streams, ns=lambda t: t):
    """All of them by time, then by stream, then as they are in it."""
    events = [(ns(t), i, n) for i, packets in enumerate(streams)
              for n, t in enumerate(t for p in packets for t in p[2])]
    return sorted(events, key=lambda e: e[0])


def case_order(folder):
    """Streams, packets and clocks that do not fit to each other, and streams that go back."""
    log, T = folder / "x.ptl", 1700000000 * 10**9
    # events before and after their packet says, packets that overlap those of others
    early = [[(T + 50, T + 60, [T + 10, T + 20, T + 90]), (T + 95, T + 96, [T + 99])],
             [(T + 40, T + 41, [T + 15, T + 20, T + 200])], [(T, T + 300, [])]]
    timed(folder / "early", early)
    need(imported(folder / "early", log) == (sorted_events(early), ""), "early")
    # clocks that have nothing to do with each other, and one that has an origin
    for i, uuid in enumerate(("a" * 8, "b" * 8, None)):
        timed(folder / "clocks" / str(i), [[(0, 100, [5 + i, 50 - i])]],
              uuid=uuid and uuid + "-0000-0000-0000-000000000000")
    found, _ = imported(folder / "clocks", log)
    need([e[0] for e in found] == [5, 6, 7, 48, 49, 50], found)
    # exact times where doubles are not, and before 1970
    slow = [[(0, 2**62, [0, 3, 2**53 + 1, 2**60 + 3])], [(0, 2**62, [1, 2**53 + 2])]]
    timed(folder / "slow", slow, frequency=10**9 + 7, offset_s=-5, offset=3)
    need(imported(folder / "slow", log)[0] == sorted_events(
        slow, lambda t: (t + 3) * 10**9 // (10**9 + 7) - 5 * 10**9), "slow")
    # clocks whose products with 10^9 have more than 64 bits
    for hertz, least in ((10**11 + 7, 2**59), (10**18 - 3, 2**62)):
        # the first cycle of a nanosecond, and the one before it
        whole = least // hertz * hertz - 3
        times = [whole - (-n * hertz // 10**9) - i for n in sorted(
            random.Random(3).sample(range(1, 10**9), 1000)) for i in (1, 0)]
        fast = [[(0, 2**63, times)]]
        timed(folder / f"fast-{hertz}", fast, frequency=hertz, offset=3)
        need(imported(folder / f"fast-{hertz}", log)[0] == sorted_events(
            fast, lambda t: (t + 3) * 10**9 // hertz), "fast", hertz)
    # streams that go back: refused by name, or sorted, with how many and how far
    back = [[(T, T + 100, [T + 1, T + 30, T + 12, T + 11, T + 40])], [(T, T + 50, [T + 2, T + 50])],
            [(T + 60, T + 70, [T + 60]), (T + 20, T + 30, [T + 20, T + 30])]]
    timed(folder / "back", back)
    found, said = imported(folder / "back", log, status=1)
    need(found == [(T + 1, 0, 0), (T + 2, 1, 0), (T + 30, 0, 1)], found)
    need("stream 's0' goes back in time by 18 ns; --order=sort" in said, said)
    found, said = imported(folder / "back", log, "--order=sort")
    need(sorted(found) == sorted(sorted_events(back)) and
         [e[0] for e in found] == sorted(e[0] for e in found), found)
    need("stream 's0': 2 of 5 events are older than one before them, by at most 19 ns" in said and
         "stream 's2': 2 of 3 events" in said and "'s1'" not in said, said)
    # times that are further apart than an int64_t can say
    far = [[(0, 100, [10, 2**64 - 2**62, 7, 8])]]
    timed(folder / "far", far, offset_s=-9223372036)
    found, said = imported(folder / "far", log, status=1)
    need([e[2] for e in found] == [0, 1] and f"back in time by {2**64 - 2**62 - 7} ns" in said, said)
    found, said = imported(folder / "far", log, "--order=sort")
    need([e[2] for e in found] == [2, 3, 0, 1], found)
    need(f"by at most {2**64 - 2**62 - 7} ns" in said, said)
    full_disk(folder, log)
    need("order 'no'" in imported(folder / "early", log, "--order=no", status=1)[1], "option")
    random_order(folder, log)


def full_disk(folder, log):
    """The temporary file for events out of order has no room: any of its writes reports it."""
    for count, room in ((2000, 4096), (40000, 1 << 20)):
        timed(folder / f"full-{count}", [[(0, count, list(range(count, 0, -1)))]])
        done = subprocess.run(
            [TOOL, "import", "--force", "--from=ctf", "--order=sort", folder / f"full-{count}", log],
            capture_output=True, timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
        need(done.returncode == 1 and b"cannot sort streams with a temporary file (TMPDIR): "
             b"File too large" in done.stderr, done)


def random_order(folder, log):
    dice = random.Random(5)
    for turn in range(4):
        streams = []
        for i in range(dice.randrange(1, 6)):
            times = sorted(dice.randrange(10**6) for _ in range(dice.randrange(3000)))
            if dice.random() < 0.5:
                for _ in range(dice.randrange(1, 200)):
                    if times:
                        times.insert(dice.randrange(len(times)), times.pop())
            cuts = sorted(dice.randrange(len(times) + 1) for _ in range(3))
            parts = [times[a:b] for a, b in zip([0] + cuts, cuts + [len(times)])]
            streams.append([(min(p, default=0), max(p, default=0), p) for p in parts])
        timed(folder / f"random-{turn}", streams)
        found, _ = imported(folder / f"random-{turn}", log, "--order=sort")
        need([e[0] for e in found] == sorted(e[0] for e in found), turn, "is in order")
        need(sorted(found) == sorted(sorted_events(streams)), turn, "has all events")


def case_system(folder):
    """System events keep their names and their data, so metrics work on what was imported."""
    lines, ns = [], 1700000000 * 10**9
    for i in range(400):
        tid = 10 + i % 3
        kind = ["posixtrace_switch_in", "posixtrace_switch_out"][i // 3 % 2]
        lines.append(json.dumps({"ts": ns + i * 1000, "pid": 1, "tid": tid, "event": kind,
                                 "data": "%02x000000" % (i % 3)}))
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n")
    run(TOOL, "import", "--from=jsonl", folder / "in.jsonl", folder / "a.ptl")
    export(folder / "a.ptl", folder / "a.ctf")
    run(TOOL, "import", "--from=ctf", folder / "a.ctf", folder / "b.ptl")
    need(run(TOOL, "print", "--format=jsonl", folder / "a.ptl") ==
         run(TOOL, "print", "--format=jsonl", folder / "b.ptl"), "the same events")
    metadata = (folder / "a.ctf" / "metadata").read_text()
    need("u32_le _cpu;" in metadata, metadata)
    measured = [run(pathlib.Path(TOOL).resolve(), "metrics", name, cwd=folder)
                .replace(name.encode(), b"LOG")
                for name in ["a.ptl", "b.ptl"]]
    need(measured[0] == measured[1] and len(measured[0]) > 100, *measured)


def case_unavailable(folder):
    """Without libbabeltrace2 there is no import, and the tool says why."""
    (folder / "in").mkdir()
    done = subprocess.run([TOOL, "import", "--from=ctf", folder / "in", folder / "x.ptl"],
                          capture_output=True)
    need(done.returncode == 1 and b"built without libbabeltrace2" in done.stderr, done)
    need(b"built without libbabeltrace2" in run(TOOL, "import", "--list"), "--list")
    need(b"without" not in run(TOOL, "export", "--list"), "--list")


with tempfile.TemporaryDirectory(prefix="posixtrace-ctf.") as name:
    globals()["case_" + CASE](pathlib.Path(name))
