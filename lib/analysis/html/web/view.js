/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The timeline: a canvas with the lanes in sight, the labels beside it, and the map of the whole
 * log above.  A frame is drawn when something has changed, once a refresh of the screen.
 */
"use strict";
(function (PT) {
    const {el, clear, duration, offset} = PT.text;
    const {bar, short, fit, ticks, hatch} = PT.marks;
    const FONT = "11px system-ui, 'DejaVu Sans', sans-serif";
    const SMALL = FONT.replace("11px", "10px");
    const RULER = 26, LEAST_SPAN = 20, MOST_FLOWS = 300, LABEL_LEAST = 26;

    const MARKS = 1000;

    class View {
        constructor(model, nodes) {
            Object.assign(this, nodes);     // scroll, stage, labels, canvas, map, spacer, range
            this.model = model;
            this.layout = new PT.layout.Layout(model);
            this.from = 0;
            this.to = model.span;
            this.top = 0;
            this.span = null;       // the span that is selected
            this.selected = null;   // the item that is selected
            this.marks = new Set(); // where the search has found: parts of the log, of MARKS
            this.frames = 0;
            this.layers = [];
            this.counters = [];
            this.blocks = [];
            this.lossRuns = new Map();
            this.pending = false;
            this.strip = document.createElement("canvas");
            this.context = this.canvas.getContext("2d");
            this.scroll.addEventListener("scroll", () => {
                this.top = this.scroll.scrollTop;
                this.change();
            });
            new ResizeObserver(() => this.resize()).observe(this.scroll);
        }

        mark(t) {
            this.marks.add(Math.floor(t / this.model.span * MARKS));
        }

        /** Called after each change of the view: for the link. */
        onMove() {}

        onDrawn() {}

        change() {
            if (this.pending)
                return;
            this.pending = true;
            requestAnimationFrame(() => this.frame());
        }

        frame() {
            if (!this.pending)
                return;
            this.pending = false;
            this.draw();
        }

        recolour() {
            this.tables = PT.theme.tables(this.model.head.states);
            this.inks = PT.paint.inks(this.tables);
            this.hatch = null;
            this.mapDrawn = null;
            this.change();
        }

        resize() {
            const ratio = window.devicePixelRatio || 1;
            const set = (canvas) => {
                const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
                const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
                if (canvas.width !== width || canvas.height !== height)
                    Object.assign(canvas, {width, height});
            };

            this.stage.style.height = `${this.scroll.clientHeight}px`;
            set(this.canvas);
            set(this.map);
            this.ratio = ratio;
            this.width = this.canvas.clientWidth;
            this.height = this.canvas.clientHeight;
            this.mapDrawn = null;
            this.relayout();
        }

        relayout() {
            const more = this.layout.height + RULER + 20 - this.scroll.clientHeight;

            this.spacer.style.height = `${Math.max(0, more)}px`;
            this.labelled = null;
            this.change();
        }

        show(from, to) {
            const most = this.model.span * 1.02;
            let length = Math.min(Math.max(to - from, LEAST_SPAN), most);
            const middle = (from + to) / 2;

            if (length > this.model.span)
                length = Math.min(length, most);
            from = Math.min(Math.max(middle - length / 2, -0.01 * this.model.span),
                            this.model.span * 1.01 - length);
            if (from !== this.from || from + length !== this.to) {
                this.from = from;
                this.to = from + length;
                this.onMove();
            }
            this.change();
        }

        pan(part) {
            const by = part * (this.to - this.from);
            this.show(this.from + by, this.to + by);
        }

        /** factor < 1 zooms in; the time at share of the width stays where it is. */
        zoom(factor, share) {
            const length = this.to - this.from;
            const next = Math.min(Math.max(length * factor, LEAST_SPAN), this.model.span * 1.02);
            const at = this.from + length * share;

            this.show(at - next * share, at + next * (1 - share));
        }

        scrollBy(pixels) {
            this.scroll.scrollTop += pixels;
        }

        /** Brings a row into sight, also one in a closed group. */
        reveal(row) {
            if (!this.layout.ofRow.has(row)) {
                this.layout.closed.clear();
                this.layout.build();
                this.relayout();
            }
            const block = this.layout.ofRow.get(row);
            if (!block)
                return;
            const room = this.height - RULER;
            if (block.y < this.top || block.y + block.h > this.top + room)
                this.scroll.scrollTop = Math.max(0, block.y - room / 3);
        }

        scale() {
            return new PT.paint.Scale(this.from, this.to, this.canvas.width);
        }

        /** Milliseconds are those of the last frame, for the benchmark. */
        draw() {
            const began = performance.now();

            if (!this.tables || !this.width)
                return;
            const scale = this.scale(), model = this.model;
            const resolution = 1 / scale.perNs;
            model.cache.forget();
            this.layers = model.visible(model.levels, this.from, this.to, resolution);
            this.counters = model.counters.length > 0
                ? model.visible(model.counters, this.from, this.to, resolution) : [];
            const lines = this.lines();
            this.paintStrips(lines, scale);
            this.compose(lines, scale);
            this.drawLabels();
            this.drawMap();
            model.cache.run();
            this.frames++;
            this.lastFrame = performance.now() - began;
            this.onDrawn();
        }

        /** The rows in sight, with where they are in pixels of the page. */
        lines() {
            const lines = [];

            this.blocks = this.layout.within(this.top, this.height - RULER);
            for (const block of this.blocks)
                for (const {row, y, h} of block.rows) {
                    const at = RULER + block.y - this.top + y;
                    if (at + h > RULER && at < this.height)
                        lines.push({row, y: at, h, kind: this.model.rows[row].kind, block});
                }
            return lines;
        }

        paintStrips(lines, scale) {
            const width = this.canvas.width, strip = this.strip;

            if (strip.width !== width || strip.height < lines.length) {
                strip.width = width;
                strip.height = lines.length + 16;
                this.image = null;
            }
            const context = strip.getContext("2d");
            if (!this.image)
                this.image = context.createImageData(width, strip.height);
            const pixels = new Uint32Array(this.image.data.buffer);
            lines.forEach((line, i) => {
                line.pixels = pixels.subarray(i * width, (i + 1) * width);
                line.strip = i;
                if (this.inks[line.kind])
                    PT.paint.line(line.pixels, line.row, this.layers, scale,
                                  this.inks[line.kind]);
            });
            if (lines.length > 0)
                context.putImageData(this.image, 0, 0, 0, 0, width, lines.length);
        }

        compose(lines, scale) {
            const c = this.context, {width, height} = this;

            c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
            c.fillStyle = PT.theme.colour("ground");
            c.fillRect(0, 0, width, height);
            c.font = FONT;
            c.textBaseline = "middle";
            this.ticks = ticks(this.from, this.to, width);
            this.drawBands(c);
            c.imageSmoothingEnabled = false;
            for (const line of lines)
                if (line.kind === "counter")
                    this.drawCounter(c, line, scale);
                else
                    c.drawImage(this.strip, 0, line.strip, this.canvas.width, 1,
                                0, line.y, width, line.h);
            for (const line of lines)
                if (line.h >= 12)
                    this.drawNames(c, line, scale);
            this.drawLosses(c, scale);
            this.drawFlows(c, scale);
            this.drawMarks(c, scale);
            this.drawRuler(c, scale);
        }

        drawBands(c) {
            c.fillStyle = PT.theme.colour("band");
            for (const block of this.blocks)
                if (block.kind === "head")
                    c.fillRect(0, RULER + block.y - this.top, this.width, block.h);
            c.fillStyle = PT.theme.colour("line");
            for (const block of this.blocks)
                c.fillRect(0, RULER + block.y + block.h - this.top - 1, this.width, 1);
            for (const {x} of this.ticks)
                c.fillRect(x, RULER, 1, this.height);
        }

        /** The name of each item that is wide enough, so at most one in LABEL_LEAST pixels. */
        drawNames(c, line, scale) {
            const name = this.names(line.kind);

            if (!name)
                return;
            for (const {tiles} of this.layers.slice(-1))
                for (const tile of tiles)
                    for (const part of tile.parts) {
                        const [first, end] = part.range(line.row);
                        PT.paint.each(part, first, end, scale, (i, x0, x1) => {
                            const a = Math.max(0, x0 / this.ratio);
                            const b = Math.min(this.width, x1 / this.ratio);
                            if (b - a >= LABEL_LEAST)
                                this.drawName(c, name(part, i), a, b, line);
                        });
                    }
        }

        names(kind) {
            const {labels, states} = this.model.head;
            const many = (part, i) => part.many && part.many[i] > 1 ? ` × ${part.many[i]}` : "";
            const lane = (part, i) => part.value[i] > 0 ? this.laneName(part.value[i] - 1) : "";

            return {slice: (part, i) => labels[part.value[i]] + many(part, i),
                    state: (part, i) => states[part.value[i]] === "unknown" ? ""
                        : PT.theme.stateName(states[part.value[i]]),
                    cpu: lane, lock: lane}[kind];
        }

        laneName(l) {
            const lane = this.model.lanes[l];
            return lane ? PT.details.shortText(lane) : "";
        }

        drawName(c, text, a, b, line) {
            const room = b - a - 6;
            const fits = fit(c, text, room);

            if (!fits)
                return;
            c.fillStyle = PT.theme.ink(line.pixels[Math.min(line.pixels.length - 1,
                Math.floor((a + b) / 2 * this.ratio))]);
            if (line.kind === "state")
                c.font = SMALL;
            c.fillText(fits, a + 3, line.y + line.h / 2 + 0.5);
            c.font = FONT;
        }

        drawCounter(c, line, scale) {
            const row = this.model.rows[line.row];
            const range = this.rangeOf(row, line.row);
            const y = (v) => line.y + line.h - 1 - (line.h - 3) * (v - range[0]) /
                             (range[1] - range[0] || 1);
            let at = null;

            c.fillStyle = PT.theme.numbered(line.row);
            for (const {tiles} of this.counters.slice(-1))
                for (const tile of tiles)
                    for (const part of tile.parts) {
                        const [first, end] = part.range(line.row);
                        const before = Math.max(first, part.reaches(scale.from, first, end) - 1);
                        if (first < end && before < end && part.begin[before] <= scale.from)
                            at = {x: 0, value: part.last[before]};
                        PT.paint.each(part, first, end, scale, (i, x0) => {
                            this.step(c, at, x0 / this.ratio, y);
                            bar(c, x0 / this.ratio, y(part.greatest[i]), y(part.least[i]));
                            at = {x: x0 / this.ratio, value: part.last[i]};
                        });
                    }
            this.step(c, at, Math.min(this.width, scale.x(this.model.span) / this.ratio), y);
            c.fillStyle = PT.theme.colour("faint");
            c.fillText(short(range[1]), 3, line.y + 7);
        }

        /** A value holds until the next one. */
        step(c, at, x, y) {
            if (!at || x <= at.x)
                return;
            const top = y(at.value), zero = y(0);

            c.globalAlpha = 0.35;
            c.fillRect(at.x, Math.min(top, zero), x - at.x, Math.abs(zero - top));
            c.globalAlpha = 1;
            c.fillRect(at.x, top - 0.5, x - at.x, 1.5);
        }

        rangeOf(row, r) {
            if (row.least !== undefined)
                return [Math.min(0, row.least), Math.max(row.greatest, row.least, 0)];
            let range = this.ranges && this.ranges.get(r);
            this.ranges = this.ranges || new Map();
            range = range || [0, 0];
            for (const {tiles} of this.counters)
                for (const {parts: [part]} of tiles) {
                    const [first, end] = part.range(r);
                    for (let i = first; i < Math.min(end, first + 4096); i++)
                        range = [Math.min(range[0], part.least[i]),
                                 Math.max(range[1], part.greatest[i])];
                }
            this.ranges.set(r, range);
            return range;
        }

        drawLosses(c, scale) {
            const covered = new Uint8Array(this.canvas.width);
            const ofAll = this.model.lossOfAll < 0 ? []
                : PT.paint.runs(this.model.lossOfAll, this.layers, scale, covered);

            this.hatch = this.hatch || hatch(c);
            this.lossRuns = new Map();
            for (const block of this.blocks) {
                const own = block.lane === undefined ? -1 : this.model.lossRows[block.lane];
                const runs = own < 0 ? [] : PT.paint.runs(own, this.layers, scale, covered.fill(0));
                if (block.kind === "head" || (runs.length === 0 && ofAll.length === 0))
                    continue;
                this.lossRuns.set(block, runs.concat(ofAll));
                c.fillStyle = this.hatch;
                for (const [a, b] of runs.concat(ofAll))
                    c.fillRect(a / this.ratio, RULER + block.y - this.top,
                               Math.max(2, (b - a) / this.ratio), block.h - 1);
            }
        }

        /** From the thread that let another one continue; none where they are too many. */
        drawFlows(c, scale) {
            const model = this.model;
            const list = model.flows.meeting(this.from, this.to);
            const parts = list.length > 3 ? [] : list.map((i) => model.tile(model.flows, i))
                .filter((tile) => tile && !tile.broken).map((tile) => tile.parts[0]);
            const ranges = parts.map((part) => {
                const first = part.reaches(this.from, 0, part.count);
                return [part, first, PT.tiles.lower(part.begin, this.to, first, part.count)];
            });

            this.flows = ranges.reduce((sum, [, first, end]) => sum + end - first, 0);
            if (this.flows > MOST_FLOWS)
                return;
            c.strokeStyle = PT.theme.colour("neutral");
            c.fillStyle = PT.theme.colour("neutral");
            for (const [part, first, end] of ranges)
                for (let k = first; k < end; k++)
                    this.drawFlow(c, part, k, scale);
        }

        drawFlow(c, part, k, scale) {
            const from = this.flowY(part.from[k]), to = this.flowY(part.to[k]);
            const x0 = scale.x(part.begin[k]) / this.ratio;
            const x1 = scale.x(part.begin[k] + part.length[k]) / this.ratio;

            if (from === null || to === null)
                return;
            const bend = Math.min(40, Math.max(6, Math.abs(x1 - x0) / 2));
            c.beginPath();
            c.moveTo(x0, from);
            c.bezierCurveTo(x0 + bend, from, x1 - bend, to, x1, to);
            c.stroke();
            c.beginPath();
            c.moveTo(x1, to);
            c.lineTo(x1 - 5, to - 3);
            c.lineTo(x1 - 5, to + 3);
            c.fill();
        }

        flowY(lane) {
            const rows = this.model.laneRows[lane];
            const block = rows && rows.length > 0 ? this.layout.ofRow.get(rows[0]) : null;

            return block ? RULER + block.y - this.top + 10 : null;
        }

        drawMarks(c, scale) {
            const x = (t) => scale.x(t) / this.ratio;

            if (this.span) {
                c.globalAlpha = 0.16;
                c.fillStyle = PT.theme.colour("strong");
                c.fillRect(x(this.span[0]), RULER, x(this.span[1]) - x(this.span[0]), this.height);
                c.globalAlpha = 1;
            }
            const item = this.selected;
            const block = item && this.layout.ofRow.get(item.row);
            if (block) {
                const place = block.rows.find((r) => r.row === item.row);
                c.strokeStyle = PT.theme.colour("text");
                c.lineWidth = 2;
                c.strokeRect(x(item.begin) - 1, RULER + block.y - this.top + place.y - 1,
                             Math.max(3, x(item.begin + item.length) - x(item.begin)) + 1,
                             place.h + 2);
                c.lineWidth = 1;
            }
        }

        drawRuler(c, scale) {
            c.fillStyle = PT.theme.colour("band");
            c.fillRect(0, 0, this.width, RULER);
            c.fillStyle = PT.theme.colour("line");
            c.fillRect(0, RULER - 1, this.width, 1);
            for (const {x, text} of this.ticks) {
                c.fillStyle = PT.theme.colour("line");
                c.fillRect(x, RULER - 8, 1, 8);
                c.fillStyle = PT.theme.colour("faint");
                c.fillText(text, x + 4, 11);
            }
            if (this.span) {
                const [a, b] = this.span.map((t) => scale.x(t) / this.ratio);
                c.fillStyle = PT.theme.colour("strong");
                c.fillRect(a, RULER - 4, Math.max(1, b - a), 3);
            }
            this.range.textContent = `${offset(Math.max(0, this.from))} s + ` +
                                     duration(Math.round(this.to - this.from));
        }

        /** Elements for the lanes in sight, since readers of the screen and keys need them. */
        drawLabels() {
            const key = `${Math.round(this.top)} ${this.height} ${this.layout.blocks.length}`;

            if (key === this.labelled)
                return;
            this.labelled = key;
            const focused = document.activeElement && document.activeElement.dataset.key;
            clear(this.labels);
            for (const block of this.blocks) {
                const node = block.kind === "head" ? this.headLabel(block) : this.laneLabel(block);
                node.style.top = `${RULER + block.y - this.top}px`;
                node.style.height = `${block.h}px`;
                this.labels.append(node);
                if (focused && node.dataset.key === focused)
                    node.focus({preventScroll: true});
            }
        }

        headLabel(block) {
            return el("button", {class: "head", "data-key": block.key, type: "button",
                                 "aria-expanded": String(block.open), title: block.more,
                                 click: () => this.toggle(block.key)},
                      el("span", {class: "fold", "aria-hidden": "true"}, block.open ? "▾" : "▸"),
                      el("b", null, block.title), " ", el("span", {class: "sub"}, block.sub));
        }

        laneLabel(block) {
            return el("div", {class: `lane ${block.kind}`, role: "listitem",
                              title: `${block.title} ${block.sub}`},
                      el("span", {class: "name"}, block.title), " ",
                      el("span", {class: "sub"}, block.sub));
        }

        toggle(key) {
            this.layout.toggle(key);
            this.relayout();
        }

        /** How many events there were when, and where the view is in that. */
        drawMap() {
            const c = this.map.getContext("2d");
            const width = this.map.width, height = this.map.height;
            const counts = this.model.overview(width);

            if (!counts)
                return;
            const most = counts.reduce((a, b) => Math.max(a, b), 1);
            c.fillStyle = PT.theme.colour("band");
            c.fillRect(0, 0, width, height);
            c.fillStyle = PT.theme.colour("neutral");
            for (let x = 0; x < width; x++)
                if (counts[x] > 0) {
                    const h = Math.max(1, Math.sqrt(counts[x] / most) * (height - 4));
                    c.fillRect(x, height - h, 1, h);
                }
            c.fillStyle = PT.theme.colour("mark");
            for (const part of this.marks)
                c.fillRect(part / MARKS * width, 0, Math.max(1, width / MARKS), height / 3);
            const a = this.from / this.model.span * width, b = this.to / this.model.span * width;
            c.fillStyle = PT.theme.colour("strong");
            c.globalAlpha = 0.22;
            c.fillRect(a, 0, Math.max(2, b - a), height);
            c.globalAlpha = 1;
            c.fillRect(a, 0, 2, height);
            c.fillRect(Math.max(a, b - 2), 0, 2, height);
        }

        layersOf(row) {
            return this.model.rows[row].kind === "counter" ? this.counters : this.layers;
        }

        /** What is at a place of the canvas: {line, block, item, t}. */
        hit(x, y) {
            const scale = this.scale();
            const t = scale.t(x * this.ratio);
            const at = y - RULER + this.top;
            const block = y < RULER ? null : this.blocks.find((b) => at >= b.y && at < b.y + b.h);
            const place = block && block.rows.find((r) => at >= block.y + r.y &&
                                                          at < block.y + r.y + r.h + 1);
            const hit = {t, block, row: place ? place.row : -1, item: null, lost: false};

            if (place) {
                const near = Math.max(3 * this.ratio / scale.perNs, 1);
                hit.item = PT.paint.find(place.row, this.layersOf(place.row), t, near);
            }
            const runs = block && this.lossRuns.get(block);
            hit.lost = Boolean(runs) && runs.some(([a, b]) => x * this.ratio >= a - 1 &&
                                                              x * this.ratio <= b + 1);
            return hit;
        }
    }

    PT.view = {View, RULER};
}(globalThis.PT = globalThis.PT || {}));
