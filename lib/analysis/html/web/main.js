/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Puts the parts together: reads the head, finds blocks in the document as the parser adds them,
 * and connects keys and buttons to what they do.
 */
"use strict";
(function (PT) {
    const {el, clear, count, duration, plural} = PT.text;
    const byId = (id) => document.getElementById(id);

    /** Blocks in the document, also those that the parser has not come to yet. */
    class Blocks {
        constructor() {
            this.whole = new Promise((resolve) => {
                if (document.readyState !== "loading")
                    resolve();
                document.addEventListener("DOMContentLoaded", resolve);
            });
        }

        async text(number) {
            /* An element with something after it has all of its text. */
            let node = byId(`b${number}`);

            if (!node || !node.nextElementSibling) {
                await this.whole;
                node = byId(`b${number}`);
            }
            return node ? node.textContent : null;
        }
    }

    class App {
        constructor(head) {
            const blocks = new Blocks();

            this.model = new PT.model.Model(head, (number) => blocks.text(number),
                                            () => this.arrived());
            this.view = new PT.view.View(this.model, {
                scroll: byId("scroll"), stage: byId("stage"), labels: byId("labels"),
                canvas: byId("canvas"), map: byId("map"), spacer: byId("spacer"),
                range: byId("range")});
            this.details = new PT.details.Details(this.model, this.view, byId("panel"));
            this.page = "timeline";
            this.reportSeen = [];   // what waits until the report is looked at
            this.drawFacts(head);
            this.drawNotes(head);
            this.searching = new PT.search.Search(this.model, this.view, this);
            this.input = new PT.input.Input(this.view, this);
            PT.report.draw(this, byId("report"));
            PT.why.draw(this, byId("why"));
            this.connect();
            this.view.onMove = () => this.remember();
            PT.theme.start(byId("theme"), () => this.recolour());
            this.recall();
            window.addEventListener("hashchange", () => this.recall());
        }

        /** A tile has come. */
        arrived() {
            this.view.change();
            if (this.model.cache.error)
                this.fail(this.model.cache.error);
        }

        fail(error) {
            const text = `This page is damaged: ${error.message}. What it shows is incomplete.`;

            if (this.failed)
                return;
            this.failed = true;
            byId("notes").append(el("p", {class: "lost"}, text));
            byId("notes").hidden = false;
        }

        drawFacts(head) {
            const lost = head.lost.causes.map(([cause, n]) => `${cause} ${count(n)}`).join(", ");

            document.title = `${head.log.name} – posixtrace`;
            byId("name").textContent = head.log.name;
            const {summary} = head.report || {};
            const all = Math.max(head.lanes.length, summary ? Number(summary.threads) || 0 : 0);
            byId("facts").append(
                `${plural(head.events, "event")}, ${plural(all, "thread")}, ` +
                `${duration(head.span)}`);
            if (head.lost.total !== "0")
                byId("facts").append(", ", el("span", {class: "lost", title: lost},
                                              `${plural(head.lost.total, "event")} lost`));
            byId("facts").title = new Date(Number(this.model.origin / 1000000n)).toISOString();
        }

        drawNotes(head) {
            const notes = head.notes.slice();

            if (head.unmarked)
                notes.push("Events were lost, and nothing says where.");
            if (head.events === 0)
                notes.push("The log has no events.");
            for (const note of notes)
                byId("notes").append(el("p", null, note));
            byId("notes").hidden = notes.length === 0;
        }

        connect() {
            const press = (id, action) => byId(id).addEventListener("click", action);

            for (const page of ["timeline", "report", "why"])
                press(`tab-${page}`, () => this.turn(page));
            press("whole", () => this.view.show(0, this.model.span));
            press("locks", () => this.toggleLocks());
            press("help-button", () => byId("help").showModal());
            press("print", () => window.print());
            byId("locks").hidden = !this.model.rows.some((row) => row.kind === "lock");
            byId("tab-why").hidden = this.model.head.why.length === 0;
        }

        recolour() {
            this.legend = "";
            this.drawLegend();
            this.view.recolour();
        }

        /** The states that the log has. */
        drawLegend() {
            const {states} = this.model.head;
            const waits = (i) => !["running", "runnable"].includes(states[i]);
            const used = [...this.model.usedStates].filter((i) => states[i] !== "unknown")
                .sort((a, b) => waits(a) - waits(b) || a - b);
            const first = used.findIndex(waits);

            if (this.legend === used.join())
                return;
            this.legend = used.join();
            clear(byId("legend")).append(...used.map((i, n) => {
                const box = el("i");
                box.style.background = PT.theme.stateColour(states[i], i);
                return el("span", null, n === first ? "waits: " : null, box,
                          PT.theme.stateName(states[i]));
            }));
        }

        turn(page) {
            this.page = page;
            for (const name of ["timeline", "report", "why"]) {
                byId(name).hidden = name !== page;
                byId(`tab-${name}`).setAttribute("aria-pressed", String(name === page));
            }
            if (page === "timeline")
                this.view.resize();
            if (page === "report")
                this.reportSeen.splice(0).forEach((resolve) => resolve());
            this.remember();
        }

        timeline() {
            return this.page === "timeline";
        }

        toggleLocks() {
            this.view.toggle("locks");
            byId("locks").setAttribute("aria-pressed",
                                       String(!this.view.layout.closed.has("locks")));
        }

        /** Shows a span, and of it a thread's lane if there is one: from the report. */
        lead(from, to, pid, tid) {
            const lane = this.model.laneOf(pid, tid);
            const room = Math.max((to - from) * 0.15, 100);

            this.turn("timeline");
            this.view.show(from - room, to + room);
            this.span(from, to, true);
            if (lane >= 0 && this.model.laneRows[lane].length > 0)
                this.view.reveal(this.model.laneRows[lane][0]);
        }

        click(hit) {
            this.view.span = null;
            if (hit.item) {
                this.select(hit.item);
            } else {
                this.view.selected = null;
                this.details.nothing();
                if (hit.lost)
                    clear(byId("panel")).append(
                        el("h2", null, "Events were lost here"),
                        el("p", null, "Or recording was stopped; the picture is incomplete."));
                this.remember();
                this.view.change();
            }
        }

        select(item) {
            this.view.selected = item;
            this.view.span = null;
            this.details.show(item).catch((error) => this.fail(error));
            this.remember();
            this.view.change();
        }

        zoomToSelection() {
            const {selected, span} = this.view;

            if (span)
                this.view.show(span[0], span[1]);
            else if (selected)
                this.view.show(selected.begin - Math.max(50, selected.length * 0.3),
                               selected.begin + selected.length * 1.3 + 50);
        }

        /** A span is chosen; when it is done its sums are shown. */
        async span(from, to, done) {
            const {model} = this;
            const panel = byId("panel");
            const turn = ++this.details.turn;

            this.view.span = [from, to];
            this.view.selected = null;
            this.view.change();
            panel.classList.remove("empty");
            clear(panel).append(el("h2", null, `${duration(to - from)} from ` +
                                   `${PT.text.offset(from)} s`));
            if (!done)
                return;
            const state = el("p", {class: "hint"}, "Counting …");
            panel.append(state);
            const sums = await PT.statistics.collect(model, from, to, (sum, n, of) => {
                state.textContent = `Counting: ${n} of ${of} parts`;
                return turn === this.details.turn;
            });
            if (!sums || turn !== this.details.turn)
                return;
            state.textContent = plural(sums.events, "event") + (sums.exact ? ""
                : ", approximately: too many for their details, or these are not in the page");
            panel.append(PT.statistics.tables(model, sums), PT.details.command(
                PT.details.printCommand(model, from, to)));
        }

        tip(place) {
            const tip = byId("tip");
            const hit = place ? this.view.hit(place.x, place.y) : null;

            tip.hidden = !hit || !(hit.item || hit.lost);
            if (tip.hidden)
                return;
            clear(tip);
            if (hit.item)
                tip.append(el("b", null, PT.details.title(this.model, hit.item)),
                           hit.item.length > 0 ? duration(hit.item.length)
                               : `${PT.text.offset(hit.item.begin)} s`);
            if (hit.lost)
                tip.append(el("div", null, "events were lost here"));
            const left = place.x + this.view.canvas.offsetLeft + 14;
            tip.style.left = `${Math.min(left, this.view.scroll.clientWidth - 200)}px`;
            tip.style.top = `${Math.min(place.y + 14, this.view.height - 60)}px`;
        }

        /** The item before or after the selected one in its row; the first in sight if none is. */
        neighbour(step) {
            const {view} = this;
            const {selected} = view;
            const item = selected ? PT.paint.next(selected.row, view.layersOf(selected.row),
                                                  selected.begin, step) : this.firstItem();

            if (!item)
                return;
            this.select(item);
            if (item.begin < view.from || item.begin > view.to) {
                const half = (view.to - view.from) / 2;
                view.show(item.begin - half, item.begin + half);
            }
        }

        firstItem() {
            const {view} = this;

            for (const {row} of view.lines()) {
                const item = PT.paint.next(row, view.layersOf(row), view.from, 1);
                if (item && item.begin <= view.to)
                    return item;
            }
            return null;
        }

        /** The item at the same time in the next row down or up that has one; else scrolls. */
        otherRow(step) {
            const {view} = this;
            const {selected} = view;

            if (!selected) {
                view.scrollBy(60 * step);
                return;
            }
            const rows = view.layout.rows();
            const at = Math.max(selected.begin, view.from);
            for (let i = rows.indexOf(selected.row) + step; i >= 0 && i < rows.length; i += step) {
                const layers = view.layersOf(rows[i]);
                const item = PT.paint.find(rows[i], layers, at, 0) ||
                             PT.paint.next(rows[i], layers, at, 1);
                if (item && item.begin <= view.to) {
                    view.reveal(rows[i]);
                    this.select(item);
                    return;
                }
            }
        }

        /** Keys that are no moves; true if there is such a key. */
        key(key, shift) {
            const actions = {
                "?": () => byId("help").showModal(), "/": () => byId("query").focus(),
                "n": () => this.searching.step(shift ? -1 : 1),
                "Escape": () => this.escape(), "1": () => this.turn("timeline"),
                "2": () => this.turn("report"), "3": () => this.turn("why")};
            const ofTimeline = {
                "0": () => this.view.show(0, this.model.span), "f": () => this.zoomToSelection(),
                "l": () => this.toggleLocks(), "ArrowLeft": () => this.neighbour(-1),
                "ArrowRight": () => this.neighbour(1), "ArrowUp": () => this.otherRow(-1),
                "ArrowDown": () => this.otherRow(1)};
            const action = actions[key] || (this.timeline() ? ofTimeline[key] : null);

            if (action)
                action();
            return Boolean(action);
        }

        escape() {
            this.searching.stop();
            this.view.span = null;
            this.view.selected = null;
            this.details.nothing();
            this.view.change();
            this.remember();
        }

        remember() {
            const {view} = this;

            this.state = {from: view.from, to: view.to, page: this.page,
                          query: this.searching.words,
                          selected: view.selected && [view.selected.row, view.selected.begin]};
            if (this.writing)
                return;
            this.writing = true;        // browsers refuse many changes of the address a second
            setTimeout(() => {
                this.writing = false;
                history.replaceState(null, "", PT.link.format(this.state));
            }, 300);
        }

        recall() {
            const state = PT.link.parse(location.hash);

            if (state.from !== undefined)
                this.view.show(state.from, state.to);
            this.turn(state.page || "timeline");
            if (state.query)
                this.searching.start(state.query);
            if (state.selected)
                this.reselect(state.selected);
        }

        /** Selects what a row has at a time, when its tiles have come. */
        async reselect([row, time]) {
            const {model, view} = this;

            if (!model.rows[row])
                return;
            const perPixel = (view.to - view.from) / Math.max(1, view.width || 1000);
            const sources = model.choices(model.levels, perPixel)[0];
            const tiles = [];
            for (const source of sources)
                for (const i of source.meeting(time, time))
                    tiles.push(await model.cache.need(model.key(source, i),
                                                      source.load(source.tiles[i])));
            const item = PT.paint.find(row, [{tiles}], time, 0);
            if (item) {
                view.reveal(row);
                this.select(item);
            }
        }
    }

    /** For tests: what is drawn, and nothing that changes it. */
    function inspection(app) {
        const {view, model} = app;
        const line = ({row, y, h, kind}) => ({row, y, h, kind, items: seen(app, row)});

        return Object.freeze({
            visible: () => ({from: view.from, to: view.to, frames: view.frames,
                             lastFrame: view.lastFrame, page: app.page, flows: view.flows,
                             layers: view.layers.map((layer) => [layer.name, layer.complete]),
                             waiting: model.cache.waiting.size, rows: view.lines().map(line)}),
            settled: () => !view.pending && model.cache.waiting.size === 0,
            error: () => model.cache.error ? model.cache.error.message : null,
            firstPicture: () => app.firstPicture});
    }

    /** The first items of a row in sight, by name. */
    function seen(app, row) {
        const {view, model} = app;
        const layers = view.layersOf(row);
        const list = [];

        for (const {tiles} of layers.slice(-1))
            for (const tile of tiles)
                for (const part of tile.parts) {
                    const [first, end] = part.range(row);
                    for (let i = part.reaches(view.from, first, end);
                         i < end && part.begin[i] <= view.to && list.length < 100; i++)
                        list.push(described(model, part.item(i)));
                }
        return list;
    }

    function described(model, item) {
        const {begin, length, count: many} = item;

        return {name: PT.details.title(model, item), begin, length, count: many};
    }

    function start() {
        const app = new App(PT.decode.json(byId("head").textContent));

        app.view.onDrawn = () => {
            app.drawLegend();
            if (app.firstPicture === undefined && app.view.layers.some((l) => l.tiles.length > 0))
                app.firstPicture = performance.now();
        };
        Object.defineProperty(window, "posixtrace", {value: inspection(app)});
        PT.app = app;
    }

    PT.main = {start};
    if (typeof document !== "undefined")
        start();
}(globalThis.PT = globalThis.PT || {}));
