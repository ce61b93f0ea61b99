/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Search over all events whose details the page has, tile by tile, first those in view: the first
 * finds show while the rest is looked at.  Only columns that the expression needs are decoded, and
 * pauses leave time for drawing.  A new search, Escape and the button stop it.
 */
"use strict";
(function (PT) {
    const {count, plural} = PT.text;
    const MOST = 10000;                 // finds that can be stepped through
    const MEMO = 1 << 22;               // pairs of type and thread that are remembered
    const AT_ONCE = 4096, PAUSE = 12;   // events between two looks at the clock; milliseconds

    /** One event for an expression; moved from event to event of a tile. */
    class Cursor {
        constructor(model, part, table) {
            Object.assign(this, {model, table, part, type: -1, ordinal: -1, place: -1});
            this.hasTexts = model.head.types.map(hasTexts);
        }

        /** The event with that ordinal; place: how many of its type are before it in the tile. */
        set(ordinal, type, place) {
            const {model, part} = this;

            Object.assign(this, {ordinal, type, place});
            this.lane = model.lanes[part.lane[ordinal]];
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

    function hasTexts(type) {
        return type.fields.some(({kind}) => kind === "s" || kind === "b" || kind === "j");
    }

    /**
     * An expression over the events of tiles.  Where it looks at no field that a type has, its
     * result is the same for all events of the type in a thread, and is remembered.
     */
    class Matcher {
        constructor(model, {test, fields, anyText}) {
            const {types} = model.head;

            Object.assign(this, {model, test});
            this.needs = Uint8Array.from(types, (type) => (anyText && hasTexts(type)) ||
                type.fields.some(({name}) => fields.has(name)));
            this.memo = types.length * model.lanes.length <= MEMO
                ? new Uint8Array(types.length * model.lanes.length) : null;
        }

        /** Has the tile an event whose fields are looked at? */
        needsFields({type}) {
            return type.some((t) => this.needs[t]);
        }

        begin(part, table) {
            this.part = part;
            this.cursor = new Cursor(this.model, part, table);
            this.places = new Uint32Array(this.needs.length);
        }

        /** Does the next event match?  They come in order. */
        next(n) {
            const {part, memo} = this, t = part.type[n];

            if (this.needs[t] || !memo) {
                this.cursor.set(n, t, this.places[t]++);
                return this.test(this.cursor);
            }
            const place = t * this.model.lanes.length + part.lane[n];
            if (memo[place] === 0) {
                this.cursor.set(n, t, 0);
                memo[place] = this.test(this.cursor) ? 2 : 1;
            }
            return memo[place] === 2;
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

            Object.assign(this, {words, finds: [], at: -1, total: 0, marked: 0});
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
            await this.all(new Matcher(this.model, parsed), turn);
            if (turn !== this.turn)
                return;
            this.cancel.hidden = true;
            this.view.change();
            this.say(this.at < 0 ? plural(this.total, "find") : this.position());
        }

        /** The tile after the present one is decoded meanwhile. */
        async all(matcher, turn) {
            const order = this.order();
            let next = this.load(order, 0, matcher);

            for (let k = 0; k < order.length && turn === this.turn; k++) {
                this.say(`${count(this.total)} … ${Math.floor(100 * k / order.length)} %`);
                const loaded = await next;
                next = this.load(order, k + 1, matcher);
                if (loaded.error)
                    throw loaded.error;
                await this.tile(order[k], loaded, matcher, turn);
            }
        }

        /** Numbers of the tiles: those that are looked at come first. */
        order() {
            const {tiles} = this.model.events;
            const seen = ({from, to}) => to >= this.view.from && from <= this.view.to;
            const all = tiles.map((_, i) => i);

            return [...all.filter((i) => seen(tiles[i])), ...all.filter((i) => !seen(tiles[i]))];
        }

        /** What has gone wrong is thrown when it is that tile's turn. */
        async load(order, k, matcher) {
            if (k >= order.length)
                return {};
            try {
                const {model} = this, part = await model.eventColumns(order[k]);
                const needs = matcher.needsFields(part);

                return {part, table: needs ? await model.fieldsOf(order[k]) : null};
            } catch (error) {
                return {error};
            }
        }

        async tile(i, {part, table}, matcher, turn) {
            const finds = [];
            let pause = performance.now() + PAUSE;

            matcher.begin(part, table);
            for (let n = 0; n < part.type.length && turn === this.turn; n++) {
                if (n % AT_ONCE === 0 && performance.now() > pause) {
                    await new Promise((resolve) => setTimeout(resolve, 0));
                    pause = performance.now() + PAUSE;
                }
                if (!matcher.next(n))
                    continue;
                this.total++;
                if (this.finds.length + finds.length < MOST)
                    finds.push([i, n]);
                this.view.mark(part.time[n]);
            }
            if (turn === this.turn)
                this.add(i, finds);
        }

        /** Finds are in the order of the log, whatever the order of the search. */
        add(i, finds) {
            const after = this.finds.findIndex(([tile]) => tile > i);
            const place = after < 0 ? this.finds.length : after;

            if (finds.length > 0)
                this.finds = [...this.finds.slice(0, place), ...finds, ...this.finds.slice(place)];
            if (this.at >= place)
                this.at += finds.length;
            if (this.total > this.marked)
                this.view.change();
            this.marked = this.total;
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

    PT.search = {Search, Cursor, Matcher};
}(globalThis.PT = globalThis.PT || {}));
