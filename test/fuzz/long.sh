#!/bin/bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# The long runs: each fuzz target with libFuzzer under ASan and UBSan, one after
# the other.  Needs the Debian packages clang, libclang-rt-14-dev and llvm
# (which makes readable stacks).
#
#   test/fuzz/long.sh SECONDS [TARGET]...
#
# Inputs that reach lines which no kept input reaches are added to
# corpus/TARGET (look at them with git, and commit them).  What else was of
# interest stays in BUILD/found/TARGET.new, where the next run goes on.  An input
# that crashes, hangs or leaks is left in BUILD/found/TARGET and named; the run
# goes on after it.  Exit status: 0 nothing found, 1 something found, 64 wrong
# usage.
#
# POSIXTRACE_FUZZ_BUILD names the build folder, build-fuzz by default.
set -u
here=$(dirname "$(readlink -f "$0")")
root=$(dirname "$(dirname "$here")")
build=$(readlink -m "${POSIXTRACE_FUZZ_BUILD:-$root/build-fuzz}")
crashes_max=10

usage() {
    sed -n 's/^#   \(test.*\)/usage: \1/p' "$0" >&2
    exit 64
}

case ${1:-} in
    '' | 0 | *[!0-9]*) usage ;;
esac
seconds=$1
shift

if [ ! -e "$build/build.ninja" ]; then
    CC=${CC:-clang} meson setup "$build" "$root" -Dfuzzers=true \
        -Db_sanitize=address,undefined -Db_lundef=false || exit 1
fi
ninja -C "$build" fuzzers || exit 1

export ASAN_OPTIONS=detect_stack_use_after_return=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
found=0

# target_options TARGET: what libFuzzer should know of it
target_options() {
    case $1 in
        log_reader) echo -max_len=16384 ;;
        calls) echo -max_len=450 -len_control=0 ;;
        ctf) echo -max_len=8192 ;;
        segment | page) echo -max_len=257 -len_control=0 ;;
        # what the program prints is not for us; what it does not free ends with it
        command_line) echo -max_len=1024 -close_fd_mask=3 -detect_leaks=0 ;;
        *) echo -max_len=4096 ;;
    esac
}

# add_new TARGET FOLDER: keeps the smallest inputs of FOLDER that reach edges which no kept
# input reaches (not those that only reach them more often), and says how many.
add_new() {
    local count
    # shellcheck disable=SC2046 # options without spaces
    count=$("$here/../house/private-dir.sh" "$build/test/fuzz/fuzz_$1" -merge=1 -use_counters=0 \
                $(target_options "$1") "$here/corpus/$1" "$2" 2>&1 |
                sed -n 's/.* \([0-9]*\) new files with .*/\1/p')
    echo "${count:-?}"
}

fuzz() {
    local target=$1 work=$build/found/$1 log=$build/found/$1.log
    local end=$((SECONDS + seconds)) runs=0 crashes before='?' after='?' new
    mkdir -p "$work" "$work.new" "$here/corpus/$target"
    rm -f "$work"/*
    : >"$log"
    [ "$target" != log_reader ] || cp "$root"/test/data/*/*.ptl "$work.new/"
    while [ $SECONDS -lt $end ] && [ "$(find "$work" -type f | wc -l)" -lt $crashes_max ]; do
        # shellcheck disable=SC2046 # options without spaces
        "$here/../house/private-dir.sh" "$build/test/fuzz/fuzz_$target" \
            -max_total_time=$((end - SECONDS)) -timeout=60 -rss_limit_mb=3000 \
            -print_final_stats=1 -artifact_prefix="$work/" $(target_options "$target") \
            "$work.new" "$here/corpus/$target" >"$log.part" 2>&1
        runs=$((runs + $(sed -n 's/^stat::number_of_executed_units: *//p' "$log.part" |
                             head -n 1 | grep . || echo 0)))
        [ "$before" != '?' ] || before=$(sed -n 's/.*INITED cov: \([0-9]*\).*/\1/p' "$log.part")
        after=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log.part" | tail -n 1)
        cat "$log.part" >>"$log"
    done
    rm -f "$log.part"
    crashes=$(find "$work" -type f | wc -l)
    new=$(add_new "$target" "$work.new")
    printf '%-14s %9s runs, coverage %s -> %s, %s inputs added, %s found\n' "$target" "$runs" \
        "${before:-?}" "${after:-?}" "$new" "$crashes"
    if [ "$crashes" -gt 0 ]; then
        found=1
        find "$work" -type f
        printf 'stacks: %s\n' "$log"
    fi
}

if [ $# -eq 0 ]; then
    for program in "$build"/test/fuzz/fuzz_*; do
        [ ! -f "$program" ] || set -- "$@" "${program##*/fuzz_}"
    done
fi
for target in "$@"; do
    if [ ! -x "$build/test/fuzz/fuzz_$target" ]; then
        printf 'long.sh: no target %s; there are: %s\n' "$target" \
            "$(cd "$build/test/fuzz" && find . -maxdepth 1 -name 'fuzz_*' -type f |
                   sed 's|./fuzz_||' | sort | tr '\n' ' ')" >&2
        exit 64
    fi
    fuzz "$target"
done
printf 'the kept inputs have %s bytes\n' "$(du -sb "$here/corpus" | cut -f1)"
exit $found
