#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The format rkh, held against a codec of its own (codec.py) and the public sample.

usage: rkh.py CASE POSIXTRACE [EXAMPLE]
"""

import fcntl
import json
import os
import pathlib
import pty
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios

import codec
from codec import CHECKSUM, MP_LOW, QUE_LOW, SENDER, Config, Target, run, stuff, unstuff

SKIP = 77
started = []


def import_bytes(tool, folder, stream, *options, status=0):
    (folder / "in.rkh").write_bytes(stream)
    done = run(tool, "import", "--from=rkh", "--force", *options, folder / "in.rkh",
               folder / "a.ptl", status=status)
    return done.stderr.decode(errors="replace")


def events_of(tool, log):
    lines = run(tool, "print", "--format=jsonl", log).stdout.decode(errors="surrogateescape")
    return [json.loads(line) for line in lines.split("\n") if line]


def random_values(config, number, rng):
    """Values for the arguments of a record that this configuration sends."""
    values = []
    for word in codec.RECORDS[number][1].split():
        kind = word[-1]
        if ":" in word and not config.has(codec.WHEN[word[0]]):
            continue
        if kind == "s":
            values.append(bytes(rng.choice(b"abc~}&_0") for _ in range(rng.randrange(70))))
        elif kind in "SFX":
            values.append(rng.choice([0, 0x7e, 0x7d, 0x7d7e % 256 ** config.pointer, 5, 9]))
        else:
            values.append(rng.randrange(min(256 ** config.width(kind), 2 ** 31)))
            if kind in "GN":
                values[-1] %= 4
    return values


def random_target(rng, records=300, **given):
    config = Config(pointer=rng.choice([1, 2, 4, 8]), signal=rng.choice([1, 2, 4]),
                    tick=rng.choice([1, 2, 4]), nblock=rng.choice([1, 2, 4]),
                    nelem=rng.choice([1, 2, 4]), esize=rng.choice([1, 2, 4]),
                    bsize=rng.choice([1, 2, 4]), timestamp=rng.choice([1, 2, 4]))
    for bit in (SENDER, QUE_LOW, MP_LOW):
        config.bits |= rng.randrange(2) << bit
    config.__dict__.update(given)
    target = Target(config)
    target.send_config()
    for _ in range(records):
        target.ticks += rng.randrange(200)
        number = rng.choice(list(codec.RECORDS))
        target.record(number, random_values(config, number, rng))
    return target


def check_events(target, got):
    want = [(name, ticks * 10 ** 9 // target.rate, data.hex())
            for name, ticks, data in target.events]
    have = [(e["event"], e["ts"], e["data"]) for e in got]
    for i, (w, h) in enumerate(zip(want, have)):
        assert w == h, f"event {i}: {h}, not {w}"
    assert len(want) == len(have), (len(want), len(have))


def case_records(tool, folder):
    """Every record, in many configurations."""
    for seed in range(12):
        rng = random.Random(seed)
        target = random_target(rng)
        import_bytes(tool, folder, target.stream())
        check_events(target, events_of(tool, folder / "a.ptl"))
    plain = random_target(random.Random(99), bits=Config().bits & ~(1 << CHECKSUM))
    import_bytes(tool, folder, plain.stream())
    check_events(plain, events_of(tool, folder / "a.ptl"))


def case_fields(tool, folder):
    """Objects by name, as threads, in the event's data."""
    target = Target(Config())
    target.record(0xae, [0x1000, b"server"])
    target.record(0xa7, [3, b"REQ"])
    target.record(0xaf, [0x1000, 0x2000, b"idle"])
    target.record(0x71, [0x1000, 3, 0x2000])
    import_bytes(tool, folder, target.stream(), "--rate=50000")
    got = events_of(tool, folder / "a.ptl")
    check_events(target, got)
    assert got[3]["thread"] == "server" and got[3]["tid"] == 1, got[3]
    assert got[0]["tid"] == 0, got[0]
    assert bytes.fromhex(got[3]["data"]).split(b"\0")[-2] == b"idle", got[3]


