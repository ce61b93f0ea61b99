#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Random events, import and print: jsonl comes back byte for byte, csv and
Python's own JSON reader see the same events, any selection is what Python
selects.

usage: random_logs.py POSIXTRACE [SEED]
"""

import csv
import fnmatch
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROUNDS, EVENTS = 6, 3000
CONTROLS = {*range(0x20), *range(0x7f, 0xa0)}
SHORT = {8: "b", 9: "t", 10: "n", 12: "f", 13: "r", 34: '"', 92: "\\"}


def escape(name):
    """The documented form of a name; written here a second time on purpose."""
    out = []
    for character in name.decode("utf-8", "surrogateescape"):
        code = ord(character)
        if code in SHORT:
            out.append("\\" + SHORT[code])
        elif code in CONTROLS or 0xd800 <= code < 0xe000:
            out.append(f"\\u{code:04x}")
        else:
            out.append(character)
    return "".join(out)


def line(event):
    ts, pid, tid, thread_id, thread, name, addr, trunc, data = event
    return (f'{{"ts":{ts},"pid":{pid},"tid":{tid},"thread_id":"{thread_id:#x}",'
            f'"thread":"{escape(thread)}","event":"{escape(name)}","addr":"{addr:#x}",'
            f'"trunc":{trunc},"data":"{data.hex()}"}}\n')


def random_name(rng, longest):
    kind = rng.randrange(4)
    length = rng.choice((1, 2, 5, longest, rng.randint(1, longest)))
    if kind == 0:
        return bytes(rng.randint(1, 255) for _ in range(length))
    if kind == 1:
        text = "".join(chr(rng.choice((rng.randint(0x20, 0x7e), rng.randint(0xa0, 0xd7ff),
                                       rng.randint(0x10000, 0x10ffff)))) for _ in range(length))
        return text.encode()[:length]
    return "".join(rng.choice("abcxyz:_-[]*? \\\"',;=") for _ in range(length)).encode()


def random_data(rng):
    length = rng.choice((0, 0, 1, 4, 8, rng.randint(0, 64), rng.randint(0, 5000)))
    return rng.randbytes(61440 if rng.random() < 0.001 else length)


def random_events(rng):
    words = (0, 1, 2**63, 2**64 - 1, rng.getrandbits(64), rng.getrandbits(47))
    names = [random_name(rng, 255) for _ in range(rng.choice((1, 20, 900)))]
    names += [b"posix_trace_stop", b"posix_trace_unnamed_userevent"]
    threads = [(rng.choice((0, 1, 2**31 - 1)), rng.choice((0, 7, 2**31 - 1)), rng.choice(words),
                rng.choice((b"", random_name(rng, 15)))) for _ in range(rng.choice((1, 5, 300)))]
    # A log has the latest name of a thread, which is known by its numbers.
    latest = {thread[:3]: thread[3] for thread in threads}
    threads = [(*t[:3], latest[t[:3]]) if t[1] or t[2] else t for t in threads]
    ts = rng.choice((0, 10**18, 2**62))
    events = []
    for _ in range(EVENTS):
        ts += rng.choice((0, 0, 1, 1000, rng.randint(0, 10**10)))
        events.append((ts, *rng.choice(threads), rng.choice(names), rng.choice(words),
                       int(rng.random() < 0.1), random_data(rng)))
    return events


def run(tool, *arguments, stdin=b""):
    done = subprocess.run([tool, *map(str, arguments)], input=stdin, capture_output=True, check=False)
    if done.returncode or done.stderr:
        sys.exit(f"{arguments}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def check_readers(events, jsonl, table):
    """Other people's parsers read what we print."""
    objects = [json.loads(text) for text in jsonl.split("\n")[:-1]]
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    if len(objects) != len(events) or len(rows) != len(events):
        sys.exit(f"{len(events)} events, {len(objects)} objects, {len(rows)} rows")
    for event, made, row in zip(events, objects, rows):
        if made["event"].encode("utf-8", "surrogateescape") != event[5]:
            sys.exit(f"name {event[5]!r} reads as {made['event']!r}")
        back = json.loads('"' + row["event"].replace('"', '\\"') + '"')
        if back != made["event"] or row["ts"] != str(event[0]) or row["data"] != made["data"]:
            sys.exit(f"csv differs: {row}")


def check_selection(tool, log, events, rng):
    low, high = sorted((rng.choice(events)[0], rng.choice(events)[0]))
    chosen = rng.choice(events)
    shortened = chosen[5][:2] + b"*"
    # Python's patterns differ in brackets and backslashes; '*' and plain text do not
    if set(shortened[:-1]) & set(b"[]*?\\!"):
        shortened = b"*"
    pattern = shortened.decode("latin-1")
    wanted = [e for e in events if low <= e[0] <= high and e[2] == chosen[2] and
              fnmatch.fnmatchcase(e[5].decode("latin-1"), pattern)]
    command = [tool, "print", "--format=jsonl", f"--from={low}", f"--to=@{high / 1e9:.0f}", log]
    command[4] = f"--to=@{high // 10**9}.{high % 10**9:09d}"
    # in quotes: with signs such as = a pattern alone would be an expression
    quoted = b'event "' + shortened.replace(b'"', b'\\"') + b'"'
    command += [f"--tid={chosen[2]}", os.fsencode("--event=") + quoted]
    found = subprocess.run(command, capture_output=True, check=True).stdout
    if found.decode() != "".join(map(line, wanted)):
        sys.exit(f"{command}: not the {len(wanted)} events that were expected")


def main():
    tool = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)
    print("seed", seed, flush=True)
    rng = random.Random(seed)
    for _ in range(ROUNDS):
        events = random_events(rng)
        text = "".join(map(line, events))
        with tempfile.TemporaryDirectory() as name:
            source, log = pathlib.Path(name) / "in.jsonl", pathlib.Path(name) / "a.ptl"
            source.write_bytes(text.encode())
            run(tool, "import", "--from=jsonl", source, log)
            if run(tool, "print", "--format=jsonl", log) != text.encode():
                sys.exit("print gives other lines than import was given")
            if run(tool, "print", "--format=jsonl", "-", stdin=log.read_bytes()) != text.encode():
                sys.exit("print of a pipe gives other lines")
            run(tool, "check", log)
            table = run(tool, "print", "--format=csv", log).decode()
            check_readers(events, text, table)
            again = pathlib.Path(name) / "b.ptl"
            run(tool, "import", "--from=csv", "-", again, stdin=table.encode())
            if run(tool, "print", "--format=jsonl", again) != text.encode():
                sys.exit("csv comes back as other events")
            for _ in range(10):
                check_selection(tool, log, events, rng)
            shown = run(tool, "print", log).decode()
            if any(ord(c) in CONTROLS - {10} for c in shown) or shown.count("\n") != EVENTS + 2:
                sys.exit("text has control characters, or not a line for each event")


if __name__ == "__main__":
    main()
