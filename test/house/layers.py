#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Compares every #include line of the project with the layer table of the house.

The table says what each folder may include of this project; system headers are
free.  Public headers (<trace.h>, <posixtrace/...>) are allowed everywhere,
except that a public header itself includes public headers only.  An include inside
lib/ or tools/ is the path from there.  Atomic builtins are looked for on the way, because
they too belong to one file alone; and a folder of lib or tools has at most 30
files.  The parts of a consumer are separate: the table PARTS.

usage: layers.py SOURCE_ROOT
"""

import pathlib
import re
import sys

# What a layer sees below itself.  directory and source are siblings and do
# not see each other; analysis, tools and examples stand above the public line and see no
# layer below it but lib/text, whose objects are in both, and the assertions.  A format sees what formats share, not
# another format.
MEMORY = ["base", "model", "place", "shm"]
LOG = ["log", "log/reader", "log/writer"]
STREAM = [*MEMORY, "page", *LOG, "process", "writer", "consumer", "stream"]
CONTROL = [*STREAM, "flush", "control", "directory", "source"]
BELOW = {
    "lib/base": [],
    "lib/model": ["base"],
    "lib/place": ["base"],
    "lib/shm": ["base", "model", "place"],
    "lib/page": MEMORY,
    "lib/log": MEMORY,
    "lib/log/reader": [*MEMORY, "log"],
    "lib/log/writer": [*MEMORY, "log", "log/reader"],
    "lib/process": [*MEMORY, "page"],
    "lib/mapping": [*MEMORY, "page", "process"],
    "lib/writer": [*MEMORY, "page", "process"],
    "lib/consumer": [*MEMORY, "page", *LOG, "process"],
    "lib/stream": [*MEMORY, "page", *LOG, "process", "writer", "consumer"],
    "lib/flush": STREAM,
    "lib/control": [*STREAM, "flush"],
    "lib/directory": [*MEMORY, "page", *LOG, "process", "consumer"],
    "lib/source": [*STREAM, "flush"],
    "lib/startup": CONTROL,
    "lib/api": [*CONTROL, "startup", "mapping"],
    "lib/preload": [],
    "lib/text": [],
    "lib/compat/common": [],
    "lib/compat/qnx": ["compat/common"],
    "lib/compat/shark": ["compat/common"],
    "lib/compat/rkh": [],
    "lib/analysis/format/common": ["text"],
    "lib/analysis/format/timeline": ["text", "analysis/format/common"],
    "lib/analysis/format/btf": ["text", "analysis/format/common"],
    "lib/analysis/format/chrome": ["text", "analysis/format/common", "analysis/format/timeline"],
    "lib/analysis/format/csv_json": ["text", "analysis/format/common"],
    "lib/analysis/format/ctf": ["text", "analysis/format/common"],
    "lib/analysis/format/folded": ["text", "analysis/format/common"],
    "lib/analysis/format/kiwi": ["text", "analysis/format/common"],
    "lib/analysis/format/otlp": ["text", "analysis/format/common", "analysis/format/timeline"],
    "lib/analysis/format/parquet": ["text", "analysis/format/common", "analysis/tables"],
    "lib/analysis/format/perfetto": ["text", "analysis/format/common", "analysis/format/timeline"],
    "lib/analysis/format/qnx": ["text", "compat/qnx", "analysis/format/common"],
    "lib/analysis/format/qnx_parser": ["text", "compat/qnx", "analysis/format/common"],
    "lib/analysis/format/rkh": ["text", "compat/rkh", "analysis/format/common"],
    "lib/analysis/format/shark": ["text", "compat/shark", "analysis/format/common"],
    "lib/analysis/format/tree": ["text", "analysis/format/common", "analysis/format/timeline"],
    "lib/analysis/format": ["text", "analysis/format/common"],
    "lib/analysis/metrics/language": ["text"],
    "lib/analysis/metrics/engine": ["analysis/metrics/language"],
    "lib/analysis/metrics/run": ["analysis/metrics/language", "analysis/metrics/engine"],
    # Reads events and bounds gaps as metrics do; statistics by the public header.
    "lib/analysis/report": ["text", "analysis/metrics/engine", "analysis/metrics/run"],
    # Makes a page of all of them.
    "lib/analysis/html": ["text", "analysis/format/common", "analysis/format/timeline", "analysis/report",
                          "analysis/metrics/engine", "analysis/metrics/run"],
    "lib/analysis/symbols": [],
    # Rows of what the others compute.
    "lib/analysis/tables": ["text", "analysis/format/common", "analysis/metrics/language", "analysis/metrics/engine", "analysis/metrics/run", "analysis/report"],
    "lib/analysis/jobs": ["analysis/metrics/language", "analysis/metrics/engine", "analysis/metrics/run",
                          "analysis/report"],
    "lib/analysis/pair": ["analysis/metrics/language", "analysis/metrics/engine", "analysis/metrics/run"],
    "lib/analysis/sync": ["text"],
    "lib/analysis/why": ["text", "analysis/metrics/language", "analysis/metrics/engine", "analysis/metrics/run",
                         "analysis/report"],
    "lib/analysis/native": ["text", "analysis/tables"],
    "tools/common": [],
    "tools/system": ["common"],
    "tools/apart": ["common"],
    "tools/clocks": ["common"],
    "tools/input": ["common", "clocks", "apart"],
    "tools/control": ["common", "system", "apart", "input"],
    "tools/print": ["common", "clocks", "input"],
    "tools/log": ["common", "input"],
    "tools/record": ["common", "system", "apart", "input"],
    "tools/doctor": ["common", "system"],
    "tools/selftest": ["common", "system"],
    "tools/measure": ["common", "clocks", "input"],
    "tools/jobs": ["common", "input", "measure"],
    "tools/metrics": ["common", "clocks", "input", "measure", "jobs"],
    "tools/rta": ["common", "input", "measure", "jobs", "metrics"],
    "tools/report": ["common", "clocks", "system", "input", "why"],
    "tools/why": ["common", "input"],
    "tools/load": ["common", "input"],
    "tools/sync": ["common", "system", "input"],
    "tools/top": ["common", "system", "apart", "input"],
    "tools/convert": ["common", "clocks", "system", "input", "measure"],
    "tools": ["common", "system"],
    "examples": [],
    "include": [],
}
# The parts of a consumer: each knows its own structure, and of the others at most these.
PARTS = {
    "lib/consumer/window": [],
    "lib/consumer/cursor": ["window"],
    "lib/consumer/auto_stop": ["window"],
    "lib/consumer/loss_mark": [],
    "lib/consumer/accounting": ["checkpoint"],
    "lib/consumer/checkpoint": ["accounting", "loss_mark"],
}
LAYERS = {name[len("lib/"):] for name in BELOW if name.startswith("lib/")}
MOST_FILES = 30
LEAF = "text"
ASSERTIONS = "base/assert.h"    # includes nothing, and leaves nothing in an installed library
ATOMICS_HOME = "lib/base/atomics.h"
ATOMICS_ELSEWHERE = (
    "include/posixtrace/emit.h",     # a macro in the program's own code cannot include that one
    "lib/preload/descriptors.c",     # nor can
    "lib/compat/common/word.h",      # nor can what stands above the public line
)

INCLUDE = re.compile(r'^\s*#\s*include(?:_next)?\b\s*(.*)$', re.M)
TARGET = re.compile(r'([<"])([^>"]+)[>"]')
ATOMIC = re.compile(r'\b(__atomic_\w+|__sync_\w+|_Atomic|atomic_(?:load|store|fetch|exchange|'
                    r'compare|init|flag|thread|signal)\w*|stdatomic\.h)\b')


def strip_comments(text):
    """Blanks comments and keeps the line structure."""
    blank = lambda m: re.sub(r'[^\n]', ' ', m.group(0)) if m.group(0)[0] == '/' else m.group(0)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def folder_of(path):
    """The row of the table that a file falls under: its folder, or for include and examples the top."""
    folder, top = path.rpartition("/")[0], path.split("/")[0]
    if folder in BELOW:
        return folder
    return top if top in ("include", "examples") else None


def is_public(target):
    return target == "trace.h" or target.startswith("posixtrace/")


def judge(path, kind, target, exists):
    """Why path may not include target; None if it may."""
    home = folder_of(path)
    if home is None:
        return "the file is in no layer of the table"
    if is_public(target):
        return None
    if kind == "<":
        private = target.rpartition("/")[0] in LAYERS
        return "a layer's header is included as a system header" if private else None
    # Beside it, where a program has a trace.h of its own that <trace.h> would find.
    if home == "include" and target == "../trace.h" and path.startswith("include/posixtrace/"):
        return None
    if home == "include":
        return "a public header includes a private one"
    if home == "examples":
        return None if exists(f"{home}/{target}") else "not a public header, not one of its own"
    top, _, own = home.partition("/")
    layer = target.rpartition("/")[0]
    if top == "tools" and layer == LEAF:
        return None if exists(f"lib/{target}") else "no such file"
    if f"{top}/{layer}" not in BELOW:
        return f'an include inside {top}/ has the form "layer/file.h"'
    part, other = path.rpartition(".")[0], target.rpartition("/")[2].rpartition(".")[0]
    if layer == own and part in PARTS and f"{home}/{other}" != part and other not in PARTS[part]:
        return f"{part} is a part that knows no {other}"
    if top == "lib" and target == ASSERTIONS:
        return None
    if layer == own or layer in BELOW[home]:
        return None if exists(f"{top}/{target}") else "no such file"
    return f"{own or top} does not stand above {layer}"


def crowded(paths):
    """Yields the folders that have too many files to be of one concern."""
    counts = {}
    for path in paths:
        folder = path.rpartition("/")[0]
        counts[folder] = counts.get(folder, 0) + 1
    for folder, number in sorted(counts.items()):
        if folder.startswith(("lib/", "tools/")) and number > MOST_FILES:
            yield f"{folder}: {number} source files, at most {MOST_FILES}: split it by concern"


def findings(files):
    """files: {path: text}.  Yields 'path:line: message'."""
    for path, text in sorted(files.items()):
        text = strip_comments(text)
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            target = TARGET.match(match.group(1))
            if not target:
                yield f"{path}:{line}: #include of a macro hides what is included"
                continue
            why = judge(path, target.group(1), target.group(2), lambda p: p in files)
            if why:
                yield f"{path}:{line}: #include {match.group(1).strip()}: {why}"
        if path != ATOMICS_HOME and path not in ATOMICS_ELSEWHERE:
            for match in ATOMIC.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: {match.group(0)} outside of {ATOMICS_HOME}"


def self_check():
    """The rules must catch each of these, or the test means nothing."""
    good = {"lib/base/a.h": "#include <stdint.h>\n", "lib/shm/r.h": '#include "base/a.h"\n',
            "include/trace.h": "#include <time.h>\n", "tools/common/x.h": "",
            "lib/base/assert.h": "", "lib/analysis/metrics/run/r.c": '#include "base/assert.h"\n',
            "lib/text/t.h": "", "tools/common/u.c": '#include "text/t.h"\n',
            "lib/analysis/format/common/f.h": "", "lib/analysis/format/ctf/c.h":
            '#include "analysis/format/common/f.h"\n',
            "tools/print/m.c": '#include <trace.h>\n#include "common/x.h"\n/* #include "shm/r.h" */\n'}
    bad = {"lib/base/b.c": '#include "shm/r.h"\n', "lib/model/m.c": '#include "a.h"\n',
           "tools/t.c": '#include "shm/r.h"\n', "tools/common/y.c": '#include "print/p.h"\n',
           "tools/common/z.c": '#include "x.h"\n', "tools/new/n.c": "#include <stdio.h>\n",
           "lib/directory/p.c": '#include "source/s.h"\n',
           "lib/analysis/metrics/run/m.c": '#include "base/a.h"\n',
           "lib/shm/t.c": '#include "text/t.h"\n', "lib/text/u.h": '#include "base/a.h"\n',
           "lib/analysis/format/btf/b.c": '#include "analysis/format/ctf/c.h"\n',
           "lib/analysis/format/common/c.c": '#include "analysis/format/ctf/c.h"\n',
           "lib/analysis/format/ctf/d.c": '#include "ctf/c.h"\n',
           "lib/analysis/format/other/n.c": "#include <stdio.h>\n",
           "lib/log/l.c": "#include NAME\n",
           "lib/consumer/cursor.c": '#include "consumer/accounting.h"\n',
           "lib/consumer/window.h": '#include "consumer/cursor.h"\n',
           "include/posixtrace/e.h": '#include "base/a.h"\n', "lib/new/n.c": "#include <stdio.h>\n",
           "lib/log/reader/r.c": '#include "log/writer/w.h"\n',
           "lib/log/f.c": '#include "log/reader/r.h"\n',
           "lib/shm/s.c": "#  include <stdatomic.h>\n", "lib/shm/q.c": "#include <base/a.h>\n"}
    assert list(findings(good)) == [], list(findings(good))
    for path, text in bad.items():
        assert list(findings({**good, path: text})), f"{path} passed: {text}"
    full = [f"lib/analysis/format/ctf/{n}.c" for n in range(MOST_FILES)]
    assert not list(crowded(full)) and list(crowded(full + ["lib/analysis/format/ctf/c.h"]))


def main():
    self_check()
    root = pathlib.Path(sys.argv[1])
    files = {}
    for top in ("include", "lib", "tools", "examples"):
        for path in (root / top).rglob("*.[ch]"):
            files[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
    if not any(path.startswith("lib/") for path in files):
        sys.exit(f"layers.py: no sources under {root}/lib")
    found = [*findings(files), *crowded(files)]
    print("\n".join(found) if found else f"{len(files)} files keep to the layers")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