def case_damage(tool, folder):
    """Damaged or missing parts are reported in their place, and the rest is complete."""
    target = random_target(random.Random(3), timestamp=4)
    frames = list(target.frames)
    for i in (20, 21, 200):
        frames[i] = frames[i][:-2] + bytes([frames[i][-2] ^ 1]) + frames[i][-1:] \
            if b"\x7d" not in frames[i][-3:] and frames[i][-2] ^ 1 not in (0x7d, 0x7e) \
            else frames[i][:2]
    frames[60] = frames[60] + b"\x7d"                 # an escape before the flag
    del frames[100:110]
    stream = b"rubbish\x7e" + b"".join(frame + b"\x7e" for frame in frames) + b"\x41\x42"
    err = import_bytes(tool, folder, stream)
    got = events_of(tool, folder / "a.ptl")
    names = [e["event"] for e in got]
    assert names.count("rkh:DAMAGED") == 5, names.count("rkh:DAMAGED")
    lost = [struct.unpack("<IBB", bytes.fromhex(e["data"])) for e in got
            if e["event"] == "rkh:LOST"]
    assert [frames for frames, _, _ in lost] == [2, 1, 10, 1], lost
    assert names.count("posix_trace_overflow") == names.count("posix_trace_resume") == 4
    assert "7 bytes before the first flag" in err and "checksum is wrong" in err, err
    bad = {20, 21, 200, 60} | set(range(100, 110))
    good = [e[0] for i, e in enumerate(target.events) if i not in bad]
    assert [n for n in names if n not in ("rkh:DAMAGED", "rkh:LOST", "posix_trace_overflow",
                                          "posix_trace_resume")] == good


def case_clock(tool, folder):
    """Short counters wrap; a 32-bit one that goes back a little stands still; the rate."""
    target = Target(Config(timestamp=1, hz=1000))
    target.send_config()
    for step in (250, 10, 255, 255, 1):
        target.ticks += step
        target.record(0xa0, [])
    import_bytes(tool, folder, target.stream())
    check_events(target, events_of(tool, folder / "a.ptl"))
    target.rate = 32768
    target.events[0] = (*target.events[0][:2], target.events[0][2][:-4] + struct.pack("<I", 32768))
    import_bytes(tool, folder, target.stream(), "--rate=32768")
    check_events(target, events_of(tool, folder / "a.ptl"))
    back = Target(Config(hz=1000))
    for ticks in (5000, 4990, 5001):
        back.ticks = ticks
        back.record(0xa0, [])
    err = import_bytes(tool, folder, back.stream(), "--rate=1000")
    assert [e["ts"] for e in events_of(tool, folder / "a.ptl")] == \
        [5 * 10 ** 9, 5 * 10 ** 9, 5001 * 10 ** 6], err
    assert "goes back by 10 ticks" in err, err


def case_user(tool, folder):
    """User events of any target: formats, names, two forms of one event."""
    target = Target(Config())
    target.send_config()
    target.frame(0xab, b"\x05VALUE\0")
    target.frame(0xa6, struct.pack("<I", 0x1000) + b"buffer\0")
    target.frame(0xc5, b"\x00\xff" b"\x31\x7e" b"\x02\xfe\xff" b"\x06\x7d\x00\x00\x80" b"\x07hi\0"
                       b"\x08\x02\x7e\x7d" b"\x09" + struct.pack("<I", 0x1000) + b"\x0b\x03")
    target.frame(0xc5, b"\x01\x05")
    target.frame(0xc7, b"")
    target.frame(0xc7, b"\x0f\x00")                   # no such format
    err = import_bytes(tool, folder, target.stream())
    got = events_of(tool, folder / "a.ptl")[3:]
    assert [e["event"] for e in got] == ["rkh:USR:VALUE", "rkh:USR:VALUE#2", "rkh:USR:7",
                                         "rkh:USR"], got
    data = b"\xff\x7e\xfe\xff\x7d\x00\x00\x80hi\0\x02\x7e\x7d" + struct.pack("<Q", 0x1000) + \
        b"buffer\0" + struct.pack("<I", 3) + b"\0"
    assert bytes.fromhex(got[0]["data"]) == data, got[0]
    assert got[3]["data"] == "070f00" and "not understood" in err, (got[3], err)
    run(tool, "export", "--to=rkh", "--force", folder / "a.ptl", folder / "b.rkh")
    again = [unstuff(f) for f in (folder / "b.rkh").read_bytes().split(b"\x7e") if f]
    users = [f[6:-1] for f in again if f[0] >= 0xc0]
    assert users == [unstuff(f)[6:-1] for f in target.frames if f[0] >= 0xc0], users


