#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Makes a C source of the files of the page: skeleton, style and scripts in one text, cut where data goes.

usage: embed.py FOLDER OUTPUT DEPFILE VERSION
"""

import base64
import hashlib
import pathlib
import re
import sys

MARKS = ["{{attributes}}", "{{title}}", "{{head}}", "{{first}}", "{{blocks}}"]
LINE = 60


def read(folder, name):
    return (folder / name).read_text(encoding="utf-8")


def scripts(folder):
    names = [line.strip() for line in read(folder, "order.txt").splitlines()]
    return [name for name in names if name and not name.startswith("#")]


def stripped(text):
    """Without comments that begin a line and blanks at the beginning of lines: two thirds of the size.
    No text of the scripts goes over several lines."""
    rest = re.sub(r'^ *(/\*.*?\*/|//[^\n]*)\n', '', text, flags=re.S | re.M)
    return "".join(line.strip() + "\n" for line in rest.split("\n") if line.strip())


def policy(script, style):
    source = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
    return (f"default-src 'none'; script-src {source(script)}; style-src {source(style)}; "
            "img-src data: blob:")


def check(name, text):
    for bad in ("</script", "</style", "<!--", "{{"):
        if bad in text.lower():
            sys.exit(f"embed.py: {name} has {bad}, which ends its element or is a mark of the skeleton")


def page(folder):
    """The skeleton with style, script and policy."""
    style = stripped(read(folder, "style.css"))
    script = "".join(stripped(read(folder, name)) for name in scripts(folder))
    check("style.css", style)
    check("a script", script)
    text = read(folder, "page.html")
    for mark, value in (("{{csp}}", policy(script, style)), ("{{style}}", style), ("{{script}}", script)):
        if text.count(mark) != 1:
            sys.exit(f"embed.py: page.html has {mark} {text.count(mark)} times, not once")
        text = text.replace(mark, value)
    return text


def pieces(text):
    found = []
    for mark in MARKS:
        if text.count(mark) != 1:
            sys.exit(f"embed.py: page.html has {mark} {text.count(mark)} times, or not in its place")
        before, text = text.split(mark)
        found.append(before)
    return [*found, text]


def literal(data):
    """The bytes as lines of a C array: strings of that length are beyond the limits of C."""
    lines = [",".join(map(str, data[i:i + LINE])) for i in range(0, len(data), LINE)]
    return ",\n".join(lines) + ",0"


def source(parts, version):
    out = ["/* Made by embed.py. */", '#include "analysis/html/html_web.h"', "",
           f'const char pt_html_version[] = "{version}";']
    data = [part.encode("utf-8") for part in parts]
    for i, part in enumerate(data):
        out.append(f"static const unsigned char piece_{i}[] = {{\n{literal(part) if part else '0'}\n}};")
    out.append("const struct pt_html_piece pt_html_pieces[PT_HTML_PIECES] = {")
    out += [f"    {{ (const char *)piece_{i}, {len(part)} }}," for i, part in enumerate(data)]
    out.append("};")
    return "\n".join(out) + "\n"


def main():
    folder, output, depfile = map(pathlib.Path, sys.argv[1:4])
    output.write_text(source(pieces(page(folder)), sys.argv[4]), encoding="utf-8")
    names = ["page.html", "style.css", "order.txt", *scripts(folder)]
    depfile.write_text(f"{output}: " + " ".join(str(folder / name) for name in names) + "\n",
                       encoding="utf-8")


if __name__ == "__main__":
    main()
