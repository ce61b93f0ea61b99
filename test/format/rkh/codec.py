# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""RKH's stream, written and read independently of the library: from the published
layout of frames and the table of records alone.

Letters of arguments: S F pointer, G signal, E B Z K V widths of the configuration,
b w d fixed widths of 1, 2, 4 bytes, s string, r all the rest; an argument after q m s: exists only
with low-water marks of queues, of memory pools, or senders.
"""

import struct
import subprocess

RECORDS = {
    0x00: ("MP_INIT", "S B Z"), 0x01: ("MP_GET", "S B m:B"), 0x02: ("MP_PUT", "S B"),
    0x20: ("QUE_INIT", "S S E"), 0x21: ("QUE_GET", "S E"), 0x22: ("QUE_FIFO", "S E q:E"),
    0x23: ("QUE_LIFO", "S E q:E"), 0x24: ("QUE_FULL", "S"), 0x25: ("QUE_DPT", "S"),
    0x26: ("QUE_GET_LAST", "S"),
    0x40: ("SMA_ACT", "S b b"), 0x41: ("SMA_TERM", "S b"), 0x42: ("SMA_GET", "S G b b E q:E"),
    0x43: ("SMA_FIFO", "S G s:S b b E q:E"), 0x44: ("SMA_LIFO", "S G s:S b b E q:E"),
    0x45: ("SMA_REG", "S b"), 0x46: ("SMA_UNREG", "S b"), 0x47: ("SMA_DEFER", "S G"),
    0x48: ("SMA_RCALL", "S G"),
    0x60: ("SM_INIT", "S S"), 0x61: ("SM_CLRH", "S S"), 0x62: ("SM_TRN", "S S S"),
    0x63: ("SM_STATE", "S S"), 0x64: ("SM_ENSTATE", "S S"), 0x65: ("SM_EXSTATE", "S S"),
    0x66: ("SM_NENEX", "S b b"), 0x67: ("SM_NTRNACT", "S b b"), 0x68: ("SM_TS_STATE", "S S"),
    0x69: ("SM_EVT_PROC", "S"), 0x6a: ("SM_EVT_NFOUND", "S G"), 0x6b: ("SM_GRD_FALSE", "S"),
    0x6c: ("SM_CND_NFOUND", "S"), 0x6d: ("SM_UNKN_STATE", "S"), 0x6e: ("SM_EX_HLEVEL", "S"),
    0x6f: ("SM_EX_TSEG", "S"), 0x70: ("SM_EXE_ACT", "b S S F"), 0x71: ("SM_DCH", "S G S"),
    0x80: ("TMR_INIT", "S G"), 0x81: ("TMR_START", "S S K K"), 0x82: ("TMR_STOP", "S K K"),
    0x83: ("TMR_TOUT", "S G S"), 0x84: ("TMR_REM", "S"),
    0xa0: ("FWK_EN", ""), 0xa1: ("FWK_EX", ""), 0xa2: ("FWK_EPREG", "b d V B"),
    0xa3: ("FWK_AE", "V G b b B m:B S"), 0xa4: ("FWK_GC", "G b b"),
    0xa5: ("FWK_GCR", "G b b B m:B S"), 0xa6: ("FWK_OBJ", "X s"), 0xa7: ("FWK_SIG", "N s"),
    0xa8: ("FWK_FUN", "X s"), 0xa9: ("FWK_EXE_FUN", "F"), 0xaa: ("FWK_SYNC_EVT", "F s:S s:S"),
    0xad: ("FWK_ASSERT", "s w"), 0xae: ("FWK_AO", "X s"), 0xaf: ("FWK_STATE", "S X s"),
    0xb0: ("FWK_PSTATE", "S X s"), 0xb1: ("FWK_TIMER", "X s"), 0xb2: ("FWK_EPOOL", "b s"),
    0xb3: ("FWK_QUEUE", "X s"), 0xb4: ("FWK_ACTOR", "X s"),
}
SENDER, QUE_LOW, MP_LOW, SEQUENCE, TIMESTAMP, CHECKSUM = 0, 11, 12, 15, 16, 17
WHEN = {"s": SENDER, "q": QUE_LOW, "m": MP_LOW}


class Config:
    """What a target's configuration frame says; widths in bytes."""

    def __init__(self, **given):
        self.version, self.hz, self.pools = 0x3400, 50000, 4
        self.signal = self.nblock = self.nelem = self.bsize = 1
        self.timestamp = self.pointer = 4
        self.tick = self.esize = 2
        self.bits = 1 << SEQUENCE | 1 << TIMESTAMP | 1 << CHECKSUM
        self.__dict__.update(given)

    def has(self, bit):
        return self.bits >> bit & 1

    def payload(self):
        return struct.pack("<HIBBBBBH", self.version, self.bits, self.signal << 4 | self.timestamp,
                           self.pointer << 4 | self.tick, self.nblock << 4 | self.nelem,
                           self.esize, self.bsize << 4 | self.pools, self.hz)

    def width(self, kind):
        return {"S": self.pointer, "F": self.pointer, "X": self.pointer, "G": self.signal,
                "N": self.signal, "E": self.nelem, "B": self.nblock, "Z": self.bsize,
                "K": self.tick, "V": self.esize, "b": 1, "w": 2, "d": 4}[kind]


