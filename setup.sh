#!/bin/bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# Everything from a fresh checkout on Debian 12 or later; see --help.
#
# The test verbs end with one closing line, "N passed, N failed", summed over
# all runs of the suite, and exit non-zero when something failed, did not
# build, or when nothing was run at all.
#
# POSIXTRACE_BUILD names the build folder; the sanitizer builds are next to it,
# with -asan and -tsan after the name.
set -u
cd "$(dirname "$(readlink -f "$0")")" || exit 1

build=${POSIXTRACE_BUILD:-build}
build_packages=(meson ninja-build gcc libc6-dev pkg-config liburcu-dev libzstd-dev
                zlib1g-dev uthash-dev libbabeltrace2-dev)
test_packages=(g++ check valgrind libc6-dbg python3 mandoc bash-completion spin abigail-tools
               babeltrace2 python3-bt2 jq protobuf-compiler fish zsh)
cross_packages=(clang lld llvm gcc-i686-linux-gnu gcc-aarch64-linux-gnu gcc-s390x-linux-gnu
                qemu-user)
coverage_packages=(gcovr)
# The contestant of the benchmarks; they work without it.
bench_packages=(lttng-tools liblttng-ust-dev babeltrace2)
fuzz_packages=(clang libclang-rt-14-dev llvm)

usage() {
    cat <<'USAGE'
usage: ./setup.sh VERB

  demo      install missing packages, build, run the example, show its trace
  build     install missing packages and build into ./build
  quick     build and run the quick part of the test suite (under a minute)
  test      build and run all of it: plain, valgrind, ASan+UBSan, TSan, helgrind
            (under 15 minutes on two cores)
  coverage  run the tests in a build that counts, and print which lines of lib/ they reach
  bench     build a release into ./build-bench, run the benchmarks (about 10 minutes on an
            idle machine) and write their figures into docs/benchmarks.md
  fuzz      run each fuzzer for five minutes with libFuzzer (see docs/fuzzing.md)
  portability
            other compilers and levels of optimisation; 32-bit, ARM and
            big-endian machines under emulation (half an hour on two cores)
  packages  print the names of the Debian packages that are needed

"Install" means apt-get, as root or through sudo, and only if a package is missing.
USAGE
}

say() {
    printf '\n== %s\n' "$*"
}

die() {
    printf 'setup.sh: %s\n' "$*" >&2
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
}

# Logs of the runs so far; a part that could not run at all adds to broken.
logs=()
broken=0

# run NAME FOLDER ARGUMENT...: one run of meson test
run() {
    local name=$1 folder=$2 started=$SECONDS
    shift 2
    say "$name"
    rm -f "$folder/meson-logs/run-${name%% *}"*.json
    meson test -C "$folder" --no-rebuild --print-errorlogs --logbase "run-${name%% *}" "$@"
    # Ended by a signal, it has no results of what it did not come to.
    [ $? -lt 128 ] || broken=$((broken + 1))
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
    python3 test/house/totals.py "$broken" "${logs[@]}"
    exit
}

quick_tests() {
    export POSIXTRACE_TEST_SHORT=1
    install_missing "${build_packages[@]}" "${test_packages[@]}"
    prepare plain "$build" -Dtests=true &&
        run plain "$build" --no-suite torture --no-suite proof --no-suite model --no-suite fault
    close_tests
}

# Threads run one at a time there: the chosen tests take a minute.  Not LOOP under
# load: it overwrites chunks while they are copied, on purpose, and the copy is thrown away.
helgrind_tests() {
    local folder=$build-helgrind

    say "building helgrind into $folder"
    if configure "$folder" -Dtests=true -Dbuildtype=debugoptimized -Dc_args=-DPT_HELGRIND &&
        ninja -C "$folder" --quiet test/torture/torture test/unit/ring/test_ring_{pool,watermark} \
            test/conformance/conformance_group_{f_waiting,j_flush,k_clear}; then
        run helgrind "$folder" --setup helgrind 'ring pool' 'ring watermark' \
            'conformance group_f_waiting' 'conformance group_j_flush' 'conformance group_k_clear' \
            'torture until-full 4 steady' 'torture flush 4 signals' 'torture monotonic flush 4 steady'
    else
        echo 'helgrind does not build'
        broken=$((broken + 1))
    fi
}

