#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace load and servers that answer errors, halves, nothing or what no ClickHouse server answers.

usage: fake.py CASE POSIXTRACE
"""

import http.server
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from server import environment, free_port, need, own_network

CASE, TOOL = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
ROWS, COMMIT = "INSERT INTO `t`.`events_rows`", "INSERT INTO `t`.`loads`"
HOSTILE = "o'r`der\\; DROP TABLE x -- \n"
LINES = "".join(
    '{"ts":%d,"pid":1,"tid":1,"thread_id":"0x1","thread":"main","event":%s,"addr":"0x0","trunc":0,"data":"%s"%s}\n'
    % (i, '"o\'r`der\\\\; DROP TABLE x -- \\n"' if i % 2 else '"plain"', "01000000" if i % 2 else "00",
       ',"description":"u32 a"' if i == 1 else "") for i in range(10))


class Engine:
    """As little of a server as load needs, with one answer replaced."""

    def __init__(self):
        self.tables, self.requests, self.bodies, self.headers = {}, [], [], []
        self.rows = self.committed = 0
        self.broken = {}  # start of a statement: (status, headers, body, how often)

    def answer(self, sql, body):
        for start, how in self.broken.items():
            if sql.startswith(start) and how[3] > 0:
                self.broken[start] = (*how[:3], how[3] - 1)
                return how[:3]
        text = ""
        if sql.startswith("SELECT name, type"):
            table = sql.split("table = '")[1].split("'")[0]
            text = self.tables.get(table, "")
        elif sql.startswith("CREATE TABLE"):
            name = sql.split("`")[3]
            rows = sql.split("\n(\n")[1].split("\n)\n")[0].split(",\n")
            self.tables[name] = "".join(r.split("`")[1] + "\t" + r.split("` ")[1] + "\n" for r in rows)
        elif sql.startswith("CREATE VIEW"):
            name = sql.split("`")[3]
            self.tables[name] = self.tables[name.split("_new_")[0] + "_rows"]
        elif sql.startswith("ALTER"):
            name, column = sql.split("`")[3], sql.split(" ADD COLUMN `")[1].rsplit("` ", 1)
            self.tables[name] += column[0].replace("\\x0A", "\\n") + "\t" + column[1] + "\n"
        elif sql.startswith("RENAME"):
            view, _, fresh, _ = sql.split("`")[3::4]
            self.tables[view] = self.tables.pop(fresh)
        elif sql.startswith("SELECT attempt"):
            text = f"{self.committed}\t10\t0\t0\t1\t-1\n" if self.committed else ""
        elif sql.startswith("SELECT count()"):
            text = f"{self.rows}\n" if "events_rows" in sql else "0\n"
        elif sql.startswith("INSERT INTO") and "FORMAT Native" in sql:
            self.rows = 10 if "events_rows" in sql and body else self.rows
        elif sql.startswith("INSERT INTO `t`.`loads`"):
            self.committed = 5
        return 200, {}, text


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        out = b""
        while size := int(self.rfile.readline(), 16):
            out += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return out

    def do_POST(self):
        engine = self.server.engine
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        body = self.body()
        sql = query["query"][0] if "query" in query else body.decode("utf-8", "surrogateescape")
        engine.requests.append(sql)
        engine.headers.append(self.headers)
        engine.bodies.append(body)
        status, headers, text = engine.answer(sql, body)
        if status is None:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers and "Connection" not in headers:
            self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())
        self.wfile.flush()
        if "Connection" in headers or "Content-Length" in headers:
            self.close_connection = True


class Fake:
    def __init__(self, context=None):
        self.engine = Engine()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.engine = self.engine
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.port = self.server.server_address[1]

    def close(self):
        self.server.shutdown()


def load(*words, env=None):
    return subprocess.run([TOOL, "load", *map(str, words)], capture_output=True, text=True, timeout=60,
                          env=environment(**(env or {})), check=False)


def fails(log, how, says, tries=1, status=1, **more):
    fake = Fake()
    fake.engine.broken = how
    done = load(f"--to=http://127.0.0.1:{fake.port}/t", f"--tries={tries}", log, **more)
    fake.close()
    need(done.returncode == status, how, "exit", done.returncode, done.stderr)
    need(says in done.stderr, how, "says", done.stderr)
    need(status == 0 or fake.engine.committed == 0, how, "is committed")
    return fake.engine


def test_answers(log, statements):
    text = "Code: 62, e.displayText() = DB::Exception: Syntax error\x1b[2J, e.what() = DB::Exception"
    for at in statements:
        engine = fails(log, {at: (500, {}, text, 99)}, "Code: 62, e.displayText() = DB::Exception: Syntax error\\e[2J")
        need(sum(r.startswith(at) for r in engine.requests) == 1, at, "is repeated")
        fails(log, {at: (200, {}, text, 99)}, "Code: 62")          # found too late for the status
        fails(log, {at: (200, {"X-ClickHouse-Exception-Code": "62"}, "", 99)}, "exception")
        fails(log, {at: (200, {"Connection": "close"}, "", 99)}, "may be cut")
        fails(log, {at: (200, {"Content-Length": "500"}, "half", 99)}, "")
        fails(log, {at: (404, {}, "<html>no such page", 99)}, "status 404, not 200: <html>no such page")
        fails(log, {at: (None, {}, "", 99)}, "mpty reply" if at != ROWS else "")
    fails(log, {"SELECT name": (200, {}, "<html>welcome</html>", 99)}, "not a table of them")
    fails(log, {"SELECT attempt": (200, {}, "<html>\n", 99)}, "is this a ClickHouse server")
    fails(log, {ROWS: (200, {}, "welcome", 99)}, "the answer to an insertion is not empty")
    fails(log, {"SELECT count": (200, {}, "9\n", 99)}, "10 rows of events were sent, and the server has 9")
    fails(log, {"SELECT name": (401, {}, "no", 99)}, "POSIXTRACE_LOAD_USER")
    fails(log, {"SELECT name": (500, {}, "Code: 81, x", 99)}, "has no database 't'; make it: CREATE DATABASE `t`")


def test_again(log):
    """Errors that pass."""
    for how in ((500, {}, "Code: 252, too many parts", 1), (503, {}, "", 1), (None, {}, "", 1),
                (500, {}, "Code: 243, no space", 1), (200, {"Content-Length": "500"}, "", 1)):
        for at in ("INSERT INTO `t`.`events_rows`", "SELECT attempt", "SELECT count"):
            # A connection that was in use before is made again without a word.
            engine = fails(log, {at: how}, "attempt 2 of 2" if how[0] else "", tries=2, status=0)
            need(engine.committed, how, at)
    numbers = [r.split("VALUES (")[1].split(", ")[2] for r in
               fails(log, {"INSERT INTO `t`.`loads`": (503, {}, "", 1)}, "attempt 2 of 2", 2, 0).requests
               if r.startswith("INSERT INTO `t`.`loads`")]
    need(len(set(numbers)) == 2, "each attempt has a number of its own", numbers)


def test_schema(log):
    columns = "attempt\tUInt64\nloaded\tDateTime\nlog\tString\n"
    fails(log, {"SELECT name": (200, {}, columns, 1)}, "table events_rows has no column piece")
    fails(log, {"SELECT name": (200, {}, "attempt\tString\n", 1)},
          "table events_rows has a column attempt of type String, not UInt64")


def test_names(log):
    """Names of events are quoted, and nothing else of them is in a statement."""
    engine = fails(log, {}, "", status=0)
    alter = [r for r in engine.requests if r.startswith("ALTER")]
    need(alter == ["ALTER TABLE `t`.`events_rows` ADD COLUMN "
                   "`o\\'r\\`der\\\\; DROP TABLE x -- \\x0A.a` Nullable(Int64)"], alter)
    need(all("DROP TABLE x" not in r for r in engine.requests if r.startswith("INSERT")))
    body = engine.bodies[next(i for i, r in enumerate(engine.requests) if "FORMAT Native" in r)]
    need((HOSTILE + ".a").encode() in body and b"\x10Nullable(Int64)" not in body[:4], "the name in the block")


def test_secrets(log, folder):
    fake = Fake()
    url = f"--to=http://127.0.0.1:{fake.port}/t"
    secrets = {"POSIXTRACE_LOAD_USER": "me", "POSIXTRACE_LOAD_PASSWORD": "pass word"}
    need(load(url, log, env=secrets).returncode == 0)
    need(all(h["X-ClickHouse-User"] == "me" and h["X-ClickHouse-Key"] == "pass word" for h in fake.engine.headers))
    file = folder / "auth"
    file.write_text("you\nsecret\n")
    file.chmod(0o644)
    done = load(url, f"--auth-file={file}", log)
    need(done.returncode == 1 and "chmod 600" in done.stderr, done)
    file.chmod(0o600)
    fake.engine.headers.clear()
    need(load(url, f"--auth-file={file}", log, env=secrets).returncode == 0)
    need(all(h["X-ClickHouse-User"] == "you" and h["X-ClickHouse-Key"] == "secret" for h in fake.engine.headers))
    for text in ("you", "you\nsecret\nmore\n", ""):
        file.write_text(text)
        done = load(url, f"--auth-file={file}", log)
        need(done.returncode == 1 and "two lines" in done.stderr, done)
    done = load(url, log, env={"POSIXTRACE_LOAD_PASSWORD": "a\r\nX-Evil: 1"})
    need(done.returncode == 1 and "control character" in done.stderr, done)
    fake.close()
    for address, says in (("http://u:p@h:1/t", "other users can read the command line"), ("ftp://h/t", "neither"),
                          ("http://h:1/", "no database"), ("http://h:1/a/b", "no database"), ("nonsense:", ""),
                          ("http://h:1/t?x=1", "it has a '?'")):
        done = load(f"--to={address}", log)
        need(done.returncode == 64 and says in done.stderr and "pass" not in done.stderr, address, done)


def test_tls(log, folder):
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                           "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                          capture_output=True, check=False)
    if made.returncode:
        print("without TLS: openssl cannot make a certificate")
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    fake = Fake(context)
    url = f"--to=https://localhost:{fake.port}/t"
    done = load(url, log)
    need(done.returncode == 1 and "--ca-file=FILE" in done.stderr, done)
    need(not fake.engine.requests, "a statement went to a server that is not known")
    done = load(url, f"--ca-file={certificate}", log)
    need(done.returncode == 0 and fake.engine.committed, done)
    done = load(url, f"--ca-file={folder}/none", log)
    need(done.returncode == 1 and "ca-file" in done.stderr, done)
    fake.close()


def test_logs(log, folder):
    """Logs that cannot be loaded, and the reasons."""
    done = load(f"--to=http://127.0.0.1:{free_port()}/t", log)
    need(done.returncode == 1 and "onnect" in done.stderr, done)
    fake = Fake()
    url = f"--to=http://127.0.0.1:{fake.port}/t"
    done = load(url, folder / "none.ptl", log)
    need(done.returncode == 1 and "none.ptl" in done.stderr and fake.engine.committed, done)
    done = load(url, log)
    need(done.returncode == 0 and "is loaded already" in done.stdout, done)
    before = len(fake.engine.requests)
    done = load(url, "--replace", log)
    need(done.returncode == 0 and "loaded 10 events" in done.stdout, done)
    numbers = [int(r.split("VALUES (")[1].split(", ")[2]) for r in fake.engine.requests[before:]
               if r.startswith("INSERT INTO `t`.`loads`")]
    need(len(numbers) == 1 and numbers[0] >> 56 == 1, "a greater number takes the place", numbers)
    fake.engine.answer = lambda sql, body, answer=fake.engine.answer: (
        (200, {}, "5\t9\t0\t0\t1\t-1\n") if sql.startswith("SELECT attempt") else answer(sql, body))
    done = load(url, log)
    need(done.returncode == 1 and "loaded with 9 events, and has 10 now; --replace" in done.stderr, done)
    with open(log, "rb") as pipe, subprocess.Popen(["cat"], stdin=pipe, stdout=subprocess.PIPE) as cat:
        done = subprocess.run([TOOL, "load", url, "-"], stdin=cat.stdout, capture_output=True, text=True, check=False,
                              env=environment())
    need(done.returncode == 1 and "pipe" in done.stderr, done)
    fake.close()


def test_live(folder):
    """A log that is still written: its recording is stopped while load looks."""
    live = folder / "live.ptl"
    read, write = os.pipe()
    with subprocess.Popen([TOOL, "record", "--quiet", "-o", live, "cat"], stdin=read) as recording:
        os.close(read)
        while not live.exists() or live.stat().st_size == 0:
            need(recording.poll() is None, "the recording ended")
        fake = Fake()
        done = load(f"--to=http://127.0.0.1:{fake.port}/t", live)
        need(done.returncode == 1 and "still being written" in done.stderr, done)
        need(not any(r.startswith("INSERT") for r in fake.engine.requests))
        os.close(write)
    done = load(f"--to=http://127.0.0.1:{fake.port}/t", "--tries=1", live)
    need("still being written" not in done.stderr, done)
    fake.close()


def test_follow(log, folder):
    """A server that fails for a while is reported once, and once when it is back; the wrong uses."""
    into, errors, fake = folder / "in", folder / "errors", Fake()
    url = f"--to=http://127.0.0.1:{fake.port}/t"
    for words, says in (([], "no folder named"), (["--replace", folder], "again and again")):
        done = load(url, "--follow", *words)
        need(done.returncode == 64 and says in done.stderr, done)
    done = load(url, "--follow", into)
    need(done.returncode == 1 and "cannot read folder" in done.stderr, done)
    into.mkdir()
    shutil.copy(log, into / "log.ptl")
    fake.engine.broken = {"SELECT name": (500, {}, "Code: 62, a trial", 2), "SELECT attempt": (503, {}, "", 1)}
    with open(errors, "wb") as said:
        follower = subprocess.Popen([TOOL, "load", "--follow", url, into], stdout=subprocess.DEVNULL, stderr=said,
                                    env=environment())
    while "takes logs again" not in errors.read_text():
        need(follower.poll() is None, "it ended", errors.read_text())
        time.sleep(0.02)
    follower.send_signal(signal.SIGTERM)
    need(follower.wait(timeout=60) == 0 and fake.engine.committed, errors.read_text())
    lines = errors.read_text().splitlines()
    need(len(lines) == 3 and "Code: 62, a trial" in lines[0] and "until the server takes it" in lines[1], lines)
    need(not any(value[3] for value in fake.engine.broken.values()), "each error was met", fake.engine.broken)
    fake.close()


def main():
    own_network()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log = folder / "log.ptl"
        subprocess.run([TOOL, "import", "--from=jsonl", "-", log], input=LINES, text=True, check=True)
        cases = {"errors": [lambda: test_answers(log, ("SELECT name", "CREATE TABLE", "CREATE VIEW", "ALTER"))],
                 "answers": [lambda: test_answers(log, ("SELECT attempt", ROWS, "SELECT count", COMMIT))],
                 "again": [lambda: test_again(log)],
                 "follow": [lambda: test_follow(log, folder)],
                 "input": [lambda: test_schema(log), lambda: test_names(log), lambda: test_secrets(log, folder),
                           lambda: test_tls(log, folder), lambda: test_logs(log, folder), lambda: test_live(folder)]}
        for test in cases[CASE]:
            test()


main()
