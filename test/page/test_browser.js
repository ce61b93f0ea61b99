/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The page in headless Chromium: what it draws, by content and by pixels at known places; keys,
 * pointer, search, link, report; hostile names; no fault on the console, and no request but for the
 * page itself.
 *
 * usage: test_browser.js CHROMIUM
 */
"use strict";
const assert = require("assert");
const fs = require("fs");
const os = require("os");
const path = require("path");
const {Browser, report: say} = require("./browser.js");
const {write} = require("./build.js");
const {make} = require("./synthetic.js");
const {report, why} = require("./report_data.js");

const HOSTILE = ["</script><script>alert(1)</script>", "\"><img src=x onerror=alert(2)>",
                 "<!--<script>", "javascript:alert(3)", "{{head}}", "' onload='alert(4)", "]]>&lt;",
                 "\u2028\u2029\u0000", "a\udc80b"];

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "posixtrace-pages-"));

function url(name, data, hash) {
    const file = path.join(folder, name);

    write(file, data);
    return `file://${file}${hash || ""}`;
}

function clean(page) {
    assert.deepStrictEqual(page.faults, []);
    assert.deepStrictEqual(page.requests.filter((one) => !/^(file:|about:blank$)/.test(one)), []);
}

function names(visible, kind) {
    return visible.rows.filter((row) => row.kind === kind).flatMap((row) => row.items)
        .map((item) => item.name);
}

/** The pixel of the canvas at a place, as [red, green, blue]. */
function pixel(page, x, y) {
    return page.run(`Array.from(document.getElementById("canvas").getContext("2d")
        .getImageData(${Math.round(x)}, ${Math.round(y)}, 1, 1).data.slice(0, 3))`);
}

async function drawsLanes(page, data) {
    await page.load(url("small.html", data));
    const root = await page.run("({...document.documentElement.dataset})");
    const visible = await page.visible();

    assert.strictEqual(root.events, String(data.head.events));
    assert.strictEqual(root.lost, "12");
    for (const [kind, name] of [["slice", "request"], ["slice", "query"], ["state", "running"],
                                ["state", "sleep"], ["events", "request:begin"],
                                ["counter", "queue.depth = 5"]])
        assert.ok(names(visible, kind).includes(name), `${kind} ${name}`);
    assert.strictEqual(visible.rows.filter((row) => row.kind === "state").length, 4);
    assert.ok(visible.flows > 10);
    assert.ok(visible.layers.every(([, complete]) => complete));
    clean(page);
}

async function drawsColours(page, data) {
    await page.load(url("small.html", data));
    const visible = await page.visible();
    const width = await page.run("document.getElementById('canvas').width");
    const expected = {sleep: [157, 178, 196], runnable: [240, 192, 0], lock: [213, 94, 0]};
    const found = new Set();

    for (const row of visible.rows.filter((r) => r.kind === "state"))
        for (const item of row.items) {
            const perNs = width / (visible.to - visible.from);
            const wide = item.length * perNs;
            if (wide < 12 || !expected[item.name])
                continue;
            const x = (item.begin + item.length - visible.from) * perNs - 3;
            if (x < width)
                assert.deepStrictEqual(await pixel(page, x, row.y + 1), expected[item.name],
                                       `${item.name} at ${x}, ${row.y}`);
            found.add(item.name);
            if (found.size === 3)
                return;
        }
    assert.ok(found.has("sleep") && found.has("runnable"), [...found].join());
}

/** Part of a loss of the first thread is red; the same place of the second thread is not. */
async function hatches(page) {
    const red = (y) => page.run(`(() => {
        const v = posixtrace.visible(), c = document.getElementById("canvas");
        const x0 = c.width * 0.6, w = c.width * 0.02;
        const d = c.getContext("2d").getImageData(Math.round(x0), ${Math.round(y)},
                                                  Math.floor(w), 8).data;
        let n = 0;
        for (let i = 0; i < d.length; i += 4)
            n += d[i] === 192 && d[i + 1] === 57 && d[i + 2] === 43;
        return n;
    })()`);
    const {rows} = await page.visible();
    const last = (lane) => rows.filter((row) => row.kind === "slice")[lane * 3 + 2];

    assert.ok(await red(last(0).y) > 5);
    assert.strictEqual(await red(last(1).y), 0);
}

