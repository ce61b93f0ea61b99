#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The contestant of bench_metrics: reads babeltrace2's text from standard input and takes the time
from each event of a thread to its next one.

usage: babeltrace2 --clock-seconds TRACE | latency.py
"""

import sys


def main():
    last, count, total, longest = {}, 0, 0.0, 0.0
    for line in sys.stdin:
        stamp = line[1:line.index("]")]
        at = line.find("vtid = ")
        thread = line[at + 7:line.index(" ", at + 7)].rstrip(",")
        now = float(stamp)
        before = last.get(thread)
        last[thread] = now
        if before is not None:
            length = now - before
            count += 1
            total += length
            longest = max(longest, length)
    print(count, total / max(count, 1), longest)


main()
