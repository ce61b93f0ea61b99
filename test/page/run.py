#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Runs a test of the HTML page, or says which program it would need.

usage: run.py node TEST.js | chromium TEST.js ARGUMENT... | firefox TEST.js | lint SOURCE_ROOT
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
BROWSERS = {"chromium": ["chromium", "chromium-browser", "google-chrome"],
            "firefox": ["firefox-esr", "firefox"]}
# Where Debian has modules; node packages of others do not look there.
MODULES = "/usr/share/nodejs:/usr/lib/nodejs"


def need(*names):
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    print(f"skipped: there is no {' or '.join(names)}; apt-get install {names[0]}")
    sys.exit(SKIP)


def node():
    return need("nodejs", "node")


def eslint(root, folder, environment, files):
    """In the root: this eslint refuses files outside of its working directory."""
    program = [node(), need("eslint")]
    variables = {**os.environ, "NODE_PATH": MODULES}
    return subprocess.run(
        [*program, "--format", "unix", "--no-eslintrc", "--env", environment,
         "--config", str(folder / "eslint.json"), *map(str, files)],
        env=variables, cwd=root, check=False).returncode


def parts(web):
    """Scripts that no list names, and elements that no skeleton has."""
    order = (web / "order.txt").read_text().split()
    ids = set(re.findall(r'id="([\w-]+)"', (web / "page.html").read_text()))
    if sorted(order) != sorted(path.name for path in web.glob("*.js")):
        yield f"{web / 'order.txt'}: not the scripts of its folder"
    for path in sorted(web.glob("*.js")):
        for name in re.findall(r'byId\("([\w-]+)"\)', path.read_text()):
            if name not in ids:
                yield f"{path}: no element '{name}' in page.html"


def lint(root):
    here, web = root / "test/page", root / "lib/analysis/html/web"
    found = list(parts(web))
    print("\n".join(found))
    bad = eslint(root, here, "browser", sorted(web.glob("*.js")))
    return bool(found) or eslint(root, here, "node", sorted(here.glob("*.js"))) or bad


def starts(kind, browser):
    """Some machines forbid what a browser needs: then it ends before it shows anything."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        words = {"chromium": ["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom",
                              "--disable-dev-shm-usage", f"--user-data-dir={folder}"],
                 "firefox": ["--headless", "--no-remote", "--profile", folder, "--screenshot",
                             f"{folder}/blank.png"]}[kind]
        try:
            done = subprocess.run([browser, *words, "about:blank"], capture_output=True, text=True,
                                  check=False, timeout=60, env={**os.environ, "HOME": folder})
        except subprocess.TimeoutExpired:
            return "it shows no empty page within 60 s"
        return done.returncode and f"it ends with {done.returncode}: {done.stderr[-300:]}"


def main():
    kind, what, *more = sys.argv[1:]
    if kind == "lint":
        return lint(pathlib.Path(what))
    if kind == "node":
        return subprocess.run([node(), "--test", what], check=False).returncode
    browser = need(*BROWSERS[kind])
    fault = starts(kind, browser)
    if fault:
        print(f"skipped: {browser} does not run here: {fault}")
        return SKIP
    return subprocess.run([node(), what, browser, *more], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
