#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Installs into an empty folder and uses nothing but what was installed.

A program is compiled with the flags that pkg-config gives, once shared and
once static, run, and its log is read with the installed tool.  Each public
function has its manual page, each document that a page names is there, the tool has its
completion.

usage: install.py SOURCE_ROOT BUILD_DIR MESON CC
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def one(root, pattern):
    found = list(root.rglob(pattern))
    if len(found) != 1:
        sys.exit(f"{pattern}: {len(found)} installed, expected 1")
    return found[0]


def functions(include):
    """Names of all public functions, from the installed headers."""
    names = set()
    for header in [include / "trace.h", *(include / "posixtrace").glob("*.h")]:
        text = re.sub(r'/\*.*?\*/', ' ', header.read_text(encoding="utf-8"), flags=re.S)
        names |= set(re.findall(r'\b(posix(?:_trace|trace)_\w+)\s*\(', text))
    # Inline, in the pages of posixtrace_site_open() and posixtrace_context().
    return names - {"posixtrace_text", "posixtrace_context_text"}


def documents(root):
    """Each document that an installed manual page names is installed where it says."""
    documentation = one(root, "doc/posixtrace")
    named = set()
    for page in root.rglob("man/man?/*.?"):
        named |= set(re.findall(r'(\S*)\b(docs/[\w/-]+\.md)', page.read_text(encoding="utf-8")))
    if not named:
        sys.exit("no manual page names a document")
    for place, document in sorted(named):
        if place != "share/doc/posixtrace/" or not (documentation / document).is_file():
            sys.exit(f"a manual page names {place}{document}, which is not installed there")


def flags_of(root, package, static):
    """What pkg-config says of an installed package."""
    pc = one(root, f"{package}.pc")
    environment = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_SYSROOT_DIR": str(root),
                   "PKG_CONFIG_PATH": str(pc.parent)}
    return shlex.split(run("pkg-config", "--cflags", "--libs", *(["--static"] if static else []),
                           package, env=environment))


def build_and_run(root, folder, source, cc, static):
    """Compiles source against the installed tree and prints its log."""
    flags = flags_of(root, "posixtrace", static)
    program = folder / ("static" if static else "shared")
    # the sysroot prefix is for our own files; those of the system are at home
    flags = [flag for flag in flags if flag != f"-I{root}/usr/include" or
             (root / "usr/include/trace.h").exists()]
    run(*cc, "-Wall", "-Werror", source, "-o", program, *(["-static"] if static else []), *flags)
    libraries = {"LD_LIBRARY_PATH": str(one(root, "libposixtrace.so").parent)}
    run(program, cwd=folder, env=libraries)
    printed = run(one(root, "bin/posixtrace"), "print", "hello.ptl", cwd=folder, env=libraries)
    if "hello" not in printed or "world" not in printed:
        sys.exit(f"the event is not in what was printed:\n{printed}")


def build_compat(root, folder, source, cc):
    """A program of a recording interface, by pkg-config's posixtrace-compat, and run."""
    flags = flags_of(root, "posixtrace-compat", False)
    program = folder / "compat"
    run(*cc, "-Wall", "-Werror", source, "-o", program, *flags)
    needed = run("readelf", "-d", program)
    if "libposixtrace-compat.so.0" not in needed or "libposixtrace-analysis" in needed:
        sys.exit(f"the program of a recording interface needs:\n{needed}")
    libraries = one(root, "libposixtrace-compat.so").parent
    run(program, folder / "chunks.dat", cwd=folder, env={"LD_LIBRARY_PATH": str(libraries)})


def build_plugin(root, folder, source, cc):
    """A plugin that has the static library in it.  A program opens and closes it while threads
    trace; they end in its code afterwards."""
    flags = flags_of(root, "posixtrace", True)
    flags[flags.index("-lposixtrace")] = "-l:libposixtrace.a"
    plugin, program = folder / "plugin.so", folder / "reload"
    run(*cc, "-shared", "-o", plugin, "-Wl,--whole-archive", *flags, "-Wl,--no-whole-archive")
    run(*cc, f"-I{one(root, 'trace.h').parent}", source, "-o", program, "-pthread", "-ldl")
    run(program, plugin, cwd=folder)


def main():
    source_root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    meson, cc = shlex.split(sys.argv[3]), shlex.split(sys.argv[4])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = folder / "root"
        run(*meson, "install", "-C", build, "--no-rebuild", "--destdir", root)
        for pattern in ("libposixtrace.so", "libposixtrace.so.0", "libposixtrace.a",
                        "libposixtrace-preload.so", "libposixtrace-compat.so",
                        "libposixtrace-compat.so.0", "libposixtrace-compat.a", "posixtrace-compat.pc",
                        "posixtrace.1", "posixtrace.7", "posixtrace-log.5",
                        "completions/posixtrace", "vendor_completions.d/posixtrace.fish",
                        "site-functions/_posixtrace", "sql/duckdb-tables.sql", "sql/duckdb-latency.sql",
                        "sql/clickhouse-latency.sql"):
            one(root, pattern)
        for function in sorted(functions(one(root, "trace.h").parent)):
            one(root, f"man3/{function}.3")
        documents(root)
        for static in (False, True):
            build_and_run(root, folder, source_root / "examples/hello.c", cc, static)
        build_plugin(root, folder, source_root / "test/install/reload.c", cc)
        build_compat(root, folder, source_root / "examples/shark.c", cc)
    print("installed, compiled, run and printed")


if __name__ == "__main__":
    main()
