#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The format trazer, held against what Trazer printed (the public sample), and against
lines written here by its rules.

usage: trazer.py CASE POSIXTRACE
"""

import json
import os
import pathlib
import random
import struct
import sys
import tempfile

from codec import MP_LOW, QUE_LOW, SENDER, Config, Target, run
from rkh import events_of, import_bytes, random_log, random_target

SKIP = 77


def convert(tool, folder, text, *options, status=0):
    (folder / "in.txt").write_bytes(text)
    return run(tool, "import", "--from=trazer", "--force", *options, folder / "in.txt",
               folder / "a.ptl", status=status).stderr.decode(errors="replace")


def text_of(tool, folder, log="a.ptl"):
    run(tool, "export", "--to=trazer", "--force", folder / log, folder / "out.txt")
    return (folder / "out.txt").read_bytes()


def case_sample(tool, folder):
    """text -> log -> text gives every line that Trazer printed; so does the way over frames."""
    sample = pathlib.Path(os.environ.get("POSIXTRACE_SAMPLES", "")) / "rkh/TrazerTC-trazer-shared"
    if not sample.exists():
        print(f"no {sample}")
        return SKIP
    text = sample.read_bytes()
    want = text[text.index(b"   0| [  0] | FWK | TCFG"):]
    err = convert(tool, folder, text, "--rate=1000000")
    assert text_of(tool, folder) == want, err
    names = [e["event"] for e in events_of(tool, folder / "a.ptl")]
    assert names.count("rkh:DAMAGED") == names.count("rkh:LOST") == 10 and \
        "rkh:LINE" not in names
    steps = run(tool, "metrics", "--format=jsonl", r"--user=RTC:rkh\:SM_DCH:rkh\:SM_STATE",
                folder / "a.ptl").stdout.decode().splitlines()
    dispatched = sum(b"| DCH " in line for line in want.splitlines())
    assert 90 < len(steps) < dispatched and any("0xfe614340" in step for step in steps), steps[:3]
    run(tool, "export", "--to=rkh", "--force", folder / "a.ptl", folder / "a.rkh")
    import_bytes(tool, folder, (folder / "a.rkh").read_bytes(), "--rate=1000000")
    assert text_of(tool, folder) == want.replace(b"\n***** Stream Checksum Error\n", b"")
    return 0


def case_lines(tool, folder):
    """Each kind of value, from frames, as Trazer prints it."""
    config = Config(hz=1000, timestamp=2)
    config.bits |= 1 << SENDER | 1 << QUE_LOW | 1 << MP_LOW
    target = Target(config)
    target.send_config()
    target.ticks = 65530
    target.record(0xae, [0x10, b"&server"])
    target.record(0xa7, [2, b"REQ"])
    target.record(0x43, [0x10, 2, 0x99, 0, 1, 4, 3])
    target.ticks += 10
    target.record(0x43, [0x10, 2, 0, 1, 1, 5, 3])
    target.record(0x42, [0x10, 2, 1, 0, 3, 3])
    target.record(0x42, [0x10, 1, 1, 0, 3, 3])
    target.record(0x70, [5, 0x10, 0, 0xabcdef])
    target.record(0xad, [b"main", 42])
    target.record(0x22, [0x20, 1, 2])
    target.record(0x82, [0x30, 600, 0])
    target.record(0xa0, [])
    target.frame(0xab, b"\x03VALUE\0")
    target.frame(0xc3, b"\x00\xff\x06\x0a\0\0\0\x07two words\0\x08\x02\x01\xab"
                       b"\x09\x10\0\0\0\x0b\x02")
    import_bytes(tool, folder, target.stream())
    got = text_of(tool, folder).decode()
    margin = " " * 34 + "| "
    assert got[got.index(" 65530|"):] == (
        " 65530| [  0] | FWK | AO         : obj=0x00000010, nm=server\n"
        " 65530| [  1] | FWK | SIG        : sig=2, nm=REQ\n"
        " 65530| [  2] | SMA | FIFO       : ao=server, sig=REQ, snr=0X99, pid=static, rc=1, "
        "nelem=4, nmin=3, nseq=1\n"
        "     4| [  3] | SMA | FIFO       : ao=server, sig=REQ, snr=?, pid=1, rc=1, nelem=5, "
        "nmin=3, nseq=2\n"
        "     4| [  4] | SMA | GET        : ao=server, sig=REQ, pid=1, rc=0, nelem=3, nmin=3, "
        "rt=10, nseq=1\n"
        "     4| [  5] | SMA | GET        : ao=server, sig=0X1, pid=1, rc=0, nelem=3, nmin=3, "
        "rt=-1, nseq=0\n"
        "     4| [  6] | SM  | EXE_ACT    : Guard, ao=server, st=?, fn=0XABCDEF\n"
        "     4| [  7] | FWK | ASSERT     : (42), main.c\n"
        "     4| [  8] | RQ  | FIFO       : q=0X20, nelem=1, nmin=2\n"
        "     4| [  9] | TIM | STOP       : t=0X30, nt=600, per=0\n"
        "     4| [ 10] | FWK | EN         :  \n"
        "     4| [ 11] | FWK | TUSR       : ut=3, nm=VALUE\n"
        "     4| [ 12] | USR | VALUE      : User trace information\n"
        f"{margin}-1\n{margin}0xA\n{margin}two words\n{margin}[ 01 AB ]\n"
        f"{margin}obj=server\n{margin}event=REQ\n"), got
    convert(tool, folder, got.encode())
    assert text_of(tool, folder).decode() == got


def case_frames(tool, folder):
    """frames -> log -> text -> log: the same events but for what text does not say."""
    for seed in range(4):
        target = random_target(random.Random(seed), timestamp=4, hz=1000)
        import_bytes(tool, folder, target.stream())
        frames = events_of(tool, folder / "a.ptl")
        text = text_of(tool, folder)
        convert(tool, folder, text)
        lines = events_of(tool, folder / "a.ptl")
        assert len(frames) == len(lines), seed
        for i, (f, line) in enumerate(zip(frames, lines)):
            assert (f["ts"], f["event"]) == (line["ts"], line["event"]) or \
                line["event"] == "rkh:LINE", (seed, i, f, line)
        same = sum(f["data"] == line["data"] for f, line in zip(frames, lines))
        assert same > len(lines) // 3, same


def case_any(tool, folder):
    """Any log as user events: all of them, in order, with their bytes."""
    random_log(random.Random(2), folder / "in.jsonl", 500)
    run(tool, "import", "--from=jsonl", folder / "in.jsonl", folder / "a.ptl")
    events = events_of(tool, folder / "a.ptl")
    text = text_of(tool, folder).decode()
    heads = [line for line in text.splitlines() if "| USR | " in line]
    assert [h.split("| USR | ")[1].split(" : ")[0].rstrip() for h in heads] == \
        [e["event"] for e in events]
    blocks = text.split("User trace information\n")[1:]
    for block, event in zip(blocks, events):
        dump = "".join(line.split("[ ")[1][:-1] for line in block.splitlines()
                       if line.startswith(" " * 34 + "| [ "))
        dump = dump.replace(" ", "") if event["data"] else ""
        assert dump.lower() == event["data"], (block[:300], event["event"])
    assert "the user event before it is too long" in convert(tool, folder, text.encode())
    again = [e for e in events_of(tool, folder / "a.ptl") if e["event"].startswith("rkh:USR:")]
    assert [e["event"][8:] for e in again] == [e["event"] for e in events]
    assert again[-1]["trunc"] == 1 and not any(e["trunc"] for e in again[:-1])
    end = text.index("| USR | long")
    assert text_of(tool, folder).decode()[:end] == text[:end]


def case_hostile(tool, folder):
    """Any text: a line that is not understood is kept as a line, or refused with its number."""
    head = b" 1| [  0] | FWK | EN         :  \n"
    for line in (b" 2| [  1] | FWK | NONSENSE   : x=1\n", b" 2| [  1] | MP  | GET        : mp=?\n",
                 b" 2| [  1] | SM  | EXE_ACT    : Jump, ao=a, st=b, fn=c\n", b"free words\n",
                 b" 2| [  1] | MP  | PUT        : mp=0X1G, nfree=3\n",
                 b" 2| [  1] | MP  | PUT        : mp=0X1, nfree=99999999999\n"):
        err = convert(tool, folder, head + line)
        got = events_of(tool, folder / "a.ptl")
        assert [e["event"] for e in got] == ["rkh:FWK_EN", "rkh:LINE"] and "line 2" in err, line
        assert bytes.fromhex(got[1]["data"]) == line.rstrip(b"\n") + b"\0"
    assert "none of 1 lines" in convert(tool, folder, b"nothing of Trazer's\n", status=1)
    assert "line 2" in convert(tool, folder, head + b"x" * 70000 + b"\n", status=1)
    assert "line 2: a zero byte" in convert(tool, folder, head + b"\0\n", status=1)
    assert len(events_of(tool, folder / "a.ptl")) == 1
    rng = random.Random(4)
    target = random_target(rng, 60)
    import_bytes(tool, folder, target.stream())
    whole = text_of(tool, folder)
    for _ in range(60):
        changed = bytearray(whole)
        for _ in range(rng.randrange(1, 40)):
            changed[rng.randrange(len(changed))] = rng.choice(b"|[]:=,?0X \n~9")
        (folder / "in.txt").write_bytes(changed)
        run(tool, "import", "--from=trazer", "--force", folder / "in.txt", folder / "a.ptl")
        events_of(tool, folder / "a.ptl")


def case_kiwi(tool, folder):
    """Kiwi's file by its rules: header first, words known, times in order, states in pairs."""
    lines, now = [], 10 ** 18
    rng = random.Random(6)

    def add(thread, event, data=b""):
        lines.append(json.dumps({"ts": now, "pid": 1, "tid": thread, "event": event,
                                 "thread": f"t {thread}", "data": data.hex()}))

    for i in range(2000):
        now += rng.randrange(1000)
        add(1 + rng.randrange(120), rng.choice(
            ["posixtrace_switch_in", "posixtrace_switch_out", "posixtrace_switch_preempted",
             "posixtrace_mutex_unlock", "user event", "job begin", "job end", "{brace"]), b"")
    add(1, "posixtrace_mutex_locked", struct.pack("<Qq", 1, 0))
    add(1, "posixtrace_mutex_locked", struct.pack("<Qq", 1, 16))
    now += 10 ** 13
    add(1, "too late")
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n")
    run(tool, "import", "--from=jsonl", folder / "in.jsonl", folder / "a.ptl")
    err = run(tool, "export", "--to=kiwi", "--exec=job begin,job end", folder / "a.ptl",
              folder / "a.ktr").stderr.decode()
    threads = list(dict.fromkeys(json.loads(line)["tid"] for line in lines))
    left = sum(json.loads(line)["tid"] not in threads[:100] for line in lines) + 1
    assert f"{left} events could not be carried over" in err, err
    count, last, names, state, signs = 0, 0.0, {}, {}, {}
    for line in (folder / "a.ktr").read_text().splitlines():
        words = line.split()
        if line.startswith("#"):
            continue
        if words[0] in ("FROM", "DURATION", "DECIMAL_DIGITS", "LINE_NAME"):
            assert count == 0, line
            if words[0] == "LINE_NAME":
                names[int(words[1])] = words[2]
            continue
        time, sign = float(words[0]), words[1]
        assert last <= time < 9999.999999999, line
        last, count = time, count + 1
        signs[sign] = signs.get(sign, 0) + 1
        assert sign in ("EXEC-B", "EXEC-E", "READY-B", "READY-E", "TEXTOVER", "LOCK", "UNLOCK"), line
        assert 0 <= int(words[2]) < 100 and not set(line) & set('{}[]"\\$;'), line
        kind, step = sign.split("-") if "-" in sign else (None, None)
        if kind:
            key = (int(words[2]), kind)
            assert state.get(key, False) == (step == "E"), line
            state[key] = step == "B"
    assert not any(state.values()) and len(names) == 100 and names[0].startswith("t_")
    assert signs["LOCK"] == 1 and signs["UNLOCK"] > 0 and signs["READY-B"] > 0
    run(tool, "export", "--to=kiwi", "--text=0", "--force", folder / "a.ptl", folder / "a.ktr")
    assert "TEXTOVER" not in (folder / "a.ktr").read_text()
    for option in ("--exec=one", "--text=2"):
        done = run(tool, "export", "--to=kiwi", "--force", option, folder / "a.ptl",
                   folder / "b.ktr", status=1)
        assert option in done.stderr.decode() and not (folder / "b.ktr").exists()