def stuff(body, checksum=True):
    if checksum:
        body = body + bytes([-sum(body) & 255])
    out = bytearray()
    for byte in body:
        out += bytes([0x7d, byte ^ 0x20]) if byte in (0x7d, 0x7e) else bytes([byte])
    return bytes(out)


def unstuff(frame):
    out, i = bytearray(), 0
    while i < len(frame):
        if frame[i] == 0x7d:
            i += 1
            if i == len(frame):
                return None
            out.append(frame[i] ^ 0x20)
        else:
            out.append(frame[i])
        i += 1
    return bytes(out)


class Target:
    """Writes a stream as a target does, and the events that it must become."""

    def __init__(self, config, rate=None):
        self.c, self.sequence, self.ticks = config, 0, 0
        self.rate = rate or config.hz
        self.frames = []           # stuffed, without flags
        self.names = {}            # ("pointer" or "signal", value): name
        self.events = []           # (name, ticks, data)

    def send_config(self):
        self.frames.append(stuff(b"\xac" + self.c.payload(), self.c.has(CHECKSUM)))
        c = self.c
        self.events.append(("rkh:FWK_TCFG", self.ticks, struct.pack(
            "<HIBBBBBBBBBHI", c.version, c.bits, c.signal, c.timestamp, c.pointer, c.tick,
            c.nblock, c.nelem, c.esize, c.bsize, c.pools, c.hz, self.rate)))

    def frame(self, number, arguments):
        body = bytes([number])
        if self.c.has(SEQUENCE):
            body += bytes([self.sequence])
        if self.c.has(TIMESTAMP):
            body += (self.ticks % 256 ** self.c.timestamp).to_bytes(self.c.timestamp, "little")
        self.sequence = (self.sequence + 1) % 256
        self.frames.append(stuff(body + arguments, self.c.has(CHECKSUM)))

    def record(self, number, values):
        """values: of those arguments that the configuration has, in order."""
        name, words = RECORDS[number]
        values, sent, data, named = list(values), b"", b"", None
        for word in words.split():
            kind = word[-1]
            if kind == "s":
                text = values.pop(0)
                sent += text + b"\0"
                data += text + b"\0"
                if named:
                    self.names[named] = text.removeprefix(b"&")[:63]
                continue
            ours = 8 if kind in "SFX" else 1 if kind == "b" else 2 if kind == "w" else 4
            if ":" in word and not self.c.has(WHEN[word[0]]):
                data += b"\xff" * ours + (b"\0" if kind in "SFG" else b"")
                continue
            value = values.pop(0)
            sent += value.to_bytes(self.c.width(kind), "little")
            data += value.to_bytes(ours, "little")
            space = "pointer" if kind in "SFX" else "signal"
            if kind in "XN":
                named = (space, value)
            if kind in "SFG":
                data += self.names.get((space, value), b"") + b"\0"
        assert not values
        self.events.append(("rkh:" + name, self.ticks, data))
        self.frame(number, sent)

    def stream(self):
        return b"\x7e" + b"".join(frame + b"\x7e" for frame in self.frames)


def run(tool, *arguments, status=0, stdin=None):
    done = subprocess.run([tool, *arguments], capture_output=True, timeout=120, input=stdin)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}, not {status}: "
                             f"{done.stderr.decode(errors='replace')[:2000]}")
    return done
