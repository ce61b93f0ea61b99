#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Counts words that make comments, messages and pages hard to read, by folder.

CONTRIBUTING.md says how to write: name the actor, subject first, terms of the field.
Counted are IDIOMS in comments (C, Promela, Python, shell, meson), in strings of lib, tools,
include and examples, and in Markdown and manual pages.  Code blocks, headings, generated
figures and the outputs in .case files are not.

A single one fails the test.

usage: words.py SOURCE_ROOT [--list [FOLDER]]
"""

import pathlib
import re
import sys

import style

IDIOMS = {
    "behind": r'\bbehind\b',
    "begin as a noun": r"\b(?:the|its|a|from|very|'s) begin\b(?! (?:event|state)s?\b)",
    "told": r'\b(?:un)?told\b',
    "who without a noun": r'(?:(?:^|[.:;(] )who(?:ever)?|'
                          r'\b(?:by|for|of|to|than|and|or|from|in|if|that) who(?:ever)?)\b(?![^.]*\?)',
    "goes on": r'\b(?:go|goes|going|went|gone) on\b',
    "anew": r'\banew\b',
    "at leisure": r'\bat leisure\b',
    "of which": r'\bof which\b',
    "somebody, nobody": r'\b(?:some|no)body\b',
    "what is": r'\bwhat is\b(?![^.]*\?)',
}
PATTERNS = {name: re.compile(pattern, re.I) for name, pattern in IDIOMS.items()}

C_FILE = re.compile(r'\.(c|h|cpp|pml)$')
HASH_FILE = re.compile(r'(\.(py|sh|metrics)|^scripts/[a-z]+|meson\.build|meson_options\.txt|\.ci/run|'
                       r'completions/posixtrace)$')
PAGE = re.compile(r'\.(md|[1-8])$')
C_PARTS = re.compile(r'/\*(?P<comment>.*?)\*/|//(?P<line>[^\n]*)|"(?P<text>(?:\\.|[^"\\\n])*)"|'
                     r"'(?:\\.|[^'\\\n])'", re.S)
STRINGS_COUNT = ("lib/", "tools/", "include/", "examples/")
# They quote the words: this test, and what users have read already.
LEFT_OUT = ("test/house/words.py", "CHANGELOG.md")


def c_blocks(path, text):
    """(offset, prose) of comments, and of strings where users see them."""
    for m in C_PARTS.finditer(text):
        if m.group("comment") is not None:
            yield m.start(), re.sub(r'^\s*\*', ' ', m.group("comment"), flags=re.M)
        elif m.group("line") is not None:
            yield m.start(), m.group("line")
        elif m.group("text") is not None and path.startswith(STRINGS_COUNT):
            yield m.start(), m.group("text").replace("\\n", "\n")


def hash_blocks(text):
    """Comments of several lines are one block; so are the docstrings of Python."""
    for m in re.finditer(r'(?:^[ \t]*#(?!!)[^\n]*\n)+|(?<=\s)# [^\n]*|"""(.*?)"""', text,
                         flags=re.M | re.S):
        yield m.start(), re.sub(r'^\s*#', ' ', m.group(0), flags=re.M)


def page_blocks(path, text):
    """Paragraphs.  What is blanked keeps its place."""
    blank = lambda m: re.sub(r'[^\n]', ' ', m.group(0))
    if path.endswith(".md"):
        for pattern in (r'<!-- figures: begin -->.*?<!-- figures: end -->', r'^```.*?^```$',
                        r'^#.*$', r'`[^`\n]*`'):
            text = re.sub(pattern, blank, text, flags=re.S | re.M if "```" in pattern or
                          "figures" in pattern else re.M)
    else:
        text = re.sub(r'^\.Bd -literal.*?^\.Ed', blank, text, flags=re.S | re.M)
        text = re.sub(r'^\.(S[hs]|Nd|Ql|Dl|\\").*$', blank, text, flags=re.M)
        text = re.sub(r'^\.(Fa|Va|Ar).*$|^\.\w+\b', blank, text, flags=re.M)
    for m in re.finditer(r'(?:^.*\S.*\n?)+', text, flags=re.M):
        yield m.start(), m.group(0)


def blocks(path, text):
    if C_FILE.search(path):
        return c_blocks(path, text)
    if HASH_FILE.search(path):
        return hash_blocks(text)
    if PAGE.search(path):
        return page_blocks(path, text)
    if path.endswith(".case"):
        return [(0, "\n\n".join(re.findall(r'^[A-Za-z].*$', text, flags=re.M)))]
    return []


def findings(path, text):
    """Yields (line, idiom, words around it)."""
    for offset, prose in blocks(path, text):
        for part in re.split(r'\n\s*\n', prose):
            part = " ".join(part.split())
            for name, pattern in PATTERNS.items():
                for m in pattern.finditer(part):
                    yield (text.count("\n", 0, offset) + 1, name,
                           part[max(0, m.start() - 40):m.end() + 30])


def folder_of(path):
    parts = path.split("/")
    if len(parts) == 1:
        return "."
    return "/".join(parts[:2]) if parts[0] in ("lib", "test", "docs", "man") and len(parts) > 2 \
        else parts[0]


def paths(root):
    more = [p.relative_to(root).as_posix() for pattern in ("*.md", "docs/**/*.md", "test/**/*.pml",
            "test/cli/cases/*.case", "lib/analysis/metrics/sets/*.metrics") for p in root.glob(pattern)]
    return sorted((set(style.files(root)) | set(more)) - set(LEFT_OUT))


def count(root):
    """{folder: [(path, line, idiom, words)]}"""
    found = {}
    for path in paths(root):
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        found.setdefault(folder_of(path), []).extend((path, *f) for f in findings(path, text))
    return found


def judge(found):
    """Yields why a folder fails."""
    for folder, here in sorted(found.items()):
        for path, line, name, words in here:
            yield f"{path}:{line}: {name}: ...{words}..."
        if here:
            yield f"{folder}: {len(here)} of the words to avoid"


def self_check():
    """Each idiom is found in each kind of file, and what is left out is not."""
    bad = {"behind": "it lies behind it", "begin as a noun": "from the begin on",
           "told": "it is told", "who without a noun": "Whoever takes it waits. Who sees it waits",
           "goes on": "it goes\non", "anew": "read anew", "at leisure": "at leisure",
           "of which": "of which two", "somebody, nobody": "nobody waits", "what is": "skips what is bad"}
    assert set(bad) == set(IDIOMS)
    for name, words in bad.items():
        for path, form in (("lib/a.c", "/* {} */"), ("a.md", "{}"), ("a.sh", "# {}"),
                           ("man/man3/a.3", ".Pp\n{}"), ("a.py", '"""{}"""')):
            body = form.format(words if path != "a.sh" else words.replace("\n", "\n# ") + "\n")
            assert name in {f[1] for f in findings(path, body)}, (path, body)
    assert list(findings("tools/a.c", 'f("it is told");'))
    for path, text in (("test/a.c", 'f("told"); int behind;'), ("a.md", "```\ntold\n```\n`told`\n"),
                       ("a.md", "## What is in it"), ("a.md", "people who trace; is this what is wanted?"),
                       ("a.1", ".Ss Behind"), ("a.py", "# a\ntold = f(behind)\n# b\n")):
        assert not list(findings(path, text)), text
    assert list(judge({"a": [("a", 1, "told", "")]})) and not list(judge({"a": []}))


def main():
    self_check()
    root = pathlib.Path(sys.argv[1])
    found = count(root)
    if "--list" in sys.argv:
        wanted = sys.argv[sys.argv.index("--list") + 1:]
        for folder, here in sorted(found.items()):
            if not wanted or folder in wanted:
                print("".join(f"{p}:{l}: {n}: ...{w}...\n" for p, l, n, w in here), end="")
        return 0
    if not any(folder.startswith("lib/") for folder in found):
        sys.exit(f"words.py: no sources under {root}/lib")
    wrong = list(judge(found))
    print("\n".join(wrong) if wrong else
          f"{sum(map(len, found.values()))} of the words to avoid in {len(found)} folders")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
