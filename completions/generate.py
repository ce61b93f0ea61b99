#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Makes the completion for fish or zsh of the tables in that for bash.

usage: generate.py fish|zsh BASH_COMPLETION OUTPUT
"""

import pathlib
import shlex
import subprocess
import sys

HEAD = """# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# Made by completions/generate.py of the completion for bash.

"""


class Tables:
    """What the functions of the completion for bash say."""

    def __init__(self, script):
        self.script = script
        self.verbs = self.ask("verbs").split()
        self.options = {verb: self.ask("options", verb).split() for verb in self.verbs}

        self.more = {verb: self.ask("more", verb) for verb in self.verbs}

    def ask(self, table, *arguments):
        program = f'source "{self.script}"; _posixtrace_{table} "$@"'
        return subprocess.run(["bash", "-c", program, "bash", *arguments, ""], check=True,
                              capture_output=True, text=True).stdout.strip()

    def rows(self, verb):
        """(option or "", values, command, kind) of each option and of the operands."""
        for option in [""] + [word.rstrip("=") for word in self.options[verb]]:
            yield (option, self.ask("values", verb, option), self.ask("command", verb, option),
                   self.ask("kind", verb, option))


FISH_KINDS = {"any": "(__fish_complete_path)", "folders": "(__fish_complete_directories)",
              "commands": "(__fish_complete_command)"}


def fish_quoted(text):
    """Between single quotes only these two are special."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_offer(values, command, kind):
    if command:
        command = f"(sh -c {fish_quoted(command)} sh (commandline -opc))"
    if kind:
        kind = FISH_KINDS.get(kind, f"(__fish_complete_suffix .{kind})")
    return " ".join(filter(None, (values, command, kind)))


def fish(tables):
    verbs = " ".join(tables.verbs)
    yield "complete -c posixtrace -f"
    yield f"complete -c posixtrace -n __fish_is_first_arg -a '{verbs} help'"
    yield "complete -c posixtrace -n __fish_is_first_arg -l help"
    yield "complete -c posixtrace -n __fish_is_first_arg -l version"
    yield f"complete -c posixtrace -n '__fish_seen_subcommand_from help' -a '{verbs}'"
    for verb in tables.verbs:
        if tables.more[verb]:
            yield (f"complete -c posixtrace -n '__fish_seen_subcommand_from {verb}' "
                   f"-a {fish_quoted(fish_offer('', tables.more[verb], ''))}")
        for option, *what in tables.rows(verb):
            front = f"complete -c posixtrace -n '__fish_seen_subcommand_from {verb}"
            # not as the value of an option that may have one
            front += "'" if option else '; and not string match -q -- "--*=*" (commandline -ct)\''
            offer = fish_offer(*what)
            name = f" -l {option[2:]}" if option else ""
            if option + "=" in tables.options[verb]:
                name += " -x" + (" -s o" if option == "--output" else "")
            if option or offer:
                yield front + name + (f" -a {fish_quoted(offer)}" if offer else "")


ZSH = """#compdef posixtrace
{head}_posixtrace() {{
    local verb=$words[2] option= cur=$words[CURRENT] previous=$words[CURRENT-1]
    if (( CURRENT == 2 )); then
        compadd -- {verbs} help --help --version
        return
    elif [[ $verb == help ]]; then
        compadd -- {verbs}
        return
    fi
    if [[ $cur == --*=* ]]; then
        option=${{cur%%=*}}
        compset -P '*='
    elif [[ $previous == -o ]]; then
        option=--output
    else
        case $verb$previous in
            {valued}) option=$previous ;;
        esac
    fi
    if [[ -z $option && $cur == -* ]]; then
        case $verb in
{options}
        esac
        return
    fi
    case $verb$option in
{rows}
    esac
}}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _posixtrace "$@"
else
    compdef _posixtrace posixtrace
fi"""

ZSH_KINDS = {"any": "_files", "folders": "_files -/", "commands": "_command_names -e"}


def zsh_offer(values, command, kind, how=""):
    if values:
        yield f"compadd -- {values}"
    if command:
        yield f'compadd {how}-- ${{(f)"$(sh -c {shlex.quote(command)} sh $words)"}}'
    if kind:
        yield ZSH_KINDS.get(kind, f"_files -g '*.{kind}'")


def zsh(tables):
    valued, options, rows = [], [], []
    for verb in tables.verbs:
        plain = [word for word in tables.options[verb] if not word.endswith("=")]
        equal = [word for word in tables.options[verb] if word.endswith("=")]
        valued += [verb + word[:-1] for word in equal]
        options.append(f"            {verb})")
        if equal:
            options.append(f"                compadd -S '' -- {' '.join(equal)}")
        if tables.more[verb]:
            options.append("                " + next(zsh_offer("", tables.more[verb], "", "-S '' ")))
        options.append(f"                compadd -- {' '.join(plain)} ;;")
        for option, *what in tables.rows(verb):
            if any(what):
                rows.append(f"        {verb}{option}) " + "; ".join(zsh_offer(*what)) + " ;;")
    yield ZSH.format(head=HEAD, verbs=" ".join(tables.verbs), valued=" | ".join(valued),
                     options="\n".join(options), rows="\n".join(rows))


def main():
    shell, script, output = sys.argv[1:]
    tables = Tables(pathlib.Path(script).resolve())
    text = "\n".join((fish if shell == "fish" else zsh)(tables)) + "\n"
    pathlib.Path(output).write_text((HEAD if shell == "fish" else "") + text, encoding="utf-8")


if __name__ == "__main__":
    main()
