#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Keeps the binary interface of the shared library: functions, their parameters
and the layout of public structures, as libabigail reads them from the debug
information.  The kept dump has no paths in it, and only what the public headers
declare.

usage: abi.py check  DUMP LIBRARY INCLUDE   0 as kept, 1 differs, 77 cannot tell
       abi.py accept DUMP LIBRARY INCLUDE   keeps an interface that only grew
       abi.py break  DUMP LIBRARY INCLUDE   keeps any; needs a new soname once released
"""

import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ABIDW = ['abidw', '--exported-interfaces-only', '--drop-private-types', '--no-corpus-path',
         '--no-show-locs', '--no-comp-dir-path', '--no-elf-needed', '--no-parameter-names']
NOT_ALIKE = 12   # bits of abidiff's exit status: changed, incompatibly
SKIPPED = 77


def dump(library, include):
    made = subprocess.run(ABIDW + ['--headers-dir', include, library], capture_output=True,
                          text=True, check=True).stdout
    # The path of a source file depends on where the build folder is.
    return re.sub(r" path='[^']*?((?:lib|include)/[^']*)'", r" path='\1'", made)


def compare(kept, now):
    """(exit status, report) of abidiff on two dumps."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / name for name in ('kept.abi', 'now.abi')]
        for path, text in zip(paths, (kept, now)):
            path.write_text(text)
        ran = subprocess.run(['abidiff', *map(str, paths)], capture_output=True, text=True,
                             check=False)
    if ran.returncode & 3:
        sys.exit(f'abidiff: {ran.stdout}{ran.stderr}')
    return ran.returncode, ran.stdout


def only_grew(report):
    counts = re.findall(r'(\d+) (Removed|Changed)', report)
    return bool(counts) and all(count == '0' for count, _ in counts)


def can_fail(text):
    """A dump without one of its functions, or with another size of a structure, must differ."""
    name = re.search(r"<elf-symbol name='posix_?trace_\w+'[^>]*/>", text)
    fewer = text.replace(name.group(0), '', 1)
    larger = re.sub(r"(name='posix_?trace_\w+' size-in-bits=')\d+", r'\g<1>65536', text, count=1)
    for other in (fewer, larger):
        if other == text or not compare(text, other)[0] & NOT_ALIKE:
            sys.exit('abi.py: abidiff does not notice a change that was made for it')


def cannot_tell(text, library):
    """Why there is nothing to compare here, or None."""
    for tool in ('abidw', 'abidiff', 'readelf'):
        if not shutil.which(tool):
            return f'{tool} is not installed (Debian: abigail-tools, binutils)'
    if platform.machine() != 'x86_64':
        return 'the dump is of x86-64'
    sections = subprocess.run(['readelf', '-SW', library], capture_output=True, text=True,
                              check=True).stdout
    if '.debug_info' not in sections:
        return 'the library was built without debug information'
    return None if text else 'there is no dump yet'


def main():
    verb, kept, library, include = sys.argv[1:5]
    kept = pathlib.Path(kept)
    text = kept.read_text() if kept.exists() else ''
    why_not = cannot_tell(text or 'new', library)
    if why_not:
        print('skipped:', why_not)
        return SKIPPED
    now = dump(library, include)
    if verb == 'break' or (verb == 'accept' and not text):
        kept.write_text(now)
        return 0
    can_fail(text)
    status, report = compare(text, now)
    if verb == 'accept':
        if status and not only_grew(report):
            print(report + 'This is more than an addition: programs that were linked before may '
                  'fail.  Undo it, or raise the soname and use "break".', file=sys.stderr)
            return 1
        kept.write_text(now)
        return 0
    if status == 0:
        print('the interface is the kept one')
        return 0
    print(f'{report}\nThe binary interface differs from {kept}.\nIf something was added on '
          f'purpose, keep it with\n  python3 test/abi/abi.py accept {kept} {library} {include}\n'
          'and commit the dump.  What was removed or changed breaks programs that were linked '
          'before.', file=sys.stderr)
    return 1


sys.exit(main())
