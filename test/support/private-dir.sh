#!/bin/bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# Runs a command with a stream directory of its own and removes it afterwards: files that a killed
# test has left are neither visible to the next one nor kept.
set -u
base=/dev/shm
[ -w "$base" ] || base=${TMPDIR:-/tmp}
POSIXTRACE_DIR=$(mktemp -d "$base/posixtrace-test.XXXXXX") || exit 99
export POSIXTRACE_DIR
trap 'rm -rf "$POSIXTRACE_DIR"' EXIT
"$@"
