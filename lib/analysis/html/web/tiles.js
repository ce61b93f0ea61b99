/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Tiles: what a span of time has on one level, in parts that are sorted by row, then by begin.
 * A cache decodes blocks when they are asked for, a few at a time, and drops the tiles that were
 * used least recently.
 */
"use strict";
(function (PT) {
    /** Index of the first of sorted values[from..to) that is at least x. */
    function lower(values, x, from, to) {
        while (from < to) {
            const middle = (from + to) >> 1;
            if (values[middle] < x)
                from = middle + 1;
            else
                to = middle;
        }
        return from;
    }

    /** Items of rows, as columns: row, begin, length, value and any others of the same length. */
    class Part {
        constructor(kind, columns) {
            const count = columns.row.length;

            for (const [name, column] of Object.entries(columns))
                if (column.length !== count)
                    throw new Error(`column ${name} has ${column.length} of ${count} values`);
            this.kind = kind;
            this.count = count;
            Object.assign(this, sorted(columns));
            const ids = [], starts = [];
            for (let i = 0; i < count; i++)
                if (i === 0 || this.row[i] !== this.row[i - 1]) {
                    ids.push(this.row[i]);
                    starts.push(i);
                }
            starts.push(count);
            this.rowIds = Uint32Array.from(ids);
            this.starts = Uint32Array.from(starts);
        }

        /** [first, end) of the items of a row. */
        range(row) {
            const k = lower(this.rowIds, row, 0, this.rowIds.length);

            return this.rowIds[k] === row ? [this.starts[k], this.starts[k + 1]] : [0, 0];
        }

        lengthOf(i) {
            return this.length ? this.length[i] : 0;
        }

        /** First item of [first, end) that is not over at t.  Items of a row do not overlap. */
        reaches(t, first, end) {
            let i = lower(this.begin, t, first, end);

            while (i > first && this.begin[i - 1] + this.lengthOf(i - 1) > t)
                i--;
            return i;
        }

        item(i) {
            const item = {part: this, index: i, row: this.row[i], begin: this.begin[i],
                          length: this.lengthOf(i), value: this.value ? this.value[i] : 0,
                          count: this.many ? this.many[i] : 1};
            item.covered = item.length - (this.uncovered ? this.uncovered[i] : 0);
            return item;
        }
    }

    /** The same columns in order of row, then begin. */
    function sorted(columns) {
        const {row, begin} = columns, count = row.length;
        let inOrder = true;

        for (let i = 1; i < count && inOrder; i++)
            inOrder = row[i - 1] < row[i] || (row[i - 1] === row[i] && begin[i - 1] <= begin[i]);
        if (inOrder)
            return columns;
        // Sorting numbers is much faster than calling a function: row, then place.
        const keys = Float64Array.from(row, (r, i) => r * count + i).sort();
        const order = Uint32Array.from(keys, (key) => key % count);
        for (let i = 1; i < count; i++)
            if (row[order[i]] === row[order[i - 1]] && begin[order[i]] < begin[order[i - 1]]) {
                order.sort((a, b) => row[a] - row[b] || begin[a] - begin[b] || a - b);
                break;
            }
        const result = {};
        for (const [name, column] of Object.entries(columns))
            result[name] = column.map((_, i) => column[order[i]]);
        return result;
    }

    function levelPart(c) {
        const columns = {row: c.numbers(), begin: c.numbers(), length: c.numbers(),
                         value: c.numbers(), many: c.numbers(), uncovered: c.numbers()};

        return new Part("level", columns);
    }

    /** Resolution 0 has the values themselves. */
    function counterPart(c, resolution) {
        const row = c.numbers(), begin = c.numbers(), least = c.doubles();

        if (resolution === 0)
            return new Part("counter", {row, begin, least, greatest: least, last: least});
        return new Part("counter", {row, begin, least, greatest: c.doubles(), last: c.doubles()});
    }

    /** The first columns of a tile of events. */
    function eventColumns(c) {
        const time = c.numbers(), lane = c.numbers(), type = c.numbers();

        if (lane.length !== time.length || type.length !== time.length)
            throw new Error("events have columns of several lengths");
        return {time, lane, type};
    }

    /** Events of a tile, as instants of their lanes' rows, and the slices among them. */
    function eventParts(c, eventRows) {
        const {time, lane, type} = eventColumns(c);
        const row = c.numbers(), label = c.numbers(), last = c.numbers(), less = c.numbers();
        const begin = new Float64Array(row.length), length = new Float64Array(row.length);
        const first = new Uint32Array(row.length);

        for (let i = 0; i < row.length; i++) {
            first[i] = last[i] - less[i];
            if (!(last[i] < time.length && less[i] <= last[i]))
                throw new Error(`slice of events ${first[i]} to ${last[i]} of ${time.length}`);
            begin[i] = time[first[i]];
            length[i] = Math.max(0, time[last[i]] - begin[i]);
        }
        const slices = new Part("slice", {row, begin, length, value: label, first,
                                          last: Uint32Array.from(last)});
        return [slices, instants(time, lane, type, eventRows)];
    }

    /** By counting: events are in order of time, so that each row's are, too. */
    function instants(time, lane, type, eventRows) {
        const starts = new Uint32Array(eventRows.length + 1);
        const order = new Uint32Array(time.length);

        for (let i = 0; i < lane.length; i++)
            starts[lane[i] + 1]++;
        for (let i = 1; i < starts.length; i++)
            starts[i] += starts[i - 1];
        for (let i = 0; i < lane.length; i++)
            order[starts[lane[i]]++] = i;
        const kept = order.filter((i) => eventRows[lane[i]] >= 0);
        const part = new Part("events", {
            row: Uint32Array.from(kept, (i) => eventRows[lane[i]]),
            begin: Float64Array.from(kept, (i) => time[i]),
            value: Uint32Array.from(kept, (i) => type[i]), ordinal: kept});
        part.time = time;
        part.lane = lane;
        part.type = type;
        return part;
    }

    function longPart(c) {
        const row = c.numbers(), label = c.numbers(), begin = c.numbers();

        return new Part("long", {row, value: label, begin, length: c.numbers(),
                                 flags: c.numbers()});
    }

    function itemPart(c) {
        const row = c.numbers(), begin = c.numbers(), length = c.numbers();

        return new Part("item", {row, begin, length, value: c.numbers()});
    }

    function flowPart(c) {
        const from = c.numbers(), begin = c.numbers(), to = c.numbers();

        return new Part("flow", {row: new Uint8Array(from.length), from, begin, to,
                                 length: c.numbers(), value: c.numbers()});
    }

    /** What the events of a tile carry: for each type, its place and a column for each field. */
    function fieldTable(c, types) {
        const table = {ofType: new Map(), raw: new Map(), truncated: new Set()};

        for (const type of c.numbers()) {
            const of = types[type];
            if (!of)
                throw new Error(`fields of type ${type} of ${types.length}`);
            const site = c.numbers();
            table.ofType.set(type, {site, fields: of.fields.map((f) => fieldColumn(c, f.kind))});
        }
        const ordinals = c.numbers(), index = c.numbers(), texts = c.texts();
        ordinals.forEach((ordinal, i) => table.raw.set(ordinal, texts[index[i]]));
        c.numbers().forEach((ordinal) => table.truncated.add(ordinal));
        return table;
    }

    /** i => the value of the i-th event of the type: number, BigInt or text. */
    function fieldColumn(c, kind) {
        if (kind === "s" || kind === "b" || kind === "j") {
            const index = c.numbers(), texts = c.texts();
            return (i) => texts[index[i]];
        }
        const values = kind === "f" ? c.doubles() : c.integers();
        if (kind === "i")
            return (i) => BigInt.asIntN(64, values[i]);
        return (i) => values[i];
    }

    /** Decodes on demand, `most` blocks at a time; keeps at most `budget` values. */
    class Cache {
        constructor(fetch, changed, budget) {
            this.fetch = fetch;
            this.changed = changed;
            this.budget = budget || 2e7;
            this.kept = new Map();
            this.waiting = new Map();
            this.running = 0;
            this.used = 0;
            this.most = 3;
            this.error = null;
        }

        /** The tile if it is there; otherwise it is asked for, and `changed` says when it came. */
        get(key, load, quietly) {
            const entry = this.kept.get(key);

            if (entry) {
                this.kept.delete(key);
                this.kept.set(key, entry);
                return entry.tile;
            }
            if (!quietly)
                this.want(key, load);
            return null;
        }

        want(key, load) {
            if (!this.waiting.has(key))
                this.waiting.set(key, {load, calls: []});
            return this.waiting.get(key);
        }

        /** The tile, also if it takes time. */
        async need(key, load) {
            const tile = this.get(key, load);

            if (tile)
                return tile;
            return new Promise((resolve, reject) => {
                this.want(key, load).calls.push({resolve, reject});
                this.run();
            });
        }

        /** Requests of views that nobody looks at any more are dropped. */
        forget() {
            for (const [key, request] of this.waiting)
                if (!request.runs && request.calls.length === 0)
                    this.waiting.delete(key);
        }

        run() {
            for (const [key, request] of this.waiting) {
                if (this.running >= this.most)
                    return;
                if (!request.runs) {
                    request.runs = true;
                    this.running++;
                    this.load(key, request);
                }
            }
        }

        async load(key, request) {
            try {
                const tile = await request.load(this.fetch);
                this.keep(key, tile);
                request.calls.forEach((call) => call.resolve(tile));
            } catch (error) {
                this.error = this.error || error;
                this.keep(key, {from: 0, to: 0, parts: [], size: 0, broken: true});
                request.calls.forEach((call) => call.reject(error));
            }
            this.waiting.delete(key);
            this.running--;
            this.run();
            this.changed();
        }

        keep(key, tile) {
            this.kept.set(key, {tile});
            this.used += tile.size || 0;
            for (const [old, entry] of this.kept) {
                if (this.used <= this.budget || old === key)
                    break;
                if (!entry.tile.stays) {
                    this.used -= entry.tile.size || 0;
                    this.kept.delete(old);
                }
            }
        }
    }

    PT.tiles = {lower, Part, levelPart, counterPart, eventColumns, eventParts, longPart, itemPart,
                flowPart, fieldTable, Cache};
}(globalThis.PT = globalThis.PT || {}));
