# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
# shellcheck shell=bash
#
# What setup.sh and the scripts in this folder share: packages, builds, runs of the suite.
# Sourced, with the project's root as working directory.  POSIXTRACE_BUILD names the plain
# build folder; the others have its name and a suffix (build-asan).

build=${POSIXTRACE_BUILD:-build}
build_packages=(meson ninja-build gcc libc6-dev pkg-config liburcu-dev libzstd-dev
                zlib1g-dev libcurl4-openssl-dev uthash-dev libbabeltrace2-dev libdw-dev)
test_packages=(g++ check valgrind libc6-dbg python3 mandoc bash-completion spin abigail-tools
               babeltrace2 python3-bt2 python3-protobuf graphviz jq protobuf-compiler fish zsh clang-format
               nodejs eslint chromium firefox-esr openssl clickhouse-server)

say() {
    printf '\n== %s\n' "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# install_missing PACKAGE...
install_missing() {
    local missing=() package run=()

    command -v dpkg-query >/dev/null ||
        die "this is not a Debian system; install the equivalents of: $* and use meson directly"
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
            missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            die "missing packages: ${missing[*]}; as root: apt-get install ${missing[*]}"
        run=(sudo)
    fi
    say "installing with apt-get${run:+ through sudo}: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    "${run[@]}" apt-get update -q || die "apt-get update failed"
    "${run[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}" ||
        die "apt-get install failed"
}

# configure FOLDER OPTION...: sets up a build folder, or changes its options
configure() {
    local folder=$1
    shift
    if [ -e "$folder/build.ninja" ]; then
        meson configure "$folder" "$@" >/dev/null
    else
        meson setup "$folder" "$@" >"$folder.setup-log" 2>&1 ||
            { cat "$folder.setup-log" >&2; rm -f "$folder.setup-log"; return 1; }
        rm -f "$folder.setup-log"
    fi
}

compile() {
    ninja -C "$1" --quiet
}

# Logs of the runs so far; a part that could not run at all adds to broken.
logs=()
broken=0

# run NAME FOLDER ARGUMENT...: one run of meson test.  With building=chosen it first builds what the
# chosen tests need, and no more.
run() {
    local name=$1 folder=$2 started=$SECONDS
    shift 2
    say "$name"
    rm -f "$folder/meson-logs/run-${name%% *}"*.json
    local status options=(--print-errorlogs --logbase "run-${name%% *}")
    [ "${building:-}" = chosen ] || options+=(--no-rebuild)
    meson test -C "$folder" "${options[@]}" "$@"
    status=$?
    # Ended by a signal, it has no results of what it did not come to; 125: it does not build.
    [ $status -lt 125 ] || broken=$((broken + 1))
    logs+=("$folder/meson-logs/run-${name%% *}")
    printf '%s: %d s\n' "$name" $((SECONDS - started))
}

# run_but TEST NAME FOLDER ARGUMENT...: as run, of all tests that the arguments
# choose but one
run_but() {
    local left_out=$1 name=$2 folder=$3 chosen
    shift 3
    mapfile -t chosen < <(meson test -C "$folder" --no-rebuild --list "$@" 2>/dev/null |
                              sed -n 's|^.* / ||p' | grep -vx -- "$left_out")
    # An empty list would mean all tests; no such test means a failed run.
    run "$name" "$folder" "$@" "${chosen[@]:-nothing is chosen}"
}

# prepare NAME FOLDER OPTION...: builds a variant; says so and counts it if it fails
prepare() {
    local name=$1 folder=$2
    shift 2
    say "building $name into $folder"
    if ! { configure "$folder" "$@" && compile "$folder"; }; then
        printf '%s does not build\n' "$name"
        broken=$((broken + 1))
        return 1
    fi
}

# Prints the closing line and ends with its verdict.
close_tests() {
    say "all runs: $SECONDS s"
    python3 test/support/totals.py "$broken" "${logs[@]}"
    exit
}