async function keysMove(page) {
    const before = await page.visible();

    await page.key("w", 3);
    const near = await page.visible();
    assert.ok(near.to - near.from < (before.to - before.from) / 2);
    await page.key("d", 2);
    const right = await page.visible();
    assert.ok(right.from > near.from && Math.abs(right.to - right.from - near.to + near.from) < 1);
    await page.key("a", 4);
    assert.ok((await page.visible()).from < right.from);
    await page.key("s", 2);
    assert.ok((await page.visible()).to - (await page.visible()).from > near.to - near.from);
    await page.key("0");
    const whole = await page.visible();
    assert.deepStrictEqual([whole.from, whole.to], [before.from, before.to]);
    await page.mouse("mouseWheel", 700, 300, {deltaX: 0, deltaY: -300, modifiers: 2});
    await page.until(`posixtrace.visible().to < ${before.to}`);
    await page.key("0");
    clean(page);
}

function panel(page) {
    return page.run("document.getElementById('panel').innerText");
}

function canvas(page) {
    return page.run(`(({left, top, width}) => ({left, top, width}))(
        document.getElementById("canvas").getBoundingClientRect())`);
}

/** Selects a part of the width, and waits for its sums. */
async function select(page, from, to) {
    const {left, top, width} = await canvas(page);

    await page.drag(left + from * width, top + 60, left + to * width - 1, top + 65);
    await page.until("/share/.test(document.getElementById('panel').innerText)");
    return panel(page);
}

/** A click in the middle of an item, by its row and number among the visible ones. */
async function clickItem(page, kind, name) {
    const {from, to, rows} = await page.visible();
    const box = await canvas(page);
    const row = rows.find((r) => r.kind === kind && r.items.some((item) => item.name === name));
    const item = row.items.filter((one) => one.name === name)
        .sort((a, b) => b.length - a.length)[0];

    await page.click(box.left + (item.begin + item.length / 2 - from) / (to - from) * box.width,
                     box.top + row.y + row.h / 2);
    return item;
}

async function clicks(page) {
    const item = await clickItem(page, "slice", "request");
    await page.until("/id/.test(document.getElementById('panel').innerText)");
    const text = await panel(page);

    assert.match(text, /^request/);
    assert.match(text, /worker 31 of server 31/);
    assert.match(text, /recorded in\s+serve \(server\.c:17\)/);
    assert.match(text, /posixtrace print --from=\+0\.\d{9}s --to=\+0\.\d{9}s --tid=31 'app\.ptl'/);
    assert.match(text, /posixtrace why 'app\.ptl' request/);
    assert.ok(text.includes(`+${(item.begin / 1e9).toFixed(9)}s`), text);
    await clickItem(page, "state", "sleep");
    assert.match(await panel(page), /^sleep/);
    await page.key("ArrowRight");
    assert.doesNotMatch(await panel(page), /^sleep/);
    await clickItem(page, "counter", "queue.depth = 5");
    assert.match(await panel(page), /^queue\.depth = /);
    clean(page);
}