def case_native(tool, folder):
    """frames -> log -> frames: the same bytes."""
    for seed in range(6):
        target = random_target(random.Random(seed + 50))
        import_bytes(tool, folder, target.stream())
        run(tool, "export", "--to=rkh", "--force", folder / "a.ptl", folder / "b.rkh")
        assert (folder / "b.rkh").read_bytes() == target.stream(), seed


def random_log(rng, path, count=3000):
    now, lines = 1700000000000000000, []
    for _ in range(count):
        now += rng.choice([0, 1, 5, 1000, 10 ** 6, 7, 3 * 10 ** 9 if rng.random() < .02 else 9])
        thread = rng.randrange(8)
        size = rng.choice([0, 1, 4, 13, 300, 600]) if rng.random() < .2 else 8
        lines.append(json.dumps({
            "ts": now, "pid": 100 + thread // 3, "tid": 200 + thread, "thread": f"w{thread}",
            "thread_id": hex(0x7f0000000000 + thread * 4096),
            "event": f"type {rng.randrange(60)}", "addr": hex(0x550000001000 + rng.randrange(6000)),
            "trunc": int(rng.random() < .1),
            "data": bytes(rng.choice([0x7e, 0x7d, 0, rng.randrange(256)])
                          for _ in range(size)).hex()}))
    lines.append(json.dumps({"ts": now, "event": "posix_trace_stop", "data": "00" * 4}))
    lines.append(json.dumps({"ts": now + 1, "event": "long", "data": "7e" * 61440}))
    path.write_text("\n".join(lines) + "\n")


class Decoder:
    """Our export as user events, by the page docs/formats/rkh.md."""

    def __init__(self):
        self.types, self.bound, self.threads, self.places = {}, {}, {}, {}
        self.base = self.rate = self.cut = self.start = None
        self.events = []

    def arguments(self, body):
        out, i = [], 0
        while i < len(body):
            kind = body[i] & 15
            i += 1
            if kind == 7:
                end = body.index(0, i)
                out.append((kind, body[i:end]))
                i = end + 1
                continue
            size = body[i] if kind == 8 else {0: 1, 1: 1, 2: 2, 3: 2, 11: 4}.get(kind, 4)
            i += kind == 8
            raw = body[i:i + size]
            assert len(raw) == size
            out.append((kind, raw if kind == 8 else int.from_bytes(raw, "little")))
            if kind != 8:
                out[-1] += (raw,)
            i += size
        return out

    def meta(self, stamp, a):
        word = a[0][1]
        if word == b"begin":
            self.rate = a[2][1]
        elif word == b"type":
            self.types[a[1][1]] = (a[3][1], a[4][1])
            self.bound[a[2][1]] = a[1][1]
        elif word == b"thread":
            self.threads[a[1][1]] = (a[2][1], a[3][1], int.from_bytes(a[4][1], "little"), a[5][1])
        elif word == b"time":
            self.base, self.start = int.from_bytes(a[1][1], "little"), stamp
        elif word == b"cut":
            self.cut = a[1][1]
        else:
            raise AssertionError(word)

    def frame(self, body):
        number, stamp, rest = body[0], int.from_bytes(body[2:6], "little"), body[6:]
        if number == 0xa8:
            self.places[int.from_bytes(rest[:4], "little")] = int(rest[4:-1], 16)
        if number < 0xc0 or number > 0xdf:
            return
        a = self.arguments(rest)
        if number == 0xdf:
            self.meta(stamp, a)
            return
        kind = a.pop(0)[1] if number == 0xde else self.bound[number - 0xc0]
        thread, place = a.pop(0)[1], a.pop(0)[1]
        data = b"".join(x[1] + b"\0" if x[0] == 7 else x[1] if x[0] == 8 else x[2] for x in a)
        pid, tid, ident, name = self.threads.get(thread, (0, 0, 0, b""))
        self.events.append({
            "ts": self.base + (stamp - self.start) % 2 ** 32 * 10 ** 9 // self.rate, "pid": pid,
            "tid": tid, "thread_id": hex(ident), "thread": name.decode(),
            "event": self.types[kind][0].decode(), "addr": hex(self.places.get(place, 0)),
            "trunc": self.cut or 0, "data": data.hex()})
        self.cut = None

    def stream(self, stream):
        assert stream[0] == stream[-1] == 0x7e
        sequence = 0
        for i, frame in enumerate(stream[1:-1].split(b"\x7e")):
            body = unstuff(frame)
            assert sum(body) % 256 == 0, frame
            if i == 0:
                assert body[0] == 0xac and len(body) == 15, body
                continue
            assert body[1] == sequence, (i, body)
            sequence = (sequence + 1) % 256
            self.frame(body[:-1])
        return self.events


