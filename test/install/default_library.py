#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""'meson setup -Ddefault_library=static' and '=both' install what 'shared' does, since programs
need the one and the tool the other; with the static library of such a build alone a program
records, and its log is read.

usage: default_library.py SOURCE_ROOT BUILD_DIR MESON CC TOOL
"""

import json
import os
import pathlib
import shlex
import sys
import tempfile

from install import run


def installed(meson, build):
    """The names under the prefix."""
    prefix = next(o["value"] for o in json.loads(run(*meson, "introspect", "--buildoptions", build))
                  if o["name"] == "prefix")
    return {os.path.relpath(name, prefix)
            for name in json.loads(run(*meson, "introspect", "--installed", build)).values()}


def check_program(source_root, build, cc, tool):
    """Builds the library, and hello with what its description for pkg-config says."""
    run("ninja", "-C", build, "-j2", "lib/libposixtrace.a")
    flags = run("pkg-config", "--cflags", "--libs", "--static", "posixtrace-uninstalled",
                env={**os.environ, "PKG_CONFIG_PATH": f"{build}/meson-uninstalled"})
    run(*cc, source_root / "examples/hello.c", "-o", build / "hello", *shlex.split(flags))
    run("./hello", cwd=build, env={"PATH": os.environ["PATH"]})     # no LD_LIBRARY_PATH
    printed = run(tool, "print", build / "hello.ptl")
    if "hello" not in printed or "world" not in printed:
        sys.exit(f"the event is not in what was printed:\n{printed}")


def main():
    source_root, here = pathlib.Path(sys.argv[1]), sys.argv[2]
    meson, cc, tool = shlex.split(sys.argv[3]), shlex.split(sys.argv[4]), sys.argv[5]
    tool = pathlib.Path(tool).resolve()
    expected = {name for name in installed(meson, here) if "libposixtrace" in name}
    if not any(name.endswith(".a") for name in expected):
        sys.exit(f"no static library is installed: {expected}")
    with tempfile.TemporaryDirectory() as name:
        for value in "static", "both":
            build = pathlib.Path(name) / value
            run(*meson, "setup", build, source_root, f"-Ddefault_library={value}",
                "-Dtests=false", "-Dbuildtype=plain")     # compiles three times as fast
            found = {name for name in installed(meson, build) if "libposixtrace" in name}
            if found != expected:
                sys.exit(f"-Ddefault_library={value} installs {found}, not {expected}")
        check_program(source_root, pathlib.Path(name) / "static", cc, tool)
    print("static and both install the same libraries; a program with the static one records")


if __name__ == "__main__":
    main()
