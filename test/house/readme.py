#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Checks README.md and the pages that it leads to.

- README's C program is examples/hello.c, at most 12 lines, and the three commands
  under "Hello, world" build it, run it and print the event; the first one is
  what made BUILD_DIR, so it is only checked for being a verb of setup.sh;
- README names ./setup.sh test and demo; every ./setup.sh verb and script that a page names
  exists;
- each promise of docs/guarantees.md names a test or a suite that exists in the build, and so
  does every `suite/test` of every page;
- every link into the tree leads to a file.

usage: readme.py SOURCE_ROOT BUILD_DIR MESON
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

MAX_LINES = 12
GUARANTEES = "docs/guarantees.md"
PAGES = ("README.md", GUARANTEES, "docs/README.md", "ARCHITECTURE.md", "GLOSSARY.md",
         "CONTRIBUTING.md", "SECURITY.md")


def blocks(text, language):
    return re.findall(rf'^```{language}\n(.*?)^```$', text, flags=re.S | re.M)


def fail(message, page="README.md"):
    sys.exit(f"{page}: {message}")


def section(text, title):
    match = re.search(rf'^## {re.escape(title)}$(.*?)(?=^## |\Z)', text, flags=re.S | re.M)
    return match.group(1) if match else fail(f"no section '{title}'")


def check_program(root, text):
    shown = blocks(text, "c")
    if len(shown) != 1:
        fail(f"{len(shown)} C programs in 'Hello, world', expected 1")
    if len(shown[0].splitlines()) > MAX_LINES:
        fail(f"the program has {len(shown[0].splitlines())} lines, more than {MAX_LINES}")
    kept = (root / "examples/hello.c").read_text(encoding="utf-8")
    if kept[kept.index("#include"):] != shown[0]:
        fail("the program differs from examples/hello.c")


def check_commands(root, build, text):
    commands = [line for block in blocks(text, "sh") for line in block.splitlines()]
    if len(commands) != 3 or commands[0] != "./setup.sh build":
        fail("'Hello, world' has three commands, the first of them ./setup.sh build")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for entry in ("include", "examples"):
            (folder / entry).symlink_to(root / entry)
        (folder / "build").symlink_to(build)
        for command in commands[1:]:
            done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
            if done.returncode or done.stderr:
                fail(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    if "hello" not in done.stdout or "world" not in done.stdout:
        fail(f"the last command does not show the event:\n{done.stdout}")


def check_verbs(root, texts):
    usage = subprocess.run([root / "setup.sh", "--help"], capture_output=True, text=True, check=True)
    for page, text in texts.items():
        named = set(re.findall(r'\./setup\.sh ([a-z]+)', text))
        missing = [verb for verb in named
                   if not re.search(rf'^\s+{verb}\b', usage.stdout, flags=re.M)]
        if missing or (page == "README.md" and not {"demo", "test"} <= named):
            fail(f"setup.sh does not know {missing}, or demo or test is not named", page)
        missing = [name for name in set(re.findall(r'\bscripts/([a-z]+)', text))
                   if not (root / "scripts" / name).is_file()]
        if missing:
            fail(f"no such scripts: {missing}", page)


def tests_in(text, suites, root):
    """Names that are not those of files: docs is a suite and a folder."""
    return {name for name in re.findall(r'`([a-z]+/[\w. -]+)`', text)
            if name.split("/")[0] in suites and not (root / name).exists()}


def check_tests(root, build, meson, texts):
    out = subprocess.run([*meson, "introspect", "--tests", str(build)], check=True,
                         capture_output=True, text=True).stdout
    known = {f"{suite.split(':')[-1]}/{test['name']}" for test in json.loads(out)
             for suite in test["suite"]}
    suites = {name.split("/")[0] for name in known}
    for page, text in texts.items():
        unknown = tests_in(text, suites, root) - known
        if unknown:
            fail(f"no such tests: {sorted(unknown)}", page)
    check_promises(root, texts[GUARANTEES], suites)


def check_promises(root, text, suites):
    """Each row of the tables has a test in its last cell."""
    rows = [line for line in text.splitlines()
            if line.startswith("|") and not re.match(r'\|(---| promise )', line)]
    for row in rows:
        promise, held_by = re.fullmatch(r'\| (.*\S) \| (.*) \|', row).groups()
        if not tests_in(held_by, suites, root):
            fail(f"no test holds: {promise}", GUARANTEES)
    if not rows:
        fail("no promise", GUARANTEES)


def check_links(root, page, text):
    for target in re.findall(r'\]\(([^)#]+)[^)]*\)', text):
        if not target.startswith("http") and not (root / page).parent.joinpath(target).exists():
            fail(f"link to {target}, which does not exist", page)


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    texts = {page: (root / page).read_text(encoding="utf-8") for page in PAGES}
    hello = section(texts["README.md"], "Hello, world")
    check_program(root, hello)
    check_commands(root, build, hello)
    check_verbs(root, texts)
    check_tests(root, build, shlex.split(sys.argv[3]), texts)
    for page, text in texts.items():
        check_links(root, page, text)
    print(f"{len(texts)} pages are true")


if __name__ == "__main__":
    main()
