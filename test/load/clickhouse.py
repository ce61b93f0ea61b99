#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace load into a ClickHouse server on the loopback address: every event once, whatever fails.

usage: clickhouse.py CASE POSIXTRACE [FOLDER OF QUERIES]

Without clickhouse-server the test is skipped.  POSIXTRACE_TEST_SHORT shortens it.
"""

import json
import math
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "format"))
from parquet_logs import line, random_log, random_types  # noqa: E402
from server import Relay, Server, environment, free_port, need, own_network, skip, skip_without_server  # noqa: E402

CASE, TOOL = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
SHORT = "POSIXTRACE_TEST_SHORT" in os.environ
SEED = int(os.environ.get("POSIXTRACE_TEST_SEED", random.randrange(1 << 30)))
rng = random.Random(SEED)


def load(url, *words, status=0, env=None, **how):
    done = subprocess.run([TOOL, "load", f"--to={url}", *map(str, words)], capture_output=True, text=True, timeout=250,
                          env=environment(**(env or {})), check=False, **how)
    need(status is None or done.returncode == status, "exit", done.returncode, done.stdout, done.stderr)
    return done


def make_log(path, text):
    subprocess.run([TOOL, "import", "--from=jsonl", "-", path], input=text.encode("utf-8", "surrogateescape"), check=True)
    return path


def simple_log(path, count, first=0):
    data = [struct.pack("<IQ", i % 7, i * 2654435761 % 2**61) for i in range(count)]
    return make_log(path, "".join(line(first + i * 170, "tick", data[i], i // 8 % 4 + 1,
                                       description="u32 a; u64 b" if i == 0 else None) for i in range(count)))


def events_of(log):
    text = subprocess.run([TOOL, "print", "--format=jsonl", log], capture_output=True, check=True).stdout
    return [json.loads(one) for one in text.decode("utf-8", "surrogatepass").split("\n") if one]


def shown(text):
    """As the tables have it: a byte that is not UTF-8 is \\xNN."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def rows_of(server, log, database="t"):
    """{column: value} of each row, in order; the server gives numbers of 64 bits as text."""
    text = server.query(f"SELECT * FROM events WHERE log = '{log}' ORDER BY position FORMAT JSONCompact", database)
    answer = json.loads(text)
    names = [column["name"] for column in answer["meta"]]
    return [dict(zip(names, row)) for row in answer["data"]]


def log_id(log):
    text = subprocess.run([TOOL, "info", "--format=jsonl", log], capture_output=True, text=True, check=True).stdout
    return next(o["id"] for o in map(json.loads, text.splitlines()) if "id" in o)


def same_value(field, value):
    """Is what print shows of a field what the column has?"""
    if isinstance(field, bool):
        return int(value) == field
    if isinstance(field, float):
        return value is not None and (float(value) == field or   # of f32 print shows fewer digits
                                      struct.pack("<f", float(value)) == struct.pack("<f", field))
    if isinstance(field, int):
        return str(value) == str(field)
    if isinstance(field, list):
        return [*map(json.dumps, json.loads(value))] == [*map(json.dumps, field)]
    if field is None:
        return value is None or not math.isfinite(float(value))   # JSON has no number for it
    return value == shown(field)


def compare(events, rows):
    need(len(events) == len(rows), len(events), "events and", len(rows), "rows")
    for position, (event, row) in enumerate(zip(events, rows)):
        name = shown(event["event"])
        need(int(row["position"]) == position and int(row["time"]) == event["ts"], row)
        need((int(row["pid"]), int(row["tid"])) == (event["pid"], event["tid"]), event, row)
        need(int(row["thread_id"]) == int(event["thread_id"], 16), event, row)
        need(row["thread"] == shown(event["thread"]) and row["event"] == name, event, row)
        need(int(row["address"]) == int(event["addr"], 16), event, row)
        need(int(row["truncated"]) == (event["trunc"] != 0), event, row)
        fields = event.get("fields")
        need(fields is not None or row["data"] is not None, "neither fields nor data", event, row)
        for field, value in (fields or {}).items():
            column = next(c for c in row if c == f"{name}.{field}")
            need(same_value(value, row[column]), field, value, row[column], event)