/** From no selection with keys alone to the first item, its neighbours, and other rows. */
async function keysSelect(page) {
    const title = () => page.run("document.querySelector('#panel h2').innerText");
    const start = () => page.run("/starts at\\s+(\\S+)/.exec(" +
                                 "document.querySelector('#panel .facts').innerText)[1]");
    const seen = [], starts = [];

    await page.key("Escape");
    for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowDown",
                       "ArrowUp"]) {
        await page.key(key);
        seen.push(await title());
        starts.push(await start());
    }
    assert.ok(starts[0] !== starts[1] && starts[0] === starts[2], starts.join());
    assert.match(seen[3], /:begin|:end|posixtrace_/);
    assert.strictEqual(seen[4], "request");
    assert.strictEqual(seen[5], seen[3]);
    await page.key("f");
    const {from, to} = await page.visible();
    assert.ok(to - from < 5000);
    await page.key("0");
    await page.key("?");
    assert.ok(await page.run("document.getElementById('help').open"));
    await page.run("document.getElementById('help').close()");
    await page.key("l");
    assert.ok((await page.visible()).rows.some((row) => row.kind === "lock"));
    await page.key("l");
    clean(page);
}

/** On paper there is the report and nothing of the timeline. */
async function prints(page) {
    await page.send("Emulation.setEmulatedMedia", {media: "print"});
    const shown = await page.run(`["timeline", "report", "why", "search"].map(
        (id) => getComputedStyle(document.getElementById(id)).display !== "none")`);
    const {data} = await page.send("Page.printToPDF", {});

    assert.deepStrictEqual(shown, [false, true, true, false]);
    assert.ok(Buffer.from(data, "base64").toString("latin1").startsWith("%PDF"));
    await page.send("Emulation.setEmulatedMedia", {media: ""});
    clean(page);
}

async function spans(page, data) {
    const text = await select(page, 0.1, 0.9);

    assert.match(text, /request\s+\d+/);
    assert.match(text, /sleep\s+[\d.]+ .s\s+[\d.]+ %/);
    const [, events] = /([\d,]+) events/.exec(await select(page, 0.001, 1));
    assert.ok(Math.abs(Number(events.replace(",", "")) - data.head.events) < 20, events);
    clean(page);
}

async function search(page, words) {
    await page.run("document.getElementById('query').select()");
    await page.key("/");
    await page.run(`document.getElementById("query").value = ${JSON.stringify(words)}`);
    await page.run("document.getElementById('search').requestSubmit()");
    await page.until("document.getElementById('cancel').hidden");
    return page.run("document.getElementById('found').textContent");
}

async function searches(page, data) {
    assert.match(await search(page, "event request:begin"), /^\d+ finds$/);
    assert.strictEqual(await search(page, "id == 0"), "1 find");
    assert.strictEqual(await search(page, "event request:begin and id >= 0 and what == \"none\""),
                       "0 finds");
    let sum = 0;
    for (const {tid} of data.head.lanes)
        sum += parseInt(await search(page, `tid ${tid}`), 10);
    assert.strictEqual(sum, data.head.events);
    const {from, to} = await page.visible();
    await page.run("PT.app.view.show(PT.app.model.span * 0.6, PT.app.model.span * 0.7)");
    await search(page, "event request:begin");
    assert.deepStrictEqual(await page.run("PT.app.searching.finds"), await page.run(
        "[...PT.app.searching.finds].sort((a, b) => a[0] - b[0] || a[1] - b[1])"));
    const meets = await page.run(`(() => {
        const {view, model, searching} = PT.app, {tiles} = model.events;
        return searching.order().map((i) => tiles[i].to >= view.from && tiles[i].from <= view.to);
    })()`);
    assert.deepStrictEqual(meets, meets.slice().sort((a, b) => b - a));
    assert.strictEqual(meets.length, data.head.detail.events.length);
    await page.run(`PT.app.view.show(${from}, ${to})`);
    assert.match(await search(page, "id >"), /a number is due/);
    await search(page, "posixtrace_mutex_locked");
    await page.run("document.activeElement.blur()");
    await page.key("n");
    await page.until("/^posixtrace_mutex_locked/.test(document.getElementById('panel').innerText)");
    assert.match(await page.run("document.getElementById('found').textContent"), /^1 of \d+$/);
    clean(page);
}

