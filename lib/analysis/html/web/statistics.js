/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What happened in a span: slices, states and events by name.  From the details where the page
 * has them, tile by tile, so that the page stays usable; otherwise from the finest level, and
 * the result says so.  Slices count where they begin; times are those within the span.
 */
"use strict";
(function (PT) {
    class Sums {
        constructor(model, from, to) {
            Object.assign(this, {model, from, to});
            this.slices = new Map();
            this.states = new Map();
            this.types = new Map();
            this.events = 0;
            this.exact = true;
        }

        slice(part, i) {
            const begin = part.begin[i], length = part.length[i];
            const sum = entry(this.slices, part.value[i],
                              () => ({count: 0, total: 0, least: Infinity, most: 0}));
            const many = part.many ? part.many[i] : 1;

            sum.count += begin >= this.from ? many : 0;
            sum.total += this.within(begin, length) *
                         (part.uncovered && length > 0 ? 1 - part.uncovered[i] / length : 1);
            if (begin < this.from || many > 1)
                return;
            sum.least = Math.min(sum.least, length);
            sum.most = Math.max(sum.most, length);
        }

        within(begin, length) {
            return Math.max(0, Math.min(this.to, begin + length) - Math.max(this.from, begin));
        }

        state(part, i) {
            const sum = entry(this.states, part.value[i], () => ({total: 0}));

            sum.total += this.within(part.begin[i], part.length[i]);
        }

        add(part) {
            const {rows} = this.model;

            for (let k = 0; k < part.rowIds.length; k++) {
                const kind = rows[part.rowIds[k]].kind;
                if (!["slice", "state", "events"].includes(kind))
                    continue;
                const first = part.starts[k], end = part.starts[k + 1];
                for (let i = part.reaches(this.from, first, end);
                     i < end && part.begin[i] <= this.to; i++)
                    if (kind === "slice")
                        this.slice(part, i);
                    else if (kind === "state")
                        this.state(part, i);
                    else if (part.begin[i] >= this.from)
                        this.event(part, i);
            }
        }

        event(part, i) {
            const many = part.many ? part.many[i] : 1;

            this.events += many;
            if (part.kind === "events")
                entry(this.types, part.value[i], () => ({count: 0})).count++;
        }
    }

    function entry(map, key, make) {
        if (!map.has(key))
            map.set(key, make());
        return map.get(key);
    }

    /** Sums of a span; progress(sums, done, of) after each tile returns false to stop. */
    async function collect(model, from, to, progress) {
        const sums = new Sums(model, from, to);
        const holes = model.missing.some(([a, b]) => a <= to && b >= from);
        const level = model.levels[model.levels.length - 1];
        const many = model.events.meeting(from, to).length > 64;
        const exact = !holes && !(many && level);
        const sources = exact || !level ? model.detail : [level];
        const list = sources.flatMap((source) => source.meeting(from, to).map((i) => [source, i]));

        sums.exact = exact;
        for (let k = 0; k < list.length; k++) {
            const [source, i] = list[k];
            const tile = await model.cache.need(model.key(source, i), source.load(source.tiles[i]));
            tile.parts.forEach((part) => sums.add(part));
            if (progress && !progress(sums, k + 1, list.length))
                return null;
        }
        return sums;
    }

    function sorted(map, by) {
        return [...map].sort((a, b) => b[1][by] - a[1][by]);
    }

    /** The sums as tables. */
    function tables(model, sums) {
        const {el, duration, count, percent} = PT.text;
        const {labels, states, types} = model.head;
        const table = (caption, heads, rows) => el("table", {class: "rows"},
            el("caption", {class: "away"}, caption),
            el("thead", null, el("tr", null, ...heads.map((head, i) => el(
                "th", {scope: "col", class: i > 0 ? "n" : null}, head)))),
            el("tbody", null, ...rows.slice(0, 40).map((row) => el("tr", null, ...row.map(
                (text, i) => el("td", {class: i > 0 ? "n" : null}, text))))));
        const time = (ns) => duration(Math.round(ns));
        const whole = sorted(sums.states, "total").reduce((sum, [, s]) => sum + s.total, 0);
        const shown = (sum) => Number.isFinite(sum.least)
            ? [time(sum.least), time(sum.most)] : ["", ""];

        return el("div", {class: "columns"},
            table("slices", ["slice", "count", "total", "mean", "least", "most"],
                sorted(sums.slices, "total").map(([v, s]) => [labels[v], count(s.count),
                    time(s.total), s.count > 0 ? time(s.total / s.count) : "", ...shown(s)])),
            table("states", ["threads were", "total", "share"],
                sorted(sums.states, "total").map(([v, s]) => [
                    PT.theme.stateName(states[v]), time(s.total),
                                                              percent(s.total, whole)])),
            sums.types.size === 0 ? null : table("events", ["event", "count"],
                sorted(sums.types, "count").map(([v, s]) => [types[v].name, count(s.count)])));
    }

    PT.statistics = {collect, tables};
}(globalThis.PT = globalThis.PT || {}));