def count_once(server, logs, each):
    """All rows of each log, once."""
    for log in logs:
        key = log_id(log)
        text = server.query(f"SELECT count(), uniqExact(position), max(position) FROM events WHERE log = '{key}'", "t")
        need(text == f"{each}\t{each}\t{each - 1}\n", log, text)


def rows(server, folder):
    server.query("CREATE DATABASE t")
    types = [t for t in random_types(rng, 8) if not t[0].startswith("d")]
    log = make_log(folder / "a.ptl", random_log(rng, 300 if SHORT else 3000, types))
    load(server.url(), log)
    compare(events_of(log), rows_of(server, log_id(log)))
    empty = make_log(folder / "empty.ptl", "")
    need("loaded 0 events" in load(server.url(), empty).stdout)


def types(server, folder):
    """Fields of the same name and other types, and names that no file could have."""
    server.query("CREATE DATABASE t")
    long = "€" * 80
    logs = [make_log(folder / f"{i}.ptl", line(1, "x", data, description=text) + line(2, long, b"\5", description="u8 n") +
                     line(3, long[:-1] + "!", b"\6", description="u8 n"))
            for i, (text, data) in enumerate((("u32 v", b"\1\0\0\0"), ("f64 v", struct.pack("<d", 0.5)),
                                              ("str v", b"text\0"), ("u64 v", b"\xff" * 8), ("i8 v", b"\xff"),
                                              ("u8 v {one = 1}", b"\1"), ("bool v", b"\1")))]
    load(server.url(), "-j4", *logs)
    columns = server.query("SELECT name, type FROM system.columns WHERE database = 't' AND table = 'events' "
                           "AND name LIKE 'x.v%'").splitlines()
    kinds = {c.split("\t")[1]: c.split("\t")[0] for c in columns}
    need(len(columns) == len(kinds) == 5, columns)
    need(sum(1 for name in kinds.values() if name == "x.v") == 1, "one has the plain name", kinds)
    need(all(name in ("x.v", "x.v#" + kind[9:-1]) for kind, name in kinds.items()), kinds)
    expected = {"Int64": {"1", "-1"}, "Float64": {"0.5"}, "String": {"text", "one"}, "UInt64": {str(2**64 - 1)},
                "UInt8": {"1"}}
    for kind, values in expected.items():
        column = kinds[f"Nullable({kind})"]
        got = server.query(f"SELECT `{column}` FROM events WHERE `{column}` IS NOT NULL", "t").split()
        need(set(got) == values and len(got) == len(values), kind, got)
    text = server.query("SELECT DISTINCT name FROM system.columns WHERE database = 't' AND table = 'events' "
                        "AND name LIKE '€%'").splitlines()
    need(len(text) == 2 and all("~" in name and len(name.encode()) < 200 for name in text), text)


def tables(server, folder):
    """Measurements and gaps: as many as the pairs and losses of the log."""
    server.query("CREATE DATABASE t")
    text, spans = "", []
    for i in range(200):
        begin, length = i * 10**6 + 1, rng.randrange(1, 10**5)
        spans.append(length)
        text += line(begin, "job:begin", b"") + line(begin + length, "job:end", b"")
    end = 10**9
    text += line(end, "posix_trace_overflow", b"") + line(end + 500, "posix_trace_resume", b"")
    load(server.url(), make_log(folder / "a.ptl", text))
    got = server.query("SELECT length, end_time - begin_time, kind, metric FROM measurements WHERE known ORDER BY position", "t")
    need([one.split("\t") for one in got.splitlines()] == [[str(n), str(n), "pair", "job"] for n in spans], got)
    got = server.query("SELECT begin_time, end_time, lost, cause FROM gaps", "t")
    need(f"{end}\t{end + 500}\t\\N\tevents lost\n" in got, got)


def queries(server, folder):
    """The shipped queries run, and find the log."""
    server.query("CREATE DATABASE t")
    log = make_log(folder / "a.ptl", "".join(line(i * 1000 + 1, "job:begin", b"") + line(i * 1000 + 400, "job:end", b"")
                                             for i in range(100)))
    load(server.url(), "--host=here", log)
    server.query("CREATE TABLE releases (log String, release String) ENGINE = Memory", "t")
    server.query(f"INSERT INTO releases VALUES ('{log_id(log)}', 'a')", "t")
    files = sorted(pathlib.Path(sys.argv[3]).glob("clickhouse-*.sql"))
    need(len(files) >= 5, files)
    for file in files:
        if "tables" in file.name:
            continue
        got = server.query(file.read_text().strip().rstrip(";"), "t")
        need("here" in got or file.name not in ("clickhouse-latency.sql", "clickhouse-rates.sql"), file, got)


