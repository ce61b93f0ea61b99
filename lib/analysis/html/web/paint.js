/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Rows as lines of pixels.  A line is as wide as the view and one pixel high; what the row has
 * in a pixel's time is found by binary search once it has more than a few items there.  So the
 * work of a frame is bounded by pixels, whatever the log has.
 */
"use strict";
(function (PT) {
    const {lower} = PT.tiles;
    const CROWDED = 8;

    /** A span of time on so many pixels. */
    class Scale {
        constructor(from, to, width) {
            this.from = from;
            this.to = to;
            this.width = width;
            this.perNs = width / (to - from);
        }

        x(t) {
            return (t - this.from) * this.perNs;
        }

        t(x) {
            return this.from + x / this.perNs;
        }
    }

    /**
     * Calls draw(i, x0, x1) for the items [first, end) of a part that are in sight, x in
     * pixels, not clipped, x1 > x0.  Of the items in one pixel the first few only.
     */
    function each(part, first, end, scale, draw) {
        let i = first < end ? part.reaches(scale.from, first, end) : end;
        let pixel = -1, same = 0;

        while (i < end && part.begin[i] <= scale.to) {
            const x0 = scale.x(part.begin[i]);
            const x1 = x0 + (part.length ? part.length[i] * scale.perNs : 0);
            draw(i, x0, Math.max(x1, x0 + 1));
            if (Math.floor(x1) === pixel) {
                if (++same >= CROWDED) {
                    i = Math.max(i + 1, lower(part.begin, scale.t(pixel + 1), i, end));
                    same = 0;
                    continue;
                }
            } else {
                pixel = Math.floor(x1);
                same = 0;
            }
            i++;
        }
    }

    /** Part of an item's time that is its own: the shade. */
    function shade(part, i) {
        if (!part.uncovered || part.uncovered[i] === 0 || part.length[i] === 0)
            return PT.theme.SHADES - 1;
        const share = 1 - part.uncovered[i] / part.length[i];

        return Math.max(0, Math.min(PT.theme.SHADES - 1, Math.round(share * PT.theme.SHADES)));
    }

    /** How the items of a kind of row become colours: (part, i) => pixel. */
    function inks(tables) {
        const top = PT.theme.SHADES, last = top - 1, n = tables.colours;
        const many = (part, i) => part.many ? Math.min(last, 3 + Math.ceil(
            2.5 * Math.log2(part.many[i]))) : last;

        return {
            slice: (part, i) => tables.numbered[(part.value[i] % n) * top + shade(part, i)],
            state: (part, i) => tables.states[part.value[i] * top + shade(part, i)],
            events: (part, i) => part.many ? tables.neutral[many(part, i)]
                : tables.numbered[(part.value[i] % n) * top + last],
            cpu: (part, i) => part.value[i] === 0 ? 0
                : tables.numbered[((part.value[i] - 1) % n) * top + shade(part, i)],
            lock: (part, i) => part.value[i] === 0 ? 0
                : tables.numbered[((part.value[i] - 1) % n) * top + shade(part, i)]};
    }

    /** Colours the pixels of line (a Uint32Array) with what the layers have of a row. */
    function line(pixels, row, layers, scale, ink) {
        layers.forEach(({tiles, over}, depth) => {
            for (const [from, to] of depth > 0 ? over : [[scale.from, scale.to]])
                pixels.fill(0, Math.max(0, Math.floor(scale.x(from))),
                            Math.max(0, Math.ceil(scale.x(to))));
            for (const tile of tiles)
                for (const part of tile.parts)
                    lineOf(pixels, row, part, scale, ink);
        });
    }

    function lineOf(pixels, row, part, scale, ink) {
        const [first, end] = part.range(row);
        const width = pixels.length;

        each(part, first, end, scale, (i, x0, x1) => {
            const a = Math.max(0, Math.floor(x0));
            const b = Math.min(width, Math.max(Math.floor(x0) + 1, Math.round(x1)));
            const colour = ink(part, i);
            if (b - a === 1) {
                pixels[a] = colour;
            } else if (b > a) {
                pixels.fill(colour, a, b);
                if (x1 - x0 >= 5 && x0 >= 0)
                    pixels[a] = 0;      // apart from the one before
            }
        });
    }

    /** Pixels that a row's items touch, as runs [begin, end). */
    function runs(row, layers, scale, covered) {
        const width = Math.ceil(scale.width);
        const list = [];

        for (const {tiles} of layers)
            for (const tile of tiles)
                for (const part of tile.parts) {
                    const [first, end] = part.range(row);
                    each(part, first, end, scale, (i, x0, x1) => {
                        covered.fill(1, Math.max(0, Math.floor(x0)),
                                     Math.max(0, Math.min(width, Math.ceil(x1))));
                    });
                }
        for (let x = 0; x < width; x++)
            if (covered[x]) {
                const begin = x;
                while (x < width && covered[x])
                    x++;
                list.push([begin, x]);
            }
        return list;
    }

    /** The item of a row nearest to time t, at most `near` ns away; null if there is none. */
    function find(row, layers, t, near) {
        let best = null, away = near;

        for (let k = layers.length - 1; k >= 0 && !best; k--)
            for (const tile of layers[k].tiles) {
                if (tile.to < t - near || tile.from > t + near)
                    continue;
                for (const part of tile.parts) {
                    const [first, end] = part.range(row);
                    for (let i = part.reaches(t - near, first, end);
                         i < end && part.begin[i] <= t + near; i++) {
                        const over = part.begin[i] + part.lengthOf(i);
                        const distance = Math.max(part.begin[i] - t, t - over, 0);
                        if (distance <= away && (!best || distance < away ||
                                                 part.begin[i] > best.begin)) {
                            best = part.item(i);
                            best.tile = tile;
                            away = distance;
                        }
                    }
                }
            }
        return best;
    }

    /** The item of a row that begins next after t, or with step -1 the last one before t. */
    function next(row, layers, t, step) {
        let best = null;

        for (const {tiles} of layers.slice(-1))
            for (const tile of tiles)
                for (const part of tile.parts) {
                    const [first, end] = part.range(row);
                    const i = step > 0 ? lower(part.begin, t + 1, first, end)
                        : lower(part.begin, t, first, end) - 1;
                    if (i < first || i >= end || (best && (best.begin - part.begin[i]) * step <= 0))
                        continue;
                    best = part.item(i);
                    best.tile = tile;
                }
        return best;
    }

    PT.paint = {Scale, each, inks, line, runs, find, next};
}(globalThis.PT = globalThis.PT || {}));
