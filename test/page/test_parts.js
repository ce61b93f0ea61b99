/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Expressions, the link, tables, charts, texts.
 */
"use strict";
const assert = require("assert");
const test = require("node:test");
const {PT} = require("./load.js");

const EVENT = {name: "rkh.sma:order#2", pid: 31, tid: 4711, thread: "worker",
               fields: {price: 99n, big: 2n ** 53n + 1n, ratio: 0.5, symbol: "ABC", neg: -3n},
               field(name) {
                   return this.fields[name];
               },
               enumeration(name, word) {
                   return name === "price" && word === "high" ? 99n : undefined;
               },
               anyText(low) {
                   return "abc".includes(low);
               }};

test("expressions", () => {
    const holds = ["order", "ABC", "\"order\"", "worker", "event \"rkh*\"", "event rkh.sma:order",
                   "class rkh.sma", "group rkh", "group \"rkh.sma\"", "tid 4711", "tid == 4711",
                   "pid != 7", "pid >= 31", "price == 99", "price < 99.5", "big > 9007199254740992",
                   "ratio == 0.5", "symbol == \"ABC\"", "symbol ~ \"A*\"", "neg < 0", "neg == -3",
                   "thread work*", "thread == \"worker\"", "price == high", "price == 0x63",
                   "not tid 1", "! tid 1 && price > 1", "tid 1 or tid 4711",
                   "tid 1 and tid 2 or price > 1", "not (tid 1 || tid 2)",
                   "event \"*:order*\" and (price >= 90 or symbol == \"X\") and not tid 7"];
    const fails = ["event order", "class rkh", "group \"rkh.sm\"", "tid 1", "price != 99",
                   "big <= 9007199254740992", "symbol == \"abc\"", "symbol != \"ABC\"",
                   "absent == 1", "absent != 1", "nothing", "price == low", "thread \"ork\"",
                   "not order", "tid 4711 and tid 1"];

    for (const text of holds)
        assert.strictEqual(PT.expression.parse(text).test(EVENT), true, text);
    for (const text of fails)
        assert.strictEqual(PT.expression.parse(text).test(EVENT), false, text);
    for (const text of ["tid ==", "(tid 1", "tid 1)", "price > \"", "and", "price > x y",
                        "&", "tid 1 and", "(".repeat(17) + "tid 1" + ")".repeat(17)])
        assert.throws(() => PT.expression.parse(text), Error, text);
});

test("an expression says which fields it needs", () => {
    for (const [text, fields, any] of [["tid 5", [], false],
                                       ["event \"a*\" and pid != 3", [], false],
                                       ["price > 1 or not .side", ["price", "side"], false],
                                       ["what ~ \"x*\" and kind == open", ["what", "kind"], false],
                                       ["tid 5 or word", [], true], ["two words", [], true]]) {
        const parsed = PT.expression.parse(text);
        assert.deepStrictEqual([...parsed.fields], fields, text);
        assert.strictEqual(parsed.anyText, any, text);
    }
});

test("what is remembered of types and threads is what each event says", () => {
    const number = {name: "id", kind: "u"}, word = {name: "what", kind: "s"};
    const model = {head: {processes: [{pid: 7}], types: [
        {name: "a", fields: [number]}, {name: "b", fields: [word]}, {name: "c", fields: []},
        {name: "d", fields: [number, word]}]},
                   lanes: [{process: 0, tid: 1, name: "x"}, {process: 0, tid: 2, name: "c y"}]};
    const words = ["c", "blue", "zzz"], n = 300;
    const part = {type: Array.from({length: n}, (_, i) => i * i % 4),
                  lane: Array.from({length: n}, (_, i) => i * 7 % 3 % 2)};
    const columns = {id: (i) => BigInt(i), what: (i) => words[i % 3]};
    const table = {raw: new Map(), ofType: new Map(model.head.types.map(({fields}, t) => [
        t, {fields: fields.map(({name}) => columns[name])}]))};

    for (const [text, needs] of [["c", true], ["tid 1", false], ["id > 20", true],
                                 ["event a", false], ["not id > 3 and tid 2", true],
                                 ["absent == 1 or event d", false],
                                 ["what == blue or id < 9", true], ["not absent == 1", false],
                                 ["blue", true], ["thread \"*y\" or .what", true]]) {
        const parsed = PT.expression.parse(text), places = [0, 0, 0, 0];
        const matcher = new PT.search.Matcher(model, parsed);
        const cursor = new PT.search.Cursor(model, part, table);
        let sum = 0;
        assert.strictEqual(matcher.needsFields(part), needs, text);
        matcher.begin(part, needs ? table : null);
        for (let i = 0; i < n; i++) {
            const type = part.type[i];
            cursor.set(i, type, places[type]++);
            assert.strictEqual(matcher.next(i), Boolean(parsed.test(cursor)), `${text}: ${i}`);
            sum += matcher.memo.filter((value) => value > 0).length > 8;
        }
        assert.strictEqual(sum, 0);
    }
});

