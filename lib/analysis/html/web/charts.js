/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Pictures of the report as SVG: histogram with cumulative curve, graph of contention, flame
 * graph.
 */
"use strict";
(function (PT) {
    const {svg, cut, duration, count} = PT.text;
    const WIDTH = 420, HEIGHT = 170, LEFT = 44, BOTTOM = 22, TOP = 16;
    const BOX = 180, GAP = 150, ROW = 32;           // of the graph of contention

    /** Lengths are on a logarithmic axis: those of one pair differ by factors of thousands. */
    function axis(bars) {
        const least = Math.max(1, bars[0][0]);
        const most = Math.max(least + 1, bars[bars.length - 1][1]);
        const a = Math.log(least), b = Math.log(most);
        const room = WIDTH - LEFT - 6;

        const x = (ns) => LEFT + room * (Math.log(Math.max(least, ns)) - a) / (b - a);

        return {least, most, x};
    }

    /** At most 48 bars of equal width on the axis, from those of the log. */
    function rebin(bars, {least, most}) {
        const n = 48, step = Math.log(most / least) / n;
        const list = Array.from({length: n}, (_, i) => ({from: least * Math.exp(step * i),
                                                         to: least * Math.exp(step * (i + 1)),
                                                         count: 0}));

        for (const [from, to, c] of bars) {
            const middle = Math.sqrt(Math.max(1, from) * Math.max(1, to));
            const i = Math.floor(Math.log(Math.max(least, middle) / least) / step);
            list[Math.min(n - 1, i)].count += Number(c);
        }
        return list;
    }

    function ticksOf(at) {
        const list = [];

        for (let p = Math.ceil(Math.log10(at.least)); Math.pow(10, p) <= at.most; p++)
            list.push(Math.pow(10, p));
        return list.length > 1 ? list : [at.least, at.most];
    }

    /** bars: [[from, to, count]], quantiles: [[percent, ns]]. */
    function histogram(title, bars, quantiles) {
        const at = axis(bars), list = rebin(bars, at);
        const total = list.reduce((sum, bar) => sum + bar.count, 0);
        const most = Math.max(1, ...list.map((bar) => bar.count));
        const y = (part) => HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * part;
        const picture = svg("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT,
                                    role: "img", "aria-label": `${title}: ${words(quantiles)}`});
        let sum = 0, curve = `M${LEFT},${y(0)}`;

        for (const bar of list) {
            const x0 = at.x(bar.from), x1 = at.x(bar.to);
            sum += bar.count;
            curve += `L${x1.toFixed(1)},${y(sum / total).toFixed(1)}`;
            if (bar.count > 0)
                picture.append(svg("rect", {class: "bars", x: x0, width: Math.max(1, x1 - x0 - 0.5),
                                            y: y(bar.count / most),
                                            height: y(0) - y(bar.count / most)},
                    svg("title", null, `${duration(Math.round(bar.from))} to ` +
                        `${duration(Math.round(bar.to))}: ${count(bar.count)}`)));
        }
        picture.append(svg("line", {class: "axis", x1: LEFT, x2: WIDTH - 6, y1: y(0), y2: y(0)}),
                       svg("path", {class: "curve", d: curve}));
        for (const part of [0, 0.5, 1])
            picture.append(svg("text", {class: "faint", x: LEFT - 5, y: y(part) + 4,
                                        "text-anchor": "end"}, `${part * 100} %`));
        for (const ns of ticksOf(at)) {
            const text = duration(Math.round(ns)).replace(/\.0+ /, " ");
            picture.append(svg("text", {class: "faint", x: Math.min(at.x(ns), WIDTH - 28),
                                        y: HEIGHT - 6, "text-anchor": "middle"}, text));
        }
        marks(picture, quantiles, at, y);
        return picture;
    }

    function words(quantiles) {
        return quantiles.map(([p, ns]) => `p${p} ${duration(ns)}`).join(", ");
    }

    /** Their texts are on two lines where they would meet. */
    function marks(picture, quantiles, at, y) {
        let before = -Infinity;

        for (const [p, ns] of quantiles.filter(([percent]) => percent === 50 || percent === 99)) {
            const x = at.x(ns), left = Math.min(x + 3, WIDTH - 84);
            picture.append(svg("line", {class: "mark", x1: x, x2: x, y1: TOP - 4, y2: y(0)}),
                           svg("text", {x: left, y: left - before < 90 ? TOP + 8 : TOP - 5},
                               `p${p} ${duration(ns)}`));
            before = left;
        }
    }

    /** The edges between two sides, with the sums of those that are the same. */
    function links(edges, left, right) {
        const sums = new Map();

        for (const edge of edges) {
            const key = JSON.stringify([edge[left], edge[right]]);
            const link = sums.get(key) || {from: edge[left], to: edge[right], ns: 0, count: 0};
            link.ns += edge.ns;
            link.count += edge.count;
            sums.set(key, link);
        }
        return [...sums.values()];
    }

    /** A link from x, y to x + GAP, yTo; its text near the end that is no lock. */
    function drawLink(picture, link, {x, y, yTo, most, near}) {
        const part = near ? 0.2 : 0.8, step = part * part * (3 - 2 * part);
        const middle = x + GAP / 2, thick = 1 + 7 * link.ns / most;
        const text = `${duration(link.ns)} × ${count(link.count)}`;

        picture.append(
            svg("path", {class: "edge", "stroke-width": thick,
                         d: `M${x},${y}C${middle},${y} ${middle},${yTo} ${x + GAP},${yTo}`},
                svg("title", null, `${link.from}, ${link.to}: ${text}`)),
            svg("text", {class: "faint", x: near ? x + 6 : x + GAP - 6,
                         y: y + (yTo - y) * step - 4 - thick / 2,
                         "text-anchor": near ? "start" : "end"}, text));
    }

    /** edges: [{waiter, lock, holder, ns, count}]: a thread, the lock, the thread that had it. */
    function contention(edges) {
        const names = ["waiter", "lock", "holder"];
        const sides = names.map((side) => sumBy(edges, side));
        const height = 40 + ROW * Math.max(...sides.map((side) => side.size));
        const xs = [10, 10 + BOX + GAP, 10 + 2 * (BOX + GAP)], width = xs[2] + BOX + 10;
        const picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
                                    "aria-label": "Threads that wait, locks, threads that hold"});
        const most = Math.max(1, ...sides.flatMap((side) => [...side.values()]));
        const place = sides.map((side) => new Map([...side.keys()].map(
            (key, i) => [key, 40 + ROW * i])));

        ["waited", "lock", "had it"].forEach((text, i) => picture.append(
            svg("text", {class: "faint", x: xs[i], y: 12}, text)));
        for (const i of [0, 1])
            for (const link of links(edges, names[i], names[i + 1]))
                drawLink(picture, link, {x: xs[i] + BOX, y: place[i].get(link.from),
                                         yTo: place[i + 1].get(link.to), most, near: i === 0});
        sides.forEach((side, i) => side.forEach((ns, key) => picture.append(
            svg("rect", {class: "node", x: xs[i], y: place[i].get(key) - 11, width: BOX, height: 22,
                         rx: 4}),
            svg("text", {x: xs[i] + 6, y: place[i].get(key) + 4}, cut(key, 26),
                svg("title", null, `${key}: ${duration(ns)}`)))));
        return picture;
    }

    function sumBy(edges, side) {
        const sums = new Map();

        for (const edge of edges)
            sums.set(edge[side], (sums.get(edge[side]) || 0) + edge.ns);
        return new Map([...sums].sort((a, b) => b[1] - a[1]));
    }

    /** stacks: [{frames, ns}], root first. */
    function tree(stacks) {
        const root = {name: "all waits", ns: 0, below: new Map()};

        for (const {frames, ns} of stacks) {
            let node = root;
            root.ns += ns;
            for (const frame of frames) {
                if (!node.below.has(frame))
                    node.below.set(frame, {name: frame, ns: 0, below: new Map()});
                node = node.below.get(frame);
                node.ns += ns;
            }
        }
        return root;
    }

    function depthOf(node) {
        return 1 + Math.max(0, ...[...node.below.values()].map(depthOf));
    }

    /** A press on a frame makes it as wide as the picture; on the root, all is back. */
    function flame(stacks) {
        const root = tree(stacks), width = 900, row = 19;
        const height = row * depthOf(root);
        const picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height,
                                    role: "group", "aria-label": "Flame graph of waits"});
        const draw = (top) => {
            PT.text.clear(picture);
            add(top, 0, 0, width);
        };
        const add = (node, depth, x, w) => {
            if (w < 1)
                return;
            const text = `${node.name}: ${duration(Math.round(node.ns))}, ` +
                         PT.text.percent(node.ns, root.ns);
            const press = () => draw(picture.dataset.top === node.name ? root : node);
            const plate = svg("rect", {class: "plate press", x, y: depth * row, width: w,
                                       height: row - 1, fill: PT.theme.numbered(depth === 0 ? 1
                                           : hashOf(node.name)),
                                       tabindex: w > 6 ? 0 : null, role: "button",
                                       "aria-label": text, click: press}, svg("title", null, text));
            plate.addEventListener("keydown", (event) => event.key === "Enter" && press());
            picture.append(plate);
            const fits = cut(node.name, Math.floor((w - 8) / 6.4));
            if (w > 40)
                picture.append(svg("text", {class: "on", fill: "#10161b", x: x + 4,
                                            y: depth * row + 13}, fits));
            let at = x;
            for (const child of [...node.below.values()].sort((a, b) => b.ns - a.ns)) {
                const part = w * child.ns / node.ns;
                add(child, depth + 1, at, part);
                at += part;
            }
            picture.dataset.top = depth === 0 ? node.name : picture.dataset.top;
        };

        draw(root);
        return picture;
    }

    function hashOf(text) {
        let hash = 7;

        for (let i = 0; i < text.length; i++)
            hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
        return hash;
    }

    PT.charts = {histogram, contention, flame, tree, rebin, axis};
}(globalThis.PT = globalThis.PT || {}));