def case_kiwi_ends(tool, folder):
    """After its end, a thread executes up to its last switch or event, and no longer."""
    word = {"in": "posixtrace_switch_in", "out": "posixtrace_switch_out",
            "preempted": "posixtrace_switch_preempted", "begin": "posixtrace_thread_begin",
            "end": "posixtrace_thread_end", "a": "a"}
    steps = [(0, 1, "in"), (1, 1, "begin"), (10, 1, "end"), (11, 2, "in"), (20, 2, "end"),
             (21, 2, "preempted"), (22, 2, "in"), (25, 2, "a"), (26, 2, "in"), (30, 1, "begin"),
             (31, 1, "in"), (40, 1, "out"), (50, 2, "preempted")]
    steps += [(100 + n, 3, "a") for n in range(5000)]        # more than the writer's buffer has
    steps += [(10000, 2, "out"), (10001, 2, "in"), (20000, 3, "a")]
    (folder / "e.jsonl").write_text("".join(json.dumps(
        {"ts": ns, "pid": 1, "tid": tid, "thread": "t", "event": word[what],
         "data": "00000000" if what in ("in", "out", "preempted") else ""}) + "\n"
        for ns, tid, what in steps))
    run(tool, "import", "--from=jsonl", folder / "e.jsonl", folder / "e.ptl")
    run(tool, "export", "--to=kiwi", folder / "e.ptl", folder / "e.ktr")
    found = [(round(float(w[0]) * 1e9), w[1], int(w[2])) for w in
             map(str.split, (folder / "e.ktr").read_text().splitlines())
             if w[0][0] != "#" and w[1] in ("EXEC-B", "EXEC-E", "READY-B", "READY-E")]
    assert found == [(0, "EXEC-B", 0), (10, "EXEC-E", 0), (11, "EXEC-B", 1), (20, "EXEC-E", 1),
                     (20, "EXEC-B", 1), (21, "EXEC-E", 1), (21, "READY-B", 1), (22, "READY-E", 1),
                     (22, "EXEC-B", 1), (25, "EXEC-E", 1), (25, "EXEC-B", 1), (26, "EXEC-E", 1),
                     (26, "EXEC-B", 1), (31, "EXEC-B", 0), (40, "EXEC-E", 0), (50, "EXEC-E", 1),
                     (50, "READY-B", 1), (10000, "READY-E", 1)], found


