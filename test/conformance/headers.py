#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# Every public header compiles alone, twice in a row, without a warning: as
# strict C99 with _POSIX_C_SOURCE=200809L (assertion 1 of the conformance list
# for <trace.h>), C11, C17, C++17.  A strict program gets the names that the
# standard promises, and can use them.  The lines of <posixtrace/emit.h> compile in any
# mode of C11 and later.  All but <trace.h> compile in a folder that has a trace.h of its
# own, which comes first.
#
#   headers.py INCLUDE_DIR CC... [-- CXX...]

import pathlib
import subprocess
import sys
import tempfile

PROMISED = '''
extern size_t sum(trace_attr_t attr, trace_event_id_t event, trace_event_set_t set, trace_id_t trid,
                  struct posix_trace_event_info info, struct posix_trace_status_info status);
size_t sum(trace_attr_t attr, trace_event_id_t event, trace_event_set_t set, trace_id_t trid,
           struct posix_trace_event_info info, struct posix_trace_status_info status)
{
    return sizeof attr + sizeof event + sizeof set + sizeof trid
         + sizeof info.posix_event_id + sizeof info.posix_pid + sizeof info.posix_prog_address
         + sizeof info.posix_thread_id + sizeof info.posix_timestamp
         + sizeof info.posix_truncation_status
         + sizeof status.posix_stream_status + sizeof status.posix_stream_full_status
         + sizeof status.posix_stream_overrun_status + sizeof status.posix_stream_flush_status
         + sizeof status.posix_stream_flush_error + sizeof status.posix_log_overrun_status
         + sizeof status.posix_log_full_status;
}
'''

LINES = '''
POSIXTRACE_EVENT_TYPE(order, "order", (uint32_t, id), (double, price), (const char *, symbol))
void lines(int id, double price, const char *s, signed char c, short q);
void lines(int id, double price, const char *s, signed char c, short q)
{
    POSIXTRACE_EVENT("bare");
    POSIXTRACE_EVENT("fields", id, price, s, c, q, id + 1, (void *)0, "literal");
    trace_order((uint32_t)id, price, s);
    for (int i = 0; i < 3; i++)
        POSIXTRACE_EVENT("loop", i);
}
'''
OWN = 'struct trace { int own; };\nint own_trace(struct trace *t);\n'
USES_OWN = '''
#include "trace.h"
int own_trace(struct trace *t)
{
    return t->own;
}
'''

STRICT = ['-pedantic-errors', '-Wall', '-Wextra', '-Werror', '-Wstrict-prototypes', '-Wundef']
POSIX = ['-D_POSIX_C_SOURCE=200809L']


def compile_one(command, suffix, source, own=''):
    """The compiler's complaint, or ''."""
    with tempfile.TemporaryDirectory() as folder:
        if own:
            (pathlib.Path(folder) / 'trace.h').write_text(own)
            command = command[:-1] + ['-I' + folder] + command[-1:]   # before our folder
        path = pathlib.Path(folder) / ('header' + suffix)
        path.write_text(source)
        result = subprocess.run(command + ['-c', str(path), '-o', str(path) + '.o'],
                                capture_output=True, text=True, check=False)
        return '' if result.returncode == 0 else result.stderr or 'failed without a message'


def cases(cc, cxx, header):
    """(what, command, suffix)"""
    cpp = [flag for flag in STRICT if flag != '-Wstrict-prototypes'] + ['-Wshadow']
    yield 'C99 strict', cc + ['-std=c99'] + POSIX + STRICT, '.c'
    yield 'C11 strict', cc + ['-std=c11'] + POSIX + STRICT, '.c'
    yield 'C17', cc + ['-std=gnu17', '-D_GNU_SOURCE'] + STRICT, '.c'
    if header == 'trace.h':
        yield 'C89', cc + ['-std=gnu89'] + POSIX + ['-Wall', '-Werror'], '.c'
    if cxx:
        yield 'C++17', cxx + ['-std=c++17'] + POSIX + cpp, '.cpp'


def uses(cc, cxx):
    """(what, header, command, suffix, source, a trace.h of the program's own)"""
    warn = ['-Wall', '-Wextra', '-Werror']
    emit = '#include <posixtrace/emit.h>\n' + LINES
    for mode in ('c11', 'c17', 'c2x', 'gnu11', 'gnu17'):
        yield 'lines in ' + mode, 'posixtrace/emit.h', cc + ['-std=' + mode] + warn, '.c', emit, ''
    yield ('lines beside a trace.h', 'posixtrace/emit.h', cc + ['-std=c11'] + warn, '.c',
           emit + USES_OWN, OWN)
    if cxx:
        yield ('lines in C++11', 'posixtrace/emit.h', cxx + ['-std=c++11', '-Wshadow'] + warn, '.cpp',
               emit + USES_OWN, OWN)


def main():
    include, rest = pathlib.Path(sys.argv[1]), sys.argv[2:]
    split = rest.index('--') if '--' in rest else len(rest)
    cc, cxx = rest[:split], rest[split + 1:]
    headers = ['trace.h'] + sorted('posixtrace/' + p.name
                                   for p in (include / 'posixtrace').glob('*.h'))
    failures = compiled = 0
    for header in headers:
        once = f'#include <{header}>\n'
        source = once + once + (PROMISED if header == 'trace.h' else '')
        for what, command, suffix in cases(cc, cxx, header):
            complaint = compile_one(command + [f'-I{include}'], suffix, source)
            compiled += 1
            if complaint:
                failures += 1
                print(f'{header} as {what}:\n{complaint}', file=sys.stderr)
    more = list(uses(cc, cxx))
    more += [('C17 beside a trace.h', header, cc + ['-std=gnu17'] + STRICT, '.c',
              f'#include <{header}>\n{USES_OWN}', OWN) for header in headers[1:]]
    for what, header, command, suffix, source, own in more:
        complaint = compile_one(command + [f'-I{include}'], suffix, source, own)
        compiled += 1
        if complaint:
            failures += 1
            print(f'{header}, {what}:\n{complaint}', file=sys.stderr)
    print(f'{compiled} compilations of {len(headers)} headers, {failures} failed')
    return 1 if failures or not compiled else 0


sys.exit(main())
