#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Forged files with valid names in the stream directory: wrong contents, sizes and kinds of files,
links that lead elsewhere, holes in a full file system.  A process that meets one gets an error
number, or continues without it; none ends by a signal, waits, or touches a file outside.

usage: forged.py POSIXTRACE PROBE page|segment|full

PROBE is the program of probe.c with the library inside.
"""

import os
import pathlib
import struct
import subprocess

import rooms
from rooms import expect, files, not_tried

# Where things are in struct pt_page, which has this size on every machine.
LAYOUT, SIZE, PID, START, NAMES, NAMESPACE, USED, EPOCHS, STREAMS, GATES = (
    8, 12, 16, 24, 32, 96, 128, 192, 704, 4800)
STREAM_SIZE, GATE_COUNT = 64, 1216
# The possible errors for a process that wants to trace a process with such a page.
REFUSED = {"create ENOTSUP", "create EAGAIN"}


def page_name(pid):
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    start = int(stat.rsplit(")", 1)[1].split()[19])
    return f"p-{pid}-{start}-{os.stat('/proc/self/ns/pid').st_ino}", start


def put(data, offset, what):
    what = struct.pack("<Q", what) if isinstance(what, int) else what
    data[offset:offset + len(what)] = what


def names(text):
    return lambda data: put(data, NAMES, text.ljust(64, b"\0"))


def stream(text):
    """Bit 0 belongs to a stream of that name, and every type is recorded in it."""
    def change(data):
        put(data, USED, 1)
        put(data, EPOCHS, 1)
        put(data, STREAMS, text.ljust(48, b"\0"))
        for i in range(GATE_COUNT):
            put(data, GATES + 8 * i, 1)
    return change


def crowd(data):
    """All bits belong to streams that there are not."""
    put(data, USED, 2 ** 64 - 1)
    for i in range(64):
        put(data, EPOCHS + 8 * i, 2 ** 64 - 1)
        put(data, STREAMS + STREAM_SIZE * i, b"s-%032x.seg" % i)


CHANGES = {
    "magic": lambda data: put(data, 0, 1), "layout": lambda data: put(data, LAYOUT, b"\1\0\0\0"),
    "other pid": lambda data: put(data, PID, b"\1\0\0\0"),
    "other start": lambda data: put(data, START, 1),
    "other namespace": lambda data: put(data, NAMESPACE, 1),
    "short": lambda data: data.__delitem__(slice(4096, None)),
    "long": lambda data: data.extend(bytes(4096)), "empty": bytearray.clear,
    "names outside": names(b"../outside.map"), "names absolute": names(b"/etc/passwd"),
    "names endless": names(b"n" * 64), "names empty": names(b""), "names dot": names(b"."),
    "names pipe": names(b"n-pipe"), "names folder": names(b"n-folder"),
    "names link": names(b"n-link"), "names hole": names(b"n-hole"), "names missing": names(b"n-0"),
    "stream outside": stream(b"../outside.seg"), "stream endless": stream(b"s" * 48),
    "stream pipe": stream(b"n-pipe"), "stream folder": stream(b"n-folder"),
    "stream link": stream(b"n-link"), "stream hole": stream(b"n-hole"),
    "gates without a stream": lambda data: put(data, GATES, b"\xff" * 8 * GATE_COUNT),
    "crowd": crowd,
}


def furnish(place, outside):
    """What the names of forged pages lead to.  A process that reaps removes old ones."""
    if not (place / "n-pipe").exists():
        os.mkfifo(place / "n-pipe")
    (place / "n-folder").mkdir(exist_ok=True)
    if not (place / "n-link").is_symlink():
        (place / "n-link").symlink_to(outside)
    with open(place / "n-hole", "ab") as hole:
        hole.truncate(1 << 40)


def special(kind, outside):
    """Makes something else than a file with contents."""
    return {"pipe": os.mkfifo, "folder": os.mkdir,
            "link": lambda path: os.symlink(outside, path),
            "loop": lambda path: os.symlink(path, path),
            "hole": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 1 << 40)}[kind]


def meet(house, place, what, make):
    """A process finds the page as its own, its parent's, and that of one to trace."""
    target = house.start(["say", "ready", "wait", "events", 5, "self", "fork", "events", 5, "exec",
                          house.probe, "events", 3, ";", "say", "there"], place)
    target.until("ready")
    path = place / page_name(target.pid)[0]
    make(path)
    said = house.run(["create", target.pid, "list", "reap"], place)
    target.go()
    seen = target.end()
    expect(f"{what}: {said}", said[0] in REFUSED | {"create OK"})
    expect(f"{what}: {seen}", seen[-1] == "there" and seen.count("joined 0") == 3 and
           all(line.startswith(("self OK", "self E")) for line in seen if "self" in line))
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    return said[0]


def beginning(segment):
    """Its header and tables: every process of a stream has to change them."""
    with open(segment, "rb") as file:
        return file.read(1 << 20)


