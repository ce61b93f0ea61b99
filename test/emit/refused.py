#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""C++: a field of a type that POSIXTRACE_EVENT does not know is one error that says so; others
compile without any warning, also of casts in the style of C.

usage: refused.py INCLUDE COMPILER...
"""

import os
import re
import subprocess
import sys

HEAD = "#include <string>\n#include <posixtrace/emit.h>\nenum class kind : short { one };\n"
FINE = ["1", "std::string()", "kind::one", '"text"', "2.5L", "nullptr_of()"]
REFUSED = ["thing()", "number", "pair", "nullptr"]
BODY = """static const void *nullptr_of() { return nullptr; }
struct thing { int member; };
union both { int a; float b; };
int main()
{
    int *number = nullptr;
    both pair = { 1 };
    (void)number, (void)pair, (void)nullptr_of();
"""


def errors(field):
    include, *compiler = sys.argv[1:]
    source = f'{HEAD}{BODY}    POSIXTRACE_EVENT("name", 1, {field});\n}}\n'
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wold-style-cast", "-Werror"]
    done = subprocess.run([*compiler, "-std=c++11", *warnings, "-fsyntax-only", f"-I{include}",
                           "-x", "c++", "-"], input=source, text=True, capture_output=True,
                          check=False, env={**os.environ, "LC_ALL": "C"})
    if done.returncode and "error:" not in done.stderr:
        sys.exit(f"{compiler}: exit {done.returncode}: {done.stderr}")
    return re.findall(r"^.*error:.*$", done.stderr, flags=re.M)


def main():
    for field in FINE:
        if errors(field):
            sys.exit(f"{field}: {errors(field)}")
    for field in REFUSED:
        said = errors(field)
        if len(said) != 1 or "POSIXTRACE_EVENT: no type for a field" not in said[0]:
            sys.exit(f"{field}: {len(said)} errors: {said[:3]}")
    print(f"{len(FINE)} types known, {len(REFUSED)} refused")


if __name__ == "__main__":
    main()
