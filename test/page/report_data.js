/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Small objects of `report --format=json` and `why --format=json`, with the threads of
 * synthetic.js.
 */
"use strict";
const ORIGIN = 1763000000123456789n;

/** A time of the log, as the page has it after its JSON was read. */
function at(ns) {
    return String(ORIGIN + BigInt(ns));
}

function thread(tid, total) {
    return {name: "worker", pid: 31, tid, begin_ns: at(0), end_ns: at(total), total_ns: total,
            run_ns: total / 4, runnable_ns: total / 8, waiting_ns: {lock: total / 4,
            sleep: total / 4}, other_waits_ns: 0, unknown_ns: total / 8, switches: 12, events: 30};
}

const object = {kind: "lock", pid: 31, object: 93827874996448, object_symbol: "cache_lock",
                calls: 40, waits: 5, failed: 0, unknown: 0, open: 0, total_ns: 9000, p50_ns: 2000,
                p99_ns: 4000, p99_9_ns: 4000, longest_ns: 4000, longest_at_ns: at(1000),
                longest_tid: 31, caller: 93827874984835, caller_symbol: "worker (cache.c:50)",
                holder_tid: 32, holder_caller: 93827874984986,
                holder_caller_symbol: "evict (cache.c:29)"};

const report = {
    summary: {first_ns: at(0), last_ns: at(100000), events: 900},
    threads: [thread(31, 80000), thread(32, 40000), thread(33, 100000)], locks: [object],
    contention: [{pid: 31, object: 93827874996448, object_symbol: "cache_lock", tid: 31,
                  holder_tid: 32, waits: 4, total_ns: 8000, longest_ns: 4000,
                  longest_at_ns: at(1000)},
                 {pid: 31, object: 93827874996448, object_symbol: "cache_lock", tid: 33,
                  holder_tid: 0, waits: 1, total_ns: 1000, longest_ns: 1000,
                  longest_at_ns: at(7000)}],
    waits: [{...object, kind: "sleep", object: 0, object_symbol: "", holder_tid: undefined}],
    pairs: [{name: "request", count: 9, unknown: 0, open: 1, total_ns: 6000, p50_ns: 180,
             p99_ns: 4500, p99_9_ns: 4500, max_ns: 4500, max_at_ns: at(500), max_pid: 31,
             max_tid: 31}],
    descriptors: [{...object, kind: "I/O", descriptor: 3, object_symbol: "", name: "/var/log/x",
                   call: "fsync"}],
    sites: [{kind: "lock", pid: 31, caller: 93827874984835, caller_symbol: "worker (cache.c:50)",
             waits: 5, total_ns: 9000, p50_ns: 2000, p99_ns: 4000, longest_ns: 4000,
             longest_at_ns: at(1000), longest_tid: 31}],
    work: [], preemptors: [{name: "other", pid: 7, tid: 8, count: 2, total_ns: 300, longest_ns: 200,
                            longest_at_ns: at(700), longest_tid: 31}],
    preempted_by_others: {count: 0, total_ns: 0, longest_ns: 0}, lost: {}, unreadable_bytes: 0,
    cut: false, cost: {events: 900, event_ns: 9.9, total_ns: 8910}};

const wait = {pid: 31, tid: 31, state: "wait", kind: "lock", object: 93827874996448,
              object_symbol: "cache_lock", caller: 93827874984835,
              caller_site: "worker (cache.c:50)", relation: "holds", other_pid: 31, other_tid: 32,
              other_caller_site: "evict (cache.c:29)"};

const why = {
    subject: "request",
    summary: {count: 9, open: 0, unknown: 0, median_ns: 180, slow_ns: 4500, slow: 1,
              beyond_ns: 4300},
    causes: [{ns: 4000, beyond_ns: 3900, instances: 1, segment: wait,
              root: {pid: 31, tid: 32, state: "run"}}],
    instances: [{begin_ns: at(500), end_ns: at(5000), length_ns: 4500, pid: 31, tid: 31,
                 end_pid: 31, end_tid: 31, open: false, segments: [
                     {depth: 0, begin_ns: at(500), end_ns: at(800), pid: 31, tid: 31,
                      state: "run"},
                     {...wait, depth: 0, begin_ns: at(800), end_ns: at(4800)},
                     {depth: 1, begin_ns: at(800), end_ns: at(4800), pid: 31, tid: 32,
                      state: "run"},
                     {depth: 0, begin_ns: at(4800), end_ns: at(5000), pid: 31, tid: 31,
                      state: "unknown", reason: "events were lost"}]}],
    blocked: [{...wait, since_ns: at(9000), deadlock_number: 0}]};

module.exports = {report, why};
