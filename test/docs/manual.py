#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Compares the manual pages with the headers.

Usage: manual.py RULE SOURCE_ROOT [COMPILER...]

The headers are the truth; the pages have to follow.  A rule prints one line
for each thing that is wrong and exits 1, or 77 where it needs a program that
is not installed.

  names       each public function is in the NAME section of exactly one page
  synopsis    the SYNOPSIS has the header's prototype and #include
  errors      ERRORS sections name errors that exist; a function that returns
              an error number has such a section
  references  an .Xr to one of our own pages leads to a page that exists
  installed   man/meson.build installs each page, and each name of a page
  lint        mandoc has no warning, and no line but of a SYNOPSIS is over 80 columns
  examples    each C program in a page compiles without a warning

A SYNOPSIS is read from .Ft, .Fo, .Fa, .Fc; an example is the text of a
literal display in EXAMPLES that has an "int main".
"""

import errno
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / 'include'
HEADERS = ['trace.h'] + sorted(f'posixtrace/{h.name}' for h in (INCLUDE / 'posixtrace').glob('*.h'))
PROTOTYPE = re.compile(r'^((?:const )?\w+(?: \w+)*?[ \n](?:\*const )?\*?)(posix_?trace_\w+)'
                       r'\(((?:[^()]|\([^()]*\))*)\)\s*;', re.M)
NOT_AN_ERROR_NUMBER = {
    'posix_trace_event', 'posix_trace_eventid_equal',
    'posixtrace_event_wanted', 'posixtrace_event_word', 'posixtrace_event_words', 'posixtrace_site_open', 'posixtrace_site_gates',
    'posixtrace_system_event', 'posixtrace_eventset_system', 'posixtrace_system_streams', 'posixtrace_system_wanted', 'posixtrace_system_wants',
    'posixtrace_system_text', 'posixtrace_call_text', 'posixtrace_waiting_begin', 'posixtrace_waiting_end',
    'posixtrace_waiting_ns', 'posixtrace_thread_renamed',
    'posixtrace_loss_cause_text', 'posixtrace_stream_directory',
    'posixtrace_layout_text', 'posixtrace_layout_json', 'posixtrace_native_column', 'posixtrace_native_left_out', 'posixtrace_native_type', 'posixtrace_table_column', 'posixtrace_table_name',
}


def squeeze(text):
    """One spelling for each declaration: no space but where a word ends."""
    return re.sub(r'\s*([*(),])\s*', r'\1', ' '.join(text.split()))


def prototypes(root):
    """{function: (header, result type, arguments)} of all public headers."""
    found = {}
    for header in HEADERS:
        text = (root / 'include' / header).read_text()
        text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
        text = re.sub(r'__attribute__\(\((?:[^()]|\([^()]*\))*\)\)\s*', '', text)
        text = text.replace('POSIX_TRACE_RESTRICT_', 'restrict')
        for result, name, arguments in PROTOTYPE.findall(text):
            found[name] = (header, squeeze(result), squeeze(arguments))
    return found


class Page:
    def __init__(self, path):
        self.path = path
        self.title = path.name
        self.sections = {}
        section = None
        for number, line in enumerate(path.read_text().split('\n'), 1):
            if line.startswith('.Sh '):
                section = line[4:].strip()
                self.sections.setdefault(section, [])
            elif section:
                self.sections[section].append((number, line))

    def lines(self, section):
        return [line for _, line in self.sections.get(section, [])]

    def names(self):
        return [line.split()[1] for line in self.lines('NAME') if line.startswith('.Nm ')]

    def synopsis(self):
        """(headers, {function: (result type, arguments)})"""
        headers, functions, result, name, arguments = [], {}, '', None, []
        for line in self.lines('SYNOPSIS'):
            macro, _, rest = line.partition(' ')
            rest = rest.strip().strip('"')
            if macro == '.In':
                headers.append(rest)
            elif macro == '.Ft':
                result = rest
            elif macro == '.Fo':
                name, arguments = rest, []
            elif macro == '.Fa':
                arguments.append(rest)
            elif macro == '.Fc':
                functions[name] = (squeeze(result), squeeze(','.join(arguments)))
        return headers, functions

    def programs(self):
        """(line number, text) of each C program in EXAMPLES"""
        text, start = None, 0
        for number, line in self.sections.get('EXAMPLES', []):
            if line.startswith('.Bd -literal'):
                text, start = [], number + 1
            elif line == '.Ed' and text is not None:
                if any('int main' in l for l in text):
                    yield start, '\n'.join(text) + '\n'
                text = None
            elif text is not None:
                text.append(line.replace(r'\&', '').replace(r'\(aq', "'")
                            .replace(r'\-', '-').replace(r'\e', '\\'))


def pages(root, section='?'):
    return [Page(p) for p in sorted((root / 'man').glob(f'man{section}/*.{section}'))]


def check_names(root):
    functions = prototypes(root)
    where = {}
    for page in pages(root, '3'):
        if page.names()[:1] != [page.path.stem]:
            yield f'{page.title}: its first name is not that of the file'
        for name in page.names():
            where.setdefault(name, []).append(page.title)
            if name not in functions:
                yield f'{page.title}: {name} is in no public header'
    for name in functions:
        if len(where.get(name, [])) != 1:
            yield f'{name}: in the NAME section of {where.get(name, ["no page"])}'


def check_synopsis(root):
    functions = prototypes(root)
    for page in pages(root, '3'):
        headers, shown = page.synopsis()
        if sorted(shown) != sorted(page.names()):
            yield f'{page.title}: SYNOPSIS and NAME differ: {sorted(shown)}'
        for name, declaration in shown.items():
            if name not in functions:
                continue
            header, result, arguments = functions[name]
            if header not in headers:
                yield f'{page.title}: no .In {header} for {name}'
            if declaration != (result, arguments):
                yield f'{page.title}: {name}: {declaration} but header {(result, arguments)}'


def check_errors(root):
    for page in pages(root, '3'):
        returns_error = [n for n in page.names() if n not in NOT_AN_ERROR_NUMBER]
        named = set()
        for number, line in page.sections.get('ERRORS', []):
            if line.startswith(('.It Bq Er ', '.Er ')):
                for word in re.findall(r'\bE[A-Z0-9]+\b', line):
                    named.add(word)
                    if not hasattr(errno, word):
                        yield f'{page.title}:{number}: there is no error {word}'
        if returns_error and not named:
            yield f'{page.title}: names no error in a section ERRORS'


def check_references(root):
    there = {page.title for page in pages(root)}
    there |= {f'{name}.3' for page in pages(root, '3') for name in page.names()}
    for page in pages(root):
        for lines in page.sections.values():
            for number, line in lines:
                for name, section in re.findall(r'\bXr (\S+) (\d)', line):
                    ours = name.startswith(('posix_trace', 'posixtrace'))
                    if ours and f'{name}.{section}' not in there:
                        yield f'{page.title}:{number}: there is no {name}({section})'


def check_installed(root):
    text = (root / 'man' / 'meson.build').read_text()
    installed = set(re.findall(r"'(man\d/[^']+\.\d)'", text))
    there = {str(page.path.relative_to(root / 'man')) for page in pages(root)}
    for name in sorted(installed ^ there):
        yield f'man/{name}: ' + ('not installed' if name in there else 'installed, not there')
    links = {page: re.findall(r"'([^']+)'", names)
             for page, names in re.findall(r"'(\w+)': \[([^\]]*)\]", text)}
    for page in pages(root, '3'):
        if sorted(links.pop(page.path.stem, [])) != sorted(page.names()[1:]):
            yield f'{page.title}: its links in man/meson.build are not its other names'
    for name in links:
        yield f'man/meson.build: links to {name}, which is no page'


def wide_lines(path):
    """Lines over 80 columns; a prototype of the SYNOPSIS cannot be broken."""
    shown = subprocess.run(['mandoc', '-T', 'ascii', '-O', 'width=78', str(path)],
                           capture_output=True, text=True).stdout
    section = ''
    for line in re.sub('.\b', '', shown).split('\n')[1:]:
        section = line if line[:1].strip() else section
        if len(line) > 80 and section != 'SYNOPSIS':
            yield line.strip()


def check_lint(root):
    mandoc = shutil.which('mandoc')
    if not mandoc:
        print('mandoc is not installed')
        sys.exit(SKIP)
    for page in pages(root):
        run = subprocess.run([mandoc, '-Tlint', '-Wwarning', str(page.path)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in run.stdout.splitlines():
            if 'run makewhatis' not in line:
                yield line
        for line in wide_lines(page.path):
            yield f'{page.title}: over 80 columns: {line}'


def check_examples(root, compiler):
    flags = ['-x', 'c', '-std=gnu11', '-Wall', '-Wextra', '-Werror', '-fsyntax-only',
             f'-I{root}/include']
    compiled = 0
    with tempfile.TemporaryDirectory() as folder:
        for page in pages(root):
            for start, text in page.programs():
                path = pathlib.Path(folder) / 'example.c'
                path.write_text(f'#line {start} "{page.title}"\n{text}')
                run = subprocess.run([*compiler, *flags, str(path)],
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                compiled += 1
                if run.returncode != 0:
                    yield f'{page.title}:{start}: does not compile\n{run.stdout}'
    if compiled == 0:
        yield 'no page has an example'
    print(f'{compiled} examples compiled')


RULES = {
    'names': check_names, 'synopsis': check_synopsis, 'errors': check_errors,
    'references': check_references, 'installed': check_installed, 'lint': check_lint,
    'examples': check_examples,
}


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in RULES:
        sys.exit(f'usage: manual.py {"|".join(RULES)} SOURCE_ROOT [COMPILER...]')
    rule, root = sys.argv[1], pathlib.Path(sys.argv[2])
    arguments = [sys.argv[3:] or ['cc']] if rule == 'examples' else []
    complaints = list(RULES[rule](root, *arguments))
    if not prototypes(root) or not pages(root):
        complaints.append(f'{root}: no headers or no manual pages')
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)


if __name__ == '__main__':
    main()