def check_page(house):
    place = house.directory("page")
    outside, segment = place.parent / "outside.map", place.parent / "outside.seg"
    owner = house.start(["inherited", "say", "ready", "wait"], place)
    owner.until("ready")
    good, outcomes = (place / page_name(owner.pid)[0]).read_bytes(), {}
    names_map = next(place.glob("n-*")).read_bytes()
    outside.write_bytes(names_map)
    subprocess.run(["cp", "--sparse=always", next(place.glob("s-*.seg")), segment], check=True)
    before = beginning(segment)

    def write(path, change):
        data, (_, start) = bytearray(good), page_name(path.name.split("-")[1])
        furnish(place, outside)
        put(data, PID, struct.pack("<I", int(path.name.split("-")[1])))
        put(data, START, start)
        change(data)
        path.write_bytes(data)

    outcomes["genuine"] = meet(house, place, "genuine", lambda path: write(path, lambda data: None))
    for what, change in CHANGES.items():
        outcomes[what] = meet(house, place, what, lambda path: write(path, change))
    def link(path):
        """To what would be a good page if it were here."""
        write(house.folder / path.name, lambda data: None)
        path.symlink_to(house.folder / path.name)

    outcomes["good link"] = meet(house, place, "good link", link)
    for kind in ("pipe", "folder", "link", "loop", "hole"):
        outcomes[kind] = meet(house, place, kind, special(kind, outside))
    traced = {what for what, said in outcomes.items() if said == "create OK"}
    harmless = {what for what in CHANGES if what.startswith("stream ")} | {"genuine"}
    expect(f"{outcomes}", traced == harmless)
    expect("the segment outside", beginning(segment) == before)
    expect("the map outside", outside.read_bytes() == names_map)
    outside.unlink()
    segment.unlink()
    for name in ("n-pipe", "n-link", "n-hole"):
        (place / name).unlink(missing_ok=True)
    (place / "n-folder").rmdir()
    owner.end()
    expect(f"{files(place)}", not files(place))


def check_segment(house):
    """A file with the name of a stream."""
    place, outside = house.directory("segment"), house.folder / "outside"
    owner = house.start(["inherited", "events", 10, "list", "say", "ready", "wait", "end"], place)
    real = place / [line.split()[1] for line in owner.until("ready") if "stream" in line][0]
    good = real.read_bytes()
    outside.write_bytes(good)
    forged = place / f"s-{0:032x}.seg"

    def copy(n, tail=b""):
        return lambda path: path.write_bytes(good[:n] + tail)

    makers = {"none": lambda path: None, "empty": copy(0), "header alone": copy(16384),
              "half a header": copy(5000), "cut": copy(len(good) - 4096),
              "longer": copy(len(good), bytes(4096)), "zeros": lambda p: copy(0, bytes(1 << 20))(p)}
    makers.update({kind: special(kind, outside)
                   for kind in ("pipe", "folder", "link", "loop", "hole")})
    for what, make in makers.items():
        make(forged)
        said = house.run(["list", "attach", forged.name, "follow", "exec", house.probe, "events", 5,
                          "self", ";", "self"], place, POSIXTRACE_FOLLOW=forged.name)
        expect(f"{what}: {said}", "list OK" in said and "joined 0" in said and
               f"stream {real.name} alive" in said and said.count("self OK") == 2 and
               ("attach ENOENT" if what == "none" else "attach EINVAL") in said)
        for verb in (["stop", forged.name], ["print", "--follow", forged.name], ["list"],
                     ["snapshot", forged.name, "-o", house.folder / "x.ptl"]):
            status, text = house.posixtrace(verb, place)
            expect(f"{what}, {verb}: {status} {text}", status in ((0,) if verb == ["list"]
                                                                  else (1, 64)) and text.strip())
        if what == "folder":
            forged.rmdir()
        else:
            forged.unlink(missing_ok=True)
    expect("the file outside", outside.read_bytes() == good)
    owner.go()
    expect(f"{owner.seen}", owner.end()[-1] == "end OK")
    expect(f"{files(place)}", not files(place))


# Copies of the existing files, with holes, and no room to fill them: the page of their ancestor in
# its gates, the segment in its table of chunks.  The segment comes from another pid namespace, so
# that it is unknown whether its owner is dead.
FULL = """cd "$POSIXTRACE_DIR"; forged=s-00000000000000000000000000000000
for f in s-*.seg; do cp --sparse=auto $f $forged.seg; done
set -- $(od -An -tu4 -j48 -N8 $forged.seg)
fallocate -p -o $1 -l $(($2 - $1)) $forged.seg
printf '\\1\\0\\0\\0' | dd of=$forged.seg bs=1 seek=112 conv=notrunc status=none
for f in p-*; do cp $f ./copy; mv -f ./copy $f; fallocate -p -o 4096 -l 8192 $f; done
cat /dev/zero >fill 2>/dev/null
"$0" list attach $forged.seg drain end self
POSIXTRACE_FOLLOW=$forged.seg "$0" events 5 self say followed
rm fill $forged.seg"""


def check_full(house):
    prefix = rooms.in_mount("size=100m,mode=0700")
    place = house.directory("full")
    if not rooms.is_possible(prefix, house, place):
        not_tried("a full directory", "no namespace of mounts to be had")
        return
    said = house.run(["inherited", "events", 10, "exec", "sh", "-c", FULL, house.probe, ";", "events",
                      5, "drain", "end", "self"], place, prefix=prefix)
    expect(f"{said}", "attach ENOMEM" in said and said.count("self OK") == 3 and
           "followed" in said and said[-4:] == ["joined 0", "drain 15", "end OK", "self OK"])


if __name__ == "__main__":
    rooms.main({"page": check_page, "segment": check_segment, "full": check_full})