all_tests() {
    local sanitize=(-Dtests=true -Dbuildtype=debugoptimized -Db_lundef=false)

    install_missing "${build_packages[@]}" "${test_packages[@]}"
    if prepare plain "$build" -Dtests=true; then
        run plain "$build"
        # Reading a log cut and flipped at every byte is ASan's work: it sees
        # the same accesses, ten times faster.
        run_but 'log damage' memcheck "$build" --setup memcheck --suite unit
    fi
    if prepare ASan+UBSan "$build-asan" "${sanitize[@]}" -Db_sanitize=address,undefined; then
        export ASAN_OPTIONS=detect_stack_use_after_return=0:abort_on_error=0
        export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
        # Forks under load end in a deadlock of ASan's allocator now and then: it
        # does not release its locks in the child.  The plain run and TSan's do.
        run_but lifecycle asan "$build-asan" --no-suite proof --no-suite docs \
            --no-suite model --no-suite abi --no-suite fault
    fi
    if prepare TSan "$build-tsan" "${sanitize[@]}" -Db_sanitize=thread; then
        # Forked children of a threaded process look like leaks of threads.
        export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:report_thread_leaks=0
        run tsan "$build-tsan" --suite conformance --suite torture
    fi
    helgrind_tests
    close_tests
}

# Which lines the tests reach; docs/coverage.md says why not the others.  Not run:
# what does not run the library, or single-steps it.
coverage() {
    local folder=$build-coverage
    install_missing "${build_packages[@]}" "${test_packages[@]}" "${coverage_packages[@]}"
    export POSIXTRACE_TEST_SHORT=1
    prepare coverage "$folder" -Dtests=true -Db_coverage=true -Dbuildtype=debugoptimized ||
        die "nothing to count"
    find "$folder" -name '*.gcda' -delete
    run coverage "$folder" --no-suite model --no-suite docs --no-suite house --no-suite proof \
        --no-suite abi --no-suite bench
    say "lines of lib/ that were reached"
    gcovr --root . --object-directory "$folder" --filter lib/ --txt "$folder/coverage.txt" \
        --print-summary --fail-under-line 90 "$folder" || broken=$((broken + 1))
    say "by file: $folder/coverage.txt"
    close_tests
}

benchmarks() {
    local folder=$build-bench results
    install_missing "${build_packages[@]}" "${test_packages[@]}"
    # In a subshell: without the contestant its rows say that it is missing.
    (install_missing "${bench_packages[@]}") || say "continuing without LTTng-UST"
    configure "$folder" -Dtests=true -Dbuildtype=release || die "the build cannot be set up"
    results=$(readlink -f "$folder")/benchmarks.csv
    rm -f "$results"
    say "building what the benchmarks need into $folder, then running them: leave the machine alone"
    POSIXTRACE_BENCH_CSV=$results meson test -C "$folder" --benchmark --verbose ||
        die "a benchmark found something wrong; docs/benchmarks.md is as it was, see $results"
    say "docs/benchmarks.md"
    python3 test/bench/report.py "$results" docs/benchmarks.md "$(cc --version | head -n 1)"
}

# What cannot be installed is left out, and the table says so.
portability() {
    install_missing "${build_packages[@]}" "${test_packages[@]}"
    (install_missing "${cross_packages[@]}") || say "continuing with the compilers that are there"
    exec test/cross/run.sh "$build-port" "$@"
}

case ${1:-} in
    demo) demo ;;
    build) build_plain ;;
    quick) quick_tests ;;
    test) all_tests ;;
    bench) benchmarks ;;
    coverage) coverage ;;
    fuzz) fuzz ;;
    portability) shift; portability "$@" ;;
    packages) printf '%s\n' "${build_packages[@]}" "${test_packages[@]}" ;;
    -h | --help) usage ;;
    *) usage >&2; exit 64 ;;
esac
