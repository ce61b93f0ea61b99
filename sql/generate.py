#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Makes a query for an engine of its text, which is the SQL that both have, and words between @.

    @quantile(VALUE, N)@  the least value that N of 1000 of the values do not exceed, nulls left out
    @join@, @left_join@   of each row with all that have the same columns of USING
    @text(VALUE)@         a number as text

usage: generate.py duckdb|clickhouse INPUT OUTPUT
"""

import pathlib
import re
import sys

WORDS = {
    "duckdb": {
        "join": "join",
        "left_join": "left join",
        "text": lambda value: f"cast({value} as varchar)",
        "quantile": lambda value, n: f"quantile_disc({value}, {int(n) / 1000})",
    },
    # 18.16 has no quantile of that definition, and a join must say what it does with several rows.
    "clickhouse": {
        "join": "ALL INNER JOIN",
        "left_join": "ALL LEFT JOIN",
        "text": lambda value: f"toString({value})",
        "quantile": lambda value, n: f"if(count({value}) = 0, NULL, "
                                     f"arraySort(groupArray({value}))[intDiv(count({value}) * {n} + 999, 1000)])",
    },
}


def main():
    engine, source, output = sys.argv[1:]

    def word(match):
        meaning = WORDS[engine][match.group(1)]
        return meaning(*match.group(2).split(", ")) if match.group(2) else meaning

    text = pathlib.Path(source).read_text(encoding="utf-8")
    pathlib.Path(output).write_text(re.sub(r"@(\w+)(?:\(([^@]*)\))?@", word, text), encoding="utf-8")


main()
