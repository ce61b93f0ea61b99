/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The page in headless Firefox: it decodes all, draws the same items, searches, and shows the
 * report.
 *
 * usage: test_firefox.js FIREFOX
 */
"use strict";
const assert = require("assert");
const fs = require("fs");
const os = require("os");
const path = require("path");
const {report: say} = require("./browser.js");
const {Firefox} = require("./firefox.js");
const {write} = require("./build.js");
const {make} = require("./synthetic.js");
const {report, why} = require("./report_data.js");

async function check(firefox, url, data) {
    await firefox.load(url);
    const visible = await firefox.run("JSON.parse(JSON.stringify(posixtrace.visible()))");
    const names = new Set(visible.rows.flatMap((row) => row.items).map((item) => item.name));

    for (const name of ["request", "query", "running", "sleep", "request:begin"])
        assert.ok(names.has(name), name);
    assert.strictEqual(await firefox.run("posixtrace.error()"), null);
    assert.strictEqual(await firefox.run("document.documentElement.dataset.events"),
                       String(data.head.events));
    // Some pixels of the canvas are those of the state running.
    assert.ok(await firefox.run(`(() => {
        const c = document.getElementById("canvas");
        const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        for (let i = 0; i < d.length; i += 4)
            if (d[i] === 0 && d[i + 1] === 158 && d[i + 2] === 115)
                return true;
        return false;
    })()`));
    const found = await firefox.run(`PT.app.searching.start("tid 31").then(
        () => document.getElementById("found").textContent)`);
    assert.match(found, /^\d+ finds$/);
    await firefox.run("document.getElementById('tab-report').click()");
    assert.match(await firefox.run("document.getElementById('report').innerText"), /cache_lock/);
    await firefox.run("document.getElementById('tab-why').click()");
    assert.match(await firefox.run("document.getElementById('why').innerText"), /worker \(cache/);
}

async function main(program) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "posixtrace-pages-"));
    const data = make({events: 1000, threads: 4, report, why: [why]});
    const firefox = new Firefox(program);

    write(path.join(folder, "page.html"), data);
    try {
        await firefox.start();
        await check(firefox, `file://${folder}/page.html`, data);
    } finally {
        await firefox.close();
        fs.rmSync(folder, {recursive: true});
    }
}

say(main(process.argv[2]), "the page works in Firefox");