async function links(page, data) {
    await page.load(url("link.html", data, "#t=100000,300000&sel=2,150000"));
    const visible = await page.visible();

    assert.deepStrictEqual([visible.from, visible.to], [100000, 300000]);
    await page.key("w");
    await page.until("!location.hash.includes('t=100000,300000')");
    assert.match(await page.run("location.hash"), /^#t=\d+,\d+/);
    await page.load(url("link.html", data, "#page=report"));
    assert.strictEqual((await page.visible()).page, "report");
}

async function reports(page, data) {
    await page.load(url("report.html", data, "#page=report"));
    const text = await page.run("document.getElementById('report').innerText");

    for (const part of ["Threads", "Pairs of events", "Locks", "Contention", "Flame graph",
                        "cache_lock", "worker/31", "evict (cache.c:29)"])
        assert.ok(text.includes(part), part);
    assert.match(await page.run("document.querySelector('#part-pairs svg[role=img]')" +
                                ".getAttribute('aria-label')"), /p50 180 ns, p99 4\.500 µs/);
    assert.match(await page.run("document.querySelector('#part-contention svg').textContent"),
                 /worker\/31[^]*8\.000 µs × 4[^]*cache_lock[^]*worker\/32/);
    assert.match(await page.run("document.querySelector('#part-contention tbody').innerText"),
                 /worker\/31\s+cache_lock\s+worker\/32\s+4\s+8\.000 µs\s+4\.000 µs[^]*not known/);
    assert.match(await page.run("document.querySelector('#part-locks figure').innerText"),
                 /cache_lock, 5 times/);
    await page.until("document.querySelectorAll('#part-lengths figure').length === 3");
    assert.match(await page.run("document.getElementById('part-lengths').innerText"),
                 /request, \d+ times[^]*query, \d+ times/);
    await page.until("document.querySelectorAll('#part-flows tbody tr').length === 4");
    assert.match(await page.run("document.querySelector('#part-flows tbody').innerText"),
                 /worker \d+ of server 31\s+unlocked a lock\s+worker \d+ of server 31\s+\d+/);
    const first = () => page.run(
        "document.querySelector('#part-threads tbody tr td').innerText");
    const sort = "document.querySelectorAll('#part-threads th button')[2].click()";
    await page.run(sort);
    const most = await first();
    await page.run(sort);
    assert.notStrictEqual(await first(), most);
    assert.strictEqual(await page.run("document.querySelectorAll('#part-threads th')[2]" +
                                      ".getAttribute('aria-sort')"), "ascending");
    await page.run("document.querySelector('#part-pairs .link').click()");
    await page.settle();
    const visible = await page.visible();
    assert.strictEqual(visible.page, "timeline");
    assert.ok(visible.from < 1000 && visible.to > 3000 && visible.to < 10000);
    await page.run("document.getElementById('tab-why').click()");
    assert.match(await page.run("document.getElementById('why').innerText"),
                 /waits for lock cache_lock in worker \(cache\.c:50\) held by worker\/32/);
    await page.run("document.querySelector('#why rect').dispatchEvent(new MouseEvent('click'))");
    await page.settle();
    assert.strictEqual((await page.visible()).page, "timeline");
    clean(page);
}

/** Every string of a page is hostile; none becomes anything but text. */
async function hostile(page) {
    const h = (i) => HOSTILE[i % HOSTILE.length];
    const all = HOSTILE.join(" ");
    const data = make({events: 500, threads: 4, words: HOSTILE, process: all, lane: all, lock: all,
                       counter: all, site: all, cause: all, field: all, notes: HOSTILE, log: all,
                       labels: [h(0), h(1), all],
                       types: HOSTILE, report: hostileCopy(report), why: [hostileCopy(why)]});
    data.head.log.print = `posixtrace print '${all}'`;
    data.head.log.why = all;
    for (const hash of ["", "#page=report", "#page=why", "#q=%22%3E%3Cimg%20src=x%3E",
                        "#t=<script>,1&sel=</script>"]) {
        await page.load(url("hostile.html", data, hash));
        assert.strictEqual(await page.run(
            "document.querySelectorAll('img,iframe,[onerror],[onload]').length"), 0);
        clean(page);
    }
    assert.strictEqual(await page.run("document.querySelectorAll('script:not([type])').length"), 1);
    await page.load(url("hostile.html", data));
    await clickItem(page, "slice", h(0));
    assert.ok((await select(page, 0.1, 0.9)).includes("</script><script>alert(1)"));
    await search(page, "alert");
    await page.until("/finds/.test(document.getElementById('found').textContent)");
    clean(page);
}

function hostileCopy(object) {
    return JSON.parse(JSON.stringify(object), (key, value) => typeof value === "string" &&
        !/_ns$|^state$|^relation$/.test(key) ? HOSTILE.join(" ") : value);
}

async function damaged(page, data) {
    const bad = data.head.detail.events[0].block;
    const blocks = data.blocks.map((text, i) => i === bad ? "AAAA" : text);

    await page.load(url("damaged.html", {head: data.head, blocks}));
    assert.match(await page.run("document.getElementById('notes').innerText"), /page is damaged/);
    clean(page);
}

async function themes(browser, data) {
    for (const dark of [true, false]) {
        const page = await browser.open(800, 600, dark);
        await page.load(url("theme.html", data));
        const ground = () => page.run("getComputedStyle(document.body).backgroundColor");
        const before = await ground();
        assert.strictEqual(before, dark ? "rgb(20, 24, 28)" : "rgb(255, 255, 255)");
        assert.deepStrictEqual(await pixel(page, 5, 40), dark ? [27, 33, 39] : [243, 245, 247]);
        await page.run("document.getElementById('theme').click()");
        await page.settle();
        assert.notStrictEqual(await ground(), before);
        clean(page);
    }
}

/** 10,000 lanes: only those in sight are elements. */
async function manyLanes(page) {
    const data = make({events: 500, threads: 2});
    const {head} = data;

    for (let lane = 2; lane < 10000; lane++) {
        head.lanes.push({process: 0, tid: 100 + lane, name: "w", begin: 0, end: 1, events: 0});
        head.rows.push({kind: "state", lane}, {kind: "events", lane});
    }
    await page.load(url("lanes.html", data));
    assert.ok(await page.run("document.getElementById('labels').childElementCount") < 40);
    await page.run("document.getElementById('scroll').scrollTop = 1e9");
    await page.until("document.getElementById('labels').innerText.includes('w 10099')");
    assert.ok(await page.run("document.getElementById('labels').childElementCount") < 40);
    clean(page);
}

async function main(program) {
    const browser = new Browser(program);
    const data = make({events: 1000, threads: 4});
    const full = make({events: 1000, threads: 4, report, why: [why]});

    full.head.distributions = [{section: "pairs", row: 0, count: 9, bars: [[100, 200, 5],
        [200, 900, 3], [4000, 5000, 1]], quantiles: [[50, 180], [99, 4500]]},
                               {section: "locks", row: 0, count: 5, bars: [[1000, 4000, 5]],
                                quantiles: [[50, 2000], [99, 4000]]}];
    try {
        const page = await browser.open();
        await drawsLanes(page, data);
        await drawsColours(page, data);
        await hatches(page);
        await keysMove(page);
        await clicks(page);
        await keysSelect(page);
        await spans(page, data);
        await searches(page, data);
        await links(page, data);
        await reports(page, full);
        await prints(page);
        await hostile(await browser.open());
        await damaged(await browser.open(), data);
        await themes(browser, data);
        await manyLanes(await browser.open());
    } finally {
        await browser.close();
        fs.rmSync(folder, {recursive: true});
    }
}

say(main(process.argv[2]), "the page draws, answers and stays text");
