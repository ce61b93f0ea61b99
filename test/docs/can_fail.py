#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Shows that the rules of manual.py and conformance.py find mistakes: each one
is run on a copy of the tree in which its subject has been damaged, and has to
say something that it did not say about the tree as it is.

Usage: can_fail.py MANUAL_PY CONFORMANCE_PY SOURCE_ROOT COMPILER...
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
# rule, file, text to replace, its replacement
DAMAGES = [
    ('names', 'man/man3/posix_trace_start.3', '.Nm posix_trace_stop', '.Nm posix_trace_halt'),
    ('names', 'include/posixtrace/log.h', 'int posixtrace_log_check(int fd',
     'int posixtrace_log_other(int fd);\nint posixtrace_log_check(int fd'),
    ('synopsis', 'man/man3/posix_trace_flush.3', '.Fa "trace_id_t trid"', '.Fa "int trid"'),
    ('synopsis', 'man/man3/posix_trace_event.3', '.Ft void', '.Ft int'),
    ('synopsis', 'man/man3/posixtrace_seek.3', '.In posixtrace/event.h', '.In trace.h'),
    ('errors', 'man/man3/posix_trace_flush.3', '.It Bq Er ENOSPC', '.It Bq Er ENOSPACE'),
    ('errors', 'man/man3/posixtrace_prepare.3', '.It Bq Er ENOMEM', '.It Sy out of memory'),
    ('references', 'man/man3/posix_trace_start.3', '.Xr posix_trace_create 3',
     '.Xr posix_trace_make 3'),
    ('installed', 'man/meson.build', "'posix_trace_attr_destroy'", "'posix_trace_attr_kill'"),
    ('installed', 'man/meson.build', "    'man3/posix_trace_clear.3',\n", ''),
    ('lint', 'man/man3/posix_trace_clear.3', '.Sh ERRORS', '.El\n.Sh ERRORS'),
    ('lint', 'man/man3/posix_trace_clear.3', '.Sh ERRORS', '.Dl ' + 'x' * 80 + '\n.Sh ERRORS'),
    ('examples', 'man/man3/posix_trace_create.3', 'int error = posix_trace_create_withlog(0,',
     'int error = posix_trace_create_withlog('),
    ('conformance', 'docs/conformance.md', '| R-7 |', '| R-70 |'),
    ('conformance', 'docs/conformance.md', '| K |', '| Q |'),
    ('conformance', 'include/trace.h', '#define TRACE_NAME_MAX 63', '#define TRACE_NAME_MAX 64'),
    ('conformance', 'docs/conformance.md', '`test/conformance/', '`test/conformance/no_'),
]


def copy_tree(source, target):
    for part in ('man', 'docs', 'include', 'lib/model', 'test/conformance', 'test/docs'):
        shutil.copytree(source / part, target / part)


def complaints(rule, manual, conformance, tree, compiler):
    """(exit status, lines of output without the tree's place)"""
    command = [sys.executable, conformance, tree] if rule == 'conformance' else \
              [sys.executable, manual, rule, tree] + (compiler if rule == 'examples' else [])
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.returncode, {line.replace(str(tree), '') for line in run.stdout.splitlines()}


def main():
    manual, conformance, source, *compiler = sys.argv[1:]
    before, failures = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / 'tree'
        copy_tree(pathlib.Path(source), tree)
        for rule, name, old, new in DAMAGES:
            if rule not in before:
                before[rule] = complaints(rule, manual, conformance, tree, compiler)[1]
            text = (tree / name).read_text()
            (tree / name).write_text(text.replace(old, new, 1))
            status, said = complaints(rule, manual, conformance, tree, compiler)
            (tree / name).write_text(text)
            if status != SKIP and (status != 1 or old not in text or not said - before[rule]):
                print(f'{rule}: did not notice {new!r} in place of {old!r} in {name}')
                failures += 1
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
