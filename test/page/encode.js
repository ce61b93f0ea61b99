/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Blocks as docs/report-page.md describes them, for fixtures: an encoder of its own, so that the
 * decoder of the page is tested against the text and not against the library.
 */
"use strict";
const zlib = require("zlib");

const DIFFERENCE = 1, ZIGZAG = 2, TEXT = 4, MODULO = 8;

function head(width, flags, count, base) {
    const bytes = Buffer.alloc(16);

    bytes.writeUInt8(width, 0);
    bytes.writeUInt8(flags, 1);
    bytes.writeUInt32LE(count, 4);
    bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(base)), 8);
    return bytes;
}

function planes(values, width) {
    const bytes = Buffer.alloc(width * values.length);

    for (let i = 0; i < values.length; i++) {
        const one = values[i], big = typeof one === "bigint";
        let high = big ? Number(one >> 32n) : Math.floor(one / 4294967296);
        let low = big ? Number(one & 0xffffffffn) : one % 4294967296;
        for (let plane = 0; plane < width; plane++) {
            bytes[plane * values.length + i] = (plane < 4 ? low : high) & 255;
            if (plane < 4)
                low >>>= 8;
            else
                high >>>= 8;
        }
    }
    return bytes;
}

function widthOf(most) {
    let width = 0;

    while (most >= Math.pow(256, width))
        width++;
    return most === 0 ? 0 : width;
}

function extremes(values) {
    let least = Infinity, most = -Infinity;

    for (const value of values) {
        least = Math.min(least, Number(value));
        most = Math.max(most, Number(value));
    }
    return values.length > 0 ? [least, most] : [0, 0];
}

/** Whole numbers; with differences if that is asked for. */
function numbers(values, differences) {
    let z = values, base, flags = 0;

    if (differences) {
        let before = base = values.length > 0 ? values[0] : 0;
        flags = DIFFERENCE;
        z = Float64Array.from(values, (v) => {
            const step = v - before;
            before = v;
            return step;
        });
        if (extremes(z)[0] < 0) {
            flags |= ZIGZAG;
            z = Array.from(z, (v) => v < 0 ? -2n * BigInt(v) - 1n : 2n * BigInt(v));
        }
    } else {
        base = extremes(values)[0];
        z = Float64Array.from(values, (v) => v - base);
    }
    const width = widthOf(extremes(z)[1]);
    return Buffer.concat([head(width, flags, values.length, base), planes(z, width)]);
}

/** Any 64 bits. */
function integers(values) {
    const bytes = Buffer.alloc(8 * values.length);

    for (let i = 0; i < values.length; i++) {
        const one = BigInt.asUintN(64, values[i]);
        for (let plane = 0; plane < 8; plane++)
            bytes[plane * values.length + i] = Number((one >> BigInt(8 * plane)) & 255n);
    }
    return Buffer.concat([head(8, MODULO, values.length, 0n), bytes]);
}

function doubles(values) {
    return integers(new BigUint64Array(Float64Array.from(values).buffer));
}

function texts(list) {
    const bytes = Buffer.from(JSON.stringify(list));

    return Buffer.concat([head(1, TEXT, list.length, bytes.length), bytes]);
}

function block(columns) {
    const count = Buffer.alloc(4);

    count.writeUInt32LE(columns.length);
    return zlib.deflateRawSync(Buffer.concat([count, ...columns]), {level: 4}).toString("base64");
}

module.exports = {numbers, integers, doubles, texts, block, head};
