# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""S.Ha.R.K. records and packets, written and read by docs/formats/shark.md alone."""

import struct

NAMES = {0x10: "cycles_per_msec", 0x20: "trace_start", 0x30: "trace_stop", 0x02: "task_create",
         0x12: "task_activate", 0x15: "context_switch", 0x36: "mutex_unlock", 0x16: "mutex_lock",
         0x09: "user_event_0", 0x01: "ipoint", 0x60: "id",
         0xe9: "user_event_14", 0x68: "server_using_rec", 0xff: "next_chunk"}


def record(code, par1, tsc, par2):
    return struct.pack("<HHIII", code, par1, tsc >> 32, tsc & 0xffffffff, par2)


def decode(data):
    for at in range(0, len(data) - 15, 16):
        code, par1, high, low, par2 = struct.unpack_from("<HHIII", data, at)
        if code:
            yield code, par1, high << 32 | low, par2


def packets(records, number=0):
    out = b""
    for at in range(0, len(records), 60):
        part = records[at:at + 60]
        number += 1
        out += b"TRACER-V1.0\0" + struct.pack("<III", number, len(part), 24 + 16 * len(part))
        out += b"".join(part)
    return out


def name_of(code):
    name = NAMES.get(code & 0xff, f"code_{code & 0xff:02x}")
    return f"shark:{name}{'.fast' if code & 0x8000 else ''}"
