/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The decoder: what the text of docs/report-page.md says, and refusal of anything else.
 */
"use strict";
const assert = require("assert");
const test = require("node:test");
const {PT} = require("./load.js");
const {numbers, integers, doubles, texts, block, head} = require("./encode.js");

const {Columns} = PT.decode;

function columns(...list) {
    const count = Buffer.alloc(4);

    count.writeUInt32LE(list.length);
    return new Columns(new Uint8Array(Buffer.concat([count, ...list])));
}

test("numbers come back, whatever their form", () => {
    const most = Number.MAX_SAFE_INTEGER;

    for (const values of [[], [0], [7, 7, 7], [1, 2, 300, 70000, 5e9], [9, 3, 8, 0, 2 ** 40],
                          [0, most], [most, 0, most], [255, 256, 65535, 65536, 4294967295]])
        for (const differences of [false, true])
            assert.deepStrictEqual(Array.from(columns(numbers(values, differences)).numbers()),
                                   values);
});

test("integers of 64 bits and doubles are exact", () => {
    const values = [0n, 1n, 2n ** 53n + 1n, 2n ** 64n - 1n];
    const reals = [0.1, -1e300, 5e-324, Infinity];

    assert.deepStrictEqual(Array.from(columns(integers(values)).integers()), values);
    assert.deepStrictEqual(Array.from(columns(doubles(reals)).doubles()), reals);
});

test("columns of 64 bits are what arithmetic of 64 bits says", () => {
    const mask = 2n ** 64n - 1n;
    let seed = 1n;
    const random = () => (seed = (seed * 6364136223846793005n + 1442695040888963407n) & mask);

    for (const width of [0, 1, 3, 4, 5, 8])
        for (const flags of [8, 8 | 1, 8 | 2, 8 | 1 | 2]) {
            const base = random(), bits = 2n ** BigInt(8 * width) - 1n;
            const values = Array.from({length: 50}, (_, i) => i < 2 ? bits * BigInt(i)
                : (random() >> 3n) & bits);
            const planes = Array.from({length: width}, (_, plane) => values.map(
                (value) => Number(value >> BigInt(8 * plane) & 255n))).flat();
            let sum = base;
            const expected = values.map((value) => {
                const z = flags & 2 ? (value >> 1n) ^ -(value & 1n) : value;
                const result = (sum + z) & mask;
                sum = flags & 1 ? result : sum;
                return result;
            });
            const bytes = Buffer.concat([head(width, flags, 50, base), Buffer.from(planes)]);
            assert.deepStrictEqual(Array.from(columns(bytes).integers()), expected,
                                   `width ${width}, flags ${flags}`);
        }
});

test("differences with zigzag wrap modulo 2^64", () => {
    // base 2^64 - 1, z = +1, then -2
    const bytes = Buffer.concat([head(1, 1 | 2 | 8, 2, 2n ** 64n - 1n), Buffer.from([2, 3])]);

    assert.deepStrictEqual(Array.from(columns(bytes).integers()), [0n, 2n ** 64n - 2n]);
});

test("widths of three and seven bytes", () => {
    const bytes = (width) => Buffer.concat([head(width, 0, 1, 10), Buffer.alloc(width, 1)]);

    assert.strictEqual(columns(bytes(3)).numbers()[0], 0x010101 + 10);
    assert.strictEqual(columns(bytes(7)).integers()[0], 0x01010101010101n + 10n);
});

test("texts come back, with bytes that are no UTF-8", () => {
    const list = ["", "é\u2028</script>", "\"\\"];

    assert.deepStrictEqual(columns(texts(list)).texts(), list);
    assert.strictEqual(PT.decode.json("\"a\\udcff\""), "a\\xff");
    assert.strictEqual(PT.decode.json("\"\\ud83d\\udcff\""), "\u{1f4ff}");
});

test("long integers of JSON keep their digits, texts stay as they are", () => {
    const time = "1763000000123456789";

    assert.deepStrictEqual(PT.decode.json(`{"a":${time},"b":":${time}"}`),
                           {a: time, b: `:${time}`});
    assert.deepStrictEqual(PT.decode.json("[12, -12345678901234567890, \"\\\"9999999999999999\"]"),
                           [12, "-12345678901234567890", "\"9999999999999999"]);
});

test("what does not fit is refused", () => {
    const good = numbers([1, 2, 3]);
    const refused = (bytes, kind) => assert.throws(() => columns(bytes)[kind || "numbers"](),
                                                   Error);

    refused(good.subarray(0, good.length - 1));
    refused(good.subarray(0, 9));
    refused(head(9, 0, 1, 0));
    refused(head(1, 32, 0, 0));
    refused(head(1, 0, 0xffffffff, 0));
    refused(good, "texts");
    refused(texts(["a"]), "numbers");
    refused(head(0, 0, 1, 2n ** 60n));
    refused(Buffer.concat([head(1, 4, 2, 5), Buffer.from("[\"a\"]")]), "texts");
    refused(head(1, 4, 1, 2n ** 40n), "texts");
    assert.throws(() => columns().numbers(), /fewer columns/);
});

test("a block is base64 of a raw deflate stream", async () => {
    const bytes = await PT.decode.inflate(PT.decode.base64(block([numbers([5, 6])])));

    assert.deepStrictEqual(Array.from(new Columns(bytes).numbers()), [5, 6]);
    await assert.rejects(PT.decode.inflate(PT.decode.base64("AAAA")));
});
