/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log as the page has it: lanes and rows, the levels of the pyramid, and which tiles show a
 * span at a resolution.  A source is a list of tiles in order of time, with the way to load one.
 */
"use strict";
(function (PT) {
    const {lower} = PT.tiles;

    class Source {
        constructor(name, resolution, tiles, load) {
            let end = -Infinity;

            this.name = name;
            this.resolution = resolution;
            this.tiles = tiles.slice().sort((a, b) => a.from - b.from);
            this.load = load;
            /* Tiles may overlap: the latest end of those up to here. */
            this.ends = Float64Array.from(this.tiles, (tile) => end = Math.max(end, tile.to));
        }

        /** Indices of the tiles that meet from..to. */
        meeting(from, to) {
            const list = [];

            for (let i = lower(this.ends, from, 0, this.tiles.length);
                 i < this.tiles.length && this.tiles[i].from <= to; i++)
                if (this.tiles[i].to >= from)
                    list.push(i);
            return list;
        }
    }

    class Model {
        constructor(head, blockText, changed) {
            this.head = head;
            this.lanes = head.lanes;
            this.rows = head.rows;
            this.origin = BigInt(head.origin);
            this.span = Math.max(1, head.span);
            this.cache = new PT.tiles.Cache((number) => this.block(number), changed);
            this.blockText = blockText;
            this.sortRows();
            this.makeSources();
        }

        /** A time of the report, in ns since 1970, as ns since the first event. */
        relative(ns) {
            return Number(BigInt(ns) - this.origin);
        }

        /** The lane of a thread of the report, or -1. */
        laneOf(pid, tid) {
            if (!this.byThread) {
                this.byThread = new Map();
                this.lanes.forEach((lane, l) => {
                    const process = this.head.processes[lane.process];
                    this.byThread.set(`${process ? process.pid : 0}/${lane.tid}`, l);
                });
            }
            const l = this.byThread.get(`${pid}/${tid}`);
            return l === undefined ? -1 : l;
        }

        /** "name/tid" of a thread of the report; nothing for tid 0. */
        threadName(pid, tid) {
            const lane = this.lanes[this.laneOf(pid, tid)];

            return tid ? `${lane && lane.name ? lane.name : "thread"}/${tid}` : "";
        }

        async block(number) {
            const text = await this.blockText(number);

            if (text === null)
                throw new Error(`block ${number} is missing`);
            return new PT.decode.Columns(await PT.decode.inflate(PT.decode.base64(text)));
        }

        /** Which rows each lane and each process has. */
        sortRows() {
            const count = this.lanes.length;

            this.eventRows = new Int32Array(count).fill(-1);
            this.lossRows = new Int32Array(count).fill(-1);
            this.stateRows = new Int32Array(count).fill(-1);
            this.laneRows = this.lanes.map(() => []);
            this.processRows = this.head.processes.map(() => []);
            this.cpuRows = [];
            this.lossOfAll = -1;
            this.rows.forEach((row, i) => this.place(row, i));
            for (const list of this.laneRows)
                list.sort((a, b) => order(this.rows[a]) - order(this.rows[b]));
        }

        place(row, i) {
            if (row.kind === "cpu")
                this.cpuRows.push(i);
            else if (row.kind === "counter" || row.kind === "lock")
                this.processRows[row.process].push(i);
            else if (row.kind === "loss" && row.lane < 0)
                this.lossOfAll = i;
            else if (row.kind === "loss")
                this.lossRows[row.lane] = i;
            else
                this.laneRows[row.lane].push(i);
            if (row.kind === "events")
                this.eventRows[row.lane] = i;
            if (row.kind === "state")
                this.stateRows[row.lane] = i;
        }

        makeSources() {
            const {levels, counters} = this.head;
            const detail = this.head.detail || {};
            const make = (list, part, name) => (list || []).map((level) => this.source(
                `${name} ${level.resolution}`, level.tiles, part, level.resolution));

            this.levels = make(levels, PT.tiles.levelPart, "level");
            this.counters = make(counters, PT.tiles.counterPart, "counter");
            this.events = new Source("events", 0, detail.events || [],
                                     (tile) => (fetch) => this.loadEvents(fetch, tile));
            this.long = this.source("long", detail.long, PT.tiles.longPart, 0);
            this.items = this.source("items", detail.items, PT.tiles.itemPart, 0);
            this.flows = this.source("flows", detail.flows, PT.tiles.flowPart, 0);
            this.missing = detail.missing || [];
            this.detail = [this.events, this.long, this.items];
        }

        source(name, tiles, part, resolution) {
            return new Source(name, resolution, tiles || [], (tile) => async (fetch) => {
                const one = part(await fetch(tile.block), resolution);
                return {from: tile.from, to: tile.to, parts: [one], size: one.count * 4};
            });
        }

        async loadEvents(fetch, tile) {
            const parts = PT.tiles.eventParts(await fetch(tile.block), this.eventRows);

            return {from: tile.from, to: tile.to, parts, size: parts[1].count * 5, source: tile};
        }

        key(source, i) {
            return `${source.name}/${i}`;
        }

        /** A tile that is there, or null; it is asked for unless quietly. */
        tile(source, i, quietly) {
            return this.cache.get(this.key(source, i), source.load(source.tiles[i]), quietly);
        }

        fields(tile) {
            const {fields, events} = tile.source;

            if (!(fields >= 0))
                return Promise.resolve(null);
            return this.cache.need(`fields/${fields}`, async (fetch) => {
                const table = PT.tiles.fieldTable(await fetch(fields), this.head.types);
                return {table, size: events * 2};
            });
        }

        /** Times, lanes and types of the events of a tile, which is not kept. */
        async eventColumns(i) {
            const tile = this.tile(this.events, i, true);

            if (tile && !tile.broken)
                return tile.parts[1];
            return PT.tiles.eventColumns(await this.block(this.events.tiles[i].block));
        }

        /** The table of the fields of a tile, which is not kept; null: the page has none. */
        async fieldsOf(i) {
            const {fields} = this.events.tiles[i];
            const kept = this.cache.get(`fields/${fields}`, null, true);

            if (kept && !kept.broken)
                return kept.table;
            return fields >= 0 ? PT.tiles.fieldTable(await this.block(fields), this.head.types)
                : null;
        }

        /** What there is of a span at a resolution, best first: lists of sources. */
        choices(levels, resolution) {
            let i = levels.findIndex((level) => level.resolution <= resolution);
            const list = [];

            if (i < 0) {
                i = levels.length - 1;
                if (levels === this.levels)
                    list.push(this.detail);
            }
            for (; i >= 0; i--)
                list.push([levels[i]]);
            return list;
        }

        /**
         * What shows from..to: layers {tiles, over}, to be drawn in this order.  A layer with
         * `over` has all that there is in these spans and replaces the ones before it there; the
         * others are drawn over each other until that has come.  Asks for what is missing.
         */
        visible(levels, from, to, resolution) {
            const layers = [];
            let wanted = true;

            for (const sources of this.choices(levels, resolution)) {
                const layer = this.layer(sources, from, to, wanted || sources[0] === levels[0]);
                layers.unshift(layer);
                if (sources === this.detail) {
                    const holes = this.missing.filter(([a, b]) => a <= to && b >= from);
                    layer.over = layer.complete ? between(holes, from, to) : [];
                    if (layer.complete && holes.length === 0)
                        break;
                } else {
                    layer.over = layer.complete ? [[from, to]] : [];
                    if (layer.complete)
                        break;
                    wanted = false;
                }
            }
            return layers;
        }

        /** Numbers of the states that were seen so far. */
        get usedStates() {
            return this.map ? this.map.states : new Set();
        }

        /** Events in each of `width` equal parts of the log, of what is there so far. */
        overview(width) {
            const source = this.levels.length > 0 ? this.levels[0] : this.events;

            this.map = this.map || {counted: new Set(), counts: new Float64Array(1024),
                                    states: new Set()};
            if (source === this.events)
                this.items.tiles.forEach((_, i) => this.collectStates(this.items, i));
            source.tiles.forEach((_, i) => {
                const tile = this.map.counted.has(i) ? null : this.tile(source, i, true);
                if (!tile)
                    return;
                tile.stays = source === this.levels[0];
                this.map.counted.add(i);
                this.map.result = null;
                tile.parts.forEach((part) => this.countEvents(part));
                this.collectStates(source, i);
            });
            if (!this.map.result || this.map.result.length !== width)
                this.map.result = resample(this.map.counts, width);
            return this.map.result;
        }

        collectStates(source, i) {
            const key = this.key(source, i);
            const tile = this.map.counted.has(key) ? null : this.tile(source, i, true);

            if (!tile)
                return;
            this.map.counted.add(key);
            for (const part of tile.parts)
                for (let k = 0; k < part.rowIds.length; k++)
                    if (this.rows[part.rowIds[k]].kind === "state")
                        for (let n = part.starts[k]; n < part.starts[k + 1]; n++)
                            this.map.states.add(part.value[n]);
        }

        countEvents(part) {
            const counts = this.map.counts, perNs = counts.length / (this.span + 1);

            if (part.kind !== "events" && part.kind !== "level")
                return;
            for (let i = 0; i < part.count; i++)
                if (part.kind === "events")
                    counts[Math.floor(part.begin[i] * perNs)]++;
                else if (this.rows[part.row[i]].kind === "events")
                    spread(counts, part.begin[i] * perNs, part.length[i] * perNs, part.many[i]);
        }

        layer(sources, from, to, ask) {
            const layer = {name: sources[0].name, tiles: [], complete: true};

            for (const source of sources)
                for (const i of source.meeting(from, to)) {
                    const tile = this.tile(source, i, !ask);
                    if (tile && !tile.broken)
                        layer.tiles.push(tile);
                    else if (!tile)
                        layer.complete = false;
                }
            return layer;
        }
    }

    /** Adds n events to the buckets at..at + length, evenly. */
    function spread(counts, at, length, n) {
        const first = Math.floor(at);
        const last = Math.min(counts.length - 1, Math.floor(at + length));

        for (let i = first; i <= last; i++)
            counts[i] += n / (last - first + 1);
    }

    function resample(counts, width) {
        return Float64Array.from({length: width}, (_, x) => {
            const first = Math.floor(x * counts.length / width);
            const end = Math.max(first + 1, Math.floor((x + 1) * counts.length / width));
            let most = 0;
            for (let i = first; i < end; i++)
                most = Math.max(most, counts[i]);
            return most;
        });
    }

    /** What is left of from..to without the holes. */
    function between(holes, from, to) {
        const list = [];
        let at = from;

        for (const [a, b] of holes) {
            if (a > at)
                list.push([at, a]);
            at = Math.max(at, b);
        }
        if (at < to)
            list.push([at, to]);
        return list;
    }

    /** State first, then instants, then slices by depth. */
    function order(row) {
        return row.kind === "state" ? 0 : row.kind === "events" ? 1 : 2 + (row.depth || 0);
    }

    PT.model = {Model, Source};
}(globalThis.PT = globalThis.PT || {}));
