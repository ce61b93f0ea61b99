#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""Graphs in the languages of Graphviz and Mermaid say the same: automata of metrics, and which thread
waits for which.

usage: graphs.py POSIXTRACE            both are read by strict parsers of their own here
       graphs.py POSIXTRACE dot        that of Graphviz by dot; 77: not there
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
BY_DOT = len(sys.argv) > 2
T = 1_795_255_200_000_000_000
# What would end a label, a line or a string, or be read as something else, in one of the languages.
HOSTILE = ['"', "\\", '"];', "]", "|", "-->", "#quot;", "#", "&amp;", "<b>", "`x`", "end", "a\\nb",
           "\\N", "}", "{", "((", "%%", ";", "grün", "λ"]


def run(*arguments, **more):
    return subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, check=True, timeout=60,
                          **more).stdout.decode()


# ---- Mermaid: the part of its flowcharts that is used, and nothing else ----

LABEL = r'"((?:[^"#<>&`\\\x00-\x1f]|#[0-9]+;|<br/>)*)"'
SHAPES = {("((", "))"): "circle", ("(((", ")))"): "doublecircle", ("[", "]"): "box",
          ("([", "])"): "ellipse"}


def mermaid_text(label):
    return re.sub(r"#([0-9]+);", lambda m: chr(int(m[1])), label.replace("<br/>", "\n"))


def mermaid(text):
    """Nodes {id: (shape, label)}, edges [(from, to, label, red)] in their order."""
    first, *lines = text.split("\n")
    assert first == "flowchart LR" and lines.pop() == "", text
    nodes, edges, red, part = {}, [], set(), 0
    for line in lines:
        node = re.fullmatch(rf"  ([a-z][0-9]+)(\(+\[?|\[){LABEL}(\]?\)+|\])", line)
        edge = re.fullmatch(rf"  ([a-z][0-9]+) -->\|{LABEL}\| ([a-z][0-9]+)", line)
        style = re.fullmatch(r"  linkStyle ([0-9]+) stroke:red", line)
        assert bool(node) + bool(edge) + bool(style) == 1, line
        now = 0 if node else 1 if edge else 2
        assert now >= part, f"{line}: after another part"
        part = now
        if node:
            assert node[1] not in nodes
            nodes[node[1]] = (SHAPES[node[2], node[4]], mermaid_text(node[3]))
        elif edge:
            assert edge[1] in nodes and edge[3] in nodes, line
            edges.append((edge[1], edge[3], mermaid_text(edge[2])))
        else:
            assert int(style[1]) < len(edges) and style[1] not in red
            red.add(int(style[1]))
    return nodes, [(*e, i in red) for i, e in enumerate(edges)]


# ---- Graphviz ----

DOT_LABEL = r'"((?:[^"\\\x00-\x1f]|\\["\\n])*)"'


def dot_text(label):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], label)


def dot(text):
    lines = text.split("\n")
    assert re.fullmatch(rf'digraph (waits|{DOT_LABEL}) \{{', lines[0]), lines[0]
    assert lines[1] == "  rankdir=LR;" and lines[-2:] == ["}", ""]
    default = re.fullmatch(r"  node \[shape=(box|circle)\];", lines[2])[1]
    nodes, edges = {}, []
    for line in lines[3:-2]:
        node = re.fullmatch(rf"  ([a-z][0-9]+) \[label={DOT_LABEL}(?:, shape=([a-z]+))?\];", line)
        edge = re.fullmatch(rf"  ([a-z][0-9]+) -> ([a-z][0-9]+) \[label={DOT_LABEL}(, color=red)?\];",
                            line)
        assert bool(node) + bool(edge) == 1, line
        if node:
            nodes[node[1]] = (node[3] or default, dot_text(node[2]))
        else:
            edges.append((edge[1], edge[2], dot_text(edge[3]), bool(edge[4])))
    return nodes, edges


def by_dot(text):
    """The same, as Graphviz reads it: it takes entities in labels for their characters."""
    done = subprocess.run(["dot", "-Tdot_json"], input=text.encode(), capture_output=True, check=True,
                          timeout=60)
    assert not done.stderr, done.stderr
    graph = json.loads(done.stdout)
    names = {o["_gvid"]: o["name"] for o in graph.get("objects", [])}
    nodes = {o["name"]: (o.get("shape"), dot_text(o["label"])) for o in graph.get("objects", [])}
    edges = [(names[e["tail"]], names[e["head"]], dot_text(e["label"]), e.get("color") == "red")
             for e in sorted(graph.get("edges", []), key=lambda e: e["_gvid"])]
    return nodes, edges


def compare(as_dot, as_mermaid, least=0):
    read = dot(as_dot)
    assert read == mermaid(as_mermaid), (as_dot, as_mermaid)
    if BY_DOT:
        nodes, edges = by_dot(as_dot)
        assert sorted(edges) == sorted(read[1]), (edges, read[1])
        # entities are shown as characters: they are only in hostile names
        assert {n: html.unescape(t) for n, (_, t) in nodes.items()} == \
            {n: html.unescape(t) for n, (_, t) in read[0].items()}
    assert len(read[1]) >= least, as_dot
    return read