def case_kiwi_again(tool, folder):
    """The next thread with a number has a line of its own, and the first one is over."""
    steps = [(0, 5, 2, "second", "posixtrace_switch_in"), (1, 5, 1, "first", "a"),
             (2, 6, 3, "third", "a"), (3, 5, 2, "second", "b"),
             (4, 5, 1, "first", "posixtrace_switch_in"), (5, 5, 2, "second", "c"),
             (6, 5, 1, "first", "posixtrace_switch_out")]
    (folder / "e.jsonl").write_text("".join(json.dumps(
        {"ts": ns, "pid": 1, "tid": tid, "thread_id": hex(4096 * thread), "thread": name,
         "event": what, "data": "00000000"}) + "\n" for ns, tid, thread, name, what in steps))
    run(tool, "import", "--from=jsonl", folder / "e.jsonl", folder / "e.ptl")
    run(tool, "export", "--to=kiwi", folder / "e.ptl", folder / "e.ktr")
    words = [w for w in map(str.split, (folder / "e.ktr").read_text().splitlines()) if w[0] != "#"]
    lines = [int(w[1]) for w in words if w[0] == "LINE_NAME"]
    found = [(round(float(w[0]) * 1e9), *w[1:]) for w in words if w[0][0].isdigit()]
    assert lines == [0, 1, 2], lines
    assert found == [(0, "EXEC-B", "0"), (1, "TEXTOVER", "0", "a"), (2, "TEXTOVER", "1", "a"),
                     (3, "EXEC-E", "0"), (3, "TEXTOVER", "2", "b"), (4, "EXEC-B", "2"),
                     (5, "TEXTOVER", "2", "c"), (6, "EXEC-E", "2")], found


def main():
    case, tool = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        return globals()["case_" + case](tool, pathlib.Path(name)) or 0


if __name__ == "__main__":
    sys.exit(main())
