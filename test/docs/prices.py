#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The example of posixtrace_event_field(3): the page shows examples/prices.c, and the
program prints the field of each event that has it, whatever its kind.

usage: prices.py SOURCE_ROOT PRICES POSIXTRACE
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import manual  # noqa: E402  the reader of pages

EVENTS = [
    ('order', 'u32 id; f64 price; str symbol', '05000000' '000000000000f83f' '41424300'),
    ('plain', None, '0001'),
    ('other', 'u32 id', '05000000'),
    ('level', 'str symbol; i16 price', '414200' 'feff'),
    ('cut', 'u32 id; f64 price', '0500000000'),
]
PRINTED = 'order 1.5\nlevel -2\n'


def lines():
    for at, (name, description, data) in enumerate(EVENTS):
        event = {'ts': at + 1, 'event': name, 'data': data}
        if description:
            event['description'] = description
        yield json.dumps(event)


def main():
    root, prices, tool = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    page = manual.Page(root / 'man/man3/posixtrace_event_field.3')
    source = (root / 'examples/prices.c').read_text()
    shown = [text for _, text in page.programs()]
    if shown != [source[source.index('#include'):]]:
        sys.exit('posixtrace_event_field(3) does not show examples/prices.c')
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / 'prices.ptl'
        subprocess.run([tool, 'import', '--from=jsonl', '-', str(log)], check=True,
                       input='\n'.join(lines()) + '\n', text=True, capture_output=True)
        ran = subprocess.run([prices, str(log)], capture_output=True, text=True)
        if (ran.returncode, ran.stdout, ran.stderr) != (0, PRINTED, ''):
            sys.exit(f'printed {ran}, expected {PRINTED!r}')
        ran = subprocess.run([prices, str(root / 'meson.build')], capture_output=True, text=True)
        if ran.returncode != 1 or not ran.stderr.endswith(': not in the expected format\n'):
            sys.exit(f'of what is no log it says {ran}')


if __name__ == '__main__':
    main()
