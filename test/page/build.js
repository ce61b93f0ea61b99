/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Puts head and blocks into the page of lib/analysis/html/web, as the library does.
 *
 * usage: build.js OUT [EVENTS [THREADS]]
 */
"use strict";
const {createHash} = require("crypto");
const fs = require("fs");
const path = require("path");

const WEB = path.join(__dirname, "../../lib/analysis/html/web");

function source(name) {
    return fs.readFileSync(path.join(WEB, name), "utf8");
}

function hash(text) {
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Without comments that begin a line, and blanks at the beginning of lines. */
function stripped(text) {
    const rest = text.replace(/^ *(\/\*[^]*?\*\/|\/\/[^\n]*)\n/gm, "");

    return rest.split("\n").map((line) => line.trim()).filter((line) => line).join("\n") + "\n";
}

function code() {
    return source("order.txt").trim().split("\n").map((name) => stripped(source(name))).join("");
}

/** JSON in which no character ends the script element. */
function escaped(value) {
    return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g,
        (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The text of the page in pieces, since a long one is more than a string may be. */
function page({head, blocks}) {
    const script = code(), style = stripped(source("style.css"));
    const csp = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
                "img-src data: blob:";
    const element = (text, i) => `<script type="text/plain" class="block" id="b${i}">${text}` +
                                 "</script>\n";
    const list = blocks.map(element);
    const pieces = {
        attributes: [`lang="en" data-events="${head.events}" data-lost="${head.lost.total}"`],
        csp: [csp], title: ["posixtrace report"], style: [style], script: [script],
        head: [escaped(head)], first: list.slice(0, head.first),
        blocks: [...list.slice(head.first),
                 "<script type=\"text/plain\" class=\"block\" id=\"end\"></script>\n"]};

    return source("page.html").split(/\{\{(\w+)\}\}/).flatMap(
        (text, i) => i % 2 ? pieces[text] : [text]);
}

function write(out, data) {
    const file = fs.openSync(out, "w");

    for (const piece of page(data))
        fs.writeSync(file, piece);
    fs.closeSync(file);
}

module.exports = {write, page, code, source};

if (require.main === module) {
    const {make} = require("./synthetic.js");
    const [out, events, threads] = process.argv.slice(2);

    write(out, make({events: Number(events || 1000), threads: Number(threads || 4)}));
}
