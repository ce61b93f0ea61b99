#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Compares docs/conformance.md with what it talks of.

Usage: conformance.py SOURCE_ROOT

  - each reading R-1 to R-19 has one row, and each group A to M has one
  - each test file that it names exists, and each test_NNN function in them lies
    in the group in whose row the file stands
  - each program in test/conformance with such functions is named
  - each limit and constant in its tables has the value of the headers
"""

import pathlib
import re
import sys

READINGS = range(1, 20)
# The first assertion of each group; the last number ends group M.
GROUPS = dict(zip('ABCDEFGHIJKLM', (1, 15, 46, 71, 91, 123, 148, 163, 187, 194, 230, 237, 256)))
LAST = 264
TEST = re.compile(r'\btest_(\d\d\d)_\w+')


def group_of(number):
    return [g for g, first in GROUPS.items() if first <= number][-1]


def check_rows(text):
    rows = re.findall(r'^\| (R-\d+) \|', text, re.M)
    if rows != [f'R-{n}' for n in READINGS]:
        yield f'rows of readings are {rows}'
    groups = re.findall(r'^\| ([A-M]) \|', text, re.M)
    if groups != list(GROUPS):
        yield f'rows of groups are {groups}'


def check_files(root, text):
    for path in sorted(set(re.findall(r'`((?:test|docs|lib|include)/[^`*]+\.\w+)`', text))):
        if not (root / path).is_file():
            yield f'there is no {path}'
    named = {}
    for group, cells in re.findall(r'^\| ([A-M]) \|(.*)$', text, re.M):
        for path in re.findall(r'`(test/[^`]+\.c)`', cells):
            named.setdefault(path, set()).add(group)
    there = sorted((root / 'test' / 'conformance').glob('*.c'))
    if not there:
        yield 'there is no test/conformance/*.c'
    for path in there:
        numbers = {int(n) for n in TEST.findall(path.read_text())}
        groups = named.get(str(path.relative_to(root)), set())
        for number in sorted(numbers):
            if not 1 <= number <= LAST:
                yield f'{path.name}: there is no assertion {number}'
            elif group_of(number) not in groups:
                yield f'{path.name}: has assertion {number}, not named in group {group_of(number)}'


def check_values(root, text):
    values = {}
    for header in ('include/trace.h', 'lib/model/attr.h', 'lib/model/event.h'):
        for name, value in re.findall(r'^#define (\w+)\s+("[^"]*"|\(?\d[\dxu<( )]*)',
                                      (root / header).read_text(), re.M):
            value = value.strip().replace('u', '') if not value.startswith('"') else value
            values[name] = value.strip('"') if value.startswith('"') else str(shifted(value))
    rows = re.findall(r'^\| `(\w+)` \| `([^`]+)` \|', text, re.M)
    if len(rows) < 8:
        yield 'no table of limits and defaults'
    for name, value in rows:
        if values.get(name) != value:
            yield f'{name}: {value} here, {values.get(name)} in the headers'


def shifted(text):
    left, _, right = text.strip('()').partition('<<')
    return int(left, 0) << int(right or '0', 0)


def main():
    root = pathlib.Path(sys.argv[1])
    text = (root / 'docs' / 'conformance.md').read_text()
    complaints = [*check_rows(text), *check_files(root, text), *check_values(root, text)]
    for complaint in complaints:
        print(f'docs/conformance.md: {complaint}')
    sys.exit(1 if complaints else 0)


if __name__ == '__main__':
    main()