test("patterns of the shell", () => {
    const like = (text, value) => PT.expression.pattern(text).test(value);

    assert.ok(like("a.c", "a.c") && !like("a.c", "abc"));
    assert.ok(like("[a-c]?", "bx") && !like("[!a-c]?", "bx"));
    assert.ok(like("\\*", "*") && !like("\\*", "a"));
    assert.throws(() => PT.expression.pattern("[z"), /no pattern/);
});

test("a link comes back; what does not fit is left out", () => {
    const {format, parse} = PT.link;
    const state = {from: 10, to: 2000, selected: [3, 15], query: "a&b=ü", page: "report"};

    assert.deepStrictEqual(parse(format(state)), {from: 10, to: 2000, selected: [3, 15],
                                                  query: "a&b=ü", page: "report"});
    assert.deepStrictEqual(parse("#t=5,1&sel=x&q=%zz&page=javascript"),
                           {query: "", selected: null});
    assert.deepStrictEqual(parse(""), {query: "", selected: null});
});

test("rows in order of a column, absent values last", () => {
    const rows = [{n: 2}, {n: 10}, {}, {n: 1}];
    const column = {value: (row) => row.n};

    assert.deepStrictEqual(PT.table.ordered(rows, column, false).map((r) => r.n),
                           [1, 2, 10, undefined]);
    assert.deepStrictEqual(PT.table.ordered(rows, column, true).map((r) => r.n),
                           [10, 2, 1, undefined]);
    const names = {value: (row) => row.s};
    assert.deepStrictEqual(PT.table.ordered([{s: "t10"}, {s: "t9"}], names, false)[0].s, "t9");
});

test("bars keep their counts, a tree its sums", () => {
    const bars = [[1, 2, 5], [2, 4, 7], [1000, 2000, 1]];
    const root = PT.charts.tree([{frames: ["a", "b"], ns: 5}, {frames: ["a", "c"], ns: 7}]);

    assert.strictEqual(PT.charts.rebin(bars, PT.charts.axis(bars)).reduce(
        (sum, bar) => sum + bar.count, 0), 13);
    assert.strictEqual(root.ns, 12);
    assert.strictEqual(root.below.get("a").below.get("c").ns, 7);
});

test("lengths are counted in classes", () => {
    const lengths = new PT.lengths.Lengths();
    const near = (value, wanted) => assert.ok(Math.abs(value / wanted - 1) < 0.045, `${value}`);

    for (let ns = 1; ns <= 100000; ns++)
        lengths.add(ns);
    lengths.add(0);
    near(lengths.percentile(50), 50000);
    near(lengths.percentile(99), 99000);
    assert.strictEqual(lengths.bars().reduce((sum, [, , n]) => sum + n, 0), 100001);
    assert.ok(lengths.bars().every(([from, to]) => from < to && to / from < 1.05));
});

test("times as texts and as arguments", () => {
    assert.deepStrictEqual([0, 999, 1000, 123456, 5e6, 61e9].map(PT.text.duration),
                           ["0 ns", "999 ns", "1.000 µs", "123.5 µs", "5.000 ms", "61.00 s"]);
    assert.strictEqual(PT.text.argument(1763000000123), "+1763.000000123s");
    assert.strictEqual(PT.text.offset(5), "0.000000005");
    assert.strictEqual(PT.text.count(12345678901234567890n), "12,345,678,901,234,567,890");
});

test("ticks are at round numbers and in sight", () => {
    for (const [from, to] of [[0, 1e9], [123456789, 123456999], [5e15, 5e15 + 3e6]]) {
        const list = PT.marks.ticks(from, to, 1200);
        assert.ok(list.length >= 4 && list.length <= 12, `${list.length} ticks`);
        assert.ok(list.every(({x}) => x >= 0 && x <= 1200));
        assert.strictEqual(new Set(list.map(({text}) => text)).size, list.length);
    }
});

test("words of a segment", () => {
    const name = (pid, tid) => `t/${tid}`;
    const wait = {state: "wait", kind: "lock", object_symbol: "cache_lock", relation: "holds",
                  other_pid: 1, other_tid: 5, caller_site: "w (c.c:5)"};

    assert.strictEqual(PT.why.words(wait, name),
                       "waits for lock cache_lock in w (c.c:5) held by t/5");
    assert.strictEqual(PT.why.words({state: "run"}, name), "on a processor");
    assert.strictEqual(PT.why.words({state: "unknown", reason: "events were lost"}, name),
                       "unknown: events were lost");
});

test("names are quoted for a shell", () => {
    assert.strictEqual(PT.details.quoted("request"), "request");
    assert.strictEqual(PT.details.quoted("a'b;c"), "'a'\\''b;c'");
});
