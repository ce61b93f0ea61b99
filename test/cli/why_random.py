#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Programs with a known cause of their slow requests, simulated: posixtrace why finds it.

usage: why_random.py POSIXTRACE [FIRST_SEED [PROGRAMS]]

Threads of a simulated program take locks, wait, signal, read and are preempted; they write the
events that a recorded program would, and apart from them the truth: the state of each thread at
each time, which thread had each lock.  One request of each program is slow, for a reason that its
author chose.  The first cause of the summary has to be that reason, in 95 of 100 programs; every
statement about a thread has to be true in each, and segments have to add up.  Then events are taken
out, and every statement still has to be true; the same holds for the random programs of
report_random.py.
"""

import heapq
import json
import os
import pathlib
import random
import struct
import sys
import tempfile

import report_random

PROGRAMS = 300
START = 1795255200000000000
CALLS = {"read": 0, "fsync": 21}
ETIMEDOUT = 110


class Object:
    def __init__(self, address):
        self.address, self.owner, self.queue, self.value = address, None, [], 0
        self.readers = []


class Thread:
    def __init__(self, sim, number, script):
        self.sim, self.tid, self.pid = sim, 100 + number, 50 + number % sim.processes
        self.name, self.script, self.cpu = f"t{number}", script, number
        self.now = self.since = None
        self.state, self.truth, self.over, self.blocked, self.joiners = ("run", None), [], 0, 0, []

    def emit(self, event, data=b""):
        self.sim.events.append((self.now, self.tid, self.pid, self.name, event, data))

    def system(self, event, form, *values):
        self.emit("posixtrace_" + event, struct.pack("<" + form, *values))

    def become(self, word, kind=None):
        if self.now > self.since:
            self.truth.append((self.state, self.since, self.now))
        self.state, self.since = (word, kind), self.now

    def switch(self, event, word, kind=None):
        if self.sim.switches:
            self.system("switch_" + event, "I", self.cpu)
        self.become(word, kind)


class Simulation:
    def __init__(self, rng):
        self.rng, self.switches = rng, rng.random() < 0.75
        self.processes, self.threads, self.events, self.heap = 1, [], [], []
        self.holds = []  # address, pid, tid, from, to; as the events say it
        self.having, self.count, self.addresses, self.sequence = {}, 8, 0x1000, 0
        self.hog = None

    def object(self):
        self.addresses += 64 * self.rng.randint(1, 9)
        return Object(self.addresses)

    def thread(self, script):
        th = Thread(self, len(self.threads), None)
        th.script = self.life(th, script)
        self.threads.append(th)
        assert len(self.threads) <= self.count
        return th

    def slot(self, th, ns):
        """Times of thread i are i modulo the number of threads, so no two events coincide."""
        return ns + (th.tid - 100 - ns) % self.count

    def wake(self, th, ns):
        self.sequence += 1
        heapq.heappush(self.heap, (self.slot(th, ns), self.sequence, th, th.blocked))

    def run(self, end):
        for th in self.threads:
            th.now = th.since = self.slot(th, START + self.rng.randint(0, 90))
            self.wake(th, th.now)
        while self.heap:
            now, _, th, blocked = heapq.heappop(self.heap)
            if blocked != th.blocked or now > START + end:
                continue
            th.blocked += 1
            th.now = now
            wait = next(th.script, -1)
            if wait is not None and wait >= 0:
                self.wake(th, now + max(1, wait) + (0 if wait else 1))
        self.events.sort(key=lambda e: e[0])
        last = self.events[-1][0]
        for th in self.threads:
            th.now = max(last, th.since)
            th.become("end")
        for (address, tid), (pid, since) in self.having.items():
            self.holds.append((address, pid, tid, since, last + 1))

    # ---- what threads do; generators that yield how long nothing happens, None: until woken ----

    def life(self, th, script):
        if self.switches:
            th.switch("in", "run")
            yield 3
        th.system("thread_begin", "Q", 0x7f00 + th.tid)
        yield from script(th)
        th.system("thread_end", "Q", 0x7f00 + th.tid)
        for other in th.joiners:
            self.wake(other, th.now + 5)
        th.joiners, th.over = [], 1
        yield 2
        th.switch("out", "gone")

    def works(self, th, ns):
        th.become("run")
        yield ns
        if self.rng.random() < 0.3:
            th.emit("user event")

    def off(self, th, kind):
        """Off the processor until another thread wakes this one, if switches are recorded."""
        th.switch("out", "off", kind)
        yield None
        th.switch("in", "run", kind)
        yield 2

    def locks(self, th, lock, site, reads=False):
        word = "rwlock" if reads is not False else "mutex"
        th.system(word + "_lock", "QQ", lock.address, site)
        th.become("run", "lock")
        yield 1
        if lock.owner or (not reads and lock.readers):
            lock.queue.append((th, reads))
            yield from self.off(th, "lock")
        elif reads:
            lock.readers.append(th)
        else:
            lock.owner = th
        yield 1
        th.system(word + "_locked", "Qq", lock.address, 0)
        th.become("run")
        self.having[lock.address, th.tid] = (th.pid, th.now)
        yield 1

    def unlocks(self, th, lock, site, reads=False):
        th.system(("rwlock" if reads is not False else "mutex") + "_unlock", "QQ", lock.address, site)
        self.holds.append((lock.address, th.pid, th.tid, self.having.pop((lock.address, th.tid))[1],
                           th.now))
        yield 1
        self.hands_over(th, lock)
        yield 1

    def hands_over(self, th, lock):
        if th in lock.readers:
            lock.readers.remove(th)
        else:
            lock.owner = None
        while lock.queue and not lock.owner and (lock.queue[0][1] or not lock.readers):
            other, reads = lock.queue.pop(0)
            if reads:
                lock.readers.append(other)
            else:
                lock.owner = other
            self.wake(other, th.now + self.rng.randint(1, 9))

    def reads(self, th, descriptor, call, site, ns):
        th.system("io", "IiQ", CALLS[call], descriptor, site)
        th.become("run", "I/O")
        yield 2
        th.switch("out", "off", "I/O")
        yield ns
        th.switch("in", "run", "I/O")
        yield 2
        th.system("io_done", "Iiq", CALLS[call], descriptor, 1)
        th.become("run")
        yield 1

    def sleeps(self, th, site, ns):
        th.system("sleep", "QqQ", 0, th.now + ns, site)
        th.become("run", "sleep")
        yield 1
        th.switch("out", "off", "sleep")
        yield ns
        th.switch("in", "run", "sleep")
        yield 1
        th.system("sleep_done", "Qq", 0, th.now)
        th.become("run")
        yield 1

    def is_preempted(self, th, by, ns):
        """The other thread takes the processor for that time, where it ran on another one."""
        by.cpu, old = th.cpu, by.cpu
        th.switch("preempted", "runnable")
        self.hog = (by, ns)
        self.wake(by, th.now + 1)
        yield ns + 40
        by.cpu = old
        th.switch("in", "run")
        yield 1

    def hogs(self, th):
        """A thread that waits unnamed, and runs when another one is preempted for it."""
        while True:
            th.switch("out", "off", "unnamed")
            yield None
            th.switch("in", "run")
            yield self.hog[1]
            th.become("run")

    def waits(self, th, condition, lock, site, timeout=None):
        th.system("cond_wait", "QQ", condition.address, site)
        th.become("run", "condition")
        yield 1
        th.system("mutex_unlock", "QQ", lock.address, site)
        self.holds.append((lock.address, th.pid, th.tid, self.having.pop((lock.address, th.tid))[1],
                           th.now))
        self.hands_over(th, lock)
        condition.queue.append(th)
        th.woken = False
        th.switch("out", "off", "condition")
        if timeout:
            yield timeout
            condition.queue.remove(th)
        else:
            yield None
        if lock.owner and self.rng.random() < 0.5:  # it runs, and sleeps again for the mutex
            th.switch("in", "run", "condition")
            yield 3
        if lock.owner:
            lock.queue.append((th, False))
            if th.state[0] == "run":
                th.switch("out", "off", "relock")
            else:
                th.become("off", "relock")
            yield None
        else:
            lock.owner = th
        th.switch("in", "run", "condition")
        yield 1
        th.system("mutex_locked", "Qq", lock.address, 0)
        self.having[lock.address, th.tid] = (th.pid, th.now)
        yield 1
        th.system("cond_woken", "Qq", condition.address, ETIMEDOUT if timeout else 0)
        th.become("run")
        yield 1

    def signals(self, th, condition, site):
        th.system("cond_signal", "QQ", condition.address, site)
        yield 1
        if condition.queue:
            self.wake(condition.queue.pop(0), th.now + self.rng.randint(1, 9))
        yield 1

    def takes(self, th, semaphore, site):
        th.system("sem_wait", "QQ", semaphore.address, site)
        th.become("run", "semaphore")
        yield 1
        if semaphore.value > 0:
            semaphore.value -= 1
        else:
            semaphore.queue.append(th)
            yield from self.off(th, "semaphore")
        th.system("sem_taken", "Qq", semaphore.address, 0)
        th.become("run")
        yield 1

    def posts(self, th, semaphore, site):
        th.system("sem_post", "QQ", semaphore.address, site)
        yield 1
        if semaphore.queue:
            self.wake(semaphore.queue.pop(0), th.now + self.rng.randint(1, 9))
        else:
            semaphore.value += 1
        yield 1

    def joins(self, th, other, site):
        th.system("thread_join", "QQ", 0x7f00 + other.tid, site)
        th.become("run", "thread")
        yield 1
        if not other.over:
            other.joiners.append(th)
            yield from self.off(th, "thread")
        th.system("thread_joined", "Qq", 0x7f00 + other.tid, 0)
        th.become("run")
        yield 1


# ---- programs: each makes the threads of one and returns what its first cause has to be ----

class Plan:
    """Requests of one thread, one of them slow; other threads help when it begins."""

    def __init__(self, sim):
        self.sim, self.rng = sim, sim.rng
        self.go, self.ready = False, False
        self.lock, self.decoy = sim.object(), sim.object()
        self.long = sim.rng.randint(3000, 20000)
        self.slow_at = sim.rng.randint(3, 20)
        self.requests = self.slow_at + sim.rng.randint(2, 20)
        self.pair = "req:begin..req:end"

    def until(self, th, what):
        while not what():
            yield from self.sim.works(th, 11)

    def request(self, th, slow=None):
        th.emit("req:begin", struct.pack("<Q", th.tid))
        yield from self.sim.works(th, self.rng.randint(1, 30))
        yield from self.sim.locks(th, self.lock, 0x400010)
        yield from self.sim.works(th, self.rng.randint(1, 10))
        yield from self.sim.unlocks(th, self.lock, 0x400020)
        if slow:
            yield from slow(th)
        th.emit("req:end", struct.pack("<Q", th.tid))
        yield self.rng.randint(1, 20)

    def victim(self, slow):
        def script(th):
            for i in range(self.requests):
                if i == self.slow_at:
                    self.go = True
                    yield from self.until(th, lambda: self.ready)
                yield from self.request(th, slow if i == self.slow_at else None)
        return self.sim.thread(script)

    def bystander(self):
        """Has a lock that no other thread wants for as long as the slow request takes."""
        def script(th):
            yield from self.until(th, lambda: self.go)
            yield from self.sim.locks(th, self.decoy, 0x400d00)
            yield from self.sim.works(th, 2 * self.long)
            yield from self.sim.unlocks(th, self.decoy, 0x400d10)
        if self.rng.random() < 0.6:
            self.sim.thread(script)

    def does(self, th):
        """Something that takes long, and what it is."""
        way = self.rng.choice(("run", "I/O", "fsync", "sleep"))
        if way == "run":
            yield from self.sim.works(th, self.long)
        elif way == "sleep":
            yield from self.sim.sleeps(th, 0x400500, self.long)
        else:
            call = "read" if way == "I/O" else "fsync"
            yield from self.sim.reads(th, 7, call, 0x400510, self.long)
        self.did = way

    def is_done(self, root):
        if self.did == "run":
            return root["state"] == "run" or not self.sim.switches and root["state"] == "unknown"
        if self.did == "sleep":
            return root.get("kind") == "sleep" and root["caller"] == 0x400500
        return root.get("kind") == "I/O" and root["descriptor"] == 7 and \
            root["call"] == ("fsync" if self.did == "fsync" else "read")

    def holder(self, lock, site, ready, inside=None, reads=False):
        def script(th):
            yield from self.until(th, lambda: self.go)
            yield from self.sim.locks(th, lock, site, reads)
            ready()
            if inside is None:
                yield from self.until(th, lambda: lock.queue)
            yield from (inside or self.does)(th)
            yield from self.sim.unlocks(th, lock, site + 8, reads)
        return self.sim.thread(script)

    def get_ready(self):
        self.ready = True


def is_lock(cause, lock, holder, site):
    return cause.get("kind") == "lock" and cause["object"] == lock.address and \
        cause.get("relation") == "holds" and cause["other_tid"] == holder.tid and \
        cause["other_caller"] == site


def take_and_give(plan, lock, site, reads=False):
    def slow(th):
        yield from plan.sim.locks(th, lock, site, reads)
        yield from plan.sim.works(th, 5)
        yield from plan.sim.unlocks(th, lock, site + 8, reads)
    return slow


def held_too_long(plan):
    lock = plan.sim.object()
    plan.victim(take_and_give(plan, lock, 0x400100))
    holder = plan.holder(lock, 0x400200, plan.get_ready)
    return lambda c, r: is_lock(c, lock, holder, 0x400200) and plan.is_done(r)


def read_by_many(plan):
    lock = plan.sim.object()

    def reads_too(th):
        yield from plan.until(th, lambda: plan.ready)
        yield from plan.sim.locks(th, lock, 0x400500, True)
        yield from plan.sim.works(th, plan.rng.randint(1, 60))
        yield from plan.sim.unlocks(th, lock, 0x400510, True)
    plan.victim(take_and_give(plan, lock, 0x400100, None))
    holder = plan.holder(lock, 0x400200, plan.get_ready, None, True)
    for _ in range(plan.rng.randint(0, 2)):
        plan.sim.thread(reads_too)
    return lambda c, r: is_lock(c, lock, holder, 0x400200) and plan.is_done(r)


def chain(plan):
    """Of three or four threads, the last one does what takes long."""
    locks = [plan.sim.object() for _ in range(plan.rng.randint(2, 3))]
    held = [0]
    plan.victim(take_and_give(plan, locks[0], 0x400100))

    def count():
        held[0] += 1
        plan.ready = held[0] == len(locks)
    holders = []
    for i, lock in enumerate(locks):
        def inside(th, i=i):
            yield from plan.until(th, lambda: locks[0].queue)
            if i + 1 < len(locks):
                yield from take_and_give(plan, locks[i + 1], 0x400300 + 16 * i)(th)
            else:
                yield from plan.until(th, lambda: all(k.queue for k in locks))
                yield from plan.does(th)
        holders.append(plan.holder(lock, 0x400200 + 16 * i, count, inside))
    return lambda c, r: is_lock(c, locks[0], holders[0], 0x400200) and plan.is_done(r) and \
        r["tid"] == holders[-1].tid


def inversion(plan):
    """A thread that has the lock is preempted by another one."""
    lock = plan.sim.object()
    plan.victim(take_and_give(plan, lock, 0x400100))
    hog = plan.sim.thread(plan.sim.hogs)
    hog.pid = 60

    def inside(th):
        yield from plan.until(th, lambda: lock.queue)
        yield from plan.sim.is_preempted(th, hog, plan.long)
    holder = plan.holder(lock, 0x400200, plan.get_ready, inside)
    if not plan.sim.switches:
        return lambda c, r: is_lock(c, lock, holder, 0x400200) and r["state"] == "unknown"
    return lambda c, r: is_lock(c, lock, holder, 0x400200) and r["state"] == "runnable" and \
        r["relation"] == "ran" and r["other_tid"] == hog.tid


def preempted(plan):
    plan.ready = True
    hog = plan.sim.thread(plan.sim.hogs)
    victim = plan.victim(lambda th: plan.sim.is_preempted(th, hog, plan.long))
    if not plan.sim.switches:
        return lambda c, r: c["state"] == "unknown" and c["tid"] == victim.tid
    return lambda c, r: c["state"] == "runnable" and c["other_tid"] == hog.tid


def slow_call(plan):
    plan.ready = True
    plan.victim(plan.does)
    return lambda c, r: plan.is_done(c)


def lost_wakeup(plan):
    """The signal comes before the wait, which ends with its time."""
    condition, lock = plan.sim.object(), plan.sim.object()
    signalled = []

    def slow(th):
        yield from plan.until(th, lambda: signalled)
        yield from plan.sim.locks(th, lock, 0x400100)
        yield from plan.sim.waits(th, condition, lock, 0x400110, plan.long)
        yield from plan.sim.unlocks(th, lock, 0x400118)

    def script(th):
        yield from plan.until(th, lambda: plan.go)
        plan.ready = True
        yield from plan.sim.locks(th, lock, 0x400600)
        yield from plan.sim.signals(th, condition, 0x400610)
        yield from plan.sim.unlocks(th, lock, 0x400618)
        signalled.append(True)
    plan.victim(slow)
    plan.sim.thread(script)
    return lambda c, r: c.get("kind") == "condition" and c["object"] == condition.address and \
        "relation" not in c and "signals" not in c


def waits_once(plan, th, condition, lock):
    """Waits for the condition, with its mutex."""
    yield from plan.sim.locks(th, lock, 0x400100)
    yield from plan.sim.waits(th, condition, lock, 0x400110)
    yield from plan.sim.unlocks(th, lock, 0x400118)


def late_signal(plan):
    """The thread that signals does something else before."""
    condition, lock = plan.sim.object(), plan.sim.object()

    def script(th):
        yield from plan.until(th, lambda: plan.go)
        plan.ready = True
        yield from plan.until(th, lambda: condition.queue)
        yield from plan.does(th)
        yield from plan.sim.signals(th, condition, 0x400610)
    plan.victim(lambda th: waits_once(plan, th, condition, lock))
    signaller = plan.sim.thread(script)
    return lambda c, r: c.get("kind") == "condition" and c["object"] == condition.address and \
        c.get("relation") == "signals" and c["other_tid"] == signaller.tid and \
        c["other_caller"] == 0x400610 and plan.is_done(r)


def signalled_with_lock(plan):
    """The thread that signals keeps the mutex for long after it."""
    condition, lock = plan.sim.object(), plan.sim.object()

    def script(th):
        yield from plan.until(th, lambda: plan.go)
        plan.ready = True
        yield from plan.until(th, lambda: condition.queue)
        yield from plan.sim.locks(th, lock, 0x400600)
        yield from plan.sim.signals(th, condition, 0x400610)
        yield from plan.does(th)
        yield from plan.sim.unlocks(th, lock, 0x400618)
    plan.victim(lambda th: waits_once(plan, th, condition, lock))
    signaller = plan.sim.thread(script)
    return lambda c, r: is_lock(c, lock, signaller, 0x400600) and plan.is_done(r)


def late_post(plan):
    semaphore = plan.sim.object()

    def script(th):
        yield from plan.until(th, lambda: plan.go)
        plan.ready = True
        yield from plan.until(th, lambda: semaphore.queue)
        yield from plan.does(th)
        yield from plan.sim.posts(th, semaphore, 0x400610)
    plan.victim(lambda th: plan.sim.takes(th, semaphore, 0x400100))
    poster = plan.sim.thread(script)
    return lambda c, r: c.get("kind") == "semaphore" and c["object"] == semaphore.address and \
        c.get("relation") == "signals" and c["other_tid"] == poster.tid and plan.is_done(r)


def late_end(plan):
    """A thread waits for the end of another one."""
    def script(th):
        yield from plan.until(th, lambda: plan.go)
        plan.ready = True
        yield from plan.until(th, lambda: th.joiners)
        yield from plan.does(th)
    other = plan.sim.thread(script)
    plan.victim(lambda th: plan.sim.joins(th, other, 0x400100))
    return lambda c, r: c.get("kind") == "thread" and c.get("relation") == "is awaited" and \
        c["other_tid"] == other.tid and plan.is_done(r)


def deadlock(plan):
    """Each of two to four threads has a lock that another one wants; the log ends in it."""
    locks = [plan.sim.object() for _ in range(plan.rng.randint(2, 4))]
    held = [0]

    def count():
        held[0] += 1
        plan.ready = held[0] == len(locks)

    def slow(th):
        yield from plan.sim.locks(th, locks[0], 0x400100)
        count()
        yield from plan.until(th, lambda: plan.ready)
        yield from plan.sim.locks(th, locks[1], 0x400110)
    plan.ready = True
    victim = plan.victim(slow)
    plan.circle = [victim]
    for i in range(1, len(locks)):
        def inside(th, i=i):
            yield from plan.until(th, lambda: plan.ready and held[0] == len(locks))
            yield from plan.sim.locks(th, locks[(i + 1) % len(locks)], 0x400300 + 16 * i)
        plan.circle.append(plan.holder(locks[i], 0x400200 + 16 * i, count, inside))

    def script(th):  # during the wait
        yield from plan.until(th, lambda: held[0] == len(locks))
        yield from plan.sim.works(th, plan.long)
        th.emit("user event")
    plan.sim.thread(script)
    return None


def handed_over(plan):
    """A thread gives jobs to another one, which does one of them for long."""
    semaphore = plan.sim.object()
    done = [0]
    plan.pair = "job:begin..job:end by id"

    def gives(th):
        for i in range(plan.requests):
            th.emit("job:begin", struct.pack("<Q", 7 + i))
            yield from plan.sim.works(th, plan.rng.randint(1, 9))
            yield from plan.sim.posts(th, semaphore, 0x400610)
            yield from plan.until(th, lambda i=i: done[0] > i)
            yield from plan.until(th, lambda: semaphore.queue or done[0] == plan.requests)

    def works(th):
        for i in range(plan.requests):
            yield from plan.sim.takes(th, semaphore, 0x400620)
            yield from plan.sim.works(th, plan.rng.randint(1, 30))
            if i == plan.slow_at:
                plan.go = True
                yield from plan.does(th)
            th.emit("job:end", struct.pack("<Q", 7 + i))
            done[0] += 1
            yield 1
    plan.sim.thread(gives)
    worker = plan.sim.thread(works)
    return lambda c, r: plan.is_done(c) and c["tid"] == worker.tid


SCENARIOS = (held_too_long, held_too_long, read_by_many, chain, chain, inversion, preempted, slow_call,
             lost_wakeup, late_signal, signalled_with_lock, late_post, late_end, handed_over, deadlock)


# ---- the truth ----

class Truth:
    def __init__(self, sim):
        self.sim, self.states, self.marks = sim, {t.tid: t.truth for t in sim.threads}, set()
        for ns, tid, _, _, event, data in sim.events:
            if event in ("posixtrace_cond_signal", "posixtrace_sem_post", "posixtrace_mutex_unlock",
                         "posixtrace_rwlock_unlock"):
                self.marks.add((ns, tid, struct.unpack("<Q", data[:8])[0]))

    def between(self, tid, begin, end):
        return [s for s, b, e in self.states[tid] if b < end and e > begin]

    def is_held(self, s):
        return any(h[:3] == (s["object"], s["other_pid"], s["other_tid"]) and
                   h[3] <= s["begin_ns"] and s["end_ns"] <= h[4] for h in self.sim.holds)

    def check_wait(self, s):
        for word, kind in self.between(s["tid"], s["begin_ns"], s["end_ns"]):
            right = kind == s["kind"] or kind == "relock" and s["kind"] in ("lock", "condition") or \
                kind == "condition" and s["kind"] == "lock" and s["relation"] == "holds"
            assert right and (word == "off" or not self.sim.switches), (s, word, kind)
        if s.get("relation") == "holds":
            assert self.is_held(s), s
        elif s.get("relation") == "unlocked":
            assert (s["other_ns"], s["other_tid"], s["object"]) in self.marks, s
            assert not any(h[0] == s["object"] and h[2] != s["tid"] and h[3] < s["end_ns"] and
                           h[4] > s["begin_ns"] for h in self.sim.holds), s
            assert not any(h[0] == s["object"] and h[2] != s["tid"] and
                           s["other_ns"] < h[4] <= s["begin_ns"] for h in self.sim.holds), s
        elif s.get("relation") in ("signals", "signalled"):
            assert s["kind"] == "barrier" or any(m[:2] == (s["other_ns"], s["other_tid"])
                                                 for m in self.marks), s

    def check(self, s):
        states = self.between(s["tid"], s["begin_ns"], s["end_ns"])
        if s["state"] == "wait":
            self.check_wait(s)
        elif s["state"] == "runnable":
            assert all(word == "runnable" for word, _ in states), (s, states)
            if s.get("relation") == "ran":
                assert all(word == "run" for word, _ in
                           self.between(s["other_tid"], s["begin_ns"], s["end_ns"])), s
        elif s["state"] == "run":
            assert all(word == "run" for word, _ in states), (s, states)
        elif s["state"] == "off":
            assert all(state == ("off", "unnamed") for state in states), (s, states)
        elif s["state"] == "ended":
            assert all(word in ("run", "gone", "end") for word, _ in states), (s, states)


def check_sums(segments, begin, end, depth=0):
    """Segments of a depth follow each other from start to end; returns how many were taken."""
    at, i = begin, 0
    while i < len(segments) and segments[i]["depth"] == depth:
        s = segments[i]
        assert s["begin_ns"] == at and s["end_ns"] > at, (s, at)
        at, i = s["end_ns"], i + 1
        if i < len(segments) and segments[i]["depth"] == depth + 1:
            i += check_sums(segments[i:], s["begin_ns"], s["end_ns"], depth + 1)
    assert at == end, (at, begin, end, segments)
    return i


def check_true(sim, answer):
    truth = Truth(sim)
    for row in answer["instances"]:
        taken = check_sums(row["segments"], row["begin_ns"], row["end_ns"])
        assert taken == len(row["segments"])
        for s in row["segments"]:
            truth.check(s)
    for row in answer["blocked"]:
        if row.get("relation") == "holds":
            assert any(h[:3] == (row["object"], row["other_pid"], row["other_tid"]) and
                       h[4] > answer["summary"]["last_ns"] for h in sim.holds), row


def check_deadlock(plan, answer):
    circle = [r for r in answer["blocked"] if r["deadlock_number"]]
    assert {r["tid"] for r in circle} == {t.tid for t in plan.circle}, circle
    for row, following in zip(circle, circle[1:] + circle[:1]):
        assert row["other_tid"] == following["tid"], circle
    open_one = [r for r in answer["instances"] if r["open"]]
    assert len(open_one) == 1 and any(s.get("deadlock") for s in open_one[0]["segments"]), open_one


def lossy(sim, rng):
    """Takes events out between marks; returns events in order."""
    times = [e[0] for e in sim.events]
    cut = []
    for _ in range(rng.randint(1, 3)):
        begin = rng.randrange(len(times))
        end = min(len(times) - 1, begin + rng.randint(0, rng.choice((6, 12, 60))))
        cut.append((times[begin], times[end]))
    merged = []
    for begin, end in sorted(cut):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([begin, end])
    events = [e for e in sim.events if not any(b <= e[0] <= t for b, t in merged)]
    for begin, end in merged:
        events.append((begin, 0, 50, "", "posix_trace_overflow", b""))
        events.append((end, 0, 50, "", "posix_trace_resume", b""))
    return sorted(events, key=lambda e: e[0])


# ---- the tool ----

def why(tool, folder, events, *options):
    with (folder / "log.jsonl").open("w") as to:
        for ns, tid, pid, name, event, data in events:
            row = {"ts": ns, "pid": pid, "tid": tid, "thread": name, "event": event,
                   "data": data.hex()}
            if event.startswith("job:"):
                row["description"] = "u64 id"
            to.write(json.dumps(row) + "\n")
    report_random.run(tool, "import", "--force", "--from=jsonl", folder / "log.jsonl",
                      folder / "log.ptl")
    return json.loads(report_random.run(tool, "why", "--format=json", *options,
                                       folder / "log.ptl"))


def one_program(tool, folder, seed):
    """Was the cause found?"""
    rng = random.Random(seed)
    sim = Simulation(rng)
    plan = Plan(sim)
    scenario = SCENARIOS[seed % len(SCENARIOS)]
    plan.bystander()
    is_right = scenario(plan)
    sim.run(10 * plan.long + 500000)
    answer = why(tool, folder, sim.events, "--worst=4", plan.pair)
    check_true(sim, answer)
    if is_right is None:
        check_deadlock(plan, answer)
        found = True
    else:
        cause = answer["causes"][0]
        found = bool(is_right(cause["segment"], cause["root"]))
    if not found:
        print(f"seed {seed}: {scenario.__name__}: another cause:", answer["causes"][0],
              file=sys.stderr)
    events = lossy(sim, rng)
    if seed % 2 and any(complete(events, plan.pair[:3])):
        check_true(sim, why(tool, folder, events, "--worst=9", plan.pair))
    return found


def complete(events, pair="req"):
    """Is there a request that a gap does not cut?"""
    begun = {}
    for _, tid, _, _, event, data in events:
        tid = data if pair == "job" else tid
        if event == "posix_trace_overflow":
            begun = {}
        elif event == pair + ":begin":
            begun[tid] = True
        elif event == pair + ":end" and begun.pop(tid, False):
            yield True


class Other:
    """A program of report_random.py, with the truth as it is here."""

    def __init__(self, rng, long_calls):
        sim = report_random.Simulation(rng, rng.choice(("switches", "switches", "neither")))
        sim.run()
        self.holds, having = [], {}
        for ns, tid, pid, _, event, data in sim.events:
            if event == "posixtrace_mutex_locked":
                having[struct.unpack("<Q", data[:8])[0], pid, tid] = ns
            elif event == "posixtrace_mutex_unlock":
                key = struct.unpack("<Q", data[:8])[0], pid, tid
                self.holds.append((*key, having.pop(key), ns))
        self.holds += [(*key, since, 1e30) for key, since in having.items()]
        for th in sim.threads:
            th.truth.append((th.state, th.since, 1e30))
        if long_calls:
            sim.long_calls(rng.randint(20, 300))
        self.switches, self.events, self.threads = sim.switches, sim.events, sim.threads
        for th in sim.threads:
            th.truth = [(self.state(s), b, e) for s, b, e in th.truth]

    @staticmethod
    def state(state):
        if isinstance(state, str):
            return ("off", "unnamed") if state == "unnamed" else (state, None)
        return state


def other_program(tool, folder, seed):
    rng = random.Random(seed)
    sim = Other(rng, seed % 2)
    for events in (sim.events, lossy(sim, rng)):
        for pair in {e[4][0] for e in events if e[4] in ("a:begin", "b:begin", "c:begin")}:
            if any(complete(events, pair)):
                check_true(sim, why(tool, folder, events, "--worst=9", pair))


def main():
    tool, first = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    programs = PROGRAMS if len(sys.argv) < 4 else int(sys.argv[3])
    found = 0
    with tempfile.TemporaryDirectory() as name:
        os.environ["POSIXTRACE_DIR"] = name
        for seed in range(first, first + programs):
            try:
                found += one_program(tool, pathlib.Path(name), seed)
                if seed % 3 == 0:
                    other_program(tool, pathlib.Path(name), seed)
            except BaseException:
                print(f"seed {seed}: {SCENARIOS[seed % len(SCENARIOS)].__name__}", file=sys.stderr)
                raise
    print(f"{programs} programs, the cause of {found} was found")
    return 0 if found >= 0.95 * programs else 1


if __name__ == "__main__":
    sys.exit(main())
