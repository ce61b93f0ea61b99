#!/bin/bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# From a fresh checkout on Debian 12 or later to a program that runs; see --help.
# What developers call besides is in scripts/.  POSIXTRACE_BUILD names the build folder.
set -u
cd "$(dirname "$(readlink -f "$0")")" || exit 1
. scripts/common.sh

usage() {
    cat <<'USAGE'
usage: ./setup.sh VERB

  demo      install missing packages, build, run the example, show its trace, also as a page
  build     install missing packages and build into ./build
  test      build and run the tests that each change must pass (scripts/tests gate)

"Install" means apt-get, as root or through sudo, and only if a package is missing.
USAGE
}

# The tests are left out of a first build, so that it needs fewer packages.
build_plain() {
    local tests=(-Dtests=false)
    [ ! -e "$build/build.ninja" ] || tests=()
    install_missing "${build_packages[@]}"
    say "building into $build"
    { configure "$build" "${tests[@]}" && compile "$build"; } || die "the build failed"
}

demo() {
    local folder files
    build_plain
    folder=$(mktemp -d "${TMPDIR:-/tmp}/posixtrace-demo.XXXXXX") || exit 1
    mkdir "$folder/out"
    mapfile -t files < <(find -L /usr/include /usr/share/common-licenses docs -type f \
                              -size +24k 2>/dev/null | sort | head -n 200)
    say "compressing ${#files[@]} files of this system with 4 threads"
    "$build/examples/compress" 4 "$folder/compress.ptl" "$folder/out" "${files[@]}" ||
        die "the example failed"
    printf '%s\n' "$(du -shL "$folder/out" | cut -f1) of .gz files are in $folder/out"
    say "posixtrace print $folder/compress.ptl | head -n 30"
    "$build/tools/posixtrace" print "$folder/compress.ptl" | head -n 30
    say "posixtrace info $folder/compress.ptl"
    "$build/tools/posixtrace" info "$folder/compress.ptl"
    say "posixtrace report $folder/compress.ptl | sed -n '/^How long/,/^\$/p'"
    "$build/tools/posixtrace" report "$folder/compress.ptl" | sed -n '/^How long/,/^$/p'
    say "posixtrace report --html=$folder/compress.html $folder/compress.ptl"
    "$build/tools/posixtrace" report --html="$folder/compress.html" "$folder/compress.ptl" &&
        printf 'for a browser, also without a network: %s\n' "$folder/compress.html"
}

case ${1:-} in
    demo) demo ;;
    build) build_plain ;;
    test) exec scripts/tests gate ;;
    -h | --help) usage ;;
    *) usage >&2; exit 64 ;;
esac
