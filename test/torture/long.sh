#!/bin/bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# The long runs of what the test suite runs short:
#
#   long.sh [BUILD-FOLDER [KILLS]]
#   long.sh soak DURATION [BUILD-FOLDER]
#
# KILLS (10,000 if not given) processes killed at random moments, each log read
# and recovered; a fifth as many with thousands of short threads; a tenth as many
# controllers and targets killed or stopped, and rounds of families, each operation
# within 2 s; a hundredth as many stopped;
# every instruction of the path of an event, also of the scenes that the suite
# samples; each torture combination ten times as long.  Ends with 1 at the first
# failure, whose seed and output it shows.  About two hours on two cores.
#
# soak: sixteen threads, streams that are created, steered and shut down at random,
# children and onlookers for DURATION, a number of seconds, minutes (15m) or hours
# (10h), with a line about it every ten minutes.
set -u
here=$(dirname "$(readlink -f "$0")")
soak=
if [ "${1:-}" = soak ]; then
    case ${2:-} in
        [1-9]*m) soak=$((${2%m} * 60)) ;;
        [1-9]*h) soak=$((${2%h} * 3600)) ;;
        [1-9]*) soak=${2%s} ;;
        *)
            echo "long.sh: soak '${2:-}': say for how long, as in 15m or 10h" >&2
            exit 64
            ;;
    esac
    shift 2
fi
build=$(readlink -f "${1:-$here/../../build}")
kills=${2:-10000}
private=$here/../house/private-dir.sh

[ -x "$build/test/torture/kill" ] || {
    echo "long.sh: $build has no test/torture/kill; build it with ./setup.sh quick" >&2
    exit 64
}

[ -z "$soak" ] || exec "$private" "$build/test/torture/soak" "$soak"

# run NAME COMMAND...
run() {
    local name=$1 started=$SECONDS output
    shift
    printf '%-40s ' "$name"
    if ! output=$("$private" "$@" 2>&1); then
        printf 'FAILED after %d s\n%s\n' $((SECONDS - started)) "$output"
        exit 1
    fi
    printf '%5d s  %s\n' $((SECONDS - started)) "$(tail -n 1 <<<"$output")"
}

run "$kills times kill -9" "$build/test/torture/kill" $((kills / 30 + 1))
run "$((kills / 5)) throngs of threads killed" "$build/test/torture/throng" $((kills / 300 + 1))
run "$((kills / 10)) deaths of controllers or targets" "$build/test/torture/controllers" \
    $((kills / 300 + 1))
run "$((kills / 10)) rounds of families" "$build/test/torture/family" $((kills / 10)) 2
run "$((kills / 100)) times SIGSTOP" "$build/test/torture/stopped" $((kills / 600 + 1))
POSIXTRACE_PROOF_FULL=1 run "every instruction" "$build/test/proof/step"
for again in 1 2 3; do
    run "streams of killed processes, run $again" "$build/test/torture/policies"
done
run "life cycle under load" "$build/test/torture/lifecycle" 10
run "threads that leave inside events" "$build/test/torture/left" 10
run "attaching at any moment" "$build/test/torture/attach" 10
run "sequences against a model" "$build/test/torture/sequences" 100000 1000000
run "threads, streams, children and onlookers" "$build/test/torture/soak" 900
run "the books at any moment" "$build/test/torture/poll" 20
run "looking on" "$build/test/torture/onlooker" 20
run "steering, killed and stopped" "$build/test/torture/steer" 20
run "failing writes" "$build/test/torture/write_errors"
run "every policy, mode and thread count" "$build/test/torture/torture" all 3