# ---- automata ----

def test_metrics(folder):
    count = 0
    for name in ("linux", "marte"):
        for line in run("metrics", "--list", f"--set={name}").splitlines():
            metric = re.split("  +", line)[0]
            if not metric or line.startswith(" "):
                continue
            nodes, edges = compare(run("metrics", f"--set={name}", f"--dot={metric}"),
                                   run("metrics", f"--set={name}", f"--mermaid={metric}"), 2)
            assert any(shape == "doublecircle" for shape, _ in nodes.values())
            count += 1
    assert count > 20, count


# ---- waits ----

def log(folder, events):
    """events: (ns, tid, thread, name, data)."""
    lines = [json.dumps({"ts": T + ns, "pid": 7, "tid": tid, "thread": thread,
                         "event": "posixtrace_" + name if name != "r:begin" and name != "r:end" else
                         name, "data": data.hex()}) for ns, tid, thread, name, data in events]
    path = folder / "g.ptl"
    run("import", "--force", "--from=jsonl", "-", path, input="\n".join(lines).encode())
    return path


def u64(*numbers):
    return b"".join(n.to_bytes(8, "little") for n in numbers)


def test_deadlock(folder):
    events = []
    for i, (tid, lock, wanted) in enumerate(((1, 0x100, 0x200), (2, 0x200, 0x300),
                                             (3, 0x300, 0x100))):
        events += [(10 * i, tid, f"t{tid}", "mutex_lock", u64(lock, 8)),
                   (10 * i + 1, tid, f"t{tid}", "mutex_locked", u64(lock, 0)),
                   (100 + 10 * i, tid, f"t{tid}", "mutex_lock", u64(wanted, 8))]
    events += [(200, 4, "t4", "mutex_lock", u64(0x100, 8)), (210, 5, "t5", "sem_wait", u64(0x900, 8))]
    path = log(folder, sorted(events))
    nodes, edges = compare(run("why", "--format=dot", path), run("why", "--format=mermaid", path), 5)
    named = {(nodes[a][1], nodes[b][1], red) for a, b, _, red in edges}
    assert named == {("t1/1", "t2/2", True), ("t2/2", "t3/3", True), ("t3/3", "t1/1", True),
                     ("t4/4", "t1/1", False), ("t5/5", "semaphore 0x900", False)}, named
    assert all("since +0.0000" in text for _, _, text, _ in edges)


def test_instances(folder):
    events = [(0, 1, "a", "mutex_lock", u64(0x100, 8)), (1, 1, "a", "mutex_locked", u64(0x100, 0))]
    for i in range(2):
        at = 1000 * i + 10
        events += [(at, 2, "b", "r:begin", b""), (at + 5, 2, "b", "mutex_lock", u64(0x100, 8)),
                   (at + 105, 1, "a", "mutex_unlock", u64(0x100, 8)),
                   (at + 105, 2, "b", "mutex_locked", u64(0x100, 0)),
                   (at + 110, 2, "b", "mutex_unlock", u64(0x100, 8)), (at + 111, 2, "b", "r:end", b""),
                   (at + 200, 1, "a", "mutex_lock", u64(0x100, 8)),
                   (at + 201, 1, "a", "mutex_locked", u64(0x100, 0))]
    path = log(folder, events)
    nodes, edges = compare(run("why", "--format=dot", "r", path),
                           run("why", "--format=mermaid", "r", path), 1)
    (waits,) = [e for e in edges if nodes[e[0]][1] == "b/2" and nodes[e[1]][1] == "a/1"]
    assert waits[2] == "lock 0x100, 200ns (2 times)", waits


def test_hostile(folder):
    events = [(0, 99, "holder", "mutex_lock", u64(0x100, 8)),
              (1, 99, "holder", "mutex_locked", u64(0x100, 0))]
    events += [(10 + i, 100 + i, name, "mutex_lock", u64(0x100, 8)) for i, name in enumerate(HOSTILE)]
    path = log(folder, events)
    nodes, edges = compare(run("why", "--format=dot", path), run("why", "--format=mermaid", path),
                           len(HOSTILE))
    assert len(edges) == len(HOSTILE) and len(nodes) == len(HOSTILE) + 1
    labels = {label for _, label in nodes.values()}
    for i, name in enumerate(HOSTILE):
        if name.isascii() and "\\" not in name:
            assert f"{name}/{100 + i}" in labels, (name, labels)


def test_nothing(folder):
    path = log(folder, [(0, 1, "a", "mutex_unlock", u64(0x100, 8))])
    assert compare(run("why", "--format=dot", path), run("why", "--format=mermaid", path)) == ({}, [])


def main():
    if BY_DOT and not shutil.which("dot"):
        print("dot is not installed (Debian: graphviz)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        for test_name, test in list(globals().items()):
            if test_name.startswith("test_"):
                print(test_name, flush=True)
                test(pathlib.Path(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
