/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The scripts of the page for unit tests: all but main.js, which starts the page.
 */
"use strict";
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");

const WEB = path.join(__dirname, "../../lib/analysis/html/web");

for (const name of fs.readFileSync(path.join(WEB, "order.txt"), "utf8").trim().split("\n"))
    if (name !== "main.js")
        require(path.join(WEB, name));

/* Node 18, which Debian 12 has, knows no raw deflate as a stream; browsers do. */
try {
    new DecompressionStream("deflate-raw");
} catch (error) {
    global.PT.decode.inflate = async (bytes) => new Uint8Array(zlib.inflateRawSync(bytes));
}

/** A model of a fixture, with all its tiles through the decoder. */
function model({head, blocks}) {
    return new global.PT.model.Model(global.PT.decode.json(JSON.stringify(head)),
                                     async (number) => blocks[number] || null, () => null);
}

/** Asks until all that a view needs has been decoded. */
async function layers(of, from, to, resolution) {
    for (;;) {
        const list = of.visible(of.levels, from, to, resolution);
        if (list[list.length - 1].complete)
            return list;
        of.cache.run();
        await new Promise((resolve) => setImmediate(resolve));
    }
}

module.exports = {PT: global.PT, model, layers};