def again(server, folder):
    server.query("CREATE DATABASE t")
    log = simple_log(folder / "a.ptl", 1000)
    load(server.url(), log)
    need("is loaded already" in load(server.url(), log).stdout)
    count_once(server, [log], 1000)
    load(server.url(), "--replace", log)
    count_once(server, [log], 1000)
    need(server.number("SELECT count() FROM events_rows") == 2000, "rows of the attempt before are kept, and not seen")
    piece = pathlib.Path(__file__).resolve().parent.parent / "data" / "log-1" / "piece.ptl"
    load(server.url(), piece)
    need(server.number(f"SELECT max(piece) FROM events WHERE log = '{log_id(piece)}'") > 0, "the header has the piece")
    cut = folder / "cut.ptl"
    cut.write_bytes(piece.read_bytes()[:-200])
    done = load(server.url(), cut, status=1)
    need("it is cut" in done.stderr, done.stderr)
    subprocess.run([TOOL, "recover", cut], capture_output=True, check=True)
    need("is loaded already" in load(server.url(), cut).stdout, "what was recovered has all events")
    done = load(server.url("none"), log, status=1)
    need("has no database 'none'" in done.stderr, done.stderr)


def record_pieces(folder):
    """A log in pieces: each flush that has an event ends one, and two flushes are a second apart at most."""
    program = "; ".join(["ls -lR /usr/include > /dev/null; sleep 1.1"] * 3)
    subprocess.run([TOOL, "record", "--system", "--quiet", "--rotate=1", f"--outdir={folder}", "sh", "-c", program],
                   check=True, capture_output=True, timeout=120)
    pieces = sorted(folder.glob("*.ptl"))
    need(len(pieces) > 1, pieces)
    return pieces


def count_of(log):
    """How many events a log has, and its id."""
    return len(events_of(log)), log_id(log)


def pieces(server, folder):
    """Pieces are loaded one by one, also by the name of their folder or of their stream."""
    server.query("CREATE DATABASE t")
    logs = record_pieces(folder / "in")
    (folder / "in" / "next-000099.ptl.part").write_bytes(logs[-1].read_bytes())
    counts = [count_of(log)[0] for log in logs]
    load(server.url(), logs[0])
    load(server.url(), folder / "in")
    got = server.query("SELECT piece, count(), uniqExact(position), max(position) FROM events GROUP BY piece ORDER BY piece", "t")
    need(got == "".join(f"{i + 1}\t{n}\t{n}\t{n - 1}\n" for i, n in enumerate(counts)), got, counts)
    done = load(server.url(), folder / "in" / log_id(logs[0]))
    need(done.stdout.count("is loaded already") == len(logs), done.stdout)
    need(server.number("SELECT count() FROM events_rows") == sum(counts))


