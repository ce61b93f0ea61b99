/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Tiles, levels, what is chosen to be drawn, and the pixels that come of it.
 */
"use strict";
const assert = require("assert");
const test = require("node:test");
const {PT, model, layers} = require("./load.js");
const {make} = require("./synthetic.js");

const fixture = make({events: 30000, threads: 3});
const INK = {slice: (part, i) => part.value[i] + 1};

function items(list, row) {
    const found = [];

    for (const {tiles} of list.slice(-1))
        for (const tile of tiles)
            for (const part of tile.parts) {
                const [first, end] = part.range(row);
                for (let i = first; i < end; i++)
                    found.push(part.item(i));
            }
    return found;
}

test("a level shows all slices, the detail one by one", async () => {
    const one = model(fixture);
    const coarse = await layers(one, 0, one.span, one.span / 50);
    const fine = await layers(one, 0, one.span, 1);
    const row = one.rows.findIndex((r) => r.kind === "slice" && r.lane === 1 && r.depth === 0);
    const sum = (list) => list.reduce((n, item) => n + item.count, 0);

    assert.match(coarse[coarse.length - 1].name, /^level/);
    assert.strictEqual(fine[fine.length - 1].name, "events");
    assert.ok(items(coarse, row).length < items(fine, row).length);
    assert.strictEqual(sum(items(coarse, row)), items(fine, row).length);
    assert.strictEqual(sum(items(fine, row)), items(fine, row).length);
});

test("slices are inside the slice that they are in", async () => {
    const one = model(fixture);
    const fine = await layers(one, 0, one.span, 1);
    const at = (depth) => items(fine, one.rows.findIndex(
        (r) => r.kind === "slice" && r.lane === 2 && r.depth === depth))
        .sort((a, b) => a.begin - b.begin);
    const outer = at(0), inner = at(1);

    assert.ok(inner.length >= outer.length);
    for (const item of inner)
        assert.ok(outer.some((o) => o.begin <= item.begin &&
                                    o.begin + o.length >= item.begin + item.length));
});

test("rows that come out of order are sorted, ends and fields with them", () => {
    const part = new PT.tiles.Part("slice", {row: [2, 1, 2, 1], begin: [5, 9, 1, 3],
                                             length: [1, 2, 3, 4], value: [10, 20, 30, 40]});

    assert.deepStrictEqual(Array.from(part.row), [1, 1, 2, 2]);
    assert.deepStrictEqual(Array.from(part.value), [40, 20, 30, 10]);
    assert.deepStrictEqual(part.range(2), [2, 4]);
    assert.deepStrictEqual(part.range(7), [0, 0]);
});

test("a missing span is covered by the level, the rest by the detail", async () => {
    const data = {head: {...fixture.head, detail: {...fixture.head.detail,
        missing: [[1000, 2000]]}}, blocks: fixture.blocks};
    const one = model(data);
    const list = await layers(one, 0, 5000, 1);

    assert.match(list[0].name, /^level/);
    assert.deepStrictEqual(list[list.length - 1].over, [[0, 1000], [2000, 5000]]);
});

test("overlapping tiles are all found, once", () => {
    const source = new PT.model.Source("x", 0, [{from: 0, to: 100}, {from: 10, to: 20},
                                                {from: 30, to: 40}, {from: 50, to: 60}], null);

    assert.deepStrictEqual(source.meeting(25, 35), [0, 2]);
    assert.deepStrictEqual(source.meeting(100, 200), [0]);
    assert.deepStrictEqual(source.meeting(101, 200), []);
    assert.deepStrictEqual(source.meeting(0, 200), [0, 1, 2, 3]);
});

test("pixels have the colour of the item that is there", () => {
    const part = new PT.tiles.Part("slice", {row: [0, 0], begin: [10, 60], length: [20, 40],
                                             value: [4, 8]});
    const pixels = new Uint32Array(10);
    const scale = new PT.paint.Scale(0, 100, 10);

    PT.paint.line(pixels, 0, [{tiles: [{parts: [part]}], over: []}], scale, INK.slice);
    assert.deepStrictEqual(Array.from(pixels), [0, 5, 5, 0, 0, 0, 9, 9, 9, 9]);
    PT.paint.line(pixels, 1, [{tiles: [{parts: [part]}], over: []}], scale, INK.slice);
    assert.deepStrictEqual(Array.from(pixels), new Array(10).fill(0));
});

