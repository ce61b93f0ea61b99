#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""posixtrace doctor in surroundings that lack something: each lack is found,
explained and has a remedy; the exit status says whether tracing works.

usage: doctor.py POSIXTRACE TRACED [plain]

TRACED is the program of traced.c.  Without "plain", what a sanitizer's runtime
does not bear is left out: a small address space, and no further process.
"""

import ctypes
import errno
import json
import os
import pathlib
import platform
import resource
import struct
import subprocess
import sys
import tempfile

TIMEOUT = 60
# prctl(2), seccomp(2), and numbers of system calls of x86_64.
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
RET_KILL_PROCESS, RET_ERRNO, RET_ALLOW = 0x80000000, 0x00050000, 0x7fff0000
CALLS = {"membarrier": 324, "close_range": 436, "memfd_create": 319, "perf_event_open": 298,
         "clone": 56, "fork": 57, "vfork": 58, "clone3": 435, "pidfd_open": 434}


def expect(what, truth):
    if not truth:
        sys.exit(what)


def filter_calls(action, *names):
    """To be run in the child: these system calls are answered with the action."""
    code = [struct.pack("HBBI", 0x20, 0, 0, 0)]    # load the number
    for at, name in enumerate(names):              # equal: jump to the last
        code.append(struct.pack("HBBI", 0x15, len(names) - at, 0, CALLS[name]))
    code += [struct.pack("HBBI", 0x06, 0, 0, RET_ALLOW), struct.pack("HBBI", 0x06, 0, 0, action)]
    program = ctypes.create_string_buffer(b"".join(code))
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        header = ctypes.create_string_buffer(
            struct.pack("HxxxxxxP", len(code), ctypes.addressof(program)))
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
           libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(header), 0, 0):
            os._exit(99)
    return install


class Doctor:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.streams = folder / "streams"
        self.streams.mkdir(mode=0o700)

    def run(self, *arguments, before=None, prefix=(), **more):
        environment = dict(os.environ, LC_ALL="C")
        environment.pop("POSIXTRACE_CLOCK", None)
        environment.update({"POSIXTRACE_DIR": str(self.streams), **more})
        # Python would close descriptors with a call that a case filters
        return subprocess.run([*prefix, self.tool, "doctor", *arguments], preexec_fn=before,
                              env=environment, capture_output=True, text=True, timeout=TIMEOUT,
                              close_fds=False, check=False)

    def findings(self, **how):
        """{what: finding}, and whether tracing works."""
        done = self.run("--format=jsonl", **how)
        expect(f"{how}: status {done.returncode}, {done.stderr}", not done.stderr and done.stdout)
        report = json.loads(done.stdout)
        found = {f["what"]: f for f in report["findings"]}
        bad = [f for f in report["findings"] if f["level"] == "bad"]
        expect(f"{how}: {done.stdout}", report["works"] == (not bad) and
               done.returncode == (1 if bad else 0))
        for f in report["findings"]:
            expect(f"no explanation: {f}",
                   f["level"] in ("ok", "note", "bad") and
                   (f["level"] == "ok") == ("means" not in f) == ("do" not in f))
        return found, report["works"]

    def expect_finding(self, what, level, said, works=True, **how):
        found, does_work = self.findings(**how)
        f = found.get(what, {"level": "none", "found": ""})
        expect(f"{what} should be {level} with {said!r} in {how}: {found}",
               f["level"] == level and said in f["found"] and does_work == works)
        return found


def check_healthy(doctor):
    found, works = doctor.findings()
    expect(f"{found}", works and found["stream directory"]["level"] == "ok" and
           str(doctor.streams) in found["stream directory"]["found"])
    expect(f"{found}", {"library", "kernel", "trial in memory", "trial with a log", "membarrier",
                        "its file system", "streams", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_AS",
                        "RLIMIT_MEMLOCK", "container", "seccomp", "MADV_WIPEONFORK",
                        "MADV_POPULATE_WRITE", "close_range", "memfd_create", "huge pages",
                        "perf events", "clock"} <= set(found))
    expect("files of the trial are left: " + str(list(doctor.streams.iterdir())),
           not list(doctor.streams.iterdir()))
    text = doctor.run().stdout
    expect(text, all(len(line) <= 80 or "/" in line for line in text.splitlines()))
    expect(text, "Tracing works here" in text)


def check_directory(doctor):
    other = doctor.folder / "other"
    no = str(doctor.folder / "no" / "such")
    doctor.expect_finding("stream directory", "note", "cannot be made", POSIXTRACE_DIR=no)
    doctor.expect_finding("stream directory", "note", "not a directory", POSIXTRACE_DIR="/dev/null")
    other.symlink_to(doctor.streams)
    doctor.expect_finding("stream directory", "note", "symbolic link", POSIXTRACE_DIR=str(other))
    other.unlink()
    other.mkdir()
    other.chmod(0o755)
    doctor.expect_finding("stream directory", "note", "mode is 0755", POSIXTRACE_DIR=str(other))
    if os.geteuid() != 0:
        doctor.expect_finding("stream directory", "note", "belongs to user 0", POSIXTRACE_DIR="/")
    nasty = doctor.folder / "a\x1b[2Jb"
    text = doctor.run(POSIXTRACE_DIR=str(nasty)).stdout
    expect(repr(text), "\x1b" not in text and r"a\e[2Jb" in text)


def limited(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def check_limits(doctor, plain):
    doctor.expect_finding("RLIMIT_FSIZE", "note", "100 KiB",
                          before=limited(resource.RLIMIT_FSIZE, 102400))
    doctor.expect_finding("RLIMIT_NOFILE", "note", "only 20",
                          before=limited(resource.RLIMIT_NOFILE, 20))
    if plain:
        # enough for a stream in memory, and for nothing else
        found = doctor.expect_finding("trial with a log", "bad", "Too many open files",
                                      works=False, before=limited(resource.RLIMIT_NOFILE, 5))
        expect(f"{found}", "ulimit -n" in found["trial with a log"]["do"])
        doctor.expect_finding("trial in memory", "bad", "posix_trace_create", works=False,
                              before=limited(resource.RLIMIT_AS, 22 << 20))
        done = doctor.run(before=limited(resource.RLIMIT_AS, 22 << 20))
        expect(done.stdout, "Tracing DOES NOT WORK here" in done.stdout)


def check_filters(doctor, plain):
    """Each refused call is reported; one that kills is noticed in the trial, and only there."""
    if platform.machine() != "x86_64":
        print("no filters of system calls tried: their numbers are those of x86_64")
        return
    refuse = RET_ERRNO | errno.EPERM
    doctor.expect_finding("membarrier", "note", "refused", before=filter_calls(refuse, "membarrier"))
    found = doctor.expect_finding("seccomp", "ok", "in force",
                                  before=filter_calls(refuse, "close_range"))
    expect(f"{found}", found["close_range"]["level"] == "note" and
           "not permitted" in found["close_range"]["found"])
    doctor.expect_finding("memfd_create", "note", "not permitted",
                          before=filter_calls(refuse, "memfd_create"))
    found = doctor.expect_finding("perf events", "note", "not permitted",
                                  before=filter_calls(refuse, "perf_event_open"))
    expect(f"{found}", "perf_event_" in found["perf events"]["do"])
    found = doctor.expect_finding("perf events", "note", "not implemented",
                                  before=filter_calls(RET_ERRNO | errno.ENOSYS, "perf_event_open"))
    expect(f"{found}", "allow perf_event_open" in found["perf events"]["do"])
    # not membarrier: liburcu calls that when a program begins
    found = doctor.expect_finding(
        "trial with a log", "bad", "posix_trace_create_withlog: ended by SIGSYS", works=False,
        before=filter_calls(RET_KILL_PROCESS, "close_range"))
    expect(f"{found}", "SIGSYS" in found["close_range"]["found"])
    if not plain:
        return
    found = doctor.expect_finding(
        "trial in memory", "bad", "start of the process: fork: Resource temporarily", works=False,
        before=filter_calls(RET_ERRNO | errno.EAGAIN, "clone", "fork", "vfork", "clone3"))
    expect(f"{found}", found["memfd_create"]["found"].startswith("not tried"))


def check_clock(doctor):
    doctor.expect_finding("clock", "note", "CLOCK_MONOTONIC", POSIXTRACE_CLOCK="monotonic")


def check_record(doctor):
    """The variables that make programs record themselves; nothing is recorded by looking."""
    log = doctor.folder / "self-%p.ptl"
    found, _ = doctor.findings()
    expect(f"{found}", "POSIXTRACE_RECORD" not in found)
    doctor.expect_finding("POSIXTRACE_RECORD", "ok", str(log), POSIXTRACE_RECORD=str(log))
    for name, value, said in (("POLICY", "lop", " is not flush, loop or until-full"),
                              ("SIZE", "1T", " is not a number of bytes"),
                              ("LOG_SIZE", "-1", " is not a number of bytes"),
                              ("FILTER", "pid >=", ", column 7: "),
                              ("FILTER", "\033[1mpid >= 1", ", column 1: ")):
        doctor.expect_finding("POSIXTRACE_RECORD", "note", f"POSIXTRACE_RECORD_{name}{said}",
                              POSIXTRACE_RECORD=str(log), **{f"POSIXTRACE_RECORD_{name}": value})
    for name, said in (("no/such/x.ptl", "No such file"), ("streams", "not a file for a log")):
        doctor.expect_finding("POSIXTRACE_RECORD", "note", said,
                              POSIXTRACE_RECORD=str(doctor.folder / name))
    expect("something was recorded", not list(doctor.folder.glob("*.ptl*")))


def check_left(doctor, traced, plain):
    subprocess.run([traced, doctor.folder / "left.ptl", "events", "7", "kill"], check=False,
                   env=dict(os.environ, POSIXTRACE_DIR=str(doctor.streams)))
    found = doctor.expect_finding("streams", "note", "1 of killed processes")
    expect(f"{found}", " 8 events" in found["streams"]["means"] or
           " 7 events" in found["streams"]["means"])
    # looking has not touched it
    doctor.expect_finding("streams", "note", "1 of killed processes")
    if plain:
        # enough for the program to start with, and not for what the writer left
        done = subprocess.run([doctor.tool, "info", doctor.folder / "left.ptl"], check=False,
                              capture_output=True, text=True,
                              env=dict(os.environ, POSIXTRACE_DIR=str(doctor.streams)),
                              preexec_fn=limited(resource.RLIMIT_AS, 16 << 20))
        expect(done.stderr, done.returncode == 1 and
               "left.ptl': no room for it in 16 MiB of address space; raise 'ulimit -v'"
               in done.stderr)


def mounted(place, options):
    """A prefix of the command, which has a tmpfs there, in a namespace of mounts."""
    script = f'mount -t tmpfs -o {options},mode=0700 tmpfs "{place}" || exit 77; exec "$0" "$@"'
    return ["unshare", "-m", *([] if os.geteuid() == 0 else ["-r"]), "sh", "-c", script]


def check_tmpfs(doctor):
    """A tiny one, and one with three inodes: its own, and those of a page and a name map."""
    place = doctor.folder / "tiny"
    place.mkdir()
    prefix = mounted(place, "size=512k")
    done = doctor.run(prefix=prefix, POSIXTRACE_DIR=str(place))
    if done.returncode == 77 or "unshare" in done.stderr:
        print("no tiny tmpfs tried: no namespace of mounts to be had")
        return
    found = doctor.expect_finding("its file system", "note", "of 512 KiB free", prefix=prefix,
                                  POSIXTRACE_DIR=str(place))
    expect(f"{found}", "without a name" in found["its file system"]["means"])
    prefix = mounted(place, "size=100m,nr_inodes=3")
    found = doctor.expect_finding("its file system", "note", "a stream gets no file", prefix=prefix,
                                  POSIXTRACE_DIR=str(place))
    expect(f"{found}", "inodes" in found["its file system"]["means"])


def main():
    tool, traced = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as name:
        doctor = Doctor(tool, pathlib.Path(name))
        check_healthy(doctor)
        check_directory(doctor)
        check_limits(doctor, "plain" in sys.argv[3:])
        check_filters(doctor, "plain" in sys.argv[3:])
        check_clock(doctor)
        check_record(doctor)
        check_left(doctor, traced, "plain" in sys.argv[3:])
        check_tmpfs(doctor)


if __name__ == "__main__":
    main()