def case_export(tool, folder):
    """Any log as user events, decoded here; and imported again, the same."""
    random_log(random.Random(1), folder / "in.jsonl")
    run(tool, "import", "--from=jsonl", folder / "in.jsonl", folder / "a.ptl")
    want = run(tool, "print", "--format=jsonl", folder / "a.ptl").stdout
    run(tool, "export", "--to=rkh", folder / "a.ptl", folder / "a.rkh")
    decoded = Decoder().stream((folder / "a.rkh").read_bytes())
    for i, (w, h) in enumerate(zip(map(json.loads, want.splitlines()), decoded)):
        assert w == h, f"event {i}: {str(h)[:400]}, not {str(w)[:400]}"
    assert len(decoded) == 3002
    for options in ([], ["--pointer=8"]):
        run(tool, "export", "--to=rkh", "--force", *options, folder / "a.ptl", folder / "a.rkh")
        run(tool, "import", "--from=rkh", "--force", folder / "a.rkh", folder / "b.ptl")
        assert run(tool, "print", "--format=jsonl", folder / "b.ptl").stdout == want


def typed_stream(order):
    """A log with described types, made by our own user events, and its contents."""
    bigend = ">" if order else "<"
    text = (order + "u8 a; i16 b; u32 c; x32 d; u64 e; f64 f; str g; str:u16 h; bytes:u8 i; "
            "u16[3] j; i32:u8 k; char[4] l; bool m; u64[2] n; str[6] o; bytes p").encode()
    target = Target(Config(bits=Config().bits | 1 << 31, pointer=4))
    target.frame(0xac, b"")
    target.frames[0] = stuff(b"\xac" + target.c.payload())
    target.frame(0xdf, b"\x07begin\0\x01\x01\x05" + struct.pack("<I", 10 ** 9))
    target.frame(0xdf, b"\x07type\0\x03\x07\x00\x01\x02\x07typed\0\x07" + text + b"\0")
    data = struct.pack(bigend + "BhIIQd", 200, -2, 7, 0x7d7e, 2 ** 63, 1.5) + b"str\0" + \
        struct.pack(bigend + "H", 3) + b"abc" + b"\x02\x7e\x7d" + \
        struct.pack(bigend + "HHH", 1, 2, 3) + b"\x02" + struct.pack(bigend + "ii", -1, 5) + \
        b"wxyz\x01" + struct.pack(bigend + "QQ", 1, 2) + b"six\0\0\0" + b"rest~}"
    for piece in (data, data[:20], b""):
        body = b"".join(b"\x08" + bytes([len(piece[i:i + 255])]) + piece[i:i + 255]
                        for i in range(0, len(piece), 255))
        target.frame(0xc2, b"\x09" + bytes(4) + b"\x0a" + bytes(4) + body)
    return target.stream(), [data.hex(), data[:20].hex(), ""]


def case_typed(tool, folder):
    """Fields go out in RKH's formats, and come back as the same bytes, in both orders."""
    for order in ("", "be; "):
        stream, want = typed_stream(order)
        import_bytes(tool, folder, stream)
        got = events_of(tool, folder / "a.ptl")
        assert [e["data"] for e in got] == want, got
        run(tool, "export", "--to=rkh", "--force", folder / "a.ptl", folder / "b.rkh")
        frames = [unstuff(f) for f in (folder / "b.rkh").read_bytes().split(b"\x7e") if f]
        event = [f for f in frames if 0xc0 <= f[0] < 0xde][0]
        values = Decoder().arguments(event[6:-1])[2:]
        kinds = [v[0] for v in values]
        assert kinds[:4] == [1, 2, 5, 6] and kinds[6] == 7, kinds
        assert [v[1] for v in values[:4]] == [200, 65534, 7, 0x7d7e], values
        run(tool, "import", "--from=rkh", "--force", folder / "b.rkh", folder / "c.ptl")
        assert [e["data"] for e in events_of(tool, folder / "c.ptl")] == want


