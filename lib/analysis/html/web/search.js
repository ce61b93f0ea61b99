/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Search over all events whose details the page has, tile by tile: the first finds show while the
 * rest is looked at.  A new search, Escape and the button stop it.
 */
"use strict";
(function (PT) {
    const {count, plural} = PT.text;
    const MOST = 10000;

    /** One event for an expression; moved from event to event of a tile. */
    class Cursor {
        constructor(model, tile, table) {
            const part = tile.parts[1];

            Object.assign(this, {model, table, part, type: -1, ordinal: -1, place: -1});
            this.hasTexts = model.head.types.map((type) => type.fields.some(
                (field) => field.kind === "s" || field.kind === "b" || field.kind === "j"));
            this.places = new Uint32Array(model.head.types.length);
        }

        /** The next event; they come in order. */
        next() {
            const {model, part} = this;

            this.ordinal++;
            this.type = part.type[this.ordinal];
            this.place = this.places[this.type]++;
            this.lane = model.lanes[part.lane[this.ordinal]];
        }

        get name() {
            return this.model.head.types[this.type].name;
        }

        get tid() {
            return this.lane.tid;
        }

        get pid() {
            const process = this.model.head.processes[this.lane.process];
            return process ? process.pid : 0;
        }

        get thread() {
            return this.lane.name || "";
        }

        columns() {
            const {table, type} = this;
            return table && !table.raw.has(this.ordinal) ? table.ofType.get(type) : undefined;
        }

        field(name) {
            const columns = this.columns();
            const f = columns ? this.model.head.types[this.type].fields.findIndex(
                (field) => field.name === name) : -1;

            return f < 0 ? undefined : columns.fields[f](this.place);
        }

        enumeration(name, word) {
            const field = this.model.head.types[this.type].fields.find((one) => one.name === name);
            const row = field && field.names && field.names.find(([, text]) => text === word);

            return row ? BigInt(row[0]) : undefined;
        }

        anyText(low) {
            const columns = this.hasTexts[this.type] && this.columns();

            return Boolean(columns) && columns.fields.some((get) => {
                const value = get(this.place);
                return typeof value === "string" && value.toLowerCase().includes(low);
            });
        }
    }

    class Search {
        constructor(model, view, app) {
            const byId = (id) => document.getElementById(id);

            Object.assign(this, {model, view, app, words: "", finds: [], at: -1, turn: 0});
            this.query = byId("query");
            this.found = byId("found");
            this.cancel = byId("cancel");
            byId("search").addEventListener("submit", (event) => {
                event.preventDefault();
                if (this.query.value === this.words && this.finds.length > 0)
                    this.step(1);
                else
                    this.start(this.query.value);
            });
            byId("next").addEventListener("click", () => this.step(1));
            byId("previous").addEventListener("click", () => this.step(-1));
            this.cancel.addEventListener("click", () => this.stop());
        }

        stop() {
            this.turn++;
            this.cancel.hidden = true;
        }

        say(text, wrong) {
            this.found.textContent = text;
            this.found.classList.toggle("wrong", Boolean(wrong));
        }

        /** Resolves when all has been looked at, or the search was stopped. */
        async start(words) {
            const turn = ++this.turn;
            let parsed;

            Object.assign(this, {words, finds: [], at: -1, total: 0});
            this.query.value = words;
            this.view.marks.clear();
            this.view.change();
            this.app.remember();
            this.say("");
            if (!words.trim())
                return;
            try {
                parsed = PT.expression.parse(words);
            } catch (error) {
                this.say(error.message, true);
                return;
            }
            this.cancel.hidden = false;
            const {events} = this.model;
            for (let i = 0; i < events.tiles.length && turn === this.turn; i++) {
                this.say(`${count(this.total)} … ${Math.floor(100 * i / events.tiles.length)} %`);
                await this.tile(i, parsed, turn);
            }
            if (turn === this.turn) {
                this.cancel.hidden = true;
                this.say(this.at < 0 ? plural(this.total, "find") : this.position());
            }
        }

        async tile(i, {test, fields}, turn) {
            const {model} = this;
            const {events, cache} = model;
            const tile = await cache.need(model.key(events, i), events.load(events.tiles[i]));
            const got = fields ? await model.fields(tile) : null;

            if (turn !== this.turn)
                return;
            const cursor = new Cursor(model, tile, got && got.table);
            for (let n = 0; n < cursor.part.type.length; n++) {
                cursor.next();
                if (!test(cursor))
                    continue;
                this.total++;
                if (this.finds.length < MOST)
                    this.finds.push([i, n]);
                this.view.mark(cursor.part.time[n]);
            }
            this.view.change();
        }

        position() {
            return `${count(this.at + 1)} of ${count(this.total)}`;
        }

        /** Selects the next find, or the one before. */
        async step(by) {
            const {finds, model, view} = this;

            if (finds.length === 0)
                return;
            const from = this.at < 0 && by < 0 ? 0 : this.at;
            this.at = (from + by + finds.length) % finds.length;
            this.say(this.position());
            const [i, n] = finds[this.at];
            const source = model.events;
            const tile = await model.cache.need(model.key(source, i), source.load(source.tiles[i]));
            const part = tile.parts[1], row = model.eventRows[part.lane[n]];
            if (row < 0)
                return;
            const [first, end] = part.range(row);
            const item = part.item(PT.tiles.lower(part.ordinal, n, first, end));
            item.tile = tile;
            if (item.begin < view.from || item.begin > view.to) {
                const half = (view.to - view.from) / 2;
                view.show(item.begin - half, item.begin + half);
            }
            view.reveal(row);
            this.app.turn("timeline");
            this.app.select(item);
        }
    }

    PT.search = {Search, Cursor};
}(globalThis.PT = globalThis.PT || {}));
