#!/bin/bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# Runs a benchmark beside LTTng-UST: a session daemon of its own, in a folder
# of its own, one session in discard mode to disk with vpid and vtid contexts
# (POSIX events carry both).  Whatever happens, daemon and folder are gone in
# the end.  Without LTTng, or when its daemon does not start, the benchmark
# runs alone and says which rows it left out.
#
# usage: lttng.sh PLUGIN PROGRAM [ARGUMENT...]
#
# PLUGIN is the module with LTTng's side, or "none" where it was not built.
# The program finds in its environment
#   POSIXTRACE_BENCH_LTTNG      PLUGIN
#   POSIXTRACE_BENCH_LTTNG_OUT  folder that the session writes to
# and may call "lttng stop": the session is the current one, and is started.
# POSIXTRACE_BENCH_LTTNG_BUFFERS=pid gives each process buffers of its own, small ones.
#
# LTTng keeps the sockets of root's daemon in /var/run/lttng whatever the
# environment says.  Where root has a daemon already, it is left alone, and
# the benchmark runs without LTTng.
set -u
plugin=$1
shift
daemon=
folder=
waits=()    # what the first user of LTTng leaves in /dev/shm, if we are the first

alone() {
    [ $# -eq 0 ] || printf 'without LTTng-UST: %s\n' "$*"
}

clean_up() {
    if [ -n "$daemon" ]; then
        lttng destroy --no-wait >/dev/null 2>&1
        kill "$daemon" 2>/dev/null
        wait "$daemon" 2>/dev/null
    fi
    [ -z "$folder" ] || rm -rf "$folder"
    [ ${#waits[@]} -eq 0 ] || rm -f "${waits[@]}"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# Sub-buffers large enough that a round of a benchmark fits: a discarded event
# is cheaper than a recorded one, and would flatter LTTng.
make_session() {
    local buffers=(--buffers-uid --subbuf-size=8M --num-subbuf=8)

    [ "${POSIXTRACE_BENCH_LTTNG_BUFFERS:-uid}" = uid ] ||
        buffers=(--buffers-pid --subbuf-size=256K --num-subbuf=4)
    lttng create bench --output="$folder/trace" &&
        lttng enable-channel --userspace bench --discard "${buffers[@]}" &&
        lttng enable-event --userspace --channel=bench 'posixtrace_bench:*' &&
        lttng add-context --userspace --channel=bench --type=vpid --type=vtid &&
        lttng start
}

start_daemon() {
    local file
    for file in /dev/shm/lttng-ust-wait-8 "/dev/shm/lttng-ust-wait-8-$(id -u)"; do
        [ -e "$file" ] || waits+=("$file")
    done
    folder=$(mktemp -d "${POSIXTRACE_BENCH_DIR:-/var/tmp}/posixtrace-lttng.XXXXXX") || return 1
    export LTTNG_HOME=$folder LTTNG_UST_REGISTER_TIMEOUT=10000
    lttng --no-sessiond list >/dev/null 2>&1 && return 1
    lttng-sessiond --no-kernel --quiet >"$folder/daemon.log" 2>&1 &
    daemon=$!
    for _ in {1..100}; do
        lttng --no-sessiond list >/dev/null 2>&1 && return 0
        kill -0 "$daemon" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

if [ ! -e "$plugin" ] || ! command -v lttng-sessiond >/dev/null || ! command -v lttng >/dev/null
then
    alone "it is not installed (apt: lttng-tools liblttng-ust-dev babeltrace2)"
elif ! start_daemon; then
    alone "its session daemon does not start, or another one runs (lttng list)"
elif ! make_session >"$folder/session.log" 2>&1; then
    alone "its session cannot be made:" "$(tail -n 1 "$folder/session.log")"
else
    export POSIXTRACE_BENCH_LTTNG=$plugin POSIXTRACE_BENCH_LTTNG_OUT=$folder/trace
fi
"$@"
