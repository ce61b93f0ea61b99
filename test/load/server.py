# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""A ClickHouse server of its own on the loopback address, and a relay before it that fails when asked to."""

import ctypes
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.request

SKIP = 77
CLONE_NEWNET, IFF_UP, SIOCSIFFLAGS = 0x40000000, 1, 0x8914
CONFIG = """<?xml version="1.0"?>
<yandex>
<logger><level>warning</level><console>1</console></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{inter}</interserver_http_port>
<interserver_http_host>127.0.0.1</interserver_http_host>
<listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>{folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>100000000</mark_cache_size>
{more}
</yandex>
"""
USERS = """<?xml version="1.0"?>
<yandex><profiles><default><distributed_ddl_task_timeout>30</distributed_ddl_task_timeout></default></profiles>
<users><default><password>{password}</password><networks><ip>::/0</ip></networks>
<profile>default</profile><quota>default</quota></default></users>
<quotas><default></default></quotas></yandex>
"""
# What the tests connect to is here.
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def environment(**more):
    """Of the client: without a proxy, and without secrets of the user's."""
    kept = {k: v for k, v in os.environ.items()
            if not k.lower().endswith("_proxy") and not k.startswith("POSIXTRACE_LOAD")}
    return {**kept, **more}


def own_network():
    """Root has a loopback device of its own, where no other process takes a free port; if it may turn it on.  To be
    called before threads are made."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None)
    with open("/proc/self/ns/net", "rb") as before:
        if libc.unshare(CLONE_NEWNET) != 0:
            return
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
        except OSError:
            need(libc.setns(before.fileno(), CLONE_NEWNET) == 0, "back into the network of before")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def need(condition, *what):
    if not condition:
        sys.exit("not so: " + " ".join(str(w) for w in what))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def skip_without_server():
    if not shutil.which("clickhouse-server"):
        skip("clickhouse-server is not installed (apt-get install clickhouse-server)")


class Server:
    def __init__(self, folder, password="", more="", tcp=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.password = password
        self.port, self.tcp = free_port(), tcp or free_port()
        (self.folder / "config.xml").write_text(CONFIG.format(
            http=self.port, tcp=self.tcp, inter=free_port(), folder=self.folder, more=more))
        (self.folder / "users.xml").write_text(USERS.format(password=password))
        self.process = None
        self.start()

    def start(self):
        """Until it answers: a new process, and each time one that has the data of that before."""
        self.process = subprocess.Popen(["clickhouse-server", f"--config-file={self.folder}/config.xml"],
                                        stdout=open(self.folder / "log", "ab"), stderr=subprocess.STDOUT,
                                        cwd=self.folder)
        while True:
            try:
                with opener.open(f"http://127.0.0.1:{self.port}/ping", timeout=60):
                    return
            except (urllib.error.URLError, ConnectionError):
                need(self.process.poll() is None, "the server ended:", (self.folder / "log").read_text()[-2000:])
                threading.Event().wait(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.kill()

    def query(self, sql, database="default"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/?database={database}", sql.encode(),
                                         {"X-ClickHouse-User": "default", "X-ClickHouse-Key": self.password})
        try:
            with opener.open(request, timeout=120) as answer:
                return answer.read().decode("utf-8", "surrogateescape")
        except urllib.error.HTTPError as e:
            sys.exit(f"{sql}: {e.read()[:500]}")

    def number(self, sql, database="t"):
        return int(self.query(sql, database))

    def url(self, database="t", port=None):
        return f"http://127.0.0.1:{port or self.port}/{database}"


class Relay:
    """Passes bytes on to a port.  After so many to the server (up), or from it (down), it calls what it was
    given, once, and cuts the connection; None: never."""

    def __init__(self, target):
        self.target = target
        self.up = self.down = self.action = None
        self.passed = [0, 0]
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def arm(self, up=None, down=None, action=None):
        with self.lock:
            self.passed = [0, 0]
            self.up, self.down, self.action = up, down, action

    def fired(self, way, count):
        """How many bytes pass; less than count if this is the end of the connection."""
        with self.lock:
            limit = (self.up, self.down)[way]
            self.passed[way] += count
            if limit is None or self.passed[way] < limit:
                return count
            self.up = self.down = None
            if self.action:
                self.action()
            return max(0, count - (self.passed[way] - limit))

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            for way, (a, b) in enumerate(((client, server), (server, client))):
                threading.Thread(target=self.copy, args=(way, a, b), daemon=True).start()

    def copy(self, way, a, b):
        try:
            while data := a.recv(1 << 16):
                passed = self.fired(way, len(data))
                b.sendall(data[:passed])
                if passed < len(data):
                    break
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
