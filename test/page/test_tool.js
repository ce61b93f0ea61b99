/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A page that the tool has made of a real log, in headless Chromium: each block decodes, the page
 * has the events and slices that `print` shows, and its search finds what `print --where` finds.
 *
 * usage: test_tool.js CHROMIUM POSIXTRACE COMPRESS FILE...
 */
"use strict";
const assert = require("assert");
const {execFileSync} = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const {Browser, report} = require("./browser.js");
const {PT} = require("./load.js");

const EXPRESSIONS = [
    "event \"file:*\"", "event \"file:begin\"", "event \"*:begin\" and not event \"f*\"",
    "class \"read\" or class \"write\"", "group \"file\"", "bytes > 1000", "bytes <= 1000",
    "bytes != 0", "path ~ \"*/[a-m]*\"", "not path ~ \"*.c\"", "bytes >= 1e3", "tid 1 or pid 1",
    "not (tid 1)", "event \"read:end\" and bytes > 0x400", "thread \"*\"", "thread != \"x\"",
    "absent == 1", "not absent == 1", "path == \"\"", "path != \"\"", "bytes == 1.5 or tid > 1",
    "event \"read:end\" && (bytes > 100 || path == \"x\") && !(tid 0)", "class ~ \"f*\"",
    "class == \"f*\"", "event == \"file:end\"", "group != \"read\"", "(.bytes)", "not .path",
    "(.bytes and .path)"];

/** Everything of the page, tile by tile: counts of types, and slices by label with their sums. */
const WHOLE = `(async () => {
    const {model} = PT.app, types = {}, slices = {}, levels = [];
    const all = async (source, use) => {
        for (let i = 0; i < source.tiles.length; i++) {
            const tile = await model.cache.need(model.key(source, i), source.load(source.tiles[i]));
            await use(tile);
        }
    };
    const add = (map, key, n, ns) => {
        map[key] = map[key] || [0, 0];
        map[key][0] += n;
        map[key][1] += ns;
    };
    const sum = (map, part) => {
        for (let i = 0; i < part.count; i++)
            if (model.rows[part.row[i]].kind === "slice")
                add(map, model.head.labels[part.value[i]], part.many ? part.many[i] : 1,
                    part.length[i] - (part.uncovered ? part.uncovered[i] : 0));
    };
    await all(model.events, async (tile) => {
        tile.parts[1].type.forEach((t) => add(types, model.head.types[t].name, 1, 0));
        sum(slices, tile.parts[0]);
        await model.fields(tile);
    });
    await all(model.long, (tile) => sum(slices, tile.parts[0]));
    for (const level of model.levels) {
        const map = {};
        await all(level, (tile) => sum(map, tile.parts[0]));
        levels.push(map);
    }
    for (const source of [model.items, model.flows, ...model.counters])
        await all(source, () => null);
    return {types, slices, levels, error: posixtrace.error()};
})()`;

function total(map) {
    return Object.values(map).reduce((sum, [n, ns]) => [sum[0] + n, sum[1] + ns], [0, 0]);
}

function lines(tool, log, ...more) {
    return execFileSync(tool, ["print", "--format=jsonl", ...more, log], {encoding: "utf8"}).trim()
        .split("\n").filter((line) => line).map(PT.decode.json);
}

/** What `why` alone says of a pair. */
function explained(tool, log, pair) {
    return PT.decode.json(execFileSync(tool, ["why", "--format=json", pair, log],
                                       {encoding: "utf8"}));
}

/** Pairs NAME:begin, NAME:end of each thread: {name: [count, ns]}. */
function pairsOf(events) {
    const open = new Map(), pairs = {};

    for (const {event, tid, ts} of events) {
        const [, name, edge] = /^(.*):(begin|end)$/.exec(event) || [];
        const key = `${tid} ${name}`;
        if (edge === "begin")
            open.set(key, BigInt(ts));
        if (edge !== "end" || !open.has(key))
            continue;
        pairs[name] = pairs[name] || [0, 0];
        pairs[name][0]++;
        pairs[name][1] += Number(BigInt(ts) - open.get(key));
        open.delete(key);
    }
    return pairs;
}

async function found(page, words) {
    await page.run(`PT.app.searching.start(${JSON.stringify(words)})`);
    const text = await page.run("document.getElementById('found').textContent");

    assert.match(text, /^[\d,]+ finds?$/, `${words}: ${text}`);
    return parseInt(text.replace(/,/g, ""), 10);
}

async function check(page, tool, log, url) {
    const events = lines(tool, log);
    const types = {};

    await page.load(url);
    events.forEach(({event}) => types[event] = (types[event] || 0) + 1);
    const whole = await page.run(WHOLE);
    assert.strictEqual(whole.error, null);
    assert.strictEqual(await page.run("document.documentElement.dataset.events"),
                       String(events.length));
    assert.deepStrictEqual(Object.fromEntries(Object.entries(whole.types).map(
        ([name, [n]]) => [name, n])), types);
    assert.deepStrictEqual(whole.slices, pairsOf(events));
    for (const level of whole.levels)
        assert.deepStrictEqual(total(level), total(whole.slices));
    for (const words of EXPRESSIONS)
        assert.strictEqual(await found(page, words), lines(tool, log, `--where=${words}`).length,
                           words);
    const why = await page.run("PT.app.model.head.why");
    assert.deepStrictEqual(why.map(({subject}) => subject).sort(),
                           Object.keys(whole.slices).sort());
    for (const one of why)
        assert.deepStrictEqual(one, explained(tool, log, one.subject));
    await page.run("document.getElementById('tab-report').click()");
    const text = await page.run("document.getElementById('report').innerText");
    for (const name of Object.keys(whole.slices))
        assert.ok(text.includes(name), name);
    assert.deepStrictEqual(page.faults, []);
    assert.deepStrictEqual(page.requests.filter((one) => !/^(file:|about:blank$)/.test(one)), []);
}

async function main(program, tool, compress, ...files) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "posixtrace-pages-"));
    const log = path.join(folder, "compress.ptl"), html = path.join(folder, "compress.html");
    const browser = new Browser(program);

    try {
        execFileSync(compress, ["3", log, folder, ...files], {stdio: "ignore"});
        execFileSync(tool, ["report", `--html=${html}`, log]);
        await check(await browser.open(), tool, log, `file://${html}`);
    } finally {
        await browser.close();
        fs.rmSync(folder, {recursive: true});
    }
}

report(main(...process.argv.slice(2)), "the page has the log");
