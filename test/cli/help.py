#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""--help of the tool and of each verb fits a screen of 24 lines by 80 columns;
the options it names are those that the verb takes, that its manual page
describes, and that bash completes.

usage: help.py POSIXTRACE SOURCE_ROOT
"""

import os
import pathlib
import re
import subprocess
import sys


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    if done.stderr:
        sys.exit(f"{command}: {done.stderr}")
    return done.stdout


def fits(name, text):
    lines = text.splitlines()
    wide = [line for line in lines if len(line) > 80]
    if len(lines) > 24 or wide:
        sys.exit(f"--help of {name}: {len(lines)} lines; too wide: {wide}")


def complete(script, line):
    """What bash offers at the end of line."""
    words = re.findall(r'=|[^\s=]+', line) + ([""] if line.endswith(" ") else [])
    program = (f'source "{script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
               '_posixtrace posixtrace "${!#}" ""; printf "%s\\n" "${COMPREPLY[@]}"')
    return set(output("bash", "-c", program, "bash", *words).split())


def check_verb(tool, root, script, verb):
    text = output(tool, verb, "--help")
    fits(verb, text)
    # several options may share a line; their text stands after two blanks
    shown = {name for front in re.findall(r'^  (-.*?)(?:  |$)', text, flags=re.M)
             for name in re.findall(r'--([a-z-]+)', front)}
    page = (root / f"man/man1/posixtrace-{verb}.1").read_text(encoding="utf-8")
    described = set(re.findall(r'(?:^\.It|,) Fl -([a-z-]+)', page, flags=re.M))
    offered = {word.strip("-=") for word in complete(script, f"posixtrace {verb} --")}
    if not shown == described == offered:
        sys.exit(f"{verb}: --help {sorted(shown)}, page {sorted(described)}, "
                 f"completion {sorted(offered)}")
    for option in shown - {"help"}:
        # known options take --help as their value, or are followed by it
        done = subprocess.run([tool, verb, f"--{option}", "--help"], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, check=False)
        if "unknown option" in done.stderr:
            sys.exit(f"{verb} does not take --{option}: {done.stderr}")


def formats(tool, verb):
    return set(re.findall(r"^([a-z]+) ", output(tool, verb, "--list"), flags=re.M))


def main():
    tool, root = sys.argv[1], pathlib.Path(sys.argv[2])
    script = root / "completions/posixtrace"
    # The completion asks the tool itself for its formats.
    os.environ["PATH"] = f"{pathlib.Path(tool).resolve().parent}:{os.environ['PATH']}"
    text = output(tool, "--help")
    fits("posixtrace", text)
    verbs = "|".join(re.findall(r'^  ([a-z|]+) ', text, flags=re.M)).split("|")
    pages = {page.stem[len("posixtrace-"):] for page in (root / "man/man1").glob("posixtrace-*.1")}
    if set(verbs) != pages or set(verbs) - complete(script, "posixtrace "):
        sys.exit(f"verbs: {verbs}, pages: {pages}, "
                 f"completed: {complete(script, 'posixtrace ')}")
    for verb in verbs:
        check_verb(tool, root, script, verb)
    for line, offered in (("posixtrace print --format=", {"text", "jsonl", "csv"}),
                          ("posixtrace print --format=j", {"jsonl"}),
                          ("posixtrace print --color n", {"never"}),
                          ("posixtrace import --format=", formats(tool, "import")),
                          ("posixtrace export --format=", formats(tool, "export")),
                          ("posixtrace export --to pe", {"perfetto"}),
                          ("posixtrace pr", {"print"})):
        if line.endswith("="):
            line += " "
        if complete(script, line) != offered:
            sys.exit(f"'{line}' completes to {complete(script, line)}, not {offered}")


if __name__ == "__main__":
    main()
