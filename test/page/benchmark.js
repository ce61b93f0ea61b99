/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How fast a page is: the time until the first picture, and frames a second while it pans, at
 * several magnifications.  Not a test.  Processor time is that of all processes of the browser, so
 * that it means something on a machine with other work: with one processor, a frame takes at least
 * that.  On one processor: taskset -c 0 node benchmark.js PAGE.html
 *
 * usage: benchmark.js PAGE.html [FRAMES]
 */
"use strict";
const fs = require("fs");
const path = require("path");
const {Browser, find} = require("./browser.js");

const SHARES = [1, 0.1, 0.01, 0.001, 0.0001, 0.00001];

/** In the page: pans to and fro, one step a frame, and waits for tiles as a user would. */
function panning(share, frames) {
    return `new Promise((resolve) => {
        const view = PT.app.view, span = view.model.span, began = [];
        view.show(span * 0.45, span * (0.45 + ${share}));
        const draws = [];
        let n = 0, last = 0;
        const step = (now) => {
            if (n > 0)
                began.push(now - last);
            last = now;
            draws.push(view.lastFrame);
            if (++n > ${frames})
                resolve({began: began.slice(1), draws});
            else {
                view.pan(n % 40 < 20 ? 0.03 : -0.03);
                requestAnimationFrame(step);
            }
        };
        requestAnimationFrame(step);
    })`;
}

function percentile(values, p) {
    const sorted = [...values].sort((a, b) => a - b);

    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p / 100))];
}

/** Milliseconds of processor time of a process and those that it has started. */
function processorTime(root) {
    const parents = new Map(), times = new Map();
    let sum = 0;

    for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        let stat;
        try {
            stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1");
        } catch (error) {
            continue;       // it has ended
        }
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        parents.set(Number(pid), Number(fields[1]));
        times.set(Number(pid), 10 * (Number(fields[11]) + Number(fields[12])));
    }
    for (const [pid, time] of times)
        for (let at = pid; at > 1; at = parents.get(at) || 0)
            if (at === root) {
                sum += time;
                break;
            }
    return sum;
}

/** Loads the page; its first picture, in ms since it was asked for, and of processor time. */
async function firstPicture(browser, page, url) {
    const before = processorTime(browser.child.pid);

    await page.send("Page.navigate", {url});
    for (;;) {
        const first = await page.run("window.posixtrace && posixtrace.firstPicture()")
            .catch(() => null);
        if (first)
            return [first, processorTime(browser.child.pid) - before];
    }
}

async function main(file, frames) {
    const browser = new Browser(find());

    try {
        const page = await browser.open(1400, 900);
        const [first, cost] = await firstPicture(browser, page, `file://${path.resolve(file)}`);
        await page.until("document.readyState === 'complete' && posixtrace.settled()");
        console.log(`first picture ${first.toFixed(0)} ms, ${cost} ms of processor time`);
        console.log("share of the log  frames/s  processor ms a frame  draw ms p50  p99");
        for (const share of SHARES) {
            const before = processorTime(browser.child.pid);
            const {began, draws} = await page.run(panning(share, frames));
            const used = processorTime(browser.child.pid) - before;
            const mean = began.reduce((sum, ms) => sum + ms, 0) / began.length;
            console.log(`${String(share).padEnd(16)}  ${(1000 / mean).toFixed(1).padStart(8)}  ` +
                        `${(used / frames).toFixed(1).padStart(20)}  ` +
                        `${percentile(draws, 50).toFixed(1).padStart(11)}  ` +
                        percentile(draws, 99).toFixed(1));
            await page.settle();
        }
        const heap = await page.run("performance.memory.usedJSHeapSize");
        console.log(`heap ${(heap / 1e6).toFixed(0)} MB`);
        if (page.faults.length > 0)
            console.log(page.faults.join("\n"));
    } finally {
        await browser.close();
    }
}

main(process.argv[2], Number(process.argv[3] || 120)).catch((error) => {
    console.error(error);
    process.exit(1);
});
