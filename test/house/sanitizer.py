#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Does ThreadSanitizer see all of base/atomics.h, with each compiler?

sanitizer.py SOURCE-ROOT COMPILER...

Preprocesses the header as for a build with -fsanitize=thread, by the build's compiler
and by clang and gcc where they are installed, and looks at the macros that it is left
with: no operation is assembler, which the sanitizer does not see, or weaker than it
needs.  A macro that is tested before it is defined shows here.
"""
import shutil
import subprocess
import sys


def macros(compiler, folder):
    """The macros after base/atomics.h; None: the compiler has no such sanitizer."""
    run = subprocess.run(
        compiler + ['-fsanitize=thread', '-E', '-dM', '-I', folder, '-x', 'c', '-'],
        input='#include "base/atomics.h"\n', capture_output=True, text=True)
    if run.returncode:
        return None
    found = {}
    for line in run.stdout.splitlines():
        _, name, *text = line.split(' ', 2)
        found[name] = text[0] if text else ''
    return found


def faults(found):
    if '__SANITIZE_THREAD__' not in found:
        yield '__SANITIZE_THREAD__ is not defined'
    for name, text in found.items():
        if name.startswith('pt_') and '__asm__' in text:
            yield f'{name} is assembler'
    if found.get('pt_load_pointer(p)') != 'pt_load_acquire(p)':
        yield 'pt_load_pointer is not an acquire'


def main():
    folder, compilers = sys.argv[1] + '/lib', [sys.argv[2:]]
    compilers += [[name] for name in ('gcc', 'clang') if shutil.which(name)]
    tried = bad = 0
    for compiler in compilers:
        found = macros(compiler, folder)
        if found is None:
            continue
        tried += 1
        for fault in faults(found):
            print(f'{" ".join(compiler)}: {fault}')
            bad += 1
    if not tried:
        sys.exit(77)
    sys.exit(bad != 0)


main()
