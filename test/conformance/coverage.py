#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# Which conformance assertion has which test.  The assertions are numbered 1 to
# 264 in groups A to M; a test is START_TEST(test_NNN_words) in group_*.c, added
# with tcase_add_test() or th_add_fresh().  coverage.txt lists every number:
#
#     NNN file.c test_NNN_words
#     NNN: reason              no such test, and why
#
#   coverage.py           fails when coverage.txt and the tests disagree
#   coverage.py --write   rewrites the lines of the tests, keeps the reasons

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / 'coverage.txt'
NUMBERS = range(1, 265)


def tests_by_number(problems):
    found = {}
    for path in sorted(HERE.glob('group_*.c')):
        text = path.read_text()
        defined = re.findall(r'^START_TEST\((\w+)\)', text, re.M)
        added = re.findall(r'(?:tcase_add_test|th_add_fresh)\(tc, (\w+)\)', text)
        for name in defined:
            match = re.fullmatch(r'test_(\d{3})_\w+', name)
            if not match:
                problems.append(f'{path.name}: {name} has no number')
                continue
            if added.count(name) != 1:
                problems.append(f'{path.name}: {name} is registered {added.count(name)} times')
            if int(match[1]) in found:
                problems.append(f'{path.name}: {name} repeats a number')
            found[int(match[1])] = f'{match[1]} {path.name} {name}'
    return found


def reasons():
    found = {}
    for line in LIST.read_text().splitlines() if LIST.exists() else []:
        match = re.fullmatch(r'(\d{3}): (.+)', line)
        if match:
            found[int(match[1])] = line
    return found


def main():
    problems = []
    tests, left_out = tests_by_number(problems), reasons()
    for number in NUMBERS:
        if (number in tests) == (number in left_out):
            problems.append(f'{number:03}: ' + ('a test and a reason for having none'
                            if number in tests else 'neither a test nor a reason'))
    problems += [f'{n:03}: no such assertion' for n in tests.keys() | left_out.keys()
                 if n not in NUMBERS]
    text = ''.join(line + '\n' for _, line in sorted({**left_out, **tests}.items()))
    if '--write' in sys.argv[1:]:
        LIST.write_text(text)
    elif not LIST.exists() or LIST.read_text() != text:
        problems.append('coverage.txt is not what coverage.py --write makes')
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f'{len(tests)} of {len(NUMBERS)} assertions have a test')
    return 1 if problems else 0


sys.exit(main())
