#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Users are isolated: no user traces, lists, reads or controls processes and streams of another
one, a program with more rights than its caller is never traced, and a stream directory that is not
private is not used.

usage: isolation.py POSIXTRACE PROBE users|rights|set-id|directory|room

PROBE is the program of probe.c with the library inside.
"""

import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys

import rooms
from rooms import ALICE, BOB, CAROL, expect, files, not_tried


FREE = 256 << 10   # bytes, fewer than a stream takes


def need_root(what):
    if os.geteuid() == 0:
        return True
    not_tried(what, "that takes root")
    return False


def flat(text):
    """Without the breaks of lines."""
    return " ".join(text.split())


def expect_tool(house, arguments, status, said, directory, user):
    got, text = house.posixtrace(arguments, directory, user)
    expect(f"posixtrace {arguments}: {got} {text}", got == status and said in flat(text))


def check_stranger(house, alice, stream, directory):
    """What Bob gets who has Alice's directory in POSIXTRACE_DIR."""
    before = files(directory)
    said = house.run(["list", "attach", stream, "create", alice.pid, "reap", "self"], directory, BOB)
    expect(f"{said}", said == ["list EACCES", "attach EACCES", "create EPERM", "reap EACCES",
                               "self OK"])
    for verb in (["list"], ["stop", stream], ["filter", stream, "--clear"], ["flush", alice.pid],
                 ["print", "--follow", stream], ["snapshot", stream, "-o", "x.ptl"]):
        status, text = house.posixtrace(verb, directory, BOB)
        expect(f"{verb}: {status} {text}", status != 0 and text.strip())
    expect_tool(house, ["doctor"], 0, f"it belongs to user {ALICE}, not to user {BOB}", directory,
                BOB)
    expect("nothing has changed", files(directory) == before)


def check_users(house):
    """Alice is traced by herself; Bob looks for a way in."""
    if not need_root("two users"):
        return
    hers, his = house.directory("alice", ALICE), house.directory("bob", BOB)
    alice = house.start(["inherited", "events", 10, "list", "say", "ready", "wait", "events", 10,
                         "drain", "end"], hers, ALICE)
    stream = [line.split()[1] for line in alice.until("ready") if line.startswith("stream")][0]

    check_stranger(house, alice, stream, hers)
    said = house.run(["list", "attach", stream, "create", alice.pid, "self"], his, BOB)
    expect(f"{said}", said == ["list OK", "attach ENOENT", "create EPERM", "self OK"])
    log = his / "log.ptl"
    expect_tool(house, ["record", "-o", log, "--pid", alice.pid], 1, "belongs to another user", his,
                BOB)
    expect("no log is left", not log.exists())
    expect_tool(house, ["stop", alice.pid], 1, "", his, BOB)

    said = house.run(["attach", stream, "drain", "end"], hers, ALICE)
    expect(f"her own second process reads it: {said}",
           said == ["attach OK", "drain 10", "end OK"])
    alice.go()
    expect(f"{alice.seen}", alice.end()[-2:] == ["drain 20", "end OK"])


def check_rights(house):
    """The same user, but not the same rights."""
    if not need_root("processes with other rights"):
        return
    his = house.directory("bob", BOB)

    def outcome(user=BOB, group=BOB, steps=(), mode=0o700):
        how = {**house.how(his), "preexec_fn": rooms.as_user(user, group)}
        target = rooms.Probe([house.probe, *steps, "say", "ready", "wait"], **how)
        target.until("ready")
        his.chmod(mode)
        said = house.run(["create", target.pid], his, BOB)
        his.chmod(0o700)
        target.end()
        return said

    expect("an equal", outcome() == ["create OK"])
    expect("undumpable", outcome(steps=["undumpable"]) == ["create EPERM"])
    expect("group", outcome(group=CAROL) == ["create EPERM"])
    expect("a directory in which nothing can be made", outcome(steps=["self"], mode=0o500)
           == ["create ENOMEM"])
    expect("saved id", outcome(rooms.ANYBODY, steps=["saved", f"{BOB}:{CAROL}"]) == ["create EPERM"])


