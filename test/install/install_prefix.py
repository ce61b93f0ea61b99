#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The installed programs run without a further step or variable.

- the installed tree, moved to a prefix that no ld.so knows: the tool runs where it lies,
  'record --system' finds its library, and README's second line makes a program that runs;
- the prefix of the build, if ld.so looks there (as in /usr/local of Debian): installed
  without DESTDIR, and README's first line makes a program that runs.  The files are installed into
  an overlay in a mount namespace of the test's own.

usage: install_prefix.py SOURCE_ROOT BUILD_DIR MESON PREFIX LIBDIR rpath|none
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from install import run

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "isolation"))
from rooms import NEW_MOUNTS, not_tried

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}


def commands_of(readme):
    """README's two lines for a program: with a prefix of ld.so's, and with any other."""
    found = re.findall(r"`(cc hello\.c [^`]*)`", readme.read_text(encoding="utf-8"))
    if len(found) != 2 or "-rpath" in found[0] or "-rpath" not in found[1]:
        sys.exit(f"README.md: expected two lines 'cc hello.c', the second with -rpath: {found}")
    return found


def check_runs(folder, tool, command, environment):
    """Compiles hello.c in the folder, runs it, and prints its log."""
    (folder / "hello.ptl").unlink(missing_ok=True)
    run("sh", "-c", command + " -o hello", cwd=folder, env=environment)
    run("./hello", cwd=folder, env=environment)
    printed = run(tool, "print", "hello.ptl", cwd=folder, env=environment)
    if "hello" not in printed or "world" not in printed:
        sys.exit(f"the event is not in what was printed:\n{printed}")


def check_moved(folder, build, meson, prefix, libdir, command, locks):
    """The tree in a place of its own."""
    run(*meson, "install", "-C", build, "--no-rebuild", "--destdir", folder / "stage")
    here = folder / "a prefix"
    shutil.move(f"{folder}/stage{prefix}", here)
    described = here / libdir / "pkgconfig"
    for pc in described.glob("*.pc"):     # as configured with this prefix
        pc.write_text(re.sub(r"^prefix=.*$", f"prefix={folder}/p", pc.read_text(), flags=re.M))
    (folder / "p").symlink_to(here)       # flags of pkg-config have no spaces here
    check_runs(folder, here / "bin/posixtrace", command,
               {**ENVIRONMENT, "PKG_CONFIG_PATH": str(described)})
    run(folder / "p/bin/posixtrace", "metrics", "hello.ptl", cwd=folder, env=ENVIRONMENT)
    (folder / "a prefix").rename(folder / "q")    # LD_PRELOAD takes no space
    run("cc", "-pthread", locks, "-o", folder / "locks", env=ENVIRONMENT)
    run(folder / "q/bin/posixtrace", "record", "--system=calls", "-o", "locks.ptl", "./locks",
        cwd=folder, env=ENVIRONMENT)
    printed = run(folder / "q/bin/posixtrace", "print", "locks.ptl", cwd=folder, env=ENVIRONMENT)
    if not re.search("  - [a-z]", printed):
        sys.exit(f"record --system=calls recorded no call:\n{printed}")


INSTALL = """
mount -t tmpfs tmpfs "$1" || exit 77
for folder in "$2" /etc; do
    made=$(mktemp -d -p "$1") && mkdir "$made/upper" "$made/work" &&
        mount -t overlay -o "lowerdir=$folder,upperdir=$made/upper,workdir=$made/work" \
            overlay "$folder" || exit 77
done
shift 2
exec "$@"
"""


def check_in_place(folder, build, meson, prefix, libdir, command):
    """The prefix of the build."""
    layers = folder / "layers"
    layers.mkdir()
    done = subprocess.run(
        [*NEW_MOUNTS, "sh", "-c", INSTALL, "sh", layers, prefix, sys.executable, __file__,
         "in-place", folder, build, shlex.join(meson), prefix, libdir, command],
        capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode == 77:
        return not_tried("install without DESTDIR", done.stderr.strip())
    if done.returncode:
        sys.exit(f"in place: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return None


def in_place(folder, build, meson, prefix, libdir, command):
    """Within the namespace."""
    run(*shlex.split(meson), "install", "-C", build, "--no-rebuild", env=ENVIRONMENT)
    known = subprocess.run(["ldconfig", "-v", "-N", "-X"], capture_output=True, text=True,
                           env=ENVIRONMENT).stdout
    known = {os.path.realpath(name) for name in re.findall(r"^(/[^:]*):", known, flags=re.M)}
    if os.path.realpath(f"{prefix}/{libdir}") not in known:
        print(f"{prefix}/{libdir} is none of ld.so's folders", file=sys.stderr)
        sys.exit(77)
    check_runs(folder, pathlib.Path(prefix) / "bin/posixtrace", command, ENVIRONMENT)


def main():
    if sys.argv[1] == "in-place":
        in_place(pathlib.Path(sys.argv[2]), *sys.argv[3:])
        return
    source_root, build, meson = pathlib.Path(sys.argv[1]), sys.argv[2], shlex.split(sys.argv[3])
    prefix, libdir, rpath = sys.argv[4:]
    listed, elsewhere = commands_of(source_root / "README.md")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(source_root / "examples/hello.c", folder)
        if rpath == "rpath" and prefix != "/usr":
            check_moved(folder, build, meson, prefix, libdir, elsewhere,
                        source_root / "test/cli/locks.c")
        else:
            not_tried("a prefix that ld.so does not know", "this build has no rpath")
        check_in_place(folder, build, meson, prefix, libdir, listed)
    print("installed, and run without a further step")


if __name__ == "__main__":
    main()
