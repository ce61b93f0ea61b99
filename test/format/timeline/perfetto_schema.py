# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""A decoder of Perfetto traces, made from the published field numbers only
(docs/formats/perfetto.md has their source), without code of this project.  It is strict: a field
that is not in the table, is cut short, has another wire type or is not UTF-8 is an error.
"""

import struct

# message: {field number: (name, type)}; a type in capitals is a message, [] may be repeated
SCHEMA = {
    "Trace": {1: ("packet", "[TracePacket]")},
    "TracePacket": {
        1: ("ftrace_events", "FtraceEventBundle"), 6: ("clock_snapshot", "ClockSnapshot"),
        8: ("timestamp", "uint64"), 10: ("trusted_packet_sequence_id", "uint32"),
        11: ("track_event", "TrackEvent"), 12: ("interned_data", "InternedData"),
        13: ("sequence_flags", "uint32"), 35: ("trace_stats", "TraceStats"),
        59: ("trace_packet_defaults", "TracePacketDefaults"),
        60: ("track_descriptor", "TrackDescriptor"), 87: ("first_packet_on_sequence", "bool")},
    "TracePacketDefaults": {58: ("timestamp_clock_id", "uint32")},
    "ClockSnapshot": {1: ("clocks", "[Clock]"), 2: ("primary_trace_clock", "int32")},
    "Clock": {1: ("clock_id", "uint32"), 2: ("timestamp", "uint64")},
    "TrackDescriptor": {
        1: ("uuid", "uint64"), 2: ("name", "string"), 3: ("process", "ProcessDescriptor"),
        4: ("thread", "ThreadDescriptor"), 5: ("parent_uuid", "uint64"),
        8: ("counter", "CounterDescriptor")},
    "ProcessDescriptor": {1: ("pid", "int32"), 6: ("process_name", "string")},
    "ThreadDescriptor": {1: ("pid", "int32"), 2: ("tid", "int64"), 5: ("thread_name", "string")},
    "CounterDescriptor": {3: ("unit", "int32")},
    "TrackEvent": {
        3: ("category_iids", "[uint64]"), 4: ("debug_annotations", "[DebugAnnotation]"),
        9: ("type", "int32"), 10: ("name_iid", "uint64"), 11: ("track_uuid", "uint64"),
        30: ("counter_value", "int64"), 44: ("double_counter_value", "double"),
        47: ("flow_ids", "[fixed64]"), 48: ("terminating_flow_ids", "[fixed64]")},
    "DebugAnnotation": {
        1: ("name_iid", "uint64"), 2: ("bool_value", "bool"), 3: ("uint_value", "uint64"),
        4: ("int_value", "int64"), 5: ("double_value", "double"), 6: ("string_value", "string"),
        7: ("pointer_value", "uint64"), 11: ("dict_entries", "[DebugAnnotation]"),
        12: ("array_values", "[DebugAnnotation]")},
    "InternedData": {
        1: ("event_categories", "[InternedName]"), 2: ("event_names", "[InternedName]"),
        3: ("debug_annotation_names", "[InternedName]")},
    "InternedName": {1: ("iid", "uint64"), 2: ("name", "string")},
    "FtraceEventBundle": {1: ("cpu", "uint32"), 2: ("event", "[FtraceEvent]")},
    "FtraceEvent": {1: ("timestamp", "uint64"), 2: ("pid", "uint32"),
                    4: ("sched_switch", "SchedSwitch")},
    "SchedSwitch": {
        1: ("prev_comm", "string"), 2: ("prev_pid", "int32"), 3: ("prev_prio", "int32"),
        4: ("prev_state", "int64"), 5: ("next_comm", "string"), 6: ("next_pid", "int32"),
        7: ("next_prio", "int32")},
    "TraceStats": {1: ("buffer_stats", "[BufferStats]")},
    "BufferStats": {19: ("trace_writer_packet_loss", "uint64")},
}
WIRE = {"double": 1, "fixed64": 1, "string": 2}


def proto_file():
    """The table as a .proto file, for protoc."""
    lines = ['syntax = "proto2";']
    for message, fields in SCHEMA.items():
        lines.append(f"message {message} {{")
        for number, (name, kind) in fields.items():
            label = "repeated" if kind[0] == "[" else "optional"
            lines.append(f"  {label} {kind.strip('[]')} {name} = {number};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            if byte == 0 and shift > 7:
                raise ValueError("a varint that is longer than it must be")
            return value, at
        if shift > 63:
            raise ValueError("a varint of more than 64 bits")


def number(kind, value):
    bits = 32 if kind == "uint32" else 64
    if value >> bits or (kind == "bool" and value > 1):
        raise ValueError(f"{value} is no {kind}")
    if kind in ("int32", "int64") and value >> 63:
        value -= 1 << 64
    return bool(value) if kind == "bool" else value


def take(kind, data, at):
    """One value, and where the next field is."""
    wire = WIRE.get(kind, 2 if kind in SCHEMA else 0)
    if wire == 1:
        return struct.unpack_from("<d" if kind == "double" else "<Q", data, at)[0], at + 8
    value, at = varint(data, at)
    if wire == 0:
        return number(kind, value), at
    if at + value > len(data):
        raise ValueError("a length beyond the end")
    part = data[at:at + value]
    return (decode(kind, part) if kind in SCHEMA else bytes(part).decode("utf-8")), at + value


def decode(message, data):
    """{name: value}, lists where a field may be repeated, in the order of the file."""
    out, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        name, kind = SCHEMA[message][key >> 3]
        one = kind.strip("[]")
        if key & 7 != WIRE.get(one, 2 if one in SCHEMA else 0):
            raise ValueError(f"{message}.{name}: wire type {key & 7}")
        value, at = take(one, data, at)
        if kind[0] == "[":
            out.setdefault(name, []).append(value)
        elif name in out:
            raise ValueError(f"{message}.{name} twice")
        else:
            out[name] = value
    return out


def escape(text):
    out = ""
    for byte in text.encode("utf-8"):
        plain = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}.get(byte)
        out += plain or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
    return out


def show(kind, value):
    if kind == "string":
        return f'"{escape(value)}"'
    if kind == "bool":
        return "true" if value else "false"
    if kind == "double":
        short = f"{value:.15g}"
        # not a number is like none
        return short if value != value or float(short) == value else f"{value:.17g}"
    return str(value)


def text(message, value, indent=""):
    """As protoc --decode prints it: fields by number."""
    out = ""
    for _, (name, kind) in sorted(SCHEMA[message].items()):
        one = kind.strip("[]")
        for item in ([] if name not in value else
                     value[name] if kind[0] == "[" else [value[name]]):
            if one in SCHEMA:
                out += f"{indent}{name} {{\n{text(one, item, indent + '  ')}{indent}}}\n"
            else:
                out += f"{indent}{name}: {show(one, item)}\n"
    return out
