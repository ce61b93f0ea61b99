#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Has spin check a model exhaustively, in every scenario of a list, and shows
that the check can fail: with one protection taken away (-DWITHOUT_x) the
guarantee that it upholds must be found violated.

A guarantee has a name in capitals, which stands in its assertion in the model:
a violation is known by it.

usage: run.py MODEL.pml CASES.txt [WORD...]    only cases that contain a WORD
Each line of CASES: holds|breaks GUARANTEE|- -DOPTION...
Exit status: 0 as expected, 1 not, 77 spin or gcc is missing.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

COMPILE = ['gcc', '-O1', '-w', '-DSAFETY', '-DCOLLAPSE', '-DNOFAIR', '-DVECTORSZ=2048',
           '-DMEMLIM=4000', '-o', 'pan', 'pan.c']
RUN = ['./pan', '-m1000000', '-w20']


def read_cases(path):
    """(expectation, guarantee, options) of each line."""
    for line in path.read_text().splitlines():
        words = line.split('#')[0].split()
        if words:
            yield words[0], words[1], words[2:]


def explore(model, options):
    """pan's report on the model with these options."""
    with tempfile.TemporaryDirectory(prefix='posixtrace-model.') as folder:
        made = subprocess.run(['spin', '-a', *options, str(model)], cwd=folder,
                              capture_output=True, text=True, check=False)
        if made.returncode or 'rror' in made.stdout:
            sys.exit(f'spin: {model}: {made.stdout}{made.stderr}')
        subprocess.run(COMPILE, cwd=folder, check=True)
        return subprocess.run(RUN, cwd=folder, capture_output=True, text=True,
                              check=False).stdout


def verdict(report):
    """'holds', the name of the violated guarantee, or what else went wrong."""
    violated = re.search(r'assertion violated (.*)', report)
    if violated:
        named = re.search(r'\b([A-Z][A-Z_]{2,})\b', violated.group(1))
        return named.group(1) if named else violated.group(1)
    if re.search(r'^pan:\d+: invalid end state', report, re.M):
        return 'STUCK'
    # Anything that would make the search less than exhaustive.
    for bad in ('search depth too small', 'Search not completed', 'aborting', 'out of memory'):
        if bad in report:
            return f'not exhaustive: {bad}'
    return 'holds' if re.search(r'errors: 0$', report, re.M) else 'no verdict:\n' + report


def main():
    model, cases = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    for tool in ('spin', 'gcc'):
        if not shutil.which(tool):
            print(f'skipped: {tool} is not installed')
            return 77
    wrong = ran = 0
    for expected, guarantee, options in read_cases(cases):
        if sys.argv[3:] and not any(w in ' '.join(options) for w in sys.argv[3:]):
            continue
        started = time.monotonic()
        report = explore(model, options)
        found = verdict(report)
        states = re.search(r'(\S+) states, stored', report)
        right = found == ('holds' if expected == 'holds' else guarantee)
        wrong += not right
        ran += 1
        print(f'{"ok " if right else "NOT"} {expected} {guarantee} {" ".join(options)}: {found}, '
              f'{states.group(1) if states else "?"} states, {time.monotonic() - started:.1f} s',
              flush=True)
    print(f'{ran} cases, {wrong} not as expected')
    return 1 if wrong or not ran else 0


sys.exit(main())
