#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Builds the C programs of the manual pages against the shared libraries and
runs them: each has to exit with 0.  Each is linked with the libraries
whose headers it includes only, as a reader of fields must be possible without the analysis
library's dependencies.

Usage: run_examples.py SOURCE_ROOT LIBRARY COMPAT_LIBRARY ANALYSIS_LIBRARY COMPILER...

They run in one empty folder, the one of posix_trace_create(3) first: it leaves
job.ptl, the log that programs which want one (argc != 2) are given.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import manual  # noqa: E402  the reader of pages

COMPAT = re.compile(r'<posixtrace/(qnx|rkh|shark)\.h>')
READERS = re.compile(r'<posixtrace/(format|metrics|report|why|ada_metrics)\.h>|posixtrace_(qnx_parse|rkh_(open|get|close))')
LOG = 'job.ptl'
MAKES_LOG = 'posix_trace_create.3'
SECONDS = 60


def build(compiler, root, libraries, text, folder, name):
    source, program = folder / f'{name}.c', folder / name
    source.write_text(text)
    subprocess.run([*compiler, '-std=gnu11', f'-I{root}/include', '-o', str(program), str(source),
                    *map(str, libraries), *(f'-Wl,-rpath,{l.parent}' for l in libraries),
                    '-pthread'], check=True)
    return program


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[5:]
    libraries = [pathlib.Path(library).resolve() for library in sys.argv[2:5]]
    examples = [(page, text) for page in manual.pages(root) for _, text in page.programs()]
    examples.sort(key=lambda example: example[0].title != MAKES_LOG)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (page, text) in enumerate(examples):
            wanted = [libraries[0], *(library for library, sign in
                                      zip(libraries[1:], (COMPAT, READERS)) if sign.search(text))]
            program = build(compiler, root, wanted, text, folder, f'example{number}')
            arguments = [LOG] if 'argc != 2' in text else []
            run = subprocess.run([program, *arguments], cwd=folder, timeout=SECONDS,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 errors='replace')
            if run.returncode != 0:
                print(f'{page.title}: exit status {run.returncode}\n{run.stdout}')
                failures += 1
    if not examples:
        failures += 1
    print(f'{len(examples)} examples run, {failures} failed')
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
