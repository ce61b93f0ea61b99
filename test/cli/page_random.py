#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Pages of the random programs of report_random.py: the band of states of each thread has the sums of 'posixtrace
report', to the nanosecond; locks are held from their lock to their unlock; flows lead to threads that waited; and
the worst cases are those of 'posixtrace why'.

usage: page_random.py POSIXTRACE [FIRST_SEED [LOGS]]
"""

import json
import random
import struct
import sys

import page_data
import report_random

LOGS = 60
FLOWS = []
CASES = []
WORDS = {"running": "run_ns", "runnable": "runnable_ns", "unnamed": "other_waits_ns", "unknown": "unknown_ns"}


def page_of(tool, folder, events):
    report_random.write(events, folder / "log.jsonl")
    report_random.run(tool, "import", "--force", "--from=jsonl", folder / "log.jsonl", folder / "log.ptl")
    report_random.run(tool, "report", f"--html={folder / 'log.html'}", "--force", folder / "log.ptl")
    page = page_data.Page(folder / "log.html")
    page.check()
    page.check_levels(page.sums())
    for pair in page.head["why"]:
        alone = json.loads(report_random.run(tool, "why", "--format=json", pair["subject"], folder / "log.ptl"))
        assert pair == alone, (pair, alone)
        CASES.append(len(pair["instances"]))
    return page


def sums_of_states(page):
    """By tid: the sums of the band; its parts follow each other and do not overlap."""
    head, parts = page.head, {}
    for row, begin, length, value in page.items():
        about = head["rows"][row]
        if about["kind"] == "state":
            parts.setdefault(head["lanes"][about["lane"]]["tid"], []).append((begin, length, value))
    sums = {}
    for tid, items in parts.items():
        items.sort()
        assert all(a[0] + a[1] <= b[0] for a, b in zip(items, items[1:])), (tid, items)
        for _, length, value in items:
            word = head["states"][value]
            key = WORDS.get(word, word)
            sums.setdefault(tid, {}).setdefault(key, 0)
            sums[tid][key] += length
    return sums


def check_states(page):
    report = page.head["report"]
    sums = sums_of_states(page)
    if report["summary"]["call_events"] + report["summary"]["switch_events"] == 0:
        assert not sums
        return
    for row in report["threads"]:
        shown, mine = report_random.shown_shares(row), sums.get(row["tid"], {})
        if row["waiting_is"] != "off the processor":
            # times between calls are sums only, with bounds: the band has them as unknown
            for key in ("run_ns", "other_waits_ns"):
                shown["unknown_ns"] = shown.get("unknown_ns", 0) + shown.pop(key, 0)
            shown = {key: value for key, value in shown.items() if value}
        assert shown == mine, (row["tid"], shown, mine)


def true_holds(events):
    """(pid, lock, tid, begin, end) of mutexes that were locked and unlocked."""
    held, found = {}, []
    for ns, tid, pid, _, event, data in events:
        if event not in ("posixtrace_mutex_locked", "posixtrace_mutex_unlock"):
            continue
        key = (pid, struct.unpack_from("<Q", data)[0], tid)
        if event.endswith("unlock"):
            found.append((*key, held.pop(key), ns))
        elif struct.unpack_from("<q", data, 8)[0] == 0:
            held[key] = ns
    return sorted(found)


def check_locks(page, events):
    head, found, origin = page.head, [], int(page.head["origin"])
    last = max(e[0] for e in events)
    for row, begin, length, value in page.items():
        about = head["rows"][row]
        if about["kind"] == "lock":
            found.append((head["processes"][about["process"]]["pid"], int(about["object"]),
                          head["lanes"][value - 1]["tid"], origin + begin, origin + begin + length))
    wanted = true_holds(events)
    assert sorted(f for f in found if f[4] < last or f in wanted) == wanted, set(found) ^ set(wanted)


def check_flows(page, events):
    """From an unlock, or another event that ends waits, to the end of a wait of another thread."""
    head, origin, at = page.head, int(page.head["origin"]), {}
    for ns, tid, _, _, event, _ in events:
        at.setdefault((ns, tid), []).append(event)
    count = 0
    for tile, (source, ns, target, length, kind) in page.rows_of(head["detail"]["flows"], 5):
        assert tile["from"] <= ns and ns + length <= tile["to"] and source != target
        begins = at[origin + ns, head["lanes"][source]["tid"]]
        ends = at[origin + ns + length, head["lanes"][target]["tid"]]
        wanted = (("unlock", "locked"), ("signal", "woken"), ("post", "taken"), ("wait", "passed"), None,
                  ("thread_end", "joined"))[kind]
        assert any(wanted[0] in e for e in begins) and any(wanted[1] in e for e in ends), (begins, ends, kind)
        count += 1
    return count


def one_log(tool, folder, seed):
    rng = random.Random(seed)
    sim = report_random.Simulation(rng, rng.choice(("switches", "switches", "samples", "neither")))
    sim.run()
    page = page_of(tool, folder, sim.events)
    check_states(page)
    check_locks(page, sim.events)
    FLOWS.append(check_flows(page, sim.events))
    check_states(page_of(tool, folder, report_random.lossy(sim, rng)))
    if sim.samples:
        return
    sim.long_calls(rng.randint(20, 300))
    check_states(page_of(tool, folder, sim.events))
    check_states(page_of(tool, folder, report_random.lossy(sim, rng)))


if __name__ == "__main__":
    status = report_random.main(one_log, LOGS)
    assert len(FLOWS) < LOGS or sum(CASES) > LOGS, CASES
    assert len(FLOWS) < LOGS or sum(map(bool, FLOWS)) > LOGS / 8, FLOWS
    sys.exit(status)
