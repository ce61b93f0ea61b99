/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The pictures of the documentation: the worst case of a page, its timeline, and the report.
 * scripts/pictures makes the page.
 *
 * usage: pictures.js PAGE.html FOLDER
 */
"use strict";
const path = require("path");
const {Browser, find} = require("./browser.js");

async function main(file, folder) {
    const browser = new Browser(find());
    const press = (page, selector) =>
        page.run(`document.querySelector(${JSON.stringify(selector)}).click()`);

    try {
        const page = await browser.open(1180, 600);
        await page.load(`file://${path.resolve(file)}`);
        await page.settle();
        await press(page, "#tab-why");
        await page.settle();
        await page.screenshot(path.join(folder, "page-why.png"));
        await press(page, "#why button.link");
        await page.settle();
        await page.screenshot(path.join(folder, "page-timeline.png"));
        await press(page, "#tab-report");
        await page.settle();
        await page.screenshot(path.join(folder, "page-report.png"));
    } finally {
        await browser.close();
    }
}

main(process.argv[2], process.argv[3]).catch((error) => {
    console.error(error);
    process.exit(1);
});