class Follower:
    """posixtrace load --follow."""

    def __init__(self, server, folder, into, *words, port=None):
        self.errors = folder / "errors"
        self.process = subprocess.Popen([TOOL, "load", f"--to={server.url(port=port)}", "--follow", into, *words],
                                        env=environment(), stdout=open(folder / "output", "ab"),
                                        stderr=open(self.errors, "wb"))

    def said(self):
        return self.errors.read_text()

    def until(self, what, true):
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if true():
                return
            need(self.process.poll() is None, what, "it ended:", self.said())
            time.sleep(0.02)
        sys.exit(f"not in 120 s: {what}: {self.said()}")

    def heeds_signals(self):
        """Its handler is there: before that SIGTERM ends it as it ends any program."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("SigCgt:")[1].split()[0], 16) >> (signal.SIGTERM - 1) & 1

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        need(self.process.wait(timeout=60) == 0, "exit status", self.process.returncode, self.said())


def is_loaded(server, log):
    count, key = count_of(log)
    text = server.query(f"SELECT count(), uniqExact(position), piece FROM events WHERE log = '{key}' GROUP BY piece", "t")
    return any(line.split("\t")[:2] == [str(count)] * 2 for line in text.splitlines())


def is_there(server):
    return server.number("SELECT count() FROM system.tables WHERE database = 't' AND name = 'events'") > 0


def follow(server, folder):
    """Logs of a folder, and those that come; names of copies that are under way, broken logs, errors of the server."""
    server.query("CREATE DATABASE t")
    into = folder / "in"
    (into / "host a").mkdir(parents=True)
    (into / ".partial").mkdir()
    here, renamed, half, late = (simple_log(folder / f"{i}.ptl", 500, i) for i in range(4))
    shutil.copy(here, into / "host a" / "here.ptl")
    for name in ("renamed.ptl.part", ".renamed.ptl.x81K2a", ".partial/renamed.ptl"):
        shutil.copy(renamed, into / name)
    (into / "broken.ptl").write_text("this is not a log")
    follower = Follower(server, folder, into)
    follower.until("the log at the start", lambda: is_there(server) and is_loaded(server, here))
    with open(into / "half.ptl", "wb") as copy:
        copy.write(half.read_bytes()[:-500])
        copy.flush()
        follower.until("the broken one", lambda: "broken.ptl" in follower.said())
        need(server.query("SELECT DISTINCT log FROM events", "t") == log_id(here) + "\n", "a log that is not complete is seen")
        copy.write(half.read_bytes()[-500:])
    follower.until("what was written", lambda: is_loaded(server, half))
    (into / "renamed.ptl.part").rename(into / "renamed.ptl")
    follower.until("what was renamed", lambda: is_loaded(server, renamed))
    logs = record_pieces(into / "host b")
    follower.until("pieces in a new folder", lambda: all(is_loaded(server, log) for log in logs))
    server.kill()
    shutil.copy(late, into / "late.ptl")
    follower.until("the server", lambda: "until the server takes it" in follower.said())
    time.sleep(2.5)
    server.start()
    follower.until("what came meanwhile", lambda: is_loaded(server, late))
    follower.until("the news", lambda: "takes logs again" in follower.said())
    (into / "broken.ptl").unlink()
    follower.end()
    # Of the half log it may speak, too, if it stayed as it was for as long.
    said = [line for line in follower.said().splitlines() if "half.ptl" not in line]
    need(len(said) == 4 and sum("broken.ptl" in line for line in said) == 1, said)
    rows = server.number("SELECT count() FROM events_rows")
    follower = Follower(server, folder, into)
    shutil.copy(simple_log(folder / "last.ptl", 7, 77), into / "last.ptl")
    follower.until("another one", lambda: is_loaded(server, into / "last.ptl"))
    follower.end(signal.SIGINT)
    need(server.number("SELECT count() FROM events_rows") == rows + 7 and not follower.said(), "logs are loaded again", follower.said())


def live(server, folder):
    """A recording into the folder, by a name of its own and in pieces: loaded when it is complete."""
    server.query("CREATE DATABASE t")
    into = folder / "in"
    into.mkdir()
    relay = Relay(server.port)
    follower = Follower(server, folder, into, port=relay.port)
    with subprocess.Popen([TOOL, "record", "--quiet", "-o", into / "live.ptl", "cat"], stdin=subprocess.PIPE) as recording:
        follower.until("the recording", lambda: (into / "live.ptl").exists())
        other = simple_log(folder / "other.ptl", 50)
        shutil.copy(other, into / "other.ptl")
        follower.until("another log", lambda: is_there(server) and is_loaded(server, other))
        time.sleep(2)
        need(server.number("SELECT uniqExact(log) FROM events") == 1, "a log that is written is seen")
        recording.stdin.close()
    follower.until("the end of the recording", lambda: is_loaded(server, into / "live.ptl"))
    linked = folder / "linked.ptl"   # of a file elsewhere inotify says nothing, as on NFS
    (into / "linked.ptl").symlink_to(linked)
    time.sleep(1)
    simple_log(linked, 20, 5)
    follower.until("what inotify does not see", lambda: is_loaded(server, linked))
    gone = into / "gone.ptl"
    server.process.send_signal(signal.SIGSTOP)
    relay.arm()
    simple_log(folder / "gone.ptl", 50, 9).rename(gone)
    follower.until("a job asks the server", lambda: relay.passed[0] > 0)
    follower.process.send_signal(signal.SIGTERM)   # the job is under way, and ends
    time.sleep(0.5)
    server.process.send_signal(signal.SIGCONT)
    need(follower.process.wait(timeout=60) == 0 and not follower.said(), follower.said())
    need(is_loaded(server, gone), "what was under way")


def stopped(server, folder):
    """Signals at any time: the views show whole logs, and the next one loads the rest."""
    server.query("CREATE DATABASE t")
    into = folder / "in"
    into.mkdir()
    logs = [simple_log(into / f"{i}.ptl", 30000, i) for i in range(4)]
    for i in range(2 if SHORT else 5):
        follower = Follower(server, folder, into, "-j2")
        follower.until("its handler", follower.heeds_signals)
        time.sleep(rng.random())
        for _ in range(i % 2):
            follower.process.send_signal(signal.SIGTERM)
        follower.end()
        if is_there(server):
            seen = server.query("SELECT log, count(), uniqExact(position) FROM events GROUP BY log", "t")
            need(all(one.split("\t")[1:] == ["30000"] * 2 for one in seen.splitlines()), "parts are seen:", seen)
    follower = Follower(server, folder, into)
    follower.until("the rest", lambda: is_there(server) and all(is_loaded(server, log) for log in logs))
    follower.end()
    count_once(server, logs, 30000)


def sync(server, folder):
    """Times of the common clock, with the interval of its error; b's clock is 0.25 s slow."""
    server.query("CREATE DATABASE t")
    start = 1795255200 * 10**9

    def messages(name, events):
        return make_log(folder / name, "".join(
            line(start + at, event, struct.pack("<I", n), description="u32 id" if i < 2 else None)
            for i, (at, event, n) in enumerate(events)))
    a = messages("a.ptl", ((1000000, "send", 1), (3300000, "recv", 2), (5000000, "send", 3), (7300000, "recv", 4)))
    b = messages("b.ptl", ((-248900000, "recv", 1), (-247000000, "send", 2), (-244900000, "recv", 3), (-243000000, "send", 4)))
    clocks = folder / "two.sync"
    subprocess.run([TOOL, "sync", "--pair=send by id..recv by id", "-o", clocks, a, b], check=True, capture_output=True)
    load(server.url(), a)
    load(server.url(), f"--sync={clocks}", a, status=1)
    need("another clock" in load(server.url(), f"--sync={clocks}", a, status=1).stderr)
    load(server.url(), f"--sync={clocks}", "--replace", a)
    load(server.url(), f"--sync={clocks}", b)
    order = server.query("SELECT event, `send.id`, `recv.id` FROM events ORDER BY time", "t").split()
    need([n for n in order if n.isdigit()] == list("11223344"), order)
    for log in (a, b):
        text = subprocess.run([TOOL, "print", "--format=jsonl", f"--sync={clocks}", log], capture_output=True, check=True).stdout
        times = [json.loads(one)["ts"] for one in text.splitlines()]
        got = rows_of(server, log_id(log))
        need([int(row["time"]) for row in got] == times, times, got)
        need(len({(row["clock_least"], row["clock_most"]) for row in got}) == 1, got)
        least, most = int(got[0]["clock_least"]), int(got[0]["clock_most"])
        true = 0 if log == a else 250000000
        need(all(least <= start + at + true - int(row["time"]) <= most and most - least < 2000000
                 for at, row in zip((1000000, 3300000, 5000000, 7300000) if log == a else
                                    (-248900000, -247000000, -244900000, -243000000), got)), least, most, got)
    need(any(int(row["clock_least"]) < 0 < int(row["clock_most"]) for row in got), "it has a width", got)
    need(server.query("SELECT DISTINCT clock_least <= 0, clock_most >= 0 FROM gaps", "t") in ("", "1\t1\n"))
    done = load(server.url(), f"--sync={clocks}", simple_log(folder / "c.ptl", 5), status=1)
    need("no clock of the host" in done.stderr, done.stderr)
    plain = simple_log(folder / "d.ptl", 5)
    load(server.url(), plain)
    need(rows_of(server, log_id(plain))[0]["clock_least"] is None, "no clock was given")


