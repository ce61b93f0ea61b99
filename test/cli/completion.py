#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""fish and zsh offer the same as bash: verbs, options, the words that they take, and the event
types of a log.  Without one of the shells it is skipped, after the tests of the other.

usage: completion.py POSIXTRACE SOURCE_ROOT FISH_COMPLETION ZSH_COMPLETION
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
# What the completion system of zsh would do, for one that stands alone.
ZSH = r"""
compdef() { : }
compset() { PREFIX=${PREFIX#*=} }
compadd() {
    local suffix=
    while [[ $1 != -- ]]; do shift; done
    shift
    local word; for word; do [[ $word != $PREFIX* ]] || print -r -- $word; done
}
_files() { : }
_command_names() { : }
source $1
shift
words=("$@") CURRENT=$# PREFIX=${@[-1]}
_posixtrace
"""
BASH = r"""
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_posixtrace posixtrace "${!#}" ""
printf "%s\n" "${COMPREPLY[@]}"
"""
EVENTS = {"req:begin", "req:end", "tick"}
OF_LOG = [(f"posixtrace {verb} a.log --{option}=", words)
          for verb in ("print", "info", "export", "metrics", "rta", "report", "why")
          for option, words in (("event", EVENTS), ("where", EVENTS), ("pid", {"7"}),
                                ("tid", {"70", "71", "72"}))]


def output(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{command}: {done.stderr}")
    return set(filter(None, done.stdout.split("\n")))


def bash(script, line):
    words = [word for word in re.findall(r"[=:]|[^\s=:]+", line)]
    return output("bash", "-c", BASH, "bash", script, *words, *([""] if line[-1] == " " else []))


def zsh(script, line):
    return {word.split("\t")[0] for word in
            output("zsh", "-f", "-c", ZSH, "zsh", script, *line.split(" "))}


def fish(script, line):
    """The whole word without what stood there, as the others have it."""
    words = output("fish", "--no-config", "-c",
                   f"source {script}; complete -C '{line}'")
    front = re.match(r"--[a-z-]+=", line.split(" ")[-1])
    return {word.split("\t")[0].removeprefix(front.group() if front else "") for word in words}


def compare(shell, offered, expected, line):
    """The form --name= of an option with a value is not fish's."""
    if {word.rstrip("=") for word in offered} != {word.rstrip("=") for word in expected}:
        sys.exit(f"'{line}' in {shell}: {sorted(offered)[:20]}, in bash: {sorted(expected)[:20]}")


def lines(script, verbs):
    yield "posixtrace "
    yield "posixtrace p"
    for verb in sorted(verbs - {"help", "--help", "--version"}):
        yield f"posixtrace {verb} --"
        for option in sorted(bash(script, f"posixtrace {verb} --")):
            name = option.rstrip("=")
            # processes come and go, and each shell has its own way with files
            kind = output("bash", "-c", 'source "$1"; _posixtrace_kind "$2" "$3"', "bash", script,
                          verb, name)
            if name != "--pid" and not kind and bash(script, f"posixtrace {verb} {name}="):
                yield f"posixtrace {verb} {name}="


def main():
    tool, root, for_fish, for_zsh = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    script = root / "completions/posixtrace"
    shells = [(name, function, text) for name, function, text in
              (("fish", fish, for_fish), ("zsh", zsh, for_zsh)) if shutil.which(name)]
    os.environ["PATH"] = f"{tool.parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["HOME"] = folder
        subprocess.run([tool, "import", "--from=jsonl", "-", "a.log"], check=True, text=True,
                       input="".join(f'{{"ts":{i},"event":"{name}","pid":7,"tid":{70 + i}}}\n'
                                     for i, name in enumerate(sorted(EVENTS))))
        verbs = bash(script, "posixtrace ")
        asked = 0
        for line in lines(script, verbs):
            for name, offer, text in shells:
                compare(name, offer(text, line) - {"-h"}, bash(script, line) - (
                    {"--help", "--version"} if name == "fish" and line == "posixtrace " else set()),
                    line)
                asked += 1
        compare("bash", bash(script, "posixtrace print a.log --event="), EVENTS, "--event=")
        compare("bash", bash(script, "posixtrace print a.log --event=req:b"), {"begin"}, "req:b")
        for line, words in OF_LOG:
            for name, offer, text in [("bash", bash, script), *shells]:
                compare(name, offer(text, line), words, line)
        for line in ("posixtrace export --format=btf --ver", "posixtrace export --to btf --ver",
                     "posixtrace import --format=btf --ver"):
            for name, offer, text in [("bash", bash, script), *shells]:
                compare(name, offer(text, line), {"--version"}, line)
    print(f"{asked} lines compared")
    if len(shells) < 2:
        sys.exit(SKIP)


if __name__ == "__main__":
    main()
