# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The messages of OTLP traces, by the names and numbers of the published specification
(docs/formats/otlp.md has its source), without code of this project.

decode() is a strict reader of their JSON encoding: a member that is not in the table, has another type, or an
encoding that OTLP/JSON does not allow is an error.  by_protobuf() reads the same text with Google's library
(python3-protobuf) over the same table, where that is installed.
"""

import base64
import json
import re

# message: {JSON name: (number, type)}; a type in capitals is a message, [] may be repeated, | is a oneof
MESSAGES = {
    "TracesData": {"resourceSpans": (1, "[ResourceSpans]")},
    "ResourceSpans": {"resource": (1, "Resource"), "scopeSpans": (2, "[ScopeSpans]"), "schemaUrl": (3, "string")},
    "Resource": {"attributes": (1, "[KeyValue]"), "droppedAttributesCount": (2, "uint32")},
    "ScopeSpans": {"scope": (1, "InstrumentationScope"), "spans": (2, "[Span]"), "schemaUrl": (3, "string")},
    "InstrumentationScope": {"name": (1, "string"), "version": (2, "string"), "attributes": (3, "[KeyValue]"),
                             "droppedAttributesCount": (4, "uint32")},
    "Span": {"traceId": (1, "bytes"), "spanId": (2, "bytes"), "traceState": (3, "string"),
             "parentSpanId": (4, "bytes"), "name": (5, "string"), "kind": (6, "SpanKind!"),
             "startTimeUnixNano": (7, "fixed64"), "endTimeUnixNano": (8, "fixed64"),
             "attributes": (9, "[KeyValue]"), "droppedAttributesCount": (10, "uint32"), "events": (11, "[Event]"),
             "droppedEventsCount": (12, "uint32"), "links": (13, "[Link]"), "droppedLinksCount": (14, "uint32"),
             "status": (15, "Status"), "flags": (16, "fixed32")},
    "Event": {"timeUnixNano": (1, "fixed64"), "name": (2, "string"), "attributes": (3, "[KeyValue]"),
              "droppedAttributesCount": (4, "uint32")},
    "Link": {"traceId": (1, "bytes"), "spanId": (2, "bytes"), "traceState": (3, "string"),
             "attributes": (4, "[KeyValue]"), "droppedAttributesCount": (5, "uint32"), "flags": (6, "fixed32")},
    "Status": {"message": (2, "string"), "code": (3, "StatusCode!")},
    "KeyValue": {"key": (1, "string"), "value": (2, "AnyValue")},
    "AnyValue": {"stringValue": (1, "string|"), "boolValue": (2, "bool|"), "intValue": (3, "int64|"),
                 "doubleValue": (4, "double|"), "arrayValue": (5, "ArrayValue|"), "kvlistValue": (6, "KeyValueList|"),
                 "bytesValue": (7, "bytes|")},
    "ArrayValue": {"values": (1, "[AnyValue]")},
    "KeyValueList": {"values": (1, "[KeyValue]")},
}
ENUMS = {"SpanKind!": 6, "StatusCode!": 3}     # values from 0
IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}     # in hexadecimal, unlike other bytes
LIMITS = {"int64": (-2**63, 2**63 - 1), "fixed64": (0, 2**64 - 1), "uint32": (0, 2**32 - 1),
          "fixed32": (0, 2**32 - 1)}
NUMBER = re.compile(r"-?(0|[1-9]\d*)$")


def plain(kind):
    return kind.strip("[]|")


def scalar(kind, name, value):
    if name in IDS:
        assert re.fullmatch(r"[0-9a-f]{%d}" % (2 * IDS[name]), value) and set(value) != {"0"}, (name, value)
        return value
    if kind == "string":
        assert isinstance(value, str)
        value.encode("utf-8")     # no half of a surrogate pair
    elif kind == "bool":
        assert isinstance(value, bool)
    elif kind == "bytes":
        return base64.b64decode(value, validate=True)
    elif kind == "double":
        assert isinstance(value, (int, float)) and not isinstance(value, bool) or \
            value in ("NaN", "Infinity", "-Infinity"), value
        return float(value)
    elif kind in ENUMS:
        assert isinstance(value, int) and 0 <= value < ENUMS[kind]
    else:
        assert isinstance(value, str if "64" in kind else int), (name, value)
        assert "64" not in kind or NUMBER.match(value), value
        value = int(value)
        assert LIMITS[kind][0] <= value <= LIMITS[kind][1], (name, value)
    return value


def message(kind, value):
    assert isinstance(value, dict), value
    found = {}
    for name, part in value.items():
        declared = MESSAGES[kind][name][1]
        inner = plain(declared)
        if declared[0] == "[":
            assert isinstance(part, list)
            found[name] = [message(inner, item) for item in part]
        else:
            found[name] = message(inner, part) if inner in MESSAGES else scalar(inner, name, part)
    if kind == "AnyValue":
        assert len(found) == 1, value
    return found


def once(pairs):
    """An object without a member twice."""
    found = dict(pairs)
    assert len(found) == len(pairs), pairs
    return found


def value_of(value):
    ((kind, v),) = value.items()
    return [value_of(item) for item in v["values"]] if kind == "arrayValue" else v


def attributes(part):
    found = {}
    for pair in part.get("attributes", ()):
        assert pair["key"] and pair["key"] not in found, pair
        found[pair["key"]] = value_of(pair["value"])
    return found


def lines_of(data):
    assert not data or data.endswith(b"\n")
    return data.decode("utf-8").split("\n")[:-1]


def decode(data):
    """TracesData of each line."""
    return [message("TracesData", json.loads(line, object_pairs_hook=once)) for line in lines_of(data)]


def descriptors():
    """The classes of Google's library, made from the table."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="otlp.proto", package="otlp", syntax="proto3")
    for name, count in ENUMS.items():
        enum = file.enum_type.add(name=name[:-1])
        for i in range(count):
            enum.value.add(name=f"{name[:-1]}_{i}", number=i)
    for name, fields in MESSAGES.items():
        to = file.message_type.add(name=name)
        if name == "AnyValue":
            to.oneof_decl.add(name="value")
        for member, (number, kind) in fields.items():
            inner = plain(kind)
            f = to.field.add(name=re.sub("([A-Z])", r"_\1", member).lower(), number=number, json_name=member)
            f.label = field.LABEL_REPEATED if kind[0] == "[" else field.LABEL_OPTIONAL
            if inner in MESSAGES:
                f.type, f.type_name = field.TYPE_MESSAGE, f".otlp.{inner}"
            elif inner in ENUMS:
                f.type, f.type_name = field.TYPE_ENUM, f".otlp.{inner[:-1]}"
            else:
                f.type = getattr(field, "TYPE_" + inner.upper())
            if kind[-1] == "|":
                f.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("otlp.TracesData"))


def with_base64(part):
    """Ids as the JSON encoding of protocol buffers has them, elsewhere than in OTLP."""
    if isinstance(part, list):
        return [with_base64(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in IDS else with_base64(v) for k, v in part.items()}


def by_protobuf(data, traces):
    """The same lines as messages of the class traces, after a way through their binary form."""
    from google.protobuf import json_format
    found = []
    for line in lines_of(data):
        text = json.dumps(with_base64(json.loads(line)))
        found.append(traces.FromString(json_format.Parse(text, traces()).SerializeToString()))
    return found
