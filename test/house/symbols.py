#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Compares headers, version script and built libraries, each with the others.

Shared library:  exported symbols == prototypes in the public headers == names
in the version script, all under the version node of the script; and the wrapped functions of
the C library, without a version.
Static library:  no global symbol outside our three prefixes, so that a static
program keeps its namespace; no object refers to a public function of ours (an
application may interpose those), none prints, none ends the process, and none waits for
a thread, lock or condition until a time of CLOCK_REALTIME, which can be set.

The libraries compat and analysis have headers of their own; those of the recording
interfaces also declare what reads, which is the analysis library's.  Both stand above the
public line: they call public functions, and write to files that they are given.

usage: symbols.py INCLUDE_DIR VERSION_SCRIPT SHARED_LIBRARY STATIC_LIBRARY [analysis|compat]
"""

import pathlib
import re
import subprocess
import sys

STANDARD_FUNCTIONS = 50
ANALYSIS = {"ada_metrics.h", "format.h", "jobs.h", "metrics.h", "native.h", "page.h", "pair.h", "report.h", "symbols.h", "sync.h", "tables.h", "why.h"}
COMPAT = {"qnx.h", "rkh.h", "shark.h"}
READERS = re.compile(r'posixtrace_(qnx_parse\w*|rkh_(open|get|close))$')   # declared in COMPAT
PUBLIC = re.compile(r'^(posix_trace|posixtrace)_\w+$')
WRAPPED = {"_Fork"}
WRAPPED_BY_LINKER = {"__wrap__Fork"}   # in the static library
OURS = re.compile(r'^(posix_trace|posixtrace|pt)_\w+$')
# What compilers and their instrumentation add to an object.
GENERATED = re.compile(r'^(__odr_asan|__asan|__tsan|__ubsan|__sanitizer|__gcov|DW\.ref|__x86)')
FORBIDDEN = set("""
    printf vprintf fprintf vfprintf puts fputs putchar putc fputc fwrite perror psignal
    __printf_chk __vprintf_chk __fprintf_chk __vfprintf_chk stdout stderr syslog vsyslog warn warnx
    err errx dprintf vdprintf __dprintf_chk exit _exit _Exit quick_exit abort
    pthread_timedjoin_np pthread_cond_timedwait pthread_mutex_timedlock
    pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock sem_timedwait
    """.split())


def strip_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def library_of(header, function):
    """Which library has a function of that header."""
    if header in COMPAT:
        return "analysis" if READERS.match(function) else "compat"
    return "analysis" if header in ANALYSIS else ""


def prototypes(include_dir, library):
    """{header: set of function names}"""
    found = {}
    for path in [include_dir / "trace.h", *sorted((include_dir / "posixtrace").glob("*.h"))]:
        text = strip_comments(path.read_text(encoding="utf-8"))
        inlined = set(re.findall(r'static inline [^;{(]*(?:\(\([^)]*\)\))?[^;{(]*\b(posixtrace_\w+)\(', text))
        found[path.name] = {name for name in re.findall(r'\b(posix(?:_trace|trace)_\w+)\s*\(', text)
                            if library_of(path.name, name) == library and name not in inlined}
    return found


def script_names(path):
    """(node, names) of a version script with one node, which may hide the rest."""
    text = strip_comments(path.read_text(encoding="utf-8"))
    match = re.fullmatch(r'\s*([\w.]+)\s*\{\s*global:(.*?)(?:local:\s*\*;\s*)?\};\s*', text, flags=re.S)
    if not match:
        sys.exit(f"{path}: expected one node with global: names")
    names = [name.strip() for name in match.group(2).split(";") if name.strip()]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        sys.exit(f"{path}: named twice: {sorted(twice)}")
    return match.group(1), set(names)


def nm(*arguments):
    out = subprocess.run(["nm", *arguments], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in out.splitlines() if line.strip()]


def exported(library):
    """{name: version} of what the dynamic linker offers, without the node itself."""
    symbols = {}
    for fields in nm("-D", "--defined-only", str(library)):
        name, _, version = fields[-1].partition("@@")
        if fields[-2] != "A":
            symbols[name] = version
    return symbols


def archive(library):
    """(defined globals, undefined symbols) over all objects of a static library."""
    defined, undefined = set(), set()
    for fields in nm("-A", "-g", str(library)):
        (undefined if fields[-2] in "Uw" else defined).add(fields[-1])
    return defined, undefined


def main():
    include_dir, script, shared, static = map(pathlib.Path, sys.argv[1:5])
    library = sys.argv[5] if len(sys.argv) > 5 else ""
    headers = prototypes(include_dir, library)
    declared = set().union(*headers.values())
    node, mapped = script_names(script)
    built = exported(shared)
    wrapped = {name for name, version in built.items() if name in WRAPPED and not version}
    built = {name: version for name, version in built.items() if name not in wrapped}
    defined, undefined = archive(static)
    problems = []

    def same(one, one_name, other, other_name):
        problems.extend(f"{name}: in {one_name}, not in {other_name}" for name in sorted(one - other))
        problems.extend(f"{name}: in {other_name}, not in {one_name}" for name in sorted(other - one))

    if not library and len(headers["trace.h"]) != STANDARD_FUNCTIONS:
        problems.append(f"trace.h declares {len(headers['trace.h'])} functions, "
                        f"the standard {STANDARD_FUNCTIONS}")
    same(declared, "the headers", mapped, "the version script")
    same(mapped, "the version script", set(built), "the shared library")
    problems.extend(f"{name}: version '{version}', expected {node}"
                    for name, version in sorted(built.items()) if version != node)
    same(declared, "the headers", {name for name in defined if PUBLIC.match(name)},
         "the static library")
    problems.extend(f"{name}: global in the static library, without a prefix of ours"
                    for name in sorted(defined - (set() if library else WRAPPED_BY_LINKER))
                    if not OURS.match(name) and not GENERATED.match(name))
    if library and wrapped:
        problems.append(f"{sorted(wrapped)}: wrapped by another library than libposixtrace")
    if not library:
        problems.extend(f"{name}: a public function is called by the library itself"
                        for name in sorted(undefined) if PUBLIC.match(name))
        problems.extend(f"{name}: the library must not call it"
                        for name in sorted(undefined & FORBIDDEN))
    print("\n".join(problems) if problems else
          f"{len(declared)} functions agree in headers, version script and libraries")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
