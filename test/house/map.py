#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Checks that the pages about the code name what the code has.

In ARCHITECTURE.md, GLOSSARY.md, CONTRIBUTING.md and SECURITY.md, between backticks:
- a path into the tree is that of a file or folder; one with NAME, a wildcard or <...> is a form;
- a name pt_..., PT_..., POSIXTRACE_..., posix_trace_... or posixtrace_... occurs in the sources;
- the table of ARCHITECTURE.md with the head "folder | may include" is that of layers.py.

usage: map.py SOURCE_ROOT
"""

import pathlib
import re
import sys

import layers

PAGES = ("ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", "SECURITY.md")
SOURCES = ("lib", "include", "tools", "examples", "test/support")
TOPS = ("lib", "include", "tools", "examples", "test", "docs", "man", "completions", "scripts")
QUOTED = re.compile(r'`([^`\n]+)`')
NAME = re.compile(r'\b(?:pt|PT|POSIXTRACE|posix_trace|posixtrace)_\w*[A-Za-z0-9]\b(?!\*)')
FORM = re.compile(r'NAME|[*<>]')
ROW = re.compile(r'\| `([^`]+)` \| ?(.*?) ?\|')


def blocks_removed(text):
    """Without ``` blocks, in which there are commands."""
    return re.sub(r'^```.*?^```$', '', text, flags=re.S | re.M)


def findings(page, text, exists, names):
    """Yields what a page names that is not there.  exists(path); names: all identifiers."""
    for quoted in QUOTED.findall(blocks_removed(text)):
        for path in re.findall(r'[\w.-]+(?:/[\w.-]+)+/?', quoted):
            if path.split("/")[0] in TOPS and not FORM.search(quoted) and not exists(path):
                yield f"{page}: no file or folder {path}"
        for name in NAME.findall(quoted):
            if not FORM.search(quoted) and name not in names:
                yield f"{page}: no name {name} in the sources"


def table(text):
    """{folder: [what it may include]}, as ARCHITECTURE.md says."""
    part = text.split("| folder | may include |\n", 1)
    rows = part[1].split("\n\n", 1)[0].splitlines() if len(part) == 2 else []
    cells = [ROW.match(row).groups() for row in rows if ROW.match(row)]
    return {folder: [name for name in below.split(", ") if name] for folder, below in cells}


def self_check():
    exists = {"lib/a.c"}.__contains__
    good = "`lib/a.c`, `pt_a()`, `lib/NAME.c`, `pt_x_*`, `unit/ring`\n```\nlib/no.c\n```\n"
    assert not list(findings("p", good, exists, {"pt_a"}))
    for bad in ("`lib/b.c`", "`pt_b()`", "`PT_B`", "`a, lib/b/c.h`", "`POSIXTRACE_B`"):
        assert list(findings("p", bad, exists, {"pt_a"})), bad
    assert table("| folder | may include |\n|---|---|\n| `a` | |\n| `b` | a, c |\n\n| `d` | e |\n") == {
        "a": [], "b": ["a", "c"]}


def main():
    self_check()
    root = pathlib.Path(sys.argv[1])
    names = set()
    for top in SOURCES:
        for path in (root / top).rglob("*.[ch]"):
            names |= set(re.findall(r'\w+', path.read_text(encoding="utf-8")))
    found = []
    for page in PAGES:
        text = (root / page).read_text(encoding="utf-8")
        found += findings(page, text, lambda path: (root / path).exists(), names)
        if page == "ARCHITECTURE.md" and table(text) != layers.BELOW:
            found.append(f"{page}: the table of layers is not that of test/house/layers.py")
    print("\n".join(found) if found else f"{len(PAGES)} pages name what is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
