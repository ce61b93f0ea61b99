/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Logs that never were: threads that serve requests, wait for a lock and sleep, with all kinds
 * of rows, as head and blocks of a page.  The same arguments make the same log.
 */
"use strict";
const {numbers, integers, doubles, texts, block} = require("./encode.js");

const TYPES = ["request:begin", "request:end", "parse:begin", "parse:end", "query:begin",
               "query:end", "posixtrace_mutex_lock", "posixtrace_mutex_locked",
               "posixtrace_mutex_unlock", "queue.depth", "note"];
const LABELS = ["request", "parse", "query"];
const STATES = ["lock", "sleep", "I/O", "running", "runnable", "unnamed", "unknown"];
const TILE = 65536;

function random(seed) {
    let state = seed >>> 0;

    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

/** A list of numbers that grows without objects. */
class Numbers {
    constructor() {
        this.values = new Float64Array(1024);
        this.length = 0;
    }

    push(value) {
        if (this.length === this.values.length) {
            const more = new Float64Array(this.length * 2);
            more.set(this.values);
            this.values = more;
        }
        this.values[this.length++] = value;
    }

    list() {
        return this.values.subarray(0, this.length);
    }
}

class Rows {
    constructor() {
        this.begin = [];
        this.length = [];
        this.value = [];
    }

    add(row, begin, length, value) {
        if (!this.begin[row]) {
            this.begin[row] = new Numbers();
            this.length[row] = new Numbers();
            this.value[row] = new Numbers();
        }
        this.begin[row].push(begin);
        this.length[row].push(length);
        this.value[row].push(value);
    }
}

/** What one thread does, ten events or so a turn. */
function thread(lane, options, out) {
    const rnd = random(options.seed * 7919 + lane);
    const between = (a, b) => Math.floor(a + (b - a) * rnd());
    const turns = Math.ceil(options.events / options.threads / 10.5);
    const pace = options.pace || 60000;
    let t = between(0, 5000), mark = t;
    const event = (type) => {
        out.times.push(t);
        out.types.push(type);
    };
    const spend = (state, length) => {
        out.rows.add(lane * 5 + 1, t, length, state);
        t += length;
    };

    for (let n = 0; n < turns; n++) {
        const begun = t;
        event(0);
        spend(3, between(200, 900));
        event(2);
        const parse = t;
        spend(3, between(100, 2500));
        event(3);
        out.rows.add(lane * 5 + 3, parse, t - parse, 1);
        const query = t;
        event(4);
        event(6);
        spend(0, n % 50 === 0 ? between(20000, 90000) : between(50, 400));
        event(7);
        if (rnd() < 0.3)
            out.flows.push({from: (lane + 1) % options.threads, begin: t - 60, to: lane,
                            length: 50});
        spend(3, between(300, 4000));
        event(8);
        event(5);
        out.rows.add(lane * 5 + 3, query, t - query, 2);
        event(1);
        out.rows.add(lane * 5 + 2, begun, t - begun, 0);
        if (n % 2 === 0)
            event(9);
        spend(rnd() < 0.1 ? 4 : 1, between(pace / 4, pace * 2));
        mark = t;
    }
    return mark;
}

/** Items of a row joined at resolution r: [begin, end, value, count, covered]. */
function join(row, r) {
    const out = {begin: [], length: [], value: [], count: [], covered: []};
    let bucket = -1;

    for (let i = 0; i < row.begin.length; i++) {
        const begin = row.begin[i], length = row.length[i], last = out.begin.length - 1;
        const n = row.count ? row.count[i] : 1, own = row.covered ? row.covered[i] : length;
        if (length < r && last >= 0 && bucket === Math.floor(begin / r)) {
            out.length[last] = begin + length - out.begin[last];
            out.count[last] += n;
            out.covered[last] += own;
            continue;
        }
        bucket = length < r ? Math.floor(begin / r) : -1;
        out.begin.push(begin);
        out.length.push(length);
        out.value.push(row.value[i]);
        out.count.push(n);
        out.covered.push(own);
    }
    return out;
}

class Page {
    constructor() {
        this.blocks = [];
    }

    add(columns) {
        return this.blocks.push(block(columns)) - 1;
    }

    /** Tiles of at most so many items, cut by time, sorted by row, then begin. */
    tiles(rows, size, columns) {
        const total = rows.reduce((sum, row) => sum + (row ? row.begin.length : 0), 0);
        const tiles = [], pieces = Math.max(1, Math.ceil(total / size));
        const ends = rows.map(() => 0);
        let last = 0;

        rows.forEach((row) => last = Math.max(last, row && row.begin.length
            ? row.begin[row.begin.length - 1] : 0));
        for (let p = 1; p <= pieces; p++) {
            const until = p === pieces ? Infinity : last * p / pieces;
            const part = [];
            rows.forEach((row, r) => {
                for (; row && ends[r] < row.begin.length && row.begin[ends[r]] < until; ends[r]++)
                    part.push([r, ends[r]]);
            });
            if (part.length === 0)
                continue;
            let from = Infinity, to = 0;
            for (const [r, i] of part) {
                from = Math.min(from, rows[r].begin[i]);
                to = Math.max(to, rows[r].begin[i] + rows[r].length[i]);
            }
            tiles.push({from, to, items: part.length, block: this.add(columns(part))});
        }
        return tiles;
    }
}

function column(rows, part, name) {
    return Float64Array.from(part, ([r, i]) => rows[r][name][i]);
}

function levelColumns(rows) {
    return (part) => [
        numbers(part.map(([r]) => r), true), numbers(column(rows, part, "begin"), true),
        numbers(column(rows, part, "length")), numbers(column(rows, part, "value")),
        numbers(column(rows, part, "count")),
        numbers(Float64Array.from(part, ([r, i]) => rows[r].length[i] - rows[r].covered[i]))];
}

function levels(page, rows, span) {
    const list = [];
    let fine = rows, before = rows.reduce((sum, row) => sum + (row ? row.begin.length : 0), 0);

    for (let r = 1024; span / r > 128; r *= 4) {
        const level = fine.map((row) => row ? join(row, r) : row);
        const items = level.reduce((sum, row) => sum + (row ? row.begin.length : 0), 0);
        fine = level;
        if (items * 2 > before)
            continue;
        before = items;
        list.unshift({resolution: r, rows: level});
    }
    return list.map(({resolution, rows: level}) => ({
        resolution, tiles: page.tiles(level, TILE, levelColumns(level))}));
}

/** Events in order of time: which thread's next one it is. */
function merge(outs) {
    let n = 0, k = 0;

    outs.forEach((out) => n += out.times.length);
    const keys = new Float64Array(n);
    outs.forEach((out, lane) => {
        for (let i = 0; i < out.times.length; i++)
            keys[k++] = out.times.values[i] * 1024 + lane;
    });
    return keys.sort();
}

function detail(page, outs, options) {
    const keys = merge(outs), next = outs.map(() => 0), tiles = [], long = [];
    const open = outs.map(() => []);

    for (let start = 0; start < keys.length; start += TILE) {
        const end = Math.min(keys.length, start + TILE), n = end - start;
        const time = new Float64Array(n), lane = new Uint32Array(n), type = new Uint32Array(n);
        const slices = [];
        for (let i = 0; i < n; i++) {
            const l = keys[start + i] % 1024;
            time[i] = (keys[start + i] - l) / 1024;
            lane[i] = l;
            type[i] = outs[l].types.values[next[l]++];
            if (type[i] === 0 || type[i] === 2 || type[i] === 4) {
                open[l].push(start + i);
            } else if (type[i] === 1 || type[i] === 3 || type[i] === 5) {
                const first = open[l].pop(), row = l * 5 + 2 + open[l].length;
                const label = (type[i] - 1) / 2;
                if (first >= start)
                    slices.push([row, label, i, start + i - first]);
                else
                    long.push([row, label, (keys[first] - l) / 1024, time[i]]);
            }
        }
        const fields = options.fields === false ? -1
            : page.add(fieldColumns(type, start, options));
        const sliced = [0, 1, 2, 3].map((c) => numbers(slices.map((s) => s[c])));
        tiles.push({from: time[0], to: time[n - 1], events: n, first: start, fields,
                    block: page.add([numbers(time, true), numbers(lane), numbers(type),
                                     ...sliced])});
    }
    return {tiles, long};
}

/** Types 0, 9 and 10 have fields, the last one text. */
function fieldColumns(type, start, options) {
    const present = [...new Set(type)].sort((a, b) => a - b);
    const columns = [numbers(present)];

    for (const one of present) {
        const ordinals = [];
        type.forEach((t, i) => t === one && ordinals.push(start + i));
        columns.push(numbers(ordinals.map(() => one === 0 ? 1 : 0)));
        if (one === 0) {
            columns.push(integers(ordinals.map((n) => BigInt(n))));
            columns.push(numbers(ordinals.map((n) => n % options.words.length)),
                         texts(options.words));
        } else if (one === 9) {
            columns.push(doubles(ordinals.map((n) => n / 8)));
        }
    }
    return [...columns, numbers([]), numbers([]), texts([]), numbers([])];
}

function counterTiles(page, row, span, count) {
    const rnd = random(99), begin = [], value = [];
    let depth = 5;

    for (let i = 0; i < count; i++) {
        begin.push(Math.floor(span * i / count));
        depth = Math.max(0, Math.min(40, depth + Math.round((rnd() - 0.5) * 6)));
        value.push(depth);
    }
    const rows = begin.map(() => row);
    const joined = (r, n) => {
        const b = [], least = [], greatest = [], last = [];
        for (let i = 0; i < count; i += n) {
            const part = value.slice(i, i + n);
            b.push(begin[i]);
            least.push(Math.min(...part));
            greatest.push(Math.max(...part));
            last.push(part[part.length - 1]);
        }
        return {resolution: r, tiles: [{from: b[0], to: b[b.length - 1], block: page.add(
            [numbers(b.map(() => row)), numbers(b, true), doubles(least), doubles(greatest),
             doubles(last)])}]};
    };
    const list = count > 2000 ? [joined(Math.floor(span / count) * 16, 16)] : [];
    list.push({resolution: 0, tiles: [{from: begin[0], to: begin[count - 1], block: page.add(
        [numbers(rows), numbers(begin, true), doubles(value)])}]});
    return list;
}

/** Losses of the first thread, one lock and two processors. */
function addShared(rows, o, span) {
    const lossRow = o.threads * 5, lockRow = lossRow + 2;

    rows.add(lossRow, Math.floor(span * 0.6), Math.floor(span * 0.02), 0);
    for (let i = 0; i < 200; i++)
        rows.add(lockRow, Math.floor(span * i / 200), Math.floor(span / 500), 1 + i % o.threads);
    for (let cpu = 0; cpu < 2; cpu++)
        for (let i = 0; i < 100; i++)
            rows.add(lockRow + 1 + cpu, Math.floor(span * i / 100), Math.floor(span / 150),
                     1 + (i + cpu) % o.threads);
}

/** {head, blocks}: options are events, threads, seed, and names for what the log has. */
function make(options) {
    const o = {events: 1000, threads: 4, seed: 1, words: ["read", "write", "sync"],
               process: "server", lane: "worker", ...options};
    const page = new Page(), rows = new Rows(), flows = [], outs = [];
    let span = 0;

    for (let lane = 0; lane < o.threads; lane++) {
        const out = {times: new Numbers(), types: new Numbers(), rows, flows};
        span = Math.max(span, thread(lane, o, out));
        outs.push(out);
    }
    addShared(rows, o, span);
    outs.forEach((out, lane) => {
        for (let i = 0; i < out.times.length; i++)
            rows.add(lane * 5, out.times.values[i], 0, 0);
    });
    const flat = Array.from(rows.begin, (begin, r) => begin && {
        begin: begin.list(), length: rows.length[r].list(), value: rows.value[r].list()});
    const levelList = levels(page, flat, span);
    const counters = counterTiles(page, o.threads * 5 + 1, span, Math.min(50000, o.events));
    const first = page.blocks.length;
    const head = headOf(o, outs, span);
    Object.assign(head, {first, levels: levelList, counters,
                         detail: detailOf(page, outs, o, flat, head.rows, flows)});
    return {head, blocks: page.blocks};
}

function detailOf(page, outs, o, flat, headRows, flows) {
    const {tiles, long} = detail(page, outs, o);
    const kept = flat.map((row, r) => ["slice", "events"].includes(headRows[r].kind)
        ? undefined : row);
    const itemColumns = (part) => [numbers(part.map(([r]) => r), true),
                                   ...["begin", "length", "value"].map((name) => numbers(
                                       column(kept, part, name), name === "begin"))];

    return {events: tiles, long: longTiles(page, long), items: page.tiles(kept, TILE, itemColumns),
            flows: flowTiles(page, flows), missing: []};
}

function headOf(o, outs, span) {
    return {version: 1, producer: "posixtrace 0.2.0",
            log: {name: o.log || "app.ptl", id: "00", print: "posixtrace print 'app.ptl'",
                  why: "posixtrace why 'app.ptl'"},
            origin: "1763000000123456789", span,
            events: outs.reduce((sum, out) => sum + out.times.length, 0),
            lost: {total: "12", causes: [[o.cause || "stream full", "12"]]}, unmarked: false,
            notes: o.notes || [], labels: o.labels || LABELS, states: STATES, types: typesOf(o),
            sites: [o.site || "serve (server.c:17)"], processes: [{pid: 31, name: o.process}],
            lanes: outs.map((out, l) => ({process: 0, tid: 31 + l, name: o.lane, begin: 0,
                                          end: span, events: out.times.length, lost: "0"})),
            rows: rowsOf(o), report: o.report || null, why: o.why || []};
}

function rowsOf(o) {
    const rows = [];

    for (let lane = 0; lane < o.threads; lane++)
        rows.push({kind: "events", lane}, {kind: "state", lane}, {kind: "slice", lane, depth: 0},
                  {kind: "slice", lane, depth: 1}, {kind: "slice", lane, depth: 2});
    return [...rows, {kind: "loss", lane: 0},
            {kind: "counter", process: 0, name: o.counter || "queue.depth"},
            {kind: "lock", process: 0, name: o.lock || "cache_lock"}, {kind: "cpu", cpu: 0},
            {kind: "cpu", cpu: 1}];
}

function typesOf(o) {
    const fields = {0: [{name: "id", kind: "u"}, {name: o.field || "what", kind: "s"}],
                    9: [{name: "depth", kind: "f"}]};

    return TYPES.map((name, t) => ({name: o.types ? o.types[t] || name : name,
                                    system: name.startsWith("posixtrace"),
                                    begin: [0, 2, 4].includes(t) ? t / 2 : -1,
                                    end: [1, 3, 5].includes(t) ? (t - 1) / 2 : -1,
                                    fields: fields[t] || []}));
}

function longTiles(page, long) {
    if (long.length === 0)
        return [];
    long.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
    return [{from: long.reduce((a, s) => Math.min(a, s[2]), Infinity),
             to: long.reduce((a, s) => Math.max(a, s[3]), 0),
             block: page.add([numbers(long.map((s) => s[0])), numbers(long.map((s) => s[1])),
                              numbers(long.map((s) => s[2])),
                              numbers(long.map((s) => s[3] - s[2])), numbers(long.map(() => 0))])}];
}

function flowTiles(page, flows) {
    const tiles = [];

    flows.sort((a, b) => a.begin - b.begin);
    for (let i = 0; i < flows.length; i += TILE) {
        const part = flows.slice(i, i + TILE);
        const get = (name) => numbers(part.map((f) => f[name]));
        tiles.push({from: part[0].begin, to: part[part.length - 1].begin + 50, block: page.add(
            [get("from"), get("begin"), get("to"), get("length"), numbers(part.map(() => 0))])});
    }
    return tiles;
}

module.exports = {make, TYPES, LABELS, STATES};