def case_sample(tool, folder):
    """The public sample: 245 good frames, 3 damaged, 5 places where some are missing."""
    sample = pathlib.Path(os.environ.get("POSIXTRACE_SAMPLES", "")) / "rkh/trazer-trace.bin"
    if not sample.exists():
        print(f"no {sample}")
        return SKIP
    frames = [unstuff(f) for f in sample.read_bytes().split(b"\x7e") if f]
    good = [f for f in frames if f and sum(f) % 256 == 0]
    assert (len(frames), len(good)) == (248, 245)
    err = import_bytes(tool, folder, sample.read_bytes(), "--ids=flat")
    got = events_of(tool, folder / "a.ptl")
    records = [e for e in got if e["event"].startswith("rkh-flat:")]
    assert len(records) == 245 and "UNKNOWN" not in err
    for frame, event in zip(good, records):
        assert event["ts"] == int.from_bytes(frame[2:6], "little") * 1000, event
    names = [e["event"] for e in got]
    assert names.count("rkh:DAMAGED") == 3 and names.count("rkh:LOST") == 5
    raw = import_bytes(tool, folder, sample.read_bytes())
    assert len(events_of(tool, folder / "a.ptl")) == 245 + 3 + 5 * 3, raw
    return 0


def case_hostile(tool, folder):
    """Any bytes: a status of the manual and a log of what was good."""
    rng = random.Random(5)
    whole = random_target(rng, 40, timestamp=4).stream() + typed_stream("")[0]
    for cut in range(0, len(whole), 7):
        import_bytes(tool, folder, whole[:cut], status=0 if cut > 17 or cut == 0 else 1)
        events_of(tool, folder / "a.ptl")
    for _ in range(60):
        changed = bytearray(whole)
        for _ in range(rng.randrange(1, 30)):
            changed[rng.randrange(len(changed))] = rng.choice([0x7e, 0x7d, 0, 255, 0xdf, 0xac])
        import_bytes(tool, folder, bytes(changed))
        events_of(tool, folder / "a.ptl")
    for stream, word in ((b"\x7e" + b"A" * 300000, "no whole frame"), (b"\x7d" * 5000, "no whole"),
                         (b"\x7e" + b"\x41" * 70000 + b"\x7e", "longer than any frame")):
        assert word in import_bytes(tool, folder, stream, status=1), word
    import_bytes(tool, folder, b"\x7e" * 1000)
    assert events_of(tool, folder / "a.ptl") == []


def case_options(tool, folder):
    """An error in an option is reported with its name and value."""
    stream = Target(Config()).stream()
    for option, word in (("--rate=0", "--rate=0"), ("--rate=x", "--rate=x"),
                         ("--target=pointer=3", "pointer=3"), ("--target=foo=1", "foo=1"),
                         ("--ids=old", "--ids=old"), ("--baud=9601", "--baud=9601"),
                         ("--baud=9600", "not a serial line"), ("--frames=0", "--frames=0")):
        assert word in import_bytes(tool, folder, stream, option, status=1), option
    target = Target(Config(pointer=2, bits=Config().bits | 1 << SENDER))
    target.record(0x43, [0x1234, 1, 0x4321, 0, 0, 5])
    import_bytes(tool, folder, target.stream(), "--target=pointer=2,sender=1", "--rate=50000")
    check_events(target, events_of(tool, folder / "a.ptl"))
    wide = stuff(b"\x02\x40" + b"\0" + bytes(4) + bytes(4) + b"\x07")
    import_bytes(tool, folder, b"\x7e" + wide + b"\x7e", "--target=id=2")
    names = [e["event"] for e in events_of(tool, folder / "a.ptl")]
    assert names == ["rkh:UNKNOWN"], names
    wide = stuff(b"\x02\x00" + b"\0" + bytes(4) + bytes(4) + b"\x07")
    import_bytes(tool, folder, b"\x7e" + wide + b"\x7e", "--target=id=2")
    assert [e["event"] for e in events_of(tool, folder / "a.ptl")] == ["rkh:MP_PUT"]


def finish(process, status=0):
    err = process.communicate(timeout=60)[1].decode(errors="replace")
    assert process.returncode == status, (process.returncode, err)
    return err


def start(tool, folder, source, *options, **how):
    process = subprocess.Popen([tool, "import", "--from=rkh", "--force", *options, source,
                                folder / "a.ptl"], stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, **how)
    started.append(process)
    return process


