/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How often slices took how long, by name, and which threads let others continue: counted from the
 * details in the page, tile by tile, once the report is looked at.  Lengths are counted in classes
 * of a sixteenth of an octave, so that shares and percentiles are off by at most 4.5 %.
 */
"use strict";
(function (PT) {
    const PARTS = 16, CLASSES = 54 * PARTS;

    class Lengths {
        constructor() {
            this.counts = new Float64Array(CLASSES);
            this.total = 0;
        }

        add(ns) {
            const octaves = ns > 1 ? Math.log2(ns) : 0;

            this.counts[Math.min(CLASSES - 1, Math.floor(octaves * PARTS))]++;
            this.total++;
        }

        /** [[from, to, count]] of the classes that have any. */
        bars() {
            const list = [];

            this.counts.forEach((count, i) => count > 0 && list.push(
                [Math.pow(2, i / PARTS), Math.pow(2, (i + 1) / PARTS), count]));
            return list;
        }

        /** The middle of the class that the percentile is in. */
        percentile(percent) {
            const wanted = Math.max(1, Math.ceil(this.total * percent / 100));
            let sum = 0, i = 0;

            while (i < CLASSES - 1 && (sum += this.counts[i]) < wanted)
                i++;
            return Math.round(Math.pow(2, (i + 0.5) / PARTS));
        }
    }

    /** Adds the slices of a part that are whole. */
    function addPart(model, part, sums) {
        for (let k = 0; k < part.rowIds.length; k++) {
            if (model.rows[part.rowIds[k]].kind !== "slice")
                continue;
            for (let i = part.starts[k]; i < part.starts[k + 1]; i++) {
                if (part.flags && part.flags[i])
                    continue;
                const label = part.value[i];
                if (!sums.has(label))
                    sums.set(label, new Lengths());
                sums.get(label).add(part.length[i]);
            }
        }
    }

    /** Map of label to Lengths; before(done, of) is waited for before each tile. */
    async function collect(model, before) {
        const sums = new Map();
        const list = [model.events, model.long].flatMap(
            (source) => source.tiles.map((tile, i) => [source, i]));

        for (let n = 0; n < list.length; n++) {
            await before(n, list.length);
            const [source, i] = list[n];
            const tile = await model.cache.need(model.key(source, i), source.load(source.tiles[i]));
            addPart(model, tile.parts[0], sums);
        }
        return sums;
    }

    /** [{from, to, kind, count}] of the arrows: which thread let which one continue, how often. */
    async function collectFlows(model, before) {
        const sums = new Map(), source = model.flows;

        for (let i = 0; i < source.tiles.length; i++) {
            await before(i, source.tiles.length);
            const tile = await model.cache.need(model.key(source, i), source.load(source.tiles[i]));
            const [part] = tile.parts;
            for (let k = 0; k < part.count; k++) {
                const key = `${part.from[k]} ${part.to[k]} ${part.value[k]}`;
                if (!sums.has(key))
                    sums.set(key, {from: part.from[k], to: part.to[k], kind: part.value[k],
                                   count: 0});
                sums.get(key).count++;
            }
        }
        return [...sums.values()].sort((a, b) => b.count - a.count);
    }

    PT.lengths = {Lengths, collect, collectFlows};
}(globalThis.PT = globalThis.PT || {}));