test("work is bounded by pixels, not by items", () => {
    const n = 1000000;
    const part = new PT.tiles.Part("slice", {row: new Uint8Array(n),
        begin: Float64Array.from({length: n}, (_, i) => i * 10),
        length: new Uint8Array(n).fill(5), value: new Uint8Array(n)});
    const pixels = new Uint32Array(500);
    let drawn = 0;

    PT.paint.line(pixels, 0, [{tiles: [{parts: [part]}], over: []}],
                  new PT.paint.Scale(0, n * 10, 500), () => ++drawn);
    assert.ok(drawn <= 500 * 10, `${drawn} items drawn`);
    assert.ok(pixels.every((p) => p > 0));
});

test("a layer that is complete replaces a coarser one", () => {
    const slice = (begin, value) => ({parts: [new PT.tiles.Part("slice", {
        row: [0], begin: [begin], length: [100], value: [value]})]});
    const pixels = new Uint32Array(10);

    PT.paint.line(pixels, 0, [{tiles: [slice(0, 1)], over: []},
                              {tiles: [slice(50, 2)], over: [[40, 100]]}],
                  new PT.paint.Scale(0, 100, 10), INK.slice);
    assert.deepStrictEqual(Array.from(pixels), [0, 2, 2, 2, 0, 0, 3, 3, 3, 3]);
});

test("find takes the nearest item", async () => {
    const one = model(fixture);
    const list = await layers(one, 0, one.span, 1);
    const row = one.rows.findIndex((r) => r.kind === "slice" && r.lane === 0 && r.depth === 0);
    const [a, b] = items(list, row).sort((x, y) => x.begin - y.begin);

    assert.strictEqual(PT.paint.find(row, list, a.begin + 1, 1).begin, a.begin);
    assert.strictEqual(PT.paint.find(row, list, b.begin - 1, 5).begin, b.begin);
    assert.strictEqual(PT.paint.find(row, list, (a.begin + a.length + b.begin) / 2, 2), null);
});

test("fields of an event are those of its number", async () => {
    const one = model(fixture);
    const list = await layers(one, 0, one.span, 1);
    const tile = list[list.length - 1].tiles.find((t) => t.source);
    const {part, ordinal} = {part: tile.parts[1], ordinal: 40};
    const type = part.type.findIndex((t, i) => i >= ordinal && t === 0);
    const fields = await PT.details.eventFields(one, tile, type);

    assert.deepStrictEqual(fields[0], ["id", PT.text.count(type)]);
    assert.strictEqual(fields[2][1], "serve (server.c:17)");
});

test("a damaged block is an error that is kept, not an exception", async () => {
    const one = model({head: fixture.head, blocks: fixture.blocks.map(() => "AAAA")});

    one.visible(one.levels, 0, one.span, 1);
    one.cache.run();
    while (one.cache.waiting.size > 0)
        await new Promise((resolve) => setImmediate(resolve));
    assert.ok(one.cache.error instanceof Error);
    assert.deepStrictEqual(one.visible(one.levels, 0, one.span, 1).flatMap((l) => l.tiles), []);
});

test("the cache drops what was used least recently", () => {
    const cache = new PT.tiles.Cache(null, () => null, 10);

    for (const key of ["a", "b", "c"]) {
        cache.keep(key, {size: 4});
        cache.get("a", null, true);
    }
    assert.deepStrictEqual([...cache.kept.keys()].sort(), ["a", "c"]);
});

test("ten thousand lanes: blocks in sight by binary search", () => {
    const head = {...fixture.head, lanes: [], rows: []};

    for (let lane = 0; lane < 10000; lane++) {
        head.lanes.push({process: 0, tid: lane, name: "w", events: 1});
        head.rows.push({kind: "state", lane}, {kind: "slice", lane, depth: 0});
    }
    const layout = new PT.layout.Layout(model({head, blocks: []}));
    const list = layout.within(layout.height / 2, 600);
    assert.ok(list.length > 5 && list.length < 40);
    assert.ok(list[0].y <= layout.height / 2 && list[0].y + list[0].h > layout.height / 2);
});

test("sums of a span", async () => {
    const one = model(fixture);
    const sums = await PT.statistics.collect(one, 0, one.span, null);
    const events = fixture.head.events;

    assert.strictEqual(sums.exact, true);
    assert.strictEqual(sums.events, events);
    assert.strictEqual([...sums.types.values()].reduce((n, t) => n + t.count, 0), events);
    assert.strictEqual(sums.slices.get(0).count, sums.types.get(0).count);
    const half = await PT.statistics.collect(one, 0, Math.floor(one.span / 2), null);
    assert.ok(half.events > events * 0.4 && half.events < events * 0.6);
});