def with_capability(program):
    """Gives the file CAP_CHOWN, permitted and effective."""
    try:
        os.setxattr(program, "security.capability", struct.pack("<5I", 0x02000001, 1, 0, 0, 0))
    except OSError:
        return False
    return True


def make_programs(house):
    """{what: copy of the program that gives that right}, and the plain one."""
    programs = {}
    for what, mode in (("plain", 0o755), ("set-user-id", 0o4755), ("set-group-id", 0o2755),
                       ("capability", 0o755)):
        programs[what] = pathlib.Path(shutil.copy(house.probe, house.folder / what))
        os.chown(programs[what], CAROL, CAROL)
        programs[what].chmod(mode)
    if not with_capability(programs["capability"]):
        not_tried("file capabilities", "the file system has none")
        del programs["capability"]
    return programs


def gives_rights(what, said):
    return {"set-user-id": f"ids {CAROL} {BOB}", "set-group-id": f"ids {BOB} {CAROL}"}.get(
        what, f"ids {BOB} {BOB}") == said[0]


def check_one_program(house, what, program, his):
    """Bob starts it, with all that could make it his in the environment."""
    own = house.folder / "open"
    target = house.start(["ids", "self", "events", 5, "say", "ready", "wait", "events", 5], his, BOB,
                         program=program, POSIXTRACE_RECORD=str(own / f"{what}.ptl"))
    said = target.until("ready")
    if not gives_rights(what, said):
        not_tried(what, "the file system does not have them")
        target.end()
        return
    pages = [name for name in files(his) if name.startswith(f"p-{target.pid}-")]
    created = house.run(["create", target.pid], his, BOB)
    listed = files(own)
    expect(f"{what}: {said}", "self OK" in said)
    target.end()
    found = (bool(pages), created, bool(listed))
    wanted = (True, ["create OK"], True) if what == "plain" else (False, ["create EPERM"], False)
    expect(f"{what}: {found}, not {wanted}", found == wanted)
    for name in listed:
        (own / name).unlink()
    if rooms.is_possible(with_own_shm(BOB, "true"), house):
        script = f"$as {program} self; ls /dev/shm"
        said = rooms.Probe(with_own_shm(BOB, script), **house.how(None)).end()
        expect(f"{what}: {said}", said[0] == "self OK" and (len(said) > 1) == (what == "plain"))


def check_followed(house, what, program, his):
    """A parent whose stream is inherited, POSIXTRACE_FOLLOW, and a controller that
    was there before the program was executed."""
    count = 5 if what == "plain" else 0
    said = house.run(["inherited", "list", "follow", "exec", program, "events", 5, ";",
                      "drain"], his, BOB)
    expect(f"{what}: {said}", said[-1] == f"drain {count}")
    log = house.folder / "open" / "follow.ptl"
    status, text = house.posixtrace(["record", "-o", log, program, "events", 5], his, BOB)
    expect(f"{what}: {text}", status == 0 and
           ("recorded 5 events" if count else "nothing was recorded") in text)
    log.unlink()


def check_set_id(house):
    if not need_root("set-id programs"):
        return
    his = house.directory("bob", BOB)
    place = house.folder / "open"
    place.mkdir()
    place.chmod(0o777)
    for what, program in make_programs(house).items():
        check_one_program(house, what, program, his)
        check_followed(house, what, program, his)
    house.run(["reap"], his, BOB)
    expect(f"nothing is left: {files(his)}", not files(his))


# Each makes of $dir, the stream directory of user $uid, something that must not be used.
BAD = {
    "belongs to user 1,": "mkdir -m 700 $dir; chown 1 $dir",
    "its mode is 0777": "mkdir $dir; chmod 777 $dir; chown $uid $dir",
    "its mode is 0710": "mkdir -m 710 $dir; chown $uid $dir",
    "a symbolic link": "mkdir -m 700 /dev/shm/x; chown $uid /dev/shm/x; ln -s x $dir",
    "not a directory": "mkfifo -m 600 $dir; chown $uid $dir",
}


