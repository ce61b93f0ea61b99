#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Checks what a machine can check of the code rules: licence lines, length of
files and lines, white space, and that nothing was left for later.

usage: style.py SOURCE_ROOT

A macro with a lower-case name looks like a function, so it may use each argument once: the
argument may be an atomic load, and two of them two values.
"""

import os
import pathlib
import re
import sys
import tempfile

LICENCE = ("SPDX-License-Identifier: MIT", "SPDX-FileCopyrightText: ")
CODE = re.compile(r'(\.(c|h|cpp|py|sh|js|css|html|map|[1-8])|meson\.build|meson_options\.txt|setup\.sh|'
                  r'\.ci/run|^scripts/[a-z]+|completions/posixtrace)$')
C = re.compile(r'\.(c|h|cpp)$')
NARROW = re.compile(r'\.(c|h|cpp|js|css|html)$')
MAX_LINES, MAX_COLUMNS = 1000, 100
# Spelled so that this file does not find itself.
LEFT_OVER = re.compile(r'\b(TO' r'DO|FIX' r'ME|X' r'XX|HA' r'CK)\b')
# Statements that were commented out: a comment line that ends like one.
DISABLED = re.compile(r'^\s*(//.*[;{}]\s*$|#\s*if\s+0\b)', re.M)
# The body ends at the line end that no backslash precedes.
MACRO = re.compile(r'^[ \t]*#[ \t]*define[ \t]+([a-z]\w*)\(([^)\n]*)\)((?:[^\n]|(?<=\\)\n)*)', re.M)
NOT_EVALUATED = re.compile(r'(sizeof|__typeof__) ?\([^()]*\)|#\s*\w+')
ADDRESSES = {"lib/base/atomics.h": "p"}  # an address, which no caller loads


def used_twice(path, text):
    """Yields line, macro and argument."""
    for match in MACRO.finditer(text):
        name, arguments, body = match.groups()
        body = NOT_EVALUATED.sub("", body)
        for argument in (a.strip() for a in arguments.split(",")):
            if argument.isidentifier() and argument != ADDRESSES.get(path) and \
                    len(re.findall(rf'(?<![.>\w]){argument}\b', body)) > 1:
                yield text.count("\n", 0, match.start()) + 1, name, argument


def findings(path, text):
    """Yields the faults of one file, as 'path:line: message'."""
    lines = text.split("\n")
    top = lines[1:3] if lines[0].startswith(("#!", "<!doctype")) else lines[0:2]
    for wanted, line in zip(LICENCE, top + ["", ""]):
        if wanted not in line:
            yield f"{path}:1: the first two lines name licence and copyright (SPDX)"
            break
    if len(lines) > MAX_LINES:
        yield f"{path}: {len(lines)} lines, more than {MAX_LINES}"
    if text and not text.endswith("\n"):
        yield f"{path}: no newline at the end"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield f"{path}:{number}: white space at the end of the line"
        if NARROW.search(path) and len(line) > MAX_COLUMNS:
            yield f"{path}:{number}: {len(line)} columns"
        if NARROW.search(path) and "\t" in line:
            yield f"{path}:{number}: tab"
        if LEFT_OVER.search(line):
            yield f"{path}:{number}: {LEFT_OVER.search(line).group(0)}"
    if C.search(path):
        for match in DISABLED.finditer(text):
            yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: code that is switched off"
        for number, name, argument in used_twice(path, text):
            yield f"{path}:{number}: {name}() uses {argument} twice, so it is to be a function"


def self_check():
    """Each rule must catch its example."""
    head = f"/* {LICENCE[0]} */\n/* {LICENCE[1]}x */\n"
    assert not list(findings("a.c", head + "int a;\n"))
    assert not list(findings("a.py", "#!x\n" + head))
    for bad in ("int a;\n", head + "\tint a;\n", head + "int a; \n", head + "int a;",
                head + "/* TO" "DO */\n", head + "// f();\n", head + "#if 0\n#endif\n",
                head + "x" * 101 + "\n", head + "\n" * 1000,
                head + "#define runs(w) ((w) == 1 || \\\n    (w) == 2)\n"):
        assert list(findings("a.c", bad)), bad[:80]
    assert not list(findings("a.c", head + "#define size(x) (sizeof(x) + (x)->x)\n#define B(x) x x\n"))
    assert list(findings("a.js", head + "x" * 101 + "\n"))
    assert not list(findings("a.html", "<!doctype html>\n" + head))
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("lib/a.c", "obj-x86_64-linux-gnu/build.ninja", "obj-x86_64-linux-gnu/b.c"):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).touch()
        assert list(files(root)) == ["lib/a.c"]


def is_build(folder):
    return any(os.path.exists(os.path.join(folder, name))
               for name in ("build.ninja", "meson-private"))


def files(root):
    """Source files as paths below root; what a build or an editor made is left out.  A build
    folder may have any name, as debhelper's obj-x86_64-linux-gnu: Ninja makes a file in it."""
    for folder, names, entries in os.walk(root):
        names[:] = [n for n in names if not n.startswith("build") and n not in
                    (".git", ".cache", "__pycache__", "corpus", "data") and
                    not is_build(os.path.join(folder, n))]
        for entry in entries:
            path = (pathlib.Path(folder) / entry).relative_to(root).as_posix()
            if CODE.search(path):
                yield path


def main():
    self_check()
    root = pathlib.Path(sys.argv[1])
    paths = sorted(files(root))
    if not any(path.startswith("lib/") for path in paths):
        sys.exit(f"style.py: no sources under {root}/lib")
    found = [line for path in paths
             for line in findings(path, (root / path).read_text(encoding="utf-8"))]
    print("\n".join(found) if found else f"{len(paths)} files keep to the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
