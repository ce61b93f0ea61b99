#!/bin/bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# usage: run.sh FOLDER [VARIANT...]
#
# Builds each variant (all, or those named) in FOLDER/VARIANT, with warnings as
# errors, runs tests in it, and prints a table: what was built, what passed, and
# why something was left out.  Exit status 0: everything that could be tried
# passed.
#
# Compilers and levels of optimisation run the unit and the conformance tests.
# Other machines, too, and their logs are exchanged with this machine's: the
# variant "gcc-O2" is the other side, and is built if it is not there.  Their
# libraries come from sysroot.sh, their processors from qemu-user; i386 runs
# natively.
set -u
folder=$1
shift
source=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd) || exit 1
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 1
native=()
for compiler in gcc clang; do
    for level in O0 O1 O2 O3 lto; do
        native+=("$compiler-$level")
    done
done
foreign=(i386 arm64 arm64-64k s390x)
variants=("${@:-}")
[ -n "${variants[0]}" ] || variants=("${native[@]}" gcc-no-zstd "${foreign[@]}")
export POSIXTRACE_TEST_SHORT=1
table=$folder/table
: >"$table"
failed=0

say() {
    printf '\n== %s\n' "$*"
}

row() {
    printf '%-12s %-6s %s\n' "$@" >>"$table"
}

# leave_out VARIANT WHY
leave_out() {
    say "$1: left out: $2"
    row "$1" - "left out: $2"
}

# fail VARIANT BUILT WHAT
fail() {
    failed=1
    row "$@"
}

# need VARIANT PROGRAM...: false, and the variant is left out, if one is missing
need() {
    local variant=$1 program
    shift
    for program in "$@"; do
        command -v "$program" >/dev/null && continue
        leave_out "$variant" "there is no $program"
        return 1
    done
}

# build VARIANT FOLDER OPTION...: false, and the variant has failed, if it does not build
build() {
    local variant=$1 to=$2
    shift 2
    say "$variant: building into $to"
    if ! { [ -e "$to/build.ninja" ] ||
               meson setup "$to" "$source" -Dwerror=true -Dtests=true "$@" >"$to.log" 2>&1; } ||
        ! nice ninja -C "$to" --quiet >"$to.log" 2>&1; then
        grep -E 'error:|ERROR|FAILED' "$to.log" | head -n 20
        fail "$variant" no "see $to.log"
        return 1
    fi
}

# run_tests FOLDER LOG ARGUMENT...: sets counts to "N passed, N failed", and what
# ended meson itself, which then has no results of the tests it did not come to
run_tests() {
    local to=$1 log=$2 status
    shift 2
    rm -f "$to/meson-logs/$log"*.json
    nice meson test -C "$to" --no-rebuild --print-errorlogs --logbase "$log" "$@" |
        grep -E '^ *[0-9]+/[0-9]+ .*(FAIL|TIMEOUT|ERROR)|^(Ok|Fail|Timeout):'
    status=${PIPESTATUS[0]}
    counts=$(python3 "$source/test/house/totals.py" 0 "$to/meson-logs/$log" | tail -n 1)
    [ "$status" -lt 128 ] || counts="$counts, and the run was ended ($status)"
}

# all_but FOLDER PATTERN ARGUMENT...: chosen, the tests that the arguments choose but those
all_but() {
    local to=$1 left_out=$2
    shift 2
    mapfile -t chosen < <(meson test -C "$to" --no-rebuild --list "$@" 2>/dev/null |
                              sed -n 's|^.* / ||p' | grep -vxE -- "$left_out")
    chosen=("${chosen[@]:-nothing is chosen}")   # an empty list would mean all
}

# judge VARIANT EXTRA: a row from counts; EXTRA is what else was done
judge() {
    case $counts in
        "0 passed"*) fail "$1" yes "no test was run" ;;
        *" 0 failed") row "$1" yes "$counts${2:+; $2}" ;;
        *) fail "$1" yes "$counts${2:+; $2}" ;;
    esac
}

