# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""DuckDB for tests: the package @duckdb/node-api of npm.  Without node, npm or the package a test is
skipped."""

import json
import shutil
import subprocess
import sys

from parquet_logs import need

PACKAGE = "@duckdb/node-api@1.5.6-r.1"
SKIP = 77
QUERIES = """
import { DuckDBInstance } from '@duckdb/node-api';
import { readFileSync } from 'node:fs';
const connection = await (await DuckDBInstance.create()).connect();
const plain = v => typeof v === 'bigint' ? String(v) : v?.bytes ? Buffer.from(v.bytes).toString('hex')
    : typeof v === 'number' && !Number.isFinite(v) ? String(v) : Object.is(v, -0) ? '-0' : v;
for (const query of JSON.parse(readFileSync(process.argv[2]))) {
    const result = await connection.runAndReadAll(query);
    console.log(JSON.stringify([result.columnNames(), result.getRows().map(row => row.map(plain))]));
}
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def install(folder):
    if not shutil.which("node") or not shutil.which("npm"):
        skip("node or npm is not installed")
    try:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", PACKAGE], cwd=folder,
                              capture_output=True, text=True, timeout=150, check=False)
    except subprocess.TimeoutExpired:
        skip("npm takes more than 150 s")
    if done.returncode:
        skip(f"npm cannot install {PACKAGE}: {done.stderr[-300:]}")
    (folder / "query.mjs").write_text(QUERIES)
    works = subprocess.run(["node", "-e", "require('@duckdb/node-api')"], cwd=folder, capture_output=True,
                           text=True, timeout=60, check=False)
    if works.returncode:
        skip(f"DuckDB does not run here: {works.stderr[-300:]}")


def ask(folder, *queries):
    (folder / "queries.json").write_text(json.dumps(queries))
    done = subprocess.run(["node", "query.mjs", "queries.json"], cwd=folder, capture_output=True, text=True,
                          timeout=200, check=False)
    need(done.returncode == 0, done.stderr[-2000:])
    return [json.loads(answer) for answer in done.stdout.split("\n") if answer]