def with_own_shm(uid, script):
    """A command that runs the script with an empty /dev/shm; $as before a command: as
    that user.  For root it stays root."""
    become = f"setpriv --reuid {uid} --regid {uid} --clear-groups" if uid else ""
    return [*rooms.NEW_MOUNTS, "sh", "-c", "mount -t tmpfs -o mode=1777 tmpfs /dev/shm || exit 77; "
            f"as='{become}'; uid={uid}; dir=/dev/shm/posixtrace-{uid}; {script}", "sh"]


def expect_refused(house, uid, make, said):
    log = house.folder / "x.ptl"
    log.touch()
    log.chmod(0o666)
    script = f"""{make}; $as {house.probe} self create sibling list reap log {log}
        $as {house.tool} doctor; test -p $dir || ls -A $dir/ | sed 's/^/used: /'"""
    text = "\n".join(rooms.Probe(with_own_shm(uid, script), **house.how(None)).end())
    expect(f"{make}: {text}", text.startswith(
        "self OK\ncreate EACCES\nlist EACCES\nreap EACCES\nlog OK\n"))
    expect(f"{make}: doctor says {said!r}: {text}", said in flat(text) and "Tracing works" in text)
    expect(f"{make}: {text}", "used: " not in text)


def check_directory(house):
    """What another user put where ours would be."""
    root = os.geteuid() == 0
    if not rooms.is_possible(with_own_shm(0, "true"), house):
        not_tried("a directory made by others", "no namespace of mounts to be had")
        return
    for said, make in BAD.items():
        if root or "chown 1 " not in make:
            expect_refused(house, BOB if root else 0, make, said)
    if root:
        # its owner could still read and write in it
        expect_refused(house, 0, "mkdir -m 700 $dir; chown 1 $dir", "belongs to user 1,")
    else:
        not_tried("a directory of another user", "that takes root")


def check_room(house):
    """In a /dev/shm of its own."""
    own_shm = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm || '
               'exit 77; exec "$0" "$@"']
    if not need_root("root makes room for a stream of another user"):
        return
    if not rooms.is_possible(own_shm, house):
        not_tried("a small /dev/shm", "no namespace of mounts to be had")
        return
    inside = [*own_shm, sys.executable, __file__, *sys.argv[1:3], "room-inside"]
    expect("in a small /dev/shm", subprocess.run(inside, check=False).returncode == 0)


def kill(probe):
    os.kill(probe.pid, signal.SIGKILL)
    probe.process.wait(timeout=rooms.TIMEOUT)


def check_room_inside(house):
    """Root's own killed programs have filled the file system of all users' directories: what they
    left goes before a stream of Bob's process, whose directory has nothing that could go."""
    owners = [house.start(["inherited", "say", "ready", "wait"], None) for _ in range(4)]
    bob = house.start(["events", 1, "say", "ready", "wait"], None, BOB)
    for probe in [*owners, bob]:
        probe.until("ready")
    room = os.statvfs("/dev/shm")
    with open("/dev/shm/fill", "wb") as fill:
        os.posix_fallocate(fill.fileno(), 0, room.f_bavail * room.f_bsize - FREE)
    said = house.run(["create", bob.pid], None)
    expect(f"no room while they live: {said}", said == ["create ENOMEM"])
    for owner in owners:
        kill(owner)
    said = house.run(["create", bob.pid, "end"], None)
    expect(f"room when they were killed: {said}", said == ["create OK", "end OK"])
    left = [name for name in files("/dev/shm/posixtrace-0") if name.startswith("s-")]
    expect(f"nothing of theirs is left: {left}", not left)
    bob.go()
    bob.end()


if __name__ == "__main__":
    rooms.main({"users": check_users, "rights": check_rights, "set-id": check_set_id,
                "directory": check_directory, "room": check_room,
                "room-inside": check_room_inside})
