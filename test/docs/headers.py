#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Each function of the public headers says what a caller has to know, in the comment before it
or in the one at the top of its header:

- results: one of type int names its errors, or the values that it returns;
- ownership: one that returns or stores a pointer says whose the object is;
- units: an argument that is a time, a length or another quantity has its unit in its name or
  in a comment;
- safety: whether threads and signal handlers may call it.

A comment before several declarations without a comment between them is about all of them.
<trace.h> is the standard's, which has these statements.

usage: headers.py INCLUDE_FOLDER
"""

import pathlib
import re
import sys

COMMENT = re.compile(r'/\*.*?\*/', re.S)
FUNCTION = re.compile(r'^(?:__attribute__\(\(.*?\)\)\)? +)?((?:const )?(?:struct )?[a-z_]\w*(?: \w+)?[ *]+)'
                      r'(posixtrace_\w+)\(([^;{}]*)\)\s*;', re.M | re.S)
RESULT = re.compile(r'\bE[A-Z0-9]{3,}\b|\b(?:[Rr]eturn|result)|(?:^|[\s(])-?[01]\b(?=[\s,:;.])|\b[Aa]lways 0\b|'
                    r'\bas (?:TraceEvent|posix)\w*\(')
OWNER = re.compile(r'belong|\bfree|caller|constant|\bgood\b|valid|lives?\b|until|keeps?\b|NULL')
UNIT = re.compile(r'\b(?:ns|nanoseconds?|us|ms|s|seconds?|bytes?|percent|per cent|events?|number|of 100|'
                  r'words|codes?|ids?|masks?|offset|values?|index)\b')
QUANTITY = re.compile(r'^(?:u?int64_t|double|float|size_t|struct timespec)\b')
NAMED = re.compile(r'_?(?:ns|bytes|size|len|length|count|room|most|n|i|index|events?|words|room|object|key|'
                   r'fields|clock|id|line|cpu|value|address)$')
THREADS = re.compile(r'[Tt]hread')
SIGNALS = re.compile(r'signal-safe|signal handler')


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group(0))


def declarations(text):
    """(name, type, arguments, comment) of each function."""
    bare = COMMENT.sub(blank, text)
    bare = re.sub(r'^#(?:.*\\\n)*.*$', blank, bare, flags=re.M)
    bare = re.sub(r'extern "C" \{', blank, bare)
    items = [(m.start(), m) for m in FUNCTION.finditer(bare)]
    items += [(m.start(), m.group(0)) for m in COMMENT.finditer(text)
              if "\n" not in text[m.start():m.end()] or text[:m.start()].endswith("\n")]
    group, after = [], False
    for position, item in sorted(items, key=lambda item: item[0]):
        if isinstance(item, str):
            line = text.rfind("\n", 0, position) + 1
            if text[line:position].strip():          # beside a declaration: about that one too
                group.append(item)
                continue
            group = [item] if after else [*group, item]
            after = False
        else:
            end = text.find("\n", item.end())
            beside = COMMENT.findall(text[item.end():end])
            yield item.group(2), item.group(1).strip(), " ".join(item.group(3).split()), \
                " ".join(group + beside)
            after = True


def missing(kind, arguments, comment, essay):
    """What the function does not say."""
    both = comment + essay
    if kind == "int" and not RESULT.search(comment) and "errno" not in essay:
        yield "errors"
    gives = "*" in kind or re.search(r'(?<!const )\b\w+ \*\*\w', arguments)
    if gives and not OWNER.search(both):
        yield "ownership"
    for argument in arguments.split(", "):
        name = re.search(r'(\w+)(?:\[.*\])?$', argument)
        if QUANTITY.match(argument) and not NAMED.search(name.group(1)) and not UNIT.search(both):
            yield f"the unit of {name.group(1)}"
    if not THREADS.search(both):
        yield "thread safety"
    if not SIGNALS.search(both):
        yield "signal safety"


def findings(text):
    essay = next(c for c in COMMENT.findall(text) if "SPDX" not in c)
    for name, kind, arguments, comment in declarations(text):
        comment = comment.replace(essay, "")
        for what in missing(kind, arguments, comment, essay):
            yield name, what


def self_check():
    """Each of the statements is missed where it is not there."""
    essay = "/* Thread-safe, not async-signal-safe.  Objects belong to the caller. */\n"
    good = essay + "/* EINVAL: no stream */\nint posixtrace_a(trace_id_t trid, int64_t ns);\n"
    assert list(findings(good)) == [], list(findings(good))
    bad = [good.replace("EINVAL: no stream", "It does this"), good.replace("Thread-safe, ", ""),
           good.replace("async-signal-safe", "fast"), good.replace("int64_t ns", "int64_t most, double x")]
    bad.append(essay.replace("belong to the caller", "are there") +
               "const char *posixtrace_b(trace_id_t trid);\n")
    for text in bad:
        assert list(findings(text)), text


def main():
    self_check()
    functions, wrong = 0, []
    for path in sorted(pathlib.Path(sys.argv[1]).glob("posixtrace/*.h")):
        text = path.read_text(encoding="utf-8")
        functions += len(list(declarations(text)))
        wrong += [f"{path.name}: {name} does not say: {what}" for name, what in findings(text)]
    print("\n".join(wrong))
    print(f"{functions} functions of the public headers, {len(wrong)} statements are missing")
    sys.exit(bool(wrong) or functions < 100)


if __name__ == "__main__":
    main()