def over_tcp(tool, folder, target):
    listener = socket.create_server(("127.0.0.1", 0))
    process = start(tool, folder, f"tcp:127.0.0.1:{listener.getsockname()[1]}")
    peer = listener.accept()[0]
    for frame in target.stream().split(b"\x7e"):
        peer.sendall(b"\x7e" + frame)
    peer.close()
    finish(process)
    listener.close()
    check_events(target, events_of(tool, folder / "a.ptl"))
    process = start(tool, folder, "tcp-listen:0")
    port = int(re.search(rb"port (\d+)", process.stderr.readline()).group(1))
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.sendall(target.stream())
    finish(process)
    check_events(target, events_of(tool, folder / "a.ptl"))


def over_tty(tool, folder, target):
    """The terminal is set by --baud; its sender does not hang up, the user ends it."""
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    process = start(tool, folder, os.ttyname(theirs), "--baud=115200",
                    f"--frames={len(target.frames)}")
    while termios.tcgetattr(theirs)[4] != termios.B115200:
        assert process.poll() is None, process.stderr.read()
    os.write(ours, target.stream())
    finish(process)
    assert termios.tcgetattr(theirs)[:6] == before[:6]
    check_events(target, events_of(tool, folder / "a.ptl"))
    os.close(ours)
    os.close(theirs)


def ended_by_signal(tool, folder, target, number):
    reader, writer = os.pipe()
    process = start(tool, folder, "-", stdin=reader)
    os.write(writer, target.stream())
    while fcntl.ioctl(reader, termios.FIONREAD, b"\0" * 4) != b"\0" * 4:
        assert process.poll() is None, process.stderr.read()
    process.send_signal(number)
    finish(process)
    check_events(target, events_of(tool, folder / "a.ptl"))
    os.close(reader)
    os.close(writer)


def case_live(tool, folder):
    """A pipe, a FIFO, connections both ways, a serial line; and what does not end."""
    target = random_target(random.Random(8), 20)
    finish(start(tool, folder, "-", stdin=subprocess.PIPE), 0)
    run(tool, "import", "--from=rkh", "--force", "-", folder / "a.ptl", stdin=target.stream())
    check_events(target, events_of(tool, folder / "a.ptl"))
    os.mkfifo(folder / "fifo")
    process = start(tool, folder, folder / "fifo")
    (folder / "fifo").write_bytes(target.stream())
    finish(process)
    check_events(target, events_of(tool, folder / "a.ptl"))
    over_tcp(tool, folder, target)
    over_tty(tool, folder, target)
    for number in (signal.SIGINT, signal.SIGTERM):
        ended_by_signal(tool, folder, target, number)
    for source in ("tcp:nowhere", "tcp:127.0.0.1:http", "tcp-listen:99999999"):
        assert source in run(tool, "import", "--from=rkh", source, folder / "n.ptl",
                             status=1).stderr.decode()
        assert not (folder / "n.ptl").exists()


def case_interface(tool, folder):
    """The example of posixtrace/rkh.h: filters, symbols, user events, framed bytes."""
    stream = run(sys.argv[3]).stdout
    bodies = [unstuff(f) for f in stream.split(b"\x7e") if f]
    assert all(sum(b) % 256 == 0 for b in bodies)
    import_bytes(tool, folder, stream)
    got = [e for e in events_of(tool, folder / "a.ptl") if e["event"] != "posix_trace_start"]
    assert [e["event"] for e in got] == ["rkh:FWK_AO", "rkh:FWK_SIG", "rkh:FWK_TUSR"] + \
        ["rkh:SM_DCH", "rkh:USR:PRESSURE"] * 2, got
    pump = bytes.fromhex(got[0]["data"])[:8]
    assert got[3]["data"] == got[5]["data"] == \
        (pump + b"pump\0" + struct.pack("<I", 7) + b"START\0" + bytes(8) + b"\0").hex(), got[3]
    assert got[3]["thread"] == "pump", got[3]
    assert got[4]["data"] == got[6]["data"] == (
        pump + b"pump\0" + struct.pack("<Hb", 42, -1) + b"bar\0\x03\x7e\x7d\0" +
        struct.pack("<I", 7) + b"START\0").hex(), got[4]
    users = [b for b in bodies if b[0] == 0xc3]
    assert users[0][6:-1] == b"\x09" + pump + b"\x33\x2a\0" + b"\0\xff" + b"\x07bar\0" + \
        b"\x08\x03\x7e\x7d\0" + b"\x0b" + struct.pack("<I", 7), users[0]


def main():
    case, tool = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        try:
            return globals()["case_" + case](tool, pathlib.Path(name)) or 0
        finally:
            for process in started:
                process.kill()


if __name__ == "__main__":
    sys.exit(main())
