# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""What a trace says, in the same words for both formats:

  ("process", pid, name)   ("thread", pid, tid, name)   ("track", pid, tid, name)
  ("begin" | "end" | "instant", ns, pid, tid, name, category, args)
  ("counter", ns, pid, name, value)
  ("flow", ns, pid, tid, id, ends)
  ("switch", ns, cpu, tid before, waits, tid after)   Perfetto
  ("ran", ns, cpu, tid, ns of the end, what then)     Chrome

Of an end, name and category are not compared: Perfetto has them not.
"""

import decimal
import json
import math
import re

import perfetto_schema


class Hex(int):
    """A number that is shown as hexadecimal."""

    def __eq__(self, other):
        return isinstance(other, Hex) and int(self) == int(other)

    __hash__ = int.__hash__

    def __repr__(self):
        return f"Hex({int(self):#x})"


def real(value):
    return value if math.isfinite(value) else str(value)


# ---- Perfetto ----

class Perfetto:
    TYPES = {1: "begin", 2: "end", 3: "instant", 4: "counter"}

    def __init__(self, data):
        self.packets = perfetto_schema.decode("Trace", data).get("packet", [])
        self.names = {"event_categories": {}, "event_names": {}, "debug_annotation_names": {}}
        self.tracks, self.facts, self.lost = {}, [], None
        self.check_first()
        for packet in self.packets[1:]:
            self.take(packet)

    def check_first(self):
        first = self.packets[0]
        clocks = first["clock_snapshot"]
        ns = clocks["clocks"][0]["timestamp"]
        assert first == {
            "trusted_packet_sequence_id": 1, "sequence_flags": 1, "first_packet_on_sequence": True,
            "trace_packet_defaults": {"timestamp_clock_id": 1},
            "clock_snapshot": {"clocks": [{"clock_id": 1, "timestamp": ns},
                                          {"clock_id": 6, "timestamp": ns}],
                               "primary_trace_clock": 1}}, first
        self.first_ns = ns

    def learn(self, interned):
        assert interned
        for kind, entries in interned.items():
            for entry in entries:
                assert entry["iid"] > 0 and entry["iid"] not in self.names[kind], entry
                self.names[kind][entry["iid"]] = entry["name"]

    def take(self, packet):
        assert packet.pop("trusted_packet_sequence_id") == 1
        if "interned_data" in packet:
            assert packet["sequence_flags"] == 2
            self.learn(packet.pop("interned_data"))
        if "track_descriptor" in packet:
            self.describe(**packet)
        elif "track_event" in packet:
            self.event(**packet)
        elif "ftrace_events" in packet:
            self.switch(**packet)
        else:
            (stats,) = packet.pop("trace_stats")["buffer_stats"]
            assert not packet and self.lost is None
            self.lost = stats["trace_writer_packet_loss"]

    def describe(self, track_descriptor):
        track = dict(track_descriptor)
        uuid, kind = track.pop("uuid"), "track"
        if "process" in track:
            p = track.pop("process")
            fact = ("process", p["pid"], p.get("process_name", ""))
            owner = (p["pid"], 0)
        elif "thread" in track:
            t = track.pop("thread")
            fact = ("thread", t["pid"], t["tid"], t.get("thread_name", ""))
            owner = (t["pid"], t["tid"])
        elif "counter" in track:
            assert track.pop("counter") == {} and uuid not in self.tracks
            parent = track.pop("parent_uuid", None)
            owner, kind = self.tracks[parent][0] if parent else (0, 0), track.pop("name")
            fact = None
        else:
            name = track.pop("name")
            match = re.fullmatch(r"(.*) \(thread (-?\d+)\)", name, re.S)
            owner = (0, int(match[2])) if match else (0, 0)
            fact = ("track", *owner, match[1] if match else name)
        assert not track, track
        assert self.tracks.setdefault(uuid, (owner, kind)) == (owner, kind)
        if fact:
            self.facts.append(fact)

    def value(self, annotation):
        values = {k: v for k, v in annotation.items() if k != "name_iid"}
        if not values:
            return []
        ((kind, value),) = values.items()
        if kind == "array_values":
            return [self.value(v) for v in value]
        if kind == "dict_entries":
            return self.args(value)
        return Hex(value) if kind == "pointer_value" else (
            real(value) if kind == "double_value" else value)

    def args(self, annotations):
        out = {}
        for a in annotations:
            name = self.names["debug_annotation_names"][a["name_iid"]]
            assert name not in out, name
            out[name] = self.value(a)
        return out

    def event(self, timestamp, sequence_flags, track_event):
        e = dict(track_event)
        assert sequence_flags == 2
        kind, ((pid, tid), track) = self.TYPES[e.pop("type")], self.tracks[e.pop("track_uuid")]
        flows = [("flow", timestamp, pid, tid, i, False) for i in e.pop("flow_ids", [])]
        flows += [("flow", timestamp, pid, tid, i, True)
                  for i in e.pop("terminating_flow_ids", [])]
        if kind == "counter":
            ((name, value),) = e.items()
            assert track != "track" and name in ("counter_value", "double_counter_value")
            self.facts.append(("counter", timestamp, pid, track, real(value)))
            return
        assert track == "track"
        name = self.names["event_names"][e.pop("name_iid")] if kind != "end" else None
        categories = [self.names["event_categories"][i] for i in e.pop("category_iids", [])]
        args = self.args(e.pop("debug_annotations", []))
        assert not e and len(categories) <= 1, e
        fact = (kind, timestamp, pid, tid, name, categories[0] if categories else None, args)
        self.facts += flows + [fact] if kind == "end" else [fact] + flows

    def switch(self, timestamp, sequence_flags, ftrace_events):
        (event,) = ftrace_events["event"]
        s = event["sched_switch"]
        assert sequence_flags == 2 and event["timestamp"] == timestamp
        assert event["pid"] == s["prev_pid"] and s["prev_prio"] == s["next_prio"] == 120
        for side in ("prev", "next"):
            assert (s[side + "_pid"] == 0) == (s[side + "_comm"] == "swapper")
        self.facts.append(("switch", timestamp, ftrace_events["cpu"], s["prev_pid"],
                           {0: False, 1: True, 16: "ends"}[s["prev_state"]], s["next_pid"]))


# ---- Chrome ----

class Chrome:
    PROCESSORS = 4294967295

    def __init__(self, data):
        # strict: members named once, no NaN
        whole = json.loads(data.decode("ascii" if data.isascii() else "utf-8"),
                           parse_float=decimal.Decimal, object_pairs_hook=self.once,
                           parse_constant=lambda text: 1 / 0)
        events = whole.pop("traceEvents")
        other = whole.pop("otherData")
        self.frames = whole.pop("stackFrames", {})
        assert whole == {"displayTimeUnit": "ns"} and other.pop("producer") == "posixtrace"
        self.first_ns, self.base = int(other.pop("first-event-ns")), int(other.pop("ts-0-ns"))
        assert not other
        self.facts, self.phases, self.lost = [], [], None
        for event in events:
            self.take(dict(event))

    @staticmethod
    def once(pairs):
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)

    def ns(self, value):
        assert isinstance(value, decimal.Decimal) and value.as_tuple().exponent == -3, value
        return int(value.scaleb(3))

    def value(self, value):
        if isinstance(value, str) and re.fullmatch("0x[0-9a-f]+", value):
            return Hex(int(value, 16))
        if isinstance(value, decimal.Decimal):
            return float(value)
        if isinstance(value, list):
            return [self.value(v) for v in value]
        if isinstance(value, dict):
            return {k: self.value(v) for k, v in value.items()}
        return value

    def metadata(self, e):
        ((_, name),) = e.pop("args").items()
        pid, tid, what = e.pop("pid"), e.pop("tid"), e.pop("name")
        assert not e
        if pid == self.PROCESSORS:
            assert name == ("processors" if what == "process_name" else f"processor {tid}")
        elif what == "process_name":
            self.facts.append(("process", pid, name) if pid else ("track", 0, 0, name))
        else:
            assert what == "thread_name"
            self.facts.append(("thread", pid, tid, name) if pid else ("track", pid, tid, name))

    def take(self, e):
        phase = e.pop("ph")
        self.phases.append(phase)
        if phase == "M":
            self.metadata(e)
            return
        ns, pid, tid, name = self.ns(e.pop("ts")) + self.base, e.pop("pid"), e.pop("tid"), e.pop("name")
        if pid == self.PROCESSORS:
            assert phase == "X"
            end = ns + self.ns(e.pop("dur"))
            args = e.pop("args")
            self.facts.append(("ran", ns, tid, args.pop("tid"), end, args.pop("then")))
            assert not e and list(args) == ["pid"]
            return
        if phase in "stf":
            assert e.pop("bp") == "e" and e.pop("cat") == name == "flow"
            self.facts.append(("flow", ns, pid, tid, int(e.pop("id"), 16), phase == "f"))
        elif phase == "C":
            assert tid == 0
            ((_, value),) = e.pop("args").items()
            self.facts.append(("counter", ns, pid, name, self.value(value)))
        else:
            length = 0
            if phase == "X":
                dur = e.pop("dur")
                length = self.ns(dur) if dur else 0
            elif phase == "i":
                assert e.pop("s") == "t"
            frame = e.pop("sf", None)
            assert frame is None or (name == "posixtrace_stack" and str(frame) in self.frames)
            kind = {"B": "begin", "E": "end", "X": "instant", "i": "instant"}[phase]
            kind = "begin" if length else kind
            self.facts.append((kind, ns, pid, tid, name, e.pop("cat", None),
                               self.value(e.pop("args", {}))))
            if length:
                self.facts.append(("end", ns + length, pid, tid, name, None, {}))
            if name == "events lost" and pid == 0:
                self.lost = sum(self.facts[-1][6].values())
        assert not e, e


def without_names_of_ends(facts):
    return [(f[0], *f[1:4], None, None, f[6]) if f[0] == "end" else f for f in facts]
