#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Processes in another environment than others: another pid namespace, with its own /proc or with
that of others, no /proc, a /dev/shm that is private, tiny or read-only.  Each traces itself; what
it cannot do to others returns an error number; and no living process counts as dead.

usage: elsewhere.py POSIXTRACE PROBE namespace|foreign-proc|no-proc|shm

PROBE is the program of probe.c with the library inside.
"""

import pathlib

import rooms
from rooms import expect, files, not_tried

NEW_PIDS = ["unshare", "-Urpf"]


def inner_pid(outer):
    """The process that unshare has forked."""
    children = pathlib.Path(f"/proc/{outer}/task/{outer}/children").read_text(encoding="ascii")
    return int(children.split()[0])


def streams(said):
    return {line.split()[1]: line.split()[2] for line in said if line.startswith("stream ")}


def check_both_ways(house, prefix, inside):
    """Two that share the directory, one of them in a pid namespace of its own."""
    if not rooms.is_possible(prefix, house):
        not_tried(" ".join(prefix), "no such namespace to be had")
        return
    place = house.directory("-".join(prefix).replace("--", ""))
    outer = house.start(["inherited", "events", 3, "say", "ready", "wait", "events", 3, "drain",
                         "end"], place)
    outer.until("ready")
    inner = house.start(["self", "create", outer.pid, "inherited", "events", 5, "create", "sibling",
                         "inherited", "events", 7, "say", "ready", "wait", "reap", "events", 2,
                         "drain", "end", "say", "done"], place, prefix=prefix)
    said = inner.until("ready")
    expect(f"{prefix}: {said}", said == ["self OK", "create ESRCH", "inherited OK", inside,
                                         "inherited OK", "ready"])

    # The files belong to living processes, and stay when another process cleans up.
    before = files(place)
    said = house.run(["create", inner_pid(inner.pid), "list", "reap"], place)
    expect(f"{prefix}, from outside: {said}", said[0] == "create ENOTSUP" and
           sorted(streams(said).values())[0] == "alive" and
           set(streams(said).values()) == {"alive", "unknown"})
    said = house.run(["self", "list", "reap", "self"], place, prefix=prefix)
    expect(f"{prefix}, from one more: {said}", "dead" not in streams(said).values() and
           said[0] == said[-1] == "self OK")
    expect(f"{prefix}: {before} is left, not {files(place)}", files(place) == before)

    for file, state in streams(said).items():
        said = house.run(["attach", file, "drain", "end"], place)
        expect(f"{prefix}: {state} {file}: {said}", said[0] == "attach OK" and
               said[1] in ("drain 3", "drain 5", "drain 7", "drain 12", "drain 0"))
    inner.go()
    outer.go()
    expect(f"{inner.seen}", inner.end()[-4:] == ["reap OK", "drain 9", "end OK", "done"])
    expect(f"{outer.seen}", outer.end()[-2:] == ["drain 6", "end OK"])


def check_child_moves(house):
    """A child in a new pid namespace would look dead, and would take the living
    for dead: it is not recorded, but counted, and so is its own child.  Both record 70 events."""
    place = house.directory("moves")
    if not rooms.is_possible(NEW_PIDS, house):
        not_tried("a child that moves", "no such namespace to be had")
        return
    said = house.run(["inherited", "events", 2, "list", "follow", "exec", *NEW_PIDS, house.probe,
                      "events", 500, "fork", "events", 70, ";", "events", 3, "drain", "lost",
                      "end"], place)
    expect(f"{said}", said[-5:] == ["joined 0", "joined 0", "drain 5", "lost 640 2", "end OK"])
    said = house.run(["inherited", "events", 2, "list", "follow", "exec", *NEW_PIDS, house.probe,
                      "events", 500, "self", "say", "there", ";", "events", 3, "drain", "end"],
                     place)
    expect(f"{said}", said[-5:] == ["self OK", "there", "joined 0", "drain 5", "end OK"])
    expect(f"{files(place)}", not files(place))


def check_namespace(house):
    check_both_ways(house, [*NEW_PIDS, "--mount-proc"], "create OK")
    check_child_moves(house)


def check_foreign_proc(house):
    """/proc shows the processes of others, under numbers that some of ours have."""
    check_both_ways(house, NEW_PIDS, "create ENOTSUP")


def check_no_proc(house):
    """A chroot or container in which it was not mounted."""
    prefix = [*rooms.NEW_MOUNTS, "sh", "-c", 'mount -t tmpfs none /proc || exit 77; exec "$0" "$@"']
    if not rooms.is_possible(prefix, house):
        not_tried("no /proc", "no namespace of mounts to be had")
        return
    place = house.directory("no-proc")
    log = house.folder / "no-proc.ptl"
    said = house.run(["self", "log", log, "create", "sibling", "create", 1, "inherited", "events",
                      3, "fork", "events", 4, "list", "reap", "list", "say", "here"],
                     place, prefix=prefix)
    first = said.index("list OK")
    expect(f"{said}", said[:5] == ["self OK", "log OK", "create ENOTSUP", "create ENOTSUP",
                                   "inherited OK"] and said[-1] == "here")
    expect(f"{said}", set(streams(said).values()) == {"unknown"} and said[first + 1] == "reap OK"
           and said.count("list OK") == 4)

    outer = house.start(["inherited", "events", 3, "list", "say", "ready", "wait", "drain", "end"],
                        place)
    file, = streams(outer.until("ready"))
    said = house.run(["list", "reap", "attach", file, "drain", "end"], place, prefix=prefix)
    expect(f"{said}", streams(said) == {file: "unknown"} and
           said[-3:] == ["attach OK", "drain 3", "end OK"])
    status, text = house.posixtrace(["record", "-o", log, "--", house.probe, "events", 5], place,
                                    prefix=prefix)
    expect(f"record: {status} {text}", status == 1 and "/proc" in text)
    status, text = house.posixtrace(["stop", file], place, prefix=prefix)
    expect(f"stop: {status} {text}", status != 0 and text.strip())
    outer.go()
    expect(f"{outer.seen}", outer.end()[-2:] == ["drain 3", "end OK"])


def check_shm(house):
    place = house.directory("shm")
    log = house.folder / "shm.ptl"
    outer = house.start(["inherited", "events", 3, "list", "say", "ready", "wait", "drain", "end"],
                        place)
    file, = streams(outer.until("ready"))
    # Where a stream finds no room it is in memory without a name; for another
    # process there has to be a name.
    for options, others in (("mode=0700", "OK"), ("size=1m,mode=0700", "ENOMEM"),
                            ("size=64k,mode=0700", "ENOMEM"), ("size=8k,mode=0700", "ENOMEM"),
                            ("ro,mode=0700", "ENOMEM"), ("mode=0755", "EACCES")):
        prefix = rooms.in_mount(options)
        if not rooms.is_possible(prefix, house, place):
            not_tried(options, "no namespace of mounts to be had")
            continue
        said = house.run(["self", "log", log, "create", "sibling", "end", "create", outer.pid,
                          "list", "attach", file, "self"], place, prefix=prefix)
        elsewhere = "EACCES" if others == "EACCES" else "ENOTSUP"
        expect(f"{options}: {said}", said[:3] == ["self OK", "log OK", f"create {others}"] and
               said[4] == f"create {elsewhere}" and said[-1] == "self OK" and
               said[-2] in ("attach ENOENT", "attach EACCES"))
        status, text = house.posixtrace(["record", "-o", log, "--", house.probe, "events", 5], place,
                                        prefix=prefix)
        expect(f"{options}: record: {status} {text}",
               (status == 0 and "recorded 5 events" in text) if others == "OK" else
               (status == 1 and "posixtrace doctor" in text))
        status, text = house.posixtrace(["print", "--follow", file], place, prefix=prefix)
        expect(f"{options}: print: {status} {text}", status != 0 and text.strip())
    outer.go()
    expect(f"{outer.seen}", outer.end()[-2:] == ["drain 3", "end OK"])


if __name__ == "__main__":
    rooms.main({"namespace": check_namespace, "foreign-proc": check_foreign_proc,
                "no-proc": check_no_proc, "shm": check_shm})