def full(server, folder):
    """The disk of the server is full."""
    server.stop()
    small = folder / "small"
    small.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", small], check=False,
                                           capture_output=True).returncode:
        skip("mounting a small file system needs root")
    little = None
    try:
        little = Server(small)
        little.query("CREATE DATABASE t")
        first, log = simple_log(folder / "first.ptl", 100), simple_log(folder / "a.ptl", 400000)
        load(little.url(), first)
        room = shutil.disk_usage(small).free - 2 * 2**20
        (small / "ballast").write_bytes(bytes(room))
        done = load(little.url(), "--tries=2", log, status=1)
        need("the server says: " in done.stderr and "space" in done.stderr, done.stderr)
        need("load it again" in done.stderr, done.stderr)
        need(little.query("SELECT count(), uniqExact(log) FROM events", "t") == "100\t1\n", "rows are seen")
        need(little.number("SELECT count() FROM loads") == 1)
        (small / "ballast").unlink()
        load(little.url(), log)
        count_once(little, [log], 400000)
        count_once(little, [first], 100)
    finally:
        if little:
            little.stop()
        subprocess.run(["umount", "-l", small], check=True)


def at_once(server, folder):
    """Several clients and the same logs, in a database without tables."""
    server.query("CREATE DATABASE t")
    logs = [make_log(folder / f"{i}.ptl", "".join(line(n, f"event-{i}", struct.pack("<I", n),
                                                       description=f"u32 field{i}" if n == 0 else None)
                                                  for n in range(500))) for i in range(4)]
    loaders = [subprocess.Popen([TOOL, "load", f"--to={server.url()}", "-j2", *rng.sample(logs, 4)], env=environment(),
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for loader in loaders:
        said = loader.communicate(timeout=250)[1]
        need(loader.returncode == 0, said)
    count_once(server, logs, 500)
    for i in range(4):
        need(server.number(f"SELECT sum(`event-{i}.field{i}`) FROM events") == 500 * 499 // 2, "fields of", i)
    tables = server.query("SHOW TABLES", "t").split()
    need(not any("_new_" in t or "_old_" in t for t in tables), tables)


def hurt(server, folder, harm, tries):
    """Loads while something fails after so many bytes, until all is there: no row is there twice, and at any
    time the view shows whole logs."""
    server.query("CREATE DATABASE t")
    count = 20000
    relay = Relay(server.port)
    for round in range(tries):
        logs = [simple_log(folder / f"{round}-{i}.ptl", count, round) for i in range(2)]
        total = 2 * count * 110
        failed = harm(relay, total, logs)
        relay.arm()
        # Cut before the first load has made the view, nothing can be seen.
        made = server.number("SELECT count() FROM system.tables WHERE database = 't' AND name = 'events'")
        if failed is not False and made:
            seen = server.query("SELECT log, count(), uniqExact(position) FROM events GROUP BY log", "t")
            need(all(one.split("\t")[1:] == [str(count)] * 2 for one in seen.splitlines()), "parts are seen:", seen)
        load(server.url(), *logs)
        count_once(server, logs, count)
    need(server.number("SELECT count() FROM events") == 2 * tries * count)


def killed(server, folder):
    """kill -9 of the client or of the server, after any number of bytes."""
    def harm(relay, total, logs):
        loader = subprocess.Popen([TOOL, "load", f"--to={server.url(port=relay.port)}", "--tries=2", "-j2", *logs],
                                  env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True)
        of_server = rng.random() < 0.5
        relay.arm(up=rng.randrange(1, total), action=server.kill if of_server else
                  lambda: os.killpg(loader.pid, 9))
        loader.wait()
        relay.arm()   # what it has begun is done then
        if server.process.poll() is not None:
            server.start()
    hurt(server, folder, harm, 4 if SHORT else 12)


def cut(server, folder):
    """The network ends a connection, on the way to the server or back; the same load tries again."""
    def harm(relay, total, logs):
        if rng.random() < 0.5:
            relay.arm(up=rng.randrange(1, total))
        else:
            relay.arm(down=rng.randrange(1, 6000))
        load(server.url(port=relay.port), "-j2", *logs, status=None)
    hurt(server, folder, harm, 3 if SHORT else 12)


def secret(server, folder):
    log = simple_log(folder / "a.ptl", 10)
    server.stop()
    guarded = Server(folder / "guarded", password="se cret")
    try:
        guarded.query("CREATE DATABASE t")
        done = load(guarded.url(), log, status=1)
        need("POSIXTRACE_LOAD_PASSWORD" in done.stderr, done.stderr)
        load(guarded.url(), log, env={"POSIXTRACE_LOAD_USER": "default", "POSIXTRACE_LOAD_PASSWORD": "se cret"})
        count_once(guarded, [log], 10)
    finally:
        guarded.stop()


MORE = """<zookeeper><node><host>127.0.0.1</host><port>{keeper}</port></node></zookeeper>
<remote_servers><both><shard><internal_replication>{same}</internal_replication>
<replica><host>127.0.0.1</host><port>{tcp[0]}</port></replica>{between}
<replica><host>127.0.0.1</host><port>{tcp[1]}</port></replica></shard></both></remote_servers>
<macros><shard>{shard}</shard><replica>{replica}</replica></macros>
<distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>"""


def start_keeper(folder):
    """ZooKeeper, for one server."""
    jars = sorted(pathlib.Path("/usr/share/java").glob("*.jar"))
    if not shutil.which("java") or not any(jar.name == "zookeeper.jar" for jar in jars):
        skip("ZooKeeper is not installed (apt-get install zookeeper)")
    port = free_port()
    folder.mkdir()
    (folder / "zoo.cfg").write_text(f"tickTime=2000\ndataDir={folder}\nclientPort={port}\n"
                                    "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n")
    keeper = subprocess.Popen(["java", "-cp", ":".join(map(str, jars)), "org.apache.zookeeper.server.ZooKeeperServerMain",
                               folder / "zoo.cfg"], stdout=open(folder / "out", "wb"), stderr=subprocess.STDOUT)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return keeper, port
        except OSError:
            need(keeper.poll() is None, "ZooKeeper ended:", (folder / "out").read_text()[-2000:])
            threading.Event().wait(0.05)


def load_on(server, *words):
    """18.16 sometimes dies by itself with statements for a cluster, or leaves one in its queue until the next one comes
    (159, TIMEOUT_EXCEEDED): load again, as after any failure."""
    for _ in range(5):
        done = load(server.url(), *words, status=None)
        if done.returncode == 0:
            return
        ended = server.process.poll()
        need(ended is not None or "Code: 159," in done.stderr, done.stdout, done.stderr)
        print("the server died:" if ended is not None else "a statement stays in the queue", ended, flush=True)
        if ended is not None:
            server.start()
    sys.exit("the servers fail again and again")


def on_two(folder, replicated):
    keeper, port = start_keeper(folder / "keeper")
    tcp, servers = [free_port(), free_port()], []
    between = "" if replicated else "</shard><shard><internal_replication>false</internal_replication>"
    try:
        for i in range(2):
            more = MORE.format(keeper=port, tcp=tcp, between=between, same=str(replicated).lower(), shard=1 if replicated else i, replica=i)
            servers.append(Server(folder / f"server-{i}", more=more, tcp=tcp[i]))
            servers[i].query("CREATE DATABASE t")
        words = ["--cluster=both", *(["--replicated"] if replicated else [])]
        logs = [simple_log(folder / f"{i}.ptl", 1000, i) for i in range(4)]
        load_on(servers[0], *words, *logs[:2])
        load_on(servers[1], *words, *logs)
        for server in servers:
            if replicated:
                for table in ("events_shard", "loads_shard"):
                    server.query(f"SYSTEM SYNC REPLICA {table}", "t")
            count_once(server, logs, 1000)
            need(server.number("SELECT count() FROM events") == 4000)
        held = [server.number("SELECT count() FROM events_shard") for server in servers]
        need(held == [4000, 4000] if replicated else sum(held) == 4000 and all(n % 1000 == 0 for n in held), held)
        servers[0].kill()
        added = simple_log(folder / "late.ptl", 500, 9)
        if replicated:   # and ends while one server is away
            load(servers[1].url(), *words, added, "--tries=1", status=None)
        servers[0].start()
        load_on(servers[1], *words, added)
        count_once(servers[1], [added], 500)
    finally:
        for server in servers:
            server.stop()
        keeper.kill()
        keeper.wait()


def shards(server, folder):
    """A cluster of two servers, each with a part of the logs."""
    server.stop()
    on_two(folder, False)


def replicas(server, folder):
    """A cluster of two servers with the same rows."""
    server.stop()
    on_two(folder, True)


def main():
    skip_without_server()
    own_network()
    print("seed", SEED, flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = Server(folder / "server")
        try:
            globals()[CASE.replace(" ", "_")](server, folder)
        finally:
            server.stop()


main()
