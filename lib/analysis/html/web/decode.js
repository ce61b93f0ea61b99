/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Blocks of the page: base64 of deflated columns, as docs/report-page.md describes them.  All
 * lengths are checked; what does not fit is refused with an error.  Nothing here knows what
 * columns mean.
 */
"use strict";
(function (PT) {
    const DIFFERENCE = 1, ZIGZAG = 2, TEXT = 4, MODULO = 8, KNOWN = 31;
    const MOST_VALUES = 1 << 26;
    /** Where the low half of 64 bits is, in this machine's order of bytes. */
    const FIRST = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;

    function base64(text) {
        const raw = atob(text);
        const bytes = new Uint8Array(raw.length);

        for (let i = 0; i < raw.length; i++)
            bytes[i] = raw.charCodeAt(i);
        return bytes;
    }

    async function inflate(bytes) {
        const stream = new Blob([bytes]).stream().pipeThrough(
            new DecompressionStream("deflate-raw"));

        return new Uint8Array(await new Response(stream).arrayBuffer());
    }

    /** What a column's values are: numbers (below 2^53), 64-bit integers, or bits of doubles. */
    class Columns {
        constructor(bytes) {
            this.bytes = bytes;
            this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
            this.at = 0;
            this.left = this.take(4).getUint32(0, true);
        }

        take(size) {
            if (size > this.bytes.length - this.at)
                throw new Error(`block ends at ${this.bytes.length}, ${this.at + size} needed`);
            const part = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, size);
            this.at += size;
            return part;
        }

        /** Reads the head of the next column. */
        open(text) {
            if (this.left === 0)
                throw new Error("block has fewer columns than it should");
            this.left--;
            const head = this.take(16);
            const column = {width: head.getUint8(0), flags: head.getUint8(1),
                            count: head.getUint32(4, true), base: head.getBigUint64(8, true)};
            if (column.width > 8 || (column.flags & ~KNOWN) || column.count > MOST_VALUES)
                throw new Error(`column of width ${column.width}, flags ${column.flags}, ` +
                                `${column.count} values`);
            if (Boolean(column.flags & TEXT) !== text)
                throw new Error(`column of ${text ? "numbers" : "text"}`);
            return column;
        }

        /** Four planes at most, as numbers of 32 bits. */
        planes(count, width) {
            const start = this.at, bytes = this.bytes;
            const value = width <= 1 ? new Uint8Array(count) :
                width === 2 ? new Uint16Array(count) : new Uint32Array(count);

            this.take(count * width);
            for (let plane = 0; plane < width; plane++)
                for (let i = 0, p = start + plane * count; i < count; i++, p++)
                    value[i] |= bytes[p] << (8 * plane);
            return value;
        }

        /** Low and high halves of what the planes have; high is null if there is none. */
        halves({count, width}) {
            return {low: this.planes(count, Math.min(width, 4)),
                    high: width > 4 ? this.planes(count, width - 4) : null};
        }

        /** Numbers below 2^53: times, lengths, counts, indices. */
        numbers() {
            const column = this.open(false);

            if (column.flags & MODULO)
                return exact(Float64Array.from(this.wide(column), Number));
            const {low, high} = this.halves(column);
            const base = Number(BigInt.asIntN(64, column.base));
            if (!high && base === 0 && !(column.flags & (DIFFERENCE | ZIGZAG)))
                return low;
            const value = new Float64Array(column.count);
            const zigzag = column.flags & ZIGZAG;
            for (let i = 0; i < value.length; i++) {
                const above = high ? high[i] : 0;
                // Halved before it is a double: the number itself may have 54 bits.
                const half = above * 2147483648 + (low[i] >>> 1);
                value[i] = !zigzag ? above * 4294967296 + low[i]
                    : low[i] & 1 ? -half - 1 : half;
            }
            return exact(summed(value, base, column.flags & DIFFERENCE));
        }

        /** 64 bits each, exact. */
        integers() {
            return this.wide(this.open(false));
        }

        /** By halves: arithmetic of BigInt takes some twenty times as long. */
        wide(column) {
            const {low, high} = this.halves(column), {count} = column;
            const value = new BigUint64Array(count), halves = new Uint32Array(value.buffer);
            const zigzag = column.flags & ZIGZAG, differences = column.flags & DIFFERENCE;
            let sumLow = Number(column.base & 0xffffffffn), sumHigh = Number(column.base >> 32n);

            for (let i = 0; i < count; i++) {
                const l = low[i], h = high ? high[i] : 0, sign = zigzag ? -(l & 1) : 0;
                const a = zigzag ? ((l >>> 1 | h << 31) ^ sign) >>> 0 : l;
                const b = zigzag ? (h >>> 1 ^ sign) >>> 0 : h;
                const sum = a + sumLow, top = (b + sumHigh + (sum > 0xffffffff)) >>> 0;
                halves[2 * i + FIRST] = sum;
                halves[2 * i + 1 - FIRST] = top;
                if (differences) {
                    sumLow = sum >>> 0;
                    sumHigh = top;
                }
            }
            return value;
        }

        doubles() {
            return new Float64Array(this.integers().buffer);
        }

        texts() {
            const column = this.open(true);

            if (column.base > BigInt(this.bytes.length))
                throw new Error(`text of ${column.base} bytes`);
            const list = json(new TextDecoder().decode(this.take(Number(column.base))));
            if (!Array.isArray(list) || list.length !== column.count ||
                !list.every((s) => typeof s === "string"))
                throw new Error("text column does not have the strings that it says");
            return list;
        }
    }

    /** Adds the base, to each value or to the sum of differences. */
    function summed(value, base, differences) {
        let sum = base;

        for (let i = 0; i < value.length; i++) {
            value[i] += sum;
            if (differences)
                sum = value[i];
        }
        return value;
    }

    function exact(value) {
        for (let i = 0; i < value.length; i++)
            if (!(Math.abs(value[i]) <= Number.MAX_SAFE_INTEGER))
                throw new Error("number of 2^53 or more");
        return value;
    }

    /**
     * JSON whose integers of 16 digits and more become strings, so that no digit is lost, and
     * whose bytes that are no UTF-8 become \\xNN.
     */
    function json(text) {
        const token = /"(?:[^"\\]|\\.)*"|-?\d{16,}/g;
        const byte = /(\\ud[89ab][0-9a-f]{2})?\\udc([89a-f][0-9a-f])/gi;

        return JSON.parse(text.replace(token, (one) => {
            if (one[0] !== "\"")
                return `"${one}"`;
            return one.includes("\\u") ? one.replace(byte, (all, high, low) => high ? all
                : `\\\\x${low}`) : one;
        }));
    }

    PT.decode = {base64, inflate, Columns, json};
}(globalThis.PT = globalThis.PT || {}));
