#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""QNX's interface from outside: what the example traces and what its parser finds.

usage: qnx_interface.py POSIXTRACE EXAMPLE
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

PARSED = """thread is running, 4 words
function entered: work
user event 7 (qnx:USER:7.string), 4 words: pressure 42 bar
user event 8 (qnx:USER:8.bytes), 6 words: 1 2 3 4 5 6
user event 9 (qnx:USER:9), 2 words: 9 1
user event 9 (qnx:USER:9), 2 words: 9 3
function left: work
cycles a second: 1000000000
"""
# In another process the function is at another place.
AGAIN = PARSED.replace(': work', '')


def run(*arguments, **more):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=60,
                          check=False, **more)


def same(what, got, wanted):
    if got != wanted:
        sys.exit(f'{what}: {got!r}\nwanted: {wanted!r}')


def fields_of(posixtrace, log):
    """{event: [fields]} as jsonl has them."""
    made = run(posixtrace, 'export', '--to=jsonl', log, '-')
    same('export', made.returncode, 0)
    found = {}
    for line in made.stdout.splitlines():
        event = json.loads(line)
        if event['event'].startswith('qnx:'):
            found.setdefault(event['event'], []).append(event['fields'])
    return found


def main():
    posixtrace, example = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / 'qnx.ptl'
        ran = run(example, log)
        same('example', (ran.returncode, ran.stdout, ran.stderr), (0, PARSED, ''))
        same('parsed again', re.sub(': work', '', run(example, '-p', log).stdout), AGAIN)
        with open(log, 'rb') as data:
            same('from a file as input', re.sub(': work', '', run(example, '-p', '-',
                 stdin=data).stdout), AGAIN)

        found = fields_of(posixtrace, log)
        same('text', found['qnx:USER:7.string'][0]['text'], 'pressure 42 bar')
        same('handler', [f['d1'] for f in found['qnx:USER:9']], [1, 3])
        same('masked', [e for e in found if e.startswith('qnx:USER:10')], [])
        same('state', len(found['qnx:THREAD:RUNNING.wide']), 1)
        same('name', found['qnx:PROCESS:CREATE_NAME'][0]['name'], pathlib.Path(example).name[:15])

        # Without a command: what another process records of it.
        other = pathlib.Path(folder) / 'recorded.ptl'
        own = pathlib.Path(folder) / 'own.ptl'
        same('record', run(posixtrace, 'record', '-o', other, '--', example, own).returncode, 0)
        same('recorded', run(example, '-p', other).stdout.count('user event'), 4)

        kev = pathlib.Path(folder) / 'qnx.kev'
        if run(posixtrace, 'export', '--to=kev', log, kev).returncode == 0:
            same('kev', re.sub(': work', '', run(example, '-p', kev).stdout), AGAIN)
        else:
            print('kev: this build has no such format; parsing it is not tested')
            kev.write_text('TRACE_HEADER_BEGIN::')
            refused = run(example, '-p', kev)
            same('refused', (refused.returncode, "no format 'kev'" in refused.stderr), (1, True))
        nothing = run(example, '-p', pathlib.Path(folder) / 'nothing')
        same('no file', (nothing.returncode, 'No such file' in nothing.stderr), (1, True))


if __name__ == '__main__':
    main()