native_variant() {
    local variant=$1 compiler=${1%%-*} level=${1#*-} options=()
    need "$variant" "$compiler" || return
    case $level in
        lto) options=(-Doptimization=2 -Db_lto=true) ;;
        no-zstd) options=(-Doptimization=2 -Dzstd=disabled) ;;
        *) options=("-Doptimization=${level#O}") ;;
    esac
    case $compiler in
        clang) export CC=clang CXX=clang++ ;;
        *) export CC=gcc CXX=g++ ;;
    esac
    build "$variant" "$folder/$variant" "${options[@]}" || return
    run_tests "$folder/$variant" cross --suite unit --suite conformance
    judge "$variant" ""
}

# foreign_build MACHINE COMPILER EMULATOR: FOLDER/MACHINE; sets wrapper
foreign_build() {
    local machine=$1 compiler=$2 emulator=$3 sysroot=$folder/sysroot-$1
    need "$variant" "$compiler" pkg-config ${emulator:+"$emulator"} || return
    "$source/test/cross/sysroot.sh" "$machine" "$sysroot" || {
        leave_out "$variant" "its packages cannot be had, see above"
        return 1
    }
    wrapper=()
    [ -z "$emulator" ] || wrapper=("$emulator" -L "$sysroot")
    sed "s|@SYSROOT@|$sysroot|g" "$source/test/cross/$machine.ini" >"$folder/$machine.ini"
    build "$variant" "$folder/$machine" --cross-file "$folder/$machine.ini"
}

# exchange OPTION...: with this machine's build; sets exchanged
exchange() {
    if [ ! -x "$folder/gcc-O2/test/cli/traced" ] &&
        ! CC=gcc CXX=g++ build "gcc-O2" "$folder/gcc-O2" -Doptimization=2; then
        exchanged="no logs exchanged"
        return
    fi
    say "exchanging logs"
    if exchanged=$(python3 "$source/test/cross/exchange.py" "$@" 2>"$folder/exchange.log"); then
        printf '%s\n' "$exchanged"
        return
    fi
    cat "$folder/exchange.log"
    failed=1
    exchanged="exchange FAILED: $(tail -n 1 "$folder/exchange.log" | cut -c 1-60)"
}

foreign_variant() {
    local variant=$1 machine=${1%-64k} exchanged="" own=(--suite unit --suite conformance)
    case $machine in
        i386)
            foreign_build i386 i686-linux-gnu-gcc "" || return
            run_tests "$folder/i386" cross --suite unit --suite conformance --suite torture
            exchange --segments "$folder/gcc-O2" "$folder/i386"
            ;;
        arm64)
            foreign_build arm64 aarch64-linux-gnu-gcc qemu-aarch64 || return
            if [ "$variant" = arm64-64k ]; then
                # A kernel with pages of 64 KiB, which other ARM systems have.  The
                # emulator then leaves the parent's thread id in a forked child,
                # so that group_f_waiting's pthread_kill() reaches nobody; and it
                # maps what the loader has in its last page up to 4 KiB only,
                # where a program with 4 KiB of its own thread-local data has them.
                all_but "$folder/arm64" \
                    'conformance group_f_waiting|metrics portable (bounds|gaps|linux|segments|user)' \
                    "${own[@]}"
                QEMU_PAGESIZE=65536 run_tests "$folder/arm64" pages64 "${own[@]}" "${chosen[@]}"
            else
                run_tests "$folder/arm64" cross "${own[@]}"
                exchange "$folder/gcc-O2" "$folder/arm64" "${wrapper[@]}"
            fi
            ;;
        s390x)
            foreign_build s390x s390x-linux-gnu-gcc qemu-s390x || return
            run_tests "$folder/s390x" cross "${own[@]}"
            exchange --foreign "$folder/gcc-O2" "$folder/s390x" "${wrapper[@]}"
            ;;
        *) leave_out "$variant" "there is no such variant" ; failed=1; return ;;
    esac
    judge "$variant" "$exchanged"
}

row variant built tests
for variant in "${variants[@]}"; do
    case $variant in
        gcc-* | clang-*) native_variant "$variant" ;;
        *) foreign_variant "$variant" ;;
    esac
done
say "portability: $SECONDS s"
cat "$table"
exit "$failed"
