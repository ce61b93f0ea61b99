#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Makes C of the sets of metrics.

usage: embed.py OUTPUT SET...
"""

import pathlib
import sys


def literal(text):
    lines = text.split("\n")
    return "\n".join('        "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'
                     for line in lines[:-1])


def main():
    rows = []
    for name in sys.argv[2:]:
        path = pathlib.Path(name)
        rows.append(f'    {{ "{path.stem}",\n{literal(path.read_text(encoding="utf-8"))} }},')
    pathlib.Path(sys.argv[1]).write_text(
        '#include "analysis/metrics/language/set.h"\n\nconst struct pt_set_text pt_set_texts[] = {\n'
        + "\n".join(rows) + "\n    { 0, 0 }\n};\n", encoding="utf-8")


main()
