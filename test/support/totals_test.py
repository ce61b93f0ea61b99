#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The closing line of the test run can be believed: whatever is not a success
makes it and the exit status say so, and what a failed test printed last stands before it.

usage: totals_test.py TOTALS
"""

import json
import pathlib
import subprocess
import sys
import tempfile

# results of one run, parts that did not build -> closing line
CASES = [
    (["OK", "OK"], 0, "2 passed, 0 failed"),
    (["OK", "EXPECTEDFAIL", "SKIP"], 0, "2 passed, 0 failed"),
    (["OK", "FAIL"], 0, "1 passed, 1 failed"),
    (["OK", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"], 0, "1 passed, 4 failed"),
    (["OK"], 1, "1 passed, 1 failed"),
    (["SKIP"], 0, "0 passed, 0 failed"),
    ([], 0, "0 passed, 1 failed"),
    (None, 0, "0 passed, 1 failed"),
]


def main():
    for results, broken, closing in CASES:
        with tempfile.TemporaryDirectory() as name:
            base = pathlib.Path(name) / "run-x"
            if results is not None:
                lines = [json.dumps({"name": f"t{i}", "result": r, "stdout": "first\n" * 20,
                                     "stderr": f"last of t{i}\n"})
                         for i, r in enumerate(results)]
                base.with_suffix(".json").write_text("\n".join(lines))
            done = subprocess.run([sys.executable, sys.argv[1], str(broken), str(base)],
                                  capture_output=True, text=True)
        good = closing.endswith(" 0 failed") and not closing.startswith("0 ")
        told = all((f"| last of t{i}\n" in done.stdout) == (r not in ("OK", "EXPECTEDFAIL", "SKIP"))
                   for i, r in enumerate(results or []))
        if (done.stdout.splitlines()[-1:] != [closing] or (done.returncode == 0) != good or
                not told):
            sys.exit(f"{results}, {broken} broken: exit {done.returncode}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
